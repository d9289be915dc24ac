"""A table as a plain dict: what DynamoDB's documentation says, in as few words as possible.

Written for itself: it shares no code with the engine, so that a mistake is not made twice.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Item = dict[str, dict[str, Any]]
Place = tuple[Any, ...]

TABLE_KEYS = (("pk", "S"), ("sk", "N"))
FIVE_YEARS = 5 * 365 * 86400


@dataclass(frozen=True)
class IndexModel:
    """Keys are pairs of name and type; `held` are the attributes besides keys, None is all."""

    partition: tuple[tuple[str, str], ...]
    sort: tuple[tuple[str, str], ...]
    held: frozenset[str] | None

    @property
    def keys(self) -> tuple[tuple[str, str], ...]:
        return self.partition + self.sort

    def holds(self, item: Item) -> bool:
        """An item is in an index if it has all its key attributes, of their types."""
        return all(tag in item.get(name, {}) for name, tag in self.keys)

    def accepts(self, written: Item) -> bool:
        """What is written may lack a key attribute, but not have it of another type.

        What an update leaves alone may not fit: the item was there before the index.
        """
        return all(tag in written[name] for name, tag in self.keys if name in written)

    def shown(self, item: Item) -> Item:
        if self.held is None:
            return item
        names = self.held | {name for name, _ in (*self.keys, *TABLE_KEYS)}
        return {name: value for name, value in item.items() if name in names}


THE_TABLE = IndexModel(TABLE_KEYS[:1], TABLE_KEYS[1:], None)


@dataclass
class TableModel:
    indexes: dict[str, IndexModel]
    items: dict[Place, Item] = field(default_factory=dict)

    def source(self, index: str | None) -> IndexModel:
        return THE_TABLE if index is None else self.indexes[index]

    def put(self, item: Item) -> Item | None:
        old = self.items.get(place(item))
        self.items[place(item)] = item
        return old

    def delete(self, key: Item) -> Item | None:
        return self.items.pop(place(key), None)

    def accepts(self, written: Item) -> bool:
        return all(index.accepts(written) for index in self.indexes.values())

    def selected(self, index: str | None, hashes: Item, *conditions: Condition) -> list[Item]:
        """What a query finds, in the order of the sort key; equals are in any order."""
        source = self.source(index)
        found = [
            item
            for item in self.items.values()
            if source.holds(item)
            and all(item[name] == value for name, value in hashes.items())
            and all(condition.holds(item) for condition in conditions)
        ]
        found.sort(key=lambda item: order(item, source.sort))
        return [source.shown(item) for item in found]

    def expire(self, attribute: str, now: int) -> int:
        gone = [
            where
            for where, item in self.items.items()
            if "N" in item.get(attribute, {})
            and now - FIVE_YEARS < Decimal(item[attribute]["N"]) <= now
        ]
        for where in gone:
            del self.items[where]
        return len(gone)


@dataclass(frozen=True)
class Condition:
    """A condition on one attribute, as an expression and as a function."""

    name: str
    operator: str
    operands: tuple[dict[str, Any], ...]

    def expression(self, prefix: str) -> tuple[str, dict[str, str], Item]:
        """The text, the names and the values of it."""
        names = {f"#{prefix}": self.name}
        values = {f":{prefix}{n}": value for n, value in enumerate(self.operands)}
        path, first, *rest = f"#{prefix}", *values, "", ""
        match self.operator:
            case "BETWEEN":
                text = f"{path} BETWEEN {first} AND {rest[0]}"
            case "begins_with":
                text = f"begins_with({path}, {first})"
            case "attribute_exists" | "attribute_not_exists":
                text = f"{self.operator}({path})"
            case _:
                text = f"{path} {self.operator} {first}"
        return text, names, values

    def holds(self, item: Item) -> bool:
        value = item.get(self.name)
        if self.operator == "attribute_exists":
            return value is not None
        if self.operator == "attribute_not_exists":
            return value is None
        first = self.operands[0]
        if value is None or value.keys() != first.keys():
            return self.operator == "<>"
        content, *others = map(plain, (value, *self.operands))
        if self.operator == "BETWEEN":
            return bool(others[0] <= content <= others[1])
        if self.operator == "begins_with":
            return bool(content.startswith(others[0]))
        return _COMPARED[self.operator](content, others[0])


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: bool(left == right),
    "<>": lambda left, right: bool(left != right),
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}


def plain(value: dict[str, Any]) -> Any:
    """A scalar as a Python value that compares as DynamoDB compares."""
    ((tag, content),) = value.items()
    if tag == "N":
        return Decimal(content)
    return content.encode() if tag == "S" else base64.b64decode(content)


def order(item: Item, keys: Iterable[tuple[str, str]]) -> list[Any]:
    return [plain(item[name]) for name, _ in keys]


def place(item: Item) -> Place:
    return tuple(order(item, TABLE_KEYS))


def number(value: Decimal) -> dict[str, str]:
    """A number as DynamoDB spells it."""
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return {"N": "0" if text == "-0" else text}


def normal(item: Item) -> Item:
    """An item of scalars as DynamoDB gives it back."""
    return {
        name: number(Decimal(value["N"])) if "N" in value else value for name, value in item.items()
    }
