from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import TemplateRefused
from tablewright.templates import DeclaredTable, create_tables, read_tables

Json = dict[str, Any]

KEYS: Json = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
}
ON_DEMAND: Json = {**KEYS, "BillingMode": "PAY_PER_REQUEST"}


def read(tmp_path: Path, resources: Json, parameters: Any = None, **sections: Any) -> Any:
    file = tmp_path / "shop.template.json"
    file.write_text(json.dumps({"Resources": resources, **sections}))
    return read_tables(file, parameters)


def table(properties: Json, **attributes: Any) -> Json:
    return {"Type": "AWS::DynamoDB::Table", "Properties": properties, **attributes}


def read_one(tmp_path: Path, properties: Json, **sections: Any) -> DeclaredTable:
    (found,) = read(tmp_path, {"Shop": table(properties)}, **sections)
    assert isinstance(found, DeclaredTable)
    return found


def test_a_table_becomes_a_request(tmp_path: Path) -> None:
    index = {
        "IndexName": "by-date",
        "KeySchema": [{"AttributeName": "date", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ContributorInsightsSpecification": {"Enabled": True},
    }
    properties = {
        **ON_DEMAND,
        "TableName": "shop",
        "GlobalSecondaryIndexes": [index],
        "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
        "SSESpecification": {"SSEEnabled": "true", "KMSMasterKeyId": "alias/mine"},
        "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"},
        "PointInTimeRecoverySpecification": {
            "PointInTimeRecoveryEnabled": "true",
            "RecoveryPeriodInDays": "7",
        },
        "ContributorInsightsSpecification": {"Enabled": True, "Mode": "THROTTLED_KEYS"},
        "KinesisStreamSpecification": {"StreamArn": "arn:aws:kinesis:::stream/changes-of-shop"},
        "ResourcePolicy": {"PolicyDocument": {"Statement": []}},
        "DeletionProtectionEnabled": True,
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "Tags": [{"Key": "team", "Value": 7}],
        "OnDemandThroughput": {"MaxReadRequestUnits": "100"},
    }
    found = read_one(tmp_path, properties)
    del index["ContributorInsightsSpecification"]
    assert found.request == {
        **ON_DEMAND,
        "TableName": "shop",
        "GlobalSecondaryIndexes": [index],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"},
        "ResourcePolicy": '{"Statement": []}',
        "DeletionProtectionEnabled": True,
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "Tags": [{"Key": "team", "Value": "7"}],
        "OnDemandThroughput": {"MaxReadRequestUnits": 100},
    }
    assert found.ttl == "expires"
    assert found.recovery == {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
    assert found.insights == (
        {"ContributorInsightsAction": "ENABLE", "ContributorInsightsMode": "THROTTLED_KEYS"},
        {"IndexName": "by-date", "ContributorInsightsAction": "ENABLE"},
    )
    assert found.kinesis == {"StreamArn": "arn:aws:kinesis:::stream/changes-of-shop"}
    assert found.resource == "Resources.Shop"


def test_a_table_without_a_name_has_its_logical_id(tmp_path: Path) -> None:
    assert read_one(tmp_path, ON_DEMAND).name == "Shop"


def test_billing_is_provisioned_by_default(tmp_path: Path) -> None:
    units = {"ReadCapacityUnits": "5", "WriteCapacityUnits": 6}
    found = read_one(tmp_path, {**KEYS, "ProvisionedThroughput": units})
    assert found.request["BillingMode"] == "PROVISIONED"
    assert found.request["ProvisionedThroughput"] == {
        "ReadCapacityUnits": 5,
        "WriteCapacityUnits": 6,
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"Ref": "Stage"}, "test"),
        ({"Ref": "AWS::StackName"}, "shop"),
        ({"Fn::Sub": "${Stage}-${AWS::Region}-${!Literal}"}, "test-us-east-1-${Literal}"),
        ({"Fn::Sub": ["${Stage}-${Other}", {"Other": {"Ref": "Stage"}}]}, "test-test"),
        ({"Fn::Join": ["-", ["shop", {"Ref": "Stage"}]]}, "shop-test"),
        ({"Fn::Select": ["1", {"Fn::Split": [",", "abc,def"]}]}, "def"),
        ({"Fn::FindInMap": ["Names", {"Ref": "Stage"}, "table"]}, "mapped"),
        ({"Fn::If": ["IsTest", "shop-t", "shop-p"]}, "shop-t"),
        ({"Fn::If": ["IsBoth", "shop-t", {"Ref": "AWS::NoValue"}]}, "Shop"),
    ],
)
def test_functions_are_computed(tmp_path: Path, value: Any, expected: str) -> None:
    found = read_one(
        tmp_path,
        {**ON_DEMAND, "TableName": value},
        Parameters={"Stage": {"Type": "String", "Default": "test"}},
        Mappings={"Names": {"test": {"table": "mapped"}}},
        Conditions={
            "IsTest": {"Fn::Equals": [{"Ref": "Stage"}, "test"]},
            "IsBoth": {
                "Fn::And": [{"Condition": "IsTest"}, {"Fn::Not": [{"Condition": "IsTest"}]}]
            },
        },
    )
    assert found.name == expected


