"""What a plan says about when programs can run."""

from __future__ import annotations

import pytest

from tablewright import migrations
from tablewright.publish.migration_text import deployment
from tests.plan.migration.migrating import PAIRS, stored

BESIDE = "can connect at once, beside those of the old one"
ENDS = "Programs of the old version can run until the step `await-programs`"


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("attribute added", ["Programs of both versions can run before, during and after"]),
        ("required attribute added", [f"{BESIDE}. {ENDS}"]),
        ("place added", ["beside those of the old one. Until the last step, reads of new index"]),
        ("index added", ["as soon as its indexes exist, beside", "Until the last step", ENDS]),
        ("entity removed", [f"{BESIDE}. {ENDS}"]),
        ("unique added", [BESIDE, "Until the last step, uses of new unique values raise", ENDS]),
        ("attributes renamed", [ENDS, "when that step is done, while the items are rewritten."]),
        ("unique removed", [ENDS, "when that step is done. So the interruption"]),
        ("unique key changed", [ENDS, "So this needs downtime."]),
    ],
)
def test_a_plan_says_when_programs_can_run(name: str, texts: list[str]) -> None:
    pair = PAIRS[name]
    (plan,) = migrations.plan(stored(pair), pair.new.table)
    found = deployment(plan)
    assert [text for text in texts if text not in found] == []
