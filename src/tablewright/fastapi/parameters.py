"""Parameters: the types of arguments as the API states and checks them.

    customer_id: str     in a key          text with at least one character
    number: int          in a padded key   0 to 999
    amount: int          in a body         a number; true and "1" are none

A pattern is called once with a value at each limit, so the limits are those of the pattern itself.
What its type already limits, such as `Annotated[int, Field(ge=1)]`, is limited by both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, TypeVar

import pydantic

from tablewright.mapping.pydantic_bridge import plain_type, refuse_other_type
from tablewright.model.pattern import AccessPattern, refuses
from tablewright.model.validation import limits_in_keys, limits_of
from tablewright.plan.change import Set
from tablewright.plan.shape import Shape
from tablewright.symbol import Argument, expressed

#: The options of pydantic for the words of a JSON schema.
_OPTIONS = {"minLength": "min_length", "minimum": "ge", "maximum": "le"}


def stated_type(pattern: AccessPattern, name: str, *, is_json: bool = False) -> Any:
    """Return the type of an argument, with the limits that its pattern sets.

    With `is_json`, it is in a body. The values of paths and queries are texts, also true and false.
    """
    kind = pattern.types[name]
    if isinstance(kind, TypeVar):
        kind = kind.__bound__ or Any
    plain = plain_type(kind)
    limits = limits_of(plain, lambda value: refuses(pattern, name, value))
    limits |= _limits_of_target(pattern, name)
    options: dict[str, Any] = {_OPTIONS[limit]: value for limit, value in limits.items()}
    stated: Any = Annotated[kind, pydantic.Field(**options)] if options else kind
    check = refuse_other_type(kind)
    if check is None or (plain is bool and not is_json):
        return stated
    return Annotated[stated, pydantic.BeforeValidator(check)]


def _limits_of_target(pattern: AccessPattern, name: str) -> dict[str, int]:
    """Return the limits of the attributes in keys that an update sets to an argument."""
    found: dict[str, int] = {}
    for shape in _walk(pattern.shape):
        for change in shape.assignments:
            if isinstance(change, Set) and expressed(change.value) == Argument(name):
                for entity in pattern.entities:
                    if entity.attributes.get(change.name) is change.attribute:
                        found |= limits_in_keys(entity, change.name)
    return found


def _walk(shape: Shape) -> Iterator[Shape]:
    yield shape
    for each in (*shape.steps, *shape.branches):
        yield from _walk(each)
