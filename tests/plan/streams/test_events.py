"""Stream events: what happens to entities, in process and over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    connect_async,
    create,
    created_at,
    history,
    index,
    key,
    put,
    transact,
    ttl,
    unique,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.errors import (
    DeclarationError,
    InvalidCursor,
    InvalidValue,
    StoreClosed,
    UnreadableItem,
)
from tablewright.plan.streams.events import _likeness
from tablewright.server import serving
from tablewright.sigv4 import SigningCredentials
from tablewright.streams import (
    Created,
    Deleted,
    Expired,
    Moved,
    StreamEvent,
    Updated,
    parse_stream,
    stream_handler,
)
from tablewright.transport.remote import Remote
from tests.things import NamedEntity, Thing, Things

CREDENTIALS = SigningCredentials("key", "secret")


class Shop(Table, name="shop", stream="NEW_AND_OLD_IMAGES"):
    by_status = GSI("GSI1PK", "GSI1SK")


class StatusChange(Entity, table=Shop):
    customer: Attr[str] = attr()
    order_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    status: Attr[str] = attr()
    primary = key("CUSTOMER" / customer, "ORDER" / order_id / "CHANGE" / number)


class Order(Entity, table=Shop):
    customer: Attr[str] = attr()
    order_id: Attr[str] = attr()
    status: Attr[str] = attr(default="NEW")
    total: Attr[int] = attr(default=0)
    version: Attr[int] = version()
    primary = key("CUSTOMER" / customer, "ORDER" / order_id)
    by_status = index(Shop.by_status, "STATUS" / status, "ORDER" / order_id)
    changes = history(status, StatusChange, new=StatusChange.status, version=StatusChange.number)


class Customer(Entity, table=Shop):
    name: Attr[str] = attr()
    email: Attr[str] = attr()
    joined: Attr[datetime] = created_at()
    seen: Attr[datetime] = updated_at()
    primary = key("CUSTOMER" / name, "PROFILE")
    by_email = unique("EMAIL" / email)


class Session(Entity, table=Shop):
    token: Attr[str] = attr()
    until: Attr[datetime] = ttl()
    primary = key("SESSION" / token, "SESSION")


class Label(Entity, table=Shop):
    label: Attr[str] = attr()
    color: Attr[str] = attr()
    primary = key("LABEL" / label, "LABEL")


@pytest.fixture(params=["in process", "over HTTP"])
def db(request: pytest.FixtureRequest) -> Iterator[Database]:
    with Engine() as engine:
        if request.param == "in process":
            with connect(engine, Shop) as database:
                yield database
        else:
            with serving(engine) as url, connect(url, Shop, create=True) as database:
                yield database


def kinds(events: Any) -> list[tuple[str, str]]:
    return [(type(event).__name__, event.entity.__name__) for event in events]


def test_each_change_is_an_event(db: Database) -> None:
    db.run(create(Order(customer="ann", order_id="1")))
    db.run(Order.primary("ann", "1").update(Order.status.set("PAID"), Order.total.increment(5)))
    db.run(Order.primary("ann", "1").delete())
    created, updated, deleted = db.stream_events(Order)
    assert isinstance(created, Created)
    assert (created.new.order_id, created.new.version) == ("1", 1)
    assert isinstance(updated, Updated)
    assert (updated.old.status, updated.new.status) == ("NEW", "PAID")
    assert updated.changed == {"status", "total", "version"}
    assert isinstance(deleted, Deleted)
    assert deleted.old == updated.new
    assert deleted.key == {"PK": {"S": "CUSTOMER#ann"}, "SK": {"S": "ORDER#1"}}
    assert repr(deleted) == "Deleted(Order: CUSTOMER#ann, ORDER#1)"
    assert abs(datetime.now(UTC) - deleted.at) < timedelta(minutes=5)
    assert len({created.id, updated.id, deleted.id}) == 3


def test_events_match_their_parts(db: Database) -> None:
    db.run(create(Order(customer="ann", order_id="1")))
    (event,) = db.stream_events(Order)
    match event:
        case Created(new=Order(order_id=order_id)):
            assert order_id == "1"
        case _:
            raise AssertionError(event)


def test_sentinels_and_history_rows_are_not_mixed_in(db: Database) -> None:
    db.run(create(Customer(name="ann", email="ann@x")))
    db.run(create(Order(customer="ann", order_id="1")))
    db.run(Order.primary("ann", "1").update(Order.status.set("PAID")))
    everything = [("Created", "Customer"), ("Created", "Order"), ("Updated", "Order")]
    assert kinds(db.stream_events()) == everything
    assert kinds(db.stream_events(Customer)) == everything[:1]
    assert {name for _, name in kinds(db.stream_events(StatusChange))} == {"StatusChange"}


def test_an_expired_item_is_no_deleted_one() -> None:
    with Engine() as engine, connect(engine, Shop) as db:
        db.run(
            create(
                Session(
                    token="a", until=datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
                )
            )
        )
        engine.expire()
        _, expired = db.stream_events(Session)
        assert isinstance(expired, Expired)
        assert expired.old.token == "a"


def test_no_event_for_a_write_that_changes_nothing(db: Database) -> None:
    label = Label(label="a", color="red")
    db.run(put(label))
    db.run(put(label))
    assert kinds(db.stream_events(Label)) == [("Created", "Label")]


# -- moves ---------------------------------------------------------------------------------------


def test_a_move_is_one_event(db: Database) -> None:
    db.run(create(Order(customer="ann", order_id="1", total=7)))
    db.run(Order.primary("ann", "1").update(Order.customer.set("bob")))
    _, moved = db.stream_events(Order)
    assert isinstance(moved, Moved)
    assert (moved.old.customer, moved.new.customer, moved.new.total) == ("ann", "bob", 7)
    assert moved.changed == {"customer", "version"}
    assert moved.key["PK"] == {"S": "CUSTOMER#bob"}


def test_moves_at_the_same_time_are_told_apart(db: Database) -> None:
    for number in range(4):
        db.run(create(Customer(name=f"n{number}", email=f"{number}@x")))
    moves = [
        Customer.primary(f"n{number}").update(Customer.name.set(f"m{number}"))
        for number in range(4)
    ]
    db.run(transact(*moves))
    events = list(db.stream_events(Customer))[4:]
    assert kinds(events) == [("Moved", "Customer")] * 4
    assert [(e.old.name, e.new.name) for e in events if isinstance(e, Moved)] == [
        (f"n{number}", f"m{number}") for number in range(4)
    ]


def test_an_entity_without_stamps_moves_if_everything_else_is_equal(db: Database) -> None:
    db.run(create(Label(label="a", color="red")))
    db.run(Label.primary("a").update(Label.label.set("b")))
    assert kinds(db.stream_events(Label))[1:] == [("Moved", "Label")]


def test_a_move_keeps_the_order_of_the_changes_of_an_item(db: Database) -> None:
    """The later label looks like the deleted one moved, but its old place has another label."""
    for label, color in (("a", "red"), ("b", "red")):
        db.run(put(Label(label=label, color=color)))
        if label == "a":
            db.run(Label.primary("a").delete())
            db.run(put(Label(label="a", color="blue")))
    assert [type(event) for event in db.stream_events(Label)] == [
        Created,
        Deleted,
        Created,
        Created,
    ]


def test_a_deleted_and_a_created_item_are_no_move(db: Database) -> None:
    order = db.run(create(Order(customer="ann", order_id="1")))
    assert order is not None
    db.run(transact(Order.primary("ann", "1").delete(), create(Order(customer="b", order_id="2"))))
    db.run(create(Label(label="a", color="red")))
    db.run(transact(Label.primary("a").delete(), create(Label(label="b", color="blue"))))
    assert [kind for kind, _ in kinds(db.stream_events(Order, Label))] == [
        *("Created", "Deleted", "Created", "Created", "Deleted", "Created"),
    ]


# -- checkpoints ---------------------------------------------------------------------------------


def test_reading_goes_on_behind_a_checkpoint(db: Database) -> None:
    for number in range(10):
        db.run(create(Order(customer="ann", order_id=str(number))))
    seen: list[str] = []
    checkpoint: str | None = None
    while True:  # a program that stops after every third event
        events = db.stream_events(Order, after=checkpoint)
        for count, event in enumerate(events):
            assert isinstance(event, Created)
            seen.append(event.new.order_id)
            if count == 2:
                break
        if events.checkpoint == checkpoint:
            break
        checkpoint = events.checkpoint
    assert seen == [str(number) for number in range(10)]


def test_a_checkpoint_between_the_records_of_a_move_repeats_the_move() -> None:
    with Engine() as engine, connect(engine, Shop) as db:
        db.run(create(Order(customer="ann", order_id="1")))
        move = Order.primary("ann", "1").update(Order.customer.set("bob"))
        db.run(transact(move, create(Label(label="a", color="red"))))
        for stop in range(1, 4):
            events = db.stream_events(Order, Label)
            found = [event for _, event in zip(range(stop), events, strict=False)]
            rest = db.stream_events(Order, Label, after=events.checkpoint)
            names = {type(event).__name__ for event in (*found, *rest)}
            assert names == {"Created", "Moved"}


def test_latest_begins_with_the_next_change(db: Database) -> None:
    db.run(create(Order(customer="ann", order_id="1")))
    events = db.stream_events(Order, start="LATEST")
    assert list(events) == []
    db.run(create(Order(customer="ann", order_id="2")))
    (event,) = events
    assert isinstance(event, Created)
    assert event.new.order_id == "2"


def test_a_checkpoint_of_latest_loses_nothing(db: Database) -> None:
    events = db.stream_events(Order, start="LATEST")
    assert list(events) == []
    db.run(create(Order(customer="ann", order_id="2")))
    assert kinds(db.stream_events(Order, after=events.checkpoint)) == [("Created", "Order")]


@pytest.mark.parametrize("given", ["nonsense", 5])
def test_a_damaged_checkpoint_is_refused(db: Database, given: Any) -> None:
    with pytest.raises(InvalidCursor, match=f"not a checkpoint of a stream: {given!r}"):
        db.stream_events(Order, after=given)


# -- shards and streams --------------------------------------------------------------------------


@pytest.mark.parametrize("shards", [1, 3])
def test_parents_are_read_before_children(shards: int) -> None:
    with Engine(stream_shards=shards) as engine, connect(engine, Shop) as db:
        for number in range(30):
            db.run(put(Label(label=f"c{number % 5}", color=str(number))))
            if number % 7 == 6:
                engine.rotate_shards("shop", children=2)
        colors: dict[str, list[int]] = {}
        for event in db.stream_events(Label):
            assert isinstance(event, (Created, Updated))
            colors.setdefault(event.new.label, []).append(int(event.new.color))
        assert colors == {f"c{n}": list(range(n, 30, 5)) for n in range(5)}


def test_shards_that_appear_while_reading_are_read() -> None:
    with Engine() as engine, connect(engine, Shop) as db:
        db.run(put(Order(customer="a", order_id="1")))
        events = db.stream_events(Order)
        assert len(list(events)) == 1
        engine.rotate_shards("shop")
        db.run(put(Order(customer="a", order_id="2")))
        assert len(list(events)) == 1
        assert len(list(db.stream_events(Order, after=events.checkpoint))) == 0


def test_a_new_stream_follows_the_old_one() -> None:
    with Engine() as engine, connect(engine, Shop) as db:
        db.run(put(Order(customer="a", order_id="1")))
        events = db.stream_events(Order)
        assert len(list(events)) == 1
        db.run(put(Order(customer="a", order_id="2")))
        for specification in (
            {"StreamEnabled": False},
            {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        ):
            request = {"TableName": "shop", "StreamSpecification": specification}
            engine.call("UpdateTable", request)
        db.run(put(Order(customer="a", order_id="3")))
        found = [event.new.order_id for event in events if isinstance(event, Created)]
        assert found == ["2", "3"]


def test_trimmed_records_are_an_error_that_says_so() -> None:
    with Engine() as engine, connect(engine, Shop) as db:
        for number in range(3):
            db.run(put(Order(customer="a", order_id=str(number))))
        events = db.stream_events(Order)
        next(iter(events))
        engine.trim(datetime.now(UTC).timestamp() + 25 * 3600)
        with pytest.raises(InvalidCursor, match="no longer has the records"):
            list(db.stream_events(Order, after=events.checkpoint))


# -- images and mistakes -------------------------------------------------------------------------


class Small(Table, name="small", stream="NEW_IMAGE"):
    pass


class Note(NamedEntity, table=Small):
    text: Attr[str] = attr()


class Bare(Table, name="bare", stream="KEYS_ONLY"):
    pass


class Mark(NamedEntity, table=Bare): ...


def test_a_stream_without_old_images_says_so_when_one_is_used() -> None:
    with connect(":memory:", Small) as db:
        db.run(create(Note(name="1", text="a")))
        db.run(Note.primary("1").update(Note.text.set("b")))
        db.run(Note.primary("1").delete())
        created, updated, deleted = db.stream_events(Note)
        assert isinstance(created, Created)
        assert isinstance(updated, Updated)
        assert isinstance(deleted, Deleted)
        assert (created.new.text, updated.new.text) == ("a", "b")
        for use in (lambda: updated.old, lambda: updated.changed, lambda: deleted.old):
            with pytest.raises(InvalidValue, match=r"no old image \(NEW_IMAGE\)"):
                use()


def test_typed_events_of_keys_only_are_refused() -> None:
    with connect(":memory:", Bare) as db, pytest.raises(DeclarationError, match="KEYS_ONLY"):
        db.stream_events(Mark)
    with pytest.raises(DeclarationError, match="KEYS_ONLY"):

        @stream_handler(Bare)  # refused when the module is imported
        def handle(event: StreamEvent[Any]) -> None: ...


def test_a_table_without_a_stream_is_an_error_that_names_the_fix() -> None:
    with (
        connect(":memory:", Things) as db,
        pytest.raises(InvalidValue, match="has no stream; decl"),
    ):
        list(db.stream_events(Thing))


def test_what_is_no_entity_is_refused(db: Database) -> None:
    with pytest.raises(InvalidValue, match="<class 'int'> has no stream events"):
        db.stream_events(int)
    with pytest.raises(InvalidValue, match="start='OLDEST'"):
        db.stream_events(Order, start="OLDEST")  # type: ignore[call-overload]


def test_an_unreadable_item_does_not_stop_the_stream() -> None:
    with Engine() as engine, connect(engine, Shop) as db:
        item = {"PK": {"S": "CUSTOMER#a"}, "SK": {"S": "ORDER#1"}, "type": {"S": "Order"}}
        engine.call("PutItem", {"TableName": "shop", "Item": item | {"total": {"S": "x"}}})
        db.run(create(Order(customer="ann", order_id="2")))
        damaged, created = db.stream_events(Order)
        assert isinstance(damaged, Created)
        with pytest.raises(UnreadableItem):
            _ = damaged.new
        assert isinstance(created, Created)
        assert created.new.order_id == "2"


def test_asynchronous_events() -> None:
    async def read() -> list[str]:
        async with connect_async(":memory:", Shop) as db:
            await db.run(create(Order(customer="ann", order_id="1")))
            events = db.stream_events(Order)
            found = [type(event).__name__ async for event in events]
            await db.run(create(Order(customer="ann", order_id="2")))
            after = db.stream_events(Order, after=events.checkpoint)
            return found + [type(event).__name__ async for event in after]

    assert asyncio.run(read()) == ["Created", "Created"]


def test_following_goes_on_when_there_is_something_new() -> None:
    with connect(":memory:", Shop) as db:
        db.run(create(Order(customer="ann", order_id="1")))
        seen = []
        for event in db.stream_events(Order, follow=True, poll_seconds=0):
            assert isinstance(event, Created)
            seen.append(event.new.order_id)
            if len(seen) == 3:
                break
            db.run(create(Order(customer="ann", order_id=str(len(seen) + 1))))
        assert seen == ["1", "2", "3"]


# -- Lambda --------------------------------------------------------------------------------------


def lambda_event(engine: Engine) -> dict[str, Any]:
    """Return all records of the shop as Lambda sends them."""
    (stream,) = engine.call("ListStreams", {"TableName": "shop"})["Streams"]
    arn = stream["StreamArn"]
    shards = engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
    records = []
    for shard in shards:
        start = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = engine.call("GetShardIterator", start)["ShardIterator"]
        records += engine.call("GetRecords", {"ShardIterator": iterator})["Records"]
    for record in records:
        record["eventSourceARN"] = arn
        if "userIdentity" in record:
            identity = record["userIdentity"]
            record["userIdentity"] = {
                "type": identity["Type"],
                "principalId": identity["PrincipalId"],
            }
    return {"Records": records}


@pytest.fixture
def event() -> Iterator[dict[str, Any]]:
    with Engine() as engine, connect(engine, Shop) as db:
        db.run(create(Order(customer="ann", order_id="1")))
        db.run(create(Customer(name="ann", email="ann@x")))
        db.run(Order.primary("ann", "1").update(Order.customer.set("bob")))
        db.run(
            create(
                Session(
                    token="a", until=datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
                )
            )
        )
        engine.expire()
        yield lambda_event(engine)


def test_a_lambda_event_is_parsed(event: dict[str, Any]) -> None:
    assert kinds(parse_stream(event, Shop)) == [
        ("Created", "Order"),
        ("Created", "Customer"),
        ("Moved", "Order"),
        ("Created", "Session"),
        ("Expired", "Session"),
    ]
    assert kinds(parse_stream(event["Records"], Order, Session)) == [
        *(("Created", "Order"), ("Moved", "Order"), ("Created", "Session"), ("Expired", "Session")),
    ]


def test_a_handler_reports_the_event_at_which_it_failed(event: dict[str, Any]) -> None:
    seen: list[StreamEvent[Any]] = []

    @stream_handler(Shop)
    def handle(found: StreamEvent[Any]) -> None:
        if isinstance(found, Moved):
            raise RuntimeError("no")
        seen.append(found)

    numbers = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
    removed = next(
        record["dynamodb"]["SequenceNumber"]
        for record in event["Records"]
        if record["eventName"] == "REMOVE"
    )
    assert handle(event, None) == {"batchItemFailures": [{"itemIdentifier": removed}]}
    assert len(seen) == 2
    rest = {"Records": event["Records"][numbers.index(removed) :]}
    assert kinds(parse_stream(rest, Shop))[0] == ("Moved", "Order")


def test_a_handler_that_succeeds_reports_no_failures(event: dict[str, Any]) -> None:
    assert stream_handler(Shop)(lambda _: None)(event, None) == {"batchItemFailures": []}


def test_a_handler_cannot_be_asynchronous() -> None:
    async def handle(_: StreamEvent[Any]) -> None: ...

    with pytest.raises(InvalidValue, match=r"handle is asynchronous; Lambda calls a handler"):
        stream_handler(Shop)(handle)  # type: ignore[arg-type] # what is tested


NO_ID = {"eventName": "INSERT", "dynamodb": {"Keys": {}}}


@pytest.mark.parametrize(
    "wrong", [None, {}, {"Records": 1}, {"Records": [{}]}, {"Records": [NO_ID]}, [1]]
)
def test_what_is_no_event_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValue, match=r"not (an event|a record) of a DynamoDB stream"):
        parse_stream(wrong, Shop)


def test_deleted_and_new_items_are_not_all_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue deletes and creates items all the time; n * n comparisons would take minutes."""
    compared = 0

    def compare(*arguments: Any) -> int:
        nonlocal compared
        compared += 1
        return _likeness(*arguments)

    monkeypatch.setattr("tablewright.plan.streams.events._likeness", compare)
    with Engine() as engine, connect(engine, Shop) as db:
        for number in map(str, range(10)):
            db.run(create(Order(customer="ann", order_id=number)))
            db.run(create(Label(label=number, color=number)))
            db.run(Order.primary("ann", number).delete())
            db.run(Label.primary(number).delete())
        found = parse_stream(lambda_event(engine), Order, Label)
    assert {type(each) for each in found} == {Created, Deleted}
    assert compared == 0  # a label and its own deletion are no candidates


def test_entities_of_two_tables_are_refused(event: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match="of Shop, Small"):
        parse_stream(event, Order, Note)


def test_streams_of_aws_have_a_host_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine() as engine, serving(engine) as url, connect(url, Shop, create=True) as db:
        remote = Remote("http://127.0.0.1:1", region="us-east-1", credentials=lambda: CREDENTIALS)
        remote._streams_url = url
        db.run(create(Order(customer="ann", order_id="1")))
        assert json.loads(remote.send("ListStreams", {"TableName": "shop"}).body)["Streams"]
        remote.close()
        with pytest.raises(StoreClosed):
            remote.send("ListStreams", {})
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    aws = Remote.aws("eu-west-1")
    assert aws._streams_url == "https://streams.dynamodb.eu-west-1.amazonaws.com"
