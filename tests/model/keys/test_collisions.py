"""Keys collide where two entities really can have the same key, and nowhere else."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from types import new_class
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from tablewright import Attr, Entity, Table, attr, key
from tablewright.errors import DeclarationError
from tablewright.formats import (
    Codec,
    casefold,
    coded,
    day,
    descending,
    epoch_millis,
    epoch_seconds,
    fixed_point,
    hour,
    iso,
    lower,
    number,
    padded,
    shard,
    truncated,
    upper,
    week,
    year,
    year_month,
)
from tests.model.declaring.declarations import refused
from tests.new_table import new_table


class Status(StrEnum):
    OPEN = "OPEN"
    CLOSED = "CLOSED"


FIELDS: dict[str, Any] = {
    "text": str,
    "at": datetime,
    "on": date,
    "number": int,
    "price": Decimal,
    "status": Status,
    "choice": Literal["a", "b#c"],
    "grade": Literal["A", "A+"],
    "flag": bool,
}
HEX = Codec[str](encode=str, decode=str, alphabet="0123456789abcdef", width=4, ordered=True)


def declare(table: type[Table], name: str, sort: Any, **options: Any) -> None:
    """Declare an entity with one partition key, and a sort key made from its attributes."""
    fields: dict[str, Any] = {
        field: attr(pad=3) if kind is int else attr() for field, kind in FIELDS.items()
    }
    for field, declared in fields.items():
        declared.name = field
    path: Any = sort(fields) if callable(sort) else sort
    body = fields | {
        "__module__": __name__,
        "__annotations__": {field: Attr[kind] for field, kind in FIELDS.items()},  # type: ignore[valid-type]
        "primary": key("P", path, **options),
    }
    new_class(name, (Entity,), {"table": table}, lambda space: space.update(body))


def collide(one: Any, other: Any, *, delimiter: str | None = None) -> bool:
    """Return whether two entities with these sort keys are refused in one table."""

    shared = new_table("shared")
    declare(shared, "One", one)
    try:
        declare(shared, "Other", other, delimiter=delimiter)
    except DeclarationError as error:
        assert "can be the same key as One.primary" in str(error)  # noqa: PT017
        return True
    return False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda f: "" + f["at"], "#META#"),
        (lambda f: "" / f["at"], "#META#"),
        (lambda f: "A" / f["at"], lambda f: "A" / f["on"]),
        (lambda f: "A" / f["number"], lambda f: "A" / padded(f["number"], 4)),
        (lambda f: "A" / f["number"], "A#07"),
        (lambda f: "A" / f["number"], "A#0x7"),
        (lambda f: "A" / f["status"], "A#DONE"),
        (lambda f: "A" / f["status"], lambda f: "A" / f["flag"]),
        (lambda f: "A" / f["status"], lambda f: "A" / f["number"]),
        (lambda f: "A" / f["choice"], "A#b#c"),
        (lambda f: "A" / day(f["at"]), lambda f: "A" / year_month(f["at"])),
        (lambda f: "A" / week(f["at"]), lambda f: "A" / day(f["at"])),
        (lambda f: "A" / hour(f["at"]), lambda f: "A" / iso(f["at"], "seconds")),
        (lambda f: "A" / iso(f["at"], "seconds"), lambda f: "A" / f["at"]),
        (
            lambda f: "A" / iso(f["at"], "seconds"),
            lambda f: "A" / iso(f["at"], "seconds", zone="+00:00"),
        ),
        (lambda f: "A" / epoch_seconds(f["at"]), lambda f: "A" / epoch_millis(f["at"])),
        (lambda f: "A" / fixed_point(f["price"], 4, 2), lambda f: "A" / padded(f["number"], 7)),
        (
            lambda f: "A" / fixed_point(f["price"], 4, 2),
            lambda f: "A" / fixed_point(f["price"], 4, 3),
        ),
        (lambda f: "A" / truncated(f["text"], 3), "A#long"),
        (lambda f: "A" / lower(f["text"]), "A#META"),
        (lambda f: "A" / truncated(lower(f["text"]), 4), "A#META"),
        (lambda f: "A" / upper(f["text"]), "A#meta"),
        (lambda f: "A" / casefold(f["text"]), lambda f: "A" / f["status"]),
        (lambda f: "A" / shard(f["text"], of=4), "A#4"),
        (
            lambda f: "A" / iso(f["at"], "seconds", zone=""),
            lambda f: "A" / iso(f["at"], "seconds", zone=timezone(timedelta(hours=9))),
        ),
        (lambda f: "A" / coded(f["text"], HEX), "A#beeg"),
        (lambda f: "A" / coded(f["text"], HEX), "A#abcde"),
        (lambda f: "A" / f["text"], lambda f: "A" / f["text"] / f["number"]),
        (lambda f: "A" / f["text"], "A#B#C"),
        (lambda f: "A" / f["text"] / "B", lambda f: "A" / f["text"] / "C"),
        (lambda f: "A" + f["number"], "A"),
        (lambda f: "A" + f["number"] + "X", lambda f: "A" + f["number"] + "Y"),
        (lambda f: "A" / f["number"] + f["text"], lambda f: "A" / f["status"]),
    ],
)
def test_keys_that_cannot_be_equal_are_accepted(one: Any, other: Any) -> None:
    assert not collide(one, other)
    assert not collide(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda f: "A" / f["text"], "A#B"),
        (lambda f: "A" / f["text"], lambda f: "A" / f["at"]),
        (lambda f: "A" / f["status"], "A#OPEN"),
        (lambda f: "A" / f["status"], lambda f: "A" / f["text"]),
        (lambda f: "A" / f["choice"], "A#b$!c"),
        (lambda f: "A" / f["on"], lambda f: "A" / day(f["at"])),
        (lambda f: "A" / f["at"], lambda f: "A" / iso(f["at"], "microseconds")),
        (lambda f: "A" / day(f["at"]), lambda f: "A" / descending(day(f["at"]))),
        (lambda f: "A" / epoch_seconds(f["at"]), lambda f: "A" / padded(f["number"], 10)),
        (lambda f: "A" / year(f["at"]), lambda f: "A" / padded(f["number"], 4)),
        (lambda f: "A" / year(f["at"]), lambda f: "A" / shard(f["text"], of=9999)),
        (lambda f: "A" / f["number"], "A#007"),
        (lambda f: "A" / f["number"], lambda f: "A" / shard(f["text"], of=500)),
        (lambda f: "A" / lower(f["text"]), "A#b"),
        (lambda f: "A" / lower(f["text"]), "A#é"),
        (lambda f: "A" / lower(f["text"]), lambda f: "A" / upper(f["text"])),
        (lambda f: "A" / shard(f["text"], of=4), "A#3"),
        (lambda f: "A" / truncated(f["text"], 3), "A#Ann"),
        (lambda f: "A" / coded(f["text"], HEX), "A#beef"),
        (lambda f: "A" / coded(f["text"], HEX), lambda f: "A" / padded(f["number"], 4)),
        (lambda f: "A" + f["number"], lambda f: "A0" + padded(f["number"], 2)),
        (lambda f: f["number"] + f["number"].again, lambda f: padded(f["number"], 6) + ""),
        (lambda f: "A" + f["text"], lambda f: "AB" + f["text"]),
        (lambda f: "" / f["text"], "#META"),
    ],
)
def test_keys_that_can_be_equal_are_refused(one: Any, other: Any) -> None:
    assert collide(one, other)
    assert collide(other, one)


@pytest.mark.parametrize(
    ("one", "other", "is_collision"),
    [
        ("A:B", lambda f: "A" / f["text"], True),
        ("A#B", lambda f: "A" / f["text"], False),
        (lambda f: "A" / f["text"], lambda f: "A" / f["text"], False),
        (lambda f: "A" / f["text"], lambda f: "A#" + f["text"], True),
        (lambda f: "A" / f["text"] / f["text"].again, lambda f: "A#" + f["text"], True),
        (lambda f: "A:" + f["text"], lambda f: "A" / f["text"], True),
        (lambda f: "A" / f["at"], lambda f: "A" / f["at"], False),
        (lambda f: "A:" + f["at"], lambda f: "A" / f["at"], True),
    ],
)
def test_keys_of_different_delimiters_are_compared_as_they_are_written(
    one: Any, other: Any, is_collision: bool
) -> None:
    assert collide(one, other, delimiter=":") is is_collision


def test_numbers_and_texts_are_not_mixed_in_a_key_attribute() -> None:
    mixed = new_table("mixed")
    declare(mixed, "Text", "0")
    with refused("Number: the key attribute 'SK' of Mixed has type N here and type S"):
        declare(mixed, "Number", 0)


@pytest.mark.parametrize(
    ("kind", "is_collision"),
    [
        (int, True),
        (Annotated[int, Field(ge=0)], True),
        (Annotated[int, Field(ge=1)], False),
        (Annotated[int, Field(gt=0, lt=9)], False),
    ],
)
@pytest.mark.parametrize("form", [lambda version: version, number], ids=["natural", "number"])
def test_a_number_that_is_above_zero_is_not_the_number_0(
    kind: Any, is_collision: bool, form: Any
) -> None:
    """Version 0 is the latest one, and the others have numbers from 1."""

    documents = new_table("documents", sk="version")

    class Latest(Entity, table=documents):
        name: Attr[str] = attr()
        primary = key("DOC" / name, 0)

    told = ["Version.primary: PK=DOC#{name}, version=", "can be the same key as Latest.primary"]
    with refused(*told) if is_collision else nullcontext():

        class Version(Entity, table=documents):
            name: Attr[str] = attr()
            number: Attr[kind] = attr(name="version" if form is not number else "number")
            primary = key("DOC" / name, form(number))


# -- parts that run into each other --------------------------------------------------------------


@pytest.mark.parametrize(
    ("sort", "message"),
    [
        (
            lambda f: "A" / f["text"] + f["number"],
            "One.primary: nothing separates text from number, so a key cannot be read; write / "
            "between them, or give text a fixed width",
        ),
        (
            lambda f: "A" / f["grade"] + f["at"],
            "One.primary: nothing separates grade from at, so a key cannot be read",
        ),
        (
            lambda f: "A" / f["text"] + "X",
            "One.primary: text can contain 'X', and the next literal, 'X', begins with it, so a "
            "key cannot be read; write / between them",
        ),
    ],
)
def test_a_part_that_could_run_into_the_next_is_refused(sort: Any, message: str) -> None:
    with refused(message, "test_collisions.py:"):
        declare(new_table(), "One", sort)
