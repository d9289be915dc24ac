"""A key description: the same text for the same stored keys, another one for others."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from textwrap import dedent
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tablewright import GSI, Attr, Entity, Table, attr, index, key, unique
from tablewright.formats import day, descending, lower, number, padded, shard, upper
from tablewright.plan.backfill.index_record import describe
from tests.new_table import new_indexed_table, new_table


class Level(Enum):
    LOW = 1
    HIGH = 12


@dataclass
class Address:
    city: str


def shop(**settings: Any) -> Any:
    class Shop(Table, name="shop", **settings):
        gsi1 = GSI("GSI1PK", "GSI1SK")
        gsi2 = GSI(("region", "status"), "placed")

    return Shop


def described(entity: type[Any]) -> dict[str, str]:
    return describe(entity.__entity__)


def test_every_key_is_described_with_stored_names() -> None:
    table = shop()

    class Order(Entity, table=table):
        order_id: Attr[str] = attr(name="id")
        region: Attr[str] = attr()
        status: Attr[str] = attr()
        placed_at: Attr[datetime] = attr(name="placed")
        email: Attr[str] = attr()
        address: Attr[Address] = attr()
        level: Attr[Level] = attr()
        sequence: Attr[int] = attr(pad=6)
        primary = key("ORDER" / order_id, day(placed_at) / sequence)
        open = index(table.gsi1, "OPEN" / level, sequence, when=status == "open")
        late = index(
            table.gsi1,
            "LATE" / address.path(lambda a: a.city),
            descending(sequence),
            when=status == "late",
        )
        by_region = index(table.gsi2, (region, status), placed_at)
        by_email = unique("EMAIL" / lower(email))

    assert described(Order) == {
        "key Order": "PK=ORDER#{id}, SK={day(placed)}#{padded(sequence, 6)}",
        "index gsi1 Order": (
            "GSI1PK=LATE#{address.city}, GSI1SK={descending(padded(sequence, 6))}"
            " when status = 'late'"
            " | GSI1PK=OPEN#{padded(level, 2)}, GSI1SK={padded(sequence, 6)} when status = 'open'"
        ),
        "unique Order.by_email Order": "PK=EMAIL#{lower(email)}, SK=EMAIL#{lower(email)}",
    }  # DynamoDB fills the index gsi2 itself


def test_names_in_python_and_the_order_of_the_source_are_not_described() -> None:
    first, second = shop(), shop()

    class Order(Entity, table=first):
        order_id: Attr[str] = attr()
        total: Attr[int] = attr()
        state: Attr[str] = attr()
        primary = key("ORDER" / order_id, "ORDER")
        a = index(first.gsi1, "A", order_id, when=(state == "a") & (total > 1))
        b = index(first.gsi1, "B", order_id, when=state.in_(["b", "c"]))

    class Purchase(Entity, table=second, type_name="Order"):
        status: Attr[str] = attr(name="state")
        amount: Attr[int] = attr(name="total")
        number: Attr[str] = attr(name="order_id")
        other = index(second.gsi1, "B", number, when=status.in_({"c", "b"}))
        one = index(second.gsi1, "A", number, when=(amount > 1) & (status == "a"))
        primary = key("ORDER" / number, "ORDER")

    assert described(Order) == described(Purchase)


def sparse(since: datetime, price_: Any) -> str:
    table = shop()

    class Order(Entity, table=table):
        order_id: Attr[str] = attr()
        placed_at: Attr[datetime] = attr()
        price: Attr[Decimal] = attr()
        primary = key("ORDER" / order_id, "ORDER")
        new = index(
            table.gsi1, "N", order_id, when=(placed_at >= since) & price.in_([price_, Decimal(7)])
        )

    return described(Order)["index gsi1 Order"]


def test_a_value_of_a_condition_is_described_as_it_is_stored() -> None:
    moment = datetime(2026, 1, 15, 12, tzinfo=UTC)
    text = sparse(moment, Decimal(1))
    assert text.endswith("when placed_at >= '2026-01-15T12:00:00.000000Z' AND price IN (1, 7)")
    for same in (ZoneInfo("UTC"), ZoneInfo("Asia/Tokyo"), timezone(timedelta(hours=-3))):
        assert sparse(moment.astimezone(same), Decimal("1.00")) == text
    assert sparse(moment + timedelta(seconds=1), 1) != text


def one_key(part: Any, kind: Any, *, pad: int | None = None, **settings: Any) -> str:
    class Thing(Entity, table=new_table("things", sk=None, **settings)):
        value: Attr[kind] = attr(pad=pad)
        primary = key(part(value))

    return described(Thing)["key Thing"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (one_key(lambda v: "A" / v, str), one_key(lambda v: "B" / v, str)),
        (one_key(lambda v: "A" / v, str), one_key(lambda v: "A" + v, str)),
        (one_key(lambda v: "A" / upper(v), str), one_key(lambda v: "A" / lower(v), str)),
        (one_key(lambda v: "A" / v, int, pad=3), one_key(lambda v: "A" / v, int, pad=4)),
        (one_key(lambda v: "A" / v, int, pad=3), one_key(lambda v: "A" / v, int)),
        (one_key(lambda v: "A" / v, Level), one_key(lambda v: "A" / v, int)),
        (
            one_key(lambda v: "A" / shard(v, of=8), str),
            one_key(lambda v: "A" / shard(v, of=16), str),
        ),
        (
            one_key(lambda v: "A" / shard(v, of=8), int, pad=3),
            one_key(lambda v: "A" / shard(v, of=8), int),
        ),
        (
            one_key(lambda v: "A" / descending(v), int, pad=3),
            one_key(lambda v: "A" / descending(v), int, pad=4),
        ),
        (one_key(lambda v: v, str), one_key(lambda v: v, str, delimiter=":")),
        (one_key(lambda v: v, str), one_key(lambda v: v, str, escape=False)),
        (one_key(lambda v: "A" / v, int, pad=3), one_key(lambda v: number(v), int, pad=3)),
    ],
)
def test_other_stored_keys_have_another_description(one: str, other: str) -> None:
    assert one != other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (one_key(lambda v: v, int, pad=3), one_key(lambda v: padded(v, 3), int)),
        (one_key(lambda v: padded(v, 3), int, pad=5), one_key(lambda v: padded(v, 3), int)),
        (one_key(lambda v: number(v), int, pad=3), one_key(lambda v: number(v), int)),
        (one_key(lambda v: v, int, pad=3), one_key(lambda v: v, int, pad=3, escape=False)),
    ],
)
def test_the_same_stored_keys_have_one_description(one: str, other: str) -> None:
    assert one == other


def test_a_description_is_the_same_in_every_process() -> None:
    """The order of a set is not: it depends on the seed of the process's hashes."""
    program = """
        from tablewright import GSI, Attr, Entity, Table, attr, index, key
        from tablewright.plan.backfill.index_record import describe

        class Shop(Table, name="shop"):
            gsi1 = GSI("GSI1PK", "GSI1SK")

        class Order(Entity, table=Shop):
            order_id: Attr[str] = attr()
            status: Attr[str] = attr()
            tags: Attr[frozenset[str]] = attr()
            primary = key("ORDER" / order_id, "ORDER")
            a = index(Shop.gsi1, "A", order_id, when=status.in_({"a", "b", "c", "d", "e"}))
            b = index(
                Shop.gsi1,
                "B",
                order_id,
                when=(status == "f") & (tags == frozenset({"t", "u", "v", "w"})),
            )

        text = describe(Order.__entity__)
    """
    here: dict[str, Any] = {}
    exec(dedent(program), here)
    there = subprocess.run(
        [sys.executable, "-c", dedent(program) + "print(text)"],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert there == f"{here['text']}\n"


def test_variants_describe_the_keys_of_their_base_and_their_own() -> None:
    table = shop()

    class Account(Entity, table=table, variants=True):
        account_id: Attr[str] = attr(name="id")
        email: Attr[str] = attr()
        primary = key("ACCOUNT" / account_id, "ACCOUNT")
        by_email = unique("EMAIL" / email)

    class User(Account):
        team: Attr[str] = attr()
        in_team = index(table.gsi1, "TEAM" / team, "USER" / Account.account_id)

    class Robot(Account):
        pass

    shared = "PK=ACCOUNT#{id}, SK=ACCOUNT"
    email = "PK=EMAIL#{email}, SK=EMAIL#{email}"
    assert described(User) == {
        "key User": shared,
        "index gsi1 User": "GSI1PK=TEAM#{team}, GSI1SK=USER#{id}",
        "unique Account.by_email User": email,
    }
    assert described(Robot) == {"key Robot": shared, "unique Account.by_email Robot": email}


def test_an_attribute_that_is_only_in_keys_has_a_number_instead_of_a_name() -> None:
    visits = new_indexed_table("visits", pk="page")

    class Visit(Entity, table=visits):
        url: Attr[str] = attr(name="page")
        visitor_id: Attr[str] = attr(key_only=True)
        number: Attr[int] = attr(key_only=True, pad=3)
        primary = key(url, "VISITOR" / visitor_id / number)
        by_number = index(visits.gsi1, "NUMBER" / number, visitor_id, when=visitor_id != "bot")

    assert described(Visit) == {
        "key Visit": "page={page}, SK=VISITOR#{1}#{padded(2, 3)}",
        "index gsi1 Visit": "GSI1PK=NUMBER#{padded(2, 3)}, GSI1SK={1} when 1 <> 'bot'",
    }
