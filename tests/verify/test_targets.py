"""`seed` and `verify TARGET`, on a file and on an endpoint that plain boto3 reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright.designs.catalog import BUNDLED
from tablewright.engine import Engine
from tablewright.server import serving
from tests.commands import mistake, run
from tests.server.http import sdk_client

DESIGN = '''
from __future__ import annotations
import signal
from tablewright import Attr, Entity, Get, Table, access_pattern, attr, key, unique
from tablewright.formats import coded
from tablewright.verify import Check

class Notes(Table, name="notes"):
    pass

class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    text: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")
    texts = unique("TEXT" / text)

class Tags(Table, name="tags"):
    pass

class Plain:
    def encode(self, value):
        pass  # encode
        return value

    def decode(self, text):
        return text

class Tag(Entity, table=Tags):
    name: Attr[str] = attr()
    primary = key("TAG" / coded(name, Plain()), "TAG")

@access_pattern
def note(note_id: str) -> Get[Note]:
    """Get a note"""
    return Note.primary(note_id)

def sample():
    return [*(Note(note_id=str(n), text=f"text {n}") for n in range(3)), Tag(name="new")]

def checks(stored):
    yield Check("Get a note", note("1"), stored(Note)[1])
    END
'''


@pytest.fixture
def url() -> Iterator[str]:
    with Engine(":memory:") as engine, serving(engine) as url:
        yield url


@pytest.fixture
def client(url: str) -> Any:
    return sdk_client(url)


def write_design(folder: Path, end: str = "pass") -> Path:
    file = folder / "mine.py"
    file.write_text(DESIGN.replace("END", end))
    return file


def table_names(client: Any) -> list[str]:
    return list(client.list_tables()["TableNames"])


# -- seed -----------------------------------------------------------------------------------------


def test_seed_prints_what_it_has_loaded(tmp_path: Path, url: str, client: Any) -> None:
    done = run("seed", write_design(tmp_path), url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "notes: 6 items (3 for unique values, 3 Note)\ntags: 1 item (1 Tag)\n"
    assert table_names(client) == ["notes", "tags"]
    keys = [item["PK"]["S"] for item in client.scan(TableName="notes")["Items"]]
    assert sorted(key for key in keys if key.startswith("NOTE")) == ["NOTE#0", "NOTE#1", "NOTE#2"]


@pytest.mark.parametrize("name", BUNDLED)
def test_every_design_can_be_loaded_into_an_endpoint(name: str, url: str, client: Any) -> None:
    assert run("seed", name, url).returncode == 0
    assert run("check-items", name, url).returncode == 0
    assert all(client.scan(TableName=table)["Count"] for table in table_names(client))


def test_seed_creates_a_file_once(tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    design = write_design(tmp_path)
    assert run("seed", design, file).returncode == 0
    with Engine(file) as engine:
        before = engine.call("Scan", {"TableName": "notes"})
    assert "the table notes is not empty" in mistake("seed", design, file)
    with Engine(file) as engine:
        assert engine.call("Scan", {"TableName": "notes"}) == before


def test_seed_loads_nothing_if_one_of_its_tables_has_items(
    tmp_path: Path, url: str, client: Any
) -> None:
    design = write_design(tmp_path)
    run("seed", design, url)
    client.delete_table(TableName="notes")
    again = run("seed", design, url)
    assert again.returncode == 2
    assert "the table tags is not empty" in again.stderr
    assert table_names(client) == ["tags"]
    assert client.scan(TableName="tags")["Count"] == 1


def test_seed_refuses_what_it_cannot_load(tmp_path: Path) -> None:
    memory = run("seed", write_design(tmp_path), ":memory:")
    assert (memory.returncode, "does not keep its tables" in memory.stderr) == (2, True)
    design = tmp_path / "empty.py"
    design.write_text(DESIGN.partition("def sample")[0])
    no_sample = run("seed", design, tmp_path / "x.db")
    assert (no_sample.returncode, "has no sample data" in no_sample.stderr) == (2, True)
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize("existing", [[], ["notes"]], ids=["new tables", "an empty table"])
@pytest.mark.parametrize(
    ("last", "code", "message"),
    [
        ("signal.raise_signal(signal.SIGINT)", 130, "interrupted; what was created and loaded"),
        ("signal.raise_signal(signal.SIGTERM)", 143, "interrupted; what was created and loaded"),
        ("raise ValueError", 2, "the sample data cannot be stored"),
    ],
    ids=["Ctrl-C", "SIGTERM", "failure"],
)
def test_seed_leaves_nothing_if_it_does_not_finish(
    tmp_path: Path,
    url: str,
    client: Any,
    existing: list[str],
    last: str,
    code: int,
    message: str,
) -> None:
    """It ends while the last entity is stored, after three notes and their sentinels."""
    design = write_design(tmp_path)
    for table in existing:
        run("seed", design, url)
        client.delete_table(TableName="tags")
        for item in client.scan(TableName=table)["Items"]:
            client.delete_item(TableName=table, Key={name: item[name] for name in ("PK", "SK")})
    design.write_text(design.read_text().replace("pass  # encode", last))
    done = run("seed", design, url)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert table_names(client) == existing
    assert [client.scan(TableName=table)["Count"] for table in existing] == [0] * len(existing)


# -- verify TARGET --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUNDLED)
def test_every_design_can_be_verified_on_an_endpoint(name: str, url: str, client: Any) -> None:
    done = run("verify", name, url, "--brief")
    assert done.returncode == 0, done.stdout + done.stderr
    assert table_names(client) == []


def test_verify_leaves_the_tables_of_a_target_alone(tmp_path: Path, url: str, client: Any) -> None:
    design = write_design(tmp_path)
    for target in (url, str(tmp_path / "notes.db")):
        assert run("seed", design, target).returncode == 0
        for _ in range(2):
            assert run("verify", design, target).returncode == 0
        assert run("check-items", design, target).returncode == 0
    assert table_names(client) == ["notes", "tags"]


NAMES = "print(*stored.database._context.names.values())"


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ('yield Check("wrong", note("1"), None)', 1),
        ("raise ValueError", 1),
        ("signal.raise_signal(signal.SIGINT)", 130),
        ("signal.raise_signal(signal.SIGTERM)", 143),
    ],
)
def test_tables_are_removed_after_a_failure(
    tmp_path: Path, url: str, client: Any, end: str, code: int
) -> None:
    done = run("verify", write_design(tmp_path, f"{NAMES}\n    {end}"), url)
    assert done.returncode == code
    notes, tags = done.stdout.split("\n")[0].split()
    assert notes.startswith("verify-")
    assert notes.removesuffix("notes") == tags.removesuffix("tags")
    assert table_names(client) == []


@pytest.mark.parametrize(("end", "code"), [("raise ValueError", 1), ("raise SystemExit(3)", 3)])
def test_a_file_that_did_not_exist_is_removed(tmp_path: Path, end: str, code: int) -> None:
    target = tmp_path / "new.db"
    done = run("verify", write_design(tmp_path, end), target)
    assert done.returncode == code
    assert list(tmp_path.glob("new.db*")) == []


def test_seed_removes_a_file_that_it_has_created_if_it_fails(tmp_path: Path) -> None:
    design = write_design(tmp_path)
    design.write_text(design.read_text().replace('f"text {n}"', '"the same"'))
    assert run("seed", design, tmp_path / "new.db").returncode == 2
    assert list(tmp_path.glob("new.db*")) == []


def test_tables_are_removed_if_the_sample_data_cannot_be_stored(
    tmp_path: Path, url: str, client: Any
) -> None:
    design = write_design(tmp_path)
    design.write_text(design.read_text().replace('f"text {n}"', '"the same"'))
    done = run("verify", design, url)
    assert (done.returncode, "the sample data cannot be stored" in done.stderr) == (2, True)
    assert table_names(client) == []


def test_tables_that_cannot_be_removed_are_named(tmp_path: Path, url: str, client: Any) -> None:
    protect = (
        "name = list(stored.database._context.names.values())[0]\n"
        '    change = {"TableName": name, "DeletionProtectionEnabled": True}\n'
        '    stored.database._transport.send("UpdateTable", change)'
    )
    done = run("verify", write_design(tmp_path, protect), url)
    (left,) = table_names(client)
    assert done.returncode == 2
    assert f"these tables could not be removed; delete them: {left} (" in done.stderr
