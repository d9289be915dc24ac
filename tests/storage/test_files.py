"""The file: refused if it is not ours, whole after a close, and open to SQLite's own tools."""

from __future__ import annotations

import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import settings

from tablewright.errors import CannotOpen, StoreClosed
from tablewright.storage import Store, Tree, WriteTransaction
from tablewright.storage.file import APPLICATION_ID, FORMAT, _claim_or_upgrade, _read_format
from tests.examples import FULL
from tests.storage.conftest import TREE


def sqlite_file(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def foreign_sqlite(path: Path) -> None:
    sqlite_file(path, "CREATE TABLE notes (text)", "INSERT INTO notes VALUES ('keep me')")


def foreign_marked(path: Path) -> None:
    sqlite_file(path, "PRAGMA application_id = 42", "CREATE TABLE notes (text)")


def later_format(path: Path) -> None:
    sqlite_file(
        path,
        f"PRAGMA application_id = {APPLICATION_ID}",
        f"PRAGMA user_version = {FORMAT + 1}",
        "CREATE TABLE t (x)",
    )


def emptied_sqlite(path: Path) -> None:
    sqlite_file(path, "CREATE TABLE notes (text)", "DROP TABLE notes")


def text(path: Path) -> None:
    path.write_text("These are my notes, and no database at all.\n" * 40)


def short_text(path: Path) -> None:
    path.write_text("short")


def broken_sqlite(path: Path) -> None:
    foreign_sqlite(path)
    path.write_bytes(path.read_bytes()[:700])


FOREIGN = [
    broken_sqlite,
    foreign_sqlite,
    foreign_marked,
    later_format,
    emptied_sqlite,
    text,
    short_text,
]


@pytest.mark.parametrize("make", FOREIGN)
def test_a_file_that_is_not_ours_is_refused_and_left_as_it_was(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    make(path)
    before = path.read_bytes()
    with pytest.raises(CannotOpen):
        Store(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["theirs"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (foreign_sqlite, "an SQLite file, but not a Tablewright database; name a new file, or one"),
        (text, "file is not a database; name a new file, or one that Tablewright created"),
        (broken_sqlite, "the file is damaged .*; `tablewright repair` saves what is readable"),
        (Path.mkdir, "is a directory; name a file in it, such as .*theirs/tablewright.db"),
    ],
)
def test_the_refusal_names_the_file_and_the_reason(make: Any, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    make(path)
    with pytest.raises(CannotOpen, match=f"theirs: {reason}"):
        Store(path)


def test_a_path_into_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotOpen, match=r"rows\.db: the directory .*/nowhere does not exist"):
        Store(tmp_path / "nowhere" / "rows.db")


def test_an_empty_file_becomes_ours(path: Path) -> None:
    path.touch()
    with closing(Store(path)) as store:
        store.write(lambda tx: tx.create_tree(TREE))
    with closing(Store(path)) as store:
        assert store.read(lambda snapshot: snapshot.count(TREE)) == (0, 0)


def marked_without_log(path: Path) -> None:
    sqlite_file(
        path, f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {FORMAT}"
    )


def log_without_mark(path: Path) -> None:
    sqlite_file(path, "PRAGMA journal_mode = wal")


@pytest.mark.parametrize("make", [marked_without_log, log_without_mark])
def test_what_a_file_lacks_of_being_ours_is_made_up_for(make: Any, path: Path) -> None:
    make(path)
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_threads_that_open_one_new_file_at_once_all_find_it_ours(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)

    def open_and_write(path: Path, number: int) -> list[int]:
        barrier.wait(30)
        with closing(Store(path)) as store:
            store.write(lambda tx: tx.create_tree(Tree(number)))
            return store.read(lambda snapshot: list(snapshot.count(Tree(number))))

    with ThreadPoolExecutor(8) as pool:
        for turn in range(40 if settings().max_examples >= FULL else 12):
            path = tmp_path / f"{turn}.db"
            assert list(pool.map(open_and_write, [path] * 8, range(8))) == [[0, 0]] * 8


def test_of_two_that_find_a_file_empty_the_second_refuses_what_the_first_made(path: Path) -> None:
    """A foreign program fills the file after we have looked, and before we have its lock."""
    with closing(apsw.Connection(str(path))) as ours:
        assert _read_format(ours, "rows.db") == 0
        with closing(apsw.Connection(str(path))) as theirs:
            theirs.execute("CREATE TABLE notes (text)")
        before = path.read_bytes()
        with pytest.raises(CannotOpen, match="not a Tablewright database"):
            _claim_or_upgrade(ours, "rows.db")
    assert path.read_bytes() == before


def test_a_new_file_is_marked_as_ours_at_once(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        assert connection.execute("PRAGMA page_size").fetchone() == (8192,)


@pytest.mark.parametrize("durability", ["FULL", "off", "", None])
def test_an_unknown_durability_is_refused_and_makes_no_file(path: Path, durability: Any) -> None:
    with pytest.raises(
        ValueError, match=f"durability must be 'full' or 'normal', not {durability!r}"
    ):
        Store(path, durability=durability)
    assert not path.exists()


@pytest.mark.parametrize(("durability", "synchronous"), [("full", 2), ("normal", 1)])
def test_durability_is_how_often_sqlite_syncs(
    path: Path, durability: Any, synchronous: int
) -> None:
    with closing(Store(path, durability=durability)) as store:
        assert store._writer.pragma("synchronous") == synchronous


def test_rows_are_there_when_the_file_is_opened_again(store: Store, path: Path) -> None:
    store.write(lambda tx: tx.put(TREE, b"k", 3, b"body"))
    store.close()
    with closing(Store(path)) as again:
        assert again.read(lambda snapshot: snapshot.get(TREE, b"k")) == (3, b"body")


def test_close_folds_the_log_into_the_file(store: Store, path: Path) -> None:
    store.write(lambda tx: tx.put(TREE, b"k", 3, b"body"))
    store.read(lambda snapshot: snapshot.get(TREE, b"k"))
    assert Path(f"{path}-wal").stat().st_size > 0
    store.close()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
        assert connection.execute(f'SELECT key, size, body FROM "{TREE.name}"').fetchall() == [
            (b"k", 3, b"body")
        ]


def test_close_can_be_called_twice(store: Store) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        store.read(lambda snapshot: None)


# Python's sqlite3 is another copy of SQLite than apsw's, and two copies in one process do not see
# each other's locks: so the store is closed before its file is looked at.


def shown(path: Path, view: str) -> list[tuple[Any, int]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f'SELECT item, size FROM "{view}"').fetchall()


def views(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name"
        return [name for (name,) in connection.execute(query)]


def test_a_view_shows_bodies_as_text(store: Store, path: Path) -> None:
    def step(tx: WriteTransaction) -> None:
        tx.create_tree(Tree(7), view_name="shop")
        tx.put(Tree(7), b"k", 12, '{"name":{"S":"é"}}'.encode())

    store.write(step)
    store.close()
    ((item, size),) = shown(path, "shop")
    assert (json.loads(item), size) == ({"name": {"S": "é"}}, 12)


@pytest.mark.parametrize("name", ["a.b-c", 'say "hi"', "select", "sqlite_x", Tree(8).name, "é"])
def test_any_name_can_be_shown(store: Store, path: Path, name: str) -> None:
    store.write(lambda tx: tx.create_tree(Tree(7), view_name=name))
    store.close()
    assert [view.startswith(name) for view in views(path)] in ([True], [])


def test_names_that_differ_in_case_only_get_a_view_each(store: Store, path: Path) -> None:
    store.write(lambda tx: tx.create_tree(Tree(7), view_name="Shop"))
    store.write(lambda tx: tx.create_tree(Tree(8), view_name="shop"))
    store.write(lambda tx: tx.put(Tree(8), b"k", 1, b"eight"))
    store.close()
    assert views(path) == ["Shop", f"shop_{Tree(8).name}"]
    assert shown(path, "Shop") == []
    assert shown(path, f"shop_{Tree(8).name}") == [("eight", 1)]


def test_a_dropped_tree_takes_its_view_with_it_and_no_other(store: Store, path: Path) -> None:
    def step(tx: WriteTransaction) -> None:
        for number in (10, 100, 7):
            tx.create_tree(Tree(number), view_name=f"view_{number}")
        tx.drop_tree(Tree(10))

    store.write(step)
    store.close()
    assert views(path) == ["view_100", "view_7"]


def test_a_name_can_be_shown_again_after_a_drop(store: Store, path: Path) -> None:
    store.write(lambda tx: tx.create_tree(Tree(7), view_name="shop"))
    store.write(lambda tx: tx.drop_tree(Tree(7)))
    store.write(lambda tx: tx.create_tree(Tree(8), view_name="shop"))
    store.close()
    assert views(path) == ["shop"]


def put_many(tx: WriteTransaction) -> None:
    for number in range(500):
        tx.put(TREE, b"%d" % number, number, b"x" * number)


def test_sqlite_finds_nothing_wrong_with_a_file_of_ours(store: Store) -> None:
    store.write(put_many)
    assert store.read(lambda snapshot: snapshot.file_problems()) == []


def test_sqlite_finds_an_overwritten_page(store: Store, path: Path) -> None:
    store.write(put_many)
    store.close()
    with path.open("r+b") as file:
        file.seek(10 * 8192)
        file.write(b"\xff" * 8192)
    with closing(Store(path)) as damaged:
        assert damaged.read(lambda snapshot: snapshot.file_problems())
        assert damaged.read(lambda snapshot: snapshot.file_problems(TREE))


def test_a_table_may_have_a_name_like_those_of_trees(store: Store) -> None:
    store.write(lambda tx: tx.create_tree(Tree(7), view_name="tree_8"))
    store.write(lambda tx: tx.create_tree(Tree(8), view_name="tree_7"))
    store.write(lambda tx: tx.put(Tree(8), b"k", 1, b"eight"))
    assert store.read(lambda snapshot: snapshot.get(Tree(8), b"k")) == (1, b"eight")
