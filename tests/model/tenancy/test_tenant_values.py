"""A tenant's value, however it is written, reaches no other tenant's shards."""

from __future__ import annotations

from uuid import UUID

import pytest

from tablewright import put
from tablewright.database import Database
from tablewright.errors import InvalidValue, TenantViolation
from tests.model.tenancy.market import A1, USERS, Note, Order, Profile, last_orders, size, stored

TRICKS = ["a#O", "a#", "a$", "a$!O", "#", "$", "{user_id}", "a#R#x", "U#b", "*", "a\n", " a", "a "]


@pytest.mark.parametrize("tenant", TRICKS)
def test_a_tenant_reaches_no_other_shard_by_its_name(db: Database, tenant: str) -> None:
    scoped = db.for_tenant(user_id=tenant)
    for name in USERS:
        if name == tenant:
            continue
        for plan in (Profile.primary(name), last_orders(name), Order.reverse(A1).eq(name)):
            with pytest.raises(TenantViolation):
                scoped.run(plan)
    known = tenant in USERS
    assert size(scoped.run(last_orders(tenant))) == (3 if known else 0)


@pytest.mark.parametrize("tenant", TRICKS)
def test_a_tenant_with_a_strange_name_has_shards_of_its_own(db: Database, tenant: str) -> None:
    before = stored(db)
    scoped = db.for_tenant(user_id=tenant)
    scoped.run(put(Note(user_id=tenant, number=1)))
    assert scoped.run(Note.primary(tenant, 1)) == Note(user_id=tenant, number=1)
    new = stored(db).keys() - before.keys()
    assert len(new) == 1
    assert {partition for partition, _ in new}.isdisjoint(
        {f"U#{user}" for user in USERS if user != tenant and "#" not in user and "$" not in user}
    )


@pytest.mark.parametrize("tenant", ["", None])
def test_a_tenant_that_is_nobody_is_refused(db: Database, tenant: object) -> None:
    """A session without a user must not become the database of the user "None"."""
    with pytest.raises(InvalidValue, match="user_id"):
        db.for_tenant(user_id=tenant)


def test_a_tenant_whose_id_no_key_can_hold_is_refused(db: Database) -> None:
    with pytest.raises(InvalidValue, match="a partition key of 9,002 bytes; the maximum is 2,048"):
        db.for_tenant(user_id="x" * 9000)


def test_a_tenant_may_be_any_value_whose_text_stands_in_the_keys(db: Database) -> None:
    tenant = UUID("550e8400-e29b-41d4-a716-446655440000")
    db.run(put(Note(user_id=str(tenant), number=1)))
    assert db.for_tenant(user_id=tenant).run(Note.primary(str(tenant), 1)) is not None
    db.run(put(Note(user_id="7", number=1)))
    assert db.for_tenant(user_id=7).run(Note.primary("7", 1)) is not None
