"""Hidden attributes: those that no response of an API contains.

    create_app(target, Shop, hidden=[User.password])

Invariants: a hidden attribute is in no response, no entity tag and no recorded response, and in no
schema of one. A request can contain it, such as the password of a new user. A pattern that returns
single attributes must not return a hidden one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import pydantic

from tablewright.errors import DeclarationError
from tablewright.mapping.pydantic_bridge import hiding
from tablewright.mapping.variants import VariantMap
from tablewright.model.attribute import Reference
from tablewright.plan.shape import Shape
from tablewright.plans import AccessPattern

#: The member of an endpoint that has what it hides.
MEMBER = "__hidden__"
#: The names of hidden attributes, by the class of their entity.
Hidden = Mapping[type, frozenset[str]]


def hidden_of(pattern: AccessPattern, references: Iterable[object]) -> Hidden:
    """Return the hidden attributes of the entities of a pattern.

    Raise DeclarationError for what is no attribute, and for a pattern that would return one.
    """
    names: dict[type, set[str]] = {}
    for reference in references:
        if not isinstance(reference, Reference):
            raise DeclarationError(
                f"hidden={reference!r}: it takes attributes of entities, such as User.password"
            )
        for entity in pattern.entities[0].table.entities:
            bases = (entity, entity.base) if isinstance(entity, VariantMap) else (entity,)
            if any(each.attributes.get(reference.name) is reference.attribute for each in bases):
                names.setdefault(entity.type, set()).add(reference.name)
        for shape in _walk(pattern.shape):
            if reference.attribute.stored in shape.attributes and not shape.is_write:
                raise DeclarationError(
                    f"pattern {pattern.name} returns single attributes, and {reference.where} is "
                    "hidden; leave one of them out",
                    location=pattern.location,
                )
    return {kind: frozenset(found) for kind, found in names.items()}


def _walk(shape: Shape) -> Iterator[Shape]:
    yield shape
    for each in (*shape.steps, *shape.branches):
        yield from _walk(each)


def dump_without(kind: Any, hidden: Hidden) -> Callable[[Any], bytes]:
    """Return a function that writes a value of a type as JSON, without what is hidden."""
    # By alias, as the schema has the fields of models inside of entities.
    dump = partial(pydantic.TypeAdapter(kind).dump_json, by_alias=True)
    if not hidden:
        return dump

    def dump_rest(value: Any) -> bytes:
        with hiding(hidden):
            return dump(value)

    return dump_rest


def hidden_in(routes: Iterable[object]) -> Hidden:
    """Return what the operations of an application hide."""
    found: dict[type, frozenset[str]] = {}
    for route in routes:
        inner = getattr(route, "original_router", route)  # of a router that FastAPI includes
        hidden = getattr(getattr(inner, "endpoint", None), MEMBER, {})
        for kind, names in (*hidden.items(), *hidden_in(getattr(inner, "routes", ())).items()):
            found[kind] = found.get(kind, frozenset()) | names
    return found
