"""The OpenAPI document: what an operation asks of DynamoDB, and which operations follow it.

x-tablewright    the pattern, its requests and its units
links            what was created can be read, changed and deleted; a page has a next one
examples         entities, such as those of a design's sample data
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pydantic

from tablewright.fastapi.endpoints import Exposed
from tablewright.fastapi.hidden import Hidden
from tablewright.mapping.pydantic_bridge import hiding
from tablewright.model.entity import Entity
from tablewright.plan.reads.query import Query
from tablewright.plan.writes.put import Create
from tablewright.plans import AccessPattern


def describe(pattern: AccessPattern) -> dict[str, Any]:
    """Return what an operation asks of DynamoDB, for its description in OpenAPI."""
    shape = pattern.api_shape
    requests = [
        {
            name: text
            for name, text in (
                ("operation", each.operation),
                ("table", each.table),
                ("changed_indexes" if each.is_write else "index", each.index),
                ("key", each.condition),
            )
            if text
        }
        for each in shape.requests
    ]
    return {"pattern": pattern.label, "requests": requests, "units": shape.units}


def links_of(exposed: Exposed, others: Iterable[Exposed]) -> dict[str, Any]:
    """Return the links of a response, by the name of the operation that follows."""
    operation = exposed.operation
    if isinstance(operation.plan, Query):
        given = {name: f"$request.path.{name}" for name in operation.route.parameters}
        given |= {name: f"$request.query.{name}" for name in operation.query}
        cursor = {"cursor": "$response.body#/next_cursor"}
        return {"next_page": {"operationId": exposed.name, "parameters": given | cursor}}
    if not isinstance(operation.plan, Create):
        return {}
    entity = operation.plan._entity
    shown = entity.attributes.keys() - exposed.hidden.get(entity.type, frozenset())
    found = {}
    for each in others:
        names = each.route.parameters
        is_own = each is not exposed and each.pattern.entities[0] is entity
        if names and shown.issuperset(names) and is_own:
            parameters = {name: f"$response.body#/{name}" for name in names}
            found[each.name] = {"operationId": each.name, "parameters": parameters}
    return found


def examples_of(entities: Iterable[Entity], hidden: Hidden) -> dict[type, Any]:
    """Return one entity of each kind as JSON, without what is hidden."""
    found: dict[type, Any] = {}
    with hiding(hidden):
        for each in entities:
            kind = type(each)
            if kind not in found:
                found[kind] = pydantic.TypeAdapter(kind).dump_python(
                    each, mode="json", by_alias=True
                )
    return found
