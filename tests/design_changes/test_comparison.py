"""The changes between two versions of a design: all kinds, renames, and no difference without."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from msgspec import Struct
from msgspec.structs import fields, replace

from tablewright import Engine, connect, create
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
from tablewright.errors import UnclassifiedChange, UnreadableItem
from tests.design_changes.cases import CASES, DESIGN, changed
from tests.design_changes.loading import describe, load


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
    elsewhere = {"counter-changed", "ttl-changed", "stream-changed", "entity-name-changed"}
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


# -- promises that depend on the design ------------------------------------------------------------

VARIANTS = """
class Accounts(Table, name="accounts"):
    gsi1 = GSI("GSI1PK", "GSI1SK")

class Account(Entity, table=Accounts, variants=True):
    name: Attr[str] = attr()
    primary = key("ACCOUNT" / name, "ACCOUNT")
    everyone = index(Accounts.gsi1, "ALL", name)

class Person(Account, type_name="person"):
    pass

class Company(Account, type_name="company"):
    pass
"""
ROBOT = "\nclass Robot(Account):\n    pass\n"
#: An entity beside the notes of `small`, in an index of the same partition.
NOTES = """
class Notes(Table, name="notes", OPTIONS):
    gsi1 = GSI("GSI1PK", "GSI1SK", project=PROJECT)

class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    primary = key("NOTE" / note_id, "NOTE")
    every = index(Notes.gsi1, "ALL", note_id)
"""
TAG = """
class Tag(Entity, table=Notes):
    tag: Attr[str] = attr()
    primary = key("TAG" / tag, "TAG")
    every = index(Notes.gsi1, "PARTITION", tag)
"""


def notes(options: str = "type_attribute='type'", project: str = "'ALL'") -> str:
    return NOTES.replace("OPTIONS", options).replace("PROJECT", project)


def reads(old: str, new: str) -> list[tuple[Reading, Reading]]:
    found = differences(describe(old), describe(new))
    return [(each.new_reads, each.old_reads) for each in found]


FINE, OTHER, MISSES, FAILS = Reading


def test_a_renamed_type_is_read_by_the_key_unless_variants_share_it() -> None:
    renamed = ("class Note(Entity,", "class Note(Entity, type_name='N', renamed_from='Note',")
    assert reads(notes(), notes().replace(*renamed)) == [(FINE, FINE)]
    person = ('type_name="person"', 'type_name="P", renamed_from="person"')
    assert reads(VARIANTS, VARIANTS.replace(*person)) == [(FAILS, FAILS)]


def test_another_type_attribute_is_no_problem_unless_variants_share_a_key() -> None:
    assert reads(notes(), notes("type_attribute='kind'")) == [(FINE, FINE)]
    other = VARIANTS.replace('name="accounts"', 'name="accounts", type_attribute="kind"')
    assert reads(VARIANTS, other) == [(FAILS, FAILS)]


def test_a_new_variant_fails_in_old_programs() -> None:
    assert reads(VARIANTS, VARIANTS + ROBOT) == [(FINE, FAILS)]
    assert reads(VARIANTS + ROBOT, VARIANTS) == [(FAILS, FINE)]
    old, new = load(VARIANTS), load(VARIANTS + ROBOT)
    with Engine(":memory:") as engine:
        connect(engine, new.Accounts).run(create(new.Robot(name="r")))
        old_program = connect(engine, old.Accounts)
        for plan in (old.Account.primary("r"), old.Account.everyone()):
            with pytest.raises(UnreadableItem):
                old_program.run(plan)


@pytest.mark.parametrize(
    ("source", "partition", "old_reads"),
    [
        (notes(), "ALL", FINE),
        (notes(project="('type',)"), "ALL", FINE),
        (notes(project="'KEYS_ONLY'"), "ALL", FAILS),
        (notes(project="'KEYS_ONLY'"), "TAGS", FINE),
        (notes("type_attribute=None"), "ALL", FAILS),
        (notes("type_attribute=None"), "TAGS", FINE),
    ],
)
def test_a_new_entity_fails_in_old_queries_that_do_not_see_its_type(
    source: str, partition: str, old_reads: Reading
) -> None:
    new = source + TAG.replace("PARTITION", partition)
    assert reads(source, new) == [(FINE, old_reads)]
    assert reads(new, source) == [(max(old_reads, MISSES), FINE)]


def test_an_attribute_in_keys_is_missed_where_others_read_another_value() -> None:
    plain = small(body="text: Attr[str] = attr(default='a')")
    indexed = plain.replace(
        "    primary", "    p = index(Notes.gsi1, 'T' / text, 'T')\n    primary"
    )
    for source, reading in ((plain, OTHER), (indexed, MISSES)):
        # A default in an index is two changes: of the attribute, and of the place.
        found = [(reading, reading)] * (1 + (source is indexed))
        assert reads(source, source.replace("='a'", "='b'")) == found
        renamed = source.replace("(default", "(name='t', renamed_from='text', default")
        assert reads(source, renamed) == [(reading, reading)]


def test_a_renamed_attribute_in_a_sentinel_fails() -> None:
    source = small(body="text: Attr[str] = attr(default='a')\n    u = unique('T' / text)")
    renamed = source.replace("(default", "(name='t', renamed_from='text', default")
    assert reads(source, renamed) == [(FAILS, FAILS)]


def test_types_that_read_all_values_of_each_other_make_no_problem() -> None:
    source = small(body="text: Attr[TYPE] = attr(default='a')")
    versions = [source.replace("TYPE", each) for each in ("str", "KSUID | str")]
    assert reads(versions[0], versions[1]) == [(FINE, FINE)]


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


def test_every_field_of_a_description_makes_a_change_or_is_refused() -> None:
    table = describe(changed(DESIGN, CASES["a counter"].changes)).tables["shop"]
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
    wrong = [path for path in silent if path[-1] != "renamed_from"]
    assert not wrong
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


COUNTED = """
class Hub(Table, name="hub"): ...

