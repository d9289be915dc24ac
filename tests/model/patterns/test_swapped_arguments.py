"""Arguments that a pattern passes for each other's parts of a key are noticed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import date
from itertools import permutations
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Entity,
    Get,
    Query,
    Table,
    access_pattern,
    attr,
    explain,
    index,
    key,
    unique,
)
from tablewright.errors import DeclarationError


class Forge(Table, name="swapped_forge"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Repo(Entity, table=Forge):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    branch: Attr[str] = attr()
    day: Attr[date] = attr()
    primary = key("REPO" / owner / name, "BRANCH" / branch / day)
    by_branch = index(Forge.gsi1, "BRANCH" / branch / name, "OWNER" / owner / day)
    by_path = unique("PATH" / owner / name, "BRANCH" / branch)


def get(owner: str, name: str, branch: str, day: date) -> Get[Repo]:
    return Repo.primary(name, owner, branch, day)


def partition(owner: str, name: str) -> Query[Repo]:
    return Repo.primary.within(name, owner)


def part_of_the_sort_key(owner: str, branch: str) -> Query[Repo]:
    return Repo.primary.within(owner, branch)


def the_same_twice(owner: str) -> Query[Repo]:
    return Repo.primary.within(owner, owner)


def sort_key(owner: str, name: str, branch: str, day: str) -> Query[Repo]:
    return Repo.primary.within(owner, name).eq(day)


def comparison(name: str, branch: str) -> Query[Repo]:
    return Repo.by_branch(branch, name).eq("ann").gte(name)  # type: ignore[arg-type]


def bounds(name: str, branch: str, day: date, low: date) -> Query[Repo]:
    return Repo.by_branch(branch, name).eq("ann").between(low, branch)  # type: ignore[arg-type]


def place(name: str, branch: str) -> Query[Repo]:
    return Repo.by_branch(name, branch)


def unique_value(owner: str, name: str, branch: str) -> Any:
    return Repo.by_path(owner, branch, name)


WRONG: dict[Callable[..., Any], list[tuple[str, str]]] = {
    get: [("name", "owner"), ("owner", "name")],
    partition: [("name", "owner"), ("owner", "name")],
    part_of_the_sort_key: [("branch", "name")],
    the_same_twice: [("owner", "name")],
    sort_key: [("day", "branch")],
    comparison: [("name", "day")],
    bounds: [("branch", "day")],
    place: [("name", "branch"), ("branch", "name")],
    unique_value: [("branch", "name"), ("name", "branch")],
}


@pytest.mark.parametrize("function", WRONG, ids=lambda each: each.__name__)
def test_an_argument_for_another_part_is_an_error(function: Callable[..., Any]) -> None:
    with pytest.raises(DeclarationError, match=rf"^pattern {function.__name__}: Repo\.") as caught:
        access_pattern(function)
    passed = ", ".join(
        f"the parameter {name!r} is passed for the part {part!r}" for name, part in WRONG[function]
    )
    names = tuple(name for name, _ in WRONG[function])
    assert f"; {passed}. Exchange the arguments, or declare it: " in caught.value.message
    assert caught.value.message.endswith(f"@access_pattern(rebinds={names!r})")
    _, first = inspect.getsourcelines(function)
    assert caught.value.location == f"{__file__}:{first + 1}"


@pytest.mark.parametrize("function", WRONG, ids=lambda each: each.__name__)
def test_it_may_be_declared_as_intended(function: Callable[..., Any]) -> None:
    names = tuple(name for name, _ in WRONG[function])
    assert explain(access_pattern(rebinds=names)(function)).table == "swapped_forge"


def test_each_parameter_is_declared_by_itself() -> None:
    with pytest.raises(DeclarationError, match="the parameter 'owner' is passed for the part"):
        access_pattern(rebinds=("name",))(get)


def test_a_declaration_of_another_parameter_is_an_error() -> None:
    with pytest.raises(DeclarationError, match=r"names 'nome', which is not a parameter; did you"):
        access_pattern(rebinds=("nome",))(get)


def test_a_declaration_without_a_tuple_is_an_error() -> None:
    with pytest.raises(DeclarationError, match=r"get: rebinds='owner' must be a tuple of names"):
        access_pattern(rebinds="owner")(get)  # type: ignore[call-overload]


PARTS = ("owner", "name", "branch", "day")


@pytest.mark.parametrize("order", list(permutations(PARTS)), ids="-".join)
def test_of_all_orders_only_the_right_one_is_accepted(order: tuple[str, ...]) -> None:
    def pattern(owner: str, name: str, branch: str, day: date) -> Get[Repo]:
        arguments: Any = dict(zip(PARTS, (owner, name, branch, day), strict=True))
        return Repo.primary(*(arguments[each] for each in order))

    wrong = {each for each, part in zip(order, PARTS, strict=True) if each != part}
    if not wrong:
        assert explain(access_pattern(pattern)).condition == (
            'PK="REPO#{owner}#{name}" AND SK="BRANCH#{branch}#{day}"'
        )
        return
    with pytest.raises(DeclarationError) as caught:
        access_pattern(pattern)
    assert {each for each in PARTS if f"parameter {each!r}" in caught.value.message} == wrong


def test_names_that_the_key_does_not_have_are_free() -> None:
    @access_pattern
    def found(user: str, repo: str, since: date) -> Query[Repo]:
        return Repo.primary.within(user, repo).eq("main").gte(since)

    assert explain(found).operation == "Query"


def test_what_is_computed_or_given_by_name_is_not_compared() -> None:
    @access_pattern
    def computed(owner: str, name: str) -> Query[Repo]:
        return Repo.primary.within(name.lower(), owner.lower())

    @access_pattern
    def named(owner: str, name: str) -> Query[Repo]:
        return Repo.where(Repo.owner == name, Repo.name == owner)

    @access_pattern
    def attributes(repo: Repo) -> Query[Repo]:
        return Repo.primary.within(repo.name, repo.owner)

    for pattern in (computed, named, attributes):
        assert explain(pattern).operation == "Query"


def test_a_call_may_have_any_values() -> None:
    @access_pattern
    def right(owner: str, name: str) -> Query[Repo]:
        return Repo.primary.within(owner, name)

    assert explain(right("name", "owner")).condition.startswith('PK="REPO#name#owner"')


def test_an_index_takes_its_values_by_position() -> None:
    place: Any = Repo.by_branch
    with pytest.raises(
        DeclarationError, match=r"by_branch takes its values by position: branch, n"
    ):
        place(branch="main", name="tw")
