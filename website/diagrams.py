"""Diagrams of the designs, in the colours of the page, instead of text for Mermaid."""

from __future__ import annotations

import re

from tablewright.designs.catalog import load
from tablewright.presentation.erd import erd
from tablewright.presentation.erd_svg import erd_svg
from tablewright.presentation.key_map import key_map
from tablewright.presentation.style import rules, tokens

_MERMAID = re.compile(r"^```mermaid\n.*?^```\n", re.MULTILINE | re.DOTALL)
#: The colour schemes of the site: the light one and the dark one.
SCHEMES = ("default", "slate")


def drawn(text: str, name: str) -> str:
    """Return the document of a design with its diagrams drawn."""
    diagrams = iter(_diagrams(name))
    return _MERMAID.sub(lambda _: f'<div class="drawing">{next(diagrams)}</div>\n', text)


def _diagrams(name: str) -> list[str]:
    """Return the diagrams of a design in the order of its document: two of each table."""
    found: list[str] = []
    for table in (declared.__table__ for declared in load(name).tables):
        title = f"Entities of the table {table.name}"
        found.append(erd_svg(erd(table.entities), title, f"diagram{len(found)}"))
        found.append(key_map(table))
    return found


def diagram_style() -> str:
    """Return the style of diagrams, for both schemes."""
    schemes = "".join(
        tokens(mode, f"[data-md-color-scheme={scheme}]") for mode, scheme in enumerate(SCHEMES)
    )
    return f"{schemes}.drawing {{ overflow-x: auto; }}\n{rules('diagram')}"
