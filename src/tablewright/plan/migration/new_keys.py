"""New keys: whether each item can be written as a migration wants it, before anything is changed.

    too large      the item with its new attributes or key, or the key itself
    taken          another item has the new primary key, or gets it, too

Programs write meanwhile: an item that was read may be stored again under its new key. So both keys
are read at one moment before a key is taken for that of another item.

The keys that items get are remembered only if two of them can be equal, which takes memory for each
item that moves. They cannot if the former key follows from the new one.
"""

from __future__ import annotations

import hashlib

import msgspec

from tablewright.encoding.items import item_size
from tablewright.errors import Contention, TransactionCanceledException, UnreadableItem
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.rewriting import Rewriter
from tablewright.plan.migration.sweep import CONFLICTS, taken_key
from tablewright.plan.plan import Context, Request, Steps, Wait
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.writes.effect import oversized_key
from tablewright.values import Item


class NewKeys:
    """Looks at the items of a table, page by page."""

    def __init__(self, table: TableMap, name: str, rewriter: Rewriter) -> None:
        self._table = table
        self._name = name
        self._remembers = not all(each.follows for each in rewriter.moves.values())
        #: The items of the present page that move, each with its new key.
        self._moved: list[tuple[Item, Item]] = []
        #: Digests of the new keys of all items.
        self._seen: set[bytes] = set()

    def add(self, item: Item, entity: EntityMap, wanted: Item) -> None:
        """Note an item and what it is to be; raise UnreadableItem if it cannot be written so."""
        if self._table.key(wanted) != self._table.key(item):
            if problem := oversized_key(entity, wanted):
                raise self._table.unreadable(f"its new key is too large: {problem}", item)
            self._moved.append((item, self._table.key(wanted)))
        if wanted != item and item_size(wanted) > MAX_ITEM_SIZE:
            raise self._table.unreadable(f"it would be larger than {MAX_ITEM_SIZE:,} bytes", item)

    def find_taken(self, context: Context) -> Steps[list[UnreadableItem]]:
        """Return the items of the page whose new keys are taken; continue with the next page."""
        moved, self._moved = self._moved, []
        keys = {item_identity(new): (self._name, new) for _, new in moved}
        found = yield from read_batch(context, list(keys.values()), consistent=True)
        taken: list[UnreadableItem] = []
        for item, new in moved:
            identity = item_identity(new)
            digest = hashlib.blake2b(identity, digest_size=16).digest()
            is_taken = digest in self._seen
            if not is_taken and (self._name, identity) in found:
                is_taken = yield from self._are_stored(self._table.key(item), new)
            if is_taken:
                taken.append(self._table.unreadable(taken_key(new), item))
            if self._remembers:
                self._seen.add(digest)
        return taken

    def _are_stored(self, *keys: Item) -> Steps[bool]:
        """Return whether items with all of these keys are stored at one moment."""
        gets = [{"Get": {"TableName": self._name, "Key": key}} for key in keys]
        failures = 0
        while True:
            try:
                answer = yield Request("TransactGetItems", {"TransactItems": gets})
            except TransactionCanceledException as fault:  # a program writes one of them
                failures += 1
                delay = CONFLICTS.delay(failures)
                if delay is None:
                    raise Contention(
                        f"other programs changed items of the table {self._name!r} {failures} "
                        "times in a row while they were checked; run the command again"
                    ) from fault
                yield Wait(delay)
            else:
                return all("Item" in each for each in msgspec.json.decode(answer)["Responses"])
