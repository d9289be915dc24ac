"""ImportTable, DescribeImport, ListImports: a new table from files in a folder."""

from __future__ import annotations

import gzip
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from tablewright.engine import Engine
from tablewright.engine.archives.imports import read_file
from tablewright.errors import (
    DynamoDBError,
    ImportConflictException,
    ImportNotFoundException,
    ResourceInUseException,
    ResourceNotFoundException,
    StoreBusy,
    ValidationException,
)
from tablewright.wire.lines import encode_lines
from tests.engine.database import Json, item, table_request

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/things"
PARAMETERS = table_request("things", "pk:S / n:N", glob={"by_g": ("g:S", "ALL")})


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    path = tmp_path / "s3" / "imports"
    path.mkdir(parents=True)
    return path


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, bucket: Path, tmp_path: Path) -> Iterator[Engine]:
    where = tmp_path / "things.db" if request.param == "file" else ":memory:"
    with Engine(where, s3=bucket.parent, durability="normal") as engine:
        yield engine
        assert engine.check().problems == []


def import_table(engine: Engine, input_format: str = "DYNAMODB_JSON", **members: Any) -> Json:
    """The description of a new import, after it was completed."""
    request: Json = {
        "S3BucketSource": {"S3Bucket": "imports", **members.pop("source", {})},
        "InputFormat": input_format,
        "TableCreationParameters": PARAMETERS,
        **members,
    }
    begun = engine.call("ImportTable", request)["ImportTableDescription"]
    assert begun["ImportStatus"] == "IN_PROGRESS"
    described = engine.call("DescribeImport", {"ImportArn": begun["ImportArn"]})
    done: Json = described["ImportTableDescription"]
    return done


def items(engine: Engine, **more: str) -> list[Json]:
    found: list[Json] = engine.call("Scan", {"TableName": "things", **more})["Items"]
    return sorted(found, key=str)


def tables(engine: Engine) -> list[str]:
    names: list[str] = engine.call("ListTables")["TableNames"]
    return names


THINGS = [item(pk="a", n=1, g="red"), item(pk="b", n=2)]


def test_lines_of_items_become_a_table(engine: Engine, bucket: Path) -> None:
    content = encode_lines(THINGS)
    (bucket / "items.json").write_bytes(content)
    done = import_table(engine)
    assert done == {
        "ImportArn": done["ImportArn"],
        "ImportStatus": "COMPLETED",
        "TableArn": ARN,
        "TableId": engine.call("DescribeTable", {"TableName": "things"})["Table"]["TableId"],
        "ClientToken": done["ClientToken"],
        "S3BucketSource": {"S3Bucket": "imports"},
        "ErrorCount": 0,
        "InputFormat": "DYNAMODB_JSON",
        "InputCompressionType": "NONE",
        "TableCreationParameters": PARAMETERS,
        "StartTime": done["StartTime"],
        "EndTime": done["EndTime"],
        "ProcessedSizeBytes": len(content),
        "ProcessedItemCount": 2,
        "ImportedItemCount": 2,
    }
    assert done["ImportArn"].startswith(f"{ARN}/import/")
    assert items(engine) == THINGS
    assert items(engine, IndexName="by_g") == THINGS[:1]


def test_all_objects_with_the_prefix_are_read(engine: Engine, bucket: Path) -> None:
    (bucket / "deep" / "er").mkdir(parents=True)
    (bucket / "deep" / "er" / "one.json.gz").write_bytes(gzip.compress(encode_lines(THINGS[:1])))
    (bucket / "deep" / "errors.gz").write_bytes(gzip.compress(encode_lines(THINGS[1:])))
    (bucket / "deep" / "other.gz").write_bytes(b"not read")
    done = import_table(engine, source={"S3KeyPrefix": "deep/er"}, InputCompressionType="GZIP")
    assert done["ImportedItemCount"] == 2
    assert items(engine) == THINGS


