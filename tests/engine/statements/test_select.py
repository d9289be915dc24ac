from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest

from tests.engine.database import Database, Json, item
from tests.engine.statements.running import execute, keys, refuses, select

TYPES: Json = {
    "s": "text",
    "n": 5,
    "yes": True,
    "nothing": None,
    "l": [1, "a"],
    "m": {"city": "Rome", "inner": {"deep": [7, 8]}},
    "ss": {"x", "y"},
    "b": b"bytes",
}


@pytest.fixture
def orders(db: Database) -> str:
    """Three partitions with four items each; sk is a number."""
    return db.table(
        "pk:S / sk:N",
        items=[
            item(pk=pk, sk=sk, parity=sk % 2, size=sk * 10)
            for pk in ("a", "b", "c")
            for sk in range(1, 5)
        ],
    )


@pytest.fixture
def typed(db: Database) -> str:
    """An item with an attribute of each type, and one without."""
    return db.table("pk:S", items=[item(pk="all", **TYPES), item(pk="none")])


# -- which items


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("pk = 'a' AND sk = 2", [("a", "2")]),
        ("sk = 2 AND 'a' = pk", [("a", "2")]),
        ("pk = 'a' AND sk = 9", []),
        ("pk = 'a' AND sk = 2 AND parity = 1", []),
        ("pk = 'a'", [("a", "1"), ("a", "2"), ("a", "3"), ("a", "4")]),
        ("pk = 'a' AND sk > 2", [("a", "3"), ("a", "4")]),
        ("pk = 'a' AND 2 < sk", [("a", "3"), ("a", "4")]),
        ("pk = 'a' AND sk > 1 AND sk < 4", [("a", "2"), ("a", "3")]),
        ("pk = 'a' AND sk BETWEEN 2 AND 3", [("a", "2"), ("a", "3")]),
        ("pk = 'a' AND sk IN [1, 4]", [("a", "1"), ("a", "4")]),
        ("pk = 'a' AND sk <> 2", [("a", "1"), ("a", "3"), ("a", "4")]),
        ("pk = 'a' AND parity = 1", [("a", "1"), ("a", "3")]),
        ("pk = 'a' AND (sk = 1 OR sk = 3)", [("a", "1"), ("a", "3")]),
        ("pk IN ['b', 'a'] AND sk <= 1", [("b", "1"), ("a", "1")]),
        ("(pk = 'b' OR pk = 'a') AND sk <= 1", [("b", "1"), ("a", "1")]),
        ("pk IN ['a', 'a', 'none'] AND sk <= 1", [("a", "1")]),
        ("(pk = 'a' AND sk = 1) OR (pk = 'b' AND sk > 3)", [("a", "1"), ("b", "4")]),
        ("(pk = 'a' AND sk < 2) OR (pk = 'a' AND sk > 3)", [("a", "1"), ("a", "4")]),
        ("(pk = 'a' OR pk = 'b' AND sk = 1) AND parity = 1", [("a", "1"), ("a", "3"), ("b", "1")]),
    ],
)
def test_a_condition_on_the_partition_key_reads_its_items_in_order(
    db: Database, orders: str, where: str, expected: list[tuple[str, str]]
) -> None:
    assert keys(select(db, f'SELECT * FROM "{orders}" WHERE {where}')) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("sk = 2", {("a", "2"), ("b", "2"), ("c", "2")}),
        ("pk > 'b'", {("c", str(sk)) for sk in range(1, 5)}),
        ("pk = 'a' OR sk = 1", {("a", str(sk)) for sk in range(1, 5)} | {("b", "1"), ("c", "1")}),
        ("NOT pk IN ['a', 'b'] AND parity = 1", {("c", "1"), ("c", "3")}),
        ("begins_with(pk, 'c') AND size >= 40", {("c", "4")}),
    ],
)
def test_any_other_condition_reads_the_whole_table(
    db: Database, orders: str, where: str, expected: set[tuple[str, str]]
) -> None:
    found = keys(select(db, f'SELECT * FROM "{orders}" WHERE {where}'))
    assert set(found) == expected
    assert len(found) == len(expected)


def test_parameters_replace_question_marks(db: Database, orders: str) -> None:
    text = f'SELECT * FROM "{orders}" WHERE pk IN [?, ?] AND sk BETWEEN ? AND ?'
    assert keys(select(db, text, "a", "c", 4, 9)) == [("a", "4"), ("c", "4")]
    refuses(db, "Number of parameters in request and statement don't match.", text, "a")
    assert len(select(db, f'SELECT * FROM "{orders}"', "superfluous")) == 12


