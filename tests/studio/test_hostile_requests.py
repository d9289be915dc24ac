"""Requests that no page of the studio sends: each gets an answer, and none a traceback."""

from __future__ import annotations

import logging
import re
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablewright.limits import MAX_STATEMENT_LENGTH
from tablewright.studio.web.http import MAX_FIELDS, MAX_FORM_BYTES
from tablewright.studio.web.server import MODULES
from tests.studio.conftest import Answer, Browser
from tests.studio.form_reader import form_pairs

TABLE = "commerce_single_table"
ITEM = "pk=CUST%23C1&sk=ORDER%23O101"
PATTERNS = "/patterns/tablewright.designs.commerce."
ROUTES = [route for module in MODULES for route in module.ROUTES]
#: Values at the borders of what numbers, dates, JSON, statements and texts can be.
VALUES = (
    *("", "-1", "1e3", "1_0", "+1", "\uff19", "\u00b2", "NaN", "9" * 5000, "1e999999999"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00", "2026-13-45"),
    *("{", "null", "[" * 3000, '{"a":' * 3000, '"\\ud800"', "AAAA", "x" * 5000),
    *("\x00", "\r\n", "\u202e", "\U0001f600", "'\"<>", "SELECT * FROM", "(" * 3000),
)


@pytest.fixture(autouse=True)
def no_traceback(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "tablewright.studio")


def require_answer(answer: Answer, caplog: pytest.LogCaptureFixture) -> None:
    assert answer.status < 500
    assert "Traceback" not in answer.text
    assert not caplog.records


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (urlencode({"a": "1"}) + "&a=1" * MAX_FIELDS, 413),
        ("&" * 5000, 413),
        ("\xff\xfe", 400),
        ("a=" + "x" * MAX_FORM_BYTES, 413),
    ],
    ids=["fields", "separators", "encoding", "size"],
)
@pytest.mark.parametrize(
    "path",
    [
        "/console",
        "/live/enable",
        f"/item/{TABLE}/delete",
        f"/item/{TABLE}/edit",
        f"/item/{TABLE}/edit/write",
        f"{PATTERNS}put_order",
        f"{PATTERNS}put_order/write",
    ],
)
def test_a_form_that_cannot_be_read_is_refused(
    browser: Browser, caplog: pytest.LogCaptureFixture, path: str, body: str, status: int
) -> None:
    answer = browser.send("POST", f"{path}?{ITEM}", body, Sec_Fetch_Site="same-origin")
    require_answer(answer, caplog)
    assert answer.status == status


@pytest.mark.parametrize("size", [MAX_STATEMENT_LENGTH + 1, 1_000_000])
def test_a_statement_that_dynamodb_refuses_is_not_parsed(browser: Browser, size: int) -> None:
    statement = f"INSERT INTO {TABLE} VALUE {{'PK': '".ljust(size, "(")
    answer = browser.post("/console", {"statement": quote(statement)})
    assert answer.status == 413
    assert "more than 8,192 characters" in answer.text
    assert len(answer.text) < 10_000  # it is not shown either


def test_a_statement_of_the_longest_size_is_read(browser: Browser) -> None:
    start, end = f"DELETE FROM {TABLE} WHERE PK = '", "' AND SK = 'x'"
    statement = start + "\U0001f600" * (MAX_STATEMENT_LENGTH - len(start + end)) + end
    answer = browser.post("/console", {"statement": quote(statement)})
    assert answer.status in (400, 409)  # the key is too long, but it is a statement
    assert "8,192" not in answer.text


@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_every_route_answers_any_method_query_and_body(
    browser: Browser, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    values = st.sampled_from(VALUES) | st.text(max_size=20)
    names = st.sampled_from(["statement", "run", "after", "q", "pk", "sk", "table", "json", "~us"])
    pairs = st.lists(st.tuples(names, values.filter(_is_text)), max_size=4)
    method, route = data.draw(st.sampled_from(ROUTES))
    method = data.draw(st.sampled_from([method, method, "HEAD", "PUT", "OPTIONS"]))
    part = data.draw(
        st.sampled_from([TABLE, "%00", "%ff", "..%2f", "x%0d%0aX:%20y", "%F0%9F%98%80"])
    )
    query = urlencode(data.draw(pairs))[:8000]
    body = urlencode(data.draw(pairs))
    path = f"{route.replace('{}', part)}?{query}"
    if "/live/events" in route:
        return  # it has no end
    answer = browser.send(method, path, body, Sec_Fetch_Site="same-origin")
    require_answer(answer, caplog)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        f"/item/{TABLE}/edit?{ITEM}",
        f"{PATTERNS}put_order",
        f"{PATTERNS}create_order_with_items",
        f"{PATTERNS}update_order_status_with_history",
    ],
)
def test_every_field_of_a_form_takes_any_value(
    browser: Browser, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    pairs = form_pairs(browser.get(path).text)
    assert pairs
    for number, (name, _) in enumerate(pairs):
        for value in VALUES:
            for changed in (name, f"{name}~json", f"{name}~us"):
                form = [*pairs[:number], (changed, value), *pairs[number + 1 :]]
                answer = browser.send("POST", path, urlencode(form), Sec_Fetch_Site="same-origin")
                require_answer(answer, caplog)


def _is_text(value: str) -> bool:
    return not re.search("[\ud800-\udfff]", value)
