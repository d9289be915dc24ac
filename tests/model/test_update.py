from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import Field

from tablewright import (
    GSI,
    LSI,
    Attr,
    Database,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    created_at,
    day,
    descending,
    index,
    key,
    lower,
    put,
    ttl,
    update,
    updated_at,
    version,
)
from tablewright.backoff import Backoff
from tablewright.errors import (
    ConditionFailed,
    Contention,
    DeclarationError,
    InvalidValue,
    NotFound,
    VersionConflict,
)
from tablewright.plans import Condition, Ref
from tests.transports import InterferingTransport, RecordingTransport


class Status(StrEnum):
    NEW = "NEW"
    PAID = "PAID"
    SENT = "SENT"


class Orders(Table, name="orders"):
    by_rank = LSI("LSI1SK")
    by_status = GSI("GSI1PK", "GSI1SK")
    by_city = GSI("GSI2PK", "GSI2SK")
    open_orders = GSI("GSI3PK", "GSI3SK")


class Order(Entity, table=Orders):
    customer: Attr[str] = attr(name="customerId")
    number: Attr[int] = attr(pad=4)
    at: Attr[datetime] = attr()
    status: Attr[Status] = attr(default=Status.NEW)
    city: Attr[str | None] = attr(default=None)
    street: Attr[str | None] = attr(default=None)
    rank: Attr[int | None] = attr(pad=3, default=None)
    total: Attr[Decimal] = attr(default=Decimal(0))
    note: Attr[str | None] = attr(default=None)
    tags: Attr[set[str]] = attr(default_factory=set)
    lines: Attr[list[str]] = attr(default_factory=list)

    primary = key("CUST" / customer, "ORDER" / number)
    ranked = primary.local(Orders.by_rank, "RANK" / descending(rank) / number)
    of_status = index(Orders.by_status, "STATUS" / status, "DAY" / day(at) / number)
    of_city = index(
        Orders.by_city,
        "CITY" / lower(city),
        "STREET" / street / status / number,
    )
    open = index(
        Orders.open_orders,
        "OPEN" / customer,
        "AT" / at,
        when=(status != Status.SENT) & (total > Decimal(10)),
    )


class Job(Entity, table=Orders):
    """Versioned, with attributes that have defaults."""

    job_id: Attr[str] = attr()
    queue: Attr[str] = attr(default="low")
    priority: Attr[int] = attr(pad=3, default=1)
    note: Attr[str | None] = attr(default=None)
    version: Attr[int] = version()

    primary = key("JOB" / job_id, "JOB")
    queued = index(Orders.by_status, "QUEUE" / queue, "PRIO" / priority / job_id)


class Task(Entity, table=Orders):
    """Not versioned, with attributes that have defaults, and stamps."""

    task_id: Attr[str] = attr()
    queue: Attr[str] = attr(default="low")
    priority: Attr[int] = attr(pad=3, default=1)
    labels: Attr[set[str]] = attr(default_factory=set)
    steps: Attr[list[str]] = attr(default_factory=list)
    weight: Attr[Annotated[int, Field(ge=0)]] = attr(default=0)
    begins: Attr[datetime | None] = attr(default=None)
    made: Attr[datetime] = created_at()
    changed: Attr[datetime] = updated_at()
    ends: Attr[datetime | None] = ttl(name="expires", default=None)

    primary = key("TASK" / task_id, "TASK")
    queued = index(Orders.by_status, "TASKS" / queue, "PRIO" / priority / task_id)
    recent = index(Orders.by_city, "RECENT", "AT" / changed)
    hot = index(Orders.open_orders, "HOT", "TASK" / task_id, when=labels.contains("hot"))


AT = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
DAY = date(2026, 1, 15)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine
        assert engine.check()


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Orders)


@pytest.fixture
def order(db: Database) -> Order:
    return db.run(
        create(
            Order(
                customer="C1",
                number=7,
                at=AT,
                city="Bern",
                street="Aare",
                rank=5,
                total=Decimal(20),
            )
        )
    )


