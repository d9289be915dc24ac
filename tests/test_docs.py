"""The examples in the documents run, and say what the documents say."""

from __future__ import annotations

import doctest
import importlib
import io
import re
import shlex
import sqlite3
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import tablewright
from tablewright import Engine
from tablewright.server import serving
from tests import commands
from tests.wire.support import read_states

ROOT = Path(__file__).parent.parent
SOURCE = Path(tablewright.__file__).parent


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = sorted(map(module_name, SOURCE.rglob("*.py")))
WITH_EXAMPLES = sorted(
    module_name(path) for path in SOURCE.rglob("*.py") if ">>> " in path.read_text()
)


def blocks(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def prose(document: Path) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", text, re.MULTILINE)


def anchor(heading: str) -> str:
    """The fragment that leads to a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/cost.md",
        "docs/engine.md",
        "docs/migration/boto3.md",
        "docs/migration/pynamodb.md",
        "docs/operations.md",
        "docs/partiql.md",
        "docs/publishing.md",
        "docs/serving.md",
    ],
)
def test_a_document_runs_from_top_to_bottom(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every Python block, in one namespace; what a comment says is printed is printed."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with closing(Engine("shop.db")) as engine, serving(engine) as url:
        for block in blocks(document, "python"):
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(block.replace("http://127.0.0.1:8000", url), names)
            for promise in re.findall(r"^ *print\(.*\)  # (.*)$", block, re.MULTILINE):
                assert promise in printed.getvalue().splitlines()
        if "engine" in names:
            names["engine"].close()
    for block in blocks(document, "console"):
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if output and not command.startswith("tablewright serve"):
                assert run(shlex.split(command)) == output


def test_the_first_example_of_the_readme_has_at_most_25_lines() -> None:
    assert blocks("README.md", "python")[0].count("\n") <= 25


def run(command: list[str]) -> str:
    """What a command prints: `tablewright`'s own, and a plain `sqlite3 FILE SQL`."""
    program, *arguments = command
    if program == "sqlite3":
        file, statement = arguments
        with closing(sqlite3.connect(file)) as connection:
            rows = sorted(connection.execute(statement))
        return "".join("|".join(map(str, row)) + "\n" for row in rows)
    assert program == "tablewright"
    done = commands.run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_can_be_imported() -> None:
    for name in MODULES:
        if not name.endswith("__main__"):
            importlib.import_module(name)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_in_docstrings_are_right(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_link_of_a_document_leads_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", prose(document)):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_link_to_a_section_leads_to_its_heading() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    texts = {document.resolve(): prose(document) for document in documents}
    anchors = {document: set(map(anchor, headings(text))) for document, text in texts.items()}
    for document, text in texts.items():
        for path, section in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", text):
            target = (document.parent / path).resolve() if path else document
            assert section in anchors[target], f"{document.name}: {path}#{section}"


def test_every_operation_of_dynamodb_is_listed_once_with_its_state() -> None:
    text = (ROOT / "docs/operations.md").read_text()
    rows = re.findall(
        r"^\| ([A-Z]\w+(?:, \w+)*) \| (\w+) \|", text.partition("## Settings")[0], re.M
    )
    status = {name: kind for names, kind in rows for name in names.split(", ")}
    assert len(status) == sum(names.count(",") + 1 for names, _ in rows)
    assert status == {operation: state for operation, (state, _) in read_states().items()}


def test_every_command_is_in_the_readme() -> None:
    listed = run(["tablewright", "--help"])
    for command in re.findall(r"^│ ([a-z][a-z-]+) ", listed, re.MULTILINE):
        assert f"tablewright {command}" in (ROOT / "README.md").read_text()


def test_the_public_names_are_these() -> None:
    assert sorted(tablewright.__all__) == (ROOT / "tests/public_names.txt").read_text().split()
    for name in tablewright.__all__:
        assert hasattr(tablewright, name)
