"""Values that are stored only in index keys: a migration must not lose or misread them."""

from __future__ import annotations

import pytest

from tablewright import Attr, Entity, attr, create, index, key, migrations
from tablewright.database import Database
from tablewright.errors import MigrationRefused
from tests.migration_series.walking import SeriesVersion, Walk
from tests.new_table import new_indexed_table

Desk = new_indexed_table("desk", 2)


class TicketFields(Entity):
    ticket_id: Attr[str] = attr()
    primary = key("TICKET" / ticket_id, "TICKET")


TICKET_ID = TicketFields.ticket_id


class Ticket(TicketFields, table=Desk):
    state: Attr[str] = attr(key_only=True)
    by_state = index(Desk.gsi1, "STATE" / state, TICKET_ID)


def write(database: Database) -> None:
    database.run(create(Ticket(ticket_id="1", state="open")))


@pytest.fixture
def walk() -> Walk:
    return Walk(SeriesVersion("first", Desk, write))


def test_the_only_key_with_a_value_cannot_get_another_text(walk: Walk) -> None:
    """The new version would not find the value, and remove the item from the index."""

    desk = new_indexed_table("desk", 2)

    class Ticket(TicketFields, table=desk):
        state: Attr[str] = attr(key_only=True)
        by_state = index(desk.gsi1, "STATUS" / state, TICKET_ID)

    with pytest.raises(MigrationRefused) as refused:
        migrations.plan(walk.engine, desk)
    assert str(refused.value) == (
        "the new version cannot read these values of stored items:\n"
        "  Ticket.state: its values are stored only in GSI1PK, which is composed in another way\n"
        "Store the attribute first: declare it without key_only=True and with fill=, migrate, and "
        "change the key afterwards"
    )


def test_the_way_that_the_refusal_names(walk: Walk) -> None:
    stored = new_indexed_table("desk", 2)

    class StoredTicket(TicketFields, table=stored, type_name="Ticket"):
        state: Attr[str] = attr(fill=lambda item: item["GSI1PK"].removeprefix("STATE#"))
        by_state = index(stored.gsi1, "STATE" / state, TICKET_ID)

    changed = new_indexed_table("desk", 2)

    class ChangedTicket(TicketFields, table=changed, type_name="Ticket"):
        state: Attr[str] = attr()
        by_state = index(changed.gsi1, "STATUS" / state, TICKET_ID)

    walk.go_to(SeriesVersion("stored", stored))
    walk.go_to(SeriesVersion("changed", changed))
    (item,) = walk.items()
    assert (item["state"], item["GSI1PK"]) == ({"S": "open"}, {"S": "STATUS#open"})


def test_a_value_in_a_second_key_is_read_from_there(walk: Walk) -> None:
    twice = new_indexed_table("desk", 2)

    class TwiceTicket(TicketFields, table=twice, type_name="Ticket"):
        state: Attr[str] = attr(key_only=True)
        by_state = index(twice.gsi1, "STATE" / state, TICKET_ID)
        by_text = index(twice.gsi2, "T" / state, TICKET_ID)

    changed = new_indexed_table("desk", 2)

    class ChangedTicket(TicketFields, table=changed, type_name="Ticket"):
        state: Attr[str] = attr(key_only=True)
        by_state = index(changed.gsi1, state, TICKET_ID)  # parses the old text as another value
        by_text = index(changed.gsi2, "T" / state, TICKET_ID)

    walk.go_to(SeriesVersion("twice", twice))
    walk.go_to(SeriesVersion("changed", changed))
    (item,) = walk.items()
    assert (item["GSI1PK"], item["GSI2PK"]) == ({"S": "open"}, {"S": "T#open"})
    assert "state" not in item


def test_a_value_moves_to_another_index_with_fill(walk: Walk) -> None:
    moved = new_indexed_table("desk", 2)

    class MovedTicket(TicketFields, table=moved, type_name="Ticket"):
        state: Attr[str] = attr(
            key_only=True, fill=lambda item: item["GSI1PK"].removeprefix("STATE#")
        )
        by_state = index(moved.gsi2, "STATE" / state, TICKET_ID)

    walk.go_to(SeriesVersion("moved", moved))
    (item,) = walk.items()
    assert item["GSI2PK"] == {"S": "STATE#open"}
    assert "GSI1PK" not in item
