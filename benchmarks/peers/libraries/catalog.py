"""The libraries that are compared, and the names of the operations."""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec import Struct

from benchmarks.peers.libraries.sample import LINES, PAGE
from benchmarks.peers.servers import HOME, OURS

#: The operations by their names in the protocol `Orders`.
OPERATIONS = {
    "create": f"create an order with {LINES} items",
    "get": "get an order",
    "load": "load an order with its items",
    "timeline": f"page of {PAGE} orders",
    "change_status": "change a status, with history",
}
#: The operations that write; they are given new orders.
WRITES = ("create", "change_status")


class Library(Struct, frozen=True):
    """A library: the module that uses it, and the interpreter that has it."""

    name: str
    module: str
    python: Path
    in_process: bool = False

    @property
    def table(self) -> str:
        """The name of its own table."""
        return self.module


OURS_ASYNC = f"{OURS}, async"
_OWN = Path(sys.executable)
_PEERS = HOME / "venv/bin/python"
LIBRARIES = (
    Library(f"{OURS}, in process", "tablewright_sync", _OWN, in_process=True),
    Library(OURS, "tablewright_sync", _OWN),
    Library("boto3 client", "boto3_client", _PEERS),
    Library("boto3 resource", "boto3_resource", _PEERS),
    Library("PynamoDB", "pynamodb_models", _PEERS),
    Library("pydynox", "pydynox_sync", _PEERS),
    Library(OURS_ASYNC, "tablewright_async", _OWN),
    Library("pydynox, async", "pydynox_async", _PEERS),
    Library("aiodynamo", "aiodynamo_client", _PEERS),
    # It needs another version of botocore than the newest boto3.
    Library("aioboto3", "aioboto3_resource", HOME / "aioboto3/bin/python"),
)
