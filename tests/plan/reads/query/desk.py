"""Tables and entities that the query tests read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from tablewright import GSI, LSI, Attr, Engine, Entity, Query, Table, attr, index, key
from tablewright.database import Database
from tablewright.formats import day, descending, epoch_seconds, lower
from tablewright.plan.query_requests import QueryRequest


class Desk(Table, name="query_desk", type_attribute="kind"):
    by_due = LSI("LSI1SK")
    timeline = GSI("GSI1PK", "GSI1SK")
    reverse = GSI("SK", "PK")
    lookup = GSI("id", "kind", project="KEYS_ONLY")
    titles = GSI("GSI2PK", "GSI2SK", project=("title", "details"))
    urgent = GSI("GSI3PK", "GSI3SK")


class Step(BaseModel):
    name: str
    note: str | None = None


@dataclass
class Details:
    color: str
    steps: list[Step]
    size: int | None = None


class Task(Entity, table=Desk):
    task_id: Attr[str] = attr(name="id")
    project: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    title: Attr[str] = attr(default="untitled")
    created_at: Attr[datetime] = attr(name="createdAt")
    due: Attr[date | None] = attr(default=None)
    assignee: Attr[str | None] = attr(default=None)
    priority: Attr[int] = attr(default=0)
    details: Attr[Details | None] = attr(default=None)
    tags: Attr[list[str]] = attr(default_factory=list)

    primary = key("PROJECT" / project, "TASK" / number)
    by_due = primary.local(Desk.by_due, "DUE" / due)
    assigned = index(Desk.timeline, "ASSIGNEE" / assignee, "TASK" / created_at / number)
    swapped = primary.swapped(Desk.reverse)
    by_id = index(Desk.lookup, task_id)
    titles = index(Desk.titles, "TITLES" / project, "TASK" / number)
    urgent = index(Desk.urgent, "URGENT", "TASK" / created_at, when=priority >= 5)


class Comment(Entity, table=Desk):
    """Shares the beginning of its sort key with Task."""

    comment_id: Attr[str] = attr()
    project: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    text: Attr[str] = attr(default="")
    by: Attr[str | None] = attr(default=None)
    at: Attr[datetime | None] = attr(default=None)
    primary = key("PROJECT" / project, "TASK" / number / "COMMENT" / comment_id)
    assigned = index(Desk.timeline, "ASSIGNEE" / by, "COMMENT" / at)
    titles = index(Desk.titles, "TITLES" / project, "TASK" / number / "COMMENT" / comment_id)


class Weather(Table, name="query_weather", pk="station", sk="at", type_attribute=None):
    by_kind = GSI("kind", "value")


class Reading(Entity, table=Weather):
    station: Attr[str] = attr()
    at: Attr[int] = attr()
    kind: Attr[str | None] = attr(default=None)
    value: Attr[int] = attr(default=0)
    primary = key(station, at)
    by_kind = index(Weather.by_kind, kind, value)


class Shelf(Table, name="query_shelf", type_attribute=None):
    ranks = GSI("GSI1PK", "GSI1SK")
    names = GSI("GSI2PK", "GSI2SK")


class Book(Entity, table=Shelf):
    shelf: Attr[str] = attr()
    name: Attr[str] = attr()
    score: Attr[int] = attr(pad=3, default=0)
    at: Attr[datetime | None] = attr(default=None)
    primary = key("SHELF" / shelf, "BOOK" / name)
    by_score = index(Shelf.ranks, "SHELF" / shelf, descending(score))
    by_name = index(Shelf.names, "BOOKS", lower(name))


class Leaf(Entity, table=Shelf):
    shelf: Attr[str] = attr()
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    body: Attr[str] = attr(default="")
    primary = key("SHELF" / shelf, "BOOK" / name / "PAGE" / number)


class Diary(Table, name="query_diary"):
    days = GSI("GSI1PK", "GSI1SK")
    seconds = GSI("GSI2PK", "GSI2SK")


class Entry(Entity, table=Diary):
    """Alone in its table: no bound is needed to keep others out."""

    author: Attr[str] = attr()
    word: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("AUTHOR" / author, "WORD" / word)
    by_day = index(Diary.days, "AUTHOR" / author, "DAY" / day(at) / word)
    by_second = index(Diary.seconds, "AUTHOR" / author, "AT" / epoch_seconds(at))


MONDAY = datetime(2026, 1, 5, 8, tzinfo=UTC)


def task(number: int, project: str = "P", **values: Any) -> Task:
    values.setdefault("created_at", MONDAY + timedelta(hours=number))
    return Task(task_id=f"{project}-{number}", project=project, number=number, **values)


def comment(number: int, comment_id: str, **values: Any) -> Comment:
    return Comment(project="P", number=number, comment_id=comment_id, **values)


def numbers(tasks: Any) -> list[int]:
    return [one.number for one in tasks]


def body_of(plan: Query[Any], db: Database) -> dict[str, Any]:
    request = next(plan._steps(db._context))
    assert isinstance(request, QueryRequest)
    return request.body


Compare = Callable[[Any, Any], Query[Any]]


Holds = Callable[[Any, Any], bool]


COMPARISONS: list[tuple[str, Compare, Holds]] = [
    ("eq", lambda range_, value: range_.eq(value), lambda v, bound: v == bound),
    ("gte", lambda range_, value: range_.gte(value), lambda v, bound: v >= bound),
    ("gt", lambda range_, value: range_.gt(value), lambda v, bound: v > bound),
    ("lte", lambda range_, value: range_.lte(value), lambda v, bound: v <= bound),
    ("lt", lambda range_, value: range_.lt(value), lambda v, bound: v < bound),
    ("between", lambda range_, value: range_.between(value, value), lambda v, bound: v == bound),
]


comparisons = pytest.mark.parametrize(
    ("compare", "holds"), [pytest.param(c, h, id=name) for name, c, h in COMPARISONS]
)


def _key(item: Task) -> dict[str, Any]:
    return {"PK": {"S": f"PROJECT#{item.project}"}, "SK": {"S": f"TASK#{item.number:04d}"}}


def _remove(engine: Engine, item: Task, *names: str) -> None:
    request = {
        "TableName": "query_desk",
        "Key": _key(item),
        "UpdateExpression": "REMOVE " + ", ".join(f"#{n}" for n, _ in enumerate(names)),
        "ExpressionAttributeNames": {f"#{n}": name for n, name in enumerate(names)},
    }
    engine.call("UpdateItem", request)
