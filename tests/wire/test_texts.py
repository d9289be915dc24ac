"""Each text of DynamoDB stands in one module, so that it can be corrected in one place."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import tablewright

ROOT = Path(tablewright.__file__).parent
PACKAGES = ("encoding", "engine", "errors", "expression", "partiql", "server", "wire")
#: A text of fewer words may be part of several messages.
WORDS = 4


def texts(module: Path) -> Iterator[str]:
    """Yield the strings of a module, also those in parts of f-strings, without docstrings."""
    tree = ast.parse(module.read_text())
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value.strip()


def test_no_text_stands_in_two_modules() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for package in PACKAGES:
        for module in (ROOT / package).rglob("*.py"):
            for text in texts(module):
                if len(text.split()) >= WORDS:
                    found[text].add(str(module.relative_to(ROOT)))
    assert {text: modules for text, modules in found.items() if len(modules) > 1} == {}
