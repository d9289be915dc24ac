"""Entities without a table pass what they declare on to subclasses."""

from __future__ import annotations

from datetime import datetime

import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    created_at,
    index,
    key,
    unique,
    updated_at,
)
from tablewright.errors import DeclarationError, UniqueViolation
from tests.model.declaring.declarations import Keyed, raw, refused
from tests.new_table import new_table


class Dated(Entity):
    """What several entities have in common."""

    created_at: Attr[datetime] = created_at(name="createdAt")
    updated_at: Attr[datetime] = updated_at(name="updatedAt")


class Owned(Entity):
    owner: Attr[str] = attr(name="ownerId", doc="Whose it is.")
    note: Attr[str] = attr(default="none")


OWNER: Attr[str] = vars(Owned)["owner"]


class Mixing(Table, name="mixing"): ...


class Indexed(Table, name="mixing_indexed"):
    statuses = GSI("GSI1PK")


class Document(Dated, Owned, table=Mixing):
    document: Attr[str] = attr()
    primary = key("OWNER" / OWNER, "DOC" / document)


class Picture(Owned, table=Mixing):
    picture: Attr[str] = attr()
    primary = key("OWNER" / OWNER, "PIC" / picture)


def test_an_entity_without_a_table_is_not_made() -> None:
    with pytest.raises(TypeError, match="Owned is abstract; give it a table"):
        Owned(owner="ann")


def test_attributes_of_abstract_entities_are_their_childrens() -> None:
    document = Document(owner="ann", document="D1")
    db = connect(":memory:", Mixing)
    db.run(create(document))
    db.run(create(Picture(owner="ann", picture="P1", note="x")))
    assert db.run(Document.primary("ann", "D1")) == document
    stored = {item["SK"]["S"]: item for item in raw(db, Mixing)}
    assert set(stored["DOC#D1"]) == {
        "PK",
        "SK",
        "type",
        "createdAt",
        "updatedAt",
        "ownerId",
        "note",
        "document",
    }
    assert stored["DOC#D1"]["note"] == {"S": "none"}
    assert stored["PIC#P1"]["PK"] == {"S": "OWNER#ann"}


def test_a_child_overrides_an_attribute_of_its_abstract_parent() -> None:
    class Thing(Owned, table=new_table()):
        thing: Attr[str] = attr()
        note: Attr[str] = attr(name="remark")
        primary = key("THING" / thing, "THING")

    assert Thing.__entity__.attributes["note"].stored == "remark"
    assert Thing.__entity__.attributes["note"].default is None


def test_a_child_of_an_entity_with_a_table_keeps_what_its_parent_declared_or_is_refused() -> None:
    shop = new_table("subclassing")

    class Order(Entity, table=shop):
        order: Attr[str] = attr(name="orderId")
        note: Attr[str] = attr(default="none")
        primary = key("ORDER" / order, "ORDER")

    try:

        class Gift(Order, table=shop):
            gift: Attr[str] = attr()
            primary = key("GIFT" / gift, "GIFT")

    except DeclarationError as refusal:
        assert "Gift" in str(refusal)  # noqa: PT017
        assert "Order" in str(refusal)  # noqa: PT017
        return
    assert Gift.__entity__.attributes["order"].stored == "orderId"
    assert Gift(order="O1", gift="G1").note == "none"


class Tracked(Entity):
    status: Attr[str] = attr(default="new")

    by_status = index(Indexed.statuses, "STATUS" / status)


class Coded(Entity):
    code: Attr[str] = attr()

    codes = unique("CODE" / code)


class Lamp(Tracked, Coded, table=Indexed):
    lamp: Attr[str] = attr()
    primary = key("LAMP" / lamp, "LAMP")


class Chair(Tracked, table=Indexed):
    chair: Attr[str] = attr()
    primary = key("CHAIR" / chair, "CHAIR")
    by_status = index(Indexed.statuses, "CHAIR" / Tracked.status)


def test_indexes_and_unique_values_of_abstract_entities_are_their_childrens() -> None:
    db = connect(":memory:", Indexed)
    lamp = db.run(create(Lamp(lamp="L1", code="x")))
    chair = db.run(create(Chair(chair="C1")))
    assert db.run(Lamp.by_status("new")) == [lamp]
    assert db.run(Chair.by_status("new")) == [chair]  # its own place in the index
    assert db.run(Lamp.codes("x")) == lamp
    with pytest.raises(UniqueViolation):
        db.run(create(Lamp(lamp="L2", code="x")))
    keys = {item["SK"]["S"]: item.get("GSI1PK") for item in raw(db, Indexed)}
    assert keys == {
        "LAMP": {"S": "STATUS#new"},
        "CHAIR": {"S": "CHAIR#new"},
        "CODE#x": None,
    }


def test_a_class_adds_nothing_to_an_entity_that_is_complete() -> None:
    class Order(Keyed, table=new_table()):
        def shown(self) -> str:
            return self.order

    class Loud(Order):
        def shown(self) -> str:
            return self.order.upper()

    assert Loud(order="o1").shown() == "O1"
    with refused("Gift.gift: Order has a table, so Gift is not an entity of its own", __file__):

        class Gift(Order):
            gift: Attr[str] = attr()
