"""Entities: what one class of items says of its attributes, its key and its places in indexes.

Each variable of a key is explained by an attribute that all items of the key have: the attribute
in some format gives the stored text of every item. What no attribute explains is an attribute of
its own that is only in keys. Names are given later, when all entities are known.

Invariant: each key of each item of the class is composed again, byte by byte, of the attributes
found, and items that are not in an index do not get into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from tablewright.infer.classes import ItemClass
from tablewright.infer.kinds import DATETIME, STR, Kind, kinds_of, stores_equal, text_kinds
from tablewright.infer.names import has_own_name, snake_case
from tablewright.infer.sample import Sample, SampleIndex
from tablewright.infer.spellings import Spelling, key_only_spellings, reads_back, spellings, spells
from tablewright.infer.structure import Element, Variable, find_elements
from tablewright.mapping.converters import converter
from tablewright.mapping.delimiter import Delimiter
from tablewright.mapping.paths import path_format
from tablewright.schema import KeyAttribute
from tablewright.values import Item, Value

#: Names with a quote, a backslash or a control character: the decoder of items has no such names.
_UNUSABLE = re.compile(r'["\\\x00-\x1f]').search
#: Delimiters of a key in whose values the table's delimiter is.
_OTHER_DELIMITERS = "|~^;"


class Attribute(Struct, eq=False):
    """An attribute of an entity."""

    #: Its name in items; for an attribute that is only in keys, of the first key attribute with it.
    stored: str
    kinds: tuple[Kind, ...]
    #: Its content in each item, by the number of the item.
    values: dict[int, Value]
    is_optional: bool = False
    is_key_only: bool = False
    is_ttl: bool = False
    #: The literal before it, in its first key.
    word: str = ""
    #: The index that it is for: an item without a value is not in it.
    index: str = ""
    name: str = ""

    @property
    def kind(self) -> Kind:
        return self.kinds[0]


class Use(Struct, eq=False):
    """A part of a key: an attribute in a format."""

    attribute: Attribute
    spelling: Spelling
    prefix: str = ""
    #: The key attribute is the attribute itself.
    is_natural: bool = False

    @property
    def source(self) -> str:
        return self.spelling.source.replace("{}", self.attribute.name, 1)


class Path(Struct, eq=False):
    """The elements of one key attribute."""

    key: KeyAttribute
    elements: list[str | Use]
    is_ragged: bool = False

    @property
    def uses(self) -> list[Use]:
        return [each for each in self.elements if isinstance(each, Use)]

    @property
    def is_natural(self) -> bool:
        return any(use.is_natural for use in self.uses)


class Place(Struct, eq=False):
    """The place of an entity in an index."""

    index: SampleIndex
    partition: Path
    sort: Path | None
    #: The attribute of the condition, and the condition with {} for its name.
    when: tuple[Attribute, str] | None = None
    delimiter: str | None = None

    @property
    def paths(self) -> list[Path]:
        return [self.partition, *([self.sort] if self.sort else [])]


class InferredEntity(Struct, eq=False):
    """An entity, as far as its items show it."""

    items: list[Item]
    type_name: str | None
    attributes: list[Attribute]
    partition: Path
    sort: Path | None
    places: list[Place]
    #: Replaces the table's delimiter in the primary key.
    delimiter: str | None = None
    #: The indexes that cannot be declared, and the key attributes that they share with others.
    shared: dict[str, list[str]] = {}
    #: Attributes whose names a design cannot have.
    undeclared: list[str] = []
    name: str = ""

    @property
    def paths(self) -> list[Path]:
        return [self.partition, *([self.sort] if self.sort else [])]


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
        #: Key attributes that have no name of their own explain nothing.
        self.generic = {
            name
            for keys in (sample.keys, *(index.keys for index in self.indexes))
            for name in keys.names
            if not has_own_name(name)
        }
        self.stored = self._stored_attributes()
        self.key_only: list[Attribute] = []
        self.own_paths: dict[str, Path] = {}

    # -- attributes --------------------------------------------------------------------------

    def _stored_attributes(self) -> dict[str, Attribute]:
        """Return the attributes that can explain parts of keys, by their names in items."""
        keys = {*self.sample.keys.names, self.type_attribute, *self.generic}
        names = dict.fromkeys(name for item in self.items for name in sorted(item))
        self.undeclared = [name for name in names if _UNUSABLE(name)]
        keys.update(self.undeclared)
        return {name: self._attribute(name) for name in names if name not in keys}

    def _attribute(self, name: str) -> Attribute:
        values = {n: item[name] for n, item in enumerate(self.items) if name in item}
        kinds = kinds_of(list(values.values()))
        is_optional = len(values) < len(self.items) or any("NULL" in v for v in values.values())
        is_ttl = name == self.sample.ttl and kinds[0].source == "int"
        kinds = (DATETIME,) if is_ttl else kinds
        return Attribute(name, kinds, values, is_optional, is_ttl=is_ttl)

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
                    self.stored.pop(key.name, None)
        primary = [found[key.name] for key in self.sample.keys]
        drafts = [(index, [found[key.name] for key in index.keys]) for index in self.indexes]
        for each in (primary, *(each for _, each in drafts)):
            _join_if_ragged(each, self.items)
        self._choose_kinds(list(found.values()))
        paths = [self._path(draft) for draft in primary]
        self.own_paths = {path.key.name: path for path in paths}
        places, shared = self._places(drafts)
        used = {use.attribute for path in self._all(paths, places) for use in path.uses}
        return InferredEntity(
            self.items,
            self.kind.type_name,
            [*(each for each in self.key_only if each in used), *self.stored.values()],
            paths[0],
            paths[1] if len(paths) > 1 else None,
            places,
            self._other_delimiter(paths),
            shared,
            self.undeclared,
        )

    def _elements(self, key: KeyAttribute, members: list[int], *, sorts: bool) -> _Draft:
        """Return the literals and variables of a key attribute, and who can explain them."""
        contents = [self.items[n][key.name][key.type] for n in members]
        if key.name == self.type_attribute:
            return _Draft(key, members, [contents[0]], sorts)
        is_own = has_own_name(key.name)
        if key.type != "S":
            variable = Variable(tuple(contents))
            is_constant = len(set(contents)) == 1 and sorts and self.partitions > 1
            if is_constant and not is_own and not self._explanations(variable, key, members):
                return _Draft(key, members, [contents[0]], sorts)
            return _Draft(key, members, [variable], sorts)

        def explains(texts: tuple[str, ...]) -> bool:
            variable = Variable(texts)
            return any(self._explain(variable, key, members, self.delimiter, sorts=sorts))

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
            draft.elements = [Variable(tuple(contents))]
            self.stored.setdefault(key.name, self._attribute(key.name))
        return draft

    def _explanations(
        self, variable: Variable, key: KeyAttribute, members: list[int]
    ) -> list[tuple[Attribute, Spelling]]:
        return list(self._explain(variable, key, members, self.delimiter, sorts=False))

    def _explain(
        self,
        variable: Variable,
        key: KeyAttribute,
        members: list[int],
        delimiter: Delimiter,
        *,
        sorts: bool,
    ) -> Iterator[tuple[Attribute, Spelling]]:
        """Yield the attributes, in a format, that have the texts of a variable."""
        for attribute in self.stored.values():
            if attribute.stored in {key.name, *self.generic}:
                continue
            if not all(n in attribute.values for n in members):
                continue
            for kind in attribute.kinds:
                values = _decoded(attribute, kind, members)
                if values is None:
                    continue
                for spelling in spellings(kind, key.type, variable.texts):
                    if spelling.formats and not _is_evidence(kind, variable.texts):
                        continue
                    if spells(spelling, delimiter, values, variable.texts, sorts=sorts):
                        yield attribute, spelling
                        break
            if key.name not in self.sample.keys.names:
                yield from self._inside(attribute, members, variable.texts)

    def _inside(
        self, attribute: Attribute, members: list[int], texts: tuple[str, ...]
    ) -> Iterator[tuple[Attribute, Spelling]]:
        """Yield the places inside of a document that have these texts."""
        if attribute.kind.source != "dict[str, str]":
            return
        documents = [attribute.values[n].get("M", {}) for n in members]
        for name in documents[0]:
            found = [document.get(name, {}).get("S") for document in documents]
            if found == list(texts):
                yield attribute, _inside_spelling(attribute.kind, name)

    def _choose_kinds(self, drafts: Sequence[_Draft]) -> None:
        """Give each attribute the type with which it explains most variables."""
        votes: dict[tuple[str, Kind], int] = {}
        for draft in drafts:
            delimiter = self._delimiter_of(draft)
            for variable in draft.variables:
                found = self._explain(
                    variable, draft.key, draft.members, delimiter, sorts=draft.sorts
                )
                for attribute, spelling in found:
                    chosen = (attribute.stored, spelling.kind)
                    votes[chosen] = votes.get(chosen, 0) + 1
        natural = {draft.key.name for draft in drafts if draft.is_natural}
        for name, attribute in self.stored.items():
            kinds = attribute.kinds
            if name in natural:
                values = list(attribute.values.values())
                kinds = tuple(kind for kind in kinds if stores_equal(kind, values)) or kinds[-1:]
            best = max(kinds, key=lambda kind: votes.get((name, kind), 0))
            attribute.kinds = (best,)

    def _path(self, draft: _Draft, *, is_alone: bool = False) -> Path:
        """Return a key attribute whose variables are attributes; `is_alone` makes new ones."""
        if draft.is_natural:
            attribute = self.stored[draft.key.name]
            use = Use(attribute, Spelling(attribute.kind), is_natural=True)
            return Path(draft.key, [use])
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
        return Path(draft.key, elements, draft.is_ragged)

    def _use(self, draft: _Draft, variable: Variable, word: str, *, is_alone: bool) -> Use:
        delimiter = self._delimiter_of(draft)
        found = [
            (attribute, spelling)
            for attribute, spelling in self._explain(
                variable, draft.key, draft.members, delimiter, sorts=draft.sorts
            )
            if spelling.kind == attribute.kind
        ]
        if found and not is_alone:
            attribute, spelling = min(found, key=lambda each: _rank(each, word))
            return Use(attribute, spelling, variable.prefix)
        if draft.key.type != "S":
            attribute = self.stored.setdefault(draft.key.name, self._attribute(draft.key.name))
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

    def _other_delimiter(self, paths: Sequence[Path]) -> str | None:
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
                    self.stored[name] = self._attribute(name)
        return places, shared

    @staticmethod
    def _all(paths: list[Path], places: list[Place]) -> list[Path]:
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
        place.when = self._condition(members, wrong)
        if place.when is None:  # nothing of the item says whether it is in the index
            position, draft = next(
                (n, draft) for n, draft in enumerate(drafts) if self._is_composed(draft)
            )
            draft.elements = draft.elements if draft.variables else [draft.whole(self.items)]
            paths[position] = self._path(draft, is_alone=True)
            paths[position].uses[0].attribute.index = index.name
            place.partition, place.sort = paths[0], paths[1] if len(paths) > 1 else None
        return place

    def _is_composed(self, draft: _Draft) -> bool:
        names = {*self.sample.keys.names, self.type_attribute}
        return not draft.is_natural and draft.key.name not in names

    def _has_values(self, paths: Sequence[Path], number: int) -> bool:
        return all(number in use.attribute.values for path in paths for use in path.uses)

    def _condition(self, inside: list[int], outside: list[int]) -> tuple[Attribute, str] | None:
        """Return what is true of all items inside of an index, and of none of the others."""
        for attribute in self.stored.values():
            has = [[n in attribute.values for n in numbers] for numbers in (inside, outside)]
            if all(has[0]) and not any(has[1]):
                return attribute, "{}.exists()"
            if not any(has[0]) and all(has[1]):
                return attribute, "{}.not_exists()"
        for attribute in self.stored.values():
            tag = {"str": "S", "bool": "BOOL"}.get(attribute.kind.source)
            if tag is None or attribute.is_optional:
                continue
            contents = [attribute.values[n].get(tag) for n in range(len(self.items))]
            within = {contents[n] for n in inside}
            is_choice = len(set(contents)) <= len(contents) / 2
            if len(within) == 1 and is_choice and within.isdisjoint(contents[n] for n in outside):
                content = within.pop()
                shown = f" == {quoted(str(content))}" if tag == "S" else f".in_([{content}])"
                return attribute, f"{{}}{shown}"
        return None


class _Draft(Struct, eq=False):
    """A key attribute before its variables are explained."""

    key: KeyAttribute
    #: The numbers of the items that have the key.
    members: list[int]
    elements: list[Element]
    sorts: bool
    is_natural: bool = False

    @property
    def variables(self) -> list[Variable]:
        return [each for each in self.elements if isinstance(each, Variable)]

    @property
    def is_ragged(self) -> bool:
        return any(variable.is_ragged for variable in self.variables)

    def whole(self, items: Sequence[Item]) -> Variable:
        return Variable(tuple(items[n][self.key.name][self.key.type] for n in self.members))


def quoted(text: str) -> str:
    """Return a text as a literal of Python, in double quotes where that needs no escape.

    >>> quoted("a'b"), quoted('a"b')
    ('"a\\'b"', '\\'a"b\\'')
    """
    plain = repr(text)[1:-1].replace("\\'", "'")  # repr escapes ' where both quotes are
    quote = "'" if plain.count('"') > plain.count("'") else '"'
    return quote + plain.replace(quote, f"\\{quote}") + quote


def _join_if_ragged(drafts: Sequence[_Draft], items: Sequence[Item]) -> None:
    """Make a variable of each text whose variables could not be told apart in a ragged key."""
    if any(draft.is_ragged for draft in drafts):
        for draft in drafts:
            if any(isinstance(each, Variable) for each in draft.elements[:-1]):
                draft.elements = [draft.whole(items)]
                draft.variables[0].is_ragged = True


def _decoded(attribute: Attribute, kind: Kind, members: list[int]) -> list[Any] | None:
    """Return the values of items; None if one of them is NULL."""
    values = [attribute.values[n] for n in members]
    if any("NULL" in value for value in values):
        return None
    if attribute.is_ttl:
        return [datetime.fromtimestamp(int(value["N"]), UTC) for value in values]
    decode = converter(kind.type, attribute.stored).decode
    return [decode(value) for value in values]


def _inside_spelling(kind: Kind, name: str) -> Spelling:
    how = path_format(lambda document: document[name], "it")
    return Spelling(kind, f"{{}}.path(lambda inside: inside[{quoted(name)}])", (how,))


def _rank(explanation: tuple[Attribute, Spelling], word: str) -> tuple[bool, bool, bool]:
    attribute, spelling = explanation
    name = snake_case(attribute.stored)
    words = snake_case(word.strip("#")).rstrip("_") if word else "?"
    return bool(spelling.formats), not name.startswith(words[:4]), not name.endswith("id")


def _is_evidence(kind: Kind, texts: Sequence[str]) -> bool:
    """Whether texts that a format gives are hardly equal by chance."""
    return len(set(texts)) > 1 or (kind is not STR and min(map(len, texts)) > 3)


def _is_rare(texts: Any) -> bool:
    """Whether equal texts mean the same thing, although different literals precede them."""
    found = set(texts)
    shortest = min(map(len, found))
    return (len(found) > 1 and shortest > 2) or (
        shortest > 3 and not all(text.isdigit() for text in found)
    )


def _absent(candidates: str, texts: Sequence[str]) -> str:
    """Return the first candidate that no text contains."""
    return next((each for each in candidates if not any(each in text for text in texts)), "\x1f")
