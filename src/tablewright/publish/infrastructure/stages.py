"""Stages: the templates that lead from one version of a stack to the next.

CloudFormation creates or deletes at most one global index of a table in one update of a stack. So a
change of n indexes takes n updates. Each stage is a complete template: it differs from the one
before it by at most one global index of each table, and its key attributes are exactly those that
its keys need. Other changes, and new tables with all their indexes, are in the first stage.

Indexes that are only deleted come last: the old version of a program reads them, so the new version
is deployed before. The first stage deletes none of them if it has other changes, which that version
needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from msgspec import Struct

from tablewright.errors import TableReplacement
from tablewright.table_description import read_table, write_types

Template = dict[str, Any]

#: A change of one of these properties makes CloudFormation replace the table.
_FIXED = ("TableName", "KeySchema", "LocalSecondaryIndexes")


class IndexChange(Struct, frozen=True):
    """An index that a stage creates or deletes."""

    table: str
    index: str
    is_created: bool

    def __str__(self) -> str:
        return f"{'create' if self.is_created else 'delete'} {self.index} of {self.table}"


class Stage(Struct, frozen=True):
    """One update of a stack."""

    template: Template
    changes: tuple[IndexChange, ...]
    #: Whether it also creates tables, or changes settings of tables.
    has_other_changes: bool = False


def stages(before: Template, after: Template) -> list[Stage]:
    """Return the updates that lead from one template to another; none if they are equal.

    Raise TableReplacement if an update would replace or delete a table.
    """
    if before == after:
        return []
    was, now = before["Resources"], after["Resources"]
    _refuse_replacement(was, now)
    properties = {
        logical_id: (was[logical_id]["Properties"], found["Properties"])
        for logical_id, found in now.items()
        if logical_id in was
    }
    indexes = {logical_id: _indexes(old) for logical_id, (old, _) in properties.items()}
    has_other_changes = _with_indexes(after, was, indexes) != before
    found: list[Stage] = []
    for yield_changes in (_creations, _deletions):
        pending = {each: list(yield_changes(*pair)) for each, pair in properties.items()}
        while any(pending.values()) or (has_other_changes and not found):
            changes = []
            for logical_id, actions in pending.items():
                if actions:
                    change = actions.pop(0)
                    if change.is_created:
                        wanted = _indexes(now[logical_id]["Properties"])
                        indexes[logical_id][change.index] = wanted[change.index]
                    else:
                        del indexes[logical_id][change.index]
                    changes.append(change)
            template = _with_indexes(after, was, indexes)
            found.append(Stage(template, tuple(changes), has_other_changes and not found))
    return found


def _refuse_replacement(was: Template, now: Template) -> None:
    missing = sorted(was.keys() - now.keys())
    if missing:
        raise TableReplacement(
            f"{', '.join(missing)}: the table is no longer declared. CloudFormation would take it "
            "out of the stack; keep its declaration, or remove it from the old template first"
        )
    for logical_id in was.keys() & now.keys():
        old, new = was[logical_id], now[logical_id]
        names = ["Type"] if old["Type"] != new["Type"] else []
        names += [
            name for name in _FIXED if old["Properties"].get(name) != new["Properties"].get(name)
        ]
        types = read_table(old["Properties"]).key_types
        names += [
            f"the type of {name}"
            for name, kind in read_table(new["Properties"]).key_types.items()
            if types.get(name, kind) != kind
        ]
        if names:
            raise TableReplacement(
                f"{logical_id}: {', '.join(names)} changed, so CloudFormation would replace the "
                "table by an empty one; create a table with another name and copy the items: "
                "tablewright copy"
            )


def _indexes(properties: Template) -> dict[str, Template]:
    return {index["IndexName"]: index for index in properties.get("GlobalSecondaryIndexes", ())}


def _creations(was: Template, now: Template) -> Iterator[IndexChange]:
    """Yield the creations; a changed index is deleted before."""
    table, old, new = now["TableName"], _indexes(was), _indexes(now)
    changed = [name for name, index in new.items() if old.get(name) != index]
    for name in changed:
        if name in old:
            yield IndexChange(table, name, is_created=False)
    for name in changed:
        yield IndexChange(table, name, is_created=True)


def _deletions(was: Template, now: Template) -> Iterator[IndexChange]:
    """Yield the deletions of indexes that are no longer declared."""
    for name in sorted(_indexes(was).keys() - _indexes(now).keys()):
        yield IndexChange(now["TableName"], name, is_created=False)


def _with_indexes(
    after: Template, was: Template, indexes: dict[str, dict[str, Template]]
) -> Template:
    """Return the new template with these indexes of tables, and with exactly the key attributes."""
    template = deepcopy(after)
    for logical_id, found in indexes.items():
        properties = template["Resources"][logical_id]["Properties"]
        old, new = read_table(was[logical_id]["Properties"]), read_table(properties)
        types = old.key_types | new.key_types
        properties.pop("GlobalSecondaryIndexes", None)
        if found:
            properties["GlobalSecondaryIndexes"] = list(found.values())
        keys = read_table(properties).key_types
        properties["AttributeDefinitions"] = write_types({name: types[name] for name in keys})
    return template
