"""The policy of a role for the programs of two versions of a design, while it is migrated."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    Tenancy,
    access_pattern,
    attr,
    connect,
    create,
    index,
    key,
    migrations,
    unique,
)
from tablewright.errors import AccessDeniedException
from tablewright.migrations import MigrationProgress
from tablewright.plans import Create, Delete, Get, GetByUnique, Query, Update
from tablewright.policy import Principal
from tablewright.publish.iam import AwsAccount, policies, role_policies, tenant_policies, union
from tablewright.verify import Design
from tests import commands
from tests.publish.test_iam import refused_connection, without_one_grant


class TicketFields(Entity):
    """Abstract: what a ticket has in both versions."""

    ticket_id: Attr[str] = attr()
    state: Attr[str] = attr(default="open")
    owner: Attr[str] = attr(default="ann")
    text: Attr[str] = attr(default="")
    primary = key("TICKET" / ticket_id, "TICKET")


TICKET = "TICKET" / TicketFields.ticket_id


class OldDesk(Table, name="desk_versions"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_owner = GSI("GSI2PK", "GSI2SK")


class OldTicket(TicketFields, table=OldDesk, type_name="Ticket"):
    by_state = index(OldDesk.by_state, "STATE" / TicketFields.state, TICKET)
    by_owner = index(OldDesk.by_owner, "OWNER" / TicketFields.owner, TICKET)


@access_pattern
def old_open(ticket: OldTicket) -> Create[OldTicket]:
    return create(ticket)


@access_pattern
def old_tickets_of(owner: str) -> Query[OldTicket]:
    return OldTicket.by_owner(owner)


@access_pattern
def old_texts(state: str) -> Query[tuple[str, str]]:
    return OldTicket.by_state(state).select(OldTicket.ticket_id, OldTicket.text)


class Desk(Table, name="desk_versions"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_due = GSI("GSI3PK", "GSI3SK")


class Ticket(TicketFields, table=Desk):
    due: Attr[str] = attr(default="never")
    by_state = index(Desk.by_state, "STATE" / TicketFields.state, TICKET)
    by_due = index(Desk.by_due, "DUE" / due, TICKET)
    by_text = unique("TEXT" / TicketFields.text)


@access_pattern
def open_ticket(ticket: Ticket) -> Create[Ticket]:
    return create(ticket)


@access_pattern
def ticket_with(text: str) -> GetByUnique[Ticket]:
    return Ticket.by_text(text)


@access_pattern
def due_tickets(due: str) -> Query[Ticket]:
    return Ticket.by_due(due)


@access_pattern
def dues(state: str) -> Query[tuple[str, str]]:
    return Ticket.by_state(state).select(Ticket.ticket_id, Ticket.due)


def design_of(*tables: type[Table]) -> Design:
    return Design(name="desk", doc="", tables=tables, sample=None, checks=None)


OLD, NEW = design_of(OldDesk), design_of(Desk)


class BothDesks(Table, name="desk_versions"):
    """The table while it is migrated: it has the indexes of both versions."""

    by_state = GSI("GSI1PK", "GSI1SK")
    by_owner = GSI("GSI2PK", "GSI2SK")
    by_due = GSI("GSI3PK", "GSI3SK")


class AnyTicket(TicketFields, table=BothDesks): ...


def run_both(document: dict[str, Any]) -> None:
    """Run the patterns of both versions under a policy."""
    with Engine(":memory:") as engine:
        connect(engine, BothDesks)
        old = connect(engine, OldDesk, policy=document)
        new = connect(engine, Desk, policy=document)
        if refused_connection(engine, NEW, document) is not None:
            raise AccessDeniedException("it may not connect")
        old.run(old_open(OldTicket(ticket_id="2", text="b")))
        assert len(old.run(old_tickets_of("ann"))) == 1
        assert old.run(old_texts("open")) == [("2", "b")]
        new.run(open_ticket(Ticket(ticket_id="3", text="c", due="soon")))
        assert [each.ticket_id for each in new.run(due_tickets("soon"))] == ["3"]
        assert new.run(dues("open")) == [("2", "never"), ("3", "soon")]
        found = new.run(ticket_with("c"))
        assert found is not None


def test_the_union_allows_the_patterns_of_both_versions() -> None:
    both = union([policies(NEW)["all"], policies(OLD)["all"]])
    run_both(both)
    for design in (OLD, NEW):
        with pytest.raises(AccessDeniedException):
            run_both(policies(design)["all"])


def test_each_statement_and_each_action_of_the_union_is_needed() -> None:
    both = union([policies(NEW)["all"], policies(OLD)["all"]])
    needed = []
    for action, resource, document in without_one_grant(both):
        try:
            run_both(document)
        except AccessDeniedException:
            needed.append((action, resource))
    assert needed == [(action, resource) for action, resource, _ in without_one_grant(both)]
    places = [(each["Resource"], json.dumps(each.get("Condition"))) for each in both["Statement"]]
    assert len(places) == len(set(places))


def test_the_union_is_no_broader_than_the_two() -> None:
    """A request that names attributes of both versions is one of neither."""
    both = union([policies(NEW)["all"], policies(OLD)["all"]])
    with Engine(":memory:") as engine:
        connect(engine, BothDesks)
        connect(engine, Desk).run(open_ticket(Ticket(ticket_id="1", text="a")))
        new = connect(engine, Desk, policy=both)
        for refused in (
            Ticket.by_state("open").select(Ticket.text, Ticket.due),
            Ticket.by_state("open"),
            Ticket.scan(reason="test"),
            Ticket.primary("1").delete(),
        ):
            with pytest.raises(AccessDeniedException):
                new.run(refused)


def statement(actions: str, condition: Any = None, resource: str = "a") -> dict[str, Any]:
    limits = {} if condition is None else {"Condition": condition}
    return {"Effect": "Allow", "Action": actions.split(), "Resource": resource, **limits}


def names(*values: str) -> dict[str, Any]:
    return {"ForAllValues:StringEquals": {"dynamodb:Attributes": list(values)}}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([statement("G P")], [statement("G Q")], [statement("G P Q")]),
        ([statement("G")], [statement("G", resource="b")], None),
        ([statement("G", names("x"))], [statement("G", names("y"))], None),
        ([statement("G Q", names("x"))], [statement("G")], [statement("Q", names("x")), "other"]),
        ([statement("G", names("x"))], [statement("G", names("x", "y"))], ["other"]),
        (
            [statement("G", {"StringEquals": {"k": ["x"]}})],
            [statement("G", {"StringEquals": {"k": ["x", "y"]}})],
            None,
        ),
    ],
)
def test_statements_are_joined_if_they_differ_in_actions_only(
    one: list[Any], other: list[Any], expected: list[Any] | None
) -> None:
    documents = [{"Version": "2012-10-17", "Statement": each} for each in (one, other)]
    before = deepcopy(documents)
    wanted = [*one, *other] if expected is None else expected
    wanted = [each for part in wanted for each in (other if part == "other" else [part])]
    assert union(documents)["Statement"] == wanted
    assert documents == before


# -- while items are rewritten -------------------------------------------------------------------


class OldTasks(Table, name="tasks_versions"):
    by_state = GSI("GSI1PK", "GSI1SK")


class OldTask(Entity, table=OldTasks, type_name="Task"):
    task_id: Attr[str] = attr()
    status: Attr[str] = attr()
    primary = key("TASK" / task_id, "TASK")
    by_state = index(OldTasks.by_state, "S" / status, task_id)


class Tasks(Table, name="tasks_versions"):
    by_state = GSI("GSI1PK", "GSI1SK")


class Task(Entity, table=Tasks):
    task_id: Attr[str] = attr()
    state: Attr[str] = attr(renamed_from="status")
    primary = key("TASK" / task_id, "TASK")
    by_state = index(Tasks.by_state, "STATE" / state, task_id)


@access_pattern
def tasks(state: str) -> Query[tuple[str, str]]:
    return Task.by_state(state).select(Task.task_id, Task.state)


@access_pattern
def remove_task(task_id: str) -> Delete[Task]:
    return Task.primary(task_id).delete().condition(Task.state == "open")


def stop_at_rewrite(engine: Engine, table: type[Table]) -> None:
    def stop(progress: MigrationProgress) -> None:
        if progress.step.name == "rewrite":
            raise TimeoutError

    with pytest.raises(TimeoutError):
        migrations.apply(engine, table, progress=stop, program_seconds=0)


def run_in_transition(document: dict[str, Any]) -> None:
    """Run the new version under a policy while stored items are in the old form."""

    with Engine(":memory:") as engine:
        with connect(engine, OldTasks) as db:
            db.run(create(OldTask(task_id="1", status="open")))
            db.run(create(OldTask(task_id="2", status="open")))
        migrations.baseline(engine, OldTasks)
        stop_at_rewrite(engine, Tasks)
        with connect(engine, Tasks, policy=document) as db:
            assert db.run(tasks("open")) == [("1", "open"), ("2", "open")]
            db.run(remove_task("1"))
            assert db.run(tasks("open")) == [("2", "open")]


def test_the_policy_of_two_versions_allows_what_is_sent_while_items_are_rewritten() -> None:
    new, old = (role_policies(design_of(each), AwsAccount()) for each in (Tasks, OldTasks))
    run_in_transition(new.together(old, "old").by_role["all"])
    for refused in ("BatchGetItem", "UpdateItem"):
        document = deepcopy(new.together(old, "old").by_role["all"])
        for each in document["Statement"]:
            each["Action"] = [name for name in each["Action"] if refused not in name]
        with pytest.raises(AccessDeniedException, match=refused):
            run_in_transition(document)
    with pytest.raises(AccessDeniedException, match="Query"):
        run_in_transition(new.by_role["all"])


class Moved(Table, name="tasks_versions"):
    by_state = GSI("GSI1PK", "GSI1SK")


class MovedTask(Entity, table=Moved, type_name="Task"):
    task_id: Attr[str] = attr()
    status: Attr[str] = attr()
    primary = key("T" / task_id, "TASK")
    by_state = index(Moved.by_state, "S" / status, task_id)


@access_pattern
def moved_task(task_id: str) -> Get[MovedTask]:
    return MovedTask.primary(task_id)


@access_pattern
def close_moved_task(task_id: str) -> Update[MovedTask]:
    return MovedTask.primary(task_id).update(MovedTask.status.set("closed"))


def test_the_policy_of_two_versions_allows_to_move_items() -> None:
    new, old = (role_policies(design_of(each), AwsAccount()) for each in (Moved, OldTasks))
    both = new.together(old, "old").by_role["all"]

    def close(document: dict[str, Any]) -> None:
        with Engine(":memory:") as engine:
            with connect(engine, OldTasks) as db:
                db.run(create(OldTask(task_id="1", status="open")))
            migrations.baseline(engine, OldTasks)
            stop_at_rewrite(engine, Moved)
            with connect(engine, Moved, policy=document) as db:
                db.run(close_moved_task("1"))
                found = db.run(moved_task("1"))
                assert found is not None
                assert found.status == "closed"

    close(both)
    for refused in ("BatchGetItem", "UpdateItem", "PutItem", "DeleteItem"):
        document = deepcopy(both)
        for each in document["Statement"]:
            each["Action"] = [name for name in each["Action"] if refused not in name]
        with pytest.raises(AccessDeniedException, match=refused):
            close(document)


# -- tenants -------------------------------------------------------------------------------------


class OldNotes(Table, name="notes_versions"):
    tenancy = Tenancy("org", write=("ORG#{org}",))


class OldNote(Entity, table=OldNotes, type_name="Note"):
    org: Attr[str] = attr()
    note_id: Attr[str] = attr()
    primary = key("ORG" / org, "NOTE" / note_id)


@access_pattern
def old_notes(org: str) -> Query[OldNote]:
    return OldNote.primary.within(org)


class Notes(Table, name="notes_versions"):
    tenancy = Tenancy("org", write=("CLIENT#{org}",))


class Note(Entity, table=Notes):
    org: Attr[str] = attr()
    note_id: Attr[str] = attr()
    primary = key("CLIENT" / org, "NOTE" / note_id)


@access_pattern
def notes(org: str) -> Query[Note]:
    return Note.primary.within(org)


def test_a_tenant_reaches_its_partitions_in_both_spellings_and_no_others() -> None:
    account = AwsAccount()
    ours, theirs = (tenant_policies(design_of(table), account, None) for table in (Notes, OldNotes))
    document = ours.together(theirs, "old").by_role["tenants"]
    plans: list[tuple[type[Table], Callable[[str], Any]]] = [(Notes, notes), (OldNotes, old_notes)]
    with Engine(":memory:") as engine:
        connect(engine, Notes)
        principal = Principal("session", [document], tags={"org": "x"})
        for table, plan in plans:
            limited = connect(engine, table, policy=principal)
            assert limited.run(plan("x")) == []
            with pytest.raises(AccessDeniedException):
                limited.run(plan("y"))
        for position in range(len(document["Statement"])):
            less = deepcopy(document)
            del less["Statement"][position]
            principal = Principal("session", [less], tags={"org": "x"})
            refused = [refused_connection(engine, design_of(Notes), less) is not None]
            for table, plan in plans:
                try:
                    connect(engine, table, policy=principal).run(plan("x"))
                except AccessDeniedException:
                    refused.append(True)
            assert any(refused)


# -- the command ---------------------------------------------------------------------------------

DESIGN = """
from tablewright import *

