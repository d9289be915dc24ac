"""Charges: what DynamoDB counts for the clauses of an UpdateExpression.

UpdateItem refuses an update if the finished item exceeds 400 KB, and also if 3 bytes and the
charges of its clauses do. Owns the charges, which depend on the text and the values of the update,
but not on the item:

    piece                    bytes
    element of a path        the length of its name, or of the digits of its list index
    target                   its first element, and 4 more bytes for each later element
    path as an operand       1, and 14 more bytes for each element; the value that is read is free
    value as an operand      its size in an item, each time it is used
    x + y, x - y             34, 37, and both operands
    if_not_exists(p, v)      39, and both operands
    list_append(x, y)        37, and both operands
    SET target = operand     19, the target and the operand
    ADD target :v            19, the target and the value
    REMOVE, DELETE target    1 and the target

    SET c = m.z              19 + 1 + (1 + 14 + 1 + 14 + 1) = 51
    REMOVE l[10]             1 + (1 + 4 + 2) = 8
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tablewright.encoding.items import ITEM_TO_UPDATE_TOO_LARGE, text_size, value_size
from tablewright.errors import ValidationException
from tablewright.expression import tree
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.values import Value

_OPERATORS = {"+": 34, "-": 37, "if_not_exists": 39, "list_append": 37}


class ClauseCharge:
    """The charge of an update without its values."""

    __slots__ = ("_bytes", "_values")

    def __init__(self, actions: Iterable[tree.Action]) -> None:
        self._bytes = 3
        self._values: list[str] = []  # one for each use
        for action in actions:
            self._add_action(action)

    def check(self, values: Mapping[str, Value], values_size: int) -> None:
        """Raise a fault if the charge exceeds the limit; `values_size` is that of all values."""
        if self._bytes + len(self._values) * values_size <= MAX_ITEM_SIZE:
            return
        sizes = {name: value_size(values[name]) for name in set(self._values)}
        if self._bytes + sum(sizes[name] for name in self._values) > MAX_ITEM_SIZE:
            raise ValidationException(ITEM_TO_UPDATE_TOO_LARGE)

    def _add_action(self, action: tree.Action) -> None:
        first, *rest = map(_element, action.path.parts)
        target = first + sum(4 + part for part in rest)
        match action:
            case tree.SetAction(_, operand):
                self._bytes += 19 + target
                self._add_operand(operand)
            case tree.AddAction(_, value):
                self._bytes += 19 + target
                self._add_operand(value)
            case _:
                self._bytes += 1 + target

    def _add_operand(self, operand: tree.Operand) -> None:
        match operand:
            case tree.Path(parts):
                self._bytes += 1 + sum(14 + _element(part) for part in parts)
            case tree.Value(name):
                self._values.append(name)
            case tree.Call(operator, operands):
                self._add_operands(operator, operands)
            case tree.Arithmetic(operator, left, right):
                self._add_operands(operator, (left, right))

    def _add_operands(self, operator: str, operands: Iterable[tree.Operand]) -> None:
        self._bytes += _OPERATORS[operator]
        for operand in operands:
            self._add_operand(operand)


def _element(part: str | int) -> int:
    return text_size(str(part))