@pytest.mark.parametrize(
    ("where", "is_true"),
    [
        ("s = 'text'", True),
        ("s = 5", False),
        ("s < 5", False),
        ("n < 'text'", False),
        ("n >= 5 AND n <= 5.0 AND n > 4 AND n < 6", True),
        ("s <> 'text'", False),
        ("absent <> 'text'", True),
        ("s BETWEEN 'a' AND 'z'", True),
        ("n IN [1, 5]", True),
        ("yes = true AND nothing = null", True),
        ("ss = <<'y', 'x'>>", True),
        ("l = [1, 'a']", True),
        ("l = ['a', 1]", False),
        ("m = {'inner': {'deep': [7, 8]}, 'city': 'Rome'}", True),
        ("m.city = 'Rome' AND m['inner'].deep[1] = 8 AND m['city'] = 'Rome'", True),
        ("begins_with(s, 'te') AND contains(s, 'ex') AND contains(ss, 'x')", True),
        ("contains(l, 'a') AND size(s) = 4 AND size(l) = 2", True),
        ("attribute_type(b, 'B') AND attribute_type(nothing, 'NULL')", True),
        ("absent IS MISSING AND s IS NOT MISSING", True),
        ("nothing IS NULL AND s IS NOT NULL AND absent IS NOT NULL", True),
        ("s IS STRING AND n IS NUMERIC AND yes IS BOOL AND l IS LIST", True),
        ("m IS STRUCT AND m IS TUPLE AND b IS BLOB AND s IS NOT LIST", True),
        ("NOT (s = 'text' AND n = 6)", True),
        ("s = 'a' OR n = 5", True),
    ],
)
def test_a_filter_means_what_it_means_in_an_expression(
    db: Database, typed: str, where: str, is_true: bool
) -> None:
    found = select(db, f"SELECT pk FROM \"{typed}\" WHERE pk = 'all' AND {where}")
    assert found == ([item(pk="all")] if is_true else [])
    found = select(db, f"SELECT pk FROM \"{typed}\" WHERE contains(pk, 'all') AND ({where})")
    assert found == ([item(pk="all")] if is_true else [])


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(
    ("value", "tag"),
    [
        (True, "BOOL"),
        (None, "NULL"),
        ([1], "L"),
        ({"a": 1}, "M"),
        ({"a"}, "SS"),
        ({1}, "NS"),
        ({b"a"}, "BS"),
    ],
)
def test_types_without_an_order_cannot_be_compared(
    db: Database, typed: str, operator: str, value: Any, tag: str
) -> None:
    message = (
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {tag}"
    )
    refuses(db, message, f'SELECT * FROM "{typed}" WHERE x {operator} ?', value)


def test_between_needs_types_with_an_order(db: Database, typed: str) -> None:
    message = (
        "Incorrect operand type for operator or function; "
        "operator or function: BETWEEN, operand type: BOOL"
    )
    refuses(db, message, f'SELECT * FROM "{typed}" WHERE x BETWEEN ? AND ?', True, False)


def test_in_has_at_most_100_values_and_50_of_the_partition_key(db: Database, orders: str) -> None:
    text = f'SELECT * FROM "{orders}" WHERE {{}} IN [{", ".join(["1"] * 101)}]'
    refuses(
        db,
        "The IN operator is provided with too many operands; number of operands: 101",
        text.format("x"),
    )
    values = ", ".join(f"'{number}'" for number in range(51))
    refuses(
        db,
        "The WHERE clause has too many values of the partition key; "
        "number of values: 51, maximum: 50",
        f'SELECT * FROM "{orders}" WHERE pk IN [{values}]',
    )


@pytest.mark.parametrize(
    "where",
    [
        "(pk = 'a' AND sk < 3) OR (pk = 'a' AND sk > 1)",
        "(pk = 'a' AND sk = 3) OR pk = 'a'",
        "(pk = 'a' AND parity = 1) OR (pk = 'a' AND size = 20)",
    ],
)
def test_alternatives_must_not_overlap(db: Database, orders: str, where: str) -> None:
    refuses(
        db,
        "Overlapping conditions with range keys are not supported in where clause",
        f'SELECT * FROM "{orders}" WHERE {where}',
    )


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("(pk = 'a' AND sk = 3) OR (pk = 'a' AND NOT sk = 2)", {1, 3, 4}),
        ("(pk = 'a' AND sk <= 2) OR (pk = 'a' AND sk <> 2)", {1, 2, 3, 4}),
        ("pk = 'a' OR (pk = 'a' AND NOT sk BETWEEN 2 AND 3)", {1, 2, 3, 4}),
    ],
)
def test_a_negated_condition_on_the_sort_key_may_overlap(
    db: Database, where: str, found: set[int]
) -> None:
    table = db.table("pk:S / sk:N", items=[item(pk="a", sk=sk) for sk in range(1, 5)])
    rows = select(db, f'SELECT * FROM "{table}" WHERE {where}')
    assert [int(row["sk"]["N"]) for row in rows] == sorted(found)


