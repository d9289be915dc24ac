from __future__ import annotations

import pytest

from tablewright.designs.catalog import BUNDLED, SUMMARIES, Summary, load


@pytest.mark.parametrize("name", BUNDLED)
def test_the_summary_of_a_design_is_true(name: str) -> None:
    design = load(name)
    entities = sum(len(table.__table__.entities) for table in design.tables)
    title = design.doc.partition("\n")[0].partition(": ")[2]
    patterns = len(design.patterns)
    assert Summary(title, len(design.tables), entities, patterns) == SUMMARIES[name]
