"""Targets: the strings that locate a database; `open_target` opens the transport to one.

":memory:"                the engine in this process, in memory
"shop.db"                 the engine in this process, in a file
"dynamodb://eu-west-1"    AWS DynamoDB, with the credentials of the AWS chain
"dynamodb://"             the same, in the region of the environment or of the profile
"http://host:8000"        any endpoint with DynamoDB's protocol; https:// too
"""

from __future__ import annotations

import re
from pathlib import Path

from tablewright.engine import Engine
from tablewright.errors import InvalidValue
from tablewright.storage import Durability
from tablewright.transport.credentials import aws_region
from tablewright.transport.in_process import Local
from tablewright.transport.remote import Remote

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
