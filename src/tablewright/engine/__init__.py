"""The engine: DynamoDB's operations over one file.

>>> Engine(":memory:").call("ListTables")
{'TableNames': []}
"""

from tablewright.engine.engine import Engine
from tablewright.engine.step import LongStep, ReadStep, Step, WriteStep

__all__ = ["Engine", "LongStep", "ReadStep", "Step", "WriteStep"]
