from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, item, values

KEY = item(pk="a", sk="1")
STORED = item(
    pk="a",
    sk="1",
    n=5,
    s="text",
    ss={"a", "b"},
    ns={1, 2},
    l=[1, 2, 3],
    m={"x": 1, "y": {"z": 2}},
)
FAILED = ("ConditionalCheckFailedException", "The conditional request failed")
MISSING = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
INVALID_PATH = "The document path provided in the update expression is invalid for update"
INVALID = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "


@pytest.fixture
def full(db: Database) -> str:
    return db.table(items=[STORED])


def request(table: str, expression: str, **given: Any) -> Json:
    made: Json = {"TableName": table, "Key": KEY, "UpdateExpression": expression}
    if given:
        made["ExpressionAttributeValues"] = values(**given)
    return made


@pytest.mark.parametrize(
    ("expression", "given", "changed"),
    [
        pytest.param("SET s = :v", {"v": "new"}, {"s": "new"}, id="set"),
        pytest.param("SET q = :v", {"v": "new"}, {"q": "new"}, id="set a new attribute"),
        pytest.param("SET s = n, n = :v", {"v": 1}, {"s": 5, "n": 1}, id="set from the old item"),
        pytest.param("SET n = n + :v", {"v": 2}, {"n": 7}, id="plus"),
        pytest.param("SET n = n - :v", {"v": 7}, {"n": -2}, id="minus"),
        pytest.param("SET n = :v - n", {"v": 7}, {"n": 2}, id="minus, the other way"),
        pytest.param("SET q = if_not_exists(q, :v)", {"v": 1}, {"q": 1}, id="default"),
        pytest.param("SET n = if_not_exists(n, :v)", {"v": 1}, {}, id="no default needed"),
        pytest.param(
            "SET q = if_not_exists(q, :z) + :v", {"z": 0, "v": 1}, {"q": 1}, id="a counter"
        ),
        pytest.param("SET l = list_append(l, :v)", {"v": [4]}, {"l": [1, 2, 3, 4]}, id="append"),
        pytest.param("SET l = list_append(:v, l)", {"v": [0]}, {"l": [0, 1, 2, 3]}, id="prepend"),
        pytest.param("SET l[1] = :v", {"v": "x"}, {"l": [1, "x", 3]}, id="set an element"),
        pytest.param("SET l[9] = :v", {"v": 4}, {"l": [1, 2, 3, 4]}, id="set past the end"),
        pytest.param(
            "SET l[9] = :v, l[7] = :w",
            {"v": "9", "w": "7"},
            {"l": [1, 2, 3, "7", "9"]},
            id="set twice past the end",
        ),
        pytest.param("SET m.x = :v", {"v": 9}, {"m": {"x": 9, "y": {"z": 2}}}, id="in a map"),
        pytest.param("SET m.y.q = :v", {"v": 9}, {"m": {"x": 1, "y": {"z": 2, "q": 9}}}, id="deep"),
        pytest.param("REMOVE s", {}, {"s": None}, id="remove"),
        pytest.param("REMOVE q", {}, {}, id="remove what is not there"),
        pytest.param("REMOVE l[0], l[2]", {}, {"l": [2]}, id="remove elements"),
        pytest.param("REMOVE l[7]", {}, {}, id="remove past the end"),
        pytest.param("REMOVE m.x", {}, {"m": {"y": {"z": 2}}}, id="remove from a map"),
        pytest.param("REMOVE l[0] SET l[1] = :v", {"v": 9}, {"l": [9, 3]}, id="old positions"),
        pytest.param("ADD n :v", {"v": 1}, {"n": 6}, id="add"),
        pytest.param("ADD n :v", {"v": -10}, {"n": -5}, id="add a negative number"),
        pytest.param("ADD q :v", {"v": 1}, {"q": 1}, id="add to nothing"),
        pytest.param("ADD ss :v", {"v": {"b", "c"}}, {"ss": {"a", "b", "c"}}, id="add to a set"),
        pytest.param("ADD q :v", {"v": {1}}, {"q": {1}}, id="add a new set"),
        pytest.param("ADD m.x :v", {"v": 1}, {"m": {"x": 2, "y": {"z": 2}}}, id="add in a map"),
        pytest.param("DELETE ss :v", {"v": {"b", "c"}}, {"ss": {"a"}}, id="delete from a set"),
        pytest.param("DELETE ss :v", {"v": {"a", "b"}}, {"ss": None}, id="delete all of a set"),
        pytest.param("DELETE q :v", {"v": {"a"}}, {}, id="delete from nothing"),
        pytest.param(
            "SET s = :v REMOVE n ADD ns :ns DELETE ss :ss",
            {"v": "x", "ns": {3}, "ss": {"a"}},
            {"s": "x", "n": None, "ns": {1, 2, 3}, "ss": {"b"}},
            id="everything at once",
        ),
    ],
)
def test_updates(db: Database, full: str, expression: str, given: Json, changed: Json) -> None:
    assert db.call("UpdateItem", request(full, expression, **given)) == {}
    expected = dict(STORED)
    for name, value in changed.items():
        expected |= item(**{name: value})
        if value is None:
            del expected[name]
    assert db.get(full, KEY) == expected


