"""Commands that read items: get, query, scan.

Invariant: a read is bounded. `query` and `scan` read at most `--limit` items, 100 if it is not
given, and then say so on standard error, with the cursor to continue at; `--all` reads everything,
and so does `--count`, which prints the number of items only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.cli.commands import add_command
from tablewright.cli.conditions import (
    filter_expression,
    key_expression,
    parse_conditions,
    parse_key,
    require_key,
)
from tablewright.cli.grammar import (
    Json,
    TableName,
    Target,
    argument,
    flag,
    load_design,
    max_items,
    option,
)
from tablewright.cli.report import fail, say
from tablewright.cli.sessions import TableSession, open_session
from tablewright.hints import did_you_mean_or_list
from tablewright.presentation.terminal import EntityView, StoredView, View
from tablewright.presentation.values import plural

if TYPE_CHECKING:
    from tablewright.mapping.table import TableMap
    from tablewright.values import Item

MAX_ITEMS = 100
NOT_A_CURSOR = "this is not a cursor; pass the text after --cursor unchanged"

Key = Annotated[list[str], argument("NAME=VALUE", "The key: `PK=CUST#C1 SK=ORDER#1`.")]
_ATTRIBUTES = option("Print only these attributes, separated by commas.", metavar="NAMES")
_DESIGN = option(
    "Show the items as entities of this design: a bundled design, a module name or the path of a "
    "Python file.",
    metavar="DESIGN",
)
_FILTER = option(
    "Print only items that match, such as 'total >= 100', 'note exists' or 'name begins-with A'; "
    "may be repeated. The filter does not reduce the items read.",
    "--filter",
    metavar="CONDITION",
)
_LIMIT: int | None = option(f"The maximum number of items to read; {MAX_ITEMS} without it.")
_CURSOR = option("Continue where a command stopped.", metavar="CURSOR")
_ALL = flag("Read all items, in as many pages as needed.", "--all")
_COUNT = flag("Print only the number of items: of all, unless --limit is given.", "--count")


@add_command()
def get(
    target: Target,
    table: TableName,
    key: Key,
    design: str | None = _DESIGN,
    attributes: str | None = _ATTRIBUTES,
    json: Json = False,
) -> None:
    """Print the item with a key.

    Exit code 1: there is no such item.
    """
    entities = find_entities(design, table)
    with open_session(target) as session:
        item = find_item(session, table, key)
        view = make_view(session, table, None, entities, attributes)
        if json:
            view.print_json([item])
        else:
            view.print_item(item)


@add_command()
def query(
    target: Target,
    table: TableName,
    condition: list[str] = argument(
        "CONDITION",
        "`PK=VALUE`, and for the sort key one of `SK=VALUE`, `'SK<VALUE'`, `'SK<=VALUE'`, "
        "`'SK>VALUE'`, `'SK>=VALUE'`, `SK between LOW HIGH`, `SK begins-with PREFIX`.",
    ),
    index: str | None = option("Query this index, not the table."),
    desc: bool = flag("Print the highest sort key first."),
    filters: list[str] | None = _FILTER,
    limit: int | None = _LIMIT,
    cursor: str | None = _CURSOR,
    all_items: bool = _ALL,
    count: bool = _COUNT,
    design: str | None = _DESIGN,
    attributes: str | None = _ATTRIBUTES,
    json: Json = False,
) -> None:
    """Print items of one partition, in the order of the sort key."""
    maximum = _maximum(limit, is_all=all_items, is_count=count)
    entities = find_entities(design, table)
    with open_session(target) as session:
        conditions = parse_conditions(condition, session.describe(table).require_index(index).keys)
        request = {
            "TableName": table,
            **({"IndexName": index} if index else {}),
            **({"ScanIndexForward": False} if desc else {}),
        }
        add_expressions(request, key_expression(conditions), filters)
        pages = ReadPages(session, "Query", request, maximum, cursor)
        if count:
            print_count(pages)
            return
        print_pages(pages, make_view(session, table, index, entities, attributes), json=json)


@add_command()
def scan(
    target: Target,
    table: TableName,
    index: str | None = option("Scan this index, not the table."),
    filters: list[str] | None = _FILTER,
    limit: int | None = _LIMIT,
    cursor: str | None = _CURSOR,
    all_items: bool = _ALL,
    count: bool = _COUNT,
    design: str | None = _DESIGN,
    attributes: str | None = _ATTRIBUTES,
    json: Json = False,
) -> None:
    """Print the items of a table: the first 100, unless --limit or --all is given.

    The index record, which `backfill` and `connect(…, update=True)` write, is left out.
    """
    from tablewright.mapping.item_kind import is_record

    maximum = _maximum(limit, is_all=all_items, is_count=count)
    entities = find_entities(design, table)
    with open_session(target) as session:
        session.describe(table).require_index(index)
        key = session.describe(table).keys.names
        request = {"TableName": table, **({"IndexName": index} if index else {})}
        add_expressions(request, {}, filters)
        pages = ReadPages(
            *(session, "Scan", request, maximum, cursor),
            leave_out=lambda item: is_record(item[name] for name in key),
        )
        if count:
            print_count(pages)
            return
        print_pages(pages, make_view(session, table, index, entities, attributes), json=json)
        if pages.left_out:
            say("1 item in which Tablewright keeps the version of the design is not shown.")


def _maximum(limit: int | None, *, is_all: bool, is_count: bool) -> int | None:
    """Return how many items to read; None for all. A count reads all, unless it has a limit."""
    is_all = is_all or (is_count and limit is None)
    return max_items(MAX_ITEMS if limit is None else limit, is_all=is_all)


def find_item(session: TableSession, table: str, key: Sequence[str]) -> Item:
    """Return the item with a key; exit with code 1 if there is none."""
    wanted = parse_key(key, session.describe(table).keys)
    request = {"TableName": table, "Key": wanted, "ConsistentRead": True}
    found: Item | None = session.send("GetItem", request).get("Item")
    if found is None:
        say(f"tablewright: {table} has no item with the key {' '.join(key)}")
        raise typer.Exit(1)
    return found


def find_entities(design: str | None, table: str) -> TableMap | None:
    """Return the declaration of a table in a design; None without a design.

    The only table of a design may have another name at the target.
    """
    if design is None:
        return None
    tables = {each.__table__.name: each.__table__ for each in load_design(design).tables}
    if table in tables:
        return tables[table]
    if len(tables) > 1:
        hint = did_you_mean_or_list(table, tables, "tables")
        fail(f"{design} has no table {table!r}{hint}")
    return next(iter(tables.values()))


def make_view(
    session: TableSession,
    table: str,
    index: str | None = None,
    entities: TableMap | None = None,
    attributes: str | None = None,
) -> View:
    """Return the view for the items of a table, as entities if they are given."""
    description = session.describe(table)
    keys = [*description.require_index(index).keys, *description.keys]
    if entities is not None:
        require_key(description, entities)
    names = list(dict.fromkeys(each.name for each in keys))
    chosen = [name.strip() for name in (attributes or "").split(",") if name.strip()]
    others = [name for name in sorted(description.key_types) if name not in names]
    stored = StoredView(names, chosen, others)
    return stored if entities is None else EntityView(entities, stored, chosen)


def add_expressions(
    request: dict[str, Any], condition: dict[str, Any], filters: list[str] | None
) -> None:
    """Add a key condition and filters to a request; they share its names and values."""
    for members in (condition, filter_expression(filters or ())):
        for name, value in members.items():
            request[name] = request.get(name, {}) | value if isinstance(value, dict) else value


class ReadPages:
    """The pages of a query or a scan; after the last one, what was read and where it ended."""

    def __init__(
        self,
        session: TableSession,
        operation: str,
        request: dict[str, Any],
        maximum: int | None,
        cursor: str | None,
        leave_out: Callable[[Item], bool] = lambda _: False,
    ) -> None:
        self._session = session
        self._operation = operation
        self._request = request | {"ReturnConsumedCapacity": "TOTAL"}
        self._maximum = maximum
        if cursor is not None:
            from tablewright.presentation.keys import read_key_token

            self._request["ExclusiveStartKey"] = read_key_token(cursor, NOT_A_CURSOR)
        self._leave_out = leave_out
        self.found = 0
        self.left_out = 0
        self.read = 0
        self.units = 0.0
        #: Where to continue; None if everything was read.
        self.cursor: str | None = None

    def __iter__(self) -> Iterator[list[Item]]:
        while True:
            if self._maximum is not None:
                self._request["Limit"] = self._maximum - self.read
            page = self._session.send(self._operation, self._request)
            items = [item for item in page["Items"] if not self._leave_out(item)]
            self.found += len(items)
            self.left_out += page["Count"] - len(items)
            self.read += page["ScannedCount"]
            self.units += page.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
            yield items
            last = page.get("LastEvaluatedKey")
            if last is None:
                return
            if self.read == self._maximum:
                from tablewright.presentation.keys import key_token

                self.cursor = key_token(last)
                return
            self._request["ExclusiveStartKey"] = last


def print_pages(pages: ReadPages, view: View, *, json: bool) -> None:
    """Print the items of pages, then on standard error how many there were."""
    items: list[Item] = []
    for page in pages:
        if json:
            view.print_json(page)
        else:
            items += page
    if not json:
        view.print_items(items)
    read = f" of {pages.read:,} read" if pages.read > pages.found else ""
    say(f"{plural(pages.found, 'item')}{read}, {plural(pages.units, 'unit')}")
    _say_more(pages)


def print_count(pages: ReadPages) -> None:
    """Print the number of items of pages, then on standard error what it took."""
    for _ in pages:
        pass
    typer.echo(pages.found)
    say(f"{plural(pages.read, 'item')} read, {plural(pages.units, 'unit')}")
    _say_more(pages)


def _say_more(pages: ReadPages) -> None:
    if pages.cursor is not None:
        say(
            f"There are more: stopped after {plural(pages.read, 'item')}, see --limit. Read all "
            f"with --all,\nor continue with --cursor {pages.cursor}"
        )
