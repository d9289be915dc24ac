"""GetItem: one item by its primary key, or nothing.

Without a projection the stored bytes are the answer, unread.
"""

from __future__ import annotations

from tablewright.encoding.items import normalise_item
from tablewright.engine.capacity import Charge, read_units
from tablewright.engine.expressions import read_projection
from tablewright.engine.rows import answered
from tablewright.engine.step import Read, Reading
from tablewright.wire.requests import GetItemInput
from tablewright.wire.responses import GetItemOutput


def get_item(request: GetItemInput) -> Read:
    project = read_projection(request)
    key_values = normalise_item(request.key)

    def run(reading: Reading) -> GetItemOutput:
        table = reading.table(request.table_name)
        if project:
            table.refuse_paths_into_keys(project)
        key = table.keys.check_key(key_values)
        found = reading.snapshot.get(table.tree, key)
        answer = GetItemOutput()
        if found is not None:
            answer.item = answered(found[1], project)
        if request.return_capacity is not None:
            charge = Charge(table)
            charge.add(read_units(found[0] if found else 0, consistent=request.consistent))
            answer.consumed_capacity = charge.consumed(request.return_capacity)
        return answer

    return Read(run)
