from __future__ import annotations

import time
import uuid
from typing import Any

import pytest

from tests.engine.database import Database, Json, Refused, item, values

OLD = item(pk="a", sk="0", n=1)
KEY = item(pk="a", sk="0")
OTHER = item(pk="b", sk="0", n=2)
NONE = {"Code": "None"}
FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons "


@pytest.fixture
def full(db: Database) -> str:
    return db.table(glob={"glob": ("g:S", "ALL")}, items=[OLD, OTHER])


def request(*actions: Json, **more: Any) -> Json:
    return {"TransactItems": list(actions)} | more


def put(table: str, attributes: Json, **more: Any) -> Json:
    return {"Put": {"TableName": table, "Item": attributes, **more}}


def update(table: str, key: Json, expression: str, **given: Any) -> Json:
    action: Json = {"TableName": table, "Key": key, "UpdateExpression": expression}
    if given:
        action["ExpressionAttributeValues"] = values(**given)
    return {"Update": action}


def delete(table: str, key: Json, **more: Any) -> Json:
    return {"Delete": {"TableName": table, "Key": key, **more}}


def check(table: str, key: Json, condition: str, **more: Any) -> Json:
    action = {"TableName": table, "Key": key, "ConditionExpression": condition, **more}
    return {"ConditionCheck": action}


def cancelled(db: Database, asked: Json, *reasons: Json) -> None:
    """Assert that the transaction is cancelled for exactly these reasons."""
    codes = ", ".join(reason["Code"] for reason in reasons)
    message = f"{CANCELLED}[{codes}]"
    details = db.fails("TransactWriteItems", asked, "TransactionCanceledException", message)
    assert details["CancellationReasons"] == list(reasons)


def invalid(message: str) -> Json:
    return {"Code": "ValidationError", "Message": message}


def test_all_four_actions_are_done(db: Database, full: str) -> None:
    extra = item(pk="c", sk="0")
    db.put(full, extra)
    asked = request(
        put(full, item(pk="d", sk="0", g="x")),
        update(full, KEY, "SET n = n + :v", v=1),
        delete(full, item(pk="b", sk="0")),
        check(full, extra, "attribute_exists(pk)"),
    )
    assert db.call("TransactWriteItems", asked) == {}
    assert db.get(full, KEY) == KEY | item(n=2)
    assert db.get(full, item(pk="b", sk="0")) is None
    assert db.items(full, "glob") == [item(pk="d", sk="0", g="x")]


def test_the_first_invalid_key_is_reported_alone(db: Database, full: str) -> None:
    asked = request(
        put(full, item(pk="d", sk="0")),
        delete(full, item(pk="a")),
        delete(full, item(pk="b")),
        check(full, KEY, "attribute_not_exists(pk)"),
    )
    none = {"Code": "None"}
    schema = invalid("The provided key element does not match the schema")
    cancelled(db, asked, none, schema, none, none)


def test_all_invalid_updates_are_reported(db: Database, full: str) -> None:
    path = "The document path provided in the update expression is invalid for update"
    asked = request(
        update(full, KEY, "SET q.x = :v", v=1),
        update(full, item(pk="d", sk="0"), "SET q.x = :v", v=1),
    )
    cancelled(db, asked, invalid(path), invalid(path))


def test_several_tables_may_be_written(db: Database, full: str) -> None:
    other = db.table("pk:N")
    asked = request(put(other, item(pk=1)), delete(full, KEY))
    db.call("TransactWriteItems", asked)
    assert (db.items(other), db.items(full)) == ([item(pk=1)], [OTHER])


def test_an_update_makes_an_item_that_is_not_there(db: Database, full: str) -> None:
    asked = request(update(full, item(pk="z", sk="0"), "ADD n :v", v=5))
    db.call("TransactWriteItems", asked)
    assert db.get(full, item(pk="z", sk="0")) == item(pk="z", sk="0", n=5)


def test_a_hundred_actions_are_allowed(db: Database, table: str) -> None:
    actions = [put(table, item(pk="a", sk=str(number))) for number in range(100)]
    db.call("TransactWriteItems", request(*actions))
    assert len(db.items(table)) == 100


