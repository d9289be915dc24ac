"""Key conditions: what they select, and what fits no key."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.errors import ValidationException
from tablewright.expression import KeySelection, Scope

VALUES: dict[str, Any] = {
    ":s": {"S": "x"},
    ":t": {"S": "y"},
    ":n": {"N": "1"},
    ":n2": {"N": "2"},
    ":l": {"L": []},
}
S, T, N, N2 = VALUES[":s"], VALUES[":t"], VALUES[":n"], VALUES[":n2"]


def select(
    text: str,
    partition_names: tuple[str, ...] = ("pk",),
    sort_names: tuple[str, ...] = ("sk",),
    on_index: bool = False,
) -> KeySelection:
    key = Scope(None, VALUES).key_condition(text)
    assert key is not None
    types = {name: "N" if name == "sk" else "S" for name in partition_names + sort_names}
    return key.select(partition_names, sort_names, types, on_index)


@pytest.mark.parametrize(
    ("text", "selection"),
    [
        ("pk = :s", KeySelection((S,))),
        (":s = pk", KeySelection((S,))),
        ("pk = :s AND sk = :n", KeySelection((S,), (), "=", (N,))),
        ("(sk > :n) AND pk = :s", KeySelection((S,), (), ">", (N,))),
        ("pk = :s AND :n < sk", KeySelection((S,), (), ">", (N,))),
        ("pk = :s AND :n >= sk", KeySelection((S,), (), "<=", (N,))),
        ("(pk = :s AND sk BETWEEN :n AND :n2)", KeySelection((S,), (), "BETWEEN", (N, N2))),
    ],
)
def test_selections(text: str, selection: KeySelection) -> None:
    assert select(text) == selection


def test_a_prefix_of_the_sort_key() -> None:
    found = select("a = :s AND begins_with(b, :t)", ("a",), ("b",))
    assert found == KeySelection((S,), (), "begins_with", (T,))


OPERATOR = "Invalid operator used in KeyConditionExpression: "
CONDITION = "Invalid condition in KeyConditionExpression: "
SCALARS = (
    "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
)
TYPE = (
    "One or more parameter values were invalid: Condition parameter type does not match schema type"
)
MISSED = "Query condition missed key schema element: "
NOT_SUPPORTED = "Query key condition not supported"
ONE_PER_KEY = "KeyConditionExpressions must only contain one condition per key"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pk = :s OR sk = :n", f"{OPERATOR}OR"),
        ("NOT pk = :s", f"{OPERATOR}NOT"),
        ("pk <> :s", f"{OPERATOR}<>"),
        ("pk = :s AND sk IN (:n)", f"{OPERATOR}IN"),
        ("pk = :s AND attribute_exists(sk)", f"{OPERATOR}attribute_exists"),
        ("pk = :s AND contains(sk, :s)", f"{OPERATOR}contains"),
        ("size(pk) = :n", "KeyConditionExpressions cannot contain nested operations"),
        ("pk = sk", f"{CONDITION}Multiple attribute names used in one condition"),
        (
            "pk = :s AND sk BETWEEN a AND :n",
            f"{CONDITION}Multiple attribute names used in one condition",
        ),
        ("pk = :s AND :n = :n", f"{CONDITION}No key attribute specified"),
        (
            "pk = :s AND begins_with(:s, sk)",
            f"{CONDITION}begins_with operator must have the key attribute as its first operand",
        ),
        (
            "pk = :s AND :n BETWEEN sk AND sk",
            f"{CONDITION}BETWEEN operator must have the key attribute as its first operand",
        ),
        ("pk.a = :s", f"{SCALARS}Key: pk"),
        ("a.b = :n", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("pk = :s AND pk = :s", ONE_PER_KEY),
        ("pk = :s AND sk > :n AND sk < :n2", ONE_PER_KEY),
        ("pk = :s AND sk = :n AND a = :n", "Conditions can be of length 1 or 2 only"),
        ("sk = :n", f"{MISSED}pk"),
        ("a = :s", f"{MISSED}pk"),
        ("pk = :s AND a = :n", f"{MISSED}sk"),
        ("pk > :s", NOT_SUPPORTED),
        ("begins_with(pk, :s) AND sk = :n", NOT_SUPPORTED),
        ("pk = :n", TYPE),
        ("pk = :s AND sk = :s", TYPE),
        ("pk = :l AND a = :n", TYPE),
        # Nested paths first, then left to right, then the number, then the key.
        ("NOT a = :s AND pk.a = :s", f"{SCALARS}Key: pk"),
        ("pk = sk AND NOT a = :n", f"{CONDITION}Multiple attribute names used in one condition"),
        ("pk = :s AND a = :n AND a = :n", ONE_PER_KEY),
    ],
)
def test_what_fits_no_key(text: str, message: str) -> None:
    with pytest.raises(ValidationException) as caught:
        select(text)
    assert caught.value.old_message == message


def test_a_key_without_a_sort_key() -> None:
    assert select("pk = :s", sort_names=()) == KeySelection((S,))
    with pytest.raises(ValidationException) as caught:
        select("pk = :s AND a = :s", sort_names=())
    assert caught.value.message == (
        "The number of query conditions (2) exceeds the number of key attributes defined in the "
        "schema (1)"
    )
    assert caught.value.old_message == NOT_SUPPORTED


MANY = (("h1", "h2"), ("r1", "r2", "r3"))


@pytest.mark.parametrize(
    ("text", "selection"),
    [
        ("h2 = :t AND h1 = :s", KeySelection((S, T))),
        ("h1 = :s AND h2 = :t AND r1 > :s", KeySelection((S, T), (), ">", (S,))),
        ("r2 < :s AND r1 = :t AND h1 = :s AND h2 = :s", KeySelection((S, S), (T,), "<", (S,))),
        (
            "h1 = :s AND h2 = :s AND r1 = :s AND r2 = :t AND begins_with(r3, :t)",
            KeySelection((S, S), (S, T), "begins_with", (T,)),
        ),
    ],
)
def test_keys_of_several_attributes(text: str, selection: KeySelection) -> None:
    assert select(text, *MANY) == selection


EQUALITY = "must have equality conditions specified in the query"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h1 = :s", f"HASH key attributes h2 {EQUALITY}"),
        ("r1 = :s", f"HASH key attributes h1, h2 {EQUALITY}"),
        ("h1 = :s AND h2 > :s", f"HASH key attributes h2 {EQUALITY}"),
        (
            "h1 = :s AND h2 = :s AND r3 > :s",
            f"RANGE key attributes r1, r2 {EQUALITY} because a condition is present on key "
            "attribute r3",
        ),
        (
            "h1 = :s AND h2 = :s AND r1 > :s AND r2 = :s",
            f"RANGE key attributes r1 {EQUALITY} because a condition is present on key "
            "attribute r2",
        ),
        ("h1 = :s AND h2 = :s AND a = :s", f"{MISSED}r1"),
        ("h1 = :s AND h2 = :s AND r1 = :n", TYPE),
        ("h1 = :s AND h2 = :s AND r1.a = :s", f"{SCALARS}IndexKey: r1"),
        (
            "h1 = :s AND h2 = :s AND r1 = :s AND r2 = :s AND r3 = :s AND a = :s",
            NOT_SUPPORTED,
        ),
    ],
)
def test_what_fits_no_key_of_several_attributes(text: str, message: str) -> None:
    with pytest.raises(ValidationException) as caught:
        select(text, *MANY, on_index=True)
    assert caught.value.old_message == message
