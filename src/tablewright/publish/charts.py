"""Tables of a design's document, in Markdown: keys, indexes and access patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap, Template
from tablewright.mapping.table import TableMap
from tablewright.model.pattern import AccessPattern
from tablewright.values import Item


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, with its columns set to one width."""
    body = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in [list(header), *body]) for n in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return f"| {' | '.join(padded)} |"

    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return "\n".join([line(header), rule, *map(line, body)])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def entity_chart(table: TableMap) -> str:
    """Each entity, and each sentinel, with its key."""
    rows = []
    for entity in table.entities:
        rows.append([entity.name, *_shown(entity.primary, entity)])
        rows += [
            [f"{entity.name}, unique", *_shown(unique.key, entity)] for unique in entity.uniques
        ]
    return markdown(["Entity", *_names(table.attributes)], rows)


def index_chart(table: TableMap, name: str) -> str:
    """The entities that are in an index, with their keys there."""
    index = table.indexes[name]
    rows = [
        [entity.name, *_shown(key, entity), repr(key.when) if key.when else ""]
        for entity in table.entities
        for key in entity.indexes
        if key.index == index
    ]
    header = ["Entity", *_names(index.attributes)]
    if any(row[-1] for row in rows):
        return markdown([*header, "while"], rows)
    return markdown(header, [row[:-1] for row in rows])


def promises(table: TableMap) -> str:
    """What is kept in step with the entities: versions, histories, expiry."""
    lines = []
    for entity in table.entities:
        if entity.version is not None:
            lines.append(f"- {entity.name} counts its writes in `{entity.version.stored}`.")
        lines += [
            f"- A change of {entity.name}.{history.attribute} is recorded as {history.event.name}."
            for history in entity.histories
        ]
        if entity.ttl is not None:
            lines.append(f"- {entity.name} expires by `{entity.ttl.stored}`.")
    return "\n".join(lines)


def _names(attributes: tuple[str, str | None]) -> list[str]:
    return [name for name in attributes if name is not None]


def _shown(key: KeyMap, entity: EntityMap) -> list[str]:
    templates = [key.partition] if key.sort is None else [key.partition, key.sort]
    return [_template(template, entity) for template in templates]


def _template(template: Template, entity: EntityMap) -> str:
    """A template in the names that the item has, as code: a `#` at its start would be a heading."""
    text = template.show()
    for attribute in entity.attributes.values():
        text = text.replace(f"{{{attribute.name}}}", f"{{{attribute.stored}}}")
    return f"`{text}`"


def pattern_chart(patterns: list[AccessPattern]) -> str:
    """The access patterns, in the form of the documents."""
    rows = []
    for found in patterns:
        shape = found.shape
        conditions = shape.condition or "; ".join(
            dict.fromkeys(step.condition for step in shape.steps)
        )
        notes = [shape.order] if shape.order == "descending" else []
        if shape.filter:
            notes.append(f"if {shape.filter}")
        rows.append(
            [
                ", ".join(dict.fromkeys(shape.entity.split(", "))),
                found.doc.partition("\n")[0],
                f"`{found.name}`",
                shape.operation,
                shape.index or "table",
                f"`{conditions}`",
                "; ".join(notes),
            ]
        )
    header = ["Entity", "Access pattern", "Pattern", "Operation", "Table/Index", "Key condition"]
    return markdown([*header, "Notes"], rows)


def collections(table: TableMap, items: list[Item], most: int) -> str:
    """Items as they lie in the table, partition by partition; the first few of each."""
    partition, sort = table.attributes
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(_content(item[partition]), []).append(item)
    keys = {*_names(table.attributes), *(n for i in table.indexes.values() for n in i.attributes)}
    rows = []
    for text, members in list(groups.items())[:most]:
        for position, item in enumerate(members[:most]):
            others = ", ".join(
                f"{name}={_content(value)}" for name, value in item.items() if name not in keys
            )
            place = f"`{_content(item[sort])}`" if sort else ""
            rows.append([f"`{text}`" if position == 0 else "", place, _cut(others)])
        if len(members) > most:
            rows.append(["", f"… {len(members) - most} more", ""])
    if len(groups) > most:
        rows.append([f"… {len(groups) - most} more partitions", "", ""])
    return markdown([partition, sort or "", "attributes"], rows)


def _content(value: dict[str, Any]) -> str:
    ((tag, content),) = value.items()
    if tag == "M":
        return f"{{{', '.join(f'{name}: {_content(inner)}' for name, inner in content.items())}}}"
    if tag == "L":
        return f"[{', '.join(map(_content, content))}]"
    return str(content)


def _cut(text: str, width: int = 110) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
