"""Keys in every format, byte for byte, and read back."""

from __future__ import annotations

import zlib
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from types import new_class
from typing import Any, ClassVar

import pytest

from tablewright import GSI, Attr, Engine, Entity, Table, attr, connect, create, index, key
from tablewright.database import Database
from tablewright.formats import (
    Codec,
    binary,
    casefold,
    coded,
    day,
    descending,
    epoch_millis,
    epoch_seconds,
    fixed_point,
    hour,
    iso,
    lower,
    number,
    padded,
    shard,
    truncated,
    upper,
    week,
    year,
    year_month,
)
from tests.model.declaring.declarations import refused
from tests.new_table import new_table

AT = datetime(2026, 1, 15, 10, 15, 30, 123_456, tzinfo=UTC)
INDIA = timezone(timedelta(hours=5, minutes=30))


class Reversed:
    """Domains by their last label first."""

    def encode(self, domain: str) -> str:
        return ".".join(reversed(domain.split(".")))

    decode = encode


class Base36:
    """A number with four digits of base 36."""

    ordered = True
    width = 4
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

    def encode(self, value: int) -> str:
        text = ""
        for _ in range(4):
            value, digit = divmod(value, 36)
            text = self.alphabet[digit] + text
        return text

    def decode(self, text: str) -> int:
        return int(text, 36)


def _fields() -> dict[str, Any]:
    """Return the attributes of an entity, which a key can be made of."""
    return {
        "at": attr(),
        "amount": attr(),
        "score": attr(pad=3),
        "price": attr(),
        "name": attr(),
        "host": attr(),
    }


TYPES = {"at": datetime, "amount": int, "score": int, "price": Decimal, "name": str, "host": str}
VALUES = {
    "at": AT,
    "amount": 7,
    "score": 7,
    "price": Decimal("12.5"),
    "name": "Ann Straße",
    "host": "www.example.com",
}


def _entity(sort: Any) -> tuple[type[Table], Any]:
    """Return an entity whose sort key is made from its attributes."""

    place = new_table("place")
    fields = _fields()
    for name, declared in fields.items():
        declared.name = name
    hints = {name: Attr[kind] for name, kind in TYPES.items()}  # type: ignore[valid-type]
    body = fields | {
        "__module__": __name__,
        "__annotations__": hints,
        "primary": key("P", "S" / sort(fields) / "END"),
    }
    return place, new_class("Row", (Entity,), {"table": place}, lambda space: space.update(body))


@pytest.mark.parametrize(
    ("sort", "text", "argument"),
    [
        (lambda f: f["at"], "2026-01-15T10:15:30.123456Z", AT),
        (lambda f: day(f["at"]), "2026-01-15", AT.date()),
        (lambda f: hour(f["at"]), "2026-01-15T10", AT.replace(minute=59)),
        (lambda f: week(f["at"]), "2026-W03", date(2026, 1, 18)),
        (lambda f: year_month(f["at"]), "2026-01", date(2026, 1, 31)),
        (lambda f: year(f["at"]), "2026", 2026),
        (lambda f: iso(f["at"], "seconds"), "2026-01-15T10:15:30Z", AT),
        (lambda f: iso(f["at"], "milliseconds"), "2026-01-15T10:15:30.123Z", AT),
        (lambda f: iso(f["at"], "microseconds"), "2026-01-15T10:15:30.123456Z", AT),
        (lambda f: iso(f["at"], "seconds", zone="+00:00"), "2026-01-15T10:15:30+00:00", AT),
        (lambda f: iso(f["at"], "microseconds", zone=""), "2026-01-15T10:15:30.123456", AT),
        (lambda f: iso(f["at"], "seconds", zone=INDIA), "2026-01-15T15:45:30+05:30", AT),
        (lambda f: epoch_seconds(f["at"]), "1768472130", AT),
        (lambda f: epoch_millis(f["at"]), "1768472130123", AT),
        (lambda f: padded(f["amount"], 6), "000007", 7),
        (lambda f: f["score"], "007", 7),
        (lambda f: fixed_point(f["price"], 4, 2), "0012.50", Decimal("12.50")),
        (lambda f: lower(f["name"]), "ann straße", "ANN straße"),
        (lambda f: upper(f["name"]), "ANN STRASSE", "ann strasse"),
        (lambda f: casefold(f["name"]), "ann strasse", "ANN STRASSE"),
        (lambda f: truncated(f["name"], 3), "Ann", "Ann Other"),
        (lambda f: shard(f["host"], of=8), str(zlib.crc32(b"www.example.com") % 8), 5),
        (lambda f: coded(f["amount"], Base36()), "0007", 7),
        (lambda f: descending(f["score"]), "992", 7),
        (lambda f: descending(padded(f["amount"], 5)), "99992", 7),
        (lambda f: descending(epoch_seconds(f["at"])), "8231527869", AT),
        (lambda f: descending(iso(f["at"], "seconds")), "7973-98-84T89:84:69Z", AT),
        (lambda f: descending(day(f["at"])), "7973-98-84", AT.date()),
        (lambda f: descending(fixed_point(f["price"], 4, 2)), "9987.49", Decimal("12.5")),
    ],
)
def test_a_key_has_the_text_of_its_format(sort: Any, text: str, argument: Any) -> None:
    table, row = _entity(sort)
    with Engine(":memory:") as engine:
        db = connect(engine, table)
        written = row(**VALUES)
        db.run(create(written))

        (item,) = engine.call("Scan", {"TableName": "place"})["Items"]
        assert item["PK"] == {"S": "P"}
        assert item["SK"] == {"S": f"S#{text}#END"}
        if "shard" not in row.__entity__.primary.parameters[0].label:
            assert db.run(row.primary(argument)) == written
        assert db.run(row.primary.within().eq(row.__entity__.key_arguments(written)[0])) == [
            written
        ]


