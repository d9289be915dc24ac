"""Values that are stored only in index keys: a migration must not lose or misread them."""

from __future__ import annotations

import pytest

from tablewright import GSI, Attr, Entity, Table, attr, create, index, key, migrations
from tablewright.database import Database
from tablewright.errors import MigrationRefused
from tests.migration_series.walking import SeriesVersion, Walk


class Desk(Table, name="desk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")


class Ticket(Entity, table=Desk):
    ticket_id: Attr[str] = attr()
    state: Attr[str] = attr(key_only=True)
    primary = key("TICKET" / ticket_id, "TICKET")
    by_state = index(Desk.gsi1, "STATE" / state, ticket_id)


def write(database: Database) -> None:
    database.run(create(Ticket(ticket_id="1", state="open")))


@pytest.fixture
def walk() -> Walk:
    return Walk(SeriesVersion("first", Desk, write))


def test_the_only_key_with_a_value_cannot_get_another_text(walk: Walk) -> None:
    """The new version would not find the value, and remove the item from the index."""

    class Desk(Table, name="desk"):
        gsi1 = GSI("GSI1PK", "GSI1SK")
        gsi2 = GSI("GSI2PK", "GSI2SK")

    class Ticket(Entity, table=Desk):
        ticket_id: Attr[str] = attr()
        state: Attr[str] = attr(key_only=True)
        primary = key("TICKET" / ticket_id, "TICKET")
        by_state = index(Desk.gsi1, "STATUS" / state, ticket_id)

    with pytest.raises(MigrationRefused) as refused:
        migrations.plan(walk.engine, Desk)
    assert str(refused.value) == (
        "the new version cannot read these values of stored items:\n"
        "  Ticket.state: its values are stored only in GSI1PK, which is composed in another way\n"
        "Store the attribute first: declare it without key_only=True and with fill=, migrate, and "
        "change the key afterwards"
    )


def test_the_way_that_the_refusal_names(walk: Walk) -> None:
    class Stored(Table, name="desk"):
        gsi1 = GSI("GSI1PK", "GSI1SK")
        gsi2 = GSI("GSI2PK", "GSI2SK")

    class StoredTicket(Entity, table=Stored, type_name="Ticket"):
        ticket_id: Attr[str] = attr()
        state: Attr[str] = attr(fill=lambda item: item["GSI1PK"].removeprefix("STATE#"))
        primary = key("TICKET" / ticket_id, "TICKET")
        by_state = index(Stored.gsi1, "STATE" / state, ticket_id)

    class Changed(Table, name="desk"):
        gsi1 = GSI("GSI1PK", "GSI1SK")
        gsi2 = GSI("GSI2PK", "GSI2SK")

    class ChangedTicket(Entity, table=Changed, type_name="Ticket"):
        ticket_id: Attr[str] = attr()
        state: Attr[str] = attr()
        primary = key("TICKET" / ticket_id, "TICKET")
        by_state = index(Changed.gsi1, "STATUS" / state, ticket_id)

    walk.go_to(SeriesVersion("stored", Stored))
    walk.go_to(SeriesVersion("changed", Changed))
    (item,) = walk.items()
    assert (item["state"], item["GSI1PK"]) == ({"S": "open"}, {"S": "STATUS#open"})


def test_a_value_in_a_second_key_is_read_from_there(walk: Walk) -> None:
    class Twice(Table, name="desk"):
        gsi1 = GSI("GSI1PK", "GSI1SK")
        gsi2 = GSI("GSI2PK", "GSI2SK")

    class TwiceTicket(Entity, table=Twice, type_name="Ticket"):
        ticket_id: Attr[str] = attr()
        state: Attr[str] = attr(key_only=True)
        primary = key("TICKET" / ticket_id, "TICKET")
        by_state = index(Twice.gsi1, "STATE" / state, ticket_id)
        by_text = index(Twice.gsi2, "T" / state, ticket_id)

    class Changed(Table, name="desk"):
        gsi1 = GSI("GSI1PK", "GSI1SK")
        gsi2 = GSI("GSI2PK", "GSI2SK")

    class ChangedTicket(Entity, table=Changed, type_name="Ticket"):
        ticket_id: Attr[str] = attr()
        state: Attr[str] = attr(key_only=True)
        primary = key("TICKET" / ticket_id, "TICKET")
        by_state = index(Changed.gsi1, state, ticket_id)  # parses the old text as another value
        by_text = index(Changed.gsi2, "T" / state, ticket_id)

    walk.go_to(SeriesVersion("twice", Twice))
    walk.go_to(SeriesVersion("changed", Changed))
    (item,) = walk.items()
    assert (item["GSI1PK"], item["GSI2PK"]) == ({"S": "open"}, {"S": "T#open"})
    assert "state" not in item


def test_a_value_moves_to_another_index_with_fill(walk: Walk) -> None:
    class Moved(Table, name="desk"):
        gsi1 = GSI("GSI1PK", "GSI1SK")
        gsi2 = GSI("GSI2PK", "GSI2SK")

    class MovedTicket(Entity, table=Moved, type_name="Ticket"):
        ticket_id: Attr[str] = attr()
        state: Attr[str] = attr(
            key_only=True, fill=lambda item: item["GSI1PK"].removeprefix("STATE#")
        )
        primary = key("TICKET" / ticket_id, "TICKET")
        by_state = index(Moved.gsi2, "STATE" / state, ticket_id)

    walk.go_to(SeriesVersion("moved", Moved))
    (item,) = walk.items()
    assert item["GSI2PK"] == {"S": "STATE#open"}
    assert "GSI1PK" not in item