def test_a_parameter_replaces_its_default(tmp_path: Path) -> None:
    (found,) = read(
        tmp_path,
        {"Shop": table({**ON_DEMAND, "TableName": {"Ref": "Name"}})},
        {"Name": "orders"},
        Parameters={"Name": {"Type": "String"}},
    )
    assert found.name == "orders"


def test_a_resource_whose_condition_is_false_is_left_out(tmp_path: Path) -> None:
    resources = {"Shop": table(ON_DEMAND, Condition="Never"), "Other": table(ON_DEMAND)}
    found = read(tmp_path, resources, Conditions={"Never": {"Fn::Equals": ["a", "b"]}})
    assert [one.name for one in found] == ["Other"]


def test_arns_of_other_resources_are_composed(tmp_path: Path) -> None:
    resources = {
        "Key": {"Type": "AWS::KMS::Key"},
        "Shop": table(
            {
                **ON_DEMAND,
                "SSESpecification": {
                    "SSEEnabled": True,
                    "KMSMasterKeyId": {"Fn::GetAtt": ["Key", "Arn"]},
                },
                "ResourcePolicy": {
                    "PolicyDocument": {"Resource": {"Fn::Sub": "${Other.Arn}/index/*"}}
                },
            }
        ),
        "Other": table({**ON_DEMAND, "TableName": "others"}),
    }
    found = read(tmp_path, resources)[0].request
    key = "arn:aws:kms:us-east-1:123456789012:key/Key"
    assert found["SSESpecification"]["KMSMasterKeyId"] == key
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/others/index/*"
    assert json.loads(found["ResourcePolicy"]) == {"Resource": arn}


def test_a_global_table_has_the_settings_of_its_local_replica(tmp_path: Path) -> None:
    properties = {
        **KEYS,
        "BillingMode": "PROVISIONED",
        "WriteProvisionedThroughputSettings": {
            "WriteCapacityAutoScalingSettings": {"MinCapacity": 2, "MaxCapacity": 9}
        },
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "glob",
                "KeySchema": KEYS["KeySchema"],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
                "WriteProvisionedThroughputSettings": {
                    "WriteCapacityAutoScalingSettings": {"MinCapacity": 3}
                },
            }
        ],
        "Replicas": [
            {"Region": "eu-west-1"},
            {
                "Region": "us-east-1",
                "Tags": [{"Key": "a", "Value": "b"}],
                "DeletionProtectionEnabled": True,
                "ReadProvisionedThroughputSettings": {"ReadCapacityUnits": 4},
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "glob",
                        "ReadProvisionedThroughputSettings": {"ReadCapacityUnits": 5},
                        "ContributorInsightsSpecification": {"Enabled": True},
                    }
                ],
            },
        ],
    }
    (found,) = read(
        tmp_path, {"Shop": {"Type": "AWS::DynamoDB::GlobalTable", "Properties": properties}}
    )
    assert found.request["ProvisionedThroughput"] == {
        "ReadCapacityUnits": 4,
        "WriteCapacityUnits": 2,
    }
    (index,) = found.request["GlobalSecondaryIndexes"]
    assert index["ProvisionedThroughput"] == {"ReadCapacityUnits": 5, "WriteCapacityUnits": 3}
    assert found.request["Tags"] == [{"Key": "a", "Value": "b"}]
    assert found.insights == ({"IndexName": "glob", "ContributorInsightsAction": "ENABLE"},)
    assert found.notes == ("replicas in eu-west-1 are ignored",)


def test_a_template_in_yaml_with_short_tags(tmp_path: Path) -> None:
    file = tmp_path / "template.yaml"
    file.write_text(
        """
AWSTemplateFormatVersion: 2010-09-09
Parameters:
  Stage: {Type: String, Default: dev}
Conditions:
  IsDev: !Equals [!Ref Stage, dev]
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "orders-${Stage}"
      BillingMode: !If [IsDev, PAY_PER_REQUEST, PROVISIONED]
      AttributeDefinitions:
        - {AttributeName: pk, AttributeType: S}
      KeySchema:
        - {AttributeName: pk, KeyType: HASH}
      KinesisStreamSpecification:
        StreamArn: !GetAtt Changes.Arn
      ResourcePolicy:
        PolicyDocument: {Version: 2012-10-17, Statement: []}
  Changes:
    Type: AWS::Kinesis::Stream
"""
    )
    (found,) = read_tables(file)
    assert found.name == "orders-dev"
    assert found.request["BillingMode"] == "PAY_PER_REQUEST"
    assert found.kinesis == {"StreamArn": "arn:aws:kinesis:us-east-1:123456789012:stream/Changes"}
    assert json.loads(found.request["ResourcePolicy"])["Version"] == "2012-10-17"


def test_the_output_folder_of_cdk_synth(tmp_path: Path) -> None:
    for stack, name in (("One", "first"), ("Two", "second")):
        resources = {"Table": table({**ON_DEMAND, "TableName": name})}
        file = tmp_path / f"{stack}.template.json"
        file.write_text(json.dumps({"Resources": resources}))
    (tmp_path / "manifest.json").write_text("{}")
    assert [one.name for one in read_tables(tmp_path)] == ["first", "second"]


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"KeySchema": []}, "Properties.AttributeDefinitions: missing; a table needs it"),
        (
            {**KEYS, "TimeToLive": {}},
            "Properties.TimeToLive: AWS::DynamoDB::Table has no property 'TimeToLive'; "
            "did you mean 'TimeToLiveSpecification'?",
        ),
        (
            {**KEYS, "TableName": {"Ref": "Stag"}},
            "Properties.TableName: no parameter and no resource 'Stag'; did you mean 'Stage'?",
        ),
        (
            {**KEYS, "TableName": {"Ref": "Stage"}},
            "Properties.TableName: the parameter 'Stage' has no default; give a value with "
            "--parameter Stage=VALUE",
        ),
        (
            {**KEYS, "TableName": {"Fn::ImportValue": "x"}},
            "Properties.TableName: Fn::ImportValue is not supported; write the value into the "
            "template, or use a parameter",
        ),
        (
            {**KEYS, "TableName": {"Fn::Join": "x"}},
            "Properties.TableName.Fn::Join: wrong arguments: 'x'",
        ),
        (
            {**KEYS, "TableName": {"Fn::GetAtt": "Shop.StreamArn"}},
            "Properties.TableName.Fn::GetAtt: Shop.StreamArn is known only after a deployment; "
            "write a value into the template, or use a parameter",
        ),
        (
            {**KEYS, "TableName": {"Ref": "Shop"}},
            ": a value depends on itself, or on too many others",
        ),
        (
            {**KEYS, "TimeToLiveSpecification": {"Enabled": True}},
            "Properties.TimeToLiveSpecification.AttributeName: missing; TTL needs the name of an "
            "attribute",
        ),
        (
            {**KEYS, "GlobalSecondaryIndexes": "x"},
            "Properties: must be a list of objects, not 'x'",
        ),
        (
            {**KEYS, "StreamSpecification": "x"},
            "Properties.StreamSpecification: must be an object, not 'x'",
        ),
        ({**KEYS, "TableName": []}, "Properties.TableName: must be a string, not []"),
        (5, "Properties: must be an object, not 5"),
    ],
)
def test_a_mistake_names_file_resource_and_property(
    tmp_path: Path, properties: Any, message: str
) -> None:
    with pytest.raises(TemplateRefused) as refused:
        read_one(tmp_path, properties, Parameters={"Stage": {"Type": "String"}})
    shown = str(refused.value)
    assert shown.startswith(f"{tmp_path}/shop.template.json: Resources.Shop")
    assert shown.endswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("a: [", "not valid YAML"),
        ("[]", "must be an object, not list"),
        ("{}", "neither a CloudFormation template"),
        ('{"terraform_version": "1", "resources": []}', "use the output of `terraform show -json`"),
        (
            '{"Resources": {"A": {"Type": "AWS::DynamoDB::Table", "Condition": "x"}}}',
            "no condition",
        ),
    ],
)
def test_a_file_that_is_no_template(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(TemplateRefused, match=message):
        read_tables(file)


@pytest.mark.parametrize(
    ("name", "text", "fix"),
    [
        ("main.tf", 'resource "aws_dynamodb_table" "shop" {}', "terraform show -json"),
        ("design.py", "import tablewright", "tablewright publish cloudformation"),
    ],
)
def test_a_source_file_is_not_a_template(tmp_path: Path, name: str, text: str, fix: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TemplateRefused, match=f"use the output of `{fix}`"):
        read_tables(tmp_path / name)


def test_a_missing_file_and_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(TemplateRefused, match="No such file"):
        read_tables(tmp_path / "missing.json")
    with pytest.raises(TemplateRefused, match=r"has no \*.template.json"):
        read_tables(tmp_path)


def test_two_tables_of_one_name_are_refused(tmp_path: Path) -> None:
    named = table({**ON_DEMAND, "TableName": "shop"})
    with pytest.raises(TemplateRefused, match=r"Resources.A and Resources.B have the name 'shop'"):
        read(tmp_path, {"A": named, "B": named})


def test_an_unknown_parameter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateRefused, match="no parameter 'Stge'; did you mean 'Stage'"):
        read(tmp_path, {}, {"Stge": "x"}, Parameters={"Stage": {}})


def test_an_output_of_cdk_synth() -> None:
    """`samples` has what aws-cdk-lib 2 synthesized for a Table, a provisioned one and a TableV2."""
    orders, provisioned, global_ = read_tables(Path(__file__).parent / "samples")
    assert orders.name == "OrdersA9B65338"
    assert orders.ttl == "expires"
    assert orders.recovery == {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7}
    assert orders.insights == ({"ContributorInsightsAction": "ENABLE"},)
    assert orders.kinesis is not None
    assert orders.request["SSESpecification"]["KMSMasterKeyId"].startswith("arn:aws:kms:")
    principal = json.loads(orders.request["ResourcePolicy"])["Statement"][0]["Principal"]
    assert principal == {"AWS": "arn:aws:iam::123456789012:root"}
    units = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
    assert provisioned.request["ProvisionedThroughput"] == units
    (index,) = global_.request["GlobalSecondaryIndexes"]
    assert [one["KeyType"] for one in index["KeySchema"]] == ["HASH", "HASH"]
    limits = {"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 115}
    assert global_.request["OnDemandThroughput"] == limits
    assert {"Key": "team", "Value": "blue"} in global_.request["Tags"]
    with Engine() as engine:
        tables = [orders, provisioned, global_]
        assert [outcome.is_new for outcome in create_tables(engine, tables)] == [True] * 3
        assert [outcome.differences for outcome in create_tables(engine, tables)] == [()] * 3
