"""The document of a design, generated from its declarations and its sample data.

`blocks` is the document; the other functions write it in a format. The output is deterministic: it
depends on nothing but the declarations and the sample data.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tablewright.cost import PatternUnits, load_prices, load_rates, measure_units, price_trace
from tablewright.errors import TablewrightError
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
    Plain,
    Prose,
    StateDiagram,
    docstring_blocks,
    markdown,
)
from tablewright.presentation.erd import erd
from tablewright.presentation.html_document import page
from tablewright.presentation.states import states_of
from tablewright.publish import charts
from tablewright.publish.advice import advise
from tablewright.values import Item
from tablewright.verify.design import Design
from tablewright.verify.run import verify
from tablewright.verify.trace import Trace, trace

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
    """Return the document of a design as one HTML page, which loads nothing.

    It also has the findings of the design, and the cost of patterns with declared rates.
    """
    traced = trace(design)
    return page([*blocks(design, traced), *_findings(design, traced), *_costs(design, traced)])


def key_document(design: Design) -> str:
    """Return the keys of all entities as Markdown: a row for each, by table."""
    found: list[Block] = [Heading(1, f"Keys of {design.name}")]
    for table in design.tables:
        found.append(Heading(2, f"Table `{table.__table__.name}`"))
        found.append(charts.entity_chart(table.__table__))
        found += map(Prose, charts.delimiter_notes(table.__table__))
    return markdown(found)


def blocks(design: Design, traced: Trace | None = None) -> Iterator[Block]:
    """Return the document of a design; without a trace, its checks are run."""
    yield Heading(1, design.name)
    yield from docstring_blocks(design.doc)
    traced = traced or trace(design)
    units = measure_units(design, traced)
    for table in design.tables:
        yield from _table_blocks(table, design, traced.sample[table.__table__], units)
    if design.inefficient:
        yield Heading(2, "Not efficient with these keys")
        yield charts.inefficient_chart(design.inefficient)
    if design.sample is not None and design.compare is not None:
        yield from _comparison(design)


def _findings(design: Design, traced: Trace) -> Iterator[Block]:
    """Return what `advise` reports of the design, without what its source allows."""
    found = [each for each in advise(design, traced=traced) if not each.allowed]
    if not found:
        return
    yield Heading(2, "Findings")
    rows = [
        [Code(each.subject), f"{each.severity}: `{each.rule}`", Plain(each.reason), Code(each.fix)]
        for each in found
    ]
    yield Chart("Findings", ["Declaration", "Rule", "Reason", "Fix"], rows)


def _costs(design: Design, traced: Trace) -> Iterator[Block]:
    """Return the cost of a month on demand, of the patterns whose calls are declared."""
    try:
        found = price_trace(design, traced, rates=load_rates(design), prices=load_prices(None))
    except TablewrightError:  # a check fails, so the units are not known
        return
    priced = [each for each in found.patterns if each.month is not None]
    if not priced:
        return
    yield Heading(2, "Cost a month")
    yield Prose(f"Prices on demand: {found.prices.title}, {found.prices.on_demand.date}.")
    rows = [[Code(each.label.rpartition(".")[2]), f"{each.rate:g}", f"${each.month:,.2f}"]
            for each in priced]  # fmt: skip
    rows.append(["All patterns", "", f"${found.on_demand_month:,.2f}"])
    yield Chart("Cost a month", ["Pattern", "Calls a second", "A month"], rows, numbers=2)


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
    yield from map(Prose, charts.link_notes(table))
    for states in (states for entity in table.entities for states in states_of(entity)):
        yield Prose(
            f"{states.title} (`InvalidTransition` is raised for a change that has no arrow):"
        )
        yield StateDiagram(states)
    if declared.__tenancy__ is not None:
        yield from _tenancy(declared.__tenancy__)
    if patterns:
        yield Heading(level, "Access patterns")
        yield Prose(PATTERN_NOTE)
        yield charts.pattern_chart(patterns, units)
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


def json_document(value: Any) -> str:
    """Return a value as the text of a file: indented, with characters rather than escapes.

    >>> print(json_document({"name": "Café"}), end="")
    {
      "name": "Café"
    }
    """
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
