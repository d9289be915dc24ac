from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, item
from tests.engine.statements.running import MALFORMED, request

CONDITION = "The conditional request failed"


def batch(db: Database, *statements: Json | str, **members: Any) -> Json:
    asked = [request(one) if isinstance(one, str) else one for one in statements]
    return db.call("BatchExecuteStatement", {"Statements": asked, **members})


def error(code: str, message: str, **members: Any) -> Json:
    return {"Error": {"Code": code, "Message": message, **members}}


@pytest.fixture
def table(db: Database) -> str:
    return db.table(items=[item(pk=pk, sk="1", n=5) for pk in ("a", "b", "c")])


def key(pk: str) -> str:
    return f"WHERE pk = '{pk}' AND sk = '1'"


def test_writes_are_done_one_by_one_in_order(db: Database, table: str) -> None:
    answer = batch(
        db,
        request(f"INSERT INTO \"{table}\" VALUE {{'pk': ?, 'sk': '1'}}", "d"),
        f'UPDATE "{table}" SET n = n + 1 {key("c")}',
        f'UPDATE "{table}" SET n = n + 2 {key("a")} RETURNING ALL NEW *',
        f'DELETE FROM "{table}" {key("b")} RETURNING ALL OLD *',
    )
    assert answer == {
        "Responses": [
            {"TableName": table},
            {"TableName": table},
            {"TableName": table, "Item": item(pk="a", sk="1", n=7)},
            {"TableName": table, "Item": item(pk="b", sk="1", n=5)},
        ]
    }
    assert sorted(one["pk"]["S"] for one in db.items(table)) == ["a", "c", "d"]


def test_a_returning_clause_that_finds_nothing_leaves_the_item_out(
    db: Database, table: str
) -> None:
    answer = batch(
        db,
        f'UPDATE "{table}" REMOVE n {key("a")} RETURNING MODIFIED NEW *',
        f'DELETE FROM "{table}" {key("absent")} RETURNING ALL OLD *',
    )
    assert answer == {"Responses": [{"TableName": table}, {"TableName": table}]}


