"""What a draft says of itself: irregular items, proof, evidence, comparison, and its sample."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest

from tablewright import connect
from tablewright.designs.catalog import load
from tablewright.infer import compare, declare, evidence, infer_design, prove, write_module
from tablewright.infer.declaration import InferredDesign
from tablewright.infer.patterns import write_patterns
from tablewright.infer.sample import FEWEST, KEPT, Reservoir
from tablewright.mapping.table import TableMap
from tablewright.publish.advice import advise
from tablewright.schema import KeySchema
from tablewright.table_description import TableDescription
from tablewright.values import Item
from tablewright.verify import verify
from tests.infer.inferred import gsi, infer_source, item, keys, lines_of, sample_of

BY_STATUS = gsi("GSI1", "GSI1PK", "GSI1SK")


def order(number: int, **more: object) -> Item:
    """Return an order, which is in an index by its status."""
    status = "OPEN" if number % 3 else "PAID"
    values = {"id": f"o{number}", "status": status, "total": number}
    key = {"PK": f"ORDER#o{number}", "SK": "ORDER"}
    place = {"GSI1PK": f"STATUS#{status}", "GSI1SK": f"ORDER#o{number}"}
    return item(**{**key, **place, **values, **more})


ORDERS = [order(number) for number in range(60)]


def draft_of(*items: Item) -> tuple[InferredDesign, TableMap]:
    design = infer_design(sample_of(*items, indexes=(BY_STATUS,)))
    (table,) = declare(write_module(design), [design.name])
    return design, table


# -- irregular items ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("irregular", "reason"),
    [
        (order(99, total="many"), "total is of another type than N, its type in the other items"),
        (order(99, SK="ORDER#copy#1"), "its key has a form that only 1 of the items have"),
        (order(99, GSI1SK="ORDER#o98"), "GSI1SK is not what id gives"),
        (
            {name: value for name, value in order(99).items() if name != "GSI1SK"},
            "it has only a part of the keys of GSI1: GSI1PK or GSI1SK",
        ),
        (
            {name: value for name, value in order(99).items() if not name.startswith("GSI")},
            "it is not in GSI1, although its attributes give the keys",
        ),
        (item(PK="tmp-1", SK="?"), "its key has a form that only 1 of the items have"),
    ],
)
def test_an_irregular_item_is_named_and_changes_nothing(irregular: Item, reason: str) -> None:
    items = [order(number) for number in range(90)]
    expected, _ = draft_of(*items)
    design, _ = draft_of(*items, irregular)
    assert [(each.item, each.reason) for each in design.unexplained] == [(irregular, reason)]
    assert write_module(design).splitlines()[1:] == write_module(expected).splitlines()[1:]


def test_an_item_without_its_type_is_irregular() -> None:
    items = [order(number, type="Order") for number in range(60)]
    design, _ = draft_of(*items, order(60))
    reason = "it has no type, but its key is like those of type 'Order'"
    assert [each.reason for each in design.unexplained] == [reason]
    assert design.type_attribute == "type"


def test_a_rare_variant_is_no_exception() -> None:
    kinds = ["Company" if number % 20 == 0 else "User" for number in range(100)]
    items = [
        item(PK=f"ACCOUNT#{n}", SK="ACCOUNT", type=kind, **{kind: 1})
        for n, kind in enumerate(kinds)
    ] + [item(PK=f"ACCOUNT#{n}", SK="REPO", type="Repo") for n in range(9)]
    design, _ = draft_of(*items)
    assert design.unexplained == []
    assert "class Company(Account):" in write_module(design)


def test_what_differs_in_more_than_one_item_of_twenty_is_a_fact_of_the_design() -> None:
    items = [order(number, total="many" if number % 10 == 0 else number) for number in range(60)]
    design, table = draft_of(*items)
    assert design.unexplained == []
    assert prove(table, design).equal == 60


# -- conventions ----------------------------------------------------------------------------------


def test_an_id_with_dashes_is_one_value() -> None:
    items = [item(PK=f"room-{n}", SK=f"MSG#user-{n}", room=f"room-{n}") for n in range(5)]
    assert lines_of(infer_source(*items))[-1] == 'primary = key(room, "MSG" / msg_id)'


def test_an_index_key_that_repeats_an_attribute_is_composed() -> None:
    items = [
        item(PK=f"USER#{n}", SK="USER", last_active=f"at {n}", last_active_sk=f"at {n}", team="a")
        for n in range(5)
    ]
    source = infer_source(*items, indexes=(gsi("active", "team", "last_active_sk"),))
    assert "active = index(Things.active, team, last_active)" in source
    assert "last_active_sk: " not in source


def test_a_member_of_a_document_can_be_in_the_primary_key() -> None:
    items = [
        item(PK=f"BLOG#{n}", SK="BLOG", blog={"M": {"id": {"S": str(n)}, "x": {"S": "y"}}})
        for n in range(5)
    ]
    source = infer_source(*items)
    assert 'key("BLOG" / blog.path(lambda inside: inside["id"]), "BLOG")' in source


def test_words_in_lower_case_tell_entities_apart() -> None:
    items = [
        item(PK=f"u#{n}#{kind}", SK=f"u#{n + 1}")
        for n in range(20)
        for kind in ("follower", "following")
    ]
    source = infer_source(*items)
    assert "class Follower(" in source
    assert "class Following(" in source


def test_a_shard_is_found() -> None:
    shards = [str(crc32(f"u{n}".encode()) % 8) for n in range(40)]
    items = [item(PK=f"USERS#{s}", SK=f"USER#u{n}", user=f"u{n}") for n, s in enumerate(shards)]
    assert 'key("USERS" / shard(user, of=8), "USER" / user)' in infer_source(*items)


def test_items_that_reserve_a_value_are_a_unique_value() -> None:
    users = [item(PK=f"USER#{n}", SK="USER", id=str(n), email=f"{n}@x.com") for n in range(9)]
    sentinels = [item(PK=f"EMAIL#{n}@x.com", SK=f"EMAIL#{n}@x.com", id=str(n)) for n in range(9)]
    source = infer_source(*users, *sentinels)
    assert 'unique_email = unique("EMAIL" / email, keep=(id,))' in source
    assert source.count("(Entity, ") == 1


def test_items_with_repeated_values_reserve_nothing() -> None:
    books = [item(PK=f"BOOK#{n}", SK="BOOK", id=str(n), author=f"a{n % 3}") for n in range(9)]
    authors = [item(PK=f"AUTHOR#a{n}", SK="AUTHOR", author=f"a{n}") for n in range(3)]
    source = infer_source(*books, *authors)
    assert "unique(" not in source
    assert "class Author(Entity, " in source


def test_a_number_that_may_be_a_version_is_named() -> None:
    source = infer_source(*(item(PK=f"USER#{n}", SK="USER", version=n + 1) for n in range(3)))
    assert "# version can be a version(), if each write of an item increments it." in source


def test_a_name_that_nothing_says_is_a_guess() -> None:
    source = infer_source(
        *(item(PK=f"d#{n}", SK=f"d#{n}") for n in range(3)),
        *(item(PK=f"e#{n}", SK="x#1") for n in range(3)),
    )
    assert "class ThingD(Entity, table=Things):\n    # The name is a guess: nothing" in source
    assert "class DItem(" not in source


# -- proof, evidence, comparison -------------------------------------------------------------------


def test_a_draft_is_proved_on_every_explained_item() -> None:
    design, table = draft_of(*ORDERS, order(60, GSI1SK="ORDER#o1"))
    proof = prove(table, design)
    assert (proof.equal, proof.different) == (60, ())


def test_an_item_that_would_be_written_in_another_way_is_reported() -> None:
    design, table = draft_of(*ORDERS)
    wrong = order(60, GSI1SK="ORDER#o1")
    design.sample = sample_of(*ORDERS, wrong, indexes=(BY_STATUS,))
    proof = prove(table, design)
    assert proof.equal == 60
    assert [(each.item, each.reason) for each in proof.different] == [
        (wrong, "Order: GSI1SK is written in another way")
    ]


def test_evidence_counts_items_and_names_alternatives() -> None:
    items = [order(number, reference=f"o{number}") for number in range(60)]
    irregular = [order(number, reference="x", GSI1SK="ORDER#y") for number in (60, 61)]
    design, _ = draft_of(*items, *irregular)
    found = evidence(design)
    (entity,) = found.entities
    assert (entity.entity, entity.items, entity.boundary) == ("Order", 60, "the literals of keys")
    primary, place = entity.decisions
    assert (primary.form, primary.items) == ("PK=ORDER#{id}, SK=ORDER", 60)
    assert primary.alternatives == ("id: or reference",)
    assert place.form == "GSI1PK=STATUS#{status}, GSI1SK=ORDER#{id}"
    assert [(each.items, each.example) for each in found.unexplained] == [
        (2, "PK=ORDER#o60, SK=ORDER")
    ]


DESIGN = """\
from tablewright import GSI, Attr, Entity, Table, attr, index, key


