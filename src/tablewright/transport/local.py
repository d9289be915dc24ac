"""The local transport: an engine in this process.

Reads take microseconds and are done where they are asked for. A write waits for the disk: in an
event loop it goes to a thread, where the writes of several tasks share one commit.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tablewright.engine import Engine, Write
from tablewright.policy import Principal


class Local:
    """Requests to an engine in this process, both ways; with a policy, those that it allows."""

    def __init__(self, engine: Engine, policy: Principal | None = None) -> None:
        self.engine = engine
        self.policy = policy

    def send(self, operation: str, request: dict[str, Any]) -> bytes:
        engine = self.engine
        return engine.run(engine.prepare(operation, request, self.policy)) or b"{}"

    def close(self) -> None:
        self.engine.close()

    async def send_async(self, operation: str, request: dict[str, Any]) -> bytes:
        step = self.engine.prepare(operation, request, self.policy)
        if isinstance(step, Write):
            return await asyncio.to_thread(self.engine.run, step) or b"{}"
        return self.engine.run(step)

    async def close_async(self) -> None:
        await asyncio.to_thread(self.engine.close)
