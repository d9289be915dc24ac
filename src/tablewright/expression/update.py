"""Updating: a resolved update to a function from an item to the new item.

Owns what SET, REMOVE, ADD and DELETE mean and the three faults that only an item can cause. Laws:

- The item is never changed. The new item shares what no path touches.
- Every operand reads the item as it was, whatever other actions do.
- Positions in lists are those of the item as it was: elements set past the end are appended in the
  order of their positions, and elements are removed last.

An action is compiled to a `Change`: a function from what was at its path (None: nothing) to what
is there afterwards (None: nothing).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeAlias

from tablewright.encoding.numbers import canonical_number
from tablewright.errors import ValidationException
from tablewright.expression.document import Branch, Branches, branches
from tablewright.expression.evaluate import path_reader
from tablewright.expression.resolve import Values
from tablewright.expression.tree import (
    Action,
    Add,
    Arithmetic,
    Call,
    Delete,
    Operand,
    Path,
    Remove,
    Set,
    Update,
    Value,
)
from tablewright.values import EXACT, Item, sorted_members
from tablewright.values import Value as AttributeValue

Change: TypeAlias = Callable[[AttributeValue | None, Item, Values], AttributeValue | None]
#: A change that depends on nothing but the value that it replaces.
ValueChange: TypeAlias = Callable[[AttributeValue | None], AttributeValue | None]
Compute: TypeAlias = Callable[[Item, Values], AttributeValue]

INVALID_PATH = "The document path provided in the update expression is invalid for update"
MISSING = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"


def compile_update(update: Update, wrong_type: str = WRONG_TYPE) -> Callable[[Item, Values], Item]:
    """The function that applies an update; `wrong_type` is what ADD and DELETE say of a mismatch.

    It raises `ValidationException` where a path leads nowhere, an operand is missing or has the
    wrong type, or a number leaves DynamoDB's range.
    """
    top = branches(
        (action.path.parts, _change(action, wrong_type))
        for section in update.sections
        for action in section.actions
    )
    return lambda item, values: _members(item, top, item, values)


def apply_changes(item: Item, changes: Iterable[tuple[tuple[str | int, ...], ValueChange]]) -> Item:
    """Return the item with the value at each path changed; no path may contain another.

    Raises `ValidationException` where the parent of a path does not exist.
    """
    top = branches((path, _leaf(change)) for path, change in changes)
    return _members(item, top, item, {})


def _leaf(change: ValueChange) -> Change:
    return lambda old, item, values: change(old)


# -- along the paths


def _members(
    members: Item, changes: Branches[Change], item: Item, values: Values
) -> dict[str, AttributeValue]:
    """A map (or the item itself) with changes made to its members."""
    changed: dict[Any, AttributeValue] = members.copy()
    for name, branch in changes.items():
        old: AttributeValue | None = changed.get(name)
        if branch.leaf is None:
            changed[name] = _inside(old, branch, item, values)
        else:
            new = branch.leaf(old, item, values)
            if new is not None:
                changed[name] = new
            elif old is not None:
                del changed[name]
    return changed


def _elements(
    elements: list[AttributeValue], changes: Branches[Change], item: Item, values: Values
) -> list[AttributeValue]:
    """A list with changes made to its elements; `changes` are in the order of positions."""
    changed: list[AttributeValue | None] = [*elements]
    length = len(elements)
    for position, branch in changes.items():
        assert isinstance(position, int)
        old = changed[position] if position < length else None
        if branch.leaf is None:
            new: AttributeValue | None = _inside(old, branch, item, values)
        else:
            new = branch.leaf(old, item, values)
        if position < length:
            changed[position] = new
        else:
            changed.append(new)
    return [element for element in changed if element is not None]


def _inside(
    value: AttributeValue | None, branch: Branch[Change], item: Item, values: Values
) -> AttributeValue:
    """A map or list with changes made inside it; it must be there, and of the right type."""
    below = branch.below or {}
    if value is not None:
        by_name = isinstance(next(iter(below)), str)
        if "M" in value and by_name:
            return {"M": _members(value["M"], below, item, values)}
        if "L" in value and not by_name:
            return {"L": _elements(value["L"], below, item, values)}
    raise ValidationException(INVALID_PATH)


# -- at their ends


def _change(action: Action, wrong_type: str) -> Change:
    match action:
        case Set(_, operand):
            compute = _compute(operand)
            return lambda old, item, values: compute(item, values)
        case Remove():
            return lambda old, item, values: None
        case Add(_, value):
            name = value.name
            return lambda old, item, values: add_value(old, values[name], wrong_type)
        case Delete(_, value):
            name = value.name
            return lambda old, item, values: delete_value(old, values[name], wrong_type)


def add_value(
    old: AttributeValue | None, value: AttributeValue, wrong_type: str = WRONG_TYPE
) -> AttributeValue:
    """Return what ADD makes of a value: a sum, a union of sets, or two lists as one."""
    if old is None:
        return value
    for tag, content in value.items():
        if tag not in old:
            break
        if tag == "N":
            return _sum(old, value, 1)
        if tag == "L":  # of AttributeUpdates only: an UpdateExpression cannot ADD a list
            return {"L": old["L"] + content}
        return {tag: sorted_members(tag, {*old[tag], *content})}
    raise ValidationException(wrong_type)


def delete_value(
    old: AttributeValue | None, value: AttributeValue, wrong_type: str = WRONG_TYPE
) -> AttributeValue | None:
    """Return what DELETE leaves of a set; None if no member is left."""
    if old is None:
        return None
    for tag, content in value.items():
        if tag in old:
            gone = set(content)
            left = [member for member in old[tag] if member not in gone]
            return {tag: left} if left else None  # there are no empty sets
    raise ValidationException(wrong_type)


def _sum(left: AttributeValue, right: AttributeValue, sign: int) -> AttributeValue:
    one, two = Decimal(left["N"]), Decimal(right["N"])
    return {"N": canonical_number(EXACT.add(one, two) if sign > 0 else EXACT.subtract(one, two))}


# -- operands


def _compute(operand: Operand) -> Compute:
    match operand:
        case Value(name):
            return lambda item, values: values[name]
        case Path(parts):
            return _present(parts)
        case Call("if_not_exists", (Path(parts), otherwise)):
            return _if_not_exists(parts, _compute(otherwise))
        case Call("list_append", (left, right)):
            return _list_append(_compute(left), _compute(right))
        case Arithmetic(operator, left, right):
            return _arithmetic(1 if operator == "+" else -1, _compute(left), _compute(right))
    raise AssertionError("not an operand of an update")


def _present(parts: tuple[str | int, ...]) -> Compute:
    read = path_reader(parts)

    def compute(item: Item, values: Values) -> AttributeValue:
        value = read(item, values)
        if value is None:
            raise ValidationException(MISSING)
        return value

    return compute


def _if_not_exists(parts: tuple[str | int, ...], otherwise: Compute) -> Compute:
    read = path_reader(parts)

    def compute(item: Item, values: Values) -> AttributeValue:
        # DynamoDB asks for the second operand even where it does not use it.
        default = otherwise(item, values)
        value = read(item, values)
        return default if value is None else value

    return compute


def _list_append(left: Compute, right: Compute) -> Compute:
    def compute(item: Item, values: Values) -> AttributeValue:
        beginning = _of_type("L", left(item, values))
        return {"L": beginning["L"] + _of_type("L", right(item, values))["L"]}

    return compute


def _arithmetic(sign: int, left: Compute, right: Compute) -> Compute:
    def compute(item: Item, values: Values) -> AttributeValue:
        # The left operand's type is judged before the right operand is looked for.
        number = _of_type("N", left(item, values))
        return _sum(number, _of_type("N", right(item, values)), sign)

    return compute


def _of_type(tag: str, value: AttributeValue) -> AttributeValue:
    if tag not in value:
        raise ValidationException(WRONG_TYPE)
    return value
