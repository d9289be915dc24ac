"""The command that lists the access patterns of a design, and runs one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.cli.commands import add_command
from tablewright.cli.explain import as_members, print_requests, select_patterns
from tablewright.cli.grammar import (
    DesignName,
    Json,
    OptionalTarget,
    Yes,
    argument,
    flag,
    is_target,
    load_design,
    option,
)
from tablewright.cli.items import confirm
from tablewright.cli.report import exit_on_error, fail, say
from tablewright.presentation.printing import escape_controls, make_console, print_json, print_text
from tablewright.presentation.results import as_json, json_text
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from tablewright.database import Database
    from tablewright.errors import UnreadableItem
    from tablewright.plans import AccessPattern, Plan, Query
    from tablewright.verify import Design

MEMORY = ":memory:"
#: The size of a page, if the pattern declares none.
PAGE_SIZE = 100
#: Cursors must be valid in the next process, too. They need not be secret: who runs a pattern here
#: can read the table.
CURSOR_SECRET = "tablewright patterns"


@add_command()
def patterns(
    design: DesignName,
    target: OptionalTarget = None,
    pattern: Annotated[
        str | None,
        argument("PATTERN", "The pattern to run, with or without its module. Default: list all."),
    ] = None,
    arguments: list[str] | None = argument(
        "NAME=VALUE",
        "Its arguments; entities and lists as JSON. Arguments that accept None can be omitted.",
        default=None,
    ),
    table: str | None = option("The name of the table, if it differs from the design."),
    all_pages: bool = flag("Read all pages of a query.", "--all"),
    cursor: str | None = option("Continue where a page ended.", metavar="CURSOR"),
    yes: Yes = False,
    json: Json = False,
) -> None:
    """List the access patterns of a design, or run one.

    At a target, a pattern that writes shows its requests and asks before it runs. Exit code 1: a
    pattern that reads one entity or aggregate found none, or an item cannot be decoded.
    """
    where, pattern, given = split_words(design, target, pattern, arguments or [])
    loaded = load_design(design)
    found = select_patterns(loaded, design, pattern)
    if pattern is None:
        _list(found, json=json)
        if found and not json:
            say(f"Run one with `tablewright patterns {design} PATTERN NAME=VALUE...`")
        return
    if len(found) > 1:
        labels = ", ".join(each.label for each in found)
        fail(f"{design} has several patterns {pattern!r}; choose one: {labels}")
    with exit_on_error():
        plan = make_plan(found[0], given, all_pages=all_pages, cursor=cursor)
        with open_database(design, loaded, where, table) as (database, units):
            _confirm_writes(plan, where, yes=yes)
            _run(database, plan, units, all_pages=all_pages, json=json)


def split_words(
    design: str, target: str | None, pattern: str | None, arguments: list[str]
) -> tuple[str, str | None, list[str]]:
    """Return the target, the pattern and its arguments; the target can be left out."""
    if target is None:
        return MEMORY, None, []
    if not is_target(target):
        given = [*([] if pattern is None else [pattern]), *arguments]
        for word in given:
            if is_target(word) and "=" not in word:
                form = f"tablewright patterns {design} {word} {target}"
                fail(f"the target comes before the pattern: {form} …")
        if Path(target).is_file():
            fail(f"{target} is not a pattern; if it is a database file, write ./{target}")
        return MEMORY, target, given
    if pattern is None:
        fail(
            f"name the pattern to run at {target}: tablewright patterns {design} {target} PATTERN; "
            f"`tablewright patterns {design}` lists the patterns"
        )
    return target, pattern, arguments


def make_plan(
    pattern: AccessPattern, arguments: Sequence[str], *, all_pages: bool, cursor: str | None
) -> Plan[Any]:
    """Return the plan of a pattern with these arguments, at a cursor if one is given."""
    from tablewright.errors import InvalidValue
    from tablewright.model.pattern import plan_of, signature_of
    from tablewright.plan.inspection import has_page_size
    from tablewright.plans import Query

    texts: dict[str, str] = {}
    for given in arguments:
        name, separator, text = given.partition("=")
        if not separator:
            raise InvalidValue(f"{given!r}: write NAME=VALUE, as in {signature_of(pattern)}")
        if name in texts:
            raise InvalidValue(f"{name} has two values")
        texts[name] = text
    plan: Any = plan_of(pattern, texts)
    if all_pages and not isinstance(plan, Query):
        raise InvalidValue(f"--all: {pattern.name} is not a query with pages")
    if cursor is not None:
        if not hasattr(plan, "after"):
            raise InvalidValue(f"--cursor: {pattern.name} has no pages")
        plan = plan.after(cursor)
    if isinstance(plan, Query) and not has_page_size(plan):
        plan = plan.page_size(PAGE_SIZE)
    return plan  # type: ignore[no-any-return]


@contextmanager
def open_database(
    name: str, design: Design, target: str, table: str | None
) -> Iterator[tuple[Database, list[float]]]:
    """Open the tables of a design, and the units of each request that is made.

    In memory they have the sample data of the design. Elsewhere nothing is created.
    """
    from tablewright import Engine, connect
    from tablewright.errors import TableNotFound
    from tablewright.model.databases.connecting import CURSOR_SECRET as VARIABLE
    from tablewright.transfer import open_source
    from tablewright.transport import Local
    from tablewright.verify import seed

    units: list[float] = []
    options: dict[str, Any] = {
        "cursor_secret": os.environ.get(VARIABLE) or CURSOR_SECRET,
        "observe": lambda event: units.append(event.units),
        "table_name": table,
    }
    if target == MEMORY:
        with Engine(MEMORY) as engine:
            if design.sample is not None:
                seed(design, engine)
            database = connect(engine, *design.tables, **options)
            units.clear()  # without those of the comparison of the tables
            yield database, units
        return
    with open_source(target) as transport:
        opened: Any = transport.engine if isinstance(transport, Local) else transport
        try:
            database = connect(opened, *design.tables, create=False, **options)
        except TableNotFound as error:
            missing = str(error).partition(";")[0]  # without the hint for programs
            fail(
                f"{target}: {missing}; give its name with --table, or create it: "
                f"`tablewright create-tables {name} {target}`"
            )
        units.clear()
        yield database, units


def _list(found: Sequence[AccessPattern], *, json: bool) -> None:
    from tablewright.model.pattern import signature_of

    if json:
        print_json([as_members(each) | {"signature": signature_of(each)} for each in found])
        return
    console = make_console()
    for each in found:
        shape = each.shape
        where = f" on {shape.index}" if shape.index else ""
        print_text(console, signature_of(each), "    ", style="bold")
        print_text(console, f"    {shape.operation}{where}", "    ")


def _confirm_writes(plan: Plan[Any], target: str, *, yes: bool) -> None:
    """Show the requests of a plan that writes, and ask; not if nothing is kept."""
    from tablewright import explain
    from tablewright.plan.inspection import name_of

    shape = explain(plan)
    if not shape.is_write or yes:
        return
    if target == MEMORY:
        say("in memory, on the sample data of the design; nothing is kept")
        return
    shown = partial(print_requests, make_console(), shape)
    confirm(f"{name_of(plan)} writes to {target}", shown)


def _run(
    database: Database, plan: Plan[Any], units: list[float], *, all_pages: bool, json: bool
) -> None:
    """Run a plan and print its result, then on standard error what it took."""
    from tablewright import Page, Query
    from tablewright.errors import UnreadableItem
    from tablewright.plan.inspection import name_of
    from tablewright.plans import Load, LoadFound, Single, Then
    from tablewright.presentation.terminal import print_result

    if isinstance(plan, Query):
        found = _Found(database, plan, all_pages=all_pages)
        count = _print_rows(found, plan, json=json)
        say(f"{plural(count, 'item')}, {plural(sum(units), 'unit')}")
        for problem in found.reported:
            say(f"warning: {problem}")
        for error in found.unreadable:
            _note_unreadable(error)
        _note_cursor(found.cursor, "Read all with --all, or continue with")
        if found.unreadable:
            raise typer.Exit(1)
        return
    try:
        result = database.run(plan)
    except UnreadableItem as error:
        _note_unreadable(error)
        raise typer.Exit(1) from None
    if result is None and isinstance(plan, Single | Then | Load | LoadFound):
        say(f"tablewright: {name_of(plan)} found nothing")
        raise typer.Exit(1)
    if json:
        print_json([as_json(result)])
    else:
        print_result(make_console(), result)
    say(plural(sum(units), "unit"))
    for member in getattr(result, "__dict__", {}).values():
        if isinstance(member, Page):
            _note_cursor(member.next_cursor, "Continue with")


class _Found:
    """The results of a query, on one page or on all, also behind items that cannot be decoded."""

    def __init__(self, database: Database, query: Query[Any], *, all_pages: bool) -> None:
        self._database = database
        self._query = query
        self._all_pages = all_pages
        #: The items that end a page, because they cannot be decoded.
        self.unreadable: list[UnreadableItem] = []
        #: The items with a type of no entity.
        self.reported: list[UnreadableItem] = []
        self.cursor: str | None = None

    def __iter__(self) -> Iterator[Any]:
        from tablewright.errors import UnreadableItem

        query = self._query
        while True:
            try:
                page = self._database.run(query)
            except UnreadableItem as error:
                self.unreadable.append(error)
                self.cursor = error.cursor
                yield from error.results
            else:
                self.reported += page.unreadable
                self.cursor = page.next_cursor
                yield from page
            if self.cursor is None or not self._all_pages:
                return
            query = query.after(self.cursor)


def _print_rows(rows: Iterable[Any], plan: Plan[Any], *, json: bool) -> int:
    """Print the results of a query, and return their number."""
    from tablewright.presentation.terminal import print_rows

    count = 0
    if json:
        for row in rows:
            print_json([as_json(row)])
            count += 1
        return count
    found = list(rows)
    columns = [column.name for column in getattr(plan, "_columns", ())]
    print_rows(make_console(), found, columns)
    return len(found)


def _note_unreadable(error: UnreadableItem) -> None:
    """Print an item that cannot be decoded, and why."""
    say(f"tablewright: {error}")
    say(f"    {escape_controls(json_text(error.item))}")


def _note_cursor(cursor: str | None, how: str) -> None:
    if cursor is not None:
        say(f"There are more. {how} --cursor {cursor}")
