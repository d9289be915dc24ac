"""Results of plans as nodes: what each part is called, its values, and what is below it.

    an entity, a model      its type, its attributes as JSON values
    an aggregate            its type, its members by name; the first one is the root
    a page, a list          its type, its members
    another value           the value itself

`terminal` prints nodes as tables and trees; the studio shows them as nested lists. This module must
not know either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from tablewright.errors import TablewrightError

if TYPE_CHECKING:
    import pydantic

    from tablewright.mapping.entity import EntityMap
    from tablewright.values import Item


class ResultNode(Struct, frozen=True):
    """A part of a result."""

    kind: Literal["record", "aggregate", "list", "value"]
    #: The name of its type.
    title: str
    #: The attributes of a record, or a value as "value", as JSON values.
    values: dict[str, Any] = {}
    #: Of an aggregate with their names, of a list without.
    members: tuple[tuple[str, ResultNode], ...] = ()
    entity: EntityMap | None = None
    #: The stored key of an entity; None if it has none.
    key: Item | None = None
    #: Why some members of a page are missing.
    problems: tuple[str, ...] = ()

    @property
    def key_names(self) -> list[str]:
        """The attributes that the key of an entity is made of."""
        parts = () if self.entity is None else self.entity.primary.parameters
        return list(dict.fromkeys(part.attribute for part in parts))


def result_node(value: Any) -> ResultNode:
    """Return a result of a plan as a node."""
    from tablewright.mapping.entity import EntityMap  # slow to import: it needs pydantic

    title = type(value).__name__
    if hasattr(type(value), "__aggregate__"):
        members = tuple(
            (name, result_node(getattr(value, name))) for name in type(value).__members__
        )
        return ResultNode("aggregate", title, members=members)
    if is_rows(value) or (isinstance(value, tuple) and not hasattr(value, "_fields")):
        problems = tuple(map(str, getattr(value, "unreadable", ())))
        members = tuple(("", result_node(each)) for each in value)
        return ResultNode("list", title, members=members, problems=problems)
    entity = getattr(type(value), "__entity__", None)
    if isinstance(entity, EntityMap):
        key = None
        with suppress(TablewrightError):  # it may have no key
            key = entity.stored_key(value)
        return ResultNode("record", title, as_json(value), entity=entity, key=key)
    if hasattr(value, "_asdict"):
        return ResultNode("record", title, as_json(value._asdict()))
    values = as_json(value)
    if isinstance(values, dict) and (_is_model(value) or hasattr(type(value), "__projection__")):
        return ResultNode("record", title, values)
    return ResultNode("value", title, {"value": values})


def _is_model(value: Any) -> bool:
    is_model = hasattr(value, "__get_pydantic_core_schema__")
    return is_model or (dataclasses.is_dataclass(value) and not isinstance(value, type))


def is_rows(value: Any) -> bool:
    """Return whether a value is a list of results."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | tuple)


def as_json(value: Any) -> Any:
    """Return the result of a plan as JSON values: entities, aggregates, rows, and lists of them."""
    import pydantic_core

    if hasattr(value, "__get_pydantic_core_schema__"):
        kind: Any = type(value)
        return _adapter(kind).dump_python(value, mode="json")
    if isinstance(value, list | tuple):
        return [as_json(member) for member in value]
    return pydantic_core.to_jsonable_python(value, bytes_mode="base64")


@cache
def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    import pydantic

    return pydantic.TypeAdapter(kind)


def json_text(value: Any) -> str:
    """Return a JSON value for a cell: a text as it is, anything else as JSON; None is empty."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
