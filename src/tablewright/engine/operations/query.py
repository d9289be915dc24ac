"""Query: the items of one partition, of a table or an index, in the order of their sort key.

Checks, in DynamoDB's order: expressions; Select; the table and the index; the key condition; the
filter; the start key; what is asked of the index.
"""

from __future__ import annotations

from tablewright.encoding.keys import after, component, partition, prefix
from tablewright.engine.expressions import read_query
from tablewright.engine.reading import Source, check_select, read_page, refuse_filter_on_keys
from tablewright.engine.step import Reading, Step
from tablewright.engine.table import refuse_empty
from tablewright.errors import ValidationException
from tablewright.expression import KeySelection
from tablewright.schema import KeyAttribute, KeySchema
from tablewright.values import Value
from tablewright.wire.answers import Page
from tablewright.wire.requests import Query


def query(request: Query) -> Step[Reading]:
    key_condition, keep, project = read_query(request)
    check_select(request, project)
    backwards = request.forward is False

    def run(reading: Reading) -> Page:
        source = Source(reading, request)
        first, end = bounds(source.keys, source.select(key_condition))
        refuse_filter_on_keys(request, keep, source.keys)
        if request.start_key is not None:
            start = source.row_key(source.start(request.start_key))
            if not first <= start or (end is not None and start >= end):
                raise ValidationException(
                    "The provided starting key is outside query boundaries based on provided "
                    "conditions"
                )
            first, end = (first, start) if backwards else (start + b"\x00", end)
        return read_page(
            reading, source, request, (first, end), backwards=backwards, keep=keep, project=project
        )

    return Step(run, writes=False)


def bounds(keys: KeySchema, selection: KeySelection) -> tuple[bytes, bytes | None]:
    """The range of row keys that a key condition selects: from, and up to but without."""
    start = partition(b"".join(map(_component, keys.partition, selection.hash)))
    start += b"".join(map(_component, keys.sort, selection.equal))
    end = after(start)
    if selection.operator is None:
        return start, end
    attribute = keys.sort[len(selection.equal)]
    if selection.operator == "begins_with":
        start += prefix(attribute.type, _content(attribute, selection.operands[0]))
        return start, after(start)
    edges = [start + _component(attribute, operand) for operand in selection.operands]
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


def _component(attribute: KeyAttribute, value: Value) -> bytes:
    return component(attribute.type, _content(attribute, value))


def _content(attribute: KeyAttribute, value: Value) -> str:
    """The content of a value that a key is compared with; a key is never empty."""
    refuse_empty(attribute, value)
    return str(value[attribute.type])
