"""Updates move sentinels, also several in one transaction."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Engine, connect, create, delete, transact, update
from tablewright.database import Database
from tablewright.errors import ConditionFailed, UniqueViolation
from tests.plan.writes.unique.accounts import Account, Badge, Category, Recipes, items
from tests.transports import InterferingTransport, RecordingTransport

# -- update ----------------------------------------------------------------------------------------


def test_an_update_of_the_value_moves_the_sentinel(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    updated = db.run(Category.primary("1").update(Category.name.set("greens")))

    assert updated == Category(id="1", name="greens")
    assert items(engine) == [
        {"PK": "CATEGORY#1", "SK": "CATEGORY#1", "id": "1", "name": "greens", "shopOrder": "0"},
        {"PK": "CATEGORYNAME#greens", "SK": "CATEGORYNAME#greens", "id": "1", "name": "greens"},
    ]
    assert db.run(Category.by_name("vegetables")) is None
    assert db.run(Category.by_name("greens")) == updated


def test_an_update_of_an_instance_moves_the_sentinel(db: Database, engine: Engine) -> None:
    category = db.run(create(Category(id="1", name="vegetables")))
    db.run(update(category, Category.name.set("greens"), Category.shop_order.increment(3)))

    assert category == Category(id="1", name="greens", shop_order=3)
    assert [item["PK"] for item in items(engine)] == ["CATEGORY#1", "CATEGORYNAME#greens"]


def test_an_update_to_the_value_of_another_is_refused_and_nothing_is_written(
    db: Database, engine: Engine
) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    db.run(create(Category(id="2", name="pasta")))
    before = items(engine)

    with pytest.raises(UniqueViolation, match="name 'vegetables'"):
        db.run(Category.primary("2").update(Category.name.set("vegetables")))

    assert items(engine) == before


def test_an_update_beside_the_value_leaves_the_sentinel_alone(db: Database) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Category.primary("1").update(Category.shop_order.set(5)))

    assert sent.operations == ["UpdateItem"]


def test_an_update_to_the_same_value_leaves_the_sentinel_alone(
    db: Database, engine: Engine
) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    before = items(engine)
    db._transport = sent = RecordingTransport(db._transport)
    db.run(Category.primary("1").update(Category.name.set("vegetables")))

    assert sent.operations == ["GetItem", "UpdateItem"]
    assert items(engine) == before


def test_an_update_to_another_spelling_of_the_value_keeps_it(
    accounts: Database, engine: Engine
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", email="ann@x.ch", handle="a")))
    accounts.run(Account.primary("T", "1").update(Account.email.set("ANN@x.ch")))

    (sentinel,) = (item for item in items(engine, "accounts") if item["PK"] == "EMAIL#ann@x.ch")
    assert sentinel["email"] == "ANN@x.ch"


def test_an_update_of_a_kept_attribute_updates_the_sentinel(
    accounts: Database, engine: Engine
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", handle="a")))
    accounts.run(Account.primary("T", "1").update(Account.plan.set("paid")))

    assert [item["plan"] for item in items(engine, "accounts")] == ["paid", "paid"]


def test_a_list_that_a_sentinel_keeps_grows_with_the_entity(
    accounts: Database, engine: Engine
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", handle="a")))
    accounts.run(Account.primary("T", "1").update(Account.roles.append("admin")))

    assert [item["roles"] for item in items(engine, "accounts")] == [[{"S": "admin"}]] * 2


@pytest.mark.parametrize("change", [Account.email.set(None), Account.email.remove()], ids=repr)
def test_an_update_to_nothing_frees_the_value(
    accounts: Database, engine: Engine, change: Any
) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", email="ann@x.ch", handle="a")))
    accounts.run(Account.primary("T", "1").update(change))

    assert not [item for item in items(engine, "accounts") if item["PK"].startswith("EMAIL")]
    accounts.run(create(Account(tenant="T", account_id="2", email="ann@x.ch", handle="b")))


@pytest.mark.parametrize(
    "change", [Account.email.set("ann@x.ch"), Account.email.set_if_absent("ann@x.ch")], ids=repr
)
def test_an_update_from_nothing_takes_the_value(accounts: Database, change: Any) -> None:
    accounts.run(create(Account(tenant="T", account_id="1", handle="a")))
    ann = accounts.run(Account.primary("T", "1").update(change))

    assert accounts.run(Account.by_email("ann@x.ch")) == ann


def test_a_condition_that_fails_leaves_the_sentinel_alone(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    before = items(engine)

    with pytest.raises(ConditionFailed, match="shop_order = 9 is false"):
        db.run(
            Category.primary("1")
            .update(Category.name.set("greens"))
            .condition(Category.shop_order == 9)
        )

    assert items(engine) == before


# -- several at once -------------------------------------------------------------------------------


def test_two_entities_swap_their_values(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    db.run(create(Category(id="2", name="pasta")))

    db.run(
        transact(
            Category.primary("1").update(Category.name.set("pasta")),
            Category.primary("2").update(Category.name.set("vegetables")),
        )
    )

    assert db.run(Category.by_name("pasta")) == Category(id="1", name="pasta")
    assert db.run(Category.by_name("vegetables")) == Category(id="2", name="vegetables")
    assert len(items(engine)) == 4


def test_a_value_is_given_up_and_taken_in_one_transaction(db: Database, engine: Engine) -> None:
    vegetables = db.run(create(Category(id="1", name="vegetables")))
    db.run(transact(create(Category(id="2", name="vegetables")), delete(vegetables)))

    assert db.run(Category.by_name("vegetables")) == Category(id="2", name="vegetables")
    assert [item["PK"] for item in items(engine)] == ["CATEGORY#2", "CATEGORYNAME#vegetables"]


def test_a_swap_of_which_one_half_fails_changes_nothing(db: Database, engine: Engine) -> None:
    db.run(create(Category(id="1", name="vegetables")))
    db.run(create(Category(id="2", name="pasta")))
    before = items(engine)

    with pytest.raises(ConditionFailed, match="write 2 of 2, update Category"):
        db.run(
            transact(
                Category.primary("1").update(Category.name.set("pasta")),
                Category.primary("2")
                .update(Category.name.set("vegetables"))
                .condition(Category.shop_order == 9),
            )
        )

    assert items(engine) == before


def test_a_value_taken_by_another_meanwhile_is_not_handed_on(db: Database, engine: Engine) -> None:
    """The delete that was to free the value finds that its entity gave it up to somebody else."""
    vegetables = db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)

    def hand_on(_: int) -> None:
        other.run(Category.primary("1").update(Category.name.set("greens")))
        other.run(create(Category(id="3", name="vegetables")))

    db._transport = InterferingTransport(db._transport, hand_on)

    with pytest.raises(UniqueViolation):
        db.run(transact(delete(vegetables), create(Category(id="2", name="vegetables"))))

    assert [item["PK"] for item in items(engine)] == [
        "CATEGORY#1",
        "CATEGORY#3",
        "CATEGORYNAME#greens",
        "CATEGORYNAME#vegetables",
    ]


# -- what an update gives --------------------------------------------------------------------------


def test_an_update_of_the_value_gives_what_is_stored_and_not_what_the_instance_holds(
    db: Database,
) -> None:
    category = db.run(create(Category(id="1", name="vegetables")))
    db.run(Category.primary("1").update(Category.shop_order.set(5)))
    category.shop_order = 9

    changed = db.run(update(category, Category.name.set("greens")))

    assert changed == Category(id="1", name="greens", shop_order=5)
    assert changed == db.run(Category.primary("1"))


def test_an_update_of_the_value_of_a_versioned_entity_gives_what_is_stored(
    accounts: Database,
) -> None:
    badge = accounts.run(create(Badge(badge_id="1", code="a")))
    badge.state = "never saved"

    changed = accounts.run(update(badge, Badge.code.set("b")))

    assert (changed.code, changed.state, changed.version) == ("b", "new", 2)
    assert changed == accounts.run(Badge.primary("1"))


@pytest.mark.parametrize("by", ["key", "instance"])
def test_an_update_of_the_value_gives_what_another_wrote_meanwhile(
    db: Database, engine: Engine, by: str
) -> None:
    category = db.run(create(Category(id="1", name="vegetables")))
    other = connect(engine, Recipes)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Category.primary("1").update(Category.shop_order.set(5))),
    )

    change = Category.name.set("greens")
    changed = db.run(
        update(category, change) if by == "instance" else Category.primary("1").update(change)
    )

    assert changed == Category(id="1", name="greens", shop_order=5)
    assert changed == other.run(Category.primary("1"))
