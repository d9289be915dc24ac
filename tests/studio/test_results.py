"""Results as markup: every kind of result, and values that try to be markup."""

from __future__ import annotations

from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tablewright import Engine
from tablewright.designs.commerce import CustomerProfile
from tablewright.plan.reads.page import Page
from tablewright.server import serving
from tablewright.studio.markup.result_parts import result_tree
from tablewright.studio.patterns.running import MAX_REQUESTS, RequestRecorder, RunTooLarge
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tablewright.verify import seed
from tests.studio.calls import bundled
from tests.studio.conftest import Browser
from tests.studio.test_patterns import TOKEN, submit

HOSTILE = "<img src=x onerror=alert(1)>\u202e\x00\"'&"


class Row(NamedTuple):
    sku: str
    price: Decimal | None


ANN = CustomerProfile(customer_id="C9", name="Ann", email="a@b.c")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "nothing found"),
        (3, ">3<"),
        (True, ">true<"),
        (ANN, '<a class="mono v e1" href="/item/commerce_single_table?pk=CUST%23C9'),
        ([ANN, ANN], '<span class="tag">2</span>'),
        ((ANN, [ANN]), "tuple"),
        (Page([ANN], None), "Page"),
        (Row("a", Decimal("1.5")), "<i>price</i>1.5"),
        ([Row("a", None)], "<b>Row</b>"),
    ],
)
def test_results_of_every_kind_are_shown(value: Any, shown: str) -> None:
    assert shown in result_tree(value)


def test_hostile_values_stay_text() -> None:
    hostile = CustomerProfile(customer_id=HOSTILE, name=HOSTILE, email=HOSTILE)
    shown = result_tree([hostile])
    assert "<img" not in shown
    assert "[U+202E]" in shown


def test_a_hostile_value_passes_through_the_form_unchanged(browser: Browser) -> None:
    """The page shows it escaped, and what the page's form submits is the same value."""
    pairs = [("customer.customer_id", "C9"), ("customer.name", HOSTILE), ("customer.email", "e")]
    found = submit(browser, "/patterns/put_customer", pairs).text
    assert "<img" not in found
    assert "\u202e" not in found
    field = 'name="customer.name~json" value="'
    start = found.index(field) + len(field)
    escaped = found[start : found.index('"', start)]
    again = [(name, value) for name, value in pairs if name != "customer.name"]
    again.append(("customer.name~json", unescape(escaped)))
    token = TOKEN.search(found)
    assert token is not None
    written = submit(browser, "/patterns/put_customer/write", [*again, ("~preview", token[1])])
    assert "<b>Written</b>" in written.text


def test_a_run_of_too_many_requests_stops() -> None:
    engine = Engine(":memory:")
    recorder = RequestRecorder(Workspace(None, engine).transport)
    for _ in range(MAX_REQUESTS):
        recorder.send("ListTables", {})
    with pytest.raises(RunTooLarge, match=r"run it with db\.run"):
        recorder.send("ListTables", {})
    engine.close()


def test_an_endpoint_is_previewed_and_written() -> None:
    with Engine(":memory:") as engine, serving(engine) as url:
        seed(bundled("commerce"), engine)
        workspace = Workspace(bundled("commerce"), url, write=True)
        with serving_studio(workspace) as link:
            browser = Browser(link)
            pairs = [("customer_id", "C1"), ("order_id", "O101"), ("status", "SHIPPED")]
            path = "/patterns/update_order_status"
            token = TOKEN.search(submit(browser, path, pairs).text)
            assert token is not None
            found = submit(browser, f"{path}/write", [*pairs, ("~preview", token[1])]).text
            assert "<b>Written</b>" in found
            assert f'endpoint_url=<span class="s">&#x27;{url}&#x27;</span>' in found
        workspace.close()


def test_a_lost_target_is_shown_with_the_input_kept(tmp_path: Path) -> None:
    (tmp_path / "damaged.db").write_bytes(b"no database" * 1000)
    workspace = Workspace(bundled("commerce"), str(tmp_path / "damaged.db"))
    with serving_studio(workspace) as link:
        browser = Browser(link)
        found = browser.get("/patterns/order_header?customer_id=C77&order_id=O1")
        assert "note bad" in found.text
        assert 'value="C77"' in found.text
        pairs = [("customer_id", "C77"), ("order_id", "O1"), ("status", "SHIPPED")]
        assert 'value="C77"' in submit(browser, "/patterns/update_order_status", pairs).text
    workspace.close()
