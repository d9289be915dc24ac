"""Frames: what an imported design keeps of its model file, put back around its tables and rows.

`tablewright infer MODEL.json` writes the file without its rows into the module, as `WORKBENCH`. The
keys of the rows in facets are in their places. The design decides on keys, indexes, types and rows;
all other members, also unknown ones, are those of the frame:

    a row whose key is in the frame    in the same facets, in the same order
    another row                        where other rows of its entity are, else in a new facet
    a table that is not in the frame   as in any design
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablewright.values import Item

#: Members that only the design decides on: one that it does not have is removed.
_DECIDED = frozenset(
    {"GlobalSecondaryIndexes", "NonKeyAttributes", "ProjectionType", "SortKey", "TableData"}
)


def restore_model(made: dict[str, Any], frame: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model with the members of a frame; the tables are restored already."""
    metadata = made["ModelMetadata"]
    decided = {name: metadata[name] for name in ("AWSService", "Version")}
    return {
        "ModelName": made["ModelName"],
        **frame,
        "ModelMetadata": {**frame.get("ModelMetadata", metadata), **decided},
        "DataModel": made["DataModel"],
    }


def restore_table(made: dict[str, Any], frame: Mapping[str, Any], rows: list[Item]) -> Any:
    """Return a table with the members of its frame, and its rows in their facets."""
    kept = dict(frame)
    facets = kept.pop("TableFacets", None)
    listed = kept.get("TableData", [])
    own = {name: value for name, value in made.items() if name != "TableFacets"}
    own["NonKeyAttributes"] = _by_name(
        kept.get("NonKeyAttributes", []), made["NonKeyAttributes"], "AttributeName", keeps=True
    )
    if "GlobalSecondaryIndexes" in made:
        indexes = kept.get("GlobalSecondaryIndexes", [])
        own["GlobalSecondaryIndexes"] = _by_name(
            indexes, made["GlobalSecondaryIndexes"], "IndexName"
        )
    own["BillingMode"] = kept.get("BillingMode", made["BillingMode"])
    own["DataAccess"] = kept.get("DataAccess", made["DataAccess"])
    if not facets:
        own["TableData"] = rows
        extra = {} if facets is None else {"TableFacets": facets}
    else:
        found = _Facets(made, facets, rows, listed)
        extra = {"TableFacets": found.restored}
        if "TableData" in kept:
            own["TableData"] = found.rows_of(listed)
    merged = _overlay(kept, own) | extra
    return {name: merged[name] for name in dict.fromkeys([*frame, *merged]) if name in merged}


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


def _by_name(kept: list[Any], made: list[Any], member: str, *, keeps: bool = False) -> list[Any]:
    """Return the members of two lists: those of the design, or with `keeps` of both."""
    known = {each[member]: each for each in kept}
    found = {each[member]: _overlay(known.get(each[member]), each) for each in made}
    if not keeps:
        return list(found.values())
    return list((known | found).values())


class _Facets:
    """The facets of a table, and which rows are in them."""

    def __init__(
        self, made: dict[str, Any], facets: list[Any], rows: list[Item], elsewhere: list[Any]
    ) -> None:
        """`elsewhere` are the keys of rows that are in the table itself."""
        self._names = [each["AttributeName"] for each in made["KeyAttributes"].values()]
        self._rows = {self._key(row): row for row in rows}
        listed = [{tuple(key) for key in facet.get("TableData", ())} for facet in facets]
        outside = {tuple(key) for key in elsewhere}
        restored = [self._restored(facet) for facet in facets]
        for own in made["TableFacets"]:
            keys = [self._key(row) for row in own["TableData"]]
            others = [key for key in keys if not any(key in each for each in (*listed, outside))]
            place = next((n for n, each in enumerate(listed) if each.intersection(keys)), None)
            unlisted = [self._rows[key] for key in others]
            if place is not None:
                restored[place]["TableData"] += unlisted
            elif unlisted:
                restored.append(own | {"TableData": unlisted})
        for facet in restored:
            names = dict.fromkeys(facet.get("NonKeyAttributes", ()))
            found = {name for row in facet.get("TableData", ()) for name in row}
            new = sorted(found - {*names, *self._names})
            facet["NonKeyAttributes"] = [*names, *new]
        self.restored = restored

    def _key(self, row: Item) -> tuple[str, ...]:
        return tuple(str(next(iter(row[name].values()))) for name in self._names)

    def _restored(self, facet: Any) -> dict[str, Any]:
        return {**facet, "TableData": self.rows_of(facet.get("TableData", []))}

    def rows_of(self, keys: list[Any]) -> list[Item]:
        """Return the rows that still exist of those with these keys."""
        return [self._rows[tuple(key)] for key in keys if tuple(key) in self._rows]
