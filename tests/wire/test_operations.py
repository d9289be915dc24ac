"""The table of operations: every row is true of the engine, and `touches` of what requests do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.engine import Engine, LongStep, ReadStep, WriteStep
from tablewright.engine.operations import find_operation
from tablewright.errors import DynamoDBError, ValidationException
from tablewright.wire.constraints import Structure
from tablewright.wire.operations import OPERATIONS, READS, WRITES, Access, may_change, touches
from tablewright.wire.read import read
from tablewright.wire.touches import (
    Everything,
    Key,
    KeyRange,
    Named,
    Touch,
    Unclear,
    WholeItem,
    whole_page,
)
from tests.engine.authorization.test_accesses import CASES
from tests.engine.database import av, item, table_request
from tests.examples import examples

Json = dict[str, Any]

# --- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_row_has_an_input_type_and_a_handler(name: str) -> None:
    row = OPERATIONS[name]
    shape, handler = find_operation(name)
    assert row.name == name
    assert issubclass(shape, Structure)
    assert callable(handler)
    assert handler.__module__.startswith("tablewright.engine.operations.")
    assert not row.token or row.token in shape.__struct_encode_fields__
    assert ("ReturnConsumedCapacity" in shape.__struct_encode_fields__) == row.is_metered


@pytest.mark.parametrize(
    ("name", "request_"), [pytest.param(case[0], case[1], id=case[0]) for case in CASES]
)
def test_an_operation_may_change_something_exactly_if_its_step_writes(
    name: str, request_: Json
) -> None:
    shape, handler = find_operation(name)
    step = handler(read(shape, request_))
    match OPERATIONS[name].access:
        case Access.READ | Access.DESCRIBE | Access.STREAM:
            assert isinstance(step, ReadStep)
        case Access.WRITE:
            assert isinstance(step, WriteStep)
        case Access.CONTROL:
            # What global tables need is refused, by a step that reads.
            assert isinstance(step, (WriteStep, LongStep)) or "Global" in name or "Replica" in name
        case Access.STATEMENT:
            assert isinstance(step, (ReadStep, WriteStep))


def test_an_unknown_operation_may_change_anything() -> None:
    assert may_change("DropEverything")
    assert not may_change("DescribeTable")
    with pytest.raises(Unclear):
        touches("DropEverything", {"TableName": "one", "Key": {}})


# --- what requests touch ------------------------------------------------------------------------

KEY = item(pk="a", sk=1)
WHOLE = item(pk="a", sk=1, x=1)
GET = {"TableName": "one", "Key": KEY}
PUT = {"TableName": "one", "Item": WHOLE}
UPDATE = {**GET, "UpdateExpression": "SET x = :x", "ExpressionAttributeValues": {":x": av(2)}}
CHECK = {**GET, "ConditionExpression": "attribute_exists(pk)"}
SELECT = "SELECT * FROM one WHERE pk = 'a' AND sk > 0"
QUERY: Json = {
    "TableName": "one",
    "IndexName": "by-x",
    "KeyConditionExpression": "#p = :p AND sk BETWEEN :low AND :high",
    "ExpressionAttributeNames": {"#p": "x"},
    "ExpressionAttributeValues": {":p": av(1), ":low": av(0), ":high": av(5)},
}
LEGACY = {"x": {"ComparisonOperator": "EQ", "AttributeValueList": [av(1)]}}

#: The request, and the kind, the access, the table, the index and the items of each touch.
TOUCHES: dict[str, tuple[str, Json, list[tuple[Any, ...]]]] = {
    "GetItem": ("GetItem", GET, [("Get", "read", "one", None, Key(KEY))]),
    "PutItem": ("PutItem", PUT, [("Put", "write", "one", None, WholeItem(WHOLE))]),
    "UpdateItem": ("UpdateItem", UPDATE, [("Update", "write", "one", None, Key(KEY))]),
    "DeleteItem": ("DeleteItem", GET, [("Delete", "write", "one", None, Key(KEY))]),
    "BatchGetItem": (
        "BatchGetItem",
        {"RequestItems": {"one": {"Keys": [KEY]}, "two": {"Keys": [KEY]}}},
        [("Get", "read", "one", None, Key(KEY)), ("Get", "read", "two", None, Key(KEY))],
    ),
    "BatchWriteItem": (
        "BatchWriteItem",
        {
            "RequestItems": {
                "one": [{"PutRequest": {"Item": WHOLE}}, {"DeleteRequest": {"Key": KEY}}]
            }
        },
        [
            ("Put", "write", "one", None, WholeItem(WHOLE)),
            ("Delete", "write", "one", None, Key(KEY)),
        ],
    ),
    "TransactGetItems": (
        "TransactGetItems",
        {"TransactItems": [{"Get": GET}]},
        [("Get", "read", "one", None, Key(KEY))],
    ),
    "TransactWriteItems": (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": PUT},
                {"Update": UPDATE},
                {"Delete": GET},
                {"ConditionCheck": CHECK},
            ]
        },
        [
            ("Put", "write", "one", None, WholeItem(WHOLE)),
            ("Update", "write", "one", None, Key(KEY)),
            ("Delete", "write", "one", None, Key(KEY)),
            ("ConditionCheck", "check", "one", None, Key(KEY)),
        ],
    ),
    "Query": ("Query", QUERY, [("Query", "read", "one", "by-x", item(x=1))]),
    "Query by old conditions": (
        "Query",
        {"TableName": "one", "KeyConditions": LEGACY},
        [("Query", "read", "one", None, item(x=1))],
    ),
    "Scan": ("Scan", {"TableName": "one"}, [("Scan", "read", "one", None, Everything())]),
    "SELECT": (
        "ExecuteStatement",
        {"Statement": SELECT},
        [("Select", "read", "one", None, item(pk="a"))],
    ),
    "SELECT of an index": (
        "ExecuteStatement",
        {"Statement": 'SELECT * FROM "one"."by-x" WHERE ? = x OR sk = 1', "Parameters": [av(1)]},
        [("Select", "read", "one", "by-x", {})],
    ),
    "statements": (
        "BatchExecuteStatement",
        {
            "Statements": [
                {"Statement": "INSERT INTO one VALUE {'pk': 'a', 'sk': ?}", "Parameters": [av(1)]},
                {
                    "Statement": "UPDATE one SET x = 2 WHERE pk = 'a' AND sk = ?",
                    "Parameters": [av(1)],
                },
                {"Statement": "DELETE FROM two WHERE pk = 'a' AND sk = 1 AND x = 2"},
            ]
        },
        [
            ("Put", "write", "one", None, KEY),
            ("Update", "write", "one", None, KEY),
            ("Delete", "write", "two", None, item(pk="a", sk=1, x=2)),
        ],
    ),
    "EXISTS": (
        "ExecuteTransaction",
        {
            "TransactStatements": [
                {"Statement": "EXISTS(SELECT * FROM one WHERE pk = 'a' AND sk = 1 AND x = 1)"}
            ]
        },
        [("ConditionCheck", "check", "one", None, WHOLE)],
    ),
}


def shown(touch: Touch) -> tuple[Any, ...]:
    what = touch.what.fixed if isinstance(touch.what, KeyRange) else touch.what
    return touch.kind, touch.access, touch.table, touch.index, what


@pytest.mark.parametrize("case", TOUCHES)
def test_a_request_touches_the_same_as_json_and_typed(case: str) -> None:
    operation, body, expected = TOUCHES[case]
    typed = read(OPERATIONS[operation].input_type, body)
    assert [shown(touch) for touch in touches(operation, body)] == expected
    assert [shown(touch) for touch in touches(operation, typed)] == expected


def test_every_operation_on_items_has_a_case() -> None:
    metered = {name for name, row in OPERATIONS.items() if row.is_metered}
    assert {operation for operation, _, _ in TOUCHES.values()} == metered
    assert metered > READS | WRITES


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("DescribeTable", {"TableName": "one"}),
        ("GetItem", {"TableName": "one"}),
        ("GetItem", {"Key": KEY}),
        ("GetItem", None),
        ("BatchGetItem", {"RequestItems": [KEY]}),
        ("BatchGetItem", {"RequestItems": {"one": {"Keys": KEY}}}),
        ("BatchWriteItem", {"RequestItems": {"one": [{"Patch": {"Key": KEY}}]}}),
        ("TransactWriteItems", {"TransactItems": [{"Put": PUT, "Delete": GET}]}),
        ("BatchWriteItem", {"RequestItems": {"one": [{"Put": PUT}]}}),
        ("TransactWriteItems", {"TransactItems": [{}]}),
        ("TransactWriteItems", {"TransactItems": [{"Get": GET}]}),
        ("TransactGetItems", {"TransactItems": [{"Delete": GET}]}),
        ("ExecuteTransaction", {"TransactStatements": []}),
        ("BatchExecuteStatement", {"Statements": []}),
        ("ExecuteStatement", {"Statement": 5}),
    ],
)
def test_a_request_that_does_not_show_its_items_is_unclear(operation: str, body: Any) -> None:
    with pytest.raises(Unclear):
        list(touches(operation, body))


def test_an_invalid_statement_is_not_skipped() -> None:
    body = {"Statements": [{"Statement": SELECT}, {"Statement": "SELECT FROM"}]}
    with pytest.raises(ValidationException):
        list(touches("BatchExecuteStatement", body))


def test_a_whole_page_keeps_what_decides_which_items_it_reads() -> None:
    request = {
        **QUERY,
        "FilterExpression": "#f = :f",
        "ExpressionAttributeNames": {"#p": "x", "#f": "y"},
        "ExpressionAttributeValues": {**QUERY["ExpressionAttributeValues"], ":f": av(1)},
        "Select": "COUNT",
        "Limit": 3,
    }
    assert whole_page(request) == {**QUERY, "Limit": 3}
    assert whole_page({"TableName": "one", "FilterExpression": "x = y"}) == {"TableName": "one"}


# --- what the engine does -----------------------------------------------------------------------

PK, SK = st.sampled_from("ab"), st.sampled_from((0, 1, 2))
KEYS = st.builds(lambda pk, sk: item(pk=pk, sk=sk), PK, SK)
TABLES = st.sampled_from(("one", "two"))
GETS = st.builds(lambda table, key: {"TableName": table, "Key": key}, TABLES, KEYS)
PUTS = st.builds(
    lambda table, key, x: {"TableName": table, "Item": key | item(x=x)}, TABLES, KEYS, SK
)
UPDATES = GETS.map(
    lambda get: {
        **get,
        "UpdateExpression": "SET x = :x",
        "ExpressionAttributeValues": {":x": av(7)},
    }
)
CHECKS = GETS.map(lambda get: {**get, "ConditionExpression": "attribute_exists(pk)"})


def in_tables(entries: st.SearchStrategy[Any], convert: Any = list) -> st.SearchStrategy[Json]:
    """The member of a batch: entries by table."""
    lists = st.lists(entries, min_size=1, max_size=3).map(convert)
    return st.dictionaries(TABLES, lists, min_size=1).map(lambda each: {"RequestItems": each})


def actions(**kinds: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    entries = [st.fixed_dictionaries({kind: parts}) for kind, parts in kinds.items()]
    lists = st.lists(st.one_of(entries), min_size=1, max_size=3)
    return st.fixed_dictionaries({"TransactItems": lists})


def query(table: str, index: str | None, pk: str, sk: int, operator: str) -> Json:
    return {
        "TableName": table,
        **({"IndexName": index} if index else {}),
        "KeyConditionExpression": f"{'x' if index else 'pk'} = :p AND sk {operator} :s",
        "ExpressionAttributeValues": {":p": av(sk if index else pk), ":s": av(sk)},
    }


WHERE = "WHERE pk = '{pk}' AND sk = {sk}"
TEXTS = [
    f"SELECT * FROM one {WHERE}",
    "SELECT * FROM one WHERE pk = '{pk}' AND sk > {sk}",
    "SELECT * FROM one WHERE pk = '{pk}' OR sk = {sk}",
    'SELECT * FROM "one"."by-x" WHERE x = {sk}',
    "SELECT * FROM two",
    "INSERT INTO one VALUE {{'pk': '{pk}', 'sk': {sk}, 'x': 8}}",
    f"UPDATE one SET x = 9 {WHERE}",
    f"DELETE FROM one {WHERE} AND x = 1",
]
STATEMENTS = st.builds(
    lambda text, pk, sk: {"Statement": text.format(pk=pk, sk=sk)}, st.sampled_from(TEXTS), PK, SK
)

REQUESTS: dict[str, st.SearchStrategy[Json]] = {
    "GetItem": GETS,
    "PutItem": PUTS,
    "UpdateItem": UPDATES,
    "DeleteItem": GETS,
    "BatchGetItem": in_tables(KEYS, lambda keys: {"Keys": keys}),
    "BatchWriteItem": in_tables(
        KEYS.map(lambda key: {"PutRequest": {"Item": key | item(x=6)}})
        | KEYS.map(lambda key: {"DeleteRequest": {"Key": key}})
    ),
    "TransactGetItems": actions(Get=GETS),
    "TransactWriteItems": actions(Put=PUTS, Update=UPDATES, Delete=GETS, ConditionCheck=CHECKS),
    "Query": st.builds(
        query, TABLES, st.sampled_from((None, "by-x")), PK, SK, st.sampled_from("=<>")
    ),
    "Scan": TABLES.map(lambda table: {"TableName": table}),
    "ExecuteStatement": STATEMENTS,
    "BatchExecuteStatement": st.lists(STATEMENTS, min_size=1, max_size=3).map(
        lambda found: {"Statements": found}
    ),
    "ExecuteTransaction": st.lists(STATEMENTS, min_size=1, max_size=3).map(
        lambda found: {"TransactStatements": found}
    ),
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        for table in ("one", "two"):
            request = table_request(table, "pk:S / sk:N", glob={"by-x": ("x:N / sk:N", "ALL")})
            engine.call("CreateTable", request)
            for pk in "ab":
                for sk in (0, 1):
                    engine.call("PutItem", {"TableName": table, "Item": item(pk=pk, sk=sk, x=sk)})
        yield engine


def rows(engine: Engine) -> dict[tuple[str, str], Json]:
    found = {}
    for table in ("one", "two"):
        for row in engine.call("Scan", {"TableName": table})["Items"]:
            found[table, str((row["pk"], row["sk"]))] = row
    return found


def contains(touch: Touch, table: str, row: Json) -> bool:
    if touch.table != table or isinstance(touch.what, Everything):
        return touch.table == table
    if isinstance(touch.what, Named):
        return all(row[name] == touch.what.item[name] for name in ("pk", "sk"))
    names = ("pk", "sk") if touch.access == "write" else touch.what.fixed
    return all(row.get(name) == touch.what.fixed.get(name) for name in names)


def returned(operation: str, answer: Json) -> list[Json]:
    """The items in a response, each of which the request has read."""
    responses = answer.get("Responses", [])
    if isinstance(responses, dict):
        return [row for found in responses.values() for row in found]
    return [
        row
        for each in (answer, *responses)
        for row in (*each.get("Items", ()), *([each["Item"]] if "Item" in each else ()))
    ]


def consumed(answer: Json) -> Iterator[tuple[str, str | None]]:
    capacity = answer.get("ConsumedCapacity", [])
    for each in capacity if isinstance(capacity, list) else [capacity]:
        yield each["TableName"], None
        for index in each.get("GlobalSecondaryIndexes", {}):
            yield each["TableName"], index


@pytest.mark.parametrize("operation", REQUESTS)
@given(data=st.data())
@examples(60)
def test_touches_contain_what_the_engine_reads_and_writes(
    engine: Engine, operation: str, data: st.DataObject
) -> None:
    body = data.draw(REQUESTS[operation])
    touched = list(touches(operation, body))
    before = rows(engine)
    with engine.sandbox():
        try:
            answer = engine.call(operation, {**body, "ReturnConsumedCapacity": "INDEXES"})
        except DynamoDBError:
            answer = {}
        after = rows(engine)
    written = [touch for touch in touched if touch.access == "write"]
    for table, key in before.keys() | after.keys():
        old, new = before.get((table, key)), after.get((table, key))
        if old != new:
            row: Json = old or new or {}
            assert any(contains(touch, table, row) for touch in written)
            assert operation in WRITES or OPERATIONS[operation].access is Access.STATEMENT
    for row in returned(operation, answer):
        assert any(contains(touch, touch.table, row) for touch in touched)
    indexes = {(touch.table, touch.index) for touch in touched if touch.index}
    for table, index in consumed(answer):
        assert any(touch.table == table for touch in touched)
        has_written = any(touch.table == table for touch in written)
        assert index is None or (table, index) in indexes or has_written


#: Of each write, a request that changes an item.
CHANGES: dict[str, Json] = {
    "BatchWriteItem": {"RequestItems": {"one": [{"DeleteRequest": {"Key": KEY}}]}},
    "DeleteItem": GET,
    "PutItem": {"TableName": "one", "Item": KEY},
    "TransactWriteItems": {"TransactItems": [{"Delete": GET}]},
    "UpdateItem": UPDATE,
}


def test_a_write_changes_items_and_no_other_operation_on_items_does(engine: Engine) -> None:
    assert CHANGES.keys() == WRITES
    for operation, body in CHANGES.items():
        with engine.sandbox():
            before = rows(engine)
            engine.call(operation, body)
            assert rows(engine) != before
