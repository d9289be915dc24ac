"""`tablewright get`, `query` and `scan`, as a user runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.commands import mistake, run
from tests.engine.database import item


def sort_keys(stdout: str) -> list[str]:
    return re.findall(r"O#\d", stdout)


def test_get_prints_the_attributes_below_each_other(target: str) -> None:
    done = run("get", target, "shop", "PK=C#1", "SK=O#1")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "PK      C#1",
        "SK      O#1",
        f"note    {'x' * 60}",
        "status  open",
        "total   10",
    ]


def test_get_as_json_keeps_every_type(target: str) -> None:
    done = run("get", target, "readings", "sensor=1.0", "at=-5", "--json")
    assert json.loads(done.stdout) == item(sensor=1, at=-5, celsius=20)


def test_get_of_a_missing_item_has_exit_code_1(target: str) -> None:
    done = run("get", target, "shop", "PK=C#1", "SK=O#9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tablewright: shop has no item with the key PK=C#1 SK=O#9\n"


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (["SK=O#1"], ["O#1"]),
        (["SK", "=", "O#1"], ["O#1"]),
        (["SK<O#2"], ["O#0", "O#1"]),
        (["SK<=O#2"], ["O#0", "O#1", "O#2"]),
        (["SK>O#2"], ["O#3", "O#4"]),
        (["SK>=O#3"], ["O#3", "O#4"]),
        (["SK", ">=", "O#3"], ["O#3", "O#4"]),
        (["SK", "between", "O#1", "O#2"], ["O#1", "O#2"]),
        (["SK", "begins-with", "O#"], ["O#0", "O#1", "O#2", "O#3", "O#4"]),
        (["SK>O#2", "--desc"], ["O#4", "O#3"]),
        ([], ["O#0", "O#1", "O#2", "O#3", "O#4"]),
    ],
)
def test_a_query_takes_every_operator(file: Path, condition: list[str], found: list[str]) -> None:
    done = run("query", file, "shop", "PK=C#1", *condition)
    assert sort_keys(done.stdout) == found
    assert done.stderr == f"{len(found)} item{'' if len(found) == 1 else 's'}, 0.5 units\n"


def test_numbers_are_compared_as_numbers(target: str) -> None:
    done = run("query", target, "readings", "sensor=1", "at", "between", "--json", "--", "-5", "0")
    assert [json.loads(line)["at"] for line in done.stdout.splitlines()] == [
        {"N": "-5"},
        {"N": "0"},
    ]


def test_an_index_is_queried_by_its_own_key(target: str) -> None:
    done = run("query", target, "shop", "status=open", "total>10", "--index", "by-status")
    assert done.stdout.splitlines()[:2] == [
        "status  total  PK   SK   note                                    ",
        f"open       30  C#1  O#3  {'x' * 39}…",
    ]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["total >= 30"], ["O#3", "O#4"]),
        (["status=open", "total<>10"], ["O#3"]),
        (["total between 10 and 20"], ["O#1", "O#2"]),
        (["status begins-with p"], ["O#0", "O#2", "O#4"]),
        (["note contains yy"], []),
        (["missing exists"], []),
        (["missing not-exists", "status = 'paid'", "total < 10"], ["O#0"]),
    ],
)
def test_a_filter_leaves_items_out(file: Path, filters: list[str], found: list[str]) -> None:
    options = [word for each in filters for word in ("--filter", each)]
    done = run("query", file, "shop", "PK=C#1", *options)
    assert sort_keys(done.stdout) == found
    assert f"{len(found)} items of 5 read" in done.stderr or len(found) == 1


def test_a_scan_stops_at_its_limit_and_says_so(target: str) -> None:
    done = run("scan", target, "shop", "--limit", "2")
    assert sort_keys(done.stdout) == ["O#0", "O#1"]
    counted, *more = done.stderr.splitlines()
    assert counted == "2 items, 0.5 units"
    assert more[0].startswith("There are more: stopped after 2 items, see --limit. Read all with")
    cursor = more[1].split()[-1]
    rest = run("scan", target, "shop", "--cursor", cursor, "--all")
    assert sort_keys(rest.stdout) == ["O#2", "O#3", "O#4"]
    assert rest.stderr == "3 items, 0.5 units\n"


def test_a_filtered_scan_reads_no_more_than_its_limit(file: Path) -> None:
    done = run("scan", file, "shop", "--limit", "3", "--filter", "total = 40")
    assert done.stdout == ""
    assert done.stderr.startswith("0 items of 3 read, 0.5 units\nThere are more: stopped after 3")


def test_json_is_one_item_on_each_line_and_nothing_else(target: str) -> None:
    done = run("scan", target, "shop", "--all", "--json", "--attributes", "SK,total")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        item(SK=f"O#{number}", total=number * 10) for number in range(5)
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["get", "shop", "PK=C#1"], "the key is not complete; add SK=VALUE (a string)"),
        (["get", "shop", "pk=C#1"], "'pk' is not an attribute of the key; did you mean 'PK'?"),
        (["get", "shop", "PK=C#1", "SK>O"], "SK >: the key of one item needs SK=VALUE"),
        (["get", "shop", "PK=C#1", "PK=C#2", "SK=1"], "PK has two values"),
        (["get", "readings", "sensor=one", "at=1"], "sensor must be a number; 'one' is not"),
        (["get", "readings", "sensor=", "at=1"], "sensor must be a number; it is empty"),
        (["get", "shop", "PK=", "SK=a"], "PK must be a string; it is empty"),
        (["query", "shop", "PK=a", "SK", "begins-with", ""], "SK must be a string; it is empty"),
        (["query", "shop", "SK=O#1"], "the key is not complete; add PK=VALUE (a string)"),
        (["query", "shop", "PK=C#1", "SK"], "SK has no value; write SK=VALUE"),
        (["query", "shop", "PK=C#1", "SK", "between", "1"], "SK between needs LOW HIGH"),
        (["query", "shop", "PK=C#1", "SK begins-with O"], "'SK begins-with O': write SK=VALUE"),
        (["query", "shop", "PK=C#1", "SK >= O"], "'SK >= O': write SK=VALUE without spaces"),
        (["query", "shop", "PK=C#1", "SK", "begins_with", "1"], "did you mean 'begins-with'?"),
        (["query", "shop", "PK=C#1", "total=1"], "'total' is not an attribute of the key; the"),
        (["query", "shop", "status=a", "--index", "by_status"], "did you mean 'by-status'?"),
        (["query", "shop", "PK=a", "--cursor", "%"], "this is not a cursor"),
        (["query", "shop", "PK=a", "--filter", "total"], "write NAME OPERATOR VALUE"),
        (["scan", "shop", "--index", "other"], "shop has no index 'other'; the indexes are: by-"),
        (["scan", "shops"], "shops not found; did you mean 'shop'?"),
        (["scan", "films"], "films not found; the tables are: readings, shop"),
        (["scan", "shop", "--design", "nowhere"], "unknown design 'nowhere'"),
        (["scan", "shop", "--design", "menu"], "menu has no table 'shop'; the tables are: menu_"),
        (["scan", "menu_composit", "--design", "menu"], "; did you mean 'menu_composite'?"),
    ],
)
def test_a_mistake_is_one_line(file: Path, arguments: list[str], told: str) -> None:
    command, *others = arguments
    assert told in mistake(command, file, *others)


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    done = run("scan", tmp_path / "absent.db", "shop")
    assert done.returncode == 2
    assert done.stderr == f"tablewright: {tmp_path / 'absent.db'}: no such file\n"
    assert list(tmp_path.iterdir()) == []


# -- as entities


@pytest.fixture(scope="module")
def commerce(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("commerce") / "commerce.db"
    run("seed", "commerce", file)
    strange = '{"PK": "CUST#C2", "SK": "NOTE#1"}'
    broken = '{"PK": "CUST#C2", "SK": "ORDER#O999", "entityType": "CustomerOrder"}'
    for each in (strange, broken):
        run("put", file, "commerce_single_table", each)
    return file


def test_a_design_shows_entities_and_marks_what_it_does_not_know(commerce: Path) -> None:
    table = "commerce_single_table"
    done = run("query", commerce, table, "PK=CUST#C2", "--design", "commerce")
    lines = done.stdout.splitlines()
    titles = [line for line in lines if re.fullmatch(r"\S.* \(\d\)", line)]
    assert titles[0] == "not in the design (1)"
    assert titles[1:2] == ["CustomerOrder (3)"]
    assert titles[-1] == "CustomerProfile (1)"
    start = lines.index("CustomerOrder (3)")
    assert lines[start + 1].split() == [
        *("customer_id", "order_id", "created_at", "status", "total", "version")
    ]
    broken = lines.index("CustomerOrder, as stored (1)")
    assert lines[broken + 1].startswith("CustomerOrder.created_at: the stored item has no ")
    assert all(len(line) <= 80 for line in lines)


def test_entities_as_json_have_decoded_values(commerce: Path) -> None:
    key = ("PK=CUST#C2", "SK=PROFILE#C2")
    done = run("get", commerce, "commerce_single_table", *key, "--design", "commerce", "--json")
    assert json.loads(done.stdout) == {
        "entity": "CustomerProfile",
        "values": {"customer_id": "C2", "name": "Ben Nevis", "email": "ben@example.com"},
    }
    key = ("PK=CUST#C2", "SK=NOTE#1")
    done = run("get", commerce, "commerce_single_table", *key, "--design", "commerce", "--json")
    assert json.loads(done.stdout) == {
        "entity": None,
        "problem": "not in the design",
        "item": item(PK="CUST#C2", SK="NOTE#1"),
    }


def test_one_entity_is_shown_with_its_name(commerce: Path) -> None:
    key = ("PK=CUST#C2", "SK=PROFILE#C2")
    done = run("get", commerce, "commerce_single_table", *key, "--design", "commerce")
    assert done.stdout.splitlines() == [
        "CustomerProfile",
        "customer_id  C2",
        "name         Ben Nevis",
        "email        ben@example.com",
    ]


def test_the_reservation_of_a_unique_value_is_no_unknown_item(tmp_path: Path) -> None:
    file = tmp_path / "recipes.db"
    run("seed", "recipes", file)
    tables = [json.loads(line) for line in run("tables", file, "--json").stdout.splitlines()]
    name = tables[0]["TableName"]
    done = run("scan", file, name, "--all", "--design", "recipes")
    assert "sentinel: reserves " in done.stdout
    assert "not in the design" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["PK=C#1", "SK=>O#1"], "SK=>O#1: unknown operator '=>'; did you mean >=?"),
        (["PK==C#1"], "PK==C#1: unknown operator '=='; did you mean =?"),
        (["PK>C#1"], "PK >: a query reads one partition, so the partition key needs PK=VALUE"),
        (["PK=C#1", "--filter", "total => 20"], "'total => 20': unknown operator '=>'; did you"),
        (["PK=C#1", "--filter", "total != 20"], "unknown operator '!='; did you mean <>?"),
        (["PK=C#1", "--filter", 'status = "open"'], "write a string in single quotes, or without"),
        (["PK=C#1", "--filter", "total > 1 or total < 0"], "a filter has one condition; give"),
        (["PK=C#1", "--filter", "status = a AND note exists"], "a filter has one condition; give"),
    ],
)
def test_an_operator_that_does_not_exist_is_refused(
    file: Path, arguments: list[str], problem: str
) -> None:
    assert problem in mistake("query", file, "shop", *arguments)


def test_a_value_may_begin_with_an_operator(file: Path) -> None:
    assert run("query", file, "shop", "PK=C#1", "SK", "=", ">O").returncode == 0
    assert run("scan", file, "shop", "--filter", "status = '=>'").returncode == 0


def test_a_value_may_contain_the_words_of_conditions(file: Path) -> None:
    for value in ("salt and pepper", "'a or b = c'", "this or that"):
        assert run("scan", file, "shop", "--filter", f"status = {value}").returncode == 0


def test_a_design_with_another_key_is_refused(file: Path) -> None:
    run("create-table", file, "things", "id", "at:N")
    run("put", file, "things", '{"id": "1", "at": 1}')
    line = mistake("query", file, "things", "id=1", "--design", "commerce")
    assert line == (
        "tablewright: things has the key id, at, and commerce_single_table of the "
        "design has PK, SK; choose another design or table\n"
    )


def test_a_count_is_of_all_items_unless_it_has_a_limit(target: str) -> None:
    done = run("scan", target, "shop", "--count")
    assert (done.returncode, done.stdout) == (0, "5\n")
    assert done.stderr.startswith("5 items read, ")
    assert run("scan", target, "shop", "--count", "--filter", "total = 40").stdout == "1\n"
    assert run("query", target, "shop", "PK=C#1", "--count").stdout.strip().isdigit()
    done = run("scan", target, "shop", "--count", "--limit", "2")
    assert done.stdout == "2\n"
    assert "There are more: stopped after 2 items" in done.stderr
