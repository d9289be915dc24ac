"""A tree: rows of key, size, body and checksum, ordered by key; one SQLite table each.

The statements are composed once, here, so that SQLite's and apsw's statement caches always see
the same text. `WITHOUT ROWID` keeps a row in the key's own b-tree: one descent per lookup.
"""

from __future__ import annotations


class Tree:
    """Names one tree of a store. Cheap to make; equal names are the same tree.

    A retired tree keeps its rows under another name: readers that do not know yet that it is gone
    do not find it, while its rows are deleted step by step.
    """

    __slots__ = (
        "_ranges",
        "count_sql",
        "create_sql",
        "delete_sql",
        "drop_sql",
        "get_sql",
        "name",
        "put_sql",
    )

    def __init__(self, number: int, *, retired: bool = False) -> None:
        # No table's name has a dollar sign, so a view named after a table never meets a tree.
        name = self.name = f"{'retired' if retired else 'tree'}${number}"
        self.create_sql = (
            f"CREATE TABLE {name} (key BLOB PRIMARY KEY, size INTEGER NOT NULL, "
            "body BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID"
        )
        self.drop_sql = f"DROP TABLE {name}"
        self.get_sql = f"SELECT size, body, checksum FROM {name} WHERE key = ?"
        self.put_sql = f"REPLACE INTO {name} VALUES (?, ?, ?, ?)"
        self.delete_sql = f"DELETE FROM {name} WHERE key = ?"
        self.count_sql = f"SELECT count(*), coalesce(sum(size), 0) FROM {name}"
        self._ranges = {
            (bounded, backwards): (
                f"SELECT key, size, body, checksum FROM {name} WHERE key >= ?"
                + (" AND key < ?" if bounded else "")
                + (" ORDER BY key DESC" if backwards else " ORDER BY key")
            )
            for bounded in (False, True)
            for backwards in (False, True)
        }

    def range_sql(self, *, bounded: bool, backwards: bool) -> str:
        """The statement that walks the keys from a first one up to, but without, a last one."""
        return self._ranges[bounded, backwards]
