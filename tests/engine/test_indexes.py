from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, item, values

INVALID = "One or more parameter values were invalid: "


def query(table: str, index: str, condition: str, **given: Any) -> Json:
    more: Json = given.pop("more", {})
    return {
        "TableName": table,
        "IndexName": index,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values(**given),
    } | more


@pytest.fixture
def table(db: Database) -> str:
    return db.table(
        local={
            "local-all": ("pk:S / l:N", "ALL"),
            "local-keys": ("pk:S / l:N", "KEYS_ONLY"),
            "local-some": ("pk:S / l:N", ["v"]),
        },
        glob={
            "all": ("g:S / h:N", "ALL"),
            "keys": ("g:S / h:N", "KEYS_ONLY"),
            "some": ("g:S / h:N", ["v"]),
            "hash": ("g:S", "ALL"),
        },
    )


FULL = item(pk="a", sk="1", g="x", h=1, l=5, v="v", w="w")
HELD = {
    "all": FULL,
    "keys": item(pk="a", sk="1", g="x", h=1),
    "some": item(pk="a", sk="1", g="x", h=1, v="v"),
    "hash": FULL,
    "local-all": FULL,
    "local-keys": item(pk="a", sk="1", l=5),
    "local-some": item(pk="a", sk="1", l=5, v="v"),
}


@pytest.mark.parametrize("index", HELD)
@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_an_index_holds_what_it_projects(
    db: Database, table: str, index: str, operation: str
) -> None:
    db.put(table, FULL)
    request: Json = {"TableName": table, "IndexName": index}
    if operation == "Query":
        name, value = ("pk", "a") if index.startswith("local") else ("g", "x")
        request = query(table, index, f"{name} = :v", v=value)
    assert db.call(operation, request)["Items"] == [HELD[index]]


@pytest.mark.parametrize("index", HELD)
@pytest.mark.parametrize("missing", ["g", "h", "l"])
def test_an_item_without_a_key_is_not_in_the_index(
    db: Database, table: str, index: str, missing: str
) -> None:
    db.put(table, {name: value for name, value in FULL.items() if name != missing})
    needed = {"l"} if index.startswith("local") else {"g"} if index == "hash" else {"g", "h"}
    assert len(db.items(table, index)) == (missing not in needed)


def test_an_index_is_in_the_order_of_its_sort_key(db: Database, table: str) -> None:
    for number in (5, -1, 10, 9):
        db.put(table, item(pk=str(number), sk="1", g="x", h=number))
    found = db.call("Query", query(table, "keys", "g = :g", g="x"))["Items"]
    assert [one["h"]["N"] for one in found] == ["-1", "5", "9", "10"]


def test_a_condition_on_the_sort_key_of_an_index(db: Database, table: str) -> None:
    for number in range(5):
        db.put(table, item(pk="a", sk=str(number), g="x", h=number, l=-number))
    found = db.call("Query", query(table, "keys", "g = :g AND h > :h", g="x", h=2))
    assert [one["h"]["N"] for one in found["Items"]] == ["3", "4"]
    found = db.call("Query", query(table, "local-keys", "pk = :p AND l < :l", p="a", l=-2))
    assert [one["l"]["N"] for one in found["Items"]] == ["-4", "-3"]


def test_equal_keys_are_all_there(db: Database, table: str) -> None:
    items = [item(pk=p, sk=s, g="x", h=1) for p in "abc" for s in "12"]
    for one in items:
        db.put(table, one)
    found = db.call("Query", query(table, "all", "g = :g AND h = :h", g="x", h=1))["Items"]
    assert sorted(found, key=str) == items


# -- indexes follow the table


@pytest.mark.parametrize(
    ("expression", "given", "entries"),
    [
        pytest.param("SET g = :v", {"v": "y"}, [item(pk="a", sk="1", g="y", h=1)], id="moved"),
        pytest.param("SET h = :v", {"v": 2}, [item(pk="a", sk="1", g="x", h=2)], id="moved within"),
        pytest.param("REMOVE g", {}, [], id="left"),
        pytest.param("REMOVE h", {}, [], id="left by the sort key"),
        pytest.param("SET v = :v", {"v": "new"}, [item(pk="a", sk="1", g="x", h=1)], id="stays"),
    ],
)
def test_an_update_moves_an_item_in_an_index(
    db: Database, table: str, expression: str, given: Json, entries: list[Json]
) -> None:
    db.put(table, FULL)
    request: Json = {"TableName": table, "Key": item(pk="a", sk="1")}
    request["UpdateExpression"] = expression
    if given:
        request["ExpressionAttributeValues"] = values(**given)
    db.call("UpdateItem", request)
    assert db.items(table, "keys") == entries
    assert db.engine.check().problems == []


