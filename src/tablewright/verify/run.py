"""Run: run and measure the checks of a design on a database.

After each check, the whole table is compared with its entities: the keys of every item, the
unique values, and the items in each index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from tablewright.errors import DesignLoadError, TableNotEmpty
from tablewright.mapping.record_key import is_record
from tablewright.mapping.table import TableMap
from tablewright.model.database import Database
from tablewright.model.pattern import AccessPattern
from tablewright.plan.events import consumed_units
from tablewright.plan.explanation import all_conditions
from tablewright.plan.facts import Everything
from tablewright.plan.plan import Plan
from tablewright.plan.reads.page import Page
from tablewright.plan.reads.query import Query
from tablewright.plan.shape import READS, Shape
from tablewright.plan.writes.entry import create
from tablewright.plan.writes.put import EntityWrite
from tablewright.plan.writes.side_items import sentinel
from tablewright.plan.writes.transaction import Transaction
from tablewright.plan.writes.update import Update
from tablewright.transport import Response, Transport
from tablewright.values import Item, sort_key
from tablewright.verify.checks import Check, Raises
from tablewright.verify.design import Design
from tablewright.verify.difference import describe_difference
from tablewright.verify.failure import describe_failure

E = TypeVar("E")

#: The write time of sample entities without an `updated_at()` attribute.
DEFAULT_WRITE_TIME = datetime(2026, 1, 1, tzinfo=UTC)


class Result(Struct, frozen=True):
    """The result of one check: one line of the report."""

    design: str
    check: str
    pattern: str
    operation: str
    index: str
    condition: str
    returned: int
    read: int
    units: float
    ok: bool
    #: Why the check failed; empty if it passed.
    problem: str = ""
    requests: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    #: The pattern with its module, as in `AccessPattern.label`; empty for other plans.
    label: str = ""
    #: The reason of a declared scan; empty if the plan does not declare one.
    scan: str = ""


class Meter:
    """A transport that adds up the requests, the items read and the consumed capacity."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.reset()

    def reset(self) -> None:
        self.read_units = 0.0
        self.write_units = 0.0
        self.read = 0
        self.operations: list[str] = []

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        self.operations.append(operation)
        response = self.transport.send(operation, {**request, "ReturnConsumedCapacity": "TOTAL"})
        decoded = msgspec.json.decode(response.body)
        if operation in READS:
            self.read_units += consumed_units(response.body)
        else:
            self.write_units += consumed_units(response.body)
        self.read += count_items(decoded)
        return response

    def close(self) -> None:
        """Do nothing: the owner closes the transport."""


def count_items(answer: dict[str, Any]) -> int:
    """Count the items that a request has read."""
    responses = answer.get("Responses", [])
    if isinstance(responses, dict):  # of BatchGetItem: items by table
        return sum(map(len, responses.values()))
    if responses:  # of TransactGetItems: one for each key
        return sum("Item" in response for response in responses)
    return int(answer.get("ScannedCount", "Item" in answer))


def verify(
    design: Design, database: Database, *, through: Database | None = None
) -> Iterator[Result]:
    """Load the design's sample data and run its checks, one after the other.

    Yields nothing for a design without `sample` or `checks`. Raises TableNotEmpty before it writes
    anything if a table contains items. `through` is the database that runs the plans of the checks,
    if it is another one than that which stores the sample data and scans the tables: for example,
    one with a policy.
    """
    if design.sample is None or design.checks is None:
        return
    scan = Scanner(database)
    refuse_items(
        scan,
        "verify writes and deletes items, so it runs on empty tables only; use ':memory:' or a new "
        "file",
    )
    load_sample(design, database)
    meter = Meter((through or database)._transport)
    measured = Database(meter, database._context, database._tables)
    for check in _checks(design, scan):
        if isinstance(check, Check):
            yield _run_check(design, check, measured, meter, scan)
        else:
            yield _failed(design, "checks()", check)


def refuse_items(scan: Scanner, fix: str) -> None:
    """Raise TableNotEmpty if a table contains items."""
    for table, name in scan.database._context.names.items():
        if not scan.is_empty(table):
            raise TableNotEmpty(f"the table {name} is not empty: {fix}")


def uncovered(design: Design, results: Iterable[Result]) -> list[AccessPattern]:
    """Return the patterns of a design that no check has run."""
    run = {result.label for result in results}
    return [found for found in design.patterns if found.label not in run]


