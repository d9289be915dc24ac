"""`tablewright diff`: the changes between two versions of a design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tablewright import Engine, connect
from tablewright.server import serving
from tests.cli.terminal import run_at_terminal
from tests.commands import commit, run
from tests.evolve.designs import (
    ADDED,
    ANOTHER_KEY,
    RENAMED,
    SECOND_INDEX,
    design,
    load_text,
)
from tests.publish.advice.sarif_log import read_log

OTHER_ENTITY = {"class Order(": "class Purchase("}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write("old", {})
    return tmp_path


def write(name: str, changes: dict[str, str]) -> None:
    Path(f"{name}.py").write_text(design(changes))


def store(changes: dict[str, str] | None = None) -> None:
    """Create shop.db with the table of a design, and its index record."""
    with Engine("shop.db") as engine:
        tables = load_text(design(changes), Path(), "stored").tables
        connect(engine, *tables, update=True).close()


def diff_json(*arguments: str) -> Any:
    return msgspec.json.decode(run("diff", *arguments, "--json").stdout)


def test_versions_that_store_the_same_have_no_changes() -> None:
    write("new", {})
    done = run("diff", "old.py", "new.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "No changes.\n", "")


def test_a_change_is_shown_with_all_that_follows() -> None:
    write("new", ANOTHER_KEY)
    done = run("diff", "old.py", "new.py")
    assert done.returncode == 1
    assert (
        done.stdout
        == """\
Changes from old.py to new.py

entity Order
  gsi1: the key in the index is made of other parts
    - GSI1PK=STATUS#{status}, GSI1SK=ORDER#{order_id}
    + GSI1PK=STATE#{status}, GSI1SK=ORDER#{order_id}
    needs     a backfill; without it, the new version misses stored items
    together  no: each version misses the items of the other one in the index
    undo      at any time
    costs     250,000 read and 3,000,000 write units; 1.91 USD; 50 min

