"""A pattern is traced once and then runs as it is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from tablewright import Get, Query, access_pattern, batch_get, explain
from tablewright.database import Database
from tablewright.errors import DeclarationError
from tablewright.plans import BatchGet
from tests.model.patterns.club import (
    USER,
    User,
    add_user,
    member,
    newest_users,
    rich_in_city,
    several_users,
    user,
    user_by_email,
)


def test_a_pattern_keeps_name_doc_and_signature() -> None:
    assert user.__name__ == "user"
    assert user.__doc__ == "Get a user."
    assert user.__module__ == "tests.model.patterns.club"
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
    "{9 // n}": lambda n: 9 // n,
    "{9 % n}": lambda n: 9 % n,
    "{9 / n}": lambda n: 9 / n,
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
