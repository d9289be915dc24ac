"""What a kind of change promises is checked by experiment, for random pairs of designs.

A pair has a seed; `check(make_pair(seed))` repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from tablewright import Engine
from tablewright.design_changes import DesignChange, Reading
from tablewright.errors import TablewrightError
from tests.design_changes.cases import CASES, DESIGN, changed
from tests.design_changes.experiment import (
    Observed,
    Reader,
    Side,
    Written,
    can_connect,
    open_sides,
    readers,
    write,
    write_by_turns,
)
from tests.design_changes.pairs import Pair, load_version, make_pair

#: Changes of a table that decide whether a version can connect, not what it reads then.
STRUCTURE = frozenset(
    f"{part}-{verb}" for part in ("index", "ttl", "stream") for verb in ("added", "removed")
) | {"ttl-changed", "stream-changed"}
#: Kinds whose promise is exact: what the new version reads, and the old one; None is not exact.
EXACT: dict[str, tuple[Reading | None, Reading | None]] = {
    "required-attribute-added": (Reading.FAILS, Reading.COMPLETE),
    "required-attribute-removed": (Reading.COMPLETE, Reading.FAILS),
    "unique-added": (Reading.MISSES, Reading.COMPLETE),
    "unique-removed": (Reading.COMPLETE, Reading.MISSES),
}
#: Kinds after which an item whose keys in indexes differ is missed there, and no other one.
MOVING = ("place-added", "index-key-changed", "index-format-changed", "index-delimiter-changed")


def check(pair: Pair) -> list[str]:
    """Return how the promises of a pair differ from what the engine shows."""
    return [*_check_connection(pair), *_check_reads(pair), *_check_turns(pair)]


def _check_connection(pair: Pair) -> Iterator[str]:
    structural = [
        each
        for each in pair.changes
        if not each.entity and each.kind.name not in ("type-attribute-changed", "tenancy-changed")
    ]
    versions = (pair.new, pair.old)
    for promises, one, other in (
        ([each.new_reads for each in structural], *versions),
        ([each.old_reads for each in structural], *versions[::-1]),
    ):
        promised = Reading.FAILS not in promises
        if can_connect(one, other) != promised:
            yield f"connection: promised {promised}: {[*map(str, structural)]}"


def _check_reads(pair: Pair) -> Iterator[str]:
    """Let one version write and the other one read, in both directions."""
    changes = pair.changes
    for is_new in (True, False):
        with Engine(":memory:") as engine:
            sides = open_sides(pair.old, pair.new, engine)
            if sides is None:
                return
            writer, reader = sides if is_new else sides[::-1]
            written = write(writer, engine)
            used = list(readers(reader, written, changes))
            observed = [each for one in used for each in one.observe()]
            for name, worst in _worst(observed).items():
                concerned = changes_of(changes, name, sides)
                promises = [each.new_reads if is_new else each.old_reads for each in concerned]
                problem = _compare(worst, max(promises, default=Reading.COMPLETE))
                if not problem and len(concerned) == 1:
                    own = [each for each in used if each.entity.name == name]
                    has_uniques = any(
                        each.entity == name and each.how.startswith("unique") for each in observed
                    )
                    if has_uniques or "unique" not in concerned[0].kind.name:
                        problem = _compare_exactly(worst, concerned[0], own, is_new=is_new)
                if problem:
                    side = "new" if is_new else "old"
                    yield f"the {side} version, {name}: {problem}; {[*map(str, concerned)]}"


def _compare(worst: Observed, promised: Reading) -> str:
    if worst.reading <= promised:
        return ""
    return f"{worst.reading.name}, promised {promised.name}: {worst.how}"


def _compare_exactly(
    worst: Observed, change: DesignChange, used: list[Reader], *, is_new: bool
) -> str:
    """Compare with a promise that is exact, if the entity has only one change."""
    kind = change.kind.name
    exact = EXACT.get(kind, (None, None))[0 if is_new else 1]
    composed = [each for one in used for each in one.entity.indexes if each.composed]
    is_natural = change.part not in [each.index.name for each in composed if each.index]
    if kind in MOVING and not is_natural and (is_new or kind != "place-added"):
        moves = [each.moves() for each in used]
        if any(is_sought for _, is_sought in moves):
            exact = Reading.MISSES
        elif not any(is_moved for is_moved, _ in moves):
            exact = Reading.COMPLETE
    if kind == "primary-key-changed" and worst.reading < Reading.MISSES:
        return f"{worst.reading.name}, but at least MISSES was expected"
    if exact is None or worst.reading is exact:
        return ""
    return f"{worst.reading.name}, but exactly {exact.name} was expected: {worst.how}"


def _worst(observed: Iterable[Observed]) -> dict[str, Observed]:
    """Return the worst reading of each entity."""
    found = dict[str, Observed]()
    for each in observed:
        if each.entity not in found or found[each.entity].reading < each.reading:
            found[each.entity] = each
    return found


def changes_of(
    changes: list[DesignChange], name: str, sides: tuple[Side, Side]
) -> list[DesignChange]:
    """Return the changes of an entity and of its table, for programs that can connect."""
    entities = [side.entities[name] for side in sides if name in side.entities]
    types = {"", *(each.type_name for each in entities)}
    tables = {each.table.name for each in entities}
    return [
        each
        for each in changes
        if each.kind.name not in STRUCTURE and each.table in tables and each.entity in types
    ]


def _check_turns(pair: Pair) -> Iterator[str]:
    """Let both versions write the same items, if that is promised for all changes."""
    changes = [each for each in pair.changes if each.kind.name not in STRUCTURE]
    if not all(each.runs_together for each in changes):
        return
    with Engine(":memory:") as engine:
        sides = open_sides(pair.old, pair.new, engine)
        if sides is None:
            return
        shown = [*map(str, changes)]
        try:
            items = list(write_by_turns(*sides, changes))
        except TablewrightError as error:
            yield f"together: {type(error).__name__}: {error}; {shown}"
            return
        for name, values, arguments in items:
            for side, other in (sides, sides[::-1]):
                entity, theirs = side.entities[name], other.entities[name]
                found = side.run(entity.type.primary(*arguments))  # type: ignore[attr-defined]  # a key
                stored = {
                    each: entity.attributes[each].store(getattr(found, each, None))
                    for each in values
                }
                lost = [each for each in values if stored[each] != values[each]]
                if lost:
                    yield f"together: {name} lost {lost}; {shown}"
                    continue
                their = other.run(theirs.type.primary(*arguments))  # type: ignore[attr-defined]  # a key
                written = [Written(theirs, 0, dict(vars(their)))]
                observed = (
                    each for one in readers(side, written, changes) for each in one.observe()
                )
                for each in _worst(observed).values():
                    if each.reading >= Reading.MISSES:
                        yield f"together: {each.reading.name} {name}: {each.how}; {shown}"


@pytest.mark.slow
@pytest.mark.parametrize("what", CASES)
def test_promises_hold_for_each_kind(what: str) -> None:
    old, new = load_version(DESIGN), load_version(changed(DESIGN, CASES[what].changes))
    assert old is not None
    assert new is not None
    assert [*check(Pair(what, old, new)), *check(Pair(what, new, old))] == []


def problems_of(seed: int, *, small: bool = False) -> list[str]:
    pair = make_pair(seed, small=small)
    try:
        return [f"seed {seed}, {pair.name}: {each}" for each in check(pair)]
    finally:
        pair.close()


@pytest.mark.parametrize("first", range(0, 40, 8))
def test_promises_hold_for_small_designs(first: int) -> None:
    problems = [each for seed in range(first, first + 8) for each in problems_of(seed, small=True)]
    assert problems == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1500, 50))
def test_promises_hold_for_all_designs(first: int) -> None:
    problems = [each for seed in range(first, first + 50) for each in problems_of(seed)]
    assert problems == []
