"""The changes between two versions of a design: all kinds, renames, and no difference without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

import pytest
from msgspec import Struct
from msgspec.structs import fields, replace

from tablewright.design_changes import KINDS, DesignChange, Need, Reading, differences
from tablewright.design_description import (
    ConditionDescription,
    DesignDescription,
    IndexDesign,
    KeyAttributes,
    PartDescription,
    TableDesign,
    TenancyDescription,
)
from tablewright.errors import UnclassifiedChange
from tests.design_changes.loading import describe

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

class Bill(Entity, table=Shop):
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
    "another default": same([("default=0", "default=1")], "default-changed Order.total"),
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
                "class Bill(Entity, table=Shop):",
                "class Debit(Entity, table=Shop, renamed_from='Bill'):\n"
                "    bill_id: Attr[str] = attr()\n    primary = key('DEBIT' / bill_id, 'BILL')\n\n"
                "class Credit(Entity, table=Shop, renamed_from='Bill'):",
            ),
            ('    primary = key("BILL"', '    primary = key("CREDIT"'),
        ],
        ["entity-removed Bill", "entity-added Credit", "entity-added Debit"],
        ["entity-added Bill", "entity-removed Credit", "entity-removed Debit"],
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


def shown(changes: list[DesignChange]) -> list[str]:
    return [f"{each.kind.name} {each.where}" for each in changes]


@pytest.fixture(scope="module")
def design() -> DesignDescription:
    return describe(DESIGN)


@pytest.mark.parametrize("what", CASES)
def test_a_change_has_this_kind(what: str, design: DesignDescription) -> None:
    case = CASES[what]
    other = describe(changed(DESIGN, case.changes))
    assert shown(differences(design, other)) == case.there
    assert shown(differences(other, design)) == case.back


def test_a_description_does_not_differ_from_itself(design: DesignDescription) -> None:
    assert differences(design, design) == []


def between(template: str, before: str, after: str) -> list[str]:
    return shown(
        differences(*(describe(template.replace("WHICH", each)) for each in (before, after)))
    )


SMALL = """
class Notes(Table, name="notes", OPTIONS):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    BODY
    primary = key("NOTE" / note_id, "NOTE")
