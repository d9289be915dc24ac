"""What each layer of validation says, and which operations have which; see `wire.layers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import Engine
from tablewright.errors import InvalidValue, TransactionCanceledException, ValidationException
from tablewright.wire.layers import NEW, PROFILES
from tests.engine.database import LABEL, Json, item, table_request, values

KEY = item(pk="a", sk="1")
NAMED = {"TableName": "table"}
FAILED = "failed to satisfy constraint: "
LEAST = f"{FAILED}Member must have length greater than or equal to 1"
ENUM = "Member must satisfy enum value set: "
RETURNED = "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
SELECTED = "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
NEW_RETURNED = "Failed to satisfy constraint: " + (
    ENUM + "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
)
NEW_OPERATOR = f"Failed to satisfy constraint: {ENUM}[ALL, OR]"
CAPACITY = f"Value 'X' at 'returnConsumedCapacity' {FAILED}{ENUM}[INDEXES, TOTAL, NONE]"
DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.fixture(scope="module")
def old_engine() -> Iterator[Engine]:
    with Engine(validation="2025") as engine:
        yield engine


@pytest.fixture(scope="module")
def crossed() -> Iterator[Engine]:
    """An engine whose other operations have moved, too: a change of the table."""
    moved = ("BatchWriteItem", "Scan", "TransactGetItems", "TransactWriteItems")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PROFILES, "2026", {**PROFILES["2026"], **dict.fromkeys(moved, NEW)})
        engine = Engine()
    engine.call("CreateTable", table_request("table", "pk:S / sk:S"))
    with engine:
        yield engine


def message(engine: Engine, operation: str, request: Json) -> str:
    with pytest.raises(ValidationException) as refused:
        engine.call(operation, request)
    return refused.value.message


def nested(levels: int, inner: Any = "x") -> Any:
    for _ in range(levels):
        inner = [inner]
    return inner


#: Operation, request, and the messages of 2026 and of 2025.
MEMBERS: list[tuple[str, Json, str, str]] = [
    (
        "PutItem",
        {"TableName": "", "Item": KEY, "ReturnValues": "X"},
        f"{LABEL}Value at 'TableName' {LEAST}",
        f"{LABEL}Value '' at 'tableName' {LEAST}",
    ),
    (
        "GetItem",
        {"TableName": "", "Key": KEY},
        f"{LABEL}Value at 'TableName' {LEAST}",
        f"{LABEL}Value '' at 'tableName' {LEAST}",
    ),
    (
        "GetItem",
        {**NAMED, "Key": KEY, "AttributesToGet": []},
        f"{LABEL}Value at 'AttributesToGet' {LEAST}",
        f"{LABEL}Value '[]' at 'attributesToGet' {LEAST}",
    ),
    (
        "Query",
        {**NAMED, "IndexName": "ab", "Select": "X"},
        f"{LABEL}Value at 'IndexName' {FAILED}Member must have length greater than or equal to 3",
        f"2 validation errors detected: Value 'ab' at 'indexName' {FAILED}Member must have length "
        f"greater than or equal to 3; Value 'X' at 'select' {FAILED}{ENUM}{SELECTED}",
    ),
    (
        "Query",
        {**NAMED, "IndexName": "x" * 256},
        f"{LABEL}Value at 'IndexName' {FAILED}Member must have length less than or equal to 255",
        f"{LABEL}Value '{'x' * 256}' at 'indexName' {FAILED}Member must have length less than or "
        "equal to 255",
    ),
    (
        "GetItem",
        {"TableName": "x" * 1025, "Key": KEY},
        long_name := (
            f"{LABEL}Value '{'x' * 1025}' at 'tableName' {FAILED}Member must have length less than "
            "or equal to 1024"
        ),
        long_name,
    ),
    (
        "BatchGetItem",
        {"RequestItems": {}},
        f"{LABEL}Value at 'RequestItems' {LEAST}",
        "The requestItems parameter is required for BatchGetItem",
    ),
    (
        "BatchWriteItem",
        {"RequestItems": {}},
        "The requestItems parameter is required for BatchWriteItem",
        "The requestItems parameter is required for BatchWriteItem",
    ),
    *(
        (
            operation,
            {**NAMED, "Key": KEY, "ReturnValues": "X", "ReturnConsumedCapacity": "X"},
            f"{LABEL}{NEW_RETURNED}",
            f"2 validation errors detected: Value 'X' at 'returnValues' {FAILED}{ENUM}{RETURNED}; "
            f"{CAPACITY}",
        )
        for operation in ("DeleteItem",)
    ),
    (
        "UpdateItem",
        {**NAMED, "Key": KEY, "ReturnValues": "X", "ReturnConsumedCapacity": "X"},
        f"{LABEL}{NEW_RETURNED}",
        f"2 validation errors detected: {CAPACITY}; "
        f"Value 'X' at 'returnValues' {FAILED}{ENUM}{RETURNED}",
    ),
    (
        "Query",
        {**NAMED, "ConditionalOperator": "XOR", "Select": "X"},
        NEW_OPERATOR,
        f"2 validation errors detected: Value 'XOR' at 'conditionalOperator' {FAILED}{ENUM}"
        f"[OR, AND]; Value 'X' at 'select' {FAILED}{ENUM}{SELECTED}",
    ),
    (
        "PutItem",
        {**NAMED, "Item": KEY, "ConditionalOperator": "XOR"},
        f"{LABEL}{NEW_OPERATOR}",
        f"{LABEL}Value 'XOR' at 'conditionalOperator' {FAILED}{ENUM}[OR, AND]",
    ),
    # not in the new form: what is missing, and PutItem's enums
    (
        "UpdateItem",
        {"ReturnValues": "X", "ConditionalOperator": "XOR", "TableName": ""}
        | {"ReturnConsumedCapacity": "X"},
        joined := (
            f"5 validation errors detected: {CAPACITY}; Value '' at 'tableName' {LEAST}; "
            f"Value 'X' at 'returnValues' {FAILED}{ENUM}{RETURNED}; "
            f"Value 'XOR' at 'conditionalOperator' {FAILED}{ENUM}[OR, AND]; "
            f"Value null at 'key' {FAILED}Member must not be null"
        ),
        joined,
    ),
    (
        "PutItem",
        {**NAMED, "Item": KEY, "ReturnValues": "X", "ReturnConsumedCapacity": "X"},
        both := (
            f"2 validation errors detected: Value 'X' at 'returnValues' {FAILED}{ENUM}{RETURNED}; "
            f"{CAPACITY}"
        ),
        both,
    ),
]


@pytest.mark.parametrize(("operation", "request_", "new", "old"), MEMBERS)
def test_members(
    engine: Engine, old_engine: Engine, operation: str, request_: Json, new: str, old: str
) -> None:
    assert message(engine, operation, request_) == new
    assert message(old_engine, operation, request_) == old


def test_an_operation_moves_with_its_entry_in_the_table(crossed: Engine) -> None:
    number = {":v": {"N": "x"}}
    scan = {**NAMED, "FilterExpression": "a = :v", "ExpressionAttributeValues": number}
    no_number = "The parameter cannot be converted to a numeric value: x"
    assert message(crossed, "Scan", scan) == no_number
    assert message(crossed, "Scan", {**NAMED, "Limit": 0}) == (
        f"{LABEL}Value at 'Limit' {FAILED}Member must have value greater than or equal to 1"
    )
    assert message(crossed, "Scan", {**NAMED, "Segment": 5, "TotalSegments": 5}).endswith(
        "less than parameter TotalSegments"
    )
    start = {**NAMED, "ExclusiveStartKey": item(pk="a")}
    assert message(crossed, "Scan", start) == "The provided starting key is invalid"
    assert message(crossed, "BatchWriteItem", {"RequestItems": {}}) == (
        f"{LABEL}Value at 'RequestItems' {LEAST}"
    )
    assert message(
        crossed, "TransactGetItems", {"TransactItems": [{"Get": {**NAMED, "Key": KEY}}] * 101}
    ) == (
        f"{LABEL}Value at 'TransactItems' {FAILED}Member must have length less than or equal to 100"
    )
    update = {**NAMED, "Key": KEY, "UpdateExpression": "SET v = :v"}
    large = {"Update": {**update, "ExpressionAttributeValues": values(v="x" * 409_590)}}
    assert message(crossed, "TransactWriteItems", {"TransactItems": [large]}) == (
        "Item size to update has exceeded the maximum allowed size"
    )


# -- depth


@pytest.mark.parametrize("levels", [32, 61, 62])
def test_an_item_that_is_too_deep(engine: Engine, levels: int) -> None:
    request = {**NAMED, "Item": KEY | item(v=nested(levels))}
    assert message(engine, "PutItem", request) == LABEL + DEEP


@pytest.mark.parametrize("levels", [63, 100])
def test_the_old_layer_answers_what_is_far_too_deep(engine: Engine, levels: int) -> None:
    put = {**NAMED, "Item": KEY | item(v=nested(levels))}
    assert message(engine, "PutItem", put) == DEEP
    assert message(engine, "PutItem", put | {"ReturnValues": "ALL_NEW"}) == (
        "ReturnValues can only be ALL_OLD or NONE"
    )
    assert message(engine, "PutItem", put | {"ConditionalOperator": "XOR"}) == (
        f"{LABEL}Value 'XOR' at 'conditionalOperator' {FAILED}{ENUM}[OR, AND]"
    )
    update = {**NAMED, "Key": KEY, "UpdateExpression": "SET v = :v"}
    update |= {"ExpressionAttributeValues": values(v=nested(levels))}
    wrapped = f"ExpressionAttributeValues contains invalid value: {DEEP} for key :v"
    assert message(engine, "UpdateItem", update) == wrapped
    assert message(engine, "TransactWriteItems", {"TransactItems": [{"Update": update}]}) == wrapped


def test_a_transaction_finds_the_first_level_too_many_when_it_writes() -> None:
    with Engine() as engine:
        engine.call("CreateTable", table_request("table", "pk:S / sk:S"))
        update = {**NAMED, "Key": KEY, "UpdateExpression": "SET v = :v"}

        def transact(levels: int) -> Json:
            action = {**update, "ExpressionAttributeValues": values(v=nested(levels))}
            return {"TransactItems": [{"Update": action}]}

        with pytest.raises(TransactionCanceledException) as cancelled:
            engine.call("TransactWriteItems", transact(32))
        reason = {
            "Code": "ValidationError",
            "Message": "Nesting Levels have exceeded supported limits",
        }
        assert cancelled.value.reasons == [reason]
        assert message(engine, "TransactWriteItems", transact(33)).endswith(f"{DEEP} for key :v")
        engine.call("TransactWriteItems", transact(31))


def test_the_new_layer_of_transactions_checks_the_depth_first(crossed: Engine) -> None:
    update = {**NAMED, "Key": KEY, "UpdateExpression": "SET v = :v"}

    def found(levels: int) -> str:
        action = {**update, "ExpressionAttributeValues": values(v=nested(levels))}
        return message(crossed, "TransactWriteItems", {"TransactItems": [{"Update": action}]})

    assert [found(32), found(60)] == [DEEP, DEEP]
    assert found(61) == f"ExpressionAttributeValues contains invalid value: {DEEP} for key :v"


def test_the_depth_comes_between_the_names_outside_and_inside(engine: Engine) -> None:
    def put(**more: Any) -> str:
        action = {**NAMED, "Item": KEY | item(**more)}
        return message(engine, "TransactWriteItems", {"TransactItems": [{"Put": action}]})

    assert put(v=nested(32), **{"": 1}) == "Empty attribute name"
    assert put(m={"": 1}, v=nested(32)) == DEEP


# -- the names of tables in batches

NAMES = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
    "Member must have length greater than or equal to 3, "
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
)


def test_a_wrong_name_is_a_fault_of_the_map(engine: Engine) -> None:
    get = {"bad!name": {"Keys": [item(pk="a")]}}
    shown = """Value '{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}' at 'requestItems' """
    assert message(engine, "BatchGetItem", {"RequestItems": get}) == LABEL + shown + FAILED + NAMES
    request = {"ReturnConsumedCapacity": "X", "RequestItems": get}
    assert message(engine, "BatchGetItem", request) == (
        f"2 validation errors detected: {shown}{FAILED}{NAMES}; {CAPACITY}"
    )


def test_a_wrong_name_gives_way_in_batch_write_item(engine: Engine) -> None:
    request: Json = {"RequestItems": {"bad!name": [{"PutRequest": {"Item": item(pk="a")}}]}}
    assert message(engine, "BatchWriteItem", request) == (
        f"{LABEL}Value '{{bad!name=[WriteRequest(putRequest=PutRequest(item={{pk={{S=a}}}}))]}}' "
        f"at 'requestItems' {FAILED}{NAMES}"
    )
    request["ReturnConsumedCapacity"] = "X"
    assert message(engine, "BatchWriteItem", request) == LABEL + CAPACITY


def test_tables_of_a_batch_do_not_mix_expressions_and_legacy_parameters(engine: Engine) -> None:
    one = {"Keys": [KEY], "ProjectionExpression": "a"}
    two = {"Keys": [KEY], "AttributesToGet": ["a"]}
    assert message(engine, "BatchGetItem", {"RequestItems": {"one": one, "two": two}}).startswith(
        "Can not use both expression and non-expression parameters"
    )


def test_a_long_transaction_is_shown_as_a_whole(engine: Engine) -> None:
    action = {"Put": {**NAMED, "Item": item(pk="x" * 100)}}
    found = message(engine, "TransactWriteItems", {"TransactItems": [action] * 101})
    shown = f"TransactWriteItem(put=Put(tableName=table, item={{pk={{S={'x' * 100}}}}}))"
    assert found == (
        f"{LABEL}Value '[{', '.join([shown] * 101)}]' at 'transactItems' {FAILED}"
        "Member must have length less than or equal to 100"
    )


# -- index keys in a transaction


def test_an_empty_index_key_does_not_cancel() -> None:
    empty = "The AttributeValue for a key attribute cannot contain an empty string value."
    with Engine() as engine:
        engine.call(
            "CreateTable", table_request("table", "pk:S / sk:S", glob={"index": ("g:S", "ALL")})
        )
        put = {"Put": {**NAMED, "Item": KEY | item(g="")}}
        assert message(engine, "TransactWriteItems", {"TransactItems": [put]}) == (
            "One or more parameter values are not valid. A value specified for a secondary index "
            f"key is not supported. {empty} IndexName: index, IndexKey: g"
        )
        action = {**NAMED, "Key": KEY, "UpdateExpression": "SET g = :v"}
        update = {"Update": {**action, "ExpressionAttributeValues": values(v="")}}
        assert message(engine, "TransactWriteItems", {"TransactItems": [update]}) == (
            "One or more parameter values are not valid. The update expression attempted to update "
            f"a secondary index key to a value that is not supported. {empty}"
        )
        wrong = {"Put": {**NAMED, "Item": KEY | item(g=1)}}
        with pytest.raises(TransactionCanceledException):
            engine.call("TransactWriteItems", {"TransactItems": [wrong]})


def test_indexes_of_create_table_have_one_order(engine: Engine) -> None:
    index = {"IndexName": "index", "KeySchema": [], "Projection": {}}
    request = table_request("table", "pk:S / sk:S") | {
        "LocalSecondaryIndexes": [index],
        "GlobalSecondaryIndexes": [index],
    }
    first, second = message(engine, "CreateTable", request).split("; ")
    assert "'globalSecondaryIndexes" in first
    assert "'localSecondaryIndexes" in second


def test_an_unknown_year_is_refused() -> None:
    wrong: Any = "1999"
    with pytest.raises(InvalidValue, match=r"must be '2025' or '2026', the year .* not '1999'"):
        Engine(validation=wrong)
