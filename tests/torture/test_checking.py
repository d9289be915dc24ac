"""The checks of histories accept what may happen and reject what may not."""

from __future__ import annotations

import pytest

from torture.checking import NEVER, Access, WriteTransaction, linearizable, serializable

LINEARIZABLE = {
    "nothing": [],
    "a read after a write": [Access(0, 1, "write", 7), Access(2, 3, "read", 7)],
    "a read during a write, old": [Access(0, 3, "write", 7), Access(1, 2, "read", 0)],
    "a read during a write, new": [Access(0, 3, "write", 7), Access(1, 2, "read", 7)],
    "a swap of what is there": [Access(0, 1, "write", 7), Access(2, 3, "swap", 8, old=7)],
    "a refused swap": [Access(0, 1, "write", 7), Access(2, 3, "refused", old=6)],
    "an unknown write that happened": [Access(0, NEVER, "write", 7), Access(5, 6, "read", 7)],
    "an unknown write that did not happen": [Access(0, NEVER, "write", 7), Access(5, 6, "read")],
    "two writes at once": [
        Access(0, 9, "write", 7),
        Access(0, 9, "write", 8),
        Access(10, 11, "read", 7),
    ],
}
BROKEN = {
    "a stale read": [Access(0, 1, "write", 7), Access(2, 3, "read", 0)],
    "a read of the future": [Access(0, 1, "read", 7), Access(2, 3, "write", 7)],
    "two swaps of one value": [Access(0, 9, "swap", 7), Access(0, 9, "swap", 8)],
    "a refused swap of what is there": [Access(0, 1, "write", 7), Access(2, 3, "refused", old=7)],
    "reads in another order than time": [
        Access(0, 9, "write", 7),
        Access(1, 2, "read", 7),
        Access(3, 4, "read", 0),
    ],
    "an unknown write that happened twice": [
        Access(0, NEVER, "write", 7),
        Access(1, 2, "write", 8),
        Access(3, 4, "read", 7),
        Access(5, 6, "write", 9),
        Access(7, 8, "read", 7),
    ],
}


@pytest.mark.parametrize("history", LINEARIZABLE.values(), ids=LINEARIZABLE)
def test_a_history_that_some_order_explains_is_linearizable(history: list[Access]) -> None:
    assert linearizable(history)


@pytest.mark.parametrize("history", BROKEN.values(), ids=BROKEN)
def test_a_history_that_no_order_explains_is_not(history: list[Access]) -> None:
    assert not linearizable(history)


def test_transactions_one_after_the_other_are_serializable() -> None:
    history = [
        WriteTransaction(0, 1, {}, {"a": 1, "b": 1}),
        WriteTransaction(2, 3, {"a": [1], "b": [1]}, {}),
        WriteTransaction(4, 5, {"a": [1]}, {"a": 2}),
    ]
    assert serializable(history, {"a": [1, 2], "b": [1]}) == ""


def test_a_read_of_one_half_of_a_transaction_is_found() -> None:
    history = [
        WriteTransaction(0, 9, {}, {"a": 1, "b": 1}),
        WriteTransaction(0, 9, {"a": [1], "b": []}, {}),
    ]
    assert "cannot be put in an order" in serializable(history, {"a": [1], "b": [1]})


def test_two_reads_that_see_two_writes_in_different_orders_are_found() -> None:
    history = [
        WriteTransaction(0, 9, {}, {"a": 1}),
        WriteTransaction(0, 9, {}, {"b": 1}),
        WriteTransaction(0, 9, {"a": [1], "b": []}, {}),
        WriteTransaction(0, 9, {"a": [], "b": [1]}, {}),
    ]
    assert "cannot be put in an order" in serializable(history, {"a": [1], "b": [1]})


def test_a_stale_read_of_a_transaction_is_found() -> None:
    history = [WriteTransaction(0, 1, {}, {"a": 1}), WriteTransaction(2, 3, {"a": []}, {})]
    assert "cannot be put in an order" in serializable(history, {"a": [1]})


@pytest.mark.parametrize(
    ("last", "problem"),
    [
        ({"a": [], "b": []}, "acknowledged"),
        ({"a": [1], "b": []}, "acknowledged"),
        ({"a": [1, 1], "b": [1]}, "twice"),
        ({"a": [1, 2], "b": [1]}, "no acknowledged or open transaction"),
    ],
)
def test_a_lost_half_repeated_or_unknown_write_is_found(
    last: dict[str, list[int]], problem: str
) -> None:
    assert problem in serializable([WriteTransaction(0, 1, {}, {"a": 1, "b": 1})], last)


@pytest.mark.parametrize("there", [[], [1]])
def test_a_transaction_without_a_known_outcome_may_have_happened_or_not(there: list[int]) -> None:
    history = [WriteTransaction(0, NEVER, {}, {"a": 1}, known=False)]
    assert serializable(history, {"a": there}) == ""


def test_a_transaction_without_a_known_outcome_is_whole() -> None:
    history = [WriteTransaction(0, NEVER, {}, {"a": 1, "b": 1}, known=False)]
    assert "half applied" in serializable(history, {"a": [1], "b": []})
