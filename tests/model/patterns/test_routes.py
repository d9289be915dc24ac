"""A pattern may declare its route in an HTTP API; every pattern has a default one."""

from __future__ import annotations

import pytest

from tablewright import Attr, Create, Entity, Get, access_pattern, attr, create, explain, key
from tablewright.errors import DeclarationError
from tablewright.formats import optional
from tablewright.model.pattern import traced_pattern
from tablewright.model.route import Route, is_structured, route_of, same_place
from tablewright.plans import access_patterns
from tests.model.patterns import club
from tests.model.patterns.club import Club, User
from tests.new_table import new_table

#: The default routes of the patterns of the club.
DEFAULTS = {
    "user": "GET /ids/{id}",
    "all_users": "GET /users",
    "newest_users": "GET /newest-users",
    "users_named": "GET /users-named",
    "users_since": "GET /users-since",
    "users_before": "GET /users-before",
    "city_between": "GET /cities/{city}/city-between",
    "rich_in_city": "GET /cities/{city}/rich-in-city",
    "one_id": "GET /users/{user_id}/one-id",
    "visits": "GET /users/{user_id}/visits",
    "visits_after": "GET /users/{user_id}/visits-after",
    "visit_count": "GET /users/{user_id}/visit-count",
    "last_visit": "GET /users/{user_id}/last-visit",
    "user_with_visits": "GET /users/{user_id}/user-with-visits",
    "user_with_some_visits": "GET /users/{user_id}/user-with-some-visits",
    "user_by_email": "GET /emails/{email}/user-by-email",
    "several_users": "GET /several-users",
    "export": "GET /users",
    "export_rich": "GET /export-rich",
    "add_visit": "PUT /visits",
    "add_user": "POST /users",
    "reward": "POST /users/{user_id}/reward",
    "move_city": "POST /users/{user_id}/move-city",
    "rewrite": "POST /rewrite",
    "forget_visit": "DELETE /users/{user_id}/visits/{at}",
    "forget": "POST /forget",
    "visit_as": "POST /visit-as",
    "add_visits": "POST /add-visits",
    "where_in_city": "GET /cities/{city}/where-in-city",
}


@pytest.mark.parametrize(
    ("route", "problem"),
    [
        ("/users/{user_id}", "must be a method and a path, such as"),
        ("FETCH /users", "the methods are GET, POST, PUT, PATCH, DELETE"),
        ("GET users", "must be a method and a path"),
        (7, "must be a method and a path"),
        ("GET /users/{usr_id}", "which is not a parameter; did you mean 'user_id'"),
        ("GET /users/{user_id}/{user_id}", "has {user_id} twice"),
        ("GET /users//{user_id}", "'' cannot be a part of a path"),
        ("GET /users/a{user_id}", "'a{user_id}' cannot be a part of a path"),
        ("POST /users/{user_id}", "the pattern only reads; use GET"),
    ],
)
def test_a_route_that_cannot_be_is_refused(route: str, problem: str) -> None:
    with pytest.raises(DeclarationError) as refused:

        @access_pattern(route=route)
        def user(user_id: str) -> Get[User]:
            return User.primary(user_id)

    assert problem in refused.value.message
    assert "test_routes.py" in str(refused.value)


def test_a_write_is_no_get() -> None:
    with pytest.raises(DeclarationError, match="the pattern writes, and GET must not; use POST"):

        @access_pattern(route="GET /users")
        def add(user: User) -> Create[User]:
            return create(user)


def test_an_entity_is_no_part_of_a_path() -> None:
    with pytest.raises(DeclarationError, match="user is sent as JSON, which only the body"):

        @access_pattern(route="POST /users/{user}")
        def add(user: User) -> Create[User]:
            return create(user)


def test_a_declared_route_is_kept() -> None:
    @access_pattern(route="GET /people/{user_id}")
    def someone(user_id: str) -> Get[User]:
        return User.primary(user_id)

    route = route_of(traced_pattern(someone))
    assert (str(route), route.parameters) == ("GET /people/{user_id}", ("user_id",))
    assert explain(someone).operation == "GetItem"


def test_the_root_is_a_path() -> None:
    @access_pattern(route="GET /")
    def everyone(user_id: str) -> Get[User]:
        return User.primary(user_id)

    assert route_of(traced_pattern(everyone)).parameters == ()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (str, False),
        (int | None, False),
        (list[str], False),
        (dict[str, int], True),
        (User, True),
        (list[User], True),
    ],
)
def test_what_has_parts_goes_into_a_body(kind: object, expected: bool) -> None:
    assert is_structured(kind) is expected


def test_the_default_route_follows_from_the_pattern() -> None:
    patterns = [each for each in access_patterns(Club) if each.label.startswith(club.__name__)]
    assert {each.name: str(route_of(each)) for each in patterns} == DEFAULTS


def test_routes_that_differ_in_the_names_of_parameters_take_the_same_requests() -> None:
    one, other = Route("GET", "/a/{x}"), Route("GET", "/a/{y}")
    assert same_place([("one", one), ("other", other)]) == ("one", "other", other)
    assert same_place([("one", one), ("other", Route("POST", "/a/{y}"))]) is None


def test_an_optional_part_of_a_key_is_no_segment_of_a_path() -> None:
    class Seat(Entity, table=new_table()):
        row: Attr[str] = attr()
        seat: Attr[int | None] = attr(pad=2, default=None)
        primary = key("ROW" / row, "SEAT" / optional(seat))

    @access_pattern
    def seat_in(row: str, seat: int | None) -> Get[Seat]:
        """A seat, or the row itself."""
        return Seat.primary(row, seat)

    assert str(route_of(traced_pattern(seat_in))) == "GET /rows/{row}/seat-in"
