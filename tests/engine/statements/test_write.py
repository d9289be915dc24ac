from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.engine.database import Database, Json, item
from tests.engine.statements.running import execute, refuses, request

MANDATORY = "Where clause does not contain a mandatory equality on all key attributes"
INVALID_PATH = "The document path provided in the update expression is invalid for update"
KEY = item(pk="a", sk="1")
WHERE = "WHERE pk = 'a' AND sk = '1'"


@pytest.fixture
def table(db: Database) -> str:
    """A table with one item."""
    return db.table(
        items=[item(pk="a", sk="1", n=5, tags=["x", "y", "z"], m={"k": 1, "l": 2}, ss={"p", "q"})]
    )


def conditional_failure(db: Database, text: str, *parameters: Any, **members: Any) -> Json:
    return db.fails(
        "ExecuteStatement",
        request(text, *parameters, **members),
        "ConditionalCheckFailedException",
        "The conditional request failed",
    )


# -- INSERT


def test_insert_stores_an_item(db: Database, table: str) -> None:
    text = (
        f"INSERT INTO \"{table}\" VALUE {{'pk': 'b', 'sk': ?, 's': 'it''s', 'n': 1e2, 'yes': true,"
        " 'nothing': null, 'l': [1, ?, []], 'm': {'x': {'y': ?}}, 'ss': <<'b', 'a'>>, 'ns': <<1>>,"
        " 'bs': ?}"
    )
    assert execute(db, text, "2", "two", True, {b"bin"}) == {"Items": []}
    assert db.get(table, item(pk="b", sk="2")) == item(
        pk="b",
        sk="2",
        s="it's",
        n=100,
        yes=True,
        nothing=None,
        l=[1, "two", []],
        m={"x": {"y": True}},
        ss={"a", "b"},
        ns={1},
    ) | {"bs": {"BS": [base64.b64encode(b"bin").decode()]}}


def test_insert_does_not_replace_an_item(db: Database, table: str) -> None:
    before = db.get(table, KEY)
    db.fails(
        "ExecuteStatement",
        request(f"INSERT INTO \"{table}\" VALUE {{'pk': 'a', 'sk': '1'}}"),
        "DuplicateItemException",
        "Duplicate primary key exists in table",
    )
    assert db.get(table, KEY) == before


def test_insert_checks_the_item_as_a_put_does(db: Database, table: str) -> None:
    text = f'INSERT INTO "{table}" VALUE '
    refuses(db, "Key attribute should be present in the item: Key sk", text + "{'pk': 'b'}")
    refuses(
        db,
        "Key attribute's data type should match its data type in table's schema: Key sk",
        text + "{'pk': 'b', 'sk': 1}",
    )
    refuses(
        db,
        "Path component cannot be an empty string",
        text + "{'pk': 'b', 'sk': '2', '': 1}",
    )
    refuses(
        db,
        "Item size has exceeded the maximum allowed size",
        text + "{'pk': 'b', 'sk': '2', 'x': ?}",
        "x" * 410_000,
    )
    nested = "[" * 31 + "]" * 31
    execute(db, text + f"{{'pk': 'b', 'sk': '2', 'x': {nested}}}")
    refuses(
        db,
        "Nesting Levels have exceeded supported limits: "
        "Attributes in the item have nested levels beyond supported limit",
        text + f"{{'pk': 'c', 'sk': '2', 'x': [{nested}]}}",
    )


# -- UPDATE