@pytest.mark.parametrize(
    ("expression", "given", "made"),
    [
        pytest.param(None, {}, {}, id="without an update"),
        pytest.param("SET s = :v", {"v": "x"}, {"s": "x"}, id="set"),
        pytest.param("ADD n :v", {"v": 1}, {"n": 1}, id="add"),
        pytest.param("SET s = :v REMOVE n", {"v": "x"}, {"s": "x"}, id="set and remove"),
    ],
)
def test_an_item_that_is_not_there_is_made(
    db: Database, table: str, expression: str | None, given: Json, made: Json
) -> None:
    asked = request(table, expression or "", **given)
    if expression is None:
        del asked["UpdateExpression"]
    assert db.call("UpdateItem", asked) == {}
    assert db.items(table) == [KEY | item(**made)]


REMOVALS: list[Any] = [
    pytest.param("REMOVE s", {}, id="remove"),
    pytest.param("REMOVE m.x", {}, id="remove a member"),
    pytest.param("REMOVE l[0], s", {}, id="remove an element"),
    pytest.param("DELETE ss :v", {"v": {"a"}}, id="delete"),
]


@pytest.mark.parametrize(("expression", "given"), REMOVALS)
@pytest.mark.parametrize("returned", ["ALL_NEW", "UPDATED_NEW", "ALL_OLD", "NONE"])
def test_an_item_that_is_not_there_is_not_made_by_removing(
    db: Database, table: str, expression: str, given: Json, returned: str
) -> None:
    asked = request(table, expression, **given) | {"ReturnValues": returned}
    assert db.call("UpdateItem", asked) == {}
    assert db.items(table) == []


@pytest.mark.parametrize(("expression", "given"), REMOVALS)
def test_an_item_that_is_not_there_is_not_made_in_a_transaction(
    db: Database, table: str, expression: str, given: Json
) -> None:
    action = {"Update": request(table, expression, **given)}
    db.call("TransactWriteItems", {"TransactItems": [action]})
    assert db.items(table) == []


def test_legacy_deletes_do_not_make_an_item(db: Database, table: str) -> None:
    asked = {"TableName": table, "Key": KEY, "AttributeUpdates": {"s": {"Action": "DELETE"}}}
    asked |= {"ReturnConsumedCapacity": "TOTAL"}
    assert db.call("UpdateItem", asked)["ConsumedCapacity"]["CapacityUnits"] == 1
    assert db.items(table) == []


def test_a_condition_of_a_removal_is_checked(db: Database, table: str) -> None:
    asked = request(table, "REMOVE s") | {"ConditionExpression": "attribute_exists(pk)"}
    message = "The conditional request failed"
    db.fails("UpdateItem", asked, "ConditionalCheckFailedException", message)


@pytest.mark.parametrize(
    ("wanted", "attributes"),
    [
        ("ALL_OLD", None),
        ("ALL_NEW", KEY | item(n=1)),
        ("UPDATED_OLD", None),
        ("UPDATED_NEW", item(n=1)),
    ],
)
def test_return_values_of_a_new_item(
    db: Database, table: str, wanted: str, attributes: Json | None
) -> None:
    asked = request(table, "SET n = :n", n=1) | {"ReturnValues": wanted}
    answer = {} if attributes is None else {"Attributes": attributes}
    assert db.call("UpdateItem", asked) == answer


