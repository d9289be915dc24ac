"""Static pages: complete, the same in every run, and of the studio's own content only."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.designs.catalog import BUNDLED
from tablewright.errors import InvalidValue
from tablewright.publish.html.element import element, relinked
from tablewright.studio.export import export, file_name

#: Designs with so many pages that only the slow tests write them all.
LARGE = ("menu", "shop")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else []) for name in BUNDLED],
)
def test_every_link_leads_to_a_file_that_was_written(name: str, tmp_path: Path) -> None:
    paths = export(open_workspace([name]), tmp_path / "pages")
    written = {path.name for path in paths}
    assert {path.name for path in (tmp_path / "pages").iterdir()} == written
    for path in paths:
        if path.suffix == ".html" and path.name != f"{name}.html":
            links = re.findall(r' (?:href|src)="([^"]*)"', path.read_text())
            assert {link.partition("#")[0] for link in links} - {""} <= written
            assert "<script" not in path.read_text()


SMALL = """
from tablewright import GSI, Attr, Entity, Get, Query, Table, access_pattern, attr, index, key

class Notes(Table, name="notes"):
    by_tag = GSI("GSI1PK", "GSI1SK")

class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    tag: Attr[str] = attr()
    words: Attr[set[str]] = attr()
    primary = key("NOTE" / note_id, "NOTE")
    tagged = index(Notes.by_tag, "TAG" / tag, "NOTE" / note_id)

@access_pattern
def note(note_id: str) -> Get[Note]:
    return Note.primary(note_id)

@access_pattern
def notes_with(tag: str) -> Query[Note]:
    return Note.tagged(tag)

def sample():
    return [Note(note_id=str(n), tag="ab"[n % 2], words={"x", "y", "z"}) for n in range(5)]
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    (tmp_path / "notes.py").write_text(SMALL)
    return str(tmp_path / "notes.py")


def assert_pages_have_no_forms(design: str, folder: Path, least: int) -> None:
    paths = export(open_workspace([design]), folder, data=True)
    items = [path for path in paths if path.name.startswith("item")]
    assert len(items) > least
    for path in items:
        assert not re.search("<form|<button|/export", path.read_text())


def test_items_are_pages_without_forms(small: str, tmp_path: Path) -> None:
    assert_pages_have_no_forms(small, tmp_path / "pages", 5)


@pytest.mark.slow
def test_items_of_a_bundled_design_are_pages_without_forms(tmp_path: Path) -> None:
    assert_pages_have_no_forms("commerce", tmp_path, 20)


def assert_the_same_in_every_run(design: str, folder: Path) -> None:
    command = [sys.executable, "-m", "tablewright", "studio", design, "--data", "--export"]
    files = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        target = folder / seed
        subprocess.run([*command, str(target)], check=True, capture_output=True, env=environment)
        files.append({path.name: path.read_bytes() for path in target.iterdir()})
    assert files[0] == files[1]


def test_the_files_are_the_same_in_every_run(small: str, tmp_path: Path) -> None:
    assert_the_same_in_every_run(small, tmp_path)


@pytest.mark.slow
def test_the_files_of_a_bundled_design_are_the_same_in_every_run(tmp_path: Path) -> None:
    assert_the_same_in_every_run("shop", tmp_path)


def test_other_files_in_the_folder_are_kept(small: str, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "thesis.txt").write_text("mine")
    with pytest.raises(InvalidValue, match=r"contains other files, such as thesis\.txt"):
        export(open_workspace([small]), pages)
    assert [path.name for path in pages.iterdir()] == ["thesis.txt"]


def test_pages_can_be_written_again_also_after_a_kill(small: str, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    first = export(open_workspace([small]), pages)
    (pages / ".index.html.0123abcd.partial").write_text("half")
    assert export(open_workspace([small]), pages) == first


def test_a_link_to_nothing_is_removed() -> None:
    known = {"/design?a=1&b=2": "d.html?a&b"}
    with relinked(known.get):
        assert element("a.x", "c", href="/console") == '<a class="x">c</a>'
        assert element("a", "d", href="/design?a=1&b=2") == '<a href="d.html?a&amp;b">d</a>'
        assert element("a", "m", href="#main") == '<a href="#main">m</a>'
    assert element("a", "c", href="/console") == '<a href="/console">c</a>'


def test_a_file_has_the_words_of_its_url() -> None:
    assert file_name("/items/a%2Fb/.x~") == "items-a-2Fb-x-.html"
    assert file_name("/items/é_ü-ö") == "items-é_ü-ö.html"
