"""Who commits when: writers share commits, and none of them can spoil another's step."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tablewright.errors import ConditionalCheckFailedException
from tablewright.storage import Store, WriteTransaction
from tests.storage.conftest import TREE
from tests.storage.wal import commits

Step = Callable[[WriteTransaction], Any]


def putting(key: bytes) -> Step:
    def step(tx: WriteTransaction) -> bytes:
        tx.put(TREE, key, 0, b"")
        return key

    return step


def refused(tx: WriteTransaction) -> None:
    raise ConditionalCheckFailedException


def failing_half_way(tx: WriteTransaction) -> None:
    tx.put(TREE, b"half", 0, b"")
    raise ZeroDivisionError("half way")


def keys(store: Store) -> list[bytes]:
    return store.read(lambda snapshot: [key for key, _, _ in snapshot.walk(TREE, b"", None)])


def write_at_once(store: Store, steps: Sequence[Step]) -> list[Any]:
    """Let each thread queue its step while another holds the writer: what came of each."""
    outcomes: list[Any] = [None] * len(steps)
    entered, go_on = threading.Event(), threading.Event()

    def hold(tx: WriteTransaction) -> None:
        entered.set()
        assert go_on.wait(30)

    def write(position: int, step: Step) -> None:
        try:
            outcomes[position] = store.write(step)
        except Exception as error:
            outcomes[position] = error

    holder = threading.Thread(target=store.write, args=(hold,))
    writers = [threading.Thread(target=write, args=pair) for pair in enumerate(steps)]
    holder.start()
    assert entered.wait(30)
    for writer in writers:
        writer.start()
    while len(store._queue) < len(steps):
        assert all(writer.is_alive() for writer in writers)
    go_on.set()
    for thread in (holder, *writers):
        thread.join(30)
        assert not thread.is_alive()
    return outcomes


def test_a_write_is_one_commit(store: Store, path: Path) -> None:
    before = commits(path)
    store.write(putting(b"a"))
    store.write(putting(b"b"))
    assert commits(path) == before + 2


def test_writers_that_wait_share_one_commit(store: Store, path: Path) -> None:
    names = [b"%d" % number for number in range(8)]
    before = commits(path)
    assert write_at_once(store, [putting(name) for name in names]) == names
    assert commits(path) == before + 1  # the holder changed nothing, so it is not in the log
    assert keys(store) == names


def test_write_all_is_one_commit(store: Store, path: Path) -> None:
    before = commits(path)
    assert store.write_all([putting(b"a"), putting(b"b"), putting(b"c")]) == [b"a", b"b", b"c"]
    assert commits(path) == before + 1


def test_write_all_of_nothing_does_nothing(store: Store) -> None:
    assert store.write_all([]) == []


def test_a_fault_leaves_the_other_steps_of_its_commit_alone(store: Store, path: Path) -> None:
    before = commits(path)
    first, fault, last = write_at_once(store, [putting(b"a"), refused, putting(b"b")])
    assert (first, last) == (b"a", b"b")
    assert isinstance(fault, ConditionalCheckFailedException)
    assert keys(store) == [b"a", b"b"]
    assert commits(path) == before + 1


def test_write_all_gives_a_fault_in_its_place(store: Store) -> None:
    first, fault, last = store.write_all([putting(b"a"), refused, putting(b"b")])
    assert (first, last) == (b"a", b"b")
    assert isinstance(fault, ConditionalCheckFailedException)


def test_what_a_refused_step_has_read_is_freed_without_the_garbage_collector(store: Store) -> None:
    class Item:
        pass

    read: list[weakref.ref[Item]] = []

    def refused_after_read(tx: WriteTransaction) -> None:
        item = Item()
        read.append(weakref.ref(item))
        try:
            raise KeyError("no attribute")
        except KeyError:
            raise ConditionalCheckFailedException from None

    gc.disable()
    try:
        (fault,) = store.write_all([refused_after_read])
        assert isinstance(fault, ConditionalCheckFailedException)
        assert read[0]() is None
    finally:
        gc.enable()


def test_a_step_that_fails_half_way_is_taken_back_and_the_others_are_done(store: Store) -> None:
    first, failure, last = write_at_once(store, [putting(b"a"), failing_half_way, putting(b"b")])
    assert (first, last) == (b"a", b"b")
    assert isinstance(failure, ZeroDivisionError)
    assert keys(store) == [b"a", b"b"]


def test_a_step_that_fails_half_way_alone_changes_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        store.write(failing_half_way)
    assert keys(store) == []


def test_a_step_in_a_commit_that_is_taken_back_has_its_last_outcome(store: Store) -> None:
    """Run again on its own, a step that was refused before may pass: what it then did counts."""
    runs: list[bytes] = []

    def once_refused(tx: WriteTransaction) -> bytes:
        runs.append(b"run")
        if len(runs) == 1:
            raise ConditionalCheckFailedException
        return putting(b"second")(tx)  # type: ignore[no-any-return]

    outcome, failure = store.write_all([once_refused, failing_half_way])
    assert outcome == b"second"
    assert isinstance(failure, ZeroDivisionError)
    assert keys(store) == [b"second"]


def test_a_transaction_counts_what_was_taken_back(store: Store) -> None:
    before = store.write(lambda tx: tx.rollbacks)
    for count in (1, 2):
        with pytest.raises(ZeroDivisionError):
            store.write(failing_half_way)
        assert store.write(lambda tx: tx.rollbacks) == before + count


def test_a_store_goes_on_after_a_failure(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        store.write(failing_half_way)
    store.write(putting(b"a"))
    assert keys(store) == [b"a"]


def test_a_step_sees_what_the_steps_before_it_in_its_commit_did(store: Store) -> None:
    def count(tx: WriteTransaction) -> int:
        return tx.count(TREE)[0]

    assert store.write_all([putting(b"a"), count, putting(b"b"), count]) == [b"a", 1, b"b", 2]


@pytest.mark.parametrize("where", [":memory:", "file"])
def test_no_increment_of_eight_threads_is_lost(where: str, tmp_path: Path) -> None:
    turns = 50

    def increment(tx: WriteTransaction) -> None:
        found = tx.get(TREE, b"counter")
        tx.put(TREE, b"counter", found[0] + 1 if found else 1, b"")

    def work(store: Store) -> None:
        for _ in range(turns):
            store.write(increment)
            assert store.read(lambda snapshot: snapshot.get(TREE, b"counter")) is not None

    with closing(Store(where if where == ":memory:" else tmp_path / where)) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        threads = [threading.Thread(target=work, args=(store,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert store.read(lambda snapshot: snapshot.get(TREE, b"counter")) == (8 * turns, b"")


def test_two_stores_on_one_file_take_turns(store: Store, path: Path) -> None:
    with closing(Store(path)) as other:
        for number in range(10):
            (store, other)[number % 2].write(putting(b"%d" % number))
        assert keys(store) == keys(other) == [b"%d" % number for number in range(10)]


def test_the_version_changes_when_another_store_has_committed_and_only_then(
    store: Store, path: Path
) -> None:
    before = store.write(lambda tx: tx.version)
    store.write(putting(b"own"))
    assert store.write(lambda tx: tx.version) == before
    with closing(Store(path)) as other:
        other.write(putting(b"other"))
        assert store.write(lambda tx: tx.version) != before
