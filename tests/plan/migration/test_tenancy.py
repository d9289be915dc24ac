"""Tenancy that is added to a table: databases of tenants before, during and after the migration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    Tenancy,
    attr,
    connect,
    create,
    index,
    key,
    migrations,
    put,
    unique,
)
from tablewright.errors import (
    AlreadyExists,
    IndexNotReady,
    NotFound,
    TenantViolation,
    UniqueNotReady,
)
from tablewright.model.databases.database import Database
from tablewright.plan.migration.executing import MigrationProgress
from tests.plan.migration.migrating import Stopped


class Before(Table, name="notes"):
    gsi1 = GSI("G1PK", "G1SK")


class OldNote(Entity, table=Before, type_name="Note"):
    note_id: Attr[str] = attr()
    team: Attr[str] = attr()
    text: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")
    by_team = index(Before.gsi1, "TEAM" / team, "NOTE" / note_id)


class Notes(Table, name="notes"):
    gsi1 = GSI("G1PK", "G1SK")
    tenancy = Tenancy("team", write=("TEAM#{team}",))


class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    team: Attr[str] = attr()
    text: Attr[str] = attr()
    primary = key("TEAM" / team, "NOTE" / note_id)
    by_team = index(Notes.gsi1, "TEAM" / team, "NOTE" / note_id)


STEPS = ["before", "check", "rewrite", "verify", "after"]


def stored() -> Engine:
    """Return a table with notes 0 and 2 of team a, and 1 and 3 of team b."""
    engine = Engine(":memory:")
    with connect(engine, Before) as db:
        for number in range(4):
            note = OldNote(note_id=f"{number}", team="ab"[number % 2], text=f"T{number}")
            db.run(create(note))
    migrations.baseline(engine, Before)
    return engine


def migrated_until(step: str) -> Engine:
    """Return a table whose migration was stopped when a step began."""
    engine = stored()

    def stop(progress: MigrationProgress) -> None:
        if progress.step.name == step:
            raise Stopped

    if step != "before":
        with suppress(Stopped):
            migrations.apply(engine, Notes, progress=stop, program_seconds=0)
    return engine


@contextmanager
def tenant(engine: Engine, team: str) -> Iterator[Database]:
    with connect(engine, Notes) as db:
        yield db.for_tenant(team=team)


@pytest.mark.parametrize("step", STEPS)
def test_a_tenant_uses_its_own_items(step: str) -> None:
    engine = migrated_until(step)
    with tenant(engine, "a") as db:
        assert db.run(Note.primary("a", "0")) == Note(note_id="0", team="a", text="T0")
        db.run(Note.primary("a", "2").update(Note.text.set("changed")))
        db.run(create(Note(note_id="4", team="a", text="T4")))
        assert [each.text for each in db.run(Note.by_team("a"))] == ["T0", "changed", "T4"]
        db.run(Note.primary("a", "0").delete())
    migrations.apply(engine, Notes, lease_seconds=0)
    migrations.complete(engine, Notes)
    with tenant(engine, "a") as db:
        assert [each.note_id for each in db.run(Note.primary.within("a"))] == ["2", "4"]
    with tenant(engine, "b") as db:
        assert [each.text for each in db.run(Note.primary.within("b"))] == ["T1", "T3"]


@pytest.mark.parametrize("step", STEPS)
def test_the_items_of_other_tenants_are_not_reached_by_their_former_keys(step: str) -> None:
    engine = migrated_until(step)
    before = notes(engine)
    with tenant(engine, "a") as db:
        assert db.run(Note.primary("a", "1")) is None  # a note of team b
        with pytest.raises(NotFound):
            db.run(Note.primary("a", "1").update(Note.text.set("stolen")))
        db.run(Note.primary("a", "1").delete())
        with pytest.raises(TenantViolation):
            db.run(Note.primary("b", "1"))
        with pytest.raises(TenantViolation):
            db.run(put(Note(note_id="1", team="b", text="stolen")))
    assert notes(engine) == before


@pytest.mark.parametrize("write", [create, put])
@pytest.mark.parametrize("step", STEPS)
def test_an_id_that_another_tenant_has_gets_the_new_key(step: str, write: Any) -> None:
    engine = migrated_until(step)
    before = notes(engine)
    with tenant(engine, "a") as db:
        db.run(write(Note(note_id="1", team="a", text="T1 of a")))
        db.run(Note.primary("a", "1").update(Note.text.set("changed")))
        assert db.run(Note.primary("a", "1").or_raise()).text == "changed"
        with pytest.raises(AlreadyExists):
            db.run(create(Note(note_id="1", team="a", text="again")))
    assert set(before) < set(notes(engine))
    migrations.apply(engine, Notes, lease_seconds=0)
    for team, text in (("a", "changed"), ("b", "T1")):
        with tenant(engine, team) as db:
            assert db.run(Note.primary(team, "1").or_raise()).text == text


@pytest.mark.parametrize("step", STEPS[:-1])
def test_the_partition_of_a_tenant_is_not_read_until_its_items_are_there(step: str) -> None:
    with tenant(migrated_until(step), "a") as db, pytest.raises(IndexNotReady):
        db.run(Note.primary.within("a"))


def test_tenancy_is_undone_with_what_was_written_meanwhile() -> None:
    engine = migrated_until("after")
    with tenant(engine, "b") as db:
        db.run(create(Note(note_id="5", team="b", text="T5")))
    migrations.rollback(engine, Before)
    with connect(engine, Before) as db:
        found = [db.run(OldNote.primary(f"{number}")) for number in (1, 5)]
        assert [each.text for each in found if each is not None] == ["T1", "T5"]


def test_values_that_are_unique_for_each_tenant_wait_for_their_sentinels() -> None:
    class Reserved(Table, name="notes"):
        gsi1 = GSI("G1PK", "G1SK")
        tenancy = Tenancy("team", write=("TEAM#{team}",))

    class Titled(Entity, table=Reserved, type_name="Note"):
        note_id: Attr[str] = attr()
        team: Attr[str] = attr()
        text: Attr[str] = attr()
        primary = key("TEAM" / team, "NOTE" / note_id)
        by_team = index(Reserved.gsi1, "TEAM" / team, "NOTE" / note_id)
        titled = unique("TEAM" / team, "TEXT" / text)

    engine = stored()
    with connect(engine, Reserved) as db:
        acme = db.for_tenant(team="a")
        with pytest.raises(UniqueNotReady):
            acme.run(create(Titled(note_id="7", team="a", text="T7")))
    migrations.apply(engine, Reserved)
    with connect(engine, Reserved) as db:
        found = db.for_tenant(team="a").run(Titled.titled("a", "T2"))
        assert found == Titled(note_id="2", team="a", text="T2")


def notes(engine: Engine) -> list[str]:
    found = engine.call("Scan", {"TableName": "notes"})["Items"]
    return sorted(str(item) for item in found if "$design" not in item)
