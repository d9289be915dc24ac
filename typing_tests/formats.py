"""Formats and spellings of keys, and the types that their calls have for both checkers.

Every function is run by `tests/test_typing.py` as well: what the checkers accept here, works.
"""
# pyright: strict

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import assert_type
from uuid import UUID

from pydantic import BaseModel

from tablewright import (
    GSI,
    Attr,
    Entity,
    Get,
    GetByUnique,
    Query,
    Table,
    attr,
    created_at,
    index,
    key,
    unique,
    updated_at,
)
from tablewright.formats import (
    Codec,
    EnvironmentKeys,
    KeyRing,
    binary,
    casefold,
    coded,
    compressed,
    day,
    descending,
    encrypted,
    enum_name,
    epoch_millis,
    epoch_seconds,
    fixed_point,
    fixed_width,
    hour,
    iso,
    json_text,
    lower,
    number,
    optional,
    padded,
    shard,
    text,
    truncated,
    upper,
    week,
    year,
    year_month,
)
from tablewright.plans import Range
from tablewright.testing import check_codec

JAPAN = timezone(timedelta(hours=9))
NOW = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
TODAY = NOW.date()


class Reversed:
    """Domains by their last label first."""

    def encode(self, domain: str) -> str:
        return ".".join(reversed(domain.split(".")))

    def decode(self, text: str) -> str:
        return self.encode(text)


HEX = Codec[int](encode=hex, decode=lambda text: int(text, 16))


class Address(BaseModel):
    city: str
    zone: str | None = None


class Log(Table, name="log", delimiter=":"):
    moments = GSI("GSI1PK", "GSI1SK")
    numbers = GSI("GSI2PK", "GSI2SK")
    texts = GSI("GSI3PK", "GSI3SK")
    places = GSI("GSI4PK", "GSI4SK")
    ranks = GSI("GSI5PK", "rank_key")
    digests = GSI("digest_key")


class Line(Entity, table=Log):
    host: Attr[str] = attr()
    position: Attr[int] = attr(pad=6)
    at: Attr[datetime] = attr()
    seen: Attr[datetime | None] = attr(default=None)
    price: Attr[Decimal] = attr(default=Decimal(0))
    name: Attr[str] = attr(default="x")
    nick: Attr[str | None] = attr(default=None)
    rank: Attr[int | None] = attr(default=None)
    digest: Attr[bytes | None] = attr(default=None)
    address: Attr[Address | None] = attr(default=None)

    primary = key("Host" / coded(host, Reversed()), "#META#" + position, delimiter="|")
    moments = index(
        Log.moments,
        "Seen" / week(seen) / year(at) / hour(at),
        "" / descending(epoch_seconds(at)) / iso(at, "seconds") / year_month(at) / day(at),
    )
    numbers = index(
        Log.numbers,
        "Number" / coded(position, HEX) / shard(name, of=4),
        padded(rank, 4) / fixed_point(price, 4, 2) / descending(epoch_millis(seen)),
    )
    texts = index(Log.texts, lower(nick) / upper(name), casefold(name) / truncated(name, 3))
    places = index(
        Log.places,
        "City" / lower(address.path(lambda address: address.city)),
        "Zone" / address.path(lambda address: address.zone),
    )
    ranks = index(Log.ranks, "Rank" / name, number(rank))
    digests = index(Log.digests, binary(digest))
    by_name = unique("Name" / lower(name))


class Root(Entity, table=Log):
    host: Attr[str] = attr()
    primary = key("Root" / host, "Root" / host.again + ":")


class Joined(Entity, table=Log):
    position: Attr[int] = attr(pad=4)
    host: Attr[str] = attr()
    day: Attr[date] = attr()
    primary = key("v" + position / host, "Day" / day + "Host" / host.again)
    texts = index(Log.texts, position + "Day" / day, "Host" / (host / day.again))


class Versions(Table, name="versions", sk="version", escape=False): ...


class Version(Entity, table=Versions):
    name: Attr[str] = attr()
    primary = key("NAME" / name, 0)


class Zoned(Entity, table=Log):
    at: Attr[datetime] = attr()
    primary = key("Zoned" / iso(at, "seconds", zone=""), iso(at, "milliseconds", zone=JAPAN))


