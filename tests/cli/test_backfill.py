"""tablewright backfill: the keys of indexes that were declared after the items were stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright import Engine, connect, put
from tablewright.designs.catalog import load
from tablewright.errors import DesignMismatch, IndexNotReady
from tablewright.server import serving
from tests import commands

DESIGN = """
from tablewright import GSI, Attr, Entity, Table, attr, index, key, put

class Blog(Table, name="blog"):
    {indexes}

class Post(Entity, table=Blog):
    post_id: Attr[str] = attr()
    author: Attr[str] = attr(default="ann")
    day: Attr[str] = attr(default="monday")
    primary = key("POST" / post_id, "POST")
    {places}
"""
INDEXES = 'gsi1 = GSI("GSI1PK", "GSI1SK"); gsi2 = GSI("GSI2PK", "GSI2SK")'
PLACES = (
    'by_author = index(Blog.gsi1, "AUTHOR" / author, "POST" / post_id)\n'
    '    by_day = index(Blog.gsi2, "DAY" / day, "POST" / post_id)'
)


@pytest.fixture(params=["file", "endpoint"])
def target(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Where five posts are, from before the indexes; the design is in blog.py."""
    monkeypatch.chdir(tmp_path)
    Path("old.py").write_text(DESIGN.format(indexes="pass", places="pass"))
    Path("blog.py").write_text(DESIGN.format(indexes=INDEXES, places=PLACES))
    old = load("old.py")
    (table,) = old.tables
    with connect("blog.db", table) as db:
        for number in range(5):
            post = table.__table__.entities[0].type(post_id=str(number))
            db.run(put(post))
    if request.param == "file":
        yield "blog.db"
        return
    with Engine("blog.db") as engine, serving(engine) as url:
        yield url


def run(*arguments: str, code: int = 0) -> str:
    done = commands.run("backfill", *arguments)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def test_items_get_their_keys(target: str) -> None:
    missing = "blog: not ready yet:\n  gsi1: does not exist\n  gsi2: does not exist\n"
    assert run("blog.py", target, "--dry-run") == (
        f"blog: 5 of 5 items would get new index keys\n{missing}"
    )
    assert run("blog.py", target) == f"blog: 5 of 5 items got new index keys\n{missing}"
    assert run("blog.py", target).startswith("blog: 0 of 6 items")
    (table,) = load("blog.py").tables
    post: Any = table.__table__.entities[0].type
    with connect(target, table, update=True) as db:
        assert len(db.run(post.by_author("ann"))) == 5
        assert len(db.run(post.by_day("monday"))) == 5


def test_one_index_after_the_other(target: str) -> None:
    """As in a runbook: programs connect first, then each index is created and filled."""
    assert run("blog.py", target, "--prepare") == (
        "blog: not ready yet:\n"
        "  gsi1: does not exist\n  gsi2: does not exist\n"
        "  gsi1: may lack items of Post\n  gsi2: may lack items of Post\n"
    )
    (table,) = load("blog.py").tables
    post: Any = table.__table__.entities[0].type
    with connect(target, table) as db:
        db.run(put(post(post_id="new")))
        assert run("blog.py", target, "--index", "gsi1").startswith("blog: 5 of 7 items got")
        connect(target, table, update=True).close()
        assert len(db.run(post.by_author("ann"))) == 6
        with pytest.raises(IndexNotReady):
            db.run(post.by_day("monday"))
        assert run("blog.py", target, "--index", "gsi2").startswith("blog: 5 of 7 items got")
        assert len(db.run(post.by_day("monday"))) == 6
    assert run("blog.py", target, "--prepare") == "blog: every index can be read\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["blog.py", "blog.db", "--index", "gsi3"], "no such index; did you mean 'gsi"),
        (["blog.py", "nothing.db"], "nothing.db: no such file"),
        (["blog.py", "blog.db", "--table", "other"], "the table 'other' does not exist"),
        (["blog.py", "blog.db", "--prepare", "--dry-run"], "--prepare writes no keys"),
        (["shop", "blog.db"], "does not exist"),
    ],
)
@pytest.mark.parametrize("target", ["file"], indirect=True)
def test_what_is_wrong_is_one_line(target: str, arguments: list[str], message: str) -> None:
    assert message in run(*arguments, code=2)


