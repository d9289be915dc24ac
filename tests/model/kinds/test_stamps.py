"""Stamps that the caller gives: data of another store keeps its times and versions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tablewright import (
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    created_at,
    key,
    put,
    transact,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue, VersionConflict
from tests.model.declaring.declarations import raw
from tests.things import NamedEntity


class Archive(Table, name="archive"):
    pass


class Paper(Entity, table=Archive):
    paper_id: Attr[str] = attr()
    made: Attr[datetime] = created_at()
    changed: Attr[datetime] = updated_at(name="changedAt")
    count: Attr[int] = version()
    primary = key("PAPER" / paper_id, "PAPER")


class Plain(NamedEntity, table=Archive): ...


@pytest.fixture
def db() -> Iterator[Database]:
    with connect(Engine(":memory:"), Archive) as db:
        yield db


MADE = datetime(2001, 2, 3, tzinfo=UTC)
CHANGED = datetime(2004, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize("write", [create, put])
@pytest.mark.parametrize("wrapped", [False, True])
def test_given_stamps_are_stored(db: Database, write: Any, wrapped: bool) -> None:
    paper = Paper(paper_id="P1")
    plan = write(paper).stamps(created_at=MADE, updated_at=CHANGED, version=7)
    db.run(transact(plan) if wrapped else plan)
    assert raw(db, Archive) == [
        {
            "PK": {"S": "PAPER#P1"},
            "SK": {"S": "PAPER"},
            "type": {"S": "Paper"},
            "paper_id": {"S": "P1"},
            "made": {"S": "2001-02-03T00:00:00.000000Z"},
            "changedAt": {"S": "2004-05-06T00:00:00.000000Z"},
            "count": {"N": "7"},
        }
    ]
    assert (paper.made, paper.changed, paper.count) == (MADE, CHANGED, 7)
    assert db.run(Paper.primary("P1")) == paper


def test_the_other_stamps_are_set_by_the_library(db: Database) -> None:
    paper = db.run(create(Paper(paper_id="P1")).stamps(created_at=MADE))
    assert paper.made == MADE
    assert paper.changed.year > 2020
    assert paper.count == 1


def test_a_put_with_stamps_still_checks_the_version(db: Database) -> None:
    db.run(create(Paper(paper_id="P1")))
    with pytest.raises(VersionConflict):
        db.run(put(Paper(paper_id="P1")).stamps(version=7))


def test_stamps_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Plain has no version\(\) to write"):
        create(Plain(name="x")).stamps(version=1)
    with pytest.raises(InvalidValue, match=r"Paper\.made"):
        create(Paper(paper_id="P1")).stamps(created_at=datetime(2001, 2, 3))
    with pytest.raises(InvalidValue, match=r"at least 1"):
        create(Paper(paper_id="P1")).stamps(version=0)


def test_the_constructor_says_how_to_give_a_stamp() -> None:
    with pytest.raises(InvalidValue, match=r"create\(…\)\.stamps\(created_at=…\)"):
        Paper(paper_id="P1", made=MADE)  # type: ignore[call-arg]