class Long(Entity, table=Log):
    """Keys of eight parts, and paths that are joined."""

    a: Attr[str] = attr()
    b: Attr[date] = attr()
    c: Attr[int] = attr(pad=4)
    d: Attr[str] = attr()
    e: Attr[date] = attr()
    f: Attr[int] = attr(pad=4)
    g: Attr[str] = attr()
    h: Attr[date] = attr()
    primary = key("Long" / a / b / c / d / e / f / g / h, "Long" / a.again)
    by_all = unique("All" / a / b / c / d / e / f / g / h)
    by_some = unique("Some", a / b)
    moments = index(Log.moments, "Long" / a + ":" + b / c / d, "Sort" / e / (f / g / h))


class Shade(Enum):
    DARK = "d"


class Shelf(Table, name="shelves"):
    by_state = GSI(("owner", "PK"), ("state", "SK"))
    by_room = GSI("room", ("SK", "state"))


class Box(Entity, table=Shelf):
    """Keys of the table are attributes of the keys of indexes."""

    owner: Attr[str] = attr()
    shelf: Attr[str] = attr()
    day: Attr[date] = attr()
    number: Attr[int] = attr(pad=3)
    state: Attr[str] = attr(default="new")
    room: Attr[str] = attr(default="A")
    primary = key("SHELF" / shelf, "BOX" / day / number)
    by_state = index(Shelf.by_state, (owner, "SHELF" / shelf), (state, "BOX" / day / number))
    by_room = index(Shelf.by_room, room, ("BOX" / day / number, state))


class Reading(Entity, table=Log):
    """Its keys may end early."""

    meter: Attr[str] = attr()
    channel: Attr[int | None] = attr(pad=2, default=None)
    at: Attr[datetime | None] = attr(default=None)
    note: Attr[str | None] = attr(default=None)
    primary = key("METERS" / meter, "CHANNEL" / optional(channel))
    by_day = index(Log.places, "METER" / meter, "AT" / optional("DAY" / day(at)))
    by_note = unique("NOTE" / optional(lower(note)), "METER" / meter / optional(channel))
    by_start = index(Log.texts, "METER" / meter, "NOTE" / optional(note))


class Vault:
    """Secrets of a key service."""

    def current(self) -> str:
        return "2026"

    def secret(self, key_id: str) -> bytes:
        return {"2026": bytes(32)}[key_id]


class Stored(Entity, table=Log):
    """Attributes with a codec, which their types follow."""

    at: Attr[datetime] = attr(codec=iso("seconds"))
    seen: Attr[datetime | None] = attr(codec=epoch_seconds(), default=None)
    ended: Attr[datetime | None] = attr(codec=text(epoch_millis()), default=None)
    made: Attr[datetime] = created_at(codec=iso("milliseconds", zone="+00:00"))
    changed: Attr[datetime] = updated_at(codec=epoch_seconds())
    name: Attr[str] = attr(codec=Reversed(), default="x")
    nick: Attr[str | None] = attr(codec=Reversed(), default=None)
    code: Attr[int] = attr(codec=HEX, default=7)
    position: Attr[int] = attr(codec=padded(6), default=7)
    price: Attr[Decimal] = attr(codec=text(places=2), default=Decimal(0))
    rank: Attr[Decimal] = attr(codec=fixed_point(4, 2), default=Decimal(0))
    is_open: Attr[bool] = attr(codec=number(), default=True)
    serial: Attr[UUID | None] = attr(codec=binary(), default=None)
    shade: Attr[Shade] = attr(codec=enum_name(), default=Shade.DARK)
    tags: Attr[list[str]] = attr(codec=json_text(), default_factory=list)
    note: Attr[str] = attr(codec=compressed(), default="")
    day: Attr[str] = attr(codec=fixed_width(10), default="2026-01-15")
    secret: Attr[str] = attr(codec=encrypted(KeyRing({"2026": bytes(32)})), default="")
    secrets: Attr[list[str] | None] = attr(codec=encrypted(Vault()), default=None)
    former: Attr[int] = attr(codec=encrypted(EnvironmentKeys("LOG_KEYS")), default=0)
    primary = key("Stored" / at, enum_name(shade) / text(is_open) / position)
    by_day = unique("DAY" / fixed_width(day, 10))


