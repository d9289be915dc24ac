"""Our requests say what botocore's service model says, but for the differences listed here."""

from __future__ import annotations

from tablewright.wire.operations import OPERATIONS
from tests.wire.service_model import MODELS, differences, unknown_members

_REPLICA = "only a replica of another account's table may leave it out, and there are none here"
_KEYS = "the model has no bound since global indexes may have 4 + 4 attributes; DynamoDB still has"
_GETS = "BatchGetItem has words of its own for no tables"
_WRITES = "BatchWriteItem has words of its own for too few and too many writes"
_TABLES = "an invalid name is a fault of the map, whose text has these limits"
_STREAM_LIMITS = "the model names these limits in its texts only"
_NAMES = "checked together with the expressions, which have a text of their own for it"

DELIBERATE: dict[str, str] = {
    "BatchGetItem.RequestItems: optional": _GETS,
    "BatchGetItem.RequestItems: min 0, model 1": _GETS,
    "BatchWriteItem.RequestItems: optional": _WRITES,
    "BatchWriteItem.RequestItems: min 0, model 1": _WRITES,
    "BatchWriteItem.RequestItems{}: min None, model 1": _WRITES,
    "BatchWriteItem.RequestItems{}: max None, model 25": _WRITES,
    "BatchGetItem.RequestItems{key}: min None, model 1": _TABLES,
    "BatchGetItem.RequestItems{key}: max None, model 1024": _TABLES,
    "BatchWriteItem.RequestItems{key}: min None, model 1": _TABLES,
    "BatchWriteItem.RequestItems{key}: max None, model 1024": _TABLES,
    "CreateTable.AttributeDefinitions: required": _REPLICA,
    "CreateTable.KeySchema: required": _REPLICA,
    "CreateTable.KeySchema: max 2, model None": _KEYS,
    "CreateTable.LocalSecondaryIndexes[].KeySchema: max 8, model None": _KEYS,
    "CreateTable.GlobalSecondaryIndexes[].KeySchema: max 8, model None": _KEYS,
    "UpdateTable.GlobalSecondaryIndexUpdates[].Create.KeySchema: max 8, model None": _KEYS,
    "DescribeStream.Limit: max 100, model None": _STREAM_LIMITS,
    "ListStreams.Limit: max 100, model None": _STREAM_LIMITS,
    "GetRecords.Limit: max 1000, model None": _STREAM_LIMITS,
    "GetShardIterator.SequenceNumber: pattern [0-9]+, model None": _STREAM_LIMITS,
    **{
        f"{operation}.{kind}SecondaryIndexOverride[].KeySchema: max 8, model None": _KEYS
        for operation in ("RestoreTableFromBackup", "RestoreTableToPointInTime")
        for kind in ("Global", "Local")
    },
    "ImportTable.TableCreationParameters.KeySchema: max 2, model None": _KEYS,
    "ImportTable.TableCreationParameters.GlobalSecondaryIndexes[].KeySchema: max 8, model None": (
        _KEYS
    ),
    **{
        f"{path}.ExpressionAttributeNames{{}}: max None, model 65535": _NAMES
        for path in (
            "BatchGetItem.RequestItems{}",
            "DeleteItem",
            "ExportTableToPointInTime.FilterSpecification",
            "GetItem",
            "PutItem",
            "Query",
            "Scan",
            "TransactGetItems.TransactItems[].Get",
            "TransactWriteItems.TransactItems[].ConditionCheck",
            "TransactWriteItems.TransactItems[].Delete",
            "TransactWriteItems.TransactItems[].Put",
            "TransactWriteItems.TransactItems[].Update",
            "UpdateItem",
        )
    },
}

#: What concerns several regions has no meaning in one file.
MEMBERS_WE_DO_NOT_HAVE = {
    "CreateTable.GlobalTableSettingsReplicationMode",
    "UpdateGlobalTableSettings.GlobalTableBillingMode",
    "UpdateGlobalTableSettings.GlobalTableGlobalSecondaryIndexSettingsUpdate",
    "UpdateGlobalTableSettings.GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate",
    "UpdateGlobalTableSettings.GlobalTableProvisionedWriteCapacityUnits",
    "UpdateGlobalTableSettings.ReplicaSettingsUpdate",
    "UpdateTable.DisassociationProtectionEnabled",
    "UpdateTable.GlobalTableSettingsReplicationMode",
    "UpdateTableReplicaAutoScaling.GlobalSecondaryIndexUpdates",
    "UpdateTableReplicaAutoScaling.ProvisionedWriteCapacityAutoScalingUpdate",
    "UpdateTableReplicaAutoScaling.ReplicaUpdates",
}

OPERATIONS_WE_DO_NOT_HAVE = {
    # vectors
    "SearchVectors",
    # backups, exports, imports, bulk loads
    "CancelBulkOperation",
    "DescribeBulkOperation",
    "ListBulkOperations",
    "StartBulkPutItems",
}


#: Lists and maps for which the model has no limit have one of ours.
OURS = ("max 10000, model None", "max 100000, model None", "min 0, model None")


def test_every_member_agrees_with_the_model() -> None:
    found = [difference for difference in differences() if not difference.endswith(OURS)]
    assert sorted(found) == sorted(DELIBERATE)


def test_every_member_of_the_model_is_there_or_known_not_to_be() -> None:
    assert set(unknown_members()) == MEMBERS_WE_DO_NOT_HAVE


def test_every_operation_of_the_model_is_there_or_known_not_to_be() -> None:
    assert MODELS.keys() == OPERATIONS.keys() | OPERATIONS_WE_DO_NOT_HAVE
    assert not OPERATIONS.keys() & OPERATIONS_WE_DO_NOT_HAVE
