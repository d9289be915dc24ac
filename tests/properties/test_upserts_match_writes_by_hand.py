"""A sequence of upserts leaves what reading first, and then creating or updating, would.

Compared are the items themselves, with their index keys and sentinels, and their versions.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    update,
    upsert,
    version,
)
from tablewright.database import Database
from tablewright.errors import UniqueViolation
from tests.properties.test_updates_match_rewrites import (
    BEGINNING,
    Plain,
    Plains,
    State,
    Stats,
    Step,
    Thing,
    Things,
    adding,
    bystander,
    setting,
    steps,
    stored,
)


class Rows(Table, name="rows"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_city = GSI("GSI2PK", "GSI2SK")
    by_owner = GSI("GSI3PK", "GSI3SK")
    heavy = GSI("GSI4PK", "GSI4SK")


class Row(Entity, table=Rows):
    """Every attribute has a default, and no value is unique: most upserts are one request."""

    owner: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    city: Attr[str | None] = attr(default=None)
    street: Attr[str | None] = attr(default=None)
    state: Attr[State] = attr(default=State.DRAFT)
    rank: Attr[int | None] = attr(default=None)
    weight: Attr[int] = attr(pad=4, default=0)
    level: Attr[int] = attr(pad=4, default=2)
    tags: Attr[set[str]] = attr(default_factory=set)
    log: Attr[list[str]] = attr(default_factory=list)
    stats: Attr[Stats] = attr(default_factory=Stats)
    version: Attr[int] = version()

    primary = key("OWNER" / owner, "ROW" / number)
    of_state = index(Rows.by_state, "STATE" / state, "LEVEL" / level)
    of_city = index(Rows.by_city, "CITY" / city, "WEIGHT" / weight)
    of_owner = index(Rows.by_owner, "OWNER" / owner, "ROW" / number)
    heavy = index(Rows.heavy, "HEAVY", "ROW" / number, when=weight > 3)


numbers = st.integers(0, 9)
row_steps = st.one_of(
    steps.filter(lambda step: step[0] in Row.__entity__.attributes),
    setting("level", numbers),
    adding("level"),
)
#: Some changes at a key, with a new entity or without; None deletes the item.
Upserts = list[tuple[int, bool, list[Step] | None]]


def sequences(each: st.SearchStrategy[Step]) -> st.SearchStrategy[Upserts]:
    changes = st.lists(each, min_size=1, max_size=4, unique_by=lambda step: step[0])
    return st.lists(
        st.tuples(st.sampled_from([6, 7]), st.booleans(), st.none() | changes), max_size=8
    )


def by_hand(db: Database, new: Any, changes: list[Any], given: list[Step]) -> None:
    """Read the item; update it, or create the entity with the changes."""
    found = db.run(type(new).primary(new.owner, new.number))
    if found is not None:
        db.run(update(found, *changes))
        return
    for (name, _, apply), change in zip(given, changes, strict=True):
        if type(change).__name__ == "SetIfAbsent":
            setattr(new, name, None)  # the change says what the attribute starts with
        state = dict(vars(new))
        apply(state)
        setattr(new, name, state[name])
    db.run(create(new))


def run_upserts(kind: Any, table: type[Table], sequence: Upserts, values: dict[str, Any]) -> None:
    with Engine(":memory:") as engine, Engine(":memory:") as other:
        db, hand = connect(engine, table), connect(other, table)
        if kind is not Row:
            db.run(create(bystander(kind)))
            hand.run(create(bystander(kind)))
        for number, with_entity, given in sequence:
            at = kind.primary("o", number)
            if given is None:
                db.run(at.delete())
                hand.run(at.delete())
                continue
            changes = [make(kind) for _, make, _ in given]
            starts = values if with_entity or kind is not Row else {}
            start = starts | {"owner": "o", "number": number}
            plan = upsert(kind(**start), *changes) if starts else at.upsert(*changes)
            is_unique = True
            try:
                by_hand(hand, kind(**start), changes, given)
            except UniqueViolation:
                is_unique = False
            with nullcontext() if is_unique else pytest.raises(UniqueViolation):
                db.run(plan)
        name = table.__table__.name
        assert stored(engine, name) == stored(other, name)
        for number in (6, 7):
            mine, theirs = (each.run(kind.primary("o", number)) for each in (db, hand))
            assert getattr(mine, "version", None) == getattr(theirs, "version", None)
        assert engine.check()


@given(sequences(row_steps))
def test_upserts_in_one_request(sequence: Upserts) -> None:
    given_values = {"city": "Bern", "weight": 5, "level": 2, "log": ["a"]}
    run_upserts(Row, Rows, sequence, given_values)


@given(sequences(steps))
def test_upserts_of_a_versioned_entity_with_unique_values(sequence: Upserts) -> None:
    run_upserts(Thing, Things, sequence, BEGINNING)


@given(sequences(steps))
def test_upserts_of_an_entity_with_unique_values(sequence: Upserts) -> None:
    run_upserts(Plain, Plains, sequence, BEGINNING)
