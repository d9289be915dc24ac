"""Stream events of a database, of a Lambda function, or of any list of records.

for event in db.stream_events(Order, Item, after=checkpoint):
    match event:
        case Created(new=order): ...
        case Updated(old=before, new=order, changed=names): ...

for event in parse_stream(lambda_event, Shop): ...
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Generic, TypedDict, TypeVar, Unpack, overload

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.model.table import Table
from tablewright.plan.streams.events import Converted, RecordReader, StreamEvent, history_entities
from tablewright.plan.streams.reading import (
    Checkpoint,
    ReadStream,
    Round,
    StreamReader,
    StreamStart,
)

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

#: How often a stream is read for new records.
POLL_SECONDS = 1.0
_LOG = logging.getLogger("tablewright")


class StreamOptions(TypedDict, total=False):
    """Where a stream is read from, and until when: see `Streams.stream_events`."""

    after: str | None
    start: StreamStart
    follow: bool
    poll_seconds: float


class _Events(Generic[T]):
    """The entities to read, and the position in their streams."""

    def __init__(
        self,
        run: Callable[[ReadStream], Any],
        entities: dict[TableMap, list[EntityMap]],
        *,
        after: str | None,
        start: StreamStart,
        follow: bool,
        poll_seconds: float,
    ) -> None:
        if start not in ("TRIM_HORIZON", "LATEST"):
            raise InvalidValue(f"start={start!r} is neither 'TRIM_HORIZON' nor 'LATEST'")
        self._run = run
        checkpoint = Checkpoint.parse(after) if after else Checkpoint()
        self._reader = StreamReader(
            entities, checkpoint, start=start, poll_seconds=poll_seconds if follow else 0
        )
        self._plan = ReadStream(self._reader, next(iter(entities.values()))[0])
        self._follow = follow

    @property
    def checkpoint(self) -> str:
        """The position after the last event that was returned, from which to continue later."""
        return str(self._reader.checkpoint)


class StreamEvents(_Events[T]):
    """Stream events, in the order of the changes of each item: iterate over it."""

    def __iter__(self) -> Iterator[T]:
        while True:
            found: Round = self._run(self._plan)
            yield from self._reader.deliver(found)  # type: ignore[misc]
            if found.is_idle and not self._follow:
                return


class AsyncStreamEvents(_Events[T]):
    """Stream events, in the order of the changes of each item: iterate with `async for`."""

    async def __aiter__(self) -> AsyncIterator[T]:
        while True:
            found: Round = await self._run(self._plan)
            for event in self._reader.deliver(found):
                yield event  # type: ignore[misc]
            if found.is_idle and not self._follow:
                return


def select_entities(
    wanted: Sequence[Any], tables: Sequence[type[Table]] = ()
) -> dict[TableMap, list[EntityMap]]:
    """Return the entities whose events are wanted, by table.

    A table, or an empty `wanted`, means all entities except those of histories. Raise
    DeclarationError if the stream of a table has only keys.
    """
    found: dict[TableMap, list[EntityMap]] = {}
    for each in wanted or tables:
        table, entity = getattr(each, "__table__", None), getattr(each, "__entity__", None)
        if isinstance(table, TableMap):
            histories = history_entities(table)
            entities = [entity for entity in table.entities if entity not in histories]
        elif isinstance(entity, EntityMap):
            entities, table = [entity], entity.table
        else:
            raise InvalidValue(f"{each!r} has no stream events; pass entities or tables")
        if table.settings.stream == "KEYS_ONLY":
            raise DeclarationError(
                f"{table.owner}: stream='KEYS_ONLY' has no items, so it gives no typed events; "
                "declare stream='NEW_AND_OLD_IMAGES'"
            )
        found.setdefault(table, []).extend(entities)
    if not any(found.values()):
        raise InvalidValue("stream events need at least one entity; pass an entity or a table")
    return found


class Streams:
    """The part of a database that reads streams."""

    _tables: tuple[type[Table], ...]
    run: Any

    @overload
    def stream_events(
        self, *tables: type[Table], **options: Unpack[StreamOptions]
    ) -> StreamEvents[StreamEvent[Any]]: ...
    @overload
    def stream_events(
        self, a: type[A], /, **options: Unpack[StreamOptions]
    ) -> StreamEvents[StreamEvent[A]]: ...
    @overload
    def stream_events(
        self, a: type[A], b: type[B], /, **options: Unpack[StreamOptions]
    ) -> StreamEvents[StreamEvent[A] | StreamEvent[B]]: ...
    @overload
    def stream_events(
        self, a: type[A], b: type[B], c: type[C], /, **options: Unpack[StreamOptions]
    ) -> StreamEvents[StreamEvent[A] | StreamEvent[B] | StreamEvent[C]]: ...
    @overload
    def stream_events(
        self, a: type[A], b: type[B], c: type[C], d: type[D], /, **options: Unpack[StreamOptions]
    ) -> StreamEvents[StreamEvent[A] | StreamEvent[B] | StreamEvent[C] | StreamEvent[D]]: ...
    @overload
    def stream_events(
        self, *entities: type[object], **options: Unpack[StreamOptions]
    ) -> StreamEvents[Any]: ...
    def stream_events(
        self,
        *entities: type,
        after: str | None = None,
        start: StreamStart = "TRIM_HORIZON",
        follow: bool = False,
        poll_seconds: float = POLL_SECONDS,
    ) -> StreamEvents[Any]:
        """Return the changes of entities, from the streams of their tables; iterate over it.

        Without entities, those of all entities but histories. The events start after the checkpoint
        `after`; without one, with the oldest record (`start="TRIM_HORIZON"`) or with the next one
        (`start="LATEST"`). They end when there are no more. With `follow` they never end: the
        stream is read again every `poll_seconds`.
        """
        wanted = select_entities(entities, self._tables)
        return StreamEvents(
            self.run, wanted, after=after, start=start, follow=follow, poll_seconds=poll_seconds
        )


class AsyncStreams:
    """The part of an asynchronous database that reads streams."""

    _tables: tuple[type[Table], ...]
    run: Any

    @overload
    def stream_events(
        self, *tables: type[Table], **options: Unpack[StreamOptions]
    ) -> AsyncStreamEvents[StreamEvent[Any]]: ...
    @overload
    def stream_events(
        self, a: type[A], /, **options: Unpack[StreamOptions]
    ) -> AsyncStreamEvents[StreamEvent[A]]: ...
    @overload
    def stream_events(
        self, a: type[A], b: type[B], /, **options: Unpack[StreamOptions]
    ) -> AsyncStreamEvents[StreamEvent[A] | StreamEvent[B]]: ...
    @overload
    def stream_events(
        self, a: type[A], b: type[B], c: type[C], /, **options: Unpack[StreamOptions]
    ) -> AsyncStreamEvents[StreamEvent[A] | StreamEvent[B] | StreamEvent[C]]: ...
    @overload
    def stream_events(
        self, a: type[A], b: type[B], c: type[C], d: type[D], /, **options: Unpack[StreamOptions]
    ) -> AsyncStreamEvents[StreamEvent[A] | StreamEvent[B] | StreamEvent[C] | StreamEvent[D]]: ...
    @overload
    def stream_events(
        self, *entities: type[object], **options: Unpack[StreamOptions]
    ) -> AsyncStreamEvents[Any]: ...
    def stream_events(
        self,
        *entities: type,
        after: str | None = None,
        start: StreamStart = "TRIM_HORIZON",
        follow: bool = False,
        poll_seconds: float = POLL_SECONDS,
    ) -> AsyncStreamEvents[Any]:
        """Return the changes of entities, for `async for`; see `Database.stream_events`."""
        wanted = select_entities(entities, self._tables)
        return AsyncStreamEvents(
            self.run, wanted, after=after, start=start, follow=follow, poll_seconds=poll_seconds
        )


@overload
def parse_stream(event: Any, table: type[Table], /) -> list[StreamEvent[Any]]: ...
@overload
def parse_stream(event: Any, a: type[A], /) -> list[StreamEvent[A]]: ...
@overload
def parse_stream(
    event: Any, a: type[A], b: type[B], /
) -> list[StreamEvent[A] | StreamEvent[B]]: ...
@overload
def parse_stream(
    event: Any, a: type[A], b: type[B], c: type[C], /
) -> list[StreamEvent[A] | StreamEvent[B] | StreamEvent[C]]: ...
@overload
def parse_stream(event: Any, /, *wanted: type) -> list[Any]: ...
def parse_stream(event: Any, /, *wanted: type) -> list[Any]:
    """Return the events of a Lambda event, or of a list of stream records.

    `wanted` are entities, or a table for all of its entities but those of histories.
    """
    return [each.event for each in _convert(event, wanted) if each.event is not None]


def stream_handler(
    *wanted: type,
) -> Callable[[Callable[[Any], None]], Callable[[Any, Any], dict[str, Any]]]:
    """Turn a function that takes one event into a Lambda handler.

    If the function raises an exception, it is logged, and Lambda retries from that event on
    (`ReportBatchItemFailures` must be enabled for the event source).
    """
    select_entities(wanted)  # raises

    def decorate(function: Callable[[Any], None]) -> Callable[[Any, Any], dict[str, Any]]:
        if inspect.iscoroutinefunction(function):  # its events would be lost without an error
            raise InvalidValue(
                f"stream_handler: {function.__qualname__} is asynchronous; Lambda calls a handler "
                "synchronously: write `def`, and asyncio.run(…) where it awaits"
            )

        @functools.wraps(function)
        def handle(event: Any, _: Any = None) -> dict[str, Any]:
            found = _convert(event, wanted)
            for position, each in enumerate(found):
                if each.event is None:
                    continue
                try:
                    function(each.event)
                except Exception:
                    _LOG.exception("the handler of %r failed", each.event)
                    # A move has two records: start again with the first one.
                    first = next(
                        other
                        for other in found
                        if other is each or (other.partner in found[position:])
                    )
                    number = first.record["dynamodb"]["SequenceNumber"]
                    return {"batchItemFailures": [{"itemIdentifier": number}]}
            return {"batchItemFailures": []}

        return handle

    return decorate


def _convert(event: Any, wanted: Sequence[type]) -> list[Converted]:
    records = event.get("Records") if isinstance(event, dict) else event
    if not isinstance(records, list):
        raise InvalidValue(
            f"not an event of a DynamoDB stream: it has no list of Records: {str(event)[:200]}"
        )
    entities = select_entities(wanted)
    if len(entities) > 1:
        raise InvalidValue(
            "a stream has the records of one table; these entities are of "
            f"{', '.join(table.owner for table in entities)}: handle each stream by itself"
        )
    ((table, found),) = entities.items()
    return RecordReader(table, found).convert(records)
