"""The engine: DynamoDB's operations over one file.

engine = Engine(":memory:")
engine.call("GetItem", {"TableName": "shop", "Key": {"PK": {"S": "USER"}}})
"""

from tablewright.engine.engine import Engine
from tablewright.engine.integrity import Problem, Report
from tablewright.engine.operations import OPERATIONS
from tablewright.engine.step import Read, Step, Write

__all__ = ["OPERATIONS", "Engine", "Problem", "Read", "Report", "Step", "Write"]
