"""Hostile texts in items: markup, marks of direction and control characters stay texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tablewright.engine import Engine
from tablewright.presentation.keys import key_token
from tablewright.studio.web.server import serving_studio
from tablewright.studio.workspace import Workspace
from tests.studio.conftest import Answer, Browser
from tests.studio.tables import key_schema, put
from tests.studio.test_items import TABLE, text_of

MARKUP = "<img src=x onerror=alert(1)>\"'&lt;</td></table><script>alert(1)</script>"
DIRECTION = "abc\u202edef\u2066\u200f"
CONTROL = "a\x00b\x1b[31m\x07\x9f\u2028"
HOSTILE = [MARKUP, DIRECTION, CONTROL, "../../etc", "{}", "%3Cb%3E", "-unknown", "𝄞\ufeff"]
INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200f\u2028\u202e\u2066\ufeff]")


def assert_harmless(found: Answer) -> None:
    assert found.status in (200, 303, 400, 404)
    assert not INVISIBLE.search(found.text)
    assert "<img" not in found.text
    assert not re.search(r"<script(?![^>]* src=\"/static/)", found.text)
    assert not re.search(r"<[^>]* on\w+=", re.sub(r'"[^"]*"', '""', found.text))
    for link in re.findall(r'(?:href|action|hx-get)="([^"]*)"', found.text):
        assert link.startswith(("/", "#"))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values_of_a_design_are_texts(
    workspace: Workspace, browser: Browser, text: str
) -> None:
    unknown: dict[str, Any] = {
        "PK": {"S": text},
        "SK": {"S": text},
        text: {"M": {text: {"L": [{"S": text}]}}},
    }
    workspace.send("PutItem", TableName=TABLE, Item=unknown)
    order: dict[str, Any] = {
        "PK": {"S": "CUST#C1"},
        "SK": {"S": f"ORDER#{text}"},
        "GSI1PK": {"S": text},
        "GSI1SK": {"S": text},
        "GSI2PK": {"S": "STATUS#X"},
        "GSI2SK": {"S": text},
        "entityType": {"S": "CustomerOrder"},
        "customerId": {"S": text},
        "status": {"S": text},
        "total": {"S": text},
        "extra": {"SS": [text, "b"]},
    }
    workspace.send("PutItem", TableName=TABLE, Item=order)
    for item in (unknown, order):
        key = {"PK": item["PK"], "SK": item["SK"]}
        query = urlencode({"pk": key["PK"]["S"], "sk": key["SK"]["S"]})
        page = browser.get(f"/item/{TABLE}?{query}")
        assert page.status == 200
        assert_harmless(page)
        drawer = browser.get(f"/items/{TABLE}?item={key_token(key)}&pk={quote(key['PK']['S'])}")
        assert drawer.status == 200
        assert_harmless(drawer)
    for wanted in (text, f"{text} | {text}"):
        assert_harmless(browser.get(f"/find?{urlencode({'q': wanted})}"))
    for name in ("index", "pk", "sk", "sk2", "op", "entity", "cursor", "back", "item", "order"):
        assert_harmless(browser.get(f"/items/{TABLE}?{urlencode({name: text})}"))
    for index in ("", "gsi_customer_orders", "gsi_status_orders"):
        found = browser.get(f"/items/{TABLE}?index={index}&pk={quote(text)}")
        assert_harmless(found)
    assert_harmless(browser.get(f"/items/{quote(text, safe='')}"))
    assert_harmless(browser.get(f"/item/{quote(text, safe='')}?pk={quote(text)}"))


@pytest.fixture
def hostile_names() -> Iterator[Browser]:
    """A table without a design whose key attributes and attributes have hostile names."""
    engine = Engine(":memory:")
    engine.call(
        "CreateTable",
        {
            "TableName": "names",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": MARKUP, "AttributeType": "S"},
                {"AttributeName": DIRECTION, "AttributeType": "S"},
            ],
            "KeySchema": key_schema([MARKUP], [DIRECTION]),
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "inverse",
                    "KeySchema": key_schema([DIRECTION], [MARKUP]),
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        },
    )
    item: dict[str, Any] = {MARKUP: {"S": MARKUP}, DIRECTION: {"S": DIRECTION}}
    put(engine, "names", item | {CONTROL: {"S": CONTROL}})
    with serving_studio(Workspace(None, engine)) as link:
        yield Browser(link)


def test_hostile_names_are_texts(hostile_names: Browser) -> None:
    key = urlencode({"pk": MARKUP, "sk": DIRECTION})
    for path in (
        "/items/names",
        "/items/names?index=inverse",
        f"/item/names?{key}",
        f"/items/names?{key}&op=%3D",
    ):
        found = hostile_names.get(path)
        assert found.status == 200
        assert_harmless(found)
        assert MARKUP in text_of(found.text)
        assert "abc[U+202E]def" in text_of(found.text)


def test_a_link_to_a_hostile_key_leads_to_its_item(hostile_names: Browser) -> None:
    page = hostile_names.get("/items/names").text
    row = re.search(r'id="row0" href="([^"]*)"', page)
    assert row is not None
    drawer = hostile_names.get(unescape(row[1])).text
    opened = re.search(r'class="btn sm" href="(/item/[^"]*)"', drawer)
    assert opened is not None
    found = hostile_names.get(unescape(opened[1]))
    assert found.status == 200
    assert "a[U+0000]b[U+001B]" in text_of(found.text)
