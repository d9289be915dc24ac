from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, item, values

INVALID = "One or more parameter values were invalid: "


def row(sk: Any, **more: Any) -> Json:
    return item(pk="a", sk=sk, **more)


@pytest.fixture
def full(db: Database) -> str:
    """Five items in partition a, one in each neighbour."""
    table = db.table("pk:S / sk:N", local={"local": ("pk:S / l:S", "KEYS_ONLY")})
    for number in (3, -1, 20, 0, 100):
        db.put(table, row(number, n=number, m={"x": number}))
    for partition in ("A", "aa", "b"):
        db.put(table, item(pk=partition, sk=3))
    return table


def query(table: str, condition: str, *, more: Json | None = None, **given: Any) -> Json:
    return {
        "TableName": table,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values(**given),
    } | (more or {})


def numbers(page: Json) -> list[int]:
    return [int(one["sk"]["N"]) for one in page["Items"]]


def test_a_partition_is_read_in_the_order_of_its_sort_key(db: Database, full: str) -> None:
    page = db.call("Query", query(full, "pk = :p", p="a"))
    assert numbers(page) == [-1, 0, 3, 20, 100]


def test_an_answer_has_items_and_counts(db: Database, full: str) -> None:
    page = db.call("Query", query(full, "pk = :p", p="b"))
    assert page == {"Items": [item(pk="b", sk=3)], "Count": 1, "ScannedCount": 1}


def test_an_empty_partition_is_no_mistake(db: Database, full: str) -> None:
    page = db.call("Query", query(full, "pk = :p", p="z"))
    assert page == {"Items": [], "Count": 0, "ScannedCount": 0}


@pytest.mark.parametrize(
    ("condition", "given", "found"),
    [
        ("sk = :s", {"s": 3}, [3]),
        ("sk = :s", {"s": 4}, []),
        ("sk < :s", {"s": 3}, [-1, 0]),
        ("sk <= :s", {"s": 3}, [-1, 0, 3]),
        ("sk > :s", {"s": 3}, [20, 100]),
        ("sk >= :s", {"s": 3}, [3, 20, 100]),
        ("sk BETWEEN :s AND :t", {"s": 0, "t": 20}, [0, 3, 20]),
        ("sk BETWEEN :s AND :t", {"s": 3, "t": 3}, [3]),
        ("sk BETWEEN :s AND :t", {"s": 4, "t": 19}, []),
        (":s < sk", {"s": 3}, [20, 100]),
        (":s >= sk", {"s": 3}, [-1, 0, 3]),
        ("(sk > :s)", {"s": 20}, [100]),
    ],
)
@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
def test_conditions_on_a_number(
    db: Database, full: str, condition: str, given: Json, found: list[int], forward: bool
) -> None:
    request = query(full, f"pk = :p AND {condition}", p="a", **given)
    page = db.call("Query", request | {"ScanIndexForward": forward})
    assert numbers(page) == (found if forward else found[::-1])


def test_conditions_may_stand_in_any_order(db: Database, full: str) -> None:
    page = db.call("Query", query(full, "sk > :s AND pk = :p", p="a", s=3))
    assert numbers(page) == [20, 100]


TEXTS = ["A", "B", "a", "ab", "abc", "b", "é", "🎉"]


@pytest.mark.parametrize(
    ("condition", "given", "found"),
    [
        ("begins_with(sk, :s)", {"s": "a"}, ["a", "ab", "abc"]),
        ("begins_with(sk, :s)", {"s": "ab"}, ["ab", "abc"]),
        ("begins_with(sk, :s)", {"s": "z"}, []),
        ("begins_with(sk, :s)", {"s": "\U0001f389"}, ["🎉"]),
        ("sk > :s", {"s": "ab"}, ["abc", "b", "é", "🎉"]),
        ("sk < :s", {"s": "a"}, ["A", "B"]),
        ("sk BETWEEN :s AND :t", {"s": "B", "t": "ab"}, ["B", "a", "ab"]),
        ("sk > :s", {"s": "z"}, ["é", "🎉"]),
    ],
)
def test_conditions_on_a_text(
    db: Database, table: str, condition: str, given: Json, found: list[str]
) -> None:
    for text in TEXTS:
        db.put(table, row(text))
    page = db.call("Query", query(table, f"pk = :p AND {condition}", p="a", **given))
    assert [one["sk"]["S"] for one in page["Items"]] == found


