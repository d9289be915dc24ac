"""What a user writes, and the type it has for both checkers.

Every function is run by `tests/test_typing.py` as well: what the checkers accept here, works.
"""
# pyright: strict

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, assert_type
from uuid import UUID

from tablewright import (
    Create,
    Delete,
    First,
    Get,
    GetByUnique,
    Load,
    Page,
    Projection,
    Put,
    Query,
    Save,
    Transaction,
    Update,
    Upsert,
    batch_get,
    batch_write,
    condition_check,
    connect,
    connect_async,
    create,
    delete,
    delete_all,
    explain,
    put,
    save,
    transact,
    transact_get,
    update,
    update_all,
    upsert,
)
from tablewright.database import AsyncDatabase, Database
from tablewright.ids import KSUID
from tablewright.model.attribute import Reference
from tablewright.plan.change import Change
from tablewright.plans import (
    AccessPattern,
    BatchGet,
    BatchGetTuple,
    BatchWrite,
    Condition,
    ConditionCheck,
    Count,
    LoadFound,
    Plan,
    Range,
    Ref,
    RequiredRead,
    ReturningOld,
    Scan,
    SegmentedScan,
    Shape,
    Single,
    Then,
    TransactGet,
    access_patterns,
)
from tablewright.streams import (
    Created,
    Deleted,
    Expired,
    Moved,
    StreamEvent,
    StreamEvents,
    Updated,
    parse_stream,
)
from typing_tests.design import (
    Agent,
    AgentId,
    Bill,
    Comment,
    CommentWithFiles,
    Desk,
    Details,
    File,
    FileName,
    FilePage,
    Flag,
    Flags,
    Lead,
    Line,
    Profile,
    Settings,
    Status,
    StatusEvent,
    Ticket,
    TicketWithComments,
    Usage,
    Visit,
    agent_by_email,
    agents,
    all_files,
    close_ticket,
    comment_on,
    commented_ticket,
    comments_between,
    due_tickets,
    forget,
    hire,
    last_comment,
    load_usage,
    loud_tickets,
    remove_agent,
    rename,
    save_settings,
    settings,
    some_agents,
    ticket,
    ticket_of_number,
    ticket_with_comments,
    tickets_of,
    titled,
    titled_ticket,
    usage_count,
    visits,
)

NOW = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
TODAY = NOW.date()
FILE = UUID(int=1)


def some_ticket(number: int = 1) -> Ticket:
    details = Details(summary="s", line=Line(text="l"), lines=[Line(text="m")])
    return Ticket(org_id="o", number=number, title="A title", details=details)


def some_agent(name: str = "a") -> Agent:
    return Agent(agent_id=AgentId(name), email=f"{name}@x.y", team="t", badge=name)


def a_constructor_takes_what_is_not_the_librarys() -> None:
    assert_type(Settings(), Settings)
    assert_type(Settings(theme="dark"), Settings)
    assert_type(Flag(name="beta"), Flag)
    assert_type(some_agent(), Agent)
    assert_type(Bill(org_id="o", at=NOW, amount=Decimal(3)), Bill)
    assert_type(Comment(org_id="o", number=1, at=NOW, text="t"), Comment)
    assert_type(File(org_id="o", number=1, at=NOW, file_id=FILE), File)
    assert_type(Usage(org_id="o", at=NOW, source="s", seconds=1), Usage)
    assert_type(Lead(lead_id="l", country="se", town="Lund"), Lead)
    whole = Ticket(
        org_id="o",
        number=1,
        ticket_id=KSUID.new(),
        title="A title",
        status=Status.WAITING,
        due=TODAY,
        price=Decimal("9.99"),
        weight=1.5,
        urgent=True,
        rating=None,
        note="n",
        replies=0,
        tags={"red"},
        watchers=None,
        log=["opened"],
        hints=None,
        details=Details(summary="s", line=Line(text="l")),
        extra=None,
        counters={"seen": 1},
        expires=NOW,
        owner=AgentId("a"),
    )
    assert_type(whole, Ticket)


def an_instance_holds_values() -> None:
    found = some_ticket()
    assert_type(found.org_id, str)
    assert_type(found.number, int)
    assert_type(found.ticket_id, KSUID)
    assert_type(found.status, Status)
    assert_type(found.due, date | None)
    assert_type(found.price, Decimal)
    assert_type(found.weight, float)
    assert_type(found.urgent, bool)
    assert_type(found.rating, int | None)
    assert_type(found.note, str | None)
    assert_type(found.tags, set[str])
    assert_type(found.log, list[str])
    assert_type(found.details, Details)
    assert_type(found.details.line.minutes, int)
    assert_type(found.extra, Details | None)
    assert_type(found.counters, dict[str, int])
    assert_type(found.expires, datetime | None)
    assert_type(found.version, int)
    found.title = "Another"
    found.due = None
    found.tags = {"blue"}


