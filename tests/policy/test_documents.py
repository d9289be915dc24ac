from __future__ import annotations

import json
from typing import Any

import pytest

from tablewright.errors import InvalidValue
from tablewright.policy import AccessRequest, parse_policy

TABLE = "arn:aws:dynamodb:us-east-1:123456789012:table/shop"


def policy(*statements: dict[str, Any], version: str = "2012-10-17") -> dict[str, Any]:
    return {"Version": version, "Statement": list(statements)}


def allow(**elements: Any) -> dict[str, Any]:
    defaults = {} if "NotAction" in elements else {"Action": "*"}
    if "NotResource" not in elements:
        defaults["Resource"] = "*"
    return {"Effect": "Allow", **defaults, **elements}


def outcome(document: Any, action: str = "dynamodb:GetItem", resource: str = TABLE) -> str:
    keys = {"aws:username": ("shop",)}
    return parse_policy(document).evaluate(AccessRequest(action, resource, keys)).outcome


@pytest.mark.parametrize(
    ("elements", "action", "allowed"),
    [
        ({"Action": "dynamodb:GetItem"}, "dynamodb:GetItem", True),
        ({"Action": "DYNAMODB:getitem"}, "dynamodb:GetItem", True),
        ({"Action": ["dynamodb:PutItem", "dynamodb:Get*"]}, "dynamodb:GetItem", True),
        ({"Action": "dynamodb:?etItem"}, "dynamodb:GetItem", True),
        ({"Action": "*"}, "dynamodb:GetItem", True),
        ({"Action": "dynamodb:*Item"}, "dynamodb:BatchGetItem", True),
        ({"Action": "dynamodb:GetItem"}, "dynamodb:BatchGetItem", False),
        ({"Action": "s3:*"}, "dynamodb:GetItem", False),
        ({"NotAction": "dynamodb:Delete*"}, "dynamodb:GetItem", True),
        ({"NotAction": "dynamodb:Delete*"}, "dynamodb:DeleteItem", False),
    ],
)
def test_actions_match_without_case_and_with_wildcards(
    elements: dict[str, Any], action: str, allowed: bool
) -> None:
    assert (outcome(policy(allow(**elements)), action) == "allowed") is allowed


@pytest.mark.parametrize(
    ("elements", "resource", "allowed"),
    [
        ({"Resource": "*"}, TABLE, True),
        ({"Resource": TABLE}, TABLE, True),
        ({"Resource": TABLE}, f"{TABLE}/index/by-status", False),
        ({"Resource": f"{TABLE}/index/*"}, f"{TABLE}/index/by-status", True),
        ({"Resource": f"{TABLE}*"}, f"{TABLE}/index/by-status", True),
        ({"Resource": "arn:aws:dynamodb:*:*:table/shop"}, TABLE, True),
        ({"Resource": "arn:aws:dynamodb:*:*:table/s?op"}, TABLE, True),
        ({"Resource": "arn:aws:dynamodb:*:*:table/SHOP"}, TABLE, False),
        ({"Resource": "arn:aws:dynamodb:us-*:1*:table/*"}, TABLE, True),
        # a wildcard does not reach over a colon, but for the last part
        ({"Resource": "arn:aws:dynamodb:*:table/shop"}, TABLE, False),
        ({"Resource": "arn:*:table/shop"}, TABLE, False),
        # parts that are missing match anything
        ({"Resource": "arn:aws:dynamodb"}, TABLE, True),
        ({"Resource": "arn:aws:dynamodb:eu-*"}, TABLE, False),
        ({"Resource": ["arn:aws:s3:::shop", TABLE]}, TABLE, True),
        ({"NotResource": TABLE}, TABLE, False),
        ({"NotResource": TABLE}, f"{TABLE}-2", True),
        ({"Resource": "arn:aws:dynamodb:*:*:table/${aws:username}"}, TABLE, True),
        ({"Resource": "arn:aws:dynamodb:*:*:table/${aws:userid}"}, TABLE, False),
        ({"Resource": "arn:aws:dynamodb:*:*:table/${aws:userid, 'shop'}"}, TABLE, True),
        ({"Resource": "arn:aws:dynamodb:*:*:table/${*}"}, TABLE, False),
    ],
)
def test_resources_match_part_by_part(
    elements: dict[str, Any], resource: str, allowed: bool
) -> None:
    assert (outcome(policy(allow(**elements)), resource=resource) == "allowed") is allowed


