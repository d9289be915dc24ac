"""The key map of a table, for Mermaid: the keys of each entity in the table and its indexes."""

from __future__ import annotations

from tablewright.mapping.table import TableMap


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
