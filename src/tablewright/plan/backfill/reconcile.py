"""Reconcile: compare counters with what they count, and correct those that differ.

    db.run(reconcile(Shop))                         # how many parents it has corrected
    db.run(reconcile(Shop, dry_run=True, found=print))

It is for items that were written before a counter was declared, and by other programs. Programs
may write meanwhile:

    mark     an attribute of the parent, which every write of a counted child removes
    count    read the children, consistently
    write    the counters, if the mark is still there; otherwise again

The children of a parent are queried, if the key of the parent says in which partition they are.
Otherwise the whole table is read: once for the amounts of all parents, which are kept in memory,
and again for those that differ, all of which are marked before.

Invariant: only counters and the mark are written, and only if no counted child has changed since
the mark was made. A mark that an interrupted run has left is replaced by the next run.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tablewright.errors import ConditionalCheckFailedException, Contention, DeclarationError
from tablewright.mapping.counters import Amount, CounterMap, counters_of
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan import facts
from tablewright.plan.plan import DECLARED, Context, Plan, Request, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plan.reads.range import Range
from tablewright.plan.reads.several import item_identity
from tablewright.plan.reads.single import decode_page, read_item
from tablewright.plan.shape import Shape, in_turn, read_shape
from tablewright.plan.writes.counting import RECOUNT, encode_amount, stored_amount
from tablewright.plan.writes.effect import read_values
from tablewright.plan.writes.guard import WriteExpressions, key_text
from tablewright.plan.writes.write import wait_for_writers, write_units
from tablewright.values import Item

#: How often the children of all parents that differ are read again.
MAX_ROUNDS = 10
#: What the children add to the counters of one parent, by the stored name of the counter.
Amounts: TypeAlias = dict[str, Amount]
_Identity: TypeAlias = bytes


class CounterDifference(Struct, frozen=True):
    """A counter that is not what it counts."""

    #: The counter: `Repo.stars`.
    counter: str
    #: The key of the parent.
    key: str
    stored: Amount
    counted: Amount

    def __str__(self) -> str:
        return f"{self.counter} ({self.key}): {self.stored} is stored, and {self.counted} counted"


class ReconcileProgress(Struct, frozen=True):
    """How far it is."""

    table: str
    #: How many items were read, without those that were counted for one parent.
    items: int
    #: How many parents were corrected, or would be.
    changed: int


class Reconcile(Plan[int]):
    """Correct the counters of stored parents; returns how many parents it has corrected."""

    def __init__(
        self,
        table: TableMap,
        *,
        dry_run: bool,
        progress: Callable[[ReconcileProgress], object] | None,
        found: Callable[[CounterDifference], object] | None,
    ) -> None:
        self._table = table
        parents = [each for each in table.entities if counters_of(each)]
        self._entity = parents[0]
        #: Those whose children are queried, and those whose children are found by reading all.
        self._queried = [each for each in parents if all(map(_bound, each.counters))]
        self._scanned = [each for each in parents if each not in self._queried]
        self._summed = [counter for each in self._scanned for counter in each.counters]
        self._dry_run = dry_run
        self._progress = progress
        self._found = found

    def _entities(self) -> tuple[EntityMap, ...]:
        children = (counter.child for each in self._parents for counter in each.counters)
        return tuple(dict.fromkeys((*self._parents, *children)))

    @property
    def _parents(self) -> list[EntityMap]:
        return [*self._queried, *self._scanned]

    def _steps(self, context: Context) -> Steps[int]:
        items = changed = 0
        busy: list[str] = []
        stored: dict[_Identity, tuple[EntityMap, Item]] = {}
        sums: dict[_Identity, Amounts] = defaultdict(dict)
        for page in _Pages(self._request(context)):
            read = yield from page
            items += read.scanned_count
            for item in read.items:
                entity = self._table.entity_of(item)
                if entity is None:
                    continue
                if entity in self._queried:
                    try:
                        changed += yield from self._settle(entity, item, context)
                    except Contention as error:
                        busy.append(str(error))
                elif entity in self._scanned:
                    kept = {name: item[name] for name in _kept(entity) if name in item}
                    stored[item_identity(self._table.key(item))] = entity, kept
                self._add(item, sums)
            if self._progress is not None:
                self._progress(ReconcileProgress(context.name_of(self._table), items, changed))
        differing = [
            (entity, item)
            for identity, (entity, item) in stored.items()
            if _differ(entity, item, sums.get(identity, {}))
        ]
        if differing:
            changed += yield from self._settle_all(differing, sums, context)
        if busy:  # the others are done
            more = f" The same is true of {len(busy) - 1} others" if busy[1:] else ""
            raise Contention(f"{busy[0]}{more}")
        return changed

    # -- what is counted ---------------------------------------------------------------------

    def _add(
        self, item: Item, sums: dict[_Identity, Amounts], only: Iterable[_Identity] | None = None
    ) -> None:
        """Add what an item adds to the counters of parents whose children are not queried."""
        kind = self._table.entity_of(item)
        for counter in () if kind is None else kind.counted:
            if counter in self._summed and kind is not None:
                added = counter.amount(read_values(kind, item, counter.sources))
                if added is not None:
                    identity = item_identity(added[0])
                    if only is None or identity in only:
                        _increase(sums[identity], counter, added[1])

    def _count(self, entity: EntityMap, item: Item, context: Context) -> Steps[Amounts]:
        """Return what the children of a parent add to its counters."""
        key, values = self._table.key(item), entity.values(item)
        amounts: Amounts = {}
        for child in dict.fromkeys(counter.child for counter in entity.counters):
            counters = [each for each in entity.counters if each.child is child]
            sources = frozenset[str]().union(*(each.sources for each in counters))
            query = _query(counters[0], values)
            request, _, excluding = query._request(context)
            for page in _Pages(request):
                read = yield from page
                for row in query._matching(read.items, excluding):
                    kind = child.kind_of(row)
                    for counter in counters:
                        added = counter.amount(read_values(kind, row, sources))
                        if added is not None and added[0] == key:
                            _increase(amounts, counter, added[1])
        return amounts

    # -- parents whose children are queried --------------------------------------------------

    def _settle(self, entity: EntityMap, item: Item, context: Context) -> Steps[int]:
        """Correct the counters of a parent; return 1 if they were not what is counted."""
        key, attempt = self._table.key(item), 0
        current: Item | None = item
        while current is not None:
            amounts = yield from self._count(entity, current, context)
            again = yield from read_item(context, entity, key)
            if again is None:
                return 0
            if _differ(entity, again, _amounts_of(entity, current)):
                current = again  # children were written meanwhile
            elif not _differ(entity, current, amounts):
                return 0
            elif self._dry_run:
                self._report(entity, current, amounts)
                return 1
            else:
                mark = yield from self._mark(entity, key, context)
                if mark is None:
                    return 0  # the parent was deleted
                token, current = mark
                amounts = yield from self._count(entity, current, context)
                if (yield from self._write(entity, current, amounts, token, context)):
                    return int(_differ(entity, current, amounts))
            attempt += 1
            yield from wait_for_writers(attempt, self._busy(entity, key, attempt))
        return 0

    def _busy(self, entity: EntityMap, key: Item, attempt: int) -> str:
        return (
            f"reconcile {entity.name} ({key_text(key)}): other writers changed what it counts "
            f"while that was read, {attempt} times in a row; run it again when there are fewer"
        )

    # -- parents whose children are found by reading all -------------------------------------

    def _settle_all(
        self,
        differing: list[tuple[EntityMap, Item]],
        sums: dict[_Identity, Amounts],
        context: Context,
    ) -> Steps[int]:
        """Correct the counters of parents that differ; return how many."""
        if self._dry_run:
            for entity, item in differing:
                self._report(entity, item, sums.get(item_identity(self._table.key(item)), {}))
            return len(differing)
        changed = 0
        for _ in range(MAX_ROUNDS):
            marked = []
            for entity, item in differing:
                mark = yield from self._mark(entity, self._table.key(item), context)
                if mark is not None:
                    marked.append((entity, *mark))
            wanted = {item_identity(self._table.key(item)) for _, _, item in marked}
            sums = defaultdict(dict)
            for page in _Pages(self._request(context)):
                read = yield from page
                for item in read.items:
                    self._add(item, sums, wanted)
            differing = []
            for entity, token, item in marked:
                amounts = sums.get(item_identity(self._table.key(item)), {})
                if (yield from self._write(entity, item, amounts, token, context)):
                    changed += _differ(entity, item, amounts)
                else:
                    differing.append((entity, item))
            if not differing:
                return changed
        entity, item = differing[0]
        raise Contention(self._busy(entity, self._table.key(item), MAX_ROUNDS))

    # -- requests ----------------------------------------------------------------------------

    def _request(self, context: Context) -> QueryRequest:
        members = {"TableName": context.name_of(self._table), "ConsistentRead": True}
        return QueryRequest("Scan", members, Selection(None))

    def _mark(
        self, entity: EntityMap, key: Item, context: Context
    ) -> Steps[tuple[str, Item] | None]:
        """Mark a parent; return the mark and the parent, or None if it does not exist."""
        token = secrets.token_hex(8)
        expressions = WriteExpressions()
        expressions.require_exists(self._table)
        expressions.update.set_or_remove(RECOUNT, {"S": token})
        body = expressions.add_to({"TableName": context.name_of(self._table), "Key": key})
        try:
            answer = yield Request("UpdateItem", {**body, "ReturnValues": "ALL_NEW"})
        except ConditionalCheckFailedException:
            return None
        item: Item = msgspec.json.decode(answer)["Attributes"]
        return token, item

    def _write(
        self, entity: EntityMap, item: Item, amounts: Amounts, token: str, context: Context
    ) -> Steps[bool]:
        """Write the counters of a marked parent; return False if the mark is gone."""
        expressions = WriteExpressions()
        expressions.require_unchanged({RECOUNT: {"S": token}})
        differs = _differ(entity, item, amounts)
        for each in entity.maintained if differs else ():
            value = encode_amount(entity, each.stored, amounts.get(each.stored, 0))
            expressions.update.set_or_remove(each.stored, value)
        expressions.update.set_or_remove(RECOUNT, None)
        key = self._table.key(item)
        body = expressions.add_to({"TableName": context.name_of(self._table), "Key": key})
        try:
            yield Request("UpdateItem", body)
        except ConditionalCheckFailedException:
            return False
        if differs:
            self._report(entity, item, amounts)
        return True

    def _report(self, entity: EntityMap, item: Item, amounts: Amounts) -> None:
        if self._found is not None:
            key = key_text(self._table.key(item))
            for name, each in _differences(entity, item, amounts):
                counter = f"{entity.name}.{name.name}"
                self._found(CounterDifference(counter, key, *each))

    # -- the shape ---------------------------------------------------------------------------

    def _shape(self) -> Shape:
        parents = self._parents
        read = replace(
            read_shape(self._request(DECLARED), parents, [self._table]),
            keys=(facts.WholeScan("reconcile"),),
            extent=facts.AllPages(),
            read_units=128,
            read_range=facts.all_read(consistent=True) * (MAX_ROUNDS + 1),
        )
        queries = []
        for parent in self._queried:
            for child in dict.fromkeys(counter.child for counter in parent.counters):
                counter = next(each for each in parent.counters if each.child is child)
                shape = _query(counter, vars(parent.symbolic()))._shape()
                each = facts.all_read(consistent=True).for_each()
                queries.append(replace(shape, extent=facts.AllPages(), read_range=each))
        update = Shape(
            operation="UpdateItem",
            tables=read.tables,
            targets=tuple(parents),
            keys=tuple(parent.primary.symbolic() for parent in parents[:1]),
            extent=facts.Actions(2, facts.Repeats.EACH_WRONG_COUNTER),
            write_units=2 * max(map(write_units, parents)),
            write_range=(facts.item_write(max(each.index_rows for each in parents)) * 2).for_each(),
        )
        return replace(in_turn(read, *queries, update), keys=read.keys)


class _Pages:
    """The pages of a request, one after the other."""

    def __init__(self, request: QueryRequest) -> None:
        self._request: QueryRequest | None = request

    def __iter__(self) -> Iterator[Steps[Any]]:
        while self._request is not None:
            yield self._read(self._request)

    def _read(self, request: QueryRequest) -> Steps[Any]:
        page = decode_page((yield request))
        last = page.last_evaluated_key
        self._request = None if last is None else request.next_page(last)
        return page


def _bound(counter: CounterMap) -> bool:
    """Whether the key of a parent says in which partition its children are.

    If an entity counts its own items, a partition may have many parents, each with few children.
    """
    is_own = counter.child is counter.parent
    return not is_own and len(_parts(counter)) >= counter.child.primary.partition_arity


def _parts(counter: CounterMap) -> list[tuple[Any, str]]:
    """Return the first parts of the child's key that the parent's key gives, each with its name."""
    theirs = {ours: name for name, ours in counter.by.items()}
    parts = []
    for part in counter.child.primary.parameters:
        if part.attribute not in theirs:
            break
        parts.append((part, theirs[part.attribute]))
    return parts


def _query(counter: CounterMap, parent: dict[str, Any]) -> Range[Any]:
    """Return the query that finds the children of a parent with these values."""
    arguments = tuple(part.argument(parent[name]) for part, name in _parts(counter))
    found: Range[Any] = Range(counter.child, counter.child.primary, arguments)
    return found.consistent()


def _increase(amounts: Amounts, counter: CounterMap, amount: Amount) -> None:
    name = counter.attribute.stored
    amounts[name] = amounts.get(name, 0) + amount


def _kept(entity: EntityMap) -> list[str]:
    """Return the attributes of a parent that are compared, with its key."""
    keys = [name for name in entity.table.attributes if name is not None]
    return [*keys, *(each.stored for each in entity.maintained)]


def _amounts_of(entity: EntityMap, item: Item) -> Amounts:
    return {each.stored: stored_amount(entity, each.stored, item) for each in entity.maintained}


def _differences(
    entity: EntityMap, item: Item, amounts: Amounts
) -> Iterator[tuple[Any, tuple[Amount, Amount]]]:
    """Yield the counters of a parent that are not what is counted, with both amounts."""
    for each in entity.maintained:
        stored, counted = stored_amount(entity, each.stored, item), amounts.get(each.stored, 0)
        if stored != counted:
            yield each, (stored, counted)


def _differ(entity: EntityMap, item: Item, amounts: Amounts) -> bool:
    return any(_differences(entity, item, amounts))


def reconcile(
    what: type[Any],
    *,
    dry_run: bool = False,
    progress: Callable[[ReconcileProgress], object] | None = None,
    found: Callable[[CounterDifference], object] | None = None,
) -> Reconcile:
    """Correct the counters of a table that are not what they count, while programs write.

    The plan returns how many items it has corrected; with `dry_run`, how many differ. `found` is
    called for each counter that differs, and `progress` after each page of items.
    """
    table = getattr(what, "__table__", None)
    if not isinstance(table, TableMap):
        raise DeclarationError(f"reconcile() takes a table, not {what!r}")
    if not any(counters_of(each) for each in table.entities):
        raise DeclarationError(f"reconcile(): {table.owner} has no counters")
    return Reconcile(table, dry_run=dry_run, progress=progress, found=found)