def a_class_holds_references() -> None:
    assert_type(Ticket.number, Reference[Ticket, int])
    assert_type(Ticket.status, Reference[Ticket, Status])
    assert_type(Ticket.due, Reference[Ticket, date | None])
    assert_type(Ticket.tags, Reference[Ticket, set[str]])
    assert_type(Ticket.details, Reference[Ticket, Details])
    assert_type(Ticket.version, Reference[Ticket, int])


def what_an_abstract_base_declares_belongs_to_the_entity() -> None:
    found = some_ticket()
    assert_type(found.created_at, datetime)
    assert_type(found.updated_at, datetime)
    assert_type(found.owner, AgentId | None)
    assert_type(Ticket.created_at, Reference[Ticket, datetime])
    assert_type(Ticket.owner, Reference[Ticket, AgentId | None])
    assert_type(Comment.created_at, Reference[Comment, datetime])
    assert_type(Ticket.created_at > NOW, Condition[Ticket])
    assert_type(Ticket.owner.set(AgentId("a")), Change[Ticket])


def a_key_takes_its_parts() -> None:
    assert_type(Settings.primary(), Get[Settings])
    assert_type(Flag.primary("beta"), Get[Flag])
    assert_type(Agent.primary(AgentId("a")), Get[Agent])
    assert_type(Profile.primary("o"), Get[Profile])
    assert_type(Bill.primary("o", TODAY), Get[Bill])
    assert_type(Ticket.primary("o", 1), Get[Ticket])
    assert_type(Comment.primary("o", 1, NOW), Get[Comment])
    assert_type(File.primary("o", 1, NOW, FILE), Get[File])
    assert_type(Usage.primary("o", TODAY, NOW, "s"), Get[Usage])
    assert_type(Visit.primary("o", AgentId("a"), "r", NOW), Get[Visit])
    assert_type(Ticket.primary("o", 1).consistent(), Get[Ticket])


def a_partition_is_a_range_of_what_is_left() -> None:
    assert_type(Settings.primary.within(), Range[Settings])
    assert_type(Agent.primary.within(), Range[Agent, AgentId])
    assert_type(Profile.primary.within("o"), Range[Profile])
    assert_type(Bill.primary.within("o"), Range[Bill, date])
    assert_type(Ticket.primary.within("o"), Range[Ticket, int])
    assert_type(Comment.primary.within("o"), Range[Comment, int, datetime])
    assert_type(File.primary.within("o"), Range[File, int, datetime, UUID])
    assert_type(Usage.primary.within("o", TODAY), Range[Usage, datetime, str])
    assert_type(Visit.primary.within("o", AgentId("a"), "r"), Range[Visit, datetime])


def an_index_is_a_range_too() -> None:
    assert_type(Ticket.by_title("o"), Range[Ticket, str])
    assert_type(Ticket.by_status(Status.OPEN), Range[Ticket, date, str, int])
    assert_type(Ticket.waiting("o"), Range[Ticket, int])
    assert_type(Ticket.reverse(1), Range[Ticket, str])
    assert_type(Ticket.by_id(KSUID.new()), Range[Ticket])
    assert_type(Ticket.by_month(TODAY), Range[Ticket, str, int])
    assert_type(Lead.by_handle("ann"), Range[Lead, int])
    assert_type(Lead.by_seen(TODAY), Range[Lead, datetime])
    assert_type(Usage.by_day(TODAY, 3), Range[Usage, datetime, str])
    assert_type(Visit.by_day(TODAY, "o", "r"), Range[Visit, datetime])


def an_index_with_several_attributes_is_a_range() -> None:
    agent = AgentId("a")
    assert_type(Visit.by_org("o", "r"), Range[Visit, AgentId, datetime])
    assert_type(Visit.by_org("o", "r").eq(agent), Range[Visit, datetime])
    assert_type(Visit.by_org("o", "r").eq(agent).gte(NOW), Query[Visit])
    assert_type(Visit.by_org("o", "r").eq(agent, NOW), Range[Visit])
    assert_type(Visit.by_agent(agent), Range[Visit, str, str, datetime])
    assert_type(Visit.by_agent(agent).eq("o").begins_with("r"), Query[Visit])
    assert_type(Visit.by_agent(agent).eq("o", "r", NOW), Range[Visit])
    assert_type(Visit.by_all("o", agent, "r"), Range[Visit])


