"""save(entity) writes exactly what has changed since the entity was read or written."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from tablewright import (
    Aggregate,
    Engine,
    Save,
    Table,
    access_pattern,
    children,
    connect,
    create,
    delete,
    explain,
    put,
    root,
    save,
    transact,
    update,
    upsert,
)
from tablewright.database import Database
from tablewright.errors import (
    ConditionFailed,
    DeclarationError,
    InvalidValue,
    NotFound,
    UniqueViolation,
    VersionConflict,
)
from tests.costs import run_within_range
from tests.new_table import new_table
from tests.plan.writes.shop import Line, Order, Part, Plain, Shop
from tests.things import NamedEntity
from tests.transports import InterferingTransport, record_requests


class Whole(Aggregate):
    plain: Plain = root()
    parts: list[Part] = children()


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Shop,)


def item(engine: Engine, pk: str) -> dict[str, Any]:
    found = engine.call("Scan", {"TableName": "shop"})["Items"]
    (one,) = (each for each in found if each["PK"]["S"] == pk)
    return dict(one)


def stored_order(db: Database, **values: Any) -> Order:
    db.run(create(Order(order_id="1", **values)))
    order = db.run(Order.primary("1"))
    assert order is not None
    return order


def names_set(request: dict[str, Any]) -> set[str]:
    """The attributes that an update sets or removes."""
    expression, names = request["UpdateExpression"], request["ExpressionAttributeNames"]
    parts = expression.replace("SET ", "").replace(" REMOVE ", ", ").split(", ")
    return {names[part.split(" ")[0]] for part in parts if part.startswith("#")}


def test_the_difference_is_one_update(db: Database, engine: Engine) -> None:
    order = stored_order(db, names=["a"])
    before = item(engine, "ORDER#1")
    requests = record_requests(db)
    order.note = "fragile"
    order.names = ["a", "b"]
    assert db.run(save(order)) is order
    assert requests.operations == ["UpdateItem"]
    assert names_set(requests.requests[0][1]) == {"note", "names", "changed", "version"}
    after = item(engine, "ORDER#1")
    assert after == before | {
        "note": {"S": "fragile"},
        "names": {"L": [{"S": "a"}, {"S": "b"}]},
        "version": {"N": "2"},
        "changed": after["changed"],
    }
    assert order == db.run(Order.primary("1"))


def test_nothing_changed_is_no_request(db: Database) -> None:
    order = stored_order(db, tags={"a"}, lines={"x": Line(text="t")})
    order.note = "a"
    order.note = None
    order.tags = {"a"}
    requests = record_requests(db)
    assert db.run(save(order)) is order
    db.run(transact(save(order), save(order)))
    assert requests.operations == []
    assert str(explain(save(order))).startswith("no request on shop")


def test_what_changes_in_place_is_noticed(db: Database, engine: Engine) -> None:
    order = stored_order(db, tags={"a"}, names=["x"], lines={"x": Line(text="t")})
    order.tags.add("b")
    order.names.append("y")
    order.lines["x"].count = 5
    order.lines["y"] = Line(text="u")
    db.run(save(order))
    after = item(engine, "ORDER#1")
    assert after["tags"] == {"SS": ["a", "b"]}
    assert after["names"] == {"L": [{"S": "x"}, {"S": "y"}]}
    assert after["lines"]["M"]["x"]["M"]["count"] == {"N": "5"}
    order.tags.clear()
    db.run(save(order))
    assert "tags" not in item(engine, "ORDER#1")


def reads(db: Database) -> dict[str, Any]:
    return {
        "get": lambda: db.run(Order.primary("1")),
        "page": lambda: db.run(Order.of_state("new"))[0],
        "filtered": lambda: db.run(Order.of_state("new").filter(Order.note == "n"))[0],
        "iterate": lambda: next(iter(db.iterate(Order.of_state("new")))),
        "update": lambda: db.run(Order.primary("1").update(Order.note.set("m"))),
        "upsert": lambda: db.run(Order.primary("1").upsert(Order.note.set("m"))),
        "unique": lambda: db.run(Order.by_coupon("c")),
    }


@pytest.mark.parametrize("way", reads(None))  # type: ignore[arg-type]
def test_however_it_was_read(db: Database, way: str) -> None:
    db.run(put(Order(order_id="0", note="n", names=["other"])))
    stored_order(db, names=["x"], note="n", coupon="c")
    order = reads(db)[way]()
    if order.order_id == "0":
        order = list(db.iterate(Order.of_state("new")))[1]
    order.names.append("y")
    order.place = None
    db.run(save(order))
    found = db.run(Order.primary("1"))
    assert found is not None
    assert (found.names, found.place, found.note) == (["x", "y"], None, order.note)
    other = db.run(Order.primary("0"))
    assert other is not None
    assert other.names == ["other"]


def test_after_a_write_the_entity_is_as_stored(db: Database) -> None:
    order = Order(order_id="1", names=["a"])
    db.run(create(order))
    order.names.append("b")
    db.run(put(order))
    requests = record_requests(db)
    db.run(save(order))
    assert requests.operations == []
    order.names.append("c")
    db.run(save(order))
    db.run(transact(update(order, Order.note.set("n"))))
    order.names.append("d")
    db.run(save(order))
    assert requests.operations == ["UpdateItem"] * 3
    assert db.run(Order.primary("1")) == order
    assert order.version == 5


def test_an_unsaved_assignment_survives_a_transaction_about_other_attributes(db: Database) -> None:
    order = stored_order(db)
    order.names.append("a")
    order.place = "shop"
    db.run(transact(update(order, Order.note.set("n")), create(Plain(group="g", name="n"))))
    db.run(save(order))
    assert db.run(Order.primary("1")) == order
    assert (order.names, order.place, order.note) == (["a"], "shop", "n")


def test_members_of_an_aggregate_can_be_saved(db: Database) -> None:
    db.run(create(Plain(group="g", name="n")))
    db.run(create(Part(group="g", name="n", part="p")))
    whole = db.run(Whole.of(Plain.primary("g", "n")))
    assert whole is not None
    whole.parts[0].marks.append("m")
    whole.plain.size = 4
    writes = transact(save(whole.parts[0]), save(whole.plain))
    db.run(writes)
    requests = record_requests(db)
    db.run(writes)
    assert requests.operations == []
    again = db.run(Whole.of(Plain.primary("g", "n")))
    assert again is not None
    assert (again.parts[0].marks, again.plain.size) == (["m"], 4)


def test_index_keys_unique_values_and_history_follow(db: Database, engine: Engine) -> None:
    order = stored_order(db, coupon="c1")
    order.state, order.coupon = "paid", "c2"
    db.run(save(order).audit(by="me"))
    assert item(engine, "ORDER#1")["GSI1PK"] == {"S": "STATE#paid"}
    assert item(engine, "COUPON#c2")
    event = item(engine, "EVENTS#1")
    assert (event["old"], event["new"], event["by"]) == ({"S": "new"}, {"S": "paid"}, {"S": "me"})
    assert order.version == 2
    db.run(create(Order(order_id="2", coupon="c3")))
    order.coupon = "c3"
    with pytest.raises(UniqueViolation):
        db.run(save(order))


def test_index_keys_of_an_entity_without_version(db: Database, engine: Engine) -> None:
    db.run(create(Plain(group="g", name="n", size=1)))
    plain = db.run(Plain.primary("g", "n"))
    assert plain is not None
    plain.size = 7
    requests = record_requests(db)
    db.run(save(plain))
    assert requests.operations == ["UpdateItem"]
    assert item(engine, "GROUP#g")["GSI1SK"] == {"S": "SIZE#007"}


def test_a_changed_key_is_a_move(db: Database, engine: Engine) -> None:
    db.run(create(Plain(group="g", name="n", size=1)))
    db.run(create(Part(group="g", name="n", part="p")))
    plain = db.run(Plain.primary("g", "n"))
    assert plain is not None
    plain.name, plain.size = "m", 2
    db.run(save(plain))
    assert db.run(Plain.primary("g", "n")) is None
    assert db.run(Plain.primary("g", "m")) == plain
    assert db.run(Part.primary("g", "m", "p")) is not None
    plain.size = 3
    db.run(save(plain))
    assert db.run(Plain.primary("g", "m")) == plain


def test_a_newer_version_is_a_conflict(db: Database) -> None:
    order, other = stored_order(db), db.run(Order.primary("1"))
    assert other is not None
    other.note = "theirs"
    db.run(save(other))
    order.place = "mine"
    with pytest.raises(VersionConflict, match="version 1 was expected, but version 2 is stored"):
        db.run(save(order))
    assert order.place == "mine"


def test_without_a_version_two_writers_keep_each_others_changes(
    db: Database, engine: Engine
) -> None:
    db.run(create(Plain(group="g", name="n", size=1)))
    plain = db.run(Plain.primary("g", "n"))
    assert plain is not None
    plain.size = 2
    other = connect(engine, Shop)
    db._transport = race = InterferingTransport(
        db._transport, lambda _: other.run(Plain.primary("g", "n").update(Plain.note.set("theirs")))
    )
    db.run(save(plain))
    assert race.operations == ["UpdateItem"]
    assert (plain.size, plain.note) == (2, "theirs")


def test_conditions_and_missing_items(db: Database) -> None:
    order = stored_order(db)
    order.note = "x"
    with pytest.raises(ConditionFailed):
        db.run(save(order).condition(Order.place == "moon"))
    db.run(delete(order))
    with pytest.raises((NotFound, VersionConflict)):
        db.run(save(order))


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_can_be_saved(db: Database, duplicate: Any) -> None:
    order = stored_order(db, names=["a"])
    order.note = "n"
    twin = duplicate(order)
    twin.place = "moon"
    twin.names = ["b"]
    db.run(save(twin))
    found = db.run(Order.primary("1"))
    assert found is not None
    assert (found.note, found.place, found.names) == ("n", "moon", ["b"])
    assert order.place == "home"


def test_refusals(db: Database) -> None:
    with pytest.raises(InvalidValue, match=r"was not read .* use create\(…\) or put\(…\)"):
        save(Order(order_id="1"))
    order = stored_order(db)
    order.channel = "phone"
    with pytest.raises(InvalidValue, match=r"Order\.channel is immutable"):
        save(order)

    class Event(NamedEntity, table=new_table(), write_once=True): ...

    with pytest.raises(DeclarationError, match="write-once"):
        save(Event(name="1"))
    with pytest.raises(DeclarationError, match="write-once"):
        upsert(Event(name="1"), Event.name.set("2"))


def test_what_is_saved_is_validated(db: Database) -> None:
    order = stored_order(db, names=["a"])
    order.names.append(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match=r"Order\.names"):
        db.run(save(order))


def test_explain(db: Database) -> None:
    @access_pattern
    def save_order(order: Order) -> Save[Order]:
        return save(order)

    shape = explain(save_order)
    assert (shape.operation, shape.page) == ("UpdateItem", "what has changed")
    assert shape.write_range.low == 0
    order = stored_order(db)
    run_within_range(db, save(order))
    order.note = "n"
    assert explain(save(order)).operation == "UpdateItem"
    run_within_range(db, save(order))
    order.state = "paid"
    assert explain(save(order)).operation == "TransactWriteItems"
    run_within_range(db, save(order))