def test_what_is_not_an_item_is_counted_and_logged(
    engine: Engine, bucket: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = [
        b"no json",
        b'{"Item":{"pk":{"S":"x"}}}',
        b'{"Item":{"pk":{"S":"x"},"n":{"S":"1"}}}',
        b'{"Item":{"pk":{"S":""},"n":{"N":"1"}}}',
        b'{"Item":{"pk":{"S":"x"},"n":{"N":"one"}}}',
        b'{"Item":{"pk":{"S":"x"},"n":{"N":"1"},"g":{"N":"1"}}}',
        b'{"Items":{}}',
        b'{"Item":{"pk":{"S":"x"},"n":{"N":"1"},"long":{"S":"%b"}}}'
        % (b"x" * 400_000 + b"y" * 9600),
        b'{"Item":' + b"[" * 2000,
        b"\xff\xfe",
        *[b"{}"] * 5,
    ]
    (bucket / "items.json").write_bytes(
        encode_lines(THINGS[:1]) + b"\n".join(wrong) + b"\n\n" + encode_lines(THINGS[1:])
    )
    with caplog.at_level(logging.WARNING, logger="tablewright.engine"):
        done = import_table(engine)
    assert done["ErrorCount"] == len(wrong)
    assert done["ProcessedItemCount"] == len(wrong) + 2
    assert done["ImportedItemCount"] == 2
    assert items(engine) == THINGS
    assert len(caplog.records) == 10
    assert caplog.messages[1].endswith(
        "items.json: One or more parameter values were invalid: Missing the key n in the item"
    )


def test_a_later_item_replaces_an_earlier_one(engine: Engine, bucket: Path) -> None:
    (bucket / "1.json").write_bytes(encode_lines([item(pk="a", n=1, g="red", old=True)]))
    (bucket / "2.json").write_bytes(encode_lines([item(pk="a", n=1, g="blue")]))
    assert import_table(engine)["ImportedItemCount"] == 2
    assert items(engine) == [item(pk="a", n=1, g="blue")]
    assert items(engine, IndexName="by_g") == [item(pk="a", n=1, g="blue")]


def test_damaged_gzip_data_is_an_error_and_the_rest_is_imported(
    engine: Engine, bucket: Path
) -> None:
    whole = gzip.compress(encode_lines(THINGS[1:]))
    (bucket / "1.gz").write_bytes(gzip.compress(encode_lines(THINGS * 100))[:50])
    (bucket / "2.gz").write_bytes(b"not gzip")
    (bucket / "3.gz").write_bytes(whole)
    done = import_table(engine, InputCompressionType="GZIP")
    assert done["ImportStatus"] == "COMPLETED"
    assert done["ErrorCount"] == 2
    assert THINGS[1] in items(engine)


# -- CSV


def test_csv_keys_have_their_types_and_the_rest_are_strings(engine: Engine, bucket: Path) -> None:
    (bucket / "items.csv").write_text(
        'pk,n,g,note\na,1,red,"two\nlines, and a ""quote"""\nb,2.50,blue,\n'
    )
    done = import_table(engine, "CSV")
    assert (done["ErrorCount"], done["ImportedItemCount"]) == (0, 2)
    assert items(engine) == [
        item(pk="a", n=1, g="red", note='two\nlines, and a "quote"'),
        {"pk": {"S": "b"}, "n": {"N": "2.5"}, "g": {"S": "blue"}, "note": {"S": ""}},
    ]


def test_csv_options_name_the_delimiter_and_the_header(engine: Engine, bucket: Path) -> None:
    (bucket / "items.csv").write_bytes(gzip.compress(b"a;1;red\r\nb;2;blue\r\n"))
    options = {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "n", "g"]}}
    done = import_table(engine, "CSV", InputFormatOptions=options, InputCompressionType="GZIP")
    assert done["InputFormatOptions"] == options
    assert done["InputCompressionType"] == "GZIP"
    assert items(engine) == [item(pk="a", n=1, g="red"), item(pk="b", n=2, g="blue")]


def test_wrong_csv_rows_are_counted(engine: Engine, bucket: Path) -> None:
    (bucket / "1.csv").write_text("pk,n,g\na,one,red\nb,2\n,3,red\nc,3,red\n")
    (bucket / "2.csv").write_text("pk,pk\na,b\n")
    (bucket / "3.csv").write_bytes(b"pk,n,g\nd,4,\xff\n")
    (bucket / "4.csv").write_text("pk,n,g\n" + "e" * 200_000 + ",1,red\n")
    done = import_table(engine, "CSV")
    assert done["ErrorCount"] == 6
    assert items(engine) == [item(pk="c", n=3, g="red")]


