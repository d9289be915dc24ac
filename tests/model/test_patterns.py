"""Patterns: traced when they are defined, explained in the documents' words, run as written."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from tablewright import (
    GSI,
    LSI,
    Aggregate,
    Attr,
    Create,
    Delete,
    Engine,
    Entity,
    First,
    Get,
    GetByUnique,
    Load,
    Put,
    Query,
    Table,
    Transaction,
    Update,
    access_pattern,
    attr,
    batch_get,
    batch_write,
    children,
    condition_check,
    connect,
    create,
    delete,
    explain,
    index,
    key,
    put,
    root,
    transact,
    unique,
    update,
    version,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.formats import day, descending, epoch_seconds, lower
from tablewright.plan.plan import Wait
from tablewright.plans import (
    AccessPattern,
    BatchGet,
    BatchWrite,
    Count,
    Plan,
    Scan,
    Shape,
    access_patterns,
)


class Club(Table, name="pattern_club"):
    by_joined = LSI("LSI1SK", name="lsi1")
    by_city = GSI("GSI1PK", "GSI1SK", name="gsi1")
    ids = GSI("id", "type", project="KEYS_ONLY")


class User(Entity, table=Club):
    user_id: Attr[str] = attr(name="id")
    email: Attr[str] = attr()
    joined: Attr[datetime] = attr()
    city: Attr[str | None] = attr(default=None)
    points: Attr[int] = attr(default=0)
    revision: Attr[int] = version()
    primary = key("USER", "USER" / user_id)
    recent = primary.local(Club.by_joined, "JOINED" / joined)
    in_city = index(Club.by_city, "CITY" / city, "USER" / joined)
    by_id = index(Club.ids, user_id)
    by_email = unique("EMAIL" / email)


class Visit(Entity, table=Club):
    user_id: Attr[str] = attr(name="userId")
    at: Attr[datetime] = attr()
    primary = key("USER", "USER" / user_id / "VISIT" / at)


class UserWithVisits(Aggregate):
    user: User = root()
    visits: list[Visit] = children()


class Numbers(Table, name="pattern_numbers", pk="series", sk="number", type_attribute=None): ...


class Number(Entity, table=Numbers):
    series: Attr[str] = attr()
    number: Attr[int] = attr()
    primary = key(series, number)


# -- every kind of plan, in the documents' words -------------------------------------------------


@access_pattern
def user(id: str) -> Get[User]:  # noqa: A002  # as the document names it
    """Get a user."""
    return User.primary(id)


@access_pattern
def all_users() -> Query[User]:
    """Every user."""
    return User.primary.within()


@access_pattern
def newest_users(n: int) -> Query[User]:
    return User.recent().desc().page_size(n)


@access_pattern
def users_named(start: str) -> Query[User]:
    return User.primary.within().begins_with(start)


@access_pattern
def users_since(since: datetime) -> Query[User]:
    return User.recent().gte(since)


@access_pattern
def users_before(moment: datetime) -> Query[User]:
    return User.recent().lt(moment)


@access_pattern
def city_between(city: str, low: datetime, high: datetime) -> Query[User]:
    return User.in_city(city).between(low, high)


@access_pattern
def rich_in_city(city: str, points: int) -> Query[User]:
    return User.in_city(city).filter((User.points > points) & User.email.exists()).page_size(5)


@access_pattern
def one_id(user_id: str) -> Query[tuple[str]]:
    return User.by_id(user_id).select(User.user_id)


@access_pattern
def visits(user_id: str) -> Query[Visit]:
    return Visit.primary.within().eq(user_id)


@access_pattern
def visits_after(user_id: str, moment: datetime) -> Query[Visit]:
    return Visit.primary.within().eq(user_id).gt(moment)


@access_pattern
def visit_count(user_id: str) -> Count:
    return Visit.primary.within().eq(user_id).count()


@access_pattern
def last_visit(user_id: str) -> First[Visit]:
    return Visit.primary.within().eq(user_id).desc().first()


@access_pattern
def user_with_visits(user_id: str) -> Load[UserWithVisits]:
    return UserWithVisits.of(User.primary(user_id))


@access_pattern
def user_with_some_visits(user_id: str, some: int) -> Load[UserWithVisits]:
    return UserWithVisits.of(User.primary(user_id)).limit(some)


@access_pattern
def user_by_email(email: str) -> GetByUnique[User]:
    return User.by_email(email.lower())


@access_pattern
def several_users(ids: Sequence[str]) -> BatchGet[User]:
    return batch_get(User.primary(user_id) for user_id in ids)


@access_pattern
def export() -> Scan[User]:
    """Everything, once a month."""
    return User.scan(reason="the monthly export")


@access_pattern
def export_rich(points: int) -> Scan[User]:
    return User.scan(reason="the monthly export").filter(User.points >= points)


@access_pattern
def add_visit(visit: Visit) -> Put[Visit]:
    return put(visit)


@access_pattern
def add_user(user: User) -> Create[User]:
    return create(user)


@access_pattern
def reward(user_id: str, points: int) -> Update[User]:
    return User.primary(user_id).update(User.points.increment(points))


@access_pattern
def move_city(user_id: str, city: str) -> Update[User]:
    return User.primary(user_id).update(User.city.set(city)).condition(User.points > 3)


@access_pattern
def rewrite(changed: User, city: str) -> Update[User]:
    return update(changed, User.city.set(city))


@access_pattern
def forget_visit(user_id: str, at: datetime) -> Delete[Visit]:
    return Visit.primary(user_id, at).delete()


@access_pattern
def forget(gone: Visit) -> Delete[Visit]:
    return delete(gone)


@access_pattern
def visit_as(user_id: str, made: Visit) -> Transaction:
    return transact(create(made), condition_check(User.primary(user_id), User.points > 0))


@access_pattern
def add_visits(made: list[Visit]) -> BatchWrite:
    return batch_write(put(visit) for visit in made)


@access_pattern
def where_in_city(city: str, since: datetime, points: int) -> Query[User]:
    return User.where(User.city == city, User.joined >= since, User.points > points)


@access_pattern
def number_from(series: str, start: int) -> Query[Number]:
    return Number.primary.within(series).gte(start)


Told = tuple[str, str | None, str, str, str, str]

USER = 'PK="USER" AND SK="USER#{%s}"'

EXPLAINED: dict[Callable[..., Any], Told] = {
    user: ("GetItem", None, USER % "id", "", "1", ""),
    all_users: (
        "Query",
        None,
        'PK="USER" AND begins_with(SK, "USER#")',
        "ascending",
        "1 MB",
        'type="User"',
    ),
    newest_users: ("Query", "lsi1", 'PK="USER"', "descending", "{n}", ""),
    users_named: (
        "Query",
        None,
        'PK="USER" AND begins_with(SK, "USER#{start}")',
        "ascending",
        "1 MB",
        'type="User"',
    ),
    users_since: (
        "Query",
        "lsi1",
        'PK="USER" AND LSI1SK>="JOINED#{since}"',
        "ascending",
        "1 MB",
        "",
    ),
    users_before: (
        "Query",
        "lsi1",
        'PK="USER" AND LSI1SK<"JOINED#{moment}"',
        "ascending",
        "1 MB",
        "",
    ),
    city_between: (
        "Query",
        "gsi1",
        'GSI1PK="CITY#{city}" AND GSI1SK BETWEEN "USER#{low}" AND "USER#{high}"',
        "ascending",
        "1 MB",
        "",
    ),
    rich_in_city: (
        "Query",
        "gsi1",
        'GSI1PK="CITY#{city}"',
        "ascending",
        "5, of 100 read at a time",
        "points > {points} AND attribute_exists(email)",
    ),
    one_id: ("Query", "ids", 'id="{user_id}" AND type="User"', "ascending", "1 MB", ""),
    visits: (
        "Query",
        None,
        'PK="USER" AND begins_with(SK, "USER#{user_id}#VISIT#")',
        "ascending",
        "1 MB",
        "",
    ),
    visits_after: (
        "Query",
        None,
        'PK="USER" AND SK BETWEEN "USER#{user_id}#VISIT#{moment}" AND "USER#{user_id}#VISIT$"',
        "ascending",
        "1 MB",
        "",
    ),
    visit_count: (
        "Query",
        None,
        'PK="USER" AND begins_with(SK, "USER#{user_id}#VISIT#")',
        "ascending",
        "1 MB",
        "",
    ),
    last_visit: (
        "Query",
        None,
        'PK="USER" AND begins_with(SK, "USER#{user_id}#VISIT#")',
        "descending",
        "1",
        "",
    ),
    user_with_visits: (
        "Query",
        None,
        'PK="USER" AND SK BETWEEN "USER#{user_id}" AND "USER#{user_id}$"',
        "ascending",
        "all of it",
        "",
    ),
    user_with_some_visits: (
        "Query",
        None,
        'PK="USER" AND SK BETWEEN "USER#{user_id}" AND "USER#{user_id}$"',
        "ascending",
        "1 + {some}",
        "",
    ),
    user_by_email: (
        "GetItem",
        None,
        'PK="EMAIL#{email.lower()}" AND SK="EMAIL#{email.lower()}"',
        "",
        "1",
        "",
    ),
    several_users: ("BatchGetItem", None, USER % "ids[]", "", "100 in a request", ""),
    export: ("Scan", None, "the monthly export", "", "1 MB", ""),
    export_rich: ("Scan", None, "the monthly export", "", "1 MB", "points >= {points}"),
    add_visit: ("PutItem", None, 'PK="USER" AND SK="USER#{user_id}#VISIT#{at}"', "", "1", ""),
    add_user: ("TransactWriteItems", "lsi1, gsi1, ids", USER % "user_id", "", "2", ""),
    reward: ("UpdateItem", None, USER % "user_id", "", "1", ""),
    move_city: ("UpdateItem", "gsi1", USER % "user_id", "", "1", "points > 3"),
    rewrite: ("UpdateItem", "gsi1", USER % "changed.user_id", "", "1", ""),
    forget_visit: (
        "DeleteItem",
        None,
        'PK="USER" AND SK="USER#{user_id}#VISIT#{at}"',
        "",
        "1",
        "",
    ),
    forget: (
        "DeleteItem",
        None,
        'PK="USER" AND SK="USER#{gone.user_id}#VISIT#{gone.at}"',
        "",
        "1",
        "",
    ),
    visit_as: ("TransactWriteItems", None, "", "", "", ""),
    add_visits: (
        "BatchWriteItem",
        None,
        'PK="USER" AND SK="USER#{user_id}#VISIT#{at}"',
        "",
        "25 in a request",
        "",
    ),
    where_in_city: (
        "Query",
        "gsi1",
        'GSI1PK="CITY#{city}" AND GSI1SK>="USER#{since}"',
        "ascending",
        "1 MB",
        "points > {points}",
    ),
    number_from: (
        "Query",
        None,
        'series="{series}" AND number>={start}',
        "ascending",
        "1 MB",
        "",
    ),
}
explained = pytest.mark.parametrize(
    ("function", "told"), EXPLAINED.items(), ids=[f.__name__ for f in EXPLAINED]
)


@explained
def test_explain_tells_operation_index_condition_order_page_and_filter(
    function: Callable[..., Any], told: Told
) -> None:
    shape = explain(function)
    assert (
        shape.operation,
        shape.index,
        shape.condition,
        shape.order,
        shape.page,
        shape.filter,
    ) == told


def test_explain_reads_as_text() -> None:
    assert str(explain(newest_users)).splitlines()[:3] == [
        'Query on pattern_club.lsi1: PK="USER"',
        "  order: descending",
        "  page: {n}",
    ]
    assert str(explain(user)).splitlines()[0] == (
        'GetItem on pattern_club: PK="USER" AND SK="USER#{id}"'
    )


def test_a_lookup_tells_both_of_its_requests() -> None:
    first, second = explain(user_by_email).steps
    assert first.condition == 'PK="EMAIL#{email.lower()}" AND SK="EMAIL#{email.lower()}"'
    assert second.condition == 'PK="USER" AND SK="USER#{user_id}"'
    assert second.entity == "User"


def test_a_transaction_tells_each_of_its_writes() -> None:
    steps = explain(visit_as).steps
    assert [(step.operation, step.condition, step.filter) for step in steps] == [
        ("PutItem", 'PK="USER" AND SK="USER#{user_id}#VISIT#{at}"', ""),
        ("ConditionCheck", USER % "user_id", "points > 0"),
    ]


def test_explain_names_the_entities() -> None:
    assert explain(user).entity == "User"
    assert explain(user_with_visits).entity == "User, Visit"
    assert explain(visit_as).entity == "Visit, User"


def test_explain_of_what_is_no_pattern_says_so() -> None:
    def plain(user_id: str) -> Get[User]:
        return User.primary(user_id)

    with pytest.raises(
        DeclarationError, match="plain is not a pattern; decorate it with @access_pattern"
    ):
        explain(plain)


# -- units ---------------------------------------------------------------------------------------

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def member(number: int, **values: Any) -> User:
    name = f"user-{number:04d}"
    return User(user_id=name, email=f"{name}@example.com", joined=MONDAY, **values)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as opened:
        yield opened


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Club, Found, Numbers)


def charged(plan: Plan[Any], db: Database) -> float:
    """What the engine charges for a plan, in units."""
    steps = plan._steps(db._context)
    units = 0.0
    try:
        step = next(steps)
        while True:
            assert not isinstance(step, Wait)
            answer = db._transport.send(
                step.operation, {**step.body, "ReturnConsumedCapacity": "TOTAL"}
            ).body
            consumed = msgspec.json.decode(answer)["ConsumedCapacity"]
            for one in consumed if isinstance(consumed, list) else [consumed]:
                units += one["CapacityUnits"]
            step = steps.send(answer)
    except StopIteration:
        return units


@pytest.mark.parametrize(
    ("function", "plan"),
    [
        pytest.param(function, plan, id=function.__name__)
        for function, plan in (
            (user, lambda: user("user-0001")),
            (all_users, all_users),
            (newest_users, lambda: newest_users(20)),
            (last_visit, lambda: last_visit("user-0001")),
            (visit_count, lambda: visit_count("user-0001")),
            (user_with_visits, lambda: user_with_visits("user-0001")),
            (user_by_email, lambda: user_by_email("user-0001@example.com")),
            (several_users, lambda: several_users(["user-0001"])),
            (add_visit, lambda: add_visit(Visit(user_id="u", at=MONDAY))),
            (add_user, lambda: add_user(member(99, city="Rome"))),
            (reward, lambda: reward("user-0001", 5)),
            (move_city, lambda: move_city("user-0001", "Rome")),
            (forget_visit, lambda: forget_visit("user-0001", MONDAY)),
            (visit_as, lambda: visit_as("user-0001", Visit(user_id="u", at=MONDAY))),
            (add_visits, lambda: add_visits([Visit(user_id="u", at=MONDAY)])),
        )
    ],
)
def test_the_estimate_is_within_a_factor_of_two_of_what_is_charged(
    function: Callable[..., Any], plan: Callable[[], Plan[Any]], db: Database
) -> None:
    """For items of an ordinary size, and a page of twenty."""
    for number in range(20):
        db.run(create(member(number, city="Oslo", points=9)))
        db.run(put(Visit(user_id="user-0001", at=MONDAY + timedelta(days=number))))
    shape = explain(function)
    estimate = shape.read_units + shape.write_units
    actual = charged(plan(), db)
    assert actual / 2 <= estimate <= actual * 2


def test_a_change_of_a_unique_value_is_charged_for_every_item_it_writes(db: Database) -> None:
    @access_pattern
    def change_email(user_id: str, email: str) -> Update[User]:
        return User.primary(user_id).update(User.email.set(email))

    db.run(create(member(1)))
    shape = explain(change_email)
    actual = charged(change_email("user-0001", "new@example.com"), db)
    assert actual / 2 <= shape.read_units + shape.write_units <= actual * 2


def test_a_write_with_a_sentinel_is_no_dearer_inside_of_transact() -> None:
    """It is a transaction already, and doubled once."""

    @access_pattern
    def add_atomically(user: User) -> Transaction:
        return transact(create(user))

    assert explain(add_user).operation == "TransactWriteItems"
    assert explain(add_atomically).write_units == explain(add_user).write_units


def test_a_consistent_read_costs_twice_as_much() -> None:
    @access_pattern
    def surely(user_id: str) -> Get[User]:
        return User.primary(user_id).consistent()

    assert explain(surely).read_units == 2 * explain(user).read_units


def test_reads_cost_no_writes_and_writes_no_reads() -> None:
    assert explain(user).write_units == 0
    assert explain(add_visit).read_units == 0
    assert explain(add_visit).write_units > 0


def test_a_larger_page_costs_more() -> None:
    @access_pattern
    def thousand() -> Query[User]:
        return User.recent().page_size(1000)

    assert explain(thousand).read_units > explain(newest_users).read_units


# -- patterns of a table -------------------------------------------------------------------------


def test_patterns_are_listed_in_the_order_of_their_definition() -> None:
    defined = [function.__name__ for function in EXPLAINED if function is not number_from]
    listed = [traced.name for traced in access_patterns(Club)]
    assert listed[: len(defined)] == defined
    assert [traced.name for traced in access_patterns(Numbers)][:1] == ["number_from"]


def test_a_listed_pattern_has_name_doc_parameters_and_shape() -> None:
    traced = access_patterns(Club)[0]
    assert isinstance(traced, AccessPattern)
    assert traced.name == "user"
    assert traced.doc == "Get a user."
    assert traced.parameters == ("id",)
    assert traced.function is user
    assert traced.shape == explain(user)
    assert isinstance(traced.shape, Shape)
    assert isinstance(traced.plan, Get)


def test_a_table_without_patterns_lists_none() -> None:
    class Quiet(Table, name="pattern_quiet"): ...

    assert access_patterns(Quiet) == []


def test_a_pattern_that_is_defined_again_replaces_the_first() -> None:
    class Redefined(Table, name="pattern_redefined"): ...

    class Thing(Entity, table=Redefined):
        thing_id: Attr[str] = attr()
        primary = key("THING" / thing_id, "THING")

    def define() -> Callable[[str], Get[Thing]]:
        @access_pattern
        def thing(thing_id: str) -> Get[Thing]:
            return Thing.primary(thing_id)

        return thing

    define()
    second = define()
    assert [traced.function for traced in access_patterns(Redefined)] == [second]


def test_two_tables_of_one_name_have_each_their_own_patterns() -> None:
    """Two designs may give their table the same name, as two tests of one process do."""

    class Older(Table, name="pattern_twins"): ...

    class Younger(Table, name="pattern_twins"): ...

    class Here(Entity, table=Older):
        name: Attr[str] = attr()
        primary = key("HERE" / name, "HERE")

    class There(Entity, table=Younger):
        name: Attr[str] = attr()
        primary = key("THERE" / name, "THERE")

    @access_pattern
    def here(name: str) -> Get[Here]:
        return Here.primary(name)

    @access_pattern
    def there(name: str) -> Get[There]:
        return There.primary(name)

    assert [traced.name for traced in access_patterns(Older)] == ["here"]
    assert [traced.name for traced in access_patterns(Younger)] == ["there"]


# -- what a pattern is to its caller -------------------------------------------------------------


def test_a_pattern_keeps_name_doc_and_signature() -> None:
    assert user.__name__ == "user"
    assert user.__doc__ == "Get a user."
    assert user.__module__ == __name__
    assert str(inspect.signature(newest_users)) == "(n: 'int') -> 'Query[User]'"


def test_a_pattern_runs_as_it_is_written(db: Database) -> None:
    for number in range(3):
        db.run(add_user(member(number, city="Oslo", points=number)))
    assert db.run(user("user-0001")) == db.run(User.primary("user-0001"))
    assert db.run(user(id="none")) is None
    assert [one.points for one in db.run(rich_in_city("Oslo", 0))] == [1, 2]
    assert db.run(user_by_email("USER-0002@example.com")) == db.run(user("user-0002"))
    found = db.run(several_users(["user-0002", "none", "user-0000"]))
    assert [one and one.user_id for one in found] == ["user-0002", None, "user-0000"]


def test_the_body_runs_once_to_be_traced_and_once_for_each_call() -> None:
    seen: list[object] = []

    @access_pattern
    def watched(user_id: str) -> Get[User]:
        seen.append(user_id)
        return User.primary(user_id)

    assert len(seen) == 1
    watched("a")
    watched("b")
    assert seen[1:] == ["a", "b"]


def test_defaults_are_for_calls_and_not_for_the_trace(db: Database) -> None:
    @access_pattern
    def page_of(city: str, size: int = 2, cursor: str | None = None) -> Query[User]:
        return User.in_city(city).page_size(size).after(cursor)

    assert explain(page_of).page == "{size}"
    for number in range(3):
        db.run(add_user(member(number, city="Oslo")))
    first = db.run(page_of("Oslo"))
    assert len(first) == 2
    assert len(db.run(page_of("Oslo", cursor=first.next_cursor))) == 1
    assert len(db.run(page_of("Oslo", 3))) == 3


def test_parameters_may_be_keywords_only(db: Database) -> None:
    @access_pattern
    def by_keyword(city: str, *, size: int = 2) -> Query[User]:
        return User.in_city(city).page_size(size)

    assert explain(by_keyword).page == "{size}"
    assert list(db.run(by_keyword("Oslo", size=1))) == []


def test_parameters_may_be_positional_only() -> None:
    @access_pattern
    def by_place(city: str, size: int, /) -> Query[User]:
        return User.in_city(city).page_size(size)

    assert explain(by_place).condition == 'GSI1PK="CITY#{city}"'


def test_parameters_may_be_any_number(db: Database) -> None:
    @access_pattern
    def any_number(*ids: str) -> BatchGet[User]:
        return batch_get(User.primary(user_id) for user_id in ids)

    assert explain(any_number).operation == "BatchGetItem"
    assert db.run(any_number("a", "b")) == [None, None]


def test_an_entity_parameter_has_symbols_for_its_attributes() -> None:
    @access_pattern
    def neighbours(of: User) -> Query[User]:
        assert of.city is not None
        return User.in_city(of.city).gte(of.joined)

    assert explain(neighbours).condition == (
        'GSI1PK="CITY#{of.city}" AND GSI1SK>="USER#{of.joined}"'
    )


def test_an_optional_parameter_is_traced_as_a_value_and_as_none(db: Database) -> None:
    @access_pattern
    def pages(city: str, cursor: str | None) -> Query[User]:
        return User.in_city(city).page_size(2).after(cursor)

    assert explain(pages).condition == 'GSI1PK="CITY#{city}"'
    assert list(db.run(pages("Rome", None))) == []


def test_a_condition_may_depend_on_whether_a_parameter_is_none() -> None:
    """Operation, index and order are the same; so is what it needs and costs."""

    @access_pattern
    def in_city(city: str, since: datetime | None) -> Query[User]:
        users = User.in_city(city)
        return users if since is None else users.gte(since)

    assert explain(in_city).condition == 'GSI1PK="CITY#{city}" AND GSI1SK>="USER#{since}"'


def test_a_body_that_does_not_take_none_is_traced_with_a_value() -> None:
    @access_pattern
    def maybe(city: str, by: User | None) -> Query[User]:
        assert by is not None
        return User.in_city(city).gte(by.joined)

    assert explain(maybe).condition == 'GSI1PK="CITY#{city}" AND GSI1SK>="USER#{by.joined}"'


def backwards(city: str, newest: bool | None) -> Query[User]:
    return User.in_city(city) if newest is None else User.in_city(city).desc()


def elsewhere(user_id: str, city: str | None) -> Query[User]:
    return User.recent() if city is None else User.in_city(city)


def another_operation(user_id: str, text: str | None) -> Any:
    user = User.primary(user_id)
    return user if text is None else user.update(User.city.set(text))


@pytest.mark.parametrize("function", [backwards, elsewhere, another_operation])
def test_another_operation_index_or_order_for_none_is_an_error(
    function: Callable[..., Any],
) -> None:
    with pytest.raises(
        DeclarationError, match=r"depends on '.*': .* for None; write one pattern for each"
    ):
        access_pattern(function)


@pytest.mark.parametrize(
    "kind",
    [list[str], tuple[str, ...], set[str], frozenset[str], Sequence[str], Iterable[str]],
    ids=str,
)
def test_a_collection_is_traced_with_one_member(kind: Any) -> None:
    def members(ids: Any) -> BatchGet[User]:
        return batch_get(User.primary(user_id) for user_id in ids)

    members.__annotations__["ids"] = kind
    assert explain(access_pattern(members)).condition == USER % "ids[]"


def test_a_collection_of_entities_is_traced_with_one_of_them() -> None:
    @access_pattern
    def again(users: Sequence[User]) -> BatchGet[User]:
        return batch_get(User.primary(user.user_id) for user in users)

    assert explain(again).condition == USER % "users[].user_id"


def test_arithmetic_on_arguments_is_shown() -> None:
    @access_pattern
    def last_week(now: datetime, size: int) -> Query[User]:
        return User.recent().gte(now - timedelta(days=7)).page_size(size + 1)

    assert explain(last_week).page == "{size + 1}"
    assert explain(last_week).condition == (
        'PK="USER" AND LSI1SK>="JOINED#{now - datetime.timedelta(days=7)}"'
    )


CALCULATIONS: dict[str, Callable[[Any], Any]] = {
    "{n + 1}": lambda n: n + 1,
    "{1 + n}": lambda n: 1 + n,
    "{n - 1}": lambda n: n - 1,
    "{9 - n}": lambda n: 9 - n,
    "{n * 2}": lambda n: n * 2,
    "{2 * n}": lambda n: 2 * n,
    "{n // 2}": lambda n: n // 2,
    "{n % 5}": lambda n: n % 5,
    "{-n}": lambda n: -n,
}


@pytest.mark.parametrize(("shown", "calculate"), CALCULATIONS.items(), ids=CALCULATIONS)
def test_a_symbol_can_be_calculated_with(shown: str, calculate: Callable[[Any], Any]) -> None:
    def calculated(n: int) -> Query[User]:
        return User.recent().page_size(calculate(n))

    assert explain(access_pattern(calculated)).page == shown


def test_a_text_can_be_put_before_an_argument() -> None:
    @access_pattern
    def prefixed(name: str) -> Get[User]:
        return User.primary("u-" + name)

    assert explain(prefixed).condition == 'PK="USER" AND SK="USER#{\'u-\' + name}"'


def test_methods_attributes_and_members_of_arguments_are_shown() -> None:
    @access_pattern
    def through(name: str, where: dict[str, str], on: datetime) -> Query[User]:
        return User.in_city(where["city"].strip()).gte(on.replace(hour=0))

    assert explain(through).condition == (
        'GSI1PK="CITY#{where[\'city\'].strip()}" AND GSI1SK>="USER#{on.replace(hour=0)}"'
    )


# -- a shape that depends on arguments -----------------------------------------------------------


def by_truth(city: str) -> Query[User]:
    return User.in_city(city) if city else User.recent()


def by_equality(city: str) -> Query[User]:
    return User.in_city(city) if city == "Rome" else User.recent()


def by_inequality(city: str) -> Query[User]:
    return User.in_city(city) if city != "Rome" else User.recent()


def by_order(size: int) -> Query[User]:
    return User.recent().page_size(size) if size > 10 else User.recent()


def by_format(city: str) -> Query[User]:
    return User.in_city(f"city of {city}")


def by_str(size: int) -> Query[User]:
    return User.in_city(str(size))


def by_length(city: str) -> Query[User]:
    return User.recent().page_size(len(city))


def by_iteration(city: str) -> Query[User]:
    return User.in_city("".join(letter for letter in city))


def by_membership_in_it(city: str) -> Query[User]:
    return User.in_city(city) if "x" in city else User.recent()


def by_membership_in_a_tuple(city: str) -> Query[User]:
    return User.in_city(city) if city in ("Rome", "Oslo") else User.recent()


def by_membership_in_a_set(city: str) -> Query[User]:
    return User.in_city(city) if city in {"Rome", "Oslo"} else User.recent()


def by_a_dictionary(city: str) -> Query[User]:
    return {"Rome": User.recent(), "Oslo": User.in_city("Oslo")}[city]


def by_default_of_a_dictionary(city: str) -> Query[User]:
    return {"Rome": User.in_city("Rome")}.get(city, User.recent())


def by_absence(city: str | None) -> Query[User]:
    return User.recent() if city is None else User.in_city(city)


def by_attribute(of: User) -> Query[User]:
    assert of.city is not None
    return User.in_city(of.city) if of.points > 5 else User.recent()


def by_bound(size: int) -> Query[User]:
    return User.recent().page_size(min(size, 100))


def by_index(size: int) -> Query[User]:
    return [User.recent(), User.primary.within()][size]


@pytest.mark.parametrize(
    "function",
    [
        by_truth,
        by_equality,
        by_inequality,
        by_order,
        by_format,
        by_str,
        by_length,
        by_iteration,
        by_membership_in_it,
        by_membership_in_a_tuple,
        by_membership_in_a_set,
        by_a_dictionary,
        by_default_of_a_dictionary,
        by_absence,
        by_attribute,
        by_bound,
        by_index,
    ],
)
def test_a_shape_that_depends_on_an_argument_is_an_error(
    function: Callable[..., Query[User]],
) -> None:
    name = next(iter(inspect.signature(function).parameters))
    with pytest.raises(DeclarationError, match=rf"^pattern {function.__name__}: .*\b{name}\b"):
        access_pattern(function)


def test_the_error_says_what_to_do_instead() -> None:
    with pytest.raises(
        DeclarationError,
        match=r"pattern by_truth: the value of 'city' is not known while the pattern is traced, "
        r"and something depends on it; compute it before the call, or write one pattern for each",
    ):
        access_pattern(by_truth)


def test_a_pattern_that_is_refused_is_not_listed() -> None:
    with pytest.raises(DeclarationError):
        access_pattern(by_truth)
    assert "by_truth" not in [traced.name for traced in access_patterns(Club)]


@pytest.mark.parametrize("result", [None, 5, "USER", [User.recent()], User])
def test_a_pattern_that_returns_no_plan_is_an_error(result: Any) -> None:
    def nothing(user_id: str) -> Any:
        return result

    with pytest.raises(DeclarationError, match=r"pattern nothing: it returns .*, not a plan"):
        access_pattern(nothing)


def test_mistakes_in_the_body_name_the_pattern() -> None:
    with pytest.raises(
        DeclarationError, match=r"pattern short: Visit\.primary takes user_id, at; 1"
    ):

        @access_pattern
        def short(user_id: str) -> Get[Visit]:
            return Visit.primary(user_id)  # type: ignore[call-arg]

    with pytest.raises(
        DeclarationError, match=r"pattern lean: User\.by_id: the index ids does not hold"
    ):

        @access_pattern
        def lean(user_id: str) -> Query[User]:
            return User.by_id(user_id)

    with pytest.raises(
        DeclarationError, match=r"pattern consistently: .*cannot be read consistently"
    ):

        @access_pattern
        def consistently(city: str) -> Query[User]:
            return User.in_city(city).consistent()


# -- scans ---------------------------------------------------------------------------------------


class Found(Table, name="pattern_found", type_attribute="kind"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")
    gsi3 = GSI("GSI3PK", "GSI3SK")
    gsi4 = GSI("GSI4PK", "GSI4SK", project="KEYS_ONLY")
    gsi5 = GSI("GSI5PK", "GSI5SK")


class Item(Entity, table=Found):
    item_id: Attr[str] = attr()
    owner: Attr[str] = attr()
    shelf: Attr[str] = attr()
    made: Attr[datetime] = attr()
    rank: Attr[int] = attr(pad=4, default=0)
    sold: Attr[datetime | None] = attr(default=None)
    color: Attr[str] = attr(default="red")
    primary = key("ITEM" / item_id, "ITEM")
    by_owner = index(Found.gsi1, "OWNER" / owner, "SHELF" / shelf / "MADE" / made)
    by_shelf = index(Found.gsi2, "SHELF" / shelf, "RANK" / descending(rank))
    by_sale = index(Found.gsi3, "COLOR" / color, "SOLD" / sold)
    by_rank = index(Found.gsi4, "OWNER" / owner / "SHELF" / shelf, "MADE" / made)
    open_only = index(Found.gsi5, "RANK" / rank, "ITEM" / item_id, when=rank > 5)


class Fuzzy(Entity, table=Found):
    """Keys with parts that are derived from attributes."""

    name: Attr[str] = attr()
    group: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("FUZZY" / name, "FUZZY")
    by_name = index(Found.gsi1, "GROUP" / group, lower(name))
    by_second = index(Found.gsi2, "SECONDS" / group, epoch_seconds(at))
    by_day = index(Found.gsi3, "DAYS" / group, day(at) / name)


ITEMS = [
    Item(
        item_id=f"{number:02d}",
        owner="ann" if number % 2 else "bob",
        shelf=f"s{number % 3}",
        made=MONDAY + timedelta(days=number),
        rank=number,
        sold=MONDAY if number % 4 == 0 else None,
        color="red" if number < 9 else "blue",
    )
    for number in range(12)
]


@pytest.fixture
def found(db: Database) -> Database:
    for item in ITEMS:
        db.run(put(item))
    return db


def test_an_undeclared_scan_is_refused_with_the_index_that_would_serve_it() -> None:
    with pytest.raises(DeclarationError) as refusal:

        @access_pattern
        def made_since(since: datetime) -> Query[Item]:
            return Item.where(Item.made >= since, Item.rank == 3)

    said = str(refusal.value)
    assert said.startswith(
        "pattern made_since: Item.where(made >= {since} and rank = 3) would be a scan: "
    )
    assert 'in Found: by_rank = GSI("rank", "GSI' in said
    assert 'in Item: by_rank = index(Found.by_rank, rank, "ITEM" / made / item_id)' in said
    assert 'Item.scan(reason="…").filter(…)' in said


def test_the_index_that_is_proposed_serves_the_pattern() -> None:
    class Small(Table, name="pattern_small"): ...

    class Row(Entity, table=Small):
        row_id: Attr[str] = attr()
        sku: Attr[str] = attr()
        primary = key("ROW" / row_id, "ROW")

    with pytest.raises(DeclarationError) as refusal:
        Row.where(Row.sku == "x")
    assert 'by_sku = index(Small.by_sku, "SKU" / sku, "ROW" / row_id)' in str(refusal.value)

    class Wide(Table, name="pattern_wide"):
        by_sku = GSI("GSI1PK", "GSI1SK")

    class Line(Entity, table=Wide):
        row_id: Attr[str] = attr()
        sku: Attr[str] = attr()
        primary = key("ROW" / row_id, "ROW")
        by_sku = index(Wide.by_sku, "SKU" / sku, "ROW" / row_id)

    assert Line.where(Line.sku == "x")._shape().index == "by_sku"


def test_where_without_a_condition_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Item\.where\(\) needs a condition.*scan\(reason="):
        Item.where()


@pytest.mark.parametrize(
    "conditions",
    [
        (Item.color != "red",),
        (Item.owner > "a",),
        (Item.owner.begins_with("a"),),
        ((Item.owner == "ann") | (Item.owner == "bob"),),
        (~(Item.owner == "ann"),),
        (Item.rank == 7,),  # the index on it holds some of the items only
    ],
    ids=str,
)
def test_what_no_key_serves_is_refused(conditions: Any) -> None:
    with pytest.raises(DeclarationError, match="would be a scan"):
        Item.where(*conditions)


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_scan_needs_its_reason(reason: str) -> None:
    with pytest.raises(DeclarationError, match=r"Item\.scan\(\) needs its reason"):
        Item.scan(reason=reason)


def test_a_declared_scan_gives_the_items_of_the_entity(found: Database) -> None:
    found.run(put(Fuzzy(name="x", group="g", at=MONDAY)))
    everything = sorted(found.iterate(Item.scan(reason="a test")), key=lambda item: item.item_id)
    assert everything == ITEMS
    assert found.run(Item.scan(reason="a test").count()) == 12


def test_a_declared_scan_can_be_filtered_selected_and_cut_into_pages(found: Database) -> None:
    scan = Item.scan(reason="a test").filter(Item.owner == "ann")
    assert {item.item_id for item in found.iterate(scan.page_size(2))} == {
        item.item_id for item in ITEMS if item.owner == "ann"
    }
    assert len(found.run(scan.page_size(2))) == 2
    columns = sorted(found.iterate(scan.select(Item.item_id)))
    assert columns == [(item.item_id,) for item in ITEMS if item.owner == "ann"]


def test_a_scan_has_no_order() -> None:
    with pytest.raises(DeclarationError, match="a scan has no order"):
        Item.scan(reason="a test").desc()


def test_the_size_of_a_page_of_a_scan_can_be_an_argument() -> None:
    @access_pattern
    def some(size: int) -> Scan[User]:
        return User.scan(reason="a test").page_size(size)

    assert explain(some).page == "{size}"


def test_a_scan_can_be_filtered_by_the_attributes_of_a_key(db: Database) -> None:
    """DynamoDB forbids that in a query, whose key condition is the place for it."""
    for number in (1, 2, 3):
        db.run(put(Number(series="s", number=number)))
    scan = Number.scan(reason="a test").filter(Number.number >= 2)
    assert sorted(one.number for one in db.iterate(scan)) == [2, 3]


# -- where: the right key, and a filter for the rest ---------------------------------------------

WHERE: dict[str, tuple[Any, str | None, str, str]] = {
    "the primary key": ((Item.item_id == "03",), None, 'PK="ITEM#03" AND SK="ITEM"', ""),
    "the primary key, and a filter": (
        (Item.item_id == "03", Item.rank > 1),
        None,
        'PK="ITEM#03" AND SK="ITEM"',
        "rank > 1",
    ),
    "an index": ((Item.owner == "ann",), "gsi1", 'GSI1PK="OWNER#ann"', ""),
    "an index, further": (
        (Item.shelf == "s1", Item.owner == "ann"),
        "gsi1",
        'GSI1PK="OWNER#ann" AND begins_with(GSI1SK, "SHELF#s1#MADE#")',
        "",
    ),
    "an index, and a filter": (
        (Item.owner == "ann", Item.color == "red"),
        "gsi1",
        'GSI1PK="OWNER#ann"',
        "color = 'red'",
    ),
    "a comparison of the next part": (
        (Item.owner == "ann", Item.shelf == "s1", Item.made >= MONDAY),
        "gsi1",
        'GSI1PK="OWNER#ann" AND GSI1SK BETWEEN "SHELF#s1#MADE#2026-01-05T00:00:00.000000Z" '
        'AND "SHELF#s1#MADE$"',
        "",
    ),
    "a comparison of a part that is not next": (
        (Item.owner == "ann", Item.rank > 3),
        "gsi1",
        'GSI1PK="OWNER#ann"',
        "rank > 3",
    ),
    "conditions joined by &": (
        ((Item.owner == "ann") & (Item.rank > 3),),
        "gsi1",
        'GSI1PK="OWNER#ann"',
        "rank > 3",
    ),
    "a part that sorts downwards": (
        (Item.shelf == "s1", Item.rank > 3),
        "gsi2",
        'GSI2PK="SHELF#s1" AND GSI2SK<"RANK#9996"',
        "",
    ),
}


@pytest.mark.parametrize(("conditions", "name", "condition", "filters"), WHERE.values(), ids=WHERE)
def test_where_takes_the_key_that_binds_most_and_filters_the_rest(
    conditions: Any, name: str | None, condition: str, filters: str
) -> None:
    shape = Item.where(*conditions)._shape()
    assert (shape.index, shape.condition) == (name, condition)
    assert shape.filter.removeprefix('kind="Item"').removeprefix(" AND ") == filters


MEANT: dict[str, tuple[Any, Callable[[Item], bool]]] = {
    "owner": ((Item.owner == "ann",), lambda item: item.owner == "ann"),
    "owner and shelf": (
        (Item.owner == "ann", Item.shelf == "s1"),
        lambda item: item.owner == "ann" and item.shelf == "s1",
    ),
    "owner, shelf and time": (
        (Item.owner == "ann", Item.shelf == "s1", Item.made > MONDAY + timedelta(days=1)),
        lambda item: (
            item.owner == "ann" and item.shelf == "s1" and item.made > MONDAY + timedelta(days=1)
        ),
    ),
    "owner and a text that others follow": (
        (Item.owner == "ann", Item.shelf > "s0"),
        lambda item: item.owner == "ann" and item.shelf > "s0",
    ),
    "owner and the beginning of a shelf": (
        (Item.owner == "ann", Item.shelf.begins_with("s")),
        lambda item: item.owner == "ann",
    ),
    "shelf and rank above": (
        (Item.shelf == "s1", Item.rank > 4),
        lambda item: item.shelf == "s1" and item.rank > 4,
    ),
    "shelf and rank up to": (
        (Item.shelf == "s1", Item.rank <= 4),
        lambda item: item.shelf == "s1" and item.rank <= 4,
    ),
    "shelf and rank between": (
        (Item.shelf == "s1", Item.rank.between(4, 7)),
        lambda item: item.shelf == "s1" and 4 <= item.rank <= 7,
    ),
    "two bounds of one part": (
        (Item.shelf == "s1", Item.rank > 1, Item.rank < 10),
        lambda item: item.shelf == "s1" and 1 < item.rank < 10,
    ),
    "shelf and one rank": (
        (Item.shelf == "s1", Item.rank == 4),
        lambda item: item.shelf == "s1" and item.rank == 4,
    ),
    "color and sale": (
        (Item.color == "red", Item.sold >= MONDAY),
        lambda item: item.color == "red" and item.sold is not None,
    ),
}


@pytest.mark.parametrize(("conditions", "holds"), MEANT.values(), ids=MEANT)
def test_where_gives_what_the_conditions_say(
    conditions: Any, holds: Callable[[Item], bool], found: Database
) -> None:
    given = sorted(item.item_id for item in found.iterate(Item.where(*conditions)))
    assert given == [item.item_id for item in ITEMS if holds(item)]


def test_where_does_not_use_an_index_that_lacks_some_of_the_items() -> None:
    """An item that is not sold is not in the index by sale, and is red all the same."""
    with pytest.raises(DeclarationError, match="would be a scan"):
        Item.where(Item.color == "red")


def test_where_does_not_use_an_index_that_lacks_some_of_the_attributes() -> None:
    """by_rank would bind three parts, and holds keys only."""
    plan = Item.where(Item.owner == "ann", Item.shelf == "s1", Item.made >= MONDAY)
    assert plan._shape().index == "gsi1"


FUZZY = [
    Fuzzy(name=name, group="g", at=MONDAY + timedelta(milliseconds=400 * number))
    for number, name in enumerate(["alice", "Bob", "carol", "DAVE", "eve"])
]

BLURRED: dict[str, tuple[Any, Callable[[Fuzzy], bool]]] = {
    "lower case, above": (
        (Fuzzy.group == "g", Fuzzy.name >= "Bob"),
        lambda one: one.name >= "Bob",
    ),
    "lower case, equal": (
        (Fuzzy.group == "g", Fuzzy.name == "bob"),
        lambda one: one.name == "bob",
    ),
    "lower case, the beginning": (
        (Fuzzy.group == "g", Fuzzy.name.begins_with("b")),
        lambda one: one.name.startswith("b"),
    ),
    "the second, above": (
        (Fuzzy.group == "g", Fuzzy.at > FUZZY[1].at),
        lambda one: one.at > FUZZY[1].at,
    ),
    "the second, below": (
        (Fuzzy.group == "g", Fuzzy.at < FUZZY[1].at),
        lambda one: one.at < FUZZY[1].at,
    ),
    "the second, equal": (
        (Fuzzy.group == "g", Fuzzy.at == FUZZY[1].at),
        lambda one: one.at == FUZZY[1].at,
    ),
}


@pytest.mark.parametrize(("conditions", "holds"), BLURRED.values(), ids=BLURRED)
def test_where_means_the_attribute_and_not_what_a_key_makes_of_it(
    conditions: Any, holds: Callable[[Fuzzy], bool], db: Database
) -> None:
    for entity in FUZZY:
        db.run(put(entity))
    given = sorted(entity.name for entity in db.iterate(Fuzzy.where(*conditions)))
    assert given == sorted(entity.name for entity in FUZZY if holds(entity))


def test_where_on_a_key_that_is_cut_to_its_day_filters_the_time(db: Database) -> None:
    class Days(Table, name="pattern_days"):
        gsi1 = GSI("GSI1PK", "GSI1SK")

    class Event(Entity, table=Days):
        name: Attr[str] = attr()
        group: Attr[str] = attr()
        at: Attr[datetime] = attr()
        primary = key("EVENT" / name, "EVENT")
        by_day = index(Days.gsi1, "GROUP" / group, "DAY" / day(at) / name)

    days = connect(":memory:", Days)
    for hour in (1, 2, 3):
        days.run(put(Event(name=str(hour), group="g", at=MONDAY + timedelta(hours=hour))))
    plan = Event.where(Event.group == "g", Event.at >= MONDAY + timedelta(hours=2))
    assert [one.name for one in days.run(plan)] == ["2", "3"]
    assert [one.name for one in days.run(Event.by_day("g").eq(date(2026, 1, 5)))] == [
        "1",
        "2",
        "3",
    ]


def test_where_with_two_bounds_of_a_natural_key_says_to_compare_it_once() -> None:
    """DynamoDB takes one condition on a sort key, and none on it in a filter."""
    with pytest.raises(
        DeclarationError, match=r"'number' is part of the key; compare it with .*between"
    ):
        Number.where(Number.series == "s", Number.number >= 2, Number.number <= 4)


# -- where they are defined ----------------------------------------------------------------------


def test_a_pattern_may_be_defined_inside_of_a_function(engine: Engine) -> None:
    class Inner(Table, name="pattern_inner"): ...

    class Thing(Entity, table=Inner):
        thing_id: Attr[str] = attr()
        primary = key("THING" / thing_id, "THING")

    @access_pattern
    def add(thing: Thing) -> Create[Thing]:
        return create(thing)

    @access_pattern
    def add_all(things: list[Thing]) -> Transaction:
        return transact(*(create(thing) for thing in things))

    assert explain(add).condition == 'PK="THING#{thing_id}" AND SK="THING"'
    assert explain(add_all).operation == "TransactWriteItems"
    inner = connect(engine, Inner)
    inner.run(add_all([Thing(thing_id="1"), Thing(thing_id="2")]))
    assert inner.run(Thing.primary("2")) == Thing(thing_id="2")


MODULE = """
from tablewright import Attr, Create, Entity, Get, Query, Table, access_pattern, attr, create, key

