"""A store stays usable after an exception at any point of a call, and loses no other write."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tablewright.errors import ConditionalCheckFailedException, StoreFailed
from tablewright.storage import Snapshot, Store, Tree, WriteTransaction
from tests.storage.interrupts import (
    Interruption,
    TimeLimit,
    alarm,
    every_opcode,
    interrupted_at,
)

TREE = Tree(1)
COMMIT_PATH = (
    "_commit_queued",
    "_commit",
    "_run",
    "_settle",
    "recover",
    "begin",
    "commit",
    "roll_back",
)
WRITE_PATH = (*COMMIT_PATH, "put", "get", "fail", "is_on_stack")
READ_PATH = (
    "get",
    "walk",
    "read_transaction",
    "__enter__",
    "__exit__",
    "__init__",
    "_clean_snapshot",
    "_range",
)


@pytest.fixture(params=["file", ":memory:"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    where = request.param if request.param == ":memory:" else tmp_path / "rows.db"
    with closing(Store(where, durability="normal", busy_seconds=0.05)) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        yield store


def in_thread(action: Callable[[], Any]) -> Any:
    """Run in a thread of its own: a lock that was left behind would block it."""
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(action()), daemon=True)
    thread.start()
    thread.join(30)
    assert outcome, "another thread is blocked, or has failed"
    return outcome[0]


def put_pair(tx: WriteTransaction) -> None:
    """Two rows that always hold the same number."""
    found = tx.get(TREE, b"left")
    number = found[0] + 1 if found else 1
    tx.put(TREE, b"left", number, b"")
    tx.put(TREE, b"right", number, b"")


def pair(snapshot: Snapshot) -> tuple[int, int]:
    with snapshot.read_transaction():
        left, right = snapshot.get(TREE, b"left"), snapshot.get(TREE, b"right")
    return (left[0] if left else 0, right[0] if right else 0)


def assert_usable(store: Store) -> None:
    """Another process, this thread and another one can write; all see the newest state."""
    before, same = store.read(pair)
    assert before == same
    if not store.in_memory:
        with closing(Store(store.path, durability="normal", busy_seconds=0.05)) as other:
            other.write(put_pair)
        before += 1
        assert store.read(pair) == (before, before)
    store.write(put_pair)
    assert store.read(pair) == (before + 1, before + 1)
    in_thread(lambda: store.write(put_pair) is None)
    assert store.read(pair) == (before + 2, before + 2)
    assert len(store._queue) == 0


@pytest.mark.parametrize("interruption", [Interruption, TimeLimit])
def test_a_write_can_be_interrupted_at_every_opcode(
    store: Store, interruption: type[BaseException]
) -> None:
    for _ in every_opcode(WRITE_PATH, lambda: store.write(put_pair), interruption):
        assert_usable(store)


@pytest.mark.parametrize("again_after", [1, 2, 5, 9, 17])
def test_the_clean_up_of_an_interrupted_write_can_be_interrupted(
    store: Store, again_after: int
) -> None:
    for _ in every_opcode(COMMIT_PATH, lambda: store.write(put_pair), again_after=again_after):
        assert_usable(store)


def test_a_write_that_fails_can_be_interrupted_at_every_opcode(store: Store) -> None:
    def fail_half_way(tx: WriteTransaction) -> None:
        tx.put(TREE, b"left", 10**6, b"")
        raise ZeroDivisionError

    def action() -> None:
        with suppress(ZeroDivisionError):
            store.write(fail_half_way)

    for _ in every_opcode(COMMIT_PATH, action):
        assert_usable(store)


def test_a_kept_exception_of_a_write_does_not_keep_an_old_state(store: Store) -> None:
    """The traceback holds a walk, and the walk an open statement of the writer's connection."""

    def walk_and_fail(tx: WriteTransaction) -> None:
        put_pair(tx)
        for _ in tx.walk(TREE, b"", None):
            raise Interruption

    store.write(put_pair)
    with pytest.raises(Interruption) as kept:
        store.write(walk_and_fail)
    assert_usable(store)
    assert kept.value.__traceback__ is not None


def queued_beside(store: Store, leader: Callable[[], Any], followers: list[Any]) -> list[Any]:
    """Queue the followers' steps, each from its thread, in the batch that `leader` commits."""
    outcomes: list[Any] = [None] * len(followers)

    def follow(position: int) -> None:
        try:
            outcomes[position] = store.write(followers[position])
        except Exception as error:
            outcomes[position] = error

    threads = [
        threading.Thread(target=follow, args=(n,), daemon=True) for n in range(len(followers))
    ]
    with store._queue.lock:
        for thread in threads:
            thread.start()
        while len(store._queue) < len(followers):
            assert all(thread.is_alive() for thread in threads)
        leader()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), "a queued writer got no outcome"
    return outcomes


