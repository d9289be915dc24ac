"""The first version of a design: tickets without an owner."""

from __future__ import annotations

from tablewright import GSI, Attr, Entity, Table, attr, index, key


class Helpdesk(Table, name="helpdesk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Ticket(Entity, table=Helpdesk):
    desk: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    status: Attr[str] = attr(default="open")
    primary = key("DESK" / desk, "TICKET" / number)
    by_status = index(Helpdesk.gsi1, "STATUS" / status, "TICKET" / number)
