"""tablewright reconcile: counters that are not what they count."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright import connect, create
from tablewright.designs.catalog import load
from tests import commands

DESIGN = """
from tablewright import Attr, Entity, Table, attr, key
from tablewright.rules import count_of

class Hub(Table, name="hub"): ...

class Repo(Entity, table=Hub):
    repo: Attr[str] = attr()
    {counter}
    primary = key("REPO" / repo, "REPO")

class Star(Entity, table=Hub):
    repo: Attr[str] = attr()
    user: Attr[str] = attr()
    primary = key("REPO" / repo, "STAR" / user)
"""


def run(*arguments: str, code: int = 0) -> str:
    done = commands.run("reconcile", *arguments)
    assert done.returncode == code, done.stderr
    return done.stdout if code != 2 else done.stderr


@pytest.fixture(autouse=True)
def design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with two stars, from before they were counted."""
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text(DESIGN.format(counter=""))
    Path("hub.py").write_text(DESIGN.format(counter='stars: Attr[int] = count_of("Star")'))
    (table,) = load("old.py").tables
    repo, star = (entity.type for entity in table.__table__.entities)
    with connect("hub.db", table) as db:
        db.run(create(repo(repo="r")))
        for user in "uv":
            db.run(create(star(repo="r", user=user)))


def test_check_lists_what_differs_and_reconcile_corrects_it() -> None:
    listed = run("hub.py", "hub.db", "--check", code=1)
    assert '│ Repo.stars │ PK="REPO#r", SK="REPO" │ 0      │ 2       │' in listed
    assert listed.endswith("hub: the counters of 1 item would be corrected\n")
    assert run("hub.py", "hub.db").endswith("hub: the counters of 1 item were corrected\n")
    assert run("hub.py", "hub.db", "--check") == "hub: the counters of 0 items would be corrected\n"


def test_a_design_without_counters_is_a_mistake() -> None:
    done = commands.run("reconcile", "old.py", "hub.db")
    assert done.returncode == 2
    assert "old has no counters: declare one with count_of() or sum_of()" in done.stderr
