"""Snapshots and transactions: read and change trees.

A row is `(key, size, body)`; `size` is a number that the writer chooses, so that it is known
without decoding the body. Each row is stored with a checksum of its tree, size and body. Every read
verifies it, so damaged bytes raise an error and are never returned. (The checksum does not cover
the key: SQLite compares keys, and the engine's integrity check compares each key with its item.
This saves 0.1 of 0.4 µs.) The rows of a renamed tree keep their checksums, as do those of earlier
formats: `tags$` lists which other tags the rows of a tree may have.

Neither class opens connections or takes locks: `store` and `commit` do.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing, suppress
from typing import Any, TypeAlias
from weakref import WeakSet

import apsw

from tablewright.errors import StoreFailed, TablewrightError
from tablewright.storage.log import note_log
from tablewright.storage.sandbox import OpenSandbox
from tablewright.storage.tree import TAG_BITS, UNTAGGED, AnyTree, K, Tree, row_checksum

Row: TypeAlias = tuple[bytes, int, bytes]
LogRow: TypeAlias = tuple[int, int, bytes]


class MissingTree(TablewrightError):
    """The tree is not in the file, for example because another process dropped it."""


class DamagedRow(StoreFailed):
    """The bytes of a row differ from those that were written."""

    def __init__(self, tree: AnyTree[Any], key: object) -> None:
        # Typed as object: damage can change the type of a key.
        self.key = key if isinstance(key, bytes) else b""
        shown = key if isinstance(key, int) else self.key.hex()
        super().__init__(f"{tree.name}: the row {shown} is damaged: its checksum is wrong")
        self.tree = tree


class Snapshot:
    """Read access. One statement sees one state of the file; in a `read_transaction()` all do."""

    __slots__ = (
        "_connection",
        "_execute",
        "_execute_row",
        "_other_tags",
        "catalog_version",
        "in_use",
    )

    def __init__(self, connection: apsw.Connection) -> None:
        #: A read has started and not returned: it is running, or it raised.
        self.in_use = False
        self._connection = connection
        self._execute = connection.execute
        # One cursor for all lookups and changes of rows is faster than a new one each time: 0.8 µs.
        self._execute_row = connection.cursor().execute
        #: The rows of `tags$`, as they were read last.
        self._other_tags: frozenset[tuple[str, int]] = frozenset()
        #: The `read_version` at which a reader has last looked for changes of the catalog.
        self.catalog_version = -1

    def get(self, tree: AnyTree[K], key: K) -> tuple[int, bytes] | None:
        """Return size and body of the row with this key, or None if there is no such row."""
        found = None
        try:
            # Exhaust the cursor, although there is at most one row: an open statement keeps its
            # read transaction open.
            for found in self._execute_row(tree.get_sql, (key,)):  # noqa: B007  (it is used below)
                pass
        except apsw.SQLError as error:
            raise _translate_error(error) from error
        except UnicodeDecodeError as error:  # damage turned a blob into text
            raise DamagedRow(tree, key) from error
        if found is None:
            return None
        size, body, checksum = found
        try:
            if row_checksum(body, size) + tree.tag == checksum:
                return size, body
        except TypeError:  # damage can change the type of a value
            pass
        if self._is_intact(tree, size, body, checksum):
            return size, body
        raise DamagedRow(tree, key)

    def walk(
        self, tree: AnyTree[K], first: K, end: K | None, *, backwards: bool = False
    ) -> Generator[tuple[K, int, bytes], None, None]:
        """Yield the rows from `first` to `end` (exclusive; None: to the last row), in key order.

        Close the generator if it is not exhausted: until then its read transaction stays open.
        """
        cursor = self._range(tree, first, end, backwards)
        key, key_class, tag = first, tree.key_class, tree.tag
        try:
            for key, size, body, checksum in cursor:
                if (
                    row_checksum(body, size) + tag != checksum
                    and not self._is_intact(tree, size, body, checksum)
                ) or key.__class__ is not key_class:
                    raise DamagedRow(tree, key)
                yield key, size, body
        except TypeError as error:  # damage can change the type of a value
            raise DamagedRow(tree, key) from error
        except UnicodeDecodeError as error:
            raise _unreadable_row(tree, key) from error
        finally:
            cursor.close()

    def inspect(
        self, tree: AnyTree[K], first: K, end: K | None, *, backwards: bool = False
    ) -> Generator[tuple[K, int, bytes, bool], None, None]:
        """Yield the rows as `walk` does, each with whether it is intact, and without raising."""
        key = first
        with closing(self._range(tree, first, end, backwards)) as cursor:
            try:
                for key, size, body, checksum in cursor:
                    if key.__class__ is not tree.key_class:
                        raise _unreadable_row(tree, key)
                    yield key, size, body, self._is_intact(tree, size, body, checksum)
            except UnicodeDecodeError as error:
                raise _unreadable_row(tree, key) from error

    def _range(self, tree: AnyTree[Any], first: Any, end: Any, backwards: bool) -> apsw.Cursor:
        bounds = (first,) if end is None else (first, end)
        try:
            return self._open_walk(tree.range_sql[end is not None, backwards], bounds)
        except apsw.SQLError as error:
            raise _translate_error(error) from error

    def _open_walk(self, sql: str, bounds: tuple[Any, ...]) -> apsw.Cursor:
        return self._execute(sql, bounds)

    def _is_intact(self, tree: AnyTree[Any], size: int, body: bytes, checksum: int) -> bool:
        """Return whether a row has its checksum, with the tag of its tree or one of `tags$`.

        `get` and `walk` compare the usual checksum themselves: a call takes longer.
        """
        try:
            if row_checksum(body, size) != checksum & UNTAGGED:
                return False
        except TypeError:  # damage can change the type of a value
            return False
        tag = checksum >> TAG_BITS
        if tag == tree.tag >> TAG_BITS:
            return True
        if (tree.name, tag) not in self._other_tags:
            try:
                self._other_tags = frozenset(self._execute("SELECT tree, tag FROM tags$"))
            except (apsw.SQLError, apsw.CorruptError):
                return tag == 0  # a file of an earlier format, which `repair` does not upgrade
        return (tree.name, tag) in self._other_tags

    def count(self, tree: AnyTree[Any]) -> tuple[int, int]:
        """Return the number of rows and the sum of their sizes. Reads the whole tree."""
        rows, size = self._fetch_row(tree.count_sql)
        return rows, size

    def count_rows(self, tree: Tree, after: bytes, limit: int) -> tuple[int, int, bytes]:
        """Count the first `limit` rows after a key; return rows, bytes and the last key.

        The key is `b""` if there are no rows.
        """
        rows, size, last = self._fetch_row(tree.count_rows_sql, (after, limit))
        return rows, size, last

    def _fetch_row(self, sql: str, values: tuple[bytes | int, ...] = ()) -> tuple[Any, ...]:
        """Return the row of an aggregate query."""
        try:
            rows: list[tuple[Any, ...]] = list(self._execute(sql, values))
        except apsw.SQLError as error:
            raise _translate_error(error) from error
        return rows[0]

    def file_problems(self, tree: Tree | None = None) -> list[str]:
        """Return the problems that SQLite's integrity check finds in the file, or in one tree."""
        check = "PRAGMA integrity_check" + ("" if tree is None else f"('{tree.name}')")
        try:
            found = [str(message) for (message,) in self._execute(check)]
        except apsw.CorruptError as error:
            return [f"the file is damaged: {error}"]
        return [] if found == ["ok"] else found

    @property
    def read_version(self) -> int:
        """The version of the file that the last read saw; every commit changes it."""
        return self._connection.data_version()

    def has_open_transaction(self) -> bool:
        """Return whether a transaction or statement is open: later reads see its old state."""
        # A transaction that has not read yet counts too: its first read would fix its state.
        connection = self._connection
        return connection.in_transaction or connection.txn_state() != apsw.SQLITE_TXN_NONE

    def release_memory(self) -> None:
        """Free the cache of the connection."""
        self._connection.release_memory()

    def close(self) -> None:
        """Close the connection and all its open statements."""
        self._connection.close()

    def read_transaction(self) -> ReadTransaction:
        """Return a context manager in which all reads see one state of the file."""
        return ReadTransaction(self._connection)


