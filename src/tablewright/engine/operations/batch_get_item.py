"""BatchGetItem: read up to 100 items of several tables; keys beyond 16 MB are unprocessed.

Checks, in DynamoDB's order: the number of keys; each table's projection and duplicate keys; the
tables; the keys.
"""

from __future__ import annotations

from msgspec.structs import replace

from tablewright.capacity import read_units
from tablewright.encoding.items import dump, normalise_item
from tablewright.engine.charge import Charge, consumed_by_table
from tablewright.engine.expressions import read_projection
from tablewright.engine.paging import WorkLimit
from tablewright.engine.rows import render_item
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.engine.tables.table import REPEATED_KEYS
from tablewright.errors import ValidationException
from tablewright.expression import CompiledProjection
from tablewright.expression.legacy import refuse_mixture
from tablewright.limits import MAX_BATCH_GET_KEYS, MAX_BATCH_GET_SIZE
from tablewright.values import Item
from tablewright.wire.read import no_tables
from tablewright.wire.requests import BatchGetItemInput, KeysAndAttributes
from tablewright.wire.responses import BatchGetItemOutput, ItemOut


def batch_get_item(request: BatchGetItemInput) -> ReadStep:
    if not request.tables:
        raise no_tables("BatchGetItem")
    for wanted in request.tables.values():
        if wanted.attributes_to_get:
            # Also with an expression for another table.
            refuse_mixture(
                {name for each in request.tables.values() for name in each.present_members()}
            )
    if sum(len(wanted.keys) for wanted in request.tables.values()) > MAX_BATCH_GET_KEYS:
        raise ValidationException("Too many items requested for the BatchGetItem call")
    projections: dict[str, CompiledProjection | None] = {}
    keys_of: dict[str, list[Item]] = {}
    for name, wanted in request.tables.items():
        projections[name] = read_projection(wanted)
        keys_of[name] = [normalise_item(key) for key in wanted.keys]
        # DynamoDB compares keys as they are written: 1000 and 1e3 are no duplicates.
        if len({dump(sorted(key.items())) for key in wanted.keys}) < len(wanted.keys):
            raise ValidationException(REPEATED_KEYS)

    def run(context: ReadContext) -> BatchGetItemOutput:
        tables = {name: context.find_table(name) for name in request.tables}
        for name, table in tables.items():
            table.reject_paths_into_keys(projections[name])
        positions = {
            name: [tables[name].keys.check_key(key) for key in keys]
            for name, keys in keys_of.items()
        }
        responses: dict[str, list[ItemOut]] = {}
        unprocessed: dict[str, KeysAndAttributes] = {}
        charges: dict[str, Charge] = {}
        room = MAX_BATCH_GET_SIZE
        work = WorkLimit()
        for name, wanted in request.tables.items():
            table, project = tables[name], projections[name]
            items: list[ItemOut] = []
            charge = charges[name] = Charge(table, name=name)
            for number, position in enumerate(positions[name]):
                found = context.snapshot.get(table.tree, position)
                size = found[0] if found else 0
                if size > room or work.is_reached:
                    # The client can send it again unchanged.
                    unprocessed[name] = replace(wanted, keys=wanted.keys[number:])
                    break
                room -= size
                charge.add(read_units(size, consistent=wanted.consistent))
                if found is not None:
                    items.append(render_item(found[1], project))
            responses[name] = items
        return BatchGetItemOutput(
            responses=responses,
            unprocessed_keys=unprocessed,
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
        )

    return ReadStep(run)
