"""A migration to and from keys whose last part is optional, there and back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from tablewright import Engine, attr, connect, index, key
from tablewright.formats import optional
from tablewright.plan.migration.migrate import Baseline
from tests.plan.migration.migrating import RECORDS, drive, items, load, migration, version
from torture.migration_designs import Side, base, side

PATHS: dict[str, Callable[[Any], Any]] = {
    "without": lambda a: "MAIL",
    "optional": lambda a: "MAIL" / optional(a.note),
    "with a literal": lambda a: "MAIL" / optional("NOTE" / a.note),
}
NOTED = [record | {"note": None if n % 2 else f"a#{n}"} for n, record in enumerate(RECORDS)]


def primary(path: Callable[[Any], Any]) -> Side:
    """Return a version with a path as its sort key."""
    attributes = base(note=(str | None, attr(default=None)))
    return side(attributes, primary=lambda a: key("THING" / a.tid, path(a)))


def place(path: Callable[[Any], Any]) -> Side:
    """Return a version with a path as the sort key of an index."""

    def parts(table: Any, a: Any) -> dict[str, Any]:
        return {"by_state": index(table.gsi1, "S" / a.state, path(a))}

    return side(base(note=(str | None, attr(default=None))), parts)


@pytest.mark.parametrize(("before", "after"), list(permutations(PATHS, 2)))
@pytest.mark.parametrize("make", [primary, place])
def test_items_get_the_other_key_and_back(
    make: Callable[[Any], Side], before: str, after: str
) -> None:
    old, new = make(PATHS[before]), make(PATHS[after])
    engine = Engine(":memory:")
    load(engine, old, NOTED)
    drive(Baseline(version(old.table)), engine)
    stored = items(engine)
    drive(migration("apply", new), engine)
    whole = connect(engine, new.table).run(new.entity.scan(reason="a test"))
    assert sorted((each.tid, each.note) for each in whole) == sorted(
        (str(each["tid"]), each["note"]) for each in NOTED
    )
    for item in items(engine):
        assert new.entity.__entity__.rekey(item) == item
    drive(migration("rollback", old), engine)
    assert items(engine) == stored
