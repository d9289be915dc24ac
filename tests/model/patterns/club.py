"""A table, its entities, and one access pattern for each kind of plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from tablewright import (
    GSI,
    LSI,
    Aggregate,
    Attr,
    Create,
    Delete,
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
    create,
    delete,
    index,
    key,
    put,
    root,
    transact,
    unique,
    update,
    version,
)
from tablewright.plans import BatchGet, BatchWrite, Count, Scan


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
        "5, read until it is full, in up to 64 requests",
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
        "all pages",
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
        "GetItem + GetItem",
        None,
        'PK="EMAIL#{email.lower()}" AND SK="EMAIL#{email.lower()}"; ' + USER % "user_id",
        "",
        "",
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
        'PK="USER" AND SK="USER#{made[].user_id}#VISIT#{made[].at}"',
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


MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


def member(number: int, **values: Any) -> User:
    name = f"user-{number:04d}"
    return User(user_id=name, email=f"{name}@example.com", joined=MONDAY, **values)
