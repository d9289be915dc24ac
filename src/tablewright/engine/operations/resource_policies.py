"""PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy: policies of tables and streams.

Policies are evaluated where requests are authorized (`engine.access.authorization`). A revision is
the time of the change in milliseconds, as in DynamoDB. Putting the same policy again changes
nothing. DynamoDB refuses further changes for 15 seconds; here there is no such delay.

Checks, in DynamoDB's order: the form of the ARN; the policy; the table and its stream; the expected
revision.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any

from msgspec.structs import replace

from tablewright.engine.step import ReadContext, ReadStep, WriteContext, WriteStep
from tablewright.engine.tables.definition import check_policy_text
from tablewright.engine.tables.describe import reject_other_account
from tablewright.errors import (
    PolicyNotFoundException,
    ValidationException,
    invalid,
    not_found,
)
from tablewright.schema import AttachedPolicy, TableSchema
from tablewright.wire.table_settings import (
    DeleteResourcePolicyInput,
    GetResourcePolicyInput,
    PutResourcePolicyInput,
)

#: As an expected revision: there must be no policy yet.
NO_POLICY = "NO_POLICY"

_ARN = re.compile(
    r"arn:[^:]+:dynamodb:[^:]*:[^:]*:table/(?P<table>[a-zA-Z0-9_.-]{3,255})"
    r"(/(?P<kind>stream|index)/(?P<part>[^/]+))?"
)


def put_resource_policy(request: PutResourcePolicyInput) -> WriteStep:
    name, stream = parse_resource_arn(request.resource_arn)
    text = check_policy_text(request.policy)

    def run(context: WriteContext) -> dict[str, Any]:
        schema = _find_schema(context, name, stream)
        old = find_attached(schema, stream)
        _check_revision(request.expected_revision_id, old, name)
        if old is not None and json.loads(old.text) == json.loads(text):
            return {"RevisionId": old.revision}
        new = AttachedPolicy(text, new_revision(old), stream)
        others = tuple(one for one in schema.policies if one is not old)
        context.catalog.save_schema(context.tx, replace(schema, policies=(*others, new)))
        return {"RevisionId": new.revision}

    return WriteStep(run)


def get_resource_policy(request: GetResourcePolicyInput) -> ReadStep:
    name, stream = parse_resource_arn(request.resource_arn)

    def run(context: ReadContext) -> dict[str, Any]:
        context.catalog.refresh(context.snapshot)
        found = find_attached(_find_schema(context, name, stream), stream)
        if found is None:
            raise PolicyNotFoundException(
                "Resource-based policy not found for the provided ResourceArn: "
                f"{request.resource_arn}"
            )
        return {"Policy": found.text, "RevisionId": found.revision}

    return ReadStep(run)


def delete_resource_policy(request: DeleteResourcePolicyInput) -> WriteStep:
    name, stream = parse_resource_arn(request.resource_arn)

    def run(context: WriteContext) -> dict[str, Any]:
        schema = _find_schema(context, name, stream)
        old = find_attached(schema, stream)
        _check_revision(request.expected_revision_id, old, name)
        if old is None:
            return {}
        kept = tuple(one for one in schema.policies if one is not old)
        context.catalog.save_schema(context.tx, replace(schema, policies=kept))
        return {"RevisionId": old.revision}

    return WriteStep(run)


def parse_resource_arn(arn: str) -> tuple[str, str | None]:
    """Return the table of an ARN and, if it is that of a stream, the label of the stream."""
    reject_other_arn(arn)
    found = _ARN.fullmatch(arn)
    if found is None:
        raise invalid(f"Provided Arn is not a DynamoDB resource arn: {arn}")
    reject_other_account(arn)
    return found["table"], found["part"]


def reject_other_arn(arn: str) -> None:
    """Reject what is not an ARN, and the ARN of an index."""
    if not arn.startswith("arn:"):
        raise invalid(f"ARNs must start with 'arn:': {arn}")
    found = _ARN.fullmatch(arn)
    if found is not None and found["kind"] == "index":
        raise invalid(
            "Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {arn}"
        )


def find_attached(schema: TableSchema, stream: str | None) -> AttachedPolicy | None:
    return next((one for one in schema.policies if one.stream == stream), None)


def new_revision(old: AttachedPolicy | None = None) -> str:
    """Return the time in milliseconds; later than that of `old` if the clock was set back."""
    now = time.time_ns() // 1_000_000
    return str(now if old is None else max(now, int(old.revision) + 1))


def _find_schema(context: ReadContext, name: str, stream: str | None) -> TableSchema:
    schema = context.find_table_for_control_plane(name).schema
    if stream is not None and (schema.stream is None or schema.stream.label != stream):
        raise not_found(f"Stream: {stream}", f"Table: {name}")
    return schema


def _check_revision(expected: str | None, old: AttachedPolicy | None, name: str) -> None:
    if expected is None:
        return
    current = old.revision if old else None
    if expected == NO_POLICY:
        if current is None:
            return
        problem = (
            f"Requested policy update expecting none to be present for table {name}, "
            f"but a policy exists with revision id {current}."
        )
    elif not expected.isdigit():
        # DynamoDB's text is not known for certain.
        raise ValidationException(
            f"The revision id '{expected}' is not a number of digits, and not {NO_POLICY}"
        )
    elif current == expected:
        return
    elif current is None:
        # DynamoDB's text is not known for certain.
        problem = (
            f"Requested update for policy with revision id {expected}, "
            f"but there is no policy associated to target table {name}."
        )
    else:
        problem = (
            f"Requested update for policy with revision id {expected}, but the policy associated "
            f"to target table {name} has revision id {current}."
        )
    raise PolicyNotFoundException(
        f"Resource-based policy not found for the provided ResourceArn: {problem}"
    )
