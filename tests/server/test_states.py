"""The state of a connection changes only as the table of transitions allows."""

from __future__ import annotations

import itertools

import pytest

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError
from tablewright.server import Server
from tablewright.server.connection import Connection
from tablewright.server.limits import MAX_BODY, Budget, Limits
from tablewright.server.preparation import prepare_large
from tablewright.server.states import NEXT, ConnectionState


@pytest.mark.parametrize(
    ("before", "after"), list(itertools.product(ConnectionState, ConnectionState))
)
def test_only_transitions_of_the_table_are_possible(
    engine: Engine, before: ConnectionState, after: ConnectionState
) -> None:
    connection = Connection(Server(engine))
    connection._state = before
    if after in NEXT[before]:
        connection._enter(after)
        assert connection._state is after
    else:
        with pytest.raises(AssertionError, match=f"{before.name} -> {after.name}"):
            connection._enter(after)


def test_the_fault_of_a_large_request_does_not_hold_the_request(engine: Engine) -> None:
    """It is handed to the event loop, which would free the request: 0.3 s for 16 MB."""
    with pytest.raises(DynamoDBError) as raised:
        prepare_large(engine, "GetItem", b'{"TableName":"things","Key":[]}', None, None)
    held = [name for frame in raised.traceback[1:] for name in frame.locals]
    assert "request" not in held
    assert raised.value.__context__ is None


def test_a_closed_connection_stays_closed() -> None:
    assert NEXT[ConnectionState.CLOSED] == {ConnectionState.CLOSED}
    assert all(ConnectionState.CLOSED in after for after in NEXT.values())


def test_reservations_are_granted_in_their_order() -> None:
    budget, granted = Budget(10), list[str]()
    first, was_granted = budget.reserve(8, lambda: granted.append("first"))
    assert was_granted
    large, was_granted = budget.reserve(9, lambda: granted.append("large"))
    assert not was_granted
    _, was_granted = budget.reserve(1, lambda: granted.append("small"))
    assert not was_granted  # though it would fit: it must not overtake
    first.release()
    assert (granted, budget.used, budget.waiting) == (["large", "small"], 10, 0)
    large.release()
    assert budget.used == 1


def test_a_reservation_that_is_withdrawn_lets_the_next_one_pass() -> None:
    budget, granted = Budget(10), list[str]()
    budget.reserve(5, lambda: granted.append("first"))
    large, _ = budget.reserve(9, lambda: granted.append("large"))
    budget.reserve(5, lambda: granted.append("small"))
    large.release()
    assert (granted, budget.used) == (["small"], 10)


def test_bytes_are_taken_only_while_there_are_some() -> None:
    budget = Budget(10)
    assert budget.try_take(10)
    assert not budget.try_take(1)
    budget.give_back(10)
    assert budget.used == 0


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"connections": 0}, "connections is 0; it must be above 0"),
        ({"idle_seconds": -1.0}, "idle_seconds is -1.0; it must be above 0"),
        ({"buffered_bytes": MAX_BODY - 1}, "buffered_bytes is 16777215; it must be at least"),
    ],
)
def test_limits_that_cannot_work_are_refused(limits: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**limits)