def at_binds_the_parts_from_the_left() -> None:
    files = File.primary.within("o")
    assert_type(files.eq(1), Range[File, datetime, UUID])
    assert_type(files.eq(1, NOW), Range[File, UUID])
    assert_type(files.eq(1).eq(NOW), Range[File, UUID])
    assert_type(files.eq(1, NOW, FILE), Range[File])
    assert_type(files.eq(1).eq(NOW, FILE), Range[File])
    assert_type(Ticket.by_status(Status.OPEN).eq(TODAY), Range[Ticket, str, int])
    assert_type(Ticket.by_status(Status.OPEN).eq(TODAY, "o"), Range[Ticket, int])


def a_comparison_takes_the_next_part() -> None:
    comments = Comment.primary.within("o").eq(1)
    assert_type(comments.gte(NOW), Query[Comment])
    assert_type(comments.gt(NOW), Query[Comment])
    assert_type(comments.lte(NOW), Query[Comment])
    assert_type(comments.lt(NOW), Query[Comment])
    assert_type(comments.between(NOW, LATER), Query[Comment])
    assert_type(Ticket.by_title("o").begins_with("A"), Query[Ticket])
    assert_type(Agent.primary.within().begins_with(AgentId("a")), Query[Agent])
    assert_type(Ticket.by_title("o").gte("A"), Query[Ticket])
    assert_type(Ticket.primary.within("o").between(1, 9), Query[Ticket])
    assert_type(Ticket.by_status(Status.OPEN).gte(TODAY), Query[Ticket])
    assert_type(Bill.primary.within("o").between(TODAY, TODAY), Query[Bill])


def a_query_is_refined_and_keeps_its_type() -> None:
    tickets = Ticket.primary.within("o")
    assert_type(tickets.desc(), Range[Ticket, int])
    assert_type(tickets.asc(), Range[Ticket, int])
    assert_type(tickets.page_size(3), Range[Ticket, int])
    assert_type(tickets.after(None), Range[Ticket, int])
    assert_type(tickets.before(None), Range[Ticket, int])
    assert_type(tickets.consistent(), Range[Ticket, int])
    assert_type(tickets.filter(Ticket.urgent == True), Range[Ticket, int])  # noqa: E712
    assert_type(tickets.gte(3).desc().page_size(3), Query[Ticket])
    assert_type(tickets.first(), First[Ticket])
    assert_type(tickets.count(), Count)
    assert_type(tickets.select(Ticket.title), Query[tuple[str]])
    assert_type(tickets.select(Ticket.title, Ticket.due), Query[tuple[str, date | None]])
    a, b, c, d, e = Ticket.title, Ticket.number, Ticket.status, Ticket.tags, Ticket.rating
    assert_type(tickets.select(a, b, c), Query[tuple[str, int, Status]])
    assert_type(tickets.select(a, b, c, d), Query[tuple[str, int, Status, set[str]]])
    assert_type(tickets.select(a, b, c, d, e), Query[tuple[str, int, Status, set[str], int | None]])
    inside = Ticket.details.path(lambda details: details.line.minutes)
    assert_type(tickets.select(inside), Query[tuple[int]])
    assert_type(tickets.select(Ticket.title).page_size(2).first(), First[tuple[str]])
    assert_type(Ticket.where(Ticket.org_id == "o", Ticket.number >= 2), Query[Ticket])
    assert_type(File.scan(reason="an export"), Scan[File])
    assert_type(File.scan(reason="an export").page_size(5), Scan[File])