@pytest.mark.parametrize(
    ("expression", "given", "old", "new"),
    [
        pytest.param("SET m.x = :v", {"v": 9}, {"m": {"x": 1}}, {"m": {"x": 9}}, id="in a map"),
        pytest.param("SET l[1] = :v", {"v": 9}, {"l": [2]}, {"l": [9]}, id="an element"),
        pytest.param("SET q = :v", {"v": 9}, None, {"q": 9}, id="a new attribute"),
        pytest.param("REMOVE n", {}, {"n": 5}, None, id="removed"),
        pytest.param("SET l[9] = :v", {"v": 9}, None, None, id="past the end"),
        pytest.param("REMOVE q", {}, None, None, id="nothing there"),
    ],
)
@pytest.mark.parametrize("wanted", ["UPDATED_OLD", "UPDATED_NEW"])
def test_return_values_of_paths_are_what_was_touched(
    db: Database,
    full: str,
    wanted: str,
    expression: str,
    given: Json,
    old: Json | None,
    new: Json | None,
) -> None:
    touched = old if wanted == "UPDATED_OLD" else new
    asked = request(full, expression, **given) | {"ReturnValues": wanted}
    answer = {} if touched is None else {"Attributes": item(**touched)}
    assert db.call("UpdateItem", asked) == answer


def test_a_condition_on_the_key_fails_where_there_is_no_item(db: Database, table: str) -> None:
    asked = request(table, "SET n = :n", n=1) | {"ConditionExpression": "attribute_exists(pk)"}
    db.fails("UpdateItem", asked, *FAILED)
    assert db.items(table) == []


def test_a_condition_comes_before_what_the_item_does_not_allow(db: Database, full: str) -> None:
    asked = request(full, "SET n = q", v=1) | {"ConditionExpression": "n < :v"}
    db.fails("UpdateItem", asked, *FAILED)


@pytest.mark.parametrize(
    ("expression", "given", "message"),
    [
        pytest.param("SET n = q", {}, MISSING, id="missing operand"),
        pytest.param("SET n = q + :v", {"v": 1}, MISSING, id="missing operand of plus"),
        pytest.param("SET q = if_not_exists(q, w)", {}, MISSING, id="missing default"),
        pytest.param("SET l = list_append(q, :v)", {"v": [1]}, MISSING, id="missing list"),
        pytest.param("SET n = s + :v", {"v": 1}, WRONG_TYPE, id="a string to add to"),
        pytest.param("SET n = n + s", {}, WRONG_TYPE, id="a string to add"),
        pytest.param("SET l = list_append(n, :v)", {"v": [1]}, WRONG_TYPE, id="not a list"),
        pytest.param("ADD s :v", {"v": 1}, WRONG_TYPE, id="add to a string"),
        pytest.param("ADD ss :v", {"v": {1}}, WRONG_TYPE, id="add to a set of another type"),
        pytest.param("ADD ss :v", {"v": 1}, WRONG_TYPE, id="add a number to a set"),
        pytest.param("DELETE n :v", {"v": {"a"}}, WRONG_TYPE, id="delete from a number"),
        pytest.param("DELETE ns :v", {"v": {"a"}}, WRONG_TYPE, id="delete another type"),
        pytest.param("SET q.x = :v", {"v": 1}, INVALID_PATH, id="in nothing"),
        pytest.param("SET s.x = :v", {"v": 1}, INVALID_PATH, id="in a string"),
        pytest.param("SET m[0] = :v", {"v": 1}, INVALID_PATH, id="an element of a map"),
        pytest.param("SET l.x = :v", {"v": 1}, INVALID_PATH, id="a member of a list"),
        pytest.param("SET l[9].x = :v", {"v": 1}, INVALID_PATH, id="in past the end"),
        pytest.param("REMOVE q.x", {}, INVALID_PATH, id="remove from nothing"),
        pytest.param("REMOVE s.x", {}, INVALID_PATH, id="remove from a string"),
        pytest.param(
            "SET n = n + :v",
            {"v": 10**125 * 9},
            "Number overflow. Attempting to store a number with magnitude larger than supported "
            "range",
            id="too many digits",
        ),
        pytest.param(
            "SET v = :v",
            {"v": "x" * (400 * 1024)},
            "Item size to update has exceeded the maximum allowed size",
            id="too large",
        ),
    ],
)
def test_what_the_item_does_not_allow(
    db: Database, full: str, expression: str, given: Json, message: str
) -> None:
    db.refuses("UpdateItem", request(full, expression, **given), message)
    assert db.items(full) == [STORED]


def test_a_sum_out_of_range_is_refused(db: Database, table: str) -> None:
    db.put(table, KEY | {"n": {"N": "9.9e125"}})
    db.refuses(
        "UpdateItem",
        request(table, "ADD n :v") | {"ExpressionAttributeValues": {":v": {"N": "1e125"}}},
        "Number overflow. Attempting to store a number with magnitude larger than supported range",
    )


