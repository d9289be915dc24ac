"""A help desk: one design that uses every kind of declaration, without a plugin for the checkers.

Organisations open tickets; a ticket has comments, a comment has files. `accepted.py` uses what is
declared here, `mistakes.py` misuses it, and `tests/test_typing.py` runs both checkers over all.
"""
# pyright: strict

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import NewType
from uuid import UUID

from pydantic import BaseModel

from tablewright import (
    GSI,
    LSI,
    Aggregate,
    Attr,
    Create,
    Delete,
    Entity,
    First,
    Get,
    GetByUnique,
    Load,
    Page,
    Projection,
    Put,
    Query,
    Table,
    Tenancy,
    Transaction,
    Update,
    access_pattern,
    attr,
    batch_get,
    batch_write,
    children,
    condition_check,
    create,
    created_at,
    delete,
    history,
    index,
    key,
    put,
    root,
    transact,
    ttl,
    unique,
    update,
    updated_at,
    version,
)
from tablewright.formats import day, descending, epoch_seconds, lower, shard, year_month
from tablewright.ids import KSUID
from tablewright.plans import BatchGet, BatchWrite, Count, LoadFound, Range, Scan, Then

AgentId = NewType("AgentId", str)


class Status(StrEnum):
    OPEN = "OPEN"
    WAITING = "WAITING"
    CLOSED = "CLOSED"


class Line(BaseModel):
    text: str
    minutes: int = 0


class Details(BaseModel):
    summary: str
    line: Line
    lines: list[Line] = []
    by_topic: dict[str, Line] = {}


class Desk(Table, name="desk", pk="pk", sk="sk", type_attribute="kind"):
    by_title = LSI("title_key")
    by_status = GSI("gsi1pk", "gsi1sk", name="gsi_status")
    by_day = GSI("gsi2pk", "gsi2sk", name="gsi_day")
    open_only = GSI("gsi3pk", "gsi3sk", name="gsi_open")
    reverse = GSI("sk", "pk", name="gsi_reverse")
    id_lookup = GSI("id", "kind", name="gsi_id", project="KEYS_ONLY")
    by_org = GSI(("org_id", "room"), ("agent_id", "at"), name="gsi_org")
    by_agent = GSI("agent_id", ("org_id", "room", "at"), name="gsi_agent")
    by_all = GSI(("org_id", "agent_id", "room"), name="gsi_all")
    tenancy = Tenancy(
        "org_id",
        write=("ORG#{org_id}", "ORG#{org_id}#*"),
        read=("BILL#{org_id}",),
        shared=("PLANS", "PLANS#*"),
        filtered=(by_status,),
    )


class Flags(Table, name="flags", pk="name", sk=None, type_attribute=None):
    """A table of one entity, whose key is an attribute."""


# -- entities: the number of parts in the partition key rises from 0 to 3 ------------------------


class Stamped(Entity):
    """An abstract base: no table, only attributes that others build on."""

    created_at: Attr[datetime] = created_at()
    updated_at: Attr[datetime] = updated_at(name="updatedAt")


class Owned(Stamped):
    """A second one, upon the first."""

    owner: Attr[AgentId | None] = attr(default=None)


class Flag(Entity, table=Flags):
    name: Attr[str] = attr()
    on: Attr[bool] = attr(default=False)
    primary = key(name)


class Settings(Entity, table=Desk):
    theme: Attr[str] = attr(default="light")
    primary = key("SETTINGS", "SETTINGS")


class Agent(Stamped, table=Desk):
    agent_id: Attr[AgentId] = attr()
    email: Attr[str] = attr()
    team: Attr[str] = attr()
    badge: Attr[str] = attr()
    primary = key("AGENT", "AGENT" / agent_id)
    by_email = unique("EMAIL" / lower(email))
    by_badge = unique("BADGE" / team / badge, keep=(agent_id, team, badge), type_name="Badge")
    by_open_badge = unique("OPEN" / badge, when=team != "")


class StatusEvent(Entity, table=Desk):
    org_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=6)
    version: Attr[int] = attr(pad=6)
    old_status: Attr[Status] = attr()
    new_status: Attr[Status | None] = attr()
    old_version: Attr[int] = attr()
    at: Attr[datetime] = attr()
    by: Attr[str | None] = attr()
    why: Attr[str | None] = attr()
    primary = key("ORG" / org_id, "STATUS" / number / version)


