"""Moves with more items than one transaction can hold."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Engine, connect, create, transact
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    Contention,
    InvalidValue,
    UniqueViolation,
)
from tests.plan.writes.move.menus import Menu, Menus, Product, Section, build, items, shape
from tests.transports import InterferingTransport, Interrupted, InterruptedTransport

# -- many rows below -------------------------------------------------------------------------------


def many(db: Database, rows: int, section: str = "s") -> None:
    """A section with many products; every second has a unique name."""
    products = [
        Product(
            menu="m",
            section=section,
            product=f"p{number:03}",
            name=f"name {number}" if number % 2 else None,
            price=number,
        )
        for number in range(rows)
    ]
    db.run(create(Section(menu="m", section=section, title="Soups")))
    for start in range(0, rows, 50):
        db.run(transact(*map(create, products[start : start + 50])))


def many_built(rows: int) -> Any:
    """What `many` leaves in section `t`, in a table of its own."""
    with Engine(":memory:") as engine:
        many(connect(engine, Menus), rows, "t")
        return shape(engine)


RENAME = Section.primary("m", "s").update(Section.section.set("t"))


@pytest.mark.parametrize("rows", [39, 40, 60, 250])
def test_rows_that_do_not_fit_into_one_transaction_move_in_steps(
    db: Database, engine: Engine, rows: int
) -> None:
    many(db, rows)
    db._transport = counting = InterruptedTransport(db._transport, -1, applied=False)
    db.run(RENAME)

    assert shape(engine) == many_built(rows)
    assert all(size <= 100 for size in counting.sizes)
    assert (len(counting.sizes) == 1) is (rows == 39)


@pytest.mark.parametrize("rows", [60, pytest.param(250, marks=pytest.mark.slow)])
@pytest.mark.parametrize("done", [False, True], ids=["before it", "after it"])
def test_an_interruption_loses_and_doubles_nothing_and_the_same_update_goes_on(
    rows: int, done: bool
) -> None:
    expected = many_built(rows)
    at = 0
    while True:
        at += 1
        with Engine(":memory:") as engine:
            db = connect(engine, Menus)
            many(db, rows)
            db._transport = interrupting = InterruptedTransport(db._transport, at, applied=done)
            try:
                db.run(RENAME)
            except Interrupted:
                pass
            else:
                assert shape(engine) == expected
                break

            found = items(engine)
            products = [
                item["product"]["S"] for item in found.values() if item["type"]["S"] == "Product"
            ]
            assert sorted(products) == [f"p{number:03}" for number in range(rows)]
            sections = [item for item in found.values() if item["type"]["S"] == "Section"]
            assert len(sections) == 1
            again = connect(engine, Menus)
            for number in range(1, rows, 2):
                assert again.run(Product.by_name(f"name {number}")) is not None
            assert engine.check()

            if shape(engine) != expected:  # not the last transaction, whose answer got lost
                again.run(RENAME)
            assert shape(engine) == expected
            assert engine.check()
    assert at > (2 if rows == 60 else 5)
    assert len(interrupting.sizes) == at - 1


def test_a_move_of_many_rows_that_never_ends_says_that_a_part_is_done(
    db: Database, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablewright.plan.writes.write.CONTENTION", Backoff(4, 0.0, 0.0))
    many(db, 60)
    other, inner = connect(engine, Menus), db._transport
    db._transport = InterferingTransport(
        inner,
        lambda n: other.run(Section.primary("m", "s").update(Section.note.set(str(n)))),
        times=1000,
        skip=2,
    )

    with pytest.raises(Contention, match="a part was written: run it again to continue"):
        db.run(RENAME)

    db._transport = inner
    note = db.run(RENAME).note
    db.run(Section.primary("m", "t").update(Section.note.remove()))
    assert note is not None
    assert shape(engine) == many_built(60)


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (RENAME.condition(Section.note == "x"), ConditionFailed),
        (
            Section.primary("m", "s").update(Section.section.set("t"), Section.title.set("Other")),
            UniqueViolation,
        ),
        (Section.primary("m", "s").update(Section.section.set("u")), AlreadyExists),
    ],
    ids=["condition", "unique", "target"],
)
def test_a_refused_move_of_many_rows_changes_nothing(
    db: Database, engine: Engine, plan: Any, error: type[Exception]
) -> None:
    many(db, 60)
    db.run(create(Section(menu="m", section="u", title="Other")))
    before = items(engine)

    with pytest.raises(error):
        db.run(plan)

    assert items(engine) == before


def test_rows_too_large_for_one_transaction_move_in_steps(db: Database, engine: Engine) -> None:
    """20 rows, which is few; 6 MB, where DynamoDB takes 4 MB in one transaction."""
    db.run(create(Section(menu="m", section="s", title="Soups")))
    for number in range(20):
        product = f"p{number:03}"
        db.run(create(Product(menu="m", section="s", product=product, note="x" * 300_000)))

    db.run(RENAME)

    rows = [key[1] for key, item in items(engine).items() if item["type"]["S"] == "Product"]
    assert sorted(rows) == [f"SECTION#t#PRODUCT#p{number:03}" for number in range(20)]


def test_what_others_write_while_many_rows_move_is_not_lost(db: Database, engine: Engine) -> None:
    many(db, 60)
    other = connect(engine, Menus)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Product.primary("m", "s", "p003").update(Product.price.set(999))),
    )

    db.run(RENAME)

    product = db.run(Product.primary("m", "t", "p003"))
    assert product is not None
    assert product.price == 999
    assert len(items(engine)) == len(many_built(60))


# -- in a transaction ------------------------------------------------------------------------------


def test_a_move_is_part_of_a_transaction(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    db.run(
        transact(
            Section.primary("m", "s").update(Section.section.set("t")),
            create(Section(menu="m", section="u", title="New")),
        )
    )

    assert db.run(Product.primary("m", "t", "p0")) is not None
    assert db.run(Section.primary("m", "s")) is None
    assert db.run(Section.primary("m", "u")) == Section(menu="m", section="u", title="New")


def test_a_move_in_a_transaction_that_fails_changes_nothing(db: Database, engine: Engine) -> None:
    build(db, "m", "s")
    before = items(engine)

    with pytest.raises(AlreadyExists, match="write 2 of 2, create Menu"):
        db.run(
            transact(
                Section.primary("m", "s").update(Section.section.set("t")), create(Menu(menu="m"))
            )
        )

    assert items(engine) == before


def test_a_move_too_large_for_its_transaction_is_refused_before_sending(
    db: Database, engine: Engine
) -> None:
    """A move in steps is not all or nothing, so that it cannot be part of `transact`."""
    many(db, 60)
    db.run(create(Menu(menu="m")))
    before = items(engine)

    with pytest.raises(InvalidValue, match=r"60 rows below it are too many .* move it on its own"):
        db.run(transact(RENAME, create(Menu(menu="m"))))

    assert items(engine) == before


# -- rows that come below meanwhile ----------------------------------------------------------------


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_row_that_comes_below_while_many_rows_move_is_moved_as_well(
    db: Database, engine: Engine, at: int
) -> None:
    """It comes before the transaction with this number, and before the last one leaves."""
    many(db, 150)
    other = connect(engine, Menus)
    new = Product(menu="m", section="s", product="late")

    def write(left: int) -> None:
        if left == 0:
            other.run(create(new))

    db._transport = InterferingTransport(db._transport, write, times=at)
    db.run(RENAME)

    assert list(db.run(Product.primary.within("m").eq("s"))) == []
    moved = [product.product for product in db.iterate(Product.primary.within("m").eq("t"))]
    assert moved == ["late", *(f"p{number:03}" for number in range(150))]
