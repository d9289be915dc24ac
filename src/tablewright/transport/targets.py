"""Targets: the strings that locate a database; `open_target` opens the transport to one.

`Local` is the transport to an engine in this process, `Remote` the one over HTTP.

":memory:"                the engine in this process, in memory
"shop.db"                 the engine in this process, in a file
"dynamodb://eu-west-1"    AWS DynamoDB, with the credentials of the AWS chain
"dynamodb://"             the same, in the region of the environment or of the profile
"http://host:8000"        any endpoint with DynamoDB's protocol; https:// too
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from tablewright.engine import Engine, ReadStep
from tablewright.errors import InvalidValue
from tablewright.policy import Principal
from tablewright.storage import Durability
from tablewright.transport.credentials import aws_region
from tablewright.transport.remote import Remote
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


_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d").fullmatch
#: Such as host:8000, memory: and http:/host. A file of this name is ./host:8000 or a Path.
_is_mistyped = re.compile(r"[\w.-]{2,}:\d*|(https?|dynamodb):.*").fullmatch


def open_target(
    target: str | Path | Engine | Remote,
    *,
    durability: Durability = "full",
    sweep_seconds: float | None = None,
) -> Local | Remote:
    """Open the transport to a target; raises InvalidValue if it is none of the above.

    Expired items of a file are deleted about every `sweep_seconds`; by default, they stay.
    """
    if isinstance(target, Engine):
        return Local(target)
    if isinstance(target, Remote):
        return target
    text = str(target)
    scheme, separator, rest = text.partition("://")
    if not separator and not (isinstance(target, str) and _is_mistyped(text)):
        return Local(Engine(text, durability=durability, sweep_seconds=sweep_seconds))
    if scheme in ("http", "https"):
        return Remote.endpoint(text)
    if scheme == "dynamodb":
        region = rest or aws_region()
        if not _REGION(region):
            raise InvalidValue(f"{text!r}: {region!r} is not a region such as eu-west-1")
        return Remote.aws(region)
    raise InvalidValue(
        f"{text!r} is not a target; use ':memory:', a file, dynamodb://region or http://host:port"
    )
