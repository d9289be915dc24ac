"""CreateBackup, DescribeBackup, ListBackups, DeleteBackup and RestoreTableFromBackup."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from tablewright.engine import Engine, maintenance
from tablewright.engine.repair import repair
from tablewright.server import serving
from tests.engine.database import (
    Database,
    Json,
    definitions,
    index_request,
    item,
    key_schema,
    table_request,
)
from tests.server.http import sdk_client

INDEXES: Json = {"local": {"by_n": ("pk:S / n:N", "ALL")}, "glob": {"by_g": ("g:S", ["n"])}}
ITEMS = [item(pk="a", sk=str(number), n=number, g="red") for number in range(5)]


@pytest.fixture
def table(db: Database) -> str:
    return db.table(items=ITEMS, **INDEXES)


def back_up(db: Database, table: str, name: str = "before") -> str:
    answer = db.call("CreateBackup", {"TableName": table, "BackupName": name})
    return str(answer["BackupDetails"]["BackupArn"])


def restore(db: Database, arn: str, **overrides: Any) -> Json:
    name = db.new_name()
    request = {"TargetTableName": name, "BackupArn": arn, **overrides}
    description: Json = db.call("RestoreTableFromBackup", request)["TableDescription"]
    assert description["TableName"] == name
    return description


def ordered(items: list[Json]) -> list[Json]:
    return sorted(items, key=lambda one: str(one["sk"]))


def test_a_backup_is_available_at_once(db: Database, table: str) -> None:
    details = db.call("CreateBackup", {"TableName": table, "BackupName": "my.backup-1"})
    arn = details["BackupDetails"]["BackupArn"]
    described = db.call("DescribeTable", {"TableName": table})["Table"]
    assert re.fullmatch(rf"{described['TableArn']}/backup/\d{{14}}-[0-9a-f]{{8}}", arn)
    assert details["BackupDetails"] == {
        "BackupArn": arn,
        "BackupName": "my.backup-1",
        "BackupSizeBytes": described["TableSizeBytes"],
        "BackupStatus": "AVAILABLE",
        "BackupType": "USER",
        "BackupCreationDateTime": details["BackupDetails"]["BackupCreationDateTime"],
    }
    assert db.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"] == {
        **details,
        "SourceTableDetails": {
            "TableName": table,
            "TableId": described["TableId"],
            "TableArn": described["TableArn"],
            "TableSizeBytes": described["TableSizeBytes"],
            "KeySchema": key_schema("pk:S / sk:S"),
            "TableCreationDateTime": described["CreationDateTime"],
            "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0},
            "ItemCount": 5,
            "BillingMode": "PAY_PER_REQUEST",
        },
        "SourceTableFeatureDetails": {
            "LocalSecondaryIndexes": [index_request("by_n", "pk:S / n:N")],
            "GlobalSecondaryIndexes": [
                index_request("by_g", "g:S", ["n"])
                | {"ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}}
            ],
        },
    }


def test_a_restored_table_has_the_items_of_the_backup(db: Database, table: str) -> None:
    arn = back_up(db, table)
    db.put(table, item(pk="a", sk="0", n=99, g="blue"))
    db.put(table, item(pk="new", sk="0"))
    description = restore(db, arn)
    name = description["TableName"]
    assert description["TableStatus"] == "CREATING"
    assert description["RestoreSummary"]["RestoreInProgress"] is True
    described = db.call("DescribeTable", {"TableName": name})["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["ItemCount"] == 5
    assert described["RestoreSummary"] == {
        "SourceBackupArn": arn,
        "SourceTableArn": arn.partition("/backup/")[0],
        "RestoreDateTime": described["RestoreSummary"]["RestoreDateTime"],
        "RestoreInProgress": False,
    }
    assert ordered(db.items(name)) == ITEMS
    assert ordered(db.items(name, "by_n")) == ITEMS
    assert len(db.items(name, "by_g")) == 5
    # The tables and the backup are independent of each other.
    db.put(name, item(pk="a", sk="0", n=1, g="green"))
    assert ordered(db.items(restore(db, arn)["TableName"])) == ITEMS


def test_a_backup_survives_its_table_and_backs_it_up_again(db: Database, table: str) -> None:
    arn = back_up(db, table)
    db.call("DeleteTable", {"TableName": table})
    assert db.call("DescribeBackup", {"BackupArn": arn})
    db.call("RestoreTableFromBackup", {"TargetTableName": table, "BackupArn": arn})
    assert ordered(db.items(table)) == ITEMS
    listed = db.call("ListBackups", {"TableName": table})["BackupSummaries"]
    assert [one["BackupArn"] for one in listed] == [arn]


def test_settings_that_aws_does_not_restore_are_not_restored(db: Database) -> None:
    table = db.table(
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        Tags=[{"Key": "team", "Value": "blue"}],
        DeletionProtectionEnabled=True,
        TableClass="STANDARD_INFREQUENT_ACCESS",
        SSESpecification={"Enabled": True, "SSEType": "KMS"},
    )
    ttl = {"AttributeName": "until", "Enabled": True}
    db.call("UpdateTimeToLive", {"TableName": table, "TimeToLiveSpecification": ttl})
    arn = back_up(db, table)
    features = db.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"][
        "SourceTableFeatureDetails"
    ]
    assert features["StreamDescription"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert features["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": "until",
    }
    assert features["SSEDescription"]["Status"] == "ENABLED"
    name = restore(db, arn)["TableName"]
    described = db.call("DescribeTable", {"TableName": name})["Table"]
    assert "StreamSpecification" not in described
    assert described["DeletionProtectionEnabled"] is False
    assert described["SSEDescription"]["Status"] == "ENABLED"
    assert described["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    status = db.call("DescribeTimeToLive", {"TableName": name})["TimeToLiveDescription"]
    assert status == {"TimeToLiveStatus": "DISABLED"}
    assert db.call("ListTagsOfResource", {"ResourceArn": described["TableArn"]})["Tags"] == []


def test_indexes_can_be_left_out(db: Database, table: str) -> None:
    arn = back_up(db, table)
    kept = restore(
        db,
        arn,
        LocalSecondaryIndexOverride=[],
        GlobalSecondaryIndexOverride=[index_request("by_g", "g:S", ["n"])],
    )
    assert "LocalSecondaryIndexes" not in kept
    assert len(db.items(kept["TableName"], "by_g")) == 5
    none = restore(db, arn, LocalSecondaryIndexOverride=[], GlobalSecondaryIndexOverride=[])
    assert none["AttributeDefinitions"] == definitions("pk:S", "sk:S")
    assert ordered(db.items(none["TableName"])) == ITEMS


@pytest.mark.parametrize(
    "override",
    [
        index_request("other", "g:S", ["n"]),
        index_request("by_g", "pk:S", ["n"]),
        index_request("by_g", "g:S", "ALL"),
        index_request("by_g", "g:S", ["m"]),
    ],
)
def test_indexes_cannot_be_added_or_changed(db: Database, table: str, override: Json) -> None:
    arn = back_up(db, table)
    db.refuses(
        "RestoreTableFromBackup",
        {
            "TargetTableName": db.new_name(),
            "BackupArn": arn,
            "GlobalSecondaryIndexOverride": [override],
        },
        f"One or more parameter values were invalid: The index override {override['IndexName']} "
        "does not match an index of the source; an override can leave out indexes, but not add or "
        "change one",
    )


def test_billing_throughput_and_encryption_can_be_overridden(db: Database, table: str) -> None:
    arn = back_up(db, table)
    units = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
    restored = restore(
        db,
        arn,
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride=units,
        GlobalSecondaryIndexOverride=[
            index_request("by_g", "g:S", ["n"]) | {"ProvisionedThroughput": units}
        ],
        SSESpecificationOverride={"Enabled": True, "SSEType": "KMS"},
    )
    assert "BillingModeSummary" not in restored
    for described in (restored, restored["GlobalSecondaryIndexes"][0]):
        assert described["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **units}
    assert restored["SSEDescription"]["Status"] == "ENABLED"
    again = back_up(db, restored["TableName"])
    same = restore(db, again)
    assert same["ProvisionedThroughput"] == restored["ProvisionedThroughput"]
    free = restore(db, again, BillingModeOverride="PAY_PER_REQUEST")
    assert free["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert free["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    limits = {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20}
    assert restore(db, arn, OnDemandThroughputOverride=limits)["OnDemandThroughput"] == limits


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"BillingModeOverride": "PROVISIONED"},
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
            "PROVISIONED",
        ),
        (
            {
                "BillingModeOverride": "PROVISIONED",
                "ProvisionedThroughputOverride": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
            },
            "ProvisionedThroughput is not specified for index: by_g",
        ),
        (
            {"ProvisionedThroughputOverride": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}},
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST",
        ),
        (
            {"GlobalSecondaryIndexOverride": 2 * [index_request("by_g", "g:S", ["n"])]},
            "Duplicate index name in GlobalSecondaryIndexOverride",
        ),
    ],
)
def test_wrong_overrides_are_refused_and_make_no_table(
    db: Database, table: str, overrides: Json, message: str
) -> None:
    name = db.new_name()
    db.refuses(
        "RestoreTableFromBackup",
        {"TargetTableName": name, "BackupArn": back_up(db, table), **overrides},
        f"One or more parameter values were invalid: {message}",
    )
    assert name not in db.call("ListTables")["TableNames"]


def test_a_deleted_backup_is_described_once_more_and_gone(db: Database, table: str) -> None:
    arn = back_up(db, table)
    deleted = db.call("DeleteBackup", {"BackupArn": arn})["BackupDescription"]
    assert deleted["BackupDetails"]["BackupStatus"] == "DELETED"
    assert deleted["SourceTableDetails"]["TableName"] == table
    for operation, request in (
        ("DescribeBackup", {"BackupArn": arn}),
        ("DeleteBackup", {"BackupArn": arn}),
        ("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": db.new_name()}),
    ):
        db.fails(operation, request, "BackupNotFoundException", f"Backup not found: {arn}")
    assert db.call("ListBackups", {"TableName": table})["BackupSummaries"] == []


def test_faults_have_the_shapes_of_aws(db: Database, table: str) -> None:
    db.fails(
        "CreateBackup",
        {"TableName": "missing", "BackupName": "one"},
        "TableNotFoundException",
        "Table not found: missing",
    )
    db.refuses(
        "CreateBackup",
        {"TableName": table, "BackupName": "a$"},
        "2 validation errors detected: Value 'a$' at 'backupName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3; Value 'a$' at 'backupName' failed to "
        "satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
    )
    db.fails(
        "RestoreTableFromBackup",
        {"TargetTableName": table, "BackupArn": back_up(db, table)},
        "TableAlreadyExistsException",
        f"Table already exists: {table}",
    )
    db.refuses(
        "ListBackups",
        {"Limit": 101},
        "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: "
        "Member must have value less than or equal to 100",
    )
    db.fails(
        "ListBackups",
        {"TimeRangeLowerBound": "yesterday"},
        "SerializationException",
        "Unexpected field type",
        raw=True,
    )


def test_an_arn_of_a_table_will_do(db: Database, table: str) -> None:
    arn = db.call("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    assert back_up(db, arn).startswith(f"{arn}/backup/")
    assert len(db.call("ListBackups", {"TableName": arn})["BackupSummaries"]) == 1


def test_backups_are_listed_by_table_time_and_type_in_pages(db: Database, table: str) -> None:
    arns = [back_up(db, table, f"backup-{number}") for number in range(3)]
    back_up(db, db.table())
    pages: list[list[str]] = []
    start: Json = {}
    while True:
        page = db.call("ListBackups", {"TableName": table, "Limit": 2, **start})
        pages.append([one["BackupArn"] for one in page["BackupSummaries"]])
        if "LastEvaluatedBackupArn" not in page:
            break
        start = {"ExclusiveStartBackupArn": page["LastEvaluatedBackupArn"]}
    assert sorted(pages[0] + pages[1]) == sorted(arns)
    assert len(pages) == 2
    listed = db.call("ListBackups", {"TableName": table, "BackupType": "USER"})["BackupSummaries"]
    assert listed[0].keys() == {
        "TableName",
        "TableId",
        "TableArn",
        "BackupArn",
        "BackupName",
        "BackupCreationDateTime",
        "BackupStatus",
        "BackupType",
        "BackupSizeBytes",
    }
    assert len(listed) == 3
    for filters in (
        {"BackupType": "SYSTEM"},
        {"TimeRangeUpperBound": 1000},
        {"TimeRangeLowerBound": 9_999_999_999.5},
    ):
        assert db.call("ListBackups", {"TableName": table, **filters}) == {"BackupSummaries": []}


def test_a_table_that_builds_an_index_cannot_be_backed_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 3)
    with Engine(":memory:", background=False) as engine:
        engine.call("CreateTable", table_request("things"))
        for one in ITEMS:
            engine.call("PutItem", {"TableName": "things", "Item": one})
        engine.call(
            "UpdateTable",
            {
                "TableName": "things",
                "AttributeDefinitions": definitions("g:S"),
                "GlobalSecondaryIndexUpdates": [{"Create": index_request("by_g", "g:S")}],
            },
        )
        request = {"TableName": "things", "BackupName": "early"}
        with pytest.raises(Exception, match="still being created") as caught:
            engine.call("CreateBackup", request)
        assert type(caught.value).__name__ == "TableInUseException"
        engine.finish_maintenance()
        engine.call("CreateBackup", request)


def test_the_paginator_of_boto3_lists_all_backups() -> None:
    with Engine(":memory:") as engine, serving(engine) as url:
        client = sdk_client(url)
        client.create_table(**table_request("things"))
        for number in range(5):
            client.create_backup(TableName="things", BackupName=f"backup-{number}")
        pages = client.get_paginator("list_backups").paginate(PaginationConfig={"PageSize": 2})
        found = [one["BackupName"] for page in pages for one in page["BackupSummaries"]]
        assert sorted(found) == [f"backup-{number}" for number in range(5)]
        arn = client.list_backups()["BackupSummaries"][0]["BackupArn"]
        client.restore_table_from_backup(TargetTableName="more", BackupArn=arn)
        client.get_waiter("table_exists").wait(TableName="more")
        client.close()


# -- the file


def make_file(path: Path) -> str:
    """A file with a table, and a backup of it; the backup's ARN."""
    with Engine(path, durability="normal") as engine:
        engine.call("CreateTable", table_request("things", **INDEXES))
        for one in ITEMS:
            engine.call("PutItem", {"TableName": "things", "Item": one})
        answer = engine.call("CreateBackup", {"TableName": "things", "BackupName": "before"})
        return str(answer["BackupDetails"]["BackupArn"])