class Shop(Table, name="pattern_module_{number}"): ...

class Ware(Entity, table=Shop):
    ware_id: Attr[str] = attr()
    primary = key("WARES", "WARE" / ware_id)

@access_pattern
def ware(ware_id: str) -> Get[Ware]:
    return Ware.primary(ware_id)

@access_pattern
def add(ware: Ware) -> Create[Ware]:
    return create(ware)

@access_pattern
def some(size, /) -> Query[Ware]:
    return Ware.primary.within().page_size(size)
"""


@pytest.mark.parametrize("beginning", ["", "from __future__ import annotations\n"])
def test_a_module_may_have_its_annotations_as_texts_or_as_types(
    beginning: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"patterns_of_a_shop_{len(beginning)}"
    path = tmp_path / f"{name}.py"
    path.write_text(beginning + MODULE.format(number=len(beginning)))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    assert [traced.name for traced in access_patterns(module.Shop)] == ["ware", "add", "some"]
    assert explain(module.ware).condition == 'PK="WARES" AND SK="WARE#{ware_id}"'
    assert explain(module.add).condition == 'PK="WARES" AND SK="WARE#{ware_id}"'
    assert explain(module.some).page == "{size}"


def test_an_annotation_that_cannot_be_evaluated_is_named() -> None:
    def unknown(thing: Nowhere) -> Any:  # type: ignore[name-defined]  # noqa: F821
        return User.recent()

    with pytest.raises(
        DeclarationError, match=r"pattern unknown: the annotation 'Nowhere' cannot be evaluated"
    ):
        access_pattern(unknown)


# -- values that a pattern can tell apart without asking -----------------------------------------


class Kind(Enum):
    REGULAR = "regular"
    GUEST = "guest"


def by_member(city: str, kind: Kind) -> Any:
    return User.primary(city) if kind is Kind.GUEST else User.in_city(city)


def by_member_or_none(city: str, kind: Kind | None) -> Any:
    return User.primary(city) if kind is Kind.GUEST else User.in_city(city)


def by_bool(city: str, newest: bool) -> Any:
    return User.in_city(city).desc() if newest is True else User.in_city(city)


def by_literal(city: str, where: Literal["index", "table"]) -> Any:
    return {"index": User.in_city(city), "table": all_users()}[where]


TABLE: Literal["table"] = "table"


def by_identity_of_a_literal(city: str, where: Literal["index", "table"]) -> Any:
    return all_users() if where is TABLE else User.in_city(city)


def by_number_of(ids: list[str]) -> Any:
    return batch_get(map(User.primary, ids)) if len(ids) > 1 else User.primary(ids[0])


def by_number_of_a_sequence(ids: Sequence[str]) -> Any:
    if len(ids) == 1:
        return User.primary(ids[0])
    return User.in_city(ids[0])


@pytest.mark.parametrize(
    ("function", "parameter"),
    [
        (by_member, "kind"),
        (by_member_or_none, "kind"),
        (by_bool, "newest"),
        (by_identity_of_a_literal, "where"),
        (by_number_of, "ids"),
        (by_number_of_a_sequence, "ids"),
    ],
)
def test_a_shape_that_depends_on_a_member_a_flag_or_a_length_is_an_error(
    function: Callable[..., Any], parameter: str
) -> None:
    with pytest.raises(
        DeclarationError, match=f"its shape depends on '{parameter}': .*one pattern for"
    ):
        access_pattern(function)


def test_a_shape_that_is_looked_up_by_a_literal_is_an_error() -> None:
    with pytest.raises(DeclarationError, match="pattern by_literal: "):
        access_pattern(by_literal)


def test_a_member_a_flag_and_a_literal_may_be_passed_on(db: Database) -> None:
    @access_pattern
    def passed(city: str, kind: Kind, newest: bool, size: Literal[1, 2]) -> Query[User]:
        found = User.in_city(city).page_size(size)
        return found if kind is Kind.REGULAR or newest is True else found.filter(User.points > 1)

    assert explain(passed).operation == "Query"
    assert list(db.run(passed("Rome", Kind.GUEST, True, 2))) == []


def test_a_transaction_over_any_number_of_writes_has_one_shape(db: Database) -> None:
    @access_pattern
    def all_of_them(made: User, visits: Sequence[Visit]) -> Transaction:
        return transact(create(made), *(create(visit) for visit in visits))

    assert explain(all_of_them).operation == "TransactWriteItems"
    visits = [Visit(user_id="user-0001", at=MONDAY + timedelta(days=n)) for n in range(3)]
    db.run(all_of_them(member(1), visits))
    assert db.run(Visit.primary.within().eq("user-0001").count()) == 3


def test_an_async_pattern_is_an_error() -> None:
    async def waits(user_id: str) -> Get[User]:
        return User.primary(user_id)

    with pytest.raises(DeclarationError, match="pattern waits is async; a pattern makes a plan"):
        access_pattern(waits)  # type: ignore[type-var]


# -- explaining plans, and what is declared later ------------------------------------------------


def test_explain_takes_a_plan_as_well() -> None:
    plan = User.in_city("Rome").page_size(3)
    assert explain(plan) == plan._shape()
    assert explain(plan).condition == 'GSI1PK="CITY#Rome"'
    assert explain(create(member(1))).operation == "TransactWriteItems"


def test_explain_tells_what_runs_once_another_entity_is_in_the_index() -> None:
    class Growing(Table, name="pattern_growing"):
        feed = GSI("GSI1PK", "GSI1SK")

    class Early(Entity, table=Growing):
        early_id: Attr[str] = attr()
        at: Attr[datetime] = attr()
        primary = key("EARLY", "EARLY" / early_id)
        feed = index(Growing.feed, "FEED", "EARLY" / at)

    @access_pattern
    def since(at: datetime) -> Query[Early]:
        return Early.feed().gte(at)

    assert explain(since).condition == 'GSI1PK="FEED" AND GSI1SK>="EARLY#{at}"'
    assert explain(since).filter == ""

    class Late(Entity, table=Growing):
        late_id: Attr[str] = attr()
        primary = key("LATE", "LATE" / late_id)
        feed = index(Growing.feed, "FEED", "LATE" / late_id)

    assert explain(since).condition == (
        'GSI1PK="FEED" AND GSI1SK BETWEEN "EARLY#{at}" AND "EARLY$"'
    )
    (listed,) = access_patterns(Growing)
    assert listed.shape == explain(since)
    assert explain(since).filter == since(MONDAY)._shape().filter


# -- patterns and their tables -------------------------------------------------------------------


def test_tables_that_one_function_makes_have_each_their_own_patterns() -> None:
    def made(name: str) -> type[Table]:
        class Made(Table, name=name): ...

        class Thing(Entity, table=Made):
            thing_id: Attr[str] = attr()
            primary = key("THING" / thing_id, "THING")

        @access_pattern
        def thing(thing_id: str) -> Get[Thing]:
            return Thing.primary(thing_id)

        return Made

    first, second = made("pattern_first"), made("pattern_second")
    assert [found.shape.table for found in access_patterns(first)] == ["pattern_first"]
    assert [found.shape.table for found in access_patterns(second)] == ["pattern_second"]


def test_a_plan_that_two_patterns_give_keeps_the_name_of_each() -> None:
    shared = User.in_city("Rome")

    @access_pattern
    def romans() -> Query[User]:
        return shared

    @access_pattern
    def people_of_rome() -> Query[User]:
        return shared

    one_, other = romans(), people_of_rome()
    assert [one_._name, other._name] == ["romans", "people_of_rome"]
    assert shared._pattern == ""


# -- where, and indexes that hold too little -----------------------------------------------------


class Thin(Table, name="pattern_thin"):
    keys = GSI("GSI1PK", "GSI1SK", project="KEYS_ONLY")


class Note(Entity, table=Thin):
    author: Attr[str] = attr()
    note_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    tag: Attr[str] = attr(default="x")
    primary = key("AUTHOR" / author, "NOTE" / note_id)
    timeline = index(Thin.keys, "TAG" / tag, "NOTE" / at)


def test_where_uses_the_table_rather_than_an_index_that_holds_no_whole_items(
    engine: Engine,
) -> None:
    db = connect(engine, Thin)
    note = db.run(create(Note(author="ann", note_id="1", at=MONDAY)))
    plan = Note.where(Note.author == "ann", Note.tag == "x", Note.at >= MONDAY)

    assert plan._shape().index is None
    assert list(db.run(plan)) == [note]


def test_where_that_only_an_index_without_whole_items_would_serve_is_a_scan() -> None:
    with pytest.raises(DeclarationError, match="would be a scan"):
        Note.where(Note.tag == "x")
