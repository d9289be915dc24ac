"""The commands `patterns`, to list the access patterns of a design and run one, and `explain`.

`explain` shows the requests of access patterns, and what they consume.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.cli import report
from tablewright.cli.commands import add_command, print_document
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
from tablewright.cli.items.writes import confirm
from tablewright.cli.report import exit_on_error, fail, say
from tablewright.errors import TablewrightError
from tablewright.hints import did_you_mean
from tablewright.presentation.printing import (
    escape_controls,
    make_console,
    print_fields,
    print_json,
    print_noted_table,
    print_text,
)
from tablewright.presentation.results import as_json, json_text
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from rich.console import Console

    from tablewright.cost import PatternUnits
    from tablewright.database import Database
    from tablewright.errors import UnreadableItem
    from tablewright.observe import RequestEvent
    from tablewright.plans import AccessPattern, Plan, Query, Shape
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
        with open_database(design, loaded, where, table) as (database, events):
            _confirm_writes(plan, where, yes=yes)
            _run(database, plan, events, all_pages=all_pages, json=json)


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
    name: str,
    design: Design,
    target: str,
    table: str | None,
    events: list[RequestEvent] | None = None,
) -> Iterator[tuple[Database, list[RequestEvent]]]:
    """Open the tables of a design; the list `events` receives each request that is made.

    In memory they have the sample data of the design. Elsewhere nothing is created.
    """
    from tablewright import Engine, connect
    from tablewright.errors import TableNotFound
    from tablewright.model.databases.connecting import CURSOR_SECRET as VARIABLE
    from tablewright.transfer import open_source
    from tablewright.transport.targets import Local
    from tablewright.verify import seed

    events = [] if events is None else events
    options: dict[str, Any] = {
        "cursor_secret": os.environ.get(VARIABLE) or CURSOR_SECRET,
        "observe": events.append,
        "table_name": table,
    }
    if target == MEMORY:
        with Engine(MEMORY) as engine:
            if design.sample is not None:
                seed(design, engine)
            database = connect(engine, *design.tables, **options)
            events.clear()  # without those of the comparison of the tables
            yield database, events
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
        events.clear()
        yield database, events


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
    database: Database, plan: Plan[Any], events: list[RequestEvent], *, all_pages: bool, json: bool
) -> None:
    """Run a plan and print its result, then on standard error what it took."""
    from tablewright import Page, Query
    from tablewright.errors import UnreadableItem
    from tablewright.plan.inspection import name_of
    from tablewright.plans import OptionalRead
    from tablewright.presentation.terminal import print_result

    if isinstance(plan, Query):
        found = _Found(database, plan, all_pages=all_pages)
        count = _print_rows(found, plan, json=json)
        say(f"{plural(count, 'item')}, {plural(_units(events), 'unit')}")
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
    if result is None and isinstance(plan, OptionalRead):
        say(f"tablewright: {name_of(plan)} found nothing")
        raise typer.Exit(1)
    if json:
        print_json([as_json(result)])
    else:
        print_result(make_console(), result)
    say(plural(_units(events), "unit"))
    for member in getattr(result, "__dict__", {}).values():
        if isinstance(member, Page):
            _note_cursor(member.next_cursor, "Continue with")


def _units(events: Iterable[RequestEvent]) -> float:
    return sum(event.units for event in events)


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


@add_command()
def explain(
    design: DesignName,
    pattern: str | None = argument(
        "PATTERN",
        "The name of a pattern, with or without its module. Default: list all.",
        default=None,
    ),
    details: bool = flag("Explain every pattern in full, not in a list."),
    json: bool = flag("Print everything as JSON."),
) -> None:
    """Show the requests of access patterns.

    For each request: its key condition, what it sets and requires, and its capacity units (an
    estimate for items of a typical size, and the maximum). For each pattern: the average units of
    its calls in the checks of the design. Nothing is sent to a target: the checks run in memory.
    """
    from tablewright.cost import measure_units
    from tablewright.publish.cost_text import unit_cell, unit_notes

    loaded = load_design(design)
    patterns = select_patterns(loaded, design, pattern)
    units = measure_units(loaded)
    if json:
        members = [as_members(found) | {"calls": _calls(units[found.label])} for found in patterns]
        print_document(members)
    elif details or pattern is not None:
        console = make_console()
        for found in patterns:
            _print_pattern(console, found, units[found.label])
    elif patterns:
        rows: list[Sequence[str]] = [("pattern", "request", "index", "read", "write")]
        for found in patterns:
            shape, used = found.shape, units[found.label]
            cells = [unit_cell(used, amount) for amount in (used.read_units, used.writes)]
            rows.append((found.name, shape.operation, shape.index or "", *cells))
        print_noted_table(rows, 2, unit_notes([units[found.label] for found in patterns]))


def as_members(found: AccessPattern) -> dict[str, Any]:
    """Return what `--json` prints of a pattern."""
    from tablewright.plan.explanation import members as members_of

    members = members_of(found.shape)
    del members["steps"]
    return {
        "pattern": found.name,
        "label": found.label,
        "location": found.location,
        "doc": found.doc,
        "parameters": found.parameters,
        **members,
        "requests": list(map(members_of, found.shape.requests)),
    }


def select_patterns(design: Design, module: str, name: str | None) -> Sequence[AccessPattern]:
    """Return the patterns with this name, or all; several, if modules of the design share it.

    Exit if there is none, or if one is no longer possible, because of an entity that was declared
    after it.
    """
    found = design.patterns
    if name is not None:
        found = [each for each in found if f".{each.label}".endswith(f".{name}")]
        if not found:
            hint = did_you_mean(name, [each.name for each in design.patterns])
            known = f"; `tablewright explain {module}` lists its {len(design.patterns)} patterns"
            fail(f"{module} has no pattern {name!r}{hint or known}")
    elif not found:
        say(f"{module} declares no access patterns; decorate a function with @access_pattern")
    for each in found:
        try:
            _ = each.shape
        except TablewrightError as error:
            fail(f"pattern {each.name}: {error}")
    return found


def _calls(units: PatternUnits) -> dict[str, float]:
    """Return what `--json` prints of the calls in the checks: their number and mean units."""
    if units.is_estimate:
        return {"count": 0}
    return {"count": units.calls, "read_units": units.read_units, "write_units": units.writes}


def _print_pattern(console: Console, found: AccessPattern, units: PatternUnits) -> None:
    shape = found.shape
    print_text(console, f"{found.name}({', '.join(found.parameters)})", style="bold")
    about = [("about", found.doc.partition("\n")[0]), ("in", report.relative(found.location))]
    print_fields(console, [field for field in about if field[1]], "  ")
    print_requests(console, shape, "  ")
    if len(shape.requests) > 1 or not units.is_estimate:
        print_fields(console, [("in all", units.show(shape))], "  ")
    console.print()


def print_requests(console: Console, shape: Shape, indent: str = "") -> None:
    """Print the requests of a pattern, each with its actions if it is a transaction."""
    for number, request in enumerate(shape.requests, 1):
        _print_request(console, request, f"{indent}{number}. ", f"{indent}   ")
        for action in request.steps:
            _print_request(console, action, f"{indent}   - ", f"{indent}     ")


def _print_request(console: Console, request: Shape, mark: str, indent: str) -> None:
    """Print a request of a pattern, or an action of a transaction, with all that is known of it."""
    what = f"{mark}{request.operation} {request.entity} on {request.table}"
    print_text(console, what, indent)
    fields = [
        ("index", request.index or ""),
        ("key", request.condition),
        ("order", request.order),
        ("page", "" if request.is_write else request.page),
        ("filter", "" if request.is_write else request.filter),
        ("sets", "\n".join(request.sets)),
        ("requires", "\n".join(request.requires)),
    ]
    if request.steps:  # its actions say it
        fields = []
    fields.append(("units", request.units))
    print_fields(console, [field for field in fields if field[1]], indent)
