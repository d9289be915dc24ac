"""The model writes every construct of DynamoDB's expressions, as the documentation shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.expression.constructs import (
    CONDITIONS,
    DOCUMENT,
    KEY_CONDITIONS,
    PROJECTIONS,
    UPDATES,
    grammar,
    of_condition,
    of_key,
    of_projection,
    of_update,
    table,
)
from tests.tables_in_docs import written

Find = Callable[[str], set[str]]
EXAMPLES: list[tuple[str, dict[str, str], Find]] = [
    ("condition", CONDITIONS, of_condition),
    ("key", KEY_CONDITIONS, of_key),
    ("update", UPDATES, of_update),
    ("projection", PROJECTIONS, of_projection),
]


@pytest.mark.parametrize(("kind", "examples", "find"), EXAMPLES)
def test_the_model_writes_the_whole_grammar(
    kind: str, examples: dict[str, str], find: Find
) -> None:
    assert set(examples) == grammar()[kind]
    for construct, code in examples.items():
        assert construct in find(code), code


def test_the_documentation_lists_these_constructs() -> None:
    assert written(DOCUMENT, "constructs") == table(), "run: python -m tests.tables_in_docs"
