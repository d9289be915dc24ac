"""mypy (strict) and pyright follow a design without a plugin, and flag every seeded mistake."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tablewright import explain
from tablewright.plans import access_patterns
from typing_tests import accepted, design, formats, kinds, links, rules, services

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "typing_tests"
MISTAKES = [
    *("mistakes.py", "format_mistakes.py", "kinds_mistakes.py", "rules_mistakes.py"),
    *("links_mistakes.py", "services_mistakes.py"),
]
FILES = [
    *("design.py", "accepted.py", "formats.py", "kinds.py", "links.py", "rules.py", "services.py"),
    *MISTAKES,
]

#: Where a checker finds errors: `mistakes.py:82: Settings(themes="dark")`.
Places = set[str]


def place(file: str | Path, line: int) -> str:
    path = ROOT / file
    return f"{path.name}:{line}: {path.read_text().splitlines()[line - 1].strip()}"


def output(*command: str) -> str:
    paths = [str((FOLDER / name).relative_to(ROOT)) for name in FILES]
    command = (sys.executable, "-m", *command, *paths)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


def mypy() -> Places:
    found = [json.loads(line) for line in output("mypy", "--output", "json").splitlines()]
    return {place(one["file"], one["line"]) for one in found if one["severity"] == "error"}


def pyright() -> Places:
    found = json.loads(output("pyright", "--outputjson"))["generalDiagnostics"]
    return {
        place(one["file"], one["range"]["start"]["line"] + 1)
        for one in found
        if one["severity"] == "error"
    }


def marked(checker: str) -> Places:
    """The lines that a checker flags: those marked for all, and those marked for it alone."""
    return {
        place(FOLDER / name, number)
        for name in MISTAKES
        for number, line in enumerate((FOLDER / name).read_text().splitlines(), 1)
        if "  # E: " in line or f"  # E ({checker}): " in line
    }


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_checker_flags_every_mistake_and_nothing_else(checker: Callable[[], Places]) -> None:
    """In the files of mistakes the marked lines alone, and nothing in the others."""
    flagged, mistakes = checker(), marked(checker.__name__)
    assert len(mistakes) > 200
    problems = [f"not flagged: {missed}" for missed in sorted(mistakes - flagged)]
    problems += [f"flagged: {right}" for right in sorted(flagged - mistakes)]
    assert not problems, "\n".join(["", *problems])


def test_every_pattern_of_the_design_is_traced() -> None:
    declared = re.findall(
        r"^@access_pattern\b.*\ndef (\w+)", inspect.getsource(design), re.MULTILINE
    )
    assert [pattern.name for pattern in access_patterns(design.Desk)] == declared
    for name in declared:
        assert explain(getattr(design, name)).operation


ACCEPTED = {
    name: function
    for module in (accepted, formats, kinds, links, rules, services)
    for name, function in vars(module).items()
    if inspect.isfunction(function)
    and function.__module__ == module.__name__
    and not inspect.signature(function).parameters
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_the_checkers_accept_also_runs(name: str) -> None:
    result: Any = ACCEPTED[name]()
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    assert result is None
