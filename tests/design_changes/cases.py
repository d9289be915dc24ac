"""Cases of changes: a design, a change of its source, and the kinds of change there and back."""

from __future__ import annotations

from typing import NamedTuple

DESIGN = """
class Shop(Table, name="shop"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")
    by_city = GSI("city", "type")
    reverse = GSI("SK", "PK")

class Event(Entity, table=Shop):
    order_id: Attr[str] = attr()
    version: Attr[int] = attr(pad=5, key_only=True)
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    primary = key("ORDER" / order_id, "EVENT" / version)

class Bill(Entity, table=Shop, renamed_from=("Credit", "Debit")):
    bill_id: Attr[str] = attr()
    primary = key("BILL" / shard(bill_id, of=4) / bill_id, "BILL")
    spread = index(Shop.gsi2, "BILLS" / shard(bill_id, of=4), bill_id)

class Order(Entity, table=Shop, type_name="Order"):
    order_id: Attr[str] = attr()
    buyer: Attr[str] = attr()
    city: Attr[str] = attr()
    note: Attr[str] = attr(default="")
    status: Attr[Literal["open", "done"]] = attr(default="open")
    total: Attr[int] = attr(default=0, pad=6)
    until: Attr[datetime | None] = attr(default=None)
    version: Attr[int] = version()
    created: Attr[datetime] = created_at()
    primary = key("ORDER" / order_id, "ORDER")
    of_buyer = index(Shop.gsi1, "BUYER" / buyer, "ORDER" / total,
                     when=(status == "open") & (total >= 0))
    by_note = unique("NOTE" / buyer / note, type_name="Note")
    changes = history(note, Event)
"""


class Case(NamedTuple):
    """A change of the source, and the expected kinds and places, there and back."""

    changes: list[tuple[str, str]]
    there: list[str]
    back: list[str]


def same(changes: list[tuple[str, str]], *kinds: str) -> Case:
    """Return a case with the same changes in both directions."""
    return Case(changes, [*kinds], [*kinds])


