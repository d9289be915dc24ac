"""Transfer: copy whole tables from one target to another, or to files and back.

    copy    source ─▶ segments ─▶ batches ─▶ target     in threads; a file records the progress
    dump    source ─▶ segments ─▶ lines of a file       in the format of DynamoDB's export to S3
    load    lines of a file ─▶ batches ─▶ target        in threads; a file records the progress

Invariants:
- A transfer is an iterator: it yields `Progress` events and, at the end of each table, the
  checksums of both sides (`TableComparison`). Nothing happens until the caller iterates.
- Names, definitions, the state of an earlier run and that the tables of the target are empty are
  checked before anything is written.
- Items are written whole with Put, so writing a batch twice has the effect of writing it once. A
  transfer that was stopped, or killed, resumes after the last batch that is recorded as written.
- Memory use does not depend on the size of a table: a few pages for each segment, a batch for each
  writer.
- An engine in this process is read and written without requests (`rows`), with the same checks.
- The package knows requests and items, and nothing about models.
"""

from __future__ import annotations

from tablewright.errors import TransferRefused
from tablewright.transfer.comparison import Checksum, Event, Progress, TableComparison
from tablewright.transfer.copying import copy
from tablewright.transfer.dumping import dump, dump_all
from tablewright.transfer.endpoints import default_state_file, open_source, open_target
from tablewright.transfer.loading import load
from tablewright.transfer.state import TransferState
from tablewright.transfer.target_table import TargetHasItems

__all__ = [
    "Checksum",
    "Event",
    "Progress",
    "TableComparison",
    "TargetHasItems",
    "TransferRefused",
    "TransferState",
    "copy",
    "default_state_file",
    "dump",
    "dump_all",
    "load",
    "open_source",
    "open_target",
]
