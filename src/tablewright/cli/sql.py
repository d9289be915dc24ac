"""The command that runs one PartiQL statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.cli.commands import STATEMENTS, add_command
from tablewright.cli.failures import fail
from tablewright.cli.filters import read_literal
from tablewright.cli.options import argument, flag, option
from tablewright.cli.sessions import Json, Target
from tablewright.cli.statements import StatementSession, open_statements
from tablewright.presentation.terminal import note, print_json, print_table
from tablewright.presentation.values import count_items, count_units

if TYPE_CHECKING:
    from tablewright.values import Item, Value

NoScan = Annotated[
    bool, typer.Option("--no-scan", help="Refuse a SELECT that reads a whole table or index.")
]


@add_command(STATEMENTS)
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
    limit: int = option("The maximum number of items to print; 0 means all.", default=1000, min=0),
) -> None:
    """Run a PartiQL statement (DynamoDB's SQL).

    Prints the items as a table that fits the terminal. A SELECT that reads a whole table or index
    prints a warning first.
    """
    values = [read_literal(text) for text in parameter or ()]
    with open_statements(target, allow_scans=not no_scan) as session:
        if explain:
            typer.echo(str(session.explain(statement, values or None)))
        else:
            _check_count(statement, len(values))
            run_and_print(session, statement, values, limit=limit or None, json=json)


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
    from rich.console import Console

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
    print_table(Console(), items, session.key_names)
    more = "; there are more, see --limit" if is_cut else ""
    is_read = prepare_statement(statement).is_read
    done = count_items(count) if is_read or count else "done"
    note(f"{done}, {count_units(session.units)}{more}")
