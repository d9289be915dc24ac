"""Results of patterns as markup: entities, aggregates as trees, pages, tuples, counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from enum import Enum
from typing import Any

import pydantic

from tablewright.errors import TablewrightError
from tablewright.mapping.entity import EntityMap
from tablewright.plan.reads.page import Page
from tablewright.publish.html.element import Markup, element
from tablewright.studio.markup.hues import attribute_hue
from tablewright.studio.markup.item_parts import key_url
from tablewright.studio.markup.parts import NOTHING, chip, faint, note, shortened, tag

#: How many characters of a value, and how many members of a list, are shown.
SHORT = 120
SHOWN = 200


def result_tree(value: Any) -> Markup:
    """Return a result as a tree."""
    return element("ul.tree", element("li", *_node(value)))


def _node(value: Any) -> list[Markup]:
    if value is None:
        return [element("span.mono.faint", "None"), element("span", " nothing found")]
    entity = getattr(type(value), "__entity__", None)
    if isinstance(entity, EntityMap):
        return _entity(value, entity)
    if hasattr(type(value), "__aggregate__"):
        members = [_member(name, each) for name, each in vars(value).items()]
        return [element("b", type(value).__name__), element("ul", members)]
    if isinstance(value, (Page, list, tuple)) and not hasattr(value, "_fields"):
        return _list(value)
    pairs = _pairs(value)
    if pairs is not None:
        return [element("b", type(value).__name__), _values(pairs)]
    return [element("span.mono", plain_text(value))]


def _member(name: str, value: Any) -> Markup:
    return element("li", faint(name), " ", *_node(value))


def _list(value: Any) -> list[Markup]:
    kind = "Page" if isinstance(value, Page) else type(value).__name__
    members = [element("li", *_node(each)) for each in list(value)[:SHOWN]]
    more = len(value) - len(members)
    rest = note(f"{more} more are not shown") if more > 0 else NOTHING
    unreadable = [note(str(error), "warn") for error in getattr(value, "unreadable", ())]
    shown = element("ul", members) if members else NOTHING
    return [faint(kind), tag(str(len(value))), shown, rest, *unreadable]


def _entity(value: Any, entity: EntityMap) -> list[Markup]:
    """Return an entity: its name and identity as links, then its other attributes."""
    href = None
    with suppress(TablewrightError):  # it may have no key
        href = key_url(entity.table.name, entity.stored_key(value))
    values = dict(vars(value))
    identity = [part.attribute for part in entity.primary.parameters]
    own = identity[-1] if identity else ""
    title = plain_text(values.pop(own)) if own in values else ""
    hue = attribute_hue(entity, own)
    linked = element("span.mono", title)
    if href is not None:
        linked = element("a", title, class_=f"mono v {hue}".strip(), href=href)
    return [chip(entity, href=href), linked, _values(values)]


def _values(values: Mapping[str, Any]) -> Markup:
    shown = [element("span", element("i", name), plain_text(each)) for name, each in values.items()]
    return element("span.kv.mono", shown)


def _pairs(value: Any) -> dict[str, Any] | None:
    """Return the members of a projection, a model or a dataclass."""
    if hasattr(value, "_asdict"):
        pairs: dict[str, Any] = value._asdict()
        return pairs
    if isinstance(value, pydantic.BaseModel):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    if hasattr(type(value), "__projection__"):
        return dict(vars(value))
    return None


def plain_text(value: Any) -> str:
    """Return a value as a short text that a person reads.

    >>> plain_text(datetime(2026, 1, 16, 10, 15, 30, tzinfo=UTC)), plain_text(["a", None])
    ('2026-01-16 10:15:30Z', '[a, None]')
    """
    return shortened(_text(value), SHORT)


def _text(value: Any) -> str:
    match value:
        case Enum():
            return str(value.value)
        case datetime():
            text = value.replace(tzinfo=None).isoformat(" ")
            return f"{text}Z" if value.tzinfo is UTC else value.isoformat(" ")
        case date() | time():
            return value.isoformat()
        case dict():
            return f"{{{', '.join(f'{name}: {_text(each)}' for name, each in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(_text, value))}]"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_text, value)))}}}"
        case bytes():
            return f"{len(value)} bytes"
        case _ if (pairs := _pairs(value)) is not None:
            members = (f"{name}={_text(each)}" for name, each in pairs.items())
            return f"{type(value).__name__}({', '.join(members)})"
        case _:
            return str(value)
