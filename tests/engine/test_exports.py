"""ExportTableToPointInTime, DescribeExport, ListExports: files as AWS writes them, in a folder."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import (
    DynamoDBError,
    ExportConflictException,
    InvalidExportTimeException,
    PointInTimeRecoveryUnavailableException,
    TableNotFoundException,
    ValidationException,
)
from tablewright.server import serving
from tablewright.transfer import load
from tablewright.transfer.dumpfile import find_dumps
from tablewright.transport.targets import Local
from tests.engine.clock import Clock, stopped_clock
from tests.engine.database import Json, item, table_request
from tests.server.http import sdk_client

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/things"
RECOVERY = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
DAY = 86_400


@pytest.fixture
def s3(tmp_path: Path) -> Path:
    return tmp_path / "s3"


@pytest.fixture
def clock() -> Iterator[Clock]:
    with stopped_clock(1_600_000_000.0) as clock:
        yield clock


@pytest.fixture(params=["memory", "file"])
def engine(
    request: pytest.FixtureRequest, clock: Clock, s3: Path, tmp_path: Path
) -> Iterator[Engine]:
    """An engine with the table `things`, whose recovery is on, and the items `a` and `b`."""
    where = tmp_path / "things.db" if request.param == "file" else ":memory:"
    with Engine(where, s3=s3, durability="normal") as engine:
        engine.call("CreateTable", table_request("things", "pk:S"))
        engine.call("UpdateContinuousBackups", {"TableName": "things", **RECOVERY})
        put(engine, "a", data=b"\x00\xff", tags={"x", "y"})
        put(engine, "b", n=12)
        yield engine


def put(engine: Engine, key: str, **attributes: Any) -> None:
    engine.call("PutItem", {"TableName": "things", "Item": item(pk=key, **attributes)})


def delete(engine: Engine, key: str) -> None:
    engine.call("DeleteItem", {"TableName": "things", "Key": item(pk=key)})


def export(engine: Engine, **members: Any) -> Json:
    """The description of a new export, after it was completed."""
    request = {"TableArn": ARN, "S3Bucket": "exports", **members}
    begun = engine.call("ExportTableToPointInTime", request)["ExportDescription"]
    assert begun["ExportStatus"] == "IN_PROGRESS"
    described = engine.call("DescribeExport", {"ExportArn": begun["ExportArn"]})
    done: Json = described["ExportDescription"]
    return done


def exported(s3: Path, description: Json) -> list[Json]:
    """The lines of an export, found as a reader of AWS's exports finds them."""
    bucket = s3 / description["S3Bucket"]
    summary = json.loads(checked(bucket / description["ExportManifest"]))
    lines = []
    for line in checked(bucket / summary["manifestFilesS3Key"]).splitlines():
        file = json.loads(line)
        data = (bucket / file["dataFileS3Key"]).read_bytes()
        digest = hashlib.md5(data)
        assert base64.b64encode(digest.digest()).decode() == file["md5Checksum"]
        assert file["etag"] == digest.hexdigest() + "-1"
        found = [json.loads(one) for one in gzip.decompress(data).splitlines()]
        assert len(found) == file["itemCount"]
        lines += found
    assert len(lines) == summary["itemCount"] == description["ItemCount"]
    return sorted(lines, key=str)


def checked(manifest: Path) -> bytes:
    """The content of a manifest whose checksum is right."""
    content = manifest.read_bytes()
    checksum = manifest.with_suffix(".checksum").read_bytes()
    assert base64.b64encode(hashlib.md5(content).digest()) == checksum
    return content


A, B = item(pk="a", data=b"\x00\xff", tags={"x", "y"}), item(pk="b", n=12)