CASES: dict[str, Case] = {
    "an attribute": Case(
        [("    city:", "    more: Attr[str] = attr(default='')\n    city:")],
        ["attribute-added Order.more"],
        ["attribute-removed Order.more"],
    ),
    "a required attribute": Case(
        [("    city:", "    more: Attr[str] = attr()\n    city:")],
        ["required-attribute-added Order.more"],
        ["required-attribute-removed Order.more"],
    ),
    "a renamed attribute": Case(
        [
            (
                "total: Attr[int] = attr(",
                "total: Attr[int] = attr(name='sum', renamed_from='total', ",
            )
        ],
        ["attribute-renamed Order.sum"],
        [
            "attribute-removed Order.sum",
            "attribute-added Order.total",
            "index-key-changed Order.gsi1",
        ],
    ),
    "another type": same(
        [("until: Attr[datetime | None]", "until: Attr[int | None]")],
        "attribute-retyped Order.until",
    ),
    "a wider type": Case(
        [("until: Attr[datetime | None]", "until: Attr[str | None]")],
        ["attribute-widened Order.until"],
        ["attribute-narrowed Order.until"],
    ),
    "any type": Case(
        [("until: Attr[datetime | None]", "until: Attr[Any]")],
        ["attribute-widened Order.until"],
        ["attribute-narrowed Order.until"],
    ),
    "a choice as text": Case(
        [('Attr[Literal["open", "done"]]', "Attr[str]")],
        ["attribute-widened Order.status"],
        ["attribute-narrowed Order.status"],
    ),
    "None beside a default": Case(
        [("note: Attr[str]", "note: Attr[str | None]")],
        ["attribute-widened Order.note"],
        ["attribute-narrowed Order.note"],
    ),
    "a part of the key of events": Case(
        [
            (
                "new: Attr[str] = attr()",
                "new: Attr[str] = attr()\n    at: Attr[str] = attr(key_only=True)",
            ),
            ('"EVENT" / version', '"EVENT" / version / at'),
            ("    note: Attr", "    at: Attr[str] = attr(default='')\n    note: Attr"),
        ],
        ["primary-key-changed Event", "attribute-added Order.at", "history-changed Order.note"],
        ["primary-key-changed Event", "attribute-removed Order.at", "history-changed Order.note"],
    ),
    "a required value": Case(
        [("until: Attr[datetime | None] = attr(default=None)", "until: Attr[datetime] = attr()")],
        ["attribute-made-required Order.until"],
        ["attribute-made-optional Order.until"],
    ),
    "another default": same(
        [("default=0", "default=1")],
        "default-changed Order.total",
        "index-default-changed Order.gsi1",
    ),
    "a default that is computed": same(
        [
            ("attr(default=None)", "attr(default_factory=lambda: datetime.now(UTC))"),
            ("datetime | None", "datetime"),
        ],
        "default-changed Order.until",
    ),
    "a choice": Case(
        [('"done"]', '"done", "late"]')],
        ["choice-added Order.status"],
        ["choice-removed Order.status"],
    ),
    "a choice with another value": same(
        [('"done"]', '"closed"]')],
        "choice-added Order.status",
        "choice-removed Order.status",
    ),
    "a version": Case(
        [
            (
                "    bill_id: Attr[str] = attr()\n",
                "    bill_id: Attr[str] = attr()\n    n: Attr[int] = version()\n",
            )
        ],
        ["version-added Bill.n"],
        ["version-removed Bill.n"],
    ),
    "a timestamp": Case(
        [("    city:", "    updated: Attr[datetime] = updated_at()\n    city:")],
        ["timestamp-added Order.updated"],
        ["timestamp-removed Order.updated"],
    ),
    "another role": same([("= created_at()", "= updated_at()")], "role-changed Order.created"),
    "a version that was a number": same(
        [
            ("total: Attr[int] = attr(default=0, pad=6)", "total: Attr[int] = version()"),
            ("version: Attr[int] = version()", "version: Attr[int] = attr(default=0)"),
            ('"ORDER" / total', '"ORDER" / padded(total, 6)'),
        ],
        "role-changed Order.total",
        "role-changed Order.version",
    ),
    "an entity": Case(
        [
            (
                "class Order(",
                "class Tag(Entity, table=Shop):\n    id: Attr[str] = attr()\n"
                "    primary = key('TAG' / id, 'TAG')\n\nclass Order(",
            )
        ],
        ["entity-added Tag"],
        ["entity-removed Tag"],
    ),
    "a renamed entity": Case(
        [('type_name="Order"', 'type_name="Sale", renamed_from="Order"')],
        ["entity-renamed Sale"],
        ["entity-added Order", "entity-removed Sale"],
    ),
    "an entity split in two": Case(
        [
            (
                'class Bill(Entity, table=Shop, renamed_from=("Credit", "Debit")):',
                "class Bill(Entity, table=Shop, variants=True):",
            ),
            (
                "class Order(",
                "class Credit(Bill, renamed_from='Bill', renamed_when=lambda item: True):\n"
                "    due: Attr[str] = attr()\n\n"
                "class Debit(Bill, renamed_from='Bill', renamed_when=lambda item: False):\n"
                "    pass\n\nclass Order(",
            ),
        ],
        ["entity-split Credit", "required-attribute-added Credit.due", "entity-split Debit"],
        ["entity-merged Bill", "required-attribute-removed Bill.due", "entity-merged Bill"],
    ),
    "the parts of the primary key": same(
        [('key("ORDER" / order_id, "ORDER")', 'key("O" / order_id, "ORDER")')],
        "primary-key-changed Order",
    ),
    "the pad of the primary key": same([("pad=5", "pad=6")], "primary-format-changed Event"),
    "the delimiter": same(
        [('name="shop"', 'name="shop", delimiter=":"')],
        "primary-delimiter-changed Bill",
        "index-delimiter-changed Bill.gsi2",
        "primary-delimiter-changed Event",
        "primary-delimiter-changed Order",
        "index-delimiter-changed Order.gsi1",
        "unique-changed Order.Note",
    ),
    "escaping": same(
        [('name="shop"', 'name="shop", escape=False')],
        "primary-delimiter-changed Bill",
        "index-delimiter-changed Bill.gsi2",
        "primary-delimiter-changed Event",
        "primary-delimiter-changed Order",
        "index-delimiter-changed Order.gsi1",
        "unique-changed Order.Note",
    ),
    "more shards": same(
        [("of=4", "of=8")],
        "primary-shards-changed Bill",
        "index-shards-changed Bill.gsi2",
    ),
    "a place": Case(
        [("    by_note", "    more = index(Shop.gsi2, 'CITY' / city, 'ORDER')\n    by_note")],
        ["place-added Order.gsi2"],
        ["place-removed Order.gsi2"],
    ),
    "a place of stored attributes": Case(
        [("    by_note", "    more = index(Shop.by_city, city)\n    by_note")],
        ["natural-place-added Order.by_city"],
        ["natural-place-removed Order.by_city"],
    ),
    "a place of the primary key": Case(
        [("    by_note", "    more = primary.swapped(Shop.reverse)\n    by_note")],
        ["natural-place-added Order.reverse"],
        ["natural-place-removed Order.reverse"],
    ),
    "a place with the keys of another index": Case(
        [
            (
                "    by_city =",
                '    again = GSI("GSI1PK", "GSI1SK", project="KEYS_ONLY")\n    by_city =',
            ),
            (
                "    by_note",
                "    more = index(Shop.again, 'BUYER' / buyer, 'ORDER' / total,\n"
                "                 when=(status == 'open') & (total >= 0))\n    by_note",
            ),
        ],
        ["index-added again", "natural-place-added Order.again"],
        ["index-removed again", "natural-place-removed Order.again"],
    ),
    "a place of a new attribute": Case(
        [
            (
                "    bill_id: Attr[str] = attr()\n",
                "    bill_id: Attr[str] = attr()\n    city: Attr[str] = attr(default='Bern')\n",
            ),
            ("    spread", "    in_city = index(Shop.by_city, city)\n    spread"),
        ],
        ["attribute-added Bill.city", "place-added Bill.by_city"],
        ["attribute-removed Bill.city", "place-removed Bill.by_city"],
    ),
    "the parts of an index key": same([('"BUYER" /', '"B" /')], "index-key-changed Order.gsi1"),
    "the pad of an index key": same([("pad=6", "pad=7")], "index-format-changed Order.gsi1"),
    "the condition of an index": same(
        [('status == "open"', 'status == "done"')], "index-condition-changed Order.gsi1"
    ),
    "a second place in an index": same(
        [
            (
                "    by_note",
                "    done = index(Shop.gsi1, 'DONE', order_id, when=status == 'done')\n    by_note",
            )
        ],
        "index-key-changed Order.gsi1",
    ),
    "an index": Case(
        [("    by_city =", '    gsi3 = GSI("A")\n    by_city =')],
        ["index-added gsi3"],
        ["index-removed gsi3"],
    ),
    "a projection": same([('"GSI2SK")', '"GSI2SK", project="KEYS_ONLY")')], "index-changed gsi2"),
    "a local index": same(
        [("    by_city =", '    local = LSI("A")\n    by_city =')], "local-index-changed local"
    ),
    "the key of the table": same(
        [('name="shop"', 'name="shop", sk="S"')],
        "table-key-changed shop",
        "primary-key-changed Bill",
        "primary-key-changed Event",
        "primary-key-changed Order",
        "unique-changed Order.Note",
    ),
    "a table with another name": Case(
        [('name="shop"', 'name="store"')],
        ["table-removed shop", "table-added store"],
        ["table-added shop", "table-removed store"],
    ),
    "the form of types": same(
        [('name="shop"', 'name="shop", type_form="set"'), ('"city", "type"', '"city"')],
        "index-changed by_city",
        "type-attribute-changed shop",
    ),
    "ttl": Case(
        [("attr(default=None)", "ttl(default=None)")],
        [
            "ttl-added shop",
            "role-changed Order.until",
            "attribute-retyped Order.until",
            "unique-contents-changed Order.Note",
        ],
        [
            "ttl-removed shop",
            "role-changed Order.until",
            "attribute-retyped Order.until",
            "unique-contents-changed Order.Note",
        ],
    ),
    "a stream": Case(
        [('name="shop"', 'name="shop", stream="NEW_IMAGE"')],
        ["stream-added shop"],
        ["stream-removed shop"],
    ),
    "tenants": same(
        [("    by_city", "    t = Tenancy('order_id', write=('ORDER#{order_id}',))\n    by_city")],
        "tenancy-changed shop",
    ),
    "a unique value": Case(
        [("    changes", "    u = unique('C' / city, type_name='City')\n    changes")],
        ["unique-added Order.City"],
        ["unique-removed Order.City"],
    ),
    "the key of a unique value": same(
        [('unique("NOTE"', 'unique("N"')], "unique-changed Order.Note"
    ),
    "the contents of a sentinel": same(
        [('type_name="Note"', 'type_name="Note", keep=(order_id, city)')],
        "unique-contents-changed Order.Note",
    ),
    "the key and the contents of a sentinel": same(
        [('unique("NOTE"', 'unique("N"'), ('type_name="Note"', 'type_name="Note", keep=(city,)')],
        "unique-changed Order.Note",
        "unique-contents-changed Order.Note",
    ),
    "the type and the contents of a sentinel": Case(
        [('type_name="Note"', 'type_name="Notes", keep=(order_id, city)')],
        ["unique-renamed Order.Notes", "unique-contents-changed Order.Notes"],
        ["unique-renamed Order.Note", "unique-contents-changed Order.Note"],
    ),
    "the type of a sentinel": Case(
        [('type_name="Note"', 'type_name="Notes"')],
        ["unique-renamed Order.Notes"],
        ["unique-renamed Order.Note"],
    ),
    "a history": Case(
        [("    changes", "    more = history(city, Event)\n    changes")],
        ["history-added Order.city"],
        ["history-removed Order.city"],
    ),
    "the events of a history": same(
        [("history(note, Event)", "history(note, Event, always=True)")],
        "history-changed Order.note",
    ),
    "a counter": Case(
        [("    city:", "    bills: Attr[int] = count_of(Bill, by=(Bill.bill_id,))\n    city:")],
        ["attribute-added Order.bills", "counter-added Order.bills"],
        ["attribute-removed Order.bills", "counter-removed Order.bills"],
    ),
    "several changes at once": Case(
        [
            ("pad=6", "pad=7"),
            ("default=0", "default=1"),
            ("of=4", "of=8"),
            (
                "    city: Attr[str] = attr()\n",
                "    city: Attr[str] = attr()\n    more: Attr[int] = attr()\n",
            ),
        ],
        [
            "primary-shards-changed Bill",
            "index-shards-changed Bill.gsi2",
            "required-attribute-added Order.more",
            "default-changed Order.total",
            "index-format-changed Order.gsi1",
        ],
        [
            "primary-shards-changed Bill",
            "index-shards-changed Bill.gsi2",
            "required-attribute-removed Order.more",
            "default-changed Order.total",
            "index-format-changed Order.gsi1",
        ],
    ),
}


def changed(source: str, changes: list[tuple[str, str]]) -> str:
    for before, after in changes:
        assert before in source, before
        source = source.replace(before, after)
    return source
