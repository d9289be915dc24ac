"""The parts of a table as texts, to compare a CreateTable request with a description.

>>> table = {
...     "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}],
...     "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
... }
>>> structure_parts(table)
{'keys': 'k:S HASH'}
>>> differing_parts(structure_parts(table), {"keys": "k:N HASH"})
{'keys': ('k:S HASH', 'k:N HASH')}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def structure_parts(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys, the indexes and the stream of a request or a description, by their names."""
    types = {one["AttributeName"]: one["AttributeType"] for one in table["AttributeDefinitions"]}
    found = {"keys": _format_keys(table["KeySchema"], types)}
    for member, kind in (("LocalSecondaryIndexes", "local"), ("GlobalSecondaryIndexes", "global")):
        for index in table.get(member) or ():
            projection = index["Projection"]
            included = ", ".join(sorted(projection.get("NonKeyAttributes") or ()))
            found[f"{kind} index {index['IndexName']}"] = (
                f"{_format_keys(index['KeySchema'], types)}, projection "
                f"{projection['ProjectionType']}{f' ({included})' if included else ''}"
            )
    stream = table.get("StreamSpecification") or {}
    if stream.get("StreamEnabled"):
        found["StreamSpecification"] = stream["StreamViewType"]
    return found


def differing_parts(
    wanted: Mapping[str, str], found: Mapping[str, str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the parts that differ, by their names: what is wanted and what is found."""
    return {
        name: (wanted.get(name), found.get(name))
        for name in sorted({*wanted, *found})
        if wanted.get(name) != found.get(name)
    }


def _format_keys(elements: Iterable[Mapping[str, str]], types: Mapping[str, str]) -> str:
    return ", ".join(
        f"{one['AttributeName']}:{types.get(one['AttributeName'], '?')} {one['KeyType']}"
        for one in elements
    )
