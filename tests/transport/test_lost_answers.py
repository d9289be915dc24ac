"""Writes whose answers are lost: what is done once, and what is told where that is not known."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    batch_write,
    connect,
    create,
    delete,
    history,
    index,
    key,
    put,
    transact,
    unique,
    version,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import (
    MAYBE_APPLIED,
    AlreadyExists,
    ConditionalCheckFailedException,
    EndpointUnavailable,
    TransactionCanceledException,
    UniqueViolation,
    VersionConflict,
)
from tablewright.observe import RequestEvent
from tests.transport import proxy as steps
from tests.transport.conftest import MakeClient
from tests.transport.proxy import (
    Proxy,
    Step,
    fault,
    for_each_step,
    forward,
    patience_with,
    replying,
)


class Bank(Table, name="bank"):
    ranking = GSI("GSI1PK", "GSI1SK")


class Change(Entity, table=Bank):
    account_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    version: Attr[int] = attr(pad=4)

    primary = key("ACCOUNT" / account_id, "CHANGE" / version)


class Account(Entity, table=Bank):
    account_id: Attr[str] = attr()
    owner: Attr[str] = attr()
    version: Attr[int] = version()

    primary = key("ACCOUNT" / account_id, "ACCOUNT")
    owners = history(
        owner, Change, old=Change.old, new=Change.new, at=Change.at, version=Change.version
    )


class Member(Entity, table=Bank):
    member_id: Attr[str] = attr()
    email: Attr[str] = attr()

    primary = key("MEMBER" / member_id, "MEMBER")
    by_email = unique("EMAIL" / email)


class Note(Entity, table=Bank):
    note_id: Attr[str] = attr()
    text: Attr[str] = attr()
    size: Attr[float] = attr(default=1.50)
    tags: Attr[set[str]] = attr(default_factory=set)

    primary = key("NOTE" / note_id, "NOTE")


class Page(Entity, table=Bank):
    page_id: Attr[str] = attr()
    text: Attr[str] = attr()
    version: Attr[int] = version()

    primary = key("PAGE" / page_id, "PAGE")


class Counter(Entity, table=Bank):
    counter_id: Attr[str] = attr()
    count: Attr[int] = attr(default=0)

    primary = key("COUNTER" / counter_id, "COUNTER")


class Score(Entity, table=Bank):
    player: Attr[str] = attr()
    points: Attr[int] = attr(default=0, pad=4)

    primary = key("SCORE" / player, "SCORE")
    ranking = index(Bank.ranking, "RANKING", "POINTS" / points / player)


@pytest.fixture
def db(engine: Engine) -> Iterator[Database]:
    """The same database, without a proxy before it."""
    with connect(engine, Bank) as database:
        yield database


#: The write is done, and its answer does not come.
LOST = {
    "closed when it was done": steps.cut_when_done,
    "closed in the body of the answer": steps.cut_in_the_body,
    "a wrong checksum": steps.wrong_checksum,
    "no answer in time": steps.hang_when_done,
}
losing = for_each_step("lose", LOST)


# -- transactions --------------------------------------------------------------------------------


@losing
def test_a_transaction_whose_answers_are_lost_is_done_once(
    lose: Step, db: Database, proxy: Proxy, client: MakeClient
) -> None:
    db.run(create(Account(account_id="1", owner="Ann")))
    proxy.script = [forward, lose, lose]  # it reads first
    changed = client(response_seconds=patience_with(lose)).run(
        Account.primary("1").update(Account.owner.set("Bob")), Bank
    )
    assert (changed.owner, changed.version) == ("Bob", 2)
    assert [change.new for change in db.run(Change.primary.within("1"))] == ["Bob"]
    sent = [each for each in proxy.seen if each.operation == "TransactWriteItems"]
    assert len(sent) == 3
    assert len({each.json["ClientRequestToken"] for each in sent}) == 1


def test_two_transactions_have_two_tokens(proxy: Proxy, client: MakeClient, db: Database) -> None:
    sender = client()
    for name in ("a", "b"):
        sender.run(create(Member(member_id=name, email=name)), Bank)
    assert len({each.json["ClientRequestToken"] for each in proxy.seen}) == 2


def test_a_transaction_of_statements_has_a_token(proxy: Proxy, client: MakeClient) -> None:
    put_b = {"Statement": "INSERT INTO things VALUE {'k': 'b'}"}
    client().send("ExecuteTransaction", {"TransactStatements": [put_b]})
    assert proxy.seen[0].json["ClientRequestToken"]


def test_a_token_of_the_callers_is_kept(proxy: Proxy, client: MakeClient) -> None:
    put_b = {"Put": {"TableName": "things", "Item": {"k": {"S": "b"}}}}
    client().send("TransactWriteItems", {"TransactItems": [put_b], "ClientRequestToken": "mine"})
    assert proxy.seen[0].json["ClientRequestToken"] == "mine"


def test_a_cancelled_transaction_is_certain_even_if_an_answer_was_lost(
    proxy: Proxy, client: MakeClient
) -> None:
    """Its token says that no attempt was done before: so the fault has no note."""
    proxy.script = [steps.cut]
    put_a = {"TableName": "things", "Item": {"k": {"S": "a"}}}
    refused = {"Put": {**put_a, "ConditionExpression": "attribute_not_exists(k)"}}
    with pytest.raises(TransactionCanceledException) as caught:
        client().send("TransactWriteItems", {"TransactItems": [refused]})
    assert not caught.value.maybe_applied
    assert len(proxy.seen) == 2


@losing
def test_an_entity_with_a_unique_value_is_created_once(
    lose: Step, db: Database, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [lose]
    sender = client(response_seconds=patience_with(lose))
    sender.run(create(Member(member_id="1", email="a@b")), Bank)
    with pytest.raises(UniqueViolation):
        sender.run(create(Member(member_id="2", email="a@b")), Bank)


def test_whatever_happens_on_the_way_every_transaction_is_done_once(
    db: Database, proxy: Proxy, client: MakeClient, engine: Engine
) -> None:
    """Up to three of the four attempts of each fail, in any way that is not throttling."""
    chance = random.Random(20260115)
    ways = [
        steps.cut,
        steps.reset,
        steps.cut_when_done,
        steps.cut_in_the_head,
        steps.cut_in_the_body,
        steps.wrong_checksum,
        replying(b"nonsense"),
        replying(fault("InternalServerError", "oops", 500)),
    ]
    sender = client()
    db.run(create(Counter(counter_id="1")))
    for number in range(20):
        proxy.script = chance.choices(ways, k=chance.randrange(4))
        add = Counter.primary("1").update(Counter.count.increment(1))
        sender.run(transact(add, create(Note(note_id=str(number), text=""))), Bank)
    counted = db.run(Counter.primary("1"))
    assert counted is not None
    assert counted.count == 20
    assert not engine.check().problems


# -- puts under a condition ----------------------------------------------------------------------


@losing
def test_a_create_that_meets_its_own_item_has_succeeded(
    lose: Step, db: Database, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [lose, lose]
    note = Note(note_id="1", text="x", tags={"b", "a"})
    assert client(response_seconds=patience_with(lose)).run(create(note), Bank) is note
    assert db.run(Note.primary("1")) == note
    assert len(proxy.seen) == 3


@losing
def test_a_put_of_a_version_that_meets_its_own_item_has_succeeded(
    lose: Step, db: Database, proxy: Proxy, client: MakeClient
) -> None:
    page = db.run(create(Page(page_id="1", text="a")))
    page.text = "b"
    proxy.script = [lose]
    assert client(response_seconds=patience_with(lose)).run(put(page), Bank).version == 2
    assert db.run(Page.primary("1")) == page


def test_a_create_whose_answer_is_lost_and_that_meets_another_item_is_refused(
    db: Database, proxy: Proxy, client: MakeClient
) -> None:
    def another_is_faster(exchange: steps.Exchange) -> None:
        db.run(create(Note(note_id="1", text="another")))
        steps.cut(exchange)

    proxy.script = [another_is_faster]
    with pytest.raises(AlreadyExists) as caught:
        client().run(create(Note(note_id="1", text="mine")), Bank)
    assert caught.value.current == Note(note_id="1", text="another")


def test_a_create_that_meets_an_equal_item_at_once_is_refused(
    db: Database, client: MakeClient
) -> None:
    db.run(create(Note(note_id="1", text="x")))
    with pytest.raises(AlreadyExists):
        client().run(create(Note(note_id="1", text="x")), Bank)


def test_a_create_that_was_only_throttled_is_refused_if_it_meets_an_equal_item(
    db: Database, proxy: Proxy, client: MakeClient
) -> None:
    """What is throttled has not been done: somebody else put the item."""
    db.run(create(Note(note_id="1", text="x")))
    proxy.script = [replying(fault("ThrottlingException"))]
    with pytest.raises(AlreadyExists):
        client().run(create(Note(note_id="1", text="x")), Bank)


#: `n` and `m` are not in their normal form; the endpoint gives them back in it.
ITEM: dict[str, Any] = {"k": {"S": "b"}, "n": {"N": "1.50"}, "m": {"NS": ["10", "9"]}}
NEW: dict[str, Any] = {
    "TableName": "things",
    "Item": ITEM,
    "ConditionExpression": "attribute_not_exists(k)",
    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
}


def test_items_are_compared_by_value(proxy: Proxy, client: MakeClient) -> None:
    proxy.script = [steps.cut_when_done]
    assert client().send("PutItem", NEW).body == b"{}"


@pytest.mark.parametrize(
    "changes",
    [
        {"ReturnValuesOnConditionCheckFailure": "NONE"},
        {"ReturnValues": "ALL_OLD"},
    ],
)
def test_a_put_that_cannot_be_told_from_anothers_has_a_note(
    changes: dict[str, Any], proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [steps.cut_when_done]
    with pytest.raises(ConditionalCheckFailedException) as caught:
        client().send("PutItem", {**NEW, **changes})
    assert caught.value.maybe_applied


# -- updates and deletes under a condition -------------------------------------------------------

COUNT: dict[str, Any] = {
    "TableName": "things",
    "Key": {"k": {"S": "a"}},
    "UpdateExpression": "SET n = n + :one",
    "ExpressionAttributeValues": {":one": {"N": "1"}},
}
COUNT_ONCE: dict[str, Any] = {**COUNT, "ConditionExpression": "n = :one"}
DELETE_ONCE: dict[str, Any] = {
    "TableName": "things",
    "Key": {"k": {"S": "a"}},
    "ConditionExpression": "attribute_exists(k)",
}


@losing
@pytest.mark.parametrize(
    ("operation", "request_", "left"),
    [
        ("UpdateItem", COUNT_ONCE, {"k": {"S": "a"}, "n": {"N": "2"}}),
        ("DeleteItem", DELETE_ONCE, None),
    ],
)
def test_a_write_under_a_condition_is_done_once_and_the_fault_says_that_it_may_be(
    lose: Step,
    operation: str,
    request_: dict[str, Any],
    left: dict[str, Any] | None,
    proxy: Proxy,
    client: MakeClient,
    engine: Engine,
) -> None:
    proxy.script = [lose]
    with pytest.raises(ConditionalCheckFailedException) as caught:
        client(response_seconds=patience_with(lose)).send(operation, request_)
    assert caught.value.maybe_applied
    key = {"TableName": "things", "Key": {"k": {"S": "a"}}}
    assert engine.call("GetItem", key).get("Item") == left


@pytest.mark.parametrize("answered", [forward, replying(fault("ThrottlingException"))])
def test_a_fault_after_attempts_that_did_nothing_has_no_note(
    answered: Step, proxy: Proxy, client: MakeClient, engine: Engine
) -> None:
    engine.call("UpdateItem", COUNT)
    proxy.script = [answered]
    with pytest.raises(ConditionalCheckFailedException) as caught:
        client().send("UpdateItem", COUNT_ONCE)
    assert not caught.value.maybe_applied


def test_a_versioned_update_is_done_once(db: Database, proxy: Proxy, client: MakeClient) -> None:
    page = db.run(create(Page(page_id="1", text="a")))
    proxy.script = [steps.cut_when_done]
    with pytest.raises(VersionConflict):
        client().run(
            Page.primary("1").update(Page.text.set("b")).condition(Page.version == page.version),
            Bank,
        )
    found = db.run(Page.primary("1"))
    assert found is not None
    assert (found.text, found.version) == ("b", 2)


def test_a_versioned_delete_is_done_once(db: Database, proxy: Proxy, client: MakeClient) -> None:
    page = db.run(create(Page(page_id="1", text="a")))
    proxy.script = [steps.cut_when_done]
    with pytest.raises(VersionConflict):
        client().run(delete(page), Bank)
    assert db.run(Page.primary("1")) is None


def test_a_refused_write_says_that_an_earlier_attempt_may_have_done_it(
    db: Database, proxy: Proxy, client: MakeClient
) -> None:
    page = db.run(create(Page(page_id="1", text="a")))
    proxy.script = [steps.cut_when_done]
    with pytest.raises(VersionConflict) as caught:
        client().run(delete(page), Bank)
    assert caught.value.maybe_applied
    assert str(caught.value).endswith(MAYBE_APPLIED)


def test_an_update_that_reads_what_it_adds_to_is_not_done_twice(
    db: Database, proxy: Proxy, client: MakeClient
) -> None:
    """Its guard fails because of what it did itself: to read again and to repeat it would add
    twice."""
    db.run(create(Score(player="1")))
    proxy.script = [forward, steps.cut_when_done]
    with pytest.raises(EndpointUnavailable, match="may have been applied"):
        client().run(Score.primary("1").update(Score.points.increment(5)), Bank)
    found = db.run(Score.primary("1"))
    assert found is not None
    assert found.points == 5


# -- other writes --------------------------------------------------------------------------------


def test_an_update_that_adds_may_be_done_twice(
    proxy: Proxy, client: MakeClient, engine: Engine
) -> None:
    """As with every SDK: nothing tells the endpoint that it is the same request. Where that
    matters, a version or a transaction does it once."""
    proxy.script = [steps.cut_when_done]
    client().send("UpdateItem", COUNT)
    key = {"TableName": "things", "Key": {"k": {"S": "a"}}}
    assert engine.call("GetItem", key)["Item"]["n"] == {"N": "3"}


def test_with_one_attempt_no_write_is_done_twice(
    proxy: Proxy, client: MakeClient, engine: Engine
) -> None:
    sender = client(attempts=1)
    sender.send("UpdateItem", COUNT)
    proxy.script = [steps.cut_when_done]
    with pytest.raises(EndpointUnavailable, match="may have been applied"):
        sender.send("UpdateItem", COUNT)
    key = {"TableName": "things", "Key": {"k": {"S": "a"}}}
    assert engine.call("GetItem", key)["Item"]["n"] == {"N": "3"}


def test_a_batch_whose_answer_is_lost_has_the_same_effect(
    db: Database, proxy: Proxy, client: MakeClient
) -> None:
    notes = [Note(note_id=str(number), text="x") for number in range(30)]
    proxy.script = [steps.cut_when_done, forward, steps.cut_in_the_body]
    client().run(batch_write(put(note) for note in notes), Bank)
    assert all(db.run(Note.primary(note.note_id)) == note for note in notes)


def test_a_table_is_made_once(engine: Engine, proxy: Proxy) -> None:
    proxy.script = [forward, steps.cut_when_done]
    with connect(proxy.url, Bank, create=True) as database:
        database.run(create(Note(note_id="1", text="x")))
    assert "bank" in engine.call("ListTables", {})["TableNames"]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (steps.cut_when_done, True),
        (replying(fault("InternalServerError", "oops", 500)), True),
        (replying(fault("ProvisionedThroughputExceededException", "slow")), False),
    ],
)
def test_the_last_error_of_a_write_says_whether_it_may_have_been_done(
    step: Step, told: bool, proxy: Proxy, client: MakeClient
) -> None:
    proxy.script = [step] * 2
    with pytest.raises(EndpointUnavailable) as caught:
        client(attempts=2).send("PutItem", {"TableName": "things", "Item": {"k": {"S": "b"}}})
    assert caught.value.maybe_applied is told
    assert (MAYBE_APPLIED in str(caught.value)) is told


def test_the_last_error_of_a_read_says_nothing_of_that(proxy: Proxy, client: MakeClient) -> None:
    proxy.script = [steps.cut_when_done]
    with pytest.raises(EndpointUnavailable) as caught:
        client(attempts=1).send("Scan", {"TableName": "things"})
    assert not caught.value.maybe_applied


def test_an_observer_learns_the_number_of_attempts(proxy: Proxy, engine: Engine) -> None:
    events: list[RequestEvent] = []
    failing = replying(fault("InternalServerError", "oops", 500))
    with connect(proxy.url, Bank, create=True, observe=events.append) as database:
        events.clear()
        proxy.script = [failing]
        database.run(Note.primary("1"))
        proxy.script = [failing] * 4
        with pytest.raises(EndpointUnavailable):
            database.run(Note.primary("1"))
    assert [(event.attempts, event.error) for event in events] == [
        (2, ""),
        (4, "InternalServerError"),
    ]
