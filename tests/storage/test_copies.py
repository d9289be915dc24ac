from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path

import pytest

from tablewright.errors import StoreClosed, StoreFailed
from tablewright.storage import Snapshot, Store, WriteTransaction
from tests.storage.conftest import TREE


def put_rows(tx: WriteTransaction) -> None:
    for number in range(200):
        tx.put(TREE, b"%03d" % number, 0, b"x" * 1000)


def delete_rows(tx: WriteTransaction) -> None:
    for number in range(200):
        tx.delete(TREE, b"%03d" % number)


def count(store: Store) -> int:
    return store.read(lambda snapshot: snapshot.count(TREE)[0])


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


@pytest.mark.parametrize("where", ["file", ":memory:"])
def test_a_backup_contains_all_rows_and_only_its_owner_can_read_it(
    where: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    with closing(Store(tmp_path / "rows.db" if where == "file" else where)) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        store.write(put_rows)
        store.back_up(copy)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert not copy.with_name("copy.db.partial").exists()
    with closing(Store(copy)) as copied:
        assert count(copied) == 200


def test_a_backup_overwrites_what_a_killed_backup_left(store: Store, tmp_path: Path) -> None:
    copy, partial = tmp_path / "copy.db", tmp_path / "copy.db.partial"
    partial.write_text("half a file")
    store.back_up(copy)
    assert not partial.exists()
    with closing(Store(copy)) as copied:
        assert count(copied) == 0


def test_a_backup_never_replaces_a_file(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_text("precious")
    with pytest.raises(StoreFailed, match=r"copy\.db: the file exists; choose another name"):
        store.back_up(copy)
    assert copy.read_text() == "precious"


def test_a_backup_never_gets_the_log_of_another_file(store: Store, tmp_path: Path) -> None:
    copy, log = tmp_path / "copy.db", tmp_path / "copy.db-wal"
    log.write_text("precious")
    with pytest.raises(StoreFailed, match=r"copy\.db-wal: is the log of another file"):
        store.back_up(copy)
    assert log.read_text() == "precious"
    assert not copy.exists()


def test_a_backup_never_removes_its_source(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "copy.db.partial")) as store:
        store.write(lambda tx: tx.create_tree(TREE))
        with pytest.raises(
            StoreFailed, match=r"copy\.db\.partial first, which is the file to read"
        ):
            store.back_up(tmp_path / "copy.db")
    with closing(Store(tmp_path / "copy.db.partial")) as store:
        assert count(store) == 0


def test_a_backup_that_cannot_be_written_names_the_copy(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "missing" / "copy.db"
    with pytest.raises(StoreFailed, match=r"missing/copy\.db: No such file or directory"):
        store.back_up(copy)


def test_compaction_frees_the_space_of_deleted_rows(store: Store, path: Path) -> None:
    store.write(put_rows)
    store.compact()
    full = path.stat().st_size
    store.write(delete_rows)
    store.compact()
    assert path.stat().st_size < full / 4
    assert count(store) == 0
    assert log_of(path).stat().st_size == 0


def test_truncating_the_log_moves_it_into_the_file(store: Store, path: Path) -> None:
    store.write(put_rows)
    assert log_of(path).stat().st_size > 200_000
    store.truncate_log()
    assert log_of(path).stat().st_size == 0
    assert path.stat().st_size > 200_000
    assert count(store) == 200


def test_the_log_stays_while_a_reader_needs_it(store: Store, path: Path) -> None:
    def write_and_truncate(snapshot: Snapshot) -> int:
        with snapshot.read_transaction():
            snapshot.count(TREE)
            store.write(put_rows)
            store.truncate_log()
            return log_of(path).stat().st_size

    with closing(Store(path)) as other:
        assert other.read(write_and_truncate) > 200_000
    assert count(store) == 200


def test_a_closed_store_makes_no_copies(store: Store, tmp_path: Path) -> None:
    store.close()
    with pytest.raises(StoreClosed):
        store.back_up(tmp_path / "copy.db")
    with pytest.raises(StoreClosed):
        store.compact()
    with pytest.raises(StoreClosed):
        store.truncate_log()
    assert list(tmp_path.glob("copy*")) == []
