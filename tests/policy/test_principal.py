from __future__ import annotations

import json
from typing import Any

import pytest

from tablewright.errors import AccessDeniedException, InvalidValue
from tablewright.policy import AccessRequest, Principal, as_principal

TABLE = "arn:aws:dynamodb:us-east-1:123456789012:table/shop"
GET = AccessRequest("dynamodb:GetItem", TABLE, {})


def statement(effect: str = "Allow", **elements: Any) -> dict[str, Any]:
    document = {"Effect": effect, "Action": "dynamodb:GetItem", "Resource": "*", **elements}
    return {"Version": "2012-10-17", "Statement": document}


def test_a_refusal_without_an_allow_has_the_words_of_iam() -> None:
    with pytest.raises(AccessDeniedException) as denied:
        Principal("ann").require(GET)
    text = (
        "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: dynamodb:GetItem "
        f"on resource: {TABLE} because no identity-based policy allows the dynamodb:GetItem action"
    )
    assert denied.value.body() == {
        "__type": "com.amazon.coral.service#AccessDeniedException",
        "Message": text,
    }
    assert denied.value.status == 400


def test_a_refusal_by_a_deny_has_the_words_of_iam() -> None:
    with pytest.raises(AccessDeniedException) as denied:
        Principal("ann", [statement(), statement("Deny")]).require(GET)
    assert denied.value.message == (
        "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: dynamodb:GetItem "
        f"on resource: {TABLE} with an explicit deny in an identity-based policy"
    )


def test_several_policies_allow_together_and_each_may_deny() -> None:
    put = statement(Action="dynamodb:PutItem")
    ann = Principal("ann", [statement(), put])
    assert ann.decide(GET).is_allowed
    assert ann.decide(AccessRequest("dynamodb:PutItem", TABLE, {})).is_allowed
    assert not Principal("ann", [statement(), statement("Deny")]).decide(GET).is_allowed


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("aws:username", "ann"),
        ("aws:userid", "AIDAX"),
        ("aws:PrincipalArn", "arn:aws:iam::123456789012:user/ann"),
        ("aws:PrincipalAccount", "123456789012"),
        ("aws:PrincipalType", "User"),
        ("aws:PrincipalTag/Tenant", "a*"),
        ("aws:SourceIp", "127.0.0.1"),
    ],
)
def test_what_is_known_of_a_user_is_a_condition_key_and_a_variable(key: str, value: str) -> None:
    def decide(condition: dict[str, Any], **keys: tuple[str, ...]) -> bool:
        ann = Principal(
            "ann",
            statement(Condition=condition),
            user_id="AIDAX",
            tags={"tenant": "a*"},
            context={"aws:SourceIp": "127.0.0.1"},
        )
        return ann.decide(AccessRequest("dynamodb:GetItem", TABLE, keys)).is_allowed

    assert decide({"StringEquals": {key: value}})
    assert not decide({"StringEquals": {key: "other"}})
    like = {"StringLike": {"dynamodb:LeadingKeys": f"${{{key}}}"}}
    assert decide(like, **{"dynamodb:leadingkeys": (value,)})
    assert not decide(like, **{"dynamodb:leadingkeys": ("ab",)})


def test_an_arn_of_a_principal_is_checked() -> None:
    assert Principal("ann", arn="arn:aws:sts::7:assumed-role/r/ann").arn.endswith("/ann")
    with pytest.raises(InvalidValue, match="'ann' is not the ARN of a user"):
        Principal("ann", arn="ann")


def test_the_time_of_the_request_is_a_condition_key() -> None:
    for key in ("aws:CurrentTime", "aws:EpochTime"):
        past = statement(Condition={"DateLessThan": {key: "2020-01-01T00:00:00Z"}})
        future = statement(Condition={"DateLessThan": {key: "2999-01-01T00:00:00Z"}})
        assert not Principal("ann", past).decide(GET).is_allowed
        assert Principal("ann", future).decide(GET).is_allowed


def test_a_resource_with_a_variable_is_decided_for_each_request() -> None:
    document = statement(Resource="arn:aws:dynamodb:*:*:table/${aws:ResourceTag/home}")
    ann = Principal("ann", document)
    for home, allowed in (("shop", True), ("other", False), ("shop", True)):
        access = AccessRequest("dynamodb:GetItem", TABLE, {"aws:resourcetag/home": (home,)})
        assert ann.decide(access).is_allowed is allowed


def test_a_principal_names_the_keys_that_decide_about_an_access() -> None:
    leading = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": "${aws:SourceIp}"}}
    select = {"StringEquals": {"dynamodb:Select": "COUNT"}}
    home = "arn:aws:dynamodb:*:*:table/${aws:ResourceTag/home}"
    ann = Principal(
        "ann",
        [
            statement(Condition=leading),
            statement(Action="dynamodb:Query", Condition=select),
            statement(Action="dynamodb:Scan", Resource=home),
            statement(
                Action="dynamodb:PutItem", Resource="arn:aws:dynamodb:*:*:table/${aws:username}"
            ),
        ],
    )
    assert ann.keys_for("dynamodb:GetItem", TABLE) == {"dynamodb:leadingkeys", "aws:sourceip"}
    assert ann.keys_for("dynamodb:Query", TABLE) == {"dynamodb:select"}
    assert ann.keys_for("dynamodb:Scan", TABLE) == {"aws:resourcetag/home"}
    assert ann.keys_for("dynamodb:PutItem", TABLE) == frozenset()


def test_a_policy_argument_is_anything_that_stands_for_a_principal() -> None:
    document = statement()
    ann = Principal("ann", document)
    assert as_principal(ann) is ann
    for policy in (document, [document], json.dumps(document), [json.dumps(document)]):
        assert as_principal(policy).decide(GET).is_allowed
    with pytest.raises(InvalidValue, match="a policy must be JSON text, a dict"):
        as_principal(7)  # type: ignore[arg-type]