def test_an_update_enters_an_item_into_an_index(db: Database, table: str) -> None:
    db.put(table, item(pk="a", sk="1", g="x"))
    request = {
        "TableName": table,
        "Key": item(pk="a", sk="1"),
        "UpdateExpression": "SET h = :v",
        "ExpressionAttributeValues": values(v=1),
    }
    db.call("UpdateItem", request)
    assert db.items(table, "keys") == [item(pk="a", sk="1", g="x", h=1)]


def test_an_update_reaches_what_an_index_projects(db: Database, table: str) -> None:
    db.put(table, FULL)
    request = {
        "TableName": table,
        "Key": item(pk="a", sk="1"),
        "UpdateExpression": "SET v = :v, w = :v",
        "ExpressionAttributeValues": values(v="new"),
    }
    db.call("UpdateItem", request)
    assert db.items(table, "some") == [HELD["some"] | item(v="new")]
    assert db.items(table, "all") == [FULL | item(v="new", w="new")]


def test_a_put_moves_an_item_in_an_index(db: Database, table: str) -> None:
    db.put(table, FULL)
    db.call("PutItem", {"TableName": table, "Item": FULL | item(g="y")})
    assert db.call("Query", query(table, "keys", "g = :g", g="x"))["Count"] == 0
    assert db.call("Query", query(table, "keys", "g = :g", g="y"))["Count"] == 1


def test_the_table_s_keys_may_be_swapped(db: Database) -> None:
    table = db.table(glob={"reverse": ("sk:S / pk:S", "ALL")})
    for one in ("ab", "aa", "ba"):
        db.put(table, item(pk=one[0], sk=one[1]))
    found = db.call("Query", query(table, "reverse", "sk = :s", s="a"))
    assert found["Items"] == [item(pk="a", sk="a"), item(pk="b", sk="a")]


def test_an_index_may_share_the_table_s_partition_key(db: Database) -> None:
    table = db.table(glob={"glob": ("pk:S / n:N", "ALL")}, items=[item(pk="a", sk="1", n=1)])
    found = db.call("Query", query(table, "glob", "pk = :p AND n = :n", p="a", n=1))
    assert found["Count"] == 1


# -- what may be asked of an index


@pytest.mark.parametrize("index", ["local-keys", "local-some"])
@pytest.mark.parametrize(
    ("more", "found"),
    [
        pytest.param({"Select": "ALL_ATTRIBUTES"}, FULL, id="all attributes"),
        pytest.param({"ProjectionExpression": "w"}, item(w="w"), id="one that is not held"),
        pytest.param({"ProjectionExpression": "l, w"}, item(l=5, w="w"), id="both kinds"),
    ],
)
def test_a_local_index_fetches_what_it_does_not_hold(
    db: Database, table: str, index: str, more: Json, found: Json
) -> None:
    db.put(table, FULL)
    request = query(table, index, "pk = :p", p="a", more=more)
    assert db.call("Query", request)["Items"] == [found]


@pytest.mark.parametrize("index", HELD)
def test_all_projected_attributes_are_what_is_held(db: Database, table: str, index: str) -> None:
    db.put(table, FULL)
    request = {"TableName": table, "IndexName": index, "Select": "ALL_PROJECTED_ATTRIBUTES"}
    assert db.call("Scan", request)["Items"] == [HELD[index]]


