"""A tree is a sorted map of bytes: lookups, walks in both directions, counts."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.storage import MissingTree, Snapshot, Store, Tree, WriteTransaction
from tests.storage.conftest import TREE
from tests.storage.wal import is_held

KEYS = [b"", b"\x00", b"a", b"a\x00", b"aa", b"b", b"\xff", b"\xff\xff"]


def fill(tx: WriteTransaction) -> None:
    for key in reversed(KEYS):
        tx.put(TREE, key, len(key), b"body of " + key)


def walked(
    store: Store, first: bytes = b"", end: bytes | None = None, *, backwards: bool = False
) -> list[bytes]:
    return store.read(
        lambda snapshot: [key for key, _, _ in snapshot.walk(TREE, first, end, backwards=backwards)]
    )


def test_a_row_is_found_under_its_key(store: Store) -> None:
    store.write(lambda tx: tx.put(TREE, b"k\x00", 7, b"body\x00"))
    assert store.read(lambda snapshot: snapshot.get(TREE, b"k\x00")) == (7, b"body\x00")


def test_there_is_nothing_under_a_key_that_was_not_put(store: Store) -> None:
    store.write(fill)
    assert store.read(lambda snapshot: snapshot.get(TREE, b"a\x01")) is None


def test_a_second_put_replaces_the_first(store: Store) -> None:
    store.write(lambda tx: tx.put(TREE, b"k", 1, b"first"))
    store.write(lambda tx: tx.put(TREE, b"k", 2, b"second"))
    assert store.read(lambda snapshot: snapshot.get(TREE, b"k")) == (2, b"second")
    assert store.read(lambda snapshot: snapshot.count(TREE)) == (1, 2)


def test_a_deleted_row_is_gone_and_the_others_stay(store: Store) -> None:
    store.write(fill)
    store.write(lambda tx: tx.delete(TREE, b"a"))
    assert walked(store) == [key for key in KEYS if key != b"a"]


def test_deleting_what_is_not_there_does_nothing(store: Store) -> None:
    store.write(fill)
    store.write(lambda tx: tx.delete(TREE, b"nothing"))
    assert walked(store) == KEYS


BOUNDS: list[tuple[bytes, bytes | None, list[bytes]]] = [
    (b"", None, KEYS),
    (b"", b"", []),
    (b"", b"\x00", [b""]),
    (b"\x00", None, KEYS[1:]),
    (b"a", b"b", [b"a", b"a\x00", b"aa"]),
    (b"a", b"a", []),
    (b"a\x00", b"a\x01", [b"a\x00"]),
    (b"a\x01", b"b\x00", [b"aa", b"b"]),
    (b"b\x00", b"\xfe", []),
    (b"b\x00", None, [b"\xff", b"\xff\xff"]),
    (b"\xff\xff\x00", None, []),
    (b"b", b"a", []),
]


@pytest.mark.parametrize(("first", "end", "expected"), BOUNDS)
def test_a_walk_goes_from_the_first_up_to_but_without_the_end(
    store: Store, first: bytes, end: bytes | None, expected: list[bytes]
) -> None:
    store.write(fill)
    assert walked(store, first, end) == expected


@pytest.mark.parametrize(("first", "end", "expected"), BOUNDS)
def test_a_walk_backwards_meets_the_same_rows_from_the_last(
    store: Store, first: bytes, end: bytes | None, expected: list[bytes]
) -> None:
    store.write(fill)
    assert walked(store, first, end, backwards=True) == expected[::-1]


@given(
    st.dictionaries(st.binary(max_size=4), st.binary(max_size=3), max_size=20),
    st.binary(max_size=3),
    st.none() | st.binary(max_size=3),
    st.booleans(),
)
def test_a_walk_is_a_slice_of_the_sorted_rows(
    rows: dict[bytes, bytes], first: bytes, end: bytes | None, backwards: bool
) -> None:
    def written_and_walked(tx: WriteTransaction) -> list[tuple[bytes, int, bytes]]:
        tx.create_tree(TREE)
        for key, body in rows.items():
            tx.put(TREE, key, len(body), body)
        return list(tx.walk(TREE, first, end, backwards=backwards))

    with closing(Store(":memory:")) as store:
        found = store.write(written_and_walked)
    inside = [key for key in sorted(rows) if key >= first and (end is None or key < end)]
    expected = [(key, len(rows[key]), rows[key]) for key in inside]
    assert found == (expected[::-1] if backwards else expected)


def test_count_gives_the_rows_and_the_sum_of_their_sizes(store: Store) -> None:
    store.write(fill)
    assert store.read(lambda snapshot: snapshot.count(TREE)) == (len(KEYS), sum(map(len, KEYS)))


def test_an_empty_tree_counts_nothing(store: Store) -> None:
    assert store.read(lambda snapshot: snapshot.count(TREE)) == (0, 0)


def test_a_transaction_sees_its_own_changes(store: Store) -> None:
    def step(tx: WriteTransaction) -> tuple[int, bytes] | None:
        tx.put(TREE, b"k", 1, b"new")
        return tx.get(TREE, b"k")

    assert store.write(step) == (1, b"new")


def test_an_open_walk_does_not_see_later_writes(store: Store) -> None:
    store.write(fill)

    def step(snapshot: Snapshot) -> list[bytes]:
        with closing(snapshot.walk(TREE, b"", None)) as walk:
            met = [next(walk)[0]]
            store.write(lambda tx: tx.put(TREE, b"ab", 0, b""))
            return met + [key for key, _, _ in walk]

    assert store.read(step) == KEYS
    assert b"ab" in walked(store)


def test_a_walk_that_is_closed_early_lets_go_of_its_snapshot(store: Store, path: Path) -> None:
    store.write(fill)

    def step(snapshot: Snapshot) -> list[bool]:
        walk = snapshot.walk(TREE, b"", None)
        next(walk)
        store.write(lambda tx: tx.put(TREE, b"k", 0, b""))
        held = [is_held(path)]
        walk.close()
        return [*held, is_held(path)]

    assert store.read(step) == [True, False]


def test_a_walk_to_the_end_lets_go_of_its_snapshot(store: Store, path: Path) -> None:
    store.write(fill)
    assert walked(store) == KEYS
    assert not is_held(path)


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_tree_that_is_not_there_is_reported_as_missing(
    store: Store, in_transaction: bool
) -> None:
    def reads(snapshot: Snapshot) -> None:
        with pytest.raises(MissingTree):
            snapshot.get(Tree(99), b"k")
        with pytest.raises(MissingTree):
            list(snapshot.walk(Tree(99), b"", None))
        with pytest.raises(MissingTree):
            snapshot.count(Tree(99))

    if in_transaction:
        store.write(reads)
    else:
        store.read(reads)


def test_a_dropped_tree_is_missing_for_a_reader_that_knew_it(store: Store) -> None:
    store.write(fill)
    assert walked(store) == KEYS
    store.write(lambda tx: tx.drop_tree(TREE))
    with pytest.raises(MissingTree):
        walked(store)
