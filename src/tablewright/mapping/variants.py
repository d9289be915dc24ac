"""Variants: several kinds of entity with one key, distinguished by the type attribute.

    Account                   the base: the key and the shared attributes; it has no items itself
    ├── User(Account)         a variant: its own type name, and further attributes and indexes
    └── Organisation(Account)

    Account.primary("x")      a User or an Organisation, whichever is stored
    User.primary("x")         a User, or None if another kind is stored

Invariant: an item has one kind, which no write changes. An item at such a key whose type attribute
is missing or unknown raises UnreadableItem.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.json import Decoder

from tablewright.errors import UnreadableItem
from tablewright.mapping.entity import EntityMap
from tablewright.values import Item, Value

_plain = Decoder(dict[str, Any]).decode


class VariantsMap(EntityMap):
    """The compiled base of variants."""

    variants: tuple[VariantMap, ...] = ()

    @property
    def type_names(self) -> tuple[str, ...]:
        return tuple(variant.type_name for variant in self.variants)

    @property
    def kinds(self) -> tuple[EntityMap, ...]:
        return (self, *self.variants)

    @property
    def index_rows(self) -> int:
        return max((each.index_rows for each in self.variants), default=super().index_rows)

    def includes(self, entity: EntityMap | None) -> bool:
        return entity is self or entity in self.variants

    def kind_of(self, item: Mapping[str, Value]) -> EntityMap:
        found = self.table.entity_of(item)
        return found if found is not None and found in self.variants else self

    def decode(self, item: Mapping[str, Value]) -> Any:
        kind = self.kind_of(item)
        if kind is self:
            raise unknown_kind(self, item)
        return kind.decode(item)

    def decode_get(self, answer: bytes) -> Any:
        item = _plain(answer).get("Item")
        return None if item is None else self.decode(item)

    def decode_page(self, answer: bytes) -> tuple[list[Any], Item | None] | None:
        page = _plain(answer)
        try:
            return [self.decode(item) for item in page["Items"]], page.get("LastEvaluatedKey")
        except UnreadableItem:
            return None


class VariantMap(EntityMap):
    """A compiled variant."""

    base: VariantsMap  # pyright: ignore[reportIncompatibleVariableOverride]  # set once

    def includes(self, entity: EntityMap | None) -> bool:
        """Return whether items of `entity` can be of this variant: itself, or its base."""
        return entity is self or entity is self.base

    def kind_of(self, item: Mapping[str, Value]) -> EntityMap:
        return self.base.kind_of(item)

    def is_kind_of(self, item: Mapping[str, Value]) -> bool:
        return self.base.kind_of(item) is self

    def decode(self, item: Mapping[str, Value]) -> Any:
        if self.base.kind_of(item) is self.base:
            raise unknown_kind(self.base, item)
        return super().decode(item)

    def decode_get(self, answer: bytes) -> Any:
        item = _plain(answer).get("Item")
        return None if item is None else self.decode_kind(item)

    def decode_kind(self, item: Mapping[str, Value]) -> Any:
        kind = self.base.kind_of(item)
        return self.decode(item) if kind is self or kind is self.base else None


def known_kind(base: EntityMap, item: Mapping[str, Value]) -> EntityMap:
    """Return the variant of a stored item; raise UnreadableItem if its type is unknown."""
    kind = base.kind_of(item)
    if isinstance(kind, VariantsMap):
        raise unknown_kind(kind, item)
    return kind


def unknown_kind(base: VariantsMap, item: Mapping[str, Value]) -> UnreadableItem:
    """Return the error for an item with the key of a base, but no known type."""
    name = str(base.table.type_attribute)
    kinds = ", ".join(base.type_names) or "no variant is declared"
    found = f"no {name!r}" if name not in item else f"another {name!r}: {item[name]}"
    reason = f"{base.name}: the item has {found}, so its kind is unknown, of {kinds}"
    return base.table.unreadable(reason, item)
