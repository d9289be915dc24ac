"""Commands for PartiQL: `sql` runs one statement, `shell` is a prompt for statements.

    shop.db> SELECT * FROM orders
        ...> WHERE pk = 'C#1';

In the shell, a statement ends with a semicolon and can have several lines; a line that begins with
a dot is a command of the shell. Ctrl-C drops the input, or stops the statement; Ctrl-D ends the
shell. Without a terminal, statements are read from standard input; the first one that fails is the
last one, and the exit code is 1.

Editing, history and completion are those of `readline`, which Python has; where it is missing, the
prompt works without them. The history is a file that only its owner can read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.cli.commands import add_command
from tablewright.cli.conditions import read_literal
from tablewright.cli.grammar import Json, Target, argument, flag, max_items, option
from tablewright.cli.report import describe_failure, fail, say
from tablewright.cli.sessions import StatementSession, open_statements
from tablewright.errors import InvalidValue, TablewrightError
from tablewright.presentation.printing import make_console, print_json, print_table
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from tablewright.schema import KeySchema
    from tablewright.values import Item, Value

HELP = """\
SELECT ...;  INSERT ...;  UPDATE ...;  DELETE ...;    run a statement
.tables                  list the tables
.schema TABLE            show the keys and indexes of a table
.explain STATEMENT       show what a statement would do
.help                    show this text; help does, too
.quit                    end; exit and Ctrl-D do, too
"""
MAX_HISTORY = 1000
#: The number of items that a statement prints, unless --limit or --all is given.
MAX_ITEMS = 1000

NoScan = Annotated[bool, flag("Refuse a SELECT that reads a whole table or index.", "--no-scan")]


@add_command()
def sql(
    target: Target,
    statement: str = argument("STATEMENT", "A SELECT, INSERT, UPDATE or DELETE."),
    parameter: list[str] | None = option(
        "The value of the next ? in the statement: a literal such as 5, 'text' or [1, 2]; "
        "anything else is a string.",
        "--parameter",
        "-p",
        metavar="VALUE",
    ),
    json: Json = False,
    no_scan: NoScan = False,
    explain: bool = flag("Show what the statement would do, and stop."),
    limit: int = option("The maximum number of items to print.", default=MAX_ITEMS),
    all_items: bool = flag("Print all items.", "--all"),
) -> None:
    """Run a PartiQL statement (DynamoDB's SQL).

    Prints the items as a table that fits the terminal. A SELECT that reads a whole table or index
    prints a warning first.
    """
    maximum = max_items(limit, is_all=all_items)
    values = [read_literal(text) for text in parameter or ()]
    with open_statements(target, allow_scans=not no_scan) as session:
        if explain:
            typer.echo(str(session.plan(statement, values or None).explanation))
        else:
            _check_count(statement, len(values))
            run_and_print(session, statement, values, limit=maximum, json=json)


def _check_count(statement: str, given: int) -> None:
    """Require a parameter for each question mark; DynamoDB does not name the numbers."""
    from tablewright.engine.statements.prepared import prepare_statement

    needed = prepare_statement(statement).parsed.parameter_count
    if given != needed:
        fail(f"the statement has {needed} ?, and -p is given {given} times; give it for each ?")


def run_and_print(
    session: StatementSession,
    statement: str,
    parameters: list[Value],
    *,
    limit: int | None,
    json: bool,
) -> None:
    """Run a statement and print its items, then their number on standard error."""
    from tablewright.engine.statements.prepared import prepare_statement

    items: list[Item] = []
    count = 0
    is_cut = False
    for page in session.run(statement, parameters):
        kept = page if limit is None else page[: limit - count]
        is_cut = len(kept) < len(page)
        count += len(kept)
        if json:
            print_json(kept)
        else:
            items += kept
        if is_cut:
            break
    print_table(make_console(), items, session.key_names)
    more = "; there are more, `tablewright sql --all` prints all" if is_cut else ""
    is_read = prepare_statement(statement).is_read
    done = plural(count, "item") if is_read or count else "done"
    say(f"{done}, {plural(session.units, 'unit')}{more}")


@add_command()
def shell(target: Target, json: Json = False, no_scan: NoScan = False) -> None:
    """Open a prompt for PartiQL statements.

    Statements end with a semicolon. Tab completes keywords, tables, indexes and attributes; `.help`
    lists the other commands. Without a terminal, reads statements from standard input.
    """
    with open_statements(target, allow_scans=not no_scan) as session:
        prompt = Shell(session, json=json)
        if sys.stdin.isatty():
            _interact(prompt, Path(target).name or target)
        else:
            _run_script(prompt)


class Shell:
    """The input so far, and the commands."""

    def __init__(self, session: StatementSession, *, json: bool = False) -> None:
        self.session = session
        self.input = ""  # a statement that has not ended yet
        self._json = json
        self.commands: dict[str, Callable[[str], None]] = {
            ".explain": self._explain,
            ".help": self._help,
            ".quit": self._quit,
            ".schema": self._schema,
            ".tables": self._tables,
        }

    @property
    def is_continued(self) -> bool:
        return bool(self.input.strip())

    def feed(self, line: str) -> None:
        """Process a line; raise EOFError to end the shell."""
        from tablewright.partiql.tokens import split_statements

        if not self.is_continued and line.lstrip().startswith("."):
            self._run_command(line.strip())
            return
        if not self.is_continued and line.strip("; ").lower() in ("exit", "quit"):
            raise EOFError
        if not self.is_continued and line.strip("; ").lower() in ("help", "?"):
            self._help("")
            return
        statements, self.input = split_statements(f"{self.input}{line}\n")
        for statement in statements:
            self._run(statement)

    def finish(self) -> None:
        """Run a last statement without a semicolon."""
        statement, self.input = self.input.strip(), ""
        if statement:
            self._run(statement)

    def _run(self, statement: str) -> None:
        run_and_print(self.session, statement, [], limit=MAX_ITEMS, json=self._json)

    def _run_command(self, line: str) -> None:
        name, _, rest = line.rstrip("; ").partition(" ")
        command = self.commands.get(name)
        if command is None:
            raise InvalidValue(f"unknown command {name}; .help lists the commands")
        command(rest.strip())

    def _explain(self, statement: str) -> None:
        typer.echo(str(self.session.plan(statement).explanation))

    def _help(self, rest: str) -> None:
        typer.echo(HELP, nl=False)

    def _quit(self, rest: str) -> None:
        raise EOFError

    def _schema(self, table: str) -> None:
        if not table:
            raise InvalidValue(".schema needs the name of a table; .tables lists them")
        description = self.session.describe(table.strip('"'))
        typer.echo(f"{description.name}: {_format_keys(description.keys)}")
        for index in description.indexes:
            keys = _format_keys(index.keys)
            typer.echo(f"  {index.name} ({index.kind}, {index.projection.type}): {keys}")

    def _tables(self, rest: str) -> None:
        for name in self.session.list_tables():
            typer.echo(name)


def _format_keys(keys: KeySchema) -> str:
    """Return the attributes of a key: `pk S, sk N`."""
    return ", ".join(f"{key.name} {key.type}" for key in keys)


def _run_script(prompt: Shell) -> None:
    try:
        for line in sys.stdin:
            prompt.feed(line.rstrip("\n"))
        prompt.finish()
    except EOFError:  # .quit
        return
    except TablewrightError as error:
        say(f"tablewright: {describe_failure(error)}")
        raise typer.Exit(1) from None


def _interact(prompt: Shell, name: str) -> None:
    save_history = _enable_editing(prompt)
    say(".help lists the commands; statements end with ;")
    try:
        while True:
            try:
                shown = f"{'...':>{len(name)}}> " if prompt.is_continued else f"{name}> "
                prompt.feed(input(shown))
            except KeyboardInterrupt:
                prompt.input = ""
                typer.echo()
            except TablewrightError as error:
                say(f"tablewright: {describe_failure(error)}")
    except EOFError:
        typer.echo()
    finally:
        save_history()


def _enable_editing(prompt: Shell) -> Callable[[], None]:
    """Enable completion and history; return the function that saves the history."""
    try:
        import readline
    except ImportError:  # not every Python has it
        return lambda: None
    from tablewright.partiql.completion import DELIMITERS, Names, complete

    session = prompt.session
    names = Names(session.list_tables, session.index_names, session.attributes)
    found: list[str] = []

    def offer(word: str, number: int) -> str | None:
        if number == 0:
            before = prompt.input + readline.get_line_buffer()[: readline.get_begidx()]
            found[:] = complete(before, word, names, prompt.commands)
        return found[number] if number < len(found) else None

    readline.set_completer(offer)
    readline.set_completer_delims(DELIMITERS)
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    history = history_file()
    with suppress(OSError):
        readline.read_history_file(history)
    readline.set_history_length(MAX_HISTORY)

    def save() -> None:
        with suppress(OSError):
            history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            mask = os.umask(0o077)
            try:
                readline.write_history_file(history)
            finally:
                os.umask(mask)
            history.chmod(0o600)

    return save


def history_file() -> Path:
    """Return the path of the history: in the user's directory for state."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "tablewright" / "history"