def test_a_deny_wins_wherever_it_stands() -> None:
    deny = {"Sid": "NoShop", "Effect": "Deny", "Action": "dynamodb:*", "Resource": TABLE}
    for document in (policy(deny, allow()), policy(allow(), deny)):
        decision = parse_policy(document).evaluate(AccessRequest("dynamodb:GetItem", TABLE, {}))
        assert decision.outcome == "explicit deny"
        assert decision.statement is not None
        assert decision.statement.sid == "NoShop"


def test_what_no_statement_allows_is_denied() -> None:
    assert outcome(policy(allow(Action="dynamodb:PutItem"))) == "implicit deny"


def test_a_policy_is_json_text_or_python_values_with_one_statement_or_several() -> None:
    for document in (
        policy(allow()),
        {"Version": "2012-10-17", "Statement": allow()},
        {"Statement": allow()},
        {"Id": "x", "Version": "2008-10-17", "Statement": [allow(Sid="a"), allow(Sid="b")]},
    ):
        assert outcome(document) == outcome(json.dumps(document)) == "allowed"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "the policy is not JSON: "),
        ("[" * 100_000, "the policy is not JSON: "),
        ("[]", "the policy: must be an object, not []"),
        ({}, "the policy has no Statement"),
        ({"Statement": []}, "Statement: must be one or more statements, not []"),
        ({"Statement": "x"}, "Statement: must be one or more statements, not 'x'"),
        ({"Statement": ["x"]}, "Statement[0]: must be an object, not 'x'"),
        (
            {"statement": []},
            "the policy: unknown element 'statement'; did you mean 'Statement'?",
        ),
        (
            {"Version": "2012-10-18", "Statement": allow()},
            "Version: unknown version '2012-10-18'; use '2012-10-17'",
        ),
        (
            policy(allow(Efect="Allow")),
            "Statement[0]: unknown element 'Efect'; did you mean 'Effect'?",
        ),
        (
            policy(allow(Principal="*")),
            "Statement[0]: Principal belongs to resource-based policies; remove it from a policy "
            "of a user",
        ),
        (
            policy(allow(Effect="allow")),
            "Statement[0].Effect: must be 'Allow' or 'Deny', not 'allow'",
        ),
        (policy(allow(Sid="a b")), "Statement[0].Sid: 'a b' must contain only letters and digits"),
        (policy(allow(Sid="a"), allow(Sid="a")), "two statements have the Sid 'a'"),
        (
            policy({"Effect": "Allow", "Resource": "*"}),
            "Statement[0]: must have either Action or NotAction, but has neither",
        ),
        (
            policy(allow(Action="*", NotAction="*")),
            "Statement[0]: must have either Action or NotAction, but has both",
        ),
        (
            policy({"Effect": "Allow", "Action": "*"}),
            "Statement[0]: must have either Resource or NotResource, but has neither",
        ),
        (policy(allow(Action=[])), "Statement[0].Action: the list is empty"),
        (policy(allow(Action=7)), "Statement[0].Action: must be a string, not 7"),
        (
            policy(allow(Action="GetItem")),
            "Statement[0].Action: 'GetItem' is not an action such as 'dynamodb:GetItem', nor '*'",
        ),
        (policy(allow(Resource="shop")), "Statement[0].Resource: 'shop' is not an ARN such as"),
        (
            policy(allow(Resource="arn:aws:dynamodb:${aws:x}:1:table/t")),
            "has a policy variable before the resource",
        ),
        (
            policy(allow(Resource=f"{TABLE}-${{aws:username}}"), version="2008-10-17"),
            'has a policy variable, which requires "Version": "2012-10-17"',
        ),
        (
            {"Statement": allow(Resource=f"{TABLE}-${{aws:username}}")},
            'has a policy variable, which requires "Version": "2012-10-17"',
        ),
        (
            policy(allow(Resource=f"{TABLE}-${{aws:username")),
            "has an incomplete policy variable",
        ),
        (policy(allow(Resource=f"{TABLE}-${{}}")), "has an incomplete policy variable"),
        (
            policy(allow(Resource=f"{TABLE}-${{username}}")),
            "Statement[0].Resource: 'username' is not a condition key such as 'aws:username'",
        ),
        (policy(allow(Condition=[])), "Statement[0].Condition: must be an object of operators"),
        (
            policy(allow(Condition={"Null": "x"})),
            "Statement[0].Condition.Null: must be an object of condition keys, not 'x'",
        ),
        (
            policy(allow(Condition={"StringEqual": {"aws:username": "a"}})),
            "Statement[0].Condition.StringEqual.aws:username: unknown operator 'StringEqual'; "
            "did you mean 'StringEquals'?",
        ),
        (
            policy(allow(Condition={"ForEachValue:StringEquals": {"aws:username": "a"}})),
            "unknown operator 'ForEachValue:StringEquals'; did you mean",
        ),
        (
            policy(allow(Condition={"NullIfExists": {"aws:username": "true"}})),
            "unknown operator 'NullIfExists'",
        ),
        (
            policy(allow(Condition={"Null": {"aws:username": "maybe"}})),
            "Null must be true or false, not 'maybe'",
        ),
        (
            policy(allow(Condition={"StringEquals": {"username": "a"}})),
            "'username' is not a condition key such as 'aws:username'",
        ),
        (
            policy(allow(Condition={"ForAllValues:StringEquals": {"dynamodb:LeadingKey": "a"}})),
            "DynamoDB has no condition key 'dynamodb:LeadingKey'; did you mean "
            "'dynamodb:LeadingKeys'?",
        ),
        (
            policy(allow(Condition={"StringEquals": {"aws:username": []}})),
            "Statement[0].Condition.StringEquals.aws:username: the list is empty",
        ),
        (
            policy(allow(Condition={"StringEquals": {"aws:username": None}})),
            "Statement[0].Condition.StringEquals.aws:username: must be a string, not None",
        ),
        (
            policy(allow(Condition={"StringEquals": {"aws:username": "\u0142"}})),
            "has a character that IAM does not allow in a policy",
        ),
        (
            policy(allow(Condition={"NumericEquals": {"aws:x": "ten"}})),
            "Statement[0].Condition.NumericEquals.aws:x: 'ten' is not a number",
        ),
        (
            policy(allow(Condition={"NumericEquals": {"aws:x": "${aws:y}"}})),
            "policy variables are allowed only in String, Arn and Bool operators",
        ),
        (
            policy(allow(Condition={"DateLessThan": {"aws:CurrentTime": "tomorrow"}})),
            "'tomorrow' is not a date such as 2026-01-15T10:00:00Z, nor seconds since 1970",
        ),
        (policy(allow(Condition={"BinaryEquals": {"aws:x": "%"}})), "'%' is not base64"),
        (
            policy(allow(Condition={"IpAddress": {"aws:SourceIp": "1.2.3"}})),
            "'1.2.3' is not an IP address or a range such as 203.0.113.0/24",
        ),
    ],
)
def test_a_mistake_is_an_error_that_says_where_it_is(document: Any, message: str) -> None:
    with pytest.raises(InvalidValue) as error:
        parse_policy(document)
    assert message in str(error.value)


def test_a_name_twice_in_one_object_is_an_error() -> None:
    text = '{"Statement": {"Effect": "Allow", "Effect": "Deny", "Action": "*", "Resource": "*"}}'
    with pytest.raises(InvalidValue, match=r"^the policy has the name 'Effect' twice"):
        parse_policy(text)
