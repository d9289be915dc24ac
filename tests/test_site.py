"""The documentation site: every page has its place, every link leads somewhere.

`make site` builds the site itself; these tests are about the pages that it is built from.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from website.api import MODULES, example, public_names
from website.commands import command_names
from website.navigation import SECTIONS
from website.pages import adapted, pages, site_names


@cache
def texts() -> dict[str, str]:
    return dict(pages())


def test_every_page_is_in_the_navigation_once() -> None:
    listed = [page for section in SECTIONS.values() for page in section]
    assert sorted(listed) == sorted(texts())


def test_every_link_between_pages_leads_to_a_page() -> None:
    for name, text in texts().items():
        folder = name.rpartition("/")[0]
        for target in re.findall(r"\]\(([^)\s#]+\.md)(?:#[^)]*)?\)", text):
            if not target.startswith("http"):
                path = f"{folder}/{target}" if folder else target
                while "../" in path:
                    path = re.sub(r"(^|/)[^/]+/\.\./", r"\1", path, count=1)
                assert path in texts(), f"{name} links to {target}"


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module: str) -> None:
    page = texts()[f"api/{module.replace('.', '-')}.md"]
    for name in public_names(module):
        assert f"::: {module}.{name}\n" in page


@pytest.mark.parametrize("module", [name for name in MODULES if name != "tablewright.errors"])
def test_every_public_name_has_an_example_that_runs(module: str) -> None:
    assert [name for name in public_names(module) if example(name) is None] == []


def test_every_command_is_in_the_reference() -> None:
    for name in command_names():
        assert f" `tablewright {name}`\n" in texts()["commands.md"]


def test_a_link_to_source_leads_to_the_repository() -> None:
    text = adapted("[a](src/x.py) `[b](c)`\n```\n[d](e)\n```\n", "README.md", site_names())
    assert re.fullmatch(
        r"\[a\]\(https://\S+/blob/main/src/x\.py\) .*```\n\[d\]\(e\)\n```\n", text, re.DOTALL
    )
