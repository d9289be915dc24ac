"""Damage made behind the engine's back is reported by `check`, and never an exception."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from tablewright.engine import Engine
from tablewright.errors import StoreFailed
from tablewright.storage.tree import make_tag, row_checksum
from tests.engine.database import item, table_request

#: The trees of `make_file`'s table and of its index.
TABLE, INDEX = "tree$2", "tree$3"

DAMAGES = {
    "an index row is missing": (
        f"DELETE FROM {INDEX} WHERE key = (SELECT min(key) FROM {INDEX})",
        "is missing",
    ),
    "an index row has another size": (
        f"UPDATE {INDEX} SET size = size + 1",
        "differs from the table's item",
    ),
    "an index row has another body": (
        f"UPDATE {INDEX} SET body = replace(CAST(body AS TEXT), 'note', 'nose')",
        "differs from the table's item",
    ),
    "an index row belongs to no item": (
        f"INSERT INTO {INDEX} VALUES (x'00', 1, '{{}}', 0)",
        "belongs to no item",
    ),
    "an index row is no JSON": (
        f"UPDATE {INDEX} SET body = 'x'",
        "differs from the table's item",
    ),
    "a table row is no JSON": (f"UPDATE {TABLE} SET body = 'x'", "cannot be read"),
    "a table row is empty": (
        f"UPDATE {TABLE} SET body = '{{}}'",
        "has a key that differs from the key of its item",
    ),
    "a table row is no item": (f"UPDATE {TABLE} SET body = '{{\"pk\": 1}}'", "cannot be read"),
    "a table row is elsewhere": (
        f"UPDATE {TABLE} SET key = x'00' WHERE key = (SELECT min(key) FROM {TABLE})",
        "has a key that differs from the key of its item",
    ),
    "a table row has another size": (f"UPDATE {TABLE} SET size = size + 1", "has size"),
    "an index is gone": (f"DROP TABLE {INDEX}", f"no such table: {INDEX}"),
    "a table is gone": (f"DROP TABLE {TABLE}", f"no such table: {TABLE}"),
}
CATALOG_DAMAGES = {
    "a schema is no JSON": "UPDATE tree$0 SET body = 'x' WHERE key <> x''",
    "a schema is empty": "UPDATE tree$0 SET body = '{}' WHERE key <> x''",
    "the generation is no number": "UPDATE tree$0 SET body = 'x' WHERE key = x''",
    "the catalog is gone": "DROP TABLE tree$0",
}


def make_file(path: Path) -> None:
    """A file with one table, which has an index and two items in it."""
    with Engine(path) as engine:
        engine.call("CreateTable", table_request("things", glob={"by_colour": ("g:S", "ALL")}))
        for key in "ab":
            thing = item(pk=key, sk="1", g="red", note="x")
            engine.call("PutItem", {"TableName": "things", "Item": thing})


def damage(path: Path, statement: str, *, fix_checksums: bool = True) -> None:
    """Change a file behind the engine's back; with checksums that fit the change, or without."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement)
        if fix_checksums:
            connection.create_scalar_function("row_checksum", lambda *row: row_checksum(*row), 2)
            trees = "SELECT name FROM sqlite_schema WHERE name GLOB 'tree$*'"
            for (tree,) in connection.execute(trees).fetchall():
                connection.execute(f"UPDATE {tree} SET body = CAST(body AS BLOB)")
                tag = make_tag(int(str(tree).removeprefix("tree$")))
                connection.execute(f"UPDATE {tree} SET checksum = row_checksum(body, size) + {tag}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "things.db"
    make_file(path)
    return path


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    with Engine(path) as engine:
        yield engine


def test_a_whole_file_has_no_problems(engine: Engine) -> None:
    report = engine.check()
    assert report
    assert report.rows == {("things", None): 2, ("things", "by_colour"): 2}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_reported(engine: Engine, path: Path, name: str) -> None:
    statement, what = DAMAGES[name]
    damage(path, statement)
    report = engine.check()
    assert not report
    assert what in "\n".join(map(str, report.problems))


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_reported_by_an_engine_that_opens_the_file(path: Path, name: str) -> None:
    statement, what = DAMAGES[name]
    damage(path, statement)
    with Engine(path) as engine:
        assert what in "\n".join(map(str, engine.check().problems))


@pytest.mark.parametrize("name", CATALOG_DAMAGES)
def test_damage_to_the_catalog_is_reported(engine: Engine, path: Path, name: str) -> None:
    damage(path, CATALOG_DAMAGES[name])
    (problem,) = engine.check().problems
    assert str(problem).startswith(("the file is damaged: its catalog", "no such table: tree$0"))


def test_rows_that_cannot_be_read_do_not_hide_others(engine: Engine, path: Path) -> None:
    damage(path, f"UPDATE {TABLE} SET body = 'x' WHERE key = (SELECT min(key) FROM {TABLE})")
    damage(path, f"UPDATE {INDEX} SET size = 0 WHERE key = (SELECT min(key) FROM {INDEX})")
    found = "\n".join(map(str, engine.check().problems))
    assert "cannot be read" in found
    assert "differs from the table's item" in found


@pytest.mark.parametrize(
    "statement", ["DELETE FROM tree$0 WHERE key = x''", "DELETE FROM tree$0", "DROP TABLE tree$1"]
)
def test_a_catalog_without_its_generation_or_tokens_is_damaged(
    tmp_path: Path, statement: str
) -> None:
    make_file(tmp_path / "damaged.db")
    with Engine(tmp_path / "damaged.db") as engine:
        damage(tmp_path / "damaged.db", statement)
        assert not engine.check()


FLIPS = {
    "a byte of a body": "UPDATE {tree} SET body = replace(CAST(body AS TEXT), 'x', 'y')",
    "a size": "UPDATE {tree} SET size = size + 1",
    "a checksum": "UPDATE {tree} SET checksum = checksum + 1",
    "the type of a body": "UPDATE {tree} SET body = 1.5",
    "the type of a size": "UPDATE {tree} SET size = 'x'",
}


@pytest.mark.parametrize("tree", [TABLE, INDEX])
@pytest.mark.parametrize("flip", FLIPS)
def test_a_damaged_row_is_reported_with_its_key(
    engine: Engine, path: Path, tree: str, flip: str
) -> None:
    damage(path, FLIPS[flip].format(tree=tree), fix_checksums=False)
    found = "\n".join(map(str, engine.check().problems))
    place = 'things: the row of pk="a", sk="1"'
    if tree == INDEX:
        place = 'things/by_colour: the row of g="red", pk="a", sk="1"'
    assert f"{place} is damaged: its checksum is wrong" in found


@pytest.mark.parametrize("flip", FLIPS)
@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {"Key": item(pk="a", sk="1")}),
        ("PutItem", {"Item": item(pk="a", sk="1"), "ReturnValues": "ALL_OLD"}),
        ("DeleteItem", {"Key": item(pk="a", sk="1")}),
        ("Scan", {}),
    ],
)
def test_a_damaged_row_is_an_error_that_names_table_and_key_and_never_an_answer(
    engine: Engine, path: Path, operation: str, request_: dict[str, Any], flip: str
) -> None:
    damage(path, FLIPS[flip].format(tree=TABLE), fix_checksums=False)
    with pytest.raises(StoreFailed, match=r'table things: the row of pk="[ab]", sk="1" is damaged'):
        engine.call(operation, {"TableName": "things", **request_})
    assert engine.call("ListTables") == {"TableNames": ["things"]}


