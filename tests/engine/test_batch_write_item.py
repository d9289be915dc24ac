from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, Refused, item

OLD = item(pk="a", sk="0", v="old")
KEY = item(pk="a", sk="0")


@pytest.fixture
def full(db: Database) -> str:
    return db.table(glob={"glob": ("g:S", "ALL")}, items=[OLD])


def put(**attributes: Any) -> Json:
    return {"PutRequest": {"Item": item(**attributes)}}


def delete(**key: Any) -> Json:
    return {"DeleteRequest": {"Key": item(**key)}}


def write(table: str, *writes: Json) -> Json:
    return {"RequestItems": {table: list(writes)}}


def test_puts_and_deletes_are_done(db: Database, full: str) -> None:
    request = write(full, put(pk="a", sk="1"), delete(pk="a", sk="0"), put(pk="b", sk="1"))
    assert db.call("BatchWriteItem", request) == {"UnprocessedItems": {}}
    found = db.items(full)
    assert len(found) == 2
    assert item(pk="a", sk="1") in found
    assert item(pk="b", sk="1") in found


def test_a_put_takes_the_place_of_an_item(db: Database, full: str) -> None:
    db.call("BatchWriteItem", write(full, put(pk="a", sk="0", v="new")))
    assert db.items(full) == [KEY | item(v="new")]


def test_a_delete_of_nothing_is_no_mistake(db: Database, full: str) -> None:
    db.call("BatchWriteItem", write(full, delete(pk="z", sk="0")))
    assert db.items(full) == [OLD]


def test_several_tables_may_be_written(db: Database, full: str) -> None:
    other = db.table("pk:N")
    request = {"RequestItems": {full: [delete(pk="a", sk="0")], other: [put(pk=1)]}}
    db.call("BatchWriteItem", request)
    assert (db.items(full), db.items(other)) == ([], [item(pk=1)])


def test_indexes_follow(db: Database, full: str) -> None:
    db.call("BatchWriteItem", write(full, put(pk="a", sk="0", g="x"), put(pk="a", sk="1", g="x")))
    assert db.items(full, "glob") == [item(pk="a", sk="0", g="x"), item(pk="a", sk="1", g="x")]


def test_twenty_five_writes_are_allowed(db: Database, full: str) -> None:
    db.call("BatchWriteItem", write(full, *(put(pk="b", sk=str(n)) for n in range(25))))
    assert len(db.items(full)) == 26


# -- refusals: nothing of the request is done

MISMATCH = "The provided key element does not match the schema"
NEITHER = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param(put(pk="b"), MISMATCH, id="no sort key"),
        pytest.param(put(pk=1, sk="1"), MISMATCH, id="key of another type"),
        pytest.param(delete(pk="b"), MISMATCH, id="half a key to delete"),
        pytest.param(delete(pk="b", sk="1", v=1), MISMATCH, id="more than a key to delete"),
        pytest.param(
            put(pk="b", sk=""),
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: sk",
            id="empty key",
        ),
        pytest.param(
            put(pk="b", sk="1", g=1),
            "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S "
            "Actual: N IndexName: glob",
            id="index key of another type",
        ),
        pytest.param(
            put(pk="b", sk="1", v="x" * 410_000),
            "Item size has exceeded the maximum allowed size",
            id="too large",
        ),
        pytest.param(
            {"PutRequest": {"Item": item(pk="b", sk="1") | {"v": {"N": "x"}}}},
            "The parameter cannot be converted to a numeric value: x",
            id="no number",
        ),
        pytest.param({}, NEITHER, id="nothing"),
        pytest.param(put(pk="b", sk="1") | delete(pk="b", sk="1"), NEITHER, id="both"),
        pytest.param(
            put(pk="c", sk="1"), "Provided list of item keys contains duplicates", id="put twice"
        ),
        pytest.param(
            delete(pk="c", sk="1"),
            "Provided list of item keys contains duplicates",
            id="put and delete",
        ),
    ],
)
def test_one_bad_write_fails_the_request(db: Database, full: str, bad: Json, message: str) -> None:
    request = write(full, put(pk="c", sk="1"), delete(pk="a", sk="0"), bad)
    db.refuses("BatchWriteItem", request, message)
    assert db.items(full) == [OLD]


def test_numbers_spelled_differently_are_duplicates(db: Database) -> None:
    table = db.table("pk:N")
    writes = [{"PutRequest": {"Item": {"pk": {"N": text}}}} for text in ("1", "1.0")]
    message = "Provided list of item keys contains duplicates"
    db.refuses("BatchWriteItem", write(table, *writes), message)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        pytest.param({}, NEITHER, id="nothing"),
        pytest.param(
            put(v="x" * 410_000), "Item size has exceeded the maximum allowed size", id="too large"
        ),
        pytest.param(
            {"PutRequest": {"Item": {"v": {}}}},
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
            id="no value",
        ),
    ],
)
def test_wrong_writes_are_refused_before_the_table_is_looked_for(
    db: Database, bad: Json, message: str
) -> None:
    db.refuses("BatchWriteItem", write("missing", bad), message)


def test_more_than_twenty_five_writes_of_one_table_are_refused(db: Database) -> None:
    with pytest.raises(Refused) as refused:
        db.call("BatchWriteItem", write("missing", *(put(pk=str(n)) for n in range(26))))
    assert refused.value.message.startswith("1 validation error detected: Value '{missing=[")
    assert refused.value.message.endswith(
        "]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
        "[Member must have length less than or equal to 25, "
        "Member must have length greater than or equal to 1]"
    )


def test_more_than_twenty_five_writes_of_two_tables_are_refused(db: Database, full: str) -> None:
    writes = [put(pk=str(number), sk="1") for number in range(13)]
    request = {"RequestItems": {full: writes, "missing": writes}}
    message = "Too many items requested for the BatchWriteItem call"
    db.refuses("BatchWriteItem", request, message)
    assert db.items(full) == [OLD]


def test_there_must_be_something_to_write(db: Database) -> None:
    message = "The requestItems parameter is required for BatchWriteItem"
    db.refuses("BatchWriteItem", {"RequestItems": {}}, message)
