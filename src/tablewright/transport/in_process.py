"""The local transport: sends requests to an engine in this process; `remote` is the other one."""

from __future__ import annotations

import asyncio
from typing import Any

from tablewright.engine import Engine, ReadStep
from tablewright.policy import Principal
from tablewright.transport.transport import Response


class Local:
    """Sends requests to an engine in this process; a blocking and an async transport.

    A read takes microseconds and runs in the calling thread. A write waits for the disk: in an
    event loop it runs in a worker thread, where concurrent writes share one commit. With a policy,
    the engine refuses the requests that the policy does not allow.
    """

    def __init__(self, engine: Engine, policy: Principal | None = None) -> None:
        self.engine = engine
        self.policy = policy

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        engine = self.engine
        return Response(engine.run(engine.prepare(operation, request, self.policy)) or b"{}")

    def close(self) -> None:
        self.engine.close()

    async def send_async(self, operation: str, request: dict[str, Any]) -> Response:
        step = self.engine.prepare(operation, request, self.policy)
        if not isinstance(step, ReadStep):
            return Response(await asyncio.to_thread(self.engine.run, step) or b"{}")
        return Response(self.engine.run(step))

    async def close_async(self) -> None:
        await asyncio.to_thread(self.engine.close)
