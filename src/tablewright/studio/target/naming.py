"""What people call a target, and how much a slip costs there.

    target                        kind          name
    an engine, ":memory:"         memory        memory
    "shops/shop.db"               file          shop.db
    "http://127.0.0.1:8000"       endpoint      127.0.0.1:8000
    "dynamodb://eu-west-1"        production    eu-west-1
    "http://db.prod.example"      production    db.prod.example

AWS is production, and so is a file or an endpoint that has the word "prod" or "production" in its
name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from tablewright.engine import Engine

Kind = Literal["memory", "file", "endpoint", "production"]
_PRODUCTION = re.compile(r"(?<![a-z])prod(uction)?(?![a-z])", re.IGNORECASE)


class TargetName(Struct, frozen=True):
    """A target as the pages show it."""

    kind: Kind
    #: What is shown on each page, and what a person types to confirm a write in production.
    name: str
    #: What identifies it: the whole path or address.
    whole: str


def name_target(target: str | Engine) -> TargetName:
    """Return the kind and the name of a target."""
    if isinstance(target, Engine):
        return TargetName("memory", "memory: sample data", "sample data in memory")
    if target == ":memory:":
        return TargetName("memory", "memory", target)
    if "://" in target:
        parts = urlsplit(target)
        name = parts.netloc.rpartition("@")[2] or "AWS"
        is_production = parts.scheme == "dynamodb" or _PRODUCTION.search(name)
        return TargetName("production" if is_production else "endpoint", name, target)
    name = Path(target).name
    return TargetName("production" if _PRODUCTION.search(name) else "file", name, target)
