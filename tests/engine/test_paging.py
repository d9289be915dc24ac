from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, item, values

SCHEMA: Json = {
    "local": {"local": ("pk:S / l:S", "ALL")},
    "glob": {"hash": ("g:S", "ALL"), "both": ("g:S / h:N", "KEYS_ONLY")},
}
#: All with equal keys in `hash`, and many with equal keys in `both` and `local`.
ITEMS = [
    item(pk="a", sk=f"{number:02}", g="same", h=number % 3, l=str(number % 2))
    for number in range(11)
]


@pytest.fixture
def full(db: Database) -> str:
    return db.table(items=[*ITEMS, item(pk="b", sk="00", g="other", h=1, l="1")], **SCHEMA)


def query(table: str, index: str | None, **more: Any) -> Json:
    name, value = ("g", "same") if index in ("hash", "both") else ("pk", "a")
    request: Json = {
        "TableName": table,
        "KeyConditionExpression": f"{name} = :v",
        "ExpressionAttributeValues": values(v=value),
    }
    if index:
        request["IndexName"] = index
    return request | more


@pytest.mark.parametrize("index", [None, "local", "hash", "both"])
@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 11, 12])
def test_pages_of_a_query_neither_repeat_nor_skip(
    db: Database, full: str, index: str | None, forward: bool, limit: int
) -> None:
    request = query(full, index, ScanIndexForward=forward)
    whole = db.call("Query", request)["Items"]
    pages = list(db.pages("Query", request | {"Limit": limit}))
    assert [one for page in pages for one in page["Items"]] == whole
    assert len(whole) == 11
    assert all(page["Count"] == limit for page in pages[:-1])


@pytest.mark.parametrize("index", [None, "local", "hash", "both"])
@pytest.mark.parametrize("limit", [1, 4, 12, 13])
def test_pages_of_a_scan_neither_repeat_nor_skip(
    db: Database, full: str, index: str | None, limit: int
) -> None:
    request: Json = {"TableName": full} | ({"IndexName": index} if index else {})
    whole = db.call("Scan", request)["Items"]
    pages = list(db.pages("Scan", request | {"Limit": limit}))
    assert [one for page in pages for one in page["Items"]] == whole
    assert len(whole) == 12


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (None, {"pk", "sk"}),
        ("local", {"pk", "sk", "l"}),
        ("hash", {"g", "pk", "sk"}),
        ("both", {"g", "h", "pk", "sk"}),
    ],
)
@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_place_to_go_on_from_has_the_keys_of_index_and_table(
    db: Database, full: str, operation: str, index: str | None, names: set[str]
) -> None:
    request = query(full, index, Limit=1)
    if operation == "Scan":
        request = {"TableName": full, "Limit": 1} | ({"IndexName": index} if index else {})
    page = db.call(operation, request)
    assert page["LastEvaluatedKey"] == {name: page["Items"][0][name] for name in names}


def test_a_limit_reached_at_the_last_item_still_names_it(db: Database, full: str) -> None:
    page = db.call("Query", query(full, None, Limit=11))
    assert page["LastEvaluatedKey"] == item(pk="a", sk="10")
    rest = db.call("Query", query(full, None, ExclusiveStartKey=page["LastEvaluatedKey"]))
    assert rest == {"Items": [], "Count": 0, "ScannedCount": 0}


def test_a_limit_not_reached_names_nothing(db: Database, full: str) -> None:
    assert "LastEvaluatedKey" not in db.call("Query", query(full, None, Limit=12))


def test_a_start_key_need_not_be_an_item(db: Database, full: str) -> None:
    request = query(full, None, ExclusiveStartKey=item(pk="a", sk="08x"))
    assert db.call("Query", request)["Items"] == ITEMS[9:]


def test_a_start_key_deleted_meanwhile_is_still_a_place(db: Database, full: str) -> None:
    start = db.call("Query", query(full, None, Limit=3))["LastEvaluatedKey"]
    db.call("DeleteItem", {"TableName": full, "Key": start})
    request = query(full, None, ExclusiveStartKey=start)
    assert db.call("Query", request)["Items"] == ITEMS[3:]


def test_pages_count_only_what_they_read(db: Database, full: str) -> None:
    request = query(full, None, Select="COUNT", Limit=4)
    assert [page["Count"] for page in db.pages("Query", request)] == [4, 4, 3]


# -- the megabyte


@pytest.fixture
def large(db: Database) -> str:
    """Five items of 300 KB."""
    return db.table(
        glob={"keys": ("g:S", "KEYS_ONLY")},
        items=[item(pk="a", sk=str(number), g="x", v="x" * 300 * 1024) for number in range(5)],
    )


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_page_ends_with_the_item_that_reaches_a_megabyte(
    db: Database, large: str, operation: str
) -> None:
    request = query(large, None) if operation == "Query" else {"TableName": large}
    request |= {"Select": "COUNT"}
    assert [page["Count"] for page in db.pages(operation, request)] == [4, 1]


def test_the_megabyte_is_counted_before_the_filter(db: Database, large: str) -> None:
    request = {
        "TableName": large,
        "FilterExpression": "sk = :v",
        "ExpressionAttributeValues": values(v="4"),
        "ProjectionExpression": "sk",
    }
    pages = list(db.pages("Scan", request))
    assert [page["Items"] for page in pages] == [[], [item(sk="4")]]


def test_the_megabyte_is_counted_by_what_an_index_holds(db: Database, large: str) -> None:
    request = {"TableName": large, "IndexName": "keys"}
    assert [page["Count"] for page in db.pages("Scan", request)] == [5]


