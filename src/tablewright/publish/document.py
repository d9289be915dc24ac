"""The design document, made from the code: what a reader needs to know of a design.

Everything in it comes from the declarations and from the sample data; it changes when they do, and
at no other time.
"""

from __future__ import annotations

from tablewright.mapping.table import TableMap
from tablewright.model.database import Database, connect
from tablewright.publish import charts
from tablewright.publish.erd import erd
from tablewright.verify.design import Design
from tablewright.verify.run import Scanner, load_sample, verify

#: How many partitions, and items of each, a sample shows.
SHOWN = 8


def document(design: Design) -> str:
    """The document of a design, in Markdown."""
    title, _, rest = design.doc.partition("\n")
    parts = [f"# {design.name}", title, _indented(rest.strip("\n"))]
    database = _sampled(design)
    for table in design.tables:
        parts += _table(table.__table__, design, database, several=len(design.tables) > 1)
    if database is not None:
        if design.compare is not None:
            parts += _comparison(design)
        database.close()
    return "\n\n".join(part for part in parts if part) + "\n"


def _comparison(design: Design) -> list[str]:
    """What the design's ways cost, measured on its sample."""
    with connect(":memory:", *design.tables) as fresh:
        results = list(verify(design, fresh))
    title, _, words = (design.compare.__doc__ or "").strip().partition("\n")
    table = design.compare.as_markdown(design.compare.compare(results))
    return ["## Comparison", title, words.strip("\n"), table]


def _indented(text: str) -> str:
    """The design's own words; what is indented there is a block here."""
    blocks = []
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines and all(line.startswith("    ") or not line for line in lines):
            blocks.append("```\n" + "\n".join(line[4:] for line in lines) + "\n```")
        else:
            blocks.append(block)
    return "\n\n".join(blocks)


def _table(
    table: TableMap, design: Design, database: Database | None, *, several: bool
) -> list[str]:
    level = "##"
    parts = [f"## Table `{table.name}`"] if several else []
    if several:
        level = "###"
    mine = [
        found
        for found in design.patterns
        if any(entity.table is table for entity in found.plan._entities())
    ]
    parts += [
        f"{level} Entities",
        f"```mermaid\n{erd(table.entities)}\n```",
        f"{level} Entity chart",
        charts.entity_chart(table),
        charts.promises(table),
        _tenancy(table, design),
        f"{level} Access patterns",
        charts.pattern_chart(mine),
    ]
    if table.indexes:
        parts.append(f"{level} Indexes")
        for name, index in table.indexes.items():
            kind = "Global" if index.kind == "global" else "Local"
            parts += [f"{kind} secondary index `{name}`:", charts.index_chart(table, name)]
    parts += [f"{level} Key map", f"```mermaid\n{key_map(table)}\n```"]
    if database is not None:
        items = Scanner(database).items(table)
        parts += [f"{level} Sample item collections", charts.collections(table, items, SHOWN)]
    return parts


def _tenancy(table: TableMap, design: Design) -> str:
    """Whose partitions are whose."""
    for declared in design.tables:
        tenancy = declared.__tenancy__
        if declared.__table__ is table and tenancy is not None:
            rows = [[f"`{shard}`", "read, write"] for shard in tenancy.write]
            rows += [[f"`{shard}`", "read"] for shard in tenancy.read]
            told = f"A database scoped by `{tenancy.tenant}` reaches these partitions:"
            return f"{told}\n\n{charts.markdown(['partition', 'may'], rows)}"
    return ""


def key_map(table: TableMap) -> str:
    """Which entity is where, as a flowchart."""
    lines = ["flowchart LR", f'  base["{table.name}"]']
    lines += [f'  {_node(name)}["{name}"]' for name in table.indexes]
    for entity in table.entities:
        lines.append(f'  {entity.name}["{entity.name}"]')
        for key in (entity.primary, *entity.indexes):
            target = "base" if key.index is None else _node(key.index.name)
            pairs = zip(key.attributes, (key.partition, key.sort), strict=True)
            label = "<br/>".join(
                f"{name} {template.show()}" for name, template in pairs if template is not None
            )
            lines.append(f'  {entity.name} -->|"{label}"| {target}')
    return "\n".join(lines)


def _node(name: str) -> str:
    return "index_" + "".join(c if c.isalnum() else "_" for c in name)


def _sampled(design: Design) -> Database | None:
    """A database with the sample in it."""
    if design.sample is None:
        return None
    database = connect(":memory:", *design.tables)
    load_sample(design, database)
    return database
