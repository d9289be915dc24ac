"""A published design, on items that were written with plain boto3 and keys made by hand.

It has what is hard to declare: variants at one key, several places in one index, literals that
begin with the delimiter, descending numbers, and values that are only in keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    children,
    connect,
    index,
    key,
    put,
    root,
)
from tablewright.database import Database
from tablewright.formats import descending
from tablewright.infer import infer_design, read_sample, write_module
from tablewright.server import serving
from tablewright.transport.targets import Local
from tablewright.verify import compare_stored
from tests.infer.inferred import import_source, item
from tests.model.declaring.declarations import raw
from tests.server.http import sdk_client


class GitHub(Table, name="github_books", type_attribute="Type", escape=False):
    forks = GSI("GSI1PK", "GSI1SK")
    accounts = GSI("GSI2PK", "GSI2SK")
    issues = GSI("GSI3PK", "GSI3SK")


class Repo(Entity, table=GitHub):
    owner: Attr[str] = attr(name="RepoOwner")
    name: Attr[str] = attr(name="RepoName")
    updated_at: Attr[str] = attr(name="UpdatedAt")
    parent: Attr[str | None] = attr(name="ForkedFrom", default=None)
    primary = key("REPO" / owner / name, "REPO" / owner.again / name.again)
    own = index(GitHub.forks, "REPO" / owner / name, "#REPO" / name.again, when=parent.not_exists())
    forks = index(GitHub.forks, "REPO" / parent / name, "FORK" / owner)
    of_account = index(GitHub.accounts, "ACCOUNT" / owner, "" / updated_at)


class Issue(Entity, table=GitHub):
    owner: Attr[str] = attr(name="RepoOwner")
    name: Attr[str] = attr(name="RepoName")
    number: Attr[int] = attr(name="IssueNumber", pad=7)
    status: Attr[str] = attr(name="Status")
    primary = key("REPO" / owner / name, "ISSUE" / number)
    open = index(
        GitHub.issues,
        "REPO" / owner / name,
        "ISSUE#OPEN" / descending(number),
        when=status == "Open",
    )
    closed = index(
        GitHub.issues, "REPO" / owner / name, "#ISSUE#CLOSED" / number, when=status == "Closed"
    )


class Account(Entity, table=GitHub, variants=True):
    login: Attr[str] = attr(key_only=True)
    plan: Attr[dict[str, str]] = attr(name="PaymentPlan")
    primary = key("ACCOUNT" / login, "ACCOUNT" / login.again)
    of_account = index(GitHub.accounts, "ACCOUNT" / login, "ACCOUNT" / login.again)


class User(Account):
    username: Attr[str] = attr(name="Username")


class Organization(Account):
    org_name: Attr[str] = attr(name="OrgName")


class Reaction(Entity, table=GitHub):
    owner: Attr[str] = attr(key_only=True)
    name: Attr[str] = attr(key_only=True)
    number: Attr[int] = attr(key_only=True)
    username: Attr[str] = attr(key_only=True)
    kinds: Attr[set[str]] = attr(name="ReactionTypes")
    primary = key(
        "REACTION" / owner / name / number / username,
        "REACTION" / owner.again / name.again / number.again / username.again,
    )


class RepoWithIssues(Aggregate):
    repo: Repo = root()
    issues: list[Issue] = children()


def repo(owner: str, name: str, at: str, parent: str | None = None) -> dict[str, Any]:
    own = f"REPO#{owner}#{name}"
    stored = item(PK=own, SK=own, Type="Repo", RepoOwner=owner, RepoName=name, UpdatedAt=at)
    stored |= item(GSI2PK=f"ACCOUNT#{owner}", GSI2SK=f"#{at}")
    if parent is None:
        return stored | item(GSI1PK=own, GSI1SK=f"#REPO#{name}")
    return stored | item(GSI1PK=f"REPO#{parent}#{name}", GSI1SK=f"FORK#{owner}", ForkedFrom=parent)


def issue(number: int, status: str) -> dict[str, Any]:
    place = (
        f"ISSUE#OPEN#{9999999 - number:07}" if status == "Open" else f"#ISSUE#CLOSED#{number:07}"
    )
    return item(
        PK="REPO#aws#sdk",
        SK=f"ISSUE#{number:07}",
        Type="Issue",
        RepoOwner="aws",
        RepoName="sdk",
        IssueNumber=number,
        Status=status,
        GSI3PK="REPO#aws#sdk",
        GSI3SK=place,
    )


def account(login: str, kind: str, name: str) -> dict[str, Any]:
    own = f"ACCOUNT#{login}"
    keys = item(PK=own, SK=own, GSI2PK=own, GSI2SK=own, Type=kind)
    return keys | item(**{name: login}, PaymentPlan={"M": {"PlanType": {"S": "Free"}}})


REACTION = "REACTION#aws#sdk#4#ann"
ITEMS = [
    repo("aws", "sdk", "2020-03-02T10:00:00Z"),
    repo("gnu", "gcc", "2020-03-03T10:00:00Z"),
    repo("ann", "sdk", "2020-03-04T10:00:00Z", parent="aws"),
    repo("bob", "sdk", "2020-03-05T10:00:00Z", parent="aws"),
    issue(4, "Open"),
    issue(15, "Closed"),
    issue(16, "Open"),
    account("ann", "User", "Username"),
    account("bob", "User", "Username"),
    account("aws", "Organization", "OrgName"),
    account("gnu", "Organization", "OrgName"),
    item(PK=REACTION, SK=REACTION, Type="Reaction", ReactionTypes={"SS": ["+1", "heart"]}),
]


@pytest.fixture
def db() -> Iterator[Database]:
    with (
        Engine(":memory:") as engine,
        connect(engine, GitHub) as db,
        serving(engine) as url,
        closing(sdk_client(url)) as client,
    ):
        for each in ITEMS:
            client.put_item(TableName="github_books", Item=each)
        yield db


def by_key(items: list[Any]) -> list[Any]:
    return sorted(items, key=lambda each: (each["PK"]["S"], each["SK"]["S"]))


def test_what_is_read_is_written_back_byte_for_byte(db: Database) -> None:
    scans: list[Any] = [each.scan(reason="test") for each in (Repo, Issue, Account, Reaction)]
    for scan in scans:
        for each in db.iterate(scan):
            db.run(put(each))
    assert by_key(raw(db, GitHub)) == by_key(ITEMS)
    assert compare_stored(GitHub.__table__, ITEMS).differences == []


def test_every_place_is_listed(db: Database) -> None:
    assert [each.owner for each in db.run(Repo.own("aws", "sdk"))] == ["aws"]
    assert [each.owner for each in db.run(Repo.forks("aws", "sdk"))] == ["ann", "bob"]
    assert [each.number for each in db.run(Issue.open("aws", "sdk"))] == [16, 4]
    assert [each.number for each in db.run(Issue.closed("aws", "sdk"))] == [15]
    both = db.run(Repo.of_account("aws").union(Account.of_account("aws")))
    assert [type(each) for each in both] == [Repo, Organization]
    whole = db.run(RepoWithIssues.of(Repo.primary("aws", "sdk")))
    assert whole is not None
    assert [each.number for each in whole.issues] == [4, 15, 16]


def test_an_update_moves_an_item_to_its_other_place(db: Database) -> None:
    db.run(Issue.primary("aws", "sdk", 4).update(Issue.status.set("Closed")))
    db.run(Repo.primary("ann", "sdk").update(Repo.parent.remove()))
    stored = {each["PK"]["S"] + each["SK"]["S"]: each for each in raw(db, GitHub)}
    assert stored["REPO#aws#sdkISSUE#0000004"]["GSI3SK"] == {"S": "#ISSUE#CLOSED#0000004"}
    assert stored["REPO#ann#sdkREPO#ann#sdk"]["GSI1SK"] == {"S": "#REPO#sdk"}
    db.run(Issue.primary("aws", "sdk", 4).update(Issue.status.set("Open")))
    db.run(Repo.primary("ann", "sdk").update(Repo.parent.set("aws")))
    assert by_key(raw(db, GitHub)) == by_key(ITEMS)


def test_the_design_is_inferred(db: Database, tmp_path: Path) -> None:
    engine = db._transport.engine  # type: ignore[attr-defined]
    sample = read_sample(Local(engine), "github_books", ":memory:")
    source = write_module(infer_design(sample))
    assert compare_stored(import_source(source, tmp_path), ITEMS).differences == []
    for line in (
        "class Account(Entity, table=GithubBooks, variants=True):",
        "class Organization(Account):",
        'when=status == "Open",',
        'when=status == "Closed",',
        "when=forked_from.not_exists(),",
        '"ISSUE#OPEN" / descending(padded(issue_number, 7)),',
    ):
        assert line in source, source
