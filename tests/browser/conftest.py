"""One Chromium for all tests of a worker, and for each test a page that must have no errors.

These tests need Playwright, which only `make test-browser` installs. Without it they are not
collected, so that other tests can be run alone; a run of the browser tests alone then fails,
because it has no tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from tests.browser.chromium import launched, watch
    from tests.browser.studios import Studio, studio_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this directory, so that other runs leave them out."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without cookies; its pages do not animate unless a test asks for it."""
    context = browser.new_context(reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture
def problems(context: BrowserContext) -> Iterator[list[str]]:
    """What went wrong on the pages of a test; it fails unless the list is empty at the end."""
    problems = watch(context)
    yield problems
    assert not problems, "\n".join(problems)


@pytest.fixture
def page(context: BrowserContext, problems: list[str]) -> Page:
    """An empty page, of which every problem is reported."""
    return context.new_page()


@pytest.fixture
def studio() -> Iterator[Studio]:
    """A studio of the commerce design, on its sample data."""
    with studio_of("commerce") as studio:
        yield studio