@pytest.mark.parametrize("interruption", [Interruption, TimeLimit])
@pytest.mark.parametrize("again_after", [0, 3, 10])
def test_writers_in_a_shared_commit_get_their_outcome_exactly_once(
    tmp_path: Path, interruption: type[BaseException], again_after: int
) -> None:
    def increment(tx: WriteTransaction) -> int:
        found = tx.get(TREE, b"counter")
        number = found[0] + 1 if found else 1
        tx.put(TREE, b"counter", number, b"")
        return number

    def refuse(tx: WriteTransaction) -> None:
        raise ConditionalCheckFailedException

    store = Store(tmp_path / "rows.db", durability="normal")
    store.write(lambda tx: tx.create_tree(TREE))
    expected = 0
    opcode = 0
    raised = True
    while raised:

        def leader(at: int = opcode) -> None:
            nonlocal raised
            raised = interrupted_at(
                at,
                COMMIT_PATH,
                lambda: store.write(put_pair),
                interruption,
                again_after=again_after,
            )

        first, refused, second = queued_beside(store, leader, [increment, refuse, increment])
        assert isinstance(refused, ConditionalCheckFailedException)
        assert sorted([first, second]) == [expected + 1, expected + 2]
        expected += 2
        found = store.read(lambda snapshot: snapshot.get(TREE, b"counter"))
        assert found == (expected, b"")
        opcode += 7  # every seventh: the others are interrupted above
    assert_usable(store)
    store.close()


def test_a_read_can_be_interrupted_at_every_opcode(store: Store) -> None:
    def read(snapshot: Snapshot) -> None:
        with snapshot.read_transaction():
            snapshot.get(TREE, b"left")
            for _ in snapshot.walk(TREE, b"", None):
                snapshot.get(TREE, b"right")

    store.write(put_pair)
    for _ in every_opcode(READ_PATH, lambda: store.read(read)):
        assert_usable(store)


def test_a_kept_exception_of_a_walk_does_not_keep_an_old_state(tmp_path: Path) -> None:
    """The traceback holds the walk, and the walk an open statement."""

    def walk_and_fail(snapshot: Snapshot) -> None:
        for _ in snapshot.walk(TREE, b"", None):
            raise Interruption

    with closing(Store(tmp_path / "rows.db")) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        store.write(put_pair)
        with pytest.raises(Interruption) as kept:
            store.read(walk_and_fail)
        in_thread(lambda: store.write(put_pair) is None)
        assert store.read(pair) == (2, 2)
        assert kept.value.__traceback__ is not None


def test_a_read_inside_a_read_does_not_disturb_it(tmp_path: Path) -> None:
    """As a signal handler does that reads, in the middle of a walk."""

    def walk(snapshot: Snapshot) -> list[bytes]:
        found = []
        for key, _, _ in snapshot.walk(TREE, b"", None):
            found.append(key)
            assert snapshot is not whole.read(lambda inner: inner)
            assert whole.read(pair) == (1, 1)
        return found

    with closing(Store(tmp_path / "rows.db")) as whole:
        whole.write(lambda tx: tx.create_tree(TREE))
        whole.write(put_pair)
        assert whole.read(walk) == [b"left", b"right"]
        assert_usable(whole)


def test_a_write_inside_a_write_is_refused_and_the_outer_one_is_done(store: Store) -> None:
    def outer(tx: WriteTransaction) -> None:
        with pytest.raises(StoreFailed, match="inside one of its own writes"):
            store.write(put_pair)
        put_pair(tx)

    store.write(outer)
    assert store.read(pair) == (1, 1)
    assert_usable(store)


# Python reports, and cannot raise, what a handler raises inside of a weak reference's callback.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, TimeLimit])
def test_signals_at_random_moments_leave_the_store_usable(
    store: Store, interruption: type[BaseException]
) -> None:
    chance = random.Random(1)
    acknowledged = 0
    for _ in range(150):
        with suppress(interruption), alarm(chance.uniform(1e-6, 400e-6), interruption):
            for _ in range(3):
                store.write(put_pair)
                acknowledged += 1
                store.read(pair)
    left, right = store.read(pair)
    assert left == right >= acknowledged
    assert_usable(store)
