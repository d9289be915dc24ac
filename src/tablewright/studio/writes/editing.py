"""Editing: the plans that change and delete one item.

    edit_fields(entity)              the attributes that an edit may change, as fields of a form
    changes_of(new, was)             what a person has changed, of what the form had
    edit_plan(…)                     a plan of the model, which updates versions and index keys
    RawWrite                         for items that the design does not know

An edit starts from the whole item, as the table has it, never from the row of an index: that may
have only some of the attributes. Only the attributes that a person has changed are set: the form
keeps what it had at first, so what others change meanwhile is not set back. The parts of the key
cannot change, and what the library sets is not edited.

This module must not know HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tablewright.encoding.items import normalise_item
from tablewright.errors import DynamoDBError, InvalidValue
from tablewright.mapping.attributes import STAMPS
from tablewright.mapping.entity import EntityMap, Values
from tablewright.plan.expressions import Placeholders, UpdateExpression
from tablewright.plan.plan import Context, Plan, Request, Steps
from tablewright.plan.writes.move import update
from tablewright.studio.patterns.form_values import texts
from tablewright.studio.patterns.forms import Field, field
from tablewright.table_description import TableDescription
from tablewright.values import Item, Value
from tablewright.wire.read import read
from tablewright.wire.requests import PutItemInput

#: The name before those of all fields: `item.status`.
GROUP = "item"
#: How many characters of values a form has. Longer ones are not edited in a page.
MAX_TYPED = 12_000


def edit_fields(entity: EntityMap) -> tuple[Field, ...]:
    """Return the fields of the attributes that an edit may change."""
    if entity.is_write_once:
        return ()
    fixed = {
        each.name
        for each in entity.attributes.values()
        if each.name in entity.primary.depends_on
        or each.role in STAMPS
        or each.is_immutable
        or each.is_key_only
    }
    return tuple(each for each in field(GROUP, entity.type).fields if each.label not in fixed)


def fitting(lengths: Mapping[str, int]) -> set[str]:
    """Return the names of the values that fit into one form: the shortest ones."""
    left, found = MAX_TYPED, set()
    for name, length in sorted(lengths.items(), key=lambda each: each[1]):
        left -= length
        if left < 0:
            break
        found.add(name)
    return found


def filled_in(fields: tuple[Field, ...], values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the inputs of a form that give these values."""
    return [pair for each in fields for pair in texts(each, values[each.label])]


def complete(fields: tuple[Field, ...], given: Mapping[str, Any]) -> Values:
    """Return the values of a form; a field that is left to its default has it."""
    defaults = {each.label: each.default() for each in fields if each.default is not None}
    return defaults | dict(given)


def changes_of(new: Mapping[str, Any], was: Mapping[str, Any]) -> Values:
    """Return the values that a person has changed: those that differ from what the form had."""
    return {
        name: value
        for name, value in new.items()
        if name not in was or not _is_same(value, was[name])
    }


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def edit_plan(instance: Any, changes: Values, *, by: str = "", reason: str = "") -> Plan[Any]:
    """Return the plan that sets these attributes of an entity.

    `by` and `reason` are recorded in its histories. Raises InvalidValue for a value that its
    attribute does not take.
    """
    owner = type(instance)
    plan = update(instance, *(getattr(owner, name).set(value) for name, value in changes.items()))
    return plan.audit(by=by or None, reason=reason or None)


# --- items that the design does not know ---------------------------------------------------------


def parse_item(description: TableDescription, stored: Item, text: str) -> Item:
    """Return the item that a person typed as DynamoDB's JSON.

    Raises InvalidValue if it is none, or if it has another key than the stored one.
    """
    try:
        decoded = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidValue(f"this is not JSON: {error}") from None
    try:
        request = {"TableName": description.name, "Item": decoded}
        item: Item = normalise_item(read(PutItemInput, request).item)
    except DynamoDBError as error:
        raise InvalidValue(f"DynamoDB would refuse this item: {error}") from None
    if any(item.get(name) != value for name, value in description.key(stored).items()):
        names = " and ".join(description.base.keys.names)
        raise InvalidValue(f"{names} cannot change: an item with another key is another item")
    return item


def item_changes(item: Item, was: Item) -> dict[str, Value | None]:
    """Return the attributes in which an item differs from another; None for removed ones."""
    names = dict.fromkeys((*item, *was))
    return {name: item.get(name) for name in names if item.get(name) != was.get(name)}


class RawWrite(Plan[None]):
    """Set and remove attributes of an item as they are stored; without changes, delete it."""

    def __init__(
        self,
        description: TableDescription,
        item: Item,
        changes: Mapping[str, Value | None] | None = None,
    ) -> None:
        self._description = description
        self._key = description.key(item)
        self._changes = changes

    def _entities(self) -> tuple[EntityMap, ...]:
        return ()

    def _steps(self, context: Context) -> Steps[None]:
        marks = Placeholders()
        body: dict[str, Any] = {"TableName": self._description.name, "Key": self._key}
        if self._changes is not None:
            changes = UpdateExpression(marks)
            for name, value in self._changes.items():
                changes.set_or_remove(name, value)
            body["UpdateExpression"] = changes.text()
        first = marks.name(self._description.base.keys.names[0])
        body["ConditionExpression"] = f"attribute_exists({first})"
        operation = "DeleteItem" if self._changes is None else "UpdateItem"
        yield Request(operation, body | marks.members())
