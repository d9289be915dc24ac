"""`tablewright put`, `update` and `delete`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tablewright.cli import all_commands
from tablewright.cli.items.writes import put_request, send_puts
from tablewright.cli.sessions import open_session
from tablewright.errors import ConditionalCheckFailedException
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


def test_many_items_are_put_with_few_requests(target: str, tmp_path: Path) -> None:
    source = tmp_path / "items.jsonl"
    lines = [json.dumps({"PK": "many", "SK": f"{number:04}"}) for number in range(230)]
    source.write_text("\n".join(lines))
    assert run("put", target, "shop", source).stderr == "shop: 230 created, 0 replaced\n"
    assert run("query", target, "shop", "PK=many", "--count").stdout == "230\n"
    source.write_text("\n".join([*lines, json.dumps({"PK": "many", "SK": "new"})]))
    assert "230 items exist and will be replaced" in mistake("put", target, "shop", source)
    done = run("put", target, "shop", source, "--yes")
    assert done.stderr == "shop: 1 created, 230 replaced\n"


def test_an_item_that_appears_meanwhile_is_not_replaced(target: str) -> None:
    with open_session(target) as session:
        key = session.describe("shop").keys
        puts = [
            put_request("shop", item(PK="C#1", SK=name), key, is_new=True)
            for name in ("O#1", "O#0")
        ]
        with pytest.raises(ConditionalCheckFailedException):
            list(send_puts(session, puts))
    assert "total" in str(stored(target, "shop", "PK=C#1", "SK=O#1"))


def test_update_changes_attributes(target: str) -> None:
    key = "shop", "PK=C#2", "SK=O#1"
    run("put", target, "shop", PLAIN)
    changes = ["--set", "total=3", "--increment", "n=2.5", "--remove", "tags", "--set", "by.n=x"]
    done = run("update", target, *key, *changes, "--yes")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("shop: 1 changed: ")
    assert stored(target, *key) == {
        **item(PK="C#2", SK="O#1", total=3),
        "n": {"N": "2.5"},
        "by": {"M": {"n": {"S": "x"}}},
    }


def test_update_shows_the_item_and_asks(file: Path) -> None:
    words = "update", file, "shop", "PK=C#1", "SK=O#1", "--set", "total=11"
    assert "PK=C#1 SK=O#1 will be changed; add --yes" in mistake(*words)
    done = answer_at_terminal(*words, typed="y\n")
    assert "total   10\n" in done.plain
    assert "PK=C#1 SK=O#1 will be changed. Continue? [y/N]:" in done.plain
    assert "11" in str(stored(file, "shop", "PK=C#1", "SK=O#1"))


def test_update_never_creates_an_item(target: str) -> None:
    done = run("update", target, "shop", "PK=C#1", "SK=none", "--set", "a=1", "--yes")
    assert (done.returncode, done.stdout) == (1, "")
    assert stored(target, "shop", "PK=C#1", "SK=none") is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ([], "nothing to change; add --set, --increment or --remove"),
        (["--set", "total"], "--set 'total': write NAME=VALUE, such as 'total=30'"),
        (["--increment", "total=many"], "the value must be a number"),
        (["--set", "PK=other"], "Cannot update attribute PK. This attribute is part of the key"),
    ],
)
def test_what_is_no_change_is_refused(file: Path, change: list[str], told: str) -> None:
    assert told in mistake("update", file, "shop", "PK=C#1", "SK=O#1", *change, "--yes")
