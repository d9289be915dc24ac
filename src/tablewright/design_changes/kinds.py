"""Kinds of change: what each needs, what breaks while two versions run, how long it can be undone.

    need      what must be done for the new version to work on stored items
    reads     what the new version reads of items that the old one has written, and the other way
              round, before anything is done about it
    breaks    what goes wrong while programs of both versions run, beyond what `reads` says
    undo      until when the old version can be used again

Invariants: a kind never promises more than the experiment shows: tests write items with one version
and read them with the other. Where it depends on the values, the kind states the worst case. A
difference without a kind is an error, not "no change".
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

from msgspec import Struct


class Need(StrEnum):
    """What must be done to stored items or to the table, from the least to the most."""

    NOTHING = "nothing"
    TABLE_UPDATE = "a table update"
    RECOUNT = "a recount of counters"
    BACKFILL = "a backfill"
    RESERVATION = "a reservation of unique values"
    REWRITE = "a rewrite of items"
    MOVES = "moves of items"
    ANOTHER_TABLE = "another table"


class Reading(IntEnum):
    """What a version reads of the items of the other version, from the best to the worst."""

    COMPLETE = 0
    #: An attribute has another value than the writer stored.
    OTHER_VALUES = 1
    #: Items are not found, by their key or in an index.
    MISSES = 2
    #: Reads raise UnreadableItem, or the program cannot connect.
    FAILS = 3

    def __str__(self) -> str:
        return ("reads all items", "reads other values", "misses items", "fails")[self]


class Undo(StrEnum):
    """Until when a change can be undone."""

    ALWAYS = "at any time"
    NEW_VALUES = "until new values are stored"
    OLD_REMOVED = "until the old attributes are removed"
    LABELS = "until the last item has the new type"
    FORMER_TYPES = "until the former types of the items are removed"
    ITEMS_DELETED = "until its items are deleted"
    MOVED = "until the migration is completed"
    INDEX_DELETED = "until the old index is deleted"
    SENTINELS_DELETED = "until the old sentinels are deleted"
    EXPIRED = "until the first items expire"
    TABLE_DELETED = "until the old table is deleted"


class ChangeKind(Struct, frozen=True):
    """One kind of change."""

    name: str
    #: What happened, after the name of the part: `Order.status: {title}`.
    title: str
    need: Need
    new_reads: Reading
    old_reads: Reading
    undo: Undo
    #: What goes wrong while both versions run; "" if nothing does.
    breaks: str = ""


#: Kinds whose use the library refuses until stored items are prepared, or that use nothing new.
GUARDED = frozenset({"place-added", "unique-added", "entity-removed"})
#: Kinds for which new programs must read before they write what only they can read.
READERS_FIRST = frozenset(
    {"attribute-made-optional", "attribute-widened", "choice-added", "entity-added"}
)

_FINE, _OTHER, _MISSES, _FAILS = Reading

KINDS: dict[str, ChangeKind] = {
    each.name: each
    for each in (
        # -- attributes ------------------------------------------------------------------------
        ChangeKind(
            "attribute-added", "the attribute is new",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
            "an old program that replaces an item with put drops the attribute",
        ),
        ChangeKind(
            "required-attribute-added", "the attribute is new and required",
            Need.REWRITE, _FAILS, _FINE, Undo.ALWAYS,
            "new programs cannot read items that old programs create",
        ),
        ChangeKind(
            "attribute-removed", "the attribute is removed",
            Need.NOTHING, _FINE, _OTHER, Undo.OLD_REMOVED,
            "a new program that replaces an item with put drops the attribute",
        ),
        ChangeKind(
            "required-attribute-removed", "the required attribute is removed",
            Need.NOTHING, _FINE, _FAILS, Undo.OLD_REMOVED,
            "old programs cannot read items that new programs create or replace",
        ),
        ChangeKind(
            "attribute-renamed", "the attribute is renamed",
            Need.REWRITE, _FAILS, _FAILS, Undo.OLD_REMOVED,
            "each version writes the name that the other one does not read",
        ),
        ChangeKind(
            "attribute-retyped", "the type of the attribute has changed",
            Need.REWRITE, _FAILS, _FAILS, Undo.OLD_REMOVED,
            "each version may fail to read what the other one writes, or read another value",
        ),
        ChangeKind(
            "attribute-widened", "the attribute accepts more values",
            Need.NOTHING, _FINE, _FAILS, Undo.NEW_VALUES,
            "old programs cannot read the values that only the new type has",
        ),
        ChangeKind(
            "attribute-narrowed", "the attribute accepts fewer values",
            Need.REWRITE, _FAILS, _FINE, Undo.ALWAYS,
            "new programs cannot read the values that only the old type has",
        ),
        ChangeKind(
            "attribute-made-required", "the attribute is required",
            Need.REWRITE, _FAILS, _FINE, Undo.ALWAYS,
            "new programs cannot read items without the attribute",
        ),
        ChangeKind(
            "attribute-made-optional", "the attribute is no longer required",
            Need.NOTHING, _FINE, _FAILS, Undo.NEW_VALUES,
            "old programs cannot read items that new programs write without the attribute",
        ),
        ChangeKind(
            "default-changed", "the default is another value",
            Need.NOTHING, _OTHER, _OTHER, Undo.ALWAYS,
            "the versions read different values from an item without the attribute",
        ),
        ChangeKind(
            "choice-added", "the attribute has new choices",
            Need.NOTHING, _FINE, _FAILS, Undo.NEW_VALUES,
            "old programs cannot read items with a new choice",
        ),
        ChangeKind(
            "choice-removed", "choices of the attribute are removed",
            Need.REWRITE, _FAILS, _FINE, Undo.ALWAYS,
            "new programs cannot read items with a removed choice",
        ),
        ChangeKind(
            "version-added", "the version is new",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
            "writes of old programs do not check or count the version",
        ),
        ChangeKind(
            "version-removed", "the version is removed",
            Need.NOTHING, _FINE, _OTHER, Undo.ALWAYS,
            "writes of new programs do not check or count the version",
        ),
        ChangeKind(
            "timestamp-added", "the timestamp is new",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
            "items that old programs create have no timestamp and are read with 1970-01-01",
        ),
        ChangeKind(
            "timestamp-removed", "the timestamp is removed",
            Need.NOTHING, _FINE, _OTHER, Undo.ALWAYS,
            "items that new programs create have no timestamp",
        ),
        ChangeKind(
            "role-changed", "the attribute has another role",
            Need.NOTHING, _OTHER, _OTHER, Undo.ALWAYS,
            "the versions set the attribute by different rules",
        ),
        # -- entities --------------------------------------------------------------------------
        ChangeKind(
            "entity-added", "the entity is new",
            Need.NOTHING, _FINE, _FAILS, Undo.NEW_VALUES,
            "old programs do not know its items",
        ),
        ChangeKind(
            "entity-removed", "the entity is removed",
            Need.NOTHING, _FAILS, _FINE, Undo.ITEMS_DELETED,
            "its items stay in the table, and new programs cannot read them",
        ),
        ChangeKind(
            "entity-renamed", "the type of the items is renamed",
            Need.REWRITE, _FAILS, _FAILS, Undo.LABELS,
            "each version takes the items of the other one for items of an unknown type",
        ),
        ChangeKind(
            "entity-split", "items of one type become items of several types",
            Need.REWRITE, _FAILS, _FAILS, Undo.LABELS,
            "each version takes the items of the other one for items of an unknown type",
        ),
        ChangeKind(
            "entity-merged", "items of several types become items of one type",
            Need.REWRITE, _FAILS, _FAILS, Undo.FORMER_TYPES,
            "each version takes the items of the other one for items of an unknown type",
        ),
        ChangeKind(
            "entity-name-changed", "the entity has another name, which is not stored",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
        ),
        # -- primary keys ----------------------------------------------------------------------
        ChangeKind(
            "primary-key-changed", "the primary key is made of other parts",
            Need.MOVES, _FAILS, _FAILS, Undo.MOVED,
            "each version looks for items under keys that the other one does not write",
        ),
        ChangeKind(
            "primary-format-changed", "the primary key has its values in another format",
            Need.MOVES, _FAILS, _FAILS, Undo.MOVED,
            "each version looks for items under keys that the other one does not write",
        ),
        ChangeKind(
            "primary-delimiter-changed", "the primary key has another delimiter",
            Need.MOVES, _FAILS, _FAILS, Undo.MOVED,
            "each version looks for items under keys that the other one does not write",
        ),
        ChangeKind(
            "primary-shards-changed", "the primary key has another number of shards",
            Need.MOVES, _FAILS, _FAILS, Undo.MOVED,
            "each version looks for items in shards that the other one does not write",
        ),
        # -- places in indexes -----------------------------------------------------------------
        ChangeKind(
            "place-added", "the entity is added to the index",
            Need.BACKFILL, _MISSES, _FINE, Undo.ALWAYS,
            "items that old programs write are not in the index",
        ),
        ChangeKind(
            "natural-place-added", "the entity reads the index of attributes that its items have",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
        ),
        ChangeKind(
            "place-removed", "the entity is no longer in the index",
            Need.NOTHING, _FINE, _MISSES, Undo.ALWAYS,
            "items that new programs write are not in the index",
        ),
        ChangeKind(
            "natural-place-removed", "the entity no longer reads the index of its attributes",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
        ),
        ChangeKind(
            "index-key-changed", "the key in the index is made of other parts",
            Need.BACKFILL, _MISSES, _MISSES, Undo.ALWAYS,
            "each version misses the items of the other one in the index",
        ),
        ChangeKind(
            "index-format-changed", "the key in the index has its values in another format",
            Need.BACKFILL, _MISSES, _MISSES, Undo.ALWAYS,
            "each version misses the items of the other one in the index, or reads them in a wrong "
            "order",
        ),
        ChangeKind(
            "index-delimiter-changed", "the key in the index has another delimiter",
            Need.BACKFILL, _MISSES, _MISSES, Undo.ALWAYS,
            "each version misses the items of the other one in the index",
        ),
        ChangeKind(
            "index-shards-changed", "the key in the index has another number of shards",
            Need.BACKFILL, _MISSES, _MISSES, Undo.ALWAYS,
            "a version with fewer shards misses the items in the others",
        ),
        ChangeKind(
            "index-default-changed", "the key in the index has another default",
            Need.BACKFILL, _MISSES, _MISSES, Undo.ALWAYS,
            "each version misses the items of the other one in the index that have no value",
        ),
        ChangeKind(
            "index-condition-changed", "other items belong to the index",
            Need.BACKFILL, _MISSES, _MISSES, Undo.ALWAYS,
            "each version writes the index for the items that it expects there",
        ),
        # -- indexes and settings of a table ---------------------------------------------------
        ChangeKind(
            "index-added", "the index is new",
            Need.TABLE_UPDATE, _FAILS, _FINE, Undo.ALWAYS,
        ),
        ChangeKind(
            "index-removed", "the index is removed",
            Need.TABLE_UPDATE, _FINE, _FAILS, Undo.INDEX_DELETED,
            "old programs need the index: delete it when the last one has ended",
        ),
        ChangeKind(
            "index-changed", "the index has other keys or another projection",
            Need.TABLE_UPDATE, _FAILS, _FAILS, Undo.INDEX_DELETED,
            "DynamoDB cannot change an index: add one with another name, switch to it, then delete "
            "the old one",
        ),
        ChangeKind(
            "local-index-changed", "a local index is new, changed or removed",
            Need.ANOTHER_TABLE, _FAILS, _FAILS, Undo.TABLE_DELETED,
            "local indexes exist from the creation of a table to its deletion",
        ),
        ChangeKind(
            "table-key-changed", "the key attributes of the table are others",
            Need.ANOTHER_TABLE, _FAILS, _FAILS, Undo.TABLE_DELETED,
            "DynamoDB cannot change the key attributes of a table",
        ),
        ChangeKind(
            "table-added", "the table is new",
            Need.TABLE_UPDATE, _FAILS, _FINE, Undo.ALWAYS,
        ),
        ChangeKind(
            "table-removed", "the table is removed",
            Need.NOTHING, _FINE, _FAILS, Undo.TABLE_DELETED,
            "old programs need the table: delete it when the last one has ended",
        ),
        ChangeKind(
            "type-attribute-changed", "the types of items are stored in another way",
            Need.REWRITE, _FAILS, _FAILS, Undo.OLD_REMOVED,
            "each version writes a type that the other one does not read",
        ),
        ChangeKind(
            "ttl-added", "items expire",
            Need.TABLE_UPDATE, _FAILS, _FINE, Undo.EXPIRED,
        ),
        ChangeKind(
            "ttl-removed", "items no longer expire",
            Need.TABLE_UPDATE, _FINE, _FAILS, Undo.ALWAYS,
        ),
        ChangeKind(
            "ttl-changed", "items expire by another attribute",
            Need.TABLE_UPDATE, _FAILS, _FAILS, Undo.EXPIRED,
            "a table has one TTL attribute; it takes up to an hour to change it",
        ),
        ChangeKind(
            "stream-added", "the table has a stream",
            Need.TABLE_UPDATE, _FAILS, _FINE, Undo.ALWAYS,
        ),
        ChangeKind(
            "stream-removed", "the table has no stream",
            Need.TABLE_UPDATE, _FINE, _FAILS, Undo.ALWAYS,
        ),
        ChangeKind(
            "stream-changed", "the records of the stream have other contents",
            Need.TABLE_UPDATE, _FAILS, _FAILS, Undo.ALWAYS,
            "the stream is disabled and enabled again, with another ARN",
        ),
        ChangeKind(
            "tenancy-changed", "tenants have other partitions",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
            "the versions allow a tenant different requests; update the IAM policies",
        ),
        # -- unique values and histories -------------------------------------------------------
        ChangeKind(
            "unique-added", "the value is unique",
            Need.RESERVATION, _MISSES, _FINE, Undo.ALWAYS,
            "old programs do not reserve the values that they write",
        ),
        ChangeKind(
            "unique-removed", "the value is no longer unique",
            Need.NOTHING, _FINE, _MISSES, Undo.SENTINELS_DELETED,
            "new programs do not reserve the values that they write",
        ),
        ChangeKind(
            "unique-changed", "the unique value is reserved under another key",
            Need.RESERVATION, _MISSES, _MISSES, Undo.SENTINELS_DELETED,
            "each version reserves values where the other one does not look",
        ),
        ChangeKind(
            "unique-contents-changed", "the sentinel has other attributes",
            Need.RESERVATION, _FAILS, _FAILS, Undo.ALWAYS,
            "sentinels of the other version may not name their item",
        ),
        ChangeKind(
            "unique-renamed", "the type of the sentinels is renamed",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
        ),
        ChangeKind(
            "history-added", "changes of the attribute are recorded",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
            "changes by old programs are not recorded",
        ),
        ChangeKind(
            "history-removed", "changes of the attribute are no longer recorded",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
            "changes by new programs are not recorded",
        ),
        ChangeKind(
            "history-changed", "the events of the history have other contents",
            Need.NOTHING, _FINE, _FINE, Undo.ALWAYS,
            "the versions record different events",
        ),
        # -- counters --------------------------------------------------------------------------
        ChangeKind(
            "counter-added", "the attribute counts other items",
            Need.RECOUNT, _OTHER, _FINE, Undo.ALWAYS,
            "old programs do not count what they write; run `tablewright reconcile` after them",
        ),
        ChangeKind(
            "counter-removed", "the attribute no longer counts other items",
            Need.NOTHING, _FINE, _OTHER, Undo.ALWAYS,
            "new programs do not count what they write",
        ),
        ChangeKind(
            "counter-changed", "the attribute counts other items than before",
            Need.RECOUNT, _OTHER, _OTHER, Undo.ALWAYS,
            "the versions count different items; run `tablewright reconcile` after the old ones",
        ),
    )
}  # fmt: skip
