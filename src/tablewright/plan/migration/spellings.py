"""Spellings: the keys in an index that are composed in another way, while both ways are stored.

    stored before    G1PK = STATE#open     G1SK = 12
    declared now     G1PK = STATUS#open    G1SK = 000012

Until a migration has rewritten all items, a query for `STATUS#open` also reads the partition
`STATE#open`, sees its items as they will be rewritten, and keeps those that match its condition.
The former partition is read first, so an item that is rewritten meanwhile is in both results, and
is returned once. It is read as a whole for each page, because the former sort keys may be in
another order.

An index key can be read in both ways if the former partition key follows from the declared one, and
if every item that has the declared key had the former one, too. Otherwise reads of the index raise
IndexNotReady until the migration has ended.

Of items with the same sort key, a page ends after those of the lowest keys in the order of
Tablewright's engine. Where another one orders them differently, an item among them that is
rewritten between two pages can be in both of them, or in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from tablewright.design_description import (
    EntityDescription,
    PartDescription,
    TableDesign,
    TemplateDescription,
)
from tablewright.encoding.keys import encode_component, partition
from tablewright.errors import IndexNotReady
from tablewright.expression import Scope
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.key_parts import Delimiter
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Parser
from tablewright.plan.migration.renames import Renames
from tablewright.plan.migration.rewriting import Rewriter
from tablewright.plan.plan import Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.values import Item, Value

_OF_A_PAGE = ("Limit", "ExclusiveStartKey")


class Spelling(Struct, frozen=True):
    """The partition key that items of one type had in an index before a migration."""

    key: KeyMap
    #: None if it is the declared one.
    parser: Parser | None
    #: Literals, and numbers of the parts of the declared partition key.
    pieces: tuple[str | int, ...] = ()
    #: The characters that one of the two keys may write in another way.
    special: str = ""

    def former(self, value: Value) -> Value | None:
        """Return the former partition key for a declared one; None if it is none of this type."""
        if self.parser is None:
            return value
        texts = self.parser.texts(value["S"])
        if texts is None:
            return None
        if any(character in text for text in texts for character in self.special):
            raise IndexNotReady(
                f"{self.key.name}: the key {value['S']!r} contains one of the characters "
                f"{self.special!r}, so it cannot be read while its items are rewritten for this "
                "version of the design; wait until the migration has ended: "
                "tablewright migrate status DESIGN TARGET"
            )
        return {
            "S": "".join(each if isinstance(each, str) else texts[each] for each in self.pieces)
        }


def find_spellings(
    table: TableMap,
    stored: TableDesign,
    declared: TableDesign,
    renames: Renames,
    places: Iterable[tuple[str, str]],
) -> dict[tuple[str, str], list[Spelling]]:
    """Return the spellings of places that can be read in both ways: an index, a type of items."""
    before, after = stored.entities or {}, declared.entities or {}
    entities = {entity.type_name: entity for entity in table.entities}
    found: dict[tuple[str, str], list[Spelling]] = {}
    for index, name in places:
        spellings = [
            _spelling(
                entities[name],
                index,
                before[source],
                after[name],
                {old: new for new, old in renames.attributes.get((source, name), {}).items()},
            )
            for source in renames.sources_of(name)
            if source in before
        ]
        if spellings and None not in spellings:
            found[index, name] = [each for each in spellings if each is not None]
    return found


def _spelling(
    entity: EntityMap,
    index: str,
    old: EntityDescription,
    new: EntityDescription,
    names: Mapping[str, str],
) -> Spelling | None:
    """Return how to read a place in both ways; None if that is not possible."""
    key = next(each for each in entity.index_keys if each.index and each.index.name == index)
    is_one_place = len(old.places.get(index, ())) == len(new.places[index]) == 1
    if not is_one_place or not isinstance(key, KeyMap) or len(key.partition_attributes) != 1:
        return None
    assert key.index is not None
    former, current = old.places[index][0].renamed(names), new.places[index][0]
    attributes = {names.get(name, name): each for name, each in old.attributes.items()}
    # Values that only the declared version gives to stored items.
    given = {
        each.stored
        for each in entity.attributes.values()
        if each.fill is not None or (each.stored in key.attributes and each.default is not None)
    }
    had_it = (former.when is None or former.when == current.when) and all(
        name in attributes and (attributes[name].is_required or name in current.attributes)
        for name in former.attributes
    )
    if key.index.projection != "ALL" or not had_it or current.depends_on & given:
        return None
    if any(
        attributes[name].default != new.attributes[name].default
        or attributes[name].computes_default != new.attributes[name].computes_default
        for name in current.depends_on - current.attributes
        if name in attributes and name in new.attributes
    ):
        return None  # the condition holds for other items without the attribute
    pair = [
        next(each for each in side.templates if each.name == key.partition_attributes[0])
        for side in (former, current)
    ]
    if any(
        each.attribute not in new.attributes
        or attributes[each.attribute] != _same_names(attributes, new, each.attribute)
        for each in pair[0].parts
    ):
        return None
    return _of_partition(key, *pair)


def _same_names(attributes: Mapping[str, Any], new: EntityDescription, name: str) -> Any:
    """Return the declared attribute as if it had not been renamed and were as required."""
    old = attributes[name]
    return msgspec.structs.replace(
        new.attributes[name], renamed_from=old.renamed_from, is_required=old.is_required
    )


def _of_partition(
    key: KeyMap, former: TemplateDescription, current: TemplateDescription
) -> Spelling | None:
    if former == current:
        return Spelling(key, None)
    if not key.partition.is_text or former.type != "S" or former.is_natural:
        return None
    parts = current.parts
    if any(each not in parts for each in former.parts):
        return None
    delimiters = (
        key.partition.delimiter,
        Delimiter(former.delimiter or Delimiter.DEFAULT.text, former.escapes),
    )
    return Spelling(
        key,
        Parser(key.partition),
        tuple(
            parts.index(each) if isinstance(each, PartDescription) else each
            for each in former.pieces
        ),
        "".join(dict.fromkeys("".join(each.special for each in delimiters))),
    )


# -- reads -----------------------------------------------------------------------------------------


class FormerPartition(Protocol):
    """The partition key that items had in the version before."""

    def former(self, value: Value) -> Value | None:
        """Return it for a declared partition key; None if no such item has that key."""
        ...


def query_both(
    request: QueryRequest,
    spellings: Iterable[FormerPartition],
    table: TableMap,
    rewriter: Rewriter,
) -> Steps[dict[str, Any]]:
    """Read a page in both spellings; the items are as the declared version has them."""
    condition = request.selection.condition
    assert condition is not None
    rows = _Rows(request, table)
    (name,) = rows.partition
    formers = [each.former(condition.equal[name]) for each in spellings]
    former_items: list[Item] = []
    for value in [each for at, each in enumerate(formers) if each and each not in formers[:at]]:
        former_items += yield from _read_all(request, KeyCondition({name: value}))
    former_rows = [
        seen
        for item in former_items
        if not rows.have_same_keys(item, seen := rewriter.view(item)) and rows.is_wanted(seen)
    ]
    limit, scanned = request.members.get("Limit"), len(former_items)
    page: dict[bytes, Item] = {}
    sent = request
    while True:
        answer: dict[str, Any] = msgspec.json.decode((yield sent))
        scanned += answer["ScannedCount"]
        last = answer.get("LastEvaluatedKey")
        page |= {
            rows.key(seen): seen
            for item in answer["Items"]
            if rows.have_same_keys(item, seen := rewriter.view(item))
        }
        for each in former_rows:
            if rows.is_until(last, each):
                page.setdefault(rows.key(each), each)
        if last is None or len(page) >= (limit or 1):
            break
        sent = request.next_page(last)
    found = sorted(page.values(), key=rows.position, reverse=rows.is_descending)
    if limit is not None and len(found) > limit:
        del found[limit:]
        answer["LastEvaluatedKey"] = rows.start_after(found[-1])
    return answer | {"Items": found, "ScannedCount": scanned}


def _read_all(request: QueryRequest, condition: KeyCondition) -> Steps[list[Item]]:
    """Return all items of a partition of the same table or index."""
    members = {name: each for name, each in request.members.items() if name not in _OF_A_PAGE}
    whole = QueryRequest("Query", members, Selection(condition))
    found: list[Item] = []
    while True:
        answer = msgspec.json.decode((yield whole))
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        whole = whole.next_page(answer["LastEvaluatedKey"])


class _Rows:
    """The rows of a table or an index that a request reads, in their order."""

    def __init__(self, request: QueryRequest, table: TableMap) -> None:
        index = request.members.get("IndexName")
        first, second = table.attributes
        self.partition: tuple[str, ...] = (first,)
        self.sort: tuple[str, ...] = () if second is None else (second,)
        if index is not None:
            self.partition = table.indexes[index].partition
            self.sort = table.indexes[index].sort
        self._attributes = self.partition + self.sort
        self.is_descending = request.members.get("ScanIndexForward") is False
        self._table = table
        self._start = request.members.get("ExclusiveStartKey")
        expressions = Selection(request.selection.condition).expressions()
        self._condition = Scope(
            expressions["ExpressionAttributeNames"], expressions["ExpressionAttributeValues"]
        ).filter(expressions["KeyConditionExpression"])

    def have_same_keys(self, one: Item, other: Item) -> bool:
        """Return whether two forms of an item have the same row."""
        return all(one.get(name) == other.get(name) for name in self._attributes)

    def is_wanted(self, item: Item) -> bool:
        """Return whether an item has a row that the request asks for."""
        assert self._condition is not None
        if not all(name in item for name in self._attributes):
            return False
        is_after = self._start is None or not self.is_until(self._start, item)
        return is_after and self._condition.holds(item)

    def is_until(self, last: Item | None, item: Item) -> bool:
        """Return whether the row of an item is not behind another one; None: the end."""
        if last is None:
            return True
        one, other = self.position(item), self.position(last)
        return one >= other if self.is_descending else one <= other

    def position(self, item: Item) -> bytes:
        """Return the position of a row in its partition."""
        return b"".join(_component(item, name) for name in self.sort) + self.key(item)

    def key(self, item: Item) -> bytes:
        """Return the position of an item among those with the same index key."""
        first, *rest = [_component(item, name) for name in self._table.key(item)]
        return partition(first) + b"".join(rest)

    def start_after(self, item: Item) -> Item:
        """Return the key from which the next page is read."""
        return {name: item[name] for name in self._attributes} | self._table.key(item)


def _component(item: Item, name: str) -> bytes:
    ((tag, content),) = item[name].items()
    return encode_component(tag, content)
