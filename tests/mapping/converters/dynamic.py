"""Any, what only pydantic knows, and what nobody does."""

from __future__ import annotations

from decimal import Decimal
from ipaddress import IPv4Address
from pathlib import PurePosixPath
from typing import Any

from hypothesis import strategies as st
from pydantic import HttpUrl, JsonValue

from tests.encoding.strategies import decimals, raw_bytes, texts
from tests.mapping.converters.choices import NULL
from tests.mapping.converters.scalars import integers

Value = dict[str, Any]


class Nothing:
    pass


STRICT: list[Any] = [HttpUrl]

CASES: list[tuple[Any, Any, Value]] = [
    (Any, None, NULL),
    (
        Any,
        {"s": "x", "n": [1, Decimal("1.5"), 2.5], "t": True, "b": b"hi", "set": {1, 2}, "0": None},
        {
            "M": {
                "s": {"S": "x"},
                "n": {"L": [{"N": "1"}, {"N": "1.5"}, {"N": "2.5"}]},
                "t": {"BOOL": True},
                "b": {"B": "aGk="},
                "set": {"NS": ["1", "2"]},
                "0": NULL,
            }
        },
    ),
    (JsonValue, [{"a": None}], {"L": [{"M": {"a": NULL}}]}),
    (HttpUrl, HttpUrl("https://example.org/a"), {"S": "https://example.org/a"}),
    (IPv4Address, IPv4Address("10.0.0.1"), {"S": "10.0.0.1"}),
    (PurePosixPath, PurePosixPath("/a/b"), {"S": "/a/b"}),
    (list[IPv4Address], [IPv4Address("10.0.0.1")], {"L": [{"S": "10.0.0.1"}]}),
]

OTHER_SPELLINGS: list[tuple[Any, Value, Any]] = [(Any, {"N": "1E+3"}, 1000)]

REFUSED: list[tuple[Any, Any, str]] = [
    (Any, object, "is not a value of one of DynamoDB's types"),
    (Any, {"t": (1, 2)}, "Order.a: (1, 2) (tuple) is not a value"),
    (Any, [{1: 1}], "Order.a: 1 (int) is not a str"),
    (Any, {1, "a"}, "is not a set of strings, numbers or binaries"),
    (Any, {True}, "is not a set of strings, numbers or binaries"),
    (Any, {frozenset("a")}, "is not a set of strings, numbers or binaries"),
    (Any, set(), "is not a set of strings, numbers or binaries"),
    (HttpUrl, "https://example.org", "(str) is not a HttpUrl"),
    (IPv4Address, "10.0.0.1", "is not an IPv4Address"),
]

UNREADABLE: list[tuple[Any, Value, str]] = [
    (HttpUrl, {"S": "x"}, "Order.a: 'x' cannot be read as a HttpUrl"),
    (IPv4Address, {"L": []}, "cannot be read as an IPv4Address"),
]

MODEL_ERRORS: list[tuple[Any, str]] = [
    (Nothing, "Order.a: Nothing cannot be stored; use a dataclass, a pydantic model or Any"),
    (list[Nothing], "Order.a[]: Nothing cannot be stored"),
    ("Node", "Order.a: Node cannot be stored"),
    (list["Missing"], "Order.a[]: Missing cannot be stored"),  # type: ignore[name-defined] # noqa: F821
]

plain = st.recursive(
    st.one_of(
        st.none(), st.booleans(), texts, integers, decimals(), raw_bytes, st.sets(texts, min_size=1)
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)

STRATEGIES: list[tuple[Any, st.SearchStrategy[Any]]] = [(Any, plain)]