# -- failures


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ({"S3Bucket": "missing"}, "S3NoSuchBucket"),
        ({"S3KeyPrefix": "nothing"}, "S3NoSuchKey"),
    ],
)
def test_an_import_without_files_fails_and_makes_no_table(
    engine: Engine, source: Json, code: str
) -> None:
    done = import_table(engine, source=source)
    assert (done["ImportStatus"], done["FailureCode"]) == ("FAILED", code)
    assert tables(engine) == []
    with pytest.raises(ResourceNotFoundException):
        engine.call("DescribeTable", {"TableName": "things"})


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"input_format": "ION"}, ValidationException),
        ({"InputCompressionType": "ZSTD"}, ValidationException),
        ({"InputFormatOptions": {"Csv": {"Delimiter": ";"}}}, ValidationException),
        (
            {"TableCreationParameters": table_request("things", "pk:S") | {"KeySchema": []}},
            DynamoDBError,
        ),
        ({"source": {"S3KeyPrefix": "../../up"}}, ValidationException),
        ({"source": {"S3KeyPrefix": "/etc/"}}, ValidationException),
        ({"source": {"S3Bucket": ".."}}, ValidationException),
    ],
)
def test_a_wrong_request_imports_nothing(
    engine: Engine, bucket: Path, members: Json, fault: type[DynamoDBError]
) -> None:
    (bucket / "items.json").write_bytes(encode_lines(THINGS))
    with pytest.raises(fault):
        import_table(engine, **members)
    assert tables(engine) == []
    assert engine.call("ListImports")["ImportSummaryList"] == []


