"""`tablewright patterns`: the list, and running one with arguments as texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.terminal import run_at_terminal
from tests.commands import mistake, run

TREE = """\
CustomerOrder  customer_id=C1  order_id=O100  created_at=2026-01-15T10:15:30Z
status=CREATED  total=19.9  version=1
└── items (3)
    ├── OrderLineItem  item_id=I1  sku=SKU-1  quantity=1  price=19.9
    │   item_status=PENDING
    ├── OrderLineItem  item_id=I2  sku=SKU-2  quantity=2  price=19.9
    │   item_status=PENDING
    └── OrderLineItem  item_id=I3  sku=SKU-3  quantity=3  price=19.9
        item_status=PENDING
"""


def patterns(*arguments: str | Path) -> list[str]:
    """What is printed for a pattern of the commerce design, without the ends of lines."""
    done = run("patterns", "commerce", *arguments)
    assert done.returncode == 0, done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    run("seed", "commerce", tmp_path / "commerce.db")
    return tmp_path / "commerce.db"


def status_of(file: Path) -> str:
    key = ("PK=CUST#C1", "SK=ORDER#O10")
    done = run("get", file, "commerce_single_table", *key, "--json")
    return str(json.loads(done.stdout)["status"]["S"])


def test_the_list_of_patterns_says_how_to_run_one() -> None:
    hint = "Run one with `tablewright patterns commerce PATTERN NAME=VALUE...`\n"
    assert run("patterns", "commerce").stderr == hint
    assert not run("patterns", "commerce", "--json").stderr


def test_the_patterns_are_listed_with_types_and_index() -> None:
    lines = patterns()
    assert lines[:2] == [
        "customer_profile(customer_id: str)",
        "    GetItem",
    ]
    assert "customer_timeline_page(customer_id: str, limit: int, cursor: str | None)" in lines
    assert "    Query on gsi_customer_orders" in lines
    assert max(map(len, lines)) <= 80


def test_the_list_as_json_is_one_pattern_on_each_line() -> None:
    lines = [json.loads(line) for line in patterns("--json")]
    assert len(lines) == 19
    assert lines[0]["signature"] == "customer_profile(customer_id: str)"
    assert lines[0]["operation"] == "GetItem"


def test_an_entity_is_a_list_of_its_attributes() -> None:
    assert patterns("customer_profile", "customer_id=C1") == [
        "CustomerProfile",
        "customer_id  C1",
        "name         Ann Arbor",
        "email        ann@example.com",
    ]


def test_an_aggregate_is_a_tree() -> None:
    shown = patterns("order_with_items", "customer_id=C1", "order_id=O100")
    assert shown == TREE.splitlines()


def test_a_query_is_a_table_and_continues_at_its_cursor(file: Path) -> None:
    command = ("patterns", "commerce", file, "customer_timeline", "customer_id=C1", "limit=4")
    first = run(*command)
    assert [line.split()[1] for line in first.stdout.splitlines()] == [
        *("order_id", "O104", "O103", "O102", "O101")
    ]
    counted, more = first.stderr.splitlines()
    assert counted == "4 items, 0.5 units"
    assert more.startswith("There are more. Read all with --all, or continue with --cursor ")
    rest = run(*command, "--cursor", more.split()[-1])
    assert [line.split()[1] for line in rest.stdout.splitlines()] == ["order_id", "O100", "O10"]
    assert rest.stderr == "2 items, 0.5 units\n"


def test_all_reads_every_page() -> None:
    lines = patterns("customer_timeline", "customer_id=C1", "limit=1", "--all", "--json")
    assert [json.loads(line)["order_id"] for line in lines] == [
        *("O104", "O103", "O102", "O101", "O100", "O10")
    ]


def test_what_is_not_found_has_exit_code_1() -> None:
    done = run("patterns", "commerce", "customer_profile", "customer_id=C9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tablewright: customer_profile found nothing\n"


def test_entities_and_lists_are_json(tmp_path: Path) -> None:
    run("create-tables", "commerce", tmp_path / "a.db")
    order = '{"customer_id": "C1", "order_id": "O1", "created_at": "2026-01-01T00:00:00Z"}'
    line = {"customer_id": "C1", "order_id": "O1", "sku": "S", "quantity": 1, "price": "1.10"}
    items = json.dumps([line | {"item_id": name} for name in ("I1", "I2")])
    done = run(
        *("patterns", "commerce", tmp_path / "a.db", "create_order_with_items"),
        *(f"order={order}", f"items={items}", "--yes"),
    )
    assert done.returncode == 0, done.stderr
    found = patterns(tmp_path / "a.db", "order_items", "customer_id=C1", "order_id=O1", "--json")
    assert [json.loads(line)["price"] for line in found] == ["1.1", "1.1"]


CHANGE = ("update_order_status", "customer_id=C1", "order_id=O10", "status=PAID")


def test_a_write_is_not_run_without_a_terminal_unless_yes_is_given(file: Path) -> None:
    line = mistake("patterns", "commerce", file, *CHANGE)
    assert line.startswith(f"tablewright: update_order_status writes to {file}; add --yes")
    assert status_of(file) == "CREATED"
    assert "status       PAID" in patterns(file, *CHANGE, "--yes")
    assert status_of(file) == "PAID"


@pytest.mark.slow  # a process that imports a design
def test_a_write_shows_its_requests_and_asks(file: Path) -> None:
    done = run_at_terminal("patterns", "commerce", file, *CHANGE, typed="n\n")
    assert done.returncode == 1
    assert "2. TransactWriteItems CustomerOrder on commerce_single_table" in done.plain
    assert 'key       PK="CUST#C1" AND SK="ORDER#O10"' in done.plain
    assert max(map(len, done.plain.replace(str(file), "").splitlines())) <= 80
    assert status_of(file) == "CREATED"


def test_a_write_on_the_sample_data_does_not_ask() -> None:
    done = run("patterns", "commerce", *CHANGE)
    assert done.returncode == 0
    assert done.stderr.startswith("in memory, on the sample data of the design; nothing is kept\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["customer_timelin"], "did you mean 'customer_timeline'?"),
        (
            ["customer_timeline", "customer_id=C1"],
            "needs limit=…: customer_timeline(customer_id: str, limit: int)",
        ),
        (["customer_timeline", "customer=C1"], "did you mean 'customer_id'?"),
        (
            ["customer_timeline", "customer_id=C1", "limit=x"],
            "limit=x: Input should be a valid int",
        ),
        (["customer_profile", "C1"], "'C1': write NAME=VALUE, as in customer_profile("),
        (["customer_profile", "customer_id=1", "customer_id=2"], "customer_id has two values"),
        (["customer_profile", "customer_id=C1", "--all"], "--all: customer_profile is not a query"),
        (["customer_profile", "customer_id=C1", "--cursor", "x"], "customer_profile has no pages"),
        (["order_items", "customer_id=C1", "order_id=O1", "--cursor", "x"], "cursor"),
        (
            ["put_customer", 'customer={"customer_id": "C5"}'],
            "name: Field required; email: Field required",
        ),
        (["put_customer", "customer={"], "Invalid JSON"),
        (["put_customer", "customer=C5"], "customer=C5: Input should be "),
        (["absent.db", "customer_profile", "customer_id=C1"], "absent.db: no such file"),
        (["absent.db"], "name the pattern to run at absent.db: tablewright patterns commerce"),
        (
            ["customer_profile", "absent.db", "customer_id=C1"],
            "the target comes before the pattern: tablewright patterns commerce absent.db",
        ),
        (
            ["customer_profile", "customer_id=C1", "absent.db"],
            "the target comes before the pattern: tablewright patterns commerce absent.db",
        ),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], told: str) -> None:
    assert told in mistake("patterns", "commerce", *arguments)


def test_a_name_of_several_patterns_is_ambiguous() -> None:
    done = run("patterns", "menu", "whole_menu")
    assert done.returncode == 2
    assert "menu has several patterns 'whole_menu'; choose one: " in done.stderr
    assert run("patterns", "menu", "composite.whole_menu", "menu=Lunch").returncode == 0


def test_a_target_without_the_table_is_left_as_it_is(tmp_path: Path) -> None:
    run("create-table", tmp_path / "a.db", "things", "id")
    done = run("patterns", "commerce", tmp_path / "a.db", "customer_profile", "customer_id=1")
    assert done.returncode == 2
    assert "the table 'commerce_single_table' does not exist; give its name" in done.stderr
    assert f"`tablewright create-tables commerce {tmp_path / 'a.db'}`" in done.stderr
    assert "things" in run("tables", tmp_path / "a.db").stdout


SELECTED = """
from tablewright import Attr, Entity, Query, Table, access_pattern, attr, key

class Library(Table, name="library"): ...

class Book(Entity, table=Library):
    author: Attr[str] = attr()
    title: Attr[str] = attr()
    year: Attr[int] = attr()
    primary = key("AUTHOR" / author, "BOOK" / title)

@access_pattern
def titles(author: str) -> Query[tuple[str, int]]:
    return Book.primary.within(author).select(Book.title, Book.year)

def sample():
    return [Book(author="Le Guin", title="The Dispossessed", year=1974)]
"""


def test_selected_attributes_have_their_names(tmp_path: Path) -> None:
    (tmp_path / "library_design.py").write_text(SELECTED)
    done = run("patterns", tmp_path / "library_design.py", "titles", "author=Le Guin")
    assert done.stdout.splitlines() == ["title             year", "The Dispossessed  1974"]
