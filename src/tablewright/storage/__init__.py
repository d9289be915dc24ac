"""Storage: ordered, durable bytes in one SQLite file.

>>> store = Store(":memory:")
>>> tree = Tree(1)
>>> store.write(lambda tx: tx.create_tree(tree))
>>> store.write(lambda tx: tx.put(tree, b"key", 4, b"body"))
>>> store.read(lambda snapshot: snapshot.get(tree, b"key"))
(4, b'body')
"""

from tablewright.storage.store import Durability, Store
from tablewright.storage.transaction import DamagedRow, MissingTree, Row, Snapshot, Transaction
from tablewright.storage.tree import Tree

__all__ = [
    "DamagedRow",
    "Durability",
    "MissingTree",
    "Row",
    "Snapshot",
    "Store",
    "Transaction",
    "Tree",
]