def restored_items(path: Path, arn: str) -> list[Json]:
    with Engine(path) as engine:
        engine.call("RestoreTableFromBackup", {"TargetTableName": "restored", "BackupArn": arn})
        assert engine.check()
        return ordered(engine.call("Scan", {"TableName": "restored"})["Items"])


def test_a_backup_is_in_the_file(tmp_path: Path) -> None:
    arn = make_file(tmp_path / "things.db")
    assert restored_items(tmp_path / "things.db", arn) == ITEMS


def test_the_trees_of_a_deleted_backup_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 3)
    path = tmp_path / "things.db"
    arn = make_file(path)
    with Engine(path, background=False) as engine:
        engine.call("DeleteBackup", {"BackupArn": arn})
        engine.finish_maintenance()
    with closing(apsw.Connection(str(path))) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_schema WHERE name GLOB 'tree$*'"
        ).fetchall()
    assert sorted(str(name) for (name,) in names) == [
        "tree$0",
        "tree$1",
        "tree$2",
        "tree$3",
        "tree$4",
    ]


def test_the_check_of_a_file_reads_backups(tmp_path: Path) -> None:
    path = tmp_path / "things.db"
    arn = make_file(path)
    label = f"things (backup {arn.rpartition('/')[2]})"
    with Engine(path) as engine:
        assert engine.check().rows[label, None] == 5
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("DELETE FROM tree$6 WHERE key = (SELECT min(key) FROM tree$6)")
    with Engine(path) as engine:
        (problem,) = engine.check().problems
        assert str(problem).startswith(f"{label}/by_n: the row of ")
        assert str(problem).endswith("is missing")


