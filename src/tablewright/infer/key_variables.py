"""Variables of keys: find the attribute that explains each of them.

A placement is a key of the table or of an index, and the items that have it. Each key attribute
begins as a draft: literals and unnamed variables. Indexes on key attributes of the table share its
drafts.

An attribute explains a variable if one of its formats gives the stored text of every item. A
variable that no attribute explains becomes a new attribute that is only in keys.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from tablewright.infer.attributes import StoredAttributes, rank
from tablewright.infer.declaration import (
    InferredAttribute,
    InferredCondition,
    InferredPart,
    InferredPath,
)
from tablewright.infer.kinds import STR, KeySpelling, Kind, key_only_spellings, reads_back
from tablewright.infer.structure import Element, VaryingPart
from tablewright.mapping.key_parts import Delimiter
from tablewright.schema import KeyAttribute
from tablewright.table_description import IndexDescription
from tablewright.values import Item

#: Delimiters of a key in whose values the table's delimiter is.
_OTHER_DELIMITERS = "|~^;"


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
    """Make each text of a ragged key one variable, if its variables cannot be separated."""
    if any(draft.is_ragged for draft in drafts):
        for draft in drafts:
            if any(isinstance(each, VaryingPart) for each in draft.elements[:-1]):
                draft.elements = [draft.whole(items, delimiter)]


class KeyPaths(Struct):
    """Makes the paths of the keys of one class of items."""

    items: Sequence[Item]
    stored: StoredAttributes
    delimiter: Delimiter
    #: The attributes that are only in keys.
    key_only: list[InferredAttribute] = []

    def explain(
        self, draft: Draft, variable: VaryingPart
    ) -> Iterator[tuple[InferredAttribute, KeySpelling]]:
        """Yield the attributes that explain a variable of a key, each with its spelling."""
        delimiter, sorts = self._delimiter_of(draft), draft.sorts
        return self.stored.explain(variable, draft.key, draft.members, delimiter, sorts=sorts)

    def choose_kinds(self, drafts: Sequence[Draft]) -> None:
        """Give each attribute the type with which it explains most variables."""
        votes: dict[str, Counter[Kind]] = defaultdict(Counter)
        for draft in drafts:
            for variable in draft.variables:
                for attribute, spelling in self.explain(draft, variable):
                    votes[attribute.stored][spelling.kind] += 1
        natural = {draft.key.name for draft in drafts if draft.is_natural}
        for name in self.stored.by_name:
            self.stored.choose_kind(name, votes[name], is_natural=name in natural)

    def path(self, draft: Draft, *, is_alone: bool = False) -> InferredPath:
        """Return a key attribute whose variables are attributes; `is_alone` makes new ones."""
        if draft.is_natural:
            attribute = self.stored.by_name[draft.key.name]
            part = InferredPart(attribute, KeySpelling(attribute.kind), is_natural=True)
            return InferredPath(draft.key, [part])
        elements: list[str | InferredPart] = []
        word = ""
        for element in draft.elements:
            if isinstance(element, str):
                elements.append(element)
                word = element
                continue
            part = self._part(draft, element, element.prefix or word, is_alone=is_alone)
            elements.append(part)
            is_alone = False
            word = ""
        return InferredPath(draft.key, elements, draft.is_ragged)

    def _part(
        self, draft: Draft, variable: VaryingPart, word: str, *, is_alone: bool
    ) -> InferredPart:
        delimiter = self._delimiter_of(draft)
        found = [each for each in self.explain(draft, variable) if each[0].kind == each[1].kind]
        if found and not is_alone:
            attribute, spelling = min(found, key=lambda each: rank(each, word))
            others = [each for each, _ in found if each is not attribute]
            return InferredPart(
                attribute, spelling, variable.prefix, alternatives=tuple(dict.fromkeys(others))
            )
        if draft.key.type != "S":
            attribute = self.stored.add(draft.key.name)
            return InferredPart(attribute, KeySpelling(attribute.kind), is_natural=True)
        texts = dict(zip(draft.members, variable.texts, strict=True))
        spelling = next(
            (
                each
                for each in key_only_spellings(variable.texts)
                if reads_back(each, delimiter, variable.texts)
            ),
            KeySpelling(STR),
        )
        known = None if is_alone else self._known(texts, spelling, word)
        return InferredPart(
            known or self._new(draft.key, texts, spelling, word), spelling, variable.prefix
        )

    def _known(
        self, texts: dict[int, str], spelling: KeySpelling, word: str
    ) -> InferredAttribute | None:
        """Return the attribute that is already in another key with the same texts."""
        for attribute in self.key_only:
            known = {n: value["S"] for n, value in attribute.values.items()}
            is_equal = all(known.get(n) == text for n, text in texts.items())
            is_same = attribute.word == word or _is_rare(texts.values())
            if is_equal and is_same and attribute.kind == spelling.kind:
                return attribute
        return None

    def _new(
        self, key: KeyAttribute, texts: dict[int, str], spelling: KeySpelling, word: str
    ) -> InferredAttribute:
        attribute = InferredAttribute(
            key.name,
            (spelling.kind,),
            {n: {"S": text} for n, text in texts.items()},
            is_optional=len(texts) < len(self.items),
            is_key_only=True,
            word=word,
        )
        self.key_only.append(attribute)
        return attribute

    def _delimiter_of(self, draft: Draft) -> Delimiter:
        if not draft.is_ragged:
            return self.delimiter
        texts = [text for variable in draft.variables for text in variable.texts]
        return Delimiter(_absent(_OTHER_DELIMITERS, texts), escapes=False)

    def other_delimiter(self, paths: Sequence[InferredPath]) -> str | None:
        """Return the delimiter of a key in whose values the table's is; None for the table's."""
        if not any(path.is_ragged for path in paths):
            return None
        names = [path.key.name for path in paths if path.key.type == "S"]
        texts = [item[name]["S"] for item in self.items for name in names if name in item]
        return _absent(_OTHER_DELIMITERS, texts)


def _is_rare(texts: Collection[str]) -> bool:
    """Whether equal texts mean the same thing, although different literals precede them."""
    found = set(texts)
    shortest = min(map(len, found))
    return (len(found) > 1 and shortest > 2) or (
        shortest > 3 and not all(text.isdigit() for text in found)
    )


def _absent(candidates: str, texts: Sequence[str]) -> str:
    """Return the first candidate that no text contains."""
    return next((each for each in candidates if not any(each in text for text in texts)), "\x1f")