def conditions_are_of_one_entity() -> None:
    paid = Ticket.status == Status.OPEN
    assert_type(paid, Condition[Ticket])
    assert_type(Ticket.status != Status.OPEN, Condition[Ticket])
    assert_type(Ticket.number < 3, Condition[Ticket])
    assert_type(Ticket.number <= 3, Condition[Ticket])
    assert_type(Ticket.price > Decimal(3), Condition[Ticket])
    assert_type(Ticket.rating >= 3, Condition[Ticket])
    assert_type(Ticket.rating.between(1, 3), Condition[Ticket])
    assert_type(Ticket.due.in_([TODAY]), Condition[Ticket])
    assert_type(Ticket.status.in_({Status.OPEN, Status.WAITING}), Condition[Ticket])
    assert_type(Ticket.note.exists(), Condition[Ticket])
    assert_type(Ticket.note.not_exists(), Condition[Ticket])
    assert_type(Ticket.title.begins_with("A"), Condition[Ticket])
    assert_type(Ticket.note.begins_with("A"), Condition[Ticket])
    assert_type(Agent.agent_id.begins_with("a"), Condition[Agent])
    assert_type(Ticket.owner.begins_with("a"), Condition[Ticket])
    assert_type(Ticket.title.contains("A"), Condition[Ticket])
    assert_type(Ticket.note.contains("A"), Condition[Ticket])
    assert_type(Ticket.owner.contains("A"), Condition[Ticket])
    assert_type(Ticket.tags.contains("A"), Condition[Ticket])
    assert_type(Ticket.watchers.contains("A"), Condition[Ticket])
    assert_type(Lead.topics.contains("A"), Condition[Lead])
    assert_type(Ticket.log.contains("A"), Condition[Ticket])
    assert_type(Ticket.hints.contains("A"), Condition[Ticket])
    assert_type(Ticket.due == None, Condition[Ticket])  # noqa: E711  # a condition: it is missing
    assert_type(paid & (Ticket.number < 3) | ~Ticket.note.exists(), Condition[Ticket])


def changes_are_of_one_entity() -> None:
    assert_type(Ticket.status.set(Status.CLOSED), Change[Ticket])
    assert_type(Ticket.due.set(None), Change[Ticket])
    assert_type(Ticket.note.set_if_absent("n"), Change[Ticket])
    assert_type(Ticket.note.remove(), Change[Ticket])
    assert_type(Ticket.replies.increment(1), Change[Ticket])
    assert_type(Ticket.rating.increment(-1), Change[Ticket])
    assert_type(Ticket.price.increment(Decimal("0.5")), Change[Ticket])
    assert_type(Ticket.price.increment(1), Change[Ticket])
    assert_type(Ticket.weight.increment(0.5), Change[Ticket])
    assert_type(Ticket.tags.add_to_set({"red", "blue"}), Change[Ticket])
    assert_type(Ticket.watchers.add_to_set({"a"}), Change[Ticket])
    assert_type(Ticket.tags.remove_from_set({"red"}), Change[Ticket])
    assert_type(Ticket.watchers.remove_from_set({"a"}), Change[Ticket])
    assert_type(Lead.topics.add_to_set(frozenset({"a"})), Change[Lead])
    assert_type(Lead.topics.remove_from_set(frozenset({"a"})), Change[Lead])
    assert_type(Ticket.log.append("one", "two"), Change[Ticket])
    assert_type(Ticket.hints.append("one"), Change[Ticket])
    assert_type(Ticket.log.prepend("zero"), Change[Ticket])
    assert_type(Ticket.log.append_if_absent("one"), Change[Ticket])


def a_path_goes_into_a_document() -> None:
    details = Ticket.details
    assert_type(details.path(lambda d: d.summary), Ref[Ticket, str])
    assert_type(details.path(lambda d: d.line), Ref[Ticket, Line])
    assert_type(details.path(lambda d: d.line.minutes), Ref[Ticket, int])
    assert_type(details.path(lambda d: d.lines), Ref[Ticket, list[Line]])
    assert_type(details.path(lambda d: d.lines[0].text), Ref[Ticket, str])
    assert_type(details.path(lambda d: d.by_topic["x"].minutes), Ref[Ticket, int])
    assert_type(Ticket.counters.path(lambda counters: counters["seen"]), Ref[Ticket, int])
    assert_type(Ticket.log.path(lambda log: log[0]), Ref[Ticket, str])
    assert_type(details.path(lambda d: d.line).path(lambda line: line.text), Ref[Ticket, str])
    assert_type(Ticket.extra.path(lambda d: d.summary), Ref[Ticket, str])
    assert_type(Ticket.extra.path(lambda d: d.line).path(lambda line: line.text), Ref[Ticket, str])
    assert_type(details.path(lambda d: d.line.minutes).increment(5), Change[Ticket])
    assert_type(details.path(lambda d: d.lines).append(Line(text="n")), Change[Ticket])
    assert_type(details.path(lambda d: d.summary).set("s"), Change[Ticket])
    assert_type(details.path(lambda d: d.line.minutes) > 5, Condition[Ticket])


