"""Tables in documents that are made from the code: tests compare them, and this module writes them.

<!-- types: written by python -m tests.tables_in_docs -->
| type | …
<!-- end of types -->
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def written(document: str, name: str) -> str:
    """Return a table as the document has it."""
    found = _place(name).search((ROOT / document).read_text())
    assert found is not None, f"{document} has no place for the table {name!r}"
    return found[2].strip()


def write(document: str, name: str, table: str) -> None:
    """Put a table into its place in the document."""
    text = (ROOT / document).read_text()
    (ROOT / document).write_text(
        _place(name).sub(lambda found: f"{found[1]}\n{table}\n{found[3]}", text)
    )


def _place(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}: [^\n]*-->)\n(.*?)(<!-- end of {name} -->)", re.DOTALL)


def rows(header: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    bar = [tuple("---" for _ in header)]
    escaped = [tuple(cell.replace("|", "\\|") for cell in line) for line in (header, *bar, *lines)]
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in escaped)


if __name__ == "__main__":
    from tests.expression import constructs
    from tests.mapping.converters import types

    write(types.DOCUMENT, "types", types.table())
    write(constructs.DOCUMENT, "constructs", constructs.table())
