from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, Refused, table_request


def tags(**named: str) -> list[Json]:
    return [{"Key": key, "Value": value} for key, value in named.items()]


def arn_of(table: str) -> str:
    return f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}"


def listed(db: Database, table: str) -> Json:
    found = db.call("ListTagsOfResource", {"ResourceArn": arn_of(table)})
    assert found.keys() == {"Tags"}
    return {tag["Key"]: tag["Value"] for tag in found["Tags"]}


def test_a_table_has_no_tags_at_first(db: Database, table: str) -> None:
    assert db.call("ListTagsOfResource", {"ResourceArn": arn_of(table)}) == {"Tags": []}


def test_tags_are_added(db: Database, table: str) -> None:
    request = {"ResourceArn": arn_of(table), "Tags": tags(a="1", b="")}
    assert db.call("TagResource", request) == {}
    db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": tags(c="3")})
    assert listed(db, table) == {"a": "1", "b": "", "c": "3"}


def test_a_tag_is_replaced(db: Database, table: str) -> None:
    for value in ("1", "2"):
        db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": tags(a=value)})
    assert listed(db, table) == {"a": "2"}


def test_tags_are_removed(db: Database, table: str) -> None:
    db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": tags(a="1", b="2")})
    request = {"ResourceArn": arn_of(table), "TagKeys": ["a", "nope"]}
    assert db.call("UntagResource", request) == {}
    assert listed(db, table) == {"b": "2"}


def test_fifty_tags_are_allowed(db: Database, table: str) -> None:
    many = tags(**{f"k{number}": "v" for number in range(50)})
    db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": many})
    assert len(listed(db, table)) == 50


def test_more_tags_are_refused(db: Database, table: str) -> None:
    many = tags(**{f"k{number}": "v" for number in range(50)})
    db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": many})
    with pytest.raises(Refused, match="ValidationException"):
        db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": tags(one_more="v")})
    assert len(listed(db, table)) == 50


@pytest.mark.parametrize("text", ["été 1", "\u65e5\u672c", "_.:/=+-@", "a b"])
def test_letters_digits_spaces_and_a_few_others_are_allowed(
    db: Database, table: str, text: str
) -> None:
    pairs = [{"Key": text, "Value": text}]
    db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": pairs})
    assert listed(db, table) == {text: text}


@pytest.mark.parametrize("text", ["a!", "<b>", "a\tb", "a\x00", "\u2603", "a,b", "#1"])
@pytest.mark.parametrize("member", ["Key", "Value"])
def test_other_characters_are_refused(db: Database, table: str, member: str, text: str) -> None:
    tag = {"Key": "k", "Value": "v"} | {member: text}
    with pytest.raises(Refused, match="contains invalid characters"):
        db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": [tag]})
    with pytest.raises(Refused, match="contains invalid characters"):
        db.call("CreateTable", table_request(db.new_name(), Tags=[tag]))
    assert listed(db, table) == {}


def test_the_prefix_of_aws_is_reserved(db: Database, table: str) -> None:
    pairs = [{"Key": "aws:name", "Value": "v"}]
    with pytest.raises(Refused, match="reserved for AWS"):
        db.call("TagResource", {"ResourceArn": arn_of(table), "Tags": pairs})


OPERATIONS: dict[str, Json] = {
    "TagResource": {"Tags": tags(a="1")},
    "UntagResource": {"TagKeys": ["a"]},
    "ListTagsOfResource": {},
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "arn", ["arn:aws:dynamodb:us-east-1:123456789012:nope/x", "arn:aws:s3:::bucket"]
)
def test_an_arn_must_be_a_table_s(db: Database, operation: str, arn: str) -> None:
    db.refuses(
        operation,
        {"ResourceArn": arn} | OPERATIONS[operation],
        f"Invalid TableArn: Invalid ResourceArn provided as input {arn}",
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_other_resources_have_no_tags(db: Database, operation: str) -> None:
    invalid = "One or more parameter values were invalid: "
    more = OPERATIONS[operation]
    db.refuses(operation, {"ResourceArn": "x"} | more, f"{invalid}ARNs must start with 'arn:': x")
    index = "arn:aws:dynamodb:us-east-1:123456789012:table/shop/index/by_day"
    db.refuses(
        operation,
        {"ResourceArn": index} | more,
        f"{invalid}Invalid resource arn provided, only table or stream is accepted. "
        f"Provided resource arn: {index}",
    )


@pytest.mark.parametrize(
    ("operation", "more", "message"),
    [
        ("TagResource", {"Tags": []}, "Atleast one Tag needs to be provided as Input."),
        ("UntagResource", {"TagKeys": []}, "Atleast one Tag Key needs to be provided as Input."),
        (
            "TagResource",
            {},
            "1 validation error detected: Value null at 'tags' failed to satisfy constraint: "
            "Member must not be null",
        ),
        (
            "TagResource",
            {"Tags": [{"Key": "", "Value": "x"}]},
            "1 validation error detected: Value '' at 'tags.1.member.key' failed to satisfy "
            "constraint: Member must have length greater than or equal to 1",
        ),
        (
            "TagResource",
            {"Tags": [{"Key": "k", "Value": "x" * 257}]},
            f"1 validation error detected: Value '{'x' * 257}' at 'tags.1.member.value' failed to "
            "satisfy constraint: Member must have length less than or equal to 256",
        ),
    ],
    ids=["no tags", "no keys", "missing", "empty key", "long value"],
)
def test_wrong_tags(db: Database, table: str, operation: str, more: Json, message: str) -> None:
    db.refuses(operation, {"ResourceArn": arn_of(table)} | more, message)


def test_more_than_fifty_tags_at_once_are_refused(db: Database, table: str) -> None:
    many = tags(**{f"k{number}": "v" for number in range(51)})
    db.refuses(
        "TagResource",
        {"ResourceArn": arn_of(table), "Tags": many},
        "One or more parameter values were invalid: Too many Tags: 51, a resource has at most 50",
    )
    assert listed(db, table) == {}
