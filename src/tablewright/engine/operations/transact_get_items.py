"""TransactGetItems: up to 100 items, of several tables, all as they were at one moment."""

from __future__ import annotations

from msgspec import Raw

from tablewright.encoding.items import load, normalise_item
from tablewright.engine.capacity import Charge, consumed_by_table, read_units
from tablewright.engine.expressions import read_projection
from tablewright.engine.step import Reading, Step
from tablewright.errors import ValidationException
from tablewright.wire.answers import Got, TransactionGot
from tablewright.wire.requests import TransactGetItems


def transact_get_items(request: TransactGetItems) -> Step[Reading]:
    gets = [action.get for action in request.actions]
    projections = [read_projection(get) for get in gets]

    def run(reading: Reading) -> TransactionGot:
        wanted = [reading.table(get.table_name) for get in gets]
        keys = [
            table.check_key(normalise_item(get.key))
            for table, get in zip(wanted, gets, strict=True)
        ]
        if len(set(zip((table.name for table in wanted), keys, strict=True))) < len(keys):
            raise ValidationException(
                "Transaction request cannot include multiple operations on one item"
            )
        charges: dict[str, Charge] = {}
        responses = []
        with reading.snapshot.frozen():
            for table, key, project in zip(wanted, keys, projections, strict=True):
                found = reading.snapshot.get(table.tree, key)
                charge = charges.setdefault(table.name, Charge(table, "read", factor=2))
                charge.add(read_units(found[0] if found else 0, consistent=True))
                if found is None:
                    responses.append(Got())
                else:
                    responses.append(Got(project(load(found[1])) if project else Raw(found[1])))
        return TransactionGot(
            consumed_capacity=consumed_by_table(charges, request.return_capacity),
            responses=responses,
        )

    return Step(run, writes=False)
