"""Frames: what an imported design keeps of its model file, put back around its tables and rows.

`tablewright infer MODEL.json` writes the file without its rows into the module, as `WORKBENCH`. The
keys of the rows in facets are in their places. The design decides on keys, indexes, types, capacity
and rows; all other members, also unknown ones, are those of the frame:

    a row whose key is in the frame    in the same facets, in the same order
    another row                        where other rows of its entity are, else in a new facet
    a table that is not in the frame   as in any design
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from tablewright.values import Item

#: Optional members that are removed if the design does not have them.
_DECIDED = frozenset({"NonKeyAttributes", "ProvisionedCapacitySettings", "SortKey"})


def restore_model(
    made: dict[str, Any], frame: Mapping[str, Any], rows: Mapping[str, list[Item]]
) -> dict[str, Any]:
    """Return a model with the members of a frame; `rows` are those of each table."""
    metadata = made["ModelMetadata"]
    decided = {name: metadata[name] for name in ("AWSService", "Version")}
    frames = _named(frame["DataModel"], "TableName")
    return {
        "ModelName": made["ModelName"],
        **frame,
        "ModelMetadata": {**(frame.get("ModelMetadata") or metadata), **decided},
        "DataModel": [
            _table(table, frames[name], rows[name]) if name in frames else table
            for name, table in _named(made["DataModel"], "TableName").items()
        ],
    }


def _table(made: dict[str, Any], frame: Mapping[str, Any], rows: list[Item]) -> dict[str, Any]:
    """Return a table with the members of its frame, and its rows in their facets."""
    decided = {name: value for name, value in made.items() if name != "TableFacets"}
    decided["DataAccess"] = frame.get("DataAccess", made["DataAccess"])
    if "ProvisionedCapacitySettings" in made and "ProvisionedCapacitySettings" in frame:
        made_capacity = made["ProvisionedCapacitySettings"]  # without its scaling
        decided["ProvisionedCapacitySettings"] = {
            "ProvisionedThroughput": made_capacity["ProvisionedThroughput"]
        }
    attributes = _named(frame.get("NonKeyAttributes") or (), "AttributeName")
    attributes |= _restored(made, frame, "NonKeyAttributes")
    decided["NonKeyAttributes"] = list(attributes.values())
    if "GlobalSecondaryIndexes" in frame or "GlobalSecondaryIndexes" in made:
        indexes = _restored(made, frame, "GlobalSecondaryIndexes")
        decided["GlobalSecondaryIndexes"] = list(indexes.values())
    if frame.get("TableFacets"):
        facets = _Facets(made, frame, rows)
        decided["TableFacets"] = facets.restored
        if "TableData" in frame:
            decided["TableData"] = facets.rows_of(frame["TableData"])
    else:
        decided["TableData"] = rows
    table: dict[str, Any] = _overlay(dict(frame), decided)
    return table


#: The member that names the members of a list.
_NAMES = {"NonKeyAttributes": "AttributeName", "GlobalSecondaryIndexes": "IndexName"}


def _named(members: Iterable[Any], name: str) -> dict[str, Any]:
    return {each[name]: each for each in members}


def _restored(made: dict[str, Any], frame: Mapping[str, Any], member: str) -> dict[str, Any]:
    """Return the members of a list of the design, each with what the frame has of it."""
    name = _NAMES[member]
    kept = _named(frame.get(member) or (), name)
    return {each[name]: _overlay(kept.get(each[name]), each) for each in made.get(member, ())}


def _overlay(kept: Any, made: Any) -> Any:
    """Return a value of the design, with the other members of the kept one."""
    if not isinstance(kept, dict) or not isinstance(made, dict):
        return made
    found = {
        name: _overlay(value, made.get(name, value))
        for name, value in kept.items()
        if name in made or name not in _DECIDED
    }
    return found | {name: value for name, value in made.items() if name not in found}


class _Facets:
    """The facets of a table, and which rows are in them."""

    def __init__(self, made: dict[str, Any], frame: Mapping[str, Any], rows: list[Item]) -> None:
        self._names = [each["AttributeName"] for each in made["KeyAttributes"].values()]
        self._rows = {self._key(row): row for row in rows}
        facets: list[dict[str, Any]] = frame["TableFacets"]
        self.restored = [
            {**facet, "TableData": self.rows_of(facet["TableData"])} for facet in facets
        ]
        listed = [set(map(tuple, facet["TableData"])) for facet in facets]
        placed = set(map(tuple, frame.get("TableData") or ())).union(*listed)
        for own in made["TableFacets"]:
            keys = [self._key(row) for row in own["TableData"]]
            new = [self._rows[key] for key in keys if key not in placed]
            place = next((n for n, each in enumerate(listed) if each.intersection(keys)), None)
            if place is not None:
                self.restored[place]["TableData"] += new
            elif new:
                self.restored.append(own | {"TableData": new})
        known = _named(frame.get("NonKeyAttributes") or (), "AttributeName")
        for facet in self.restored:
            self._add_attributes(facet, known, placed)

    def _add_attributes(
        self, facet: dict[str, Any], known: Container[str], placed: Container[tuple[str, ...]]
    ) -> None:
        """Add the attributes of new rows, and new attributes, to a facet."""
        names = facet.get("NonKeyAttributes") or []
        found = {
            name
            for row in facet["TableData"]
            for name in row
            if name not in known or self._key(row) not in placed
        }
        new = sorted(found.difference(names, self._names))
        if new:
            facet["NonKeyAttributes"] = [*names, *new]

    def _key(self, row: Item) -> tuple[str, ...]:
        return tuple(str(next(iter(row[name].values()))) for name in self._names)

    def rows_of(self, keys: Iterable[Sequence[str]]) -> list[Item]:
        """Return the rows that still exist of those with these keys."""
        return [self._rows[tuple(key)] for key in keys if tuple(key) in self._rows]
