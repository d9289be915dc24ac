from __future__ import annotations

from typing import Any

import pytest

from tablewright import GSI, Attr, Engine, Entity, Table, attr, connect, explain, index, key, put
from tablewright.errors import DeclarationError
from tablewright.plans import backfill


class Early(Table, name="things"):
    by_kind = GSI("GSI1PK", "GSI1SK")
    by_owner = GSI("GSI2PK", "GSI2SK")


class EarlyThing(Entity, table=Early, type_name="Thing"):
    thing_id: Attr[str] = attr()
    kind: Attr[str | None] = attr(default=None)
    owner: Attr[str] = attr(default="ann")
    primary = key("THING" / thing_id, "THING")


class Other(Entity, table=Early):
    other_id: Attr[str] = attr()
    primary = key("OTHER" / other_id, "OTHER")


class Late(Table, name="things"):
    by_kind = GSI("GSI1PK", "GSI1SK")
    by_owner = GSI("GSI2PK", "GSI2SK")


class Thing(Entity, table=Late, type_name="Thing"):
    thing_id: Attr[str] = attr()
    kind: Attr[str | None] = attr(default=None)
    owner: Attr[str] = attr(default="ann")
    primary = key("THING" / thing_id, "THING")
    by_kind = index(Late.by_kind, "KIND" / kind, "THING" / thing_id)
    by_owner = index(Late.by_owner, "OWNER" / owner, "THING" / thing_id)


@pytest.fixture
def engine() -> Engine:
    engine = Engine(":memory:")
    early = connect(engine, Early)
    for number in range(30):
        kind = "tool" if number % 2 else None
        early.run(put(EarlyThing(thing_id=f"{number:02}", kind=kind)))
    early.run(put(Other(other_id="1")))
    return engine


def test_items_from_before_an_index_get_its_keys(engine: Engine) -> None:
    db = connect(engine, Late)
    assert list(db.run(Thing.by_owner("ann"))) == []
    assert db.run(backfill(Thing)) == 30
    assert len(db.run(Thing.by_owner("ann"))) == 30
    assert len(db.run(Thing.by_kind("tool"))) == 15
    assert db.run(backfill(Thing)) == 0
    assert not engine.check().problems


def test_what_is_in_order_is_left_alone(engine: Engine) -> None:
    db = connect(engine, Late)
    db.run(backfill(Thing))
    before = engine.call("Scan", {"TableName": "things"})["Items"]
    db.run(put(Thing(thing_id="new")))
    assert db.run(backfill(Thing)) == 0
    after = engine.call("Scan", {"TableName": "things"})["Items"]
    assert [item for item in after if item["PK"]["S"] != "THING#new"] == before


def test_a_key_that_should_not_be_there_is_taken_away(engine: Engine) -> None:
    db = connect(engine, Late)
    item: dict[str, Any] = Thing.__entity__.encode(vars(Thing(thing_id="x", kind=None)))
    stale = {**item, "GSI1PK": {"S": "KIND#old"}, "GSI1SK": {"S": "THING#x"}}
    engine.call("PutItem", {"TableName": "things", "Item": stale})
    assert db.run(backfill(Thing)) == 31
    assert (
        engine.call("GetItem", {"TableName": "things", "Key": Thing.primary("x")._key})["Item"]
        == item
    )


def test_it_reads_the_whole_table_and_says_so() -> None:
    shape = explain(backfill(Thing))
    assert shape.operation == "Scan + UpdateItem"
    assert str(shape.read_range) == "0.5, and up to 50 for each item"


def test_what_is_no_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match="takes an entity"):
        backfill(Late)
