from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, Refused, item

ITEMS = [item(pk="a", sk=str(number), n=number, m={"x": number}) for number in range(4)]
KEYS = [item(pk="a", sk=str(number)) for number in range(4)]


@pytest.fixture
def full(db: Database) -> str:
    return db.table(items=ITEMS)


def get(table: str, *keys: Json, **more: Any) -> Json:
    return {"RequestItems": {table: {"Keys": list(keys), **more}}}


def test_items_are_found_by_their_keys(db: Database, full: str) -> None:
    answer = db.call("BatchGetItem", get(full, KEYS[2], KEYS[0]))
    found = sorted(answer["Responses"].pop(full), key=lambda one: str(one["sk"]))
    assert found == [ITEMS[0], ITEMS[2]]
    assert answer == {"Responses": {}, "UnprocessedKeys": {}}


def test_keys_without_an_item_are_left_out(db: Database, full: str) -> None:
    answer = db.call("BatchGetItem", get(full, item(pk="b", sk="0"), KEYS[1]))
    assert answer == {"Responses": {full: [ITEMS[1]]}, "UnprocessedKeys": {}}


def test_a_table_without_any_of_them_has_an_empty_list(db: Database, full: str) -> None:
    answer = db.call("BatchGetItem", get(full, item(pk="b", sk="0")))
    assert answer == {"Responses": {full: []}, "UnprocessedKeys": {}}


def test_several_tables_may_be_read(db: Database, full: str) -> None:
    other = db.table("pk:N", items=[item(pk=1)])
    request = {"RequestItems": {full: {"Keys": [KEYS[0]]}, other: {"Keys": [item(pk=1)]}}}
    answer = db.call("BatchGetItem", request)
    assert answer["Responses"] == {full: [ITEMS[0]], other: [item(pk=1)]}


@pytest.mark.parametrize(
    ("more", "found"),
    [
        pytest.param({"ProjectionExpression": "n"}, item(n=1), id="projection"),
        pytest.param({"ProjectionExpression": "m.x"}, item(m={"x": 1}), id="path"),
        pytest.param(
            {"ProjectionExpression": "#n", "ExpressionAttributeNames": {"#n": "n"}},
            item(n=1),
            id="names",
        ),
        pytest.param({"AttributesToGet": ["n", "nope"]}, item(n=1), id="attributes to get"),
        pytest.param({"ConsistentRead": True}, ITEMS[1], id="consistent"),
    ],
)
def test_each_table_has_its_settings(db: Database, full: str, more: Json, found: Json) -> None:
    answer = db.call("BatchGetItem", get(full, KEYS[1], **more))
    assert answer["Responses"] == {full: [found]}


def test_what_exceeds_16_mb_is_left_unprocessed(db: Database) -> None:
    large = "x" * 390 * 1024
    table = db.table("pk:N", items=[item(pk=number, v=large) for number in range(45)])
    keys = [item(pk=number) for number in range(45)]
    request = get(table, *keys, ProjectionExpression="pk", ConsistentRead=True)
    answer = db.call("BatchGetItem", request)
    found = answer["Responses"][table]
    rest = answer["UnprocessedKeys"][table]
    assert 40 <= len(found) < 45
    assert rest["ProjectionExpression"] == "pk"
    assert rest["ConsistentRead"] is True
    again = db.call("BatchGetItem", {"RequestItems": answer["UnprocessedKeys"]})
    assert again["UnprocessedKeys"] == {}
    together = [*found, *again["Responses"][table]]
    assert sorted(int(one["pk"]["N"]) for one in together) == [*range(45)]


def test_a_hundred_keys_are_allowed(db: Database, full: str) -> None:
    keys = [item(pk="a", sk=str(number)) for number in range(100)]
    assert len(db.call("BatchGetItem", get(full, *keys))["Responses"][full]) == 4


def test_more_than_a_hundred_keys_of_two_tables_are_refused(db: Database, full: str) -> None:
    keys = [item(pk="a", sk=str(number)) for number in range(51)]
    request = get(full, *keys)
    request["RequestItems"]["missing"] = {"Keys": keys}
    message = "Too many items requested for the BatchGetItem call"
    db.refuses("BatchGetItem", request, message)


def test_more_than_a_hundred_keys_of_one_table_are_refused(db: Database) -> None:
    keys = [item(pk=str(number)) for number in range(101)]
    with pytest.raises(Refused) as refused:
        db.call("BatchGetItem", get("missing", *keys))
    assert refused.value.message == (
        "1 validation error detected: Value at 'RequestItems.missing.member.Keys' failed to "
        "satisfy constraint: Member must have length less than or equal to 100"
    )


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param([KEYS[0], KEYS[0]], id="the same"),
        pytest.param([KEYS[0], dict(reversed(KEYS[0].items()))], id="in another order"),
    ],
)
def test_duplicate_keys_are_refused_before_the_table_is_looked_for(
    db: Database, keys: list[Json]
) -> None:
    message = "Provided list of item keys contains duplicates"
    db.refuses("BatchGetItem", get("missing", *keys), message)


def test_numbers_spelled_differently_are_no_duplicates(db: Database) -> None:
    table = db.table("pk:N", items=[item(pk=1000)])
    answer = db.call("BatchGetItem", get(table, {"pk": {"N": "1000"}}, {"pk": {"N": "1e3"}}))
    assert answer["Responses"] == {table: [item(pk=1000), item(pk=1000)]}


@pytest.mark.parametrize("request_items", [{}, None], ids=["empty", "missing"])
def test_there_must_be_something_to_get(db: Database, request_items: Json | None) -> None:
    request = {} if request_items is None else {"RequestItems": request_items}
    db.refuses_early(
        "BatchGetItem",
        request,
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
        old="The requestItems parameter is required for BatchGetItem",
        raw=True,
    )


def test_a_table_must_have_keys(db: Database) -> None:
    db.refuses(
        "BatchGetItem",
        get("missing"),
        "1 validation error detected: Value at 'RequestItems.missing.member.Keys' failed to "
        "satisfy constraint: Member must have length greater than or equal to 1",
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(
            {"ProjectionExpression": ""},
            "Invalid ProjectionExpression: The expression can not be empty;",
            id="empty projection",
        ),
        pytest.param(
            {"ProjectionExpression": "n", "ExpressionAttributeNames": {"#n": "n"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#n}",
            id="unused name",
        ),
        pytest.param(
            {"ExpressionAttributeNames": {"#n": "n"}},
            "ExpressionAttributeNames can only be specified when using expressions",
            id="names without an expression",
        ),
        pytest.param(
            {"AttributesToGet": ["n", "n"]},
            "One or more parameter values were invalid: Duplicate value in attribute name: n",
            id="an attribute twice",
        ),
        pytest.param(
            {"ProjectionExpression": "n", "AttributesToGet": ["n"]},
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} "
            "Expression parameters: {ProjectionExpression}",
            id="mixed with legacy",
        ),
    ],
)
def test_wrong_settings_are_refused_before_the_table_is_looked_for(
    db: Database, more: Json, message: str
) -> None:
    db.refuses("BatchGetItem", get("missing", KEYS[0], **more), message)
