"""`tablewright tables`, `describe` and `create-table`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import mistake, run


def test_tables_are_listed(target: str) -> None:
    done = run("tables", target)
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["table", "items", "bytes", "key", "indexes"],
        ["readings", "3", "63", "sensor:N,", "at:N", "0"],
        ["shop", "5", "454", "PK,", "SK", "1"],
    ]
    lines = run("tables", target, "--json").stdout.splitlines()
    assert [json.loads(line)["TableName"] for line in lines] == ["readings", "shop"]


def test_a_target_without_tables_says_so(tmp_path: Path) -> None:
    run("create-table", tmp_path / "a.db", "things", "id")
    done = run("sql", tmp_path / "a.db", "SELECT * FROM things")
    assert done.returncode == 0
    done = run("tables", tmp_path / "b.db")
    assert (done.returncode, done.stderr) == (2, f"tablewright: {tmp_path}/b.db: no such file\n")


def test_a_table_is_described(target: str) -> None:
    done = run("describe", target, "shop")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[:6] == [
        ["shop"],
        ["key", "PK,", "SK"],
        ["status", "ACTIVE"],
        ["items", "5"],
        ["bytes", "454"],
        ["billing", "on", "demand"],
    ]
    assert lines[-1] == ["by-status", "global", "status,", "total:N", "all", "5"]
    described = json.loads(run("describe", target, "shop", "--json").stdout)
    assert described["KeySchema"][0] == {"AttributeName": "PK", "KeyType": "HASH"}


@pytest.mark.parametrize(
    ("table", "hint"),
    [("shp", "did you mean 'shop'?"), ("films", "the tables are: readings, shop")],
)
def test_a_missing_table_is_reported_with_the_one_that_is_meant(
    target: str, table: str, hint: str
) -> None:
    line = mistake("describe", target, table)
    assert line == (
        "tablewright: ResourceNotFoundException: Requested resource not found: "
        f"Table: {table} not found; {hint}\n"
    )


def test_a_table_is_created_with_its_indexes(target: str) -> None:
    done = run(
        *("create-table", target, "events", "id", "at:N", "--ttl", "expires"),
        *("--index", "by_kind=kind,at:N", "--local-index", "by_size=size:N"),
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "events: created, with the key id, at:N\n"
    shown = run("describe", target, "events").stdout
    assert "  ttl      expires\n" in shown
    assert [line.split()[:5] for line in shown.splitlines()[-2:]] == [
        ["by_size", "local", "id,", "size:N", "all"],
        ["by_kind", "global", "kind,", "at:N", "all"],
    ]


def test_the_tables_of_a_design_are_created(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    assert run("create-tables", "shop", file).stderr == "shop: created\n"
    assert run("create-tables", "shop", file).stderr == "shop: exists, as declared\n"
    run("create-table", tmp_path / "other.db", "shop", "id")
    line = mistake("create-tables", "shop", tmp_path / "other.db")
    assert "the table 'shop' differs from its declaration, Shop: key: declared PK" in line
    assert ", found id; index LSI: declared but missing; " in line


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["shop", "id"], "already has a table 'shop'"),
        (["things"], "missing argument 'KEY'; write `tablewright create-table TARGET TABLE "),
        (["things", "id:X"], "'id:X': write NAME, or NAME:S, NAME:N or NAME:B"),
        (["things", "id", "id:N"], "id is declared with two types, S and N"),
        (["things", "id", "--index", "by_x"], "'by_x' is not an index; write NAME=KEY"),
        (["things", "id", "--local-index", "a=id,v"], "its partition key is id, as that of the"),
        (["x", "id"], "ValidationException"),
    ],
)
def test_a_mistake_is_one_line(file: Path, arguments: list[str], told: str) -> None:
    assert told in mistake("create-table", file, *arguments)


def test_a_mistake_leaves_no_file_behind(tmp_path: Path) -> None:
    assert run("create-table", tmp_path / "new.db", "x", "id").returncode == 2
    assert list(tmp_path.iterdir()) == []
