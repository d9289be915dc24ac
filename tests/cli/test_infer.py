"""`tablewright infer` writes a module, and `check-items` accepts it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tablewright.engine import Engine
from tablewright.server import serving
from tests.commands import mistake, run
from tests.infer import workbench
from tests.test_docs import ROOT


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database file with the table of a sample."""
    monkeypatch.chdir(tmp_path)
    with Engine(tmp_path / "shop.db") as engine:
        workbench.load(engine, "online-shop-14")
    return tmp_path / "shop.db"


@pytest.mark.usefixtures("file")
def test_a_module_is_written_and_verified() -> None:
    result = run("infer", "shop.db", "--table", "OnlineShop", "-o", "design.py")
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        "design.py: Customer, Invoice, Order, OrderItem, Product, Shipment, ShipmentItem, "
        "Warehouse, WarehouseItem, from 19 items",
        "19 of 19 items are read and written back byte for byte",
        "Next: tablewright check-items design.py shop.db compares all items with it.",
    ]
    verified = run("check-items", "design.py", "shop.db")
    assert verified.returncode == 0
    assert "OnlineShop: all 19 items have the keys that their values give" in verified.stdout
    assert run("infer", "shop.db").stdout == Path("design.py").read_text()


@pytest.mark.usefixtures("file")
def test_patterns_and_their_checks_are_drafted() -> None:
    result = run("infer", "shop.db", "-o", "design.py", "--patterns")
    assert result.returncode == 0
    assert result.stdout.endswith(
        "Then: tablewright verify design.py; tablewright advise design.py\n"
    )
    verified = run("verify", "design.py")
    assert verified.returncode == 0
    assert "checks passed; no pattern scans a table" in verified.stdout
    assert run("advise", "design.py").returncode == 0


@pytest.mark.usefixtures("file")
def test_the_evidence_is_printed_beside_the_module() -> None:
    result = run("infer", "shop.db", "--evidence")
    assert "Warehouse: 2 items, by EntityType: warehouse" in result.stderr
    assert "  primary: PK=w#{warehouse_id}, SK=w#{warehouse_id} gives the keys of 2 items" in (
        result.stderr
    )
    assert result.stdout == run("infer", "shop.db").stdout


@pytest.mark.usefixtures("file")
def test_a_design_is_compared_with_the_items() -> None:
    run("infer", "shop.db", "-o", "design.py")
    agreed = run("infer", "shop.db", "--compare", "design.py")
    assert (agreed.returncode, agreed.stdout) == (0, "design.py and 19 items of OnlineShop agree\n")
    source = (
        Path("design.py").read_text().replace('"w" / warehouse_id, "w"', '"v" / warehouse_id, "w"')
    )
    Path("other.py").write_text(source)
    differing = run("infer", "shop.db", "--compare", "other.py")
    assert differing.returncode == 1
    first = "Warehouse: PK is v#{1}, where the items give w#{1} (2 items)"
    assert differing.stdout.splitlines()[0] == first


def test_an_endpoint_is_read_as_a_file_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    written = run("infer", file).stdout
    with Engine(file) as engine, serving(engine) as url:
        assert run("infer", url, "--table", "OnlineShop").stdout == written


def test_provisioned_capacity_is_declared(file: Path) -> None:
    units = {"ReadCapacityUnits": 4, "WriteCapacityUnits": 2}
    other = {"ReadCapacityUnits": 9, "WriteCapacityUnits": 2}
    with Engine(file) as engine:
        described = engine.call("DescribeTable", {"TableName": "OnlineShop"})["Table"]
        names = [each["IndexName"] for each in described["GlobalSecondaryIndexes"]]
        updates = [
            {"Update": {"IndexName": name, "ProvisionedThroughput": units if number else other}}
            for number, name in enumerate(names)
        ]
        engine.call(
            "UpdateTable",
            {
                "TableName": "OnlineShop",
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": units,
                "GlobalSecondaryIndexUpdates": updates,
            },
        )
    source = run("infer", file).stdout
    assert source.count("billing=Provisioned(read=4, write=2)") == 1  # indexes have it, too
    assert source.count("billing=Provisioned(read=9, write=2)") == 1
    compile(source, "shop.py", "exec")


def test_the_sample_can_be_smaller(file: Path) -> None:
    assert "inferred from 3 items" in run("infer", file, "--limit", "3").stdout


def test_an_empty_table_says_so(file: Path) -> None:
    with Engine(file) as engine:
        key = {"AttributeName": "id", "AttributeType": "S"}
        schema = {"AttributeName": "id", "KeyType": "HASH"}
        engine.call(
            "CreateTable",
            {
                "TableName": "empty",
                "AttributeDefinitions": [key],
                "KeySchema": [schema],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
    line = mistake("infer", file, "--table", "empty")
    assert "the table 'empty' has no items to infer a design from" in line
    assert "choose one with --table NAME" in run("infer", file).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.db",), "missing.db: no such file"),
        (("shop.db", "--table", "films"), "has no table 'films'; the tables are: OnlineShop"),
        (("shop.db", "-o", "shop.db"), "shop.db exists; choose another file"),
        (
            ("shop.db", "--compare", "design.py", "--patterns"),
            "--compare writes no design; leave --output, --evidence and --patterns out",
        ),
        (("shop.db", "-o", "missing/design.py"), "missing/design.py: No such file"),
    ],
)
@pytest.mark.usefixtures("file")
def test_a_mistake_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run("infer", *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert not Path("missing.db").exists()


def test_the_example_of_the_guide_is_what_the_command_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs/modelling/existing-tables.md").read_text()
    section = text[text.index("## Start from an existing table") :]
    items, module = re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[:2]
    exec(items, {})
    commands = re.findall(r"^\$ tablewright (.*)\n((?:[^`].*\n)*)", section, re.MULTILINE)[:2]
    for command, output in commands:
        assert run(*shlex.split(command)).stdout == output
    assert Path("forum.py").read_text() == module
