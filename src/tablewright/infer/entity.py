"""Entities: what one class of items says of its attributes, its key and its places in indexes.

The variables of its keys are explained by attributes: see `key_variables`. Names are given later,
when all entities are known.

Invariant: from the attributes found, each key of each item of the class can be composed again, byte
for byte, and items that are not in an index stay out of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from tablewright.infer.attributes import StoredAttributes, find_alternatives, find_condition
from tablewright.infer.declaration import (
    InferredDesign,
    InferredEntity,
    InferredPath,
    InferredPlace,
)
from tablewright.infer.key_variables import Draft, KeyPaths, Placement, join_if_ragged
from tablewright.infer.kinds import DATETIME, STR, text_kinds
from tablewright.infer.names import has_own_name, is_copy_name
from tablewright.infer.regular import RARE
from tablewright.infer.sample import ItemClass, natural_names
from tablewright.infer.structure import VaryingPart, find_elements, form_of, is_word
from tablewright.mapping.key_parts import Delimiter
from tablewright.schema import KeyAttribute
from tablewright.table_description import IndexDescription

#: The most places that an entity has in one index.
MOST_PLACES = 4


class EntityInference:
    """Finds the entity of a class of items, with up to `most_places` places in one index.

    Without a delimiter of the design, key texts are not split.
    """

    def __init__(
        self, kind: ItemClass, design: InferredDesign, most_places: int = MOST_PLACES
    ) -> None:
        self.kind = kind
        self.most_places = most_places
        self.items = kind.items
        self.sample = sample = design.sample
        self.split = "" if design.delimiter is None else design.separator
        self.type_attribute = design.type_attribute
        self.indexes = [index for index in sample.table.indexes if self._members(index)]
        self.natural = self._natural_keys()
        self.partitions = len({str(item[sample.table.keys.names[0]]) for item in self.items})
        generic = {
            name
            for keys in (sample.table.keys, *(index.keys for index in self.indexes))
            for name in keys.names
            if not has_own_name(name)
        }
        self.stored = StoredAttributes(self.items, sample, generic, design.type_attribute)
        delimiter = design.delimiter or Delimiter(escapes=False)
        self.paths = KeyPaths(self.items, self.stored, delimiter)
        self.own_paths: dict[str, InferredPath] = {}
        #: Items that are not in an index, although nothing distinguishes them, with the reasons.
        self.irregular: dict[int, str] = {}

    def _members(self, index: IndexDescription) -> list[int]:
        """Return the numbers of the items in an index."""
        names = index.keys.names
        return [n for n, item in enumerate(self.items) if all(name in item for name in names)]

    # -- the parts of keys -------------------------------------------------------------------

    def infer(self) -> InferredEntity:
        """Return the entity, without names."""
        everything = list(range(len(self.items)))
        own = Placement(None, everything, list(self.sample.table.keys))
        placements = [each for index in self.indexes for each in self._placements(index)]
        uses = [(key, each) for each in (own, *placements) for key in each.keys]
        # First the attributes with names of their own: those that are composed explain nothing.
        found: dict[str, Draft] = {}
        for key, placement in sorted(uses, key=lambda use: not has_own_name(use[0].name)):
            is_shared = placement.when is None or key.name in self.sample.table.keys.names
            if is_shared and key.name in found:
                placement.drafts[key.name] = found[key.name]
                continue
            sorts, is_group = placement.sorts(key), placement.when is not None
            draft = self._elements(key, placement.members, sorts=sorts, is_group=is_group)
            placement.drafts[key.name] = found[key.name] = draft
            if not draft.is_natural:
                self.stored.by_name.pop(key.name, None)
        joined = [own, *(each for each in placements if not each.is_local)]
        for each in joined * len(joined):  # a join may make the keys of another one ragged
            join_if_ragged(list(each.drafts.values()), self.items, self.split)
        placements = self._with_natural_local_keys(own, placements)
        drafts = {id(draft): draft for each in (own, *placements) for draft in each.drafts.values()}
        self.paths.choose_kinds(list(drafts.values()))
        paths = [self.paths.path(own.drafts[key.name]) for key in own.keys]
        self.own_paths = {path.key.name: path for path in paths}
        places, shared = self._places(placements)
        entity = InferredEntity(
            self.items,
            self.kind.type_name,
            paths,
            places,
            delimiter=self.paths.other_delimiter(paths),
            shared=shared,
            undeclared=self.stored.undeclared,
        )
        used = {part.attribute for path in entity.all_paths for part in path.parts}
        key_only = [each for each in self.paths.key_only if each in used]
        entity.attributes = [*key_only, *self.stored.by_name.values()]
        return entity

    def _with_natural_local_keys(
        self, own: Placement, placements: list[Placement]
    ) -> list[Placement]:
        """Return the placements; a local key is natural if it or the primary key is ragged.

        A local key is written with the delimiter of the primary key.
        """
        is_ragged = any(draft.is_ragged for draft in own.drafts.values())
        found: list[Placement] = []
        for placement in placements:
            index = placement.index
            if index is None or not placement.is_local:
                found.append(placement)
                continue
            of_index = [each for each in placements if each.index is index]
            key = index.keys.sort[0]
            drafts = [each.drafts[key.name] for each in of_index]
            if not any(is_ragged or draft.is_ragged for draft in drafts):
                found.append(placement)
            elif placement is of_index[0]:  # one placement, without conditions
                members = self._members(index)
                texts = tuple(self.items[n][key.name][key.type] for n in members)
                self.stored.add(key.name)
                natural = Draft(key, members, [VaryingPart(texts)], True, is_natural=True)
                whole = {**placement.drafts, key.name: natural}
                found.append(Placement(index, members, placement.keys, None, whole))
        return found

    def _placements(self, index: IndexDescription) -> list[Placement]:
        """Return the place of the items in an index, or several with conditions."""
        members, keys = self._members(index), list(index.keys)
        composed = [key for key in keys if key.name not in self.sample.table.keys.names]
        others = {key.name for each in self.indexes if each is not index for key in each.keys}
        is_plain = all(
            key.type == "S"
            and key.name not in others
            and not has_own_name(key.name)
            and key.name not in self.natural
            for key in composed
        )
        if is_plain and not self._is_explained(index, composed, members):
            rows: dict[object, list[int]] = defaultdict(list)
            for n in members:
                texts = [self.items[n][key.name]["S"] for key in composed]
                rows[tuple(form_of(text, self.split) for text in texts)].append(n)
            groups = list(rows.values())
            outside = [n for n in range(len(self.items)) if n not in members]
            if 1 < len(groups) <= self.most_places:
                keys_of_all = {name for each in self.indexes for name in each.keys.names}
                composed_names = keys_of_all - self.natural
                attributes = self.stored.by_name.values()
                candidates = [each for each in attributes if each.stored not in composed_names]
                found = find_alternatives(candidates, groups, outside)
                if found:
                    pairs = zip(groups, found, strict=True)
                    return [Placement(index, group, keys, when) for group, when in pairs]
        return [Placement(index, members, keys)]

    def _natural_keys(self) -> set[str]:
        """Return the key attributes that are not composed, but attributes of the items.

        These are one of several in a key, or an item that is not in the index has them, too.
        """
        counts = Counter(name for item in self.items for name in item)
        found: dict[str, bool] = {}
        for index in self.indexes:
            count = len(self._members(index))
            for name in index.keys.names:
                found.setdefault(name, counts[name] > count)
                found[name] = found[name] or name in natural_names(index.keys)
        return {name for name, is_natural in found.items() if is_natural}

    def _is_explained(
        self, index: IndexDescription, keys: Sequence[KeyAttribute], members: list[int]
    ) -> bool:
        """Whether attributes explain all variables of the keys of an index."""
        drafts = [self._elements(key, members, sorts=key in index.keys.sort) for key in keys]
        return all(
            not variable.is_ragged and any(self.paths.explain(draft, variable))
            for draft in drafts
            for variable in draft.variables
        )

    def _elements(
        self, key: KeyAttribute, members: list[int], *, sorts: bool, is_group: bool = False
    ) -> Draft:
        """Return the literals and variables of a key attribute."""
        contents = tuple(self.items[n][key.name][key.type] for n in members)
        draft = Draft(key, members, [VaryingPart(contents)], sorts)
        if key.name == self.type_attribute:
            draft.elements = [contents[0]]
            return draft
        is_own = has_own_name(key.name)
        is_primary = key.name in self.sample.table.keys.names
        if key.name in self.natural and not is_primary:
            self.stored.add(key.name)
            draft.is_natural = True
            return draft
        if key.type != "S":
            is_constant = len(set(contents)) == 1 and sorts and self.partitions > 1
            if is_constant and (contents[0] == "0" or not is_own):
                is_explained = any(self.paths.explain(draft, draft.variables[0]))
                draft.elements = draft.elements if is_explained else [contents[0]]
            return draft

        def explains(texts: tuple[str, ...]) -> bool:
            # A key that is one word is a literal, although an attribute has it in another case;
            # so is a word of a place whose condition says which value the attribute has.
            is_fixed = len(set(texts)) == 1 and (is_group or texts == contents)
            found = self.paths.explain(draft, VaryingPart(texts))
            return any(not (is_fixed and each.formats and each.kind is STR) for _, each in found)

        def is_value(texts: tuple[str, ...]) -> bool:
            return (
                text_kinds(texts)[0] is DATETIME or explains(texts) or self._is_known_value(texts)
            )

        elements = find_elements(
            contents, self.split, is_value, sorts=sorts, partitions=self.partitions
        )
        if is_own:
            variables = [each for each in elements if isinstance(each, VaryingPart)]
            is_explained = any(explains(variable.texts) for variable in variables)
            is_whole = len(elements) == 1
            if is_whole and not is_primary and is_explained:
                is_whole = not is_copy_name(key.name)
            draft.is_natural = is_whole or not is_explained
        if draft.is_natural:
            self.stored.add(key.name)
        else:
            draft.elements = elements
        return draft

    def _is_known_value(self, texts: tuple[str, ...]) -> bool:
        """Whether the key text of a class with one item is a value: another attribute has it."""
        if len(self.items) > 1 or texts[0].isupper() or not is_word(texts[0]):
            return False
        names = {*self.sample.table.keys.names, self.type_attribute}
        return any(
            value.get("S") == texts[0]
            for item in self.sample.items
            for name, value in item.items()
            if name not in names
        )

    # -- indexes -----------------------------------------------------------------------------

    def _places(
        self, placements: list[Placement]
    ) -> tuple[list[InferredPlace], dict[str, list[str]]]:
        """Return the places in indexes, and the indexes whose keys cannot be declared.

        These have composed keys that are one of several, or that another index has already; a key
        that all items have in both indexes is declared twice.
        """
        places: list[InferredPlace] = []
        shared: dict[str, list[str]] = {}
        taken: dict[str, Placement] = {}
        for placement in placements:
            index = placement.index
            assert index is not None
            drafts = placement.drafts.values()
            composed = [draft.key.name for draft in drafts if self._is_composed(draft)]
            found = [
                name
                for name in composed
                if (other := taken.get(name)) is not None
                and other.index is not index
                and not (self._is_whole(placement) and self._is_whole(other))
            ]
            found += [
                draft.key.name
                for draft in drafts
                if draft.key.name in natural_names(index.keys) and not self._has_natural_path(draft)
            ]
            if found:
                shared[index.name] = found
                for name in composed:
                    if name not in taken:
                        self.stored.add(name)
                continue
            taken |= dict.fromkeys(composed, placement)
            places.append(self._place(index, placement))
        return places, shared

    def _is_whole(self, placement: Placement) -> bool:
        """Whether all items are in an index, with keys in the table's delimiter."""
        is_ragged = any(draft.is_ragged for draft in placement.drafts.values())
        return len(placement.members) == len(self.items) and not is_ragged

    def _has_natural_path(self, draft: Draft) -> bool:
        own = self.own_paths.get(draft.key.name)
        return draft.is_natural or (own is not None and own.is_natural)

    def _place(self, index: IndexDescription, placement: Placement) -> InferredPlace:
        drafts = [placement.drafts[key.name] for key in placement.keys]
        paths = [self.own_paths.get(draft.key.name) or self.paths.path(draft) for draft in drafts]
        outside = [n for n in range(len(self.items)) if n not in placement.members]
        wrong = [n for n in outside if self._has_values(paths, n)]
        when = placement.when
        if wrong and when is None:
            when = find_condition(self.stored.by_name.values(), placement.members, wrong)
            if when is None and len(wrong) <= len(self.items) // RARE and not self.kind.variants:
                reason = f"it is not in {index.name}, although its attributes give the keys"
                self.irregular |= dict.fromkeys(wrong, reason)
            elif when is None:  # nothing of the item says whether it is in the index
                composed = [n for n, draft in enumerate(drafts) if self._is_composed(draft)]
                position = min(composed, key=lambda n: not drafts[n].variables)
                paths[position] = self._lone_path(index, drafts[position])
        delimiter = None if index.is_local else self.paths.other_delimiter(paths)
        count = len(index.keys.partition)
        return InferredPlace(index, tuple(paths[:count]), tuple(paths[count:]), when, delimiter)

    def _lone_path(self, index: IndexDescription, draft: Draft) -> InferredPath:
        """Return a key whose value alone says that an item is in an index."""
        if index.is_local:  # it has the delimiter of the primary key, which any text may contain
            self.stored.add(draft.key.name)
            self.stored.choose_kind(draft.key.name, {}, is_natural=True)
            draft.is_natural = True
            return self.paths.path(draft)
        if not draft.variables:
            draft.elements = [draft.whole(self.items, self.split)]
        path = self.paths.path(draft, is_alone=True)
        path.parts[0].attribute.index = index.name
        return path

    def _is_composed(self, draft: Draft) -> bool:
        names = {*self.sample.table.keys.names, self.type_attribute}
        return not draft.is_natural and draft.key.name not in names

    def _has_values(self, paths: Sequence[InferredPath], number: int) -> bool:
        values = [part.attribute.values.get(number) for path in paths for part in path.parts]
        return not any(value is None or "NULL" in value for value in values)
