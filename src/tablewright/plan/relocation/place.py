"""Place: what the record of a table says about where its items are, and the items beside it.

    phase     programs that are connected to the table
    open      use it
    guarded   use it; each write checks a gate
    closed    read it; writes wait
    away      use the table at the other place

It is in the attribute `$move` of the record (`migration/revision.py`); a table without it is open.
A gate is an item beside the record. There are several: DynamoDB cancels a transaction if another
one checks the same item at the same time. A marker is an item with a random key, so that some of
them are in every shard of the stream.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from tablewright.errors import MigrationRefused, TablewrightError
from tablewright.mapping.item_kind import RECORD_NAME, record_key
from tablewright.mapping.table import TableMap
from tablewright.plan.plan import Request, Steps
from tablewright.values import Item, Value

Phase: TypeAlias = Literal["open", "guarded", "closed", "away"]

#: The attribute of the record with `PlaceRecord`.
MOVE = "$move"
#: The attribute of the record of the first table with the progress of the executor.
PROGRESS = "$relocation"
#: The attributes of a record that the other place does not get.
OF_PLACE = frozenset({"$lease", "$fence", MOVE, PROGRESS})
#: The attribute of a gate.
GATE = "$gate"
OPEN, CLOSED = "open", "closed"
GATES = 8
FORMAT = 1
#: Where the numbers of gates and markers begin, in a table with numbers as partition keys.
_NUMBER = "-116097098108101119114105103104116"
_PREFIX = f"{RECORD_NAME}#"


class PlaceRecord(Struct, frozen=True):
    """Where the items of a table are."""

    #: The same at both places.
    id: str
    phase: Phase
    #: The name of the table at the other place, and that place, for people.
    table: str
    place: str
    format: int = FORMAT


def move_in(record: Mapping[str, Value], name: str) -> PlaceRecord | None:
    """Return what a record says about the place; raise MigrationRefused if it cannot be read."""
    if MOVE not in record:
        return None
    try:
        found = msgspec.json.decode(record[MOVE]["S"], type=PlaceRecord)
        if found.format > FORMAT:
            raise ValueError(f"format {found.format}")
    except (msgspec.MsgspecError, KeyError, ValueError) as error:
        raise MigrationRefused(
            f"the record of the table {name!r} was written by another version of Tablewright, and "
            f"this one cannot read it ({error}); use that version, or a newer one"
        ) from None
    return found


def refuse_moved(name: str, move: PlaceRecord | None, error: type[TablewrightError]) -> None:
    """Raise an error for a program, or a command, that was not told the other place of a table."""
    if move is None or move.phase == "open":
        return
    where = f"the table {move.table!r} at {move.place}"
    if move.phase == "away":
        raise error(
            f"the items of the table {name!r} are in {where}; connect there. How far the move "
            "is: tablewright migrate status DESIGN TARGET DESTINATION"
        )
    raise error(
        f"the table {name!r} is being moved, and {where} takes its place within a minute. Programs "
        "that connect with moves_to= run meanwhile; others can connect there after that"
    )


def read_record(table: TableMap, name: str) -> Steps[Item]:
    """Return the record of a table, with all its attributes; an empty one if there is none."""
    body = {"TableName": name, "Key": record_key(table), "ConsistentRead": True}
    found: Item = msgspec.json.decode((yield Request("GetItem", body))).get("Item", {})
    return found


def gate_key(table: TableMap, number: int) -> Item:
    """Return the key of a gate."""
    return _own_key(table, f"gate#{number}", f"{number:03}")


def marker_key(table: TableMap, token: int) -> Item:
    """Return the key of a marker; `token` is a random number."""
    return _own_key(table, f"mark#{token}", f"9{token % 1000:03}")


def _own_key(table: TableMap, text: str, digits: str) -> Item:
    key, partition = record_key(table), table.attributes[0]
    values: dict[str, str] = {
        "S": _PREFIX + text,
        "N": _NUMBER + digits,
        "B": base64.b64encode((_PREFIX + text).encode()).decode(),
    }
    kind = table.key_types.get(partition, "S")
    return key | {partition: {kind: values[kind]}}


def is_own(table: TableMap, item: Item) -> bool:
    """Return whether an item is the record, a gate or a marker: these are never copied."""
    partition, sort = table.attributes
    own = record_key(table)
    if sort is not None and item[sort] != own[sort]:
        return False
    if item[partition] == own[partition]:
        return True
    ((kind, value),) = item[partition].items()
    if kind == "B":
        return base64.b64decode(value).startswith(_PREFIX.encode())
    return str(value).startswith(_PREFIX if kind == "S" else _NUMBER)
