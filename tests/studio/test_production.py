"""A production target: nothing is written before a person has typed its name."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest

from tablewright.engine import Engine
from tablewright.studio.target.naming import name_target
from tablewright.verify import Design, seed
from tests.studio.conftest import Browser, Open
from tests.studio.test_items import text_of

TABLE = "commerce_single_table"
ORDER = urlencode({"pk": "CUST#C1", "sk": "ORDER#O101"})


@pytest.mark.parametrize(
    ("target", "kind", "name"),
    [
        (":memory:", "memory", "memory"),
        ("shops/shop.db", "file", "shop.db"),
        ("products.db", "file", "products.db"),
        ("shop-prod.db", "production", "shop-prod.db"),
        ("Production.db", "production", "Production.db"),
        ("http://127.0.0.1:8000", "endpoint", "127.0.0.1:8000"),
        ("http://db.prod.example:8000", "production", "db.prod.example:8000"),
        ("dynamodb://eu-west-1", "production", "eu-west-1"),
        ("dynamodb://", "production", "AWS"),
    ],
)
def test_aws_and_what_is_named_so_are_production(target: str, kind: str, name: str) -> None:
    found = name_target(target)
    assert (found.kind, found.name, found.whole) == (kind, name, target)


@pytest.fixture
def production(opened: Open, design: Design, tmp_path: Path) -> Browser:
    file = str(tmp_path / "prod.db")
    with Engine(file) as engine:
        seed(design, engine)
    return opened(file, design)


def hidden(page: str, name: str) -> str:
    return page.partition(f'name="{name}" value="')[2].partition('"')[0]


def delete(browser: Browser, typed: str) -> str:
    preview = browser.get(f"/item/{TABLE}/delete?{ORDER}").text
    assert "in production prod.db" in text_of(preview)
    form = {"~preview": hidden(preview, "~preview"), "~target": typed}
    return text_of(browser.post(f"/item/{TABLE}/delete?{ORDER}", form).text)


def test_a_write_needs_the_name_once(production: Browser) -> None:
    for typed in ("", "prod", "PROD.DB"):
        assert "its name has not been typed beside the button" in delete(production, typed)
        assert production.get(f"/item/{TABLE}?{ORDER}").status == 200
    assert "Deleted" in delete(production, "prod.db")
    assert production.get(f"/item/{TABLE}?{ORDER}").status == 404
    again = production.get(f"/item/{TABLE}/edit?pk=CUST%23C1&sk=PROFILE").text
    assert "~target" not in again


def test_an_address_of_a_form_that_is_opened_as_a_link_writes_nothing(browser: Browser) -> None:
    for path, form in (
        ("/patterns/tablewright.designs.commerce.put_order/write", "put_order"),
        (f"/item/{TABLE}/edit/write?{ORDER}", f"/item/{TABLE}/edit?pk=CUST%23C1"),
        ("/live/enable", "/live"),
    ):
        found = browser.get(path)
        assert found.status == 405
        assert found.headers["Allow"] == "POST"
        assert "Nothing was written by opening this link" in text_of(found.text)
        assert form in found.text
