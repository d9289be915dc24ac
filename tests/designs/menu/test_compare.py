"""Every check of the menu passes in each variant, and the comparison of the costs."""

from __future__ import annotations

import pytest

from tablewright import connect
from tablewright.designs.catalog import load
from tablewright.designs.menu import compare
from tablewright.designs.menu.checks import VARIANTS
from tablewright.plans import access_patterns
from tablewright.verify import Result, verify
from tests.designs.menu.support import TABLES


@pytest.fixture(scope="module")
def results() -> list[Result]:
    design = load("menu")
    with connect(":memory:", *design.tables) as database:
        return list(verify(design, database))


def test_every_check_passes(results: list[Result]) -> None:
    assert [(result.check, result.problem) for result in results if not result.ok] == []


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "row",
    [
        "Get Menu by Name",
        "Get Sections by Menu",
        "Get Products by Section",
        "Update Menu",
        "Update Section",
        "Update Product",
        "Rename a menu",
        "Rename a section",
        "Rename a product",
    ],
)
def test_each_row_of_the_document_is_verified_in_each_variant(
    results: list[Result], variant: str, row: str
) -> None:
    assert [result.check for result in results].count(f"{variant}: {row}") == 1


def test_every_pattern_has_a_check(results: list[Result]) -> None:
    declared = {found.name for table in TABLES.values() for found in access_patterns(table)}
    assert declared == {result.pattern for result in results}


def test_the_comparison_contains_every_variant_of_each_row(results: list[Result]) -> None:
    compared = compare.compare(results)
    for pattern in (
        "Get Menu by Name",
        "Get Sections by Menu",
        "Get Products by Section",
        "Update Menu",
        "Update Section",
        "Update Product",
        "Rename a menu",
        "Rename a section",
        "Rename a product",
    ):
        assert list(compared[pattern]) == list(VARIANTS)


def test_reads_have_read_units_and_writes_have_write_units(results: list[Result]) -> None:
    for pattern, variants in compare.compare(results).items():
        for cost in variants.values():
            if pattern.startswith("Get"):
                assert cost.read_units > 0
                assert cost.write_units == 0
            else:  # a rename also reads the moved items
                assert cost.write_units > 0
            assert cost.requests >= 1


def test_the_comparison_supports_its_description(results: list[Result]) -> None:
    compared = compare.compare(results)
    sections, whole = compared["Get Sections by Menu"], compared["Get the whole menu"]
    assert sections["collection"].items == sections["joins"].items == 4
    assert sections["composite"].items == 4 + 7  # with the products between them
    assert {variant: cost.items for variant, cost in whole.items()} == {
        "collection": 12,
        "composite": 12,
        "document": 1,
    }
    assert compared["Get Sections by Menu, from its name"]["joins"].requests == 2
    for pattern in ("Update Menu", "Update Section", "Update Product"):
        costs = {variant: cost.write_units for variant, cost in compared[pattern].items()}
        assert costs["collection"] == costs["composite"] == 1
        assert 1 < costs["joins"] < costs["document"]
    for pattern in ("Rename a menu", "Rename a section", "Rename a product"):
        costs = {variant: cost.write_units for variant, cost in compared[pattern].items()}
        assert costs["document"] <= min(costs.values())
        assert compared[pattern]["document"].requests == 1


COMPARED = {
    "Get Menu by Name": {
        "collection": compare.Cost(requests=1, items=1, read_units=0.5, write_units=0),
        "joins": compare.Cost(requests=2, items=5, read_units=1.0, write_units=0),
    },
    "Rename a menu": {
        "collection": compare.Cost(requests=3, items=9, read_units=0, write_units=34.0),
    },
}


def test_the_comparison_as_rows() -> None:
    assert list(compare.as_rows(COMPARED)) == [
        ("Get Menu by Name", "collection", "1", "1", "0.5", "0"),
        ("", "joins", "2", "5", "1", "0"),
        ("Rename a menu", "collection", "3", "9", "0", "34"),
    ]


def test_the_comparison_as_a_table() -> None:
    from rich.console import Console

    console = Console(width=100)
    with console.capture() as captured:
        console.print(compare.as_table(COMPARED))
    lines = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in captured.get().splitlines()
        if line.startswith("│")
    ]
    assert lines == [
        ["Get Menu by Name", "collection", "1", "1", "0.5", "0"],
        ["", "joins", "2", "5", "1", "0"],
        ["Rename a menu", "collection", "3", "9", "0", "34"],
    ]