def _checks(design: Design, scan: Scanner) -> Iterator[Check | str]:
    """Yield the checks of a design; at its end, perhaps, why it has no more."""
    assert design.checks is not None
    try:
        yield from design.checks(scan)
    except Exception as error:
        yield f"it failed, and ran no further checks: {describe_failure(error)}"


def _failed(design: Design, check: str, problem: str) -> Result:
    """Return the result of a check that could not be run."""
    return Result(
        design=design.name,
        check=check,
        pattern="",
        operation="",
        index="",
        condition="",
        returned=0,
        read=0,
        units=0.0,
        ok=False,
        problem=problem,
    )


def load_sample(design: Design, database: Database) -> None:
    """Store a design's sample data in its tables, each entity with its own `updated_at()` time.

    Raises DesignLoadError if `sample` fails, or if an entity cannot be stored.
    """
    if design.sample is None:
        return
    try:
        for entity in design.sample():
            updated = type(entity).__entity__.updated_at
            moment = DEFAULT_WRITE_TIME if updated is None else vars(entity)[updated.name]
            context = msgspec.structs.replace(database._context, clock=partial(_constant, moment))
            Database(database._transport, context, database._tables).run(create(entity))
    except Exception as error:
        raise DesignLoadError(
            f"{design.name}: the sample data cannot be stored: {describe_failure(error)}"
        ) from error


def _constant(moment: datetime) -> datetime:
    return moment


