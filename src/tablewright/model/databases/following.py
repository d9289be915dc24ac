"""Following: a transport that sends requests to where the tables of a program are.

`connect(…, moves_to=OTHER)` uses it. While a table is moved from the one target to the other
(`plan/relocation`), the program reads and writes it where its record says, without a restart.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from tablewright.errors import DynamoDBError
from tablewright.mapping.table import TableMap
from tablewright.plan.plan import Wait
from tablewright.plan.relocation.between import run_between
from tablewright.plan.relocation.program import FollowedTables
from tablewright.transport.call_limits import UNLIMITED, CallLimits, limited
from tablewright.transport.remote import Remote
from tablewright.transport.targets import Local
from tablewright.transport.transport import Response, RetriesExhausted


class FollowingTransport:
    """A blocking and an async transport to two targets; the second is opened when it is needed."""

    #: Whether `send` takes the limits of a call.
    takes_limits = True

    def __init__(
        self,
        target: Local | Remote,
        open_other: Callable[[], tuple[Local | Remote, bool]],
        tables: Mapping[TableMap, str],
        *,
        owned: bool,
    ) -> None:
        self._target = target
        self._owned = owned
        self._open_other = open_other
        self._other: tuple[Local | Remote, bool] | None = None
        self._lock = threading.Lock()
        self._tables = FollowedTables(tables)

    def _at(self, side: int) -> Local | Remote:
        """Return the transport to one place."""
        if side == 0:
            return self._target
        with self._lock:
            if self._other is None:
                self._other = self._open_other()
            return self._other[0]

    def send(
        self, operation: str, request: dict[str, Any], limits: CallLimits = UNLIMITED
    ) -> Response:
        steps = self._tables.steps(operation, request)

        def send_at(side: int) -> Any:
            target = self._at(side)
            return limited(target, target.send, limits)

        return Response(run_between(steps, send_at))

    def close(self) -> None:
        for target in self._owned_targets():
            target.close()

    def _owned_targets(self) -> list[Local | Remote]:
        found = [(self._target, self._owned), *([self._other] if self._other else [])]
        return [target for target, is_owned in found if is_owned]

    async def send_async(
        self, operation: str, request: dict[str, Any], limits: CallLimits = UNLIMITED
    ) -> Response:
        import asyncio  # slow to import, and imported already in an event loop

        steps = self._tables.steps(operation, request)
        try:
            step = next(steps)
            while True:
                try:
                    body = b""
                    if isinstance(step, Wait):
                        await asyncio.sleep(step.seconds)
                    else:
                        sent, target = step.request, self._at(step.side)
                        send = limited(target, target.send_async, limits)
                        body = (await send(sent.operation, sent.body)).body
                except (DynamoDBError, RetriesExhausted) as fault:
                    step = steps.throw(fault)
                else:
                    step = steps.send(body)
        except StopIteration as end:
            return Response(end.value)

    async def close_async(self) -> None:
        for target in self._owned_targets():
            await target.close_async()
