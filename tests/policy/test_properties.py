"""Promises about any policies: fewer statements allow no more, further denies allow no more."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tablewright.policy import AccessRequest, Principal, parse_policy

ACTIONS = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"]
TABLES = ["shop", "shop-2", "other"]
ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/"
WORDS = st.sampled_from(["a", "b", "a*", "*", "?", "${aws:username}", "${*}", "a#${aws:username}"])
VALUES = st.sampled_from(["a", "b", "ab", "*", "?", "${aws:username}", "a#*", ""])

conditions = st.dictionaries(
    st.sampled_from(
        [
            "StringEquals",
            "StringNotLike",
            "StringLikeIfExists",
            "ForAllValues:StringLike",
            "ForAnyValue:StringNotEquals",
        ]
    ),
    st.dictionaries(
        st.sampled_from(["dynamodb:LeadingKeys", "dynamodb:Attributes"]),
        st.lists(WORDS, min_size=1, max_size=2),
        min_size=1,
    ),
    max_size=2,
)
allows = st.fixed_dictionaries(
    {
        "Effect": st.just("Allow"),
        "Action": st.sampled_from([*ACTIONS, "*", "dynamodb:*Item"]),
        "Resource": st.sampled_from(["*", f"{ARN}shop", f"{ARN}shop*", f"{ARN}${{aws:username}}"]),
        "Condition": conditions,
    }
)
denies = allows.map(lambda statement: {**statement, "Effect": "Deny"})
accesses = st.builds(
    AccessRequest,
    action=st.sampled_from(ACTIONS),
    resource=st.sampled_from([ARN + table for table in TABLES]),
    keys=st.dictionaries(
        st.sampled_from(["dynamodb:leadingkeys", "dynamodb:attributes"]),
        st.lists(VALUES, max_size=3).map(tuple),
    ),
)
users = st.sampled_from(["ann", "*", "shop", "${aws:username}"])


def allowed(statements: list[dict[str, Any]], user: str, access: AccessRequest) -> bool:
    policies = [{"Version": "2012-10-17", "Statement": one} for one in statements]
    return Principal(user, policies).decide(access).is_allowed


@given(st.lists(allows, min_size=1, max_size=4), st.lists(denies, max_size=2), users, accesses)
def test_without_one_of_its_allows_a_principal_may_do_no_more(
    allowing: list[dict[str, Any]], denying: list[dict[str, Any]], user: str, access: AccessRequest
) -> None:
    if not allowed(allowing + denying, user, access):
        for gone in range(len(allowing)):
            rest = allowing[:gone] + allowing[gone + 1 :]
            assert not allowed(rest + denying, user, access)


@given(st.lists(allows | denies, max_size=4), denies, users, accesses)
def test_with_a_further_deny_a_principal_may_do_no_more(
    statements: list[dict[str, Any]], deny: dict[str, Any], user: str, access: AccessRequest
) -> None:
    if not allowed(statements, user, access):
        assert not allowed([*statements, deny], user, access)


@given(st.lists(allows | denies, min_size=1, max_size=4), accesses)
def test_a_principal_decides_as_one_policy_with_all_statements(
    statements: list[dict[str, Any]], access: AccessRequest
) -> None:
    whole = parse_policy({"Version": "2012-10-17", "Statement": statements})
    known = AccessRequest(access.action, access.resource, {**access.keys, "aws:username": ("ann",)})
    expected = whole.evaluate(known).is_allowed
    assert allowed(statements, "ann", access) is expected
    assert allowed(statements[::-1], "ann", access) is expected


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_literal_escaped_for_a_policy_matches_itself_alone(text: str, other: str) -> None:
    latin = text.encode("latin-1", "ignore").decode("latin-1")
    latin = "".join(c for c in latin if c >= " ")
    escaped = "".join(f"${{{c}}}" if c in "*?$" else c for c in latin)
    statement = {
        "Effect": "Allow",
        "Action": "*",
        "Resource": "*",
        "Condition": {"StringLike": {"dynamodb:LeadingKeys": escaped}},
    }
    policy = parse_policy({"Version": "2012-10-17", "Statement": statement})
    for value in (latin, other, latin + "x"):
        access = AccessRequest("dynamodb:GetItem", ARN, {"dynamodb:leadingkeys": (value,)})
        assert policy.evaluate(access).is_allowed is (value == latin)
