"""A hostile body costs work in proportion to its size, and gets a short answer.

Work is counted as calls (of Python and of C functions), which is the same in every run; the time
that 16 MB take is measured by `python -m tests.hostile`.
"""

from __future__ import annotations

from contextlib import suppress
from cProfile import Profile
from typing import Any

import pytest
from hypothesis import settings

from tablewright.engine import Engine
from tablewright.errors import MAX_ECHO_LENGTH, DynamoDBError
from tablewright.wire.constraints import EchoedWhole
from tablewright.wire.operations import OPERATIONS
from tablewright.wire.values import decode
from tests.examples import FULL
from tests.hostile.__main__ import TABLE, new_engine
from tests.hostile.bodies import bodies

#: Large enough that work for each pair of values exceeds the bound; more with all examples.
SIZE = (8 if settings().max_examples >= FULL else 4) * 1024
#: Checking and storing a value of 9 bytes takes some 20 calls; compiling a legacy condition more.
MAX_CALLS_PER_BYTE = 8
#: What a request costs whatever is in it, echoes of values and expressions of 4 KB included.
MAX_CALLS = 50_000
#: A fault lists ten errors, each with the value that is wrong and its path.
MAX_ANSWER = 10 * (2 * MAX_ECHO_LENGTH + 500)
#: That of a transaction with too many items, which DynamoDB lists.
MAX_WHOLE = EchoedWhole().max_length + 1000


def calls(engine: Engine, operation: str, request: Any) -> tuple[int, DynamoDBError | None]:
    """Return the number of calls, of Python and of C functions, and the fault."""
    with suppress(DynamoDBError):  # the first request of an operation imports and compiles
        engine.prepare(operation, {})
    fault = None
    profile = Profile()
    profile.enable()
    try:
        engine.run(engine.prepare(operation, request))
    except DynamoDBError as raised:
        fault = raised
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats()), fault


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_hostile_body_costs_little_and_gets_a_short_answer(operation: str) -> None:
    engine = new_engine()
    for body in bodies(SIZE, only=operation):
        try:
            request = decode(body.body)
        except (ValueError, RecursionError):
            continue
        count, fault = calls(engine, operation, request)
        assert count <= MAX_CALLS + MAX_CALLS_PER_BYTE * len(body.body), body.name
        assert fault is None or len(fault.message) <= MAX_ANSWER, body.name
        if operation == "DeleteTable":
            with suppress(DynamoDBError):
                engine.call("CreateTable", TABLE)


def refused(operation: str, request: Any) -> tuple[int, str]:
    count, fault = calls(Engine(":memory:"), operation, request)
    assert fault is not None
    return count, fault.message


@pytest.mark.parametrize(
    ("operation", "member"),
    [
        ("TransactWriteItems", "TransactItems"),
        ("TransactGetItems", "TransactItems"),
        ("CreateTable", "KeySchema"),
        ("CreateTable", "AttributeDefinitions"),
        ("CreateTable", "Tags"),
    ],
)
def test_entries_beyond_a_limit_cost_nothing(operation: str, member: str) -> None:
    base = {"TableName": "table", "AttributeDefinitions": [], "KeySchema": []}
    few, _ = refused(operation, {**base, member: [{}] * 65_000})
    many, message = refused(operation, {**base, member: [{}] * 130_000})
    assert many <= few + 100
    assert len(message) < (MAX_ANSWER if operation == "CreateTable" else MAX_WHOLE)


