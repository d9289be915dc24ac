"""Backfill: give stored items what was declared after they were written.

    db.run(backfill(Order))                                  # how many writes it took
    db.run(backfill(Shop, indexes=["gsi1"], progress=print))

It reads the whole table, with consistent reads, and writes an item only if its keys do not match
its values. Unless it is for some indexes only, it also reserves the unique values of the items
(`reservations.py`). At the end, the index record lists the indexes and unique values as complete,
so that they can be used; with duplicates, it raises an error that lists them all.

Invariants:
- Nothing but index keys and sentinels is written. Each write requires what it was computed from,
  and the keys, as they were read; if another writer has changed them, the item is read again.
- After each page, the record keeps the position: a run that was stopped, or killed, is continued by
  the next run for the same keys.
- While requests are throttled, it waits, and sends fewer requests at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tablewright.capacity import TRANSACTION_FACTOR
from tablewright.errors import (
    ConditionalCheckFailedException,
    Contention,
    DeclarationError,
    DuplicateValues,
    InvalidValue,
    MigrationRefused,
    UnreadableItem,
    ValidationException,
)
from tablewright.hints import did_you_mean
from tablewright.limits import MAX_BATCH_GET_KEYS
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan import facts
from tablewright.plan.backfill import index_record
from tablewright.plan.backfill.reservations import Claim, Reservations, claims_of
from tablewright.plan.backfill.throttling import Pace, Paced, retry_throttled
from tablewright.plan.migration.admission import declared_version, item_changes
from tablewright.plan.plan import DECLARED, Context, Plan, Request, Steps, Together
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.scan import Scan
from tablewright.plan.reads.single import decode_page, read_item
from tablewright.plan.shape import TYPICAL_PAGE, Shape, in_turn, read_shape
from tablewright.plan.writes.guard import WriteExpressions, key_text, stored_values
from tablewright.plan.writes.write import side_shapes, write_units
from tablewright.transport.tables import describe_table
from tablewright.values import Item

T = TypeVar("T")

#: How often the write of one item is tried while others change the item.
MAX_ATTEMPTS = 20
#: How many writes a thread makes before the pace is adjusted.
WRITES_PER_THREAD = 4


class BackfillProgress(Struct, frozen=True):
    """How far a backfill is."""

    table: str
    #: How many items were read, also by the run that is continued; how many this run has changed.
    items: int
    changed: int
    #: How many items the table has, as far as that is known: the count of DynamoDB is hours old.
    expected: int | None
    #: How many unique values this run has reserved.
    reserved: int = 0


Report = Callable[[BackfillProgress], None]


class _EntityKeys:
    """The index keys of an entity that a backfill writes."""

    def __init__(self, entity: EntityMap, indexes: Collection[str] | None) -> None:
        self.entity = entity
        chosen = [
            each
            for each in entity.index_keys
            if indexes is None or (each.index is not None and each.index.name in indexes)
        ]
        self._names = sorted({name for each in chosen for name in each.composed})
        #: What must not change between the read and the write.
        self._watched = sorted(
            {
                *(name for each in entity.index_keys for name in each.composed),
                *([entity.table.type_attribute] if entity.table.type_attribute else []),
                *(
                    entity.attributes[name].stored
                    for each in chosen
                    for name in each.depends_on
                    if not entity.attributes[name].is_key_only
                ),
            }
            - {*entity.table.attributes}
        )
        #: The keys as texts: a backfill with other keys cannot continue this one.
        self.texts = [
            f"{name}: {text}" for name, text in index_record.describe(entity, indexes).items()
        ]

    def changes(self, item: Item) -> Item | None:
        """Return the keys that the values of an item give; None if it has them."""
        if not self._names:
            return None
        try:
            wanted = self.entity.rekey(item)
        except (InvalidValue, UnreadableItem) as error:
            raise self.entity.table.unreadable(error, item) from None
        keys = {name: wanted[name] for name in self._names if name in wanted}
        return None if keys == {n: item[n] for n in self._names if n in item} else keys

    def shown(self, item: Item) -> str:
        return f"the item with {key_text(self.entity.table.key(item))}"

    def request(self, item: Item, keys: Item, table: str) -> Request:
        """Return the write of the keys, if the item is still as it was read."""
        expressions = WriteExpressions()
        expressions.require_exists(self.entity.table)
        expressions.require_unchanged(stored_values(item, self._watched))
        for name in self._names:
            expressions.update.set_or_remove(name, keys.get(name))
        body = {"TableName": table, "Key": self.entity.table.key(item)}
        return Request("UpdateItem", expressions.add_to(body))


@lru_cache(maxsize=1024)
def _entity_keys(entity: EntityMap, indexes: frozenset[str] | None) -> _EntityKeys:
    return _EntityKeys(entity, indexes)


class _WriteKeys(Paced[int]):
    """Write the keys of one item; return how many items were changed, 0 or 1."""

    def __init__(self, keys: _EntityKeys, item: Item, pace: Pace, name: str) -> None:
        super().__init__(keys.entity, pace, name)
        self._keys = keys
        self._item = item

    def _write(self, context: Context) -> Steps[int]:
        table = self._entity.table
        item: Item | None = self._item
        for _ in range(MAX_ATTEMPTS):
            if item is None or not self._entity.includes(table.entity_of(item)):
                return 0  # another writer has deleted or replaced it
            changes = self._keys.changes(item)
            if changes is None:
                return 0  # another writer has written its keys
            try:
                yield self._keys.request(item, changes, context.name_of(table))
            except ConditionalCheckFailedException:
                item = yield from read_item(context, self._entity, table.key(item))
            except ValidationException as fault:  # a key, or the item with its keys, is too large
                raise InvalidValue(
                    f"backfill: the keys of {self._keys.shown(item)}: {fault.message}"
                ) from fault
            else:
                return 1
        raise Contention(
            f"backfill: other writers changed {self._keys.shown(self._item)} {MAX_ATTEMPTS} "
            "times in a row; run it again"
        )


class Backfill(Plan[int]):
    """Write the index keys and sentinels of stored items; returns how many were written."""

    def __init__(
        self,
        table: TableMap,
        entity: EntityMap | None,
        *,
        indexes: Collection[str] | None,
        dry_run: bool,
        restart: bool,
        progress: Report | None,
    ) -> None:
        self._table = table
        self._members = tuple(
            each for each in table.entities if entity is None or entity.includes(each)
        )
        self._entity = entity or self._members[0]
        self._scan: Scan[Any] | None = None
        if entity is not None:
            self._scan = Scan[Any](entity, "backfill")._replace(_is_consistent=True)
        self._indexes = None if indexes is None else frozenset(indexes)
        self._dry_run = dry_run
        self._restart = restart
        self._progress = progress

    def _entities(self) -> tuple[EntityMap, ...]:
        return self._members

    def _steps(self, context: Context) -> Steps[int]:
        pace = Pace()
        return (yield from retry_throttled(self._run(context, pace), pace))

    def _run(self, context: Context, pace: Pace) -> Steps[int]:
        name = context.name_of(self._table)
        request = self._request(context)
        texts = [text for each in self._members for text in _entity_keys(each, self._indexes).texts]
        items = changed = reserved = 0
        reservations = Reservations(self._name, pace, dry_run=self._dry_run)
        record = yield from index_record.read_record(self._table, name)
        if record is not None:
            self._refuse_other_version(name, record)
            yield from self._replace_descriptions(name, record)
        position = self._position(record, texts)
        if position is None and record is not None and record.position and not self._dry_run:
            yield from index_record.save_position(
                self._table, name, None
            )  # nothing continues that run
        if position is not None:
            request, items = request.next_page(position.last), position.items
        found = yield from describe_table(name)
        expected = None if found is None else found.state.items
        while True:
            page = decode_page((yield request))
            writes = [
                _WriteKeys(of, item, pace, self._name)
                for item in page.items
                if (of := self._differing(item)) is not None
            ]
            items += page.scanned_count
            changed += len(writes) if self._dry_run else sum((yield from _run_all(writes, pace)))
            claims = yield from reservations.plans(self._claims(page.items), context)
            reserved += reservations.add((yield from _run_all(claims, pace)))
            if self._progress is not None:
                self._progress(BackfillProgress(name, items, changed, expected, reserved))
            if page.last_evaluated_key is None:
                break
            if not self._dry_run and reservations.can_continue:
                position = index_record.BackfillPosition(texts, page.last_evaluated_key, items)
                yield from index_record.save_position(self._table, name, position)
            request = request.next_page(page.last_evaluated_key)
        if reservations.duplicates:
            if not self._dry_run:
                yield from index_record.save_position(self._table, name, None)
            listed = "\n  ".join(map(str, reservations.duplicates))
            raise DuplicateValues(
                f"items of the table {name!r} share values that must be unique:\n  {listed}\n"
                "Delete some of them, or change their values with a program that does not declare "
                "the values as unique; then run the backfill again",
                tuple(reservations.duplicates),
            )
        if not self._dry_run:
            present = set() if found is None else set(found.index_names)
            yield from self._record(name, present)
        return changed + reserved

    def _request(self, context: Context) -> QueryRequest:
        if self._scan is not None:
            return self._scan._request(context)[0]
        members = {"TableName": context.name_of(self._table), "ConsistentRead": True}
        return QueryRequest("Scan", members, Selection(None))

    def _refuse_other_version(self, name: str, record: index_record.IndexRecord) -> None:
        """Raise MigrationRefused if the table records another version: it must be migrated."""
        revision = record.revision
        if revision is not None:
            declared = declared_version(self._table, revision)
            if item_changes(revision.design, declared, name):
                raise MigrationRefused(
                    f"the items of the table {name!r} are prepared for another version of the "
                    "design, whose programs may still write. Migrate the table instead: "
                    "tablewright migrate apply DESIGN TARGET"
                )

    def _replace_descriptions(self, name: str, record: index_record.IndexRecord) -> Steps[None]:
        """Record the changed keys: programs of the old design can no longer connect.

        Raise DesignMismatch for a changed primary key: an item cannot get another one.
        """
        differences = record.differences(self._members, self._indexes)
        primary = [each for each in differences.values() if each.key == index_record.PRIMARY_KEY]
        index_record.refuse_differences(name, primary)
        if differences and not self._dry_run:
            yield from index_record.replace_descriptions(self._table, name, differences)

    def _position(
        self, record: index_record.IndexRecord | None, texts: list[str]
    ) -> index_record.BackfillPosition | None:
        """Return how far an earlier run is that this one continues."""
        if record is None or self._dry_run or self._restart:
            return None
        if record.position is None or record.position.keys != texts:
            return None
        # A backfill of another design may have changed the keys since.
        return None if record.differences(self._members, self._indexes) else record.position

    def _member_of(self, item: Item) -> EntityMap | None:
        """Return the entity of an item, if the backfill is for it."""
        entity = self._table.entity_of(item)
        if entity is None or not any(each.includes(entity) for each in self._members):
            return None
        return entity.kind_of(item)

    def _differing(self, item: Item) -> _EntityKeys | None:
        """Return the keys of the entity of an item, if the item does not have them."""
        entity = self._member_of(item)
        if entity is None:
            return None
        found = _entity_keys(entity, self._indexes)
        return None if found.changes(item) is None else found

    def _claims(self, items: Iterable[Item]) -> Iterator[Claim]:
        """Yield the unique values of items, unless only indexes are backfilled."""
        for item in items:
            entity = self._member_of(item) if self._indexes is None else None
            if entity is not None:
                yield from claims_of(entity, item)

    def _record(self, name: str, present: set[str]) -> Steps[None]:
        """Record that the indexes lack no items, and that those that are present are not awaited.

        A table without a record gets one for all its entities. Of an entity that the record does
        not know, the other indexes that exist count as complete: they were read before, too. The
        same is true of the unique values of an entity whose keys the record does not describe, if
        only indexes were backfilled.
        """
        record = yield from index_record.read_record(self._table, name)
        if record is None or not record.complete:
            record = yield from index_record.begin_record(self._table, name, present)
        for entity in self._members:
            indexes, uniques = self._indexes, True
            if record.describes(entity):
                uniques = indexes is None
            elif indexes is not None and not record.knows(entity):
                indexes |= present
            yield from index_record.add_complete(
                self._table, name, entity, indexes, uniques=uniques
            )
        yield from index_record.stop_awaiting(self._table, name, record.awaited & present)

    def _shape(self) -> Shape:
        entity = max(self._members, key=lambda each: each.index_rows)
        targets = self._members if self._scan is None else (self._entity,)
        read = replace(
            read_shape(self._request(DECLARED), targets, [self._table]),
            keys=(facts.WholeScan("backfill"),),
            extent=facts.AllPages(),
            read_units=128,
            read_range=facts.all_read(consistent=True),
        )
        update = Shape(
            operation="UpdateItem",
            tables=read.tables,
            targets=read.targets,
            keys=(entity.primary.symbolic(),),
            extent=facts.Actions(1, facts.Repeats.EACH_DIFFERING_ITEM),
            write_units=write_units(entity) * TYPICAL_PAGE,
            write_range=facts.item_write(entity.index_rows).for_each(),
        )
        reservations = [
            shape
            for each in self._members
            if each.uniques and self._indexes is None
            for shape in self._shapes_of_reservations(each)
        ]
        return replace(in_turn(read, update, *reservations), keys=read.keys)

    def _shapes_of_reservations(self, entity: EntityMap) -> tuple[Shape, Shape]:
        """Return the reads of sentinels, and the transactions that write them."""
        puts = side_shapes(entity, entity.uniques, "Put")
        checks = len(puts) * TRANSACTION_FACTOR
        most = facts.total(each.write_range for each in puts)
        read = Shape(
            operation="BatchGetItem",
            tables=(self._table,),
            targets=(entity,),
            keys=tuple(key for each in puts for key in each.keys),
            extent=facts.Batches(MAX_BATCH_GET_KEYS),
            read_units=len(puts) * TYPICAL_PAGE,
            read_range=(facts.items_read(1, consistent=True) * len(puts)).for_each(),
        )
        write = Shape(
            operation="TransactWriteItems",
            tables=read.tables,
            targets=read.targets,
            keys=read.keys,
            extent=facts.Actions(1, facts.Repeats.EACH_VALUE),
            write_units=(sum(each.write_units for each in puts) + checks) * TYPICAL_PAGE,
            write_range=(most + facts.UnitRange(0, checks * facts.ITEM_WRITE)).for_each(),
        )
        return read, write


def _run_all(plans: Sequence[Plan[T]], pace: Pace) -> Steps[list[T]]:
    """Run plans, some at the same time; return their results."""
    results: list[T] = []
    while len(results) < len(plans):
        count = pace.threads * WRITES_PER_THREAD
        step = Together(plans[len(results) : len(results) + count], threads=pace.threads)
        yield step
        results += step.results
        pace.adjust()
    return results


def backfill(
    what: type[Any],
    *,
    indexes: Collection[str] | None = None,
    dry_run: bool = False,
    restart: bool = False,
    progress: Report | None = None,
) -> Backfill:
    """Give the stored items of an entity, or of a table, the keys that their values give.

    It also reserves their unique values. The plan returns how many items were changed and values
    reserved; with `dry_run`, how many would be. If several items have a unique value, it raises
    DuplicateValues at the end. `indexes` limits the backfill to the keys of these indexes; then no
    unique values are reserved. An interrupted run is continued, unless `restart` is true.
    `progress` is called after each page of items.
    """
    table, entity = getattr(what, "__table__", None), getattr(what, "__entity__", None)
    if isinstance(entity, EntityMap):
        table = entity.table
    elif not isinstance(table, TableMap) or not table.entities:
        raise DeclarationError(
            f"backfill() takes an entity, such as Order, or a table, not {what!r}"
        )
    known = {index.name for index in table.indexes.values()}
    for name in indexes or ():
        if name not in known:
            hint = did_you_mean(name, known)
            raise DeclarationError(f"backfill(): {table.owner} has no index {name!r}{hint}")
    return Backfill(
        table, entity, indexes=indexes, dry_run=dry_run, restart=restart, progress=progress
    )
