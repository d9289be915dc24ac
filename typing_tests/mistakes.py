"""One mistake a line, each marked with what is wrong: both checkers flag exactly these lines.

This file is read by the checkers alone. It is never imported, for most of it fails at once.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import tablewright
from tablewright import (
    Aggregate,
    Attr,
    Entity,
    Get,
    Load,
    Put,
    Query,
    Tenancy,
    Update,
    access_pattern,
    attr,
    batch_get,
    batch_write,
    children,
    condition_check,
    connect,
    create,
    created_at,
    delete,
    delete_all,
    history,
    index,
    key,
    put,
    root,
    save,
    transact,
    transact_get,
    unique,
    update,
    update_all,
    updated_at,
    upsert,
    version,
)
from tablewright.database import AsyncDatabase, Database
from tablewright.formats import day, descending, epoch_seconds, lower, year_month
from tablewright.plans import Plan, Range, access_patterns
from typing_tests.design import (
    Agent,
    AgentId,
    Bill,
    Comment,
    Desk,
    Details,
    File,
    FilePage,
    Lead,
    Line,
    Settings,
    Stamped,
    Status,
    StatusEvent,
    Ticket,
    TicketWithComments,
    Usage,
    Visit,
    agent_by_email,
    close_ticket,
    comment_on,
    ticket,
    ticket_with_comments,
    titled,
)

NOW = datetime(2026, 1, 15, tzinfo=UTC)
TODAY = date(2026, 1, 15)
db = connect(":memory:", Desk)
details = Details(summary="s", line=Line(text="l"))
found = Ticket(org_id="o", number=1, title="t", details=details)
comment = Comment(org_id="o", number=1, at=NOW, text="t")
first = Ticket.primary("o", 1)
tickets = Ticket.primary.within("o")
comments = Comment.primary.within("o").eq(1)

# -- names of the package
tablewright.craete()  # E: misspelt

# -- constructors and values
Settings(themes="dark")  # E: no such attribute
Comment(org_id="o", number=1, at=NOW, txt="t")  # E: misspelt, and `text` is missing
Comment(org_id=1, number=1, at=NOW, text="t")  # E: org_id is a str
Comment(org_id="o", number="1", at=NOW, text="t")  # E: number is an int
Comment(org_id="o", number=1, at="2026-01-15", text="t")  # E: at is a datetime
Comment(org_id="o", number=1, at=NOW)  # E: text has no default
Comment("o", 1, NOW, "t")  # E: attributes are named
Comment(org_id="o", number=1, at=NOW, text=None)  # E: text is not optional
Comment(org_id="o", number=1, at=NOW, text="t", created_at=NOW)  # E: set by the library
Ticket(org_id="o", number=1, title="t", details=details, version=3)  # E: counted by the library
Ticket(org_id="o", number=1, title="t", details=details, status="OPEN")  # E: str is not the enum
Ticket(org_id="o", number=1, title="t", details=details, tags=["a"])  # E: a list is not a set
Ticket(org_id="o", number=1, title="t", details={"summary": "s"})  # E: a dict is not the model
found.number = "2"  # E: number is an int
found.status = "CLOSED"  # E: str is not the enum
found.titel = "t"  # E: no such attribute
found.stauts.lower()  # E: no such attribute
found.note.lower()  # E: the note may be None
found.details.sumary.lower()  # E: no such field

# -- keys
Visit.by_org("o")  # E: the second attribute of the partition key is missing
Visit.by_org("o", 1)  # E: room is a str
Visit.by_org("o", "r", AgentId("a"))  # E: sort attributes are given to eq()
Visit.by_org("o", "r").gte(NOW)  # E: the agent comes before the time
Visit.by_org("o", "r").eq("a")  # E: str is not an AgentId
Visit.by_agent(AgentId("a")).eq("o", NOW)  # E: the room is missing
Visit.by_all("o", "r")  # E: one of three attributes is missing
Ticket.primary("o")  # E: a part is missing
Ticket.primary("o", "1")  # E: number is an int
Ticket.primary("o", 1, 2)  # E: a part too many
Ticket.primary(number=1, org_id="o")  # E: parts are given in order
Ticket.by_title(org_id="o")  # E: parts are given in order
Settings.primary("x")  # E: the key has no parts
Agent.primary("a")  # E: str is not an AgentId
Usage.primary("o", NOW, "s")  # E: the month is missing
Visit.primary("o", AgentId("a"), NOW)  # E: one of three parts is missing
Bill.primary("o", "2026-01")  # E: a month is asked for by a date
Ticket.primary.within()  # E: the partition's part is missing
Ticket.primary.within("o", 1)  # E: number is not in the partition
Visit.primary.within("o", "r")  # E: one of three parts is missing
Ticket.primry("o", 1)  # E: no such key

# -- indexes and unique values
Ticket.by_status("OPEN")  # E: str is not the enum
Ticket.by_status()  # E: the status is missing
Ticket.by_title("o", "t")  # E: title is not in the partition
Ticket.reverse("o")  # E: the sort key comes first, and is an int
Usage.by_day(TODAY)  # E: the shard is missing
Usage.by_day(TODAY, "3")  # E: a shard is a number
Ticket.by_statos(Status.OPEN)  # E: no such index
Ticket.by_title.within("o")  # E: an index is called
Agent.by_email(5)  # E: the address is a str
Agent.by_email()  # E: the address is missing
Agent.by_badge("t")  # E: a part is missing
Agent.by_badge("t", "a", "b")  # E: a part too many
Lead.by_place("se")  # E: the part of the sort key is missing

# -- ranges
comments.gte("2026")  # E: the next part is a datetime
comments.lt(5)  # E: the next part is a datetime
comments.between(NOW, TODAY)  # E: a date is not a datetime
comments.between(NOW)  # E: the upper bound is missing
comments.begins_with("2026")  # E: the next part is not a text
comments.eq(NOW).gte(NOW)  # E: no part is left
comments.eq(NOW, NOW)  # E: one part is left
Comment.primary.within("o").eq(NOW)  # E: the next part is the number
Comment.primary.within("o").gte(NOW)  # E: the next part is the number
Settings.primary.within().gte("x")  # E: the key has no parts
Ticket.by_status(Status.OPEN).gte(None)  # E: what has no value is not in the index
Ticket.by_status(Status.OPEN).eq(None)  # E: what has no value is not in the index
tickets.gte(3).gte(4)  # E: a range has one comparison
tickets.gte(3).eq(3)  # E: a range that is compared has no next part
Ticket.by_title("o").begins_with(5)  # E: a text begins with a text
first.gte(3)  # E: a key is one item, not a range
first.page_size(3)  # E: a key is one item, not a range
tickets.update(Ticket.title.set("x"))  # E: a range is not one item
tickets.delete()  # E: a range is not one item
tickets.page_size("3")  # E: a limit is a number
tickets.after(3)  # E: a cursor is a str
tickets.before(3)  # E: a cursor is a str
tickets.first().page_size(3)  # E: the first is one item

# -- what is selected, filtered and expected
tickets.select()  # E: nothing is selected
tickets.select(Comment.text)  # E: another entity's attribute
tickets.select("title")  # E: an attribute, not its name
tickets.filter(Comment.text == "t")  # E: another entity's attribute
tickets.filter(True)  # E: not a condition
tickets.filter((Ticket.number > 1) & (Comment.number > 1))  # E: conditions of two entities
tickets.filter(Ticket.number == "1")  # E: number is an int
tickets.filter(Ticket.status != "OPEN")  # E: str is not the enum
tickets.filter(Ticket.number > "1")  # E: number is an int
tickets.filter(Ticket.rating > None)  # E: nothing is above None
tickets.filter(Ticket.title.between("a", 5))  # E: title is a str
tickets.filter(Ticket.status.in_(["OPEN"]))  # E: str is not the enum
tickets.filter(Ticket.number.begins_with("1"))  # E: number is not a text
tickets.filter(Ticket.number.contains(1))  # E: a number holds nothing
tickets.filter(Ticket.tags.contains(1))  # E: the members are str
Ticket.where(Comment.org_id == "o")  # E: another entity's attribute
File.scan()  # E: a scan says why
first.update(Ticket.title.set("x")).condition(Comment.text == "t")  # E: another entity's attribute
first.delete().condition(Comment.text == "t")  # E: another entity's attribute
put(found).condition(Comment.text == "t")  # E: another entity's attribute
create(found)._filter(Ticket.title == "t")  # E: a create has a condition of its own
condition_check(first, Comment.text == "t")  # E: another entity's attribute

# -- changes
first.update(Comment.text.set("x"))  # E: another entity's attribute
update(found, Comment.text.set("x"))  # E: another entity's attribute
first.upsert(Comment.text.set("x"))  # E: another entity's attribute
upsert(found, Comment.text.set("x"))  # E: another entity's attribute
update(found, *Comment.changes_from({"text": "x"}))  # E: another entity's changes
Ticket.changes_from("title")  # E: a model or a dict
save(first)  # E: a key is not an entity
save(found).condition(Comment.text == "t")  # E: another entity's attribute
update_all(tickets, Comment.text.set("x"))  # E: another entity's attribute
update_all(first, Ticket.title.set("x"))  # E: a key is not a query
delete_all(first)  # E: a key is not a query
delete_all(tickets, progress=5)  # E: a function
first.update(Ticket.title == "x")  # E: a condition is not a change
first.update(title="x")  # E: a change, not a name
Ticket.titel.set("x")  # E: no such attribute
Ticket.status.set("CLOSED")  # E: str is not the enum
Ticket.title.set(None)  # E: title is not optional
Ticket.due.set("2026-01-15")  # E: due is a date
Ticket.log.set(["a", 1])  # E: the members are str
Ticket.title.append("x")  # E: a text is not a list
Ticket.tags.append("x")  # E: a set is not a list
Ticket.log.append(1)  # E: the members are str
Ticket.log.prepend(1)  # E: the members are str
Ticket.log.append_if_absent(1)  # E: the members are str
Ticket.hints.append(1)  # E: the members are str
Ticket.replies.increment("1")  # E: a number is added
Ticket.replies.increment(1.5)  # E: a whole number is added
Ticket.price.increment(0.5)  # E: a Decimal is added
Ticket.title.increment(1)  # E: a text is not a number
Ticket.tags.add_to_set({1})  # E: the members are str
Ticket.tags.add_to_set("red")  # E: members come in a set
Ticket.watchers.add_to_set({1})  # E: the members are str
Ticket.tags.remove_from_set({1})  # E: the members are str
Ticket.log.remove_from_set({"x"})  # E: a list is not a set
Lead.topics.add_to_set({"x"})  # E: a set is not a frozenset
Ticket.details.path(lambda d: d.sumary)  # E: no such field
Ticket.details.path(lambda d: d.line.minuts)  # E: no such field
Ticket.details.path(lambda d: d.line.minutes).set("5")  # E: minutes is an int
Ticket.details.path(lambda d: d.lines["a"])  # E: a list has no names
Ticket.details.path(lambda d: d.lines).append("x")  # E: the members are Line
Ticket.counters.path(lambda c: c["seen"]).increment("1")  # E: a number is added

# -- results
db.run(first).title.lower()  # E: it may not be there
db.run(tickets.first()).title.lower()  # E: it may not be there
db.run(agent_by_email("a@x.y")).email.lower()  # E: it may not be there
db.run(ticket_with_comments("o", 1)).ticket.title.lower()  # E: it may not be there
db.run(first.delete()).title.lower()  # E: it may not have been there
db.run(batch_get([first]))[0].title.lower()  # E: it may not be there
db.run(tickets).title.lower()  # E: a page is not a ticket
db.run(tickets.select(Ticket.title))[0][1].lower()  # E: one attribute was selected
db.run(tickets.count()).lower()  # E: a count is a number
db.run(tickets)["a"].title.lower()  # E: a page is a sequence
db.run(first.update(Ticket.title.set("x"))).titel.lower()  # E: no such attribute

# -- plans and databases
db.run(found)  # E: an entity is not a plan
db.run(Ticket.primary)  # E: the key is not called
db.run(ticket)  # E: the pattern is not called
db.run(Ticket.status == Status.OPEN)  # E: a condition is not a plan
db.iterate(first)  # E: a key is one item
db.iterate(tickets.count())  # E: a count is one number
transact(first)  # E: a read is not a write
transact(tickets)  # E: a read is not a write
transact(found)  # E: an entity is not a write
transact([create(found)])  # E: a list is not a write
db.run(transact(first.update(Ticket.title.set("x"))))[0].title.lower()  # E: perhaps not read
create("x")  # E: a text is not an entity
create(Ticket)  # E: the class is not an entity
put([found])  # E: a list is not an entity
batch_write([first])  # E: a read is not a write
batch_write([update(found, Ticket.title.set("x"))])  # E: a batch takes no updates
db.transaction().add(first)  # E: a read is not a write
Usage.by_day.scan()  # E: a scan needs its reason
Usage.by_day.scan(reason="export").segments("4")  # E: a number
tickets.segments(4)  # E: a range has no segments
Usage.by_day.all_shards("2026-01-01")  # E: a day is a date
Usage.by_day.all_shards(date(2026, 1, 1), 3)  # E: all shards, not one
Ticket.primary.all_shards("o")  # E: its key has no shards
tickets.union(first)  # E: a key is not a range
tickets.union(Agent.primary.within()).gte(3)  # E: an int and an id are not compared at once
tickets.union(Comment.primary.within("o")).gte("3")  # E: number is an int
tickets.select(Ticket)  # E: an entity is not a projection
tickets.select(Comment.text, Comment.text)  # E: of another entity
transact_get(first, found)  # E: an entity is not a key
transact_get(first, tickets)  # E: a range is not a key
db.run(transact_get(first, first))[1].title.lower()  # E: it may not be there
db.run(batch_get(first, first))[0].title.lower()  # E: it may not be there
batch_get([found])  # E: an entity is not a key
batch_get([tickets])  # E: a range is not a key
condition_check(tickets)  # E: a range is not a key
TicketWithComments(ticket=found)  # E: the comments are missing
TicketWithComments(ticket=comment, comments=[])  # E: a comment is not a ticket
TicketWithComments(ticket=found, comments=[comment])  # E: the comments have files
TicketWithComments.of(found)  # E: an entity is not a key
TicketWithComments.of("o", 1)  # E: the root is a plan
tickets.then(lambda each: first)  # E: a page is not one entity
tickets.first().then(lambda each: each.title)  # E: a text is not a plan
tickets.first().then(lambda each: Agent.by_email(each.titel))  # E: no such attribute
tickets.or_raise()  # E: a page always exists
db.run(tickets.first().or_raise()).titel.lower()  # E: no such attribute
connect(":memory:", Ticket)  # E: an entity is not a table
connect(":memory:", Desk, durable=True)  # E: no such option
connect(":memory:", Desk, cursor_secret=7)  # E: a secret is text or bytes
connect(":memory:", Desk, timeout="5")  # E: seconds are a number
db.run(Ticket.primary("o", 1), max_attempts="3")  # E: attempts are an int
Tenancy("org_id", write="ORG#{org_id}")  # E: shards are a tuple
Tenancy("org_id", write=("ORG#{org_id}",), shared="PLANS")  # E: shared partitions are a tuple
Tenancy("org_id", write=("ORG#{org_id}",), prefix=True)  # E: no such option
access_patterns(Ticket)  # E: an entity is not a table
got: Get[Comment] = first  # E: another entity's key
several: Query[Ticket] = first  # E: a key is one item
ranged: Range[Ticket, str] = tickets  # E: the next part is an int
plan: Plan[Ticket] = first  # E: it may not be there
loaded: Load[Ticket] = first  # E: an entity is not an aggregate


async def asynchronously(adb: AsyncDatabase) -> None:
    (await adb.run(first)).title.lower()  # E: it may not be there
    adb.run(first).title.lower()  # E: it is not awaited
    await adb.run(found)  # E: an entity is not a plan
    adb.iterate(first)  # E: a key is one item
    for each in adb.iterate(tickets):  # E: an asynchronous iterator
        each.title.lower()


def synchronously(other: Database) -> AsyncDatabase:
    return other  # E: the other kind of database


# -- patterns
ticket("o")  # E: an argument is missing
ticket(org="o", number=1)  # E: no such argument
ticket("o", "1")  # E: number is an int
titled("o", "A", 5)  # E: an argument is missing
close_ticket("o", 1, "1", "me")  # E: expected is an int
comment_on(found, [])  # E: a ticket is not a comment
comment_on(comment, [found])  # E: a ticket is not a file


@access_pattern  # E: a pattern returns a plan
def number_of(org_id: str) -> int:
    return 3


@access_pattern
def wrong_result(org_id: str) -> Update[Ticket]:
    return Ticket.primary(org_id, 1)  # E: a key is not an update


@access_pattern(rebinds="org_id")  # E: a tuple of names
def rebound(org_id: str) -> Get[Ticket]:
    return Ticket.primary(org_id, 1)


@access_pattern(idempotency="Ticket")  # E: an entity
def repeated(ticket: Ticket) -> Put[Ticket]:
    return put(ticket)


@access_pattern(rebinds=("number",))
def wrongly_rebound(number: str) -> Query[Ticket]:
    return Ticket.primary(number, 1)  # E: a key is one item


@access_pattern
def wrong_entity(org_id: str) -> Query[Comment]:
    return Ticket.primary.within(org_id)  # E: another entity


# -- declarations
class Broken(Entity, table=Desk):
    name: Attr[str] = attr()
    size: Attr[int] = attr(pad=3)
    at: Attr[datetime] = attr()
    status: Attr[Status] = attr()
    misnamed: Attr[str] = attr(nmae="n")  # E: no such option
    width: Attr[str] = attr(pad="3")  # E: pad is a number
    counted: Attr[int] = version(init=True)  # E: it is never passed in
    stamp: Attr[datetime] = created_at(default=NOW)  # E: no such option
    wrong: Attr[int] = attr(default="x")  # E: the default is a number
    lists: Attr[set[str]] = attr(default_factory=list)  # E: the default is a set
    texts: Attr[str] = version()  # E: a version is a number
    dates: Attr[date] = updated_at()  # E: a stamp is a datetime

    primary = key("BROKEN" / nmae, "X")  # E: an undefined name
    half = key("BROKEN" / name, 5.5)  # E: only a whole number is a literal
    summed = key("BROKEN" + 5, "X")  # E: a number is not a part
    numbered = key("BROKEN" / name / 5, "X")  # E: a number is not a part
    plain = index("gsi_status", "BROKEN" / name, "X")  # E: an index, not its name
    local = index(Desk.by_title, "BROKEN" / name, "X")  # E: a local index is primary.local
    lost = index(Desk.by_statos, "BROKEN" / name, "X")  # E: no such index
    when = index(Desk.by_status, "BROKEN" / name, "X", when=True)  # E: not a condition
    by_day = index(Desk.by_day, "BROKEN" / day(name), "X")  # E: a text has no day
    by_month = index(Desk.by_day, "BROKEN" / year_month(size), "X")  # E: a number has no month
    by_epoch = index(Desk.by_day, "BROKEN" / epoch_seconds(name), "X")  # E: a text has no epoch
    by_lower = index(Desk.by_day, "BROKEN" / lower(size), "X")  # E: a number has no lower case
    falling = index(Desk.by_day, "BROKEN" / descending("at"), "X")  # E: an attribute, not its name
    single = unique(5)  # E: a number is not a path
    kept = unique("NAME" / name, keep=("name",))  # E: an attribute, not its name
    open = unique("NAME" / name, when=name)  # E: an attribute is not a condition
    told = history(status, StatusEvent, new=StatusEvent.why)  # E: the new value is a status
    other = history(status, StatusEvent, new=Ticket.status)  # E: another entity's attribute
    timed = history(status, StatusEvent, at=StatusEvent.by)  # E: a time is a datetime
    dated = history(status, StatusEvent, version=StatusEvent.at)  # E: a version is a number


class Elsewhere(Entity, table="desk"):  # E: a table, not its name
    name: Attr[str] = attr()
    primary = key("ELSEWHERE" / name, "X")


class Strange(Entity, tabel=Desk):  # E: no such option
    name: Attr[str] = attr()


class TicketAndComment(Aggregate):
    ticket: Ticket = root()
    comment: Comment = children()  # E: many are a list or a page


class TicketAndSet(Aggregate):
    ticket: Ticket = root()
    comments: set[Comment] = children()  # E: many are a list or a page


FilePage.of(Comment.primary("o", 1, NOW)).page_size("2")  # E: a size is a number
FilePage.of(Comment.primary("o", 1, NOW)).after(2)  # E: a cursor is a text
FilePage(comment=comment, files=[])  # E: a page, not a list


class Mixed(Stamped, table=Desk):
    name: Attr[str] = attr()
    primary = key("MIXED" / name, "X")


Mixed(name="n", owner="a")  # E: an attribute of another base
Mixed.owner.exists()  # E: an attribute of another base
delete(found).audit(by="me")  # E: a delete is not noted
Ticket.price.set(Decimal(1)).condition(first)  # E: a change is not a write