def test_an_item_that_does_not_match_is_reported_with_the_command_that_lists_all(
    target: str,
) -> None:
    broken = '{"PK": "POST#9", "SK": "POST", "type": "Post", "author": 1}'
    assert commands.run("put", target, "blog", broken).returncode == 0
    message = run("blog.py", target, code=2)
    assert message.startswith("tablewright: Post.")
    assert f"`tablewright check-items blog.py {target}` lists all such items" in message
    assert message.count("\n") == 1


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where two posts of blog.py are, in a table with a record."""
    monkeypatch.chdir(tmp_path)
    Path("blog.py").write_text(DESIGN.format(indexes=INDEXES, places=PLACES))
    (table,) = load("blog.py").tables
    with connect("blog.db", table, update=True) as db:
        for number in range(2):
            db.run(put(table.__table__.entities[0].type(post_id=str(number))))
    return "blog.db"


def test_an_index_key_is_changed_in_place(published: str) -> None:
    Path("next.py").write_text(
        DESIGN.format(indexes=INDEXES, places=PLACES.replace('"AUTHOR"', '"WRITER"'))
    )
    (table,) = load("next.py").tables
    with pytest.raises(DesignMismatch):
        connect(published, table, update=True)
    assert "Post, the index gsi1: stored as" in run("next.py", published, "--prepare", code=2)
    assert run("next.py", published) == "blog: 2 of 3 items got new index keys\n"
    with connect(published, table) as db:
        post: Any = table.__table__.entities[0].type
        assert len(db.run(post.by_author("ann"))) == 2


def test_a_primary_key_is_not_changed(published: str) -> None:
    text = DESIGN.format(indexes=INDEXES, places=PLACES)
    Path("next.py").write_text(text.replace('"POST")', '"BLOGPOST")'))
    for option in ("--restart", "--dry-run"):
        assert "Post, the primary key: stored as" in run("next.py", published, option, code=2)


# -- unique values ---------------------------------------------------------------------------------

UNIQUE = 'by_author = unique("AUTHOR" / author)'


@pytest.fixture
def authors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The design of three posts, from before an author could have only one; then in blog.py."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    Path("old.py").write_text(DESIGN.format(indexes="pass", places="pass"))
    design = DESIGN.replace("key, put", "key, put, unique")
    Path("blog.py").write_text(design.format(indexes="pass", places=UNIQUE))
    (table,) = load("old.py").tables
    post = table.__table__.entities[0].type
    with connect("blog.db", table, update=True) as db:
        for number, author in enumerate(("ann", "bob", "ann")):
            db.run(put(post(post_id=str(number), author=author)))
    return table


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_duplicates_are_a_table(authors: Any, options: tuple[str, ...]) -> None:
    done = commands.run("backfill", "blog.py", "blog.db", *options)

    assert done.returncode == 1
    would = "would be" if options else "were"
    first, second, *table = done.stdout.splitlines()
    assert first.startswith("blog: 0 of 4 items")
    assert second == f"blog: 2 unique values {would} reserved"
    (row,) = (line for line in table if "Post.by_author" in line)
    assert "author 'ann'" in row
    assert 'PK="POST#0"' in row
    assert 'PK="POST#2"' in row
    assert done.stderr.startswith("tablewright: delete some of these items, or change their values")


def test_values_are_reserved_when_the_duplicates_are_fixed(authors: Any) -> None:
    run("blog.py", "blog.db", code=1)
    old: Any = authors.__table__.entities[0].type
    with connect("blog.db", authors) as db:
        db.run(old.primary("2").update(old.author.set("eve")))

    assert run("blog.py", "blog.db").startswith("blog: 0 of 6 items got new index keys\n")
    (table,) = load("blog.py").tables
    with connect("blog.db", table) as db:
        post: Any = table.__table__.entities[0].type
        assert db.run(post.by_author("eve")).post_id == "2"


def test_the_tables_after_one_with_duplicates_are_backfilled_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    two = DESIGN.replace("key, put", "key, put, unique") + DESIGN.partition("\n\n")[2].replace(
        "Blog", "Wiki"
    ).replace("blog", "wiki").replace("Post", "Article")
    Path("old.py").write_text(two.format(indexes="pass", places="pass"))
    Path("new.py").write_text(two.format(indexes="pass", places=UNIQUE))
    tables = load("old.py").tables
    with connect("both.db", *tables, update=True) as db:
        for table in tables:
            for number in "12":
                db.run(put(table.__table__.entities[0].type(post_id=number)))

    done = commands.run("backfill", "new.py", "both.db")

    assert done.returncode == 1
    assert "Post.by_author" in done.stdout
    assert "Article.by_author" in done.stdout
    assert done.stderr.count("delete some of these items") == 1