def test_a_condition_on_another_attribute_still_must_not_overlap(db: Database, orders: str) -> None:
    alternatives = "(pk = 'a' AND sk = 1) OR (pk = 'a' AND NOT sk = 2 AND size = 20)"
    refuses(
        db,
        "Overlapping conditions with range keys are not supported in where clause",
        f'SELECT * FROM "{orders}" WHERE {alternatives}',
    )


def test_keys_must_have_the_type_of_the_schema(db: Database, orders: str) -> None:
    message = "Key attribute's data type should match its data type in table's schema: Key "
    refuses(db, f"{message}pk", f'SELECT * FROM "{orders}" WHERE pk = 5')
    for condition in ("= 'b'", "> 'b'", "BETWEEN 'a' AND 'b'"):
        text = f"SELECT * FROM \"{orders}\" WHERE pk = 'a' AND sk {condition}"
        refuses(db, f"{message}sk", text)


# -- which attributes


def test_a_nested_path_is_returned_under_its_last_name(db: Database, typed: str) -> None:
    text = f"SELECT s, m.city, m['inner'].deep, absent FROM \"{typed}\" WHERE pk = 'all'"
    assert select(db, text) == [item(s="text", city="Rome", deep=[7, 8])]
    text = f"SELECT l[1], m['inner'].deep[0] FROM \"{typed}\" WHERE pk = 'all'"
    assert select(db, text) == [{"l[1]": {"S": "a"}, "deep[0]": {"N": "7"}}]


def test_a_name_is_selected_once(db: Database, typed: str) -> None:
    refuses(
        db,
        "Duplicate identifiers in select clause: city",
        f'SELECT m.city, city FROM "{typed}"',
    )


def test_an_item_without_the_attributes_is_returned_empty(db: Database, typed: str) -> None:
    assert select(db, f"SELECT s FROM \"{typed}\" WHERE pk = 'none'") == [{}]


def test_names_with_special_characters_are_quoted(db: Database) -> None:
    odd = {"#a": {"N": "1"}, "b c": {"N": "2"}, "order": {"N": "3"}}
    table = db.table("pk:S", items=[item(pk="x") | odd])
    text = f'SELECT "#a", "b c", "order" FROM "{table}" WHERE "#a" = 1 AND "order" = 3'
    assert select(db, text) == [odd]


# -- order


def test_order_by_the_sort_key(db: Database, orders: str) -> None:
    text = f"SELECT * FROM \"{orders}\" WHERE pk = 'a' AND sk > 2 ORDER BY sk"
    assert keys(select(db, text)) == [("a", "3"), ("a", "4")]
    assert keys(select(db, f"{text} DESC")) == [("a", "4"), ("a", "3")]
    assert keys(select(db, f"{text} ASC")) == [("a", "3"), ("a", "4")]
    assert keys(select(db, f"{text} DESC", Limit=1)) == [("a", "4"), ("a", "3")]


def test_order_by_the_partition_key(db: Database, orders: str) -> None:
    text = f"SELECT * FROM \"{orders}\" WHERE pk IN ['b', 'c', 'a'] AND sk < 3 ORDER BY"
    assert keys(select(db, f"{text} pk DESC, sk")) == [
        ("c", "1"),
        ("c", "2"),
        ("b", "1"),
        ("b", "2"),
        ("a", "1"),
        ("a", "2"),
    ]
    assert keys(select(db, f"{text} pk, sk DESC"))[:3] == [("a", "2"), ("a", "1"), ("b", "2")]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("ORDER BY sk", "Must have WHERE clause in the statement when using ORDER BY clause."),
        (
            "WHERE sk = 1 ORDER BY sk",
            "Must have at least one non-optional hash key condition in WHERE clause when using "
            "ORDER BY clause.",
        ),
        (
            "WHERE pk = 'a' ORDER BY size",
            "Variable reference size in ORDER BY clause must be part of the primary key",
        ),
    ],
)
def test_order_by_needs_the_key(db: Database, orders: str, rest: str, message: str) -> None:
    refuses(db, message, f'SELECT * FROM "{orders}" {rest}')


# -- pages


def test_limit_counts_the_items_that_are_evaluated(db: Database, orders: str) -> None:
    page = execute(db, f"SELECT * FROM \"{orders}\" WHERE pk = 'a' AND parity = 0", Limit=3)
    assert keys(page["Items"]) == [("a", "2")]
    assert page["LastEvaluatedKey"] == item(pk="a", sk=3)
    assert "NextToken" in page


def test_pages_continue_across_partitions(db: Database, orders: str) -> None:
    text = f"SELECT * FROM \"{orders}\" WHERE pk IN ['c', 'a', 'b']"
    expected = [(pk, str(sk)) for pk in ("c", "a", "b") for sk in range(1, 5)]
    for limit in (1, 3, 4, 5, 12, 13):
        assert keys(select(db, text, Limit=limit)) == expected


