"""Counting: what a write request does with the counters of the parents of its items.

A child that is written changes the counters of its parents. An item has one action in a request, so
all changes of one parent are joined to a single action: an UpdateItem of the counters alone, or the
request's own write of the parent.

    own write of the parent     what is joined to it
    none                        UpdateItem that adds; requires that the parent exists
    UpdateItem                  adds as well
    ConditionCheck              becomes an UpdateItem with the same condition
    PutItem                     the new item begins with what is added
    DeleteItem                  requires that the counters are what is taken away, so that no
                                children are left

A parent that exists no more may have left children, if another program deleted it or it expired.
They can be changed and deleted: then the request checks that there is no parent instead.

This module must not know plans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from tablewright.mapping.counters import Amount, CounterMap, counters_of
from tablewright.mapping.entity import EntityMap
from tablewright.values import Item

#: The mark of a parent whose children are counted anew: who changes its counters removes it.
RECOUNT = "$recount"


class Counters(Struct):
    """What one action does with the counters of a parent."""

    entity: EntityMap
    #: By the stored name of the counter: what is added, less what is taken away.
    amounts: dict[str, Amount]
    #: Whether the action adds them. Otherwise it deletes the parent, whose counters must be what is
    #: taken away.
    adds: bool = True
    #: Whether the action does nothing but adding them.
    is_alone: bool = False
    #: Whether a parent must exist, because it gets another child.
    needs_parent: bool = False

    def add(self, other: Counters) -> None:
        """Add the amounts of another action on the same parent."""
        for name, amount in other.amounts.items():
            self.amounts[name] = self.amounts.get(name, 0) + amount
        self.needs_parent = self.needs_parent or other.needs_parent

    @property
    def changed(self) -> list[tuple[str, Amount]]:
        """The counters that change."""
        return [(name, amount) for name, amount in self.amounts.items() if amount]

    def differ(self, item: Item) -> bool:
        """Whether the counters of a parent that is deleted are not what is taken away."""
        stored = ((stored_amount(self.entity, name, item), name) for name in self.amounts)
        return any(amount != -self.amounts[name] for amount, name in stored)

    def are_same(self, one: Item, other: Item) -> bool:
        """Whether two versions of the parent have the same counters."""
        return all(
            stored_amount(self.entity, name, one) == stored_amount(self.entity, name, other)
            for name in self.amounts
        )

    def reason(self, item: Item) -> str:
        """Return why the parent cannot be deleted."""
        left = [
            f"{_attribute(self.entity, name).name} is {stored_amount(self.entity, name, item)}"
            for name, amount in self.amounts.items()
            if stored_amount(self.entity, name, item) != -amount
        ]
        return (
            f"{' and '.join(left)}: delete what it counts first, or in the same transaction; if "
            "there is nothing, recompute it with `tablewright reconcile`"
        )

    def render(self, body: dict[str, Any]) -> None:
        """Add the clause or the condition to the body of an action."""
        names = dict(body.get("ExpressionAttributeNames", {}))
        values = dict(body.get("ExpressionAttributeValues", {}))
        texts = []
        for number, (name, amount) in enumerate(
            self.changed if self.adds else self.amounts.items()
        ):
            mark, value = f"#c{number}", f":c{number}"
            names[mark] = name
            values[value] = encode_amount(self.entity, name, amount if self.adds else -amount)
            if self.adds:
                texts.append(f"{mark} {value}")
            elif amount:
                texts.append(f"{mark} = {value}")
            else:
                texts.append(f"(attribute_not_exists({mark}) OR {mark} = {value})")
        if self.adds:
            names["#r"] = RECOUNT
            update = _with_clause(body.get("UpdateExpression", ""), "ADD", texts)
            body["UpdateExpression"] = _with_clause(update, "REMOVE", ["#r"])
        else:
            own = [body["ConditionExpression"]] if "ConditionExpression" in body else []
            body["ConditionExpression"] = " AND ".join([*own, *texts])
        body["ExpressionAttributeNames"] = names
        if values:
            body["ExpressionAttributeValues"] = values


def _with_clause(update: str, keyword: str, actions: list[str]) -> str:
    """Add actions to an update expression, whose names and values are placeholders."""
    if not actions:
        return update
    clause = f"{keyword} {', '.join(actions)}"
    if f"{keyword} " in update:
        return update.replace(f"{keyword} ", f"{clause}, ", 1)
    return f"{update} {clause}".lstrip()


def counters_of_deleted(entity: EntityMap) -> Counters | None:
    """Return what the delete of a parent requires; None for an entity without counters."""
    if not entity.maintained:
        return None
    counters_of(entity)  # raises if what they count is not declared
    return Counters(entity, {each.stored: 0 for each in entity.maintained}, adds=False)


def carried_counters(
    entity: EntityMap, below: Mapping[EntityMap, Mapping[str, str]]
) -> list[CounterMap]:
    """Return the counters that move with everything they count: of an item, and of rows below it.

    `below` has the entities of these rows, and which of their attributes follow which of the item.
    These counters keep their amounts. The others have to be zero: what they count stays behind.
    """
    parents = {entity: {name: name for name in entity.primary.depends_on}, **below}
    return [
        counter
        for parent, theirs in parents.items()
        for counter in parent.counters
        if all(
            kind in below
            and all(below[kind].get(ours) == theirs.get(name) for name, ours in counter.by.items())
            for kind in counter.child.kinds[-len(counter.child.type_names) :]
        )
    ]


def counters_of_moved(
    entity: EntityMap, old: Item, carried: Sequence[CounterMap]
) -> Counters | None:
    """Return what the delete of a moved parent requires: the counters that it takes along."""
    counters = counters_of_deleted(entity)
    for each in entity.counters if counters is not None else ():
        if counters is not None and each in carried:
            name = each.attribute.stored
            counters.amounts[name] = -stored_amount(entity, name, old)
    return counters


def reset_counters(entity: EntityMap, item: Item, carried: Sequence[CounterMap]) -> None:
    """Let the counters of a moved parent begin at zero, except for those that it takes along."""
    for each in entity.counters:
        if each not in carried:
            item[each.attribute.stored] = encode_amount(entity, each.attribute.stored, 0)


def keep_counters(entity: EntityMap, item: Item, old: Item | None) -> None:
    """Give an item that is put the counters of the stored one."""
    for each in entity.maintained:
        amount = stored_amount(entity, each.stored, old or {})
        item[each.stored] = encode_amount(entity, each.stored, amount)


def add_to_item(counters: Counters, item: Item) -> None:
    """Add amounts to the counters of an item that is put."""
    for name, amount in counters.changed:
        amount += stored_amount(counters.entity, name, item)
        item[name] = encode_amount(counters.entity, name, amount)


def stored_amount(entity: EntityMap, stored: str, item: Item) -> Amount:
    """Return the counter of a stored parent; a missing one is zero."""
    value = item.get(stored)
    if value is None:
        return 0
    amount: Amount = _attribute(entity, stored).converter.decode(value)
    return amount


def encode_amount(entity: EntityMap, stored: str, amount: Amount) -> Any:
    converter = _attribute(entity, stored).converter
    return converter.encode(converter.kind(amount))


def _attribute(entity: EntityMap, stored: str) -> Any:
    return next(each for each in entity.maintained if each.stored == stored)