def test_an_unordered_codec_is_for_the_partition_key() -> None:
    hosts = new_table("hosts")

    class Host(Entity, table=hosts):
        host: Attr[str] = attr()
        primary = key("HOST" / coded(host, Reversed()), "HOST")

    with Engine(":memory:") as engine:
        db = connect(engine, hosts)
        db.run(create(Host(host="www.example.com")))
        (item,) = engine.call("Scan", {"TableName": "hosts"})["Items"]
        assert item["PK"] == {"S": "HOST#com.example.www"}
        assert db.run(Host.primary("www.example.com")) == Host(host="www.example.com")


# -- numbers and bytes ---------------------------------------------------------------------------


class Reviews(Table, name="reviews", sk="rank"):
    by_stars = GSI("GSI1PK", "stars_key")
    by_digest = GSI("digest_key")
    by_time = GSI("GSI3PK", "time_key")


class Review(Entity, table=Reviews):
    product: Attr[str] = attr()
    rank: Attr[int] = attr()
    stars: Attr[Decimal | None] = attr(default=None)
    digest: Attr[bytes | None] = attr(default=None)
    at: Attr[datetime] = attr(default=AT)
    primary = key("PRODUCT" / product, rank)
    by_stars = index(Reviews.by_stars, "STARS" / product, number(stars))
    by_digest = index(Reviews.by_digest, binary(digest))
    latest = index(Reviews.by_time, "LATEST" / product, number(descending(epoch_seconds(at))))


@pytest.fixture
def reviews() -> Any:
    with Engine(":memory:") as engine:
        yield engine, connect(engine, Reviews)


def test_index_keys_are_numbers_and_bytes_of_attributes_with_other_names(reviews: Any) -> None:
    engine, db = reviews
    db.run(create(Review(product="P", rank=10, stars=Decimal("4.5"), digest=b"\x00\xff")))

    (item,) = engine.call("Scan", {"TableName": "reviews"})["Items"]
    assert item["rank"] == {"N": "10"}
    assert item["stars_key"] == {"N": "4.5"}
    assert item["digest_key"] == {"B": "AP8="}
    assert item["time_key"] == {"N": "8231527869"}
    types = engine.call("DescribeTable", {"TableName": "reviews"})["Table"]["AttributeDefinitions"]
    assert {each["AttributeName"]: each["AttributeType"] for each in types} == {
        "PK": "S",
        "rank": "N",
        "GSI1PK": "S",
        "stars_key": "N",
        "digest_key": "B",
        "GSI3PK": "S",
        "time_key": "N",
    }


def test_an_item_without_the_attribute_is_not_in_the_index(reviews: Any) -> None:
    engine, db = reviews
    db.run(create(Review(product="P", rank=1)))
    (item,) = engine.call("Scan", {"TableName": "reviews"})["Items"]
    assert item.keys() == {"PK", "rank", "type", "product", "at", "GSI3PK", "time_key"}
    assert db.run(Review.by_stars("P")) == []


