"""Settings of tables: check warm throughput, encryption and resource policies of a request.

CreateTable and UpdateTable share this module. Nothing here changes how a table works: the settings
are stored and described. Members of features that the engine does not have (replicas, vector
indexes) are refused, because ignoring them would promise what is not there.
"""

from __future__ import annotations

from tablewright.errors import InvalidValue, ValidationException, invalid
from tablewright.schema import Throughput, WarmThroughput
from tablewright.wire import requests

#: What DynamoDB prepares a new on-demand table or index for: reads and writes per second.
ON_DEMAND_BASELINE = (12_000, 4_000)
MAX_POLICY_SIZE = 20_480
#: DynamoDB has no such text: there, these features exist.
NO_REPLICAS = (
    "Replicas and global tables are not supported by this endpoint: it has one copy of each table. "
    "Remove the replicas from the request"
)
NO_VECTOR_INDEXES = (
    "Vector indexes are not supported by this endpoint. Remove them from the request"
)


def refuse_unsupported(request: requests.CreateTableInput | requests.UpdateTableInput) -> None:
    """Refuse members of features that the engine does not have."""
    if isinstance(request, requests.CreateTableInput):
        replicas: tuple[object, ...] = (request.global_table_source,)
        vectors = request.vector_indexes
    else:
        replicas = (
            request.replica_updates,
            request.witness_updates,
            request.multi_region_consistency,
        )
        vectors = request.vector_index_updates
    if any(member is not None for member in replicas):
        raise ValidationException(NO_REPLICAS)
    if vectors:
        raise ValidationException(NO_VECTOR_INDEXES)


# -- warm throughput


def effective_warm_throughput(
    billing: str, throughput: Throughput, warm: WarmThroughput
) -> tuple[int, int]:
    """Return the reads and writes per second that DynamoDB describes as warm throughput."""
    read, write = throughput.read, throughput.write
    if billing == "PAY_PER_REQUEST":
        read, write = ON_DEMAND_BASELINE
    return max(read, warm.read), max(write, warm.write)


def build_warm_throughput(
    shape: requests.RequestedWarmThroughput | None,
    billing: str,
    throughput: Throughput,
    index: str | None = None,
) -> WarmThroughput:
    """Build the warm throughput of a new table or index."""
    read, write = effective_warm_throughput(billing, throughput, WarmThroughput())
    if billing == "PAY_PER_REQUEST":
        # DynamoDB's message ends with a link, which is not known for certain.
        problems = ["initial throughput for OnDemand."] * 2
    else:
        problems = [
            f"{member}CapacityUnits of ProvisionedThroughput" for member in ("Read", "Write")
        ]
    return _build_at_least(shape, (read, write), index, problems)


def change_warm_throughput(
    shape: requests.RequestedWarmThroughput | None,
    billing: str,
    throughput: Throughput,
    warm: WarmThroughput,
    index: str | None = None,
) -> WarmThroughput:
    """Return the warm throughput after an UpdateTable; it cannot be decreased."""
    if shape is None:
        return warm
    current = effective_warm_throughput(billing, throughput, warm)
    problems = ["current WarmThroughput, decreasing WarmThroughput is not supported"] * 2
    changed = _build_at_least(shape, current, index, problems)
    return WarmThroughput(changed.read or warm.read, changed.write or warm.write)


def _build_at_least(
    shape: requests.RequestedWarmThroughput | None,
    least: tuple[int, int],
    index: str | None,
    problems: list[str],
) -> WarmThroughput:
    if shape is None:
        return WarmThroughput()
    where = f"index {index}" if index else "table"
    for member, units, minimum, problem in zip(
        ("Read", "Write"), (shape.read, shape.write), least, problems, strict=True
    ):
        if units is not None and units < minimum:
            raise invalid(
                f"Requested {member}UnitsPerSecond for WarmThroughput for {where} "
                f"is lower than {problem}"
            )
    return WarmThroughput(shape.read or 0, shape.write or 0)


# -- encryption


def check_encryption(shape: requests.SSESpecification | None) -> None:
    """Check that the members of an SSESpecification fit together."""
    if shape is None:
        return
    if not shape.enabled:
        for member, value in (("SSEType", shape.sse_type), ("KMSMasterKeyId", shape.key_id)):
            if value is not None:
                raise invalid(f"{member} can not be specified if Enabled is false")
    elif shape.key_id is not None and shape.sse_type is None:
        raise invalid("SSEType KMS is required if KMSMasterKeyId is specified")
    if shape.sse_type == "AES256":
        raise invalid("SSEType AES256 is not supported")


def check_encryption_changes(
    shape: requests.SSESpecification, *, encrypted: bool, key: str | None
) -> None:
    """Check that an UpdateTable changes the encryption of a table, as DynamoDB requires."""
    if not shape.enabled and not encrypted:
        raise invalid("Table is already encrypted by default")
    if shape.enabled and encrypted and shape.key_id == key:
        raise invalid(
            "Table is already encrypted with given KMSMasterKeyId. "
            "Use KMSMasterKeyId parameter if you want to change Master Key"
        )


# -- resource policies


def check_policy_text(text: str) -> str:
    """Check a resource policy and return its text."""
    if len(text.encode()) > MAX_POLICY_SIZE:
        raise invalid(f"Maximum policy size of {MAX_POLICY_SIZE} bytes exceeded")
    from tablewright.policy import parse_resource_policy

    try:
        parse_resource_policy(text)
    except InvalidValue as error:  # DynamoDB describes the mistake in other words
        raise invalid(f"Invalid policy document: {error}") from None
    return text
