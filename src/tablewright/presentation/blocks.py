"""Blocks: the parts of a document, in order, for every format.

A document is a list of blocks. Markdown and HTML are made from the same list. A text may contain
code between backticks and, at the beginning of a line, `- ` for an entry of a list, as docstrings
do. `Code` and `Plain` are values that are shown as they are, with no such marks. Cells that name
entities, patterns and key conditions have colours and links in HTML; in Markdown they are texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.explanation import all_conditions
from tablewright.plan.shape import Shape
from tablewright.presentation.erd import Erd, mermaid
from tablewright.presentation.states import States, mermaid_states


class Code(str):
    """A cell that is code, or a stored value."""

    __slots__ = ()


class Plain(str):
    """A cell that contains stored values and no marks."""

    __slots__ = ()


class EntityCell(Struct, frozen=True):
    """A cell with the names of entities."""

    text: str
    entities: tuple[EntityMap, ...]


class PatternCell(Struct, frozen=True):
    """A cell with the name of an access pattern."""

    name: str
    label: str


class ConditionCell(Struct, frozen=True):
    """A cell with the key conditions of a shape."""

    shape: Shape
    entities: tuple[EntityMap, ...]


Cell: TypeAlias = str | EntityCell | PatternCell | ConditionCell


class Links(Struct, frozen=True):
    """Where the names in a document lead; None: nowhere."""

    entity: Callable[[EntityMap], str | None] = lambda _: None
    pattern: Callable[[str], str | None] = lambda _: None


NO_LINKS = Links()


class Heading(Struct, frozen=True):
    """A heading; the title of the document has level 1."""

    level: int
    text: str


class Prose(Struct, frozen=True):
    """A paragraph, or a list, or both."""

    text: str


class Verbatim(Struct, frozen=True):
    """Lines that keep their form."""

    text: str


class Chart(Struct, frozen=True):
    """A table; `numbers` is how many of its last columns are numbers."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: int = 0


class ErdDiagram(Struct, frozen=True):
    """The entity-relationship diagram of a table."""

    table: str
    erd: Erd


class KeyMapDiagram(Struct, frozen=True):
    """The keys of each entity in the table and its indexes."""

    table: TableMap


class StateDiagram(Struct, frozen=True):
    """The values of an attribute, and which may follow which."""

    states: States


Block: TypeAlias = Heading | Prose | Verbatim | Chart | ErdDiagram | KeyMapDiagram | StateDiagram


def docstring_blocks(text: str) -> Iterator[Block]:
    """Return the blocks of a docstring: its title, its paragraphs, its indented lines."""
    title, _, rest = text.partition("\n")
    yield Prose(title)
    for block in rest.strip("\n").split("\n\n"):
        lines = block.splitlines()
        if lines and all(line.startswith("    ") or not line for line in lines):
            yield Verbatim("\n".join(line[4:] for line in lines))
        else:
            yield Prose(block)


# -- Markdown ------------------------------------------------------------------------------------


def markdown(blocks: Sequence[Block]) -> str:
    """Return a document in Markdown, with diagrams for Mermaid."""
    return "\n\n".join(filter(None, map(_markdown, blocks))) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Prose(text):
            return text
        case Verbatim(text):
            return f"```\n{text}\n```"
        case Chart():
            return _markdown_table(block)
        case ErdDiagram(_, erd):
            return f"```mermaid\n{mermaid(erd)}\n```"
        case KeyMapDiagram(table):
            return f"```mermaid\n{_key_map(table)}\n```"
        case StateDiagram(states):
            return f"```mermaid\n{mermaid_states(states)}\n```"


def _markdown_table(chart: Chart) -> str:
    """Format a table with aligned columns."""
    body = [[_cell(cell) for cell in row] for row in chart.rows]
    first_number = len(chart.header) - chart.numbers
    widths = [max(map(len, column)) for column in zip(chart.header, *body, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if position < first_number else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = "|".join(
        "-" * (width + 2) if position < first_number else "-" * (width + 1) + ":"
        for position, width in enumerate(widths)
    )
    return "\n".join([line(chart.header), f"|{rule}|", *map(line, body)])


def _cell(cell: Cell) -> str:
    match cell:
        case EntityCell(text):
            shown = text
        case PatternCell(name):
            shown = f"`{name}`"
        case ConditionCell(shape):
            shown = f"`{all_conditions(shape)}`"
        case Code():
            shown = f"`{cell}`"
        case _:
            shown = str(cell)
    return shown.replace("|", "\\|").replace("\n", " ")


def _key_map(table: TableMap) -> str:
    """Return a flowchart of the keys of each entity in the table and its indexes."""
    lines = ["flowchart LR", f'  base["{table.name}"]']
    lines += [f'  {_index_node(name)}["{name}"]' for name in table.indexes]
    for entity in table.entities:
        lines.append(f'  {entity.name}["{entity.name}"]')
        for key in (entity.primary, *entity.indexes):
            target = "base" if key.index is None else _index_node(key.index.name)
            label = "<br/>".join(
                f"{name} {template.show()}" for name, template in key.templates.items()
            )
            lines.append(f'  {entity.name} -->|"{label}"| {target}')
    return "\n".join(lines)


def _index_node(name: str) -> str:
    return "index_" + "".join(c if c.isalnum() else "_" for c in name)
