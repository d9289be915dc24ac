"""What other parts know of cascades: policies, previews, tenants, descriptions, stored items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import (
    Attr,
    Entity,
    Table,
    Tenancy,
    access_pattern,
    attr,
    connect,
    create,
    key,
)
from tablewright.database import Database
from tablewright.design_changes import differences
from tablewright.engine import Engine
from tablewright.errors import AccessDeniedException, TenantViolation
from tablewright.plans import Create, Delete
from tablewright.publish.iam import policy
from tablewright.rules import cascade
from tablewright.studio.writes.applying import apply
from tablewright.studio.writes.preview import preview
from tablewright.verify import Design
from tests.design_changes.loading import describe
from torture.cascades import Comment, Issue, Note, Project, Tracker


@access_pattern(role="writes")
def create_issue(issue: Issue) -> Create[Issue]:
    """Create an issue of a project."""
    return create(issue)


@access_pattern(role="writes")
def delete_project(name: str) -> Delete[Project]:
    """Delete a project with what belongs to it."""
    return Project.primary(name).delete()


DESIGNED = Design(name="tracker", doc="", tables=(Tracker,), sample=None, checks=None)


def fill(db: Database, name: str = "p") -> None:
    db.run(create(Project(name=name, title=name)))
    for number in range(3):
        db.run(create(Issue(name=name, number=number, code=f"c{number}")))
        db.run(create(Note(note=f"{name}{number}", project=name)))
        db.run(create(Comment(name=name, issue=number, number=1)))


def test_the_policy_of_the_patterns_allows_all_requests() -> None:
    document = policy(DESIGNED, "writes")
    with Engine(":memory:") as engine:
        db, limited = connect(engine, Tracker), connect(engine, Tracker, policy=document)
        fill(db)
        limited.run(create_issue(Issue(name="p", number=7, code="c")))
        limited.run(delete_project("p"))
        assert db.run(Project.primary("p")) is None


@pytest.mark.parametrize("action", ["ConditionCheckItem", "UpdateItem", "Query"])
def test_a_policy_without_one_of_the_requests_refuses_the_patterns(action: str) -> None:
    document = policy(DESIGNED, "writes")
    for statement in document["Statement"]:
        statement["Action"] = [each for each in statement["Action"] if action not in each]
    document["Statement"] = [each for each in document["Statement"] if each["Action"]]
    with Engine(":memory:") as engine:
        fill(connect(engine, Tracker))
        limited = connect(engine, Tracker, policy=document)
        refused = 0
        for plan in create_issue(Issue(name="p", number=7, code="c")), delete_project("p"):
            try:
                limited.run(plan)
            except AccessDeniedException:
                refused += 1
        assert refused == 1


@pytest.fixture
def database() -> Iterator[Database]:
    with connect(":memory:", Tracker) as db:
        fill(db)
        yield db


def test_a_preview_shows_what_then_happens(database: Database) -> None:
    found = preview(database, delete_project("p"))
    assert database.run(Project.primary("p")) is not None
    assert found.error is None
    assert apply(found, database.transport).is_applied
    assert database.run(Project.primary("p")) is None
    assert list(database.run(Note.by_project("p"))) == []
    assert database.run(Note.primary("p0")) == Note(note="p0")


class Shared(Table, name="shared"):
    tenancy = Tenancy("org", write=("ORG#{org}", "TASK#{org}"))


class Org(Entity, table=Shared):
    org: Attr[str] = attr()
    primary = key("ORG" / org, "ORG")
    tasks = cascade("Task")


class Task(Entity, table=Shared):
    org: Attr[str] = attr()
    task: Attr[str] = attr()
    primary = key("TASK" / org, "TASK" / task)


def test_a_tenant_deletes_with_its_own_children_only() -> None:
    with connect(":memory:", Shared) as db:
        for org in "ab":
            db.run(create(Org(org=org)))
            db.run(create(Task(org=org, task="t")))
        a = db.for_tenant(org="a")
        with pytest.raises(TenantViolation):
            a.run(Org.primary("b").delete())
        with pytest.raises(TenantViolation):
            a.run(create(Task(org="b", task="u")))
        a.run(create(Task(org="a", task="u")))
        a.run(Org.primary("a").delete())
        assert list(db.run(Task.primary.within("a"))) == []
        assert len(db.run(Task.primary.within("b"))) == 1


DESIGN = """
from tablewright import *
from tablewright.rules import cascade, restrict

class Hub(Table, name="hub"): ...

class Project(Entity, table=Hub):
    name: Attr[str] = attr()
    primary = key("PROJECT" / name, "PROJECT")
    RULE

class Issue(Entity, table=Hub):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    primary = key("PROJECT" / name, "ISSUE" / number)
"""


@pytest.mark.parametrize("rule", ['issues = cascade("Issue")', 'issues = restrict("Issue")'])
def test_a_rule_changes_nothing_that_is_stored(rule: str) -> None:
    without, with_rule = (describe(DESIGN.replace("RULE", each)) for each in ("", rule))
    assert differences(without, with_rule) == []
    assert without == with_rule


def test_an_item_that_is_being_deleted_can_be_read_and_changed(database: Database) -> None:
    body: dict[str, Any] = {
        "TableName": "tracker",
        "Key": {"PK": {"S": "PROJECT#p"}, "SK": {"S": "PROJECT"}},
        "UpdateExpression": "SET tablewright_being_deleted = :t",
        "ExpressionAttributeValues": {":t": {"BOOL": True}},
    }
    database.transport.send("UpdateItem", body)
    project = Project.primary("p")
    assert database.run(project) == Project(name="p", title="p")
    assert database.run(project.update(Project.title.set("q"))).title == "q"
    database.run(project.delete())
    assert database.run(project) is None
