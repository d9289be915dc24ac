"""No write deletes or replaces a sentinel that names another entity.

Some items are stored without sentinels, as by a program that does not know the unique values. So
several entities may have the same value, of which at most one has reserved it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    delete_all,
    key,
    put,
    transact,
    unique,
    update_all,
)
from tablewright.errors import InvalidValue, WriteRejected


class Users(Table, name="users"):
    pass


class User(Entity, table=Users):
    group: Attr[str] = attr()
    user_id: Attr[str] = attr()
    email: Attr[str | None] = attr(default=None)
    plan: Attr[str] = attr(default="free")

    primary = key("GROUP" / group, "USER" / user_id)
    by_email = unique("EMAIL" / email, keep=(group, user_id, plan))


def user(number: str, email: str | None) -> User:
    return User(group="g", user_id=number, email=email)


def at(number: str) -> Any:
    return User.primary("g", number)


def store(number: str, email: str | None) -> Any:
    """Stands for an item that another program stores."""
    return user(number, email)


def only(number: str) -> Any:
    return User.primary.within("g").filter(User.user_id == number)


#: A write of the user with a number, to an email or another value.
WRITES: list[Callable[[str, str | None], Any]] = [
    store,
    lambda number, email: create(user(number, email)),
    lambda number, email: put(user(number, email)),
    lambda number, email: at(number).update(User.email.set(email)),
    lambda number, email: at(number).upsert(User.email.set(email)),
    lambda number, email: at(number).update(User.plan.set(f"{email}")),
    lambda number, email: update_all(only(number), User.email.set(email)),
    lambda number, _: at(number).delete(),
    lambda number, _: delete_all(only(number)),
]
numbers = st.sampled_from("123")
emails = st.sampled_from([None, "a", "b"])
one = st.tuples(st.sampled_from(WRITES), numbers, emails)
pair = st.tuples(one, one).filter(lambda two: two[0][1] != two[1][1])
moves = st.tuples(numbers, numbers)
Step = Any


def owners(engine: Engine) -> dict[str, dict[str, Any]]:
    """The sentinels, by email."""
    found = engine.call("Scan", {"TableName": "users"})["Items"]
    return {item["PK"]["S"]: item for item in found if item["PK"]["S"].startswith("EMAIL")}


def stored(engine: Engine) -> dict[str, str | None]:
    """The email of each user, by number."""
    found = engine.call("Scan", {"TableName": "users"})["Items"]
    return {
        item["user_id"]["S"]: item.get("email", {}).get("S")
        for item in found
        if item["PK"]["S"].startswith("GROUP")
    }


def plans_of(step: Step) -> tuple[set[str], list[Any]]:
    """Return the users that a step concerns, and its writes."""
    if isinstance(step[0], str):
        old, new = step
        return {old, new}, [at(old).update(User.user_id.set(new))]
    writes = [step] if callable(step[0]) else list(step)
    return {number for _, number, _ in writes}, [make(*values) for make, *values in writes]


@given(st.lists(one | pair | moves, max_size=8))
def test_a_write_leaves_the_sentinels_of_other_entities(steps: list[Step]) -> None:
    with Engine(":memory:") as engine:
        db = connect(engine, Users)
        for step in steps:
            numbers, plans = plans_of(step)
            before = owners(engine)
            if any(isinstance(plan, User) for plan in plans):
                for plan in plans:
                    if isinstance(plan, User) and plan.user_id not in stored(engine):
                        body = User.__entity__.encode(vars(plan))
                        engine.call("PutItem", {"TableName": "users", "Item": body})
                continue
            with suppress(WriteRejected, InvalidValue):  # two that reserve one value
                is_one = len(plans) == 1 or any(not hasattr(plan, "_prepare") for plan in plans)
                db.run(plans[0] if is_one else transact(*plans))
            after, found = owners(engine), stored(engine)
            for name, item in before.items():
                if item["user_id"]["S"] not in numbers:
                    assert after[name] == item
            for name, item in after.items():
                assert f"EMAIL#{found[item['user_id']['S']]}" == name
        assert engine.check()
