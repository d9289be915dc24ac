"""Query: read items of one partition of a table or an index, in the order of the sort key.

Checks, in DynamoDB's order: expressions; Select; the table and the index; the key condition; the
filter; the start key; the attributes that the index does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.encoding.items import show_value
from tablewright.encoding.keys import encode_component, encode_prefix, end_of_prefix, partition
from tablewright.engine.expressions import read_query
from tablewright.engine.paging import (
    RowSource,
    check_select,
    find_source,
    is_costly,
    read_page,
    read_start_key,
    reject_filter_on_keys,
)
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.engine.tables.table import check_key_sizes, empty_key_error
from tablewright.errors import ValidationException
from tablewright.expression import KeySelection
from tablewright.schema import KeyAttribute
from tablewright.values import Item, Value
from tablewright.wire.requests import QueryInput
from tablewright.wire.responses import PageOutput


def query(request: QueryInput) -> ReadStep:
    key_condition, item_filter, project = read_query(request)
    check_select(request, project)
    backwards = request.forward is False
    start_key = read_start_key(request)

    def run(context: ReadContext) -> PageOutput:
        source = find_source(context, request)
        source.table.reject_paths_into_keys(item_filter, project)
        selection = source.select(key_condition)
        whole, bounds = find_bounds(source, selection)
        reject_filter_on_keys(request, item_filter, source.keys)
        if start_key is not None:
            bounds = resume_after(source, start_key, whole, bounds, backwards=backwards)
        page = read_page(
            context,
            source,
            request,
            bounds,
            backwards=backwards,
            item_filter=item_filter,
            project=project,
        )
        if source.has_lone_items:
            page.last_evaluated_key = None
        return page

    return ReadStep(run, is_costly=is_costly(request, item_filter))


def find_bounds(
    source: RowSource, selection: KeySelection
) -> tuple[bytes, tuple[bytes, bytes | None]]:
    """Return the common prefix of the partition's row keys, and the range of the selected ones."""
    check_key_sizes(selection.partition, (*selection.equal, *selection.operands[:1]))
    schema = source.keys.schema
    whole = partition(_encode_components(schema.partition, selection.partition))
    return whole, select_key_range(whole, schema.sort, selection)


def resume_after(
    source: RowSource,
    start_key: Item,
    whole: bytes,
    bounds: tuple[bytes, bytes | None],
    *,
    backwards: bool,
) -> tuple[bytes, bytes | None]:
    """Return the part of a range of row keys that follows a start key, which must be inside it."""
    first, end = bounds
    start = source.encode_start_key(start_key, scanning=False)
    if source.has_lone_items:
        shown = ", ".join(f"{name}={show_value(value)}" for name, value in start_key.items())
        raise ValidationException(
            f"The provided exclusive start key is invalid: ExclusiveStartKey: {{{shown}}}"
        )
    if not start.startswith(whole):
        raise ValidationException(
            "The provided starting key is outside query boundaries based on provided conditions"
        )
    if start < first or (end is not None and start >= end):
        raise ValidationException(
            "The provided starting key does not match the range key predicate"
        )
    return (first, start) if backwards else (start + b"\x00", end)


def select_key_range(
    start: bytes, sort: tuple[KeyAttribute, ...], selection: KeySelection
) -> tuple[bytes, bytes | None]:
    """Return the range of row keys that a key condition selects: first key, and end (exclusive).

    `start` is the common prefix of all row keys of the partition.
    """
    start += _encode_components(sort, selection.equal)
    end = end_of_prefix(start)
    if selection.operator is None:
        return start, end
    attribute = sort[len(selection.equal)]
    if selection.operator == "begins_with":
        start += encode_prefix(attribute.type, _require_content(attribute, selection.operands[0]))
        return start, end_of_prefix(start)
    edges = [start + _encode_components((attribute,), (value,)) for value in selection.operands]
    low, high = edges[0], edges[-1]
    match selection.operator:
        case "=" | "BETWEEN":
            return low, end_of_prefix(high)
        case "<":
            return start, high
        case "<=":
            return start, end_of_prefix(high)
        case ">=":
            return low, end
        case _:
            return end_of_prefix(low) or low, end


def _encode_components(attributes: Sequence[KeyAttribute], values: Sequence[Value]) -> bytes:
    return b"".join(
        encode_component(attribute.type, _require_content(attribute, value))
        for attribute, value in zip(attributes, values, strict=False)
    )


def _require_content(attribute: KeyAttribute, value: Value) -> str:
    """Return the content of a value in a key condition; raise a fault if it is empty."""
    content: str = value[attribute.type]
    if not content:
        raise empty_key_error(attribute)
    return content