class Ticket(Owned, table=Desk, type_name="TICKET"):
    org_id: Attr[str] = attr(name="orgId")
    number: Attr[int] = attr(pad=6)
    ticket_id: Attr[KSUID] = attr(name="id", default_factory=KSUID.new)
    title: Attr[str] = attr(doc="What it is about.")
    status: Attr[Status] = attr(default=Status.OPEN)
    due: Attr[date | None] = attr(default=None)
    price: Attr[Decimal] = attr(default=Decimal(0))
    weight: Attr[float] = attr(default=0.0)
    urgent: Attr[bool] = attr(default=False)
    rating: Attr[int | None] = attr(default=None)
    note: Attr[str | None] = attr(default=None)
    replies: Attr[int] = attr(default=0)
    tags: Attr[set[str]] = attr(default_factory=set)
    watchers: Attr[set[str] | None] = attr(default=None)
    log: Attr[list[str]] = attr(default_factory=list)
    hints: Attr[list[str] | None] = attr(default=None)
    details: Attr[Details] = attr()
    extra: Attr[Details | None] = attr(default=None)
    counters: Attr[dict[str, int]] = attr(default_factory=dict)
    expires: Attr[datetime | None] = ttl(default=None)
    version: Attr[int] = version()

    primary = key("ORG" / org_id, "TICKET" / number)
    by_title = primary.local(Desk.by_title, "TITLE" / title)
    by_status = index(Desk.by_status, "STATUS" / status, "DUE" / due / "ORG" / org_id / number)
    waiting = index(
        Desk.open_only, "ORG" / org_id, descending(number), when=status == Status.WAITING
    )
    by_month = index(Desk.by_day, "DUE" / year_month(due), "ORG" / org_id / number)
    reverse = primary.swapped(Desk.reverse)
    by_id = index(Desk.id_lookup, ticket_id)
    changes = history(
        status,
        StatusEvent,
        old=StatusEvent.old_status,
        new=StatusEvent.new_status,
        version=StatusEvent.version,
        old_version=StatusEvent.old_version,
        at=StatusEvent.at,
        by=StatusEvent.by,
        reason=StatusEvent.why,
    )


class Bill(Entity, table=Desk):
    org_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    amount: Attr[Decimal] = attr()
    primary = key("BILL" / org_id, year_month(at))


class Profile(Entity, table=Desk):
    org_id: Attr[str] = attr()
    site: Attr[str | None] = attr(default=None)
    primary = key("ORG" / org_id, "PROFILE" / org_id.again)


class Lead(Owned, table=Desk):
    """Its parts may be missing, and then it is not in the index."""

    lead_id: Attr[str] = attr()
    handle: Attr[AgentId | None] = attr(default=None)
    score: Attr[int | None] = attr(default=None, pad=4)
    seen: Attr[datetime | None] = attr(default=None)
    country: Attr[str] = attr()
    town: Attr[str] = attr()
    topics: Attr[frozenset[str]] = attr(default=frozenset())
    primary = key("LEAD" / lead_id, "LEAD")
    by_handle = index(Desk.by_status, "HANDLE" / lower(handle), "SCORE" / descending(score))
    by_seen = index(Desk.by_day, "SEEN" / day(seen), epoch_seconds(seen))
    by_place = unique("COUNTRY" / country, "TOWN" / town)


class Comment(Stamped, table=Desk):
    org_id: Attr[str] = attr(name="orgId")
    number: Attr[int] = attr(pad=6)
    at: Attr[datetime] = attr()
    text: Attr[str] = attr()
    primary = key("ORG" / org_id, "TICKET" / number / "COMMENT" / at)


class File(Entity, table=Desk):
    org_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=6)
    at: Attr[datetime] = attr()
    file_id: Attr[UUID] = attr()
    content: Attr[bytes] = attr(default=b"")
    primary = key("ORG" / org_id, "TICKET" / number / "COMMENT" / at / "FILE" / file_id)


class Usage(Entity, table=Desk):
    org_id: Attr[str] = attr()
    at: Attr[datetime] = attr()
    source: Attr[str] = attr()
    seconds: Attr[int] = attr()
    primary = key("USAGE" / org_id / year_month(at), epoch_seconds(at) / source)
    by_day = index(Desk.by_day, "DAY" / day(at) / shard(source, of=4), "AT" / at / org_id)


class Visit(Entity, table=Desk):
    org_id: Attr[str] = attr()
    agent_id: Attr[AgentId] = attr()
    room: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("VISIT" / org_id / agent_id / room, "AT" / at)
    by_org = index(Desk.by_org, (org_id, room), (agent_id, at))
    by_agent = index(Desk.by_agent, agent_id, (org_id, room, at))
    by_all = index(Desk.by_all, (org_id, agent_id, room))
    by_day = index(Desk.by_day, "VISITS" / day(at) / org_id / room, "AT" / at)


# -- aggregates: one level, and two --------------------------------------------------------------


class CommentWithFiles(Aggregate):
    comment: Comment = root()
    files: list[File] = children()


class TicketWithComments(Aggregate):
    ticket: Ticket = root()
    comments: list[CommentWithFiles] = children()


# -- aggregates with a page, and with projections --------------------------------------------------


class FileName(Projection[File]):
    file_id: UUID


class FilePage(Aggregate):
    comment: Comment = root()
    files: Page[FileName] = children()


# -- patterns: reads -----------------------------------------------------------------------------


@access_pattern
def settings() -> Get[Settings]:
    """The settings of the desk."""
    return Settings.primary()


@access_pattern
def ticket(org_id: str, number: int) -> Get[Ticket]:
    """One ticket, as it was written last."""
    return Ticket.primary(org_id, number).consistent()


