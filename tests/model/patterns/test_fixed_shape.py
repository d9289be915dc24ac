"""A pattern whose shape depends on its arguments is refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import Enum
from typing import Any, Literal

import pytest

from tablewright import (
    Get,
    Query,
    Transaction,
    access_pattern,
    batch_get,
    create,
    explain,
    transact,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.plans import access_patterns
from tests.model.patterns.club import MONDAY, Club, User, Visit, all_users, member

# -- a shape that depends on arguments -------------------------------------------------------------


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


def by_emptiness(cities: list[str]) -> Query[User]:
    return User.in_city(cities[0]) if cities else User.recent()


def by_no_arguments(*cities: str) -> Query[User]:
    return User.in_city(cities[0]) if cities else User.recent()


def by_two_arguments(*cities: str) -> Query[User]:
    first, *others = cities
    return User.recent() if others else User.in_city(first)


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
        by_emptiness,
        by_no_arguments,
        by_two_arguments,
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
        match=r"pattern by_truth: the code depends on the value of 'city', which is not known "
        r"while the pattern is traced; compute it before the call, or write one pattern for "
        r"each case",
    ):
        access_pattern(by_truth)


def test_a_pattern_that_is_refused_is_not_listed() -> None:
    with pytest.raises(DeclarationError):
        access_pattern(by_truth)
    assert "by_truth" not in [traced.name for traced in access_patterns(Club)]


def test_an_empty_list_may_leave_requests_out() -> None:
    @access_pattern
    def visit_together(user: User, visits: list[Visit]) -> Transaction:
        return transact(create(user), *[create(visit) for visit in visits])

    @access_pattern
    def visit_one_by_one(user: User, *visits: Visit) -> Transaction:
        return transact(create(user), *[create(visit) for visit in visits])

    assert explain(visit_together).entity == explain(visit_one_by_one).entity
    assert [step.is_for_each for step in explain(visit_one_by_one).steps] == [False, True]


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
        DeclarationError, match=r"pattern lean: User\.by_id: the index ids does not contain"
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


# -- values that a pattern can tell apart without asking -------------------------------------------


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

    with pytest.raises(
        DeclarationError, match="pattern waits is async; a pattern only makes a plan"
    ):
        access_pattern(waits)  # type: ignore[type-var]
