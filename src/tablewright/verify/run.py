"""Run: a design's rows on a target, each measured and compared.

Every row runs its plan, is asked what the answer must be, and is followed by a look at the
indexes: each must hold exactly the items that have its keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from tablewright.errors import NotEmpty
from tablewright.mapping.table import TableMap
from tablewright.model.database import Database
from tablewright.plan.events import units_of
from tablewright.plan.keeping import sentinel
from tablewright.plan.page import Page
from tablewright.plan.plan import Plan
from tablewright.plan.put import Whole, put
from tablewright.plan.query import Query
from tablewright.plan.shape import Shape
from tablewright.plan.update import Update
from tablewright.plan.write import Transaction
from tablewright.transport import Transport
from tablewright.values import Item, sort_key
from tablewright.verify.design import Design
from tablewright.verify.rows import Refused, Row

E = TypeVar("E")

#: When a sample was written that does not say so itself.
WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)


class Result(Struct, frozen=True):
    """What became of a row: one line of the report."""

    design: str
    row: str
    pattern: str
    operation: str
    index: str
    condition: str
    returned: int
    read: int
    units: float
    ok: bool
    #: Why it is not.
    problem: str = ""
    requests: int = 0
    read_units: float = 0.0
    write_units: float = 0.0


#: Operations that consume read units; the others consume write units.
READS = frozenset({"GetItem", "BatchGetItem", "Query", "Scan"})


class Meter:
    """A transport that asks for consumed capacity, and adds up what each plan used."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.reset()

    def reset(self) -> None:
        self.read_units = 0.0
        self.write_units = 0.0
        self.read = 0
        self.operations: list[str] = []

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        self.operations.append(operation)
        answer = self.transport.send(operation, {**request, "ReturnConsumedCapacity": "TOTAL"})
        told = msgspec.json.decode(answer)
        if operation in READS:
            self.read_units += units_of(answer)
        else:
            self.write_units += units_of(answer)
        self.read += told.get("ScannedCount", 1 if "Item" in told else 0)
        self.read += sum(map(len, told.get("Responses", {}).values()))
        return answer

    def close(self) -> None:
        """The transport is its owner's to close."""


def verify(design: Design, database: Database) -> Iterator[Result]:
    """Load the design's sample, and run its rows one after the other."""
    if design.sample is None or design.rows is None:
        return
    scan = Scanner(database)
    for table in database._context.names:
        if scan.items(table):
            raise NotEmpty(
                f"the table {table.name} holds items already; verify needs an empty one, where "
                "nothing can be mixed up or lost"
            )
    load_sample(design, database)
    meter = Meter(database._transport)
    measured = Database(meter, database._context, database._tables)
    for row in design.rows(scan):
        yield _checked(design, row, measured, meter, scan)


def load_sample(design: Design, database: Database) -> None:
    """Put a design's sample into its tables; each entity as of the time that it says."""
    if design.sample is None:
        return
    for entity in design.sample():
        updated = type(entity).__entity__.updated_at
        moment = WRITTEN if updated is None else vars(entity)[updated.name]
        context = msgspec.structs.replace(database._context, clock=partial(_at, moment))
        Database(database._transport, context, database._tables).run(put(entity))


def _at(moment: datetime) -> datetime:
    return moment


