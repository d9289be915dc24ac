"""The modules of the designs: they can be copied, are short, and name what the documents name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tablewright.designs
from tablewright import connect, put
from tablewright.designs.catalog import BUNDLED
from tablewright.verify import load
from tablewright.verify.contents import Scanner

DESIGNS = Path(tablewright.designs.__file__).parent
VARIANTS = [f"menu.{name}" for name in ("collection", "joins", "composite", "document")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules are imported."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [each for each in sys.modules if each.partition(".")[0] == "copied"]:
        del sys.modules[name]


@pytest.mark.parametrize("name", [*BUNDLED, *VARIANTS])
def test_a_copy_of_a_design_does_not_use_the_original(folder: Path, name: str) -> None:
    original = DESIGNS.joinpath(*name.split("."))
    for file in original.rglob("*.py"):
        copy = folder / "copied" / file.relative_to(original)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(file.read_text().replace(f"tablewright.designs.{name}", "copied"))
    design = load("copied", {})
    assert design.sample is not None
    assert design.checks is not None
    sample = design.sample()
    declared = [*design.tables, *map(type, sample), *(each.function for each in design.patterns)]
    assert {each.__module__.partition(".")[0] for each in declared} == {"copied"}
    with connect(":memory:", *design.tables) as db:
        for entity in sample:
            db.run(put(entity))
        first = next(iter(design.checks(Scanner(db))))
        assert db.run(first.plan) == first.expect


@pytest.mark.parametrize("name", BUNDLED)
def test_a_module_of_a_design_is_short(name: str) -> None:
    lengths = {
        str(file.relative_to(DESIGNS)): len(file.read_text().splitlines())
        for file in (DESIGNS / name).rglob("*.py")
    }
    assert {file: length for file, length in lengths.items() if length > 400} == {}


@pytest.mark.parametrize(
    ("name", "documented"),
    [
        ("shop", "User Category Brand Product Order OrderItem"),
        ("market", "Account Bill Cart InventoryItem Order Payment Reward User"),
        ("recipes", "Menu MenuItem Recipe RecipeIngredient Ingredient Category"),
        ("menu.collection", "Menu Section Product"),
        ("menu.joins", "Menu Section Product"),
        ("menu.composite", "Menu Section Product"),
        ("menu.document", "Menu Section Product"),
        ("commerce", "CustomerProfile CustomerOrder OrderLineItem"),
    ],
)
def test_classes_have_the_names_of_the_source_document(name: str, documented: str) -> None:
    module = importlib.import_module(f"tablewright.designs.{name}")
    classes = {each for each, value in vars(module).items() if isinstance(value, type)}
    assert set(documented.split()) <= classes
