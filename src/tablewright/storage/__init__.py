"""Storage: ordered, durable bytes in one SQLite file.

>>> store = Store(":memory:")
>>> tree = Tree(1)
>>> store.write(lambda tx: tx.create_tree(tree))
>>> store.write(lambda tx: tx.put(tree, b"key", 4, b"body"))
>>> store.read(lambda snapshot: snapshot.get(tree, b"key"))
(4, b'body')
"""

from tablewright.storage.file import APPLICATION_ID, name_problem
from tablewright.storage.log import require_current_log
from tablewright.storage.sandbox import Sandbox
from tablewright.storage.store import BUSY_SECONDS, Durability, Store
from tablewright.storage.transaction import (
    DamagedRow,
    LogRow,
    MissingTree,
    Row,
    Snapshot,
    WriteTransaction,
)
from tablewright.storage.tree import LogTree, Tree

__all__ = [
    "APPLICATION_ID",
    "BUSY_SECONDS",
    "DamagedRow",
    "Durability",
    "LogRow",
    "LogTree",
    "MissingTree",
    "Row",
    "Sandbox",
    "Snapshot",
    "Store",
    "Tree",
    "WriteTransaction",
    "name_problem",
    "require_current_log",
]