def test_a_statement_that_fails_does_not_affect_the_others(db: Database, table: str) -> None:
    failing = f'UPDATE "{table}" SET n = 1 {key("a")} AND n = 6'
    answer = batch(
        db,
        "not a statement",
        f"INSERT INTO \"{table}\" VALUE {{'pk': 'c', 'sk': '1'}}",
        f'UPDATE "{table}" SET n = 1 {key("b")} AND n = 6',
        request(failing, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        f"DELETE FROM \"{table}\" WHERE pk = 'a'",
        f'DELETE FROM "{table}" {key("a")} AND n = ?',
        f"UPDATE \"{table}\" SET n = 1 WHERE pk = 'a' AND sk = 5",
        f"DELETE FROM absent {key('a')}",
        f'EXISTS(SELECT * FROM "{table}" {key("a")} AND n = 5)',
        f'DELETE FROM "{table}" {key("d")}',
    )
    assert answer["Responses"] == [
        error("ValidationError", MALFORMED + "Expected data manipulation"),
        error("DuplicateItem", "Duplicate primary key exists in table") | {"TableName": table},
        error("ConditionalCheckFailed", CONDITION) | {"TableName": table},
        error("ConditionalCheckFailed", CONDITION, Item=item(pk="a", sk="1", n=5))
        | {"TableName": table},
        error(
            "ValidationError",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
        error("ValidationError", "Number of parameters in request and statement don't match."),
        error(
            "ValidationError",
            "Key attribute's data type should match its data type in table's schema: Key sk",
        ),
        error("ResourceNotFound", "Requested resource not found"),
        error("ValidationError", "EXISTS can only be used in ExecuteTransaction write requests."),
        {"TableName": table},
    ]
    assert sorted(one["pk"]["S"] for one in db.items(table)) == ["a", "b", "c"]


def test_reads_return_an_item_each(db: Database, table: str) -> None:
    answer = batch(
        db,
        f'SELECT * FROM "{table}" {key("b")}',
        request(f'SELECT n FROM "{table}" WHERE pk = ? AND sk = ?', "a", "1", ConsistentRead=True),
        f'SELECT * FROM "{table}" {key("absent")}',
        f'SELECT * FROM "{table}" {key("c")} AND n = 5',
    )
    assert answer == {
        "Responses": [
            {"TableName": table, "Item": item(pk="b", sk="1", n=5)},
            {"TableName": table, "Item": item(n=5)},
            {"TableName": table},
            error("ValidationError", "Only single item select is supported"),
        ]
    }


def test_a_bad_number_fails_its_statement_alone(db: Database, table: str) -> None:
    """An exponent has 32 bits in PartiQL, and so has the arithmetic: it wraps."""
    text = f'SELECT * FROM "{table}" WHERE pk = ? AND sk = ?'
    bad = {"Statement": text, "Parameters": [{"N": "1e2147483647"}, {"S": "1"}]}
    underflow = (
        "Number underflow. Attempting to store a number with magnitude smaller than supported range"
    )
    answer = batch(db, bad, f'SELECT * FROM "{table}" {key("b")}')
    assert answer["Responses"][0] == error("ValidationError", underflow)
    assert answer["Responses"][1]["Item"] == item(pk="b", sk="1", n=5)


@pytest.mark.parametrize(
    "condition",
    [
        "attribute_exists(n)",
        "NOT attribute_exists(n)",
        "size(n) > 1",
        "size(n) BETWEEN 1 AND 2",
        "size(n) IN [1, 2]",
    ],
)
def test_a_function_beside_the_whole_key_is_refused_as_if_the_key_were_missing(
    db: Database, table: str, condition: str
) -> None:
    answer = batch(db, f'SELECT * FROM "{table}" {key("b")} AND {condition}')
    assert answer["Responses"] == [
        error(
            "ValidationError",
            "Select statements within BatchExecuteStatement must specify the primary key in the "
            "where clause.",
        )
    ]


def test_a_read_needs_the_whole_key_of_a_table(db: Database) -> None:
    table = db.table(glob={"by-n": ("n:N", "ALL")}, items=[item(pk="a", sk="1", n=5)])
    needed = error(
        "ValidationError",
        "Select statements within BatchExecuteStatement must specify the primary key in the where "
        "clause.",
    )
    answer = batch(
        db,
        f"SELECT * FROM \"{table}\" WHERE pk = 'a'",
        f'SELECT * FROM "{table}"."by-n" WHERE n = 5',
        f'SELECT * FROM "{table}"',
        "SELECT * FROM absent",
        f'SELECT * FROM "{table}" {key("a")}',
    )
    assert answer["Responses"] == [
        needed,
        needed,
        needed,
        error("ResourceNotFound", "Requested resource not found"),
        {"TableName": table, "Item": item(pk="a", sk="1", n=5)},
    ]


def test_a_batch_of_faults_alone_succeeds(db: Database) -> None:
    answer = batch(db, "x", "y")
    assert [one["Error"]["Code"] for one in answer["Responses"]] == ["ValidationError"] * 2


def test_reads_and_writes_cannot_be_mixed(db: Database, table: str) -> None:
    db.refuses(
        "BatchExecuteStatement",
        {
            "Statements": [
                request(f'SELECT * FROM "{table}" {key("a")}'),
                request(f'DELETE FROM "{table}" {key("a")}'),
            ]
        },
        "Read and write requests together in the same batch is not supported.",
    )
    assert len(db.items(table)) == 3


@pytest.mark.parametrize("statement", ["SELECT * FROM", "DELETE FROM"])
def test_an_item_can_be_in_a_batch_once(db: Database, table: str, statement: str) -> None:
    one = request(f'{statement} "{table}" {key("a")}')
    db.refuses(
        "BatchExecuteStatement",
        {"Statements": [one, one]},
        "Provided list of item keys contains duplicates",
    )
    assert len(db.items(table)) == 3


def test_the_capacity_is_that_of_each_statement(db: Database, table: str) -> None:
    answer = batch(
        db,
        f'DELETE FROM "{table}" {key("a")}',
        "not a statement",
        f'DELETE FROM "{table}" {key("b")}',
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 1.0}] * 2
    read = f'SELECT * FROM "{table}" {{}}'
    consistent = request(read.format(key("c")), ConsistentRead=True)
    answer = batch(db, read.format(key("b")), consistent, ReturnConsumedCapacity="TOTAL")
    assert [one["CapacityUnits"] for one in answer["ConsumedCapacity"]] == [0.5, 1.0]


def test_a_batch_has_1_to_25_statements(db: Database, table: str) -> None:
    reads = [request(f'SELECT * FROM "{table}" {key(str(number))}') for number in range(26)]
    assert len(db.call("BatchExecuteStatement", {"Statements": reads[:25]})["Responses"]) == 25
    with pytest.raises(Exception, match="Member must have length less than or equal to 25"):
        db.call("BatchExecuteStatement", {"Statements": reads})
    with pytest.raises(Exception, match="Member must have length greater than or equal to 1"):
        db.call("BatchExecuteStatement", {"Statements": []})
