"""A template changes the table: a migration waits for indexes, TTL and stream."""

from __future__ import annotations

from datetime import datetime
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
    create,
    index,
    key,
    migrations,
    ttl,
)
from tablewright.errors import MigrationRefused
from tablewright.model.databases.database import Database
from tablewright.transport import Response
from tablewright.transport.targets import Local
from tests.transports import RecordingTransport


class OldStore(Table, name="store"):
    pass


class OldGood(Entity, table=OldStore, type_name="Good"):
    good_id: Attr[str] = attr()
    kind: Attr[str] = attr()
    primary = key("GOOD" / good_id, "GOOD")


class Store(Table, name="store", stream="KEYS_ONLY"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Good(Entity, table=Store):
    good_id: Attr[str] = attr()
    kind: Attr[str] = attr()
    until: Attr[datetime | None] = ttl()
    primary = key("GOOD" / good_id, "GOOD")
    by_kind = index(Store.gsi1, "KIND" / kind, "GOOD" / good_id)


INDEX = {
    "IndexName": "gsi1",
    "KeySchema": [
        {"AttributeName": "GSI1PK", "KeyType": "HASH"},
        {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
    ],
    "Projection": {"ProjectionType": "ALL"},
}
TYPES = [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")]


class Stack(RecordingTransport):
    """A table that a template changes: each change is deployed while an executor waits for it."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(Local(engine))
        self.engine = engine
        self.awaited: list[str] = []
        self._pending = ""
        self.stream = "KEYS_ONLY"

    def follow(self, progress: migrations.MigrationProgress) -> None:
        if progress.awaits:
            self.awaited.append(progress.awaits)
            self._pending = progress.step.name

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        if operation == "UpdateItem" and self._pending:  # the executor has looked, and waits
            self._deploy(self._pending)
            self._pending = ""
        return super().send(operation, request)

    def _deploy(self, step: str) -> None:
        update: dict[str, Any] = {"TableName": "store"}
        match step:
            case "create-index":
                update["AttributeDefinitions"] = TYPES
                update["GlobalSecondaryIndexUpdates"] = [{"Create": INDEX}]
            case "delete-index":
                deletion = {"Delete": {"IndexName": "gsi1"}}
                update["GlobalSecondaryIndexUpdates"] = [deletion]
            case "enable-stream":
                view = {"StreamEnabled": True, "StreamViewType": self.stream}
                update["StreamSpecification"] = view
            case "enable-ttl":
                update["TimeToLiveSpecification"] = {"AttributeName": "until", "Enabled": True}
        operation = "UpdateTimeToLive" if step == "enable-ttl" else "UpdateTable"
        self.engine.call(operation, update)


@pytest.fixture
def stack(engine: Engine) -> Stack:
    db = connect(engine, OldStore)
    for number in range(3):
        db.run(create(OldGood(good_id=str(number), kind="tool")))
    migrations.baseline(db, OldStore)
    return Stack(engine)


def opened(stack: Stack) -> Database:
    return connect(stack.engine, OldStore).through(stack)


def test_a_migration_waits_for_what_a_template_does(stack: Stack) -> None:
    db = opened(stack)
    (done,) = migrations.apply(db, Store, by_template=True, progress=stack.follow)
    assert [each.name for each in done.steps] == [
        *("check", "create-index", "enable-stream", "rewrite", "await-programs", "verify"),
        *("enable-ttl", "switch"),
    ]
    assert stack.awaited == [
        "the index gsi1, until it is ACTIVE",
        "the stream, with KEYS_ONLY",
        "TTL by the attribute until",
    ]
    assert {"UpdateTable", "UpdateTimeToLive"}.isdisjoint(stack.operations)
    assert len(connect(stack.engine, Store).run(Good.by_kind("tool"))) == 3


def test_a_rollback_waits_until_a_template_has_deleted_the_index(stack: Stack) -> None:
    db = opened(stack)
    migrations.apply(stack.engine, Store)
    migrations.rollback(db, OldStore, by_template=True, progress=stack.follow)
    assert stack.awaited == ["the deletion of the index gsi1"]
    assert "UpdateTable" not in stack.operations
    assert connect(stack.engine, OldStore).run(OldGood.primary("1")) is not None


def test_another_stream_than_the_declared_one_is_refused(stack: Stack) -> None:
    db = opened(stack)
    stack.stream = "NEW_IMAGE"
    with pytest.raises(MigrationRefused, match="has the stream NEW_IMAGE, and the design declares"):
        migrations.apply(db, Store, by_template=True, progress=stack.follow)
