"""The document of a design, generated from its declarations and its sample data.

`blocks` is the document; the other functions write it in a format. The output is deterministic: it
depends on nothing but the declarations and the sample data.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from tablewright.cost import PatternUnits, measure_units
from tablewright.model.databases.connecting import connect
from tablewright.model.table import Table
from tablewright.model.tenancy import Tenancy
from tablewright.presentation.blocks import (
    Block,
    Chart,
    Code,
    ErdDiagram,
    Heading,
    KeyMapDiagram,
    Prose,
    docstring_blocks,
    markdown,
)
from tablewright.presentation.erd import erd
from tablewright.presentation.page import page
from tablewright.publish import charts
from tablewright.values import Item
from tablewright.verify.design import Design
from tablewright.verify.run import verify
from tablewright.verify.trace import trace

#: The number of partitions, and of items in each, that the document shows.
MAX_SAMPLES = 8
PATTERN_NOTE = (
    "For a write, Table/Index names the indexes whose keys it sets. "
    "The cost is in capacity units, for one page of a query: the average of the calls in the "
    "checks of the design, or else an estimate for items of a typical size; then the maximum."
)


def document(design: Design) -> str:
    """Return the document of a design, in Markdown."""
    return markdown(list(blocks(design)))


def html_document(design: Design) -> str:
    """Return the document of a design as one HTML page, which loads nothing."""
    return page(list(blocks(design)))


def blocks(design: Design) -> Iterator[Block]:
    """Return the document of a design."""
    yield Heading(1, design.name)
    yield from docstring_blocks(design.doc)
    traced = trace(design)
    units = measure_units(design, traced)
    for table in design.tables:
        yield from _table_blocks(table, design, traced.sample[table.__table__], units)
    if design.inefficient:
        yield Heading(2, "Not efficient with these keys")
        yield charts.inefficient_chart(design.inefficient)
    if design.sample is not None and design.compare is not None:
        yield from _comparison(design)


def _comparison(design: Design) -> Iterator[Block]:
    """Compare the cost of the design's variants, measured on the sample data."""
    with connect(":memory:", *design.tables) as fresh:
        results = list(verify(design, fresh))
    compare = design.compare
    yield Heading(2, "Comparison")
    yield from docstring_blocks((compare.__doc__ or "").strip())
    rows = list(compare.as_rows(compare.compare(results)))
    yield Chart("The cost of each variant", compare.HEADER, rows, numbers=len(compare.COLUMNS))


def _table_blocks(
    declared: type[Table],
    design: Design,
    sample: list[Item],
    units: Mapping[str, PatternUnits],
) -> Iterator[Block]:
    table = declared.__table__
    level = 2
    patterns = [
        found
        for found in design.patterns
        if any(entity.table is table for entity in found.entities)
    ]
    if len(design.tables) > 1:
        level = 3
        yield Heading(2, f"Table `{table.name}`")
        if any(found.function.__module__ == declared.__module__ for found in patterns):
            yield from _variant_docstring(declared, design)
    yield Heading(level, "Entities")
    yield ErdDiagram(table.name, erd(table.entities))
    yield Heading(level, "Entity chart")
    yield charts.entity_chart(table)
    yield from map(Prose, charts.delimiter_notes(table))
    yield Prose(charts.entity_notes(table))
    if declared.__tenancy__ is not None:
        yield from _tenancy(declared.__tenancy__)
    if patterns:
        yield Heading(level, "Access patterns")
        yield Prose(PATTERN_NOTE)
        yield charts.pattern_chart(patterns, table, units)
    if table.indexes:
        yield Heading(level, "Indexes")
        for name, index in table.indexes.items():
            kind = "Global" if index.kind == "global" else "Local"
            note = charts.sparse_note(table, name)
            yield Prose(f"{kind} secondary index `{name}`{note and f' ({note})'}:")
            yield charts.index_chart(table, name)
    yield Heading(level, "Key map")
    yield KeyMapDiagram(table)
    if design.sample is not None:
        yield Heading(level, "Sample item collections")
        yield charts.item_collections(table, sample, MAX_SAMPLES)


def _variant_docstring(table: type[Table], design: Design) -> Iterator[Block]:
    """Return the docstring of the module of a table, if it is not that of the whole design."""
    text = (sys.modules[table.__module__].__doc__ or "").strip()
    if text != design.doc:
        yield from docstring_blocks(text)


def _tenancy(tenancy: Tenancy) -> Iterator[Block]:
    """Show the partitions that one tenant may read and write."""
    rows = [[Code(shard), "read, write"] for shard in tenancy.write]
    rows += [[Code(shard), "read"] for shard in tenancy.read]
    rows += [[Code(partition), "read, as all tenants"] for partition in tenancy.shared]
    yield Prose(f"A database scoped by `{tenancy.tenant}` can access these partitions:")
    yield Chart("The partitions of a tenant", ["partition", "access"], rows)