class ReadTransaction:
    """A context manager: a transaction around reads, unless one is open already."""

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


class WriteTransaction(Snapshot):
    """Write access. Other connections see the changes after the commit.

    In a sandbox there is an outer transaction that is never committed, and a transaction of this
    class is a savepoint in it. Nested sandboxes are savepoints, too.
    """

    __slots__ = ("_executemany", "_walks", "rollbacks", "sandboxes", "undone", "version")

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self._walks: WeakSet[apsw.Cursor] = WeakSet()
        self._executemany = connection.executemany
        #: The open sandboxes, each inside the one before.
        self.sandboxes: list[OpenSandbox] = []
        #: The number of times that sandboxes were undone.
        self.undone = 0
        #: Changes if another connection has committed since the last transaction.
        self.version = 0
        #: The number of rollbacks. A caller that caches its own changes must compare it.
        self.rollbacks = 0

    def begin(self) -> None:
        """Begin a transaction and take the write lock, so that no later statement waits for it."""
        if self.sandboxes:
            self._close_statements()
            if not self._connection.in_transaction:
                # SQLite ends the transaction itself after some errors. A savepoint would begin a
                # new one, whose changes would stay.
                raise StoreFailed(
                    "the sandbox was lost: its transaction ended after an error such as a full "
                    "disk; leave the sandbox before the next write"
                )
            self._execute("SAVEPOINT step")
            return
        if self.has_open_transaction():  # left by an interrupted read of an in-memory store
            self.roll_back()
        self._begin()

    def _begin(self) -> None:
        self._execute("BEGIN IMMEDIATE")
        for (version,) in self._execute("PRAGMA data_version"):
            self.version = int(version)

    def commit(self, committed: list[object]) -> None:
        """Commit and append to `committed`: either both happen or neither.

        This is one call of a C function that calls only C functions, so no signal handler can run
        between the COMMIT and the append.
        """
        committed.extend(map(self._execute, _RELEASE if self.sandboxes else _COMMIT))

    def roll_back(self) -> None:
        """Undo all changes since `begin`. Safe to call again."""
        self.rollbacks += 1  # first: an interruption can count a rollback twice, but never miss one
        if self.sandboxes:
            self._close_statements()
            self._roll_back_to("step")
            return
        if self._connection.in_transaction:
            self._execute("ROLLBACK")
        if self.has_open_transaction():  # an interrupted read has left its statement open
            self._close_statements()

    def begin_sandbox(self, sandbox: OpenSandbox) -> None:
        """Begin a transaction that is rolled back in the end, or a savepoint in it."""
        if self.sandboxes:
            self.sandboxes.append(sandbox)
            self._execute(f"SAVEPOINT {sandbox.savepoint}")
        else:
            if self.has_open_transaction():
                self.roll_back()
            self.sandboxes.append(sandbox)
            self._begin()

    def end_sandboxes(self) -> None:
        """Undo everything since the first sandbox that is over began, with those inside it.

        The time depends on the changed pages, not on the size of the trees. Safe to call again.
        """
        for position, sandbox in enumerate(self.sandboxes):
            if sandbox.is_over:
                self._undo(position)
                sandbox.restore(self)
                del self.sandboxes[position:]
                return

    def _undo(self, position: int) -> None:
        self.rollbacks += 1
        self.undone += 1
        self._close_statements()
        if self._connection.in_transaction:
            if position == 0:
                self._execute("ROLLBACK")
            else:
                self._roll_back_to(self.sandboxes[position].savepoint)

    def _roll_back_to(self, savepoint: str) -> None:
        with suppress(apsw.SQLError):  # no such savepoint: this was done before an interruption
            self._execute(f"ROLLBACK TO {savepoint}")
            self._execute(f"RELEASE {savepoint}")

    def _close_statements(self) -> None:
        """Close the statements that interrupted reads have left open."""
        for cursor in list(self._walks):
            cursor.close()
        # Replacing the cursor closes the previous one.
        self._execute_row = self._connection.cursor().execute

    def _open_walk(self, sql: str, bounds: tuple[Any, ...]) -> apsw.Cursor:
        cursor = self._connection.cursor()
        self._walks.add(cursor)  # first: an interruption must not leave an unknown statement
        return cursor.execute(sql, bounds)

    def put(self, tree: AnyTree[K], key: K, size: int, body: bytes) -> None:
        self._execute_row(tree.put_sql, (key, size, body, row_checksum(body, size) + tree.tag))

    def put_all(self, tree: Tree, rows: Iterable[Row]) -> None:
        """Put rows, best in the order of their keys: two thirds of the time of single calls."""
        tag = tree.tag
        self._executemany(
            tree.put_sql,
            [(key, size, body, row_checksum(body, size) + tag) for key, size, body in rows],
        )

    def delete(self, tree: AnyTree[K], key: K) -> None:
        self._execute_row(tree.delete_sql, (key,))

    def create_tree(self, tree: AnyTree[Any], *, view_name: str | None = None) -> None:
        """Create a tree; `view_name` names a view that shows its bodies as text in SQLite tools."""
        self._execute(tree.create_sql)
        if view_name is not None:
            self.create_view(tree, view_name)

    def create_view(self, tree: AnyTree[Any], view_name: str) -> None:
        """Create a view that shows the bodies of a tree as text in SQLite tools."""
        # SQLite ignores the case of names and reserves some; then a name with the tree's number is
        # used.
        for name in (view_name, f"{view_name}_{tree.name}"):
            with suppress(apsw.SQLError):
                self._execute(f"CREATE VIEW {_quote(name)} AS {_VIEW}{tree.name}")
                break

    def copy_rows(self, tree: Tree, copy: Tree) -> None:
        """Add all rows of a tree to an empty tree, without reading them into Python.

        A damaged row stays damaged: its checksum is wrong in the copy, too.
        """
        self._execute(
            f"INSERT INTO {copy.name} SELECT key, size, body, CASE WHEN checksum >> {TAG_BITS} IN "
            "(SELECT ? UNION ALL SELECT tag FROM tags$ WHERE tree = ?) "
            f"THEN (checksum & {UNTAGGED}) + {copy.tag} ELSE checksum END FROM {tree.name}",
            (tree.tag >> TAG_BITS, tree.name),
        )

    def note_log(self, salts: bytes, *, again: bool) -> None:
        """Note a log in the file: see `log.note_log`."""
        note_log(self._execute, salts, again=again)

    @property
    def changed_rows(self) -> int:
        """The number of rows that this connection has changed."""
        return self._connection.total_changes()

    def drop_tree(self, tree: AnyTree[Any]) -> None:
        self._execute(tree.drop_sql)
        self._execute("DELETE FROM tags$ WHERE tree = ?", (tree.name,))
        self._drop_views_of(tree)

    def rename_tree(self, tree: Tree, new: Tree) -> None:
        """Rename a tree; the cost does not depend on the number of rows."""
        self._drop_views_of(tree)
        # Otherwise SQLite refuses if any view of the file is broken, even one of another tree.
        self._execute("PRAGMA legacy_alter_table = ON")
        self._execute(f"ALTER TABLE {tree.name} RENAME TO {new.name}")
        self._execute("UPDATE tags$ SET tree = ? WHERE tree = ?", (new.name, tree.name))
        if tree.tag != new.tag:
            self._execute("INSERT INTO tags$ VALUES (?, ?)", (new.name, tree.tag >> TAG_BITS))

    def _drop_views_of(self, tree: AnyTree[Any]) -> None:
        shown = "SELECT name FROM sqlite_schema WHERE type = 'view' AND substr(sql, -?) = ?"
        definition = _VIEW + tree.name
        for (name,) in self._execute(shown, (len(definition), definition)).fetchall():
            self._execute(f"DROP VIEW {_quote(str(name))}")


_COMMIT = ("COMMIT",)
_RELEASE = ("RELEASE step",)
_VIEW = "SELECT CAST(body AS TEXT) AS item, size FROM "


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _unreadable_row(tree: AnyTree[Any], key: object) -> StoreFailed:
    """Return the error for a row with an unreadable key; `key` is its own or the previous one."""
    return StoreFailed(f"{tree.name}: a row at or after {key!r} is damaged and cannot be read")


def _translate_error(error: apsw.SQLError) -> Exception:
    return MissingTree(str(error)) if "no such table" in str(error) else error
