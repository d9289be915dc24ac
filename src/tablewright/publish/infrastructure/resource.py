"""Table resources: what every infrastructure format says of a table."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from tablewright.model.table_definition import definition
from tablewright.table_description import TableDescription
from tablewright.verify.design import Design


class TableResource(Struct, frozen=True):
    """A table as `connect` creates it, with a name for templates."""

    #: Letters and digits, unique in the design.
    logical_id: str
    table: TableDescription


def table_resources(design: Design) -> list[TableResource]:
    """Return the tables of a design, in the order of their declaration."""
    tables = [table.__table__ for table in design.tables]
    return [TableResource(_logical_id(each.name), definition(each, each.name)) for each in tables]


def create_table_requests(design: Design) -> list[dict[str, Any]]:
    """Return the CreateTable request of each table: `client.create_table(**request)`."""
    return [resource.table.to_create_table() for resource in table_resources(design)]


def _logical_id(name: str) -> str:
    """Return the name in PascalCase: "commerce_single_table" is CommerceSingleTable."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "".join(word[0].upper() + word[1:] for word in words)
