"""Readers see whole states of the file, and never wait for a writer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest

from tablewright.storage import Snapshot, Store, WriteTransaction
from tests.storage.conftest import TREE
from tests.storage.wal import is_held

T = TypeVar("T")


def body(snapshot: Snapshot) -> bytes | None:
    found = snapshot.get(TREE, b"k")
    return None if found is None else found[1]


def put(store: Store, value: bytes) -> None:
    store.write(lambda tx: tx.put(TREE, b"k", 0, value))


def in_thread(work: Callable[[], T]) -> T:
    """What `work` gives in a thread of its own; a failure if it does not end soon."""
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive(), "waits"
    return results[0]


def test_reads_inside_frozen_see_one_state(store: Store) -> None:
    put(store, b"old")

    def step(snapshot: Snapshot) -> list[bytes | None]:
        with snapshot.read_transaction():
            seen = [body(snapshot)]
            put(store, b"new")
            return [*seen, body(snapshot)]

    assert store.read(step) == [b"old", b"old"]


def test_reads_outside_frozen_see_the_last_commit(store: Store) -> None:
    put(store, b"old")

    def step(snapshot: Snapshot) -> list[bytes | None]:
        with snapshot.read_transaction():
            body(snapshot)
            put(store, b"new")
        return [body(snapshot)]

    assert store.read(step) == [b"new"]


def test_frozen_inside_frozen_is_the_same_state(store: Store) -> None:
    put(store, b"old")

    def step(snapshot: Snapshot) -> list[bytes | None]:
        with snapshot.read_transaction():
            seen = [body(snapshot)]
            put(store, b"new")
            with snapshot.read_transaction():
                seen.append(body(snapshot))
            return [*seen, body(snapshot)]

    assert store.read(step) == [b"old", b"old", b"old"]


def test_frozen_ends_when_its_block_fails(store: Store, path: Path) -> None:
    def step(snapshot: Snapshot) -> None:
        with snapshot.read_transaction():
            body(snapshot)
            put(store, b"new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.read(step)
    assert not is_held(path)
    assert store.read(body) == b"new"


def test_frozen_in_a_transaction_sees_its_changes(store: Store) -> None:
    def step(tx: WriteTransaction) -> bytes | None:
        tx.put(TREE, b"k", 0, b"mine")
        with tx.read_transaction():
            return body(tx)

    assert store.write(step) == b"mine"


def test_a_reader_does_not_see_what_is_not_committed(store: Store) -> None:
    put(store, b"old")
    assert store.read(body) == b"old"

    def step(tx: WriteTransaction) -> bytes | None:
        tx.put(TREE, b"k", 0, b"new")
        return store.read(body)

    assert store.write(step) == b"old"
    assert store.read(body) == b"new"


def test_a_reader_does_not_wait_for_a_writer(store: Store) -> None:
    put(store, b"old")
    reading, writing = threading.Event(), threading.Event()
    seen: list[bytes | None] = []

    def read_twice() -> None:
        seen.append(store.read(body))
        reading.set()
        assert writing.wait(10)
        seen.append(store.read(body))

    reader = threading.Thread(target=read_twice, daemon=True)

    def step(tx: WriteTransaction) -> bool:
        tx.put(TREE, b"k", 0, b"new")
        writing.set()
        reader.join(10)
        return reader.is_alive()

    reader.start()
    assert reading.wait(10)
    assert store.write(step) is False
    assert seen == [b"old", b"old"]


def test_a_store_in_memory_is_one_for_all_threads() -> None:
    with closing(Store(":memory:")) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        in_thread(lambda: put(store, b"there"))
        assert in_thread(lambda: store.read(body)) == b"there"


def test_two_stores_in_memory_are_apart() -> None:
    with closing(Store(":memory:")) as one, closing(Store(":memory:")) as other:
        one.write(lambda tx: tx.create_tree(TREE))
        other.write(lambda tx: tx.create_tree(TREE))
        put(one, b"one")
        assert other.read(body) is None


def test_a_thread_that_reads_for_the_first_time_does_not_wait_for_a_writer(store: Store) -> None:
    put(store, b"old")

    def step(tx: WriteTransaction) -> bytes | None:
        tx.put(TREE, b"k", 0, b"new")
        return in_thread(lambda: store.read(body))

    assert store.write(step) == b"old"


def test_a_store_can_be_opened_while_another_writes(store: Store, path: Path) -> None:
    put(store, b"old")

    def opened() -> bytes | None:
        with closing(Store(path)) as other:
            return other.read(body)

    def step(tx: WriteTransaction) -> bytes | None:
        tx.put(TREE, b"k", 0, b"new")
        return in_thread(opened)

    assert store.write(step) == b"old"


def test_threads_that_have_ended_leave_no_open_file_behind(store: Store) -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    put(store, b"there")
    in_thread(lambda: store.read(body))
    before = open_files()
    for _ in range(20):
        in_thread(lambda: store.read(body))
    assert open_files() <= before + 6  # some may be kept for the next ones