def item(engine: Engine, key: str = "CUST#C1") -> dict[str, Any]:
    (found,) = (
        item
        for item in engine.call("Scan", {"TableName": "orders"})["Items"]
        if item["PK"]["S"] == key
    )
    return dict(found)


def index_keys(engine: Engine, key: str = "CUST#C1") -> dict[str, str]:
    """The key attributes of all indexes that the item is in."""
    return {
        name: value["S"] for name, value in item(engine, key).items() if name[:3] in ("GSI", "LSI")
    }


# -- the item ------------------------------------------------------------------------------------


def test_an_update_changes_named_attributes_only(
    db: Database, engine: Engine, order: Order
) -> None:
    before = item(engine)
    db.run(Order.primary("C1", 7).update(Order.note.set("ring twice")))

    assert item(engine) == before | {"note": {"S": "ring twice"}}


def test_an_update_gives_the_entity_as_it_is_then(db: Database, order: Order) -> None:
    updated = db.run(Order.primary("C1", 7).update(Order.note.set("x"), Order.city.set("Chur")))

    assert (updated.note, updated.city, updated.total) == ("x", "Chur", Decimal(20))
    assert db.run(Order.primary("C1", 7)) == updated


def test_an_update_of_an_instance_refreshes_it(db: Database, order: Order) -> None:
    db.run(Order.primary("C1", 7).update(Order.total.set(Decimal(30))))

    assert db.run(update(order, Order.note.set("x"))) is order
    assert (order.note, order.total) == ("x", Decimal(30))


