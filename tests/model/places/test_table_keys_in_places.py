"""Indexes with several key attributes, of which some are composed keys of the table."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import GSI, Attr, Engine, Entity, Table, attr, connect, create, explain, index, key
from tablewright.database import Database
from tablewright.errors import ValidationException
from tablewright.plans import Query
from tablewright.studio.patterns.partiql_code import CannotExpress, keys_in, translate
from tests.model.declaring.declarations import refused
from tests.prepared import with_tables
from tests.transports import record_requests


class Store(Table, name="store"):
    by_state = GSI(("tenant", "PK"), ("state", "SK"))
    by_line = GSI("PK", ("SK", "state"))


class Line(Entity, table=Store):
    tenant: Attr[str] = attr()
    order: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    state: Attr[str] = attr(default="new")
    primary = key("ORDER" / order, "LINE" / number)
    by_state = index(Store.by_state, (tenant, "ORDER" / order), (state, "LINE" / number))
    by_line = index(Store.by_line, "ORDER" / order, ("LINE" / number, state))


class Payment(Entity, table=Store):
    """Is in the indexes, because it has their attributes."""

    tenant: Attr[str] = attr()
    order: Attr[str] = attr()
    state: Attr[str] = attr(default="new")
    primary = key("ORDER" / order, "PAYMENT")


@pytest.fixture
def prepare() -> Any:
    return with_tables(Store)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Store)
    for number, state in ((1, "new"), (2, "sent"), (10, "new"), (100, "new")):
        db.run(create(Line(tenant="t", order="7", number=number, state=state)))
    db.run(create(Line(tenant="u", order="8", number=1)))
    db.run(create(Payment(tenant="t", order="7")))
    return db


CASES: list[tuple[Query[Line], str, list[int]]] = [
    (Line.by_state("t", "7"), 'tenant="t" AND PK="ORDER#7"', [1, 10, 100, 2]),
    (
        Line.by_state("t", "7").eq("new"),
        'tenant="t" AND PK="ORDER#7" AND state="new" AND begins_with(SK, "LINE#")',
        [1, 10, 100],
    ),
    (
        Line.by_state("t", "7").eq("new").gte(10),
        'tenant="t" AND PK="ORDER#7" AND state="new" AND SK BETWEEN "LINE#010" AND "LINE$"',
        [10, 100],
    ),
    (
        Line.by_line("7").eq(10).begins_with("n"),
        'PK="ORDER#7" AND SK="LINE#010" AND begins_with(state, "n")',
        [10],
    ),
    (Line.by_line("7").eq(2), 'PK="ORDER#7" AND SK="LINE#002"', [2]),
    (Line.by_line("7").lt(10), 'PK="ORDER#7" AND SK BETWEEN "LINE#" AND "LINE#010"', [1, 2]),
]


@pytest.mark.parametrize(("query", "condition", "numbers"), CASES)
def test_a_composed_key_is_bound_like_an_attribute(
    db: Database, engine: Engine, query: Query[Line], condition: str, numbers: list[int]
) -> None:
    assert [line.number for line in db.run(query)] == numbers
    assert str(explain(query).condition) == condition


def test_partiql_reads_no_such_index_as_explain_and_the_engine_say(
    db: Database, engine: Engine
) -> None:
    recorded = record_requests(db)
    db.run(Line.by_line("7").eq(2))
    (request,) = recorded.requests
    with pytest.raises(CannotExpress, match="no index with a key of several attributes"):
        translate(*request, keys_in({"store": Store.__table__}))
    statement = "SELECT * FROM store.by_line WHERE \"PK\" = 'ORDER#7' AND \"SK\" = 'LINE#002'"
    with pytest.raises(ValidationException, match="multi-attribute"):
        engine.call("ExecuteStatement", {"Statement": statement})


def test_a_move_of_the_item_moves_the_row(db: Database) -> None:
    db.run(Line.primary("8", 1).update(Line.number.set(9), Line.state.set("sent")))
    assert [line.number for line in db.run(Line.by_state("u", "8").eq("sent", 9))] == [9]
    assert not db.run(Line.by_line("8").eq(1))
    assert Line.where(Line.order == "8", Line.number == 9) is not None


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            lambda t, o, s: index(Store.by_state, (t, "ORDERS" / o), (s, "META" / t.again)),
            "'PK' is a key of the table, ORDER_OF#{order}; an index cannot compose it as "
            "ORDERS#{order}; write the same path",
        ),
        (
            lambda t, o, s: index(Store.by_state, (t, o), (s, "META" / t.again)),
            "'PK' is a key of the table, ORDER_OF#{order}",
        ),
        (
            lambda t, o, s: index(Store.by_state, ("T" / t, "ORDER_OF" / o), (s, "META" / t.again)),
            "'tenant' belongs to a key of several attributes, which are stored unchanged",
        ),
    ],
)
def test_another_path_than_that_of_the_primary_key_is_refused(make: Any, problem: str) -> None:
    with refused(problem):

        class Order(Entity, table=Store):
            tenant: Attr[str] = attr()
            order: Attr[str] = attr()
            state: Attr[str] = attr()
            primary = key("ORDER_OF" / order, "META")
            place = make(tenant, order, state)
