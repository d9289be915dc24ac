"""A store in a sandbox: writes are savepoints of one transaction that is rolled back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from tablewright.storage import Sandbox, Store, WriteTransaction
from tests.storage.conftest import TREE
from tests.storage.interrupts import Interruption, every_opcode, interrupted_at
from tests.storage.test_interruptions import WRITE_PATH, in_thread, pair, put_pair


@pytest.fixture(params=["file", ":memory:"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    where = request.param if request.param == ":memory:" else tmp_path / "rows.db"
    with closing(Store(where, durability="normal")) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        store.write(put_pair)
        yield store


def sandbox(store: Store) -> Sandbox:
    return store.sandbox(lambda: lambda snapshot: None)


def test_a_step_that_fails_after_its_first_change_is_undone_alone(store: Store) -> None:
    def fail(tx: WriteTransaction) -> None:
        tx.put(TREE, b"left", 99, b"")
        raise RuntimeError

    with sandbox(store):
        store.write(put_pair)
        with pytest.raises(RuntimeError):
            store.write(fail)
        first, second = store.write_all([put_pair, fail])
        assert (first, type(second)) == (None, RuntimeError)
        assert store.read(pair) == (3, 3)
    assert store.read(pair) == (1, 1)


def test_a_write_in_a_sandbox_can_be_interrupted_at_every_opcode(store: Store) -> None:
    with sandbox(store):
        opcode = 0
        before = store.read(pair)
        while interrupted_at(opcode, WRITE_PATH, lambda: store.write(put_pair)):
            after = in_thread(lambda: store.read(pair))
            assert after in (before, (before[0] + 1, before[1] + 1)), opcode
            store.write(put_pair)  # it removes the interrupted write from the queue
            before = (after[0] + 1, after[1] + 1)
            opcode += 1
        assert opcode > 100
    assert in_thread(lambda: store.read(pair)) == (1, 1)
    store.write(put_pair)
    assert store.read(pair) == (2, 2)


SANDBOX_PATH = (
    "__enter__",
    "__exit__",
    "__init__",
    "is_over",
    "begin_sandbox",
    "_begin",
    "end_sandboxes",
    "_undo",
    "_close_statements",
    "_roll_back_to",
    "recover",
)


def nest(store: Store) -> None:
    with sandbox(store):
        store.write(put_pair)
        with sandbox(store):
            store.write(put_pair)
        store.write(put_pair)


def interrupt_and_write(store: Store, opcodes: Iterable[int], again_after: int = 0) -> int:
    """Interrupt nested sandboxes at opcodes, and write after each; return how many were met."""
    met = 0
    for opcode in opcodes:
        before = store.read(pair)
        if not interrupted_at(opcode, SANDBOX_PATH, lambda: nest(store), again_after=again_after):
            break
        if opcode % 2:  # sometimes a read finishes the undo, sometimes a write
            assert in_thread(lambda: store.read(pair)) == before, opcode
        in_thread(lambda: [store.write(put_pair)])
        after = (before[0] + 1, before[1] + 1)
        assert in_thread(lambda: store.read(pair)) == after, opcode
        if not store.in_memory:
            with closing(Store(store.path, durability="normal", busy_seconds=0)) as other:
                assert other.read(pair) == after, opcode
                other.write(put_pair)
        met += 1
    return met


def test_a_write_after_an_interrupted_sandbox_stays(store: Store) -> None:
    assert interrupt_and_write(store, range(0, 1000, 11)) > 30


@pytest.mark.slow
@pytest.mark.parametrize("again_after", [0, 1, 7, 40])
def test_a_sandbox_can_be_interrupted_at_every_opcode(store: Store, again_after: int) -> None:
    assert interrupt_and_write(store, count(), again_after) > 350


def test_a_write_after_an_interrupted_end_stays_while_its_traceback_is_kept(store: Store) -> None:
    kept: list[BaseException] = []
    written = 1

    def leave() -> None:
        try:
            with sandbox(store):
                store.write(put_pair)
        except Interruption as interruption:
            kept.append(interruption)
            raise

    for _ in every_opcode(("end_sandboxes", "_undo"), leave):
        store.write(put_pair)
        written += 1
        assert store.read(pair) == (written, written)
    assert kept


def test_a_sandbox_that_is_left_first_undoes_those_inside_it_and_nothing_else(store: Store) -> None:
    with sandbox(store):
        store.write(put_pair)
        outer, inner = sandbox(store), sandbox(store)
        for one in (outer, inner):
            one.__enter__()
            store.write(put_pair)
        assert store.read(pair) == (4, 4)
        outer.__exit__()
        assert store.read(pair) == (2, 2)
        inner.__exit__()
        store.write(put_pair)
        assert store.read(pair) == (3, 3)
    assert store.read(pair) == (1, 1)


def test_an_open_sandbox_cannot_be_entered_again(store: Store) -> None:
    one = sandbox(store)
    with one:
        with pytest.raises(RuntimeError, match="this sandbox is open"):
            one.__enter__()
        store.write(put_pair)
    assert store.read(pair) == (1, 1)
    with one:  # after its end it can
        store.write(put_pair)
    assert store.read(pair) == (1, 1)


def test_a_dropped_sandbox_is_over(store: Store) -> None:
    sandbox(store).__enter__()
    store.write(put_pair)
    assert store.read(pair) == (2, 2)
