"""Transfer: whole tables from one target to another, or to files and back.

    copy    source ─▶ segments ─▶ batches ─▶ target     in threads; what is done is kept in a file
    dump    source ─▶ segments ─▶ lines of a file       the format of DynamoDB's export to S3
    load    lines of a file ─▶ batches ─▶ target        what is done is kept in a file

Laws:
- A transfer is an iterator: it yields how far it is (`Progress`) and, for each table, what both
  sides hold at the end (`Compared`). Nothing happens unless somebody iterates.
- Everything is checked before anything is written: names, keys, the state of an earlier run.
- An item is put whole, so that doing a batch twice is doing it once. A transfer that was stopped,
  even killed, continues from the last batch that is known to be written.
- Memory holds a few pages for each segment, a batch for each writer, however large the table is.
- It knows requests and items, and nothing of models.
"""

from __future__ import annotations

from tablewright.errors import TransferRefused
from tablewright.transfer.checksum import Sum
from tablewright.transfer.copying import copy
from tablewright.transfer.definition import Definition
from tablewright.transfer.dumping import dump, dump_all
from tablewright.transfer.ends import open_source, open_target, state_file
from tablewright.transfer.loading import load
from tablewright.transfer.progress import Compared, Event, Progress
from tablewright.transfer.state import State

__all__ = [
    "Compared",
    "Definition",
    "Event",
    "Progress",
    "State",
    "Sum",
    "TransferRefused",
    "copy",
    "dump",
    "dump_all",
    "load",
    "open_source",
    "open_target",
    "state_file",
]
