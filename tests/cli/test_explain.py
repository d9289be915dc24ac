"""`tablewright explain`: a list of patterns, one pattern in full, JSON, and misspelled names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import mistake, run

STATUS = """\
update_order_status(customer_id, order_id, status)
  about  Update order status (state transition)
  in     LOCATION
  1. GetItem CustomerOrder on commerce_single_table
     key    PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"
     page   1
     units  1 read (estimate); at most 100 read
  2. TransactWriteItems CustomerOrder on commerce_single_table
     units  14 write (estimate); at most 6,400 write
     - Update CustomerOrder on commerce_single_table
       index     gsi_status_orders, gsi_customer_status_orders
       key       PK="CUST#{customer_id}" AND SK="ORDER#{order_id}"
       sets      status = {status}
                 version = version + 1
                 GSI2PK="STATUS#{status}",
                 GSI2SK="ORDER#{created_at}#CUST#{customer_id}#{order_id}"
                 GSI3PK="CUST#{customer_id}#STATUS#{status}",
                 GSI3SK="ORDER#{created_at}#{order_id}"
       requires  the item exists
                 version is unchanged since the read
       units     12 write (estimate); at most 5,600 write
     - Put OrderStatusEvent on commerce_single_table
       key       PK="CUST#{customer_id}" AND
                 SK="ORDER_STATUS_EVT#{order_id}#V#{version}"
       requires  the item does not exist
       units     2 write (estimate); at most 800 write
  in all  1 read, 14 write (on average over 1 call in the checks); at most 100
          read, 6,400 write

"""


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_a_pattern_is_explained_in_full() -> None:
    done = run("explain", "commerce", "update_order_status")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    where = next(line for line in lines if line.startswith("  in  "))
    assert where.rpartition(":")[0].endswith("designs/commerce/__init__.py")
    assert done.stdout == STATUS.replace("  in     LOCATION", where)


def test_the_patterns_of_a_design_are_listed_in_80_columns() -> None:
    done = run("explain", "commerce")
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["pattern", "request", "index", "read", "write"]
    assert rows[0].split() == ["customer_profile", "GetItem", "0.5"]
    assert max(map(len, rows)) <= 80


def test_details_explain_every_pattern() -> None:
    done = run("explain", "commerce", "--details")
    assert STATUS.splitlines()[-2] in done.stdout
    assert all(len(line) <= 80 or "__init__.py" in line for line in done.stdout.splitlines())


def test_json_has_every_request() -> None:
    (found,) = json.loads(run("explain", "commerce", "update_order_status", "--json").stdout)
    assert found["label"] == "tablewright.designs.commerce.update_order_status"
    assert found["parameters"] == ["customer_id", "order_id", "status"]
    assert [request["operation"] for request in found["requests"]] == [
        "GetItem",
        "TransactWriteItems",
    ]
    update, event = found["requests"][1]["steps"]
    assert update["sets"][:2] == ["status = {status}", "version = version + 1"]
    assert event["entity"] == "OrderStatusEvent"
    assert found["read_range"] == {"low": 0, "high": 100, "per_item": 0}


def test_a_cost_that_depends_on_a_number_of_items_is_stated_for_each_item() -> None:
    name = "composite.rename_section"
    (found,) = json.loads(run("explain", "menu", name, "--json").stdout)
    assert found["write_range"] == {"low": 1, "high": 3200, "per_item": 1600}
    shown = run("explain", "menu", name).stdout
    assert (
        "at most 204 read and 200 for each item, 3,200 write and 1,600 for each item"
        in " ".join(shown.split())
    )


def test_patterns_of_one_name_are_all_explained() -> None:
    titles = [
        line
        for line in run("explain", "menu", "rename_section").stdout.splitlines()
        if line.startswith("rename_section(")
    ]
    assert len(titles) == 4
    assert run("explain", "menu", "joins.rename_section").stdout.count("rename_section(") == 1


def test_a_misspelled_pattern_has_a_hint() -> None:
    done = run("explain", "commerce", "update_ordr_status")
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "tablewright: commerce has no pattern 'update_ordr_status'; did you mean "
        "'update_order_status'?\n",
    )
    assert "`tablewright explain commerce` lists its 19" in run("explain", "commerce", "x").stderr


def test_a_misspelled_design_has_a_hint() -> None:
    assert "did you mean 'commerce'?" in mistake("explain", "comerce")


def test_an_exception_in_the_module_is_shown_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import tablewright\n\ntablewright.nothing\n")
    done = run("explain", str(tmp_path / "mine.py"))
    assert done.returncode == 2
    assert done.stderr.splitlines()[1:] == [
        f'  File "{tmp_path / "mine.py"}", line 3',
        "    tablewright.nothing",
    ]


LATER = """
from tablewright import Aggregate, Attr, Entity, Load, Table
from tablewright import access_pattern, attr, children, key, root

class Code(Table, name="code"): ...

class Repo(Entity, table=Code):
    name: Attr[str] = attr()
    primary = key("REPO" / name, "REPO")

class Issue(Entity, table=Code):
    name: Attr[str] = attr()
    number: Attr[str] = attr()
    primary = key("REPO" / name, "ISSUE" / number)

class RepoWithIssues(Aggregate):
    repo: Repo = root()
    issues: list[Issue] = children()

@access_pattern
def newest_issues(name: str) -> Load[RepoWithIssues]:
    return RepoWithIssues.of(Repo.primary(name)).desc().limit(5)

class Label(Entity, table=Code):
    name: Attr[str] = attr()
    label: Attr[str] = attr()
    primary = key("REPO" / name, "LABEL" / label)
"""


@pytest.mark.parametrize("command", [["explain"], ["publish", "docs"]])
def test_a_pattern_that_a_later_entity_makes_impossible_is_reported(
    command: list[str], tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(LATER)
    assert "rows of Label (LABEL#{label}) can lie between" in mistake(
        *command, str(tmp_path / "mine.py")
    )


@pytest.mark.parametrize("command", ["explain", "patterns"])
def test_a_design_without_patterns_is_reported(command: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LATER.partition("@access_pattern\n")[0])
    mine = str(tmp_path / "mine.py")
    done = run(command, mine)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        f"{mine} declares no access patterns; decorate a function with @access_pattern\n"
    )
