"""Unique values while others write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tablewright import Engine, connect, create, put
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import Contention, UniqueViolation
from tests.plan.writes.unique.accounts import Category, Recipes, items
from tests.transports import InterferingTransport


def test_a_value_that_changes_after_it_was_read_is_read_again(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Category.primary("1").update(Category.name.set("roots"))),
    )

    db.run(Category.primary("1").update(Category.name.set("greens")))

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


def test_a_put_over_a_value_that_changes_after_it_was_read_reads_it_again(
    db: Database, engine: Engine
) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Category.primary("1").update(Category.name.set("roots"))),
    )

    db.run(put(Category(id="1", name="greens")))

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


def test_a_put_of_what_another_creates_meanwhile_replaces_it(db: Database, engine: Engine) -> None:
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(create(Category(id="1", name="roots")))
    )

    db.run(put(Category(id="1", name="greens")))

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


@pytest.mark.parametrize(
    "write",
    [
        lambda: Category.primary("1").update(Category.name.set("greens")),
        lambda: put(Category(id="1", name="greens")),
    ],
    ids=["update", "put"],
)
def test_a_value_that_the_entity_itself_got_meanwhile_is_its_own(
    db: Database, engine: Engine, write: Callable[[], Any]
) -> None:
    """Somebody else makes the same change first; no other entity has the value."""
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Category.primary("1").update(Category.name.set("greens"))),
    )

    db.run(write())

    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


def test_a_value_that_another_takes_meanwhile_is_refused(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(create(Category(id="2", name="greens")))
    )

    with pytest.raises(UniqueViolation):
        db.run(Category.primary("1").update(Category.name.set("greens")))

    assert db.run(Category.by_name("vegetables")) == Category(id="1", name="vegetables")


def test_a_change_that_never_wins_gives_up_and_writes_nothing(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.write.CONTENTION", Backoff(8, first=0.0, longest=0.0)
    )
    db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda n: other.run(Category.primary("1").update(Category.name.set(f"name {n}"))),
        times=1000,
    )

    with pytest.raises(Contention, match=r"update Category: .* nothing was written"):
        db.run(Category.primary("1").update(Category.name.set("greens")))

    (category, sentinel) = items(engine)
    assert category["name"].startswith("name ")
    assert sentinel["PK"] == f"CATEGORYNAME#{category['name']}"
