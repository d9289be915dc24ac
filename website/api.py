"""The API reference: every public name, from its docstring, with an example that runs.

The signature and the docstring of a name are rendered by mkdocstrings. The example is the shortest
Python block of the guides in which the name is used; the tests run the guides.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache

from website.project import ROOT

#: The public modules, and what they are for.
MODULES = {
    "tablewright": "Declare tables, entities and patterns; open a database; write and read.",
    "tablewright.plans": "The types of plans: what patterns return and databases run.",
    "tablewright.rules": "Rules that every write keeps.",
    "tablewright.formats": "Formats of key parts: how a value is written in a key.",
    "tablewright.database": "The types of databases.",
    "tablewright.streams": "Typed events of streams.",
    "tablewright.testing": "Fixtures, mocks and checks for tests.",
    "tablewright.observe": "Observers of requests: logs, totals, traces.",
    "tablewright.policy": "IAM policies for the embedded engine.",
    "tablewright.ids": "KSUIDs and ULIDs.",
    "tablewright.fastapi": "FastAPI: an HTTP API, databases, errors, pages and ETags.",
    "tablewright.client": "Calls of an HTTP API that is made of access patterns.",
    "tablewright.errors": "Exceptions. [Errors](../errors.md) explains them, with examples.",
}
#: The documents whose examples are shown, the most introductory first.
GUIDES = (
    "README.md",
    "docs/tutorial.md",
    "docs/modelling.md",
    "docs/modelling/entities.md",
    "docs/modelling/keys.md",
    "docs/modelling/indexes.md",
    "docs/modelling/databases.md",
    "docs/modelling/reads.md",
    "docs/modelling/aggregates.md",
    "docs/modelling/writes.md",
    "docs/modelling/transactions.md",
    "docs/modelling/integrity.md",
    "docs/modelling/rules.md",
    "docs/modelling/patterns.md",
    "docs/modelling/verifying.md",
    "docs/modelling/tenancy.md",
    "docs/modelling/existing-tables.md",
    "docs/plans.md",
    "docs/formats.md",
    "docs/testing.md",
    "docs/fastapi.md",
    "docs/http-api.md",
    "docs/your-second-version.md",
    "docs/tables-without-a-version.md",
    "docs/observability.md",
    "docs/stream-events.md",
    "docs/policies.md",
    "docs/engine.md",
    "docs/errors.md",
    "docs/scaling.md",
    "docs/publishing.md",
    "docs/cost.md",
)
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
#: Longer blocks are no example of one name.
LONGEST = 70


def api_pages() -> Iterator[tuple[str, str]]:
    """Yield a page for each public module, and their list."""
    lines = ["# API reference", "", "| module | what it is for |", "|---|---|"]
    for module, about in MODULES.items():
        page = f"{module.replace('.', '-')}.md"
        lines.append(f"| [`{module}`]({page}) | {about.replace('../', '../')} |")
        yield f"api/{page}", module_page(module, about)
    yield "api/index.md", "\n".join(lines) + "\n"


def module_page(module: str, about: str) -> str:
    """Return the page of a module: each of its names, with an example."""
    lines = [f"# `{module}`", "", about, ""]
    for name in public_names(module):
        lines += [f"::: {module}.{name}", ""]
        if module != "tablewright.errors" and (found := example(name)) is not None:
            block, title, page = found
            lines += ["```python", block.rstrip(), "```", "", f"From [{title}](../{page}).", ""]
    return "\n".join(lines)


def public_names(module: str) -> list[str]:
    """Return the public names of a module, as `__all__` lists them."""
    imported = importlib.import_module(module)
    names: list[str] = sorted(getattr(imported, "__all__", ()), key=str.lower)
    return [name for name in names if not name.startswith("__")]


def example(name: str) -> tuple[str, str, str] | None:
    """Return the shortest example with a name, and the title and page of its guide."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for guide, blocks in _examples().items():
        found = [
            block for block in blocks if word.search(_without_imports(block))
            and block.count("\n") <= LONGEST
        ]  # fmt: skip
        if found:
            title = "the README" if guide == "README.md" else _title(guide)
            page = "index.md" if guide == "README.md" else guide.removeprefix("docs/")
            return min(found, key=len), title, page
    return None


@cache
def _examples() -> dict[str, list[str]]:
    paths = {guide: ROOT / guide for guide in GUIDES}
    return {
        guide: _BLOCK.findall(path.read_text()) for guide, path in paths.items() if path.is_file()
    }


def _title(guide: str) -> str:
    found = _HEADING.search((ROOT / guide).read_text())
    assert found is not None, guide
    return found[1]


@cache
def _without_imports(block: str) -> str:
    """Return the lines of a block that are not imports, where a name is used."""
    return "\n".join(
        line for line in block.splitlines() if not re.match(r"\s*(from \S+ )?import ", line)
    )
