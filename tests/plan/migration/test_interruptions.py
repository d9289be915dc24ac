"""A run that is stopped before any of its requests is continued by the next run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright import Engine, connect
from tests.plan.migration.migrating import (
    PAIRS,
    Stopped,
    drive,
    in_pages,
    items,
    migration,
    sending,
    stop_before,
    stored,
    whole,
)


def slow(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.slow)


#: A design for each kind of step.
NAMES = [
    *map(slow, ("several changes", "ttl added", "stream added", "entity split", "entities merged")),
    "index key changed",
]


#: Designs whose items are rewritten and cleaned.
SWEPT = ["several changes", "unique key changed", "entity split", "entities merged"]


def at_every_request(
    make: Callable[[], Engine], run: Callable[[Engine, int], None]
) -> list[Engine]:
    """Interrupt `run` before each of its requests, each time in a new engine."""
    engines = list[Engine]()
    while True:
        engine = make()
        try:
            run(engine, len(engines))
        except Stopped:
            engines.append(engine)
        else:
            return engines


@pytest.mark.parametrize("name", NAMES)
def test_apply_continues_after_any_request(name: str) -> None:
    pair = PAIRS[name]
    expected = stored(pair)
    drive(migration("apply", pair.new), in_pages(sending(expected), 4))

    def run(engine: Engine, number: int) -> None:
        drive(migration("apply", pair.new), stop_before(number, in_pages(sending(engine), 4)))

    engines = at_every_request(lambda: stored(pair), run)

    assert len(engines) > 8
    for engine in engines:
        drive(migration("apply", pair.new), in_pages(sending(engine), 4))
        assert whole(engine) == whole(expected)


@pytest.mark.parametrize("command", ["rollback", "complete"])
@pytest.mark.parametrize("name", [*map(slow, SWEPT), "ttl added"])
def test_rollback_and_complete_continue_after_any_request(name: str, command: str) -> None:
    pair = PAIRS[name]
    side = pair.old if command == "rollback" else pair.new

    def applied() -> Engine:
        engine = stored(pair)
        drive(migration("apply", pair.new), engine)
        return engine

    def run(engine: Engine, number: int) -> None:
        drive(migration(command, side), stop_before(number, in_pages(sending(engine), 4)))

    expected = applied()
    drive(migration(command, side), expected)
    for engine in at_every_request(applied, run):
        drive(migration(command, side), in_pages(sending(engine), 4))
        assert whole(engine) == whole(expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", SWEPT)
def test_an_interrupted_migration_is_undone_also_in_two_runs(name: str) -> None:
    pair = PAIRS[name]
    before = items(stored(pair))

    def begun(engine: Engine) -> Engine:
        with pytest.raises(Stopped):
            drive(migration("apply", pair.new), stop_before(20, in_pages(sending(engine), 4)))
        return engine

    def run(engine: Engine, number: int) -> None:
        drive(migration("rollback", pair.old), stop_before(number, in_pages(sending(engine), 4)))

    engines = at_every_request(lambda: begun(stored(pair)), run)

    for engine in engines[8:]:  # earlier, the rollback has not begun
        drive(migration("rollback", pair.old), engine)
        after = items(engine)
        for item in (*before, *after):
            item.pop("note", None)  # the fill of an optional attribute stays
        assert after == before
        connect(engine, pair.old.table)
