"""Copying: make the destination equal to the source, and keep it so.

    sweep      pages of several segments, in turns ──▶ transactions
    follow     a page of each shard of the stream ──▶ read these items again ──▶ transactions
    compare    pages of both tables ──▶ keys that differ ──▶ follow, and read them again

Pages are read from several segments in turns, and their items are written alternately. So the
writes are spread over the partitions of the destination, although a scan returns one after the
other.

A destination that may have items is compared with each page, and only what differs is written; at
the end, what the source does not have is deleted. That is also how a gap in the stream is closed,
and how a rollback begins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any

import msgspec
from msgspec.structs import replace

from tablewright.backoff import Backoff
from tablewright.encoding.items import item_size, normalise_item
from tablewright.errors import (
    InvalidCursor,
    InvalidValue,
    MigrationRefused,
    TransactionCanceledException,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS, MAX_TRANSACTION_SIZE, WRITE_UNIT_SIZE
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.revision import Executor, lost_lease
from tablewright.plan.plan import Context, Request, Wait
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.relocation.between import BetweenSteps, at, one
from tablewright.plan.relocation.place import PROGRESS, is_own
from tablewright.plan.relocation.state import (
    SEGMENTS,
    STEPS,
    Left,
    RelocationProgress,
    RelocationState,
    Report,
    StepName,
    all_segments,
)
from tablewright.plan.streams.reading import Checkpoint, Round, StreamReader
from tablewright.plan.writes.action import CONDITION_FAILED, TRANSIENT
from tablewright.plan.writes.guard import key_text
from tablewright.values import Item

#: How many items of each segment are read at once.
PAGE_ITEMS = 100
#: The delays while other programs hold an item of a transaction.
CONFLICTS = Backoff(attempts=40, first=0.01, longest=1.0)
#: How often an item that differs is read again, until its change was in the stream, if it was one.
DIFFERING = Backoff(attempts=9, first=0.05, longest=3.0)
#: With fewer records in a round, the end of the stream was reached.
FEW_RECORDS = 100
#: How often a shard without records is read.
POLL_SECONDS = 0.05
#: How many items that differ are named.
MAX_NAMED = 20
_COPY = STEPS.index("copy")
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(order="deterministic").encode


class Gap(Exception):
    """The stream does not have all changes since the copy began."""


class RelocationWork:
    """A relocation that is carried out: both tables, and what is known about them."""

    def __init__(
        self,
        table: TableMap,
        contexts: tuple[Context, Context],
        executors: tuple[Executor, Executor],
        progress: RelocationState,
        *,
        report: Report | None = None,
        units_per_second: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.table = table
        self.contexts = contexts
        self.executors = executors
        self.progress = progress
        self.changed = 0
        self.expected: int | None = None
        #: The shards of the stream in which a marker was read, by its key.
        self.marked: dict[bytes, set[str]] = {}
        self.now = now
        self._report = report
        self._units_per_second = units_per_second
        self._free_at = 0.0
        self._reader: StreamReader | None = None

    @property
    def source(self) -> int:
        return int(self.progress.is_back)

    @property
    def target(self) -> int:
        return 1 - self.source

    def name(self, side: int) -> str:
        return self.executors[side].name

    def save(self, **changes: Any) -> BetweenSteps[None]:
        """Record how far it is, and that this executor is alive."""
        if self._reader is not None:
            changes = {"checkpoint": str(self._reader.checkpoint)} | changes
        self.progress = replace(self.progress, **changes)
        text = {"S": msgspec.json.encode(self.progress).decode()}
        yield from at(0, self.executors[0].record({PROGRESS: text}))

    def report(self, step: StepName, items: int = 0) -> None:
        if self._report is not None:
            self._report(RelocationProgress(self.name(0), step, items, self.expected))

    # -- writes ----------------------------------------------------------------------------------

    def write(self, side: int, actions: Iterable[dict[str, Any]]) -> BetweenSteps[None]:
        """Write items in transactions that check the fence; limit the rate."""
        for batch, units in _batches(actions):
            yield from self.write_together(side, batch)
            self.changed += len(batch)
            if self._units_per_second is not None:
                now = self.now()
                self._free_at = max(now, self._free_at) + units / self._units_per_second
                yield from at(0, self.executors[0].wait(self._free_at - now))

    def write_together(self, side: int, actions: Sequence[dict[str, Any]]) -> BetweenSteps[None]:
        """Send one transaction with the check of the fence, until it does not conflict."""
        executor, failures = self.executors[side], 0
        fence = {"ConditionCheck": {"TableName": executor.name} | executor.fence_check()}
        request = Request("TransactWriteItems", {"TransactItems": [fence, *actions]})
        while True:
            try:
                yield from at(side, one(request))
            except TransactionCanceledException as fault:
                codes = [reason["Code"] for reason in fault.reasons]
                if codes[0] == CONDITION_FAILED:
                    raise lost_lease(executor.name) from None
                delay = CONFLICTS.delay(failures + 1)
                if not set(codes) <= {"None", *TRANSIENT} or delay is None:
                    raise
            else:
                return
            failures += 1
            yield Wait(delay)

    def put(self, side: int, item: Item) -> dict[str, Any]:
        return {"Put": {"TableName": self.name(side), "Item": item}}

    def delete(self, side: int, key: Item) -> dict[str, Any]:
        return {"Delete": {"TableName": self.name(side), "Key": key}}

    # -- reads -----------------------------------------------------------------------------------

    def read(self, side: int, keys: Sequence[Item]) -> BetweenSteps[list[Item | None]]:
        """Read items by their keys, as they are now."""
        name = self.name(side)
        queue = [(name, key) for key in keys]
        found = yield from at(side, read_batch(self.contexts[side], queue, consistent=True))
        return [found.get((name, item_identity(key))) for key in keys]

    def page(self, side: int, left: Left) -> BetweenSteps[tuple[list[Item], Left]]:
        """Read a page of each segment; return the items, alternately, and what is left."""
        pages: list[list[Item]] = []
        after: Left = {}
        for segment, last in left.items():
            body = {
                "TableName": self.name(side),
                "ConsistentRead": True,
                "Segment": segment,
                "TotalSegments": SEGMENTS,
                "Limit": PAGE_ITEMS,
            }
            start = {"ExclusiveStartKey": last} if last else {}
            answer = _decode((yield from at(side, one(Request("Scan", body | start)))))
            pages.append(answer["Items"])
            if answer.get("LastEvaluatedKey") is not None:
                after[segment] = answer["LastEvaluatedKey"]
        items = filter(None, chain.from_iterable(zip_longest(*pages)))
        return [item for item in items if not is_own(self.table, item)], after

    def differing(self, side: int, items: Sequence[Item]) -> BetweenSteps[list[Item]]:
        """Return those of a page of one place that the other place does not have like that."""
        others = yield from self.read(1 - side, [self.table.key(item) for item in items])
        pairs = zip(items, others, strict=True)
        return [item for item, other in pairs if not is_same(item, other)]

    # -- the copy --------------------------------------------------------------------------------

    def copy(self) -> BetweenSteps[None]:
        """Copy all items, and follow the stream from before the first one."""
        if self.progress.stream:
            yield from self.require_stream()
        else:
            yield from self.begin_stream()
        while self.progress.left:
            progress = self.progress
            side = self.target if progress.is_deleting else self.source
            items, left = yield from self.page(side, progress.left)
            count = progress.items + len(items)
            if progress.is_deleting:
                gone = yield from self._missing(items)
                yield from self.write(self.target, (self.delete(self.target, key) for key in gone))
            else:
                if not progress.is_fresh:
                    items = yield from self.differing(side, items)
                yield from self.write(self.target, (self.put(self.target, each) for each in items))
            yield from self.follow_round()
            if left or progress.is_deleting or progress.is_fresh:
                yield from self.save(left=left, items=count)
            else:
                yield from self.save(left=all_segments(), is_deleting=True, items=count)
            self.report("copy", min(count, self.expected or count))
        yield from self.catch_up()
        yield from self.save()

    def _missing(self, items: Sequence[Item]) -> BetweenSteps[list[Item]]:
        """Return the keys of the items of a page that the source does not have."""
        keys = [self.table.key(item) for item in items]
        found = yield from self.read(self.source, keys)
        return [key for key, item in zip(keys, found, strict=True) if item is None]

    # -- the stream ------------------------------------------------------------------------------

    def begin_stream(self) -> BetweenSteps[None]:
        """Begin to read the stream of the source at its end; remember where that is."""
        arn = yield from self.stream_arn()
        self._reader = self._new_reader(Checkpoint())
        found = yield from self._read_round(self._reader)
        yield from self.save(stream=arn)  # before the first item is written
        yield from self._carry_over(found, self._reader)

    def require_stream(self) -> BetweenSteps[None]:
        """Raise Gap if the stream has been disabled since the copy began, even for a moment."""
        if (yield from self.stream_arn()) != self.progress.stream:
            raise Gap

    def stream_arn(self) -> BetweenSteps[str]:
        """Return the stream of the source; every enabling makes another one."""
        request = Request("DescribeTable", {"TableName": self.name(self.source)})
        found = _decode((yield from at(self.source, one(request))))["Table"]
        is_enabled = (found.get("StreamSpecification") or {}).get("StreamEnabled")
        if not is_enabled:
            raise Gap
        return str(found["LatestStreamArn"])

    def _new_reader(self, checkpoint: Checkpoint) -> StreamReader:
        entities: dict[TableMap, Any] = {self.table: ()}
        return StreamReader(entities, checkpoint, start="LATEST", poll_seconds=POLL_SECONDS)

    def catch_up(self) -> BetweenSteps[None]:
        """Carry over what is in the stream now; programs may write meanwhile."""
        while (yield from self.follow_round()) >= FEW_RECORDS:
            yield from self.save()

    def follow_round(self) -> BetweenSteps[int]:
        """Carry over what one page of each shard names; return how many records there were.

        The end of a shard counts as many, because its children follow.
        """
        if self._reader is None:
            self._reader = self._new_reader(Checkpoint.parse(self.progress.checkpoint))
        found = yield from self._read_round(self._reader)
        yield from self._carry_over(found, self._reader)
        return len(found.records) + FEW_RECORDS * len(found.finished)

    def _read_round(self, reader: StreamReader) -> BetweenSteps[Round]:
        try:
            return (yield from at(self.source, reader.steps(self.contexts[self.source])))
        except InvalidCursor:  # the stream is older than 24 hours
            raise Gap from None

    def _carry_over(self, found: Round, reader: StreamReader) -> BetweenSteps[None]:
        keys: dict[bytes, Item] = {}
        for converted, (_, _, shard) in found.records:
            key = self.table.key(converted.record["dynamodb"]["Keys"])
            if is_own(self.table, key):
                self.marked.setdefault(item_identity(key), set()).add(shard)
            else:
                keys[item_identity(key)] = key
        yield from self.repeat(list(keys.values()))
        for _ in reader.deliver(found):
            pass

    def late_writes(self) -> BetweenSteps[list[Item]]:
        """Return the keys that the stream of the source still names; nothing is carried over.

        Items that expired are left out. Without the stream, there are none.
        """
        keys: dict[bytes, Item] = {}
        self._reader = reader = self._new_reader(Checkpoint.parse(self.progress.checkpoint))
        try:
            while True:
                found = yield from self._read_round(reader)
                if found.is_idle:
                    return list(keys.values())
                for converted, _ in found.records:
                    key = self.table.key(converted.record["dynamodb"]["Keys"])
                    if not is_own(self.table, key) and "userIdentity" not in converted.record:
                        keys[item_identity(key)] = key
                for _ in reader.deliver(found):
                    pass
        except (Gap, InvalidValue):
            return []

    def open_shards(self) -> set[str]:
        """Return the shards of the stream that are not read to their end."""
        assert self._reader is not None
        return self._reader.open_shards()

    def repeat(self, keys: Sequence[Item]) -> BetweenSteps[None]:
        """Make these items of the destination as those of the source are now."""
        found = yield from self.read(self.source, keys)
        yield from self.write(
            self.target,
            (
                self.delete(self.target, key) if item is None else self.put(self.target, item)
                for key, item in zip(keys, found, strict=True)
            ),
        )

    # -- the comparison --------------------------------------------------------------------------

    def compare(self) -> BetweenSteps[None]:
        """Compare all items of both tables; raise MigrationRefused with those that differ.

        An item that programs change meanwhile is read again, after its change was carried over.
        """
        yield from self.require_stream()
        different: list[Item] = []
        count = 0
        for side in (self.source, self.target):
            left = all_segments()
            while left:
                items, left = yield from self.page(side, left)
                found = yield from self.differing(side, items)
                different += yield from self._settled([self.table.key(item) for item in found])
                count += len(items)
                yield from self.save()
                self.report("compare", count // 2)
        if different:
            yield from self.require_stream()
            yield from self.start_again()
            keys = {item_identity(key): key for key in different}
            raise MigrationRefused((yield from self._describe(list(keys.values()))))

    def start_again(self, done: int = _COPY) -> BetweenSteps[None]:
        """Read both tables again later, and write what differs."""
        self._reader = None
        yield from self.save(
            done=done,
            left=all_segments(),
            is_deleting=False,
            is_fresh=False,
            stream="",
            checkpoint="",
            items=0,
        )

    def _settled(self, keys: list[Item]) -> BetweenSteps[list[Item]]:
        """Return those keys whose items still differ when their changes were carried over."""
        attempt, unchanged = 0, list[Item]()
        while keys:
            before = yield from self.read(self.source, keys)
            yield from self.catch_up()
            there = yield from self.read(self.target, keys)
            after = yield from self.read(self.source, keys)
            found = list(zip(keys, before, there, after, strict=True))
            found = [each for each in found if not is_same(each[3], each[2])]
            keys = [key for key, *_ in found]
            unchanged = [key for key, old, _, new in found if is_same(old, new)]
            attempt += 1
            delay = DIFFERING.delay(attempt)
            if not keys or delay is None:
                break
            yield Wait(delay)
        return unchanged

    def _describe(self, keys: Sequence[Item]) -> BetweenSteps[str]:
        """Return the differences of items, attribute by attribute."""
        shown = keys[:MAX_NAMED]
        ours = yield from self.read(self.source, shown)
        theirs = yield from self.read(self.target, shown)
        lines = [
            f"  {key_text(key)}: {_difference(one, other)}"
            for key, one, other in zip(shown, ours, theirs, strict=True)
        ]
        if len(keys) > len(shown):
            lines.append(f"  and {len(keys) - len(shown)} more")
        listed = "\n".join(lines)
        return (
            f"{len(keys)} items of the table {self.name(self.target)!r} at the destination differ "
            f"from those at the source, and no program uses the destination yet:\n{listed}\n"
            "Find out what writes there. Run the command again to copy the items that differ, and "
            "to compare all items once more"
        )


def is_same(item: Item | None, other: Item | None) -> bool:
    """Return whether two items are equal, in whatever form an endpoint writes their values."""
    if item == other or item is None or other is None:
        return item == other
    return _encode(normalise_item(item)) == _encode(normalise_item(other))


def _difference(item: Item | None, other: Item | None) -> str:
    if item is None:
        return "it is not at the source"
    if other is None:
        return "it is missing at the destination"
    names = sorted(name for name in item.keys() | other.keys() if item.get(name) != other.get(name))
    return f"other values of {', '.join(names)}"


def _batches(actions: Iterable[dict[str, Any]]) -> Iterator[tuple[list[dict[str, Any]], int]]:
    """Yield as many actions as fit into a transaction with the check of a fence; and their units.

    A transaction takes twice the units.
    """
    batch: list[dict[str, Any]] = []
    size = units = 0
    for each in actions:
        ((_, body),) = each.items()
        added = item_size(body.get("Item") or body["Key"])
        is_full = len(batch) + 1 == MAX_TRANSACTION_ACTIONS or size + added > MAX_TRANSACTION_SIZE
        if batch and is_full:
            yield batch, units
            batch, size, units = [], 0, 0
        batch.append(each)
        size += added
        units += 2 * -(-added // WRITE_UNIT_SIZE)
    if batch:
        yield batch, units
