from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tablewright.storage import Store, Tree

TREE = Tree(1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A store in a file, with one empty tree, `TREE`."""
    store = Store(path)
    store.write(lambda tx: tx.create_tree(TREE))
    yield store
    store.close()
