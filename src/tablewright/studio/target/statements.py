"""Statements of PartiQL: what one will do, its items page by page, and what a write changes.

    plan(workspace, text)            the operation, its keys, its filter and its units
    read_page(workspace, text, …)    a page of items of a SELECT
    preview(workspace, text)         the item of a write, before and after it
    write(workspace, text, seen)     runs it, if the item is still what the preview showed

A statement is planned with the description of its table, so nothing is read for it. A write is
previewed on the overlay, as the plans of patterns are.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache, partial
from hashlib import sha256
from math import ceil
from typing import Any

import msgspec
from msgspec import Struct

from tablewright.capacity import read_units
from tablewright.engine.statements.explain import StatementPlan, plan_statement
from tablewright.engine.statements.prepared import prepare_statement
from tablewright.engine.tables.table import table_from_description
from tablewright.errors import (
    ConditionalCheckFailedException,
    DuplicateItemException,
    ResourceNotFoundException,
    TablewrightError,
    ValidationException,
)
from tablewright.hints import did_you_mean_or_list
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Parser, Template
from tablewright.model.pattern import AccessPattern
from tablewright.partiql import ExistsStatement
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.presentation.values import content
from tablewright.studio.workspace import Workspace
from tablewright.studio.writes.overlay import Touched
from tablewright.studio.writes.preview import Preview
from tablewright.studio.writes.preview import preview as preview_plan
from tablewright.table_description import TableDescription
from tablewright.values import Item

#: The items that a page reads; with a filter, most of them are not returned.
PAGE = 100
FILTERED_PAGE = 1000
#: A Scan of more bytes needs a confirmation.
CONFIRM_BYTES = 1024 * 1024


def plan(workspace: Workspace, text: str) -> StatementPlan:
    """Plan a statement. Raises what the statement would raise; nothing is read."""
    return plan_statement(text, None, partial(_describe, workspace))


def needs_confirmation(plan: StatementPlan) -> bool:
    """Return whether a statement reads all of something large."""
    return plan.explanation.is_scan and plan.size > CONFIRM_BYTES


def page_size(plan: StatementPlan) -> int:
    """Return the number of items that a page of a statement reads."""
    return PAGE if plan.explanation.filter is None else FILTERED_PAGE


def estimate_units(plan: StatementPlan) -> str:
    """Return an estimate of the units that a statement takes."""
    average = plan.size / plan.items if plan.items else 0.0
    match plan.explanation.operation:
        case "GetItem":
            count = max(len(plan.explanation.key_conditions), 1)
            return f"{count * read_units(average, consistent=False):g} read"
        case "Query":
            most = read_units(min(page_size(plan), plan.items) * average, consistent=False)
            return f"{f'0.5 to {most:,g}' if most > 0.5 else '0.5'} read for a page"
        case "Scan":
            return f"about {read_units(plan.size, consistent=False):,g} read for all pages"
        case _:
            each = max(ceil(average / 1024), 1)
            return f"about {each} write, and as many for each index row that changes"


def _describe(workspace: Workspace, table: str) -> TableDescription:
    found = workspace.describe(table)
    if found is None:
        names = list(dict.fromkeys([*workspace.maps, *workspace.table_names()]))
        hint = did_you_mean_or_list(table, names, "tables")
        raise ResourceNotFoundException(f"the target has no table {table!r}{hint}")
    return found


# --- reading ------------------------------------------------------------------------------------


class ResultPage(Struct, frozen=True):
    """A page of items of a SELECT."""

    items: list[Item]
    next_token: str | None
    units: float
    seconds: float


def read_page(workspace: Workspace, text: str, limit: int, token: str = "") -> ResultPage:
    """Read a page of a SELECT."""
    request: dict[str, Any] = {
        "Statement": text,
        "Limit": limit,
        "ReturnConsumedCapacity": "TOTAL",
    }
    if token:
        request["NextToken"] = token
    start = time.perf_counter()
    answer = workspace.send("ExecuteStatement", **request)
    return ResultPage(
        answer.get("Items", []),
        answer.get("NextToken"),
        answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0),
        time.perf_counter() - start,
    )


def read_pages(workspace: Workspace, text: str) -> Iterator[list[Item]]:
    """Yield all items of a SELECT, page by page."""
    token = ""
    while True:
        page = read_page(workspace, text, FILTERED_PAGE, token)
        yield page.items
        if page.next_token is None:
            return
        token = page.next_token


# --- writing ------------------------------------------------------------------------------------


class StatementPreview(Struct, frozen=True):
    """What a write would do."""

    found: Preview
    #: What the design would do in a write of its own, and the statement does not.
    warnings: tuple[str, ...] = ()

    @property
    def touched(self) -> Touched:
        """The item of the write."""
        (write,) = self.found.writes or self.found.refused
        return write.touched[0]

    @property
    def seen(self) -> str:
        """A hash of the item before the write."""
        return sha256(msgspec.json.encode(self.touched.before, order="deterministic")).hexdigest()


class ItemChanged(TablewrightError):
    """The item is not what the preview showed."""


class _RunStatement(Plan[None]):
    """Run a statement that writes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def _entities(self) -> tuple[EntityMap, ...]:
        return ()

    def _steps(self, context: Context) -> Steps[None]:
        yield Request("ExecuteStatement", {"Statement": self._text})