@pytest.mark.parametrize(
    ("changes", "parameters", "expected"),
    [
        ("SET n = 6", (), {"n": 6}),
        ("SET n = n + 1 SET o = n - ?", (2,), {"n": 6, "o": 3}),
        ("SET o = ?, p = n REMOVE tags", ("x",), {"o": "x", "p": 5, "tags": ...}),
        ("SET m.k = 9 REMOVE m.l", (), {"m": {"k": 9}}),
        ("SET m.fresh = {'a': [1]}", (), {"m": {"k": 1, "l": 2, "fresh": {"a": [1]}}}),
        ("SET tags[1] = 'Y'", (), {"tags": ["x", "Y", "z"]}),
        ("SET tags[9] = 'end'", (), {"tags": ["x", "y", "z", "end"]}),
        ("REMOVE tags[0] REMOVE tags[2]", (), {"tags": ["y"]}),
        ("REMOVE absent", (), {}),
        ("SET tags = list_append(tags, ['w'])", (), {"tags": ["x", "y", "z", "w"]}),
        ("SET tags = list_append(?, tags)", (["w"],), {"tags": ["w", "x", "y", "z"]}),
        ("SET ss = set_add(ss, <<'r', 'q'>>)", (), {"ss": {"p", "q", "r"}}),
        ("SET fresh = set_add(fresh, <<1>>)", (), {"fresh": {1}}),
        ("SET ss = set_delete(ss, <<'p'>>)", (), {"ss": {"q"}}),
        ("SET n = if_not_exists(n, 1), o = if_not_exists(o, 1) + 1", (), {"n": 5, "o": 2}),
        ("SET ss = set_delete(ss, ?)", ({"p", "q"},), {"ss": ...}),
    ],
)
def test_update_changes_an_item(
    db: Database, table: str, changes: str, parameters: tuple[Any, ...], expected: Json
) -> None:
    expected_item = dict(db.get(table, KEY) or {})
    for name, value in expected.items():
        if value is ...:
            del expected_item[name]
        else:
            expected_item |= item(**{name: value})
    assert execute(db, f'UPDATE "{table}" {changes} {WHERE}', *parameters) == {"Items": []}
    assert db.get(table, KEY) == expected_item


def test_update_may_begin_with_from(db: Database, table: str) -> None:
    execute(db, f'FROM "{table}" {WHERE} SET n = 7 REMOVE tags')
    found = db.get(table, KEY)
    assert found is not None
    assert found["n"] == {"N": "7"}
    assert "tags" not in found


def test_update_does_not_create_an_item(db: Database, table: str) -> None:
    conditional_failure(db, f"UPDATE \"{table}\" SET n = 1 WHERE pk = 'b' AND sk = '1'")
    conditional_failure(db, f"UPDATE \"{table}\" REMOVE n WHERE pk = 'b' AND sk = '1'")
    assert len(db.items(table)) == 1


