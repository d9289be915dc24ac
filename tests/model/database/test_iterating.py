"""`iterate()` requests pages when they are needed."""

from __future__ import annotations

from tablewright import create
from tablewright.database import Database
from tests.model.database.shop import Product, product, shelf
from tests.transports import record_requests


def test_iterate_gives_every_page_in_order(db: Database) -> None:
    for number in range(7):
        db.run(create(product(number)))
    assert list(db.iterate(shelf("A").page_size(3))) == [product(number) for number in range(7)]
    newest = db.iterate(shelf("A").desc().page_size(3))
    assert list(newest) == [product(number) for number in reversed(range(7))]


def test_iterate_asks_for_a_page_when_it_is_needed_and_not_before(db: Database) -> None:
    for number in range(7):
        db.run(create(product(number)))
    recording = record_requests(db)
    each = db.iterate(shelf("A").page_size(3))
    assert len(recording.requests) == 0
    assert [next(each) for _ in range(3)] == [product(0), product(1), product(2)]
    assert len(recording.requests) == 1
    next(each)
    assert len(recording.requests) == 2
    each.close()  # type: ignore[attr-defined]  # it is a generator
    assert len(recording.requests) == 2


def test_iterate_goes_on_from_a_cursor(db: Database) -> None:
    for number in range(5):
        db.run(create(product(number)))
    page = db.run(shelf("A").page_size(2))
    assert list(db.iterate(shelf("A").page_size(2).after(page.next_cursor))) == [
        product(2),
        product(3),
        product(4),
    ]


def test_iterate_of_nothing_is_nothing(db: Database) -> None:
    assert list(db.iterate(shelf("A"))) == []
    assert list(db.iterate(Product.scan(reason="test"))) == []