@access_pattern(rebinds=("number",))
def ticket_of_number(number: str) -> Get[Ticket]:
    """The first ticket of the organisation whose id is a number."""
    return Ticket.primary(number, 1)


@access_pattern
def agents() -> Range[Agent, AgentId]:
    """Every agent."""
    return Agent.primary.within()


@access_pattern
def due_tickets(status: Status, due: date) -> Query[Ticket]:
    """Tickets of a status that are due by a day, the latest first."""
    return Ticket.by_status(status).lte(due).desc()


@access_pattern
def comments_between(org_id: str, number: int, start: datetime, end: datetime) -> Query[Comment]:
    """Comments on a ticket, of a time."""
    return Comment.primary.within(org_id).eq(number).between(start, end)


@access_pattern
def titled(org_id: str, start: str, size: int, cursor: str | None) -> Query[Ticket]:
    """Tickets of an organisation whose title begins with a text, in pages."""
    return Ticket.by_title(org_id).begins_with(start).page_size(size).after(cursor)


@access_pattern
def loud_tickets(org_id: str) -> Query[tuple[int, str]]:
    """Numbers and titles of the urgent tickets of an organisation."""
    wanted = Ticket.urgent == True  # noqa: E712  # a condition, not a comparison
    return Ticket.primary.within(org_id).filter(wanted).select(Ticket.number, Ticket.title)


@access_pattern
def last_comment(org_id: str, number: int) -> First[Comment]:
    """The last comment on a ticket."""
    return Comment.primary.within(org_id).eq(number).desc().first()


@access_pattern
def usage_count(org_id: str, in_month: date) -> Count:
    """How many records of usage an organisation has in a month."""
    return Usage.primary.within(org_id, in_month).count()


@access_pattern
def visits(on: date, org_id: str, room: str) -> Range[Visit, datetime]:
    """Visits to a room on a day."""
    return Visit.by_day(on, org_id, room)


@access_pattern
def tickets_of(org_id: str) -> Query[Ticket]:
    """Tickets of an organisation, by whichever key serves."""
    return Ticket.where(Ticket.org_id == org_id)


@access_pattern
def commented_ticket(org_id: str, number: int) -> Then[Comment, Ticket | None]:
    """The last comment on a ticket, and then the ticket."""
    last = Comment.primary.within(org_id).eq(number).desc().first()
    return last.then(lambda found: Ticket.primary(found.org_id, found.number))


@access_pattern
def all_files() -> Scan[File]:
    """Every file there is."""
    return File.scan(reason="the monthly export reads everything")


@access_pattern
def agent_by_email(email: str) -> GetByUnique[Agent]:
    """The agent with an address."""
    return Agent.by_email(email)


@access_pattern
def some_agents(ids: Sequence[AgentId]) -> BatchGet[Agent]:
    """Agents by their ids."""
    return batch_get(Agent.primary(each) for each in ids)


@access_pattern
def ticket_with_comments(org_id: str, number: int) -> Load[TicketWithComments]:
    """A ticket, its comments and their files."""
    return TicketWithComments.of(Ticket.primary(org_id, number))


@access_pattern
def titled_ticket(org_id: str, start: str) -> LoadFound[TicketWithComments]:
    """The first ticket whose title begins with a text, with its comments and their files."""
    return TicketWithComments.of(Ticket.by_title(org_id).begins_with(start).first())


# -- patterns: writes ----------------------------------------------------------------------------


@access_pattern
def hire(agent: Agent) -> Create[Agent]:
    """Take an agent on."""
    return create(agent)


@access_pattern
def save_settings(new: Settings) -> Put[Settings]:
    """Replace the settings."""
    return put(new)


@access_pattern
def close_ticket(org_id: str, number: int, expected: int, by: str) -> Update[Ticket]:
    """Close a ticket that has not changed since it was read."""
    closing = Ticket.primary(org_id, number).update(Ticket.status.set(Status.CLOSED))
    return closing.condition(Ticket.version == expected).audit(by=by, reason="solved")


@access_pattern
def rename(found: Ticket, title: str) -> Update[Ticket]:
    """Give a ticket that is at hand another title."""
    return update(found, Ticket.title.set(title))


@access_pattern
def forget(org_id: str, number: int) -> Delete[Ticket]:
    """Delete a ticket that is closed."""
    return Ticket.primary(org_id, number).delete().condition(Ticket.status == Status.CLOSED)


@access_pattern
def remove_agent(agent: Agent) -> Delete[Agent]:
    """Delete an agent."""
    return delete(agent)


@access_pattern
def comment_on(comment: Comment, files: Sequence[File]) -> Transaction:
    """Add a comment and its files to a ticket that is not closed; all or nothing."""
    found = Ticket.primary(comment.org_id, comment.number)
    return transact(
        condition_check(found, Ticket.status != Status.CLOSED),
        create(comment),
        *(create(file) for file in files),
    )


@access_pattern
def load_usage(records: Sequence[Usage]) -> BatchWrite:
    """Write many records of usage."""
    return batch_write(put(record) for record in records)
