"""Published models and the bundled designs: inferred from their items, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tablewright import connect
from tablewright.designs.catalog import BUNDLED, load
from tablewright.engine import Engine
from tablewright.infer import Sample, infer_design, read_sample, write_module
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Template
from tablewright.transport.targets import Local
from tablewright.values import Item
from tablewright.verify import compare_stored
from tablewright.verify.seeding import load_sample
from tests.infer import workbench
from tests.infer.inferred import import_source


def read_workbench(name: str) -> Sample:
    with Engine(":memory:") as engine:
        table = workbench.load(engine, name)
        return read_sample(Local(engine), table, ":memory:")


@pytest.mark.parametrize("name", workbench.NAMES)
def test_a_published_model_is_inferred_byte_for_byte(name: str, tmp_path: Path) -> None:
    sample = read_workbench(name)
    table = import_source(write_module(infer_design(sample)), tmp_path)
    for item in sample.items:
        entity = table.entity_of(item)
        assert entity is not None, item
        assert entity.encode(vars(entity.decode(item))) == item
    for entity in table.entities:
        items = [item for item in sample.items if table.entity_of(item) is entity]
        assert items
        assert_explained(table, entity, items)


def assert_explained(table: TableMap, entity: EntityMap, items: list[Item]) -> None:
    """Check that no text in a key is constant, raw or only in keys where an attribute has it."""
    keys = {*table.attributes, *(n for index in table.indexes.values() for n in index.attributes)}
    stored = [each for each in entity.attributes.values() if not each.is_key_only]
    contents = {
        each.name: [item.get(each.stored, {}).get("S") for item in items] for each in stored
    }
    for name, template in composed_templates(entity).items():
        for word in literals(template):
            assert [word] * len(items) not in contents.values(), (entity.name, name, word)
    for attribute in entity.attributes.values():
        if attribute.is_key_only:
            values = [entity.values(item)[attribute.name] for item in items]
            assert values not in contents.values(), (entity.name, attribute.name)
        else:
            is_generic = "PK" in attribute.stored or "SK" in attribute.stored
            assert not (attribute.stored in keys and is_generic), (entity.name, attribute.stored)


def composed_templates(entity: EntityMap) -> dict[str, Template]:
    return {
        name: template
        for key in (entity.primary, *entity.indexes)
        for name, template in key.templates.items()
        if template.natural is None
    }


def literals(template: Template) -> list[str]:
    texts = [piece for piece in template.pieces if isinstance(piece, str)]
    return [word for text in texts for word in text.split("#") if word]


@pytest.mark.parametrize("name", BUNDLED)
def test_the_items_of_a_bundled_design_are_explained(name: str, tmp_path: Path) -> None:
    design = load(name)
    with connect(":memory:", *design.tables) as database:
        load_sample(design, database)
        for table in design.tables:
            sample = read_sample(database._transport, table.__table__.name, ":memory:")
            inferred = import_source(write_module(infer_design(sample)), tmp_path)
            report = compare_stored(inferred, sample.items)
            assert report.differences == []
            only_in_keys = {
                f"{entity.name}.{each.name}"
                for entity in inferred.entities
                for each in entity.attributes.values()
                if each.is_key_only
            }
            # The sentinels of menus and orders have the name or the id in their keys alone, and
            # a nested menu has its second id there.
            assert only_in_keys <= {
                "MenuName.menu_name_id",
                "Menu.key_menu_id",
                "OrderByOwnId.id_id",
                "OrderReservedId.order_reserved_id_id",
            }


def test_a_module_is_formatted_as_ruff_does(tmp_path: Path) -> None:
    for name in workbench.NAMES:
        (tmp_path / f"{name}.py").write_text(write_module(infer_design(read_workbench(name))))
    for command in (["format", "--check"], ["check", "--select", "E4,E7,E9,F,I"]):
        arguments = [sys.executable, "-m", "ruff", *command, "--isolated", "--quiet", str(tmp_path)]
        assert subprocess.run(arguments, check=False, capture_output=True).stdout == b""


def test_the_online_shop_reads_as_a_person_writes_it() -> None:
    source = write_module(infer_design(read_workbench("online-shop-14")))
    shipment = source[source.index("class Shipment(") : source.index("class ShipmentItem(")]
    assert (
        shipment.rstrip()
        == """\
class Shipment(Entity, table=OnlineShop, type_name="shipment"):
    order_id: Attr[str] = attr(key_only=True)
    shipment_id: Attr[str] = attr(key_only=True)
    address: Attr[dict[str, str]] = attr(name="Address")
    date: Attr[str] = attr(name="Date")
    type: Attr[str] = attr(name="Type")
    warehouse_id: Attr[str] = attr(key_only=True)

    primary = key("o" / order_id, "sh" / shipment_id)
    gsi1 = index(OnlineShop.gsi1, "sh" / shipment_id, "sh" / shipment_id.again)
    gsi2 = index(OnlineShop.gsi2, "w" / warehouse_id, "sh" / shipment_id)"""
    )