def test_an_update_of_what_is_not_there_is_refused(db: Database, engine: Engine) -> None:
    with pytest.raises(
        NotFound, match=r'Order .*PK="CUST#C1", SK="ORDER#0007".* does not exist'
    ) as no:
        db.run(Order.primary("C1", 7).update(Order.note.set("x")))

    assert no.value.entity == "Order"
    assert no.value.key == {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#0007"}}
    assert engine.call("Scan", {"TableName": "orders"})["Items"] == []


def test_an_update_that_has_to_read_what_is_not_there_is_refused(
    db: Database, engine: Engine
) -> None:
    with pytest.raises(NotFound):
        db.run(Order.primary("C1", 7).update(Order.status.set(Status.PAID)))

    assert engine.call("Scan", {"TableName": "orders"})["Items"] == []


def test_several_attributes_change_in_one_write(db: Database, order: Order) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    updated = db.run(
        Order.primary("C1", 7).update(
            Order.note.set("x"), Order.total.increment(Decimal("2.5")), Order.lines.append("a", "b")
        )
    )

    assert (updated.note, updated.total, updated.lines) == ("x", Decimal("22.5"), ["a", "b"])
    assert sent.operations.count("UpdateItem") == 1


def test_adding_counts_from_zero_where_nothing_is_stored(db: Database) -> None:
    db.run(create(Order(customer="C1", number=7, at=AT)))
    updated = db.run(Order.primary("C1", 7).update(Order.rank.increment(3)))

    assert updated.rank == 3
    assert [found.number for found in db.run(Order.ranked("C1").eq(3))] == [7]


def test_set_if_absent_leaves_a_value_alone(db: Database, order: Order) -> None:
    updated = db.run(
        Order.primary("C1", 7).update(
            Order.city.set_if_absent("Chur"), Order.note.set_if_absent("x")
        )
    )

    assert (updated.city, updated.note) == ("Bern", "x")


def test_an_empty_set_takes_the_attribute_away(db: Database, engine: Engine, order: Order) -> None:
    db.run(Order.primary("C1", 7).update(Order.tags.set({"a"})))
    updated = db.run(Order.primary("C1", 7).update(Order.tags.set(set())))

    assert updated.tags == set()
    assert "tags" not in item(engine)


@pytest.mark.parametrize("change", [Order.note.set(None), Order.note.remove()])
def test_nothing_takes_the_attribute_away(
    db: Database, engine: Engine, order: Order, change: Any
) -> None:
    db.run(Order.primary("C1", 7).update(Order.note.set("x")))
    updated = db.run(Order.primary("C1", 7).update(change))

    assert updated.note is None
    assert "note" not in item(engine)


def test_a_time_to_live_is_stored_in_seconds(db: Database, engine: Engine) -> None:
    db.run(create(Task(task_id="T1")))
    db.run(Task.primary("T1").update(Task.ends.set(AT)))

    assert item(engine, "TASK#T1")["expires"] == {"N": str(int(AT.timestamp()))}


# -- stamps --------------------------------------------------------------------------------------


def test_an_update_stamps_the_time_and_moves_its_index_key(db: Database, engine: Engine) -> None:
    task = db.run(create(Task(task_id="T1")))
    changed = db.run(Task.primary("T1").update(Task.begins.set(AT)))

    assert changed.changed > task.changed
    assert changed.made == task.made
    assert index_keys(engine, "TASK#T1")["GSI2SK"] == (
        "AT#" + changed.changed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    )


# -- index keys ----------------------------------------------------------------------------------


def test_an_update_of_a_part_moves_every_index_key(
    db: Database, engine: Engine, order: Order
) -> None:
    assert index_keys(engine) == {
        "LSI1SK": "RANK#994#0007",
        "GSI1PK": "STATUS#NEW",
        "GSI1SK": "DAY#2026-01-15#0007",
        "GSI2PK": "CITY#bern",
        "GSI2SK": "STREET#Aare#NEW#0007",
        "GSI3PK": "OPEN#C1",
        "GSI3SK": "AT#2026-01-15T10:15:30.000000Z",
    }

    db.run(Order.primary("C1", 7).update(Order.status.set(Status.PAID)))

    assert index_keys(engine) == {
        "LSI1SK": "RANK#994#0007",
        "GSI1PK": "STATUS#PAID",
        "GSI1SK": "DAY#2026-01-15#0007",
        "GSI2PK": "CITY#bern",
        "GSI2SK": "STREET#Aare#PAID#0007",
        "GSI3PK": "OPEN#C1",
        "GSI3SK": "AT#2026-01-15T10:15:30.000000Z",
    }
    assert list(db.run(Order.of_status(Status.NEW))) == []
    assert [found.number for found in db.run(Order.of_status(Status.PAID))] == [7]


def test_an_update_of_two_parts_moves_keys_of_both(
    db: Database, engine: Engine, order: Order
) -> None:
    later = datetime(2026, 2, 1, tzinfo=UTC)
    db.run(Order.primary("C1", 7).update(Order.at.set(later), Order.rank.increment(-2)))

    assert index_keys(engine) == {
        "LSI1SK": "RANK#996#0007",
        "GSI1PK": "STATUS#NEW",
        "GSI1SK": "DAY#2026-02-01#0007",
        "GSI2PK": "CITY#bern",
        "GSI2SK": "STREET#Aare#NEW#0007",
        "GSI3PK": "OPEN#C1",
        "GSI3SK": "AT#2026-02-01T00:00:00.000000Z",
    }


def test_an_instance_moves_index_keys_without_a_read(
    db: Database, engine: Engine, order: Order
) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(update(order, Order.status.set(Status.PAID)))

    assert sent.operations == ["UpdateItem"]
    assert index_keys(engine)["GSI2SK"] == "STREET#Aare#PAID#0007"


def test_an_update_that_touches_no_key_reads_nothing(db: Database, order: Order) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Order.primary("C1", 7).update(Order.note.set("x")))

    assert sent.operations == ["UpdateItem"]


def test_an_update_that_gives_every_part_reads_nothing(
    db: Database, engine: Engine, order: Order
) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Order.primary("C1", 7).update(Order.rank.set(9)))

    assert sent.operations == ["UpdateItem"]
    assert index_keys(engine)["LSI1SK"] == "RANK#990#0007"


def test_a_part_that_is_not_known_is_read_first(db: Database, order: Order) -> None:
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert sent.operations == ["GetItem", "UpdateItem"]


