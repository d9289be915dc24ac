"""Comparison: checksums of tables and their indexes, and the events of a transfer.

A checksum is the sum of the 128-bit hashes of all items in a canonical encoding: canonical numbers,
sorted sets, sorted names. So the same items have the same checksum in any order, on any endpoint.

>>> one, two = {"k": {"N": "1.0"}}, {"k": {"S": "x"}, "tags": {"SS": ["b", "a"]}}
>>> same = [{"tags": {"SS": ["a", "b"]}, "k": {"S": "x"}}, {"k": {"N": "1"}}]
>>> Checksum.of([one, two]) == Checksum.of(same)
True
>>> print(Checksum.of([]))
00000000000000000000000000000000

An index is compared with what its table should give it: the items that have its keys, with the
attributes that it projects. So an index of the target is compared in a copy and in a load, and the
source is read only once.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TypeAlias

import msgspec
from msgspec import Struct

from tablewright.backoff import Backoff
from tablewright.encoding.items import normalise_item
from tablewright.engine.rows import ItemRow, project_row
from tablewright.engine.tables.table import StoredIndex, table_from_description
from tablewright.table_description import TableDescription
from tablewright.transfer.definition import require_description
from tablewright.transfer.rows import is_engine, read_index_pages, read_pages
from tablewright.transfer.sending import run_in_threads
from tablewright.transport import Transport
from tablewright.values import Item

BITS = 128

_encode = msgspec.json.Encoder(order="deterministic").encode

#: A global index of an endpoint is eventually consistent: it is read again for about 30 seconds.
LAGGING = Backoff(attempts=8, first=0.5, longest=16.0)


class Checksum(msgspec.Struct, frozen=True):
    """The number of items, and the sum of their hashes."""

    count: int = 0
    total: int = 0

    @classmethod
    def of(cls, items: Iterable[Item]) -> Checksum:
        """Return the checksum of items; raise `ValidationException` if an item is invalid."""
        return cls.of_hashes([hash_item(normalise_item(item)) for item in items])

    @classmethod
    def of_rows(cls, rows: Iterable[ItemRow]) -> Checksum:
        """Return the checksum of items in normalised form."""
        return cls.of_hashes([hash_item(row.decode()) for row in rows])

    @classmethod
    def of_hashes(cls, hashes: Sequence[int]) -> Checksum:
        """Return the checksum of items, given the hash of each."""
        return cls(len(hashes), sum(hashes) % (1 << BITS))

    def __add__(self, other: Checksum) -> Checksum:
        return Checksum(self.count + other.count, (self.total + other.total) % (1 << BITS))

    def __str__(self) -> str:
        return f"{self.total:0{BITS // 4}x}"


def hash_item(item: Item) -> int:
    """Return the hash of an item in normalised form."""
    digest = blake2b(_encode(item), digest_size=BITS // 8).digest()
    return int.from_bytes(digest, "big")


#: The checksums of two sides, by their names.
Sides: TypeAlias = dict[str, Checksum]


class Progress(Struct, frozen=True):
    """The number of items of a table that are copied, dumped, loaded or compared.

    `expected` is the item count of the source, or None if it is unknown. DynamoDB updates the count
    every six hours, so it may be outdated.
    """

    table: str
    phase: str
    items: int
    expected: int | None


class TableComparison(Struct, frozen=True):
    """The checksum of a table on each side of a transfer: {"source": …, "target": …}.

    `indexes` has that of each index of the target, and that of what it should have of the items of
    its table: {"by_day": {"items": …, "index": …}}.
    """

    table: str
    sides: Sides
    indexes: dict[str, Sides] = {}

    @property
    def is_equal(self) -> bool:
        return len(set(self.sides.values())) == 1 and not self.differing_indexes

    @property
    def differing_indexes(self) -> list[str]:
        return [name for name, sides in self.indexes.items() if len(set(sides.values())) > 1]


Event: TypeAlias = Progress | TableComparison


def checksum_table(
    transport: Transport, table: str, segments: int, phase: str
) -> Generator[Progress, None, Checksum]:
    """Return the checksum of a whole table; yield the progress."""
    found = require_description(transport, table)
    (total,) = yield from _checksum_items(transport, found, segments, (), phase)
    return total


def checksum_table_and_indexes(
    transport: Transport, table: str, segments: int, phase: str
) -> Generator[Progress, None, tuple[Checksum, dict[str, Sides]]]:
    """Return the checksum of a whole table, and those of each index and of what it should have."""
    found = require_description(transport, table)
    indexes = table_from_description(found).indexes
    total, *wanted = yield from _checksum_items(transport, found, segments, indexes, phase)
    sides: dict[str, Sides] = {}
    for index, expected in zip(indexes, wanted, strict=True):
        stored = yield from _checksum_index(transport, table, index, expected, phase)
        sides[index.name] = {"items": expected, "index": stored}
    return total, sides


def _checksum_items(
    transport: Transport,
    table: TableDescription,
    segments: int,
    indexes: Sequence[StoredIndex],
    phase: str,
) -> Generator[Progress, None, list[Checksum]]:
    """Return the checksum of all items, then that of what each index should have of them."""

    def worker(segment: int) -> Iterator[list[Checksum]]:
        for page in read_pages(transport, table.name, segment, segments):
            yield _checksum_page(page, indexes)

    totals = [Checksum()] * (1 + len(indexes))
    for found in run_in_threads([worker(segment) for segment in range(segments)]):
        totals = [total + part for total, part in zip(totals, found, strict=True)]
        yield Progress(table.name, phase, totals[0].count, table.state.items)
    return totals


def _checksum_page(page: list[ItemRow], indexes: Sequence[StoredIndex]) -> list[Checksum]:
    items = [row.decode() for row in page]
    hashes = [hash_item(item) for item in items]
    checksums = [Checksum.of_hashes(hashes)]
    for index in indexes:
        held = [at for at, item in enumerate(items) if index.encode_row_key(item, b"") is not None]
        if index.projected_names is None:
            checksums.append(Checksum.of_hashes([hashes[at] for at in held]))
        else:
            checksums.append(Checksum.of_rows(project_row(index, page[at]) for at in held))
    return checksums


def _checksum_index(
    transport: Transport, table: str, index: StoredIndex, wanted: Checksum, phase: str
) -> Generator[Progress, None, Checksum]:
    attempt = 0
    while True:
        attempt += 1
        total = Checksum()
        for page in read_index_pages(transport, table, index.name):
            total += Checksum.of_rows(page)
            yield Progress(f"{table}.{index.name}", phase, total.count, wanted.count)
        delay = None if is_engine(transport) else LAGGING.delay(attempt)
        if total == wanted or delay is None:
            return total
        time.sleep(delay)
