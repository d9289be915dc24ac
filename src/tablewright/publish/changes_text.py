"""Texts of changes: what differs between two versions of a design, for people and for programs.

The terminal and JSON share what is said here. This module must not know terminals or files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tablewright.design_changes import DesignChange, Need, Reading
from tablewright.evolve import AssessedChange, ChangeCost, Coexistence, DesignDiff, Rename
from tablewright.presentation.values import plural, size_text

_TOGETHER = {
    Coexistence.YES: "old and new programs can run together",
    Coexistence.AFTER: "old and new programs can run together after the table update",
    Coexistence.BEFORE: "old and new programs can run together until the table update",
    Coexistence.UNTIL_AWAIT: "old and new programs can run together until the step "
    "`await-programs` of a migration",
    Coexistence.NO: "old and new programs cannot run together",
}
#: What programs of the new version cannot do before stored items have what it needs.
REFUSED = {
    Need.BACKFILL: "reads of new index keys raise IndexNotReady",
    Need.RESERVATION: "uses of new unique values raise UniqueNotReady",
}
_STRUCTURE_ONLY = {
    "template": "a template has only the structure of tables",
    "model": "a model of NoSQL Workbench has only the structure of tables",
    "tables": "a table does not store them",
}


def title(change: DesignChange) -> str:
    """Return what has changed in a table or an entity: `status: the attribute is renamed`."""
    return f"{change.part}: {change.title}" if change.part else change.title


def fields(assessed: AssessedChange, currency: str) -> list[tuple[str, str]]:
    """Return what follows from a change, as names and texts."""
    change = assessed.change
    found = [("needs", need_text(change)), ("together", together_text(assessed))]
    found.append(("undo", change.kind.undo.value))
    if assessed.cost:
        found.append(("costs", cost_text(assessed.cost, currency)))
    return found


def need_text(change: DesignChange) -> str:
    """Return what a change needs, and what the new version cannot do without it."""
    need = change.need.value
    match change.new_reads:
        case Reading.MISSES if change.need is Need.RESERVATION:
            without = "does not know the stored values"
        case Reading.MISSES:
            without = "misses stored items"
        case Reading.FAILS if change.need in (Need.TABLE_UPDATE, Need.ANOTHER_TABLE):
            without = "cannot connect"
        case Reading.FAILS:
            without = "cannot read stored items"
        case Reading.OTHER_VALUES:
            without = "reads other values"
        case _:
            return need
    is_nothing = change.need is Need.NOTHING
    return need if is_nothing else f"{need}; without it, the new version {without}"


#: Why programs of the new version can run beside those of the old one.
_FILLED = "fill= gives items what they lack"
_MOVED = "new programs write the former key until then"


def together_text(assessed: AssessedChange) -> str:
    """Return whether old and new programs can run at the same time, and what breaks."""
    breaks = assessed.change.kind.breaks
    match assessed.together:
        case Coexistence.YES:
            return f"yes, but {breaks}" if breaks else "yes"
        case Coexistence.AFTER:
            return "yes, after the table update"
        case Coexistence.BEFORE:
            return f"yes, until the table update{f'; {breaks}' if breaks else ''}"
        case Coexistence.UNTIL_AWAIT:
            need = assessed.change.need
            how = f"until its end, {REFUSED[need]}" if need in REFUSED else _FILLED
            how = _MOVED if need is Need.MOVES else how
            return (
                f"yes, until the step `await-programs` of the migration: {how}. From that step on, "
                "old programs raise DesignMismatch"
            )
    return f"no: {breaks}" if breaks else "no"


def cost_text(cost: ChangeCost, currency: str) -> str:
    """Return units, money and time.

    >>> cost_text(ChangeCost(250_000, 2_000_000, 1.28, 2000), "USD")
    '250,000 read and 2,000,000 write units; 1.28 USD; 33 min'
    """
    amounts = ((cost.read_units, "read"), (cost.write_units, "write"))
    units = " and ".join(f"{amount:,.0f} {kind}" for amount, kind in amounts if amount)
    money = f"{cost.money:,.2f} {currency}" if cost.money >= 0.01 else f"under 0.01 {currency}"
    noun = "unit" if cost.read_units + cost.write_units == 1 else "units"
    return f"{units} {noun}; {money}; {duration_text(cost.seconds)}"


def duration_text(seconds: float) -> str:
    """Return a duration for people.

    >>> duration_text(0.2), duration_text(90), duration_text(4000), duration_text(200_000)
    ('1 s', '2 min', '1 h 7 min', '2 d 7 h')
    """
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def headline(diff: DesignDiff) -> str:
    """Return what is compared."""
    what = "Drift" if diff.is_drift else "Changes"
    return f"{what} from {diff.old.name} to {diff.new.name}"


def summary(diff: DesignDiff) -> str:
    """Return the number of changes, the largest need, and whether programs can run together."""
    if not diff.changes:
        found = "No drift" if diff.is_drift else "No changes"
        is_whole = diff.old.has_entities and diff.new.has_entities
        return f"{found}." if is_whole else f"{found} in what is compared."
    count = plural(len(diff.changes), "change")
    found = f"Drift: {count}" if diff.is_drift else count
    need = diff.largest_need
    needs = "nothing needs to be done" if need is Need.NOTHING else f"the largest need is {need}"
    apart = sum(each.together is Coexistence.NO for each in diff.changes)
    why = f", because of {apart} of them" if 0 < apart < len(diff.changes) else ""
    return f"{found}; {needs}; {_TOGETHER[diff.together]}{why}."


def notes(diff: DesignDiff) -> Iterator[str]:
    """Yield what was not compared, and what the estimates assume."""
    yield from _not_compared(diff)
    if diff.cost:
        yield _assumptions(diff)


def _not_compared(diff: DesignDiff) -> Iterator[str]:
    versions = (diff.old, diff.new)
    for source, reason in _STRUCTURE_ONLY.items():
        found = [each for each in versions if each.source == source and not each.has_entities]
        if found:
            names = " and ".join(each.name for each in found)
            yield f"Entities of {names} are not compared: {reason}{_recorded(diff)}."
    if any(each.source == "model" for each in versions):
        yield "A model has no TTL, streams and local indexes; they are not compared."


def _recorded(diff: DesignDiff) -> str:
    """Return what is compared nevertheless: the keys in the index records of live tables."""
    names = {
        name
        for live, other in ((diff.old, diff.new), (diff.new, diff.old))
        for name, table in live.live.items()
        if table.record is not None and other.has_entities
    }
    listed = ", ".join(sorted(names))
    return f"; their keys are compared by the index record of {listed}" if names else ""


def _assumptions(diff: DesignDiff) -> str:
    workload = diff.workload
    tables = sorted({each.change.table for each in diff.changes if each.cost})
    counted = [
        f"about {plural(load.items, 'item')} of {size_text(round(load.size))} in {name}"
        for name in tables
        if (load := workload.tables.get(name)) is not None
    ]
    if len(counted) < len(tables):
        load = workload.default
        counted.append(f"{plural(load.items, 'item')} of {size_text(load.size)}")
    prices = workload.prices
    return (
        f"Costs are for {', '.join(counted)} (--items), all of the changed entity and in all its "
        f"indexes; on-demand prices of {prices.title} ({prices.on_demand}); {workload.rate:,g} "
        "write units per second (--rate)."
    )


def rename_hint(rename: Rename) -> str:
    """Return how to declare a rename that is not declared."""
    owner = f"{rename.entity}." if rename.entity else ""
    return (
        f"If {owner}{rename.before} was renamed to {rename.after}, declare it: "
        f"{rename.declaration}, or {rename.option} for this run."
    )


def members(diff: DesignDiff, renames: Iterable[Rename]) -> dict[str, Any]:
    """Return everything that is known as JSON values."""
    workload = diff.workload
    return {
        "old": {"name": diff.old.name, "source": diff.old.source},
        "new": {"name": diff.new.name, "source": diff.new.source},
        "drift": diff.is_drift,
        "changes": [change_members(each) for each in diff.changes],
        "largest_need": diff.largest_need.name.lower(),
        "together": diff.together.name.lower(),
        "cost": diff.cost,
        "assumptions": {
            "items": dict(workload.tables),
            "default_items": workload.default,
            "write_units_per_second": workload.rate,
            "currency": workload.prices.currency,
            "prices": workload.prices.title,
        },
        "possible_renames": list(renames),
        "not_compared": list(_not_compared(diff)),
    }


def change_members(assessed: AssessedChange) -> dict[str, Any]:
    """Return a change, and what follows from it, as JSON values."""
    change = assessed.change
    return {
        "kind": change.kind.name,
        "title": change.title,
        "table": change.table,
        "entity": change.entity,
        "part": change.part,
        "former": change.former,
        "before": change.before,
        "after": change.after,
        "need": change.need.name.lower(),
        "together": assessed.together.name.lower(),
        "breaks": change.kind.breaks,
        "new_reads": change.new_reads.name.lower(),
        "old_reads": change.old_reads.name.lower(),
        "undo": change.kind.undo.name.lower(),
        "cost": assessed.cost,
    }
