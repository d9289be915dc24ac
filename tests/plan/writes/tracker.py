"""A design with cascades: projects, with what is deleted, detached and kept with them."""

from __future__ import annotations

from tablewright import GSI, Attr, Entity, Table, attr, history, index, key, unique
from tablewright.rules import cascade, detach, restrict


class Tracker(Table, name="tracker"):
    by_project = GSI("GSI1PK", "GSI1SK")


class Project(Entity, table=Tracker):
    name: Attr[str] = attr()
    title: Attr[str] = attr(default="")
    primary = key("PROJECT" / name, "PROJECT")
    by_title = unique("TITLE" / title)
    issues = cascade("Issue")
    notes = detach("Note.by_project", by="project")
    bills = restrict("Bill")


class Renamed(Entity, table=Tracker):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    at: Attr[str] = attr(default="now")
    primary = key("HISTORY" / name, "RENAMED" / number / new)


class Issue(Entity, table=Tracker):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    code: Attr[str] = attr(default="")
    text: Attr[str] = attr(default="")
    primary = key("PROJECT" / name, "ISSUE" / number)
    by_code = unique("CODE" / code / name / number)
    renames = history(code, Renamed, old=Renamed.old, new=Renamed.new)
    comments = cascade("Comment", by=("name", "issue"))


class Comment(Entity, table=Tracker):
    """Belongs to an issue, and is stored in a partition of its own."""

    name: Attr[str] = attr()
    issue: Attr[int] = attr(pad=4)
    number: Attr[int] = attr(pad=4)
    primary = key("COMMENTS" / name / issue, "COMMENT" / number)


class Note(Entity, table=Tracker):
    note: Attr[str] = attr()
    project: Attr[str | None] = attr(default=None)
    primary = key("NOTE" / note, "NOTE")
    by_project = index(Tracker.by_project, "NOTES" / project, "NOTE" / note)


class Bill(Entity, table=Tracker):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    primary = key("PROJECT" / name, "BILL" / number)
