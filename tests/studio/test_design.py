"""The design view: key map, diagram, findings, documents, access patterns with costs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest

from tablewright.cli.studio import open_workspace
from tablewright.cost import cost, load_prices
from tablewright.cost.prices import Rates
from tablewright.designs.catalog import BUNDLED, load
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.plan.shape import Shape
from tablewright.presentation.erd import erd
from tablewright.presentation.html_document import condition_lines
from tablewright.studio.views.design import DOCUMENTS
from tablewright.studio.web.server import serving_studio
from tablewright.symbol import Symbol
from tests.studio.conftest import Browser


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", page.partition("<main")[2]))


@pytest.fixture(scope="module", params=BUNDLED)
def each_design(request: pytest.FixtureRequest) -> Iterator[tuple[str, Browser]]:
    workspace = open_workspace([request.param])
    with serving_studio(workspace) as link:
        yield request.param, Browser(link)
    workspace.close()


def test_the_key_map_has_the_templates_of_every_entity(each_design: tuple[str, Browser]) -> None:
    name, browser = each_design
    shown = text_of(browser.get("/design").text)
    for table in load(name).tables:
        for entity in table.__table__.entities:
            for key in (entity.primary, *entity.indexes):
                for template in key.templates.values():
                    pieces = [
                        piece
                        if isinstance(piece, str)
                        else entity.attributes[piece.attribute].stored
                        if piece.is_plain
                        else piece.label
                        for piece in template.pieces
                    ]
                    assert "".join(pieces) in shown


def test_the_relations_of_a_diagram_are_also_a_table(each_design: tuple[str, Browser]) -> None:
    name, browser = each_design
    shown = text_of(browser.get("/design").text)
    for table in load(name).tables:
        for row in erd(table.__table__.entities).relation_rows():
            assert "".join(row) in shown


def test_the_matrix_has_every_pattern(each_design: tuple[str, Browser]) -> None:
    name, browser = each_design
    page = browser.get("/design/patterns").text
    design = load(name)
    for found in design.patterns:
        assert f'href="/patterns/{found.label}"' in page
        assert found.name in text_of(page)


def test_every_document_can_be_read(each_design: tuple[str, Browser]) -> None:
    _, browser = each_design
    for document in DOCUMENTS:
        assert browser.get(f"/design/documents/{document.name}").status == 200


def assert_every_document_can_be_downloaded(name: str, browser: Browser) -> None:
    design = load(name)
    for document in DOCUMENTS:
        found = browser.get(f"/design/documents/{document.name}/{document.file_name(design)}")
        assert found.text == document.write(design)
        assert found.headers["Content-Disposition"].endswith(f'"{document.file_name(design)}"')


def test_every_document_of_a_design_can_be_downloaded(browser: Browser) -> None:
    assert_every_document_can_be_downloaded("commerce", browser)


@pytest.mark.slow
def test_every_document_of_each_design_can_be_downloaded(each_design: tuple[str, Browser]) -> None:
    assert_every_document_can_be_downloaded(*each_design)


def test_costs_are_those_of_the_report(browser: Browser) -> None:
    design = load("commerce")
    calls = {design.patterns[0].label: 50.0, design.patterns[-1].label: 3.0}
    report = cost(design, rates=Rates(calls, {}), prices=load_prices(None))
    query = "&".join(f"{name}={rate}" for name, rate in calls.items())
    shown = text_of(browser.get(f"/design/patterns?{query}").text)
    assert f"${report.on_demand_month:,.2f}" in shown
    for label in calls:
        found = next(each for each in report.patterns if each.label == label)
        assert f"${found.month:,.2f}" in shown


@pytest.mark.parametrize("rate", ["many", "-1", "nan", "inf", "1e999"])
def test_a_rate_that_is_no_number_is_named(browser: Browser, rate: str) -> None:
    label = "tablewright.designs.commerce.customer_profile"
    found = browser.get(f"/design/patterns?{label}={rate}")
    assert f"customer_profile: '{rate}' is not a number of calls" in text_of(found.text)


def test_an_unknown_document_is_missing(browser: Browser) -> None:
    for path in ("nothing", "nothing/commerce.md", "terraform/../etc/passwd", "terraform/a.tf"):
        assert browser.get(f"/design/documents/{path}").status == 404


def shown_condition(*keys: KeyCondition) -> str:
    shown = condition_lines(Shape("Query", (), (), keys=keys), [])
    return " ".join(re.sub(r"<[^>]*>", " ", shown).split())


def test_a_condition_has_a_line_for_each_key_attribute() -> None:
    low = "X#" + Symbol.text(Symbol("a"))
    between = SortCondition("SK", "between", ({"S": low}, {"S": low + "$"}))
    key = KeyCondition({"PK": {"S": "A AND B=1"}}, between)
    assert shown_condition(key) == "PK = A AND B=1 SK between X# a and X# a $"


def test_the_conditions_of_two_requests_are_apart() -> None:
    first = KeyCondition({"id": {"S": Symbol.text(Symbol("a"))}, "tp": {"S": "x; y"}})
    second = KeyCondition({"pk": {"S": "U#" + Symbol.text(Symbol("b"))}})
    assert shown_condition(first, second) == "id = a tp = x; y then pk = U# b"