def writes_are_typed_by_their_entity() -> None:
    found, agent = some_ticket(), some_agent()
    comment = Comment(org_id="o", number=1, at=NOW, text="t")
    usage = Usage(org_id="o", at=NOW, source="s", seconds=1)
    unchanged = Ticket.status == Status.OPEN
    one = Ticket.primary("o", 1)
    assert_type(create(found), Create[Ticket])
    assert_type(put(found), Put[Ticket])
    assert_type(put(found).condition(unchanged), Put[Ticket])
    assert_type(delete(found), Delete[Ticket])
    assert_type(delete(found).condition(unchanged), Delete[Ticket])
    assert_type(update(found, Ticket.title.set("x")), Update[Ticket, Ticket])
    assert_type(one.update(Ticket.title.set("x"), Ticket.log.append("x")), Update[Ticket])
    assert_type(one.update(Ticket.title.set("x")).condition(unchanged), Update[Ticket])
    assert_type(upsert(found, Ticket.title.set("x")).condition(unchanged), Upsert[Ticket])
    assert_type(Ticket.changes_from({"title": "x"}), list[Change[Ticket]])
    assert_type(update(found, *Ticket.changes_from({"title": "x"})), Update[Ticket, Ticket])
    assert_type(one.update(Ticket.title.set("x")).audit(by="me", reason="so"), Update[Ticket])
    assert_type(one.delete(), Delete[Ticket])
    assert_type(condition_check(one), ConditionCheck[Ticket])
    assert_type(condition_check(one, unchanged, Ticket.version == 1), ConditionCheck[Ticket])
    assert_type(
        transact(create(comment), put(found), delete(agent), condition_check(one), one.delete()),
        Transaction[tuple[Comment, Ticket, Agent | None, None, Ticket | None]],
    )
    changed = update(found, Ticket.title.set("x"))
    assert_type(transact(changed, put(found)), Transaction[tuple[Ticket, Ticket]])
    by_key = one.update(Ticket.title.set("x"))
    assert_type(transact(by_key, put(found)), Transaction[tuple[Ticket | None, Ticket]])
    assert_type(transact(*[put(found)]), Transaction[tuple[Ticket, ...]])
    assert_type(put(found).returning("old"), ReturningOld[Ticket | None])
    assert_type(update(found, Ticket.title.set("x")).returning("old"), ReturningOld[Ticket])
    assert_type(by_key.condition(unchanged).returning("old"), ReturningOld[Ticket])
    assert_type(upsert(found, Ticket.title.set("x")).returning("old"), ReturningOld[Ticket | None])
    assert_type(delete(found).returning("old"), ReturningOld[Ticket | None])
    assert_type(
        transact(by_key.returning("old"), put(found).returning("old")),
        Transaction[tuple[Ticket, Ticket | None]],
    )
    assert_type(batch_write([put(comment), delete(usage)]), BatchWrite)


def a_unique_value_is_looked_up() -> None:
    assert_type(Agent.by_email("a@x.y"), GetByUnique[Agent])
    assert_type(Agent.by_badge("t", "a"), GetByUnique[Agent])
    assert_type(Lead.by_place("se", "Lund"), GetByUnique[Lead])


def keys_are_read_together() -> None:
    assert_type(batch_get([Ticket.primary("o", 1), Ticket.primary("o", 2)]), BatchGet[Ticket])
    assert_type(batch_get(Ticket.primary("o", n) for n in (1, 2)).consistent(), BatchGet[Ticket])


def an_index_is_scanned_in_segments(db: Database) -> None:
    scan = Usage.by_day.scan(reason="export")
    assert_type(scan, Scan[Usage])
    assert_type(scan.segments(4), SegmentedScan[Usage])
    assert_type(db.run(scan.segments(4).page_size(9)), Page[Usage])
    assert_type(db.iterate(Ticket.scan(reason="export").segments(2)), Iterator[Ticket])


def all_shards_are_one_range(db: Database) -> None:
    usages = Usage.by_day.all_shards(date(2026, 1, 1))
    assert_type(usages, Range[Usage, datetime, str])
    assert_type(usages.gte(NOW).desc(), Query[Usage])
    assert_type(db.run(usages.page_size(2)), Page[Usage])


def several_entities_are_in_one_range(db: Database) -> Query[Comment | File]:
    comments, files = Comment.primary.within("o"), File.primary.within("o")
    both = comments.union(files)
    assert_type(both, Range[Comment | File, int])
    assert_type(both.gte(3), Query[Comment | File])
    assert_type(db.run(both.gte(3).desc().page_size(2)), Page[Comment | File])
    assert_type(db.run(comments.union(files)), Page[Comment | File])
    assert_type(db.run(both.first()), Comment | File | None)
    three = comments.union(files).union(Ticket.primary.within("o"))
    assert_type(three.gte(3), Query[Comment | File | Ticket])
    assert_type(comments.eq(1, NOW).union(files), Range[Comment | File])
    return comments.union(files)