@pytest.mark.parametrize(
    ("change", "gone"),
    [
        (Order.rank.set(None), {"LSI1SK"}),
        (Order.rank.remove(), {"LSI1SK"}),
        (Order.city.set(None), {"GSI2PK", "GSI2SK"}),
        (Order.city.remove(), {"GSI2PK", "GSI2SK"}),
        (Order.street.remove(), {"GSI2PK", "GSI2SK"}),
    ],
    ids=["rank to None", "rank", "city to None", "city", "street"],
)
def test_taking_a_part_away_takes_the_index_entry_away(
    db: Database, engine: Engine, order: Order, change: Any, gone: set[str]
) -> None:
    before = index_keys(engine)
    db.run(Order.primary("C1", 7).update(change))

    assert index_keys(engine) == {name: value for name, value in before.items() if name not in gone}


def test_a_part_that_comes_back_brings_the_index_entry_back(
    db: Database, engine: Engine, order: Order
) -> None:
    before = index_keys(engine)
    db.run(Order.primary("C1", 7).update(Order.city.remove(), Order.street.remove()))
    db.run(Order.primary("C1", 7).update(Order.city.set("BERN")))
    assert "GSI2PK" not in index_keys(engine)

    db.run(Order.primary("C1", 7).update(Order.street.set_if_absent("Aare")))

    assert index_keys(engine) == before
    assert [found.city for found in db.run(Order.of_city("bern"))] == ["BERN"]


@pytest.mark.parametrize(
    "change",
    [
        Order.status.set(Status.SENT),
        Order.total.set(Decimal(10)),
        Order.total.increment(Decimal(-10)),
    ],
    ids=repr,
)
def test_an_update_after_which_the_condition_fails_leaves_the_index(
    db: Database, engine: Engine, order: Order, change: Any
) -> None:
    db.run(Order.primary("C1", 7).update(change))

    assert list(db.run(Order.open("C1"))) == []
    assert not {"GSI3PK", "GSI3SK"} & index_keys(engine).keys()


def test_an_update_after_which_the_condition_holds_enters_the_index(db: Database) -> None:
    db.run(create(Order(customer="C1", number=7, at=AT, total=Decimal(10))))
    assert list(db.run(Order.open("C1"))) == []

    db.run(Order.primary("C1", 7).update(Order.total.increment(Decimal("0.5"))))

    assert [found.number for found in db.run(Order.open("C1"))] == [7]


def test_members_that_join_and_leave_a_set_decide_on_the_index(db: Database) -> None:
    db.run(create(Task(task_id="T1")))

    db.run(Task.primary("T1").update(Task.labels.add_to_set({"hot", "late"})))
    assert [found.task_id for found in db.run(Task.hot())] == ["T1"]

    db.run(Task.primary("T1").update(Task.labels.remove_from_set({"hot"})))
    assert list(db.run(Task.hot())) == []


def test_a_number_that_outgrows_its_key_is_refused(
    db: Database, engine: Engine, order: Order
) -> None:
    before = item(engine)

    with pytest.raises(InvalidValue, match=r"Order.ranked: rank is 1005, and pad=3"):
        db.run(Order.primary("C1", 7).update(Order.rank.increment(1000)))

    assert item(engine) == before


def test_values_set_on_the_instance_alone_get_into_no_index_key(
    db: Database, engine: Engine
) -> None:
    """The instance says `priority` 7; stored, and not changed by the update, is 1."""
    job = db.run(create(Job(job_id="J1")))
    job.priority = 7

    db.run(update(job, Job.queue.set("high")))

    assert item(engine, "JOB#J1")["priority"] == {"N": "1"}
    assert index_keys(engine, "JOB#J1") == {"GSI1PK": "QUEUE#high", "GSI1SK": "PRIO#001#J1"}


def test_values_set_on_an_unversioned_instance_alone_get_into_no_index_key(
    db: Database, engine: Engine, order: Order
) -> None:
    order.street = "Kramgasse"

    db.run(update(order, Order.city.set("Chur")))

    assert index_keys(engine)["GSI2SK"] == "STREET#Aare#NEW#0007"
    assert order.street == "Aare"