def test_a_page_reads_at_most_ten_partitions(db: Database) -> None:
    table = db.table("pk:S / sk:N", items=[item(pk=str(n), sk=1) for n in range(23)])
    values = ", ".join(f"'{number}'" for number in range(23))
    text = f'SELECT * FROM "{table}" WHERE pk IN [{values}]'
    page = execute(db, text)
    assert len(page["Items"]) == 10
    assert "LastEvaluatedKey" not in page
    assert len(execute(db, text, NextToken=page["NextToken"])["Items"]) == 10
    assert len(select(db, text)) == 23


def test_a_page_ends_after_one_megabyte(db: Database) -> None:
    large = "x" * 300_000
    table = db.table(
        "pk:S / sk:N", items=[item(pk=pk, sk=sk, x=large) for pk in "ab" for sk in range(3)]
    )
    page = execute(db, f"SELECT sk FROM \"{table}\" WHERE pk IN ['a', 'b']")
    assert len(page["Items"]) == 4
    assert len(select(db, f"SELECT sk FROM \"{table}\" WHERE pk IN ['a', 'b']")) == 6
    assert len(select(db, f'SELECT sk FROM "{table}"')) == 6


def test_a_token_belongs_to_its_statement_and_parameters(db: Database, orders: str) -> None:
    text = f'SELECT * FROM "{orders}" WHERE pk = ?'
    token = execute(db, text, "a", Limit=1)["NextToken"]
    message = "NextToken does not match request"
    assert keys(execute(db, text, "a", NextToken=token)["Items"])[0] == ("a", "2")
    refuses(db, message, text, "b", NextToken=token)
    refuses(db, message, f"{text} AND size > 0", "a", NextToken=token)
    refuses(db, message, f'SELECT * FROM "{orders}"', NextToken=token)
    refuses(db, message, f"{text} AND sk = 1", "a", NextToken=token)
    wrong = urlsafe_b64encode(urlsafe_b64decode(token).replace(b'"S":"a"', b'"S":1')).decode()
    assert wrong != token
    for damaged in ("x", "e30=", token[:-4], "ö", wrong):
        refuses(db, "Invalid NextToken", text, "a", NextToken=damaged)


def test_a_token_belongs_to_its_index(db: Database) -> None:
    table = db.table(
        glob={"one": ("x:S / sk:S", "ALL"), "two": ("x:S / sk:S", "ALL")},
        items=[item(pk=str(n), sk=str(n), x="x") for n in range(3)],
    )
    text = f'SELECT * FROM "{table}"."{{}}" WHERE x = ?'
    token = execute(db, text.format("one"), "x", Limit=1)["NextToken"]
    assert len(execute(db, text.format("one"), "x", NextToken=token)["Items"]) == 2
    refuses(db, "NextToken does not match request", text.format("two"), "x", NextToken=token)


# -- tables


def test_the_path_of_a_table_has_at_most_two_components(db: Database, orders: str) -> None:
    refuses(
        db,
        "A path may contain at most 2 components in the FROM clause",
        f'SELECT * FROM "{orders}".a.b',
    )
    refuses(db, "Path component cannot be an empty string", f'SELECT * FROM "{orders}".""')


@pytest.mark.parametrize("name", ["ab", "a b c", "a/b/c", "x" * 256, "arn:aws:dynamodb"])
def test_the_name_of_a_table_is_checked_before_the_table_is_found(db: Database, name: str) -> None:
    refuses(
        db,
        "Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', '0-9', "
        "'-', '_', '.'.",
        f'SELECT * FROM "{name}"',
    )


def test_a_table_may_be_named_by_its_arn(db: Database, orders: str) -> None:
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/{orders}"
    assert keys(select(db, f"SELECT * FROM \"{arn}\" WHERE pk = 'a' AND sk = 1")) == [("a", "1")]


# -- the request


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {"Statement": ""},
            "Value '' at 'statement' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1",
        ),
        (
            {"Parameters": []},
            "Value '[]' at 'parameters' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1",
        ),
        (
            {"Limit": 0},
            "Value '0' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        ),
    ],
)
def test_the_constraints_of_the_request(
    db: Database, orders: str, members: Json, message: str
) -> None:
    db.refuses(
        "ExecuteStatement",
        {"Statement": f'SELECT * FROM "{orders}"'} | members,
        f"1 validation error detected: {message}",
    )


def test_a_statement_has_at_most_8192_characters(db: Database, orders: str) -> None:
    text = f'SELECT * FROM "{orders}" /*{{}}*/'
    fitting = text.format("x" * (8192 - len(text) + 2))
    assert len(fitting) == 8192
    assert len(select(db, fitting)) == 12
    with pytest.raises(Exception, match="Member must have length less than or equal to 8192"):
        execute(db, fitting + " ")