def test_compaction_and_copies_of_the_file_keep_backups(tmp_path: Path) -> None:
    arn = make_file(tmp_path / "things.db")
    with Engine(tmp_path / "things.db") as engine:
        engine.compact()
        engine.back_up(tmp_path / "copy.db")
    assert restored_items(tmp_path / "copy.db", arn) == ITEMS


def test_a_repaired_file_has_the_backups(tmp_path: Path) -> None:
    arn = make_file(tmp_path / "old.db")
    report = repair(tmp_path / "old.db", tmp_path / "new.db")
    assert report
    assert [table.items for table in report.tables] == [5, 5]
    assert restored_items(tmp_path / "new.db", arn) == ITEMS
    with closing(apsw.Connection(str(tmp_path / "old.db"))) as connection:
        connection.execute("UPDATE tree$5 SET body = 'x' WHERE key = (SELECT min(key) FROM tree$5)")
    report = repair(tmp_path / "old.db", tmp_path / "newer.db")
    assert [table.from_indexes for table in report.tables] == [0, 1]
    assert restored_items(tmp_path / "newer.db", arn) == ITEMS


def test_other_engines_see_backups_and_allocate_other_trees(tmp_path: Path) -> None:
    path = tmp_path / "things.db"
    arn = make_file(path)
    with Engine(path) as engine, Engine(path) as other:
        other.call("CreateTable", table_request("more"))
        second = engine.call("CreateBackup", {"TableName": "things", "BackupName": "second"})
        other.call("CreateTable", table_request("most"))
        assert len(other.call("ListBackups")["BackupSummaries"]) == 2
        other.call("DeleteBackup", {"BackupArn": second["BackupDetails"]["BackupArn"]})
        assert len(engine.call("ListBackups")["BackupSummaries"]) == 1
        assert engine.check()
    assert restored_items(path, arn) == ITEMS


def test_backups_of_a_sandbox_are_undone(tmp_path: Path) -> None:
    path = tmp_path / "things.db"
    arn = make_file(path)
    with Engine(path) as engine:
        with engine.sandbox():
            engine.call("CreateBackup", {"TableName": "things", "BackupName": "second"})
            engine.call("DeleteBackup", {"BackupArn": arn})
            assert len(engine.call("ListBackups")["BackupSummaries"]) == 1
        listed = engine.call("ListBackups")["BackupSummaries"]
        assert [one["BackupArn"] for one in listed] == [arn]
    assert restored_items(path, arn) == ITEMS