@pytest.mark.parametrize(
    "action",
    [
        pytest.param(
            lambda table: put(table, OLD, ConditionExpression="attribute_not_exists(pk)"), id="put"
        ),
        pytest.param(
            lambda table: {
                "Update": {
                    **update(table, KEY, "SET n = :v", v=9)["Update"],
                    "ConditionExpression": "attribute_not_exists(pk)",
                }
            },
            id="update",
        ),
        pytest.param(
            lambda table: delete(table, KEY, ConditionExpression="attribute_not_exists(pk)"),
            id="delete",
        ),
        pytest.param(lambda table: check(table, KEY, "attribute_not_exists(pk)"), id="check"),
    ],
)
def test_a_failed_condition_cancels_everything(db: Database, full: str, action: Any) -> None:
    first, last = put(full, item(pk="z", sk="0")), delete(full, item(pk="b", sk="0"))
    asked = request(first, action(full), last)
    cancelled(db, asked, NONE, FAILED, NONE)
    assert sorted(db.items(full), key=str) == sorted([OLD, OTHER], key=str)


def test_every_failed_condition_is_told(db: Database, full: str) -> None:
    asked = request(
        check(full, KEY, "attribute_not_exists(pk)"),
        put(full, item(pk="z", sk="0")),
        check(full, item(pk="q", sk="0"), "attribute_exists(pk)"),
    )
    cancelled(db, asked, FAILED, NONE, FAILED)


@pytest.mark.parametrize(
    ("key", "wanted", "reason"),
    [
        pytest.param(KEY, "ALL_OLD", FAILED | {"Item": OLD}, id="with the item"),
        pytest.param(KEY, "NONE", FAILED, id="without the item"),
        pytest.param(item(pk="q", sk="0"), "ALL_OLD", FAILED, id="no item"),
    ],
)
def test_a_failed_condition_shows_the_item_if_asked(
    db: Database, full: str, key: Json, wanted: str, reason: Json
) -> None:
    action = check(full, key, "n = :n", ReturnValuesOnConditionCheckFailure=wanted)
    action["ConditionCheck"]["ExpressionAttributeValues"] = values(n=7)
    cancelled(db, request(action), reason)


@pytest.mark.parametrize(
    ("expression", "given", "message"),
    [
        pytest.param(
            "SET x = q",
            {},
            "The provided expression refers to an attribute that does not exist in the item",
            id="missing attribute",
        ),
        pytest.param(
            "SET q.x = :v",
            {"v": 1},
            "The document path provided in the update expression is invalid for update",
            id="bad path",
        ),
        pytest.param(
            "ADD n :v",
            {"v": {"x"}},
            "An operand in the update expression has an incorrect data type",
            id="wrong type",
        ),
        pytest.param(
            "SET pk = :v",
            {"v": "x"},
            "One or more parameter values were invalid: Cannot update attribute pk. "
            "This attribute is part of the key",
            id="key",
        ),
        pytest.param(
            "SET g = :v",
            {"v": 1},
            "One or more parameter values were invalid: Type mismatch for Index Key g "
            "Expected: S Actual: N IndexName: glob",
            id="index key",
        ),
        pytest.param(
            "SET x = :v",
            {"v": "x" * 410_000},
            "Item size to update has exceeded the maximum allowed size",
            id="too large",
        ),
    ],
)
def test_what_the_item_does_not_allow_cancels(
    db: Database, full: str, expression: str, given: Json, message: str
) -> None:
    asked = request(put(full, item(pk="z", sk="0")), update(full, KEY, expression, **given))
    cancelled(db, asked, NONE, invalid(message))
    assert db.get(full, item(pk="z", sk="0")) is None
    assert db.get(full, KEY) == OLD


@pytest.mark.parametrize(
    ("action", "message"),
    [
        pytest.param(
            lambda table: put(table, item(pk=1, sk="0")),
            "One or more parameter values were invalid: "
            "Type mismatch for key pk expected: S actual: N",
            id="put",
        ),
        pytest.param(
            lambda table: put(table, item(pk="z", sk="0", g=1)),
            "One or more parameter values were invalid: Type mismatch for Index Key g "
            "Expected: S Actual: N IndexName: glob",
            id="index key",
        ),
        pytest.param(
            lambda table: update(table, item(pk=1, sk="0"), "SET n = :v", v=1),
            "The provided key element does not match the schema",
            id="update",
        ),
        pytest.param(
            lambda table: delete(table, item(pk="z", sk=1)),
            "The provided key element does not match the schema",
            id="delete",
        ),
        pytest.param(
            lambda table: check(table, item(pk=["z"], sk="0"), "attribute_exists(pk)"),
            "The provided key element does not match the schema",
            id="check",
        ),
    ],
)
def test_a_key_of_the_wrong_type_cancels(
    db: Database, full: str, action: Any, message: str
) -> None:
    cancelled(db, request(action(full), delete(full, KEY)), invalid(message), NONE)
    assert db.get(full, KEY) == OLD


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(lambda table: put(table, KEY), id="put"),
        pytest.param(lambda table: update(table, KEY, "SET n = :v", v=1), id="update"),
        pytest.param(lambda table: delete(table, KEY), id="delete"),
        pytest.param(lambda table: check(table, KEY, "attribute_exists(pk)"), id="check"),
    ],
)
def test_one_item_cannot_be_used_twice(db: Database, full: str, second: Any) -> None:
    message = "Transaction request cannot include multiple operations on one item"
    db.refuses("TransactWriteItems", request(put(full, OLD), second(full)), message)