class Scanner:
    """The stored entities and items, read with scans that the meter does not count."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __call__(self, kind: type[E], /) -> list[E]:
        entity = kind.__entity__  # type: ignore[attr-defined]
        items = self.items(entity.table)
        return [
            entity.decode(item) for item in items if entity.includes(entity.table.entity_of(item))
        ]

    def items(self, table: TableMap, index: str | None = None) -> list[Item]:
        """Return every item of a table or an index, in the order of the table's keys."""
        body: dict[str, Any] = {"TableName": self.database._context.name_of(table)}
        if index is None:
            body["ConsistentRead"] = True
        else:
            body["IndexName"] = index
        found: list[Item] = []
        while True:
            answer = msgspec.json.decode(self.database._transport.send("Scan", body).body)
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return sorted(found, key=lambda item: _sort_position(table, item))
            body["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def is_empty(self, table: TableMap) -> bool:
        """Return whether a table has no items but the index record; reads at most two."""
        name = self.database._context.name_of(table)
        body = {"TableName": name, "Limit": 2, "ConsistentRead": True}
        items = msgspec.json.decode(self.database._transport.send("Scan", body).body)["Items"]
        return all(is_record(table.key(item).values()) for item in items)

    def everything(self) -> dict[str, list[Item]]:
        """Return the items of every table."""
        return {table.name: self.items(table) for table in self.database._context.names}


def _sort_position(table: TableMap, item: Item) -> list[Any]:
    """Return a value that sorts items by their primary key."""
    keys = table.key(item).values()
    return [sort_key(tag, content) for key in keys for tag, content in key.items()]


def _run_check(
    design: Design, check: Check, database: Database, meter: Meter, scan: Scanner
) -> Result:
    plan: object = check.plan  # a design may be untyped
    if not isinstance(plan, Plan):
        return _failed(design, check.name, f"it has {plan!r} where its plan should be")
    try:
        return _measure(design, check, database, meter, scan)
    except Exception as error:  # in the design's code, or in a damaged table
        return _failed(design, check.name, describe_failure(error))


def _measure(
    design: Design, check: Check, database: Database, meter: Meter, scan: Scanner
) -> Result:
    before = scan.everything() if isinstance(check.expect, Raises) else None
    meter.reset()
    answer: Any
    try:
        answer = _execute(database, check)
    except Exception as error:
        answer = error
    problem = _result_problem(check, answer)
    if before is not None and not problem and scan.everything() != before:
        problem = "the expected error was raised, but the table has changed"
    for table in database._context.names:
        problem = problem or _key_problem(table, scan) or _index_problem(table, scan)
    problem = problem or _missing_entity_problem(check.plan, answer, scan)
    shape = check.plan._shape()
    reason = _declared_scan(shape)
    if "Scan" in meter.operations and not reason:
        problem = problem or "the pattern scans the table, and does not declare it"
    return Result(
        design=design.name,
        check=check.name,
        pattern=check.plan._pattern.rpartition(".")[2],
        operation=shape.operation,
        index=shape.index or "",
        condition=all_conditions(shape),
        returned=count_entities(answer),
        read=meter.read,
        units=meter.read_units + meter.write_units,
        read_units=meter.read_units,
        write_units=meter.write_units,
        requests=len(meter.operations),
        ok=not problem,
        problem=problem,
        label=check.plan._pattern,
        scan=reason,
    )


def _declared_scan(shape: Shape) -> str:
    """Return the reason of the scan that a plan declares; "" if it declares none."""
    keys = [key for request in shape.requests for key in request.keys]
    return next((key.reason for key in keys if isinstance(key, Everything)), "")


def _execute(database: Database, check: Check) -> Any:
    """Run the plan; for a query, read as many pages as the check asks for."""
    answer: Any = database.run(check.plan)
    results = answer
    for _ in range(check.pages - 1):
        assert isinstance(check.plan, Query)
        answer = database.run(check.plan.after(answer.next_cursor))
        results = [*results, *answer]
    return results


# Each of these functions returns what is wrong, or an empty string.


def _result_problem(check: Check, answer: Any) -> str:
    """Compare the result, or the error, with the expected one."""
    if isinstance(check.expect, Raises):
        if type(answer) is check.expect.error:
            return ""
        given = describe_failure(answer) if isinstance(answer, Exception) else f"{answer!r}"
        return f"expected {check.expect.error.__name__}, got {given}"
    if isinstance(answer, Exception):
        return describe_failure(answer)
    try:
        expected = check.expect() if callable(check.expect) else check.expect
    except Exception as error:
        return f"the expected result cannot be computed: {describe_failure(error)}"
    if expected is None and isinstance(check.plan, Transaction):
        return ""  # only what it has stored is checked
    return describe_difference(expected, answer, unordered=check.unordered)


def _key_problem(table: TableMap, scan: Scanner) -> str:
    """Compare the keys of each item, and all sentinels, with those computed from its values."""
    items = scan.items(table)
    expected: list[Item] = []
    for item in items:
        entity = table.entity_of(item)
        if entity is not None:
            if entity.rekey(item) != item:
                return f"the item {table.key(item)} has keys that do not match its attributes"
            values = entity.values(item)
            sentinels = [sentinel(entity, unique, values) for unique in entity.uniques]
            expected += [each for each in sentinels if each is not None]
    found = [item for item in items if table.entity_of(item) is None]
    if sorted(map(_canonical_text, found)) != sorted(map(_canonical_text, expected)):
        return (
            f"the sentinels of unique values are wrong: expected {len(expected)} for the stored "
            f"entities, found {len(found)}"
        )
    return ""


def _canonical_text(item: Item) -> str:
    """Return an item as text that does not depend on the order of its attributes."""
    return str(sorted(item.items()))


def _missing_entity_problem(plan: Plan[Any], answer: Any, scan: Scanner) -> str:
    """Check that a scan finds every entity that the plan wrote."""
    if isinstance(answer, Exception):
        return ""
    results = zip(plan._writes, answer, strict=True) if isinstance(plan, Transaction) else ()
    for write, entity in results or [(plan, answer)]:
        written = isinstance(write, (EntityWrite, Update)) and hasattr(type(entity), "__entity__")
        if written and entity not in scan(type(entity)):
            return f"a scan does not find {entity!r}"
    return ""


def _index_problem(table: TableMap, scan: Scanner) -> str:
    """Check that each index contains exactly the items that have its key attributes."""
    items = scan.items(table)
    for index in table.indexes.values():
        expected = [item for item in items if all(name in item for name in index.attributes)]
        found = scan.items(table, index.name)
        positions = [[_sort_position(table, item) for item in part] for part in (expected, found)]
        if positions[0] != positions[1]:
            return (
                f"the index {index.name} does not match the table: expected {len(expected)} items "
                f"with its key attributes, found {len(found)}"
            )
    return ""


def count_entities(answer: Any) -> int:
    """Count the entities in a result."""
    if answer is None or isinstance(answer, Exception):
        return 0
    if isinstance(answer, (Page, list, tuple)):
        return sum(map(count_entities, answer))
    if hasattr(type(answer), "__aggregate__"):
        return sum(map(count_entities, vars(answer).values()))
    return 1
