"""Entities that are split and merged, forward and back; what cannot be known is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Engine, connect, create, put
from tablewright.errors import (
    DesignMismatch,
    DuplicateValues,
    MigrationRefused,
    UniqueViolation,
)
from tablewright.plan.migration.migrate import Baseline
from tablewright.verify.stored_items import compare_stored
from tests.plan.migration.migrating import (
    PAIRS,
    Stopped,
    drive,
    items,
    migration,
    sending,
    stored,
    version,
    whole,
)
from tests.plan.migration.orders import (
    IS_ONLINE,
    IS_STORE,
    merged,
    one_type,
    order,
    two_types,
    unruled,
)
from torture.migration_designs import Side


def prepared(side: Side, *entities: Any) -> Engine:
    """Return an engine whose table records a version, with these entities."""
    engine = Engine(":memory:")
    db = connect(engine, side.table, update=True)
    for each in entities:
        db.run(create(each))
    drive(Baseline(version(side.table)), engine)
    return engine


def types(engine: Engine) -> dict[str, str]:
    """Return the types of all orders, by their ids."""
    return {
        item["oid"]["S"]: item["type"]["S"] for item in items(engine) if item["SK"]["S"] == "ORDER"
    }


def sentinels(engine: Engine) -> list[str]:
    return sorted(item["PK"]["S"] for item in items(engine) if item["PK"]["S"].startswith("SITE"))


def sold(side: Side) -> list[Any]:
    return [
        order(side, "1", "online", 10, "a.example"),
        order(side, "2", "Bern", 20, "b.example"),
        order(side, "3", "Rome", 30),
    ]


@pytest.fixture
def old() -> Side:
    return one_type()


@pytest.fixture
def split(old: Side) -> Engine:
    """An engine with orders that were split."""
    engine = prepared(old, *sold(old))
    connect(engine, old.table).run(old.entity.primary("1").update(old.entity.total.set(11)))
    drive(migration("apply", two_types()), engine)
    return engine


def made_of_two(side: Side) -> list[Any]:
    online, store = side.variants
    return [
        online(oid="1", channel="online", site="a.example", amount=10),
        store(oid="2", shop="Bern", total=20),
        store(oid="3", shop="Rome", total=30),
    ]


# -- splits ----------------------------------------------------------------------------------------


def test_a_split_gives_every_item_its_type_and_attributes(split: Engine) -> None:
    new = two_types()
    db = connect(split, new.table)
    assert types(split) == {"1": "Online", "2": "Store", "3": "Store"}
    first, second = (db.run(new.entity.primary(oid)) for oid in "12")
    assert (first.site, first.amount, first.v) == ("a.example", 11, 2)
    assert (second.shop, second.total) == ("Bern", 20)
    online, store = new.variants
    assert [each.oid for each in db.run(online.by_channel("online"))] == ["1"]
    assert [each.oid for each in db.run(store.by_shop("Rome"))] == ["3"]
    assert db.run(online.by_site("a.example")).oid == "1"
    db.run(online.primary("1").update(online.amount.set(12)))  # the history continues
    events = [i["total"]["N"] for i in items(split) if i["SK"]["S"].startswith("CHANGE")]
    assert events == ["11", "12"]


def test_a_completed_split_leaves_what_a_fresh_load_stores(old: Side) -> None:
    new = two_types()
    engine = prepared(old, *sold(old)[1:])
    drive(migration("apply", new), engine)
    assert sentinels(engine) == ["SITE#b.example"]  # programs of the old version need it
    drive(migration("complete", new), engine)
    fresh = prepared(new, *made_of_two(new)[1:])
    assert items(engine) == items(fresh)
    assert compare_stored(new.table.__table__, items(engine))


def test_a_rollback_of_a_split_restores_the_type_of_all_items(old: Side, split: Engine) -> None:
    new = two_types()
    db = connect(split, new.table)
    online, store = new.variants
    db.run(create(online(oid="4", channel="online", site="d.example", amount=40)))
    db.run(store.primary("2").update(store.total.set(21)))
    with pytest.raises(DesignMismatch, match="items of one type become items of several types"):
        connect(split, old.table)

    drive(migration("rollback", old), split)

    assert set(types(split).values()) == {"Order"}
    seen = connect(split, old.table)
    assert [seen.run(old.entity.primary(oid)).total for oid in "124"] == [11, 21, 40]
    assert seen.run(old.entity.by_site("d.example")).oid == "4"
    assert compare_stored(old.table.__table__, items(split))


def test_an_item_that_the_old_version_cannot_read_refuses_the_rollback_of_a_split(
    old: Side, split: Engine
) -> None:
    new = two_types()
    connect(split, new.table).run(create(new.variants[1](oid="5", shop="Nice", total=50)))
    before = whole(split)
    with pytest.raises(MigrationRefused, match=r"1 item (.|\n)*Order\.channel"):
        drive(migration("rollback", old), split)
    assert whole(split) == before


REFUSED = [
    ("True", "False or True", "those of Online, Store did"),
    ("False", "False", "but none did"),
    ("item['missing']", "True", "Online: renamed_when= raised KeyError: 'missing'"),
    ("item['channel']", "True", "Online: renamed_when= returned 'online', not True or False"),
]


@pytest.mark.parametrize(("online", "store", "problem"), REFUSED)
def test_items_that_are_not_of_one_part_are_listed_and_nothing_is_changed(
    old: Side, online: str, store: str, problem: str
) -> None:
    rules = (f"renamed_from='Order', renamed_when=lambda item: {each}" for each in (online, store))
    engine = prepared(old, *sold(old))
    before = whole(engine)
    with pytest.raises(MigrationRefused, match=r"3 items(.|\n)*nothing was changed") as refused:
        drive(migration("apply", two_types(*rules)), engine)
    assert problem in str(refused.value)
    assert 'PK="ORDER#1"' in str(refused.value)
    assert whole(engine) == before
    connect(engine, old.table)


def test_an_item_without_a_type_is_split_by_its_key(old: Side) -> None:
    engine = prepared(old, sold(old)[2])
    key = {"PK": {"S": "ORDER#3"}, "SK": {"S": "ORDER"}}
    removal = {
        "UpdateExpression": "REMOVE #t",
        "ExpressionAttributeNames": {"#t": "type"},
    }
    engine.call("UpdateItem", {"TableName": "things", "Key": key} | removal)
    drive(migration("apply", two_types()), engine)
    assert types(engine) == {"3": "Store"}


def test_an_item_that_no_version_can_read_stays_as_it_is() -> None:
    """The versions have the same two types; an item at their key has neither of them."""
    old, new = unruled(), two_types("type_name='Online'", "type_name='Store'", "name='m', fill=0")
    engine = prepared(old, *made_of_two(old))
    key = {"PK": {"S": "ORDER#3"}, "SK": {"S": "ORDER"}}
    change = {
        "UpdateExpression": "SET #t = :t",
        "ExpressionAttributeNames": {"#t": "type"},
        "ExpressionAttributeValues": {":t": {"S": "Lost"}},
    }
    engine.call("UpdateItem", {"TableName": "things", "Key": key} | change)
    (before,) = (item for item in items(engine) if item["type"]["S"] == "Lost")
    drive(migration("apply", new), engine)
    drive(migration("complete", new), engine)
    assert types(engine) == {"1": "Online", "2": "Store", "3": "Lost"}
    assert before in items(engine)


# -- merges ----------------------------------------------------------------------------------------


def test_a_merge_gives_every_item_one_type_and_keeps_the_former_one() -> None:
    old, new = unruled(), merged()
    engine = prepared(old, *made_of_two(old))
    drive(migration("apply", new), engine)
    assert set(types(engine).values()) == {"Order"}
    former = {i["oid"]["S"]: i["$former_type"]["S"] for i in items(engine) if "$former_type" in i}
    assert former == {"1": "Online", "2": "Store", "3": "Store"}
    db = connect(engine, new.table)
    found = [db.run(new.entity.primary(oid)) for oid in "123"]
    assert [(each.channel, each.total) for each in found] == [
        ("online", 10), ("Bern", 20), ("Rome", 30),
    ]  # fmt: skip
    assert [each.oid for each in db.run(new.entity.by_channel("Bern"))] == ["2"]
    assert db.run(new.entity.by_site("a.example")).oid == "1"
    with pytest.raises(UniqueViolation):
        db.run(create(order(new, "9", "x", 1, "a.example")))


def test_a_completed_merge_leaves_what_a_fresh_load_stores() -> None:
    old, new = unruled(), merged()
    engine = prepared(old, *made_of_two(old))
    drive(migration("apply", new), engine)
    drive(migration("complete", new), engine)
    fresh = [
        order(new, "1", "online", 10, "a.example"),
        order(new, "2", "Bern", 20),
        order(new, "3", "Rome", 30),
    ]
    assert items(engine) == items(prepared(new, *fresh))
    with pytest.raises(DesignMismatch, match="to a later one"):
        connect(engine, old.table)


def test_an_item_that_an_old_program_writes_late_is_merged_by_complete() -> None:
    old, new = unruled(), merged()
    engine = prepared(old, *made_of_two(old)[:2])
    late = items(prepared(old, made_of_two(old)[2]))[0]
    drive(migration("apply", new), engine)
    engine.call("PutItem", {"TableName": "things", "Item": late})
    drive(migration("complete", new), engine)
    assert types(engine) == dict.fromkeys("123", "Order")
    assert not any("$former_type" in item for item in items(engine))


def test_a_rollback_of_a_merge_restores_every_item() -> None:
    old, new = unruled(), merged()
    engine = prepared(old, *made_of_two(old))
    before = items(engine)
    drive(migration("apply", new), engine)
    drive(migration("rollback", old), engine)
    assert items(engine) == before

    drive(migration("apply", new), engine)
    db = connect(engine, new.table)
    db.run(new.entity.primary("1").update(new.entity.total.set(11)))
    db.run(new.entity.primary("2").update(new.entity.channel.set("Basel")))
    db.run(new.entity.primary("2").update(new.entity.site.set("b.example")))
    drive(migration("rollback", old), engine)
    assert types(engine) == {"1": "Online", "2": "Store", "3": "Store"}
    seen = connect(engine, old.table)
    assert seen.run(old.variants[0].primary("1")).amount == 11
    assert seen.run(old.variants[1].primary("2")).shop == "Basel"
    assert sentinels(engine) == ["SITE#a.example"]
    assert compare_stored(old.table.__table__, items(engine))


@pytest.mark.parametrize("is_replaced", [True, False])
def test_an_item_of_an_unknown_former_type_refuses_the_rollback(is_replaced: bool) -> None:
    """A program of the new version has created or replaced it."""
    old, new = unruled(), merged()
    engine = prepared(old, *made_of_two(old)[: 3 if is_replaced else 2])
    drive(migration("apply", new), engine)
    db = connect(engine, new.table)
    if is_replaced:
        db.run(put(db.run(new.entity.primary("3"))))
    else:
        db.run(create(order(new, "3", "online", 30)))
    before = whole(engine)
    with pytest.raises(MigrationRefused, match=r"1 item (.|\n)*nothing was changed") as refused:
        drive(migration("rollback", old), engine)
    assert "does not declare which of Online, Store it becomes" in str(refused.value)
    assert 'renamed_from="Order" and renamed_when=…' in str(refused.value)
    assert whole(engine) == before
    connect(engine, new.table)

    drive(migration("rollback", two_types(total="name='amount'")), engine)
    assert types(engine) == {"1": "Online", "2": "Store", "3": "Store" if is_replaced else "Online"}


def test_the_former_type_of_an_item_precedes_the_function_of_the_old_version() -> None:
    old, new = two_types(total="name='amount'"), merged()
    engine = prepared(old, *made_of_two(old))
    drive(migration("apply", new), engine)
    db = connect(engine, new.table)
    db.run(new.entity.primary("2").update(new.entity.channel.set("online")))
    drive(migration("rollback", old), engine)
    assert types(engine)["2"] == "Store"


def test_values_that_two_parts_share_refuse_a_merge() -> None:
    """A unique value of one part only is reserved for all of the merged entity."""
    old = unruled()
    engine = prepared(old, *made_of_two(old))
    key = {"PK": {"S": "ORDER#2"}, "SK": {"S": "ORDER"}}
    change = {
        "UpdateExpression": "SET site = :s",
        "ExpressionAttributeValues": {":s": {"S": "a.example"}},
    }
    engine.call("UpdateItem", {"TableName": "things", "Key": key} | change)
    with pytest.raises(DuplicateValues, match=r"site 'a.example'"):
        drive(migration("apply", merged()), engine)


def test_a_merged_attribute_may_have_another_name_in_each_part() -> None:
    old, new = unruled(), merged("attr(name='sum', pad=4, renamed_from=('amount', 'total'))")
    engine = prepared(old, *made_of_two(old))
    before = items(engine)
    drive(migration("apply", new), engine)
    db = connect(engine, new.table)
    assert [db.run(new.entity.primary(oid)).total for oid in "123"] == [10, 20, 30]
    drive(migration("rollback", old), engine)
    assert items(engine) == before


# -- declarations ----------------------------------------------------------------------------------


def test_names_that_do_not_say_which_items_are_meant_are_refused(old: Side) -> None:
    cases = [
        (two_types(IS_ONLINE.replace("Order", "Ordr"), IS_STORE),
         "Online: renamed_from='Ordr' is not a type of stored items; did you mean 'Order'?"),
        (one_type("type_name='Sale', renamed_from=('Order', 'Other')"),
         "Order: renamed_from='Other' is not a type"),
    ]  # fmt: skip
    engine = prepared(old, *sold(old))
    before = whole(engine)
    for new, problem in cases:
        with pytest.raises(MigrationRefused) as refused:
            drive(migration("apply", new), engine)
        assert problem in str(refused.value)
    assert whole(engine) == before


def test_a_name_that_stored_items_of_both_types_have_is_refused() -> None:
    old = unruled()
    new = two_types("type_name='Online', renamed_from='Store'", "type_name='Shop', renamed_from=''")
    engine = prepared(old, *made_of_two(old))
    with pytest.raises(MigrationRefused, match=r"renamed_from=\('Online', 'Store'\)"):
        drive(migration("apply", new), engine)


def test_a_type_that_is_still_declared_is_refused() -> None:
    old = unruled()
    new = two_types("type_name='Net', renamed_from='Store'", "type_name='Store'", "name='amount'")
    engine = prepared(old, *made_of_two(old))
    with pytest.raises(MigrationRefused, match="is a type that the design still declares"):
        drive(migration("apply", new), engine)


def test_an_attribute_with_the_name_of_the_former_type_is_refused() -> None:
    old = unruled()
    new = merged("attr(name='$former_type', pad=4, fill=0)")
    engine = prepared(old, *made_of_two(old))
    with pytest.raises(MigrationRefused, match=r"'\$former_type'; store your attribute"):
        drive(migration("apply", new), engine)


# -- beside programs of the old version ------------------------------------------------------------


def test_a_value_that_an_old_program_changes_during_a_split_leaves_no_sentinel() -> None:
    """It changes the value after the item was rewritten, and before its value is reserved."""
    pair = PAIRS["entity split"]
    engine = stored(pair)
    thing = pair.old.entity.primary("t1")
    program = connect(engine, pair.old.table)  # it was not stopped
    sent = list[str]()

    def send(operation: str, body: dict[str, Any]) -> bytes:
        if sent.count("Scan") == 2 and operation == "Scan":  # the first one of `verify`
            raise Stopped
        sent.append(operation)
        answer = sending(engine)(operation, body)
        if operation == "TransactWriteItems" and sent.count(operation) == 1:
            program.run(thing.update(pair.old.change("email", "late@x")))
        return answer

    with pytest.raises(Stopped):
        drive(migration("apply", pair.new), send)
    assert {"MAIL#T1@x", "MAIL#late@x"} <= {item["PK"]["S"] for item in items(engine)}
    drive(migration("rollback", pair.old), engine)
    assert compare_stored(pair.old.table.__table__, items(engine))
