"""Tables: what is at the target, exports, sample data, and tables without a design."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tablewright import connect
from tablewright.cli.studio import open_workspace
from tablewright.engine import Engine
from tablewright.mapping.item_kind import record_key
from tablewright.server import serving
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design
from tests.studio.conftest import HOSTILE, Browser, Open, create_table


@pytest.mark.parametrize("name", ["shop", "market", "recipes", "menu", "commerce"])
def test_the_tables_of_each_design_match(opened: Open, name: str) -> None:
    workspace = open_workspace([name])
    browser = opened(workspace.target, workspace.design)
    page = browser.get("/tables")
    assert page.text.count('<span class="tag good">matches</span>') == len(workspace.maps)
    for table in workspace.maps:
        found = browser.get(f"/tables/{table}")
        assert (found.status, "matches" in found.text) == (200, True)


def test_a_table_shows_its_indexes_with_projections_and_sizes(browser: Browser) -> None:
    text = browser.get("/tables/commerce_single_table").text
    assert "gsi_status_orders" in text
    assert "GSI2PK S, GSI2SK S" in text
    assert "ALL" in text
    assert "on demand" in text
    assert "2.9 KB" in text


def test_differences_from_the_declaration_are_stated_as_connect_states_them(
    opened: Open, engine: Engine, design: Design
) -> None:
    create_table(engine, "commerce_single_table", "PK")
    text = opened(engine, design).get("/tables/commerce_single_table").text
    assert "key: declared PK + SK, found PK" in text
    assert "index gsi_status_orders: declared but missing" in text


def test_keys_that_are_made_in_another_way_are_stated_as_connect_states_them(
    opened: Open, engine: Engine, design: Design
) -> None:
    (table,) = design.tables
    entity = table.__table__.entities[0]
    connect(engine, table, update=True)
    engine.call(
        "UpdateItem",
        {
            "TableName": "commerce_single_table",
            "Key": record_key(table.__table__),
            "UpdateExpression": "SET #n = :t",
            "ExpressionAttributeNames": {"#n": f"$key {entity.type_name}"},
            "ExpressionAttributeValues": {":t": {"S": "PK=C#{id}"}},
        },
    )
    text = opened(engine, design).get("/tables/commerce_single_table").text
    assert f"{entity.name}, the primary key: stored as PK=C#{{id}}, declared as PK=" in text


def test_a_missing_table_can_be_created(opened: Open, engine: Engine, design: Design) -> None:
    browser = opened(engine, design)
    assert "does not exist at this target" in browser.get("/tables").text
    page = browser.get("/tables/commerce_single_table")
    assert page.status == 404
    assert "Create the table" in page.text
    created = browser.post("/tables/commerce_single_table/create")
    assert (created.status, created.headers["Location"]) == (303, "/tables/commerce_single_table")
    assert "matches" in browser.get("/tables/commerce_single_table").text


def test_only_tables_of_the_design_are_created(
    opened: Open, engine: Engine, design: Design
) -> None:
    browser = opened(engine, design)
    assert browser.post("/tables/other/create").status == 404
    assert browser.get("/tables/other").status == 404


def test_sample_data_is_loaded_into_empty_tables_only(
    opened: Open, engine: Engine, design: Design
) -> None:
    browser = opened(engine, design)
    assert "is created" in browser.get("/sample").text
    loaded = browser.post("/sample")
    assert "20 items were loaded" in loaded.text
    again = browser.post("/sample")
    assert again.status == 400
    assert "not empty" in again.text
    assert "disabled" in browser.get("/sample").text


def test_sample_data_needs_a_design_with_samples(opened: Open, engine: Engine) -> None:
    assert opened(engine).get("/sample").status == 404
    assert opened(engine).post("/sample").status == 404


def test_a_read_only_target_refuses_to_create_and_to_load(
    opened: Open, engine: Engine, design: Design
) -> None:
    browser = opened(engine, design, write=False)
    assert "Create the table" not in browser.get("/tables/commerce_single_table").text
    assert "Load sample data" not in browser.get("/tables").text
    for path in ("/tables/commerce_single_table/create", "/sample"):
        assert browser.post(path).status == 403
    assert engine.call("ListTables", {})["TableNames"] == []


def test_many_tables_are_paged(opened: Open, engine: Engine) -> None:
    for number in range(103):
        create_table(engine, f"table{number:03}")
    browser = opened(engine)
    first = browser.get("/tables").text
    assert ("table099" in first, "table100" in first) == (True, False)
    assert 'href="/tables?after=table099"' in first
    second = browser.get("/tables?after=table099").text
    assert ("table099<" in second, "table102" in second) == (False, True)


# --- export -------------------------------------------------------------------------------------


def test_an_export_has_every_item(browser: Browser, workspace: Workspace) -> None:
    stored = workspace.send("Scan", TableName="commerce_single_table")["Items"]
    found = browser.get("/tables/commerce_single_table/export?format=json")
    assert found.headers["Content-Disposition"].endswith('"commerce_single_table.json"')
    assert [json.loads(line)["Item"] for line in found.text.splitlines()] == stored
    rows = list(
        csv.DictReader(
            io.StringIO(browser.get("/tables/commerce_single_table/export?format=csv").text)
        )
    )
    assert [row["PK"] for row in rows] == [item["PK"]["S"] for item in stored]
    assert [row["total"] for row in rows] == [item.get("total", {}).get("N", "") for item in stored]


def test_an_export_of_an_index_has_its_items(browser: Browser) -> None:
    path = "/tables/commerce_single_table/export?index=gsi_status_orders"
    assert len(browser.get(path).text.splitlines()) == 9
    assert browser.get(f"{path}x").status == 404
    assert browser.get(f"{path}&format=xml").status == 404


def test_a_csv_keeps_late_attributes_and_shows_no_formulas(opened: Open, engine: Engine) -> None:
    create_table(engine, "things")
    requests = [
        {"PutRequest": {"Item": {"id": {"S": f"={n}"}, "n": {"N": "-1"}}}} for n in range(25)
    ]
    for start in range(0, 1025, 25):
        for n, each in enumerate(requests):
            each["PutRequest"]["Item"]["id"] = {"S": f"=cmd({start + n})"}
        engine.call("BatchWriteItem", {"RequestItems": {"things": requests}})
    last = engine.call("Scan", {"TableName": "things"})["Items"][-1]
    engine.call("PutItem", {"TableName": "things", "Item": {**last, "late": {"S": "yes"}}})
    rows = list(
        csv.reader(io.StringIO(opened(engine).get("/tables/things/export?format=csv").text))
    )
    assert len(rows) == 1026
    assert rows[0] == ["id", "n", "other attributes"]
    assert rows[-1] == [f"'{last['id']['S']}", "-1", '{"late":{"S":"yes"}}']


# --- without a design ---------------------------------------------------------------------------


def test_entities_are_inferred_for_a_table_without_a_design(opened: Open) -> None:
    browser = opened(open_workspace(["commerce"]).target)
    assert "Design</a>" not in browser.get("/tables").text
    text = browser.get("/tables/commerce_single_table").text
    assert "Inferred from 20 items" in text
    assert "OrderLineItem" in text
    module = browser.get("/tables/commerce_single_table/design?format=py").text
    assert "class OrderLineItem(Entity" in module
    assert "class OrderLineItem(Entity" in browser.get("/tables/commerce_single_table/design").text


def test_an_empty_table_without_a_design_is_shown(opened: Open, engine: Engine) -> None:
    create_table(engine, "empty")
    browser = opened(engine)
    assert "nothing can be inferred" in browser.get("/tables/empty").text
    assert browser.get("/tables/empty/design").status == 404
    assert browser.get("/tables/empty/export?format=csv").text == "id,other attributes\r\n"


def test_a_sample_is_bounded(opened: Open, engine: Engine) -> None:
    create_table(engine, "large")
    for start in range(0, 1500, 25):
        puts = [{"PutRequest": {"Item": {"id": {"S": str(start + n)}}}} for n in range(25)]
        engine.call("BatchWriteItem", {"RequestItems": {"large": puts}})
    browser = opened(engine)
    assert "Inferred from 200 items of a larger table" in browser.get("/tables/large").text
    assert "Inferred from 1,000 items" in browser.get("/tables/large/design").text


def test_hostile_names_and_values_are_text(opened: Open, engine: Engine) -> None:
    create_table(engine, "hostile")
    item = {"id": {"S": HOSTILE}, HOSTILE: {"S": HOSTILE}, "x": {"M": {HOSTILE: {"N": "1"}}}}
    engine.call("PutItem", {"TableName": "hostile", "Item": item})
    browser = opened(engine)
    for path in ("/tables", "/tables/hostile", "/tables/hostile/design", "/tables/%3Cimg%20x%3E"):
        page = browser.get(path)
        assert "<img" not in page.text
        assert "\u202e" not in page.text
        assert "\x07" not in page.text
    assert "[U+202E]" in browser.get("/tables/hostile").text


@pytest.mark.parametrize("name", ["shop", "market", "recipes", "menu", "commerce"])
def test_items_without_a_design_are_inferred_entities(opened: Open, name: str) -> None:
    workspace = open_workspace([name])
    browser = opened(workspace.target)
    for table in workspace.maps:
        page = browser.get(f"/items/{table}")
        assert page.status == 200
        assert "Its entities are inferred from" in page.text
        assert 'class="chip e' in page.text
        assert "the design does not know" not in page.text


def test_an_inferred_design_writes_nothing(opened: Open) -> None:
    workspace = open_workspace(["commerce"])
    browser = opened(workspace.target)
    page = browser.get("/item/commerce_single_table?pk=CUST%23C1&sk=ORDER%23O101")
    assert (page.status, "CustomerOrder" in page.text) == (200, True)
    edit = browser.get("/item/commerce_single_table/edit?pk=CUST%23C1&sk=ORDER%23O101")
    assert "CustomerOrder</span>" not in edit.text


def test_a_sample_of_an_endpoint_is_read_on_request(opened: Open) -> None:
    engine = open_workspace(["commerce"]).target
    assert isinstance(engine, Engine)
    with serving(engine) as url:
        browser = opened(url)
        for path in ("/items/commerce_single_table", "/tables/commerce_single_table"):
            page = browser.get(path).text
            assert 'class="chip' not in page
            assert 'href="/tables/commerce_single_table?infer=1"' in page
        assert 'class="chip' in browser.get("/tables/commerce_single_table?infer=1").text
        assert 'class="chip' in browser.get("/items/commerce_single_table").text
