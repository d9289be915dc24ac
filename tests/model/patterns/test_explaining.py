"""`explain` reports the operation, index, key condition, order, page size and filter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Delete,
    Entity,
    Get,
    Query,
    Table,
    access_pattern,
    attr,
    create,
    explain,
    index,
    key,
)
from tablewright.errors import DeclarationError
from tablewright.formats import descending, lower, truncated, upper
from tablewright.plans import access_patterns
from tests.model.patterns.club import (
    EXPLAINED,
    MONDAY,
    USER,
    Club,
    Told,
    User,
    member,
    newest_users,
    user,
    user_by_email,
    user_with_visits,
    visit_as,
)
from tests.new_table import new_indexed_table, new_table

# -- every kind of plan, in the documents' words ---------------------------------------------------


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


# -- explaining plans, and what is declared later --------------------------------------------------


def test_explain_takes_a_plan_as_well() -> None:
    plan = User.in_city("Rome").page_size(3)
    assert explain(plan) == plan._shape()
    assert explain(plan).condition == 'GSI1PK="CITY#Rome"'
    assert explain(create(member(1))).operation == "TransactWriteItems"


def test_explain_tells_what_runs_once_another_entity_is_in_the_index() -> None:
    growing = new_indexed_table("pattern_growing")

    class Early(Entity, table=growing):
        early_id: Attr[str] = attr()
        at: Attr[datetime] = attr()
        primary = key("EARLY", "EARLY" / early_id)
        feed = index(growing.gsi1, "FEED", "EARLY" / at)

    @access_pattern
    def since(at: datetime) -> Query[Early]:
        return Early.feed().gte(at)

    assert explain(since).condition == 'GSI1PK="FEED" AND GSI1SK>="EARLY#{at}"'
    assert explain(since).filter == ""

    class Late(Entity, table=growing):
        late_id: Attr[str] = attr()
        primary = key("LATE", "LATE" / late_id)
        feed = index(growing.gsi1, "FEED", "LATE" / late_id)

    assert explain(since).condition == (
        'GSI1PK="FEED" AND GSI1SK BETWEEN "EARLY#{at}" AND "EARLY$"'
    )
    (listed,) = access_patterns(growing)
    assert listed.shape == explain(since)
    assert explain(since).filter == since(MONDAY)._shape().filter


def test_explain_takes_a_listed_pattern() -> None:
    (listed,) = [each for each in access_patterns(Club) if each.name == "user"]
    assert explain(listed) == explain(user)


def test_the_partition_key_comes_first_where_it_is_an_attribute_by_itself() -> None:
    class Thing(Entity, table=new_table(pk="id", sk="SK")):
        thing_id: Attr[str] = attr(name="id")
        primary = key(thing_id, "THING")

    assert explain(create(Thing(thing_id="1"))).condition == 'id="1" AND SK="THING"'


class Catalogue(Table, name="catalogue"):
    by_title = GSI("GSI1PK", "GSI1SK")


class Volume(Entity, table=Catalogue):
    isbn: Attr[str] = attr()
    title: Attr[str] = attr()
    year: Attr[int] = attr(pad=4)
    primary = key("ISBN" / upper(isbn), "VOLUME")
    by_title = index(Catalogue.by_title, "TITLE" / truncated(lower(title), 8), descending(year))


@access_pattern
def volume(isbn: str) -> Get[Volume]:
    return Volume.primary(isbn)


@access_pattern
def titles(title: str, year: int) -> Query[Volume]:
    return Volume.by_title(title).gte(year)


@access_pattern
def withdraw(isbn: str) -> Delete[Volume]:
    return Volume.primary(isbn).delete()


def test_explain_shows_the_formats_of_arguments_in_keys() -> None:
    assert explain(volume).condition == 'PK="ISBN#{upper(isbn)}" AND SK="VOLUME"'
    assert explain(withdraw).condition == 'PK="ISBN#{upper(isbn)}" AND SK="VOLUME"'
    assert explain(titles).condition == (
        'GSI1PK="TITLE#{truncated(lower(title), 8)}" AND GSI1SK<="{descending(year)}"'
    )


def test_a_pattern_may_select_attributes_and_filter_by_an_argument() -> None:
    class Parcel(Entity, table=new_table()):
        owner: Attr[str] = attr()
        number: Attr[str] = attr()
        weight: Attr[int] = attr()
        primary = key("OWNER" / owner, "PARCEL" / number)

    @access_pattern
    def heavy(owner: str, weight: int) -> Query[tuple[str]]:
        return Parcel.primary.within(owner).filter(Parcel.weight > weight).select(Parcel.number)

    shape = explain(heavy)
    assert shape.filter == "weight > {weight}"
    assert {"PK", "SK", "number", "weight"} <= set(shape.attributes)