def test_all_attributes_of_an_index_that_holds_them(db: Database, table: str) -> None:
    db.put(table, FULL)
    request = query(table, "all", "g = :g", g="x", more={"Select": "ALL_ATTRIBUTES"})
    assert db.call("Query", request)["Items"] == [FULL]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(
            {"Select": "ALL_ATTRIBUTES"},
            "Select type ALL_ATTRIBUTES is not supported for global secondary index keys because "
            "its projection type is not ALL",
            id="all attributes",
        ),
        pytest.param(
            {"ProjectionExpression": "v, g"},
            "Global secondary index keys does not project [v]",
            id="an attribute that is not held",
        ),
    ],
)
@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_global_index_does_not_fetch(
    db: Database, table: str, operation: str, more: Json, message: str
) -> None:
    request: Json = {"TableName": table, "IndexName": "keys"} | more
    if operation == "Query":
        request = query(table, "keys", "g = :g", g="x", more=more)
    db.refuses(operation, request, INVALID + message)


@pytest.mark.parametrize("index", ["keys", "local-keys"])
def test_a_filter_is_for_what_the_index_holds(db: Database, table: str, index: str) -> None:
    request = {
        "TableName": table,
        "IndexName": index,
        "FilterExpression": "attribute_exists(w) OR attribute_exists(pk) OR attribute_exists(v)",
    }
    message = f"Secondary index {index} does not project one or more filter attributes: [v, w]"
    db.refuses("Scan", request, INVALID + message)


def read(operation: str, table: str, index: str) -> Json:
    if operation == "Query":
        return query(table, index, "g = :g", g="x")
    return {"TableName": table, "IndexName": index}


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_missing_index_is_refused(db: Database, table: str, operation: str) -> None:
    message = "The table does not have the specified index: nope"
    db.refuses(operation, read(operation, table, "nope"), message)


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_global_index_has_no_consistent_reads(db: Database, table: str, operation: str) -> None:
    message = "Consistent reads are not supported on global secondary indexes"
    db.refuses(operation, read(operation, table, "all") | {"ConsistentRead": True}, message)


def test_a_local_index_has_consistent_reads(db: Database, table: str) -> None:
    db.put(table, FULL)
    request = query(table, "local-all", "pk = :p", p="a", more={"ConsistentRead": True})
    assert db.call("Query", request)["Items"] == [FULL]


@pytest.mark.parametrize("name", ["g", "h"])
def test_a_filter_is_not_for_keys_of_the_index(db: Database, table: str, name: str) -> None:
    more = {"FilterExpression": f"attribute_exists({name})"}
    db.refuses(
        "Query",
        query(table, "all", "g = :g", g="x", more=more),
        "Filter Expression can only contain non-primary key attributes: "
        f"Primary key attribute: {name}",
    )


def test_a_filter_may_look_at_the_table_s_keys(db: Database, table: str) -> None:
    db.put(table, FULL)
    more = {"FilterExpression": "pk = :p AND sk = :s"}
    request = query(table, "all", "g = :g", g="x", p="a", s="1", more=more)
    assert db.call("Query", request)["Count"] == 1


@pytest.mark.parametrize(
    ("condition", "given", "message"),
    [
        ("pk = :p", {"p": "a"}, "Query condition missed key schema element: g"),
        (
            "g = :p AND sk = :s",
            {"p": "a", "s": "1"},
            "Query condition missed key schema element: h",
        ),
        (
            "g = :p AND h = :s",
            {"p": "a", "s": "1"},
            INVALID + "Condition parameter type does not match schema type",
        ),
        (
            "g = :p AND h.x = :s",
            {"p": "a", "s": 1},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
            "allowed: IndexKey: h",
        ),
    ],
)
def test_wrong_key_conditions(
    db: Database, table: str, condition: str, given: Json, message: str
) -> None:
    db.refuses("Query", query(table, "all", condition, **given), message)


def test_an_index_without_sort_key_takes_one_condition(db: Database, table: str) -> None:
    request = query(table, "hash", "g = :g AND h = :h", g="x", h=1)
    message = (
        "The number of query conditions (2) exceeds the number of key attributes defined in the "
        "schema (1)"
    )
    db.refuses("Query", request, message)


# -- keys of several attributes

ROWS = [
    item(pk=f"{a}{b}{c}{d}", sk="1", a=a, b=b, c=c, d=d)
    for a in "xy"
    for b in (1, 2)
    for c in "mn"
    for d in (-1, 0, 10)
]


@pytest.fixture
def several(db: Database) -> str:
    return db.table(glob={"multi": ("a:S b:N / c:S d:N", "KEYS_ONLY")}, items=ROWS)