def test_numbers_spelled_differently_are_one_item(db: Database) -> None:
    table = db.table("pk:N")
    actions = [put(table, {"pk": {"N": text}}) for text in ("10", "1e1")]
    message = "Transaction request cannot include multiple operations on one item"
    db.refuses("TransactWriteItems", request(*actions), message)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        pytest.param(
            put("missing", KEY) | delete("missing", KEY),
            "TransactItems can only contain one of Check, Put, Update or Delete",
            id="two actions",
        ),
        pytest.param(
            put("missing", KEY, ConditionExpression="a ="),
            'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="',
            id="condition",
        ),
        pytest.param(
            update("missing", KEY, "SET"),
            'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"',
            id="update",
        ),
        pytest.param(
            put("missing", KEY, ExpressionAttributeNames={"#a": "a"}),
            "ExpressionAttributeNames can only be specified when using expressions",
            id="names without an expression",
        ),
        pytest.param(
            check("missing", KEY, "attribute_exists(a)", ExpressionAttributeValues=values(v=1)),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
            id="unused value",
        ),
        pytest.param(
            put("missing", item(v="x" * 410_000)),
            "Item size has exceeded the maximum allowed size",
            id="too large",
        ),
        pytest.param(
            put("missing", {"pk": {}}),
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
            id="no value",
        ),
    ],
)
def test_wrong_actions_are_refused_before_the_table_is_looked_for(
    db: Database, action: Json, message: str
) -> None:
    db.refuses("TransactWriteItems", request(action), message)


def test_an_entry_without_an_action_is_refused(db: Database) -> None:
    db.refuses(
        "TransactWriteItems",
        request({}),
        "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request",
    )


def test_more_than_a_hundred_actions_are_refused(db: Database) -> None:
    with pytest.raises(Refused) as refused:
        db.call("TransactWriteItems", request(*(put("missing", KEY) for _ in range(101))))
    assert refused.value.message.startswith("1 validation error detected: Value '[")
    assert refused.value.message.endswith(
        "]' at 'transactItems' failed to satisfy constraint: "
        "Member must have length less than or equal to 100"
    )


def test_a_transaction_has_at_most_4_mb(db: Database, table: str) -> None:
    large = "x" * 399 * 1024
    actions = [put(table, item(pk="a", sk=str(number), v=large)) for number in range(11)]
    with pytest.raises(Refused) as refused:
        db.call("TransactWriteItems", request(*actions))
    assert refused.value.code == "ValidationException"
    assert db.items(table) == []


def test_what_a_transaction_deletes_is_not_counted(db: Database, table: str) -> None:
    keys = [item(pk="a", sk=str(number)) for number in range(11)]
    for key in keys:
        db.put(table, key | item(v="x" * 399 * 1024))
    db.call("TransactWriteItems", request(*(delete(table, key) for key in keys)))
    assert db.items(table) == []


def test_a_missing_table_fails_the_request(db: Database, full: str) -> None:
    asked = request(delete(full, KEY), put("missing", KEY))
    db.fails(
        "TransactWriteItems", asked, "ResourceNotFoundException", "Requested resource not found"
    )
    assert db.get(full, KEY) == OLD


def test_keys_are_judged_before_conditions(db: Database, full: str) -> None:
    asked = request(check(full, KEY, "attribute_not_exists(pk)"), put(full, item(pk=1, sk="0")))
    message = (
        "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"
    )
    cancelled(db, asked, NONE, invalid(message))


# -- tokens


@pytest.fixture
def token() -> str:
    return str(uuid.uuid4())


def test_a_request_repeated_with_its_token_is_done_once(
    db: Database, full: str, token: str
) -> None:
    asked = request(update(full, KEY, "ADD n :v", v=1), ClientRequestToken=token)
    db.call("TransactWriteItems", asked)
    assert db.call("TransactWriteItems", asked) == {}
    assert db.get(full, KEY) == KEY | item(n=2)


