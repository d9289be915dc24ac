from __future__ import annotations

from typing import Any

import pytest

from tests.engine.database import Database, Json, Refused, item
from tests.engine.statements.running import MALFORMED, request

FAILED = "Validation failed in TransactStatements[{}]: {}"
NONE = {"Code": "None"}


def body(*statements: Json | str, **members: Any) -> Json:
    asked = [request(one) if isinstance(one, str) else one for one in statements]
    return {"TransactStatements": asked, **members}


def transact(db: Database, *statements: Json | str, **members: Any) -> Json:
    return db.call("ExecuteTransaction", body(*statements, **members))


def cancelled(db: Database, *statements: Json | str) -> list[Json]:
    """The reasons for which a transaction is cancelled."""
    with pytest.raises(Refused) as refused:
        transact(db, *statements)
    assert refused.value.code == "TransactionCanceledException"
    reasons: list[Json] = refused.value.details["CancellationReasons"]
    return reasons


def refuses(db: Database, number: int, message: str, *statements: Json | str) -> None:
    db.refuses("ExecuteTransaction", body(*statements), FAILED.format(number, message))


@pytest.fixture
def table(db: Database) -> str:
    return db.table(items=[item(pk=pk, sk="1", n=5) for pk in ("a", "b", "c")])


def key(pk: str) -> str:
    return f"WHERE pk = '{pk}' AND sk = '1'"


def contents(db: Database, table: str) -> dict[str, str | None]:
    return {one["pk"]["S"]: one.get("n", {}).get("N") for one in db.items(table)}


def test_writes_are_done_together(db: Database, table: str) -> None:
    answer = transact(
        db,
        request(f"INSERT INTO \"{table}\" VALUE {{'pk': 'd', 'sk': '1', 'n': ?}}", 1),
        f'UPDATE "{table}" SET n = n + 1 {key("a")} AND n = 5',
        f'DELETE FROM "{table}" {key("b")}',
        f'EXISTS(SELECT * FROM "{table}" {key("c")} AND n = 5)',
    )
    assert answer == {"Responses": []}
    assert contents(db, table) == {"a": "6", "c": "5", "d": "1"}


def test_one_failure_cancels_all(db: Database, table: str) -> None:
    before = contents(db, table)
    reasons = cancelled(
        db,
        f'DELETE FROM "{table}" {key("b")}',
        f"INSERT INTO \"{table}\" VALUE {{'pk': 'a', 'sk': '1'}}",
        request(
            f'UPDATE "{table}" SET n = 1 {key("c")} AND n = 6',
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        ),
        f'UPDATE "{table}" SET n = 1 {key("absent")}',
    )
    message = "The conditional request failed"
    assert reasons == [
        NONE,
        {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"},
        {
            "Code": "ConditionalCheckFailed",
            "Message": message,
            "Item": item(pk="c", sk="1", n=5),
        },
        {"Code": "ConditionalCheckFailed", "Message": message},
    ]
    assert contents(db, table) == before


@pytest.mark.parametrize("condition", ["n = 6", "n IS MISSING"])
def test_exists_is_a_condition(db: Database, table: str, condition: str) -> None:
    reasons = cancelled(
        db,
        f'DELETE FROM "{table}" {key("b")}',
        f'EXISTS(SELECT * FROM "{table}" {key("a")} AND {condition})',
        f'EXISTS(SELECT * FROM "{table}" {key("absent")} AND n IS MISSING)',
    )
    assert [reason["Code"] for reason in reasons] == [
        "None",
        "ConditionalCheckFailed",
        "ConditionalCheckFailed",
    ]
    assert len(contents(db, table)) == 3


@pytest.mark.parametrize("where", [key("a"), "WHERE pk = 'a' AND n = 5", ""])
def test_exists_needs_the_whole_key_and_a_condition(db: Database, table: str, where: str) -> None:
    refuses(
        db,
        1,
        "EXISTS() must contain a single item read with additional condition",
        f'DELETE FROM "{table}" {key("b")}',
        f'EXISTS(SELECT * FROM "{table}" {where})',
    )


def test_a_key_of_a_wrong_type_cancels(db: Database, table: str) -> None:
    reasons = cancelled(db, f"DELETE FROM \"{table}\" WHERE pk = 'a' AND sk = 1")
    message = "Key attribute's data type should match its data type in table's schema: Key sk"
    assert reasons == [{"Code": "ValidationError", "Message": message}]


def test_an_invalid_result_of_an_update_cancels(db: Database, table: str) -> None:
    reasons = cancelled(
        db, f'DELETE FROM "{table}" {key("b")}', f'UPDATE "{table}" SET x.y = 1 {key("a")}'
    )
    assert reasons[1] == {
        "Code": "ValidationError",
        "Message": "The document path provided in the update expression is invalid for update",
    }
    assert len(contents(db, table)) == 3


def test_reads_are_returned_in_order(db: Database, table: str) -> None:
    answer = transact(
        db,
        f'SELECT * FROM "{table}" {key("b")}',
        f'SELECT n FROM "{table}" {key("a")}',
        f'SELECT * FROM "{table}" {key("absent")}',
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer == {
        "Responses": [{"Item": item(pk="b", sk="1", n=5)}, {"Item": item(n=5)}, {}],
        "ConsumedCapacity": [
            {"TableName": table, "CapacityUnits": 6.0, "ReadCapacityUnits": 6.0},
        ],
    }


def test_faults_of_a_statement_name_it(db: Database) -> None:
    table = db.table(glob={"by-n": ("n:N", "ALL")}, items=[item(pk="a", sk="1", n=5)])
    fine = f'DELETE FROM "{table}" {key("a")}'
    refuses(db, 1, MALFORMED + "Expected data manipulation", fine, "not a statement")
    refuses(
        db,
        0,
        "RETURNING clause is not supported in ExecuteTransaction.",
        f"{fine} RETURNING ALL OLD *",
    )
    refuses(
        db,
        0,
        "Reads on indices are not supported within transactions.",
        f'SELECT * FROM "{table}"."by-n" WHERE n = 5',
    )
    mandatory = "Where clause does not contain a mandatory equality on all key attributes"
    refuses(db, 1, mandatory, fine, f"DELETE FROM \"{table}\" WHERE pk = 'b'")
    needed = (
        "Select statements within ExecuteTransaction must specify the primary key in the where "
        "clause."
    )
    refuses(db, 0, needed, f'SELECT * FROM "{table}"')
    refuses(db, 0, needed, f'SELECT * FROM "{table}" {key("a")} AND n = 5')
    refuses(
        db, 0, "Number of parameters in request and statement don't match.", f"{fine} AND n = ?"
    )
    refuses(
        db,
        0,
        "Number overflow. Attempting to store a number with magnitude larger than supported range "
        "under root",
        f"INSERT INTO \"{table}\" VALUE {{'pk': 'a', 'n': 1e200}}",
    )
    assert len(db.items(table)) == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"N": "1e99999999999"}, "cannot be converted to a numeric value: 1e99999999999"),
        ({"L": [{"N": "x"}]}, "The parameter cannot be converted to a numeric value: x"),
        ({"N": ""}, "The parameter cannot be converted to a numeric value"),
    ],
)
def test_bad_numbers_do_not_name_their_statement(
    db: Database, table: str, value: Json, message: str
) -> None:
    text = f'UPDATE "{table}" SET n = ? {key("a")}'
    with pytest.raises(Refused) as refused:
        transact(db, {"Statement": text, "Parameters": [value]})
    assert refused.value.message.endswith(message)
    assert "TransactStatements" not in refused.value.message