class TicketLine(Projection[Ticket]):
    number: int
    title: str


def a_projection_lists_attributes(db: Database) -> None:
    tickets = Ticket.primary.within("o")
    assert_type(tickets.select(TicketLine), Query[TicketLine])
    page = db.run(tickets.select(TicketLine).desc().page_size(3))
    assert_type(page, Page[TicketLine])
    assert_type(page[0].title, str)
    assert_type(db.run(tickets.select(TicketLine).first()), TicketLine | None)
    many = tickets.select(*[Ticket.title, Ticket.title])
    assert_type(many, Query[tuple[Any, ...]])
    TicketLine(number=1, title="t")


def keys_of_several_entities_are_read_together(db: Database, agent_id: AgentId) -> None:
    one, agent = Ticket.primary("o", 1), Agent.primary(agent_id)
    assert_type(db.run(batch_get(one, agent)), tuple[Ticket | None, Agent | None])
    assert_type(transact_get(one), TransactGet[tuple[Ticket | None]])
    assert_type(db.run(transact_get(one, agent)), tuple[Ticket | None, Agent | None])
    assert_type(
        db.run(transact_get(one, agent, one, agent, one)),
        tuple[Ticket | None, Agent | None, Ticket | None, Agent | None, Ticket | None],
    )
    assert_type(db.run(transact_get(*[one, one])), tuple[Ticket | None, ...])
    assert_type(db.run(transact_get(one, one, one, one, one, agent)), tuple[Any, ...])
    assert_type(
        batch_get(one, agent).consistent(), BatchGetTuple[tuple[Ticket | None, Agent | None]]
    )


def an_aggregate_is_of_its_root() -> None:
    assert_type(TicketWithComments.of(Ticket.primary("o", 1)), Load[TicketWithComments])
    assert_type(CommentWithFiles.of(Comment.primary("o", 1, NOW)).desc(), Load[CommentWithFiles])
    assert_type(
        TicketWithComments.of(Ticket.primary("o", 1)).consistent().limit(3),
        Load[TicketWithComments],
    )
    assert_type(TicketWithComments.of(Ticket.primary.within("o").eq(1)), Load[TicketWithComments])
    found = Ticket.by_title("o").first()
    assert_type(TicketWithComments.of(found), LoadFound[TicketWithComments])
    assert_type(TicketWithComments(ticket=some_ticket(), comments=[]), TicketWithComments)


def a_member_of_an_aggregate_is_a_page_of_projections() -> None:
    plan = FilePage.of(Comment.primary("o", 1, NOW)).page_size(2)
    assert_type(plan, Load[FilePage])
    with connect(":memory:", Desk) as db:
        db.run(create(Comment(org_id="o", number=1, at=NOW, text="t")))
        db.run(create(File(org_id="o", number=1, at=NOW, file_id=FILE)))
        found = db.run(plan.after(None))
        assert found is not None
        assert_type(found.files, Page[FileName])
        assert_type(found.files[0].file_id, UUID)
        assert_type(found.files.next_cursor, str | None)
        assert found.files == [FileName(file_id=FILE)]
    first = Comment.primary.within("o").eq(1).first()
    assert_type(FilePage.of(first).page_size(2).after(None), LoadFound[FilePage])
    assert_type(FilePage.of(first).page_size(2).before(None), LoadFound[FilePage])


def one_plan_follows_from_another() -> None:
    last: Single[Comment] = Comment.primary.within("o").eq(1).desc().first()
    assert_type(
        last.then(lambda found: Ticket.primary(found.org_id, found.number)),
        Then[Comment, Ticket | None],
    )
    assert_type(
        Agent.by_email("a@x.y").then(lambda found: Ticket.by_title(found.team)),
        Then[Agent, Page[Ticket]],
    )


def what_must_exist_is_not_none() -> None:
    assert_type(Ticket.primary("o", 1).or_raise(), RequiredRead[Ticket])
    assert_type(Agent.by_email("a@x.y").or_raise(), RequiredRead[Agent])
    assert_type(Comment.primary.within("o").eq(1).first().or_raise(), RequiredRead[Comment])
    assert_type(
        FilePage.of(Comment.primary.within("o").eq(1).first()).or_raise(), RequiredRead[FilePage]
    )
    both = Ticket.primary("o", 1).then(lambda found: Ticket.by_title(found.title))
    assert_type(both.or_raise(), RequiredRead[tuple[Ticket, Page[Ticket]]])
    with connect(":memory:", Desk) as db:
        db.run(create(some_ticket()))
        assert_type(db.run(Ticket.primary("o", 1).or_raise()), Ticket)


