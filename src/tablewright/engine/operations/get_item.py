"""GetItem: read one item by its primary key, if it exists.

Without a projection, the response contains the stored bytes, which are not decoded.
"""

from __future__ import annotations

from tablewright.capacity import read_units
from tablewright.encoding.items import normalise_item
from tablewright.engine.charge import Charge
from tablewright.engine.expressions import read_projection
from tablewright.engine.rows import render_item
from tablewright.engine.step import ReadContext, ReadStep
from tablewright.wire.requests import GetItemInput
from tablewright.wire.responses import GetItemOutput


def get_item(request: GetItemInput) -> ReadStep:
    project = read_projection(request)
    key_values = normalise_item(request.key)

    def run(context: ReadContext) -> GetItemOutput:
        table = context.find_table(request.table_name)
        if project:
            table.reject_paths_into_keys(project)
        key = table.keys.check_key(key_values)
        found = context.snapshot.get(table.tree, key)
        answer = GetItemOutput()
        if found is not None:
            answer.item = render_item(found[1], project)
        if request.return_capacity is not None:
            charge = Charge(table, name=request.table_name)
            charge.add(read_units(found[0] if found else 0, consistent=request.consistent))
            answer.consumed_capacity = charge.to_consumed_capacity(request.return_capacity)
        return answer

    return ReadStep(run)
