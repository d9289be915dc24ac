"""The second version: a ticket needs an owner."""

from __future__ import annotations

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Query,
    Table,
    access_pattern,
    attr,
    children,
    index,
    key,
    root,
    unique,
)
from tablewright.formats import shard
from tablewright.plans import Get, Load


class Helpdesk(Table, name="helpdesk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Desk(Entity, table=Helpdesk):
    desk: Attr[str] = attr()
    primary = key("DESK" / desk, "DESK")


class Ticket(Entity, table=Helpdesk):
    desk: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    status: Attr[str] = attr(default="open")
    owner: Attr[str] = attr()
    code: Attr[str | None] = attr(default=None)
    primary = key("DESK" / desk, "TICKET" / number)
    by_status = index(Helpdesk.gsi1, "STATUS" / status, "TICKET" / number)
    by_code = unique("CODE" / code)


class Comment(Entity, table=Helpdesk):
    """In the range of the tickets in the index, so that queries there leave out comments."""

    number: Attr[int] = attr(pad=3)
    status: Attr[str] = attr(default="open")
    primary = key("COMMENT" / number, "COMMENT")
    by_status = index(Helpdesk.gsi1, "STATUS" / status, "TICKET" / number / "COMMENT")


class Entry(Entity, table=Helpdesk):
    """In three shards."""

    number: Attr[int] = attr(pad=3)
    owner: Attr[str] = attr()
    primary = key("LOG" / shard(number, of=3), "ENTRY" / number)


class DeskWithTickets(Aggregate):
    desk: Desk = root()
    tickets: list[Ticket] = children()


@access_pattern
def tickets(desk: str) -> Query[Ticket]:
    return Ticket.primary.within(desk)


@access_pattern
def desk_with_tickets(desk: str) -> Load[DeskWithTickets]:
    return DeskWithTickets.of(Desk.primary(desk))


@access_pattern
def ticket(desk: str, number: int) -> Get[Ticket]:
    return Ticket.primary(desk, number)
