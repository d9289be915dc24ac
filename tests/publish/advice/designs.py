"""Designs of the tests: files with an entity or two, whose findings are asserted."""

from __future__ import annotations

from pathlib import Path

from tablewright.designs.catalog import load
from tablewright.publish.advice import Finding, advise
from tablewright.publish.cost import load_rates

IMPORTS = """\
from __future__ import annotations
from datetime import date, datetime, UTC
from enum import StrEnum
from tablewright import *
from tablewright.formats import *

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
    """Return the findings about a design with this source, of one rule or of all."""
    file = folder / "design.py"
    file.write_text(IMPORTS.format(indexes=indexes) + source)
    design = load(str(file))
    (folder / "rates.toml").write_text(rates)
    given = load_rates(design, folder / "rates.toml")
    return [each for each in advise(design, given) if rule in (None, each.rule)]
