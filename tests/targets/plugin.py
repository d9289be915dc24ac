"""A plugin of pytest: what tests ask of an engine in this process goes to a server instead.

    TABLEWRIGHT_TARGET=local python -m pytest -p tests.targets.plugin tests/model tests/plan

Every worker starts a server of its own. Engines and local transports are made as ever; what they
are asked is sent through the remote transport. `Engine.check` looks at an engine that is empty.
"""

from __future__ import annotations

import itertools
import os
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.transport.remote import Remote
from tablewright.transport.targets import Local, open_target
from tests.targets.servers import remote, running
from tests.targets.skips import reason
from tests.targets.spaces import Names, Space

TARGET = os.environ["TABLEWRIGHT_TARGET"]

_make, _close = Engine.__init__, Engine.close


class Redirection:
    """Engines, and the spaces that stand for them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.remote = self.connect()
        self.files: dict[str, Names] = {}
        self.memories: list[tuple[weakref.ref[Engine], Space]] = []
        self.numbers = itertools.count(1)

    def connect(self) -> Remote:
        return remote(TARGET, self.url)

    def space(self, engine: Engine, path: str | Path) -> Space:
        if str(path) != ":memory:":
            file = str(Path(path).resolve())
            names = self.files.get(file) or self.files.setdefault(file, self._names())
            return Space(names, self.connect())
        space = Space(self._names(), self.connect())
        self.memories.append((weakref.ref(engine), space))
        return space

    def _names(self) -> Names:
        self.drop(lambda engine: engine is None)  # nobody has it any more
        taken = self.memories or self.files
        return Names(f"tw-space-{next(self.numbers)}-" if taken else "")

    def drop(self, gone: Callable[[Engine | None], bool]) -> None:
        """Drop the tables of engines in memory."""
        kept = []
        for reference, space in self.memories:
            if gone(reference()):
                space.remote.close()
                space.names.drop(self.remote)
            else:
                kept.append((reference, space))
        self.memories = kept

    def drop_files(self) -> None:
        while self.files:
            self.files.popitem()[1].drop(self.remote)

    def patch(self, patch: pytest.MonkeyPatch) -> None:
        """Put these in the place of the methods of engines and local transports."""

        def make(engine: Any, path: str | Path = ":memory:", **options: Any) -> None:
            _make(engine, ":memory:", **options)
            engine.space = self.space(engine, path)

        def call(engine: Any, operation: str, request: dict[str, Any] | None = None) -> Any:
            return engine.space.call(operation, request)

        def expire(engine: Any, now: float | None = None) -> Any:
            return engine.space.expire(time.time() if now is None else now)

        def close(engine: Any) -> None:
            _close(engine)
            engine.space.remote.close()
            self.drop(lambda other: other is engine)

        def send(local: Any, operation: str, request: dict[str, Any]) -> Any:
            return local.engine.space.send(operation, request)

        async def send_async(local: Any, operation: str, request: dict[str, Any]) -> Any:
            space = local.engine.space
            if local.remote is not None:
                return await space.send_async(operation, request, local.remote)
            alone = self.connect()
            try:
                return await space.send_async(operation, request, alone)
            finally:
                await alone.close_async()

        def sdk_client(engine: Any) -> Any:
            return engine.space.names.sdk_client(TARGET, self.url)

        async def close_async(local: Any) -> None:
            await local.remote.close_async()
            local.engine.close()

        def open_for_database(target: Any, **options: Any) -> Any:
            transport: Any = open_target(target, **options)
            if isinstance(transport, Local):
                # a database of an engine that was given to it is never closed
                given = isinstance(target, Engine)
                transport.remote = None if given else self.connect()  # type: ignore[attr-defined]
            return transport

        patch.setattr(Engine, "__init__", make)
        patch.setattr(Engine, "call", call)
        patch.setattr(Engine, "expire", expire)
        patch.setattr(Engine, "close", close)
        patch.setattr(Engine, "sdk_client", sdk_client, raising=False)
        patch.setattr(Local, "send", send)
        patch.setattr(Local, "send_async", send_async)
        patch.setattr(Local, "close_async", close_async)
        patch.setattr("tablewright.model.databases.connecting.open_target", open_for_database)


_running = pytest.StashKey[tuple[ExitStack, Redirection]]()


def _runs_tests(config: pytest.Config) -> bool:
    """Whether this process does: a worker, or the only one."""
    return hasattr(config, "workerinput") or not config.getoption("numprocesses", None)


def pytest_sessionstart(session: pytest.Session) -> None:
    if not _runs_tests(session.config):
        return
    stack = ExitStack()
    redirection = Redirection(stack.enter_context(running(TARGET)))
    redirection.patch(stack.enter_context(pytest.MonkeyPatch.context()))
    stack.callback(redirection.remote.close)
    session.config.stash[_running] = stack, redirection


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _running in session.config.stash:
        session.config.stash[_running][0].close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Files belong to a test; an engine may be kept by its module."""
    try:
        return (yield)
    finally:
        redirection = item.config.stash[_running][1]
        redirection.drop_files()
        if nextitem is None or nextitem.path != item.path:
            redirection.drop(lambda engine: True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        why = reason(TARGET, item.nodeid)
        if why is not None:
            item.add_marker(pytest.mark.skip(reason=why))
