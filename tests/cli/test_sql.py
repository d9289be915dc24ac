"""`tablewright sql` and `tablewright shell`, as a user runs them."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from tablewright.cli import all_commands
from tablewright.cli.conditions import read_literal
from tablewright.cli.sessions import open_statements
from tablewright.engine import Engine
from tablewright.partiql.completion import Names, complete
from tablewright.partiql.tokens import split_statements
from tablewright.presentation.printing import choose_columns, escape_controls, print_table
from tablewright.presentation.values import content
from tablewright.server import serving
from tests.commands import mistake, run
from tests.engine.database import Json, av, item, table_request


def fill(engine: Engine) -> None:
    engine.call("CreateTable", table_request("shop", glob={"by-status": ("status:S", "ALL")}))
    for number in range(3):
        order = item(sk=f"O#{number}", pk="C#1", status="open", total=number * 10, note="x" * 60)
        order |= item(lines=[{"sku": "a", "n": number}])
        engine.call("PutItem", {"TableName": "shop", "Item": order})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Engine(tmp_path / "shop.db") as engine:
        fill(engine)
    return tmp_path / "shop.db"


@pytest.fixture(params=["file", "http"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The same tables in a file, and behind an endpoint."""
    with Engine(tmp_path / "shop.db") as engine:
        fill(engine)
        if request.param == "file":
            engine.close()
            yield str(tmp_path / "shop.db")
        else:
            with serving(engine) as url:
                yield url


# -- sql


def test_items_are_printed_as_a_table_of_80_columns(target: str) -> None:
    done = run("sql", target, "SELECT * FROM shop WHERE pk = 'C#1' AND sk <> 'O#1'")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "pk   sk   status  total  note                                    ",
        f"C#1  O#0  open        0  {'x' * 39}…",
        f"C#1  O#2  open       20  {'x' * 39}…",
        "not shown: lines (select them, or use --json)",
    ]
    assert done.stderr == "2 items, 0.5 units\n"


def test_json_is_one_item_on_each_line(target: str) -> None:
    statement = 'SELECT sk, lines FROM shop."by-status" WHERE status = ?'
    done = run("sql", target, statement, "-p", "open", "--json", "--limit", "2")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        item(sk="O#0", lines=[{"sku": "a", "n": 0}]),
        item(sk="O#1", lines=[{"sku": "a", "n": 1}]),
    ]
    assert done.stderr == "2 items, 0.5 units; there are more, `tablewright sql --all` prints all\n"


def test_all_items_are_printed_with_all(target: str) -> None:
    statement = "SELECT sk FROM shop WHERE pk = 'C#1'"
    done = run("sql", target, statement, "--json", "--limit", "2", "--all")
    assert len(done.stdout.splitlines()) == 3
    assert done.stderr == "3 items, 0.5 units\n"


@pytest.mark.parametrize(
    "command", [["sql", "SELECT"], ["query", "shop", "pk=C#1"], ["scan", "shop"]]
)
def test_a_limit_of_0_is_refused_and_names_all(file: Path, command: list[str]) -> None:
    done = run(command[0], file, *command[1:], "--limit", "0")
    expected = "tablewright: --limit 0: the limit is at least 1; use --all for all items\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


def test_a_scan_prints_a_warning_first(target: str) -> None:
    done = run("sql", target, "SELECT sk FROM shop WHERE total > ?", "-p", "10")
    assert done.stdout.split() == ["sk", "O#2"]
    warning, count = done.stderr.splitlines()
    assert warning.startswith("tablewright: warning: this statement reads all of shop (3 items, ")
    assert warning.endswith("; a condition on pk with = or IN avoids it")
    assert count == "1 item, 0.5 units"


def test_the_warning_explains_a_string_in_double_quotes(target: str) -> None:
    done = run("sql", target, 'SELECT sk FROM shop WHERE pk = "C#1"')
    warning, _ = done.stderr.splitlines()
    assert warning.endswith("""; "C#1" is an attribute, write 'C#1' for a string""")


@pytest.mark.parametrize("given", [[], ["-p", "a", "-p", "b"]])
def test_the_number_of_parameters_must_match(target: str, given: list[str]) -> None:
    line = mistake("sql", target, "SELECT * FROM shop WHERE pk = ?", *given)
    assert line == (
        f"tablewright: the statement has 1 ?, and -p is given {len(given) // 2} times; "
        "give it for each ?\n"
    )