def test_a_missing_table(db: Database, table: str) -> None:
    db.fails(
        "ExecuteTransaction",
        body(f'DELETE FROM "{table}" {key("a")}', f"DELETE FROM absent {key('a')}"),
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert len(db.items(table)) == 3


def test_reads_and_writes_cannot_be_mixed(db: Database, table: str) -> None:
    db.refuses(
        "ExecuteTransaction",
        body(f'SELECT * FROM "{table}" {key("a")}', f'DELETE FROM "{table}" {key("b")}'),
        "ExecuteTransaction API does not support both read and write operations in the same "
        "request.",
    )


def test_an_item_can_be_written_once(db: Database, table: str) -> None:
    db.refuses(
        "ExecuteTransaction",
        body(f'DELETE FROM "{table}" {key("a")}', f'UPDATE "{table}" SET n = 1 {key("a")}'),
        "Transaction request cannot include multiple operations on one item",
    )
    db.refuses(
        "ExecuteTransaction",
        body(*[f'SELECT * FROM "{table}" {key("a")}'] * 2),
        "Transaction request cannot include multiple operations on one item",
    )


def test_a_repeated_token_has_no_second_effect(db: Database, table: str) -> None:
    asked = body(
        f'UPDATE "{table}" SET n = n + 1 {key("a")}',
        ClientRequestToken=f"token-{table}",
        ReturnConsumedCapacity="TOTAL",
    )
    first = db.call("ExecuteTransaction", asked)
    assert first["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}
    ]
    again = db.call("ExecuteTransaction", asked)
    assert again["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}
    ]
    assert contents(db, table)["a"] == "6"
    asked["TransactStatements"] = [request(f'DELETE FROM "{table}" {key("a")}')]
    with pytest.raises(Refused) as refused:
        db.call("ExecuteTransaction", asked)
    assert refused.value.code == "IdempotentParameterMismatchException"


def test_a_transaction_has_1_to_100_statements(db: Database, table: str) -> None:
    reads = [request(f'SELECT * FROM "{table}" {key(str(number))}') for number in range(101)]
    assert len(transact(db, *reads[:100])["Responses"]) == 100
    with pytest.raises(Exception, match="Member must have length less than or equal to 100"):
        transact(db, *reads)
    with pytest.raises(Exception, match="Member must have length greater than or equal to 1"):
        transact(db)
