"""Drafts: the keys of a class of items before attributes explain their variables.

A placement is a key, of the table or of an index, with the items that have it; each of its key
attributes has a draft. Indexes on key attributes of the table share its drafts.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tablewright.infer.declaration import InferredCondition
from tablewright.infer.structure import Element, VaryingPart
from tablewright.schema import KeyAttribute
from tablewright.table_description import IndexDescription
from tablewright.values import Item


class Placement(Struct, eq=False):
    """The items that have one place in an index, or (None) in the table."""

    index: IndexDescription | None
    members: list[int]
    keys: list[KeyAttribute]
    when: InferredCondition | None = None
    #: By the names of the key attributes.
    drafts: dict[str, Draft] = {}

    @property
    def is_local(self) -> bool:
        return self.index is not None and self.index.is_local

    def sorts(self, key: KeyAttribute) -> bool:
        return key in (self.keys[1:] if self.index is None else self.index.keys.sort)


class Draft(Struct, eq=False):
    """A key attribute before its variables are explained."""

    key: KeyAttribute
    #: The numbers of the items that have the key.
    members: list[int]
    elements: list[Element]
    sorts: bool
    is_natural: bool = False

    @property
    def variables(self) -> list[VaryingPart]:
        return [each for each in self.elements if isinstance(each, VaryingPart)]

    @property
    def is_ragged(self) -> bool:
        return any(variable.is_ragged for variable in self.variables)

    def whole(self, items: Sequence[Item], delimiter: str) -> VaryingPart:
        """Return the whole text of the key attribute as one variable."""
        texts = tuple(items[n][self.key.name][self.key.type] for n in self.members)
        is_ragged = bool(delimiter) and any(delimiter in text for text in texts)
        return VaryingPart(texts, is_ragged=is_ragged)


def join_if_ragged(drafts: Sequence[Draft], items: Sequence[Item], delimiter: str) -> None:
    """Make a variable of each text whose variables could not be told apart in a ragged key."""
    if any(draft.is_ragged for draft in drafts):
        for draft in drafts:
            if any(isinstance(each, VaryingPart) for each in draft.elements[:-1]):
                draft.elements = [draft.whole(items, delimiter)]
