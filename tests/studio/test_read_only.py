"""A read-only target: no form of any view changes it, whatever is sent."""

from __future__ import annotations

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.engine import Engine
from tablewright.server import serving
from tablewright.studio.web.server import MODULES
from tablewright.verify import Design
from tests.studio.conftest import Open

TABLE = "commerce_single_table"
ORDER = "PK = 'CUST#C1' AND SK = 'ORDER#O101'"
POSTS = sorted({route for module in MODULES for method, route in module.ROUTES if method == "POST"})
FORMS: list[dict[str, str]] = [
    {},
    {"table": TABLE, "confirm": "yes", "seen": "x"},
    {"statement": f"DELETE FROM {TABLE} WHERE {ORDER}", "seen": "x", "table": TABLE},
    {"statement": f"INSERT INTO {TABLE} VALUE {{'PK': 'a', 'SK': 'b'}}", "write": "1"},
    {"pk": "CUST#C1", "sk": "ORDER#O101", "customer_id": "C1", "order_id": "O101", "run": "1"},
]


@pytest.mark.parametrize("route", POSTS)
def test_no_form_changes_a_read_only_endpoint(opened: Open, design: Design, route: str) -> None:
    engine = open_workspace(["commerce"]).target
    assert isinstance(engine, Engine)
    before = engine.call("Scan", {"TableName": TABLE}), engine.call("ListTables", {})
    described = engine.call("DescribeTable", {"TableName": TABLE})
    with serving(engine) as url:
        browser = opened(url, design)
        for part in (TABLE, "create_customer", "delete_order"):
            path = route.replace("{}", part)
            for query in ("", "?pk=CUST%23C1&sk=ORDER%23O101"):
                for form in FORMS:
                    found = browser.post(path + query, form)
                    assert found.status < 500
                    assert found.status != 303
    assert (engine.call("Scan", {"TableName": TABLE}), engine.call("ListTables", {})) == before
    assert engine.call("DescribeTable", {"TableName": TABLE}) == described


def test_pages_of_a_read_only_endpoint_have_no_buttons_that_write(
    opened: Open, design: Design
) -> None:
    engine = open_workspace(["commerce"]).target
    assert isinstance(engine, Engine)
    with serving(engine) as url:
        browser = opened(url, design)
        for path in ("/tables", f"/tables/{TABLE}", "/live", "/console"):
            page = browser.get(path)
            assert page.status == 200
            assert 'method="post"' not in page.text
            assert "read-only" in page.text
