"""Entities: what one class of items says of its attributes, its key and its places in indexes.

Each variable of a key is explained by an attribute that all items of the key have: the attribute
in some format gives the stored text of every item. What no attribute explains is an attribute of
its own that is only in keys. Names are given later, when all entities are known.

Invariant: each key of each item of the class is composed again, byte by byte, of the attributes
found, and items that are not in an index do not get into it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from tablewright.infer.attributes import StoredAttributes, rank
from tablewright.infer.classes import ItemClass
from tablewright.infer.declaration import Attribute, InferredEntity, InferredPath, Place, Use
from tablewright.infer.kinds import DATETIME, STR, Kind, text_kinds
from tablewright.infer.names import has_own_name
from tablewright.infer.sample import Sample, SampleIndex
from tablewright.infer.spellings import Spelling, key_only_spellings, reads_back
from tablewright.infer.structure import Element, VaryingPart, find_elements
from tablewright.mapping.delimiter import Delimiter
from tablewright.schema import KeyAttribute
from tablewright.values import Item

#: Delimiters of a key in whose values the table's delimiter is.
_OTHER_DELIMITERS = "|~^;"


def infer_entity(
    kind: ItemClass, sample: Sample, delimiter: Delimiter | None, type_attribute: str | None
) -> InferredEntity:
    """Return the entity of a class of items; without a delimiter, key texts are not split."""
    return _Inference(kind, sample, delimiter, type_attribute).infer()


class _Inference:
    def __init__(
        self,
        kind: ItemClass,
        sample: Sample,
        delimiter: Delimiter | None,
        type_attribute: str | None,
    ) -> None:
        self.kind = kind
        self.items = kind.items
        self.sample = sample
        self.split = "" if delimiter is None else delimiter.text
        self.delimiter = delimiter or Delimiter(escapes=False)
        self.type_attribute = type_attribute
        self.indexes = [index for index in sample.indexes if self._members(index)]
        self.partitions = len({str(item[sample.keys.names[0]]) for item in self.items})
        generic = {
            name
            for keys in (sample.keys, *(index.keys for index in self.indexes))
            for name in keys.names
            if not has_own_name(name)
        }
        self.stored = StoredAttributes(
            self.items,
            primary=sample.keys.names,
            generic=generic,
            type_attribute=type_attribute,
            ttl=sample.ttl,
            is_exact=sample.is_exact,
        )
        self.key_only: list[Attribute] = []
        self.own_paths: dict[str, InferredPath] = {}

    def _members(self, index: SampleIndex) -> list[int]:
        """Return the numbers of the items in an index."""
        if not index.is_single:
            return []
        names = index.keys.names
        return [n for n, item in enumerate(self.items) if all(name in item for name in names)]

    # -- the parts of keys -------------------------------------------------------------------

    def infer(self) -> InferredEntity:
        everything = list(range(len(self.items)))
        uses = [(key, everything, n > 0) for n, key in enumerate(self.sample.keys)]
        for index in self.indexes:
            members = self._members(index)
            uses += [(key, members, n > 0) for n, key in enumerate(index.keys)]
        # First the attributes with names of their own: those that are composed explain nothing.
        found: dict[str, _Draft] = {}
        for key, members, sorts in sorted(uses, key=lambda use: not has_own_name(use[0].name)):
            if key.name not in found:
                draft = found[key.name] = self._elements(key, members, sorts=sorts)
                if not draft.is_natural:
                    self.stored.by_name.pop(key.name, None)
        primary = [found[key.name] for key in self.sample.keys]
        drafts = [(index, [found[key.name] for key in index.keys]) for index in self.indexes]
        for each in (primary, *(each for _, each in drafts)):
            _join_if_ragged(each, self.items, self.split)
        self._choose_kinds(list(found.values()))
        paths = [self._path(draft) for draft in primary]
        self.own_paths = {path.key.name: path for path in paths}
        places, shared = self._places(drafts)
        used = {use.attribute for path in self._all(paths, places) for use in path.uses}
        return InferredEntity(
            self.items,
            self.kind.type_name,
            [*(each for each in self.key_only if each in used), *self.stored.by_name.values()],
            paths[0],
            paths[1] if len(paths) > 1 else None,
            places,
            self._other_delimiter(paths),
            shared,
            self.stored.undeclared,
        )

    def _elements(self, key: KeyAttribute, members: list[int], *, sorts: bool) -> _Draft:
        """Return the literals and variables of a key attribute, and who can explain them."""
        contents = [self.items[n][key.name][key.type] for n in members]
        if key.name == self.type_attribute:
            return _Draft(key, members, [contents[0]], sorts)
        is_own = has_own_name(key.name)
        if key.type != "S":
            variable = VaryingPart(tuple(contents))
            is_constant = len(set(contents)) == 1 and sorts and self.partitions > 1
            explained = self.stored.explain(variable, key, members, self.delimiter, sorts=sorts)
            if is_constant and not is_own and not any(explained):
                return _Draft(key, members, [contents[0]], sorts)
            return _Draft(key, members, [variable], sorts)

        def explains(texts: tuple[str, ...]) -> bool:
            variable = VaryingPart(texts)
            return any(self.stored.explain(variable, key, members, self.delimiter, sorts=sorts))

        def is_value(texts: tuple[str, ...]) -> bool:
            return text_kinds(texts)[0] is DATETIME or explains(texts)

        elements = find_elements(
            contents, self.split, is_value, sorts=sorts, partitions=self.partitions
        )
        draft = _Draft(key, members, elements, sorts)
        is_primary = key.name in self.sample.keys.names
        if is_own:
            is_explained = all(explains(variable.texts) for variable in draft.variables)
            draft.is_natural = len(elements) == 1 or not (is_primary or is_explained)
        elif not is_primary:  # an item with this attribute that is not in the index keeps it
            draft.is_natural = sum(key.name in item for item in self.items) > len(members)
        if draft.is_natural:
            draft.elements = [VaryingPart(tuple(contents))]
            self.stored.add(key.name)
        return draft

    def _explain(
        self, draft: _Draft, variable: VaryingPart
    ) -> Iterator[tuple[Attribute, Spelling]]:
        delimiter = self._delimiter_of(draft)
        return self.stored.explain(variable, draft.key, draft.members, delimiter, sorts=draft.sorts)

    def _choose_kinds(self, drafts: Sequence[_Draft]) -> None:
        """Give each attribute the type with which it explains most variables."""
        votes: dict[str, Counter[Kind]] = defaultdict(Counter)
        for draft in drafts:
            for variable in draft.variables:
                for attribute, spelling in self._explain(draft, variable):
                    votes[attribute.stored][spelling.kind] += 1
        natural = {draft.key.name for draft in drafts if draft.is_natural}
        for name in self.stored.by_name:
            self.stored.choose_kind(name, votes[name], is_natural=name in natural)

    def _path(self, draft: _Draft, *, is_alone: bool = False) -> InferredPath:
        """Return a key attribute whose variables are attributes; `is_alone` makes new ones."""
        if draft.is_natural:
            attribute = self.stored.by_name[draft.key.name]
            use = Use(attribute, Spelling(attribute.kind), is_natural=True)
            return InferredPath(draft.key, [use])
        elements: list[str | Use] = []
        word = ""
        for element in draft.elements:
            if isinstance(element, str):
                elements.append(element)
                word = element
                continue
            use = self._use(draft, element, element.prefix or word, is_alone=is_alone)
            elements.append(use)
            is_alone = False
            word = ""
        return InferredPath(draft.key, elements, draft.is_ragged)

    def _use(self, draft: _Draft, variable: VaryingPart, word: str, *, is_alone: bool) -> Use:
        delimiter = self._delimiter_of(draft)
        found = [each for each in self._explain(draft, variable) if each[0].kind == each[1].kind]
        if found and not is_alone:
            attribute, spelling = min(found, key=lambda each: rank(each, word))
            return Use(attribute, spelling, variable.prefix)
        if draft.key.type != "S":
            attribute = self.stored.add(draft.key.name)
            return Use(attribute, Spelling(attribute.kind), is_natural=True)
        texts = dict(zip(draft.members, variable.texts, strict=True))
        spelling = next(
            (
                each
                for each in key_only_spellings(variable.texts)
                if reads_back(each, delimiter, variable.texts)
            ),
            Spelling(STR),
        )
        known = None if is_alone else self._known(texts, spelling, word)
        return Use(known or self._new(draft.key, texts, spelling, word), spelling, variable.prefix)

    def _known(self, texts: dict[int, str], spelling: Spelling, word: str) -> Attribute | None:
        """Return the attribute that is already in another key with the same texts."""
        for attribute in self.key_only:
            known = {n: value["S"] for n, value in attribute.values.items()}
            is_equal = all(known.get(n) == text for n, text in texts.items())
            is_same = attribute.word == word or _is_rare(texts.values())
            if is_equal and is_same and attribute.kind == spelling.kind:
                return attribute
        return None

    def _new(
        self, key: KeyAttribute, texts: dict[int, str], spelling: Spelling, word: str
    ) -> Attribute:
        attribute = Attribute(
            key.name,
            (spelling.kind,),
            {n: {"S": text} for n, text in texts.items()},
            is_optional=len(texts) < len(self.items),
            is_key_only=True,
            word=word,
        )
        self.key_only.append(attribute)
        return attribute

    def _delimiter_of(self, draft: _Draft) -> Delimiter:
        if not draft.is_ragged:
            return self.delimiter
        texts = [text for variable in draft.variables for text in variable.texts]
        return Delimiter(_absent(_OTHER_DELIMITERS, texts), escapes=False)

    def _other_delimiter(self, paths: Sequence[InferredPath]) -> str | None:
        """Return the delimiter of a key in whose values the table's is; None for the table's."""
        if not any(path.is_ragged for path in paths):
            return None
        names = [path.key.name for path in paths if path.key.type == "S"]
        texts = [item[name]["S"] for item in self.items for name in names if name in item]
        return _absent(_OTHER_DELIMITERS, texts)

    # -- indexes -----------------------------------------------------------------------------

    def _places(
        self, drafts: list[tuple[SampleIndex, list[_Draft]]]
    ) -> tuple[list[Place], dict[str, list[str]]]:
        """Return the places in indexes, and the indexes whose composed keys others have already."""
        places: list[Place] = []
        shared: dict[str, list[str]] = {}
        taken: set[str] = set()
        for index, found in drafts:
            composed = [draft.key.name for draft in found if self._is_composed(draft)]
            if taken.isdisjoint(composed):
                taken.update(composed)
                places.append(self._place(index, found))
                continue
            shared[index.name] = [name for name in composed if name in taken]
            for name in composed:
                if name not in taken:
                    self.stored.add(name)
        return places, shared

    @staticmethod
    def _all(paths: list[InferredPath], places: list[Place]) -> list[InferredPath]:
        return [*paths, *(path for place in places for path in place.paths)]

    def _place(self, index: SampleIndex, drafts: list[_Draft]) -> Place:
        members = self._members(index)
        paths = [self.own_paths.get(draft.key.name) or self._path(draft) for draft in drafts]
        place = Place(index, paths[0], paths[1] if len(paths) > 1 else None)
        place.delimiter = None if index.is_local else self._other_delimiter(paths)
        outside = [n for n in range(len(self.items)) if n not in members]
        wrong = [n for n in outside if self._has_values(paths, n)]
        if not wrong:
            return place
        place.when = self.stored.condition(members, wrong)
        if place.when is None:  # nothing of the item says whether it is in the index
            composed = [n for n, draft in enumerate(drafts) if self._is_composed(draft)]
            position = min(composed, key=lambda n: not drafts[n].variables)
            draft = drafts[position]
            if not draft.variables:
                draft.elements = [draft.whole(self.items, self.split)]
            paths[position] = self._path(draft, is_alone=True)
            place.delimiter = None if index.is_local else self._other_delimiter(paths)
            paths[position].uses[0].attribute.index = index.name
            place.partition, place.sort = paths[0], paths[1] if len(paths) > 1 else None
        return place

    def _is_composed(self, draft: _Draft) -> bool:
        names = {*self.sample.keys.names, self.type_attribute}
        return not draft.is_natural and draft.key.name not in names

    def _has_values(self, paths: Sequence[InferredPath], number: int) -> bool:
        values = [use.attribute.values.get(number) for path in paths for use in path.uses]
        return not any(value is None or "NULL" in value for value in values)


class _Draft(Struct, eq=False):
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


def _join_if_ragged(drafts: Sequence[_Draft], items: Sequence[Item], delimiter: str) -> None:
    """Make a variable of each text whose variables could not be told apart in a ragged key."""
    if any(draft.is_ragged for draft in drafts):
        for draft in drafts:
            if any(isinstance(each, VaryingPart) for each in draft.elements[:-1]):
                draft.elements = [draft.whole(items, delimiter)]


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
