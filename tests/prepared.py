"""Engines in memory that are prepared once; each test runs in a sandbox of one (`Engine.sandbox`).

So a test finds the tables and items that it needs, what it writes is undone, and nothing is made
twice. `tests.targets.plugin` sends requests to a server that has no sandboxes: there, each test
prepares an engine of its own.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from tablewright import Engine, Table, connect

#: Makes tables and stores items. An engine is prepared once for each function.
Prepare = Callable[[Engine], object]

_engines: dict[Prepare, Engine] = {}


def is_redirected() -> bool:
    """Whether `tests.targets.plugin` sends requests to another server."""
    return hasattr(Engine, "sdk_client")


@cache
def with_tables(*tables: type[Table]) -> Prepare:
    """Return a function that makes these tables, if any."""
    return lambda engine: connect(engine, *tables) if tables else None


def prepared_engine(prepare: Prepare) -> Engine:
    """Return the engine that is kept for `prepare`; use it in a sandbox."""
    if prepare not in _engines:
        engine = Engine(":memory:")
        prepare(engine)
        assert engine.check().problems == []
        _engines[prepare] = engine
        atexit.register(engine.close)
    return _engines[prepare]


@contextmanager
def prepared(prepare: Prepare) -> Iterator[Engine]:
    """Yield a prepared engine, and undo what is written to it."""
    if is_redirected():
        with Engine(":memory:") as engine:
            prepare(engine)
            yield engine
    else:
        engine = prepared_engine(prepare)
        with engine.sandbox():
            yield engine


@contextmanager
def checked(prepare: Prepare) -> Iterator[Engine]:
    """Yield a prepared engine; check all of it if something was written, and undo that."""
    with prepared(prepare) as engine:
        before = _changed_rows(engine)
        yield engine
        if is_redirected() or _changed_rows(engine) != before:
            assert engine.check().problems == []


def _changed_rows(engine: Engine) -> int:
    """Return how many rows the engine has written so far, also those that it has undone."""
    return engine._store._transaction.changed_rows