def test_no_scan_refuses_a_scan(target: str) -> None:
    for statement in ("SELECT * FROM shop", 'SELECT * FROM shop."by-status" WHERE total = 1'):
        done = run("sql", target, statement, "--no-scan")
        assert done.returncode == 2
        assert done.stdout == ""
        assert "this statement reads all of shop" in done.stderr
    assert "all of shop, index by-status (3 items, " in done.stderr
    assert "a condition on status with = or IN avoids it; --no-scan refuses it" in done.stderr
    done = run("sql", target, "SELECT * FROM shop WHERE pk = 'C#1'", "--no-scan")
    assert done.returncode == 0


def test_statements_write(target: str) -> None:
    insert = "INSERT INTO shop VALUE {'pk': ?, 'sk': ?, 'total': ?}"
    done = run("sql", target, insert, "-p", "C#2", "-p", "'7'", "-p", "7")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "done, 1 unit\n")
    where = "WHERE pk = 'C#2' AND sk = '7'"
    update = f"UPDATE shop SET total = total + 1 {where} RETURNING MODIFIED NEW *"
    assert run("sql", target, update).stdout.split() == ["total", "8"]
    delete = f"DELETE FROM shop {where} RETURNING ALL OLD *"
    assert json.loads(run("sql", target, delete, "--json").stdout) == item(
        pk="C#2", sk="7", total=8
    )


def test_explain_runs_nothing(target: str) -> None:
    done = run("sql", target, "DELETE FROM shop WHERE pk = ? AND sk = 'O#1'", "--explain")
    assert done.stdout == "DeleteItem on shop\n  key        pk = ? AND sk = 'O#1'\n"
    assert len(run("sql", target, "SELECT * FROM shop", "--json").stdout.splitlines()) == 3


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "SELEC",
            "ValidationException: Statement wasn't well formed, can't be processed: "
            "Expected data manipulation",
        ),
        ("DELETE FROM absent WHERE pk = 'a'", "Requested resource not found"),
        ("SELECT * FROM absent", "Table: absent not found; the tables are: shop"),
        ("SELECT * FROM shp", "Table: shp not found; did you mean 'shop'?"),
        ("DELETE FROM shp WHERE pk = 'a' AND sk = 'b'", "not found; did you mean 'shop'?"),
        ('SELECT * FROM shop."by_stats"', "has no index 'by_stats'; did you mean 'by-status'?"),
        ("SELECT * FROM shop.other", "has no index 'other'; the indexes are: by-status"),
    ],
)
def test_a_mistake_is_one_line(target: str, statement: str, message: str) -> None:
    assert message in mistake("sql", target, statement)


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    done = run("sql", tmp_path / "none.db", "SELECT * FROM shop")
    assert (done.returncode, done.stderr) == (
        2,
        f"tablewright: {tmp_path / 'none.db'}: no such file\n",
    )
    assert not (tmp_path / "none.db").exists()
    done = run("sql", ":memory:", "SELECT * FROM shop")
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", av(5)),
        ("'5'", av("5")),
        ("-1.5", {"N": "-1.5"}),
        ("text", av("text")),
        ("C#1", av("C#1")),
        ("it's", av("it's")),
        ("true", av(True)),
        ("[1, 'a']", av([1, "a"])),
        ("{'a': null}", av({"a": None})),
        ("<<1>>", av({1})),
        ("?", av("?")),
        ("", av("")),
        ("2026-01-01", av("2026-01-01")),
    ],
)
def test_a_parameter_is_a_literal_or_a_text(text: str, value: Json) -> None:
    assert read_literal(text) == value


def test_columns_that_do_not_fit_are_left_out() -> None:
    cells = {"a": ["1"], "wide": ["x" * 99], "b": ["2" * 10], "c": ["3"]}
    assert choose_columns(80, cells) == {"a": 1, "wide": 40, "b": 10, "c": 1}
    assert choose_columns(44, cells) == {"a": 1, "wide": 40}
    assert choose_columns(20, cells) == {"a": 1, "b": 10, "c": 1}
    assert choose_columns(10, {"wide": ["x" * 99]}) == {"wide": 10}


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (av("text"), "text"),
        (av("a\nb\x1b[31m"), "a\\nb\\x1b[31m"),
        (av(5), "5"),
        (av(b"hi"), "aGk="),
        (av(""), ""),
        (av(None), "null"),
        (av([1, "a"]), '[1, "a"]'),
        (av({"x", "y"}), '{"x", "y"}'),
    ],
)
def test_a_cell_shows_a_value(value: Json, cell: str) -> None:
    assert escape_controls(content(value)) == cell


