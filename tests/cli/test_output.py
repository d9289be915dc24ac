"""How commands behave in pipes, at a terminal of 80 columns, and with NO_COLOR."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from tablewright.cli.all_commands import app
from tests.cli.terminal import COLUMNS, run_at_terminal
from tests.commands import run

TABLE = "commerce_single_table"
#: A command line of each command that prints a result; DB is a database file.
PRINTING = {
    "advise": "commerce",
    "api": "commerce --all --openapi -",
    "check-file": "DB",
    "check-items": "commerce DB",
    "completion": "bash",
    "cost": "commerce",
    "credentials": "--help",
    "describe": f"DB {TABLE}",
    "designs": "",
    "diff": "shop commerce",
    "dump": "DB -",
    "explain": "commerce --details",
    "get": f"DB {TABLE} PK=CUST#C1 SK=PROFILE#C1",
    "help": "operations",
    "infer": "DB",
    "mcp": "--help",
    "migrate": "--help",
    "patterns": "commerce",
    "publish": "docs commerce",
    "query": f"DB {TABLE} PK=CUST#C1 --json",
    "scan": f"DB {TABLE} --all --design commerce",
    "serve": "--help",
    "sql": "DB --json",
    "studio": "--help",
    "tables": "DB",
    "verify": "commerce --details",
}
#: The commands that print a line or two, or that run until they are stopped.
QUIET = {
    *("backfill", "backup", "compact", "copy", "create-table", "create-tables"),
    *("delete", "load", "lock", "new", "put", "reconcile", "repair", "restore", "seed", "shell"),
    "update",
}


def command_names() -> set[str]:
    return set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("output") / "commerce.db"
    run("seed", "commerce", file)
    return file


def line_of(name: str, database: Path) -> list[str]:
    words = [str(database) if word == "DB" else word for word in PRINTING[name].split()]
    return [name, *words, *(["SELECT PK FROM " + TABLE] if name == "sql" else [])]


def test_every_command_is_in_one_of_the_lists() -> None:
    assert command_names() - QUIET == PRINTING.keys()


@pytest.mark.parametrize(
    "line", [["publish", "terraform", "commerce", "-o", "-"], ["infer", "DB", "-o", "-"]]
)
def test_a_dash_is_standard_output(
    line: list[str], database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [str(database) if word == "DB" else word for word in line]
    printed = run(*words).stdout
    assert printed == run(*words[:-2]).stdout
    assert len(printed.splitlines()) > 20
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", PRINTING)
def test_a_reader_that_leaves_ends_a_command_quietly(name: str, database: Path) -> None:
    command = [sys.executable, "-m", "tablewright", *line_of(name, database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before the command writes anything
        errors = process.stderr.read().decode()
    assert "Traceback" not in errors
    assert "Broken" not in errors
    assert process.returncode in (0, 1), errors


def test_colours_are_for_terminals(database: Path) -> None:
    shown = run_at_terminal("tables", database)
    assert shown.returncode == 0
    assert "\x1b[1m" in shown.text  # a bold header
    assert max(map(len, shown.plain.splitlines())) <= COLUMNS
    assert "\x1b" not in run("tables", database).stdout


@pytest.mark.slow
def test_no_color_is_respected(database: Path) -> None:
    line = ("verify", "shop")
    colours = ("\x1b[32m", "\x1b[3", "\x1b[9")
    assert any(colour in run_at_terminal(*line).text for colour in colours)
    assert not any(colour in run_at_terminal(*line, NO_COLOR="1").text for colour in colours)


@pytest.mark.parametrize("name", sorted(command_names()))
def test_help_has_80_columns(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= COLUMNS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "errors"),
    [
        (["--version"], 2, "tablewright: standard output: no space left on device\n"),
        (["tables", "DB"], 2, "tablewright: no space left on device\n"),
    ],
)
def test_a_full_disk_is_one_line(
    arguments: list[str], code: int, errors: str, database: Path
) -> None:
    words = [str(database) if word == "DB" else word for word in arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tablewright", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (code, errors)


@pytest.mark.slow
def test_a_closed_output_is_no_error(database: Path) -> None:
    command = f"exec {sys.executable} -m tablewright tables {database} >&-"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