def test_a_full_export_has_the_files_of_aws(engine: Engine, s3: Path, clock: Clock) -> None:
    done = export(engine, S3Prefix="2026/nov")
    export_id = done["ExportArn"].removeprefix(f"{ARN}/export/")
    assert re.fullmatch(r"\d{14}-[0-9a-f]{8}", export_id)
    root = s3 / "exports" / "2026" / "nov" / "AWSDynamoDB" / export_id
    assert sorted(path.relative_to(root).as_posix() for path in root.iterdir()) == [
        "_started",
        "data",
        "manifest-files.checksum",
        "manifest-files.json",
        "manifest-summary.checksum",
        "manifest-summary.json",
    ]
    (data,) = (root / "data").iterdir()
    assert re.fullmatch(r"[a-z2-7]{26}\.json\.gz", data.name)
    assert exported(s3, done) == [{"Item": A}, {"Item": B}]
    assert done == {
        "ExportArn": f"{ARN}/export/{export_id}",
        "ExportStatus": "COMPLETED",
        "StartTime": clock.now,
        "EndTime": clock.now,
        "ExportManifest": f"2026/nov/AWSDynamoDB/{export_id}/manifest-summary.json",
        "TableArn": ARN,
        "TableId": done["TableId"],
        "ExportTime": clock.now,
        "ClientToken": done["ClientToken"],
        "S3Bucket": "exports",
        "S3Prefix": "2026/nov",
        "S3SseAlgorithm": "AES256",
        "ExportFormat": "DYNAMODB_JSON",
        "BilledSizeBytes": done["BilledSizeBytes"],
        "ItemCount": 2,
        "ExportType": "FULL_EXPORT",
    }
    summary = json.loads((root / "manifest-summary.json").read_bytes())
    assert summary == {
        "version": "2020-06-30",
        "exportArn": done["ExportArn"],
        "startTime": "2020-09-13T12:26:40.000Z",
        "endTime": summary["endTime"],
        "tableArn": ARN,
        "tableId": done["TableId"],
        "exportTime": "2020-09-13T12:26:40.000Z",
        "s3Bucket": "exports",
        "s3Prefix": "2026/nov",
        "s3SseAlgorithm": "AES256",
        "s3SseKmsKeyId": None,
        "manifestFilesS3Key": f"2026/nov/AWSDynamoDB/{export_id}/manifest-files.json",
        "billedSizeBytes": done["BilledSizeBytes"],
        "itemCount": 2,
        "outputFormat": "DYNAMODB_JSON",
    }


