"""`tablewright put` and `delete`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tablewright.cli import all_commands
from tests.cli.terminal import answer_at_terminal, run_at_terminal
from tests.commands import mistake, run
from tests.engine.database import item


def stored(target: str | Path, table: str, *key: str) -> object:
    done = run("get", target, table, *key, "--json")
    return json.loads(done.stdout) if done.returncode == 0 else None


PLAIN = '{"PK": "C#2", "SK": "O#1", "total": 12.50, "tags": ["a", null, true], "by": {"n": 1e2}}'


def test_plain_json_is_stored_with_its_types(target: str) -> None:
    done = run("put", target, "shop", PLAIN)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "shop: 1 created, 0 replaced\n"
    assert stored(target, "shop", "PK=C#2", "SK=O#1") == {
        **item(PK="C#2", SK="O#1"),
        "total": {"N": "12.5"},
        "tags": {"L": [{"S": "a"}, {"NULL": True}, {"BOOL": True}]},
        "by": {"M": {"n": {"N": "100"}}},
    }


def test_what_json_prints_can_be_put_elsewhere(target: str) -> None:
    printed = run("scan", target, "shop", "--json").stdout
    run("create-table", target, "copy", "PK", "SK")
    done = CliRunner().invoke(all_commands.app, ["put", target, "copy", "-"], input=printed)
    assert done.stderr == "copy: 5 created, 0 replaced\n"
    assert run("scan", target, "copy", "--json").stdout == printed


def test_items_are_read_from_a_file(file: Path, tmp_path: Path) -> None:
    source = tmp_path / "items.json"
    source.write_text('[{"sensor": 2, "at": 1}, {"sensor": 2, "at": 2}]')
    assert run("put", file, "readings", source).stderr == "readings: 2 created, 0 replaced\n"
    assert stored(file, "readings", "sensor=2", "at=2") == item(sensor=2, at=2)


def test_an_existing_item_is_not_replaced_without_a_terminal(target: str) -> None:
    both = '{"PK": "C#1", "SK": "O#1"} {"PK": "C#1", "SK": "O#7"}'
    line = mistake("put", target, "shop", both)
    assert line == (
        "tablewright: 1 item exists and will be replaced; add --yes, because standard input is not "
        "a terminal\n"
    )
    assert stored(target, "shop", "PK=C#1", "SK=O#7") is None
    assert run("put", target, "shop", both, "--yes").stderr == "shop: 1 created, 1 replaced\n"
    assert stored(target, "shop", "PK=C#1", "SK=O#1") == item(PK="C#1", SK="O#1")


@pytest.mark.parametrize(("typed", "code", "remains"), [("y\n", 0, False), ("\n", 1, True)])
def test_delete_shows_the_item_and_asks(file: Path, typed: str, code: int, remains: bool) -> None:
    done = answer_at_terminal("delete", file, "shop", "PK=C#1", "SK=O#1", typed=typed)
    assert done.returncode == code
    assert "total   10\n" in done.plain
    assert "PK=C#1 SK=O#1 will be deleted. Continue? [y/N]:" in done.plain
    assert ("nothing was changed" in done.plain) == remains
    assert (stored(file, "shop", "PK=C#1", "SK=O#1") is not None) == remains


@pytest.mark.slow
def test_put_asks_before_it_replaces(file: Path) -> None:
    done = run_at_terminal("put", file, "shop", '{"PK": "C#1", "SK": "O#1"}', typed="y\n")
    assert done.returncode == 0
    assert "1 item exists and will be replaced. Continue? [y/N]:" in done.plain
    assert stored(file, "shop", "PK=C#1", "SK=O#1") == item(PK="C#1", SK="O#1")


def test_delete_without_a_terminal_needs_yes(target: str) -> None:
    line = mistake("delete", target, "shop", "PK=C#1", "SK=O#1")
    assert line.startswith("tablewright: PK=C#1 SK=O#1 will be deleted; add --yes")
    done = run("delete", target, "shop", "PK=C#1", "SK=O#1", "--yes")
    assert (done.returncode, done.stderr) == (0, "shop: 1 deleted\n")
    done = run("delete", target, "shop", "PK=C#1", "SK=O#1", "--yes")
    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"PK": "a"}', "ITEM: an item lacks SK, part of its key"),
        ('{"PK": "a",}', "ITEM is not JSON: "),
        ('{"PK": "a", "SK": NaN}', "NaN is not a number of JSON"),
        ("[1]", "an item is a JSON object, not 1"),
        ("[]", "ITEM has no items"),
        ('{"PK": "a", "SK": 5}', "the key attribute SK has the type S, but the value is 5"),
        ('{"PK": {"S": "a"}, "SK": {"N": "5"}}', 'but the value is {"N": "5"}'),
        ('{"PK": {"S": "a"}, "SK": {"S": "b"}, "x": {"X": "b"}}', "ValidationException"),
        ('{"PK": {"S": "a"}, "SK": {"S": "b"}, "n": {"N": 5}}', 'a number is a text: {"N": "5"}'),
        ('{"PK": "a", "SK": "b"} {"PK": "a", "SK": "b"}', "two items have the key PK=a SK=b"),
        ("absent.json", "absent.json: no such file; pass an item as JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_no_item_is_refused(file: Path, text: str, told: str) -> None:
    assert told in mistake("put", file, "shop", text)


def test_items_that_were_put_before_a_failure_are_counted(file: Path) -> None:
    good, large = '{"PK": "a", "SK": "1"}', json.dumps({"PK": "a", "SK": "2", "x": "x" * 450_000})
    done = run("put", file, "shop", f"[{good}, {large}]")
    assert done.returncode == 2
    counted, error = done.stderr.splitlines()
    assert counted == "1 of 2 items were put before this failed"
    assert error.startswith("tablewright: ValidationException: Item size has exceeded")