# -- items that others wrote, or long ago --------------------------------------------------------


def write_old(engine: Engine, kind: str, **attributes: dict[str, Any]) -> None:
    """An item from before the entity had all of its attributes."""
    item = {
        "PK": {"S": f"{kind.upper()}#1"},
        "SK": {"S": kind.upper()},
        "type": {"S": kind},
        f"{kind.lower()}_id": {"S": "1"},
        **attributes,
    }
    engine.call("PutItem", {"TableName": "orders", "Item": item})


@pytest.mark.parametrize(
    ("change", "priority"),
    [
        (Job.queue.set("high"), 1),
        (Job.priority.set(4), 4),
        (Job.priority.increment(4), 4),
        (Job.priority.set_if_absent(4), 4),
    ],
    ids=repr,
)
def test_a_part_that_an_old_item_lacks_has_its_default(
    db: Database, engine: Engine, change: Any, priority: int
) -> None:
    write_old(engine, "Job", version={"N": "1"})

    updated = db.run(Job.primary("1").update(change))

    assert updated.priority == priority
    assert index_keys(engine, "JOB#1") == {
        "GSI1PK": f"QUEUE#{updated.queue}",
        "GSI1SK": f"PRIO#{updated.priority:03}#1",
    }


@pytest.mark.parametrize(
    ("change", "priority"),
    [
        (Task.queue.set("high"), 1),
        (Task.priority.set(4), 4),
        (Task.priority.increment(4), 4),
        (Task.priority.set_if_absent(4), 4),
    ],
    ids=repr,
)
def test_a_part_that_an_old_unversioned_item_lacks_has_its_default(
    db: Database, engine: Engine, change: Any, priority: int
) -> None:
    write_old(engine, "Task")

    updated = db.run(Task.primary("1").update(change))

    assert updated.priority == priority
    assert index_keys(engine, "TASK#1")["GSI1PK"] == f"TASKS#{updated.queue}"
    assert index_keys(engine, "TASK#1")["GSI1SK"] == f"PRIO#{updated.priority:03}#1"


def test_removing_a_part_with_a_default_keeps_the_place_in_the_index(
    db: Database, engine: Engine
) -> None:
    """What is read back has the default, and so has its place in the index."""
    db.run(create(Task(task_id="T1", priority=5)))

    removed = db.run(Task.primary("T1").update(Task.priority.remove()))

    assert removed.priority == 1
    assert [found.task_id for found in db.run(Task.queued("low").eq(1))] == ["T1"]


def test_a_part_in_another_spelling_is_guarded_as_it_is_stored(
    db: Database, engine: Engine
) -> None:
    """Other writers leave the fractions of a second away."""
    engine.call(
        "PutItem",
        {
            "TableName": "orders",
            "Item": {
                "PK": {"S": "CUST#C1"},
                "SK": {"S": "ORDER#0007"},
                "type": {"S": "Order"},
                "customerId": {"S": "C1"},
                "number": {"N": "7"},
                "at": {"S": "2026-01-15T10:15:30Z"},
            },
        },
    )

    db.run(Order.primary("C1", 7).update(Order.status.set(Status.PAID)))

    assert index_keys(engine)["GSI1PK"] == "STATUS#PAID"
    assert index_keys(engine)["GSI1SK"] == "DAY#2026-01-15#0007"


# -- others write at the same time ---------------------------------------------------------------


def test_a_part_that_changes_after_it_was_read_is_read_again(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = race = InterferingTransport(
        db._transport,
        lambda _: other.run(Order.primary("C1", 7).update(Order.street.set("Kramgasse"))),
    )

    updated = db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert (updated.city, updated.street) == ("Chur", "Kramgasse")
    assert index_keys(engine)["GSI2PK"] == "CITY#chur"
    assert index_keys(engine)["GSI2SK"] == "STREET#Kramgasse#NEW#0007"
    assert race.operations == ["GetItem", "UpdateItem", "GetItem", "UpdateItem"]


def test_a_part_that_goes_away_after_it_was_read_is_noticed(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Order.primary("C1", 7).update(Order.street.remove()))
    )

    db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert not {"GSI2PK", "GSI2SK"} & index_keys(engine).keys()


