"""Counters: the number and the sum of children, kept by every path of writing."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Any

import pytest

from tablewright import (
    Attr,
    Engine,
    Entity,
    Table,
    Tenancy,
    attr,
    batch_write,
    condition_check,
    connect,
    create,
    delete,
    delete_all,
    explain,
    key,
    put,
    save,
    transact,
    update,
    update_all,
    upsert,
)
from tablewright.database import Database
from tablewright.errors import (
    ConditionFailed,
    DeclarationError,
    InvalidValue,
    NotFound,
    TenantViolation,
    VersionConflict,
)
from tablewright.plans import reconcile
from tablewright.rules import count_of
from tablewright.studio.writes.preview import preview
from tests.costs import run_within_range
from tests.new_table import new_table
from tests.plan.writes.counted import Hub, Owner, Repo, RepoWithStars, Star
from tests.transports import InterferingTransport, Interrupted, InterruptedTransport


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Hub,)


def counters(db: Database, repo: str = "r") -> tuple[Any, ...]:
    found = db.run(Repo.primary(repo).or_raise())
    stars = list(db.iterate(Star.primary.within(repo)))
    expected = (
        len(stars),
        sum(star.is_loud for star in stars),
        sum((star.weight or Decimal(0) for star in stars), Decimal(0)),
    )
    assert (found.stars, found.loud, found.weight) == expected
    return expected


@pytest.fixture
def repo(db: Database) -> Repo:
    """A repository with one star."""
    made, _ = db.run(transact(create(Repo(repo="r")), create(Star(repo="r", user="u"))))
    return made


# -- the paths of writing --------------------------------------------------------------------------


def test_a_parent_and_its_children_are_created_in_one_transaction(db: Database, repo: Repo) -> None:
    assert counters(db) == (1, 0, 1)
    assert repo.stars == 1


def test_create(db: Database, repo: Repo) -> None:
    db.run(create(Star(repo="r", user="v", is_loud=True, weight=Decimal("2.5"))))
    assert counters(db) == (2, 1, Decimal("3.5"))


@pytest.mark.parametrize("write", [create, put], ids=["create", "put"])
def test_a_child_needs_its_parent(db: Database, write: Any) -> None:
    with pytest.raises(NotFound) as raised:
        db.run(write(Star(repo="r", user="u")))
    assert str(raised.value) == (
        'Repo (PK="REPO#r", SK="REPO"): it does not exist, and Repo.stars counts the Star; create '
        "the Repo first, or in the same transaction"
    )
    assert raised.value.entity == "Repo"


def test_put_counts_a_new_child_and_not_a_replaced_one(db: Database, repo: Repo) -> None:
    db.run(put(Star(repo="r", user="v")))
    db.run(put(Star(repo="r", user="v", is_loud=True, weight=None)))
    assert counters(db) == (2, 1, 1)


def test_upsert(db: Database, repo: Repo) -> None:
    for note in ("a", "b"):
        db.run(Star.primary("r", "v").upsert(Star.note.set(note)))
    db.run(upsert(Star(repo="r", user="w", is_loud=True), Star.note.set("c")))
    db.run(Star.primary("r", "v").upsert(Star.weight.set(Decimal(5))))
    assert counters(db) == (3, 1, 7)


def test_update_and_save(db: Database, repo: Repo) -> None:
    db.run(Star.primary("r", "u").update(Star.is_loud.set(True)))
    star = db.run(Star.primary("r", "u").or_raise())
    db.run(update(star, Star.weight.set(Decimal(3))))
    star.is_loud = False
    db.run(save(star))
    assert counters(db) == (1, 0, 3)


def test_an_update_that_concerns_no_counter_is_one_request(db: Database, repo: Repo) -> None:
    plan = Star.primary("r", "u").update(Star.note.set("x"))
    assert explain(plan).operation == "UpdateItem"


def test_delete_counts_what_existed(db: Database, repo: Repo) -> None:
    star = db.run(Star.primary("r", "u").or_raise())
    assert db.run(delete(star)) == star
    assert db.run(delete(star)) is None
    db.run(transact(Star.primary("r", "u").delete(), put(Repo(repo="other"))))
    assert counters(db) == (0, 0, 0)


def test_a_move_to_another_parent(db: Database, repo: Repo) -> None:
    db.run(create(Repo(repo="s")))
    db.run(Star.primary("r", "u").update(Star.repo.set("s")))
    assert (counters(db)[0], counters(db, "s")[0]) == (0, 1)
    with pytest.raises(NotFound):
        db.run(Star.primary("s", "u").update(Star.repo.set("missing")))
    assert counters(db, "s")[0] == 1


def test_a_transaction_has_one_action_for_each_parent(db: Database, repo: Repo) -> None:
    db.run(
        transact(
            Star.primary("r", "u").delete(),
            create(Star(repo="r", user="v", weight=Decimal(4))),
            create(Star(repo="r", user="w", weight=Decimal(5))),
        )
    )
    assert counters(db) == (2, 0, 9)


@pytest.mark.parametrize(
    "own",
    [
        Repo.primary("r").update(Repo.text.set("x")),
        Repo.primary("r").upsert(Repo.text.set("x")),
        put(Repo(repo="r", text="x")),
        condition_check(Repo.primary("r"), Repo.stars == 1),
    ],
    ids=["update", "upsert", "put", "condition_check"],
)
def test_the_parent_is_written_in_the_same_transaction(db: Database, repo: Repo, own: Any) -> None:
    db.run(transact(own, create(Star(repo="r", user="v", is_loud=True))))
    assert counters(db) == (2, 1, 2)


def test_a_condition_on_a_counter_holds_in_the_same_transaction(db: Database, repo: Repo) -> None:
    check = condition_check(Repo.primary("r"), Repo.stars == 0)
    with pytest.raises(ConditionFailed, match="stars = 0"):
        db.run(transact(check, create(Star(repo="r", user="v"))))
    assert counters(db) == (1, 0, 1)


def test_changes_that_cancel_each_other_still_need_the_parent(db: Database) -> None:
    db.run(create(Repo(repo="r")))
    db.run(create(Star(repo="r", user="u")))
    swap = transact(Star.primary("r", "u").delete(), create(Star(repo="r", user="v")))
    db.run(swap)
    assert counters(db) == (1, 0, 1)


def test_delete_all_and_update_all(db: Database, repo: Repo) -> None:
    for number in range(5):
        db.run(create(Star(repo="r", user=str(number))))
    assert db.run(update_all(Star.primary.within("r"), Star.is_loud.set(True))) == 6
    assert counters(db) == (6, 6, 6)
    assert db.run(delete_all(Star.primary.within("r"))) == 6
    assert counters(db) == (0, 0, 0)


def test_delete_all_of_many_takes_one_action_for_the_parent(db: Database, repo: Repo) -> None:
    for start in range(0, 120, 40):
        stars = [create(Star(repo="r", user=f"{n:03}")) for n in range(start, start + 40)]
        db.run(transact(*stars))
    assert counters(db)[0] == 121
    assert db.run(delete_all(Star.primary.within("r"))) == 121
    assert counters(db) == (0, 0, 0)


def test_an_aggregate_is_deleted_with_what_it_counts(db: Database, repo: Repo) -> None:
    for start in range(0, 120, 40):
        stars = [create(Star(repo="r", user=f"{n:03}")) for n in range(start, start + 40)]
        db.run(transact(*stars))
    assert db.run(delete_all(RepoWithStars.of(Repo.primary("r")))) == 122
    assert db.run(Repo.primary("r")) is None


def test_batches_are_refused(db: Database, repo: Repo) -> None:
    for write, reason in (
        (put(Star(repo="r", user="v")), "unique values"),
        (put(repo), "counters"),
        (Repo.primary("r").delete(), "counters"),
        (put(Owner(name="o")), "a version"),
    ):
        with pytest.raises(DeclarationError, match=f"it has {reason}"):
            batch_write([write])


# -- the parent ------------------------------------------------------------------------------------


def test_the_caller_cannot_write_a_counter(db: Database, repo: Repo) -> None:
    with pytest.raises(InvalidValue, match=r"Repo.stars is set by the library; leave it out$"):
        Repo(repo="r", stars=5)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match=r"the writes of what it counts change it"):
        repo.stars = 5
    with pytest.raises(InvalidValue, match="set by the library"):
        Repo.primary("r").update(Repo.stars.increment(1))
    with pytest.raises(InvalidValue, match="set by the library"):
        Repo.primary("r").upsert(Repo.stars.set(1))


def test_a_put_keeps_the_counters_of_the_stored_parent(db: Database, repo: Repo) -> None:
    replaced = db.run(put(Repo(repo="r", text="new")))
    assert (replaced.stars, replaced.weight) == (1, Decimal(1))
    assert counters(db) == (1, 0, 1)


def test_a_put_of_an_old_instance_begins_at_zero(db: Database, repo: Repo) -> None:
    db.run(delete_all(RepoWithStars.of(Repo.primary("r"))))
    assert db.run(put(repo)).stars == 0
    db.run(delete(repo))
    repo = db.run(create(repo))
    db.run(create(Star(repo="r", user="u")))
    assert counters(db) == (1, 0, 1)


def test_an_upsert_that_creates_the_parent_begins_at_zero(db: Database, repo: Repo) -> None:
    db.run(delete_all(RepoWithStars.of(Repo.primary("r"))))
    assert repo.stars == 1
    assert db.run(upsert(repo, Repo.text.set("x"))).stars == 0


def test_a_counter_does_not_change_the_version_of_the_parent(db: Database) -> None:
    owner = db.run(create(Owner(name="o")))
    db.run(create(Repo(repo="r", forker="o")))
    db.run(update(owner, Owner.text.set("x")))
    assert (owner.version, owner.forks) == (2, 1)
    with pytest.raises(VersionConflict):
        db.run(delete(Owner(name="o")))


def test_a_parent_with_children_is_not_deleted(db: Database, repo: Repo) -> None:
    with pytest.raises(ConditionFailed) as raised:
        db.run(Repo.primary("r").delete())
    assert raised.value.reason.startswith("stars is 1 and weight is 1: delete what it counts")
    db.run(transact(Star.primary("r", "u").delete(), Repo.primary("r").delete()))
    assert db.run(Repo.primary("r")) is None
    assert db.run(Repo.primary("r").delete()) is None


def test_a_parent_moves_with_the_children_below_it(db: Database, repo: Repo) -> None:
    db.run(Repo.primary("r").update(Repo.repo.set("s")))
    assert counters(db, "s") == (1, 0, 1)


def test_a_parent_does_not_leave_other_children_behind(db: Database) -> None:
    db.run(create(Owner(name="o")))
    db.run(create(Repo(repo="r", forker="o")))
    with pytest.raises(ConditionFailed, match="forks is 1: delete what it counts first"):
        db.run(Owner.primary("o").update(Owner.name.set("p")))


def test_more_children_than_one_transaction_holds_move_with_their_parent(
    db: Database, repo: Repo
) -> None:
    for start in range(0, 120, 40):
        stars = [create(Star(repo="r", user=f"{n:03}")) for n in range(start, start + 40)]
        db.run(transact(*stars))
    late = iter(range(3))

    def write(_: int) -> None:
        """Another client writes children below the old key while they are moved."""
        db.run(create(Star(repo="r", user=f"x{next(late)}", is_loud=True)))
        db.run(Star.primary("r", "119").update(Star.weight.set(Decimal(5))))

    transport = InterferingTransport(db.transport, write, times=2, before=("TransactWriteItems",))
    moved = db.through(transport).run(Repo.primary("r").update(Repo.repo.set("s")))
    assert moved.stars == 123
    assert counters(db, "s")[:2] == (123, 2)
    assert db.run(Repo.primary("r")) is None


def test_an_interrupted_move_is_continued(db: Database, repo: Repo) -> None:
    for start in range(0, 120, 40):
        stars = [create(Star(repo="r", user=f"{n:03}")) for n in range(start, start + 40)]
        db.run(transact(*stars))
    plan = Repo.primary("r").update(Repo.repo.set("s"))
    for at in (1, 2):
        with pytest.raises(Interrupted):
            db.through(InterruptedTransport(db.transport, at, applied=True)).run(plan)
    db.run(plan)
    assert counters(db, "s") == (121, 0, 121)


def test_a_parent_takes_along_children_that_are_parents_themselves() -> None:
    shop = new_table()

    class Menu(Entity, table=shop):
        menu: Attr[str] = attr()
        sections: Attr[int] = count_of("Section")
        products: Attr[int] = count_of("Product")
        primary = key("MENU" / menu, "MENU")

    class Section(Entity, table=shop):
        menu: Attr[str] = attr()
        section: Attr[str] = attr()
        products: Attr[int] = count_of("Product")
        primary = key("MENU" / menu, "SECTION" / section)

    class Product(Entity, table=shop):
        menu: Attr[str] = attr()
        section: Attr[str] = attr()
        product: Attr[int] = attr()
        primary = key("MENU" / menu, "PRODUCT" / section / product)

    db = connect(":memory:", shop)
    db.run(transact(create(Menu(menu="m")), create(Section(menu="m", section="s"))))
    db.run(transact(*(create(Product(menu="m", section="s", product=n)) for n in range(70))))
    for key_change in (
        Menu.primary("m").update(Menu.menu.set("n")),
        Menu.primary("n").update(Menu.menu.set("m")),
    ):
        menu = db.run(key_change)
        assert (menu.sections, menu.products) == (1, 70)
    assert db.run(Section.primary("m", "s").or_raise()).products == 70
    assert db.run(reconcile(shop, dry_run=True)) == 0
    with pytest.raises(ConditionFailed, match="products is 70"):
        db.run(Section.primary("m", "s").update(Section.section.set("t")))


def test_a_child_without_a_parent_belongs_to_none(db: Database) -> None:
    db.run(create(Owner(name="o")))
    db.run(create(Repo(repo="r")))
    for forker, forks in (("o", 1), (None, 0), ("o", 1)):
        db.run(Repo.primary("r").update(Repo.forker.set(forker)))
        assert db.run(Owner.primary("o").or_raise()).forks == forks


def test_what_is_left_without_its_parent_can_be_changed_and_deleted(
    db: Database, engine: Engine, repo: Repo
) -> None:
    key = {"PK": {"S": "REPO#r"}, "SK": {"S": "REPO"}}
    engine.call("DeleteItem", {"TableName": "hub", "Key": key})
    star = Star.primary("r", "u")
    db.run(star.update(Star.weight.set(Decimal(2))))
    with pytest.raises(NotFound, match=r"Repo.loud counts the Star"):
        db.run(star.update(Star.is_loud.set(True)))
    db.run(star.delete())
    assert db.run(star) is None


def test_the_counter_sorts_an_index(db: Database, repo: Repo) -> None:
    db.run(create(Repo(repo="s")))
    assert [each.repo for each in db.run(Repo.by_stars("top").desc())] == ["r", "s"]


# -- several writers -------------------------------------------------------------------------------


def test_writers_at_the_same_time_are_all_counted(db: Database, repo: Repo) -> None:
    def write(name: str) -> None:
        for number in range(6):
            db.run(put(Star(repo="r", user=f"{number % 3}", is_loud=number % 2 == 0)))
            db.run(Star.primary("r", f"{name}{number % 2}").upsert(Star.is_loud.set(True)))
            db.run(Star.primary("r", f"{number % 3}").delete())

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counters(db)[0] == 7


# -- what it costs ---------------------------------------------------------------------------------


def test_explain_shows_the_action_on_the_parent() -> None:
    own, *_, parent = explain(create(Star(repo="r", user="u"))).steps
    assert (own.operation, parent.operation) == ("Put", "Update")
    assert parent.condition == 'PK="REPO#{repo}" AND SK="REPO"'
    assert parent.sets == (
        "stars = stars + 1",
        "loud = loud + 1 (if is_loud = True)",
        "weight = weight + weight",
    )


def test_explain_shows_what_a_delete_of_the_parent_requires() -> None:
    required = explain(Owner.primary("o").delete()).requires
    assert required == ("forks = 0, or what the transaction takes away",)


@pytest.mark.parametrize(
    "plan",
    [
        create(Star(repo="r", user="w")),
        put(Star(repo="r", user="u", weight=Decimal(7))),
        Star.primary("r", "u").update(Star.is_loud.set(True)),
        Star.primary("r", "w").upsert(Star.is_loud.set(True)),
        Star.primary("r", "u").update(Star.repo.set("s")),
        Star.primary("r", "u").delete(),
        put(Repo(repo="r")),
        Repo.primary("r").update(Repo.repo.set("t")),
        Repo.primary("s").delete(),
        delete_all(RepoWithStars.of(Repo.primary("r"))),
        delete_all(Star.primary.within("r")),
        update_all(Star.primary.within("r"), Star.is_loud.set(True)),
        transact(Star.primary("r", "u").delete(), create(Star(repo="r", user="w"))),
    ],
    ids=lambda plan: type(plan).__name__,
)
def test_a_plan_stays_within_its_range(db: Database, repo: Repo, plan: Any) -> None:
    db.run(create(Repo(repo="s", text="x" * 300_000)))
    db.run(Repo.primary("r").update(Repo.text.set("x" * 300_000)))
    run_within_range(db, plan, items=3)


def test_two_deletes_at_the_same_time_count_once() -> None:
    """Nothing of a child need differ, so that its existence is a condition."""
    shop = new_table()

    class Cart(Entity, table=shop):
        cart: Attr[str] = attr()
        many: Attr[int] = count_of("Thing")
        primary = key("CART" / cart, "CART")

    class Thing(Entity, table=shop):
        cart: Attr[str] = attr()
        thing: Attr[str] = attr()
        primary = key("CART" / cart, "THING" / thing)

    other = connect(":memory:", shop)
    other.run(transact(create(Cart(cart="c")), create(Thing(cart="c", thing="t"))))
    plan = Thing.primary("c", "t").delete()
    for write in (plan, transact(plan, create(Cart(cart="d")))):
        interfering = InterferingTransport(other.transport, lambda _: other.run(plan))
        other.through(interfering).run(write)
        assert other.run(Cart.primary("c").or_raise()).many == 0
        other.run(create(Thing(cart="c", thing="t")))


def test_a_child_that_is_created_while_its_parent_is_deleted(db: Database, repo: Repo) -> None:
    star = create(Star(repo="r", user="late"))
    transport = InterferingTransport(db.transport, lambda _: db.run(star))
    assert db.through(transport).run(delete_all(RepoWithStars.of(Repo.primary("r")))) == 3
    db.run(transact(create(Repo(repo="r")), star))
    transport = InterferingTransport(
        db.transport, lambda _: db.run(Star.primary("r", "late").delete())
    )
    db.through(transport).run(Repo.primary("r").update(Repo.repo.set("s")))
    assert counters(db, "s") == (0, 0, 0)


def test_a_parent_that_is_deleted_while_its_child_is_created(db: Database, repo: Repo) -> None:
    whole = delete_all(RepoWithStars.of(Repo.primary("r")))
    transport = InterferingTransport(db.transport, lambda _: db.run(whole))
    with pytest.raises(NotFound):
        db.through(transport).run(create(Star(repo="r", user="v")))
    assert db.run(Star.primary("r", "v")) is None


def test_a_tenant_changes_no_counter_of_another_one() -> None:
    shop = new_table(tenancy=Tenancy("tenant", write=("TENANT#{tenant}",)))

    class Cart(Entity, table=shop):
        tenant: Attr[str] = attr()
        many: Attr[int] = count_of("Line", by=("of",))
        primary = key("TENANT" / tenant, "CART")

    class Line(Entity, table=shop):
        tenant: Attr[str] = attr()
        number: Attr[int] = attr()
        of: Attr[str] = attr()
        primary = key("TENANT" / tenant, "LINE" / number)

    db = connect(":memory:", shop)
    db.run(transact(create(Cart(tenant="a")), create(Cart(tenant="b"))))
    tenant = db.for_tenant(tenant="a")
    tenant.run(create(Line(tenant="a", number=1, of="a")))
    with pytest.raises(TenantViolation):
        tenant.run(create(Line(tenant="a", number=2, of="b")))
    assert db.run(Cart.primary("a").or_raise()).many == 1
    assert db.run(Cart.primary("b").or_raise()).many == 0


def test_a_preview_shows_the_parent(db: Database, repo: Repo) -> None:
    shown = preview(db, create(Star(repo="r", user="v")))
    found = [(each.kind, each.changed) for each in shown.items]
    assert found[1] == ("changed", ["stars", "weight"])
    assert [kind for kind, _ in found] == ["added", "changed"]
    assert counters(db)[0] == 1


def test_an_entity_counts_its_own_items() -> None:
    shop = new_table()

    class Comment(Entity, table=shop):
        post: Attr[str] = attr()
        number: Attr[int] = attr()
        parent: Attr[int | None] = attr(default=None)
        replies: Attr[int] = count_of("Comment", by=("post", "parent"))
        primary = key("POST" / post, "COMMENT" / number)

    db = connect(":memory:", shop)

    def replies() -> list[int]:
        return [each.replies for each in db.iterate(Comment.primary.within("p"))]

    db.run(create(Comment(post="p", number=1)))
    with pytest.raises(NotFound):
        db.run(create(Comment(post="p", number=2, parent=7)))
    for number, parent in ((2, 1), (3, 1), (4, 2)):
        db.run(create(Comment(post="p", number=number, parent=parent)))
    assert replies() == [2, 1, 0, 0]
    db.run(Comment.primary("p", 4).update(Comment.parent.set(3)))
    assert replies() == [2, 0, 1, 0]
    db.run(put(Comment(post="p", number=2, parent=2)))
    assert replies() == [1, 1, 1, 0]
    with pytest.raises(ConditionFailed, match="replies is 1"):
        db.run(Comment.primary("p", 3).delete())
    assert db.run(reconcile(shop)) == 0
    db.run(Comment.primary("p", 2).delete())
    db.run(transact(*(Comment.primary("p", number).delete() for number in (1, 3, 4))))
    assert replies() == []
