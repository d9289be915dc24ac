"""Run: run the checks of a design on a database, and compare what each gives with scans.

After each check, the whole table is compared with its entities: the keys of every item, the
unique values, and the items in each index. Each table and each index is scanned once per check;
what has not changed since the last one is not compared again.

A result that is not the expected one is shown with what differs:

    the result differs (- expected, + returned):
       Note(
         note_id='1',
      -  text='hello',
      +  text='goodbye',
       )

Entities, aggregates and lists are shown with one value on a line, so that the differing values
stand out. Lists with different members, or in a different order, are shown with one result on a
line: an entity by its key, unless another result has the same key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from operator import is_not
from typing import Any

from msgspec import Struct

from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.model.pattern import AccessPattern, explain
from tablewright.plan.explanation import all_conditions
from tablewright.plan.facts import WholeScan
from tablewright.plan.inspection import writes_of
from tablewright.plan.plan import Plan
from tablewright.plan.reads.page import Page
from tablewright.plan.shape import Shape
from tablewright.plan.writes.put import EntityWrite
from tablewright.plan.writes.several import Transaction
from tablewright.plan.writes.update import Update
from tablewright.verify.checks import Check, Raises
from tablewright.verify.contents import Contents, Scanner, table_problem
from tablewright.verify.design import Design, describe_failure
from tablewright.verify.seeding import load_sample, refuse_items
from tablewright.verify.trace import Recorder, TracedCheck, checks_of, run_check


class Result(Struct, frozen=True):
    """The result of one check: one line of the report."""

    design: str
    check: str
    #: Why the check failed; empty if it passed.
    problem: str
    pattern: str = ""
    operation: str = ""
    index: str = ""
    condition: str = ""
    returned: int = 0
    read: int = 0
    units: float = 0.0
    requests: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    #: The pattern with its module, as in `AccessPattern.label`; empty for other plans.
    label: str = ""
    #: The reason of a declared scan; empty if the plan does not declare one.
    scan: str = ""

    @property
    def ok(self) -> bool:
        return not self.problem


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
    recorder = Recorder((through or database).transport)
    run = _Run(design, database.through(recorder), recorder, scan)
    scan.hold()
    for check in checks_of(design, scan):
        if isinstance(check, Check):
            yield run.result(check)
        else:
            yield Result(design.name, "checks()", check)


def uncovered(design: Design, results: Iterable[Result]) -> list[AccessPattern]:
    """Return the patterns of a design that no check has run."""
    run = {result.label for result in results}
    return [found for found in design.patterns if found.label not in run]


class _Run(Struct):
    """One run of the checks, which knows what it has compared."""

    design: Design
    database: Database
    recorder: Recorder
    scan: Scanner
    #: The contents of each table and its indexes that were compared last, and what is wrong.
    compared: dict[TableMap, tuple[list[Contents], str]] = {}

    def result(self, check: Check) -> Result:
        """Run a check and return its result."""
        plan: object = check.plan  # a design may be untyped
        if not isinstance(plan, Plan):
            problem = f"it has {plan!r} where its plan should be"
            return Result(self.design.name, check.name, problem)
        try:
            return self._compare(check)
        except Exception as error:  # in the design's code, or in a damaged table
            return Result(self.design.name, check.name, describe_failure(error))

    def _compare(self, check: Check) -> Result:
        before = self.scan.everything() if isinstance(check.expect, Raises) else None
        traced = run_check(check, self.database, self.recorder)
        self.scan.hold()
        problem = _result_problem(check, traced.answer)
        if before is not None and not problem and self.scan.everything() != before:
            problem = "the expected error was raised, but the table has changed"
        for table in self.database.table_names:
            problem = problem or self._table_problem(table)
        problem = problem or _missing_entity_problem(check.plan, traced.answer, self.scan)
        shape = explain(check.plan)
        reason = _declared_scan(shape)
        if not reason and any(each.operation == "Scan" for each in traced.requests):
            problem = problem or "the pattern scans the table, and does not declare it"
        return _result(self.design, traced, shape, reason, problem)

    def _table_problem(self, table: TableMap) -> str:
        """Return what is wrong in a table or its indexes; "" if nothing is."""
        places = [self.scan.contents(table, index) for index in (None, *table.indexes)]
        last, problem = self.compared.get(table, ([], ""))
        if not last or any(map(is_not, last, places)):
            whole, *indexes = places
            problem = table_problem(table, whole, indexes)
            self.compared[table] = places, problem
        return problem


def _result(design: Design, traced: TracedCheck, shape: Shape, reason: str, problem: str) -> Result:
    reads, writes = traced.units(reads=True), traced.units(reads=False)
    return Result(
        design=design.name,
        check=traced.check.name,
        pattern=traced.label.rpartition(".")[2],
        operation=shape.operation,
        index=shape.index or "",
        condition=all_conditions(shape),
        returned=traced.returned,
        read=traced.read,
        units=reads + writes,
        read_units=reads,
        write_units=writes,
        requests=len(traced.requests),
        problem=problem,
        label=traced.label,
        scan=reason,
    )


def _declared_scan(shape: Shape) -> str:
    """Return the reason of the scan that a plan declares; "" if it declares none."""
    if any(isinstance(key, WholeScan) for key in shape.keys):
        return shape.condition
    return next(filter(None, map(_declared_scan, shape.steps)), "")


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


def _missing_entity_problem(plan: Plan[Any], answer: Any, scan: Scanner) -> str:
    """Check that a scan finds every entity that the plan wrote."""
    if isinstance(answer, Exception):
        return ""
    results = zip(writes_of(plan), answer, strict=True) if isinstance(plan, Transaction) else ()
    for write, entity in results or [(plan, answer)]:
        written = isinstance(write, (EntityWrite, Update)) and hasattr(type(entity), "__entity__")
        if written and entity not in scan(type(entity)):
            return f"a scan does not find {entity!r}"
    return ""


# -- differences -----------------------------------------------------------------------------------

#: The number of equal lines that are shown around each difference.
CONTEXT = 2
#: The number of lines after which a difference is cut.
MAX_LINES = 40


def describe_difference(expected: Any, returned: Any, *, unordered: bool = False) -> str:
    """Return how two results differ, as text; "" if they are equal.

    With `unordered`, the order of lists does not matter, also in aggregates.
    """
    if _plain(returned) == _plain(expected):
        return ""
    reordered = is_reordered(expected, returned)
    if reordered and unordered:
        return ""
    title, are_lists = "the result differs", _is_list(expected) and _is_list(returned)
    if reordered:
        title = "the same results in another order"
    elif are_lists and len(expected) != len(returned):
        title = f"{len(returned)} results, not {len(expected)}"
    else:
        are_lists = False
    pair = _short_lines(expected, returned) if are_lists else map(_whole, (expected, returned))
    return "\n".join([f"{title} (- expected, + returned):", *_diff(*pair)])


def is_reordered(expected: Any, returned: Any) -> bool:
    """Return whether two results are equal if the order of lists does not count."""
    if _is_list(expected) and _is_list(returned):
        remaining = list(returned)
        for value in expected:
            match = next((n for n, one in enumerate(remaining) if is_reordered(value, one)), None)
            if match is None:
                return False
            del remaining[match]
        return not remaining
    if isinstance(expected, tuple) and isinstance(returned, tuple):
        return len(expected) == len(returned) and all(map(is_reordered, expected, returned))
    if hasattr(type(expected), "__aggregate__") and type(expected) is type(returned):
        mine, theirs = vars(expected), vars(returned)
        return all(is_reordered(mine[name], theirs[name]) for name in mine)
    return bool(expected == returned)


def _plain(result: Any) -> Any:
    return list(result) if isinstance(result, Page) else result


def _diff(expected: list[str], returned: list[str]) -> list[str]:
    diff = unified_diff(expected, returned, n=CONTEXT, lineterm="")
    lines = ["    …" if line.startswith("@@") else f"  {line}" for line in diff]
    del lines[:3]  # two headers, and the mark of the first part
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"    … and {len(lines) - MAX_LINES} more lines"]
    return lines


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, Page))


def _whole(value: Any) -> list[str]:
    """Return a value on several lines: one for each member of entities, aggregates and lists."""
    return list(_lines(value, "", ""))


def _short_lines(expected: Any, returned: Any) -> list[list[str]]:
    """Return two lists with a result on each line: its key, if all results have different keys."""
    results = [*expected, *returned]
    is_enough = len({*map(_key_text, results)}) == len({*map(repr, results)})
    return [list(map(_key_text if is_enough else repr, each)) for each in (expected, returned)]


def _key_text(value: Any) -> str:
    """Return an entity with the attributes of its key; anything else in full."""
    entity = getattr(type(value), "__entity__", None)
    if entity is None:
        return repr(value)
    names = dict.fromkeys(part.attribute for part in entity.primary.parameters)
    return f"{type(value).__name__}({', '.join(f'{n}={vars(value)[n]!r}' for n in names)})"


def _lines(value: Any, name: str, indent: str) -> Iterator[str]:
    if hasattr(type(value), "__entity__") or hasattr(type(value), "__aggregate__"):
        opening, closing = f"{type(value).__name__}(", ")"
        members = [(f"{each}=", member) for each, member in vars(value).items()]
    elif isinstance(value, (list, tuple, Page)) and value:
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        members = [("", member) for member in value]
    else:
        yield f"{indent}{name}{value!r}"
        return
    yield f"{indent}{name}{opening}"
    for each, member in members:
        yield from _lines(member, each, indent + "  ")
    yield f"{indent}{closing}"