def test_a_part_that_comes_after_it_was_read_is_noticed(db: Database, engine: Engine) -> None:
    db.run(create(Order(customer="C1", number=7, at=AT)))
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Order.primary("C1", 7).update(Order.street.set("Aare")))
    )

    db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert index_keys(engine)["GSI2PK"] == "CITY#chur"
    assert index_keys(engine)["GSI2SK"] == "STREET#Aare#NEW#0007"


def test_the_condition_of_an_index_is_guarded_too(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Order.primary("C1", 7).update(Order.status.set(Status.SENT))),
    )

    db.run(Order.primary("C1", 7).update(Order.total.set(Decimal(99))))

    assert list(db.run(Order.open("C1"))) == []


def test_an_instance_that_is_behind_is_read_again(
    db: Database, engine: Engine, order: Order
) -> None:
    connect(engine, Orders).run(Order.primary("C1", 7).update(Order.street.set("Kramgasse")))

    db.run(update(order, Order.city.set("Chur")))

    assert order.street == "Kramgasse"
    assert index_keys(engine)["GSI2SK"] == "STREET#Kramgasse#NEW#0007"


def test_what_changes_beside_the_parts_needs_no_second_try(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = race = InterferingTransport(
        db._transport, lambda _: other.run(Order.primary("C1", 7).update(Order.note.set("theirs")))
    )

    updated = db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert updated.note == "theirs"
    assert race.operations == ["GetItem", "UpdateItem"]


def test_a_versioned_entity_that_changes_after_it_was_read_is_read_again(
    db: Database, engine: Engine
) -> None:
    db.run(create(Job(job_id="J1")))
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Job.primary("J1").update(Job.priority.set(9)))
    )

    updated = db.run(Job.primary("J1").update(Job.queue.set("high")))

    assert updated.version == 3
    assert index_keys(engine, "JOB#J1") == {"GSI1PK": "QUEUE#high", "GSI1SK": "PRIO#009#J1"}


def test_a_version_that_is_expected_is_not_waited_for(db: Database, engine: Engine) -> None:
    db.run(create(Job(job_id="J1")))
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Job.primary("J1").update(Job.note.set("theirs")))
    )

    with pytest.raises(VersionConflict, match="version 1 was expected, but version 2 is stored"):
        db.run(Job.primary("J1").update(Job.queue.set("high")).condition(Job.version == 1))

    assert index_keys(engine, "JOB#J1") == {"GSI1PK": "QUEUE#low", "GSI1SK": "PRIO#001#J1"}


def test_an_item_that_is_deleted_after_it_was_read_is_not_found(
    db: Database, engine: Engine, order: Order
) -> None:
    other = connect(engine, Orders)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Order.primary("C1", 7).delete())
    )

    with pytest.raises(NotFound):
        db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert engine.call("Scan", {"TableName": "orders"})["Items"] == []


def test_an_update_that_never_wins_gives_up_and_writes_nothing(
    db: Database, engine: Engine, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.commit.CONTENTION", Backoff(8, first=0.0, longest=0.0)
    )
    other = connect(engine, Orders)
    db._transport = race = InterferingTransport(
        db._transport,
        lambda n: other.run(Order.primary("C1", 7).update(Order.street.set(f"Street {n}"))),
        times=1000,
    )

    with pytest.raises(Contention, match=r"update Order: .* nothing was written"):
        db.run(Order.primary("C1", 7).update(Order.city.set("Chur")))

    assert race.operations.count("UpdateItem") == 8
    assert item(engine)["city"] == {"S": "Bern"}
    assert index_keys(engine)["GSI2PK"] == "CITY#bern"


# -- conditions ----------------------------------------------------------------------------------

FULL = Order(
    customer="C1",
    number=7,
    at=AT,
    status=Status.PAID,
    city="Bern",
    rank=5,
    total=Decimal(20),
    tags={"a", "b"},
    lines=["x", "y"],
)