@pytest.mark.parametrize(
    ("condition", "given", "found"),
    [
        ("", {}, ["m-1", "m0", "m10", "n-1", "n0", "n10"]),
        ("AND c = :c", {"c": "m"}, ["m-1", "m0", "m10"]),
        ("AND c > :c", {"c": "m"}, ["n-1", "n0", "n10"]),
        ("AND begins_with(c, :c)", {"c": "n"}, ["n-1", "n0", "n10"]),
        ("AND c = :c AND d = :d", {"c": "m", "d": 0}, ["m0"]),
        ("AND c = :c AND d >= :d", {"c": "m", "d": 0}, ["m0", "m10"]),
        ("AND d < :d AND c = :c", {"c": "n", "d": 0}, ["n-1"]),
        ("AND c = :c AND d BETWEEN :d AND :e", {"c": "n", "d": -5, "e": 5}, ["n-1", "n0"]),
    ],
)
def test_conditions_on_several_attributes(
    db: Database, several: str, condition: str, given: Json, found: list[str]
) -> None:
    request = query(several, "multi", f"a = :a AND b = :b {condition}", a="x", b=2, **given)
    page = db.call("Query", request)
    assert [one["c"]["S"] + one["d"]["N"] for one in page["Items"]] == found
    backwards = db.call("Query", request | {"ScanIndexForward": False})
    assert backwards["Items"] == page["Items"][::-1]


@pytest.mark.parametrize(
    ("condition", "given", "message"),
    [
        pytest.param(
            "a = :a",
            {"a": "x"},
            "HASH key attributes b must have equality conditions specified in the query",
            id="half of the partition key",
        ),
        pytest.param(
            "a = :a AND b > :b",
            {"a": "x", "b": 1},
            "HASH key attributes b must have equality conditions specified in the query",
            id="an inequality on the partition key",
        ),
        pytest.param(
            "a = :a AND b = :b AND d = :d",
            {"a": "x", "b": 1, "d": 1},
            "RANGE key attributes c must have equality conditions specified in the query because "
            "a condition is present on key attribute d",
            id="a gap in the sort key",
        ),
        pytest.param(
            "a = :a AND b = :b AND c > :c AND d = :d",
            {"a": "x", "b": 1, "c": "m", "d": 1},
            "RANGE key attributes c must have equality conditions specified in the query because "
            "a condition is present on key attribute d",
            id="an inequality before the last",
        ),
        pytest.param(
            "a = :a AND b = :b",
            {"a": "x", "b": "1"},
            INVALID + "Condition parameter type does not match schema type",
            id="of another type",
        ),
    ],
)
def test_wrong_conditions_on_several_attributes(
    db: Database, several: str, condition: str, given: Json, message: str
) -> None:
    db.refuses("Query", query(several, "multi", condition, **given), message)


@pytest.mark.parametrize("missing", ["a", "b", "c", "d"])
def test_an_item_without_one_of_several_keys_is_not_in_the_index(
    db: Database, several: str, missing: str
) -> None:
    request = {
        "TableName": several,
        "Key": item(pk="x1m0", sk="1"),
        "UpdateExpression": f"REMOVE {missing}",
    }
    db.call("UpdateItem", request)
    assert len(db.items(several, "multi")) == len(ROWS) - 1


def test_pages_of_an_index_of_several_attributes(db: Database, several: str) -> None:
    request = query(several, "multi", "a = :a AND b = :b", a="y", b=1, more={"Limit": 4})
    pages = list(db.pages("Query", request))
    assert [page["Count"] for page in pages] == [4, 2]
    assert pages[0]["LastEvaluatedKey"].keys() == {"a", "b", "c", "d", "pk", "sk"}
    together = [one for page in pages for one in page["Items"]]
    assert together == [one for one in ROWS if one["a"] == {"S": "y"} and one["b"] == {"N": "1"}]


def test_keys_that_only_look_alike_when_joined_are_apart(db: Database) -> None:
    table = db.table(glob={"multi": ("a:S b:S", "ALL")})
    db.put(table, item(pk="1", sk="1", a="x", b="yz"))
    db.put(table, item(pk="2", sk="1", a="xy", b="z"))
    page = db.call("Query", query(table, "multi", "a = :a AND b = :b", a="x", b="yz"))
    assert [one["pk"] for one in page["Items"]] == [{"S": "1"}]
