"""Query: the items of one partition, of a table or an index, in the order of their sort key.

Checks, in DynamoDB's order: expressions; Select; the table and the index; the key condition; the
filter; the start key; what is asked of the index.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.encoding.keys import after, component, partition, prefix
from tablewright.engine.expressions import read_query
from tablewright.engine.keys import check_sizes, empty
from tablewright.engine.reading import (
    Source,
    check_select,
    is_costly,
    read_page,
    read_start_key,
    refuse_filter_on_keys,
)
from tablewright.engine.step import Read, Reading
from tablewright.errors import ValidationException
from tablewright.expression import KeySelection
from tablewright.schema import KeyAttribute
from tablewright.values import Value
from tablewright.wire.requests import QueryInput
from tablewright.wire.responses import PageOutput


def query(request: QueryInput) -> Read:
    key_condition, keep, project = read_query(request)
    check_select(request, project)
    backwards = request.forward is False
    start_key = read_start_key(request)

    def run(reading: Reading) -> PageOutput:
        source = Source(reading, request)
        source.table.refuse_paths_into_keys(keep, project)
        selection = source.select(key_condition)
        check_sizes(selection.partition, (*selection.equal, *selection.operands[:1]))
        whole = partition(_components(source.keys.schema.partition, selection.partition))
        first, end = bounds(whole, source.keys.schema.sort, selection)
        refuse_filter_on_keys(request, keep, source.keys)
        if start_key is not None:
            start = source.start(start_key, scanning=False)
            if not start.startswith(whole):
                raise ValidationException(
                    "The provided starting key is outside query boundaries based on provided "
                    "conditions"
                )
            if start < first or (end is not None and start >= end):
                raise ValidationException(
                    "The provided starting key does not match the range key predicate"
                )
            first, end = (first, start) if backwards else (start + b"\x00", end)
        return read_page(
            reading, source, request, (first, end), backwards=backwards, keep=keep, project=project
        )

    return Read(run, costly=is_costly(request, keep))


def bounds(
    start: bytes, sort: tuple[KeyAttribute, ...], selection: KeySelection
) -> tuple[bytes, bytes | None]:
    """The range of row keys that a key condition selects: from, and up to but without.

    `start` is what every row of the partition begins with.
    """
    start += _components(sort, selection.equal)
    end = after(start)
    if selection.operator is None:
        return start, end
    attribute = sort[len(selection.equal)]
    if selection.operator == "begins_with":
        start += prefix(attribute.type, _content(attribute, selection.operands[0]))
        return start, after(start)
    edges = [start + _components((attribute,), (value,)) for value in selection.operands]
    low, high = edges[0], edges[-1]
    match selection.operator:
        case "=" | "BETWEEN":
            return low, after(high)
        case "<":
            return start, high
        case "<=":
            return start, after(high)
        case ">=":
            return low, end
        case _:
            return after(low) or low, end


def _components(attributes: Sequence[KeyAttribute], values: Sequence[Value]) -> bytes:
    return b"".join(
        component(attribute.type, _content(attribute, value))
        for attribute, value in zip(attributes, values, strict=False)
    )


def _content(attribute: KeyAttribute, value: Value) -> str:
    """The content of a value that a key is compared with; a key is never empty."""
    content: str = value[attribute.type]
    if not content:
        raise empty(attribute)
    return content
