"""Every operation and every member of botocore's model is classified in `members.txt`."""

from __future__ import annotations

import pytest

from tablewright import Engine
from tablewright.errors import UnknownOperationException, ValidationException
from tablewright.wire.operations import OPERATIONS
from tests.wire.service_model import MODELS, unknown_members
from tests.wire.support import PAGE, STATES, members_of, page, read_states

CLASSIFIED = read_states()


def test_every_operation_is_classified() -> None:
    assert CLASSIFIED.keys() == MODELS.keys()
    assert {state for state, _ in CLASSIFIED.values()} <= set(STATES)


@pytest.mark.parametrize("operation", MODELS)
def test_every_member_is_classified(operation: str) -> None:
    _, members = CLASSIFIED[operation]
    assert sorted(members) == sorted(members_of(operation))
    assert set(members.values()) <= set(STATES)


@pytest.mark.parametrize("operation", sorted(MODELS.keys() - OPERATIONS.keys()))
def test_an_operation_that_is_not_there_is_refused(operation: str) -> None:
    state, members = CLASSIFIED[operation]
    assert {state, *members.values()} == {"refused"}
    with Engine() as engine, pytest.raises(UnknownOperationException):
        engine.call(operation, {})


def test_members_that_are_not_read_are_ignored_or_refused_with_their_operation() -> None:
    unread = set(unknown_members())
    ignored = {
        f"{operation}.{member}"
        for operation, (state, members) in CLASSIFIED.items()
        for member, each in members.items()
        if each == "ignored" and state != "refused"
    }
    roots = {path for path in ignored if path in unread}
    assert roots == {path for path in unread if CLASSIFIED[path.split(".")[0]][0] != "refused"}
    assert all(any(path.startswith(root) for root in roots) for path in ignored)


def test_the_page_has_the_table() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


INDEX = [{"IndexName": "vectors"}]
TABLE = {
    "TableName": "table",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
}
ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/table/backup/01489602797149-73d8d5bc"


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("CreateTable", {**TABLE, "BillingMode": "PAY_PER_REQUEST", "VectorIndexes": INDEX}),
        (
            "ImportTable",
            {
                "S3BucketSource": {"S3Bucket": "bucket"},
                "InputFormat": "CSV",
                "TableCreationParameters": {**TABLE, "VectorIndexes": INDEX},
            },
        ),
        (
            "RestoreTableFromBackup",
            {"BackupArn": ARN, "TargetTableName": "new", "VectorIndexOverride": INDEX},
        ),
    ],
)
def test_vector_indexes_are_refused(operation: str, request_: dict[str, object]) -> None:
    with Engine() as engine, pytest.raises(ValidationException, match=r"[Vv]ector"):
        engine.call(operation, request_)
