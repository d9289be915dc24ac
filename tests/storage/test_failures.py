"""What a store says when it cannot do its work: locked out, closed, or opened before a fork."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from tablewright.errors import CannotOpen, StoreBusy, StoreClosed, StoreForked
from tablewright.storage import Snapshot, Store, WriteTransaction
from tablewright.storage.file import APPLICATION_ID, FORMAT
from tests.storage.conftest import TREE
from tests.storage.forks import in_child, name_of_error

MARKING = [
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FORMAT}",
]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file's write lock, as another process would."""
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def putting(key: bytes) -> Callable[[WriteTransaction], None]:
    return lambda tx: tx.put(TREE, key, 0, b"")


def keys(store: Store) -> list[bytes]:
    return store.read(lambda snapshot: [key for key, _, _ in snapshot.walk(TREE, b"", None)])


# -- the lock


def test_a_writer_that_cannot_have_the_lock_fails_and_can_try_again(
    store: Store, path: Path
) -> None:
    with closing(Store(path, busy_seconds=0.05)) as hasty:
        with locked(path), pytest.raises(StoreBusy, match=r"rows\.db: another process .* 0\.05 s"):
            hasty.write(putting(b"a"))
        hasty.write(putting(b"b"))
    assert keys(store) == [b"b"]


def test_every_step_of_a_batch_fails_after_one_wait(store: Store, path: Path) -> None:
    with closing(Store(path, busy_seconds=0.05)) as hasty, locked(path):
        results = hasty.write_all([putting(b"%d" % number) for number in range(30)])
    assert [type(result) for result in results] == [StoreBusy] * 30
    assert len(set(map(id, results))) == 30  # an exception of its own for each caller
    assert keys(store) == []


def test_a_reader_does_not_need_the_lock(store: Store, path: Path) -> None:
    store.write(putting(b"a"))
    with locked(path):
        assert keys(store) == [b"a"]


@pytest.mark.parametrize(
    ("made_by", "held_by"),
    [
        ([], "BEGIN IMMEDIATE"),
        ([], "BEGIN EXCLUSIVE"),
        (MARKING, "BEGIN IMMEDIATE"),
        (MARKING, "BEGIN EXCLUSIVE"),
        (MARKING, "BEGIN; SELECT * FROM sqlite_schema"),
    ],
)
def test_a_file_that_is_locked_for_too_long_cannot_be_opened_and_then_can(
    path: Path, made_by: list[str], held_by: str
) -> None:
    """A new one, and one that is ours but not yet switched to its log."""
    with closing(apsw.Connection(str(path))) as other:
        for statement in made_by:
            other.execute(statement)
        other.execute(held_by)
        with pytest.raises(StoreBusy):
            Store(path, busy_seconds=0.05)
        other.execute("COMMIT")
    with closing(Store(path)) as store:
        assert store._writer.pragma("journal_mode") == "wal"


def test_an_error_that_is_kept_keeps_no_lock(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as other:
        other.execute("CREATE TABLE notes (text)")
        with pytest.raises(CannotOpen) as kept:
            Store(path)
        other.execute("BEGIN EXCLUSIVE")
    assert kept.value.__traceback__ is not None


# -- closing


def test_a_close_during_a_read_does_not_fail(store: Store) -> None:
    """The reader is kept inside SQLite, where its connection cannot be closed."""
    inside, go_on = threading.Event(), threading.Event()
    store.write(putting(b"a"))

    def pause() -> bool:
        inside.set()
        return not go_on.wait(30)

    def step(snapshot: Snapshot) -> None:
        snapshot._connection.set_progress_handler(pause, 1)
        snapshot.count(TREE)

    outcomes: list[str] = []
    reader = threading.Thread(
        target=lambda: outcomes.append(name_of_error(lambda: store.read(step)))
    )
    reader.start()
    try:
        assert inside.wait(30)
        store.close()
    finally:
        go_on.set()
        reader.join(30)
    assert outcomes == ["nothing"]
    with pytest.raises(StoreClosed):
        keys(store)


@pytest.mark.parametrize("where", [":memory:", "file"])
def test_a_closed_store_neither_reads_nor_writes(where: str, tmp_path: Path) -> None:
    store = Store(where if where == ":memory:" else tmp_path / where)
    store.write(lambda tx: tx.create_tree(TREE))
    store.read(lambda snapshot: snapshot.count(TREE))
    store.close()
    with pytest.raises(StoreClosed):
        store.read(lambda snapshot: snapshot.count(TREE))
    with pytest.raises(StoreClosed):
        store.write(putting(b"a"))
    assert [type(result) for result in store.write_all([putting(b"a")])] == [StoreClosed]


# -- forks


@pytest.mark.parametrize("where", [":memory:", "file"])
def test_a_child_can_use_no_store_of_its_parent(where: str, tmp_path: Path) -> None:
    with closing(Store(where if where == ":memory:" else tmp_path / where)) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        store.write(putting(b"a"))
        assert keys(store) == [b"a"]  # this thread has a connection for reading
        told = in_child(
            lambda: [
                name_of_error(lambda: store.read(lambda snapshot: snapshot.count(TREE))),
                name_of_error(lambda: store.write(putting(b"child"))),
                *(type(result).__name__ for result in store.write_all([putting(b"child")])),
                name_of_error(store.close),
            ]
        )
        assert told == [StoreForked.__name__] * 3 + ["nothing"]
        store.write(putting(b"b"))
        assert keys(store) == [b"a", b"b"]


@pytest.mark.parametrize("where", [":memory:", "file"])
def test_a_fork_while_another_thread_writes_does_not_hang_the_child(
    where: str, tmp_path: Path
) -> None:
    """The lock that the thread holds would never be released in the child."""
    entered, go_on = threading.Event(), threading.Event()

    def hold(tx: WriteTransaction) -> None:
        entered.set()
        assert go_on.wait(60)

    with closing(Store(where if where == ":memory:" else tmp_path / where)) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        writer = threading.Thread(target=store.write, args=(hold,))
        writer.start()
        try:
            assert entered.wait(30)
            told = in_child(
                lambda: [
                    name_of_error(lambda: keys(store)),
                    name_of_error(lambda: store.write(putting(b"child"))),
                ]
            )
        finally:
            go_on.set()
            writer.join(30)
        assert told == [StoreForked.__name__] * 2
        store.write(putting(b"a"))
        assert keys(store) == [b"a"]


def test_a_child_opens_the_file_for_itself(store: Store, path: Path) -> None:
    def work() -> list[str]:
        with closing(Store(path)) as own:
            own.write(putting(b"child"))
            return [key.decode() for key in keys(own)]

    store.write(putting(b"a"))
    assert in_child(work) == ["a", "child"]
    store.write(putting(b"b"))
    assert keys(store) == [b"a", b"b", b"child"]
