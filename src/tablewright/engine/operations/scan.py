"""Scan: read all items of a table or an index, or of one segment of it, in no useful order.

Checks, in DynamoDB's order: expressions; Select; Segment and TotalSegments; the table and the
index; the start key; the attributes that the index does not hold.
"""

from __future__ import annotations

from tablewright.encoding.keys import segment_range
from tablewright.engine.expressions import read_scan
from tablewright.engine.paging import (
    check_select,
    find_source,
    is_costly,
    read_page,
    read_start_key,
)
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.errors import ValidationException
from tablewright.wire.requests import ScanInput
from tablewright.wire.responses import PageOutput


def scan(request: ScanInput) -> ReadStep:
    item_filter, project = read_scan(request)
    check_select(request, project)
    _check_segment(request.segment, request.total_segments)
    start_key = read_start_key(request)

    def run(context: ReadContext) -> PageOutput:
        source = find_source(context, request)
        source.table.reject_paths_into_keys(item_filter, project)
        first, end = segment_range(request.segment or 0, request.total_segments or 1)
        if start_key is not None:
            start = source.encode_start_key(start_key, scanning=True)
            if not first <= start or (end is not None and start >= end):
                raise ValidationException(
                    "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
                    "ExclusiveStartKey with correct Segment. "
                    f"TotalSegments: {request.total_segments} Segment: {request.segment}"
                )
            first = start + b"\x00"
        return read_page(
            context,
            source,
            request,
            (first, end),
            backwards=False,
            item_filter=item_filter,
            project=project,
        )

    return ReadStep(run, is_costly=is_costly(request, item_filter))


def _check_segment(number: int | None, total: int | None) -> None:
    if number is None and total is not None:
        raise ValidationException(
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present"
        )
    if number is not None and total is None:
        raise ValidationException(
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present"
        )
    if number is not None and total is not None and number >= total:
        too_high = (
            "The Segment parameter is zero-based and must be less than parameter TotalSegments"
        )
        raise ValidationException(
            too_high, old=f"{too_high}: Segment: {number} is not less than TotalSegments: {total}"
        )