def a_pattern_is_called_as_it_was_written() -> None:
    assert_type(settings(), Get[Settings])
    assert_type(ticket("o", number=1), Get[Ticket])
    assert_type(ticket_of_number("7"), Get[Ticket])
    assert_type(agents(), Range[Agent, AgentId])
    assert_type(agents().eq(AgentId("a")), Range[Agent])
    assert_type(due_tickets(status=Status.OPEN, due=TODAY), Query[Ticket])
    assert_type(comments_between("o", 1, NOW, LATER), Query[Comment])
    assert_type(titled("o", "A", size=5, cursor=None), Query[Ticket])
    assert_type(loud_tickets("o"), Query[tuple[int, str]])
    assert_type(last_comment("o", 1), First[Comment])
    assert_type(usage_count("o", in_month=TODAY), Count)
    assert_type(visits(TODAY, "o", "r"), Range[Visit, datetime])
    assert_type(visits(TODAY, "o", "r").gte(NOW), Query[Visit])
    assert_type(tickets_of("o"), Query[Ticket])
    assert_type(commented_ticket("o", 1), Then[Comment, Ticket | None])
    assert_type(titled_ticket("o", "A"), LoadFound[TicketWithComments])
    assert_type(all_files(), Scan[File])
    assert_type(agent_by_email("a@x.y"), GetByUnique[Agent])
    assert_type(some_agents([AgentId("a")]), BatchGet[Agent])
    assert_type(ticket_with_comments("o", 1), Load[TicketWithComments])
    assert_type(hire(some_agent()), Create[Agent])
    assert_type(save_settings(Settings()), Put[Settings])
    assert_type(close_ticket("o", 1, expected=1, by="me"), Update[Ticket])
    assert_type(rename(some_ticket(), "x"), Update[Ticket])
    assert_type(forget("o", 1), Delete[Ticket])
    assert_type(remove_agent(some_agent()), Delete[Agent])
    assert_type(comment_on(Comment(org_id="o", number=1, at=NOW, text="t"), []), Transaction)
    assert_type(load_usage([Usage(org_id="o", at=NOW, source="s", seconds=1)]), BatchWrite)
    assert_type(explain(ticket), Shape)
    assert_type(access_patterns(Desk), list[AccessPattern])
    assert_type(explain(access_patterns(Desk)[0]), Shape)
    assert_type(explain(close_ticket).requests, tuple[Shape, ...])
    assert_type(explain(close_ticket).sets, tuple[str, ...])


def a_database_gives_what_the_plan_is_for() -> None:
    db = connect(":memory:", Desk, Flags)
    assert_type(db, Database)
    comment = Comment(org_id="o", number=1, at=NOW, text="t")
    usage = Usage(org_id="o", at=NOW, source="s", seconds=1)
    assert_type(db.run(hire(some_agent())), Agent)
    stored = db.run(create(some_ticket()))
    assert_type(stored, Ticket)
    assert_type(save(stored).condition(Ticket.title == "x").audit(by="me"), Save[Ticket])
    assert_type(db.run(save(stored)), Ticket)
    tickets = Ticket.primary.within("o")
    assert_type(db.run(update_all(tickets, Ticket.title.set("A title"))), int)
    assert_type(db.run(delete_all(Settings.scan(reason="test"), progress=print)), int)
    assert_type(db.run(put(Settings())), Settings)
    assert_type(db.run(ticket("o", 1)), Ticket | None)
    assert_type(db.run(Agent.by_email("A@x.y")), Agent | None)
    assert_type(db.run(batch_get([Ticket.primary("o", 1)])), list[Ticket | None])
    assert_type(db.run(Ticket.primary.within("o")), Page[Ticket])
    assert_type(db.run(loud_tickets("o")), Page[tuple[int, str]])
    assert_type(db.run(Ticket.primary.within("o").first()), Ticket | None)
    assert_type(db.run(loud_tickets("o").first()), tuple[int, str] | None)
    assert_type(db.run(usage_count("o", TODAY)), int)
    assert_type(db.run(all_files()), Page[File])
    assert_type(db.run(close_ticket("o", 1, 1, "me")), Ticket)
    assert_type(db.run(Ticket.primary("o", 1).update(Ticket.status.set(Status.OPEN))), Ticket)
    assert_type(db.run(upsert(some_ticket(), Ticket.status.set(Status.OPEN))), Ticket)
    assert_type(db.run(StatusEvent.primary.within("o").eq(1)), Page[StatusEvent])
    assert_type(db.run(remove_agent(some_agent())), Agent | None)
    assert_type(db.run(comment_on(comment, [])), tuple[Any, ...])
    assert_type(db.run(transact(put(comment), put(usage))), tuple[Comment, Usage])
    assert_type(db.run(load_usage([usage])), None)
    assert_type(db.iterate(Ticket.primary.within("o")), Iterator[Ticket])
    assert_type(db.iterate(loud_tickets("o")), Iterator[tuple[int, str]])
    assert_type(db.for_tenant(org_id="o"), Database)
    assert_type(db.run(commented_ticket("o", 1)), tuple[Comment, Ticket | None] | None)
    assert_type(db.run(titled_ticket("o", "A")), TicketWithComments | None)
    found = db.run(ticket_with_comments("o", 1))
    assert_type(found, TicketWithComments | None)
    assert found is not None
    assert_type(found.ticket, Ticket)
    assert_type(found.comments, list[CommentWithFiles])
    assert_type(found.comments[0].comment.text, str)
    assert_type(found.comments[0].files, list[File])
    with db.transaction() as transaction:
        transaction.add(create(some_ticket(2)), put(Settings()))
    with connect(":memory:", Flags) as flags:
        assert_type(flags.run(create(Flag(name="beta"))), Flag)
    db.close()


