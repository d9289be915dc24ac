"""Settings: the structure, the streams and the TTL of the tables of a relocation."""

from __future__ import annotations

from contextlib import suppress

import msgspec
from msgspec.structs import replace

from tablewright.errors import MigrationRefused, TableDifference, TableMismatch, ValidationException
from tablewright.plan.migration.migrate import with_ttl
from tablewright.plan.plan import Request, Steps, Wait
from tablewright.plan.relocation.between import BetweenSteps, at, one
from tablewright.plan.relocation.copying import RelocationWork
from tablewright.table_changes import STRUCTURE, Part, describe, differences, update_steps
from tablewright.table_description import TableDescription
from tablewright.transport.tables import describe_table, wait_until_settled

#: How often an executor looks whether a stream is enabled, and how many times.
_STREAM_SECONDS, _STREAM_POLLS = 0.5, 240
#: The view type of a stream that is enabled for a relocation: the cheapest to read.
STREAM_OF_MOVES = "KEYS_ONLY"


def require_same_structure(wanted: TableDescription, found: TableDescription) -> None:
    """Raise TableMismatch if an existing table has other keys or indexes."""
    problems = [
        TableDifference(
            each.name,
            f"{describe(each.wanted)} in the source, {describe(each.found)} in the destination",
        )
        for each in differences(wanted, found)
        if each.part in STRUCTURE - {Part.STREAM, Part.TTL}
    ]
    if problems:
        raise TableMismatch(
            f"the destination has a table {found.name!r} with another definition; nothing was "
            "written:",
            problems,
        )


def enable_stream(work: RelocationWork) -> BetweenSteps[None]:
    """Enable a stream of the source, and wait until it records changes."""
    side, name = work.source, work.name(work.source)
    found = yield from at(side, wait_until_settled(name))
    if found.stream is None:
        yield from work.save(enabled=(*work.progress.enabled, side))
        for step in update_steps(replace(found, stream=STREAM_OF_MOVES), found):
            with suppress(ValidationException):  # it was enabled meanwhile: it is awaited below
                yield from at(side, one(Request(step.operation, step.request)))
        yield from at(side, wait_until_settled(name))
    yield from at(side, _await_stream(name))


def _await_stream(name: str) -> Steps[None]:
    for _ in range(_STREAM_POLLS):
        body = yield Request("DescribeTable", {"TableName": name})
        arn = msgspec.json.decode(body)["Table"].get("LatestStreamArn")
        if arn is not None:
            body = yield Request("DescribeStream", {"StreamArn": arn})
            if msgspec.json.decode(body)["StreamDescription"]["StreamStatus"] == "ENABLED":
                return
        yield Wait(_STREAM_SECONDS)
    raise MigrationRefused(
        f"the stream of the table {name!r} is not enabled after two minutes; run the command again"
    )


def disable_streams(work: RelocationWork) -> BetweenSteps[None]:
    """Disable the streams that were enabled for the relocation only."""
    for side in set(work.progress.enabled):
        found = yield from at(side, describe_table(work.name(side)))
        if found is not None and found.stream == STREAM_OF_MOVES:
            for step in update_steps(replace(found, stream=None), found):
                with suppress(ValidationException):  # it was disabled meanwhile
                    yield from at(side, one(Request(step.operation, step.request)))


def finish_settings(work: RelocationWork) -> BetweenSteps[None]:
    """Give the destination TTL and the stream of the source, unless it has its own."""
    source, target = work.source, work.target
    found = []
    for side in (source, target):
        described = yield from at(side, wait_until_settled(work.name(side)))
        found.append((yield from at(side, with_ttl(described))))
    ours, theirs = found
    stream = None if source in work.progress.enabled else ours.stream
    wanted = replace(theirs, ttl=theirs.ttl or ours.ttl, stream=theirs.stream or stream)
    for step in update_steps(wanted, theirs):
        yield from at(target, one(Request(step.operation, step.request)))
        if step.operation == "UpdateTable":
            yield from at(target, wait_until_settled(work.name(target)))