HOLD: list[Condition[Order]] = [
    Order.total == Decimal(20),
    Order.total != Decimal(21),
    Order.total < Decimal(21),
    Order.total <= Decimal(20),
    Order.total > Decimal(19),
    Order.total >= Decimal(20),
    Order.total.between(Decimal(20), Decimal(20)),
    Order.status.in_([Status.NEW, Status.PAID]),
    Order.city.exists(),
    Order.city != None,  # noqa: E711  # a condition, not a question
    Order.note.not_exists(),
    Order.note == None,  # noqa: E711
    Order.note != "x",
    Order.customer.begins_with("C"),
    Order.customer.contains("1"),
    Order.tags.contains("a"),
    Order.lines.contains("y"),
    Order.at <= AT,
    (Order.total > Decimal(19)) & (Order.rank == 5),
    (Order.total > Decimal(20)) | (Order.rank == 5),
    ~(Order.total > Decimal(20)),
    ~((Order.total > Decimal(19)) & (Order.rank == 6)),
    ((Order.rank == 1) | (Order.rank == 5)) & ~(Order.city == "Chur"),
]

FAIL: list[tuple[Condition[Order], str]] = [
    (Order.total == Decimal(21), "total = Decimal('21')"),
    (Order.total != Decimal(20), "total <> Decimal('20')"),
    (Order.total < Decimal(20), "total < Decimal('20')"),
    (Order.total <= Decimal(19), "total <= Decimal('19')"),
    (Order.total > Decimal(20), "total > Decimal('20')"),
    (Order.total >= Decimal(21), "total >= Decimal('21')"),
    (Order.total.between(Decimal(1), Decimal(2)), "total BETWEEN Decimal('1') AND Decimal('2')"),
    (Order.rank.in_([1, 2]), "rank IN (1, 2)"),
    (Order.note.exists(), "attribute_exists(note)"),
    (Order.city.not_exists(), "attribute_not_exists(city)"),
    (Order.note == "x", "note = 'x'"),
    (Order.note < "x", "note < 'x'"),
    (Order.customer.begins_with("D"), "begins_with(customer, 'D')"),
    (Order.customer.contains("2"), "contains(customer, '2')"),
    (Order.tags.contains("c"), "contains(tags, 'c')"),
    (Order.lines.contains("z"), "contains(lines, 'z')"),
    ((Order.total == Decimal(20)) & (Order.rank == 6), "rank = 6"),
    ((Order.rank == 1) | (Order.rank == 2), "(rank = 1 OR rank = 2)"),
    (~(Order.rank == 5), "NOT (rank = 5)"),
]


@pytest.mark.parametrize("condition", HOLD, ids=repr)
def test_a_write_under_a_condition_that_holds_is_done(
    db: Database, condition: Condition[Order]
) -> None:
    db.run(put(FULL))

    updated = db.run(Order.primary("C1", 7).update(Order.street.set("x")).condition(condition))
    assert updated.street == "x"
    db.run(put(FULL).condition(condition))
    assert db.run(Order.primary("C1", 7).delete().condition(condition)) == FULL


@pytest.mark.parametrize(("condition", "told"), FAIL, ids=[told for _, told in FAIL])
def test_a_write_under_a_condition_that_does_not_hold_is_refused_and_says_which(
    db: Database, engine: Engine, condition: Condition[Order], told: str
) -> None:
    db.run(put(FULL))
    before = item(engine)

    for write in (
        Order.primary("C1", 7).update(Order.note.set("x")).condition(condition),
        Order.primary("C1", 7).update(Order.city.set("x")).condition(condition),
        put(FULL).condition(condition),
        Order.primary("C1", 7).delete().condition(condition),
    ):
        with pytest.raises(ConditionFailed) as refused:
            db.run(write)
        assert f"the condition {told} does not hold" in str(refused.value)
        assert refused.value.entity == "Order"
        assert refused.value.current == FULL
    assert item(engine) == before


