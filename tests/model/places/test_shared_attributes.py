"""One composed attribute as a key of several indexes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from datetime import date
from typing import Any

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
    put,
    save,
    upsert,
)
from tablewright.database import Database
from tablewright.formats import coded
from tablewright.plans import backfill
from tests.model.declaring.declarations import refused
from tests.prepared import Prepare, with_tables
from tests.things import NamedEntity


class Tasks(Table, name="tasks"):
    by_name = GSI("GSI1PK", "GSI1SK")
    by_day = GSI("GSI1PK", "GSI2SK")
    by_team = GSI("GSI1PK")


class Task(Entity, table=Tasks):
    name: Attr[str] = attr()
    team: Attr[str | None] = attr(default=None)
    due: Attr[date | None] = attr(default=None)
    done: Attr[bool] = attr(default=False)
    primary = key("TASK" / name, "TASK")
    by_name = index(Tasks.by_name, "TEAM" / team, "NAME" / name, when=done == False)  # noqa: E712
    by_day = index(Tasks.by_day, "TEAM" / team, "DUE" / due)


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Tasks)


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Tasks)


def keys(engine: Engine) -> dict[str, str]:
    (item,) = engine.call("Scan", {"TableName": "tasks"})["Items"]
    return {name: item[name]["S"] for name in sorted(item) if name.startswith("GSI")}


BOTH = {"GSI1PK": "TEAM#red", "GSI1SK": "NAME#a", "GSI2SK": "DUE#2026-05-01"}
DUE = date(2026, 5, 1)


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ({"team": "red", "due": DUE}, set()),
        ({"team": "red"}, {"GSI2SK"}),
        ({"team": "red", "due": DUE, "done": True}, {"GSI1SK"}),
        ({"team": "red", "done": True}, {"GSI1PK", "GSI1SK", "GSI2SK"}),
        ({"due": DUE}, {"GSI1PK", "GSI1SK", "GSI2SK"}),
    ],
)
def test_the_attribute_is_there_while_one_of_the_indexes_needs_it(
    db: Database, engine: Engine, values: dict[str, Any], missing: set[str]
) -> None:
    expected = {name: text for name, text in BOTH.items() if name not in missing}
    task = db.run(create(Task(name="a", **values)))
    assert keys(engine) == expected
    assert db.run(Task.by_name("red")) == ([] if "GSI1SK" in missing else [task])
    assert db.run(Task.by_day("red")) == ([] if "GSI2SK" in missing else [task])

    db.run(put(Task(name="a")))
    changes = [getattr(Task, name).set(value) for name, value in values.items()]
    db.run(Task.primary("a").update(*changes))
    assert keys(engine) == expected

    db.run(put(Task(name="a", team="blue", due=DUE)))
    stored = db.run(Task.primary("a"))
    assert stored is not None
    stored.team, stored.due = values.get("team"), values.get("due")
    stored.done = values.get("done", False)
    db.run(save(stored))
    assert keys(engine) == expected
    assert db.run(backfill(Task)) == 0


def test_an_update_of_one_index_keeps_the_attribute_for_the_other(
    db: Database, engine: Engine
) -> None:
    db.run(create(Task(name="a", team="red", due=DUE)))
    db.run(Task.primary("a").update(Task.due.set(None)))
    assert keys(engine) == {"GSI1PK": "TEAM#red", "GSI1SK": "NAME#a"}
    db.run(Task.primary("a").update(Task.due.set(DUE)))
    db.run(Task.primary("a").update(Task.done.set(True)))
    assert keys(engine) == {"GSI1PK": "TEAM#red", "GSI2SK": "DUE#2026-05-01"}
    db.run(upsert(Task(name="a"), Task.due.set(None)))
    assert keys(engine) == {}


@dataclass
class Suffix:
    """A codec that writes more behind a text."""

    suffix: str

    def encode(self, text: str) -> str:
        return text + self.suffix

    def decode(self, text: str) -> str:
        return text.removesuffix(self.suffix)


class JobFields(NamedEntity):
    team: Attr[str] = attr()
    done: Attr[bool] = attr(default=False)


NAME, TEAM = JobFields.name, JobFields.team


def declare_job(first: Any, second: Any) -> None:
    """Declare two indexes that share the attribute `GSI1PK`, with these paths for it."""

    class Jobs(Table, name="jobs"):
        by_name = GSI("GSI1PK", "GSI1SK")
        by_day = GSI("GSI1PK", "GSI2SK")

    class Job(JobFields, table=Jobs):
        by_name = index(Jobs.by_name, first, "NAME" / NAME)
        by_day = index(Jobs.by_day, second, "NAME" / NAME)


@pytest.mark.parametrize("suffix", ["-a", "-b"])
def test_codecs_of_one_class_may_differ(suffix: str) -> None:
    told = "Job.by_day: 'GSI1PK' is {Suffix(team)} here and {Suffix(team)} in Job.by_name"
    with nullcontext() if suffix == "-a" else refused(told):
        declare_job(coded(TEAM, Suffix("-a")), coded(TEAM, Suffix(suffix)))


def test_two_templates_of_one_attribute_are_refused() -> None:
    with refused(
        "Job.by_day: 'GSI1PK' is CREW#{team} here and TEAM#{team} in Job.by_name",
        "write the same path, or use another attribute",
        "test_shared_attributes.py:",
    ):
        declare_job("TEAM" / TEAM, "CREW" / TEAM)


def test_a_condition_that_the_other_index_defeats_is_refused() -> None:
    with refused("Job.open: all its key attributes are also those of Job.by_name", "when="):

        class Job(JobFields, table=Tasks):
            by_name = index(Tasks.by_name, "CREW" / TEAM, "JOB" / NAME)
            open = index(Tasks.by_team, "CREW" / TEAM, when=JobFields.done == False)  # noqa: E712