def a_page_is_a_sequence_with_a_cursor() -> None:
    with connect(":memory:", Desk, timeout=5, max_attempts=3) as db:
        db.run(create(some_ticket(1)))
        db.run(create(some_ticket(2)))
        page = db.run(Ticket.primary.within("o").page_size(1))
        assert_type(page.next_cursor, str | None)
        assert_type(page.previous_cursor, str | None)
        assert_type(page[0], Ticket)
        assert_type(page[0:], list[Ticket])
        assert_type(len(page), int)
        assert_type([found.title for found in page], list[str])
        rest = db.run(Ticket.primary.within("o").page_size(1).after(page.next_cursor))
        assert_type(rest, Page[Ticket])


async def an_event_loop_runs_the_same_plans() -> None:
    assert_type(await connect_async(":memory:", Desk), AsyncDatabase)
    async with connect_async(":memory:", Desk) as db:
        assert_type(db, AsyncDatabase)
        assert_type(await db.run(create(some_ticket())), Ticket)
        assert_type(await db.run(ticket("o", 1)), Ticket | None)
        assert_type(await db.run(tickets_of("o")), Page[Ticket])
        assert_type(await db.run(usage_count("o", TODAY)), int)
        assert_type(await db.run(ticket_with_comments("o", 1)), TicketWithComments | None)
        assert_type(db.iterate(tickets_of("o")), AsyncIterator[Ticket])
        async for found in db.iterate(tickets_of("o")):
            assert_type(found, Ticket)
        assert_type(db.for_tenant(org_id="o"), AsyncDatabase)
        async with db.transaction() as transaction:
            transaction.add(create(some_ticket(2)))


def a_plan_is_a_value() -> None:
    wanted: Plan[Ticket | None] = Ticket.primary("o", 1)
    pages: list[Plan[Page[Ticket]]] = [Ticket.primary.within("o"), Ticket.by_title("o")]
    anything: list[Plan[object]] = [wanted, *pages, Ticket.primary.within("o").count()]
    assert_type(explain(wanted), Shape)
    assert_type(explain(pages[0]), Shape)
    assert_type(explain(anything[0]), Shape)


def stream_events(db: Database) -> None:
    """Events of streams have the types of their entities."""
    for event in db.stream_events(Ticket):
        assert_type(event.entity, type[Ticket])
        match event:
            case Created():
                assert_type(event.new, Ticket)
            case Updated() | Moved():
                assert_type(event.old, Ticket)
                assert_type(event.changed, frozenset[str])
            case Deleted() | Expired():
                assert_type(event.old, Ticket)
    events = db.stream_events(Ticket, Agent, after="", follow=True)
    assert_type(events, StreamEvents[StreamEvent[Ticket] | StreamEvent[Agent]])
    assert_type(events.checkpoint, str)
    assert_type(parse_stream({}, Agent), list[StreamEvent[Agent]])
    assert_type(parse_stream({}, Desk), list[StreamEvent[Any]])
    assert_type(db.stream_events(Desk), StreamEvents[StreamEvent[Any]])
    assert_type(db.stream_events(), StreamEvents[StreamEvent[Any]])


async def stream_events_async(db: AsyncDatabase) -> None:
    async for event in db.stream_events(Ticket, Agent):
        if isinstance(event, Created):
            assert_type(event.new, Ticket | Agent)
