"""A bank: for each thing that writes must consider, an entity that has it."""

from __future__ import annotations

from datetime import datetime

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    created_at,
    index,
    key,
    unique,
    updated_at,
    version,
)


class Bank(Table, name="bank"):
    by_owner = GSI("GSI1PK", "GSI1SK")


class Account(Entity, table=Bank):
    """In an index."""

    account_id: Attr[str] = attr()
    owner: Attr[str] = attr(default="ann")
    branch: Attr[str] = attr(default="b")
    balance: Attr[int] = attr(default=0)
    log: Attr[list[str]] = attr(default_factory=list)

    primary = key("ACCOUNT" / account_id, "ACCOUNT")
    of_owner = index(Bank.by_owner, "OWNER" / owner, "BRANCH" / branch / account_id)


class Customer(Entity, table=Bank):
    """With a unique value."""

    customer_id: Attr[str] = attr()
    email: Attr[str | None] = attr(default=None)
    name: Attr[str] = attr(default="")

    primary = key("CUSTOMER" / customer_id, "CUSTOMER")
    by_email = unique("EMAIL" / email)


class Loan(Entity, table=Bank):
    """With a version and a stamp, in an index."""

    customer_id: Attr[str] = attr()
    loan_id: Attr[str] = attr()
    state: Attr[str] = attr(default="draft")
    text: Attr[str] = attr(default="")
    version: Attr[int] = version(name="_version")
    changed: Attr[datetime] = updated_at()

    primary = key("CUSTOMER" / customer_id, "LOAN" / loan_id)
    of_state = index(Bank.by_owner, "STATE" / state, "LOAN" / loan_id)


class Card(Entity, table=Bank):
    """With a version, a stamp and a unique value."""

    card_id: Attr[str] = attr()
    number: Attr[str | None] = attr(default=None)
    changed: Attr[datetime] = updated_at()
    version: Attr[int] = version()

    primary = key("CARD" / card_id, "CARD")
    by_number = unique("NUMBER" / number)


class Branches(Table, name="branches"):
    """Another table."""


class Branch(Entity, table=Branches):
    """With both stamps."""

    branch_id: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    made: Attr[datetime] = created_at()
    changed: Attr[datetime] = updated_at()

    primary = key("BRANCH" / branch_id, "BRANCH")
