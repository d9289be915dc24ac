"""Sampling: read many items of a table, and keep a few that represent them.

The table is described with DescribeTable and DescribeTimeToLive; its items are read with Scan, or
from the rows of an engine in this process. Nothing is written. Pages of several segments are read
in turn, so that a part of a large table has items of many partitions.

    up to KEPT items    all of them, in the order of the Scan
    more                a uniform sample of KEPT, and FEWEST items of every form of key

The sample takes as much memory for a million items as for ten thousand. The same items give the
same sample.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice

from tablewright.errors import TableNotFound
from tablewright.infer.sample import Sample
from tablewright.mapping.item_kind import is_record
from tablewright.table_description import TableDescription
from tablewright.transfer.definition import read_definition, require_description
from tablewright.transfer.endpoints import select_tables
from tablewright.transfer.rows import is_engine, read_pages, scan_pages
from tablewright.transport import Transport
from tablewright.values import Item

#: The number of items that are read, unless the caller decides it.
SAMPLE_SIZE = 10_000
#: The number of items that a design is inferred from.
KEPT = 3000
#: The items that are kept of each form, so that a rare entity is not lost.
FEWEST = 12
#: The most forms that are told apart: ids without a literal have any number of beginnings.
_MOST_FORMS = 100
SEGMENTS = 4
#: The items between two reports of the progress.
_STEP = 10_000
_BEGINNING = re.compile(r"[^\W\d]*\W?").match


class Reservoir:
    """Keeps the items of a table that represent those that were added."""

    def __init__(self, table: TableDescription) -> None:
        self.table = table
        self.count = 0
        self._random = random.Random(0)
        self._kept: list[tuple[int, Item]] = []
        self._of_form: dict[object, list[tuple[int, Item]]] = {}

    def add(self, item: Item) -> None:
        """Keep an item if it is drawn, or if few items of its form were kept."""
        number = self.count
        self.count += 1
        if number < KEPT:
            self._kept.append((number, item))
        else:
            position = int(self._random.random() * self.count)
            if position < KEPT:
                self._kept[position] = (number, item)
        form = self._form(item)
        rows = self._of_form.get(form)
        if rows is None:
            if len(self._of_form) < _MOST_FORMS:
                self._of_form[form] = [(number, item)]
        elif len(rows) < FEWEST:
            rows.append((number, item))

    def sample(self) -> Sample:
        """Return the items that were kept, in the order in which they were added."""
        found = dict(self._kept)
        if self.count > KEPT:
            for rows in self._of_form.values():
                found |= dict(rows)
        items = tuple(found[number] for number in sorted(found))
        return Sample(self.table, items, read=self.count)

    def _form(self, item: Item) -> object:
        """Return how the keys of an item begin."""
        found = []
        for name in self.table.keys.names:
            text = item[name].get("S")
            beginning = _BEGINNING(text) if text else None
            found.append(beginning[0] if beginning else "")
        return tuple(found)


class Sampling:
    """Reads a sample of a table; raises TableNotFound if the table is missing or empty."""

    def __init__(
        self,
        transport: Transport,
        table: str,
        where: str,
        size: int = SAMPLE_SIZE,
        segments: int = SEGMENTS,
    ) -> None:
        select_tables(transport, where, table)
        described = require_description(transport, table)
        self._reservoir = Reservoir(read_definition(transport, described))
        self._name = table
        self._transport = transport
        self._where = where
        self._size = size
        self._segments = segments
        #: The number of items to read, as far as the table says.
        self.expected = min(size, described.state.items or size)

    def read(self) -> Iterator[int]:
        """Read the items; yield how many were read so far."""
        reservoir = self._reservoir
        names = reservoir.table.keys.names
        for item in islice(self._items(), self._size):
            if is_record([item[name] for name in names]):
                continue
            reservoir.add(item)
            if reservoir.count % _STEP == 0:
                yield reservoir.count
        yield reservoir.count

    def sample(self) -> Sample:
        """Return the items that were kept."""
        if not self._reservoir.count:
            message = f"the table {self._name!r} has no items to infer a design from"
            raise TableNotFound(f"{self._where}: {message}")
        return self._reservoir.sample()

    def _items(self) -> Iterator[Item]:
        waiting = [self._pages(segment) for segment in range(self._segments)]
        while waiting:
            following = []
            for pages in waiting:
                page = next(pages, None)
                if page is not None:
                    yield from page
                    following.append(pages)
            waiting = following

    def _pages(self, segment: int) -> Iterator[Iterator[Item]]:
        transport = self._transport
        if is_engine(transport) and self._size > KEPT:
            for rows in read_pages(transport, self._name, segment, self._segments):
                yield (row.decode() for row in rows)
            return
        limit = -(-self._size // self._segments)
        for page in scan_pages(transport, self._name, segment, self._segments, limit=limit):
            yield iter(page)


def read_sample(
    transport: Transport, table: str, where: str, size: int = SAMPLE_SIZE, segments: int = SEGMENTS
) -> Sample:
    """Return a sample of up to `size` items of a table; raise TableNotFound if it has none."""
    sampling = Sampling(transport, table, where, size, segments)
    for _ in sampling.read():
        pass
    return sampling.sample()