def preview(workspace: Workspace, text: str) -> StatementPreview:
    """Return what a write would do. Raises what the statement would raise, except a failed
    condition.
    """
    prepared = prepare_statement(text)
    if isinstance(prepared.statement, ExistsStatement):
        raise ValidationException("EXISTS is a condition of a transaction; it cannot run alone")
    if prepared.parsed.parameter_count:
        raise ValidationException("a statement of the console has no parameters: write the values")
    found = preview_plan(workspace.database(), _RunStatement(text))
    conditions = (ConditionalCheckFailedException, DuplicateItemException)
    if found.error is not None and not isinstance(found.error, conditions):
        raise found.error
    known = workspace.maps.get(prepared.table_name)
    warnings = [each for item in found.items for each in _warnings(known, item.before, item.after)]
    return StatementPreview(found, tuple(warnings))


def write(workspace: Workspace, text: str, seen: str) -> tuple[StatementPreview, float]:
    """Run a write and return what it did, and its units.

    Raises ItemChanged if its item is not what the preview showed.
    """
    found = preview(workspace, text)
    if found.seen != seen:
        raise ItemChanged("the item has changed since the preview; this is how it is now")
    answer = workspace.send("ExecuteStatement", Statement=text, ReturnConsumedCapacity="TOTAL")
    return found, answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0)


def _warnings(table: TableMap | None, before: Item | None, after: Item | None) -> Iterator[str]:
    """Yield what a write of the design would do, and the statement does not."""
    entity = None if table is None else table.identify(after or before or {}).stored
    if entity is None:
        return
    if after is not None:
        try:
            expected = entity.rekey(after)
        except (TablewrightError, ValueError) as error:
            yield f"{entity.name} cannot be decoded after this write: {error}"
        else:
            for name in sorted(expected.keys() | after.keys()):
                if expected.get(name) != after.get(name):
                    yield (
                        f"{name} is not updated: it would be {_shown(after, name)}, but the "
                        f"attributes of {entity.name} give {_shown(expected, name)}"
                    )
    if entity.uniques:
        yield f"the sentinels of the unique values of {entity.name} are not changed"
    if entity.histories:
        yield f"no event is added to the history of {entity.name}"
    if entity.version is not None and before is not None and after is not None:
        stored = entity.version.stored
        if before.get(stored) == after.get(stored):
            yield f"the version of {entity.name} is not increased"


def _shown(item: Item, name: str) -> str:
    return content(item[name]) if name in item else "missing"


def similar_patterns(workspace: Workspace, text: str) -> list[AccessPattern]:
    """Return the patterns that read with the key of a SELECT; none for another statement."""
    prepared = prepare_statement(text)
    known = workspace.maps.get(prepared.table_name)
    description = None if known is None else workspace.describe(prepared.table_name)
    if known is None or description is None or workspace.design is None or not prepared.is_read:
        return []
    plan = prepared.plan_select(table_from_description(description))
    try:
        values = prepared.bind(None)
    except TablewrightError:  # it has parameters
        return []
    tests = [
        (test.name, test.operator, content(values[test.operands[0]]))
        for test in plan.branches[0].key
    ]
    index = None if plan.source.index is None else plan.source.index.name
    entities = [entity for entity in known.entities if _fits(entity, index, tests)]
    return [
        pattern
        for pattern in workspace.design.patterns
        if pattern.shape.operation == plan.operation
        and pattern.shape.table == prepared.table_name
        and pattern.shape.index == index
        and any(entity in pattern.shape.targets for entity in entities)
    ]


def _fits(entity: EntityMap, index: str | None, tests: list[tuple[str, str, str]]) -> bool:
    """Return whether items of an entity can have a key with these values."""
    return any(
        all(
            name in key.templates and _can_be(key.templates[name], operator, text)
            for name, operator, text in tests
        )
        for key in (entity.primary, *entity.indexes)
        if tests and _index_name(key) == index
    )


def _index_name(key: KeyMap) -> str | None:
    return None if key.index is None else key.index.name


def _can_be(template: Template, operator: str, text: str) -> bool:
    if not template.is_text:
        return True
    if operator == "=":
        return _parser(template).texts(text) is not None
    literal = template.pieces[0] if isinstance(template.pieces[0], str) else ""
    return literal.startswith(text) or text.startswith(literal)


@cache
def _parser(template: Template) -> Parser:
    return Parser(template, any_spelling=True)
