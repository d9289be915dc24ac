"""An upsert changes an item, or creates it with the changes; its keys are right in both cases."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    access_pattern,
    attr,
    connect,
    create,
    created_at,
    explain,
    history,
    index,
    key,
    transact,
    unique,
    update,
    updated_at,
    upsert,
    version,
)
from tablewright.database import Database
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    DeclarationError,
    InvalidValue,
    UniqueViolation,
    VersionConflict,
)
from tablewright.formats import lower
from tablewright.plans import Upsert, Write
from tests.costs import run_within_range
from tests.transports import InterferingTransport, record_requests

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Stats(Table, name="stats"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_rank = GSI("GSI2PK", "GSI2SK")


class Counter(Entity, table=Stats):
    page: Attr[str] = attr()
    hits: Attr[int] = attr(default=0)
    labels: Attr[set[str]] = attr(default_factory=set)
    log: Attr[list[str]] = attr(default_factory=list)

    primary = key("COUNTER" / page, "COUNTER")


class Job(Entity, table=Stats):
    """Versioned, with stamps, in an index by a default and in one by its key."""

    job_id: Attr[str] = attr()
    state: Attr[str] = attr(default="new")
    note: Attr[str | None] = attr(default=None)
    tries: Attr[int] = attr(default=3)
    made: Attr[datetime] = created_at()
    changed: Attr[datetime] = updated_at()
    version: Attr[int] = version()

    primary = key("JOB" / job_id, "JOB")
    of_state = index(Stats.by_state, "STATE" / state, "JOB" / job_id)
    by_id = index(Stats.by_rank, "JOBS", "JOB" / job_id)


class Entry(Entity, table=Stats):
    """In a sparse index, unless it is hidden."""

    entry_id: Attr[str] = attr()
    shown: Attr[bool] = attr(default=True)
    rank: Attr[int | None] = attr(pad=3, default=None)
    title: Attr[str] = attr(default="")

    primary = key("ENTRY" / entry_id, "ENTRY")
    visible = index(Stats.by_state, "VISIBLE", "ENTRY" / entry_id, when=shown == True)  # noqa: E712
    ranked = index(Stats.by_rank, "RANKS", "RANK" / rank)


class Renamed(Entity, table=Stats):
    user_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    primary = key("RENAMED" / user_id, "NUMBER" / number)


class User(Entity, table=Stats):
    user_id: Attr[str] = attr()
    email: Attr[str] = attr()
    name: Attr[str] = attr(default="?")
    logins: Attr[int] = attr(default=0)
    version: Attr[int] = version()

    primary = key("USER" / user_id, "USER")
    by_email = unique("EMAIL" / lower(email))
    names = history(name, Renamed, old=Renamed.old, new=Renamed.new, version=Renamed.number)


class Address(Entity, table=Stats):
    email: Attr[str] = attr()
    sent: Attr[int] = attr(default=0)
    primary = key("ADDRESS" / lower(email), "ADDRESS")


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Stats,)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Stats)
    db._context = msgspec.structs.replace(db._context, clock=lambda: NOW)
    return db


def items(engine: Engine) -> list[dict[str, Any]]:
    found = engine.call("Scan", {"TableName": "stats"})["Items"]
    return sorted(found, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))


# -- one request -------------------------------------------------------------------------------


def test_a_counter_needs_no_row_and_one_request(db: Database, engine: Engine) -> None:
    requests = record_requests(db)
    first = db.run(Counter.primary("x").upsert(Counter.hits.increment(1)))
    second = db.run(Counter.primary("x").upsert(Counter.hits.increment(1)))

    assert (first, second) == (Counter(page="x", hits=1), Counter(page="x", hits=2))
    assert requests.operations == ["UpdateItem", "UpdateItem"]
    assert "ConditionExpression" not in requests.requests[0][1]
    assert items(engine) == [
        {
            "PK": {"S": "COUNTER#x"},
            "SK": {"S": "COUNTER"},
            "type": {"S": "Counter"},
            "page": {"S": "x"},
            "hits": {"N": "2"},
            "log": {"L": []},
        }
    ]


@pytest.mark.parametrize(
    "change",
    [
        Counter.hits.set(7),
        Counter.hits.increment(2),
        Counter.hits.set_if_absent(9),
        Counter.labels.add_to_set({"a"}),
        Counter.labels.remove_from_set({"a"}),
        Counter.log.append("a"),
        Counter.log.prepend("a"),
        Counter.log.append_if_absent("a"),
        Counter.hits.remove(),
    ],
    ids=repr,
)
def test_every_change_creates_what_an_update_of_a_new_entity_leaves(
    db: Database, change: Any
) -> None:
    requests = record_requests(db)
    made = db.run(Counter.primary("x").upsert(change))
    assert requests.operations == ["UpdateItem"]
    if repr(change) == "hits.SetIfAbsent(9)":  # what a created item starts with
        assert made.hits == 9
        return
    other = db.run(create(Counter(page="y")))
    db.run(update(other, change))
    assert vars(made) | {"page": "y"} == vars(other)


def test_a_created_item_has_version_stamps_and_index_keys(db: Database, engine: Engine) -> None:
    requests = record_requests(db)
    job = db.run(Job.primary("1").upsert(Job.note.set("n")))
    assert (job.version, job.made, job.changed) == (1, NOW, NOW)
    assert requests.operations == ["UpdateItem"]

    by_hand = Job(job_id="2", note="n")
    vars(by_hand)["made"] = NOW
    db.run(create(by_hand))
    upserted, created = items(engine)
    renamed = {
        name: {"S": value["S"].replace("1", "2")} if "S" in value else value
        for name, value in upserted.items()
        if name not in ("made", "changed", "version")
    }
    assert renamed | {n: upserted[n] for n in ("made", "changed", "version")} == created


def test_an_existing_item_keeps_what_is_not_changed(db: Database, engine: Engine) -> None:
    db.run(create(Job(job_id="1", state="done", tries=1)))
    (before,) = items(engine)
    job = db.run(Job.primary("1").upsert(Job.note.set("n")))
    assert (job.state, job.tries, job.version) == ("done", 1, 2)
    (after,) = items(engine)
    assert after == before | {
        "note": {"S": "n"},
        "version": {"N": "2"},
        "changed": after["changed"],
    }


def test_a_changed_index_key_is_set_in_the_same_request(db: Database, engine: Engine) -> None:
    requests = record_requests(db)
    db.run(Job.primary("1").upsert(Job.state.set("done")))
    db.run(Job.primary("1").upsert(Job.state.set("lost")))
    assert requests.operations == ["UpdateItem", "UpdateItem"]
    assert items(engine)[0]["GSI1PK"] == {"S": "STATE#lost"}
    assert [job.job_id for job in db.run(Job.of_state("lost"))] == ["1"]


def test_an_item_from_before_an_index_was_declared_gets_no_wrong_key(
    db: Database, engine: Engine
) -> None:
    db.run(create(Job(job_id="1", state="done")))
    engine.call(
        "UpdateItem",
        {
            "TableName": "stats",
            "Key": {"PK": {"S": "JOB#1"}, "SK": {"S": "JOB"}},
            "UpdateExpression": "REMOVE GSI1PK, GSI1SK",
        },
    )
    requests = record_requests(db)
    db.run(Job.primary("1").upsert(Job.note.set("n")))
    assert requests.operations == ["UpdateItem", "GetItem", "UpdateItem"]
    assert "GSI1PK" not in items(engine)[0]
    assert items(engine)[0]["note"] == {"S": "n"}


# -- what is read first ------------------------------------------------------------------------


def test_a_default_that_is_not_zero_is_counted_from(db: Database) -> None:
    requests = record_requests(db)
    assert db.run(Job.primary("1").upsert(Job.tries.increment(-1))).tries == 2
    assert db.run(Job.primary("1").upsert(Job.tries.increment(-1))).tries == 1
    assert requests.operations == ["GetItem", "PutItem", "GetItem", "UpdateItem"]


def test_an_item_that_has_left_a_sparse_index_stays_out(db: Database, engine: Engine) -> None:
    db.run(Entry.primary("1").upsert(Entry.title.set("a")))
    assert [entry.title for entry in db.run(Entry.visible())] == ["a"]
    db.run(Entry.primary("1").upsert(Entry.shown.set(False)))
    db.run(Entry.primary("1").upsert(Entry.title.set("b")))
    assert list(db.run(Entry.visible())) == []
    db.run(Entry.primary("1").upsert(Entry.rank.set(5)))
    assert items(engine)[0]["GSI2SK"] == {"S": "RANK#005"}


def test_unique_values_are_reserved_and_released(db: Database, engine: Engine) -> None:
    db.run(User.primary("1").upsert(User.email.set("Ann@x")))
    assert [item["PK"]["S"] for item in items(engine)] == ["EMAIL#ann@x", "USER#1"]
    with pytest.raises(UniqueViolation):
        db.run(User.primary("2").upsert(User.email.set("ann@X")))
    user = db.run(User.primary("1").upsert(User.email.set("bob@x")))
    assert (user.version, user.email) == (2, "bob@x")
    assert [item["PK"]["S"] for item in items(engine)] == ["EMAIL#bob@x", "USER#1"]


def test_a_created_item_has_no_history_and_a_changed_one_has(db: Database, engine: Engine) -> None:
    changes = (User.email.set("a@x"), User.name.set("Ann"))
    db.run(User.primary("1").upsert(*changes))
    assert not [item for item in items(engine) if item["type"] == {"S": "Renamed"}]
    db.run(User.primary("1").upsert(User.email.set("a@x"), User.name.set("Bob")).audit())
    (event,) = (item for item in items(engine) if item["type"] == {"S": "Renamed"})
    assert (event["old"], event["new"]) == ({"S": "Ann"}, {"S": "Bob"})


# -- an entity to create -----------------------------------------------------------------------


def test_the_entity_is_what_is_created(db: Database) -> None:
    user = User(user_id="1", email="a@x", name="Ann")
    assert db.run(upsert(user, User.logins.increment(1))) is user
    assert (user.logins, user.version) == (1, 1)
    other = User(user_id="1", email="b@x", name="Bob")
    db.run(upsert(other, User.logins.increment(1)))
    assert (other.email, other.name, other.logins, other.version) == ("a@x", "Ann", 2, 2)


def test_values_of_the_entity_are_not_given_to_an_item_that_exists(
    db: Database, engine: Engine
) -> None:
    db.run(create(Job(job_id="1")))
    db.run(upsert(Job(job_id="1", note="only if it is new"), Job.state.set("done")))
    assert "note" not in items(engine)[0]
    db.run(upsert(Job(job_id="2", note="only if it is new"), Job.state.set("done")))
    assert items(engine)[1]["note"] == {"S": "only if it is new"}


def test_a_key_that_does_not_say_the_value_needs_the_entity(db: Database) -> None:
    with pytest.raises(DeclarationError, match=r"Address\.email would have no value"):
        Address.primary("ann@x").upsert(Address.sent.increment(1))
    requests = record_requests(db)
    db.run(upsert(Address(email="Ann@x"), Address.sent.increment(1)))
    db.run(upsert(Address(email="ann@x"), Address.sent.increment(1)))
    assert requests.operations == ["UpdateItem"] * 2
    assert db.run(Address.primary("ann@x")) == Address(email="Ann@x", sent=2)


# -- transactions and conditions ---------------------------------------------------------------


def test_upserts_in_a_transaction(db: Database, engine: Engine) -> None:
    writes: list[Write[Any]] = [
        Counter.primary("x").upsert(Counter.hits.increment(1)),
        User.primary("1").upsert(User.email.set("a@x")),
        Job.primary("1").upsert(Job.tries.increment(1)),
    ]
    db.run(transact(*writes))
    db.run(transact(*writes))
    assert db.run(Counter.primary("x")) == Counter(page="x", hits=2)
    job = db.run(Job.primary("1"))
    assert job is not None
    assert (job.tries, job.version) == (5, 2)
    with pytest.raises(AlreadyExists):
        db.run(transact(writes[0], create(Job(job_id="1"))))
    assert db.run(Counter.primary("x")) == Counter(page="x", hits=2)


def test_a_condition_is_about_the_stored_item(db: Database) -> None:
    plan = Counter.primary("x").upsert(Counter.hits.increment(1))
    with pytest.raises(ConditionFailed, match="hits"):
        db.run(plan.condition(Counter.hits < 2))  # there is none
    limited = plan.condition((Counter.hits < 2) | Counter.hits.not_exists())
    assert db.run(limited).hits == 1
    assert db.run(limited).hits == 2
    with pytest.raises(ConditionFailed):
        db.run(limited)


def test_a_version_can_be_expected(db: Database) -> None:
    db.run(Job.primary("1").upsert(Job.note.set("a")))
    stale = Job.primary("1").upsert(Job.tries.increment(1)).condition(Job.version == 7)
    with pytest.raises(VersionConflict):
        db.run(stale)


# -- two writers -------------------------------------------------------------------------------


def test_an_item_that_is_created_meanwhile_is_changed(db: Database, engine: Engine) -> None:
    other = connect(engine, Stats)
    db._transport = race = InterferingTransport(
        db._transport, lambda _: other.run(Job.primary("1").upsert(Job.tries.increment(-1)))
    )
    assert db.run(Job.primary("1").upsert(Job.tries.increment(-1))).tries == 1
    assert race.operations == ["GetItem", "PutItem", "GetItem", "UpdateItem"]


def test_an_item_that_is_deleted_meanwhile_is_created(db: Database, engine: Engine) -> None:
    db.run(User.primary("1").upsert(User.email.set("a@x"), User.logins.increment(4)))
    other = connect(engine, Stats)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(User.primary("1").delete())
    )
    user = db.run(User.primary("1").upsert(User.email.set("b@x"), User.logins.increment(1)))
    assert (user.logins, user.version) == (1, 1)
    assert [item["PK"]["S"] for item in items(engine)] == ["EMAIL#b@x", "USER#1"]


# -- explain and refusals ----------------------------------------------------------------------


def test_explain_tells_whether_the_item_is_read() -> None:
    assert str(explain(Counter.primary("x").upsert(Counter.hits.increment(1)))) == (
        'UpdateItem on stats: PK="COUNTER#x" AND SK="COUNTER"\n'
        "  actions: 1\n"
        "  sets: hits = hits + 1\n"
        "  units: 1 write (estimate); at most 400 write"
    )
    shape = explain(User.primary("1").upsert(User.email.set("a@x")))
    assert (shape.operation, shape.read_units) == ("TransactWriteItems", 1)


@pytest.mark.parametrize(
    "plan",
    [
        Counter.primary("x").upsert(Counter.hits.increment(1)),
        Job.primary("1").upsert(Job.tries.increment(1)),
        Job.primary("1").upsert(Job.state.set("done")),
        User.primary("1").upsert(User.email.set("a@x"), User.name.set("Ann")),
    ],
    ids=repr,
)
def test_what_an_upsert_costs_is_in_the_range_of_explain(db: Database, plan: Any) -> None:
    run_within_range(db, plan)  # creates it
    run_within_range(db, plan)


def test_an_upsert_can_be_a_pattern(db: Database) -> None:
    @access_pattern
    def count_hit(page: str, hits: int) -> Upsert[Counter]:
        return Counter.primary(page).upsert(Counter.hits.increment(hits))

    @access_pattern
    def visit(job: Job) -> Upsert[Job]:
        return upsert(job, Job.note.set("seen"))

    assert explain(count_hit).operation == "UpdateItem"
    assert explain(count_hit).read_units == 0
    assert explain(visit).read_units == 1
    assert db.run(count_hit("x", 3)).hits == 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Counter.primary("x").upsert(), InvalidValue, "at least one change"),
        (
            lambda: User.primary("1").upsert(User.logins.increment(1)),
            DeclarationError,
            r"User\.email would have no value in an item that it creates",
        ),
        (
            lambda: Counter.primary("x").upsert(Counter.page.set("y")),
            InvalidValue,
            r"Counter\.page is part of the key, which upsert\(\) cannot change",
        ),
        (
            lambda: Counter.primary("x").upsert(User.email.set("y")),  # type: ignore[arg-type]
            InvalidValue,
            "not an attribute of Counter",
        ),
    ],
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
