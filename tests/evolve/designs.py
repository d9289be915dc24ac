"""Versions of a small design: `design()` returns its source with some lines changed."""

from __future__ import annotations

from pathlib import Path

from tablewright.design_description import DesignDescription
from tablewright.designs.catalog import load
from tablewright.model.description import describe_design
from tablewright.verify import Design

SHOP = """\
from tablewright import GSI, Attr, Entity, Table, attr, index, key, unique


class Shop(Table, name="shop"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Order(Entity, table=Shop):
    order_id: Attr[str] = attr()
    status: Attr[str] = attr(default="NEW")
    email: Attr[str] = attr()
    primary = key("ORDER" / order_id, "ORDER")
    by_status = index(Shop.gsi1, "STATUS" / status, "ORDER" / order_id)
"""
#: A second index, and the order in it.
SECOND_INDEX = {
    '    gsi1 = GSI("GSI1PK", "GSI1SK")': '    gsi1 = GSI("GSI1PK", "GSI1SK")\n'
    '    gsi2 = GSI("GSI2PK", "GSI2SK")',
    "    by_status": '    by_email = index(Shop.gsi2, "EMAIL" / email, "ORDER" / order_id)\n'
    "    by_status",
}
ANOTHER_KEY = {'"STATUS" / status': '"STATE" / status'}
UNIQUE = {"    by_status": '    by_email = unique("EMAIL" / email)\n    by_status'}
RENAMED = {"    email": "    mail"}
ADDED = {"    email": '    note: Attr[str] = attr(default="")\n    email'}


def design(changes: dict[str, str] | None = None) -> str:
    """Return the source of the design with texts replaced; each must be in it."""
    text = SHOP
    for before, after in (changes or {}).items():
        assert before in text
        text = text.replace(before, after)
    return text


def load_text(text: str, folder: Path, name: str = "shop") -> Design:
    """Load a design from its source."""
    file = folder / f"{name}.py"
    file.write_text(text)
    return load(str(file))


def described(text: str, folder: Path, name: str = "shop") -> DesignDescription:
    return describe_design(*load_text(text, folder, name).tables)