def test_names_of_attributes_cannot_control_the_terminal() -> None:
    output = StringIO()
    long = {f"{number}\x1b": av("x" * 40) for number in range(3)}
    print_table(Console(file=output, width=80), [long])
    assert output.getvalue().splitlines()[0].rstrip() == "0\\x1b"
    assert output.getvalue().endswith("not shown: 1\\x1b, 2\\x1b (select them, or use --json)\n")


# -- shell


def script(file: Path, text: str, *options: str) -> tuple[int, str, str]:
    """Run the shell with this standard input."""
    result = CliRunner().invoke(all_commands.app, ["shell", str(file), *options], input=text)
    return result.exit_code, result.stdout, result.stderr


def test_the_shell_reads_statements_from_a_pipe(file: Path) -> None:
    code, out, err = script(
        file,
        "select sk\n  from shop -- a comment; still the same statement\n where pk = 'C#1'\n"
        "   and sk > 'O#0';\nUPDATE shop SET x = ';' WHERE pk = 'C#1' AND sk = 'O#1'; "
        "select x from shop where pk = 'C#1' and sk = 'O#1'",
        "--json",
    )
    assert (code, err.splitlines()) == (
        0,
        ["2 items, 0.5 units", "done, 2 units", "1 item, 0.5 units"],
    )
    assert [json.loads(line) for line in out.splitlines()] == [
        item(sk="O#1"),
        item(sk="O#2"),
        item(x=";"),
    ]


def test_the_commands_of_the_shell(file: Path) -> None:
    code, out, _ = script(
        file,
        ".tables;\n.schema shop\n.explain SELECT * FROM shop;\n.quit\nnever read",
    )
    assert (code, out) == (
        0,
        "shop\nshop: pk S, sk S\n  by-status (global, ALL): status S\nScan on shop\n",
    )
    assert ".tables" in script(file, ".help")[1]
    assert script(file, "help") == script(file, "HELP;") == script(file, ".help")
    assert script(file, "exit\nnever read") == (0, "", "")


def test_an_unknown_command_ends_a_script(file: Path) -> None:
    code, out, err = script(file, ".nonsense\n.tables")
    assert (code, out) == (1, "")
    assert err == "tablewright: unknown command .nonsense; .help lists the commands\n"


def test_schema_needs_a_table(file: Path) -> None:
    code, _, err = script(file, ".schema")
    assert code == 1
    assert err == "tablewright: .schema needs the name of a table; .tables lists them\n"


def test_a_failing_statement_ends_a_script(file: Path) -> None:
    delete = "DELETE FROM shop WHERE pk = 'C#1' AND sk = 'O#1'"
    code, out, err = script(file, f"SELECT nonsense;\n{delete};")
    assert (code, out) == (1, "")
    assert err.startswith("tablewright: ValidationException: ")
    code, _, err = script(file, f"SELECT * FROM shop;\n{delete};", "--no-scan")
    assert code == 1
    assert "--no-scan refuses it" in err
    assert len(run("sql", file, "SELECT * FROM shop", "--json").stdout.splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b;", (["a", "b"], "")),
        ("a", ([], "a")),
        ("a 'x;y' \"p;q\" /* ; */ -- ;\n; b", (["a 'x;y' \"p;q\" /* ; */ -- ;"], " b")),
        ("a 'x;", ([], "a 'x;")),
        ('a "x;', ([], 'a "x;')),
        ("a /* ;", ([], "a /* ;")),
        ("# ; b", (["#"], " b")),
        (";;", ([], "")),
    ],
)
def test_a_semicolon_ends_a_statement(text: str, expected: tuple[list[str], str]) -> None:
    assert split_statements(text) == expected


