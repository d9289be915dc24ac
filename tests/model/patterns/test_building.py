"""A pattern may build the entities that it writes from its arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from enum import Enum
from typing import Annotated, Any
from uuid import UUID, uuid4

import pytest
from pydantic import Field, field_validator

from tablewright import (
    GSI,
    Attr,
    Create,
    Entity,
    Put,
    Table,
    Transaction,
    Update,
    access_pattern,
    attr,
    connect,
    create,
    delete,
    explain,
    index,
    key,
    put,
    save,
    transact,
    unique,
    update,
    upsert,
    version,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue
from tablewright.formats import day
from tests.costs import run_within_range


class Wall(Table, name="building_wall"):
    by_post = GSI("GSI1PK", "GSI1SK")


class Mood(Enum):
    HAPPY = "happy"
    SAD = "sad"


class Like(Entity, table=Wall):
    user: Attr[str] = attr()
    post: Attr[str] = attr()
    at: Attr[datetime] = attr()
    mood: Attr[Mood] = attr(default=Mood.HAPPY)
    stars: Attr[Annotated[int, Field(ge=1, le=5)]] = attr(default=5)
    revision: Attr[int] = version()
    primary = key("USER" / user, "LIKE" / post)
    of_post = index(Wall.by_post, "POST" / post, "LIKE" / user)


class Tags(Entity, table=Wall):
    owner: Attr[str] = attr()
    values: Attr[set[str]] = attr(default_factory=set)
    ordered: Attr[list[str]] = attr(default_factory=list)
    counts: Attr[dict[str, int]] = attr(default_factory=dict)
    slug: Attr[str | None] = attr(default=None)
    primary = key("TAGS", "OF" / owner)
    by_slug = unique("SLUG" / slug)

    @field_validator("slug", mode="before")
    @classmethod
    def _not_empty(cls, value: Any) -> Any:
        if value == "":
            raise ValueError("a slug is not empty")
        return value

    @field_validator("slug", mode="before")
    @classmethod
    def _one_word(cls, value: Any) -> Any:
        return value if value is None else re.sub(r"\s+", "-", value)


class Visit(Entity, table=Wall):
    who: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("DAY" / day(at), "WHO" / who)


NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture
def db() -> Iterable[Database]:
    with connect(":memory:", Wall) as database:
        yield database


@access_pattern
def like(user: str, post: str, now: datetime) -> Create[Like]:
    return create(Like(user=user, post=post, at=now))


@access_pattern
def like_again(user: str, post: str, now: datetime, stars: int) -> Put[Like]:
    return put(Like(user=user, post=post, at=now, stars=stars)).condition(Like.stars < stars)


@access_pattern
def rate(user: str, post: str, now: datetime, stars: int) -> Update[Like]:
    return update(Like(user=user, post=post, at=now), Like.stars.set(stars))


@access_pattern
def like_both(user: str, one: str, other: str, now: datetime) -> Transaction:
    return transact(
        create(Like(user=user, post=one, at=now)),
        put(Like(user=user, post=other, at=now, mood=Mood.SAD)),
    )


@access_pattern
def tag(owner: str, one: str, other: str) -> Put[Tags]:
    return put(Tags(owner=owner, values={one, other}, ordered=[one, other], counts={one: 1}))


LIKE = 'PK="USER#{user}" AND SK="LIKE#{post}"'


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [
        (like, ("PutItem", LIKE, "")),
        (like_again, ("PutItem", LIKE, "stars < {stars}")),
        (rate, ("UpdateItem", LIKE, "")),
        (tag, ("TransactWriteItems", 'PK="TAGS" AND SK="OF#{owner}"', "")),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_the_shape_shows_the_arguments(
    pattern: Callable[..., Any], shown: tuple[str, str, str]
) -> None:
    shape = explain(pattern)
    assert (shape.operation, shape.condition, shape.filter) == shown


def test_each_write_of_a_transaction_shows_its_arguments() -> None:
    assert [step.condition for step in explain(like_both).steps] == [
        'PK="USER#{user}" AND SK="LIKE#{one}"',
        'PK="USER#{user}" AND SK="LIKE#{other}"',
    ]


WRITES: dict[str, Callable[[Like], Any]] = {
    "delete": delete,
    "save": save,
    "stamps": lambda like: create(like).stamps(version=like.stars),
    "update": lambda like: update(like, Like.stars.set(3)),
    "upsert": lambda like: upsert(like, Like.stars.set(3)),
}


@pytest.mark.parametrize("name", WRITES)
def test_every_write_takes_an_entity_of_arguments(name: str) -> None:
    @access_pattern
    def written(user: str, post: str, now: datetime, stars: int) -> Any:
        return WRITES[name](Like(user=user, post=post, at=now, stars=stars))

    assert explain(written).condition == LIKE


def test_a_patch_takes_arguments() -> None:
    @access_pattern
    def patched(owner: str, slug: str) -> Update[Tags]:
        return Tags.primary(owner).update(*Tags.changes_from({"slug": slug}))

    assert explain(patched).condition == 'PK="TAGS" AND SK="OF#{owner}"'


def test_values_that_are_known_are_shown() -> None:
    @access_pattern
    def like_the_first(user: str, now: datetime) -> Create[Like]:
        return create(Like(user=user, post="P#1", at=now))

    assert explain(like_the_first).condition == 'PK="USER#{user}" AND SK="LIKE#P$!1"'


def test_a_derived_part_is_shown_with_what_derives_it() -> None:
    @access_pattern
    def visit(who: str, now: datetime) -> Put[Visit]:
        return put(Visit(who=who, at=now))

    @access_pattern
    def visited(visit: Visit) -> Put[Visit]:
        return put(visit)

    assert explain(visit).condition == 'PK="DAY#{day(now)}" AND SK="WHO#{who}"'
    assert explain(visited).condition == 'PK="DAY#{day(at)}" AND SK="WHO#{who}"'


def test_the_patterns_write_what_they_are_called_with(db: Database) -> None:
    db.run(like("ann", "p1", NOW))
    assert db.run(Like.primary("ann", "p1")) == db.run(Like.of_post("p1").first())
    db.run(like_both("bob", "p1", "p2", NOW))
    assert [each.mood for each in db.run(Like.primary.within("bob"))] == [Mood.HAPPY, Mood.SAD]
    db.run(tag("ann", "b", "a"))
    stored = db.run(Tags.primary("ann"))
    assert stored is not None
    assert (stored.values, stored.ordered, stored.counts) == ({"a", "b"}, ["b", "a"], {"b": 1})
    with pytest.raises(InvalidValue, match=r"Like\.at: 'soon'"):
        like("ann", "p1", "soon")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "arguments"),
    [
        (like, ("ann", "p1", NOW)),
        (like_both, ("ann", "p1", "p2", NOW)),
        (tag, ("ann", "x", "y")),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_the_usage_lies_within_the_range_that_explain_states(
    pattern: Callable[..., Any], arguments: tuple[Any, ...], db: Database
) -> None:
    plan = pattern(*arguments)
    traced, actual = explain(pattern), explain(plan)
    assert (traced.read_range, traced.write_range) == (actual.read_range, actual.write_range)
    run_within_range(db, plan)


def test_sets_of_arguments_may_be_written_in_every_form() -> None:
    @access_pattern
    def unpacked(owner: str, one: str, rest: list[str]) -> Put[Tags]:
        return put(Tags(owner=owner, values={*rest, one}))

    @access_pattern
    def comprehended(owner: str, names: list[str]) -> Put[Tags]:
        return put(
            Tags(
                owner=owner,
                values={name.lower() for name in names},
                counts={name: name.count("a") for name in names},
            )
        )

    @access_pattern
    def passed(owner: str, values: set[str], counts: dict[str, int]) -> Put[Tags]:
        return put(Tags(owner=owner, values=values, counts=counts))

    @access_pattern
    def added(owner: str, one: str, other: str) -> Update[Tags]:
        return Tags.primary(owner).update(Tags.values.add_to_set({one, other}))

    for pattern in (unpacked, comprehended, passed):
        assert explain(pattern).condition == 'PK="TAGS" AND SK="OF#{owner}"'
    assert explain(added).operation == "UpdateItem"


def test_an_assignment_takes_an_argument() -> None:
    @access_pattern
    def changed(like: Like, stars: int) -> Put[Like]:
        like.stars = stars
        like.mood = Mood.SAD
        return put(like)

    assert explain(changed).condition == 'PK="USER#{user}" AND SK="LIKE#{post}"'


def test_a_validator_that_needs_the_value_runs_when_the_pattern_is_called() -> None:
    @access_pattern
    def named(owner: str, slug: str) -> Create[Tags]:
        return create(Tags(owner=owner, slug=slug))

    assert explain(named).operation == "TransactWriteItems"
    with pytest.raises(InvalidValue, match="a slug is not empty"):
        named("ann", "")
    with pytest.raises(TypeError, match="expected string"):
        named("ann", 5)  # type: ignore[arg-type]


# -- mistakes ----------------------------------------------------------------------------------


def a_wrong_value(user: str, now: datetime) -> Create[Like]:
    return create(Like(user=user, post="p", at=now, stars=9))


def a_wrong_member(owner: str, one: str) -> Put[Tags]:
    return put(Tags(owner=owner, ordered=[one, 5]))  # type: ignore[list-item]


def a_wrong_container(owner: str, one: str) -> Put[Tags]:
    return put(Tags(owner=owner, ordered={one: 5}))  # type: ignore[arg-type]


def a_missing_value(user: str, now: datetime) -> Create[Like]:
    return create(Like(user=user, at=now))  # type: ignore[call-arg]


def an_unknown_name(user: str, post: str, now: datetime) -> Create[Like]:
    return create(Like(user=user, pots=post, post=post, at=now))  # type: ignore[call-arg]


def a_stamp(user: str, post: str, now: datetime, revision: int) -> Create[Like]:
    return create(Like(user=user, post=post, at=now, revision=revision))  # type: ignore[call-arg]


def a_wrong_assignment(like: Like) -> Put[Like]:
    like.stars = 9
    return put(like)


def a_look_up(user: str, post: str, now: datetime) -> Create[Like]:
    return create(Like(user={"a": "b"}.get(user, user), post=post, at=now))


def a_set_by_its_class(owner: str, names: list[str]) -> Put[Tags]:
    return put(Tags(owner=owner, values=set(names)))


def a_misspelled_attribute(post: str, user: str) -> Update[Like]:
    return Like.primary(user, post).update(Like.strs.set(1))  # type: ignore[attr-defined]


def a_misspelled_name(post: str, user: str) -> Update[Like]:
    return Like.primary(user, psot).update(Like.stars.set(1))  # type: ignore[name-defined] # noqa: F821


def a_wrong_call(post: str, user: str) -> Update[Like]:
    return Like.primary(user, post).update(stars=1)  # type: ignore[call-arg]


def a_python_operator(post: str, user: str) -> Update[Like]:
    both = Like.stars > 1 and Like.stars < 5
    return Like.primary(user, post).update(Like.stars.set(1)).condition(both)


def a_missing_method(post: str, user: str) -> Update[Like]:
    return Like.primary(user, post).updat(Like.stars.set(1))  # type: ignore[attr-defined,no-any-return]


def a_converted_argument(day: str, user: str) -> Create[Like]:
    return create(Like(user=user, post="p", at=datetime.fromisoformat(day)))


MISTAKES: dict[Callable[..., Any], str] = {
    a_wrong_value: r"Like\.stars: 9: Input should be less than or equal to 5",
    a_wrong_member: r"Tags\.ordered\.1: 5: Input should be a valid string",
    a_wrong_container: r"Tags\.ordered: .* Input should be a valid list",
    a_missing_value: r"Like\.post has no value",
    an_unknown_name: r"Like has no attribute 'pots'; did you mean 'post'\?",
    a_stamp: r"Like\.revision is set by the library",
    a_wrong_assignment: r"Like\.stars: 9: Input should be",
    a_look_up: r"the code looks up 'user' by its value",
    a_misspelled_attribute: r"AttributeError: .*'strs'; did you mean 'stars'\?",
    a_misspelled_name: r"NameError: name 'psot' is not defined \(",
    a_wrong_call: r"TypeError: .*unexpected keyword argument 'stars' \(",
    a_python_operator: r"TypeError: a condition is .* with & \| ~, .* or when= \(",
    a_missing_method: r"AttributeError: .*'updat'; did you mean 'update'\? \(",
    a_converted_argument: r"TypeError: .*\. While a pattern is traced, its arguments have no",
    a_set_by_its_class: r".*Write a set of arguments as \{a, b\} or \{\*tags\}",
}


@pytest.mark.parametrize("function", MISTAKES, ids=lambda each: each.__name__)
def test_a_mistake_names_the_pattern_and_the_line(function: Callable[..., Any]) -> None:
    with pytest.raises(
        DeclarationError, match=rf"pattern {function.__name__}: {MISTAKES[function]}"
    ) as caught:
        access_pattern(function)
    lines, first = inspect.getsourcelines(function)
    file, _, line = caught.value.location.rpartition(":")
    assert file == __file__
    assert first < int(line) < first + len(lines)


def test_a_wrong_date_is_found_when_the_pattern_is_called() -> None:
    with pytest.raises(InvalidValue, match=r"Like\.at: datetime\.date\(2026, 1, 5\)"):
        like("ann", "p1", date(2026, 1, 5))  # type: ignore[arg-type]


class Note(Entity, table=Wall):
    note_id: Attr[UUID] = attr(default_factory=uuid4)
    text: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")


def test_an_id_that_is_made_for_each_call_is_not_known_while_tracing(db: Database) -> None:
    @access_pattern
    def add_note(text: str) -> Create[Note]:
        return create(Note(text=text))

    @access_pattern
    def add_notes(texts: list[str]) -> Transaction:
        return transact(*[create(Note(text=text)) for text in texts])

    assert explain(add_note).condition == 'PK="NOTE#{note_id}" AND SK="NOTE"'
    (step,) = explain(add_notes).steps
    assert step.condition == 'PK="NOTE#{texts[].note_id}" AND SK="NOTE"'
    assert explain(add_notes).write_range.per_item == 800
    assert db.run(add_note("a")).note_id != db.run(add_note("a")).note_id