@pytest.mark.parametrize(
    ("condition", "given", "found"),
    [
        ("begins_with(sk, :s)", {"s": b"\xff"}, [b"\xff", b"\xff\xff"]),
        ("sk >= :s", {"s": b"\x01"}, [b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\xff"]),
        ("sk < :s", {"s": b"\x80"}, [b"\x00", b"\x00\x00", b"\x01", b"\x7f"]),
    ],
)
def test_conditions_on_a_binary(
    db: Database, condition: str, given: Json, found: list[bytes]
) -> None:
    table = db.table("pk:S / sk:B")
    for content in (b"\xff\xff", b"\x80", b"\x00", b"\x7f", b"\x01", b"\xff", b"\x00\x00"):
        db.put(table, row(content))
    page = db.call("Query", query(table, f"pk = :p AND {condition}", p="a", **given))
    assert page["Items"] == [row(content) for content in found]


def test_a_table_without_sort_key_has_one_item_in_a_partition(db: Database) -> None:
    table = db.table("pk:S", items=[item(pk="a", v=1), item(pk="b")])
    page = db.call("Query", query(table, "pk = :p", p="a"))
    assert page["Items"] == [item(pk="a", v=1)]


# -- filters, projections, Select


def test_a_filter_drops_items_after_they_are_counted(db: Database, full: str) -> None:
    more = {"FilterExpression": "n > :n"}
    page = db.call("Query", query(full, "pk = :p", more=more, p="a", n=3))
    assert (numbers(page), page["Count"], page["ScannedCount"]) == ([20, 100], 2, 5)


def test_a_limit_counts_items_before_the_filter(db: Database, full: str) -> None:
    more = {"FilterExpression": "n > :n", "Limit": 3}
    page = db.call("Query", query(full, "pk = :p", more=more, p="a", n=20))
    assert page == {
        "Items": [],
        "Count": 0,
        "ScannedCount": 3,
        "LastEvaluatedKey": item(pk="a", sk=3),
    }


def test_a_filter_may_look_at_what_is_not_projected(db: Database, full: str) -> None:
    more = {"ProjectionExpression": "sk", "FilterExpression": "n = :n"}
    page = db.call("Query", query(full, "pk = :p", more=more, p="a", n=20))
    assert page["Items"] == [item(sk=20)]


def test_an_item_with_nothing_projected_is_still_there(db: Database, full: str) -> None:
    more = {"ProjectionExpression": "nope"}
    page = db.call("Query", query(full, "pk = :p AND sk < :s", more=more, p="a", s=3))
    assert page["Items"] == [{}, {}]


@pytest.mark.parametrize(
    ("more", "answer"),
    [
        pytest.param({"Select": "COUNT"}, {"Count": 1, "ScannedCount": 1}, id="COUNT"),
        pytest.param(
            {"Select": "ALL_ATTRIBUTES"},
            {"Items": [row(3, n=3, m={"x": 3})], "Count": 1, "ScannedCount": 1},
            id="ALL_ATTRIBUTES",
        ),
        pytest.param(
            {"Select": "SPECIFIC_ATTRIBUTES", "ProjectionExpression": "n"},
            {"Items": [item(n=3)], "Count": 1, "ScannedCount": 1},
            id="SPECIFIC_ATTRIBUTES",
        ),
        pytest.param(
            {"Select": "COUNT", "FilterExpression": "n < :s"},
            {"Count": 0, "ScannedCount": 1},
            id="COUNT with a filter",
        ),
    ],
)
def test_select(db: Database, full: str, more: Json, answer: Json) -> None:
    assert db.call("Query", query(full, "pk = :p AND sk = :s", more=more, p="a", s=3)) == answer


SELECT_MISTAKES = [
    pytest.param(
        {"Select": "ALL_PROJECTED_ATTRIBUTES"},
        "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        id="all projected of a table",
    ),
    pytest.param(
        {"Select": "SPECIFIC_ATTRIBUTES"},
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES",
        id="specific without a projection",
    ),
    pytest.param(
        {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "n"},
        "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        id="all with a projection",
    ),
    pytest.param(
        {"Select": "COUNT", "ProjectionExpression": "n"},
        "Cannot specify the ProjectionExpression when choosing to get only the Count",
        id="count with a projection",
    ),
    pytest.param(
        {"Select": "ALL_PROJECTED_ATTRIBUTES", "ProjectionExpression": "n"},
        "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES",
        id="all projected with a projection",
    ),
    pytest.param(
        {"Select": "COUNT", "AttributesToGet": ["n"]},
        "Cannot specify the AttributesToGet when choosing to get only the Count",
        id="count with attributes to get",
    ),
]


@pytest.mark.parametrize(("more", "message"), SELECT_MISTAKES)
def test_select_mistakes_are_refused_before_the_table_is_looked_for(
    db: Database, more: Json, message: str
) -> None:
    request = {
        "TableName": "missing",
        "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
    }
    if "ProjectionExpression" in more or "AttributesToGet" not in more:
        request = query("missing", "pk = :p", p="a")
    label = "1 validation error detected: " if message.startswith("Must specify") else ""
    db.refuses_early("Query", request | more, label + message, old=message)


@pytest.mark.parametrize(("more", "message"), SELECT_MISTAKES)
def test_select_mistakes_of_a_scan(db: Database, more: Json, message: str) -> None:
    db.refuses("Scan", {"TableName": "missing"} | more, message)


# -- mistakes


@pytest.mark.parametrize(
    ("condition", "given", "message"),
    [
        pytest.param(
            "sk = :s", {"s": 1}, "Query condition missed key schema element: pk", id="no hash key"
        ),
        pytest.param(
            "pk = :p AND n = :n",
            {"p": "a", "n": 1},
            "Query condition missed key schema element: sk",
            id="not the sort key",
        ),
        pytest.param(
            "pk > :p", {"p": "a"}, "Query key condition not supported", id="hash key not equal"
        ),
        pytest.param(
            "pk = :p AND sk = :s AND n = :n",
            {"p": "a", "s": 1, "n": 1},
            "The number of query conditions (3) exceeds the number of key attributes defined in "
            "the schema (2)",
            id="three conditions",
        ),
        pytest.param(
            "pk = :p AND sk > :s AND sk < :t",
            {"p": "a", "s": 1, "t": 3},
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one "
            "condition per key",
            id="two conditions on one key",
        ),
        pytest.param(
            "pk = :p AND size(sk) = :s",
            {"p": "a", "s": 1},
            "KeyConditionExpressions cannot contain nested operations",
            id="size",
        ),
        pytest.param(
            "pk = :p AND sk.x = :s",
            {"p": "a", "s": 1},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
            "allowed: Key: sk",
            id="inside a key",
        ),
        pytest.param(
            "pk = :p AND m.x = :s",
            {"p": "a", "s": 1},
            "KeyConditionExpressions cannot have conditions on nested attributes",
            id="inside another attribute",
        ),
        pytest.param(
            "pk = :p AND sk = n",
            {"p": "a"},
            "Invalid condition in KeyConditionExpression: "
            "Multiple attribute names used in one condition",
            id="two attributes",
        ),
        pytest.param(
            "pk = :p AND :s = :s",
            {"p": "a", "s": 1},
            "Invalid condition in KeyConditionExpression: No key attribute specified",
            id="no attribute",
        ),
        pytest.param(
            "pk = :p AND :s BETWEEN sk AND :t",
            {"p": "a", "s": 1, "t": 1},
            "Invalid condition in KeyConditionExpression: "
            "BETWEEN operator must have the key attribute as its first operand",
            id="between in another order",
        ),
        pytest.param(
            "pk = :p AND begins_with(:s, :t)",
            {"p": "a", "s": "x", "t": "x"},
            "Invalid condition in KeyConditionExpression: "
            "begins_with operator must have the key attribute as its first operand",
            id="begins_with without a key",
        ),
        pytest.param(
            "pk = :p",
            {"p": 1},
            INVALID + "Condition parameter type does not match schema type",
            id="hash key of another type",
        ),
        pytest.param(
            "pk = :p AND sk = :s",
            {"p": "a", "s": "1"},
            INVALID + "Condition parameter type does not match schema type",
            id="sort key of another type",
        ),
        pytest.param(
            "pk = :p",
            {"p": ""},
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk",
            id="empty hash key",
        ),
    ],
)
def test_wrong_key_conditions(
    db: Database, full: str, condition: str, given: Json, message: str
) -> None:
    db.refuses("Query", query(full, condition, **given), message)


@pytest.mark.parametrize(
    ("condition", "given", "operator"),
    [
        ("pk = :p OR sk = :s", {"s": 1}, "OR"),
        ("pk = :p AND NOT sk = :s", {"s": 1}, "NOT"),
        ("pk = :p AND sk <> :s", {"s": 1}, "<>"),
        ("pk = :p AND sk IN (:s)", {"s": 1}, "IN"),
        ("pk = :p AND contains(sk, :s)", {"s": "x"}, "contains"),
        ("pk = :p AND attribute_exists(sk)", {}, "attribute_exists"),
        ("pk = :p AND attribute_not_exists(sk)", {}, "attribute_not_exists"),
        ("pk = :p AND attribute_type(sk, :s)", {"s": "S"}, "attribute_type"),
    ],
)
def test_operators_that_are_not_for_keys(
    db: Database, full: str, condition: str, given: Json, operator: str
) -> None:
    message = f"Invalid operator used in KeyConditionExpression: {operator}"
    db.refuses("Query", query(full, condition, p="a", **given), message)


@pytest.mark.parametrize(
    ("condition", "given", "message"),
    [
        pytest.param("", {"p": 1}, "The expression can not be empty;", id="empty"),
        pytest.param(
            "pk = :p AND",
            {"p": "a"},
            'Syntax error; token: "<EOF>", near: "AND"',
            id="syntax",
        ),
        pytest.param(
            "pk = :p AND sk BETWEEN :s AND :t",
            {"p": "a", "s": 3, "t": 1},
            "The BETWEEN operator requires upper bound to be greater than or equal to lower "
            "bound; lower bound operand: AttributeValue: {N:3}, "
            "upper bound operand: AttributeValue: {N:1}",
            id="bounds the wrong way round",
        ),
        pytest.param(
            "pk = :p AND sk BETWEEN :s AND :t",
            {"p": "a", "s": 3, "t": "1"},
            "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
            "operand: AttributeValue: {N:3}, upper bound operand: AttributeValue: {S:1}",
            id="bounds of two types",
        ),
        pytest.param(
            "pk = :p AND begins_with(sk, :s)",
            {"p": "a", "s": 1},
            "Incorrect operand type for operator or function; operator or function: begins_with, "
            "operand type: N",
            id="begins_with a number",
        ),
        pytest.param(
            "pk = :q",
            {"p": "a"},
            "An expression attribute value used in expression is not defined; attribute value: :q",
            id="undefined value",
        ),
    ],
)
def test_wrong_key_expressions_are_refused_before_the_table_is_looked_for(
    db: Database, condition: str, given: Json, message: str
) -> None:
    db.refuses(
        "Query", query("missing", condition, **given), f"Invalid KeyConditionExpression: {message}"
    )


@pytest.mark.parametrize("operator", ["BETWEEN :s AND :t", "> :s"])
def test_an_empty_sort_key_to_compare_with_is_refused(
    db: Database, table: str, operator: str
) -> None:
    given: Json = {"s": "", "t": "x"} if ":t" in operator else {"s": ""}
    db.refuses(
        "Query",
        query(table, f"pk = :p AND sk {operator}", p="a", **given),
        "One or more parameter values are not valid. The AttributeValue for a key attribute "
        "cannot contain an empty string value. Key: sk",
    )


def test_a_key_condition_is_needed(db: Database) -> None:
    db.refuses(
        "Query",
        {"TableName": "missing"},
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the "
        "request.",
    )


@pytest.mark.parametrize("name", ["pk", "sk"])
def test_a_filter_is_not_for_keys(db: Database, full: str, name: str) -> None:
    more = {"FilterExpression": f"{name} <> :q"}
    db.refuses(
        "Query",
        query(full, "pk = :p", more=more, p="a", q="x"),
        "Filter Expression can only contain non-primary key attributes: "
        f"Primary key attribute: {name}",
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
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
            {"FilterExpression": "a =", "ProjectionExpression": "a,", "KeyConditionExpression": ""},
            'Invalid FilterExpression: Syntax error; token: "<EOF>", near: "="',
            id="the filter first",
        ),
        pytest.param(
            {"ProjectionExpression": "a,", "KeyConditionExpression": "pk ="},
            'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","',
            id="the projection before the key condition",
        ),
        pytest.param(
            {"ExpressionAttributeValues": values(p="a", q="b")},
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:q}",
            id="unused value",
        ),
        pytest.param(
            {"ExpressionAttributeNames": {"#q": "b"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#q}",
            id="unused name",
        ),
    ],
)
def test_wrong_expressions_are_refused_before_the_table_is_looked_for(
    db: Database, more: Json, message: str
) -> None:
    db.refuses("Query", query("missing", "pk = :p", more=more, p="a"), message)


def test_a_missing_index_comes_before_a_wrong_key_condition(db: Database, full: str) -> None:
    request = query(full, "nope = :p", more={"IndexName": "nope"}, p="a")
    db.refuses("Query", request, "The table does not have the specified index: nope")
