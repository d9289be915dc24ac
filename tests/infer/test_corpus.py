"""Tables of 30 designs, one item in a hundred irregular: what must be edited in each draft."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.infer import infer_design, write_module
from tablewright.infer.sample import Reservoir
from tests.infer.corpus.generate import FILES, read_tables, rows
from tests.infer.corpus.measure import mistakes
from tests.infer.inferred import import_source

TABLES = {table.name: table for file in FILES for table in read_tables(file)}
#: Tables whose drafts must be edited, and why.
EDITED = {
    # A time with milliseconds is the only explanation of the key, and is stored with six digits.
    "onetable-blog": ["Reader.joined is not written as it was"],
    # A decimal without a fixed width cannot be a part of a sort key.
    "northwind": ["OrderProduct.data is {data}, not {unitPrice}"],
}
#: Few items are enough for some; with fewer than a hundred of an entity, few are irregular.
FEW = ("e-commerce", "social-network", "chat", "onetable-accounts", "pynamo-animals")


def edits(name: str, count: int, folder: Path) -> list[str]:
    table = TABLES[name]
    made = rows(table, count)
    reservoir = Reservoir(table.description())
    for row in made:
        reservoir.add(row.item)
    draft = import_source(write_module(infer_design(reservoir.sample())), folder)
    return mistakes(table, made, draft)


def test_there_are_30_tables_with_their_sources() -> None:
    assert len(TABLES) == 30
    assert all(table.source for table in TABLES.values())


@pytest.mark.parametrize("name", FEW)
def test_a_draft_of_few_items_needs_no_edit(name: str, tmp_path: Path) -> None:
    assert edits(name, 200, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_draft_needs_no_edit(name: str, tmp_path: Path) -> None:
    assert edits(name, 10_000, tmp_path) == EDITED.get(name, [])
