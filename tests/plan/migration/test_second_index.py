"""Another projection, in an index of another name: nothing is interrupted."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    migrations,
)
from tablewright.errors import DesignMismatch, MigrationRefused
from tablewright.migrations import MigrationProgress

Project = Literal["ALL", "KEYS_ONLY"]


def version(name: str, project: Project) -> Any:
    """Return a table, and its entity, with an index of this name and projection."""

    class Things(Table, name="things"):
        listed = GSI("GSI1PK", "GSI1SK", name=name, project=project)

    class Thing(Entity, table=Things, type_name="Thing"):
        tid: Attr[str] = attr()
        state: Attr[str] = attr()
        primary = key("THING" / tid, "THING")
        by_state = index(Things.listed, "STATE" / state, "THING" / tid)

    return Things, Thing


def test_both_versions_run_until_the_old_index_is_deleted() -> None:
    old, old_thing = version("by-state", "KEYS_ONLY")
    new, new_thing = version("by-state-2", "ALL")
    engine = Engine(":memory:")
    db = connect(engine, old)
    db.run(create(old_thing(tid="t0", state="a")))
    migrations.baseline(engine, old)
    db = connect(engine, old)
    (plan,) = migrations.plan(engine, new)
    assert [str(each) for each in plan.steps] == ["create-index by-state-2", "switch"]
    written = ["t0"]

    def use_old(_: MigrationProgress) -> None:
        """Write with the old version, and find everything that any version has written."""
        tid = f"t{len(written)}"
        db.run(create(old_thing(tid=tid, state="a")))
        written.append(tid)
        found = db.run(old_thing.by_state("a").select(old_thing.tid))
        assert sorted(tid for (tid,) in found) == sorted(written)

    migrations.apply(engine, new, progress=use_old)
    with connect(engine, new) as after:
        after.run(create(new_thing(tid="new", state="a")))
        written.append("new")
        assert sorted(each.tid for each in after.run(new_thing.by_state("a"))) == sorted(written)
    use_old(...)  # type: ignore[arg-type]
    (done,) = migrations.complete(engine, new, program_seconds=0)
    assert [str(each) for each in done.steps] == [
        "await-programs", "delete-index by-state", "finish",
    ]  # fmt: skip
    with pytest.raises(DesignMismatch, match="a later one, and that was completed"):
        connect(engine, old)
    with connect(engine, new) as after:
        assert sorted(each.tid for each in after.run(new_thing.by_state("a"))) == sorted(written)


def test_a_rollback_deletes_the_second_index() -> None:
    old, old_thing = version("by-state", "KEYS_ONLY")
    new, _ = version("by-state-2", "ALL")
    engine = Engine(":memory:")
    with connect(engine, old) as db:
        db.run(create(old_thing(tid="t0", state="a")))
    migrations.baseline(engine, old)
    migrations.apply(engine, new)
    migrations.rollback(engine, old, program_seconds=0)
    found = engine.call("DescribeTable", {"TableName": "things"})["Table"]
    assert [each["IndexName"] for each in found["GlobalSecondaryIndexes"]] == ["by-state"]
    with connect(engine, old) as db:
        assert list(db.run(old_thing.by_state("a").select(old_thing.tid))) == [("t0",)]


def test_the_same_name_is_refused_with_what_to_write() -> None:
    old, _ = version("by-state", "KEYS_ONLY")
    new, _ = version("by-state", "ALL")
    engine = Engine(":memory:")
    connect(engine, old).close()
    migrations.baseline(engine, old)
    with pytest.raises(MigrationRefused, match=r'name: GSI\(…, name="by-state2"\)'):
        migrations.apply(engine, new)
