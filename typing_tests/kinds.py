"""Kinds of entities that the checkers tell apart: `kinds_mistakes.py` misuses what is here."""
# pyright: strict

from __future__ import annotations

from typing import assert_type

from tablewright import (
    GSI,
    Attr,
    Create,
    Delete,
    Entity,
    Get,
    Put,
    Table,
    Update,
    WriteOnce,
    attr,
    connect,
    create,
    delete,
    index,
    key,
    put,
    update,
)
from tablewright.formats import lower
from tablewright.plans import Range


class Journal(Table, name="journal"):
    by_plan = GSI("GSI1PK", "GSI1SK")
    by_name = GSI("GSI2PK", "GSI2SK")


class Entry(WriteOnce, table=Journal, deletable=True):
    entry_id: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    primary = key("ENTRY" / entry_id, "ENTRY")


class Draft(Entity, table=Journal):
    draft_id: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    primary = key("DRAFT" / draft_id, "DRAFT")


def an_entity_that_is_written_once_is_created_and_deleted() -> None:
    entry = Entry(entry_id="E1")
    assert_type(create(entry), Create[Entry])
    assert_type(delete(entry), Delete[Entry])
    assert_type(Entry.primary("E1").delete(), Delete[Entry])


def other_entities_are_also_changed() -> None:
    draft = Draft(draft_id="D1")
    assert_type(put(draft), Put[Draft])
    assert_type(update(draft, Draft.text.set("x")), Update[Draft, Draft])
    assert_type(Draft.primary("D1").update(Draft.text.set("x")), Update[Draft])


class Account(Entity, table=Journal, variants=True):
    name: Attr[str] = attr()
    plan: Attr[str] = attr(default="free")
    primary = key("ACCOUNT" / name, "ACCOUNT")
    of_plan = index(Journal.by_plan, "PLAN" / plan, "ACCOUNT" / name)


class Person(Account):
    age: Attr[int] = attr(default=0, pad=3)
    by_name = index(Journal.by_name, "PERSON" / lower(Account.name), "AGE" / age)


class Company(Account):
    name: Attr[str] = attr(name="company_name")
    owner: Attr[str] = attr()


def variants_are_read_through_their_base_and_by_themselves() -> None:
    with connect(":memory:", Journal) as db:
        assert_type(db.run(create(Person(name="ann", age=5))), Person)
        db.run(create(Company(name="acme", owner="ann")))
        assert_type(Account.primary("ann"), Get[Account])
        assert_type(Person.primary("ann"), Get[Person])
        assert_type(Person.by_name("ann"), Range[Person, int])
        assert_type(Company.of_plan("free"), Range[Company, str])
        assert_type(Company.of_plan("free").filter(Company.name > "a"), Range[Company, str])
        found = db.run(Account.primary("ann"))
        assert isinstance(found, Person)
        assert_type(found.age, int)
        assert_type(found.plan, str)
        for account in db.run(Account.of_plan("free")):
            assert_type(account, Account)
            match account:
                case Company():
                    assert_type(account.owner, str)
                case _:
                    pass
        assert_type(db.run(Person.primary("ann").update(Person.plan.set("pro"))), Person)
        assert_type(db.run(Account.primary("ann").update(Account.plan.set("free"))), Account)
        stored = db.run(Account.primary("ann"))
        assert stored is not None
        assert_type(update(stored, Account.plan.set("free")), Update[Account, Account])


class Owned(Entity):
    """Abstract: its attributes are pieces of the keys of its subclasses."""

    owner: Attr[str] = attr()
    year: Attr[int] = attr(pad=4)
    note: Attr[str | None] = attr(default=None)


class Photo(Owned, table=Journal):
    country: Attr[str] = attr()
    town: Attr[str] = attr()
    street: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    primary = key("OWNER" / Owned.owner / country / town / Owned.year, "STREET" / street / number)
    of_year = index(Journal.by_plan, "YEAR" / Owned.year, "OWNER" / lower(Owned.owner))
    noted = index(Journal.by_name, "NOTE" / Owned.note, "PHOTO" / country / town / street / number)


def inherited_attributes_and_long_keys_are_typed() -> None:
    assert_type(Photo.primary("ann", "fr", "Paris", 2020, "Rue", 5), Get[Photo])
    assert_type(Photo.primary.within("ann", "fr", "Paris", 2020), Range[Photo, str, int])
    assert_type(Photo.of_year(2020), Range[Photo, str])
    assert_type(Photo.noted("x"), Range[Photo, str, str, str, int])
    assert_type(Photo.noted("x").eq("fr", "Paris", "Rue", 5), Range[Photo])


def any_entity_is_put(entity: Entity) -> Put[Entity]:
    return put(entity)
