from __future__ import annotations

import pytest

from tablewright.engine import Engine
from tablewright.engine.statements.explain import plan_statement
from tablewright.errors import ResourceNotFoundException, ValidationException
from tablewright.partiql import SelectStatement, parse
from tablewright.partiql.printing import format_condition, format_constant
from tablewright.table_description import read_table
from tests.engine.database import av, table_request


@pytest.fixture(scope="module")
def engine() -> Engine:
    engine = Engine(":memory:")
    engine.call(
        "CreateTable",
        table_request(
            "shop",
            local={"by-date": ("pk:S / date:S", "ALL")},
            glob={"by-status": ("status:S region:N / date:S", ["total"])},
        ),
    )
    return engine


CASES = [
    ("SELECT * FROM shop", "Scan on shop"),
    ("SELECT * FROM shop WHERE x = 1", "Scan on shop\n  filter     x = 1"),
    (
        "SELECT * FROM shop WHERE pk = 'a' AND sk = 'b'",
        "GetItem on shop\n  key        pk = 'a' AND sk = 'b'",
    ),
    (
        "SELECT * FROM shop WHERE sk > 'b' AND (x = 1 OR y IS MISSING) AND pk = ? ORDER BY sk DESC",
        "Query on shop\n  key        pk = ? AND sk > 'b'\n  filter     x = 1 OR y IS MISSING\n"
        "  order      descending",
    ),
    (
        "SELECT * FROM shop.\"by-date\" WHERE pk IN ['a', 'b'] AND date BETWEEN '1' AND '2'",
        "Query on shop, index by-date\n  key        pk = 'a' AND date BETWEEN '1' AND '2'\n"
        "  key        pk = 'b' AND date BETWEEN '1' AND '2'\n  order      ascending",
    ),
    (
        "SELECT * FROM shop WHERE pk IN ['a', ?] ORDER BY pk DESC, sk",
        "Query on shop\n  key        pk = 'a'\n  key        pk = ?\n"
        "  order      ascending, partitions descending",
    ),
    (
        "SELECT * FROM shop WHERE (pk = 'a' AND begins_with(sk, 'x')) OR (pk = 'b' AND z <> 1)",
        "Query on shop\n  key        pk = 'a' AND begins_with(sk, 'x')\n"
        "  key        pk = 'b'; filter z <> 1\n  order      ascending",
    ),
    (
        "INSERT INTO shop VALUE {'pk': 'a', 'sk': ?}",
        "PutItem on shop\n  condition  the item does not exist",
    ),
    (
        "UPDATE shop SET x = 1 WHERE pk = 'a' AND sk = 'b' AND x > 1",
        "UpdateItem on shop\n  key        pk = 'a' AND sk = 'b'\n"
        "  condition  the item exists AND x > 1",
    ),
    (
        "DELETE FROM shop WHERE pk = 'a' AND sk = 'b' AND x > 1",
        "DeleteItem on shop\n  key        pk = 'a' AND sk = 'b'\n  condition  x > 1",
    ),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_an_explanation_says_what_is_read_and_how(engine: Engine, text: str, expected: str) -> None:
    assert str(engine.explain(text)) == expected


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_description_of_the_table_is_enough(engine: Engine, text: str, expected: str) -> None:
    description = engine.call("DescribeTable", {"TableName": "shop"})["Table"]
    plan = plan_statement(text, None, lambda name: read_table(description))
    assert str(plan.explanation) == expected


def test_parameters_are_shown(engine: Engine) -> None:
    text = "SELECT * FROM shop WHERE pk = ? AND x = ?"
    found = engine.explain(text, [av("it's"), av([1, None, {"a": True}])])
    assert found.key_conditions == ("pk = 'it''s'",)
    assert found.filter == "x = [1, null, {'a': true}]"
    assert not found.is_scan
    with pytest.raises(ValidationException, match="Number of parameters"):
        engine.explain(text, [av("a")])


def test_what_the_statement_refuses_is_refused(engine: Engine) -> None:
    with pytest.raises(ResourceNotFoundException):
        engine.explain("SELECT * FROM absent")
    with pytest.raises(ValidationException, match="does not have the specified index"):
        engine.explain("SELECT * FROM shop.absent")
    with pytest.raises(ValidationException, match="mandatory equality"):
        engine.explain("DELETE FROM shop WHERE pk = 'a'")
    for where in ("pk = 1", "pk = 1 AND sk = 'a'", "pk IN ['a', 1]"):
        with pytest.raises(ValidationException, match="should match its data type"):
            engine.explain(f"SELECT * FROM shop WHERE {where}")
    with pytest.raises(ValidationException, match="should match its data type"):
        engine.explain("SELECT * FROM shop WHERE pk = ?", [av(1)])
    with pytest.raises(ValidationException, match="Overlapping conditions"):
        engine.explain("SELECT * FROM shop WHERE (pk='a' AND sk > '1') OR (pk='a' AND sk > '2')")


@pytest.mark.parametrize(
    "where",
    [
        "a = 1 AND (b = 2 OR c = 3) AND NOT (d = 4 AND e = 5)",
        "a.b[0].\"c d\" IN ['x', [1, {'y': null}]] OR \"order\" <> <<1, 2>>",
        "a IS MISSING AND b IS NOT MISSING AND NOT contains(c, 'x') AND size(d) BETWEEN 1 AND 2",
        "a = ? AND b = [?, true]",
    ],
)
def test_a_printed_condition_parses_to_the_same_tree(where: str) -> None:
    parsed = parse(f"SELECT * FROM t WHERE {where}")
    assert isinstance(parsed.statement, SelectStatement)
    assert parsed.statement.where is not None
    printed = format_condition(
        parsed.statement.where, lambda name: format_constant(parsed.constants[name])
    )
    again = parse(f"SELECT * FROM t WHERE {printed}")
    assert again.statement == parsed.statement
    assert again.constants == parsed.constants
