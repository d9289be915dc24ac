"""Tables: those of a design as `connect` creates them, and their CreateTable requests."""

from __future__ import annotations

import re
from typing import Any

from tablewright.model.databases.provision import definition
from tablewright.table_description import TableDescription
from tablewright.verify.design import Design


def declared_tables(design: Design) -> list[TableDescription]:
    """Return the tables of a design, in the order of their declaration."""
    tables = [table.__table__ for table in design.tables]
    return [definition(table, table.name) for table in tables]


def create_table_requests(design: Design) -> list[dict[str, Any]]:
    """Return the CreateTable request of each table: `client.create_table(**request)`."""
    return [table.to_create_table() for table in declared_tables(design)]


def logical_id(name: str) -> str:
    """Return a name in PascalCase, of letters and digits.

    >>> logical_id("commerce_single_table")
    'CommerceSingleTable'
    """
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "".join(word[0].upper() + word[1:] for word in words)
