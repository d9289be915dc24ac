"""A target that goes away is shown on every page, and is used again when it is back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.engine import Engine
from tablewright.server import serving
from tablewright.verify import Design
from tests.studio.conftest import Browser, Open

LOST = "The target cannot be reached."
SELECT = "/console?statement=SELECT+*+FROM+commerce_single_table&run=1"
PAGES = ("/tables", "/tables/commerce_single_table", SELECT, "/live", "/items")


class Endpoint:
    """The sample data of commerce at an endpoint that can be stopped and started again."""

    def __init__(self) -> None:
        target = open_workspace(["commerce"]).target
        assert isinstance(target, Engine)
        self._engine = target
        self._stack = ExitStack()
        self._port = 0
        self.start()

    def start(self) -> None:
        self.url = self._stack.enter_context(serving(self._engine, port=self._port))
        self._port = int(self.url.rpartition(":")[2].rstrip("/"))

    def stop(self) -> None:
        self._stack.close()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.stop()


@pytest.fixture
def remote(opened: Open, endpoint: Endpoint, design: Design) -> Browser:
    return opened(endpoint.url, design)


def test_a_lost_target_is_shown_and_recovers(remote: Browser, endpoint: Endpoint) -> None:
    page = remote.get("/tables")
    assert LOST not in page.text
    assert 'hx-get="/connection"' in page.text
    endpoint.stop()
    for path in PAGES:
        lost = remote.get(path)
        assert lost.status == 503
        assert LOST in lost.text
        assert "Connection refused" in lost.text
        assert 'class="target lost"' in lost.text
        assert 'hx-trigger="every 3s"' in lost.text
    assert LOST in remote.get("/connection").text
    for path in ("/design", "/console"):  # they need no target
        page = remote.get(path)
        assert (page.status, LOST in page.text) == (200, True)
    endpoint.start()
    back = remote.get("/connection").text
    assert LOST not in back
    assert 'class="target ro"' in back
    for path in PAGES:
        found = remote.get(path)
        assert found.status in (200, 303)
        assert LOST not in found.text


def test_the_data_of_a_page_stays_when_a_part_of_it_cannot_be_read(
    remote: Browser, endpoint: Endpoint
) -> None:
    endpoint.stop()
    answer = remote.get(SELECT, HX_Request="true")
    assert answer.status == 503
    assert answer.headers["HX-Retarget"] == "#lost"
    assert answer.text.startswith('<div id="lost"')
    assert LOST in answer.text


def test_a_lost_target_refuses_no_form_silently(
    opened: Open, endpoint: Endpoint, design: Design
) -> None:
    browser = opened(endpoint.url, design, write=True)
    endpoint.stop()
    posted = browser.post("/console", {"statement": "DELETE FROM shop WHERE PK = 'b'"})
    assert posted.status == 503
    assert "nothing was confirmed" in posted.text
    assert "every 3s" not in posted.text  # a form is not sent again


def test_a_target_that_was_never_there_is_shown(opened: Open) -> None:
    with serving(Engine(":memory:")) as url:
        pass
    browser = opened(url)
    assert browser.get("/tables").status == 503
    assert LOST in browser.get("/connection").text
