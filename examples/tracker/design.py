"""The design: organisations with members, projects, issues, comments, labels and an activity log.

An organisation is a tenant: every partition of the table and of its indexes begins with its id.
"""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Annotated

from pydantic import Field

import tablewright as tw
from tablewright import Attr, Entity, Input, Patch, WriteOnce, access_pattern, attr, index, key
from tablewright.formats import lower
from tablewright.ids import ULID
from tablewright.plans import Create, Get, GetByUnique, Query, Transaction, Update
from tablewright.rules import count_of

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{1,30}$")]
Line = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=20_000)]
Email = Annotated[str, Field(pattern="^[^@ ]+@[^@ ]+$")]


class Status(StrEnum):
    OPEN = "open"
    IN_PROGRESS = "in-progress"
    DONE = "done"


class Priority(IntEnum):
    URGENT = 1
    NORMAL = 2
    LOW = 3


class Tracker(tw.Table, name="tracker"):
    gsi1 = tw.GSI("GSI1PK", "GSI1SK")
    gsi2 = tw.GSI("GSI2PK", "GSI2SK")
    gsi3 = tw.GSI("GSI3PK", "GSI3SK")
    tenancy = tw.Tenancy("org_id", write=("ORG#{org_id}", "ORG#{org_id}#*"))


class Organisation(Entity, table=Tracker):
    org_id: Attr[Slug] = attr()
    name: Attr[Line] = attr()
    primary = key("ORG" / org_id, "ORG")


class Project(Entity, table=Tracker):
    org_id: Attr[str] = attr()
    project: Attr[Slug] = attr()
    name: Attr[Line] = attr()
    issues: Attr[int] = count_of("Issue")
    issues_to_do: Attr[int] = count_of("Issue", when=lambda issue: issue.status != Status.DONE)
    primary = key("ORG" / org_id, "PROJECT" / project)


class Member(Entity, table=Tracker):
    org_id: Attr[str] = attr()
    member_id: Attr[ULID] = attr(default_factory=ULID.new)
    name: Attr[Line] = attr()
    email: Attr[Email] = attr()
    primary = key("ORG" / org_id, "MEMBER" / member_id)
    by_email = tw.unique("ORG" / org_id, "EMAIL" / lower(email))


class StatusChange(WriteOnce, table=Tracker):
    org_id: Attr[str] = attr()
    issue_id: Attr[ULID] = attr()
    version: Attr[int] = attr(pad=6)
    title: Attr[str] = attr()
    old: Attr[Status] = attr()
    new: Attr[Status] = attr()
    at: Attr[datetime] = attr()
    by: Attr[ULID] = attr()
    primary = key("ORG" / org_id / "ISSUE" / issue_id, "STATUS" / version)
    by_time = index(Tracker.gsi1, "ORG" / org_id / "ACTIVITY", at / issue_id / version)


class Issue(Entity, table=Tracker):
    org_id: Attr[str] = attr()
    issue_id: Attr[ULID] = attr(default_factory=ULID.new)
    project: Attr[Slug] = attr(immutable=True)
    title: Attr[Line] = attr()
    text: Attr[Text] = attr(default="")
    status: Attr[Status] = attr(default=Status.OPEN)
    priority: Attr[Priority] = attr(default=Priority.NORMAL)
    assignee: Attr[ULID | None] = attr(default=None, doc="The id of a member.")
    reporter: Attr[ULID] = attr(immutable=True, doc="The id of a member.")
    labels: Attr[set[str]] = attr(default_factory=set)
    comments: Attr[int] = count_of("Comment")
    created_at: Attr[datetime] = tw.created_at()
    version: Attr[int] = tw.version()
    primary = key("ORG" / org_id / "ISSUE" / issue_id, "ISSUE")
    by_status = index(Tracker.gsi1, "ORG" / org_id / "STATUS" / status, issue_id)
    by_assignee = index(Tracker.gsi2, "ORG" / org_id / "ASSIGNEE" / assignee, issue_id)
    by_priority = index(Tracker.gsi3, "ORG" / org_id / "PRIORITY" / priority, issue_id)
    status_changes = tw.history(status, StatusChange)


class Comment(WriteOnce, table=Tracker):
    org_id: Attr[str] = attr()
    issue_id: Attr[ULID] = attr()
    comment_id: Attr[ULID] = attr(default_factory=ULID.new)
    author: Attr[ULID] = attr(doc="The id of a member.")
    text: Attr[Text] = attr()
    primary = key("ORG" / org_id / "ISSUE" / issue_id, "COMMENT" / comment_id)


class LabelledIssue(Entity, table=Tracker):
    org_id: Attr[str] = attr()
    label: Attr[Slug] = attr()
    issue_id: Attr[ULID] = attr()
    primary = key("ORG" / org_id / "LABEL" / label, "ISSUE" / issue_id)


# What a client sends: what the server sets is excluded.


class NewMember(Input[Member], exclude=("org_id", "member_id")): ...


