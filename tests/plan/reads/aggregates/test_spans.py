"""An aggregate reads the span of its members, not the whole partition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tablewright import (
    Aggregate,
    Attr,
    Entity,
    Table,
    attr,
    children,
    connect,
    create,
    explain,
    key,
    root,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import DeclarationError
from tablewright.observe import Usage
from tests.plan.reads.store import Item


class Github(Table, name="github"): ...


class Repo(Entity, table=Github):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    primary = key("REPO" / owner / name, "REPO" / owner.again / name.again)


class Issue(Entity, table=Github):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=5)
    primary = key("REPO" / owner / name, "ISSUE" / number)


class Star(Entity, table=Github):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    user: Attr[str] = attr()
    primary = key("REPO" / owner / name, "STAR" / user)


class Branch(Entity, table=Github):
    owner: Attr[str] = attr()
    name: Attr[str] = attr()
    branch: Attr[str] = attr()
    primary = key("REPO" / owner / name, "BRANCH" / branch)


class RepoWithIssues(Aggregate):
    repo: Repo = root()
    issues: list[Issue] = children()


class RepoWithStars(Aggregate):
    repo: Repo = root()
    stars: list[Star] = children()


class RepoWithBranches(Aggregate):
    repo: Repo = root()
    branches: list[Branch] = children()


@pytest.fixture
def usage() -> Usage:
    return Usage()


@pytest.fixture
def db(usage: Usage) -> Iterator[Database]:
    with Engine(":memory:") as engine:
        quiet = connect(engine, Github)
        quiet.run(create(Repo(owner="a", name="tw")))
        for number in range(1, 6):
            quiet.run(create(Issue(owner="a", name="tw", number=number)))
            quiet.run(create(Branch(owner="a", name="tw", branch=f"b{number}")))
        for number in range(200):
            quiet.run(create(Star(owner="a", name="tw", user=f"u{number:03d}")))
        yield connect(engine, Github, observe=usage)


def test_the_root_and_its_newest_children_are_one_request(db: Database, usage: Usage) -> None:
    plan = RepoWithIssues.of(Repo.primary("a", "tw")).desc().limit(2)
    found = db.run(plan)
    assert found is not None
    assert [issue.number for issue in found.issues] == [5, 4]
    total = usage.by_pattern["Load"]
    assert (total.requests, total.units) == (1, 0.5)
    assert explain(plan).read_units == 0.5


@pytest.mark.parametrize(
    ("aggregate", "condition"),
    [
        (RepoWithIssues, 'SK BETWEEN "ISSUE#" AND "REPO#a#tw"'),
        (RepoWithStars, 'SK>="REPO#a#tw"'),
        (RepoWithBranches, 'SK<="REPO#a#tw"'),
    ],
)
def test_the_key_condition_keeps_other_entities_out(
    aggregate: type[Aggregate], condition: str
) -> None:
    plan = aggregate.of(Repo.primary("a", "tw"))
    assert condition in explain(plan).condition


def test_all_members_are_read_without_a_limit(db: Database) -> None:
    found = db.run(RepoWithStars.of(Repo.primary("a", "tw")))
    assert found is not None
    assert len(found.stars) == 200
    issues = db.run(RepoWithIssues.of(Repo.primary("a", "tw")))
    assert issues is not None
    assert len(issues.issues) == 5


def test_a_limit_with_other_entities_inside_the_span_is_an_error() -> None:
    plan = RepoWithBranches.of(Repo.primary("a", "tw")).desc().limit(2)
    with pytest.raises(DeclarationError, match=r"limit\(2\) cannot be kept: rows of Issue"):
        explain(plan)


def test_a_limit_needs_the_root_first() -> None:
    with pytest.raises(DeclarationError, match=r"needs the root first.*read it with desc\(\)"):
        explain(RepoWithIssues.of(Repo.primary("a", "tw")).limit(2))


class Siblings(Aggregate):
    item: Item = root()
    others: list[Item] = children()


def test_the_root_is_not_among_the_members_of_its_own_entity() -> None:
    with pytest.raises(DeclarationError, match="Item is its root and a member"):
        Siblings.of(Item.primary.within("c"))
