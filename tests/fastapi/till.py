"""A design whose requests are applied once: the accounts of tenants, and payments between them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tablewright import (
    Attr,
    Create,
    Delete,
    Entity,
    Get,
    Input,
    Patch,
    Query,
    Table,
    Tenancy,
    Transaction,
    Update,
    access_pattern,
    attr,
    create,
    key,
    transact,
    ttl,
    unique,
    version,
)
from tablewright.plans import Upsert


class Till(Table, name="till"):
    tenancy = Tenancy("bank", write=("BANK#{bank}", "BANK#{bank}#*"))


def in_a_day() -> datetime:
    return datetime.now(UTC) + timedelta(days=1)


class Answer(Entity, table=Till):
    """The response to a request with an Idempotency-Key."""

    bank: Attr[str] = attr()
    idempotency_key: Attr[str] = attr()
    request: Attr[str] = attr()
    response: Attr[str] = attr()
    expires_at: Attr[datetime] = ttl(default_factory=in_a_day)
    primary = key("BANK" / bank, "ANSWER" / idempotency_key)


class Account(Entity, table=Till):
    bank: Attr[str] = attr()
    number: Attr[str] = attr()
    owner: Attr[str] = attr()
    cents: Attr[int] = attr(default=0)
    version: Attr[int] = version()
    primary = key("BANK" / bank, "ACCOUNT" / number)


class Card(Entity, table=Till):
    bank: Attr[str] = attr()
    card: Attr[str] = attr()
    code: Attr[str] = attr()
    primary = key("BANK" / bank, "CARD" / card)
    by_code = unique("BANK" / bank, "CODE" / code)


class NewAccount(Input[Account], exclude=("bank",)): ...


class AccountPatch(Patch[Account]): ...


@access_pattern(idempotency=Answer)
def open_account(bank: str, new: NewAccount) -> Create[Account]:
    return create(new.entity(bank=bank))


@access_pattern
def account(bank: str, number: str) -> Get[Account]:
    return Account.primary(bank, number)


@access_pattern
def accounts(bank: str) -> Query[Account]:
    return Account.primary.within(bank)


@access_pattern(idempotency=Answer)
def edit_account(bank: str, number: str, patch: AccountPatch) -> Update[Account]:
    return Account.primary(bank, number).update(*Account.changes_from(patch))


@access_pattern(idempotency=Answer)
def pay_in(bank: str, number: str, cents: int) -> Update[Account]:
    return Account.primary(bank, number).update(Account.cents.increment(cents))


@access_pattern(idempotency=Answer)
def pay(bank: str, number: str, to: str, cents: int) -> Transaction:
    """Pay from one account to another."""
    given = Account.primary(bank, number).update(Account.cents.decrement(cents))
    taken = Account.primary(bank, to).update(Account.cents.increment(cents))
    return transact(given.condition(Account.cents >= cents), taken)


@access_pattern(idempotency=Answer)
def close_account(bank: str, number: str) -> Delete[Account]:
    return Account.primary(bank, number).delete()


@access_pattern(idempotency=Answer)
def add_card(bank: str, card: Card) -> Create[Card]:
    return create(card)


@access_pattern(idempotency=Answer)
def touch_card(bank: str, card: str, code: str) -> Upsert[Card]:
    return Card.primary(bank, card).upsert(Card.code.set(code))


@access_pattern(idempotency=Answer)
def drop_card(bank: str, card: str) -> Delete[Card]:
    return Card.primary(bank, card).delete()
