"""Types of attributes, each with a value, and what the documentation says of their stored form."""

from __future__ import annotations

import collections
import enum
import ipaddress
import pathlib
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pydantic
from typing_extensions import TypedDict

from tablewright.ids import KSUID, ULID
from tests.tables_in_docs import rows

DOCUMENT = "docs/modelling/types.md"

MOMENT = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
ID = UUID("00112233-4455-6677-8899-aabbccddeeff")


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    y: int


class Size(TypedDict):
    width: int


@dataclass(frozen=True)
class Place:
    city: str


class Address(pydantic.BaseModel):
    city: str = pydantic.Field(alias="town")


#: The type as it is shown, the type, a value, and its stored form.
STORED: list[tuple[str, Any, Any, dict[str, Any]]] = [
    ("`str`", str, "Ann", {"S": "Ann"}),
    ("`int`", int, 7, {"N": "7"}),
    ("`Decimal`", Decimal, Decimal("12.50"), {"N": "12.5"}),
    ("`float`", float, 0.1, {"N": "0.1"}),
    ("`bool`", bool, True, {"BOOL": True}),
    ("`bytes`", bytes, b"x", {"B": "eA=="}),
    ("`datetime`", datetime, MOMENT, {"S": "2026-01-15T10:15:30.000000Z"}),
    ("`date`", date, date(2026, 1, 15), {"S": "2026-01-15"}),
    ("`time`", time, time(10, 15), {"S": "10:15:00"}),
    ("`timedelta`", timedelta, timedelta(hours=1), {"N": "3600"}),
    ("`UUID`", UUID, ID, {"S": str(ID)}),
    ("`KSUID`", KSUID, KSUID("0" * 27), {"S": "0" * 27}),
    ("`ULID`", ULID, ULID("0" * 26), {"S": "0" * 26}),
    ("`Enum`, `StrEnum`", Color, Color.RED, {"S": "red"}),
    ("`IntEnum`", Level, Level.HIGH, {"N": "3"}),
    ("`Flag`", Rights, Rights.READ | Rights.WRITE, {"N": "3"}),
    ('`Literal["red"]`', Literal["red"], "red", {"S": "red"}),
    ("`list[int]`", list[int], [1], {"L": [{"N": "1"}]}),
    ("`Sequence[int]`", Sequence[int], [1], {"L": [{"N": "1"}]}),
    ("`deque[int]`", collections.deque[int], collections.deque([1]), {"L": [{"N": "1"}]}),
    ("`tuple[int, str]`", tuple[int, str], (1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
    ("`tuple[int, …]`", tuple[int, ...], (1,), {"L": [{"N": "1"}]}),
    ("a `NamedTuple`", Point, Point(1, 2), {"L": [{"N": "1"}, {"N": "2"}]}),
    ("`set[str]`, `frozenset[str]`", set[str], {"b", "a"}, {"SS": ["a", "b"]}),
    ("`set[int]`", set[int], {1}, {"NS": ["1"]}),
    ("`set[bytes]`", set[bytes], {b"x"}, {"BS": ["eA=="]}),
    ("`dict[str, int]`", dict[str, int], {"a": 1}, {"M": {"a": {"N": "1"}}}),
    ("`dict[UUID, int]`", dict[UUID, int], {ID: 1}, {"M": {str(ID): {"N": "1"}}}),
    ("`Mapping[str, int]`", Mapping[str, int], {"a": 1}, {"M": {"a": {"N": "1"}}}),
    (
        "`OrderedDict`, `defaultdict`, `Counter`",
        collections.Counter[str],
        collections.Counter("a"),
        {"M": {"a": {"N": "1"}}},
    ),
    ("a pydantic model", Address, Address(town="Bern"), {"M": {"town": {"S": "Bern"}}}),
    ("a `RootModel`", pydantic.RootModel[list[int]], pydantic.RootModel[list[int]]([1]),
     {"L": [{"N": "1"}]}),
    ("a dataclass", Place, Place("Bern"), {"M": {"city": {"S": "Bern"}}}),
    ("a `TypedDict`", Size, {"width": 1}, {"M": {"width": {"N": "1"}}}),
    ("`int | str`", int | str, "a", {"S": "a"}),
    ("`Any`, `object`, `JsonValue`", Any, {"a": [1]}, {"M": {"a": {"L": [{"N": "1"}]}}}),
    ("`Path`", pathlib.Path, pathlib.Path("/a"), {"S": "/a"}),
    ("`FilePath`, `DirectoryPath`", pydantic.DirectoryPath, pathlib.Path("/"), {"S": "/"}),
    ("`IPv4Address`, `IPv6Network`, …", ipaddress.IPv4Address,
     ipaddress.IPv4Address("1.2.3.4"), {"S": "1.2.3.4"}),
    ("`IPvAnyAddress`, …", pydantic.IPvAnyAddress, ipaddress.IPv6Address("::1"), {"S": "::1"}),
    ("`re.Pattern`", re.Pattern, re.compile("a+"), {"S": "a+"}),
    ("`Fraction`", Fraction, Fraction(1, 3), {"S": "1/3"}),
    ("`complex`", complex, 1j, {"S": "1j"}),
    ("`HttpUrl`, `AnyUrl`", pydantic.HttpUrl, pydantic.HttpUrl("https://a.b/"),
     {"S": "https://a.b/"}),
    ("`PostgresDsn`, …", pydantic.PostgresDsn, pydantic.PostgresDsn("postgres://h/db"),
     {"S": "postgres://h/db"}),
    ("`ByteSize`", pydantic.ByteSize, pydantic.ByteSize(1024), {"N": "1024"}),
    ("`PositiveInt`, `conint(…)`, `StrictInt`", pydantic.PositiveInt, 1, {"N": "1"}),
    ("`FiniteFloat`, `confloat(…)`", pydantic.FiniteFloat, 1.5, {"N": "1.5"}),
    ("`condecimal(…)`", pydantic.condecimal(max_digits=5), Decimal("1.5"), {"N": "1.5"}),
    ("`constr(…)`, `StrictStr`", pydantic.constr(min_length=1), "a", {"S": "a"}),
    ("`conlist(…)`, `conset(…)`", pydantic.conlist(int, min_length=1), [1], {"L": [{"N": "1"}]}),
    ("`AwareDatetime`, `PastDatetime`, `FutureDatetime`", pydantic.AwareDatetime, MOMENT,
     {"S": "2026-01-15T10:15:30.000000Z"}),
    ("`NaiveDatetime`", pydantic.NaiveDatetime, MOMENT.replace(tzinfo=None),
     {"S": "2026-01-15T10:15:30"}),
    ("`PastDate`, `FutureDate`", pydantic.PastDate, date(2020, 1, 15), {"S": "2020-01-15"}),
    ("`UUID1` to `UUID8`", pydantic.UUID4, UUID("00112233-4455-4677-8899-aabbccddeeff"),
     {"S": "00112233-4455-4677-8899-aabbccddeeff"}),
    ("`ImportString`", pydantic.ImportString, "math.cos", {"S": "math.cos"}),
    ("`InstanceOf[M]`, `SerializeAsAny[M]`", pydantic.InstanceOf[Place], Place("Bern"),
     {"M": {"city": {"S": "Bern"}}}),
]  # fmt: skip

#: The type as it is shown, the type, and what the error says.
REFUSED: list[tuple[str, Any, str]] = [
    ("`Json`, `Json[T]`", pydantic.Json[list[int]], "use the type that is read"),
    ("`Base64Bytes`, `Base64Str`, …", pydantic.Base64Bytes, "use the type that is read"),
    ("`SecretStr`, `SecretBytes`, `Secret[T]`", pydantic.SecretStr, "it hides its value"),
    ("`Iterable[T]`, `Iterator[T]`, `Generator`", Iterable[int], "it can be read only once"),
    ("`type[T]`", type[int], "it is code, and not a value"),
    ("`Callable`", Callable[[], int], "it is code, and not a value"),
    ("`bytearray`, `timezone`, `ChainMap`", bytearray, "use a dataclass, a pydantic model or Any"),
    ("`set[bool]`, a set of documents", set[bool], "a DynamoDB set holds strings, numbers"),
    ("`Annotated[T, PlainSerializer(…)]`", Annotated[int, pydantic.PlainSerializer(str)],
     "would change its JSON, and not what is stored"),
]  # fmt: skip


def table() -> str:
    """Return the table of the documentation."""
    stored: list[tuple[str, ...]] = [(shown, f"`{_form(form)}`") for shown, _, _, form in STORED]
    refused: list[tuple[str, ...]] = [(shown, f"refused: {why}") for shown, _, why in REFUSED]
    return rows(("type", "stored, for example"), stored + refused)


def _form(form: typing.Any) -> str:
    return repr(form).replace("'", '"').replace("True", "true")
