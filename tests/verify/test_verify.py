"""Every bundled design passes its checks, and failed checks are reported."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tablewright import connect
from tablewright.designs.catalog import BUNDLED, bundled, load
from tablewright.errors import DesignLoadError, TableNotEmpty
from tablewright.mapping.entity import EntityMap
from tablewright.plan.writes import effect, several, update
from tablewright.plan.writes.effect import Affected
from tablewright.publish import document
from tablewright.verify import verify
from tablewright.verify.contents import Scanner
from tablewright.verify.run import Result
from tests.commands import run

ROOT = Path(__file__).parent.parent.parent

DESIGN = '''
from __future__ import annotations
from tablewright import Attr, Entity, Get, Table, access_pattern, attr, key
from tablewright.verify import Check

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

def checks(stored):
    yield Check("Get a note", note("1"), EXPECTED)
'''


def verify_in(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Run `tablewright verify` in another folder, in a process that imports from there."""
    return subprocess.run(
        [sys.executable, "-m", "tablewright", "verify", name],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


@cache
def results_of(name: str) -> list[Result]:
    design = load(name)
    with connect(":memory:", *design.tables) as database:
        return list(verify(design, database))


@pytest.mark.parametrize("name", BUNDLED)
def test_every_check_of_a_design_passes(name: str) -> None:
    results = results_of(name)
    assert results
    assert [(result.check, result.problem) for result in results if not result.ok] == []
    assert all("Scan" not in result.operation for result in results)


@pytest.mark.parametrize("name", BUNDLED)
def test_every_pattern_of_a_design_is_verified(name: str) -> None:
    verified = {result.pattern for result in results_of(name)}
    assert {found.name for found in load(name).patterns} - verified == set()


@pytest.mark.parametrize("name", BUNDLED)
def test_the_document_of_a_design_is_up_to_date(name: str) -> None:
    """`make docs` writes the documents."""
    written = (ROOT / "docs" / "designs" / f"{name}.md").read_text(encoding="utf-8")
    assert written == document(load(name))


def test_the_command_lists_the_designs() -> None:
    listed = run("designs")
    assert listed.returncode == 0
    for design in bundled():
        assert design.name in listed.stdout


def test_the_command_prints_json() -> None:
    done = run("verify", "commerce", "--json")
    assert done.returncode == 0
    results = json.loads(done.stdout)
    keys = "design, check, pattern, operation, index, condition, returned, read, units, scan, ok, "
    assert all(", ".join(result) == keys + "problem" for result in results)
    assert all(result["ok"] for result in results)


@pytest.mark.slow
def test_a_design_in_another_file_is_verified(tmp_path: Path) -> None:
    expected = "next(n for n in stored(Note) if n.note_id == '1')"
    (tmp_path / "mine.py").write_text(DESIGN.replace("EXPECTED", expected))
    for name in ("mine.py", "mine", str(tmp_path / "mine.py")):
        done = verify_in(tmp_path, name)
        assert done.returncode == 0, done.stderr
        assert "1 check passed" in done.stdout


@pytest.mark.slow
def test_a_package_with_samples_and_checks_is_verified(tmp_path: Path) -> None:
    declarations, functions = DESIGN.split("def sample():")
    sample, checks = functions.split("def checks(stored):")
    package = tmp_path / "notes"
    package.mkdir()
    (package / "__init__.py").write_text(declarations)
    (package / "samples.py").write_text(f"from notes import Note\ndef sample():{sample}")
    expected = checks.replace("EXPECTED", "stored(Note)[1]")
    imports = "from notes import Note, note\nfrom tablewright.verify import Check\n"
    (package / "checks.py").write_text(f"{imports}def checks(stored):{expected}")
    done = verify_in(tmp_path, "notes")
    assert done.returncode == 0, done.stderr
    assert "1 check passed" in done.stdout


@pytest.mark.slow
def test_a_design_without_checks_cannot_be_verified(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(DESIGN.partition("def sample():")[0])
    done = verify_in(tmp_path, "mine.py")
    assert done.returncode == 2
    assert "mine has no sample() and no checks(stored)" in done.stderr


def test_an_unknown_design_is_an_error() -> None:
    done = run("verify", "shopp")
    assert done.returncode == 2
    assert done.stderr.startswith("tablewright: unknown design 'shopp'; did you mean 'shop'?")
    with pytest.raises(DesignLoadError, match=r"nowhere\.py: no such file"):
        load("nowhere.py")


@pytest.mark.parametrize("file", ["shop.py", "shop/__init__.py"])
def test_a_bundled_name_that_a_file_here_has_is_refused(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(DESIGN)
    monkeypatch.chdir(tmp_path)
    for arguments in (("lock", "shop"), ("migrate", "plan", "shop", "shop.db")):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"shop is a bundled design, and {file} is in this folder" in done.stderr
        assert f"write {file} for that file, or tablewright.designs.shop for the" in done.stderr
    assert load("tablewright.designs.shop").name == "shop"


def test_a_table_that_is_not_empty_is_not_changed() -> None:
    design = load("commerce")
    with connect(":memory:", *design.tables) as database:
        list(verify(design, database))
        before = Scanner(database).everything()
        with pytest.raises(TableNotEmpty):
            list(verify(design, database))
        assert Scanner(database).everything() == before


def test_the_document_can_be_written_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "commerce.md"
    assert run("publish", "docs", "commerce", "-o", str(target)).returncode == 0
    assert target.read_text(encoding="utf-8") == run("publish", "docs", "commerce").stdout
    failed = run("publish", "docs", "commerce", "-o", str(tmp_path / "no" / "where.md"))
    assert failed.returncode == 2
    assert "No such file" in failed.stderr


# -- defects of the library that verify must detect ----------------------------------------------


def nothing(*_: Any, **__: Any) -> list[Any]:
    return []


def keep_old_index_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_indexes(entity: EntityMap, names: frozenset[str]) -> Affected:
        return msgspec.structs.replace(effect.affected_by(entity, names), indexes=())

    monkeypatch.setattr(update, "affected_by", without_indexes)


def write_no_sentinels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effect, "sentinel_items", nothing)


def write_no_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effect, "event_items", nothing)


def run_only_the_first_write(monkeypatch: pytest.MonkeyPatch) -> None:
    commit = several.commit  # type: ignore[attr-defined]

    def first(writes: Sequence[Any], context: Any) -> Any:
        return (yield from commit(writes[:1], context))

    monkeypatch.setattr(several, "commit", first)


@pytest.mark.parametrize(
    ("name", "defect"),
    [
        ("commerce", keep_old_index_keys),
        ("shop", keep_old_index_keys),
        ("recipes", keep_old_index_keys),
        ("menu", keep_old_index_keys),
        ("recipes", write_no_sentinels),
        ("commerce", write_no_events),
        ("commerce", run_only_the_first_write),
        ("shop", run_only_the_first_write),
        ("market", run_only_the_first_write),
        ("menu", run_only_the_first_write),
    ],
)
def test_a_defect_of_the_library_fails_a_check(
    name: str, defect: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    design = load(name)
    defect(monkeypatch)
    with connect(":memory:", *design.tables) as database:
        failed = [result.check for result in verify(design, database) if not result.ok]
    assert failed


NATURAL = '''
from __future__ import annotations
from tablewright import GSI, Attr, Entity, Get, Table, Update, access_pattern, attr, index, key
from tablewright.verify import Check

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

def checks(stored):
    yield Check("Get one", natural("1"), stored(Natural)[0])
    yield Check("Rename one", rename("1", "2"), Natural(natural_id="2"))
    yield Check("Get another", alone("1"), stored(Alone)[0])
'''


def test_a_design_with_attributes_as_its_keys_is_verified_and_documented(tmp_path: Path) -> None:
    (tmp_path / "natural.py").write_text(NATURAL)
    design = load(str(tmp_path / "natural.py"))

    with connect(":memory:", *design.tables) as database:
        results = list(verify(design, database))

    assert [(result.check, result.problem) for result in results if not result.ok] == []
    assert "Rename one" in document(design)
