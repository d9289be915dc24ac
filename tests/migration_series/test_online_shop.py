"""The online shop is carried from its first to its last version with its rows, and back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tablewright import migrations
from tablewright.errors import DeclarationError, MigrationRefused
from tablewright.values import Item
from tests.migration_series.online_shop import NUMBERS, rows, version
from tests.migration_series.walking import Walk

#: The versions that change what is stored of items that exist; the others add entities and rows.
STEPS = {
    "10": ["check", "create-index GSI1", "rewrite", "await-programs", "verify", "switch"],
    "11": ["check", "rewrite", "await-programs", "verify", "switch"],
    "12": ["check", "create-index GSI2", "await-programs", "rewrite", "verify", "switch"],
    "13": ["check", "rewrite", "await-programs", "verify", "switch"],
    "14": ["check", "await-programs", "rewrite", "verify", "switch"],
}


def by_key(items: Iterable[Item]) -> dict[tuple[str, str], Item]:
    return {(item["PK"]["S"], item["SK"]["S"]): item for item in items}


def keys_in_indexes(items: Iterable[Item]) -> dict[tuple[str, str], Item]:
    """Return the index keys of items, except for those of warehouse items.

    Nothing in a stored warehouse item says whether it is in an index: programs write that.
    """
    return {
        key: {name: value for name, value in item.items() if name.startswith("GSI")}
        for key, item in by_key(items).items()
        if item["EntityType"] != {"S": "warehouseItem"}
    }


@pytest.mark.slow
def test_all_versions_are_walked_forward_and_back(tmp_path: Path) -> None:
    """After each step, the table has the rows of that model, and nothing else."""
    walk = Walk(version(NUMBERS[0], tmp_path))
    steps = {}
    for number in NUMBERS[1:]:
        plan = walk.go_to(version(number, tmp_path))
        steps[number] = [str(each) for each in plan.steps]
        assert by_key(walk.items()) == by_key(rows(number))
        if number in STEPS:  # the migration itself has composed them
            expected = keys_in_indexes(rows(number))
            found = keys_in_indexes(walk.prepared)
            assert found == {key: expected[key] for key in found}
    only_switch = {number: ["switch"] for number in NUMBERS[1:] if number != "06"}
    assert steps == only_switch | {"02": ["await-programs", "switch"], "06": []} | STEPS


@pytest.mark.parametrize(("old", "new"), [("09", "10"), ("11", "12"), ("13", "14")])
def test_one_step_is_walked_forward_and_back(old: str, new: str, tmp_path: Path) -> None:
    walk = Walk(version(old, tmp_path))
    walk.go_to(version(new, tmp_path))
    assert by_key(walk.items()) == by_key(rows(new))


def test_the_first_model_shows_no_type_attribute(tmp_path: Path) -> None:
    """It has no rows; without a type, its items cannot be told from the record of the table."""
    with pytest.raises(DeclarationError, match="declare the table with a type_attribute"):
        Walk(version("01", tmp_path, as_inferred=True))


def test_a_type_attribute_cannot_be_added_later(tmp_path: Path) -> None:
    first = version("02", tmp_path, declared={'type_attribute="EntityType"': "type_attribute=None"})
    walk = Walk(first)
    with pytest.raises(MigrationRefused) as refused:
        migrations.plan(walk.engine, version("02", tmp_path).table)
    assert "OnlineShop: the types of items are stored in another way" in str(refused.value)
    assert "declare another table and copy the items" in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("09", "10", "OrderItem.time: no key of the item contains it"),
        ("10", "11", "Invoice.detail: the stored item has no 'Detail'"),
        ("11", "12", "Shipment.warehouse_id: no key of the item contains it"),
        ("12", "13", "OrderItem.customer_id: no key of the item contains it"),
    ],
)
def test_without_values_for_stored_items_a_version_is_refused(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    """A design as inferred does not say what stored items get."""
    walk = Walk(version(old, tmp_path, as_inferred=True))
    before = walk.stored()
    with pytest.raises(MigrationRefused) as refused:
        migrations.apply(walk.engine, version(new, tmp_path, as_inferred=True).table)
    assert message in str(refused.value)
    assert walk.stored() == before
