"""Description of a design: everything in its tables that decides what is stored."""

from __future__ import annotations

from msgspec.structs import replace

from tablewright.design_description import DesignDescription, TableDesign, TenancyDescription
from tablewright.model.databases.provision import definition
from tablewright.model.table import Table
from tablewright.plan.description import describe_entities


def describe_design(*tables: type[Table]) -> DesignDescription:
    """Return the description of the tables of a design."""
    return DesignDescription({each.__table__.name: _describe_table(each) for each in tables})


def _describe_table(declared: type[Table]) -> TableDesign:
    table = declared.__table__
    return replace(
        TableDesign.of(definition(table, table.name)),
        type_attribute=table.type_attribute or "",
        type_form=table.type_form,
        tenancy=_describe_tenancy(declared),
        entities=describe_entities(table),
    )


def _describe_tenancy(declared: type[Table]) -> TenancyDescription | None:
    tenancy = declared.__tenancy__
    if tenancy is None:
        return None
    return TenancyDescription(
        tenancy.tenant,
        tuple(sorted(tenancy.write)),
        tuple(sorted(tenancy.read)),
        tuple(sorted(tenancy.shared)),
        tuple(sorted(str(index.name) for index in tenancy.filtered)),
    )