class Things(Table, name="things", type_attribute=None):
    gsi1 = GSI("GSI1PK", "GSI1SK", name="GSI1")


class Order(Entity, table=Things):
    id: Attr[str] = attr()
    status: Attr[str] = attr()
    note: Attr[str | None] = attr(default=None)

    primary = key("ORDER" / id, "ORDER")
    by_status = index(Things.gsi1, "STATUS" / status, "NUMBER" / id)
"""


def test_a_design_is_compared_with_the_items() -> None:
    _, draft = draft_of(*ORDERS, item(PK="SHOP#1", SK="SHOP"), item(PK="SHOP#2", SK="SHOP"))
    (design,) = declare(DESIGN, ["Things"])
    found = [(each.entity, each.problem, each.items) for each in compare(design, draft, ORDERS)]
    assert found[:3] == [
        ("Order", "GSI1SK is NUMBER#{id}, where the items give ORDER#{id}", 60),
        ("Order", "the attribute 'total' is not declared", 60),
        ("Order", "no item has the attribute 'note' (note)", 60),
    ]
    assert found[3][1].startswith("GSI1SK is 'ORDER#o0', but its values give 'NUMBER#o0'")
    shops = compare(design, draft, [item(PK="SHOP#1", SK="SHOP")])
    problem = 'no entity has a key like PK="SHOP#1", SK="SHOP", drafted as Shop'
    assert [(each.entity, each.problem) for each in shops] == [("", problem)]


def test_a_draft_agrees_with_its_own_items() -> None:
    _, draft = draft_of(*ORDERS)
    assert compare(draft, draft, ORDERS) == []


# -- patterns --------------------------------------------------------------------------------------


def test_drafted_patterns_pass_their_checks(tmp_path: Path) -> None:
    design, table = draft_of(*ORDERS)
    functions = write_patterns(table, ORDERS)
    file = tmp_path / "drafted_patterns.py"
    file.write_text(write_module(design, functions.source, functions.names), encoding="utf-8")
    loaded = load(str(file))
    assert [each.name for each in loaded.patterns] == ["get_order", "order_by_gsi1"]
    with connect(":memory:", *loaded.tables) as database:
        results = list(verify(loaded, database))
    assert [result.problem for result in results] == ["", ""]
    assert isinstance(advise(loaded), list)


# -- sampling --------------------------------------------------------------------------------------


def reservoir_of(count: int) -> Reservoir:
    table = TableDescription("things", KeySchema(*((key,) for key in keys("PK", "SK"))), ())
    found = Reservoir(table)
    for number in range(count):
        kind = "RARE" if number % 4_000 == 3_999 else "USER"
        found.add(item(PK=f"{kind}#{number}", SK=kind))
    return found


def test_a_small_table_is_kept_whole() -> None:
    sample = reservoir_of(KEPT).sample()
    assert [each["PK"]["S"] for each in sample.items] == [f"USER#{n}" for n in range(KEPT)]


def test_a_large_table_leaves_a_sample_of_the_same_size_with_rare_items() -> None:
    sample = reservoir_of(8_000).sample()
    assert sample.read == 8_000
    assert KEPT <= len(sample.items) <= KEPT + 2 * FEWEST
    assert sum(each["SK"]["S"] == "RARE" for each in sample.items) == 2
    assert reservoir_of(8_000).sample().items == sample.items
