"""Schema: the definition of a table, as frozen values that are stored as JSON.

`TableSchema` holds everything that CreateTable and later changes define. It knows the names and
types of keys; it does not know requests, bytes or rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec


class KeyAttribute(msgspec.Struct, frozen=True):
    """One attribute of a key: its name and its type, S, N or B."""

    name: str
    type: str


class KeySchema(msgspec.Struct, frozen=True):
    """The attributes of a key: partition first, then sort.

    A table has one partition attribute and at most one sort attribute; a global secondary index
    may have up to four of each.
    """

    partition: tuple[KeyAttribute, ...]
    sort: tuple[KeyAttribute, ...] = ()

    def __iter__(self) -> Iterator[KeyAttribute]:
        yield from self.partition
        yield from self.sort

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self)


class ProjectedAttributes(msgspec.Struct, frozen=True):
    """The attributes that an index holds: ALL, KEYS_ONLY, or INCLUDE (those in `include`)."""

    type: str
    include: tuple[str, ...] = ()


class Throughput(msgspec.Struct, frozen=True):
    """Provisioned capacity units, and when they were changed."""

    read: int = 0
    write: int = 0
    #: Times of the last increase and of the last decrease, in seconds since 1970.
    raised: float = 0
    lowered: float = 0
    #: Decreases on the day of the last decrease.
    decreases: int = 0

    def decreases_on(self, now: float) -> int:
        """Return the number of decreases on the day of `now`."""
        return self.decreases if self.lowered // 86_400 == now // 86_400 else 0


class OnDemand(msgspec.Struct, frozen=True):
    """The maximum units of an on-demand table or index; -1 means no maximum."""

    read: int = -1
    write: int = -1


class WarmUnits(msgspec.Struct, frozen=True):
    """The units per second that a table or index was prepared for; 0 means the default."""

    read: int = 0
    write: int = 0


class AttachedPolicy(msgspec.Struct, frozen=True):
    """The resource policy of a table, or of its stream with the label `stream`."""

    text: str
    revision: str
    stream: str | None = None


class InsightsSetting(msgspec.Struct, frozen=True):
    """Contributor Insights of a table, or of its index with the name `index`."""

    index: str | None
    is_enabled: bool
    mode: str
    #: When it was enabled, and when it was changed last, in seconds since 1970.
    since: float
    changed: float


class KinesisDestination(msgspec.Struct, frozen=True):
    """A Kinesis stream that is a destination of the changes of a table; none are sent to it."""

    arn: str
    is_active: bool
    precision: str | None = None


class IndexSchema(msgspec.Struct, frozen=True):
    """The definition of one secondary index."""

    name: str
    kind: Literal["local", "global"]
    keys: KeySchema
    projection: ProjectedAttributes
    tree: int = 0  # the number of its tree, assigned when the index is stored
    throughput: Throughput = Throughput()
    on_demand: OnDemand | None = None
    warm: WarmUnits = WarmUnits()
    #: Whether the index is still being built; items older than the index may be missing from it.
    building: bool = False


class StreamSetting(msgspec.Struct, frozen=True):
    """The latest stream of a table: its view type, its label, and whether it is enabled."""

    view: str
    label: str
    enabled: bool = True


class Shard(msgspec.Struct, frozen=True):
    """A part of a stream: a range of sequence numbers and of hashes of partition keys."""

    id: str
    parent: str | None
    #: The numbers of its changes are above `after` and, if it is closed, at most `last`.
    after: int
    #: The spread hashes of its partition keys, from `first_hash` to `end_hash` (exclusive).
    first_hash: int
    end_hash: int
    last: int | None = None
    #: When it was closed; 0: it is open.
    closed: float = 0


class Stream(msgspec.Struct, frozen=True):
    """One stream of a table; it is closed after its table's stream was disabled."""

    label: str
    view: str
    created: float
    #: In the order of their ids: parents before their children.
    shards: tuple[Shard, ...]
    #: When it was closed; 0: it is open.
    closed: float = 0


class ChangeLogSchema(msgspec.Struct, frozen=True):
    """The change log of a table, and what it is kept for. It can outlive its table."""

    tree: int
    table: str
    table_id: str
    keys: KeySchema
    #: The log has every change of the table after this sequence number.
    opened_after: int
    #: The streams of the table that can still be read, oldest first.
    streams: tuple[Stream, ...] = ()
    #: How long changes are kept for point-in-time recovery; 0: only as long as streams need them.
    recovery_seconds: int = 0

    @property
    def is_needed(self) -> bool:
        """Whether changes of the table must be logged."""
        return self.recovery_seconds > 0 or any(not stream.closed for stream in self.streams)


class RecoverySetting(msgspec.Struct, frozen=True):
    """Point-in-time recovery of a table: its period, and when it was turned on."""

    days: int
    since: float


class RestoreOrigin(msgspec.Struct, frozen=True):
    """What a table was restored from, and when, in seconds since 1970."""

    table_arn: str
    time: float
    #: None: a point in time of the table.
    backup_arn: str | None = None


class TableSchema(msgspec.Struct, frozen=True):
    """The definition of a table with its indexes and settings."""

    name: str
    id: str
    created: float
    keys: KeySchema
    tree: int = 0
    indexes: tuple[IndexSchema, ...] = ()
    billing: str = "PROVISIONED"  # or PAY_PER_REQUEST
    #: When the table last became PAY_PER_REQUEST.
    billing_changed: float = 0
    throughput: Throughput = Throughput()
    on_demand: OnDemand | None = None
    warm: WarmUnits = WarmUnits()
    stream: StreamSetting | None = None
    table_class: str | None = None
    table_class_changed: float = 0
    encrypted: bool = False
    #: The KMS key of an encrypted table, as it was given; None: the key that AWS manages.
    encryption_key: str | None = None
    deletion_protected: bool = False
    ttl_attribute: str | None = None
    tags: tuple[tuple[str, str], ...] = ()
    policies: tuple[AttachedPolicy, ...] = ()
    insights: tuple[InsightsSetting, ...] = ()
    destinations: tuple[KinesisDestination, ...] = ()
    restored: RestoreOrigin | None = None
    recovery: RecoverySetting | None = None
    #: The tree of the change log; 0: changes are not logged.
    log: int = 0

    @property
    def local_indexes(self) -> tuple[IndexSchema, ...]:
        return tuple(index for index in self.indexes if index.kind == "local")

    @property
    def global_indexes(self) -> tuple[IndexSchema, ...]:
        return tuple(index for index in self.indexes if index.kind == "global")

    @property
    def trees(self) -> tuple[int, ...]:
        """The trees with the rows of the table and of its indexes."""
        return (self.tree, *(index.tree for index in self.indexes))

    @property
    def is_building_index(self) -> bool:
        return any(index.building for index in self.indexes)

    @property
    def key_types(self) -> dict[str, str]:
        """The types of all key attributes of the table and its indexes, by attribute name."""
        types = {attribute.name: attribute.type for attribute in self.keys}
        for index in self.indexes:
            types |= {attribute.name: attribute.type for attribute in index.keys}
        return types
