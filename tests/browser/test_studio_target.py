"""The target of a studio: every page names it and its mode, and finds it again after a failure."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tablewright.designs.catalog import load
from tablewright.engine import Engine
from tablewright.server import serving
from tablewright.studio.workspace import WatchedTransport
from tablewright.transport import Response
from tablewright.transport.targets import Local
from tablewright.verify import seed
from tests.browser.accessibility import assert_accessible, assert_fits
from tests.browser.chromium import WIDTHS, show
from tests.browser.studios import studio_of


@pytest.mark.parametrize("width", WIDTHS)
def test_a_remote_target_is_read_only_and_says_so_at_each_width(page: Page, width: int) -> None:
    with Engine(":memory:") as engine:
        seed(load("commerce"), engine)
        with serving(engine) as url, studio_of("commerce", url) as studio:
            studio.enter(page)
            show(page, "light", width)
            target = page.locator(".target")
            expect(target).to_contain_text(urlsplit(url).netloc)
            expect(target.get_by_text("read-only")).to_be_visible()


def test_a_page_recovers_when_its_target_does(page: Page, problems: list[str]) -> None:
    with Engine(":memory:") as engine:
        seed(load("commerce"), engine)
        with serving(engine) as url:
            port = urlsplit(url).port or 0
        with studio_of("commerce", url) as studio:
            page.clock.install()
            studio.enter(page)
            expect(page.locator("h1")).to_have_text("Not connected")
            expect(page.locator("#lost")).to_contain_text("The target cannot be reached.")
            with serving(engine, port=port):
                page.clock.run_for(4000)
                expect(page.locator("h1")).to_have_text("Tables")
                expect(page.locator("main")).to_contain_text("commerce_single_table")
                expect(page.locator("#lost")).to_have_text("")
                expect(page.locator(".target")).to_contain_text("read-only")
    problems.clear()  # the browser reports the status 503


def test_the_long_name_of_a_target_does_not_widen_the_page(page: Page, tmp_path: Path) -> None:
    file = tmp_path / ("long-" * 30 + "name.db")
    with Engine(str(file)) as engine:
        seed(load("commerce"), engine)
    with studio_of("commerce", str(file)) as studio:
        studio.enter(page)
        for width in WIDTHS:
            show(page, "light", width)
            assert_fits(page)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_production_target_is_louder_than_any_other(
    page: Page, problems: list[str], tmp_path: Path, width: int
) -> None:
    """Its name is typed before the first write; the button says where it writes."""
    Engine(file := str(tmp_path / "prod.db")).close()
    with studio_of("commerce", file) as studio:
        studio.enter(page)
        show(page, "light", width)
        target = page.locator(".target")
        expect(target).to_have_text("productionprod.dblocked")
        expect(target.get_by_text("locked")).to_be_visible()
        page.get_by_role("link", name="Load sample data").click()
        page.get_by_role("button", name="Load sample data in production prod.db").click()
        expect(page.locator("main")).to_contain_text("its name has not been typed")
        page.get_by_label("Type prod.db to write in production").fill("prod.db")
        page.get_by_role("button", name="Load sample data in production prod.db").click()
        expect(page.locator("h1")).to_have_text("Sample data")
        expect(target).to_have_text("productionprod.dbread-write")
        assert_accessible(page, [width])
    problems.clear()  # the browser reports the status 400


def test_danger_is_visible_at_each_width(page: Page) -> None:
    with (
        Engine(":memory:") as engine,
        serving(engine) as url,
        studio_of("commerce", url, write=True) as studio,
    ):
        studio.enter(page)
        for width in WIDTHS:
            show(page, "light", width)
            expect(page.locator(".target").get_by_text("read-write")).to_be_visible()


def test_a_page_says_that_its_studio_has_stopped(page: Page, problems: list[str]) -> None:
    page.clock.install()
    with studio_of("commerce") as studio:
        studio.enter(page)
        stopped = page.get_by_text("The studio has stopped.")
        page.get_by_label("Find an id").fill("typed")
        page.clock.run_for(5_000)
        expect(stopped).to_be_hidden()
    for _ in range(3):
        with page.expect_event("requestfailed"):
            page.clock.run_for(2_500)
    expect(stopped).to_be_visible()
    expect(page.locator("[data-end=stopped]")).to_contain_text("tablewright studio commerce")
    expect(page.get_by_label("Find an id")).to_have_value("typed")
    problems.clear()  # the browser reports the refused connections


class _Slow:
    """A transport that waits before each response until it may go on."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.go_on = Event()
        self.go_on.set()

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        self.go_on.wait(30)
        return Local(self.engine).send(operation, request)

    def close(self) -> None:
        pass


def test_a_page_counts_the_seconds_that_it_waits_for_a_slow_target(page: Page) -> None:
    with studio_of("commerce") as studio:
        engine = studio.workspace.target
        assert isinstance(engine, Engine)
        slow = _Slow(engine)
        studio.workspace._opened = WatchedTransport(slow)  # type: ignore[arg-type]
        studio.enter(page, "/items/commerce_single_table")
        line = page.locator("#waiting")
        expect(line).to_be_hidden()
        slow.go_on.clear()
        page.locator("[data-row]").first.click()
        expect(line).to_have_text(re.compile(r"Waiting for memory: sample data … [1-9] s"))
        slow.go_on.set()
        expect(line).to_be_hidden()
        expect(page.locator("#drawer")).to_contain_text("DynamoDB JSON")