class Shop(Table, name="shop"):
    {index} = GSI("GSI1PK", "GSI1SK")

class Order(Entity, table=Shop):
    order_id: Attr[str] = attr()
    state: Attr[str] = attr(default="new")
    primary = key("ORDER" / order_id, "ORDER")
    by_state = index(Shop.{index}, "STATE" / state, "ORDER" / order_id)

@access_pattern(role="{role}")
def orders(state: str) -> Query[Order]:
    return Order.by_state(state)
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with an old version of a design, and a working tree with a new one."""
    monkeypatch.chdir(tmp_path)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    (tmp_path / "shop.py").write_text(DESIGN.format(index="by_state", role="web"))
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *command], check=True)
    (tmp_path / "old.py").write_text((tmp_path / "shop.py").read_text())
    (tmp_path / "shop.py").write_text(DESIGN.format(index="by_status", role="site"))
    return tmp_path


@pytest.mark.parametrize("since", ["old.py", "shop.py@main"])
@pytest.mark.usefixtures("repository")
def test_the_command_writes_the_policies_of_both_versions(since: str) -> None:
    done = commands.run("publish", "iam", "shop.py", "--region", "eu-west-1", "--since", since)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found) == ["all", "read", "site", "provision", "migrate", "web"]
    arn = "arn:aws:dynamodb:eu-west-1:*:table/shop"
    assert [each["Resource"] for each in found["all"]["Statement"]] == [
        *(arn, arn, f"{arn}/index/by_state", f"{arn}/index/by_status"),
    ]
    one = commands.run("publish", "iam", "shop.py", "--since", since, "--role", "web")
    assert [
        each["Resource"].rpartition("/")[2] for each in json.loads(one.stdout)["Statement"]
    ] == [
        *("shop", "shop", "by_state"),
    ]


@pytest.mark.parametrize(
    ("since", "message"),
    [
        ("tablewright.lock", "tablewright.lock is a lock file, which has no access patterns: "),
        ("tablewright.lock@main", "is a lock file, which has no access patterns: "),
        ("shop.db", "shop.db is a target, which has no access patterns: "),
        ("template.json", "template.json is a template, which has no access patterns: "),
        ("shop.py@", "write DESIGN@REVISION, such as shop.py@main"),
        ("shop.py@nowhere", "nowhere is no revision"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_a_version_without_patterns_is_refused(since: str, message: str) -> None:
    assert message in commands.mistake("publish", "iam", "shop.py", "--since", since)


@pytest.mark.parametrize("since", ["old.py", "shop.py@main"])
@pytest.mark.usefixtures("repository")
def test_an_old_version_without_tenants_is_refused(since: str) -> None:
    new = DESIGN.format(index="by_state", role="web").replace(
        "    by_state = GSI",
        '    tenancy = Tenancy("org", write=("ORG#{org}",))\n    by_state = GSI',
    )
    Path("new.py").write_text(new)
    done = commands.run("publish", "iam", "new.py", "--tenant", "--since", since)
    assert done.returncode == 2
    assert "has no tenants: declare Tenancy(…) in a table" in done.stderr