class Longest(Entity, table=Log):
    """A partition key of twelve parts."""

    a: Attr[str] = attr()
    b: Attr[date] = attr()
    c: Attr[int] = attr(pad=4)
    d: Attr[str] = attr()
    e: Attr[date] = attr()
    f: Attr[int] = attr(pad=4)
    g: Attr[str] = attr()
    h: Attr[date] = attr()
    i: Attr[int] = attr(pad=4)
    j: Attr[str] = attr()
    k: Attr[date] = attr()
    m: Attr[int] = attr(pad=4)
    primary = key("Longest" / a / b / c / d / e / f / g / h / i / j / k / m, "Longest" / a.again)
    by_nine = unique("Nine" / a / b / c / d / e / f / g / h / i)


def the_longest_keys_are_typed() -> None:
    nine = Longest.by_nine("a", TODAY, 1, "d", TODAY, 2, "g", TODAY, 3)
    assert_type(nine, GetByUnique[Longest])
    twelve = Longest.primary("a", TODAY, 1, "d", TODAY, 2, "g", TODAY, 3, "j", TODAY, 4)
    assert_type(twelve, Get[Longest])


def attributes_with_codecs_are_typed() -> None:
    stored = Stored(at=NOW)
    assert_type(stored.seen, datetime | None)
    assert_type(stored.serial, UUID | None)
    assert_type(Stored.primary(NOW, Shade.DARK, True, 7), Get[Stored])
    filtered = Stored.primary.within(NOW).filter(Stored.seen > NOW)
    assert_type(filtered, Range[Stored, Shade, bool, int])


def long_keys_are_typed() -> None:
    assert_type(Long.primary("a", TODAY, 1, "d", TODAY, 2, "g", TODAY), Get[Long])
    assert_type(Long.by_all("a", TODAY, 1, "d", TODAY, 2, "g", TODAY), GetByUnique[Long])
    assert_type(Long.by_some("a", TODAY), GetByUnique[Long])
    assert_type(Long.moments("a", TODAY, 1, "d"), Range[Long, date, int, str, date])


def keys_of_the_table_are_attributes_of_other_keys() -> None:
    assert_type(Box.by_state("ann", "S1"), Range[Box, str, date, int])
    assert_type(Box.by_state("ann", "S1").eq("new", TODAY).gte(7), Query[Box])
    assert_type(Box.by_room("A"), Range[Box, date, int, str])


def optional_parts_take_none() -> None:
    assert_type(Reading.primary("a", None), Get[Reading])
    assert_type(Reading.primary("a", 7), Get[Reading])
    assert_type(Reading.primary.within("a"), Range[Reading, int | None])
    assert_type(Reading.primary.within("a").eq(None), Range[Reading])
    assert_type(Reading.primary.within("a").gte(7), Query[Reading])
    assert_type(Reading.by_day("a").gte(TODAY), Query[Reading])
    assert_type(Reading.by_note(None, "a", 7), GetByUnique[Reading])
    assert_type(Reading.by_start("a").begins_with("x"), Query[Reading])


def a_call_gives_what_the_format_takes() -> None:
    assert_type(Line.primary("example.com", 7), Get[Line])
    assert_type(Line.by_name("ann"), GetByUnique[Line])
    assert_type(Line.moments(TODAY, 2026, NOW), Range[Line, datetime, datetime, date, date])
    assert_type(Line.numbers(7, 3), Range[Line, int, Decimal, datetime])
    assert_type(Line.texts("ann", "ANN"), Range[Line, str, str])
    assert_type(Line.places("bern"), Range[Line, str])
    assert_type(Line.ranks("ann"), Range[Line, int])
    assert_type(Line.digests(b"x"), Range[Line])
    assert_type(Root.primary("example.com"), Get[Root])
    assert_type(Joined.primary(7, "example.com", TODAY), Get[Joined])
    assert_type(Joined.texts(7, TODAY), Range[Joined, str])
    assert_type(Version.primary("ann"), Get[Version])
    assert_type(Zoned.primary(NOW, NOW), Get[Zoned])


def a_comparison_takes_the_next_part_of_any_format() -> None:
    assert_type(Line.moments(TODAY, 2026, NOW).gte(NOW), Query[Line])
    assert_type(Line.moments(TODAY, 2026, NOW).eq(NOW, NOW, TODAY).lt(TODAY), Query[Line])
    assert_type(Line.numbers(7, 3).eq(7).between(Decimal(1), Decimal(2)), Query[Line])
    assert_type(Line.ranks("ann").gt(7), Query[Line])


def codecs_are_checked() -> None:
    check_codec(HEX, [0, 255])
    check_codec(Reversed(), ["example.com"])
