"""Opening the database of a server."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.cli.failures import fail

if TYPE_CHECKING:
    from tablewright.engine import Engine
    from tablewright.server.isolation import IsolatedEngines


class Durability(enum.StrEnum):
    """What an acknowledged write survives."""

    full = "full"
    normal = "normal"


def open_engine(
    path: Path | str,
    durability: Durability,
    *,
    busy_seconds: float,
    stream_shards: int = 1,
    s3: Path | None = None,
    isolate_regions: bool = False,
) -> Engine | IsolatedEngines:
    """Open a database; if that fails, print why and exit with code 2."""
    from tablewright.engine import Engine
    from tablewright.errors import CannotOpen

    open_path: type[Engine | IsolatedEngines] = Engine
    if isolate_regions:
        from tablewright.server.isolation import IsolatedEngines

        open_path = IsolatedEngines
    try:
        return open_path(
            path,
            durability=durability.value,
            busy_seconds=busy_seconds,
            sweep_seconds=None,  # the server sweeps, also the records of streams
            stream_shards=stream_shards,
            s3=s3,
        )
    except CannotOpen as error:
        fail(str(error))