def test_other_conditions_are_conditions_of_the_update(db: Database, table: str) -> None:
    before = db.get(table, KEY)
    text = f'UPDATE "{table}" SET n = 9 {WHERE} AND n'
    assert conditional_failure(db, f"{text} > 5") == {}
    details = conditional_failure(db, f"{text} > 5", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert details["Item"] == before
    assert db.get(table, KEY) == before
    execute(db, f"{text} = 5 AND absent IS MISSING AND size(tags) = 3")
    assert db.get(table, KEY) != before


@pytest.mark.parametrize(
    "where",
    [
        "",
        "WHERE pk = 'a'",
        "WHERE pk = 'a' AND sk > '0'",
        "WHERE pk = 'a' AND sk IN ['1', '2']",
        "WHERE pk = 'a' AND sk IN ['1']",
        "WHERE pk = 'a' OR sk = '1'",
        "WHERE n = 5",
    ],
)
def test_a_write_needs_an_equality_on_the_whole_key(db: Database, table: str, where: str) -> None:
    refuses(db, MANDATORY, f'UPDATE "{table}" SET n = 1 {where}')
    refuses(db, MANDATORY, f'DELETE FROM "{table}" {where}')


@pytest.mark.parametrize("changes", ["SET fresh[0] = 1", "SET fresh.a = 1", "SET n.a = 1",
    "SET m.x.y = 1", "REMOVE fresh.a"])  # fmt: skip
def test_the_parent_of_a_path_must_exist(db: Database, table: str, changes: str) -> None:
    before = db.get(table, KEY)
    refuses(db, INVALID_PATH, f'UPDATE "{table}" {changes} {WHERE}')
    assert db.get(table, KEY) == before


def test_update_checks_its_operands(db: Database, table: str) -> None:
    text = f'UPDATE "{table}" SET {{}} {WHERE}'
    refuses(
        db,
        "One or more parameter values were invalid: "
        "Cannot update attribute sk. This attribute is part of the key",
        text.format("sk = '2'"),
    )
    refuses(
        db,
        "The provided expression refers to an attribute that does not exist in the item",
        text.format("n = absent + 1"),
    )
    refuses(
        db,
        "An operand in the update expression has an incorrect data type",
        text.format("n = tags + 1"),
    )
    refuses(
        db,
        "Incorrect operand type for operator or function; operator or function: +, operand type: S",
        text.format("n = n + 'x'"),
    )
    refuses(
        db,
        "The second argument to SET_ADD must be a value with type SET at "
        + f"1:{text.index('{') + len('n = set_add(') + 1}:1",
        text.format("n = set_add(n, 1)"),
    )
    refuses(
        db,
        "The second argument to SET_DELETE must be a value with type SET at "
        + f"1:{text.index('{') + len('tags = set_delete(') + 1}:4",
        text.format("tags = set_delete(tags, 'x')"),
    )
    refuses(
        db,
        "Two document paths overlap with each other; must remove or rewrite one of these paths; "
        "path one: [m], path two: [m, k]",
        text.format("m = 1, m.k = 2"),
    )


@pytest.mark.parametrize("statement", ["UPDATE {} SET n = 1", "DELETE FROM {}"])
def test_a_key_attribute_has_one_value(db: Database, table: str, statement: str) -> None:
    text = statement.format(f'"{table}"')
    refuses(
        db,
        "Multiple conditions on same key sk. Only single item Update/Insert/Delete are supported",
        f"{text} WHERE pk = 'a' AND sk = 'absent' AND sk = 'b'",
    )
    execute(db, f"{text} {WHERE} AND pk = 'a' AND sk <> 'x'")


# -- DELETE


def test_delete_removes_an_item(db: Database, table: str) -> None:
    assert execute(db, f'DELETE FROM "{table}" {WHERE} AND n = 5') == {"Items": []}
    assert db.items(table) == []


def test_delete_of_a_missing_item_succeeds(db: Database, table: str) -> None:
    where = "WHERE pk = 'b' AND sk = '1'"
    assert execute(db, f'DELETE FROM "{table}" {where}') == {"Items": []}
    assert execute(db, f'DELETE FROM "{table}" {where} AND n = 5') == {"Items": []}
    assert execute(db, f'DELETE FROM "{table}" {where} RETURNING ALL OLD *') == {"Items": []}


def test_a_false_condition_keeps_the_item(db: Database, table: str) -> None:
    before = db.get(table, KEY)
    text = f'DELETE FROM "{table}" {WHERE} AND n = 6'
    assert conditional_failure(db, text) == {}
    details = conditional_failure(db, text, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert details["Item"] == before
    assert db.get(table, KEY) == before


# -- RETURNING


@pytest.mark.parametrize(
    ("changes", "returning", "expected"),
    [
        ("SET m.k = 9, fresh = 1", "MODIFIED NEW", {"m": {"k": 9}, "fresh": 1}),
        ("SET m.k = 9, fresh = 1", "MODIFIED OLD", {"m": {"k": 1}}),
        ("SET fresh = 1", "MODIFIED OLD", None),
        ("REMOVE n", "MODIFIED NEW", None),
        ("REMOVE n", "MODIFIED OLD", {"n": 5}),
        ("REMOVE tags[1]", "MODIFIED NEW", {"tags": ["z"]}),
        ("REMOVE tags[1]", "MODIFIED OLD", {"tags": ["y"]}),
        ("REMOVE tags[2]", "MODIFIED NEW", None),
        ("SET tags[5] = 'w'", "MODIFIED NEW", None),
        ("SET tags[3] = 'w'", "MODIFIED NEW", {"tags": ["w"]}),
        ("SET tags[2] = 'Z', tags[0] = 'X'", "MODIFIED NEW", {"tags": ["X", "Z"]}),
        ("SET tags[2] = 'Z', tags[0] = 'X'", "MODIFIED OLD", {"tags": ["x", "z"]}),
    ],
)
def test_modified_returns_the_paths_of_the_statement(
    db: Database, table: str, changes: str, returning: str, expected: Json | None
) -> None:
    answer = execute(db, f'UPDATE "{table}" {changes} {WHERE} RETURNING {returning} *')
    assert answer == {"Items": [] if expected is None else [item(**expected)]}


def test_all_returns_the_whole_item(db: Database, table: str) -> None:
    old = db.get(table, KEY)
    text = f'UPDATE "{table}" SET n = n + 1 {WHERE} RETURNING ALL'
    assert execute(db, f"{text} OLD *") == {"Items": [old]}
    assert execute(db, f"{text} NEW *") == {"Items": [db.get(table, KEY)]}
    text = f'DELETE FROM "{table}" {WHERE} RETURNING ALL OLD *'
    assert execute(db, text) == {"Items": [(old or {}) | item(n=7)]}


@pytest.mark.parametrize("returning", ["MODIFIED OLD", "MODIFIED NEW", "ALL NEW"])
def test_delete_returns_only_the_old_item(db: Database, table: str, returning: str) -> None:
    refuses(
        db,
        f"Invalid returning clause: RETURNING {returning} *. "
        "Only RETURNING ALL OLD * is allowed in DELETE statements.",
        f'DELETE FROM "{table}" {WHERE} RETURNING {returning} *',
    )
    assert db.get(table, KEY) is not None


# -- sources, capacity


def test_an_index_cannot_be_written(db: Database) -> None:
    table = db.table(glob={"by-x": ("x:S", "ALL")})
    source = f'"{table}"."by-x"'
    refuses(
        db,
        "FROM clause may only contain a single table name",
        f"INSERT INTO {source} VALUE {{'pk': 'a'}}",
    )
    message = "This operation is not supported on an index"
    refuses(db, message, f"UPDATE {source} SET n = 1 {WHERE}")
    refuses(db, message, f"DELETE FROM {source} {WHERE}")


def test_a_write_costs_what_its_operation_costs(db: Database) -> None:
    table = db.table(glob={"by-x": ("x:S", "KEYS_ONLY")})

    def consumed(text: str) -> Json:
        answer = execute(db, text, ReturnConsumedCapacity="INDEXES")
        return {name: answer["ConsumedCapacity"].get(name) for name in ("CapacityUnits", "Table")}

    large = "y" * 1500
    assert consumed(
        f"INSERT INTO \"{table}\" VALUE {{'pk': 'a', 'sk': '1', 'x': 'x', 'y': '{large}'}}"
    ) == {"CapacityUnits": 3.0, "Table": {"CapacityUnits": 2.0}}
    assert consumed(f'UPDATE "{table}" SET n = 1 {WHERE}') == {
        "CapacityUnits": 2.0,
        "Table": {"CapacityUnits": 2.0},
    }
    assert consumed(f'DELETE FROM "{table}" {WHERE}') == {
        "CapacityUnits": 3.0,
        "Table": {"CapacityUnits": 2.0},
    }


def test_exists_is_for_transactions(db: Database, table: str) -> None:
    refuses(
        db,
        "EXISTS can only be used in ExecuteTransaction write requests.",
        f'EXISTS(SELECT * FROM "{table}" {WHERE} AND n = 5)',
    )