@pytest.mark.parametrize(
    ("expression", "given", "message"),
    [
        pytest.param("", {}, "The expression can not be empty;", id="empty"),
        pytest.param("SET", {}, 'Syntax error; token: "<EOF>", near: "SET"', id="syntax"),
        pytest.param(
            "SET a = :v SET b = :v",
            {"v": 1},
            'The "SET" section can only be used once in an update expression;',
            id="a section twice",
        ),
        pytest.param(
            "SET a = :v, a.b = :v",
            {"v": 1},
            "Two document paths overlap with each other; must remove or rewrite one of these "
            "paths; path one: [a], path two: [a, b]",
            id="overlap",
        ),
        pytest.param(
            "SET a.b = :v REMOVE a[0]",
            {"v": 1},
            "Two document paths conflict with each other; must remove or rewrite one of these "
            "paths; path one: [a, b], path two: [a, [0]]",
            id="conflict",
        ),
        pytest.param(
            "SET a = size(b)",
            {},
            "The function is not allowed in an update expression; function: size",
            id="a function of conditions",
        ),
        pytest.param(
            "SET a = foo(b)", {}, "Invalid function name; function: foo", id="no function"
        ),
        pytest.param(
            "SET a = b + :v",
            {"v": "x"},
            "Incorrect operand type for operator or function; operator or function: +, "
            "operand type: S",
            id="a string to add",
        ),
        pytest.param(
            "SET a = list_append(a, :v)",
            {"v": 1},
            "Incorrect operand type for operator or function; operator or function: list_append, "
            "operand type: N",
            id="a number to append",
        ),
        pytest.param(
            "ADD a :v",
            {"v": "x"},
            "Incorrect operand type for operator or function; operator: ADD, "
            "operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
            id="ADD a string",
        ),
        pytest.param(
            "DELETE a :v",
            {"v": 1},
            "Incorrect operand type for operator or function; operator: DELETE, "
            "operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND",
            id="DELETE a number",
        ),
        pytest.param(
            "SET a = :v",
            {},
            "An expression attribute value used in expression is not defined; attribute value: :v",
            id="undefined value",
        ),
        pytest.param(
            "SET #a = :v",
            {"v": 1},
            "An expression attribute name used in the document path is not defined; "
            "attribute name: #a",
            id="undefined name",
        ),
        pytest.param(
            "SET status = :v",
            {"v": 1},
            "Attribute name is a reserved keyword; reserved keyword: status",
            id="reserved",
        ),
        pytest.param(
            "SET a = if_not_exists(:v, :v)",
            {"v": 1},
            "Operator or function requires a document path; operator or function: if_not_exists",
            id="no path",
        ),
    ],
)
def test_a_wrong_update_is_refused_before_the_table_is_looked_for(
    db: Database, expression: str, given: Json, message: str
) -> None:
    asked = request("missing", expression, **given)
    db.refuses_early("UpdateItem", asked, f"Invalid UpdateExpression: {message}")


def test_an_update_is_checked_before_its_condition(db: Database) -> None:
    asked = request("missing", "SET") | {"ConditionExpression": ""}
    message = 'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"'
    db.refuses_early("UpdateItem", asked, message)


@pytest.mark.parametrize(
    ("more", "message", "tail"),
    [
        pytest.param(
            {"ExpressionAttributeValues": values(v=1)},
            "ExpressionAttributeValues can only be specified when using expressions",
            ": UpdateExpression and ConditionExpression are null",
            id="values",
        ),
        pytest.param(
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
            "",
            id="names",
        ),
    ],
)
def test_names_and_values_need_an_expression(
    db: Database, more: Json, message: str, tail: str
) -> None:
    asked = {"TableName": "missing", "Key": KEY, **more}
    db.refuses_early("UpdateItem", asked, message, old=message + tail)


def test_values_may_be_used_by_either_expression(db: Database, full: str) -> None:
    asked = request(full, "REMOVE s", v=5) | {"ConditionExpression": "n = :v"}
    db.call("UpdateItem", asked)
    assert "s" not in (db.get(full, KEY) or {})


