from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, item, values

ITEMS = [item(pk=f"p{number % 7}", sk=f"s{number}", n=number) for number in range(40)]


@pytest.fixture
def full(db: Database) -> str:
    return db.table(glob={"glob": ("n:N", "KEYS_ONLY")}, items=ITEMS)


def in_order(items: list[Json]) -> list[Json]:
    return sorted(items, key=lambda one: int(one["n"]["N"]))


def test_a_scan_gives_every_item(db: Database, full: str) -> None:
    page = db.call("Scan", {"TableName": full})
    assert in_order(page["Items"]) == ITEMS
    assert (page["Count"], page["ScannedCount"]) == (40, 40)
    assert "LastEvaluatedKey" not in page


def test_an_empty_table_has_no_items(db: Database, table: str) -> None:
    answer = db.call("Scan", {"TableName": table})
    assert answer == {"Items": [], "Count": 0, "ScannedCount": 0}


def test_items_of_one_partition_come_in_order(db: Database, full: str) -> None:
    found = [one["sk"]["S"] for one in db.items(full) if one["pk"] == {"S": "p3"}]
    assert found == sorted(found)


def test_other_tables_are_not_read(db: Database, full: str) -> None:
    db.table(items=[item(pk="p0", sk="other")])
    assert in_order(db.items(full)) == ITEMS


def test_a_filter_may_look_at_keys(db: Database, full: str) -> None:
    page = db.call(
        "Scan",
        {
            "TableName": full,
            "FilterExpression": "pk = :p AND n > :n",
            "ExpressionAttributeValues": values(p="p0", n=20),
        },
    )
    assert in_order(page["Items"]) == [ITEMS[21], ITEMS[28], ITEMS[35]]
    assert (page["Count"], page["ScannedCount"]) == (3, 40)


def test_count_gives_no_items(db: Database, full: str) -> None:
    answer = db.call("Scan", {"TableName": full, "Select": "COUNT"})
    assert answer == {"Count": 40, "ScannedCount": 40}


def test_an_index_can_be_scanned(db: Database, full: str) -> None:
    db.put(full, item(pk="not", sk="in the index"))
    assert in_order(db.items(full, "glob")) == ITEMS


# -- segments


@pytest.mark.parametrize("total", [1, 2, 3, 8, 50])
@pytest.mark.parametrize("index", [None, "glob"], ids=["table", "index"])
def test_segments_divide_the_items(db: Database, full: str, total: int, index: str | None) -> None:
    request: Json = {"TableName": full, "TotalSegments": total}
    if index:
        request["IndexName"] = index
    pages = [db.call("Scan", request | {"Segment": number}) for number in range(total)]
    assert in_order([one for page in pages for one in page["Items"]]) == ITEMS


def test_a_segment_is_paged(db: Database, full: str) -> None:
    found = []
    for segment in range(3):
        request = {"TableName": full, "TotalSegments": 3, "Segment": segment, "Limit": 2}
        found += [one for page in db.pages("Scan", request) for one in page["Items"]]
    assert in_order(found) == ITEMS


def test_a_partition_is_in_one_segment(db: Database, full: str) -> None:
    where: dict[str, set[int]] = {}
    for segment in range(4):
        request = {"TableName": full, "TotalSegments": 4, "Segment": segment}
        for one in db.call("Scan", request)["Items"]:
            where.setdefault(one["pk"]["S"], set()).add(segment)
    assert all(len(segments) == 1 for segments in where.values())


def test_a_start_key_belongs_to_its_segment(db: Database, full: str) -> None:
    request = {"TableName": full, "TotalSegments": 4}
    segment, page = next(
        (number, page)
        for number in range(4)
        for page in [db.call("Scan", request | {"Segment": number, "Limit": 1})]
        if "LastEvaluatedKey" in page
    )
    other = (segment + 1) % 4
    db.refuses(
        "Scan",
        request | {"Segment": other, "ExclusiveStartKey": page["LastEvaluatedKey"]},
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
        f"ExclusiveStartKey with correct Segment. TotalSegments: 4 Segment: {other}",
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(
            {"Segment": 0},
            "The TotalSegments parameter is required but was not present in the request when "
            "Segment parameter is present",
            id="no total",
        ),
        pytest.param(
            {"TotalSegments": 4},
            "The Segment parameter is required but was not present in the request when parameter "
            "TotalSegments is present",
            id="no segment",
        ),
        pytest.param(
            {"Segment": 4, "TotalSegments": 4},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: 4 is not less than TotalSegments: 4",
            id="past the last",
        ),
        pytest.param(
            {"Segment": -1, "TotalSegments": 4},
            "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: "
            "Member must have value greater than or equal to 0",
            id="below zero",
        ),
        pytest.param(
            {"Segment": 0, "TotalSegments": 1_000_001},
            "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy "
            "constraint: Member must have value less than or equal to 1000000",
            id="too many",
        ),
        pytest.param(
            {"FilterExpression": "a ="},
            'Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="',
            id="filter",
        ),
        pytest.param(
            {"ProjectionExpression": "a,"},
            'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","',
            id="projection",
        ),
        pytest.param(
            {"FilterExpression": "a =", "ProjectionExpression": "a,"},
            'Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="',
            id="the filter first",
        ),
        pytest.param(
            {"ExpressionAttributeValues": values(v=1)},
            "ExpressionAttributeValues can only be specified when using expressions: "
            "FilterExpression is null",
            id="values without a filter",
        ),
        pytest.param(
            {"ProjectionExpression": "a", "ExpressionAttributeValues": values(v=1)},
            "ExpressionAttributeValues can only be specified when using expressions: "
            "FilterExpression is null",
            id="values with a projection only",
        ),
        pytest.param(
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
            id="names without an expression",
        ),
    ],
)
def test_wrong_requests_are_refused_before_the_table_is_looked_for(
    db: Database, more: Json, message: str
) -> None:
    db.refuses("Scan", {"TableName": "missing"} | more, message)
