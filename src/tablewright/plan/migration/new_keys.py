"""New keys: whether each item can be written as a migration wants it, before anything is changed.

    too large      the item with its new attributes or key, or the key itself
    taken          another item has the new primary key, or gets it, too

The keys that items get are remembered only if two of them can be equal, which takes memory for each
item that moves. They cannot if the former key follows from the new one.
"""

from __future__ import annotations

import hashlib

from tablewright.encoding.items import item_size
from tablewright.limits import MAX_ITEM_SIZE
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.migration.rewriting import Rewriter
from tablewright.plan.migration.sweep import taken_key
from tablewright.plan.plan import Context, Steps
from tablewright.plan.reads.several import item_identity, read_batch
from tablewright.plan.writes.effect import oversized_key
from tablewright.plan.writes.guard import key_text
from tablewright.values import Item


class NewKeys:
    """Looks at the items of a table, page by page."""

    def __init__(self, table: TableMap, name: str, rewriter: Rewriter) -> None:
        self._table = table
        self._name = name
        self._remembers = not all(each.follows for each in rewriter.moves.values())
        #: The items of the present page that move: their old and new keys.
        self._moved: list[tuple[Item, Item]] = []
        #: Digests of the new keys of all items.
        self._seen: set[bytes] = set()

    def add(self, item: Item, entity: EntityMap, wanted: Item) -> list[str]:
        """Note an item and what it is to be; return why it cannot be written so."""
        old, new = self._table.key(item), self._table.key(wanted)
        shown = f"the item with {key_text(old)}"
        if old != new:
            if problem := oversized_key(entity, wanted):
                return [f"{shown} gets a key that is too large: {problem}"]
            self._moved.append((old, new))
        if wanted != item and (size := item_size(wanted)) > MAX_ITEM_SIZE:
            return [f"{shown} becomes too large: {size:,} bytes, of at most {MAX_ITEM_SIZE:,}"]
        return []

    def find_taken(self, context: Context) -> Steps[list[str]]:
        """Return the items of the page whose new keys are taken; continue with the next page."""
        moved, self._moved = self._moved, []
        keys = {item_identity(new): (self._name, new) for _, new in moved}
        found = yield from read_batch(context, list(keys.values()), consistent=True)
        taken = [pair for pair in moved if (self._name, item_identity(pair[1])) in found]
        if self._remembers:
            for pair in moved:
                digest = hashlib.blake2b(item_identity(pair[1]), digest_size=16).digest()
                if digest in self._seen:
                    taken.append(pair)
                self._seen.add(digest)
        return [taken_key(old, new) for old, new in taken]