def test_only_the_owner_can_read_the_files(engine: Engine, s3: Path) -> None:
    export(engine)
    files = [path for path in s3.rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert not list(s3.rglob("*.part"))


def test_an_empty_table_has_an_empty_data_file(engine: Engine, s3: Path) -> None:
    delete(engine, "a")
    delete(engine, "b")
    assert exported(s3, export(engine)) == []


def test_an_earlier_time_is_exported(engine: Engine, s3: Path, clock: Clock) -> None:
    start = clock.now
    clock.now += 60
    put(engine, "b", n=13)
    put(engine, "c")
    delete(engine, "a")
    assert exported(s3, export(engine, ExportTime=start)) == [{"Item": A}, {"Item": B}]
    assert exported(s3, export(engine)) == [
        {"Item": item(pk="b", n=13)},
        {"Item": item(pk="c")},
    ]


def test_what_changed_between_two_times_is_exported(engine: Engine, s3: Path, clock: Clock) -> None:
    clock.now += 60
    start = clock.now
    put(engine, "b", n=13)  # the start is inclusive
    put(engine, "b", n=14)
    delete(engine, "a")
    put(engine, "short-lived")
    delete(engine, "short-lived")
    clock.now += 1
    put(engine, "c")
    clock.now += 59
    end = clock.now
    put(engine, "later")  # the end is exclusive
    clock.now += 60

    def lines(view: Json) -> list[Json]:
        times = {"ExportFromTime": start, "ExportToTime": end}
        done = export(
            engine,
            ExportType="INCREMENTAL_EXPORT",
            IncrementalExportSpecification=times | view,
            S3Prefix="changes",
        )
        assert done["ExportType"] == "INCREMENTAL_EXPORT"
        assert "ExportTime" not in done
        assert done["IncrementalExportSpecification"] == {
            "ExportViewType": "NEW_AND_OLD_IMAGES",
            **times,
            **view,
        }
        assert list((s3 / "exports" / "changes" / "AWSDynamoDB" / "data").iterdir())
        summary = json.loads((s3 / "exports" / done["ExportManifest"]).read_bytes())
        assert summary["version"] == "2023-08-01"
        assert summary["exportType"] == "INCREMENTAL_EXPORT"
        assert summary["exportFromTime"] == "2020-09-13T12:27:40.000Z"
        assert "exportTime" not in summary
        return exported(s3, done)

    def line(seconds: float, key: str, **images: Json) -> Json:
        written = {"WriteTimestampMicros": {"N": str(int((start + seconds) * 1_000_000))}}
        return {"Metadata": written, "Keys": item(pk=key), **images}

    assert lines({}) == [
        line(0, "a", OldImage=A),
        line(0, "b", OldImage=B, NewImage=item(pk="b", n=14)),
        line(1, "c", NewImage=item(pk="c")),
    ]
    assert lines({"ExportViewType": "NEW_IMAGE"}) == [
        line(0, "a"),
        line(0, "b", NewImage=item(pk="b", n=14)),
        line(1, "c", NewImage=item(pk="c")),
    ]


def test_an_incremental_export_ends_now_by_default(engine: Engine, s3: Path, clock: Clock) -> None:
    start = clock.now
    clock.now += 60
    incremental = {"ExportFromTime": start}
    done = export(
        engine, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=incremental
    )
    assert [line["Keys"] for line in exported(s3, done)] == [item(pk="a"), item(pk="b")]
    assert done["IncrementalExportSpecification"]["ExportToTime"] == clock.now


def test_an_export_can_be_loaded(engine: Engine, s3: Path) -> None:
    done = export(engine)
    folder = (s3 / "exports" / done["ExportManifest"]).parent
    with Engine(":memory:") as target:
        target.call("CreateTable", table_request("things", "pk:S"))
        list(load(find_dumps(folder, "things"), Local(target)))
        assert len(target.call("Scan", {"TableName": "things"})["Items"]) == 2


def test_a_token_makes_one_export(engine: Engine, clock: Clock) -> None:
    first = export(engine, ClientToken="once")
    clock.now += 1
    request = {"TableArn": ARN, "S3Bucket": "exports", "ClientToken": "once"}
    again = engine.call("ExportTableToPointInTime", request)["ExportDescription"]
    assert again == first
    with pytest.raises(ExportConflictException, match="The ClientToken once was used"):
        engine.call("ExportTableToPointInTime", {**request, "S3Prefix": "other"})


def test_exports_are_listed_in_pages(engine: Engine, clock: Clock) -> None:
    arns = []
    for _ in range(3):
        clock.now += 1
        arns.append(export(engine)["ExportArn"])
    first = engine.call("ListExports", {"TableArn": ARN, "MaxResults": 2})
    assert first["ExportSummaries"] == [
        {"ExportArn": arn, "ExportStatus": "COMPLETED", "ExportType": "FULL_EXPORT"}
        for arn in arns[:2]
    ]
    rest = engine.call("ListExports", {"TableArn": ARN, "NextToken": first["NextToken"]})
    assert [one["ExportArn"] for one in rest["ExportSummaries"]] == arns[2:]
    assert "NextToken" not in rest
    assert engine.call("ListExports", {"TableArn": ARN + "2"}) == {"ExportSummaries": []}


# -- what is refused


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"TableArn": ARN + "2"}, TableNotFoundException),
        ({"ExportTime": 1_600_000_000 - 1}, InvalidExportTimeException),
        ({"ExportTime": 1_600_000_000 + 1}, InvalidExportTimeException),
        ({"ExportFormat": "ION"}, ValidationException),
        ({"FilterSpecification": {"FilterExpression": "a = b"}}, ValidationException),
        ({"ExportType": "INCREMENTAL_EXPORT"}, ValidationException),
        (
            {"IncrementalExportSpecification": {"ExportFromTime": 1_600_000_000}},
            ValidationException,
        ),
        *(
            (
                {
                    "ExportType": "INCREMENTAL_EXPORT",
                    "IncrementalExportSpecification": {
                        "ExportFromTime": start,
                        "ExportToTime": end,
                    },
                },
                ValidationException,
            )
            for start, end in ((1_600_000_000, 1_600_000_000), (0, DAY + 1), (10, 5))
        ),
        (
            {
                "ExportType": "INCREMENTAL_EXPORT",
                "IncrementalExportSpecification": {"ExportFromTime": 1_599_999_999},
            },
            InvalidExportTimeException,
        ),
    ],
)
def test_a_wrong_request_writes_nothing(
    engine: Engine, s3: Path, members: Json, fault: type[DynamoDBError]
) -> None:
    with pytest.raises(fault):
        export(engine, **members)
    assert not s3.exists()
    assert engine.call("ListExports")["ExportSummaries"] == []