NAMES = Names(
    tables=lambda: ["shop", "stock", "my-table"],
    indexes=lambda table: {"shop": ["by-date", "status"]}.get(table, []),
    attributes=lambda table: {"shop": ["pk", "sk", "order"]}.get(table, []),
)


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("", "sel", ["select"]),
        ("", "SEL", ["SELECT"]),
        ("SELECT * ", "F", ["FALSE", "FROM"]),
        ("SELECT * FROM ", "s", ["shop", "stock"]),
        ("select * from ", "", ['"my-table"', "shop", "stock"]),
        ("INSERT INTO ", '"m', ['"my-table"']),
        ("UPDATE ", "st", ["stock"]),
        ("SELECT * FROM ", "shop.", ['shop."by-date"', "shop.status"]),
        ("SELECT * FROM ", '"shop"."b', ['"shop"."by-date"']),
        ("SELECT * FROM shop WHERE ", "p", ["pk"]),
        ("SELECT * FROM\nshop WHERE pk = 1 AND ", "s", ["sk", "select", "set", "set_add(",
                                                        "set_delete(", "size("]),
        ("SELECT * FROM shop WHERE ", "or", ['"order"', "or", "order"]),
        ("SELECT * FROM shop WHERE ", "be", ["between", "begins_with("]),
        ("", ".", [".help", ".quit"]),
        (".schema ", "sh", ["shop"]),
    ],
)  # fmt: skip
def test_completion(before: str, word: str, expected: list[str]) -> None:
    assert complete(before, word, NAMES, [".help", ".quit"]) == expected


@pytest.mark.parametrize("allow_scans", [True, False])
def test_completion_knows_the_attributes_of_some_items(file: Path, allow_scans: bool) -> None:
    with open_statements(str(file), allow_scans=allow_scans) as session:
        names = Names(session.list_tables, lambda table: [], session.attributes)
        found = complete("UPDATE shop SET ", "to", names)
        assert found == (["total"] if allow_scans else [])
        assert complete("UPDATE shop SET ", "sta", names) == ["status"]


def test_completion_survives_a_target_that_does_not_answer() -> None:
    def fails(*_: object) -> list[str]:
        raise ConnectionRefusedError

    assert complete("SELECT * FROM ", "s", Names(fails, fails, fails)) == []


class Terminal:
    """The shell in a terminal of its own."""

    def __init__(self, file: Path, state: Path) -> None:
        self.shown = b""
        self.master, slave = pty.openpty()
        environment = os.environ | {
            "XDG_STATE_HOME": str(state),
            "TERM": "dumb",
            "NO_COLOR": "1",
            "INPUTRC": os.devnull,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tablewright", "shell", str(file)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # so that ^C is a signal
        )
        os.close(slave)

    def send(self, text: str, until: str, seconds: float = 20) -> str:
        """Type a text; return what is shown up to another text, which must appear."""
        os.write(self.master, text.encode())
        while until.encode() not in self.shown:
            ready, _, _ = select.select([self.master], [], [], seconds)
            if not ready:
                raise TimeoutError(f"after {self.shown!r}, {until!r} did not appear")
            self.shown += os.read(self.master, 1000)
        before, found, self.shown = self.shown.partition(until.encode())
        return (before + found).decode()

    def interrupt(self, until: str) -> None:
        """Type Ctrl-C until a text appears.

        Python misses a signal that arrives just before it waits for the next character.
        """
        for _ in range(50):
            with suppress(TimeoutError):
                self.send("\x03", until, seconds=0.2)
                return

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.mark.slow
def test_the_shell_in_a_terminal(file: Path, tmp_path: Path) -> None:
    with Terminal(file, tmp_path / "state") as terminal:
        terminal.send("", "shop.db> ")
        terminal.send("SELECT nonsense\n", "...> ")
        terminal.interrupt("shop.db> ")  # drops the input
        shown = terminal.send("SELECT sk FROM sh\t WHERE pk = 'C#1' LIMIT 1;\n", "LIMIT at 1:")
        assert "FROM shop" in shown
        terminal.send("", "shop.db> ")
        terminal.send("SELECT sk FROM shop WHERE pk = 'C#1' AND sk = 'O#1';\n", "1 item, 0.5 units")
        terminal.send("", "shop.db> ")
        os.write(terminal.master, b"\x04")
        assert terminal.process.wait(timeout=20) == 0
    history = tmp_path / "state" / "tablewright" / "history"
    assert "AND sk = 'O#1';" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600
