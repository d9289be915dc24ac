"""Which programs may connect in each phase of a migration."""

from __future__ import annotations

import pytest

from tablewright import Engine, connect
from tablewright.errors import DesignMismatch, TablewrightError
from tests.plan.migration.migrating import (
    PAIRS,
    Stopped,
    drive,
    in_pages,
    migration,
    record,
    sending,
    stop_before,
    stored,
)
from torture.migration_designs import Side

#: Which versions may connect before a migration, while it runs, after it, and when it is completed.
PHASES: dict[str, tuple[str, str, str, str]] = {
    "index key changed": ("old", "", "new", "new"),
    "entity renamed": ("old", "", "new", "new"),
    "attributes renamed": ("old", "", "new", "new"),
    "optional attribute renamed": ("old", "", "new", "new"),
    "attribute retyped": ("old", "", "new", "new"),
    "attribute made required": ("old", "", "new", "old new"),
    "required attribute added": ("old", "", "new", "new"),
    "unique added": ("old new", "new", "new", "new"),
    "unique removed": ("old", "", "new", "old new"),
    "place added": ("old new", "new", "new", "new"),
    "attribute added": ("old new", "old new", "old new", "old new"),
    "version added": ("old new", "old new", "old new", "old new"),
    "history added": ("old new", "old new", "old new", "old new"),
}


def served(engine: Engine, name: str) -> str:
    """Return which versions may connect."""
    pair = PAIRS[name]
    return " ".join(each for each in ("old", "new") if _connects(engine, getattr(pair, each)))


def _connects(engine: Engine, side: Side) -> bool:
    try:
        connect(engine, side.table)
    except DesignMismatch:
        return False
    return True


def begun(engine: Engine, name: str) -> None:
    """Stop a migration as soon as it has begun."""
    for number in range(30):
        with pytest.raises(Stopped):
            drive(migration("apply", PAIRS[name].new), stop_before(number, sending(engine)))
        if "$target" in record(engine):
            return


@pytest.mark.parametrize("name", PHASES)
def test_programs_are_served_by_phase(name: str) -> None:
    engine, found = stored(PAIRS[name]), list[str]()
    found.append(served(engine, name))
    begun(engine, name)
    found.append(served(engine, name))
    drive(migration("apply", PAIRS[name].new), engine)
    found.append(served(engine, name))
    drive(migration("complete", PAIRS[name].new), engine)
    found.append(served(engine, name))
    assert tuple(found) == PHASES[name]


@pytest.mark.parametrize("name", PHASES)
def test_after_a_rollback_programs_are_served_as_before(name: str) -> None:
    engine = stored(PAIRS[name])
    begun(engine, name)
    drive(migration("rollback", PAIRS[name].old), engine)
    assert served(engine, name) == PHASES[name][0]
    drive(migration("apply", PAIRS[name].new), engine)
    drive(migration("rollback", PAIRS[name].old), engine)
    assert served(engine, name) == PHASES[name][0]


@pytest.mark.parametrize("pages", [1, 2, 3])
def test_no_program_is_served_while_a_rollback_runs(pages: int) -> None:
    pair = PAIRS["entity renamed"]
    engine = stored(pair)
    drive(migration("apply", pair.new), engine)
    with pytest.raises(Stopped):
        drive(
            migration("rollback", pair.old),
            stop_before(8 + pages * 3, in_pages(sending(engine))),
        )
    assert served(engine, "entity renamed") == ""


def test_a_refused_program_is_told_the_change_and_the_command() -> None:
    pair = PAIRS["entity renamed"]
    engine = stored(pair)
    with pytest.raises(TablewrightError, match=r"renamed: Thing -> Item(.|\n)*migrate plan"):
        connect(engine, pair.new.table)
    drive(migration("apply", pair.new), engine)
    with pytest.raises(TablewrightError, match=r"renamed: Thing -> Item(.|\n)*migrate rollback"):
        connect(engine, pair.old.table)
    drive(migration("complete", pair.new), engine)
    with pytest.raises(TablewrightError, match=r"renamed: Thing -> Item(.|\n)*later version"):
        connect(engine, pair.old.table)