class NewProject(Input[Project], exclude=("org_id",)): ...


class NewIssue(Input[Issue], exclude=("org_id", "issue_id", "reporter", "labels")): ...


class IssuePatch(Patch[Issue], exclude=("labels",)): ...


class NewComment(Input[Comment], exclude=("org_id", "issue_id", "comment_id", "author")): ...


@access_pattern(route="POST /organisations")
def create_organisation(
    organisation: Input[Organisation], owner: NewMember
) -> Transaction[tuple[Organisation, Member]]:
    """Create an organisation with its first member."""
    new = organisation.entity()
    return tw.transact(tw.create(new), tw.create(owner.entity(org_id=new.org_id)))


@access_pattern(route="GET /organisation")
def organisation(org_id: str) -> Get[Organisation]:
    """The organisation."""
    return Organisation.primary(org_id)


@access_pattern
def projects(org_id: str) -> Query[Project]:
    """The projects of an organisation."""
    return Project.primary.within(org_id)


@access_pattern
def add_project(org_id: str, new: NewProject) -> Create[Project]:
    """Add a project."""
    return tw.create(new.entity(org_id=org_id))


@access_pattern
def add_member(org_id: str, new: NewMember) -> Create[Member]:
    """Add a member, whose email address must be unique in the organisation."""
    return tw.create(new.entity(org_id=org_id))


@access_pattern
def members(org_id: str) -> Query[Member]:
    """The members of an organisation."""
    return Member.primary.within(org_id)


@access_pattern(route="GET /members/by-email/{email}")
def member_by_email(org_id: str, email: str) -> GetByUnique[Member]:
    """The member with an email address, in any case."""
    return Member.by_email(org_id, email)


@access_pattern(route="POST /issues")
def open_issue(org_id: str, reporter: ULID, new: NewIssue) -> Create[Issue]:
    """Open an issue in an existing project, which counts it."""
    return tw.create(new.entity(org_id=org_id, reporter=reporter))


@access_pattern
def issue(org_id: str, issue_id: ULID) -> Get[Issue]:
    """An issue."""
    return Issue.primary(org_id, issue_id)


@access_pattern(route="PATCH /issues/{issue_id}")
def edit_issue(org_id: str, issue_id: ULID, patch: IssuePatch, by: ULID) -> Update[Issue]:
    """Change an issue; a new status is recorded in the activity log."""
    return Issue.primary(org_id, issue_id).update(*Issue.changes_from(patch)).audit(by=by)


@access_pattern(route="GET /issues")
def issues_by_status(org_id: str, status: Status) -> Query[Issue]:
    """The issues with a status, newest first."""
    return Issue.by_status(org_id, status).desc()


@access_pattern(route="GET /members/{assignee}/issues")
def issues_by_assignee(org_id: str, assignee: ULID) -> Query[Issue]:
    """The issues of a member that are not done, newest first."""
    return Issue.by_assignee(org_id, assignee).desc().filter(Issue.status != Status.DONE)


@access_pattern
def issues_by_priority(org_id: str, priority: Priority) -> Query[Issue]:
    """The issues with a priority, newest first."""
    return Issue.by_priority(org_id, priority).desc()


@access_pattern(route="POST /issues/{issue_id}/comments")
def add_comment(org_id: str, issue_id: ULID, author: ULID, new: NewComment) -> Create[Comment]:
    """Comment on an existing issue, which counts its comments."""
    return tw.create(new.entity(org_id=org_id, issue_id=issue_id, author=author))


@access_pattern
def comments(org_id: str, issue_id: ULID) -> Query[Comment]:
    """The comments on an issue, oldest first."""
    return Comment.primary.within(org_id, issue_id)


@access_pattern(route="PUT /issues/{issue_id}/labels/{label}")
def add_label(org_id: str, issue_id: ULID, label: Slug) -> Transaction:
    """Label an existing issue."""
    labelled = LabelledIssue(org_id=org_id, label=label, issue_id=issue_id)
    change = Issue.labels.add_to_set({label})
    return tw.transact(tw.put(labelled), Issue.primary(org_id, issue_id).update(change))


@access_pattern(route="DELETE /issues/{issue_id}/labels/{label}")
def remove_label(org_id: str, issue_id: ULID, label: Slug) -> Transaction:
    """Remove a label from an existing issue."""
    labelled = LabelledIssue.primary(org_id, label, issue_id)
    change = Issue.labels.remove_from_set({label})
    return tw.transact(labelled.delete(), Issue.primary(org_id, issue_id).update(change))


@access_pattern(route="GET /labels/{label}/issues")
def issues_with_label(org_id: str, label: Slug) -> Query[LabelledIssue]:
    """The issues with a label, newest first."""
    return LabelledIssue.primary.within(org_id, label).desc()


@access_pattern(route="GET /activity")
def activity(org_id: str) -> Query[StatusChange]:
    """The activity log of an organisation, newest first."""
    return StatusChange.by_time(org_id).desc()
