"""Property: no plan returns or changes another tenant's items."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    Entity,
    batch_get,
    batch_write,
    condition_check,
    connect,
    create,
    delete,
    put,
    transact,
    transact_get,
)
from tablewright.errors import TablewrightError, TenantViolation
from tablewright.plans import Plan
from tests.model.tenancy.market import (
    Address,
    Inventory,
    Login,
    Market,
    Note,
    Order,
    OrderWithItems,
    Phone,
    Profile,
    Reward,
    address,
    everything_of,
    find_phone,
    local_of,
    order_id,
    stored,
)

users = st.sampled_from(["a", "b", "ab", "a#O", "a$"])


small = st.integers(0, 3)


ulids = st.builds(order_id, users, small)


orders = st.builds(
    lambda user, number, owner, status, seller: Order(
        user_id=user,
        order_id=order_id(owner, number),
        status=status,
        business_id=f"order-{user}-{number}",
        seller=seller,
    ),
    users,
    small,
    users,
    st.sampled_from(["OPEN", "PAID", "U#a"]),
    st.none(),
)


addresses = st.builds(address, small, users, note=st.none() | st.sampled_from(["U#a", "x"]))


entities: st.SearchStrategy[Any] = st.one_of(
    orders,
    addresses,
    st.builds(Profile, user_id=users, business_id=st.none() | st.sampled_from(["p1", "p2"])),
    st.builds(Phone, user_id=users, phone_id=small, number=st.sampled_from(["1", "2"])),
    st.builds(Login, user_id=users, email=st.sampled_from(["x@y", "a@b"])),
    st.builds(Reward, user_id=users, reward_id=small),
    st.builds(Inventory, item_id=small),
)


fetches: st.SearchStrategy[Any] = st.one_of(
    st.builds(Profile.primary, users),
    st.builds(Address.primary, users, small),
    st.builds(Order.primary, users, ulids),
    st.builds(Phone.primary, users, small),
    st.builds(Inventory.primary, small),
)


ranges: st.SearchStrategy[Any] = st.one_of(
    st.builds(Address.primary.within, users),
    st.builds(Order.primary.within, users),
    st.builds(Address.noted, users),
    st.builds(Order.reverse, ulids),
    st.builds(lambda number, user: Order.reverse(number).eq(user), ulids, users),
    st.builds(Profile.reverse, users),
    st.builds(Order.by_status, st.sampled_from(["OPEN", "PAID", "U#a"])),
    st.builds(Order.by_total),
    st.builds(lambda user, number: Order.by_id(f"order-{user}-{number}"), users, small),
    st.builds(Profile.by_id, st.sampled_from(["p1", "p2"])),
    st.builds(Profile.scan, reason=st.just("test")),
)


queries: st.SearchStrategy[Any] = st.one_of(
    ranges,
    ranges.map(lambda plan: plan.page_size(1)),
    ranges.map(lambda plan: plan.page_size(2)),
    ranges.map(lambda plan: plan.first()),
)


writes: st.SearchStrategy[Any] = st.one_of(
    entities.map(put),
    entities.map(create),
    entities.map(delete),
    st.builds(
        lambda user, number, new: Address.primary(user, number).update(Address.user_id.set(new)),
        users,
        small,
        users,
    ),
    st.builds(
        lambda user, number: Address.primary(user, number).update(Address.note.set("z")),
        users,
        small,
    ),
    st.builds(
        lambda user, new: Profile.primary(user).update(Profile.user_id.set(new)), users, users
    ),
    st.builds(
        lambda user, new: Login.primary(user).update(Login.email.set(new)),
        users,
        st.sampled_from(["x@y", "n@n"]),
    ),
    fetches.map(condition_check),
)


plans: st.SearchStrategy[Any] = st.one_of(
    fetches,
    st.lists(fetches, min_size=1, max_size=4).map(batch_get),
    st.lists(fetches, min_size=1, max_size=4).map(lambda chosen: transact_get(*chosen)),
    queries,
    st.builds(lambda user, number: OrderWithItems.of(Order.primary(user, number)), users, ulids),
    st.builds(find_phone, users, st.just("555")),
    st.builds(lambda user: Login.by_email(f"{user}@example.com"), users),
    writes,
    st.lists(writes, min_size=1, max_size=3).map(lambda chosen: transact(*chosen)),
    st.lists(orders | addresses, min_size=1, max_size=3).map(
        lambda chosen: batch_write([put(each) for each in chosen if isinstance(each, Order)] or [])
    ),
)


def owners(result: Any) -> set[str]:
    """Whose the entities in a result are."""
    if result is None:
        return set()
    if isinstance(result, OrderWithItems):
        return {result.order.user_id, *(item.user_id for item in result.items)}
    if isinstance(result, Entity):
        return {getattr(result, "user_id", "nobody")}
    return set().union(*map(owners, result))


@given(chosen=st.lists(plans, min_size=1, max_size=12))
def test_no_plan_gives_or_changes_what_is_not_the_tenants(chosen: list[Plan[Any]]) -> None:
    with connect(":memory:", Market) as db:
        for user in ("a", "b", "a#O"):
            for entity in everything_of(user):
                db.run(create(entity))
        db.run(create(Inventory(item_id=1)))
        before = stored(db)
        own = db.for_tenant(user_id="a")
        for plan in chosen:
            try:
                result = own.run(plan)
            except TablewrightError:
                continue
            assert owners(result) <= {"a"}
        after = stored(db)
        assert {k: v for k, v in after.items() if k[0] != "U#a"} == {
            k: v for k, v in before.items() if k[0] != "U#a"
        }
        assert local_of(db).engine.check()


@given(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6))
def test_two_tenants_never_share_a_shard(one: str, other: str) -> None:
    for text in (one, other):
        try:
            text.encode()
        except UnicodeEncodeError:
            return
    if one == other:
        return
    with connect(":memory:", Market) as db:
        db.run(put(Note(user_id=other, number=1)))
        assert db.for_tenant(user_id=other).run(Note.primary(other, 1)) is not None
        with pytest.raises(TenantViolation):
            db.for_tenant(user_id=one).run(Note.primary(other, 1))