class Scanner:
    """What is stored, by plain scans."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __call__(self, kind: type[E], /) -> list[E]:
        entity = kind.__entity__  # type: ignore[attr-defined]
        items = self.items(entity.table)
        return [entity.decode(item) for item in items if entity.table.entity_of(item) is entity]

    def items(self, table: TableMap, index: str | None = None) -> list[Item]:
        """Every item of a table or an index, in the order of its keys."""
        body: dict[str, Any] = {"TableName": self.database._context.name_of(table)}
        if index is not None:
            body["IndexName"] = index
        found: list[Item] = []
        while True:
            answer = msgspec.json.decode(self.database._transport.send("Scan", body))
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return sorted(found, key=lambda item: _place(table, item))
            body["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def everything(self) -> dict[str, list[Item]]:
        return {table.name: self.items(table) for table in self.database._context.names}


def _place(table: TableMap, item: Item) -> list[Any]:
    """What an item sorts by."""
    keys = table.key(item).values()
    return [sort_key(tag, content) for key in keys for tag, content in key.items()]


def _checked(design: Design, row: Row, database: Database, meter: Meter, scan: Scanner) -> Result:
    before = scan.everything() if isinstance(row.expect, Refused) else None
    meter.reset()
    answer: Any
    try:
        answer = _run(database, row)
    except Exception as error:
        answer = error
    used = (meter.read, meter.read_units, meter.write_units, list(meter.operations))
    problem = _compare(row, answer)
    if before is not None and not problem and scan.everything() != before:
        problem = "it was refused, and something has changed"
    for table in database._context.names:
        problem = problem or _keys_agree(table, scan) or _indexes_agree(table, scan)
    problem = problem or _is_stored(row.plan, answer, scan)
    if "Scan" in used[3]:
        problem = problem or "it scans"
    shape = row.plan._shape()
    return Result(
        design=design.name,
        row=row.name,
        pattern=row.plan._pattern.rpartition(".")[2],
        operation=shape.operation,
        index=shape.index or "",
        condition=_condition(shape),
        returned=_size(answer),
        read=used[0],
        units=used[1] + used[2],
        read_units=used[1],
        write_units=used[2],
        requests=len(used[3]),
        ok=not problem,
        problem=problem,
    )


def _run(database: Database, row: Row) -> Any:
    answer: Any = database.run(row.plan)
    results = answer
    for _ in range(row.pages - 1):
        assert isinstance(row.plan, Query)
        answer = database.run(row.plan.after(answer.next_cursor))
        results = [*results, *answer]
    return results


def _compare(row: Row, answer: Any) -> str:
    """Why an answer is not what was expected; nothing if it is."""
    if isinstance(row.expect, Refused):
        if type(answer) is row.expect.error:
            return ""
        return f"{row.expect.error.__name__} was expected, and this came: {answer!r}"
    if isinstance(answer, Exception):
        return f"{type(answer).__name__}: {answer}"
    try:
        expected = row.expect() if callable(row.expect) else row.expect
    except Exception as error:
        return f"what it must give cannot be told: {type(error).__name__}: {error}"
    given = list(answer) if isinstance(answer, Page) else answer
    return "" if given == expected else f"a scan gives {expected!r}, the pattern {given!r}"


def _keys_agree(table: TableMap, scan: Scanner) -> str:
    """Why an item's keys, or the sentinels, are not what its values give; nothing if they are."""
    items = scan.items(table)
    wanted: list[Item] = []
    for item in items:
        entity = table.entity_of(item)
        if entity is not None:
            if entity.rekey(item) != item:
                return f"the keys of {table.key(item)} are not those of its values"
            values = entity.values(item)
            sentinels = [sentinel(entity, unique, values) for unique in entity.uniques]
            wanted += [each for each in sentinels if each is not None]
    kept = [item for item in items if table.entity_of(item) is None]
    if sorted(map(_ordered, kept)) != sorted(map(_ordered, wanted)):
        return f"{len(kept)} sentinels are stored, and {len(wanted)} unique values are taken"
    return ""


def _ordered(item: Item) -> str:
    """An item as text, whatever order its attributes came in."""
    return str(sorted(item.items()))


def _is_stored(plan: Plan[Any], answer: Any, scan: Scanner) -> str:
    """Why what a write gives, or writes, is not what a scan finds; nothing if it is."""
    writes = plan._writes if isinstance(plan, Transaction) else (plan,)
    if isinstance(answer, Exception):
        return ""
    for write in writes:
        entity = write._instance if isinstance(write, Whole) else answer
        written = isinstance(write, (Whole, Update)) and hasattr(type(entity), "__entity__")
        if written and entity not in scan(type(entity)):
            return f"a scan does not find {entity!r}"
    return ""


def _indexes_agree(table: TableMap, scan: Scanner) -> str:
    """Why an index is not what the table says; nothing if it is."""
    items = scan.items(table)
    for index in table.indexes.values():
        names = [name for name in index.attributes if name is not None]
        there = [item for item in items if all(name in item for name in names)]
        held = scan.items(table, index.name)
        if [_place(table, item) for item in held] != [_place(table, item) for item in there]:
            return f"the index {index.name} holds {len(held)} items, and {len(there)} have its keys"
    return ""


def _condition(shape: Shape) -> str:
    if shape.condition or not shape.steps:
        return shape.condition
    return "; ".join(dict.fromkeys(step.condition for step in shape.steps))


def _size(answer: Any) -> int:
    """How many entities an answer holds."""
    if answer is None or isinstance(answer, Exception):
        return 0
    if isinstance(answer, (Page, list, tuple)):
        return sum(map(_size, answer))
    if hasattr(type(answer), "__aggregate__"):
        return sum(map(_size, vars(answer).values()))
    return 1
