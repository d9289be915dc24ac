"""A tree: rows of key, size, body and checksum, ordered by key; one SQLite table each.

    Tree        keys are bytes, in any order; `WITHOUT ROWID` stores a row in the b-tree of the key:
                one descent per lookup
    LogTree     keys are numbers, which are appended; SQLite then fills pages without moving rows to
                their neighbours, and keeps rows of up to a page in one piece. An append changes
                fewer pages than in a `Tree`, and costs two thirds of the time.

The SQL statements are composed once, here, so that the statement caches of SQLite and apsw always
see the same text.

The checksum of a row is the tag of its tree and, in the lower 32 bits, Adler-32 of its body, with
the size of the row as its start value. The tag is the number of the tree plus one. So a row that is
found in another tree, because pages of the file were exchanged, is as damaged as one with other
bytes. Rows of formats before 4 have the tag 0.

The checksum detects accidental damage, not tampering, and is computed on every read. Measured with
a body of 700 bytes: Adler-32 takes 0.23 µs (2 % of a GetItem of 13 µs), CRC-32 0.31 µs; the tag
0.04 µs.
"""

from __future__ import annotations

from typing import Generic, TypeVar
from zlib import adler32

#: Add the tag of a tree to it: `row_checksum(body, size) + tree.tag`.
row_checksum = adler32

TAG_BITS = 32
#: The mask of a checksum without its tag.
UNTAGGED = (1 << TAG_BITS) - 1


def make_tag(number: int) -> int:
    """Return the tag of a tree, at its place in a checksum."""
    return (number + 1) << TAG_BITS


#: The type of the keys.
K = TypeVar("K", bytes, int)


class AnyTree(Generic[K]):
    """The name and SQL statements of one tree of a store. Equal names mean the same tree."""

    def __init__(self, kind: str, number: int, key_class: type[K]) -> None:
        # Table names cannot contain a dollar sign, so a view named after a table never has the
        # name of a tree.
        self.name = name = f"{kind}${number}"
        #: What the checksums of its rows contain besides their bytes.
        self.tag = make_tag(number)
        self.key_class: type[K] = key_class
        columns = "size INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL"
        if key_class is bytes:
            self.create_sql = f"CREATE TABLE {name} (key BLOB PRIMARY KEY, {columns}) WITHOUT ROWID"
        else:
            self.create_sql = f"CREATE TABLE {name} (key INTEGER PRIMARY KEY, {columns})"
        self.drop_sql = f"DROP TABLE {name}"
        self.get_sql = f"SELECT size, body, checksum FROM {name} WHERE key = ?"
        self.put_sql = f"REPLACE INTO {name} VALUES (?, ?, ?, ?)"
        self.delete_sql = f"DELETE FROM {name} WHERE key = ?"
        self.count_sql = f"SELECT count(*), coalesce(sum(size), 0) FROM {name}"
        self.count_rows_sql = (
            "SELECT count(*), coalesce(sum(size), 0), coalesce(max(key), x'') FROM "
            f"(SELECT key, size FROM {name} WHERE key > ? ORDER BY key LIMIT ?)"
        )
        #: The statements that read a key range (first key inclusive, end exclusive), by whether the
        #: range has an end, and whether it is read backwards.
        self.range_sql = {
            (bounded, backwards): (
                f"SELECT key, size, body, checksum FROM {name} WHERE key >= ?"
                + (" AND key < ?" if bounded else "")
                + (" ORDER BY key DESC" if backwards else " ORDER BY key")
            )
            for bounded in (False, True)
            for backwards in (False, True)
        }


class Tree(AnyTree[bytes]):
    """A tree whose keys are bytes.

    A retired tree is renamed and its rows are deleted step by step; a reader with an old catalog
    does not find it.
    """

    def __init__(self, number: int, *, retired: bool = False) -> None:
        super().__init__("retired" if retired else "tree", number, bytes)


class LogTree(AnyTree[int]):
    """A tree whose keys are numbers; rows are appended at the end and deleted at the start."""

    def __init__(self, number: int) -> None:
        super().__init__("tree", number, int)
