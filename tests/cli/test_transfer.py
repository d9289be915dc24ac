"""copy, dump and load, run as a user runs them."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tablewright.engine import Engine
from tablewright.server import serving
from tests.cli.terminal import answer_at_terminal
from tests.commands import run
from tests.transfer.tables import PLAIN, RICH, fill, held, thing, things_in


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with 60 things."""
    return things_in(tmp_path / "a.db", 60)


def refused(result: subprocess.CompletedProcess[str]) -> str:
    """The one line of a command that was refused."""
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("tablewright: ")
    return result.stderr


def test_copy_shows_that_both_sides_agree(tmp_path: Path, source: Path) -> None:
    result = run("copy", source, tmp_path / "b.db")
    assert (result.returncode, result.stderr) == (0, "")
    assert "things" in result.stdout
    assert result.stdout.count("60") >= 2
    assert result.stdout.endswith("all counts and checksums agree\n")
    with Engine(source) as one, Engine(tmp_path / "b.db") as other:
        assert held(one) == held(other)
    assert not list(tmp_path.glob("*.json*"))


def test_copy_says_what_it_compared(tmp_path: Path, source: Path) -> None:
    with Engine(source) as engine:
        fill(engine, RICH, [])
    result = run("copy", source, tmp_path / "b.db")
    assert "index by_day_here" in result.stdout
    assert "compared all items of 2 tables and 2 indexes\n" in result.stdout


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
def test_copy_asks_at_a_terminal_before_items_are_replaced(
    tmp_path: Path, source: Path, answer: str, code: int
) -> None:
    with Engine(tmp_path / "b.db") as engine:
        fill(engine, PLAIN, [thing("k000001")])
    shown = answer_at_terminal("copy", source, tmp_path / "b.db", typed=f"{answer}\n")
    text = " ".join(shown.plain.split())
    assert "has items in the table things; those with the same keys will be replaced. Cont" in text
    assert shown.returncode == code
    with Engine(tmp_path / "b.db") as engine:
        assert len(held(engine)) == (60 if answer == "y" else 1)


def test_copy_to_and_from_an_endpoint(tmp_path: Path, source: Path) -> None:
    with Engine(":memory:") as engine, serving(engine) as url:
        assert run("copy", source, url, "--state", tmp_path / "state").returncode == 0
        assert run("copy", url, tmp_path / "b.db", "--table", "things").returncode == 0
    with Engine(source) as one, Engine(tmp_path / "b.db") as other:
        assert held(one) == held(other)


def test_copy_says_when_the_sides_differ(tmp_path: Path, source: Path) -> None:
    with Engine(tmp_path / "b.db") as engine:
        fill(engine, PLAIN, [thing("other")])
    result = run("copy", source, tmp_path / "b.db", "--overwrite")
    assert result.returncode == 1
    assert result.stderr == "tablewright: these tables differ: things\n"
    assert "61" in result.stdout
    assert "agree" not in result.stdout


def test_dump_and_load_a_file(tmp_path: Path, source: Path) -> None:
    dumped = run("dump", source, tmp_path / "t.json.gz")
    assert (dumped.returncode, dumped.stderr) == (0, "")
    assert "all counts and checksums agree" in dumped.stdout
    loaded = run("load", tmp_path / "t.json.gz", tmp_path / "b.db")
    assert (loaded.returncode, loaded.stderr) == (0, "")
    assert "manifest" in loaded.stdout
    with Engine(source) as one, Engine(tmp_path / "b.db") as other:
        assert held(one) == held(other)


@pytest.mark.parametrize("name", ["all", "all/"])
def test_dump_and_load_a_folder(tmp_path: Path, source: Path, name: str) -> None:
    with Engine(source) as engine:
        fill(engine, RICH, [])
    assert run("dump", source, f"{tmp_path}/{name}").returncode == 0
    assert run("load", tmp_path / "all", tmp_path / "b.db").returncode == 0
    with Engine(tmp_path / "b.db") as engine:
        assert engine.call("ListTables") == {"TableNames": ["orders", "things"]}


def test_standard_output_is_loaded_from_standard_input(tmp_path: Path, source: Path) -> None:
    dumped = run("dump", source, "-")
    assert dumped.returncode == 0
    assert dumped.stdout.count("\n") == 60
    assert all(line.startswith('{"Item":{') for line in dumped.stdout.splitlines())
    assert "60" in dumped.stderr
    with Engine(tmp_path / "b.db") as engine:
        engine.call("CreateTable", PLAIN)
    command = [sys.executable, "-m", "tablewright", "load", "-", str(tmp_path / "b.db")]
    for text in (dumped.stdout.encode(), gzip.compress(dumped.stdout.encode())):
        subprocess.run(
            [*command, "--table", "things", "--overwrite"],
            input=text,
            check=True,
            capture_output=True,
            timeout=60,
        )
    with Engine(source) as one, Engine(tmp_path / "b.db") as other:
        assert held(one) == held(other)


def test_load_says_when_a_file_is_not_what_its_manifest_says(tmp_path: Path, source: Path) -> None:
    run("dump", source, tmp_path / "t.json")
    lines = (tmp_path / "t.json").read_text().splitlines(keepends=True)
    (tmp_path / "t.json").write_text("".join(lines[:-1]))
    result = run("load", tmp_path / "t.json", tmp_path / "b.db")
    assert result.returncode == 1
    assert result.stderr == "tablewright: these tables differ: things\n"


