"""A store in a sandbox: writes are savepoints of one transaction that is rolled back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tablewright.storage import Store, WriteTransaction
from tests.storage.conftest import TREE
from tests.storage.interrupts import interrupted_at
from tests.storage.test_interruptions import WRITE_PATH, in_thread, pair, put_pair


@pytest.fixture(params=["file", ":memory:"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    where = request.param if request.param == ":memory:" else tmp_path / "rows.db"
    with closing(Store(where, durability="normal")) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        store.write(put_pair)
        yield store


def test_a_step_that_fails_after_its_first_change_is_undone_alone(store: Store) -> None:
    def fail(tx: WriteTransaction) -> None:
        tx.put(TREE, b"left", 99, b"")
        raise RuntimeError

    number = store.begin_sandbox()
    store.write(put_pair)
    with pytest.raises(RuntimeError):
        store.write(fail)
    first, second = store.write_all([put_pair, fail])
    assert (first, type(second)) == (None, RuntimeError)
    assert store.read(pair) == (3, 3)
    store.end_sandbox(number)
    assert store.read(pair) == (1, 1)


def test_a_write_in_a_sandbox_can_be_interrupted_at_every_opcode(store: Store) -> None:
    number = store.begin_sandbox()
    opcode = 0
    before = store.read(pair)
    while interrupted_at(opcode, WRITE_PATH, lambda: store.write(put_pair)):
        after = in_thread(lambda: store.read(pair))
        assert after in (before, (before[0] + 1, before[1] + 1)), opcode
        store.write(put_pair)  # it removes the interrupted write from the queue
        before = (after[0] + 1, after[1] + 1)
        opcode += 1
    assert opcode > 100
    store.end_sandbox(number)
    assert in_thread(lambda: store.read(pair)) == (1, 1)
    store.write(put_pair)
    assert store.read(pair) == (2, 2)


def test_the_end_of_a_sandbox_can_be_interrupted_and_repeated(store: Store) -> None:
    path = ("end_sandbox", "_close_statements", "_roll_back_to")
    opcode = 0
    is_interrupted = True
    while is_interrupted:
        outer, inner = store.begin_sandbox(), store.begin_sandbox()
        store.write(put_pair)

        def end(inner: int = inner, outer: int = outer) -> None:
            store._transaction.end_sandbox(inner)
            store._transaction.end_sandbox(outer)

        is_interrupted = interrupted_at(opcode, path, end)
        store.end_sandbox(inner)
        store.end_sandbox(outer)
        assert in_thread(lambda: store.read(pair)) == (1, 1), opcode
        opcode += 1
    assert opcode > 50
