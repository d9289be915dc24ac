"""Moves while others write the same items."""

from __future__ import annotations

import pytest

from tablewright import Engine, connect, create, transact
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import Contention, NotFound
from tests.plan.writes.move.menus import Menu, Menus, Product, Section, items
from tests.transports import InterferingTransport


def test_what_changes_after_it_was_read_moves_as_it_is_then(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s", title="Soups", note="old")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Section.primary("m", "s").update(Section.note.set("new"))),
    )

    moved = db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert moved.note == "new"
    assert db.run(Section.primary("m", "t")) == moved


def test_an_attribute_that_comes_after_the_item_was_read_is_not_lost(
    db: Database, engine: Engine
) -> None:
    db.run(create(Section(menu="m", section="s", title="Soups")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Section.primary("m", "s").update(Section.note.set("new"))),
    )

    moved = db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert moved.note == "new"
    assert db.run(Section.primary("m", "t")) == moved


@pytest.mark.parametrize("note", ["old", None], ids=["changes", "comes"])
def test_what_others_write_to_a_row_below_moves_with_it(
    db: Database, engine: Engine, note: str | None
) -> None:
    db.run(create(Section(menu="m", section="s")))
    db.run(create(Product(menu="m", section="s", product="p", note=note)))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Product.primary("m", "s", "p").update(Product.note.set("new"))),
    )

    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    product = db.run(Product.primary("m", "t", "p"))
    assert product is not None
    assert product.note == "new"


def test_a_row_below_that_goes_away_meanwhile_stays_away(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s", title="Soups")))
    db.run(create(Product(menu="m", section="s", product="p")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Product.primary("m", "s", "p").delete())
    )

    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert set(items(engine)) == {
        ("MENU#m", "SECTION#t"),
        ("SECTIONTITLE#Soups", "SECTIONTITLE#Soups"),
    }


LATE = Product(menu="m", section="s", product="late", name="late")


@pytest.mark.parametrize("rows", [0, 2, 60])
def test_a_row_that_is_created_below_the_old_key_during_the_last_transaction_follows(
    db: Database, engine: Engine, rows: int
) -> None:
    db.run(create(Section(menu="m", section="s")))
    for number in range(rows):
        db.run(create(Product(menu="m", section="s", product=f"p{number}")))
    other = connect(engine, Menus)
    move_last = InterferingTransport(
        db._transport, lambda _: other.run(create(LATE)), skip=2 if rows == 60 else 0
    )
    db._transport = move_last

    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert len(db.run(Product.primary.within("m").eq("t"))) == rows + 1
    assert not any(sort.startswith("SECTION#s") for _, sort in items(engine))
    found = db.run(Product.by_name("late"))
    assert found is not None
    assert found.section == "t"


def test_rows_of_an_item_that_is_created_again_under_the_old_key_stay(
    db: Database, engine: Engine
) -> None:
    db.run(create(Section(menu="m", section="s")))
    other, inner = connect(engine, Menus), db._transport
    late = InterferingTransport(inner, lambda _: other.run(create(LATE)))
    db._transport = InterferingTransport(
        late,
        lambda _: other.run(create(Section(menu="m", section="s", title="New"))),
        skip=1,
        before=("Query",),
    )

    db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert db.run(Product.primary("m", "s", "late")) == LATE


def test_a_late_row_that_cannot_follow_is_reported(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s")))
    db.run(create(Product(menu="m", section="t", product="late")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(db._transport, lambda _: other.run(create(LATE)))

    with pytest.raises(Contention, match=r"it has moved, but rows .* could not follow: Product"):
        db.run(Section.primary("m", "s").update(Section.section.set("t")))

    assert db.run(Section.primary("m", "t")) is not None
    assert db.run(Product.primary("m", "s", "late")) == LATE


def test_a_late_row_follows_a_move_in_a_transaction_too(db: Database, engine: Engine) -> None:
    db.run(create(Section(menu="m", section="s")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(db._transport, lambda _: other.run(create(LATE)))

    rename = Section.primary("m", "s").update(Section.section.set("t"))
    db.run(transact(rename, create(Menu(menu="m"))))

    assert db.run(Product.primary("m", "t", "late")) is not None


def test_an_item_that_is_deleted_after_it_was_read_is_not_found(
    db: Database, engine: Engine
) -> None:
    db.run(create(Product(menu="m", section="s", product="p")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(Product.primary("m", "s", "p").delete())
    )

    with pytest.raises(NotFound):
        db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert items(engine) == {}


def test_a_move_that_never_wins_gives_up_and_changes_nothing(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.write.CONTENTION", Backoff(8, first=0.0, longest=0.0)
    )
    db.run(create(Product(menu="m", section="s", product="p")))
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda n: other.run(Product.primary("m", "s", "p").update(Product.price.set(n))),
        times=1000,
    )

    with pytest.raises(Contention, match="nothing was written"):
        db.run(Product.primary("m", "s", "p").update(Product.product.set("q")))

    assert set(items(engine)) == {("MENU#m", "SECTION#s#PRODUCT#p")}
