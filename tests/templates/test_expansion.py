"""Small files that stand for billions of values, and malformed ones: refused, with the limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tablewright.errors import TemplateRefused
from tablewright.templates import read_tables
from tests.templates.test_cloudformation import ON_DEMAND, read, table

Json = dict[str, Any]
VALUES = "expands to more than 250,000 values"
CHARACTERS = "its functions make texts of more than 16,777,216 characters"


def refusal_of_yaml(tmp_path: Path, text: str) -> str:
    file = tmp_path / "bomb.yaml"
    file.write_text(text)
    with pytest.raises(TemplateRefused) as caught:
        read_tables(file)
    assert str(caught.value).startswith(f"{file}: ")
    return str(caught.value)


def levels(first: str, form: str, count: int = 10) -> str:
    """Ten anchors, each of which names the one before ten times."""
    lines = [first]
    for number in range(1, count):
        aliases = ", ".join([f"*a{number - 1}"] * 10)
        lines.append(form.format(number=number, aliases=aliases))
    return "Resources: {}\nMetadata:\n" + "".join(f"  {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (levels("x0: &a0 [1, 2]", "x{number}: &a{number} [{aliases}]"), VALUES),
        (levels("x0: &a0 {k: 1}", "x{number}: &a{number} {{<<: [{aliases}]}}"), VALUES),
        ("Resources: &a [*a]", "nested more than 100 levels deep"),
        ("Resources: &a {x: *a}", "nested more than 100 levels deep"),
        ("Resources: " + "[" * 500, "YAML|nested"),
        ("Resources: " + "[" * 500 + "]" * 500, "nested"),
        ("# " + "x" * 2_097_152, "the maximum is 2,097,152"),
    ],
    ids=["aliases", "merge keys", "a list in itself", "a map in itself", "open", "deep", "large"],
)
def test_yaml_that_expands_too_far_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    pytest.importorskip("yaml")
    message = refusal_of_yaml(tmp_path, text)
    assert any(each in message for each in expected.split("|"))
    assert len(message) < 1000


def named(name: Any) -> Json:
    return table({**ON_DEMAND, "TableName": name})


def nested(function: Any) -> Json:
    """Ten tables, each named by ten times the name of the one before."""
    return {"T0": named("x" * 10)} | {
        f"T{number}": named(function(f"T{number - 1}")) for number in range(1, 11)
    }


BOMBS: dict[str, tuple[Json, Json]] = {
    "Fn::Sub": (nested(lambda name: {"Fn::Sub": f"${{{name}}}" * 10}), {}),
    "Fn::Sub with a map": (
        nested(lambda name: {"Fn::Sub": ["${v}" * 10, {"v": {"Ref": name}}]}),
        {},
    ),
    "Fn::Sub of an ARN": (nested(lambda name: {"Fn::Sub": f"${{{name}.Arn}}" * 10}), {}),
    "Fn::Join": (nested(lambda name: {"Fn::Join": ["", [{"Ref": name}] * 10]}), {}),
    "Fn::Split": (
        nested(
            lambda name: {"Fn::Join": ["", {"Fn::Split": ["x", {"Fn::Sub": f"${{{name}}}" * 10}]}]}
        ),
        {},
    ),
    "conditions": (
        {"T": named("t") | {"Condition": "C30"}},
        {
            "Conditions": {"C0": {"Fn::Equals": ["a", "b"]}}
            | {
                f"C{number}": {"Fn::Or": [{"Condition": f"C{number - 1}"}] * 4}
                for number in range(1, 31)
            }
        },
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_functions_that_expand_too_far_are_refused(tmp_path: Path, name: str) -> None:
    resources, sections = BOMBS[name]
    with pytest.raises(TemplateRefused) as caught:
        read(tmp_path, resources, **sections)
    message = str(caught.value)
    assert str(tmp_path) in message
    assert VALUES in message or CHARACTERS in message
    assert len(message) < 1000


MALFORMED: dict[str, Json] = {
    "a condition that is a list": {"Resources": {"T": named("t") | {"Condition": ["C"]}}},
    "a condition without arguments": {
        "Resources": {"T": named("t") | {"Condition": "C"}},
        "Conditions": {"C": {"Fn::Not": []}},
    },
    "a long chain of conditions": {
        "Resources": {"T": named("t") | {"Condition": "C2000"}},
        "Conditions": {"C0": {"Fn::Equals": ["a", "a"]}}
        | {f"C{number}": {"Condition": f"C{number - 1}"} for number in range(1, 2001)},
    },
    "names in a circle": {
        "Resources": {"A": named({"Ref": "B"}), "B": named({"Fn::Sub": "${A}"})},
    },
    "a selection from the end": {
        "Resources": {"T": named({"Fn::Select": ["-1", ["a", "b"]]})},
    },
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_references_are_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "shop.template.json"
    file.write_text(json.dumps(MALFORMED[name]))
    with pytest.raises(TemplateRefused, match=r"shop.template.json: "):
        read_tables(file)


@pytest.mark.parametrize("units", ["²", "--5", "9" * 5000])
def test_a_capacity_that_is_not_a_number_is_left_to_dynamodb(tmp_path: Path, units: str) -> None:
    throughput = {"ReadCapacityUnits": units, "WriteCapacityUnits": "5"}
    (found,) = read(tmp_path, {"T": table({**ON_DEMAND, "ProvisionedThroughput": throughput})})
    expected = {"ReadCapacityUnits": units, "WriteCapacityUnits": 5}
    assert found.request["ProvisionedThroughput"] == expected


def test_modules_of_terraform_may_be_nested_deeply(tmp_path: Path) -> None:
    module: Json = {}
    for _ in range(400):
        module = {"child_modules": [module]}
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"planned_values": {"root_module": module}}))
    assert read_tables(file) == []


def test_aliases_and_merge_keys_are_read(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    file = tmp_path / "shop.yaml"
    file.write_text(
        "Common: &common\n"
        "  BillingMode: PAY_PER_REQUEST\n"
        "  KeySchema: [{AttributeName: pk, KeyType: HASH}]\n"
        "  AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]\n"
        "Resources:\n"
        "  A: {Type: AWS::DynamoDB::Table, Properties: {<<: *common, TableName: a}}\n"
        "  B: {Type: AWS::DynamoDB::Table, Properties: *common}\n"
    )
    assert [each.name for each in read_tables(file)] == ["a", "B"]