def test_symbolic_links_are_not_objects(engine: Engine, bucket: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_bytes(encode_lines(THINGS))
    (bucket / "secret.json").symlink_to(outside / "secret.json")
    (bucket / "folder").symlink_to(outside)
    assert import_table(engine)["FailureCode"] == "S3NoSuchKey"
    with pytest.raises(ValidationException, match="is a symbolic link"):
        import_table(engine, source={"S3KeyPrefix": "folder/"})


def test_an_existing_table_is_not_changed(engine: Engine, bucket: Path) -> None:
    engine.call("CreateTable", table_request("things"))
    (bucket / "items.json").write_bytes(encode_lines(THINGS))
    with pytest.raises(ResourceInUseException, match="Table already exists: things"):
        import_table(engine)
    assert items(engine) == []


def test_the_rows_of_a_failed_import_are_deleted(bucket: Path) -> None:
    with Engine(":memory:", s3=bucket.parent, background=False) as engine:
        import_table(engine, source={"S3KeyPrefix": "nothing"})
        engine.finish_maintenance()
        (bucket / "items.json").write_bytes(encode_lines(THINGS))
        assert import_table(engine)["ImportStatus"] == "COMPLETED"
        assert engine.check().rows == {("things", None): 2, ("things", "by_g"): 1}


def test_a_token_makes_one_import(engine: Engine, bucket: Path) -> None:
    (bucket / "items.json").write_bytes(encode_lines(THINGS))
    first = import_table(engine, ClientToken="once")
    request: Json = {
        "S3BucketSource": {"S3Bucket": "imports"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": PARAMETERS,
        "ClientToken": "once",
    }
    assert engine.call("ImportTable", request) == {"ImportTableDescription": first}
    with pytest.raises(ImportConflictException, match="The ClientToken once was used"):
        engine.call("ImportTable", {**request, "InputCompressionType": "GZIP"})


def test_imports_are_listed_in_pages(engine: Engine, bucket: Path) -> None:
    (bucket / "items.json").write_bytes(encode_lines(THINGS))
    names = ["one", "two", "three"]
    for name in names:
        import_table(engine, TableCreationParameters={**PARAMETERS, "TableName": name})
    found: list[str] = []
    start: Json = {}
    while True:
        page = engine.call("ListImports", {"PageSize": 2, **start})
        found += [one["TableArn"] for one in page["ImportSummaryList"]]
        if "NextToken" not in page:
            break
        assert len(page["NextToken"]) == 112
        start = {"NextToken": page["NextToken"]}
    assert sorted(found) == sorted(ARN.removesuffix("things") + name for name in names)
    (summary,) = engine.call("ListImports", {"TableArn": ARN.removesuffix("things") + "one"})[
        "ImportSummaryList"
    ]
    assert summary.keys() == {
        "ImportArn",
        "ImportStatus",
        "TableArn",
        "S3BucketSource",
        "InputFormat",
        "StartTime",
        "EndTime",
    }


def test_an_unknown_import_is_not_found(engine: Engine) -> None:
    with pytest.raises(DynamoDBError) as caught:
        engine.call("DescribeImport", {"ImportArn": f"{ARN}/import/1"})
    assert caught.value.code == "ImportNotFoundException"


def test_an_imported_table_is_a_table_like_others(engine: Engine, bucket: Path) -> None:
    (bucket / "items.json").write_bytes(encode_lines(THINGS * 400))
    import_table(engine)
    engine.call("PutItem", {"TableName": "things", "Item": item(pk="new", n=1, g="red")})
    assert len(items(engine, IndexName="by_g")) == 2
    engine.call("DeleteTable", {"TableName": "things"})
    assert tables(engine) == []


KILLED = """
import os, sys
from tablewright.engine import Engine
from tablewright.engine.operations import imports

def die(*_):
    os.kill(os.getpid(), 9)

with Engine(sys.argv[1], s3=sys.argv[2]) as engine:
    imports._end = die
    engine.call("ImportTable", eval(sys.argv[3]))
"""


@pytest.mark.slow
def test_the_import_of_a_killed_process_has_failed_and_leaves_no_rows(
    bucket: Path, tmp_path: Path
) -> None:
    (bucket / "items.json").write_bytes(encode_lines(THINGS))
    request: Json = {
        "S3BucketSource": {"S3Bucket": "imports"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": PARAMETERS,
    }
    file = tmp_path / "things.db"
    command = [sys.executable, "-c", KILLED, str(file), str(bucket.parent), repr(request)]
    assert subprocess.run(command, check=False).returncode == -9
    with Engine(file, s3=bucket.parent) as engine:
        (one,) = engine.call("ListImports")["ImportSummaryList"]
        assert one["ImportStatus"] == "FAILED"
        described = engine.call("DescribeImport", {"ImportArn": one["ImportArn"]})
        assert described["ImportTableDescription"]["FailureCode"] == "ProcessEnded"
        assert tables(engine) == []
        assert import_table(engine)["ImportStatus"] == "COMPLETED"
        assert items(engine) == THINGS
    with closing(apsw.Connection(str(file))) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_schema WHERE name GLOB 'tree$*'"
        ).fetchall()
    assert len(names) == 4  # the catalog, the tokens, the table and its index


def test_an_import_in_progress_is_not_failed_by_another_engine(
    bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "things.db"
    (bucket / "items.json").write_bytes(encode_lines(THINGS))

    def open_meanwhile(*arguments: Any) -> list[Any]:
        with Engine(file) as other:
            (one,) = other.call("ListImports")["ImportSummaryList"]
            assert one["ImportStatus"] == "IN_PROGRESS"
            assert tables(other) == []
        return list(read_file(*arguments))

    monkeypatch.setattr("tablewright.engine.operations.imports.read_file", open_meanwhile)
    with Engine(file, s3=bucket.parent) as engine:
        assert import_table(engine)["ImportStatus"] == "COMPLETED"


def test_an_import_that_cannot_store_its_outcome_has_failed(
    bucket: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process begins to write while the file is read."""
    file = tmp_path / "things.db"
    (bucket / "items.json").write_bytes(encode_lines(THINGS))
    reading = "tablewright.engine.operations.imports.read_file"
    with Engine(file, s3=bucket.parent, busy_seconds=0.01) as engine, Engine(file) as other:
        with ExitStack() as writing, monkeypatch.context() as patch:

            def write_meanwhile(*arguments: Any) -> list[Any]:
                writing.enter_context(other.sandbox())
                return list(read_file(*arguments))

            patch.setattr(reading, write_meanwhile)
            with pytest.raises(StoreBusy):
                import_table(engine)
        assert import_table(engine)["ImportStatus"] == "COMPLETED"
        first, _ = engine.call("ListImports")["ImportSummaryList"]
        assert first["ImportStatus"] == "FAILED"
        assert items(engine) == THINGS


def test_an_import_ends_with_its_sandbox(
    engine: Engine, bucket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trees have numbers that other tables get."""
    (bucket / "items.json").write_bytes(encode_lines(THINGS))
    other = table_request("other", "pk:S / n:N", glob={"by_g": ("g:S", "ALL")})
    with ExitStack() as stack:
        stack.enter_context(engine.sandbox())

        def end_sandbox(*arguments: Any) -> list[Any]:
            stack.close()
            engine.call("CreateTable", other)
            return list(read_file(*arguments))

        monkeypatch.setattr("tablewright.engine.operations.imports.read_file", end_sandbox)
        with pytest.raises(ImportNotFoundException, match="the sandbox in which it began"):
            import_table(engine)
    assert tables(engine) == ["other"]
    assert engine.call("Scan", {"TableName": "other"})["Count"] == 0
    assert engine.call("ListImports") == {"ImportSummaryList": []}