def test_a_query_of_a_table_without_a_sort_key_has_one_page(db: Database) -> None:
    table = db.table("pk:S", items=[item(pk="a")], glob={"all": ("pk:S", "ALL")})
    request = query(table, None)
    assert db.call("Query", request | {"Limit": 1}).keys() == {"Items", "Count", "ScannedCount"}
    for start in ("a", "b"):
        shown = f"{{pk=AttributeValue: {{S:{start}}}}}"
        db.refuses(
            "Query",
            request | {"ExclusiveStartKey": item(pk=start)},
            f"The provided exclusive start key is invalid: ExclusiveStartKey: {shown}",
        )
    page = db.call("Query", request | {"IndexName": "all", "Limit": 1})
    rest = {"IndexName": "all", "ExclusiveStartKey": page["LastEvaluatedKey"]}
    assert db.call("Query", request | rest)["Items"] == []
    start = db.call("Scan", {"TableName": table, "Limit": 1})["LastEvaluatedKey"]
    assert db.call("Scan", {"TableName": table, "ExclusiveStartKey": start})["Items"] == []


# -- start keys that are none

INVALID = "The provided starting key is invalid"
MISMATCH = "The provided key element does not match the schema"
OUTSIDE = "The provided starting key is outside query boundaries based on provided conditions"


@pytest.mark.parametrize(
    ("index", "start", "message"),
    [
        pytest.param(None, {}, INVALID, id="nothing"),
        pytest.param(None, item(pk="a"), INVALID, id="half"),
        pytest.param(None, item(pk="a", sk="1", x="1"), INVALID, id="more than the key"),
        pytest.param(None, item(pk="a", x="1"), INVALID, id="another attribute"),
        pytest.param(None, item(pk="a", sk=1), f"{INVALID}: {MISMATCH}", id="wrong type"),
        pytest.param("both", item(pk="a", sk="1"), INVALID, id="without the index's keys"),
        pytest.param("both", item(g="same", h=1), INVALID, id="without the table's keys"),
        pytest.param(
            "both", item(g="same", h="1", pk="a", sk="1"), MISMATCH, id="index key of wrong type"
        ),
        pytest.param(
            None,
            item(pk="a", sk=""),
            f"{INVALID}: One or more parameter values are not valid. The AttributeValue for a key "
            "attribute cannot contain an empty string value. Key: sk",
            id="empty",
        ),
        pytest.param(None, item(pk="b", sk="1"), OUTSIDE, id="another partition"),
        pytest.param(
            "both", item(g="other", h=1, pk="a", sk="1"), OUTSIDE, id="another index partition"
        ),
    ],
)
def test_a_query_refuses_a_start_key_that_is_none(
    db: Database, full: str, index: str | None, start: Json, message: str
) -> None:
    db.refuses("Query", query(full, index, ExclusiveStartKey=start), message)


@pytest.mark.parametrize(
    ("index", "start", "message"),
    [
        pytest.param(None, item(pk="a"), f"{INVALID}: {MISMATCH}", id="half"),
        pytest.param(None, item(pk="a", sk=1), f"{INVALID}: {MISMATCH}", id="wrong type"),
        pytest.param(
            None, item(pk="a", sk="1", x="1"), f"{INVALID}: {MISMATCH}", id="more than the key"
        ),
        pytest.param("both", item(pk="a", sk="1"), INVALID, id="without the index's keys"),
    ],
)
def test_a_scan_refuses_a_start_key_that_is_none(
    db: Database, full: str, index: str | None, start: Json, message: str
) -> None:
    request: Json = {"TableName": full, "ExclusiveStartKey": start}
    db.refuses("Scan", request | ({"IndexName": index} if index else {}), message)


@pytest.mark.parametrize(
    ("condition", "start"),
    [("sk > :s", "05"), ("sk > :s", "04"), ("sk < :s", "05"), ("begins_with(sk, :s)", "1")],
)
def test_a_start_key_must_satisfy_the_range_condition(
    db: Database, full: str, condition: str, start: str
) -> None:
    request = query(full, None, ExclusiveStartKey=item(pk="a", sk=start)) | {
        "KeyConditionExpression": f"pk = :v AND {condition}",
        "ExpressionAttributeValues": values(v="a", s="05"),
    }
    message = "The provided starting key does not match the range key predicate"
    db.refuses("Query", request, message)


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_values_of_a_start_key_are_checked_before_the_table_is_looked_for(
    db: Database, operation: str
) -> None:
    request = query("missing", None) if operation == "Query" else {"TableName": "missing"}
    empty = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
    db.refuses_early(
        operation,
        request | {"ExclusiveStartKey": {"pk": {}}},
        empty,
        old=f"The provided starting key is invalid: {empty}",
    )


@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(db: Database, operation: str, limit: int) -> None:
    """Query and Scan report it in different words."""
    request = query("missing", None) if operation == "Query" else {"TableName": "missing"}
    where = "at 'Limit'" if operation == "Query" else f"'{limit}' at 'limit'"
    db.refuses(
        operation,
        request | {"Limit": limit},
        f"1 validation error detected: Value {where} failed to satisfy constraint: "
        "Member must have value greater than or equal to 1",
    )


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_numbers_of_a_start_key_are_told_without_naming_it(db: Database, operation: str) -> None:
    request = query("missing", None) if operation == "Query" else {"TableName": "missing"}
    db.refuses(
        operation,
        request | {"ExclusiveStartKey": {"pk": {"N": "x"}}},
        "The parameter cannot be converted to a numeric value: x",
    )
