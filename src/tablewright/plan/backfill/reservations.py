"""Reservations: reserve the unique values that stored items have, and find duplicates.

    stored sentinel                      what follows
    none                                 it is written, if the item still has the value
    names the item                       nothing, or it gets the attributes that it should keep
    names another item with the value    a duplicate
    names an item without the value      it is replaced
    names no item (another `keep`)       it is replaced

Invariant: a sentinel is written in one transaction with a check of the item, and only if there is
none, or one that no item has any more.

A sentinel that does not keep the whole primary key does not say which item it belongs to. So the
items of such values are remembered, in a temporary file; a dry run, which writes no sentinels,
remembers all items with unique values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from tablewright.errors import (
    DuplicateValue,
    InvalidValue,
    UnreadableItem,
    ValidationException,
)
from tablewright.limits import MAX_TRANSACTION_ACTIONS
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.backfill.throttling import Pace, Paced, retry_throttled
from tablewright.plan.plan import Context, Plan, Steps
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.reads.single import read_item
from tablewright.plan.writes.action import (
    Action,
    RetryWrite,
    always_retry,
    send_or_retry,
)
from tablewright.plan.writes.effect import (
    named_key,
    names_owner,
    oversized_key,
    read_values,
    sentinel,
    unique_names,
)
from tablewright.plan.writes.guard import WriteExpressions, key_text, stored_values
from tablewright.plan.writes.write import wait_for_writers
from tablewright.storage.temporary import TemporaryMap
from tablewright.values import Item

#: How many values are reserved in one transaction: each takes two of its 100 actions, and one is
#: left for the check of a fence.
_TOGETHER = (MAX_TRANSACTION_ACTIONS - 1) // 2


#: Returns the entity of an item, and the item as it is to be; None if it is of no entity.
Rewrite: TypeAlias = Callable[[Item, TableMap], tuple[EntityMap, Item] | None]


class Claim(Struct, frozen=True):
    """A unique value that a stored item has."""

    entity: EntityMap
    unique: UniqueMap
    item: Item
    #: The sentinel that reserves it for the item.
    sentinel: Item

    @property
    def key(self) -> Item:
        return self.entity.table.key(self.item)

    @property
    def sentinel_key(self) -> Item:
        return self.entity.table.key(self.sentinel)

    @property
    def names_owner(self) -> bool:
        """Whether the sentinel says which item it belongs to."""
        return names_owner(self.entity, self.unique)

    def owns(self, found: Item) -> bool:
        """Return whether a stored sentinel is that of the item.

        It may lack a part of the primary key that items of the version before did not have.
        """
        names = [each.stored for each in self.unique.owned_by if each.stored in found]
        names = names or [each.stored for each in self.unique.owned_by]
        return stored_values(found, names) == stored_values(self.sentinel, names)

    def is_current(self, found: Item) -> bool:
        """Return whether a stored sentinel of the item has all that it should contain.

        That includes its type: a migration finds the sentinels of a removed unique value by it.
        """
        if not self.names_owner:
            return True  # then it cannot be replaced safely
        names = [attribute.stored for attribute in self.unique.keeps]
        if self.entity.table.type_attribute is not None:
            names.append(self.entity.table.type_attribute)
        return stored_values(found, names) == stored_values(self.sentinel, names)

    def duplicate(self, other: str) -> DuplicateValue:
        names = sorted(self.unique.key.part_names)
        values = read_values(self.entity, self.item, names)
        shown = ", ".join(f"{name} {values[name]!r}" for name in names)
        return DuplicateValue(self.unique.key.name, shown, key_text(self.key), other)


class Outcome(Struct, frozen=True):
    """What became of a claim."""

    is_reserved: bool = False
    duplicate: DuplicateValue | None = None


def claims_of(entity: EntityMap, item: Item) -> Iterator[Claim]:
    """Yield the unique values of an item; raise UnreadableItem if they cannot be read."""
    kind = entity.kind_of(item)
    try:
        for unique in kind.uniques:
            values = read_values(kind, item, unique_names(unique))
            made = sentinel(kind, unique, values)
            if made is None:
                continue
            if problem := oversized_key(kind, made):
                names = ", ".join(sorted(unique.key.part_names))
                raise InvalidValue(
                    f"{unique.key.name}: the value of {names} is too long for a key: {problem}"
                )
            yield Claim(kind, unique, item, made)
    except (InvalidValue, UnreadableItem) as error:
        raise entity.table.unreadable(error, item) from None


class Reservations:
    """The unique values of the items that a backfill reads, page by page."""

    def __init__(
        self,
        name: str,
        pace: Pace,
        *,
        dry_run: bool,
        fence: Action | None = None,
        rewrite: Rewrite | None = None,
    ) -> None:
        """Make reservations; with `fence`, each transaction requires that condition as well.

        `rewrite` returns an item as it will be: claims are those of rewritten items.
        """
        #: The name of the plan, for its observer.
        self._name = name
        self._pace = pace
        self.is_dry_run = dry_run
        self._fence = [] if fence is None else [fence]
        self._rewrite = rewrite or _as_stored
        #: The key of the item of each value whose sentinel does not show it, by a digest of the
        #: key of the sentinel; as JSON.
        self._remembered: TemporaryMap | None = None
        self.duplicates: list[DuplicateValue] = []

    @property
    def can_continue(self) -> bool:
        """Whether another run may continue this one: it would not find these duplicates again."""
        return not self.duplicates and self._remembered is None

    def plans(self, claims: Iterable[Claim], context: Context) -> Steps[list[Plan[list[Outcome]]]]:
        """Return the plans that reserve what is not reserved yet; note the duplicates."""
        claims = list(claims)
        found = yield from _read_sentinels(claims, context)
        plans: list[_Reserve] = []
        for claim in claims:
            stored = found.get(item_identity(claim.sentinel_key))
            is_owned = stored is not None and claim.owns(stored) and claim.is_current(stored)
            if is_owned and claim.names_owner:
                continue
            first = self._first(claim)
            if first != claim.key:
                self.duplicates.append(claim.duplicate(key_text(first)))
            elif not is_owned:
                reserve = _Reserve(claim, stored, self._pace, self._name, dry_run=self.is_dry_run)
                plans.append(reserve._replace(_fence=self._fence, _rewrite=self._rewrite))
        groups = (plans[at : at + _TOGETHER] for at in range(0, len(plans), _TOGETHER))
        return [_ReserveTogether(group, self._fence) for group in groups]

    def add(self, results: Iterable[list[Outcome]]) -> int:
        """Note the duplicates; return how many values were reserved."""
        outcomes = list(chain.from_iterable(results))
        self.duplicates += [each.duplicate for each in outcomes if each.duplicate is not None]
        return sum(each.is_reserved for each in outcomes)

    def _first(self, claim: Claim) -> Item:
        """Return the key of the first item with the value, where items are remembered."""
        if claim.names_owner and not self.is_dry_run:
            return claim.key
        if self._remembered is None:
            self._remembered = TemporaryMap()
        content = item_identity(claim.sentinel_key)
        digest = hashlib.blake2b(content, digest_size=16).digest()
        first = self._remembered.setdefault(digest, msgspec.json.encode(claim.key))
        key: Item = msgspec.json.decode(first)
        return key


def _read_sentinels(claims: Iterable[Claim], context: Context) -> Steps[dict[bytes, Item]]:
    """Return the stored sentinels of claims, by their keys."""
    keys = {
        item_identity(claim.sentinel_key): (context.name_of(claim.entity.table), claim.sentinel_key)
        for claim in claims
    }
    found = yield from read_batch(context, list(keys.values()), consistent=True)
    return {identity: item for (_, identity), item in found.items()}


class _Reserve(Paced[Outcome]):
    """Reserve a unique value for a stored item; `found` is the stored sentinel."""

    _fence: list[Action]
    _rewrite: Rewrite

    def __init__(
        self, claim: Claim, found: Item | None, pace: Pace, name: str, *, dry_run: bool
    ) -> None:
        super().__init__(claim.entity, pace, name)
        self._claim = claim
        self._found = found
        self._dry_run = dry_run

    def actions_if_new(self) -> list[Action]:
        """Return the actions that reserve a value without a sentinel; none for another one."""
        return [] if self._found is not None or self._dry_run else _actions(self._claim, None)

    def _write(self, context: Context) -> Steps[Outcome]:
        claim, found, attempt = self._claim, self._found, 0
        while True:
            is_owned = found is not None and claim.owns(found)
            if found is not None and is_owned and claim.is_current(found):
                return Outcome()
            if found is not None and not is_owned:
                other = yield from _owner(claim, found, self._rewrite, context)
                if other is not None:
                    return Outcome(duplicate=claim.duplicate(other))
            if self._dry_run:
                return Outcome(is_reserved=True)
            try:
                yield from send_or_retry([*_actions(claim, found), *self._fence], context)
            except RetryWrite:
                attempt += 1
            else:
                return Outcome(is_reserved=True)
            yield from wait_for_writers(
                attempt,
                f"backfill: other writers changed the item with {key_text(claim.key)} {attempt} "
                "times in a row; run it again",
            )
            item = yield from read_item(context, claim.entity, claim.key)
            now = None if item is None else _claim_of(claim, item, self._rewrite)
            if now is None or now.item != item:
                # Another writer has deleted it, or removed the value; or it is to be rewritten
                # first, and reserved by the next pass.
                return Outcome()
            claim = now
            found = yield from read_item(context, claim.entity, claim.sentinel_key)


class _ReserveTogether(Plan[list[Outcome]]):
    """Reserve several unique values: in one transaction, or one by one if that is cancelled."""

    def __init__(self, plans: list[_Reserve], fence: list[Action]) -> None:
        self._plans = plans
        self._fence = fence
        self._entity = plans[0]._entity
        self._pattern = plans[0]._pattern

    def _steps(self, context: Context) -> Steps[list[Outcome]]:
        actions = [action for each in self._plans for action in each.actions_if_new()]
        if len(actions) == 2 * len(self._plans) and _are_distinct(actions):
            try:
                sending = send_or_retry([*actions, *self._fence], context)
                yield from retry_throttled(sending, self._plans[0]._pace)
            except (RetryWrite, ValidationException):
                pass  # one of them has changed, or is too large with the others
            else:
                return [Outcome(is_reserved=True) for _ in self._plans]
        outcomes: list[Outcome] = []
        for each in self._plans:
            outcomes += [(yield from each._steps(context))]
        return outcomes


def _are_distinct(actions: list[Action]) -> bool:
    """Return whether no two actions are about the same item, which DynamoDB does not allow."""
    return len({each.identity for each in actions}) == len(actions)


def _actions(claim: Claim, found: Item | None) -> list[Action]:
    """Return the actions that reserve a value, if the item has it and the sentinel is as it was."""
    entity, table = claim.entity, claim.entity.table
    owners = [] if found is None else [stored_values(found, sorted({*found, *claim.sentinel}))]
    names = {entity.attributes[name].stored for name in unique_names(claim.unique)}
    if table.type_attribute is not None:
        names.add(table.type_attribute)
    expressions = WriteExpressions()
    expressions.require_exists(table)
    expressions.require_unchanged(stored_values(claim.item, sorted(names)))
    check = expressions.add_to({"Key": claim.key})
    put: dict[str, Any] = {"Item": claim.sentinel}
    return [
        Action("Put", table, put, always_retry, owners=owners),
        Action("ConditionCheck", table, check, always_retry),
    ]


def _owner(claim: Claim, found: Item, rewrite: Rewrite, context: Context) -> Steps[str | None]:
    """Return which item a stored sentinel belongs to; None if that does not have the value."""
    entity = claim.entity
    if not any(attribute.stored in found for attribute in claim.unique.owned_by):
        return None  # it names none, so it is that of the first item with the value
    if not claim.names_owner:
        return f"unknown item (the sentinel {key_text(claim.sentinel_key)} does not name it)"
    try:
        key = named_key(entity, claim.unique, found)
    except (InvalidValue, UnreadableItem):
        return f"unreadable item (named by the sentinel {key_text(claim.sentinel_key)})"
    if key == claim.key:
        return None  # the item itself, whose values were spelled in another way
    other = yield from read_item(context, entity, key)
    theirs = None if other is None else _claim_of(claim, other, rewrite)
    has_value = theirs is not None and theirs.sentinel_key == claim.sentinel_key
    return key_text(key) if has_value else None


def _as_stored(item: Item, table: TableMap) -> tuple[EntityMap, Item] | None:
    entity = table.entity_of(item)
    return None if entity is None else (entity, item)


def _claim_of(claim: Claim, item: Item, rewrite: Rewrite) -> Claim | None:
    """Return the claim of an item to its value of the same unique; None if it has none."""
    rewritten = rewrite(item, claim.entity.table)
    claims = () if rewritten is None else claims_of(*rewritten)
    return next((each for each in claims if each.unique.type_name == claim.unique.type_name), None)
