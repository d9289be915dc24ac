"""Neighbours: what is next to an item in its partition, read with two small queries."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan.reads.query_request import QueryRequest, Selection
from tablewright.studio.items.item_page import Send
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item

#: How many items are shown before and after.
SHOWN = 2


class Neighbours(Struct, frozen=True):
    """The nearest items before and after one, in the order of the sort key."""

    before: list[Item]
    after: list[Item]
    #: Whether there are more than those.
    more_before: bool
    more_after: bool

    @property
    def position(self) -> str:
        """Where the item is, as far as it is known."""
        place, total = len(self.before) + 1, len(self.before) + len(self.after) + 1
        if self.more_before and self.more_after:
            return "in the middle of its partition"
        if self.more_before:
            last = {1: "last", 2: "second to last", 3: "third to last"}[len(self.after) + 1]
            return f"{last} in its partition"
        if self.more_after:
            return f"number {place} in its partition"
        return "alone in its partition" if total == 1 else f"{place} of {total} in its partition"


def read_neighbours(
    send: Send, layout: TableDescription, collection: IndexDescription, item: Item
) -> Neighbours:
    """Read the neighbours of an item in the table or in an index that it is in."""
    if not collection.name and not collection.keys.sort:
        return Neighbours([], [], False, False)  # a partition of the table is one item
    partition = {each.name: item[each.name] for each in collection.keys.partition}
    members = {
        "TableName": layout.name,
        "Limit": SHOWN + 1,
        "ExclusiveStartKey": layout.start_key(collection, item),
    }
    if collection.name:
        members["IndexName"] = collection.name
    request = QueryRequest("Query", members, Selection(KeyCondition(partition)))
    answers = [
        send("Query", **request.with_members(ScanIndexForward=forward).body)
        for forward in (False, True)
    ]
    before, after = (answer["Items"] for answer in answers)
    return Neighbours(
        before[:SHOWN][::-1],
        after[:SHOWN],
        _has_more(answers[0]),
        _has_more(answers[1]),
    )


def _has_more(answer: dict[str, Any]) -> bool:
    return "LastEvaluatedKey" in answer or len(answer["Items"]) > SHOWN
