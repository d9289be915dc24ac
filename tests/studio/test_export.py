"""Static pages: complete, the same in every run, and of the studio's own content only."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.designs.catalog import bundled
from tablewright.errors import InvalidValue
from tablewright.publish.html.element import element, relinked
from tablewright.studio.export import export, file_name


@pytest.mark.parametrize("name", [design.name for design in bundled()])
def test_every_link_leads_to_a_file_that_was_written(name: str, tmp_path: Path) -> None:
    paths = export(open_workspace([name]), tmp_path / "pages")
    written = {path.name for path in paths}
    assert {path.name for path in (tmp_path / "pages").iterdir()} == written
    for path in paths:
        if path.suffix == ".html" and path.name != f"{name}.html":
            links = re.findall(r' (?:href|src)="([^"]*)"', path.read_text())
            assert {link.partition("#")[0] for link in links} - {""} <= written
            assert "<script" not in path.read_text()


def test_items_are_pages_without_forms(tmp_path: Path) -> None:
    paths = export(open_workspace(["commerce"]), tmp_path, data=True)
    items = [path for path in paths if path.name.startswith("item")]
    assert len(items) > 20
    for path in items:
        assert not re.search("<form|<button|/export", path.read_text())


def test_the_files_are_the_same_in_every_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tablewright", "studio", "shop", "--data", "--export"]
    for folder in ("one", "two"):
        subprocess.run([*command, str(tmp_path / folder)], check=True, capture_output=True)
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        for folder in ("one", "two")
    )
    assert one == two


def test_other_files_in_the_folder_are_kept(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InvalidValue, match=r"contains other files, such as thesis\.txt"):
        export(open_workspace(["commerce"]), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_pages_can_be_written_again_also_after_a_kill(tmp_path: Path) -> None:
    first = export(open_workspace(["commerce"]), tmp_path)
    (tmp_path / ".index.html.0123abcd.partial").write_text("half")
    assert export(open_workspace(["commerce"]), tmp_path) == first


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
