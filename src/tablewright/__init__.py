"""Tablewright: design one table, prove every access pattern, run it anywhere.

    from tablewright import Engine

    engine = Engine("shop.db")                       # or ":memory:"
    engine.call("ListTables")

`Engine` is DynamoDB in one file, in this process; `tablewright.server.serving` puts one behind
DynamoDB's HTTP protocol. Faults are in `tablewright.errors`, named as DynamoDB names them.
"""

from __future__ import annotations

from tablewright.engine import Engine
from tablewright.errors import Fault, TablewrightError

__version__ = "0.1.0"

__all__ = ["Engine", "Fault", "TablewrightError", "__version__"]