HOSTILE_PREFIXES = [
    "..",
    "../up",
    "a/../../up",
    "/absolute",
    "a//b",
    "./a",
    "a/.",
    "a\\..\\b",
    "nul\x00byte",
    "line\nbreak",
    "x" * 300,
    "é" * 200,
    "é/" * 400,
]


@pytest.mark.parametrize("prefix", HOSTILE_PREFIXES)
def test_a_prefix_that_leaves_the_folder_is_refused(
    engine: Engine, tmp_path: Path, prefix: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValidationException, match="Invalid S3 prefix"):
        export(engine, S3Prefix=prefix)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("bucket", ["..", ".", "a", "a/b", "../up", "", "-a-", "a.."])
def test_a_bucket_that_leaves_the_folder_is_refused(
    engine: Engine, tmp_path: Path, bucket: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValidationException):
        export(engine, S3Bucket=bucket)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("link", ["exports", "exports/AWSDynamoDB", "exports/deep"])
def test_a_symbolic_link_is_not_followed(
    engine: Engine, s3: Path, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (s3 / link).parent.mkdir(parents=True)
    (s3 / link).symlink_to(outside)
    members = {"S3Prefix": "deep"} if link.endswith("deep") else {}
    with pytest.raises(ValidationException, match="is a symbolic link"):
        export(engine, **members)
    assert not list(outside.iterdir())


def test_an_export_that_cannot_be_written_has_failed(engine: Engine, s3: Path) -> None:
    s3.mkdir()
    (s3 / "exports").write_text("a file")
    done = export(engine)
    assert done["ExportStatus"] == "FAILED"
    assert done["FailureCode"] == "S3AccessDenied"
    assert "ItemCount" not in done


def test_without_a_folder_there_is_no_s3(clock: Clock) -> None:
    with Engine(":memory:") as engine:
        engine.call("CreateTable", table_request("things", "pk:S"))
        with pytest.raises(ValidationException, match=r"There is no S3 here: .* --s3 DIR"):
            export(engine)


def test_recovery_must_be_on(engine: Engine) -> None:
    off = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False}}
    engine.call("UpdateContinuousBackups", {"TableName": "things", **off})
    with pytest.raises(PointInTimeRecoveryUnavailableException):
        export(engine)


def test_an_unknown_export_is_not_found(engine: Engine) -> None:
    with pytest.raises(DynamoDBError) as caught:
        engine.call("DescribeExport", {"ExportArn": f"{ARN}/export/1"})
    assert caught.value.code == "ExportNotFoundException"


def test_the_waiters_of_boto3_find_a_completed_export(s3: Path) -> None:
    with Engine(":memory:", s3=s3) as engine, serving(engine) as url:
        client = sdk_client(url)
        client.create_table(**table_request("things"))
        client.update_continuous_backups(TableName="things", **RECOVERY)
        client.put_item(TableName="things", Item=item(pk="a", sk="1"))
        answer = client.export_table_to_point_in_time(TableArn=ARN, S3Bucket="exports")
        arn = answer["ExportDescription"]["ExportArn"]
        client.get_waiter("export_completed").wait(ExportArn=arn)
        done = client.describe_export(ExportArn=arn)["ExportDescription"]
        data = (s3 / "exports" / done["ExportManifest"]).parent / "data"
        answer = client.import_table(
            S3BucketSource={
                "S3Bucket": "exports",
                "S3KeyPrefix": data.relative_to(s3 / "exports").as_posix() + "/",
            },
            InputFormat="DYNAMODB_JSON",
            InputCompressionType="GZIP",
            TableCreationParameters=table_request("copy"),
        )
        arn = answer["ImportTableDescription"]["ImportArn"]
        client.get_waiter("import_completed").wait(ImportArn=arn)
        assert client.scan(TableName="copy")["Items"] == [item(pk="a", sk="1")]
        client.close()
