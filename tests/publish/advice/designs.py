"""Designs of the tests: files with an entity or two, whose findings are asserted."""

from __future__ import annotations

from pathlib import Path

from tablewright.cost import load_rates
from tablewright.designs.catalog import load
from tablewright.publish.advice import Finding, advise
from tests.publish.advice.fixes import fixed

IMPORTS = """\
from __future__ import annotations
from datetime import date, datetime, UTC
from enum import StrEnum
from tablewright import *
from tablewright.formats import *
from tablewright.rules import *

class Shop(Table):
    {indexes}
"""
#: An entity whose key is fine.
ORDER = """
class Order(Entity, table=Shop):
    id: Attr[str] = attr()
    status: Attr[str] = attr()
    at: Attr[datetime] = attr()

    primary = key("ORDER" / id, "ORDER" / id.again)
"""


def find(
    folder: Path, source: str, rule: str | None = None, *, indexes: str = "pass", rates: str = ""
) -> list[Finding]:
    """Return the findings about a design with this source, of one rule or of all.

    The code of each fix must compile: a design with it is loaded.
    """
    text = IMPORTS.format(indexes=indexes) + source
    design = load(str(_written(folder / "design.py", text)))
    given = load_rates(design, _written(folder / "rates.toml", rates))
    found = [each for each in advise(design, given) if rule in (None, each.rule)]
    for finding in found:
        for number, code in enumerate(fixed(text, finding.fix)):
            load(str(_written(folder / f"fixed_{number}.py", code)))
    return found


def _written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file
