"""Updates: compile a resolved update to a function from an item to the updated item.

Owns the meaning of SET, REMOVE, ADD and DELETE, and the three faults that depend on the item.

Invariants:
- The item is never modified. The updated item shares all values that no path changes.
- Every operand reads the original item, regardless of other actions.
- List positions are those of the original item: elements set beyond the end are appended in the
  order of their positions, and elements are removed last.

An action is compiled to a `Change`: a function from the old value at its path to the new value.
None is a missing value.

A few kilobytes of an update can describe gigabytes: `list_append(l, l)`, a hundred times. All
operands read the item before the update, and no path contains another. So the size of the updated
item is a sum: what the update leaves alone, and the value that each action writes. If the values of
an update are large, an action takes the size of its value from a `SizeBudget` before it builds it.
If the budget is exceeded, the item cannot fit, whatever the other actions are.

    item                            {"l": 300 KB, "k": 90 KB}
    SET m = list_append(k, k) REMOVE l
    budget at the start             400 KB - 90 KB: `l` is replaced, so it does not count
    after `m`                       310 KB - 180 KB
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from tablewright.encoding.items import ITEM_TO_UPDATE_TOO_LARGE, text_size, value_size
from tablewright.encoding.numbers import OVERFLOW, format_number
from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.expression.charge import ClauseCharge
from tablewright.expression.evaluate import compile_path
from tablewright.expression.projection import Branches, PathBranch, build_branches
from tablewright.expression.resolve import Values
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import EXACT, Item, Value, sorted_members

# -- the size of an update -------------------------------------------------------------------------


class Joined(tuple[list[Value], list[Value]]):
    """The content of a list that is not built yet: the two lists that it consists of."""

    __slots__ = ()


def build_list(value: Value) -> Value:
    """Return a value with the list that it describes."""
    content = value.get("L")
    if isinstance(content, Joined):
        beginning, end = content
        return {"L": beginning + end}
    return value


class SizeBudget:
    """The bytes that an update may still write.

    It measures each value once, however often the update uses it.
    """

    __slots__ = ("_left", "_members", "_sizes")

    def __init__(self, left: int) -> None:
        self._left = left
        self._sizes: dict[int, int] = {}
        self._members: dict[int, frozenset[str]] = {}

    @property
    def left(self) -> int:
        return self._left

    def free(self, part: str | int, value: Value, *, nested: bool) -> None:
        """Add the bytes of a value that an action replaces or removes."""
        self._left += _part_size(part, nested) + self.size(value)

    def take(self, part: str | int, value: Value, *, nested: bool) -> None:
        """Take the bytes of a value that an action writes; raise a fault if they do not fit."""
        self._left -= _part_size(part, nested) + self.size(value)
        if self._left < 0:
            raise ValidationException(ITEM_TO_UPDATE_TOO_LARGE)

    def require(self, value: Value) -> None:
        """Raise a fault if a value that is part of what an action writes does not fit."""
        if self.size(value) > self._left:
            raise ValidationException(ITEM_TO_UPDATE_TOO_LARGE)

    def size(self, value: Value) -> int:
        """Return the size of a value, of a list that is not built yet, too."""
        ((tag, content),) = value.items()
        if content.__class__ is Joined:
            return 3 + sum(self._content_size("L", part) - 3 for part in content)
        return self._content_size(tag, content)

    def members(self, content: list[str]) -> frozenset[str]:
        """Return the members of a set."""
        found = self._members.get(id(content))
        if found is None:
            found = self._members[id(content)] = frozenset(content)
        return found

    def _content_size(self, tag: str, content: Any) -> int:
        found = self._sizes.get(id(content))
        if found is None:
            found = value_size({tag: content})
            if tag in ("L", "M", "SS", "NS", "BS"):  # other contents may share an identity
                self._sizes[id(content)] = found
        return found


def _part_size(part: str | int, nested: bool) -> int:
    """Return what the name or the position of a value adds to its size."""
    return (text_size(part) if isinstance(part, str) else 0) + nested


# -- updates ---------------------------------------------------------------------------------------

Change: TypeAlias = Callable[[Value | None, Item, Values, SizeBudget | None], Value | None]
#: A change that depends on nothing but the value that it replaces.
ValueChange: TypeAlias = Callable[[Value | None], Value | None]
#: Lists that `list_append` returns are not built yet: see `build_list`.
Compute: TypeAlias = Callable[[Item, Values], Value]
#: Applies an update to an item; the size of a large item is an argument, that of others is None.
Apply: TypeAlias = Callable[[Item, Values, int | None], tuple[Item, int | None]]

INVALID_PATH = "The document path provided in the update expression is invalid for update"
MISSING = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"


class CompiledActions:
    """The actions of an update, without the values of a request.

    `wrong_type` is the message of ADD and DELETE for a wrong type.
    """

    __slots__ = ("apply", "charge", "only_removes", "operands")

    def __init__(self, update: tree.UpdateTree, wrong_type: str = WRONG_TYPE) -> None:
        actions = [action for section in update.sections for action in section.actions]
        self.apply = _compile_update(actions, wrong_type)
        #: How many values it copies at most: what it writes is not larger than these.
        self.operands = sum(map(_count_operands, actions))
        #: It has only REMOVE and DELETE actions, so it does not create a missing item.
        self.only_removes = all(
            isinstance(one, tree.RemoveAction | tree.DeleteAction) for one in actions
        )
        #: What DynamoDB charges for the clauses of an UpdateExpression.
        self.charge = ClauseCharge(actions)


def _compile_update(actions: Sequence[tree.Action], wrong_type: str) -> Apply:
    """Compile a function that applies an update.

    The function raises `ValidationException` if the parent of a path does not exist, an operand is
    missing or has the wrong type, or a number is out of range. If the size of the item is given,
    it returns the new size, and raises as soon as the updated item cannot fit.
    """
    top = build_branches(
        (action.path.parts, _compile_action(action, wrong_type)) for action in actions
    )
    paths = [(action.path.parts, compile_path(action.path.parts)) for action in actions]

    def apply(item: Item, values: Values, size: int | None) -> tuple[Item, int | None]:
        if size is None:
            return _change_members(item, top, item, values, None), None
        budget = SizeBudget(MAX_ITEM_SIZE - size)
        for parts, read in paths:
            old = read(item, values)
            if old is not None:
                budget.free(parts[-1], old, nested=len(parts) > 1)
        changed = _change_members(item, top, item, values, budget)
        return changed, MAX_ITEM_SIZE - budget.left

    return apply


def _count_operands(part: tree.Action | tree.Operand) -> int:
    match part:
        case tree.SetAction(_, operand):
            return _count_operands(operand)
        case tree.AddAction() | tree.DeleteAction():
            return 2
        case tree.Call(_, arguments):
            return sum(map(_count_operands, arguments))
        case tree.Arithmetic(_, left, right):
            return _count_operands(left) + _count_operands(right)
    return 1


def apply_changes(item: Item, changes: Iterable[tuple[tuple[str | int, ...], ValueChange]]) -> Item:
    """Return the item with the value at each path changed; no path may contain another.

    Raises `ValidationException` where the parent of a path does not exist.
    """
    top = build_branches((path, _to_change(change)) for path, change in changes)
    return _change_members(item, top, item, {}, None)


def _to_change(change: ValueChange) -> Change:
    return lambda old, item, values, budget: change(old)


# -- maps and lists on the paths


def _change_members(
    members: Item, changes: Branches[Change], item: Item, values: Values, budget: SizeBudget | None
) -> dict[str, Value]:
    """Return a map (or the item itself) with changed members."""
    changed: dict[Any, Value] = members.copy()
    for name, branch in changes.items():
        old: Value | None = changed.get(name)
        if branch.leaf is None:
            changed[name] = _change_nested(old, branch, item, values, budget)
        else:
            new = branch.leaf(old, item, values, budget)
            if new is not None:
                changed[name] = (
                    new if budget is None else _fit(name, new, budget, nested=members is not item)
                )
            elif old is not None:
                del changed[name]
    return changed


def _change_elements(
    elements: list[Value],
    changes: Branches[Change],
    item: Item,
    values: Values,
    budget: SizeBudget | None,
) -> list[Value]:
    """Return a list with changed elements; `changes` are in the order of positions."""
    changed: list[Value | None] = [*elements]
    length = len(elements)
    for position, branch in changes.items():
        assert isinstance(position, int)
        old = changed[position] if position < length else None
        if branch.leaf is None:
            new: Value | None = _change_nested(old, branch, item, values, budget)
        else:
            new = branch.leaf(old, item, values, budget)
            if new is not None and budget is not None:
                new = _fit(position, new, budget, nested=True)
        if position < length:
            changed[position] = new
        else:
            changed.append(new)
    return [element for element in changed if element is not None]


def _change_nested(
    value: Value | None,
    branch: PathBranch[Change],
    item: Item,
    values: Values,
    budget: SizeBudget | None,
) -> Value:
    """Return a map or list with nested changes; raise if it is missing or has the wrong type."""
    below = branch.below or {}
    if value is not None:
        by_name = isinstance(next(iter(below)), str)
        if "M" in value and by_name:
            return {"M": _change_members(value["M"], below, item, values, budget)}
        if "L" in value and not by_name:
            return {"L": _change_elements(value["L"], below, item, values, budget)}
    raise ValidationException(INVALID_PATH)


# -- values at the ends of the paths


def _compile_action(action: tree.Action, wrong_type: str) -> Change:
    match action:
        case tree.SetAction(_, operand):
            compute = _operand(operand)
            if not (isinstance(operand, tree.Call) and operand.function == "list_append"):
                return lambda old, item, values, budget: compute(item, values)
            return lambda old, item, values, budget: (
                build_list(compute(item, values)) if budget is None else compute(item, values)
            )
        case tree.RemoveAction():
            return lambda old, item, values, budget: None
        case tree.AddAction(_, value):
            return _add(value.name, wrong_type)
        case tree.DeleteAction(_, value):
            name = value.name
            return lambda old, item, values, budget: delete_value(
                old, values[name], wrong_type, frozenset if budget is None else budget.members
            )


def _add(name: str, wrong_type: str) -> Change:
    def change(old: Value | None, item: Item, values: Values, budget: SizeBudget | None) -> Value:
        # A union of sets is not smaller than its parts; a sum of numbers may be.
        if budget is not None and old is not None and "N" not in old:
            budget.require(old)
            budget.require(values[name])
        return add_value(old, values[name], wrong_type)

    return change


def _fit(part: str | int, value: Value, budget: SizeBudget, *, nested: bool) -> Value:
    """Return a value to write, built after its size is taken from the budget."""
    budget.take(part, value, nested=nested)
    return build_list(value)


def add_value(old: Value | None, value: Value, wrong_type: str = WRONG_TYPE) -> Value:
    """Return what ADD makes of a value: a sum, a union of sets, or two lists as one."""
    if old is None:
        return value
    for tag, content in value.items():
        if tag not in old:
            break
        if tag == "N":
            return _sum(old, value, 1)
        if tag == "L":  # from AttributeUpdates: an UpdateExpression cannot ADD a list
            return {"L": old["L"] + content}
        return {tag: sorted_members(tag, {*old[tag], *content})}
    raise ValidationException(wrong_type)


def subtract_value(old: Value | None, value: Value) -> Value:
    """Return the difference of two numbers; a missing number counts as 0."""
    start = {"N": "0"} if old is None else old
    if "N" not in start:
        raise ValidationException(WRONG_TYPE)
    return _sum(start, value, -1)


def delete_value(
    old: Value | None,
    value: Value,
    wrong_type: str = WRONG_TYPE,
    members: Callable[[list[str]], frozenset[str]] = frozenset,
) -> Value | None:
    """Return what DELETE leaves of a set; None if no member is left."""
    if old is None:
        return None
    for tag, content in value.items():
        if tag in old:
            removed = members(content)
            remaining = [member for member in old[tag] if member not in removed]
            return {tag: remaining} if remaining else None  # a set cannot be empty
    raise ValidationException(wrong_type)


def _sum(left: Value, right: Value, sign: int) -> Value:
    one, two = Decimal(left["N"]), Decimal(right["N"])
    total = EXACT.add(one, two) if sign > 0 else EXACT.subtract(one, two)
    # Too many digits are an overflow, the only error of numbers that DynamoDB documents for
    # updates. The text is not known for certain.
    return {"N": format_number(total, too_precise=OVERFLOW)}


# -- operands


def _operand(operand: tree.Operand) -> Compute:
    match operand:
        case tree.Value(name):
            return lambda item, values: values[name]
        case tree.Path(parts):
            return _existing(parts)
        case tree.Call("if_not_exists", (tree.Path(parts), otherwise)):
            return _if_not_exists(parts, _operand(otherwise))
        case tree.Call("list_append", (left, right)):
            return _list_append(_operand(left), _operand(right))
        case tree.Arithmetic(operator, left, right):
            return _arithmetic(1 if operator == "+" else -1, _operand(left), _operand(right))
    raise AssertionError("not an operand of an update")


def _existing(parts: tuple[str | int, ...]) -> Compute:
    read = compile_path(parts)

    def compute(item: Item, values: Values) -> Value:
        value = read(item, values)
        if value is None:
            raise ValidationException(MISSING)
        return value

    return compute


def _if_not_exists(parts: tuple[str | int, ...], otherwise: Compute) -> Compute:
    read = compile_path(parts)

    def compute(item: Item, values: Values) -> Value:
        # DynamoDB evaluates the second operand even if it does not need it.
        default = otherwise(item, values)
        value = read(item, values)
        return default if value is None else value

    return compute


def _list_append(left: Compute, right: Compute) -> Compute:
    def compute(item: Item, values: Values) -> Value:
        beginning = _require_type("L", left(item, values))["L"]
        end = _require_type("L", right(item, values))["L"]
        return {"L": Joined((beginning, end))}

    return compute


def _arithmetic(sign: int, left: Compute, right: Compute) -> Compute:
    def compute(item: Item, values: Values) -> Value:
        # The type of the left operand is checked before the right operand is read.
        number = _require_type("N", left(item, values))
        return _sum(number, _require_type("N", right(item, values)), sign)

    return compute


def _require_type(tag: str, value: Value) -> Value:
    if tag not in value:
        raise ValidationException(WRONG_TYPE)
    return value
