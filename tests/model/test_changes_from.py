"""A partial pydantic model, or a dict, gives changes: for PATCH endpoints."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from tablewright import Attr, Entity, Table, attr, connect, create, key, update, version
from tablewright.errors import InvalidValue


class Tracker(Table, name="tracker"): ...


class Address(BaseModel):
    city: str
    street: str | None = None


class Issue(Entity, table=Tracker):
    number: Attr[int] = attr(pad=4)
    title: Attr[str] = attr()
    body: Attr[str | None] = attr(default=None)
    labels: Attr[set[str]] = attr(default_factory=set)
    address: Attr[Address | None] = attr(default=None)
    due: Attr[datetime | None] = attr(default=None)
    version: Attr[int] = version()
    primary = key("ISSUE" / number, "ISSUE")


class IssuePatch(BaseModel):
    title: str = ""
    body: str | None = None
    labels: set[str] = set()
    address: Address | None = None


def patched(patch: Any) -> Issue:
    db = connect(":memory:", Tracker)
    issue = db.run(create(Issue(number=1, title="t", body="b", labels={"x"})))
    return db.run(update(issue, *Issue.changes_from(patch)))


def test_only_fields_that_were_set_become_changes() -> None:
    patch = IssuePatch.model_validate({"title": "new"})
    assert [repr(change) for change in Issue.changes_from(patch)] == ["title.Set('new')"]
    issue = patched(patch)
    assert (issue.title, issue.body, issue.labels) == ("new", "b", {"x"})


def test_none_removes_an_optional_value() -> None:
    assert patched(IssuePatch(body=None)).body is None


def test_documents_and_dicts() -> None:
    assert patched(IssuePatch(address=Address(city="Bern"))).address == Address(city="Bern")
    issue = patched({"labels": {"a", "b"}, "address": {"city": "Chur"}})
    assert (issue.labels, issue.address) == ({"a", "b"}, Address(city="Chur"))


def test_nothing_set_gives_no_changes() -> None:
    assert Issue.changes_from(IssuePatch()) == []


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"titel": "x"}, "Issue has no attribute 'titel'; did you mean 'title'"),
        (Loose(titel="x"), "Issue has no attribute 'titel'; did you mean 'title'"),  # type: ignore[call-arg]
        ({"title": 5}, r"Issue\.title: 5"),
        ({"title": None}, r"Issue\.title: None"),
        ({"due": datetime(2026, 1, 1)}, r"Issue\.due"),
        ({"version": 3}, r"Issue\.version is set by the library"),
        ("title", "takes a pydantic model or a dict"),
    ],
    ids=repr,
)
def test_refusals(patch: Any, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        patched(patch)


def test_moments_keep_their_time_zone() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert patched({"due": at}).due == at
