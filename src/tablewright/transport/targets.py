"""Targets: the strings that locate a database; `open_target` opens the transport to one.

`Local` is the transport to an engine in this process, `Remote` the one over HTTP.

":memory:"                the engine in this process, in memory
"shop.db"                 the engine in this process, in a file
"dynamodb://eu-west-1"    AWS DynamoDB, with the credentials of the AWS chain
"dynamodb://"             the same, in the region of the environment or of the profile
"http://host:8000"        any endpoint with DynamoDB's protocol; https:// too

Opening a file imports the engine, and no HTTP; opening an endpoint imports HTTP, and no engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.errors import InvalidValue
from tablewright.transport.transport import Response

if TYPE_CHECKING:
    from tablewright.engine import Engine
    from tablewright.policy import Principal
    from tablewright.storage import Durability
    from tablewright.transport.remote import Remote


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
        if step.only_reads:
            return Response(self.engine.run(step))
        return Response(await _in_thread(self.engine.run, step) or b"{}")

    async def close_async(self) -> None:
        await _in_thread(self.engine.close)


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    from asyncio import to_thread

    return await to_thread(function, *arguments)


_REGION = r"[a-z]{2,4}(-[a-z]+)+-\d"
#: Such as host:8000, memory: and http:/host. A file of this name is ./host:8000 or a Path.
_MISTYPED = r"[\w.-]{2,}:\d*|(https?|dynamodb):.*"


def open_target(
    target: str | Path | Engine | Remote,
    *,
    durability: Durability = "full",
    sweep_seconds: float | None = None,
) -> Local | Remote:
    """Open the transport to a target; raises InvalidValue if it is none of the above.

    Expired items of a file are deleted about every `sweep_seconds`; by default, they stay.
    """
    if not isinstance(target, (str, Path)) or target == "":
        return _open_already(target)
    text = str(target)
    scheme, separator, rest = text.partition("://")
    if not separator and not (isinstance(target, str) and re.fullmatch(_MISTYPED, text)):
        from tablewright.engine import Engine

        return Local(Engine(text, durability=durability, sweep_seconds=sweep_seconds))
    if scheme in ("http", "https"):
        from tablewright.transport.remote import Remote

        return Remote.endpoint(text)
    if scheme == "dynamodb":
        from tablewright.transport.credentials import aws_region
        from tablewright.transport.remote import Remote

        region = rest or aws_region()
        if not re.fullmatch(_REGION, region):
            raise InvalidValue(f"{text!r}: {region!r} is not a region such as eu-west-1")
        return Remote.aws(region)
    raise InvalidValue(
        f"{text!r} is not a target; use ':memory:', a file, dynamodb://region or http://host:port"
    )


def _open_already(target: object) -> Local | Remote:
    """Return a transport as it is, or the transport to an engine."""
    from tablewright.transport.remote import Remote

    if isinstance(target, Remote):
        return target
    from tablewright.engine import Engine

    if isinstance(target, Engine):
        return Local(target)
    raise InvalidValue(
        f"{target!r} is not a valid target; use ':memory:', a file, an Engine, "
        "dynamodb://region or http://host:port"
    )
