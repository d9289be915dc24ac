"""Lists, tuples, sets and dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from hypothesis import strategies as st

from tablewright.ids import KSUID
from tests.encoding.strategies import decimals, raw_bytes, texts
from tests.mapping.converters.choices import NULL, Mixed, Status
from tests.mapping.converters.scalars import A_KSUID, A_UUID, floats, integers
from tests.mapping.converters.times import moments

Value = dict[str, Any]

STRICT: list[Any] = [list[int], tuple[int, ...], tuple[int, str]]
STRICT += [set[str], frozenset[str], dict[str, int]]

CASES: list[tuple[Any, Any, Value]] = [
    (set[str], {"b", "a"}, {"SS": ["a", "b"]}),
    (set[int], {10, 9}, {"NS": ["9", "10"]}),
    (set[Status], {Status.OPEN, Status.DONE}, {"SS": ["done", "open"]}),
    (frozenset[bytes], frozenset([b"a", b"\xff"]), {"BS": ["YQ==", "/w=="]}),
    (AbstractSet[str], frozenset("a"), {"SS": ["a"]}),
    (set[str] | None, {"a"}, {"SS": ["a"]}),
    (list[int], [], {"L": []}),
    (list[int | None], [1, None], {"L": [{"N": "1"}, NULL]}),
    (list[set[str]], [{"a"}], {"L": [{"SS": ["a"]}]}),
    (list[Annotated[int, {"not": "hashable"}]], [5], {"L": [{"N": "5"}]}),
    (tuple[int, ...], (1, 2), {"L": [{"N": "1"}, {"N": "2"}]}),
    (tuple[int, str], (1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
    (tuple[()], (), {"L": []}),
    (tuple, (1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
    (Sequence[int], [1], {"L": [{"N": "1"}]}),
    (dict[str, int], {"a": 1}, {"M": {"a": {"N": "1"}}}),
    (dict[str, int | None], {"a": None}, {"M": {"a": NULL}}),
    (dict[int, str], {7: "a"}, {"M": {"7": {"S": "a"}}}),
    (dict[UUID, bool], {UUID(A_UUID): True}, {"M": {A_UUID: {"BOOL": True}}}),
    (dict[Status, int], {Status.OPEN: 1}, {"M": {"open": {"N": "1"}}}),
    (Mapping[KSUID, int], {KSUID(A_KSUID): 1}, {"M": {A_KSUID: {"N": "1"}}}),
    (dict, {"a": {"b": {"c"}}}, {"M": {"a": {"M": {"b": {"SS": ["c"]}}}}}),
    (list, ["a", 1, {b"b"}], {"L": [{"S": "a"}, {"N": "1"}, {"BS": ["Yg=="]}]}),
]

REFUSED: list[tuple[Any, Any, str]] = [
    (set[str], set(), "Order.a: DynamoDB has no empty set; use None"),
    (set[str] | None, set(), "Order.a: DynamoDB has no empty set; use None"),
    (list[set[str]], [set()], "Order.a[]: DynamoDB has no empty set; use None"),
    (dict[str, set[str]], {"k": set()}, "Order.a[]: DynamoDB has no empty set; use None"),
    (set[str], {"a", 1}, "Order.a[]: 1 (int) is not a str"),
    (set[str], frozenset("a"), "is not a set[str]"),
    (list[int], ["5"], "Order.a[]: '5' (str) is not an int"),
    (list[int], (5,), "Order.a: (5,) (tuple) is not a list[int]"),
    (Sequence[str], "abc", "Order.a: 'abc' (str) is not a collections.abc.Sequence[str]"),
    (tuple[int, str], (1,), "Order.a: (1,) (tuple) is not a tuple[int, str]"),
    (tuple[int, str], ("a", 1), "Order.a[0]: 'a' (str) is not an int"),
    (dict[str, int], {1: 1}, "Order.a (key): 1 (int) is not a str"),
    (dict[str, int], {"a": "1"}, "Order.a[]: '1' (str) is not an int"),
]

UNREADABLE: list[tuple[Any, Value, str]] = [
    (set[str], {"NS": ["1"]}, "expected SS for a set[str]"),
    (set[Status], {"SS": ["x"]}, "Order.a[]: 'x' cannot be read as a Status"),
    (list[int], {"M": {}}, "expected L for a list[int]"),
    (list[int], {"L": [NULL]}, "Order.a[]: stored as NULL"),
    (tuple[int, str], {"L": [{"N": "1"}]}, "as a tuple[int, str]: it has 1 members"),
    (dict[int, int], {"M": {"x": {"N": "1"}}}, "Order.a (key): "),
]

MODEL_ERRORS: list[tuple[Any, str]] = [
    (set[bool], "Order.a: set[bool] cannot be stored; a DynamoDB set holds strings, numbers or"),
    (set[Mixed], "use list[Mixed]"),
    (set[str | None], "set[str | None] cannot be stored"),
    (set, "use set[str], say"),
    (dict[bool, int], "dict[bool, int] cannot be stored; its keys are stored as text"),
    (dict[str | None, int], "its keys are stored as text"),
]

STRATEGIES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (set[str], st.sets(texts, min_size=1)),
    (frozenset[Decimal], st.frozensets(decimals(), min_size=1)),
    (set[bytes], st.sets(raw_bytes, min_size=1)),
    (list[datetime | None], st.lists(st.none() | moments)),
    (tuple[int, str], st.tuples(integers, texts)),
    (dict[str, list[float]], st.dictionaries(texts, st.lists(floats))),
    (dict[int, dict[UUID, str]], st.dictionaries(integers, st.dictionaries(st.uuids(), texts))),
]