def test_numbers_are_compared_as_numbers(reviews: Any) -> None:
    _, db = reviews
    made = [Review(product="P", rank=n, stars=Decimal(n), digest=bytes([n])) for n in (9, 10, 100)]
    for each in made:
        db.run(create(each))
    ranks = Review.primary.within("P")
    assert db.run(ranks) == made
    assert db.run(ranks.gte(10)) == made[1:]
    stars = Review.by_stars("P")
    assert db.run(stars) == made
    assert db.run(stars.between(Decimal(9), Decimal(10))) == made[:2]
    assert db.run(stars.gt(Decimal(9))) == made[1:]
    assert db.run(stars.lt(Decimal(10))) == made[:1]
    assert db.run(stars.lte(Decimal("10.0"))) == made[:2]
    assert db.run(stars.eq(Decimal("1E2"))) == made[2:]
    assert db.run(Review.by_digest(b"\x0a")) == made[1:2]


def test_descending_numbers_are_compared_in_their_own_direction(reviews: Any) -> None:
    _, db = reviews
    moments = [AT.replace(hour=hour, microsecond=0) for hour in (10, 11, 12)]
    made = [Review(product="P", rank=n, at=at) for n, at in enumerate(moments)]
    for each in made:
        db.run(create(each))
    latest = Review.latest("P")
    assert db.run(latest) == made[::-1]
    assert db.run(latest.gte(moments[1])) == [made[2], made[1]]
    assert db.run(latest.lt(moments[1])) == [made[0]]
    assert db.run(latest.between(moments[0], moments[1])) == [made[1], made[0]]


def test_a_sort_key_of_a_number_literal() -> None:
    users = new_table("users", sk="version")

    class User(Entity, table=users):
        user: Attr[str] = attr()
        primary = key("USER" / user, 0)

    class Draft(Entity, table=users):
        user: Attr[str] = attr()
        version: Attr[int] = attr()
        primary = key("DRAFT" / user, version)

    with Engine(":memory:") as engine:
        db: Database = connect(engine, users)
        db.run(create(User(user="ann")))
        db.run(create(Draft(user="ann", version=0)))
        items = engine.call("Scan", {"TableName": "users"})["Items"]
        assert {item["PK"]["S"]: item["version"] for item in items} == {
            "USER#ann": {"N": "0"},
            "DRAFT#ann": {"N": "0"},
        }
        assert db.run(User.primary("ann")) == User(user="ann")
        assert db.run(Draft.primary("ann", 0)) == Draft(user="ann", version=0)


class Letters:
    """Numbers as letters, by a table: it raises KeyError for any other text."""

    numbers: ClassVar[dict[str, int]] = {"a": 1, "b": 2}

    def encode(self, number: int) -> str:
        return next(letter for letter, each in self.numbers.items() if each == number)

    def decode(self, text: str) -> int:
        return self.numbers[text]


@pytest.mark.parametrize(
    ("codec", "told"),
    [
        (Letters, "coded(…, Letters) takes an object of the class; write Letters()"),
        (hex, "a codec has encode and decode; write a class with both, or Codec(encode=…"),
        (Codec[int](encode=str, decode=int, width=-1), "Codec: width = -1 is not a number"),
        (Codec[int](encode=str, decode=int, alphabet=""), "Codec: alphabet = '' is not a text"),
    ],
)
def test_what_is_not_a_codec_is_refused(codec: Any, told: str) -> None:
    with refused(told, "test_formats.py:"):

        class One(Entity, table=new_table()):
            value: Attr[int] = attr()
            primary = key("V" / coded(value, codec), "V")


def test_a_text_that_a_codec_does_not_decode_is_unreadable() -> None:
    table = new_table("coded")

    class One(Entity, table=table):
        value: Attr[int] = attr(key_only=True)
        primary = key("V" / coded(value, Letters()), "V")

    with Engine(":memory:") as engine:
        db = connect(engine, table)
        db.run(create(One(value=2)))
        strange = {"PK": {"S": "V#z"}, "SK": {"S": "V"}, "type": {"S": "One"}}
        engine.call("PutItem", {"TableName": "coded", "Item": strange})
        page = db.run(One.scan(reason="test").skip_unreadable())
        assert [each.value for each in page] == [2]
        (error,) = page.unreadable
        assert "the stored PK is 'V#z', which is not V#{Letters(value)}: Letters does not" in str(
            error
        )
