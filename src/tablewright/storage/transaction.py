"""What can be done with trees: read them in a snapshot, change them in a transaction.

A row is `(key, size, body)`; `size` is whatever the writer wants to know of the body without
reading it. Neither class opens, commits or locks anything: `store` does.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from typing import TypeAlias

import apsw

from tablewright.errors import TablewrightError
from tablewright.storage.tree import Tree

Row: TypeAlias = tuple[bytes, int, bytes]


class MissingTree(TablewrightError):
    """The tree is not in the file: another process has dropped it."""


class Snapshot:
    """Reads. One statement sees one state of the file; `frozen()` makes several see one."""

    __slots__ = ("_connection", "_execute", "_look_up")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._look_up = (
            connection.cursor().execute
        )  # a cursor of its own saves making one each time

    def get(self, tree: Tree, key: bytes) -> tuple[int, bytes] | None:
        """Size and body of the row under `key`."""
        found = None
        try:
            # To its end, though there is one row at most: an open statement holds its snapshot.
            for found in self._look_up(tree.get, (key,)):  # noqa: B007  (it is used below)
                pass
        except apsw.SQLError as error:
            raise _translated(error) from error
        return found

    def walk(
        self, tree: Tree, first: bytes, end: bytes | None, *, backwards: bool = False
    ) -> Generator[Row, None, None]:
        """The rows from `first` up to, but without, `end` (None: to the last), in key order.

        Close it if it is not walked to its end: an open walk holds its snapshot.
        """
        bounds = (first,) if end is None else (first, end)
        try:
            cursor = self._execute(tree.range(bounded=end is not None, backwards=backwards), bounds)
        except apsw.SQLError as error:
            raise _translated(error) from error
        try:
            yield from cursor
        finally:
            cursor.close()

    def count(self, tree: Tree) -> tuple[int, int]:
        """How many rows there are, and the sum of their sizes. Reads the whole tree."""
        try:
            for rows, size in self._execute(tree.count):
                return rows, size
        except apsw.SQLError as error:
            raise _translated(error) from error
        raise AssertionError("an aggregate gives one row")

    def file_problems(self) -> list[str]:
        """What SQLite itself finds wrong with the file; usually nothing."""
        try:
            found = [str(message) for (message,) in self._execute("PRAGMA integrity_check")]
        except apsw.CorruptError as error:
            return [f"the file is damaged: {error}"]
        return [] if found == ["ok"] else found

    def frozen(self) -> Frozen:
        """Let every read in a `with` block see one state of the file."""
        return Frozen(self._connection)


class Frozen:
    """A transaction around reads, unless there is one already."""

    __slots__ = ("_connection", "_nested")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._nested = connection.in_transaction

    def __enter__(self) -> None:
        if not self._nested:
            self._connection.execute("BEGIN")

    def __exit__(self, *raised: object) -> None:
        if not self._nested and self._connection.in_transaction:
            self._connection.execute("COMMIT")


class Transaction(Snapshot):
    """Changes. They are seen by later reads of the same transaction, by others once committed."""

    __slots__ = ("rollbacks", "version")

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        #: Another than before, if somebody else has committed since the last transaction.
        self.version = 0
        #: How often changes were taken back. Whoever remembers what it changed should look.
        self.rollbacks = 0

    def begin(self) -> None:
        """Take the write lock, so that no later step can lack it."""
        self._execute("BEGIN IMMEDIATE")
        for (version,) in self._execute("PRAGMA data_version"):
            self.version = int(version)

    def commit(self) -> None:
        self._execute("COMMIT")

    def roll_back(self) -> None:
        self.rollbacks += 1
        if self._connection.in_transaction:
            self._execute("ROLLBACK")

    def put(self, tree: Tree, key: bytes, size: int, body: bytes) -> None:
        self._execute(tree.put, (key, size, body))

    def delete(self, tree: Tree, key: bytes) -> None:
        self._execute(tree.delete, (key,))

    def create_tree(self, tree: Tree, *, shown_as: str | None = None) -> None:
        """Add a tree; `shown_as` names a view that shows its bodies to SQLite's own tools."""
        self._execute(tree.create)
        if shown_as is not None:
            # SQLite's names ignore case and some are reserved: then the tree's number helps.
            for name in (shown_as, f"{shown_as}_{tree.name}"):
                with suppress(apsw.SQLError):
                    self._execute(f"CREATE VIEW {_quoted(name)} AS {_VIEW}{tree.name}")
                    break

    def drop_tree(self, tree: Tree) -> None:
        self._execute(tree.drop)
        self._drop_views_of(tree)

    def rename_tree(self, tree: Tree, new: Tree) -> None:
        """Give a tree another name, which costs the same for any number of rows."""
        self._drop_views_of(tree)
        # Else SQLite would refuse because of any view, also one of another tree, that is broken.
        self._execute("PRAGMA legacy_alter_table = ON")
        self._execute(f"ALTER TABLE {tree.name} RENAME TO {new.name}")

    def _drop_views_of(self, tree: Tree) -> None:
        shown = "SELECT name FROM sqlite_schema WHERE type = 'view' AND substr(sql, -?) = ?"
        definition = _VIEW + tree.name
        for (name,) in self._execute(shown, (len(definition), definition)).fetchall():
            self._execute(f"DROP VIEW {_quoted(str(name))}")


_VIEW = "SELECT CAST(body AS TEXT) AS item, size FROM "


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _translated(error: apsw.SQLError) -> Exception:
    return MissingTree(str(error)) if "no such table" in str(error) else error