class Repo(Entity, table=Hub):
    repo: Attr[str] = attr()
    stars: Attr[int] = WHICH
    primary = key("REPO" / repo, "REPO")

class Star(Entity, table=Hub):
    repo: Attr[str] = attr()
    user: Attr[str] = attr(key_only=True)
    weight: Attr[int] = attr(default=1)
    primary = key("REPO" / repo, "STAR" / user)
"""


@pytest.mark.parametrize(
    ("before", "after", "there", "back"),
    [
        ("attr(default=0)", 'count_of("Star")', "counter-added", "counter-removed"),
        ('count_of("Star")', 'sum_of("Star.weight")', "counter-changed", "counter-changed"),
        (
            'count_of("Star")',
            'count_of("Star", when=lambda star: star.weight > 1)',
            "counter-changed",
            "counter-changed",
        ),
        (
            'count_of("Star")',
            'count_of("Star", by=("user",))',
            "counter-changed",
            "counter-changed",
        ),
    ],
)
def test_an_attribute_that_both_versions_have_counts_something_else(
    before: str, after: str, there: str, back: str
) -> None:
    assert between(COUNTED, before, after) == [f"{there} Repo.stars"]
    assert between(COUNTED, after, before) == [f"{back} Repo.stars"]


def test_a_counter_of_what_is_renamed_is_the_same() -> None:
    old = describe(COUNTED.replace("WHICH", 'count_of("Star", when=lambda star: star.weight > 1)'))
    new = describe(
        COUNTED.replace("WHICH", 'count_of("Like", when=lambda like: like.weight > 1)')
        .replace(
            "class Star(Entity, table=Hub)", 'class Like(Entity, table=Hub, renamed_from="Star")'
        )
        .replace(
            "weight: Attr[int] = attr(",
            'weight: Attr[int] = attr(name="w", renamed_from="weight", ',
        )
    )
    assert shown(differences(old, new)) == ["entity-renamed Like", "attribute-renamed Like.w"]
