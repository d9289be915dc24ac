"""Tables of tenants for the property tests: one for each kind of partition key, and hostile ids.

Each world has the same entities, indexes of every kind, and items of several tenants. Whose an item
is says its attribute `owner`, which every item holds in its stored form: the tests need no key to
tell that.
"""

# No `from __future__ import annotations`: the type of `owner` is an argument.

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from tablewright import (
    GSI,
    LSI,
    Aggregate,
    Attr,
    Entity,
    Page,
    Table,
    Tenancy,
    attr,
    children,
    index,
    key,
    put,
    root,
    unique,
)
from tablewright.database import Database
from tablewright.values import Item, Value


@dataclass(frozen=True)
class World:
    """A table, its entities, and the ids that its tenants may have."""

    table: Any
    thing: Any
    part: Any
    aggregate: Any
    #: The same with a page of the parts.
    paged: Any
    #: An entity of no tenant, in partitions that all may read.
    offer: Any
    #: Pairs of different ids.
    ids: st.SearchStrategy[Any]
    #: The tenants own all partitions that begin like theirs.
    by_prefix: bool = False

    @property
    def is_natural(self) -> bool:
        """Whether the id of the tenant is the partition key itself."""
        return bool(self.table.__table__.attributes[0] == "owner")

    @property
    def shelves(self) -> tuple[str, ...]:
        """The shared partitions; one has the id of a tenant, and one could be a tenant's shard."""
        return ("a", "U#a") if self.table.__table__.delimiter.escapes else ("a", "U")

    def fill(self, db: Database, owners: list[Any]) -> None:
        """Give every tenant three things and two parts; all share states, flags and numbers."""
        for owner in owners:
            for number in range(3):
                db.run(put(self.make(owner, number)))
            for number in range(2):
                db.run(put(self.part(owner=owner, number=1, part=number)))

    def fill_shared(self, db: Database) -> None:
        """Store an offer in each of the shared partitions."""
        for shelf in self.shelves:
            db.run(put(self.offer(shelf=shelf, number=1)))

    def is_own(self, mine: Value, partition: Value) -> bool:
        """Whether a partition belongs to the tenant whose things are in the partition `mine`."""
        if not self.by_prefix:
            return partition == mine
        text = partition.get("S", "")
        return len(text.split("#")) > 1 and text.split("#")[:2] == mine["S"].split("#")[:2]

    def make(self, owner: Any, number: int, **more: Any) -> Any:
        values: dict[str, Any] = {
            "state": "open",
            "flag": "red" if number else None,
            "friend": owner,
            "code": f"c{number}",
        }
        return self.thing(owner=owner, number=number, **(values | more))

    def stored(self, db: Database) -> list[Item]:
        """Everything in the table, as the engine stores it."""
        engine = db._transport.engine  # type: ignore[attr-defined]
        items: list[Item] = engine.call("Scan", {"TableName": self.table.__table__.name})["Items"]
        return items

    def owner_value(self, owner: Any) -> Value:
        """The stored form of `owner`, by which items are told apart."""
        value: Value = self.thing.__entity__.attributes["owner"].converter.encode(owner)
        return value

    def items_of_others(self, db: Database, owner: Any) -> list[Item]:
        own = self.owner_value(owner)
        return [item for item in self.stored(db) if item.get("owner") != own]


def declare(
    name: str,
    kind: Any,
    ids: st.SearchStrategy[Any],
    *,
    composed: bool,
    by_prefix: bool = False,
    is_mixed: bool = False,
    escape: bool = True,
) -> World:
    """Declare the table of one kind of partition key.

    `is_mixed`: things are in the one partition that is not found by its prefix.
    """
    partition = "PK" if composed else "owner"
    shards: dict[str, tuple[str, ...]] = {"write": ("{owner}",)}
    if composed:
        shards = {"write": ("U#{owner}",), "shared": ("OFFERS", "OFFERS#*")}
    if by_prefix:
        shards["write"] += ("U#{owner}#*",)
    elif composed:
        shards["read"] = ("U#{owner}#P",)

    class Home(Table, name=name, pk=partition, sk="SK", type_attribute="tp", escape=escape):
        local = LSI("LSI1SK")
        swapped = GSI("SK", partition)
        by_state = GSI("GSI1PK", "GSI1SK")
        by_flag = GSI("flag", "SK")
        by_friend = GSI("friendKey", "SK")
        open_index = GSI("GSI2PK", "SK")
        by_region = GSI(("region", "state"), ("number", "code"))
        by_region_and_code = GSI(("region", "code"), "number")
        by_owner = GSI(("owner", "state"), ("number", "code"))
        tenancy = Tenancy("owner", **shards, filtered=(by_state, by_flag, by_region))

    def home(owner: Any, place: str) -> Any:
        """The partition of a tenant; by prefix, each kind of thing has its own."""
        if not composed:
            return owner
        is_single = not by_prefix or (is_mixed and place == "PROJECT")
        return "U" / owner if is_single else "U" / owner / place

    class Thing(Entity, table=Home):
        owner: Attr[kind] = attr()
        number: Attr[int] = attr(pad=3)
        state: Attr[str] = attr(default="open")
        flag: Attr[str | None] = attr(default=None)
        friend: Attr[kind | None] = attr(default=None, name="friend" if composed else "friendKey")
        code: Attr[str] = attr(default="c")
        region: Attr[str] = attr(default="eu")
        primary = key(home(owner, "PROJECT"), "I" / number)
        nearby = primary.local(Home.local, "C" / code / number)
        swapped = primary.swapped(Home.swapped)
        by_state = index(Home.by_state, "STATE" / state, number)
        by_flag = index(Home.by_flag, flag, "I" / number)
        by_friend = index(Home.by_friend, home(friend, "FRIEND"), "I" / number)
        by_code = index(Home.open_index, "CODE" / code, "I" / number)
        by_region = index(Home.by_region, (region, state), (number, code))
        by_region_and_code = index(Home.by_region_and_code, (region, code), number)
        by_owner = index(Home.by_owner, (owner, state), (number, code))
        own_code = unique(home(owner, "CODES"), "OWN" / code)

    class Part(Entity, table=Home):
        owner: Attr[kind] = attr()
        number: Attr[int] = attr(pad=3)
        part: Attr[int] = attr(pad=3)
        primary = key(home(owner, "PROJECT"), "I" / number / "P" / part)

    class ThingWithParts(Aggregate):
        thing: Thing = root()
        parts: list[Part] = children()

    class ThingPage(Aggregate):
        thing: Thing = root()
        parts: Page[Part] = children()

    offer: Any = None
    if composed:

        class Offer(Entity, table=Home):
            shelf: Attr[str] = attr()
            number: Attr[int] = attr(pad=3)
            primary = key("OFFERS" / shelf, "I" / number)
            by_state = index(Home.by_state, "STATE#open", number)

        offer = Offer
    return World(Home, Thing, Part, ThingWithParts, ThingPage, offer, ids, by_prefix)