"""


def small(options: str = "", body: str = "pass", name: str = "Note") -> str:
    source = SMALL.replace("OPTIONS", options).replace("BODY", body)
    return source.replace("class Note(", f"class {name}(")


def test_another_ttl_attribute_or_stream_is_a_change() -> None:
    ttl = small(body="t: Attr[datetime | None] = ttl(default=None, name='WHICH')")
    assert between(ttl, "one", "other") == [
        "ttl-changed notes",
        "attribute-removed Note.one",
        "attribute-added Note.other",
    ]
    stream = small(options="stream='WHICH'")
    assert between(stream, "NEW_IMAGE", "KEYS_ONLY") == ["stream-changed notes"]
    types = small(options="type_attribute='WHICH'")
    assert between(types, "type", "kind") == ["type-attribute-changed notes"]


def test_another_type_of_an_attribute_that_is_only_in_keys_is_a_change() -> None:
    source = small(body="day: Attr[WHICH] = attr(key_only=True)")
    source = source.replace('/ note_id, "NOTE"', '/ note_id, "DAY" / day')
    assert between(source, "str", "date") == ["attribute-retyped Note.1"]


def test_without_a_stored_type_an_entity_is_recognized_by_its_key() -> None:
    old, new = (
        describe(small(options="type_attribute=None", name=each)) for each in ("Note", "Memo")
    )
    (found,) = differences(old, new)
    assert shown([found]) == ["entity-name-changed Memo"]
    assert (found.before, found.after, found.need) == ("Note", "Memo", Need.NOTHING)


def test_every_kind_has_a_case() -> None:
    tested = {each.split()[0] for case in CASES.values() for each in case.there + case.back}
    elsewhere = {"ttl-changed", "stream-changed", "entity-name-changed"}
    assert tested | elsewhere == set(KINDS)


# -- renames ---------------------------------------------------------------------------------------

RENAMED = """
class Desk(Table, name="desk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Move(Entity, table=Desk, type_name="MOVE"):
    ticket: Attr[str] = attr(name="TICKET")
    version: Attr[int] = attr(pad=5)
    before: Attr[str] = attr(name="BEFORE")
    after: Attr[str] = attr()
    primary = key("TICKET" / ticket, "MOVE" / version)

class Ticket(Entity, table=Desk, type_name="TYPE"):
    ticket: Attr[str] = attr(name="TICKET")
    state: Attr[str] = attr(name="STATE")
    owner: Attr[str] = attr()
    version: Attr[int] = version()
    primary = key("TICKET" / ticket, "TICKET")
    a = index(Desk.gsi1, "OPEN" / state, lower(owner), when=(state == "open") & (owner == "open"))
    b = index(Desk.gsi1, "LATE" / state, owner, when=(state == "late") | (state == "lost"))
    by_state = unique("STATE" / state / owner, keep=(ticket, state), type_name="S")
    moves = history(state, Move, old=Move.before, new=Move.after)
"""


def test_a_rename_is_one_change_also_in_keys_conditions_uniques_and_histories() -> None:
    new = RENAMED
    for before, after in (("STATE", "a_state"), ("TICKET", "number"), ("BEFORE", "earlier")):
        option = f'renamed_from="{before}"'
        new = new.replace(f'name="{before}"', f'name="{after}", {option}')
    for name in ("MOVE", "TYPE"):
        new = new.replace(f'type_name="{name}"', f'type_name="{name}_2", renamed_from="{name}"')
    found = differences(describe(RENAMED), describe(new))
    assert shown(found) == [
        "entity-renamed MOVE_2",
        "attribute-renamed MOVE_2.earlier",
        "attribute-renamed MOVE_2.number",
        "entity-renamed TYPE_2",
        "attribute-renamed TYPE_2.a_state",
        "attribute-renamed TYPE_2.number",
    ]
    assert {(each.before, each.after) for each in found if each.entity == "TYPE_2"} == {
        ("TYPE", "TYPE_2"),
        ("STATE", "a_state"),
        ("TICKET", "number"),
    }


def test_a_rename_and_another_change_of_the_same_attribute_are_two_changes() -> None:
    new = RENAMED.replace('state: Attr[str] = attr(name="STATE")', (
        'state: Attr[str] = attr(name="s", renamed_from="STATE", default="open")'
    )).replace('state == "late"', 'state == "old"')  # fmt: skip
    assert shown(differences(describe(RENAMED), describe(new))) == [
        "attribute-renamed TYPE.s",
        "attribute-made-optional TYPE.s",
        "index-key-changed TYPE.gsi1",
    ]


def test_a_rename_that_two_attributes_claim_is_none() -> None:
    new = RENAMED.replace(
        'owner: Attr[str] = attr()',
        'owner: Attr[str] = attr(name="o", renamed_from="owner")\n'
        '    second: Attr[str] = attr(default="", renamed_from="owner")',
    )  # fmt: skip
    found = shown(differences(describe(RENAMED), describe(new)))
    assert found[:3] == [
        "required-attribute-added TYPE.o",
        "required-attribute-removed TYPE.owner",
        "attribute-added TYPE.second",
    ]


def test_the_declaration_of_a_rename_is_no_change_by_itself() -> None:
    source = small(body="text: Attr[str] = attr(WHICH)")
    assert between(source, "", "renamed_from='body'") == []


def test_a_rename_reads_what_the_attribute_allows() -> None:
    template = small(body="text: Attr[str] = attr(WHICH)")
    for options, reading in (("", Reading.FAILS), (", default=''", Reading.OTHER_VALUES)):
        new = f"name='t', renamed_from='text'{options}"
        versions = (template.replace("WHICH", each) for each in (options.removeprefix(", "), new))
        (found,) = differences(*map(describe, versions))
        assert (found.new_reads, found.old_reads) == (reading, reading)
        assert found.runs_together == (reading is Reading.OTHER_VALUES)


# -- a side of which only the structure is known ---------------------------------------------------


def test_of_a_template_only_the_structure_is_compared(design: DesignDescription) -> None:
    table = design.tables["shop"]
    template = TableDesign.of(table.structure("shop"))
    assert template.entities is None
    for one, other in ((table, template), (template, table)):
        assert differences(*(DesignDescription({"shop": each}) for each in (one, other))) == []
    smaller = replace(template, indexes={}, ttl="t")
    found = differences(DesignDescription({"shop": smaller}), design)
    assert shown(found) == [
        "index-added by_city", "index-added gsi1", "index-added gsi2", "index-added reverse",
        "ttl-removed shop",
    ]  # fmt: skip


# -- no difference without a change ----------------------------------------------------------------


def others(value: Any, name: str) -> Iterator[Any]:
    """Yield other values for a field of a description."""
    match value:
        case bool():
            yield not value
        case str():
            yield {
                "kind": "local" if value == "global" else "global",
                "role": "version" if value != "version" else "",
                "type_form": "set",
                "joined": "OR",
            }.get(name, f"{value}x")
        case None:
            yield {
                "default": {"S": "x"},
                "tenancy": TenancyDescription("x"),
                "when": ConditionDescription((PartDescription("a"), " = 1")),
                "entities": {},
            }[name]
        case Struct():
            for field in fields(value):
                for other in others(getattr(value, field.name), field.name):
                    yield replace(value, **{field.name: other})
            if name in ("tenancy", "when"):
                yield None
        case dict() if name == "default":
            yield {"S": "other"}
        case dict():
            for key, each in value.items():
                for other in others(each, name):
                    yield {**value, key: other}
                yield {other: each for other, each in value.items() if other != key}
        case tuple():
            for position, each in enumerate(value):
                for other in others(each, name):
                    yield (*value[:position], other, *value[position + 1 :])
            if name in ("partition", "sort") and "S" in value:
                return  # a name and its type
            yield {
                "choices": (*value, "'x'"),
                "include": (*value, "x"),
                "keeps": (*value, "x"),
                "write": (*value, "x"),
                "read": (*value, "x"),
                "shared": (*value, "x"),
                "filtered": (*value, "x"),
                "sort": (*value, ("x", "S")),
                "partition": (*value, ("x", "S")),
            }.get(name, value[:-1])


def test_every_field_of_a_description_makes_a_change_or_is_refused(
    design: DesignDescription,
) -> None:
    table = design.tables["shop"]
    included = IndexDesign("global", KeyAttributes((("a", "S"),)), "INCLUDE", ("b",))
    table = replace(
        table, tenancy=TenancyDescription("id"), indexes={**table.indexes, "include": included}
    )
    design = DesignDescription({"shop": table})
    fields_changed = set[str]()
    silent = []
    for other in others(design, ""):
        if other == design:
            continue
        try:
            found = differences(design, other)
        except UnclassifiedChange:
            continue
        path = difference_path(design, other)
        fields_changed.update(path)
        if not found:
            silent.append(path)
    assert all(path[-1] == "renamed_from" for path in silent), silent
    assert len(silent) > 5
    missing = all_fields(DesignDescription) - fields_changed - {"tables"}
    assert missing == set()


def difference_path(one: Any, other: Any) -> list[str]:
    """Return the names of the fields from the root to the first difference."""
    if isinstance(one, Struct) and type(one) is type(other):
        for field in fields(one):
            pair = getattr(one, field.name), getattr(other, field.name)
            if pair[0] != pair[1]:
                return [field.name, *difference_path(*pair)]
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one:
            if key in other and one[key] != other[key]:
                return difference_path(one[key], other[key])
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for pair in zip(one, other, strict=True):
            if pair[0] != pair[1]:
                return difference_path(*pair)
    return []


def all_fields(kind: Any) -> set[str]:
    """Return the names of the fields of a description, and of all descriptions in it."""
    names = set[str]()
    pending, seen = [kind], set[Any]()
    while pending:
        each = pending.pop()
        if isinstance(each, type) and issubclass(each, Struct) and each not in seen:
            seen.add(each)
            names |= {field.name for field in fields(each)}
            pending += [field.type for field in fields(each)]
        pending += get_args(each)
    return names
