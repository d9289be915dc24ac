"""Tests of `TableMap.identify`: what a stored item is."""

from __future__ import annotations

from datetime import datetime

import pytest

from tablewright import Attr, Entity, Table, attr, history, key, unique
from tablewright.mapping.item_kind import record_key
from tablewright.values import Item


class Club(Table, name="clubs", pk="PK", sk="SK", type_attribute="type"):
    pass


class Renamed(Entity, table=Club):
    number: Attr[str] = attr()
    at: Attr[datetime] = attr()
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    primary = key("MEMBER" / number, "NAME" / at)


class Account(Entity, table=Club, variants=True):
    number: Attr[str] = attr()
    email: Attr[str] = attr()
    primary = key("ACCOUNT" / number, "ACCOUNT")
    by_email = unique("EMAIL" / email, "EMAIL")


class Person(Account):
    nick: Attr[str] = attr()


class Member(Entity, table=Club):
    number: Attr[str] = attr()
    name: Attr[str] = attr()
    primary = key("MEMBER" / number, "MEMBER")
    renames = history(name, Renamed, old=Renamed.old, new=Renamed.new, at=Renamed.at)


TABLE = Club.__table__


def stored(pk: str, sk: str, kind: str | None = None) -> Item:
    item: Item = {"PK": {"S": pk}, "SK": {"S": sk}}
    return item if kind is None else {**item, "type": {"S": kind}}


@pytest.mark.parametrize("kind", ["Member", None])
def test_an_item_of_an_entity(kind: str | None) -> None:
    found = TABLE.identify(stored("MEMBER#1", "MEMBER", kind))
    assert found.entity is found.stored is Member.__entity__
    assert (found.unique, found.history, found.is_unknown) == (None, None, False)


def test_an_event_of_a_history() -> None:
    found = TABLE.identify(stored("MEMBER#1", "NAME#2026-01-01T00:00:00.000000Z"))
    assert found.stored is Renamed.__entity__
    assert found.history is not None
    owner, kept = found.history
    assert (owner, kept.attribute) == (Member.__entity__, "name")


def test_an_item_of_a_variant_and_one_whose_variant_nothing_tells() -> None:
    assert TABLE.identify(stored("ACCOUNT#1", "ACCOUNT", "Person")).stored is Person.__entity__
    assert TABLE.identify(stored("ACCOUNT#1", "ACCOUNT")).stored is Account.__entity__


@pytest.mark.parametrize("item", [
    stored("EMAIL#a@x", "EMAIL", "Account.by_email"),
    stored("EMAIL#a@x", "EMAIL"),
    stored("damaged", "damaged", "Account.by_email"),
])  # fmt: skip
def test_a_sentinel_by_its_type_or_its_key(item: Item) -> None:
    found = TABLE.identify(item)
    assert found.unique is not None
    assert found.unique.type_name == "Account.by_email"
    assert (found.entity, found.stored) == (Account.__entity__, None)
    assert (found.is_unknown, found.history) == (False, None)


@pytest.mark.parametrize("item", [
    record_key(TABLE),
    {**record_key(TABLE), "type": {"S": "$tablewright"}},
])  # fmt: skip
def test_the_index_record(item: Item) -> None:
    found = TABLE.identify(item)
    assert found.is_record
    assert (found.entity, found.is_unknown) == (None, False)


@pytest.mark.parametrize("kind", ["Other", None])
def test_an_item_that_no_entity_describes(kind: str | None) -> None:
    found = TABLE.identify(stored("OTHER#1", "OTHER", kind))
    assert found.is_unknown
    assert (found.entity, found.unique, found.is_record) == (None, None, False)