@pytest.mark.parametrize("name", ["pk", "sk"])
@pytest.mark.parametrize(
    "expression",
    ["SET {} = :v", "REMOVE {}", "ADD {} :n", "DELETE {} :ss", "SET {}.x = :v", "REMOVE {}[0]"],
)
def test_a_key_cannot_be_updated(db: Database, full: str, name: str, expression: str) -> None:
    given = {"v": "a", "n": 1, "ss": {"a"}}
    used = {key: value for key, value in given.items() if f":{key}" in expression}
    message = INVALID + f"Cannot update attribute {name}. This attribute is part of the key"
    db.refuses("UpdateItem", request(full, expression.format(name), **used), message)
    assert db.items(full) == [STORED]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(
            1,
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: glob",
            id="of another type",
        ),
        pytest.param(
            "",
            NOT_VALID + "The update expression attempted to update a secondary index key to a "
            "value that is not supported. The AttributeValue for a key attribute cannot contain an "
            "empty string value.",
            id="empty",
        ),
    ],
)
def test_an_index_key_must_be_good(db: Database, given: object, message: str) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")}, items=[KEY | item(g="x")])
    db.refuses("UpdateItem", request(table, "SET g = :g", g=given), message)
    assert db.items(table, "glob") == [KEY | item(g="x")]


def test_the_key_is_looked_at_before_updates_of_keys(db: Database, full: str) -> None:
    asked = request(full, "SET pk = :v", v="b") | {"Key": item(pk="a")}
    db.refuses("UpdateItem", asked, "The provided key element does not match the schema")


DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


def test_a_nested_value_too_deep_is_refused(db: Database, full: str) -> None:
    deep: Any = "x"
    for _ in range(32):
        deep = [deep]
    db.refuses_early(
        "UpdateItem",
        request(full, "SET q = :v", v=deep),
        DEEP,
        old=f"ExpressionAttributeValues contains invalid value: {DEEP} for key :v",
    )


@pytest.mark.parametrize(
    ("expression", "added"),
    [
        ("SET v = :v", 3 + 19),
        ("SET v = :v, w = :w", 3 + 2 * 19 + len("w") + 2),
        ("SET v = :v ADD w :w", 3 + 2 * 19 + len("w") + 2),
        ("SET v = :v REMOVE o", 3 + 19 + 2),
        ("SET l[0] = :v", 3 + 19 + 4 + 1),
        ("SET v = :v, c = l[0]", 3 + 19 + 19 + 1 + (1 + 14 + 1 + 14 + 1)),
        ("SET v = :v REMOVE l[10]", 3 + 19 + (1 + 1 + 4 + 2)),
        ("SET v = :v DELETE x :w", 3 + 19 + 2),
        ("SET v = :v, w = n + :w", 3 + 2 * 19 + 1 + 34 + (1 + 14 + 1) + 2),
        ("SET v = :v, w = n - :w", 3 + 2 * 19 + 1 + 37 + (1 + 14 + 1) + 2),
        ("SET v = if_not_exists(o, :v)", 3 + 19 + 39 + (1 + 14 + 1)),
        ("SET v = :v, x = list_append(l, l)", 3 + 2 * 19 + 1 + 37 + 2 * (1 + 14 + 1)),
    ],
)
def test_actions_count_for_the_limit_of_what_is_written(
    db: Database, expression: str, added: int
) -> None:
    old = KEY | item(l=["y"], n=1)
    table = db.table(items=[old])

    def update(size: int) -> Json:
        second = {"NS": ["1"]} if "DELETE" in expression else {"N": "1"}
        found = {":v": {"S": "x" * size}} | ({":w": second} if ":w" in expression else {})
        return {
            "TableName": table,
            "Key": KEY,
            "UpdateExpression": expression,
            "ExpressionAttributeValues": found,
        }

    room = 400 * 1024 - len("v") - added
    message = "Item size to update has exceeded the maximum allowed size"
    db.refuses("UpdateItem", update(room + 1), message)
    assert db.get(table, KEY) == old
    db.call("UpdateItem", update(room))


def test_the_charge_is_checked_before_the_condition(db: Database, full: str) -> None:
    asked = request(full, "SET q = :v", v="x" * (400 * 1024))
    message = "Item size to update has exceeded the maximum allowed size"
    db.refuses("UpdateItem", asked | {"ConditionExpression": "attribute_exists(nope)"}, message)


def test_the_item_has_a_limit_too(db: Database) -> None:
    table = db.table(items=[KEY | item(other="x" * 100)])
    request = {
        "TableName": table,
        "Key": KEY,
        "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": {":v": {"S": "x" * (400 * 1024 - 100)}},
    }
    message = "Item size to update has exceeded the maximum allowed size"
    db.refuses("UpdateItem", request, message)