def test_a_value_that_a_message_repeats_is_cut() -> None:
    _, message = refused("TransactWriteItems", {"TransactItems": [{}] * 100_000})
    shown, _, problem = message.partition("...' at 'transactItems'")
    assert shown.startswith("1 validation error detected: Value '[TransactWriteItem(), Transact")
    assert len(shown) < MAX_WHOLE
    assert problem.endswith("Member must have length less than or equal to 100")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1." + "5" * 1_000_000, "Attempting to store more than 38 significant digits in a Number"),
        ("9" * 1_000_000, "Number overflow. Attempting to store a number with magnitude larger"),
        ("0." + "0" * 1_000_000 + "1", "Number underflow. Attempting to store a number"),
        ("1e" + "9" * 1_000_000, "The parameter cannot be converted to a numeric value: 1e9"),
        ("1e-" + "9" * 1_000_000, "The parameter cannot be converted to a numeric value: 1e-9"),
        ("9" * 1_000_000 + "x", "The parameter cannot be converted to a numeric value: 9999"),
    ],
)
def test_a_long_number_is_refused_by_its_length(text: str, message: str) -> None:
    request = {"TableName": "table", "Item": {"pk": {"N": text}}}
    count, told = refused("PutItem", request)
    assert told.removeprefix("1 validation error detected: ").startswith(message)
    assert len(told) < 2 * MAX_ECHO_LENGTH
    assert count < 1000


@pytest.mark.parametrize(
    "content", [{"L": [{"S": ""}]}, {"SS": ["a"]}, {"NS": ["1"]}, {"BS": [""]}]
)
def test_a_list_with_more_entries_than_an_item_has_bytes_is_refused_unread(content: Any) -> None:
    ((tag, members),) = content.items()
    request = {"TableName": "table", "Item": {"pk": {tag: members * 409_601}}}
    count, told = refused("PutItem", request)
    assert told == "Item size has exceeded the maximum allowed size"
    assert count < 1000


def test_a_map_with_more_entries_than_an_item_has_bytes_is_refused_unread() -> None:
    values = {str(number): {"S": ""} for number in range(409_601)}
    for item in (values, {"pk": {"M": values}}):
        count, told = refused("PutItem", {"TableName": "table", "Item": item})
        assert told == "Item size has exceeded the maximum allowed size"
        assert count < 1000


def test_unused_names_are_listed_up_to_a_bound() -> None:
    names = {f"#n{number}": "a" for number in range(20_000)}
    request = {"TableName": "table", "Key": {}, "ProjectionExpression": "#n0"}
    _, told = refused("GetItem", {**request, "ExpressionAttributeNames": names})
    assert told.startswith("Value provided in ExpressionAttributeNames unused in expressions: keys")
    assert len(told) < MAX_ECHO_LENGTH + 200


def test_an_update_that_multiplies_a_list_is_refused_without_a_walk_through_it() -> None:
    engine = new_engine()
    key = {"pk": {"S": "a"}}
    values = {"L": [{"S": ""}] * 100_000}
    engine.call("PutItem", {"TableName": "table", "Item": {**key, "l": values}})
    doubled = ", ".join(f"x{number} = list_append(l, l)" for number in range(5))
    request = {"TableName": "table", "Key": key, "UpdateExpression": f"SET {doubled}"}
    count, fault = calls(engine, "UpdateItem", request)
    assert fault is not None
    assert fault.message == "Item size to update has exceeded the maximum allowed size"
    assert count < 10_000


def test_a_duplicate_name_is_found_with_work_in_proportion_to_the_names() -> None:
    def work(size: int) -> int:
        names = [*(f"n{number}" for number in range(size)), "n0"]
        request = {"TableName": "table", "Key": {"pk": {"S": "a"}}, "AttributesToGet": names}
        count, message = refused("GetItem", request)
        assert message.endswith("Duplicate value in attribute name: n0")
        return count

    assert work(20_000) <= 3 * work(10_000)


def test_members_are_deleted_from_a_set_with_work_in_proportion_to_both_sets() -> None:
    key = {"pk": {"S": "a"}}

    def work(size: int) -> int:
        engine = new_engine()
        members = [f"{number:05}" for number in range(size)]
        engine.call("PutItem", {"TableName": "table", "Item": {**key, "s": {"SS": members}}})
        request = {
            "TableName": "table",
            "Key": key,
            "UpdateExpression": "DELETE s :v",
            "ExpressionAttributeValues": {":v": {"SS": [f"x{member}" for member in members]}},
        }
        count, fault = calls(engine, "UpdateItem", request)
        assert fault is None
        return count

    assert work(20_000) <= 3 * work(10_000)