def test_a_repeated_request_succeeds_even_if_its_condition_would_not(
    db: Database, table: str, token: str
) -> None:
    action = put(table, KEY, ConditionExpression="attribute_not_exists(pk)")
    asked = request(action, ClientRequestToken=token)
    db.call("TransactWriteItems", asked)
    assert db.call("TransactWriteItems", asked) == {}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(
            lambda table: [
                update(table, KEY, "ADD n :v", v=2),
                delete(table, item(pk="q", sk="0")),
            ],
            id="another value",
        ),
        pytest.param(
            lambda table: [
                delete(table, item(pk="q", sk="0")),
                update(table, KEY, "ADD n :v", v=1),
            ],
            id="another order",
        ),
        pytest.param(lambda table: [update(table, KEY, "ADD n :v", v=1)], id="fewer actions"),
    ],
)
def test_another_request_with_the_token_is_refused(
    db: Database, full: str, token: str, other: Any
) -> None:
    first = [update(full, KEY, "ADD n :v", v=1), delete(full, item(pk="q", sk="0"))]
    db.call("TransactWriteItems", request(*first, ClientRequestToken=token))
    with pytest.raises(Refused) as refused:
        db.call("TransactWriteItems", request(*other(full), ClientRequestToken=token))
    assert refused.value.code == "IdempotentParameterMismatchException"
    assert db.get(full, KEY) == KEY | item(n=2)


def test_what_is_to_be_returned_may_differ(db: Database, full: str, token: str) -> None:
    asked = request(update(full, KEY, "ADD n :v", v=1), ClientRequestToken=token)
    db.call("TransactWriteItems", asked)
    db.call("TransactWriteItems", asked | {"ReturnConsumedCapacity": "TOTAL"})
    assert db.get(full, KEY) == KEY | item(n=2)


def test_a_cancelled_transaction_leaves_its_token_free(db: Database, full: str, token: str) -> None:
    failing = request(check(full, KEY, "attribute_not_exists(pk)"), ClientRequestToken=token)
    cancelled(db, failing, FAILED)
    db.call(
        "TransactWriteItems",
        request(update(full, KEY, "ADD n :v", v=1), ClientRequestToken=token),
    )
    assert db.get(full, KEY) == KEY | item(n=2)


def test_other_tokens_are_other_requests(db: Database, full: str) -> None:
    for _ in range(2):
        asked = request(update(full, KEY, "ADD n :v", v=1), ClientRequestToken=str(uuid.uuid4()))
        db.call("TransactWriteItems", asked)
    assert db.get(full, KEY) == KEY | item(n=3)


def test_a_token_is_forgotten_after_ten_minutes(db: Database, full: str, token: str) -> None:
    asked = request(update(full, KEY, "ADD n :v", v=1), ClientRequestToken=token)
    db.call("TransactWriteItems", asked)
    db.engine.expire(now=time.time() + 601)
    db.call("TransactWriteItems", asked)
    assert db.get(full, KEY) == KEY | item(n=3)


def reversed_members(value: Any) -> Any:
    """The same JSON with the members of every object in the opposite order."""
    if isinstance(value, list):
        return [reversed_members(one) for one in value]
    if isinstance(value, dict):
        return {name: reversed_members(value[name]) for name in reversed(value)}
    return value


def test_the_order_of_json_members_makes_no_other_request(
    db: Database, full: str, token: str
) -> None:
    action = update(full, KEY, "ADD #n :v SET #m = :m", v=1, m={"x": 1, "y": [{"z": 2, "w": 3}]})
    action["Update"]["ExpressionAttributeNames"] = {"#n": "n", "#m": "m"}
    new = put(full, item(pk="new", sk="0", a=1, b=2))
    asked = request(action, new, ClientRequestToken=token)
    db.post("TransactWriteItems", asked)
    other = reversed_members(asked)
    assert list(other["TransactItems"][1]["Put"]["Item"]) == ["b", "a", "sk", "pk"]
    assert db.post("TransactWriteItems", other) == {}
    found = db.get(full, KEY)
    assert found is not None
    assert found["n"] == {"N": "2"}


def test_the_order_of_the_actions_does_make_another_request(
    db: Database, full: str, token: str
) -> None:
    actions = [update(full, KEY, "ADD n :v", v=1), put(full, item(pk="new", sk="0"))]
    db.call("TransactWriteItems", request(*actions, ClientRequestToken=token))
    with pytest.raises(Refused) as refused:
        db.call("TransactWriteItems", request(*actions[::-1], ClientRequestToken=token))
    assert refused.value.code == "IdempotentParameterMismatchException"
