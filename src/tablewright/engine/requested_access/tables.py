"""The access of the operations on tables, backups, exports, imports and streams."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from tablewright.engine.describe import stream_arn, table_arn
from tablewright.engine.requested_access.access import RequestedAccess, add_value
from tablewright.engine.shard_iterators import parse_iterator
from tablewright.engine.streams import parse_stream_arn
from tablewright.policy.keys import REQUEST_TAG, TAG_KEYS
from tablewright.wire.operations import Operation


def table_accesses(operation: Operation, request: Any) -> Iterator[RequestedAccess]:
    """Yield the access of a request to each resource that it is about."""
    for about in operation.about:
        name: Any = attrgetter(about.name)(request) if about.name else None
        resource: str
        match about.kind:
            case "account":
                resource = "*"
            case "tables":
                resource = table_arn("*")
            case "streams":
                resource = stream_arn(name or "*", "*")
            case "stream":
                resource = stream_arn(*parse_stream_arn(name))
            case "iterator":
                resource = stream_arn(*parse_stream_arn(parse_iterator(name).arn))
            case "arn":
                resource = name
            case "table or stream" if "/stream/" in name:
                resource = name
            case _:
                if name is not None:
                    index = getattr(request, "index_name", None)
                    yield RequestedAccess(operation.name, name, index, keys=_tag_keys(request))
                continue
        yield RequestedAccess(operation.name, resource=resource)


def _tag_keys(request: Any) -> dict[str, tuple[str, ...]]:
    """Return the condition keys of the tags that a request adds or removes."""
    keys: dict[str, tuple[str, ...]] = {}
    for tag in getattr(request, "tags", None) or ():
        add_value(keys, TAG_KEYS, tag.key)
        add_value(keys, REQUEST_TAG + tag.key.lower(), tag.value)
    for name in getattr(request, "tag_keys", ()):
        add_value(keys, TAG_KEYS, name)
    return keys
