"""Every bundled design verifies, and what is wrong with one is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tablewright import connect
from tablewright.errors import NoDesign, NotEmpty
from tablewright.plan import delete, move, put, update, write
from tablewright.publish import document
from tablewright.verify import bundled, load, verify
from tablewright.verify.design import BUNDLED

ROOT = Path(__file__).parent.parent.parent

DESIGN = '''
from __future__ import annotations
from tablewright import Attr, Entity, Get, Table, access_pattern, attr, key
from tablewright.verify import Row

class Notes(Table, name="notes"):
    pass

class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    text: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")

@access_pattern
def note(note_id: str) -> Get[Note]:
    """Get a note"""
    return Note.primary(note_id)

def sample():
    return [Note(note_id=str(n), text="hello") for n in range(3)]

def rows(stored):
    yield Row("Get a note", note("1"), EXPECTED)
'''


def run(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tablewright", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


@pytest.mark.parametrize("name", BUNDLED)
def test_every_row_of_a_design_agrees_with_a_scan(name: str) -> None:
    design = load(name)
    with connect(":memory:", *design.tables) as database:
        results = list(verify(design, database))
    assert results
    assert [(result.row, result.problem) for result in results if not result.ok] == []
    assert all("Scan" not in result.operation for result in results)


@pytest.mark.parametrize("name", BUNDLED)
def test_every_pattern_of_a_design_is_verified(name: str) -> None:
    design = load(name)
    with connect(":memory:", *design.tables) as database:
        verified = {result.pattern for result in verify(design, database)}
    assert {found.name for found in design.patterns} - verified == set()


@pytest.mark.parametrize("name", BUNDLED)
def test_the_document_of_a_design_is_up_to_date(name: str) -> None:
    """`make docs` writes them."""
    written = (ROOT / "docs" / "designs" / f"{name}.md").read_text(encoding="utf-8")
    assert written == document(load(name))


def test_the_command_lists_the_designs() -> None:
    listed = run("designs")
    assert listed.returncode == 0
    for design in bundled():
        assert design.name in listed.stdout


def test_the_command_gives_objects_for_programs() -> None:
    told = run("verify", "commerce", "--json")
    assert told.returncode == 0
    rows = json.loads(told.stdout)
    keys = "design, row, pattern, operation, index, condition, returned, read, units, ok"
    assert all(", ".join(row) == keys for row in rows)
    assert all(row["ok"] for row in rows)


def test_a_design_in_a_file_of_ones_own_is_verified(tmp_path: Path) -> None:
    expected = "next(n for n in stored(Note) if n.note_id == '1')"
    (tmp_path / "mine.py").write_text(DESIGN.replace("EXPECTED", expected))
    for name in ("mine.py", "mine", str(tmp_path / "mine.py")):
        told = run("verify", name, folder=tmp_path)
        assert told.returncode == 0, told.stderr
        assert "1 rows agree" in told.stdout


def test_an_answer_that_differs_is_told_and_is_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(DESIGN.replace("EXPECTED", "None"))
    told = run("verify", "mine.py", folder=tmp_path)
    assert told.returncode == 1
    assert "mine: Get a note: a scan gives None, the pattern Note(" in told.stderr


def test_a_design_that_is_not_there_is_told() -> None:
    told = run("verify", "shopp")
    assert told.returncode == 2
    assert told.stderr.startswith("tablewright: there is no design 'shopp'; did you mean 'shop'?")
    with pytest.raises(NoDesign, match=r"there is no file nowhere\.py"):
        load("nowhere.py")


def test_a_design_can_be_verified_on_a_file_once(tmp_path: Path) -> None:
    target = str(tmp_path / "designs.db")
    assert run("verify", "commerce", "--target", target).returncode == 0
    again = run("verify", "commerce", "--target", target)
    assert again.returncode == 2
    assert "holds items already" in again.stderr


def test_a_table_that_holds_something_is_left_alone() -> None:
    design = load("commerce")
    assert design.sample is not None
    with connect(":memory:", *design.tables) as database:
        list(verify(design, database))
        with pytest.raises(NotEmpty):
            list(verify(design, database))


def test_the_document_can_be_written_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "commerce.md"
    assert run("docs", "commerce", "-o", str(target)).returncode == 0
    assert target.read_text(encoding="utf-8") == run("docs", "commerce").stdout
    failed = run("docs", "commerce", "-o", str(tmp_path / "no" / "where.md"))
    assert failed.returncode == 2
    assert "No such file" in failed.stderr


# -- what a broken library would do --------------------------------------------------------------


def nothing(*_: Any, **__: Any) -> list[Any]:
    return []


def leave_index_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update.Update, "_touched", nothing)


def write_no_sentinels(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (update, put, delete, move):
        monkeypatch.setattr(module, "sentinel_actions", nothing)


def write_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (update, put, move):
        monkeypatch.setattr(module, "event_actions", nothing)


def do_the_first_write_only(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = write.commit

    def first(writes: Sequence[Any], context: Any) -> Any:
        return (yield from whole(writes[:1], context))

    monkeypatch.setattr(write, "commit", first)


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("commerce", leave_index_keys),
        ("shop", leave_index_keys),
        ("recipes", leave_index_keys),
        ("menu", leave_index_keys),
        ("recipes", write_no_sentinels),
        ("commerce", write_no_events),
        ("commerce", do_the_first_write_only),
        ("shop", do_the_first_write_only),
        ("market", do_the_first_write_only),
        ("menu", do_the_first_write_only),
    ],
)
def test_a_library_that_does_not_do_its_part_is_noticed(
    name: str, mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    design = load(name)
    mistake(monkeypatch)
    with connect(":memory:", *design.tables) as database:
        wrong = [result.row for result in verify(design, database) if not result.ok]
    assert wrong


NATURAL = '''
from __future__ import annotations
from tablewright import GSI, Attr, Entity, Get, Table, Update, access_pattern, attr, index, key
from tablewright.verify import Row

class Half(Table, name="half", pk="id", sk="SK"):
    kinds = GSI("kind", "id")

class Natural(Entity, table=Half):
    natural_id: Attr[str] = attr(name="id")
    kind: Attr[str] = attr(default="k")
    primary = key(natural_id, "NATURAL")
    of_kind = index(Half.kinds, kind, natural_id)

class Composed(Entity, table=Half):
    composed_id: Attr[str] = attr()
    primary = key("COMPOSED" / composed_id, "COMPOSED")

class Child(Entity, table=Half):
    composed_id: Attr[str] = attr()
    child_id: Attr[str] = attr()
    primary = key("COMPOSED" / composed_id, "CHILD" / child_id)

class Single(Table, name="single", pk="id", sk=None):
    pass

class Alone(Entity, table=Single):
    alone_id: Attr[str] = attr(name="id")
    primary = key(alone_id)

@access_pattern
def natural(natural_id: str) -> Get[Natural]:
    """Get one"""
    return Natural.primary(natural_id)

@access_pattern
def rename(natural_id: str, new: str) -> Update[Natural]:
    """Rename one"""
    return Natural.primary(natural_id).update(Natural.natural_id.set(new))

@access_pattern
def alone(alone_id: str) -> Get[Alone]:
    """Get another"""
    return Alone.primary(alone_id)

def sample():
    return [Natural(natural_id="1"), Composed(composed_id="1"), Alone(alone_id="1")]

def rows(stored):
    yield Row("Get one", natural("1"), stored(Natural)[0])
    yield Row("Rename one", rename("1", "2"), Natural(natural_id="2"))
    yield Row("Get another", alone("1"), stored(Alone)[0])
'''


def test_a_design_with_attributes_as_its_keys_is_verified_and_documented(tmp_path: Path) -> None:
    (tmp_path / "natural.py").write_text(NATURAL)
    design = load(str(tmp_path / "natural.py"))

    with connect(":memory:", *design.tables) as database:
        results = list(verify(design, database))

    assert [(result.row, result.problem) for result in results if not result.ok] == []
    assert "Rename one" in document(design)