# -- hostile ids ---------------------------------------------------------------------------------

_NASTY = [
    "a", "a$", "a$$", "$", "$$", "$!", "#", "x#y", "x$!y", "a#", "a#P", "a#O", "U#a", "U#a#P", "aa",
    "A", " a", "a ", "a\n", "\x00", "{owner}", "{'N': '7'}", '{"S": "a"}', "{'S': 'a'}", "7", "7.0",
    "07", "None", "*", "%s", "é", "e\u0301", "ﬁ", "fi", "Å", "Å", "🍲", "\uffff", "I#000", "OWN#c0",
    "a#*", "x", "x#PROJECT", "a#PROJECT", "x#PROJECT#", "OFFERS",
]  # fmt: skip

_SPELLINGS = [
    lambda text: text.replace("$", "$$").replace("#", "$!"),  # as keys escape it
    lambda text: text.replace("$!", "#").replace("$$", "$"),
    lambda text: unicodedata.normalize("NFC", text),
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFKC", text),
    lambda text: str({"S": text}),
    lambda text: json.dumps({"S": text}),
    lambda text: f"{text}#P",
    lambda text: f"{text}#PROJECT",
    lambda text: f"{text}$",
    lambda text: f"U#{text}",
    lambda text: text.upper(),
    lambda text: text[:-1] or "b",
]

_texts = st.sampled_from(_NASTY) | st.text(
    st.characters(codec="utf-8") | st.sampled_from("#$!{}'\"7"), min_size=1, max_size=5
)


@st.composite
def _similar_texts(draw: st.DrawFn) -> list[Any]:
    """Two ids, of which the second is often another spelling of the first."""
    first = draw(_texts)
    second = draw(st.sampled_from(_SPELLINGS))(first) if draw(st.booleans()) else draw(_texts)
    return [first, second]


@st.composite
def _similar_numbers(draw: st.DrawFn) -> list[Any]:
    first = draw(st.sampled_from([0, 1, 7, 70, -7]) | st.integers(-(10**20), 10**20))
    scale = draw(st.sampled_from([Decimal(1), Decimal(10), Decimal("0.1"), Decimal("1e-20")]))
    second = first * scale if draw(st.booleans()) else Decimal(first) + scale
    return [Decimal(first), second]


@st.composite
def _similar_bytes(draw: st.DrawFn) -> list[Any]:
    first = draw(
        st.sampled_from([b"a", b"\x00", b"YQ==", b"7"]) | st.binary(min_size=1, max_size=4)
    )
    more = draw(st.sampled_from([b"", b"\x00", b"=", b"#"]) | st.binary(max_size=2))
    return [first, first + more]


def _pairs(similar: st.SearchStrategy[list[Any]]) -> st.SearchStrategy[Any]:
    """Two different ids, in either order."""
    different = similar.filter(lambda ids: ids[0] != ids[1])
    return different.flatmap(lambda ids: st.permutations(ids))


def _worlds() -> Iterator[tuple[str, World]]:
    texts, numbers = _pairs(_similar_texts()), _pairs(_similar_numbers())
    plain = texts.filter(lambda ids: not any("#" in each for each in ids))
    yield "composed", declare("composed", str, texts, composed=True)
    yield "prefixes", declare("prefixes", str, texts, composed=True, by_prefix=True)
    yield (
        "prefixes, not escaped",
        declare("unescaped", str, plain, composed=True, by_prefix=True, escape=False),
    )
    yield "mixed", declare("mixed", str, texts, composed=True, by_prefix=True, is_mixed=True)
    yield "text", declare("natural_text", str, texts, composed=False)
    yield "number", declare("natural_number", Decimal, numbers, composed=False)
    yield "bytes", declare("natural_bytes", bytes, _pairs(_similar_bytes()), composed=False)


WORLDS = dict(_worlds())
