"""Templates of the designs are valid, and describe the tables that `connect` creates."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import hcl2
import pytest

from tablewright import Attr, Engine, Entity, Provisioned, Table, attr, connect, index, key
from tablewright.designs.catalog import bundled
from tablewright.model.table import GSI
from tablewright.publish.infrastructure import (
    cdk,
    cloudformation,
    create_table_requests,
    declared_tables,
    terraform,
)
from tablewright.table_description import TableDescription, write_keys
from tablewright.templates import create_tables, read_tables
from tablewright.verify import Design
from tests import commands

DESIGNS = bundled()
#: The members of a description with the time at which a stream was enabled.
STREAM = ("LatestStreamArn", "LatestStreamLabel")


class Many(Table, name="many.keys-1"):
    by_region = GSI(("tenant", "region"), ("status", "at"), project=("total",))


class Order(Entity, table=Many):
    order_id: Attr[str] = attr()
    tenant: Attr[str] = attr()
    region: Attr[str] = attr()
    status: Attr[str] = attr()
    at: Attr[int] = attr()
    total: Attr[int] = attr()

    primary = key("ORDER" / order_id, "ORDER")
    by_region = index(Many.by_region, (tenant, region), (status, at))


class Paid(
    Table,
    name="paid",
    billing=Provisioned(read=20, write=5),
    stream="NEW_AND_OLD_IMAGES",
    point_in_time_recovery=7,
    deletion_protection=True,
    tags={"team": "orders", "cost center": "A+B"},
):
    """A table with every setting."""

    by_day = GSI("day", billing=Provisioned(read=7, write=3))
    by_total = GSI("total")


class Bill(Entity, table=Paid):
    bill_id: Attr[str] = attr()
    day: Attr[str] = attr()
    total: Attr[int] = attr()

    primary = key("BILL" / bill_id, "BILL")
    by_day = index(Paid.by_day, day)
    by_total = index(Paid.by_total, total)


SEVERAL = Design(name="many", doc="", tables=(Many,), sample=None, checks=None)
PROVISIONED = Design(name="paid", doc="", tables=(Paid,), sample=None, checks=None)
EVERY = {each.name: each for each in (*DESIGNS, SEVERAL, PROVISIONED)}


def problems(template: dict[str, Any]) -> dict[str, list[str]]:
    """Return what cfn-lint finds in each resource, without its advice."""
    from cfnlint.api import lint_all  # it takes a second to import

    found: dict[str, list[str]] = {}
    for match in lint_all(json.dumps(template)):
        if match.rule.id[0] in "EW":
            found.setdefault("/".join(map(str, match.path[:2])), []).append(str(match))
    return found


@pytest.mark.parametrize("global_table", [False, True], ids=["table", "global table"])
def test_templates_of_all_designs_pass_cfn_lint(global_table: bool) -> None:
    """One template, because cfn-lint is slow; a broken table in it shows that it looks."""
    templates = [cloudformation(each, global_table=global_table) for each in EVERY.values()]
    resources = {name: body for each in templates for name, body in each["Resources"].items()}
    outputs = {name: body for each in templates for name, body in each["Outputs"].items()}
    assert len(resources) == sum(len(each["Resources"]) for each in templates)
    template = {**templates[0], "Resources": resources, "Outputs": outputs}
    if global_table:  # cfn-lint's schema allows two key attributes in an index of a global table
        del resources["ManyKeys1"], outputs["ManyKeys1Name"], outputs["ManyKeys1Arn"]
    broken = deepcopy(resources["Paid"])
    broken["Properties"] |= {"TableName": "broken", "BillingMode": "FREE"}
    template["Resources"] = {**resources, "Broken": broken}
    assert list(problems(template)) == ["Resources/Broken"]


@pytest.mark.parametrize("global_table", [False, True], ids=["table", "global table"])
@pytest.mark.parametrize("design", EVERY.values(), ids=EVERY)
def test_a_template_describes_what_connect_creates(
    design: Design, global_table: bool, tmp_path: Path
) -> None:
    template = cloudformation(design, global_table=global_table)
    assert all(each["DeletionPolicy"] == "Retain" for each in template["Resources"].values())
    file = tmp_path / "template.json"
    file.write_text(json.dumps(template))
    with Engine() as engine, Engine() as created, connect(engine, *design.tables):
        create_tables(created, read_tables(file))
        assert described(created) == described(engine)


@pytest.mark.parametrize("design", EVERY.values(), ids=EVERY)
def test_a_request_creates_what_connect_creates(design: Design) -> None:
    with Engine() as engine, Engine() as created, connect(engine, *design.tables):
        requests = create_table_requests(design)
        for table, request in zip(declared_tables(design), requests, strict=True):
            created.call("CreateTable", request)
            if table.ttl:  # not part of CreateTable
                created.call("UpdateTimeToLive", ttl(table.name, table.ttl))
            if table.recovery_days:
                created.call("UpdateContinuousBackups", recovery(table))
        assert described(created) == described(engine)


def ttl(table: str, attribute: str) -> dict[str, Any]:
    specification = {"AttributeName": attribute, "Enabled": True}
    return {"TableName": table, "TimeToLiveSpecification": specification}


def recovery(table: TableDescription) -> dict[str, Any]:
    days = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": table.recovery_days}
    return {"TableName": table.name, "PointInTimeRecoverySpecification": days}


def described(engine: Engine) -> list[dict[str, Any]]:
    """Return everything that the engine describes of its tables, but for ids and times."""
    found = []
    for name in engine.call("ListTables")["TableNames"]:
        table = engine.call("DescribeTable", {"TableName": name})["Table"]
        for operation in ("DescribeTimeToLive", "DescribeContinuousBackups"):
            table |= engine.call(operation, {"TableName": name})
        table |= engine.call("ListTagsOfResource", {"ResourceArn": table["TableArn"]})
        found.append(without_times(table))
    return found


def without_times(described: Any) -> Any:
    """Return a description without what differs between two tables with one definition."""
    if isinstance(described, list):
        return [without_times(each) for each in described]
    if not isinstance(described, dict):
        return described
    return {
        name: without_times(value)
        for name, value in described.items()
        if not name.endswith("DateTime") and name not in ("TableId", *STREAM)
    }


@pytest.mark.parametrize("design", EVERY.values(), ids=EVERY)
def test_terraform_has_every_table_and_is_formatted(design: Design, tmp_path: Path) -> None:
    text = terraform(design, import_existing=True)
    parsed = hcl2.loads(text)
    tables = [
        table for each in parsed["resource"] for table in each['"aws_dynamodb_table"'].values()
    ]
    assert len(parsed["import"]) == len(tables) == len(design.tables)
    for table, resource in zip(tables, declared_tables(design), strict=True):
        assert unquoted(table["name"]) == resource.name
        assert {
            unquoted(each["name"]): unquoted(each["type"]) for each in table["attribute"]
        } == resource.key_types
        for kind in ("local", "global"):
            found = table.get(f"{kind}_secondary_index", [])
            assert [unquoted(index["name"]) for index in found] == [
                index.name for index in resource.indexes if index.kind == kind
            ]
        indexes = table.get("global_secondary_index", [])
        assert [
            [
                (unquoted(key["attribute_name"]), unquoted(key["key_type"]))
                for key in index["key_schema"]
            ]
            for index in indexes
        ] == [
            [(key["AttributeName"], key["KeyType"]) for key in write_keys(index.keys)]
            for index in resource.global_indexes
        ]
    if shutil.which("terraform"):
        (tmp_path / "tables.tf").write_text(text)
        command = ["terraform", "fmt", "-check", "-diff", str(tmp_path)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")


def unquoted(text: str) -> str:
    return str(json.loads(text))


@pytest.mark.parametrize("design", EVERY.values(), ids=EVERY)
def test_terraform_describes_what_connect_creates(design: Design, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan_of(terraform(design))))
    with Engine() as engine, Engine() as created, connect(engine, *design.tables):
        create_tables(created, read_tables(file))
        assert described(created) == described(engine)


def plan_of(text: str) -> dict[str, Any]:
    """Return the tables of a file as `terraform show -json` has them in a plan."""
    resources = [
        {"type": "aws_dynamodb_table", "address": unquoted(name), "values": plain(values)}
        for each in hcl2.loads(text)["resource"]
        for name, values in each['"aws_dynamodb_table"'].items()
    ]
    return {"planned_values": {"root_module": {"resources": resources}}}


def plain(value: Any) -> Any:
    """Return a value of the parser without its marks: texts have quotes, and so have names."""
    if isinstance(value, dict):
        return {
            unquoted(name) if name.startswith('"') else name: plain(each)
            for name, each in value.items()
            if name != "__is_block__"
        }
    if isinstance(value, list):
        return [plain(each) for each in value]
    return unquoted(value) if isinstance(value, str) else value


@pytest.mark.parametrize("design", EVERY.values(), ids=EVERY)
def test_a_cdk_application_is_valid_python(design: Design) -> None:
    """The slow tests synthesise it."""
    source = cdk(design)
    assert all(len(line) <= 100 for line in source.splitlines())
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    assert sum(ast.unparse(call.func) == "dynamodb.TableV2" for call in calls) == len(design.tables)


@pytest.mark.parametrize("kind", ["cloudformation", "cdk", "terraform", "boto3"])
def test_the_command_writes_a_file(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "tables"
    written = commands.run("publish", kind, "commerce", "-o", file)
    printed = commands.run("publish", kind, "commerce")
    assert (written.returncode, written.stdout) == (0, "")
    assert printed.stdout == file.read_text()
    assert "commerce_single_table" in printed.stdout


def test_the_command_names_a_folder_that_is_missing(tmp_path: Path) -> None:
    done = commands.run("publish", "cdk", "shop", "-o", tmp_path / "missing" / "app.py")
    assert done.returncode == 2
    assert "No such file or directory" in done.stderr


def test_tables_that_are_moved_have_a_stream_and_are_protected() -> None:
    (table,) = commands_json("publish", "cloudformation", "commerce", "--moves").values()
    assert table["Properties"]["StreamSpecification"]
    assert table["Properties"]["DeletionProtectionEnabled"] is True
    assert table["DeletionPolicy"] == "Retain"


@pytest.mark.parametrize("kind", ["cloudformation", "terraform", "cdk"])
def test_the_second_table_of_a_move_has_another_name(kind: str) -> None:
    done = commands.run("publish", kind, "commerce", "--moves", "--new-name", "commerce-2")
    assert done.returncode == 0
    assert "commerce-2" in done.stdout
    assert "commerce_single_table" not in done.stdout


def test_another_name_needs_a_move() -> None:
    assert "add --moves" in commands.mistake(
        "publish", "terraform", "commerce", "--new-name", "commerce-2"
    )


def commands_json(*words: str) -> dict[str, Any]:
    """Return the resources of a template that a command prints."""
    found: dict[str, Any] = json.loads(commands.run(*words).stdout)["Resources"]
    return found
