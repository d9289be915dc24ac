"""Concurrent writes of one order."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Engine, connect
from tablewright.database import Database
from tablewright.designs.commerce import (
    Commerce,
    ItemStatus,
    order_header,
    put_order,
    status_history,
    update_item_status,
    update_order_status,
    update_order_status_with_history,
)
from tablewright.errors import NotFound, VersionConflict
from tests.designs.commerce.support import (
    CREATED,
    FULFILLED,
    PAID,
    everything,
    index_keys,
    order,
)
from tests.transports import InterferingTransport


def test_a_concurrent_write_before_the_transaction_makes_the_version_stale(
    db: Database, engine: Engine, client: Any
) -> None:
    """The version matches when it is read, but not when the transaction runs."""
    other = connect(engine, Commerce)
    other_update = update_order_status_with_history("C1", "O100", PAID, 1, "till", "card")
    db._transport = InterferingTransport(db._transport, lambda _: other.run(other_update))
    with pytest.raises(VersionConflict) as caught:
        db.run(update_order_status_with_history("C1", "O100", FULFILLED, 1, "web", "late"))
    assert caught.value.current == other.run(order_header("C1", "O100"))
    history = other.run(status_history("C1", "O100", 10))
    assert [(event.version, event.to_status) for event in history] == [(2, PAID)]
    assert index_keys(client, "gsi_status_orders", "O100")[0][0] == "STATUS#PAID"


def test_an_update_without_a_version_is_retried_after_a_concurrent_write(
    db: Database, engine: Engine
) -> None:
    other = connect(engine, Commerce)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(update_order_status("C1", "O100", PAID))
    )
    updated = db.run(update_order_status("C1", "O100", FULFILLED))
    assert (updated.status, updated.version) == (FULFILLED, 3)
    history = db.run(status_history("C1", "O100", 10))
    assert [(e.version, e.from_status, e.to_status) for e in history] == [
        (3, PAID, FULFILLED),
        (2, CREATED, PAID),
    ]


def test_a_put_replaces_an_order_that_another_writer_creates_meanwhile(
    db: Database, engine: Engine, client: Any
) -> None:
    other = connect(engine, Commerce)
    db._transport = InterferingTransport(
        db._transport, lambda _: other.run(put_order(order("O500", status=PAID)))
    )
    db.run(put_order(order("O500", status=FULFILLED)))
    assert index_keys(client, "gsi_status_orders", "O500")[0][0] == "STATUS#FULFILLED"
    history = db.run(status_history("C1", "O500", 10))
    assert [(e.version, e.from_status, e.to_status) for e in history] == [(2, PAID, FULFILLED)]


@pytest.mark.parametrize(
    "plan",
    [
        update_order_status("C1", "O999", PAID),
        update_order_status_with_history("C1", "O999", PAID, 1, "till", "card"),
        update_item_status("C1", "O100", "I99", ItemStatus.SHIPPED),
    ],
    ids=["the status of an order", "with history", "the status of an item"],
)
def test_an_update_of_a_missing_item_raises_not_found_and_creates_nothing(
    db: Database, plan: Any, client: Any
) -> None:
    """UpdateItem without a condition would create the item."""
    before = everything(client)
    with pytest.raises((NotFound, VersionConflict)) as caught:
        db.run(plan)
    assert type(caught.value) is NotFound
    assert everything(client) == before
