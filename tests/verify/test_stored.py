"""`check-items` compares a design with the items of an existing table."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tablewright import GSI, Attr, Entity, Table, attr, connect, create, index, key, unique
from tablewright.engine import Engine
from tablewright.formats import iso
from tablewright.values import Item
from tablewright.verify import compare_stored
from tests.commands import mistake, run
from tests.plan.writes.counted import Hub


class Library(Table, name="library"):
    by_author = GSI("GSI1PK", "GSI1SK", name="by_author")


class Book(Entity, table=Library):
    isbn: Attr[str] = attr()
    author: Attr[str | None] = attr(default=None)
    shelf: Attr[int | None] = attr(default=None)

    primary = key("BOOK" / isbn, "BOOK")
    written = index(Library.by_author, "AUTHOR" / author, "BOOK" / isbn)
    on_shelf = unique("SHELF" / shelf)


def item(**attributes: Any) -> Item:
    stored = {"PK": "BOOK#1", "SK": "BOOK", "type": "Book", "isbn": "1"} | attributes
    return {name: {"S": value} for name, value in stored.items() if value is not None}


def problems(*items: Item) -> list[str]:
    return [str(each) for each in compare_stored(Library.__table__, items).differences]


def test_items_of_the_design_have_no_differences() -> None:
    report = compare_stored(
        Library.__table__,
        [item(), item(author="Ann", GSI1PK="AUTHOR#Ann", GSI1SK="BOOK#1"), item(type=None)],
    )
    assert report
    assert report.entities == {"Book": 3}


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        (item(PK="BOOK#2"), "Book: PK is 'BOOK#2', but its values give 'BOOK#1'"),
        (item(author="Ann"), "Book: GSI1PK is absent, but its values give 'AUTHOR#Ann'; GSI1SK"),
        (item(GSI1PK="x"), "Book: GSI1PK is 'x', but its values give absent"),
        (item(type="Film"), "Book: it has its key, but type is 'Film', which is not 'Book'"),
        (item(type="Film", SK="FILM"), "PK='BOOK#1', SK='FILM': no entity has the type 'Film'"),
        (item(type=None, SK="FILM"), "PK='BOOK#1', SK='FILM': no entity has a key like this"),
        (item() | {"isbn": {"N": "1"}}, "isbn"),
    ],
)
def test_a_difference_names_the_item_and_both_keys(stored: Item, problem: str) -> None:
    (found,) = problems(stored)
    assert problem in found


def test_each_unique_value_needs_a_sentinel_that_names_its_item() -> None:
    shelf = {"shelf": {"N": "7"}}
    one, two = item() | shelf, item(PK="BOOK#2", isbn="2") | shelf
    sentinel = item(PK="SHELF#7", SK="SHELF#7", type=None, note="x") | shelf
    free = item(PK="SHELF#8", SK="SHELF#8", type=None) | {"shelf": {"N": "8"}}
    assert problems(one, sentinel) == problems(sentinel, one) == []
    missing = "its value of Book.on_shelf is not reserved: the sentinel PK='SHELF#7', SK='SHELF#7'"
    for scanned in permutations((one, two, sentinel)):
        (found,) = problems(*scanned)
        assert found.startswith(f"PK='BOOK#2', SK='BOOK': Book: {missing} is missing, or names")
    assert problems(one, free) == [
        f"PK='BOOK#1', SK='BOOK': Book: {missing} is missing, or names another item",
        "PK='SHELF#8', SK='SHELF#8': no item has the value of Book.on_shelf that this sentinel "
        "reserves",
    ]


class Bank(Table, name="bank"):
    pass


class Account(Entity, table=Bank, variants=True):
    number: Attr[str] = attr()
    email: Attr[str] = attr()
    primary = key("ACCOUNT" / number, "ACCOUNT")
    by_email = unique("EMAIL" / email)


class Person(Account):
    nick: Attr[str] = attr()
    by_nick = unique("NICK" / nick)


class Company(Account):
    owner: Attr[str] = attr()


def test_sentinels_of_a_base_of_variants_are_recognized() -> None:
    with Engine() as engine, connect(engine, Bank) as database:
        database.run(create(Person(number="1", email="a@x", nick="a")))
        database.run(create(Company(number="2", email="b@x", owner="o")))
        items = engine.call("Scan", {"TableName": "bank"})["Items"]
    table = Bank.__table__
    assert not any(table.identify(each).is_unknown for each in items)
    untyped = [{name: each[name] for name in each if name != "type"} for each in items]
    uniques = [unique for each in untyped if (unique := table.identify(each).unique)]
    assert [unique.type_name for unique in uniques].count("Account.by_email") == 2
    report = compare_stored(table, items)
    assert report
    assert (report.entities["Person"], report.entities["Company"], report.sentinels) == (1, 1, 3)


def test_only_the_first_differences_are_kept_and_all_are_counted() -> None:
    report = compare_stored(Library.__table__, [item(SK="x")] * 50, shown=3)
    assert (len(report.differences), report.different, report.items) == (3, 50, 50)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database file with a table of two books and their sentinels, and a design beside it."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "library.db"
    with connect(str(file), Library) as database:
        database.run(create(Book(isbn="1", shelf=1)))
        database.run(create(Book(isbn="2", author="Ann", shelf=2)))
    source = Path(__file__).read_text()
    design = source[source.index("class Library") : source.index("def item")]
    imports = "from tablewright import *\nfrom tablewright import GSI\n"
    (tmp_path / "design.py").write_text(imports + design)
    return file


def test_the_command_recognizes_every_item(library: Path) -> None:
    result = run("check-items", "design.py", str(library))
    assert result.stdout == (
        "library: all 4 items have the keys that their values give (2 Book, 2 of unique values)\n"
    )
    assert result.returncode == 0


def test_the_command_lists_differences_and_exits_with_1(library: Path) -> None:
    with Engine(library) as engine:
        engine.call("PutItem", {"TableName": "library", "Item": item(PK="FILM#1", type=None)})
    arguments = ("check-items", "design.py", str(library))
    result = run(*arguments)
    assert result.returncode == 1
    assert result.stdout.splitlines() == [
        "PK='FILM#1', SK='BOOK': no entity has a key like this",
        "library: 1 of 5 items differ from the design (2 Book, 2 of unique values)",
    ]
    (report,) = json.loads(run(*arguments, "--json").stdout)
    assert report["different"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("library.db",), "missing argument 'TARGET'"),
        (("design.py", "missing.db"), "missing.db: no such file"),
        (("design.py", "library.db", "--table", "films"), "has no table 'films'"),
    ],
)
def test_a_mistake_is_one_line(library: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run("check-items", *arguments)
    assert result.returncode == 2
    assert message in result.stderr


def test_a_table_with_another_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    run("create-table", file, "things", "id")
    run("put", file, "things", '{"id": "1"}')
    line = mistake("check-items", "commerce", file, "--table", "things")
    assert line.startswith("tablewright: things has the key id, and commerce_single_table")


def test_times_in_several_spellings_are_named() -> None:
    class Calls(Table, name="calls"): ...

    class Call(Entity, table=Calls):
        number: Attr[str] = attr()
        at: Attr[datetime] = attr(codec=iso("seconds"))
        primary = key("CALL" / number, "CALL")

    def call(number: str, at: str) -> Item:
        values = {"PK": f"CALL#{number}", "SK": "CALL", "type": "Call", "number": number, "at": at}
        return {name: {"S": value} for name, value in values.items()}

    seconds, micros = "2026-01-15T10:15:30Z", "2026-01-15T10:15:30.000000Z"
    uniform = compare_stored(Calls.__table__, [call("1", micros), call("2", micros)])
    assert uniform
    mixed = compare_stored(
        Calls.__table__, [call("1", seconds), call("2", micros), call("3", micros)]
    )
    assert mixed.different == 2
    (found,) = map(str, mixed.differences)
    assert f"at is {micros!r}, but other items spell it like {seconds!r}" in found
    assert "do not sort as their times do" in found


def test_counters_are_compared_with_what_they_count() -> None:
    def stored(pk: str, sk: str, kind: str, **values: Any) -> Any:
        return {"PK": {"S": pk}, "SK": {"S": sk}, "type": {"S": kind}} | values

    repo, star = {"repo": {"S": "r"}, "board": {"S": "top"}}, {"repo": {"S": "r"}}
    found = compare_stored(
        Hub.__table__,
        [
            stored("REPO#s", "STAR#u", "Star", repo={"S": "s"}, user={"S": "u"}),
            stored("REPO#r", "STAR#u", "Star", **star, user={"S": "u"}),
            stored("REPO#r", "STAR#v", "Star", **star, user={"S": "v"}, is_loud={"BOOL": True}),
            stored("REPO#r", "REPO", "Repo", **repo, stars={"N": "2"}, loud={"N": "0"}),
        ],
    )
    assert [str(each) for each in found.differences] == [
        "PK='REPO#r', SK='REPO': Repo: loud is 0, but 1 is counted; correct it: "
        "tablewright reconcile",
        "PK='REPO#r', SK='REPO': Repo: weight is 0, but 2 is counted; correct it: "
        "tablewright reconcile",
        "PK='REPO#s', SK='STAR#u': Star: Repo.stars counts it, but the item that has this counter "
        "does not exist",
    ]