def test_a_reader_that_leaves_ends_the_dump_quietly(tmp_path: Path) -> None:
    things_in(tmp_path / "a.db", 5000)
    command = [sys.executable, "-m", "tablewright", "dump", str(tmp_path / "a.db"), "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert (process.returncode, errors) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["copy", ":memory:", "b.db"], "':memory:' does not keep its tables"),
        (["copy", "a.db", ":memory:"], "':memory:' does not keep its tables"),
        (["dump", ":memory:", "x.json"], "':memory:' does not keep its tables"),
        (["load", "x.json", ":memory:"], "':memory:' does not keep its tables"),
        (["copy", "a.db", "a.db"], "a.db is both source and target"),
        (["copy", "absent.db", "b.db"], "absent.db: no such file"),
        (["copy", ".", "b.db"], ".: is a directory"),
        (["copy", "empty.db", "b.db"], "empty.db: the file is empty"),
        (["copy", "x.json", "b.db"], "x.json: "),
        (["copy", "a.db", "absent/b.db"], "the directory absent does not exist"),
        (["copy", "a.db", "ftp://there"], "'ftp://there' is not a target"),
        (["copy", "a.db", "dynamodb://mars"], "'mars' is not a region"),
        (
            ["copy", "a.db", "b.db", "--table", "other"],
            "a.db has no table 'other'; the tables are: thin",
        ),
        (
            ["copy", "a.db", "b.db", "--table", "thing"],
            "a.db has no table 'thing'; did you mean 'things'?",
        ),
        (["copy", "a.db", "b.db", "--state", "absent/s"], "absent/s: no such file"),
        (["copy", "a.db", "b.db", "--state", "x.json"], "x.json: not the state of a transfer"),
        (["dump", "a.db", "absent/x.json"], "absent/x.json.part: no such file"),
        (["dump", "a.db", "full"], "full: exists and is not an empty folder"),
        (["load", "absent.json", "b.db"], "absent.json: no such file or folder"),
        (["load", "empty", "b.db", "--table", "things"], "empty: the folder has no data files"),
        (["load", "-", "b.db"], "-: add --table NAME"),
        (["load", "x.json", "b.db"], "x.json has no manifest that names its table; use --table"),
        (
            ["load", "x.json", "b.db", "--table", "things"],
            "b.db has no table 'things', and without",
        ),
        (["load", "x.json", "a.db", "--table", "things"], "a.db has items in the table things; "),
        (["load", "x.json", "a.db", "--table", "things", "--overwrite"], "x.json, line 1: "),
    ],
)
def test_what_a_user_gets_wrong_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: Path,
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("full").mkdir()
    Path("full/notes").touch()
    Path("empty.db").touch()
    Path("x.json").write_text("notes\n" * 1000)
    line = refused(run(*arguments))
    assert told in line
    assert ("again to continue" in line) == ("--overwrite" in arguments)  # something was begun
    with Engine(source) as engine:
        assert len(held(engine)) == 60
    assert not Path("b.db").exists()


def test_an_endpoint_that_is_not_there_is_one_line(tmp_path: Path, source: Path) -> None:
    with Engine(":memory:") as engine, serving(engine) as url:
        pass
    result = run("copy", source, url, "--state", tmp_path / "state")
    assert url in refused(result)
    assert not (tmp_path / "state").exists()


@pytest.mark.slow
def test_a_refused_load_says_how_to_go_on(tmp_path: Path, source: Path) -> None:
    run("dump", source, tmp_path / "t.json", "--parallel", "1")
    whole = (tmp_path / "t.json").read_bytes()
    (tmp_path / "t.json").write_bytes(whole + b"}\n")
    line = refused(run("load", tmp_path / "t.json", tmp_path / "b.db"))
    assert "t.json, line 61: " in line
    assert "; fix this, then run the same command again to continue (the progress is in " in line
    assert line.endswith("b.db.load.json)\n")
    (tmp_path / "t.json").write_bytes(whole)
    assert run("load", tmp_path / "t.json", tmp_path / "b.db").returncode == 0
    assert not (tmp_path / "b.db.load.json").exists()


def test_a_state_that_is_kept_elsewhere_is_removed_at_the_end(tmp_path: Path, source: Path) -> None:
    result = run("copy", source, tmp_path / "b.db", "--state", tmp_path / "state")
    assert result.returncode == 0
    assert not (tmp_path / "state").exists()


INTERRUPTED = """
import os, signal
from tablewright.cli import main
from tablewright.engine import bulk

# A shell without job control starts its background jobs with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
put, left = bulk._put_keyed, 3

def interrupting(schema, keyed, context):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGINT)
    put(schema, keyed, context)

bulk._put_keyed, bulk.MAX_STEP_ROWS = interrupting, 25
main()
"""


@pytest.mark.slow
def test_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    source = things_in(tmp_path / "a.db", 1000)
    command = [sys.executable, "-c", INTERRUPTED, "copy", str(source), str(tmp_path / "b.db")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr == (
        "tablewright: interrupted; run the same command again to continue "
        f"(the progress is in {tmp_path}/b.db.copy.json)\n"
    )
    assert run("copy", source, tmp_path / "b.db").returncode == 0
    with Engine(source) as one, Engine(tmp_path / "b.db") as other:
        assert held(one) == held(other)


@pytest.mark.slow
def test_a_terminal_shows_a_bar(tmp_path: Path, source: Path) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "tablewright", "copy", str(source), str(tmp_path / "b.db")]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    subprocess.run(
        command, stderr=theirs, stdout=subprocess.DEVNULL, env=environment, check=True, timeout=60
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 20).decode()
    os.close(ours)
    assert "things copied" in shown
    assert "60/60" in shown