1 change; the largest need is a backfill; old and new programs cannot run
together.
Costs are for 1,000,000 items of 1.0 KB (--items), all of the changed entity and
in all its indexes; on-demand prices of us-east-1, table class Standard
(2026-01); 1,000 write units per second (--rate).
`tablewright help changes` says how to deploy them.
"""
    )


def test_changes_are_grouped_by_table_and_entity() -> None:
    write("new", SECOND_INDEX | ADDED)
    lines = run("diff", "old.py", "new.py").stdout.splitlines()
    assert [line for line in lines if line.startswith(("table", "entity"))] == [
        "table shop",
        "entity Order",
    ]
    assert "3 changes; the largest need is a backfill" in " ".join(lines)
    assert any(line.startswith("All changes, each on its own, cost") for line in lines) is True


@pytest.mark.parametrize("width", ["60", "80", "120"])
def test_lines_fit_the_terminal(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    write("new", SECOND_INDEX | ADDED | ANOTHER_KEY)
    lines = run("diff", "old.py", "new.py").stdout.splitlines()
    assert max(map(len, lines)) <= int(width)


@pytest.mark.parametrize(
    ("changes", "options", "code"),
    [
        ({}, [], 0),
        ({}, ["--any"], 0),
        (ADDED, [], 0),
        (ADDED, ["--any"], 1),
        (SECOND_INDEX, [], 1),
        ({"email: Attr[str]": "email: Attr[str | None]"}, [], 1),
    ],
)
@pytest.mark.parametrize("output", [[], ["--json"], ["--sarif"]])
def test_the_exit_code(
    changes: dict[str, str], options: list[str], code: int, output: list[str]
) -> None:
    write("new", changes)
    assert run("diff", "old.py", "new.py", *options, *output).returncode == code


def test_the_number_of_items_and_the_rate_can_be_given() -> None:
    write("new", ANOTHER_KEY)
    found = diff_json("old.py", "new.py", "--items", "2000", "--rate", "10")
    assert found["cost"]["write_units"] == 6000
    assert found["cost"]["seconds"] == 600


def test_json_has_all_facts() -> None:
    write("new", RENAMED)
    found = diff_json("old.py", "new.py")
    removed, added = found["changes"]
    assert removed == {
        "kind": "required-attribute-removed",
        "title": "the required attribute is removed",
        "table": "shop",
        "entity": "Order",
        "part": "email",
        "former": "",
        "before": "",
        "after": "",
        "need": "nothing",
        "together": "no",
        "breaks": "old programs cannot read items that new programs create or replace",
        "new_reads": "complete",
        "old_reads": "fails",
        "undo": "old_removed",
        "cost": {"read_units": 0, "write_units": 0, "money": 0, "seconds": 0},
    }
    assert added["kind"] == "required-attribute-added"
    assert (found["largest_need"], found["together"], found["drift"]) == ("rewrite", "no", False)
    rename = {"table": "shop", "entity": "Order", "before": "email", "after": "mail"}
    assert found["possible_renames"] == [rename]


def test_sarif_has_the_place_of_each_declaration() -> None:
    write("new", ANOTHER_KEY | ADDED)
    log = read_log(run("diff", "old.py", "new.py", "--sarif").stdout)
    (result_log,) = log.runs
    lines = Path("new.py").read_text().splitlines()
    found = {}
    for result in result_log.results:
        (location,) = result.locations
        place = location.physical_location
        assert place.artifact_location.uri == "new.py"
        found[result.rule_id] = (lines[place.region.start_line - 1].split()[0], result.level)
    assert found == {
        "attribute-added": ("note:", "note"),
        "index-key-changed": ("by_status", "error"),
    }


def test_sarif_names_the_lock_file_if_no_design_is_loaded() -> None:
    run("lock", "old.py", "-o", "old.lock")
    write("new", ADDED)
    run("lock", "new.py")
    log = read_log(run("diff", "old.lock", "tablewright.lock", "--sarif").stdout)
    (result,) = log.runs[0].results
    place = result.locations[0].physical_location
    assert (place.artifact_location.uri, place.region.start_line) == ("tablewright.lock", 1)


def test_json_and_sarif_exclude_each_other() -> None:
    done = run("diff", "old.py", "old.py", "--json", "--sarif")
    assert (done.returncode, done.stdout) == (2, "")


# -- versions --------------------------------------------------------------------------------------


def test_a_design_that_prints_and_a_lock_file_at_a_revision() -> None:
    write("shop", {})
    run("lock", "shop.py")
    Path("shop.py").write_text("print('loading')\n" + design())
    commit()
    write("shop", ADDED)
    run("lock", "shop.py")
    for old, new in (
        ("shop.py@HEAD", "shop.py"),
        ("tablewright.lock@HEAD", "tablewright.lock"),
        ("shop.py@HEAD", "tablewright.lock"),
        ("tablewright.lock@HEAD", "shop.py"),
    ):
        done = run("diff", old, new)
        assert done.returncode == 0
        shown = old.replace("@", " at ")
        assert done.stdout.startswith(f"Changes from {shown} to {new}\n\nentity Order\n  note: ")


def test_an_absolute_path_is_read_at_the_revision() -> None:
    write("shop", {})
    commit()
    write("shop", ADDED)
    done = run("diff", f"{Path('shop.py').resolve()}@HEAD", "shop.py")
    assert "entity Order\n  note: " in done.stdout
    done = run("diff", "/elsewhere/shop.py@HEAD", "shop.py")
    assert "/elsewhere/shop.py is outside of the repository" in done.stderr


def test_a_revision_that_does_not_exist() -> None:
    commit()
    done = run("diff", "old.py@v9", "old.py")
    assert (done.returncode, done.stderr) == (2, "tablewright: v9 is no revision\n")


def test_a_design_that_does_not_import_at_a_revision() -> None:
    Path("shop.py").write_text("import nothing_here\n")
    commit()
    done = run("diff", "shop.py@HEAD", "old.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tablewright: at HEAD: shop.py cannot be imported: ")
    assert "nothing_here" in done.stderr


def test_a_design_that_does_not_exist_at_a_revision() -> None:
    commit()
    write("later", {})
    assert "at HEAD: later.py: no such file" in run("diff", "later.py@HEAD", "old.py").stderr
    lock = run("diff", "tablewright.lock@HEAD", "old.py")
    assert lock.stderr == "tablewright: at HEAD: tablewright.lock does not exist\n"


def test_a_folder_that_does_not_exist_at_a_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    commit()
    Path("inner").mkdir()
    monkeypatch.chdir("inner")
    done = run("diff", "shop.py@HEAD", "../old.py")
    assert done.stderr == "tablewright: at HEAD: the folder inner does not exist\n"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("none.lock", "none.lock: No such file or directory"),
        ("broken.lock", "broken.lock is not a lock file"),
        ("newer.lock", "newer.lock: its format is 99"),
        ("none.json", "none.json: No such file or directory"),
        ("none.db", "none.db: no such file"),
        (":memory:", "':memory:' does not keep its tables"),
        ("none.py", "none.py: no such file"),
        ("none", "unknown design 'none'"),
        ("broken.py", "broken.py cannot be imported"),
        ("@main", "@main: write DESIGN@REVISION, such as shop.py@main"),
        ("old.py@", "old.py@: write DESIGN@REVISION, such as shop.py@main"),
        ("old.py@main", "git: not a git repository"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1: "),
    ],
)
def test_a_version_that_cannot_be_read(word: str, message: str) -> None:
    Path("broken.lock").write_text("x")
    Path("newer.lock").write_text('{"format": 99}')
    Path("broken.py").write_text("1 / 0")
    for arguments in ((word, "old.py"), ("old.py", word)):
        done = run("diff", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"tablewright: {message}")
    assert not Path("none.db").exists()


# -- live tables -----------------------------------------------------------------------------------


def test_differences_of_a_live_table_are_drift() -> None:
    store()
    run("lock", "old.py")
    done = run("diff", "tablewright.lock", "shop.db")
    assert done.returncode == 0
    assert done.stdout == (
        "No drift in what is compared.\n"
        "Entities of shop.db are not compared: a table does not store them; their keys\n"
        "are compared by the index record of shop.\n"
    )
    with Engine("shop.db") as engine:
        remove = {"Delete": {"IndexName": "gsi1"}}
        engine.call("UpdateTable", {"TableName": "shop", "GlobalSecondaryIndexUpdates": [remove]})
    done = run("diff", "tablewright.lock", "shop.db")
    assert done.returncode == 1
    assert done.stdout.startswith("Drift from tablewright.lock to shop.db\n\ntable shop\n  gsi1: ")
    assert "\nDrift: 1 change; " in done.stdout
    assert diff_json("tablewright.lock", "shop.db")["drift"] is True


def test_costs_are_for_the_items_of_the_table() -> None:
    store()
    with Engine("shop.db") as engine:
        for number in range(20):
            item = {"PK": {"S": str(number)}, "SK": {"S": "x" * 600}}
            engine.call("PutItem", {"TableName": "shop", "Item": item})
        with serving(engine) as url:
            write("new", ANOTHER_KEY)
            found = diff_json(url, "new.py")
    assert found["assumptions"]["items"]["shop"]["items"] == 21  # with the index record
    assert found["cost"]["write_units"] == 63
    assert diff_json("shop.db", "new.py", "--items", "100")["cost"]["write_units"] == 300


def test_a_table_may_have_another_name() -> None:
    store()
    write("new", {'name="shop"': 'name="prod-shop"'})
    done = run("diff", "shop.db", "new.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "shop.db has no table 'prod-shop'" in done.stderr
    assert run("diff", "shop.db", "new.py", "--table", "shop").stdout.startswith("No drift in what")
    refused = run("diff", "old.py", "new.py", "--table", "shop")
    assert refused.stderr.startswith("tablewright: --table is the name of a table at a target")


def test_two_targets_are_compared_with_all_tables() -> None:
    store()
    Path("copy.db").write_bytes(Path("shop.db").read_bytes())
    with Engine("copy.db") as engine:
        key = [{"AttributeName": "id", "KeyType": "HASH"}]
        types = [{"AttributeName": "id", "AttributeType": "S"}]
        engine.call(
            "CreateTable",
            {
                "TableName": "more",
                "KeySchema": key,
                "AttributeDefinitions": types,
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
    found = diff_json("shop.db", "copy.db")
    assert [each["kind"] for each in found["changes"]] == ["table-added"]
    assert found["drift"] is False
    assert found["not_compared"] == [
        "Entities of shop.db and copy.db are not compared: a table does not store them."
    ]


# -- renames ---------------------------------------------------------------------------------------


def test_a_possible_rename_is_a_hint_and_no_guess() -> None:
    write("new", RENAMED)
    done = run("diff", "old.py", "new.py")
    assert "email: the required attribute is removed" in done.stdout
    hint = (
        'If Order.email was renamed to mail, declare it: attr(renamed_from="email"), or '
        "--renamed Order.email=mail for this run."
    )
    assert hint in " ".join(done.stdout.split())


def test_a_rename_can_be_declared_for_one_run() -> None:
    write("new", RENAMED)
    done = run("diff", "old.py", "new.py", "--renamed", "Order.email=mail")
    assert "  mail: the attribute is renamed\n    - email\n    + mail\n" in done.stdout
    assert "If Order.email was renamed" not in " ".join(done.stdout.split())
    write("new", OTHER_ENTITY)
    done = run("diff", "old.py", "new.py", "--renamed", "Order=Purchase")
    assert "  the type of the items is renamed\n    - Order\n    + Purchase\n" in done.stdout


@pytest.mark.parametrize("text", ["Order.emial=mail", "Order.email=mial", "email"])
def test_a_misspelled_rename_is_refused(text: str) -> None:
    write("new", RENAMED)
    done = run("diff", "old.py", "new.py", "--renamed", text)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"tablewright: --renamed {text}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "is_renamed"), [("y\n", True), ("\n", False)])
def test_at_a_terminal_a_rename_is_asked_for(answer: str, is_renamed: bool) -> None:
    write("new", RENAMED)
    shown = run_at_terminal("diff", "old.py", "new.py", typed=answer)
    assert shown.returncode == 1
    assert "Was the attribute email of Order renamed to mail? [y/N]" in shown.plain
    assert ("mail: the attribute is renamed" in shown.plain) is is_renamed
    assert ('Declare it in the design: attr(renamed_from="email")' in shown.plain) is is_renamed


def test_fill_lets_both_versions_run_until_await_programs() -> None:
    text = Path("old.py").read_text()
    place = "    primary = key("
    assert place in text
    Path("filled.py").write_text(
        text.replace(place, '    note: Attr[str] = attr(fill="-")\n' + place, 1)
    )
    Path("plain.py").write_text(text.replace(place, "    note: Attr[str] = attr()\n" + place, 1))
    assert diff_json("old.py", "filled.py")["together"] == "until_await"
    assert diff_json("old.py", "plain.py")["together"] == "no"
    shown = " ".join(run("diff", "old.py", "filled.py").stdout.split())
    assert "yes, until the step `await-programs` of the migration: fill= gives items" in shown
    run("lock", "filled.py")
    assert diff_json("old.py", "tablewright.lock")["together"] == "no"