@pytest.mark.parametrize("column", ["size", "body", "checksum"])
@pytest.mark.parametrize(
    ("operation", "request_"), [("GetItem", {"Key": item(pk="a", sk="1")}), ("Scan", {})]
)
def test_a_value_that_has_become_broken_text_is_an_error_of_the_storage(
    engine: Engine, path: Path, operation: str, request_: dict[str, Any], column: str
) -> None:
    damage(path, f"UPDATE {TABLE} SET {column} = CAST(x'80FF' AS TEXT)", fix_checksums=False)
    with pytest.raises(StoreFailed, match="is damaged"):
        engine.call(operation, {"TableName": "things", **request_})
    (problem,) = engine.check().problems
    assert str(problem).startswith("things: ")


def test_a_key_that_has_become_text_is_an_error_of_the_storage(path: Path) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        ((key,),) = connection.execute(f"SELECT max(key) FROM {TABLE}").fetchall()
    assert isinstance(key, bytes)
    content = bytearray(path.read_bytes())
    start = content.index(key)  # the record's header ends here: its size, then the types
    header = next(start - size for size in (5, 6) if content[start - size] == size)
    content[header + 1] += 1  # the type of the key: a text of the same length
    path.write_bytes(content)
    with Engine(path) as engine:
        with pytest.raises(StoreFailed, match="is damaged"):
            engine.call("Scan", {"TableName": "things"})
        assert not engine.check()


def test_a_damaged_index_row_is_an_error_that_names_the_index(engine: Engine, path: Path) -> None:
    damage(path, FLIPS["a byte of a body"].format(tree=INDEX), fix_checksums=False)
    with pytest.raises(StoreFailed, match="table things, index by_colour: the row of g="):
        engine.call("Scan", {"TableName": "things", "IndexName": "by_colour"})
