"""Choices of values (Enum, Literal) and of types (unions)."""

from __future__ import annotations

from enum import Enum, Flag, IntEnum, StrEnum
from typing import Any, Literal, Optional

from hypothesis import strategies as st

from tests.encoding.strategies import raw_bytes, texts
from tests.mapping.converters.scalars import integers

Value = dict[str, Any]
NULL: Value = {"NULL": True}


class Status(Enum):
    OPEN = "open"
    DONE = "done"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Shade(StrEnum):
    DARK = "dark"


class Mixed(Enum):
    ONE = 1
    TWO = "two"
    RAW = b"yes"


class Rights(Flag):
    READ = 1
    WRITE = 2


class Places(Enum):
    HERE = (1, 2)


STRICT: list[Any] = [Status, Level, Literal["a"], int | str]

CASES: list[tuple[Any, Any, Value]] = [
    (Status, Status.OPEN, {"S": "open"}),
    (Level, Level.HIGH, {"N": "2"}),
    (Shade, Shade.DARK, {"S": "dark"}),
    (Mixed, Mixed.ONE, {"N": "1"}),
    (Mixed, Mixed.TWO, {"S": "two"}),
    (Mixed, Mixed.RAW, {"B": "eWVz"}),
    (Rights, Rights.READ | Rights.WRITE, {"N": "3"}),
    (int, Level.HIGH, {"N": "2"}),
    (Literal["a", "b"], "b", {"S": "b"}),
    (Literal["a", 1, True], 1, {"N": "1"}),
    (Literal["a", 1, True], True, {"BOOL": True}),
    (Literal[Status.OPEN], Status.OPEN, {"S": "open"}),
    (Literal["a", None], None, NULL),
    (int | None, 5, {"N": "5"}),
    (Optional[int], None, NULL),  # noqa: UP045 (people write it so)
    (int | str, "5", {"S": "5"}),
    (int | str, 5, {"N": "5"}),
    (str | bool | None, None, NULL),
    (int | bool, True, {"BOOL": True}),
    (int | list[int], [1], {"L": [{"N": "1"}]}),
    (list[int] | list[str], ["a"], {"L": [{"S": "a"}]}),
]

REFUSED: list[tuple[Any, Any, str]] = [
    (Status, "open", "Order.a: 'open' (str) is not a Status; its values are 'open', 'done'"),
    (Level, 1, "Order.a: 1 (int) is not a Level"),
    (Literal["a"], "b", "Order.a: 'b' (str) is not a Literal['a']"),
    (Literal[1], True, "Order.a: True (bool) is not a Literal[1]"),
    (Literal["a"], [], "Order.a: [] (list) is not a Literal['a']"),
    (int | None, "5", "Order.a: '5' (str) is not an int"),
    (int | str, 1.5, "Order.a: 1.5 (float) is not an int | str"),
    (float | str, float("nan"), "it is not finite"),
]

UNREADABLE: list[tuple[Any, Value, str]] = [
    (Status, {"S": "x"}, "'x' cannot be read as a Status: its values are 'open', 'done'"),
    (Status, {"N": "1"}, "Order.a: stored as N ('1'), expected S"),
    (Mixed, {"L": []}, "cannot be read as a Mixed: its values are 1, 'two', b'yes'"),
    (Literal["a"], {"S": "b"}, "cannot be read as a Literal['a']"),
    (Literal["a"], {"L": []}, "cannot be read as a Literal['a']"),
    (int | None, {"S": "5"}, "expected N for an int"),
    (int | str, {"BOOL": True}, "Order.a: {'BOOL': True} cannot be read as an int | str"),
]

MODEL_ERRORS: list[tuple[Any, str]] = [
    (Places, "Places.HERE does not come back from its value (1, 2): use strings or ints"),
]

STRATEGIES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (Status, st.sampled_from(Status)),
    (Mixed, st.sampled_from(Mixed)),
    (int | str | bytes | None, st.one_of(st.none(), integers, texts, raw_bytes)),
]
