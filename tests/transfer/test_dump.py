"""What was dumped is loaded again, exactly; what is damaged is not taken for whole."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.engine import Engine
from tablewright.errors import TableMismatch, TableNotFound, TransferRefused, ValidationException
from tablewright.server import serving
from tablewright.transfer import Checksum, dump, dump_all, load, open_target
from tablewright.transfer.dumpfile import Dump, DumpData, find_dumps, read_rows
from tablewright.transport.targets import Local
from tablewright.values import Item
from tablewright.wire.lines import encode_lines
from tests.encoding.strategies import items
from tests.examples import examples
from tests.transfer.tables import PLAIN, RICH, compared, fill, held, thing, things
from tests.transports import InterceptingTransport

#: Lines as DynamoDB's export to S3 has them.
EXPORTED = (
    b'{"Item":{"k":{"S":"a"},"Authors":{"SS":["Author1","Author2"]},"Price":{"N":"18.95"}}}\n'
    b'{"Item":{"k":{"S":"b"},"InPublication":{"BOOL":false},"none":{"NULL":true}}}\n'
    b'{"Item":{"k":{"S":"c"},"raw":{"B":"AAEC"},"in":{"M":{"l":{"L":[{"N":"1"},{"S":""}]}}}}}\n'
)


@pytest.fixture
def source() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine


@pytest.fixture
def target() -> Iterator[Engine]:
    with Engine(":memory:") as engine:
        yield engine


def test_a_line_is_what_the_export_to_s3_writes() -> None:
    found = [json.loads(line)["Item"] for line in EXPORTED.splitlines()]
    assert encode_lines(found) == EXPORTED


@pytest.mark.parametrize("name", ["things.json", "things.json.gz", "things"])
def test_a_table_is_dumped_and_loaded(
    tmp_path: Path, source: Engine, target: Engine, name: str
) -> None:
    fill(source, PLAIN, things(200))
    file = tmp_path / name
    dumped = compared(dump(Local(source), file, table="things"))["things"]
    assert dumped.is_equal
    assert list(dumped.sides) == ["source", "file"]
    assert (file.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")
    loaded = compared(load(find_dumps(file, None), Local(target)))["things"]
    assert loaded.is_equal
    assert list(loaded.sides) == ["manifest", "file", "target"]
    assert held(target) == held(source)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name, f"{name}.manifest"]


@given(st.lists(items, max_size=30), st.booleans())
@examples(30)
def test_every_value_survives_exactly(drawn: list[Item], packed: bool) -> None:
    with (
        Engine(":memory:") as source,
        Engine(":memory:") as target,
        tempfile.TemporaryDirectory() as folder,
    ):
        fill(source, PLAIN, [{**item, "k": {"S": f"{n}"}} for n, item in enumerate(drawn)])
        file = Path(folder, "x.json.gz" if packed else "x.json")
        compared(dump(Local(source), file, segments=2))
        assert compared(load(find_dumps(file, None), Local(target), writers=2))["things"].is_equal
        assert held(target) == held(source)


def test_over_http_too(tmp_path: Path, source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(60))
    with serving(source) as url, open_target(url) as end:
        assert compared(dump(end, tmp_path / "x.json"))["things"].is_equal
    with serving(target) as url, open_target(url) as end:
        assert compared(load(find_dumps(tmp_path / "x.json", None), end))["things"].is_equal
    assert held(target) == held(source)


def test_a_loaded_table_has_the_same_keys_indexes_billing_and_ttl(
    tmp_path: Path, source: Engine, target: Engine
) -> None:
    fill(source, RICH, [{"PK": {"B": "AAE="}, "SK": {"N": "1"}, "day": {"S": "d"}}])
    ttl = {"AttributeName": "expires", "Enabled": True}
    source.call("UpdateTimeToLive", {"TableName": "orders", "TimeToLiveSpecification": ttl})
    compared(dump(Local(source), tmp_path / "orders.json"))
    compared(load(find_dumps(tmp_path / "orders.json", None), Local(target)))
    of_index = {"TableName": "orders", "IndexName": "by_day"}
    assert target.call("Scan", of_index) == source.call("Scan", of_index)
    for operation, member in (
        ("DescribeTable", "ProvisionedThroughput"),
        ("DescribeTable", "LocalSecondaryIndexes"),
        ("DescribeTable", "GlobalSecondaryIndexes"),
    ):
        told = [e.call(operation, {"TableName": "orders"})["Table"] for e in (source, target)]
        assert told[0][member] == told[1][member]
    told = [e.call("DescribeTimeToLive", {"TableName": "orders"}) for e in (source, target)]
    assert told[0] == told[1]


def test_a_folder_has_a_file_for_each_table(tmp_path: Path, source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(30))
    fill(source, {**PLAIN, "TableName": "things.json"}, things(2))
    fill(source, RICH, [])
    found = compared(dump_all(Local(source), tmp_path / "all"))
    assert [table.is_equal for table in found.values()] == [True] * 3
    assert sorted(entry.name for entry in (tmp_path / "all").iterdir()) == [
        "orders.json.gz",
        "orders.json.gz.manifest",
        "things.json.gz",
        "things.json.gz.manifest",
        "things.json.json.gz",
        "things.json.json.gz.manifest",
    ]
    assert len(compared(load(find_dumps(tmp_path / "all", None), Local(target)))) == 3
    assert [held(target, name) for name in found] == [held(source, name) for name in found]


def test_one_table_of_a_folder_can_be_loaded(
    tmp_path: Path, source: Engine, target: Engine
) -> None:
    fill(source, PLAIN, things(3))
    fill(source, RICH, [])
    compared(dump_all(Local(source), tmp_path / "all"))
    compared(load(find_dumps(tmp_path / "all", "things"), Local(target)))
    assert target.call("ListTables") == {"TableNames": ["things"]}
    with pytest.raises(TransferRefused, match="no dump of a table 'other'; it has orders, thi"):
        find_dumps(tmp_path / "all", "other")


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path, source: Engine) -> None:
    source.call("CreateTable", PLAIN)
    (tmp_path / "notes").touch()
    with pytest.raises(TransferRefused, match="not an empty folder"):
        compared(dump_all(Local(source), tmp_path))
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize("after", range(12))
def test_a_dump_that_fails_leaves_nothing(tmp_path: Path, source: Engine, after: int) -> None:
    fill(source, PLAIN, things(10))
    fill(source, RICH, [])
    requests = 0

    def look(operation: str, request: dict[str, Any]) -> None:
        nonlocal requests
        requests += 1
        if requests > after:
            raise ValidationException("enough")

    with pytest.raises(ValidationException):
        compared(dump_all(InterceptingTransport(source, look), tmp_path / "all", segments=3))
    requests = 0
    after = min(after, 4)
    with pytest.raises(ValidationException):
        compared(
            dump(
                InterceptingTransport(source, look), tmp_path / "a.json", table="things", segments=3
            )
        )
    assert list(tmp_path.iterdir()) == []


def test_a_dump_that_fails_leaves_the_one_before(tmp_path: Path, source: Engine) -> None:
    fill(source, PLAIN, things(10))
    compared(dump(Local(source), tmp_path / "a.json"))
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}

    def look(operation: str, request: dict[str, Any]) -> None:
        if operation == "Scan":
            raise ValidationException("enough")

    with pytest.raises(ValidationException):
        compared(dump(InterceptingTransport(source, look), tmp_path / "a.json"))
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_what_is_left_of_a_killed_dump_is_replaced(tmp_path: Path, source: Engine) -> None:
    source.call("CreateTable", PLAIN)
    (tmp_path / "all.part").mkdir()
    data = "things.json.gz"
    left = (data, f"{data}.part", f"{data}.manifest", f".{data}.manifest.0123abcd.partial")
    for name in left:
        (tmp_path / "all.part" / name).write_text("half")
    compared(dump_all(Local(source), tmp_path / "all"))
    assert [path.name for path in tmp_path.iterdir()] == ["all"]


@pytest.mark.parametrize("mine", ["thesis.txt", "dump.json.gz/thesis.txt"])
def test_a_folder_that_no_dump_has_left_is_kept(tmp_path: Path, source: Engine, mine: str) -> None:
    source.call("CreateTable", PLAIN)
    left, file = tmp_path / "all.part/things.json.gz", tmp_path / "all.part" / mine
    file.parent.mkdir(parents=True)
    for path in (left, file):
        path.write_text("mine")
    with pytest.raises(TransferRefused, match="no dump has written this"):
        compared(dump_all(Local(source), tmp_path / "all"))
    assert (left.read_text(), file.read_text()) == ("mine", "mine")


def test_a_running_dump_is_not_disturbed(tmp_path: Path, source: Engine) -> None:
    source.call("CreateTable", PLAIN)
    running = dump_all(Local(source), tmp_path / "all")
    next(running)
    with pytest.raises(TransferRefused, match=r"all\.part: another dump is running"):
        compared(dump_all(Local(source), tmp_path / "all"))
    assert compared(running)


def test_one_file_is_for_one_table(tmp_path: Path, source: Engine) -> None:
    source.call("CreateTable", PLAIN)
    source.call("CreateTable", RICH)
    with pytest.raises(TransferRefused, match="has 2 tables: use --table, or a folder"):
        compared(dump(Local(source), tmp_path / "a.json"))


def test_one_segment_gives_the_same_bytes_each_time(tmp_path: Path, source: Engine) -> None:
    fill(source, PLAIN, things(100))
    for name in ("a.json.gz", "b.json.gz"):
        compared(dump(Local(source), tmp_path / name, segments=1))
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_a_table_can_be_loaded_under_another_name(
    tmp_path: Path, source: Engine, target: Engine
) -> None:
    fill(source, PLAIN, things(3))
    compared(dump(Local(source), tmp_path / "a.json"))
    assert compared(load(find_dumps(tmp_path / "a.json", "copies"), Local(target)))[
        "copies"
    ].is_equal
    assert target.call("ListTables") == {"TableNames": ["copies"]}


@pytest.mark.parametrize("packed", [False, True])
def test_a_data_file_of_an_export_to_s3_is_loaded(
    tmp_path: Path, target: Engine, packed: bool
) -> None:
    file = tmp_path / "c4m3u5.json.gz"
    file.write_bytes(gzip.compress(EXPORTED) if packed else EXPORTED)
    target.call("CreateTable", PLAIN)
    found = compared(load(find_dumps(file, "things"), Local(target)))["things"]
    assert found.is_equal
    assert list(found.sides) == ["file", "target"]
    assert len(held(target)) == 3


@pytest.mark.parametrize("inside", ["", "data"])
def test_a_whole_export_to_s3_is_loaded(tmp_path: Path, target: Engine, inside: str) -> None:
    export = tmp_path / "01693685827463-2d8752fd"
    (export / "data").mkdir(parents=True)
    for name in ("manifest-summary.json", "manifest-files.json", "manifest-files.md5", "_started"):
        (export / name).write_text("{}")
    for number, line in enumerate(EXPORTED.splitlines(keepends=True)):
        (export / "data" / f"part{number}.json.gz").write_bytes(gzip.compress(line))
    (export / "data" / "empty.json.gz").write_bytes(gzip.compress(b""))
    target.call("CreateTable", PLAIN)
    found = compared(load(find_dumps(export / inside, "things"), Local(target)))["things"]
    assert found.is_equal
    assert found.sides["file"].count == 3


def test_a_file_without_manifest_needs_the_table(tmp_path: Path, target: Engine) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(EXPORTED)
    with pytest.raises(TransferRefused, match=r"has no manifest that names its table; use --ta"):
        find_dumps(file, None)
    with pytest.raises(TableNotFound, match="no table 'things', and without a manifest"):
        compared(load(find_dumps(file, "things"), Local(target)))
    assert target.call("ListTables") == {"TableNames": []}


def test_a_table_with_other_keys_is_refused(tmp_path: Path, source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(3))
    compared(dump(Local(source), tmp_path / "a.json"))
    target.call("CreateTable", {**RICH, "TableName": "things"})
    with pytest.raises(TableMismatch, match=r"keys: k:S HASH in the source, PK:B HASH, SK:N RANGE"):
        compared(load(find_dumps(tmp_path / "a.json", None), Local(target)))


def test_a_file_that_lost_lines_differs_from_its_manifest(
    tmp_path: Path, source: Engine, target: Engine
) -> None:
    file = tmp_path / "a.json"
    fill(source, PLAIN, things(30))
    compared(dump(Local(source), file))
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    found = compared(load(find_dumps(file, None), Local(target)))["things"]
    assert not found.is_equal
    assert {side: total.count for side, total in found.sides.items()} == {
        "manifest": 30,
        "file": 29,
        "target": 29,
    }


def test_a_file_with_a_changed_value_differs_from_its_manifest(
    tmp_path: Path, source: Engine, target: Engine
) -> None:
    file = tmp_path / "a.json"
    fill(source, PLAIN, [thing("a", n={"N": "1"})])
    compared(dump(Local(source), file))
    file.write_bytes(file.read_bytes().replace(b'"1"', b'"2"'))
    assert not compared(load(find_dumps(file, None), Local(target)))["things"].is_equal


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "line 2: Input data was truncated"),
        (b'{"k":{"S":"a"}}', "line 2: Object missing required field `Item`"),
        (b'{"Keys":{"k":{"S":"a"}},"NewImage":{}}', "line 2: Object missing required field `Item`"),
        (b'{"Item":[]}', "line 2: Expected `object`, got `array`"),
        (b'{"Item":{"k":"a"}}', "line 2: Unexpected value type in payload"),
        (b'{"Item":{"k":{"N":1}}}', "line 2: NUMBER_VALUE cannot be converted to String"),
        (b'{"Item":{"k":{"N":"one"}}}', "line 2: The parameter cannot be converted to a numeric"),
        (b'{"Item":{"k":{"B":"?"}}}', "line 2: Base64 encoded length"),
        (b'{"Item":{"k":{"X":"?"}}}', "line 2: Supplied AttributeValue is empty"),
        (b"\xff\xfe", "line 2: "),
        (b'{"Item":{"k":{"S":"\xff"}}}', "line 2: "),
    ],
)
def test_a_line_that_is_no_item_is_told(tmp_path: Path, line: bytes, told: str) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(EXPORTED.splitlines(keepends=True)[0] + line + b"\n")
    with pytest.raises(TransferRefused) as raised:
        list(read_rows(file))
    assert told in str(raised.value)
    assert str(raised.value).startswith(f"{file}, ")


@pytest.mark.parametrize("left", [3, 12, 60, -9, -1])
def test_gzip_that_is_cut_off_is_told(tmp_path: Path, left: int) -> None:
    file = tmp_path / "a.json.gz"
    file.write_bytes(gzip.compress(EXPORTED)[:left])
    with pytest.raises(TransferRefused, match="truncated or damaged after line"):
        list(read_rows(file))


def test_gzip_that_is_damaged_is_told(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(EXPORTED))
    packed[-6] ^= 1
    (tmp_path / "a.json.gz").write_bytes(packed)
    with pytest.raises(TransferRefused, match="truncated or damaged"):
        list(read_rows(tmp_path / "a.json.gz"))


def test_blank_lines_and_a_missing_last_newline_are_no_matter(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"\n" + EXPORTED.replace(b"\n", b"\r\n\n").rstrip())
    assert Checksum.of_rows(read_rows(file)) == Checksum.of_rows(
        read_rows(io.BufferedReader(io.BytesIO(EXPORTED)))
    )


@pytest.mark.parametrize(
    "text", ["", "{}", '{"format": 1, "table": {"request": {}}, "count": 1, "checksum": "x"}']
)
def test_a_manifest_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_bytes(EXPORTED)
    (tmp_path / "a.json.manifest").write_text(text)
    with pytest.raises(TransferRefused, match="not the manifest of a dump"):
        find_dumps(tmp_path / "a.json", None)


def test_a_manifest_of_a_later_format_is_told(tmp_path: Path, source: Engine) -> None:
    source.call("CreateTable", PLAIN)
    compared(dump(Local(source), tmp_path / "a.json"))
    manifest = tmp_path / "a.json.manifest"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(TransferRefused, match="of format 2; this version reads 1"):
        find_dumps(tmp_path / "a.json", None)


def test_an_item_without_the_key_is_told_with_its_place(tmp_path: Path, target: Engine) -> None:
    target.call("CreateTable", PLAIN)
    file = tmp_path / "a.json"
    file.write_bytes(EXPORTED + b'{"Item":{"other":{"S":"a"}}}\n')
    with pytest.raises(TransferRefused) as raised:
        compared(load(find_dumps(file, "things"), Local(target)))
    assert str(raised.value).startswith(f"{file}, item 4: ValidationException: ")
    assert "Missing the key k" in str(raised.value)
    assert held(target) == []


def test_items_that_an_endpoint_refuses_are_told_with_their_places(
    tmp_path: Path, target: Engine
) -> None:
    target.call("CreateTable", PLAIN)
    file = tmp_path / "a.json"
    file.write_bytes(EXPORTED + b'{"Item":{"other":{"S":"a"}}}\n')
    with (
        serving(target) as url,
        open_target(url) as endpoint,
        pytest.raises(TransferRefused) as raised,
    ):
        compared(load(find_dumps(file, "things"), endpoint))
    assert str(raised.value).startswith(f"{file}, items 1 to 4: ValidationException: ")


def test_streams_are_dumped_and_loaded(source: Engine, target: Engine) -> None:
    fill(source, PLAIN, things(60))
    target.call("CreateTable", PLAIN)
    written = io.BytesIO()
    found = compared(dump(Local(source), written))["things"]
    assert found.sides["source"].count == 60
    for text in (written.getvalue(), gzip.compress(written.getvalue())):
        stream: DumpData = io.BufferedReader(io.BytesIO(text))
        loaded = compared(load([Dump("things", [stream])], Local(target), overwrite=True))
        assert loaded["things"].is_equal
    assert held(target) == held(source)


@pytest.mark.slow
def test_20_000_items_are_dumped_and_loaded(tmp_path: Path) -> None:
    with Engine(tmp_path / "a.db", durability="normal") as source:
        fill(source, PLAIN, things(20_000))
        assert compared(dump(Local(source), tmp_path / "a.json.gz"))["things"].is_equal
    with open_target(str(tmp_path / "b.db")) as target:
        found = compared(load(find_dumps(tmp_path / "a.json.gz", None), target))["things"]
    assert found.is_equal
    assert found.sides["target"].count == 20_000