def test_a_refused_update_leaves_the_instance_as_it_was(db: Database, order: Order) -> None:
    before = dict(vars(order))

    with pytest.raises(ConditionFailed):
        db.run(update(order, Order.note.set("x")).condition(Order.total > Decimal(100)))

    assert vars(order) == before


def test_a_condition_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"combine conditions with & \| ~"):
        bool(Order.rank == 5)


# -- changes that make no sense ------------------------------------------------------------------


def test_an_update_without_changes_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"Order: update\(\) needs at least one change"):
        Order.primary("C1", 7).update()


def test_two_changes_of_one_attribute_are_refused() -> None:
    with pytest.raises(InvalidValue, match=r"Order\.note is changed twice in one update"):
        Order.primary("C1", 7).update(Order.note.set("a"), Order.note.remove())


@pytest.mark.parametrize("change", [Job.version.set(7), Job.version.increment(1)], ids=repr)
def test_a_version_changed_by_hand_is_refused(change: Any) -> None:
    with pytest.raises(InvalidValue, match=r"Job\.version is set by the library"):
        Job.primary("J1").update(change)


@pytest.mark.parametrize("stamp", [Task.made, Task.changed], ids=repr)
def test_a_stamp_changed_by_hand_is_refused(stamp: Ref[Task, datetime]) -> None:
    with pytest.raises(InvalidValue, match=rf"{stamp!r} is set by the library"):
        Task.primary("T1").update(stamp.set(AT))


def test_a_change_of_another_entity_is_refused() -> None:
    with pytest.raises(InvalidValue, match="is not a change of an attribute of Order"):
        Order.primary("C1", 7).update(Job.note.set("x"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        Order.status.set("PAID!"),  # type: ignore[arg-type]
        Order.total.set("20"),  # type: ignore[arg-type]
        Order.note.set(5),  # type: ignore[arg-type]
        Order.tags.add_to_set({5}),  # type: ignore[arg-type]
        Order.at.set(datetime(2026, 1, 1)),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(
    db: Database, engine: Engine, order: Order, change: Any
) -> None:
    before = item(engine)

    with pytest.raises(InvalidValue, match=r"Order\."):
        db.run(Order.primary("C1", 7).update(change))

    assert item(engine) == before


def test_a_required_attribute_cannot_be_removed(db: Database, engine: Engine, order: Order) -> None:
    with pytest.raises(InvalidValue, match=r"Order\.at cannot be removed: it is not optional"):
        Order.at.remove()


def test_a_required_attribute_cannot_be_set_to_none(
    db: Database, engine: Engine, order: Order
) -> None:
    with pytest.raises(InvalidValue, match=r"Order\.at"):
        db.run(Order.primary("C1", 7).update(Order.at.set(None)))  # type: ignore[arg-type]

    assert db.run(Order.primary("C1", 7)) == order


def test_a_value_that_the_constructor_refuses_is_refused_by_an_update(
    db: Database, engine: Engine
) -> None:
    db.run(create(Task(task_id="T1")))
    with pytest.raises(InvalidValue, match=r"Task\.weight"):
        Task(task_id="T2", weight=-1)

    with pytest.raises(InvalidValue, match=r"Task\.weight"):
        db.run(Task.primary("T1").update(Task.weight.set(-1)))

    assert item(engine, "TASK#T1")["weight"] == {"N": "0"}


@pytest.mark.parametrize(
    "change", [None, "PAID", {"status": "PAID"}, Order.status, Order.number > 1]
)
def test_what_is_no_change_is_refused(change: Any) -> None:
    with pytest.raises(InvalidValue, match=r"is not a change; write Order\..*\.set"):
        Order.primary("C1", 1).update(change)


def test_an_update_under_a_condition_of_another_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Task\.queue is not an attribute of Order"):
        Order.primary("C1", 1).update(Order.note.set("x")).condition(
            Task.queue == "low"  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("condition", [None, True, "total > 1", Order.total])
def test_an_update_under_what_is_no_condition_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is not a condition; write one .*Order\."):
        Order.primary("C1", 1).update(Order.note.set("x")).condition(condition)
