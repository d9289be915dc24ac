"""Changes: what happens to the items of tables with a stream, as it happens.

A `Feed` reads the streams of some tables from its first use on, and keeps the last changes. It has
no thread of its own: a page that asks for changes reads the streams for all pages, unless they were
read a moment ago. So several pages send no more requests than one.

Every record is a change: also of an item that the design does not know, or of a table without a
design. The two records of a move are one change.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from weakref import WeakKeyDictionary

from msgspec import Struct

from tablewright.errors import EndpointUnavailable, TablewrightError
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.table import TableMap
from tablewright.model.databases.database import Database
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.streams.events import Converted, Moved
from tablewright.plan.streams.reading import Checkpoint, Round, StreamReader
from tablewright.presentation.kinds import kind_of
from tablewright.presentation.values import content
from tablewright.studio.workspace import Workspace
from tablewright.table_description import TableDescription
from tablewright.values import Item, Value

#: The changes that a feed keeps.
KEPT = 500
#: How often streams are read; AWS allows five times a second for a shard.
POLL_SECONDS = 0.5
KINDS = ("created", "updated", "moved", "deleted", "expired")
_EVENTS = {"INSERT": "created", "MODIFY": "updated", "REMOVE": "deleted"}


class ChangedAttribute(Struct, frozen=True):
    """An attribute that changed; None where it is absent."""

    name: str
    old: Value | None
    new: Value | None


class LiveChange(Struct, frozen=True):
    """A change of an item."""

    number: int
    at: datetime
    #: One of KINDS.
    kind: str
    table: str
    key: Item
    role: ItemKind
    #: The key before a move.
    old_key: Item | None
    #: What the stream has of the item: see `view`.
    old: Item | None
    new: Item | None
    #: The view type of the stream.
    view: str

    @property
    def differences(self) -> list[ChangedAttribute]:
        """The attributes that changed; none if the stream has one image of an update."""
        if self.kind in ("updated", "moved") and (self.old is None or self.new is None):
            return []
        old, new = self.old or {}, self.new or {}
        return [
            ChangedAttribute(name, old.get(name), new.get(name))
            for name in self.names
            if old.get(name) != new.get(name)
        ]

    @property
    def names(self) -> list[str]:
        """The attributes outside of the key, those of index keys last."""
        entity = self.role.entity
        keys = {
            name for key in (() if entity is None else entity.indexes) for name in key.templates
        }
        found = {**(self.old or {}), **(self.new or {})}
        return sorted((name for name in found if name not in self.key), key=keys.__contains__)

    def matches(self, entity: str, kind: str, text: str) -> bool:
        """Return whether a filter shows the change; "" stands for any."""
        name = "unknown" if self.role.entity is None else self.role.entity.name
        if (entity and entity != name) or (kind and kind != self.kind):
            return False
        if not text:
            return True
        images = (self.key, self.old or {}, self.new or {}, self.old_key or {})
        wanted = text.lower()
        return any(
            wanted in name.lower() or wanted in content(value).lower()
            for image in images
            for name, value in image.items()
        )


class _ReadRound(Plan[Round]):
    """Read what is new in the streams."""

    def __init__(self, reader: StreamReader) -> None:
        self._reader = reader

    def _steps(self, context: Context) -> Steps[Round]:
        return (yield from self._reader.steps(context))


class Feed:
    """The changes of some tables, from the first use on."""

    def __init__(self, workspace: Workspace, tables: Mapping[str, TableMap]) -> None:
        self._workspace = workspace
        self._maps = tables
        self._context = Context(names={table: name for name, table in tables.items()}, secret=b"")
        self._reader = self._start()
        self._reading = threading.Lock()
        self._due = 0.0
        self._lock = threading.Lock()  # of what is kept
        self._kept: deque[LiveChange] = deque(maxlen=KEPT)
        self._count = 0
        #: Why nothing can be read at the moment.
        self.problem = ""

    def _start(self) -> StreamReader:
        entities = {table: table.entities for table in self._maps.values()}
        return StreamReader(entities, Checkpoint(), start="LATEST", poll_seconds=0.0)

    def poll(self, *, at_once: bool = False) -> None:
        """Read what is new, unless that was done a moment ago or another thread does it."""
        if not at_once and time.monotonic() < self._due:
            return
        if self._reading.acquire(timeout=1.0 if at_once else 0.0):
            try:
                self._read()
                self._due = time.monotonic() + POLL_SECONDS
            finally:
                self._reading.release()

    def _read(self) -> None:
        try:
            database = Database(self._workspace.transport, self._context, (), owned=False)
            found = database.run(_ReadRound(self._reader))
        except TablewrightError as error:
            self.problem = str(error)
            if not isinstance(error, EndpointUnavailable):
                self._reader = self._start()  # behind what can no longer be read
            return
        self.problem = ""
        with self._lock:
            for converted, (table, _, _) in found.records:
                if converted.partner is None:
                    self._count += 1
                    self._kept.append(self._change(converted, table))
        for _ in self._reader.deliver(found):
            pass  # it moves the checkpoint

    def _change(self, converted: Converted, table: str) -> LiveChange:
        record = converted.record["dynamodb"]
        (old, new), kind, old_key = converted.images, _kind(converted), None
        if isinstance(converted.event, Moved):
            old_key = None if old is None else self._maps[table].key(old)
        key = self._maps[table].key(record["Keys"] if old_key is None or new is None else new)
        return LiveChange(
            number=self._count,
            at=datetime.fromtimestamp(record["ApproximateCreationDateTime"], UTC),
            kind=kind,
            table=table,
            key=key,
            role=kind_of(self._maps[table], new or old or key),
            old_key=old_key,
            old=old,
            new=new,
            view=record.get("StreamViewType", ""),
        )

    @property
    def last(self) -> int:
        """The number of the last change."""
        return self._count

    def after(self, number: int) -> list[LiveChange]:
        """Return the changes behind a number, the oldest first."""
        with self._lock:
            return [change for change in self._kept if change.number > number]


def _kind(converted: Converted) -> str:
    if isinstance(converted.event, Moved):
        return "moved"
    kind = _EVENTS[converted.record["eventName"]]
    service = (converted.record.get("userIdentity") or {}).get("PrincipalId")
    return "expired" if kind == "deleted" and service == "dynamodb.amazonaws.com" else kind


_FEEDS: WeakKeyDictionary[Workspace, dict[tuple[str, ...], Feed]] = WeakKeyDictionary()
_OPENING = threading.Lock()


def open_feed(workspace: Workspace, descriptions: Mapping[str, TableDescription]) -> Feed:
    """Return the feed of some tables, given their descriptions; the first call starts it.

    A table that was created again, or has a new stream, has another feed.
    """
    place = tuple(
        f"{name} {each.state.stream_arn} {each.state.id}"
        for name, each in sorted(descriptions.items())
    )
    with _OPENING:
        feeds = _FEEDS.setdefault(workspace, {})
        feed = feeds.get(place)
        if feed is None:
            maps = {
                name: workspace.map_of(name) or plain_map(each)
                for name, each in descriptions.items()
            }
            feed = feeds[place] = Feed(workspace, maps)
            feed.poll()
    return feed


def plain_map(table: TableDescription) -> TableMap:
    """Return a table without entities."""
    partition, *sort = table.keys.names
    return TableMap(table.name, table.name, (partition, sort[0] if sort else None), None, {})
