"""The guides run from top to bottom, say what they print, and leave no public name out."""

from __future__ import annotations

import gc
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

import pytest

from tablewright import errors, plans
from tests.test_docs import ROOT, blocks

GUIDES = [
    "docs/tutorial.md",
    "docs/modelling.md",
    *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/modelling/*.md"))),
    "docs/errors.md",
    "docs/policies.md",
    "docs/advice.md",
    "docs/backups.md",
    "docs/stream-events.md",
    "docs/streams.md",
    "docs/partiql.md",
    "docs/testing.md",
    "docs/plans.md",
    "docs/formats.md",
    "docs/observability.md",
    "docs/fastapi.md",
    "docs/http-api.md",
    "docs/deploying-an-api.md",
    "docs/tables-without-a-version.md",
    "docs/your-second-version.md",
]
PUBLIC = [
    name
    for name in (ROOT / "tests/public_names.txt").read_text().split()
    if not name.startswith("__")
]


def examples(document: str) -> Iterator[tuple[int, str, str | None]]:
    """Each Python block: its line, its text, and the text block right behind it, if any."""
    text = (ROOT / document).read_text()
    block = r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?"
    for found in re.finditer(block, text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start(1)) + 1, found[1], found[2]


@pytest.fixture
def unclosed_clients() -> Iterator[None]:
    """Collect what an example leaves open, such as clients of boto3, before other tests do."""
    yield
    gc.collect()


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.usefixtures("unclosed_clients")
@pytest.mark.parametrize("document", GUIDES)
def test_a_guide_runs_from_top_to_bottom(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every Python block, in one module. A comment behind `print(…)` is a line that it prints; a
    text block behind a Python block is all that it prints, but for the breaks of its lines."""
    monkeypatch.chdir(tmp_path)
    module = ModuleType(f"guide_{Path(document).stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for line, block, shown in examples(document):
        where = f"{document}, line {line}"
        code = compile("\n" * (line - 1) + block, document, "exec", dont_inherit=True)
        output = io.StringIO()
        with redirect_stdout(output):
            exec(code, vars(module))
        # A guide leaves out the file and line at the end of a DeclarationError.
        printed = re.sub(rf" \({re.escape(document)}:\d+\)", "", output.getvalue())
        for promise in re.findall(r"^ *print\(.*\)  # (.*)$", block, re.MULTILINE):
            assert promise in printed.splitlines(), where
        if shown is not None:
            assert printed.split() == shown.split(), where


def test_every_python_block_of_a_guide_is_found() -> None:
    for document in GUIDES:
        assert [block for _, block, _ in examples(document)] == blocks(document, "python")


@pytest.mark.slow
@pytest.mark.parametrize(("document", "passed"), [("tutorial", 1), ("testing", 13)])
def test_the_tests_of_a_guide_pass(document: str, passed: int, tmp_path: Path) -> None:
    """The whole guide is a module that pytest can collect."""
    test = tmp_path / f"test_{document}.py"
    test.write_text("\n\n".join(blocks(f"docs/{document}.md", "python")))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"{passed} passed" in done.stdout, done.stdout + done.stderr


def test_the_first_query_of_the_tutorial_comes_early() -> None:
    lines = (ROOT / "docs/tutorial.md").read_text().splitlines()[:40]
    assert any("db.run(Book.by_author" in line for line in lines)


@pytest.mark.parametrize("name", sorted({*PUBLIC, *plans.__all__}))
def test_every_public_name_is_in_a_document(name: str) -> None:
    texts = [document.read_text() for document in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))]
    assert any(re.search(rf"\b{name}\b", text) for text in texts)


def test_every_public_exception_has_a_section() -> None:
    sections = set(re.findall(r"^## (\w+)", (ROOT / "docs/errors.md").read_text(), re.MULTILINE))
    public = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type)
        and issubclass(kind, errors.TablewrightError)
        and kind.__mro__.index(errors.TablewrightError) <= 2
        and not (issubclass(kind, errors.DynamoDBError) and kind is not errors.DynamoDBError)
    }
    assert "AlreadyExists" in public
    assert public - sections == set()
