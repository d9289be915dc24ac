"""The command line, run as a user runs it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tablewright
from tablewright.engine import Engine
from tablewright.server import serving
from tests.commands import mistake, run
from tests.engine.test_integrity import CATALOG_DAMAGES, DAMAGES, damage, make_file
from tests.server.conftest import TABLE
from tests.server.http import Client
from tests.server.test_requests import get, put
from tests.server.test_stopping import served


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database file with a table, an index and two items, one of them in the index."""
    index = {
        "IndexName": "by_colour",
        "KeySchema": [{"AttributeName": "colour", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    table = TABLE | {
        "AttributeDefinitions": [
            {"AttributeName": "k", "AttributeType": "S"},
            {"AttributeName": "colour", "AttributeType": "S"},
        ],
        "GlobalSecondaryIndexes": [index],
    }
    file = tmp_path / "some.db"
    engine = Engine(file)
    engine.call("CreateTable", table)
    items = [put("a", colour="red"), put("b")]
    for item in items:
        engine.call("PutItem", item)
    engine.close()
    return file


def test_the_version_is_shown() -> None:
    result = run("--version")
    assert (result.returncode, result.stdout) == (0, f"tablewright {tablewright.__version__}\n")


def test_help_names_every_command() -> None:
    result = run("--help")
    assert result.returncode == 0
    assert all(command in result.stdout for command in ("serve", "check-file", "help"))


def test_help_imports_only_the_commands() -> None:
    ours = ("mapping", "model", "partiql", "server", "studio")
    slow = ["asyncio", "httptools", "pydantic", *(f"tablewright.{name}" for name in ours)]
    code = f"import sys, tablewright.cli.all_commands\nprint(sys.modules.keys() & {slow})"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"


def test_serve_prints_its_url_and_nothing_else_on_standard_output() -> None:
    with served() as (process, url):
        host, _, port = url.rpartition(":")
        assert host == "http://127.0.0.1"
        assert 0 < int(port) < 65536
        with Client(url) as client:
            assert client.call("ListTables").json == {"TableNames": []}
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (0, "")
    assert "in memory" in errors


def test_what_was_served_from_a_file_is_there_again(tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    for expected in ({}, {"Item": {"k": {"S": "a"}}}):
        with served(file, "--durability", "normal") as (process, url):
            with Client(url) as client:
                client.call("CreateTable", TABLE)
                assert client.call("GetItem", get("a")).json == expected
                client.call("PutItem", put("a"))
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)
        assert process.returncode == 0


def test_a_port_in_use_is_one_line() -> None:
    engine = Engine(":memory:")
    with serving(engine) as url:
        result = run("serve", "--port", url.rsplit(":", 1)[1])
    engine.close()
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "port is in use" in result.stderr


def test_a_host_name_that_is_not_known_is_one_line() -> None:
    result = run("serve", "--host", "absent.invalid", "--port", "0", "--insecure")
    assert result.returncode == 2
    assert "cannot listen on absent.invalid:0: " in result.stderr
    assert "unknown error" not in result.stderr


def test_a_host_that_cannot_be_had_is_one_line() -> None:
    result = run("serve", "--host", "192.0.2.1", "--port", "0", "--insecure")
    assert (result.returncode, result.stdout) == (2, "")
    warning, message = result.stderr.splitlines()
    assert "WARNING" in warning
    assert message.startswith("tablewright: cannot listen on 192.0.2.1:0")


def test_a_missing_directory_is_one_line(tmp_path: Path) -> None:
    assert "does not exist" in mistake("serve", "--port", "0", tmp_path / "absent" / "x.db")


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["check-file"]])
def test_a_file_that_is_no_database_is_one_line(tmp_path: Path, command: list[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 1000)
    line = mistake(*command, file)
    assert "notes.txt" in line
    assert file.read_text() == "not a database\n" * 1000


def test_check_file_of_a_missing_file_does_not_create_it(tmp_path: Path) -> None:
    result = run("check-file", tmp_path / "absent.db")
    assert result.returncode == 2
    assert "no such file" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_check_file_shows_what_it_checked(file: Path) -> None:
    result = run("check-file", file)
    assert result.returncode == 0
    assert "by_colour" in result.stdout
    assert "all tables and indexes agree" in result.stdout


def test_check_file_of_an_empty_file_leaves_it_empty(tmp_path: Path) -> None:
    file = tmp_path / "empty.db"
    file.touch()
    line = mistake("check-file", file)
    assert "the file is empty" in line
    assert [(entry.name, entry.stat().st_size) for entry in tmp_path.iterdir()] == [("empty.db", 0)]


@pytest.mark.parametrize("name", DAMAGES)
def test_check_file_reports_damage(tmp_path: Path, name: str) -> None:
    file = tmp_path / "damaged.db"
    make_file(file)
    statement, what = DAMAGES[name]
    damage(file, statement)
    result = run("check-file", file)
    assert result.returncode == 1
    assert what in result.stdout
    assert "all tables and indexes agree" not in result.stdout
    assert re.search(r": \d+ problems?\n$", result.stderr)
    assert result.stderr.count("\n") == 1


def test_check_file_reports_a_damaged_file(tmp_path: Path) -> None:
    file = tmp_path / "damaged.db"
    make_file(file)
    with file.open("r+b") as opened:
        opened.seek(2 * 8192)
        opened.write(b"\xff" * 4096)
    result = run("check-file", file)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


def cut(content: bytes) -> bytes:
    return content[:8192]


def break_page_size(content: bytes) -> bytes:
    return content[:16] + b"\x03\x01" + content[18:]


def break_schema(content: bytes) -> bytes:
    return content[:100] + b"\xff" * 1900 + content[2000:]


@pytest.mark.parametrize("damage_file", [cut, break_page_size, break_schema])
def test_check_file_reports_a_file_that_cannot_be_opened(
    tmp_path: Path, damage_file: Callable[[bytes], bytes]
) -> None:
    file = tmp_path / "damaged.db"
    make_file(file)
    file.write_bytes(damage_file(file.read_bytes()))
    result = run("check-file", file)
    assert (result.returncode, result.stdout) == (1, "")
    assert "the file is damaged" in result.stderr
    assert "`tablewright repair` saves what is readable" in result.stderr
    assert result.stderr.count("\n") == 1


def test_check_file_of_a_directory_says_so(tmp_path: Path) -> None:
    result = run("check-file", tmp_path)
    assert (result.returncode, result.stderr) == (
        2,
        f"tablewright: {tmp_path}: it is a directory\n",
    )


@pytest.mark.parametrize("name", CATALOG_DAMAGES)
def test_check_file_reports_a_damaged_catalog(tmp_path: Path, name: str) -> None:
    make_file(tmp_path / "damaged.db")
    damage(tmp_path / "damaged.db", CATALOG_DAMAGES[name])
    result = run("check-file", tmp_path / "damaged.db")
    assert "Traceback" not in result.stderr
    assert result.returncode == 1


def test_serve_wants_an_existing_folder_for_s3(tmp_path: Path) -> None:
    result = run("serve", "--s3", str(tmp_path / "missing"))
    assert result.returncode == 2
    assert f"--s3 {tmp_path / 'missing'}: no such folder; create it first" in result.stderr


def test_serve_exports_to_the_folder(tmp_path: Path) -> None:
    with served("--s3", str(tmp_path)) as (_, url), Client(url) as client:
        assert client.call("CreateTable", TABLE).status == 200
        on = {"PointInTimeRecoveryEnabled": True}
        update = {"TableName": "things", "PointInTimeRecoverySpecification": on}
        client.call("UpdateContinuousBackups", update)
        arn = "arn:aws:dynamodb:us-east-1:123456789012:table/things"
        request = {"TableArn": arn, "S3Bucket": "exports"}
        assert client.call("ExportTableToPointInTime", request).status == 200
    assert list(tmp_path.glob("exports/AWSDynamoDB/*/manifest-summary.json"))
