"""Changes: what changes in the results of a query, as server-sent events.

    create_app(target, Teams, changes=[tasks])        GET /changes/teams/{team}/tasks

    id: …                                             where to resume: Last-Event-ID
    event: created                                    created, updated, deleted; reset
    data: {"team": "red", "task_id": "T1", …}         the entity; of a deletion, as it was

A change is one of the results: an item that leaves them, because its status is another one, is
deleted. The events are from the stream of the table, which keeps changes for 24 hours. After that,
a client that resumes gets `reset`: it reads the list again.

Invariant: a caller who may not run the pattern gets no events, for the pattern is run first, with
one item, in the database of the caller's tenant.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi import Query as QueryParameter
from fastapi.responses import StreamingResponse

from tablewright.errors import DeclarationError, InvalidCursor
from tablewright.fastapi.databases import get_database
from tablewright.fastapi.endpoints import Exposed, arguments_of, caller_of, keyword
from tablewright.fastapi.hidden import MEMBER, dump_without
from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan.inspection import filter_of, images_of
from tablewright.plan.reads.query import Query
from tablewright.values import Item, Value, sort_key

#: How often the stream is read, and how often a connection without changes gets a comment.
POLL_SECONDS, COMMENT_SECONDS = 1.0, 15.0
_REQUEST, _DATABASE = "request_", "database_"
#: The header in OpenAPI.
LAST_EVENT_ID: dict[str, Any] = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "The id of the last event that the client has.",
    "schema": {"type": "string"},
}
_WAIT = "Wait for further changes; false: return those until now."


def endpoint_of_changes(exposed: Exposed) -> Callable[..., Any]:
    """Return the function that FastAPI calls for the changes of a query.

    Raise DeclarationError if the pattern is no query of one entity, or the stream of its table does
    not have the items before and after a change.
    """
    pattern, entity = exposed.pattern, exposed.entity
    if not isinstance(pattern.plan, Query) or entity is None or pattern.shape.attributes:
        raise DeclarationError(
            f"pattern {pattern.name}: changes=… takes queries that return one entity",
            location=pattern.location,
        )
    if entity.table.settings.stream != "NEW_AND_OLD_IMAGES":
        raise DeclarationError(
            f"pattern {pattern.name}: changes=… needs the stream of {entity.table.owner}; declare "
            "stream='NEW_AND_OLD_IMAGES' with the table",
            location=pattern.location,
        )
    call, tenant, kind = caller_of(pattern), exposed.tenant, entity.type
    dump = dump_without(kind, exposed.hidden)

    async def endpoint(**given: Any) -> StreamingResponse:
        request, database, wait = given.pop(_REQUEST), given.pop(_DATABASE), given.pop("wait")
        own = database.for_tenant(**{tenant: given[tenant]}) if tenant else database
        plan: Any = call(given)
        await own.run(plan.page_size(1))
        start = request.headers.get("last-event-id") or None
        # A stream has the changes of all tenants; the key of the query is that of one.
        make = partial(database.stream_events, kind, start="LATEST")
        events = make(after=start)
        # The position is set before the response begins: then no change is missed.
        first = [each async for each in events] if start is None else []
        text = _texts(request, events, first, make, _Results(plan), dump, wait=wait)
        headers = {"Cache-Control": "no-store"}
        return StreamingResponse(text, media_type="text/event-stream", headers=headers)

    parameters = [
        keyword(_REQUEST, Request),
        *arguments_of(exposed),
        keyword(_DATABASE, Annotated[Any, Depends(get_database)]),
        keyword("wait", Annotated[bool, QueryParameter(description=_WAIT)], default=True),
    ]
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    endpoint.__name__ = f"{exposed.name}_changes"
    setattr(endpoint, MEMBER, exposed.hidden)
    return endpoint


class _Results:
    """The results of a query: whether a stored item is one of them."""

    def __init__(self, plan: Query[Any]) -> None:
        self._filter = filter_of(plan)
        (self._key,) = (each for each in plan._shape().keys if isinstance(each, KeyCondition))

    def contain(self, item: Item | None) -> bool:
        if item is None or any(item.get(each) != value for each, value in self._key.equal.items()):
            return False
        sort = self._key.sort
        if sort is not None:
            found = item.get(sort.attribute)
            if found is None or not _compares(found, sort.comparison, sort.values):
                return False
            if found == sort.excluded:
                return False
        return self._filter is None or self._filter.matches(item)


def _compares(found: Value, comparison: str, values: tuple[Value, ...]) -> bool:
    ((tag, content),) = found.items()
    if comparison == "begins_with":
        return str(content).startswith(str(values[0].get(tag, "")))
    limits = [sort_key(*next(iter(each.items()))) for each in values]
    own = sort_key(tag, content)
    if comparison == "between":
        return bool(limits[0] <= own <= limits[1])
    (limit,) = limits
    return bool(
        {
            "=": own == limit,
            "<": own < limit,
            "<=": own <= limit,
            ">": own > limit,
            ">=": own >= limit,
        }[comparison]
    )


async def _texts(
    request: Request,
    events: Any,
    first: list[Any],
    make: Callable[[], Any],
    results: _Results,
    dump: Callable[[Any], bytes],
    *,
    wait: bool,
) -> AsyncIterator[str]:
    """Yield the events as texts, and a comment with the position while nothing changes."""

    def show(event: Any) -> str:
        old, new = map(results.contain, images_of(event))
        if not (old or new):
            return ""
        name = "deleted" if not new else "updated" if old else "created"
        data = dump(event.new if new else event.old).decode()
        return f"id: {events.checkpoint}\nevent: {name}\ndata: {data}\n\n"

    for text in filter(None, map(show, first)):
        yield text
    said = time.monotonic()
    while True:
        try:
            async for event in events:
                if text := show(event):
                    yield text
                    said = time.monotonic()
        except InvalidCursor:
            events = make()
            yield "event: reset\ndata: {}\n\n"
            continue
        if not wait:
            yield f"id: {events.checkpoint}\n\n"
            return
        if await request.is_disconnected():
            return
        if time.monotonic() - said > COMMENT_SECONDS:
            yield f": no changes\nid: {events.checkpoint}\n\n"
            said = time.monotonic()
        await asyncio.sleep(POLL_SECONDS)
