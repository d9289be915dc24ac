"""The document of a design, generated from its declarations and its sample data.

The output is deterministic: it depends on nothing but the declarations and the sample data.
"""

from __future__ import annotations

import sys

from tablewright.mapping.table import TableMap
from tablewright.model.database import Database, connect
from tablewright.model.table import Table
from tablewright.publish import charts
from tablewright.publish.erd import erd
from tablewright.verify.design import Design
from tablewright.verify.run import Scanner, load_sample, verify

#: The number of partitions, and of items in each, that the document shows.
MAX_SAMPLES = 8
COST_NOTE = (
    "The cost is in capacity units, for one page of a query: an estimate for items of typical "
    "size and, in parentheses, the lowest and the highest possible value."
)


def document(design: Design) -> str:
    """Return the document of a design, in Markdown."""
    title, _, rest = design.doc.partition("\n")
    parts = [f"# {design.name}", title, _fence_indented(rest.strip("\n"))]
    database = _database_with_sample(design)
    for table in design.tables:
        parts += _table_sections(table, design, database)
    if design.inefficient:
        parts += ["## Not efficient with these keys", charts.inefficient_chart(design.inefficient)]
    if database is not None:
        if design.compare is not None:
            parts += _comparison_section(design)
        database.close()
    return "\n\n".join(part for part in parts if part) + "\n"


def _comparison_section(design: Design) -> list[str]:
    """Compare the cost of the design's variants, measured on the sample data."""
    with connect(":memory:", *design.tables) as fresh:
        results = list(verify(design, fresh))
    title, _, text = (design.compare.__doc__ or "").strip().partition("\n")
    table = design.compare.as_markdown(design.compare.compare(results))
    return ["## Comparison", title, text.strip("\n"), table]


def _fence_indented(text: str) -> str:
    """Turn the indented blocks of a docstring into fenced code blocks."""
    blocks = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines and all(line.startswith("    ") or not line for line in lines):
            blocks.append("```\n" + "\n".join(line[4:] for line in lines) + "\n```")
        else:
            blocks.append(block)
    return "\n\n".join(blocks)


def _table_sections(declared: type[Table], design: Design, database: Database | None) -> list[str]:
    table = declared.__table__
    parts, level = [], "##"
    patterns = [
        found
        for found in design.patterns
        if any(entity.table is table for entity in found.plan._entities())
    ]
    if len(design.tables) > 1:
        level = "###"
        parts = [f"## Table `{table.name}`"]
        if any(found.function.__module__ == declared.__module__ for found in patterns):
            parts += _variant_docstring(declared, design)
    parts += [
        f"{level} Entities",
        f"```mermaid\n{erd(table.entities)}\n```",
        f"{level} Entity chart",
        charts.entity_chart(table),
        charts.delimiter_notes(table),
        charts.entity_notes(table),
        _tenancy(table, design),
    ]
    if patterns:
        parts += [f"{level} Access patterns", COST_NOTE, charts.pattern_chart(patterns, table)]
    if table.indexes:
        parts.append(f"{level} Indexes")
        for name, index in table.indexes.items():
            kind = "Global" if index.kind == "global" else "Local"
            parts += [f"{kind} secondary index `{name}`:", charts.index_chart(table, name)]
    parts += [f"{level} Key map", f"```mermaid\n{key_map(table)}\n```"]
    if database is not None:
        items = Scanner(database).items(table)
        parts += [
            f"{level} Sample item collections",
            charts.item_collections(table, items, MAX_SAMPLES),
        ]
    return parts


def _variant_docstring(table: type[Table], design: Design) -> list[str]:
    """Return the docstring of the module of a table, if it is not that of the whole design."""
    text = (sys.modules[table.__module__].__doc__ or "").strip()
    if text == design.doc:
        return []
    title, _, rest = text.partition("\n")
    return [title, _fence_indented(rest.strip("\n"))]


def _tenancy(table: TableMap, design: Design) -> str:
    """Show the partitions that one tenant may read and write."""
    for declared in design.tables:
        tenancy = declared.__tenancy__
        if declared.__table__ is table and tenancy is not None:
            rows = [[f"`{shard}`", "read, write"] for shard in tenancy.write]
            rows += [[f"`{shard}`", "read"] for shard in tenancy.read]
            rows += [[f"`{partition}`", "read, as all tenants"] for partition in tenancy.shared]
            title = f"A database scoped by `{tenancy.tenant}` can access these partitions:"
            return f"{title}\n\n{charts.markdown(['partition', 'access'], rows)}"
    return ""


def key_map(table: TableMap) -> str:
    """Return a flowchart of the keys of each entity in the table and its indexes."""
    lines = ["flowchart LR", f'  base["{table.name}"]']
    lines += [f'  {_node(name)}["{name}"]' for name in table.indexes]
    for entity in table.entities:
        lines.append(f'  {entity.name}["{entity.name}"]')
        for key in (entity.primary, *entity.indexes):
            target = "base" if key.index is None else _node(key.index.name)
            label = "<br/>".join(
                f"{name} {template.show()}" for name, template in key.templates.items()
            )
            lines.append(f'  {entity.name} -->|"{label}"| {target}')
    return "\n".join(lines)


def _node(name: str) -> str:
    return "index_" + "".join(c if c.isalnum() else "_" for c in name)


def _database_with_sample(design: Design) -> Database | None:
    """Return a database that contains the sample data; None for a design without any."""
    if design.sample is None:
        return None
    database = connect(":memory:", *design.tables)
    load_sample(design, database)
    return database
