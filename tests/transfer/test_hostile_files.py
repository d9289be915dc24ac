"""What is no dump is refused, with its line, in bounded memory; what was loaded before stays."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.transfer import TransferRefused, TransferState, dump, load, rows
from tablewright.transfer.dumpfile import find_dumps, manifest_path, read_rows
from tablewright.transport.targets import Local
from tablewright.wire.lines import MAX_BLANK_LINES, MAX_LINE, encode_lines
from tests.transfer.tables import PLAIN, compared, fill, held, thing, things

MB = 1024 * 1024


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as opened:
        yield opened


def zipped(file: Path, *parts: bytes) -> Path:
    with gzip.GzipFile(file, "wb", compresslevel=1) as written:
        for part in parts:
            written.write(part)
    return file


def test_a_line_without_end_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    start = encode_lines([thing("a")]) + b'{"Item":{"k":{"S":"'
    file = zipped(tmp_path / "long.json.gz", start, *[b"a" * MB] * (MAX_LINE // MB + 2))
    tracemalloc.start()
    try:
        with pytest.raises(TransferRefused) as refused:
            list(read_rows(file))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert str(refused.value) == (
        f"{file}, line 2: longer than {MAX_LINE} bytes; no item is that long"
    )
    assert peak < 4 * MAX_LINE


@pytest.mark.parametrize("unit", [b"{}", b"[]", b'""'])
def test_a_line_with_more_values_than_an_item_is_refused_before_it_is_decoded(
    tmp_path: Path, unit: bytes
) -> None:
    values = b",".join([unit] * 1_700_000)
    file = zipped(tmp_path / "many.json.gz", b'{"Item":{"k":{"L":[', values, b"]}}}\n")
    with pytest.raises(TransferRefused, match=r"line 1: more values than an item of 409600 bytes"):
        list(read_rows(file))


def test_the_longest_line_that_an_item_can_be_is_read(tmp_path: Path) -> None:
    numbers = [f"{digits}e-{power}" for power in range(110, 131) for digits in range(1, 900)]
    tiny = {"NS": sorted({format(float(number), ".130f")[:132] for number in numbers})}
    file = tmp_path / "tiny.json"
    file.write_bytes(encode_lines([thing("a", n={"NS": ["1e-130", "2e-130"]}), thing("b", n=tiny)]))
    assert [row.item["k"] for row in read_rows(file)] == [{"S": "a"}, {"S": "b"}]


def test_an_item_that_is_too_large_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    file.write_bytes(encode_lines([thing("a"), thing("b", v={"S": "x" * 409_600})]))
    with pytest.raises(
        TransferRefused, match=r"line 2: an item of 40960\d bytes; the limit is 409"
    ):
        list(read_rows(file))


@pytest.mark.parametrize(
    "line",
    [
        b'{"Item":' + b'{"a":' * 100_000,
        b'{"Item":{"k":' + b'{"L":[' * 60_000 + b"]}" * 60_000 + b"}}",
        b'{"Item":{"k":{"N":"' + b"9" * 100_000 + b'"}}}',
        b'{"Item":{"k":{"N":"x"}}}',
        b'{"Item":{"k":"x"}}',
        b'{"Item":{"k":{"S":"\xff"}}}',
        b'{"Item":{"":{"S":"x"}}}',
        b'{"Item":[]}',
        b'{"item":{}}',
        b"[]",
        b"null",
        b"\x00\x01",
        b"k,v",
    ],
)
def test_what_is_no_item_is_refused_with_its_line(tmp_path: Path, line: bytes) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(encode_lines([thing("a")]) + b"\n" + line + b"\n")
    with pytest.raises(TransferRefused) as refused:
        list(read_rows(file))
    assert str(refused.value).startswith(f"{file}, line 3: ")
    assert len(str(refused.value)) < 5000


def test_blank_lines_without_end_are_refused(tmp_path: Path) -> None:
    file = zipped(
        tmp_path / "blank.json.gz", encode_lines([thing("a")]), b"\n" * (MAX_BLANK_LINES + 2)
    )
    with pytest.raises(TransferRefused, match=f"more than {MAX_BLANK_LINES} empty lines in a row"):
        list(read_rows(file))


def test_what_was_loaded_before_a_bad_line_stays_and_a_fixed_file_loads(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MAX_SORTED_BYTES", 8500)  # 25 items
    engine.call("CreateTable", PLAIN)
    file = tmp_path / "things.json"
    good = encode_lines(things(100))
    file.write_bytes(good + b"{]\n")
    state = TransferState(tmp_path / "state.json", str(file), "here", "things")
    with pytest.raises(TransferRefused, match="line 101"):
        list(load(find_dumps(file, "things"), Local(engine), state=state, writers=1))
    # the items of the batch that the bad line ended are not written
    assert sorted(item["k"]["S"] for item in held(engine)) == [f"k{n:06}" for n in range(75)]
    assert (tmp_path / "state.json").exists()
    file.write_bytes(good)
    state = TransferState(tmp_path / "state.json", str(file), "here", "things")
    assert compared(load(find_dumps(file, "things"), Local(engine), state=state))["things"].is_equal


# -- manifests


def manifested(folder: Path, engine: Engine, change: Callable[[dict[str, Any]], object]) -> Path:
    fill(engine, PLAIN, things(3))
    file = folder / "things.json"
    compared(dump(Local(engine), file, table="things"))
    manifest = json.loads(manifest_path(file).read_bytes())
    change(manifest)
    manifest_path(file).write_text(json.dumps(manifest))
    return file


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.pop("table"),
        lambda manifest: manifest.pop("count"),
        lambda manifest: manifest.update(count=-1),
        lambda manifest: manifest.update(count="3"),
        lambda manifest: manifest.update(checksum="f" * 100_000),
        lambda manifest: manifest.update(checksum="-" + "f" * 31),
        lambda manifest: manifest["table"].update(request=[]),
        lambda manifest: manifest["table"].update(ttl=1),
        lambda manifest: manifest["table"]["request"].update(TableName="../things"),
        lambda manifest: manifest["table"]["request"].update(TableName=7),
        lambda manifest: manifest["table"]["request"].pop("TableName"),
        lambda manifest: manifest["table"]["request"].pop("KeySchema"),
        lambda manifest: manifest["table"]["request"].update(KeySchema=[{"AttributeName": "x"}]),
        lambda manifest: manifest["table"]["request"].update(AttributeDefinitions=[]),
        lambda manifest: manifest["table"]["request"].update(AttributeDefinitions="k"),
    ],
)
def test_a_manifest_that_is_none_is_refused(
    tmp_path: Path, engine: Engine, change: Callable[[dict[str, Any]], object]
) -> None:
    file = manifested(tmp_path, engine, change)
    with pytest.raises(TransferRefused):
        find_dumps(file, None)


def test_a_manifest_of_megabytes_is_refused(tmp_path: Path, engine: Engine) -> None:
    file = manifested(tmp_path, engine, lambda manifest: manifest.update(more="x" * 2 * MB))
    with pytest.raises(TransferRefused, match="larger than 1048576 bytes"):
        find_dumps(file, None)


# -- links


def test_a_link_out_of_a_folder_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes(encode_lines([thing("a")]))
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "data.json").symlink_to(secret)
    with pytest.raises(TransferRefused, match="outside of the folder"):
        find_dumps(folder, "things")


def test_a_dump_does_not_write_through_a_link(tmp_path: Path, engine: Engine) -> None:
    fill(engine, PLAIN, things(3))
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("things.json", "things.json.part", "things.json.part.manifest"):
        (tmp_path / name).symlink_to(victim)
    assert compared(dump(Local(engine), tmp_path / "things.json", table="things"))[
        "things"
    ].is_equal
    assert victim.read_text() == "mine"
    assert not (tmp_path / "things.json").is_symlink()


def test_a_state_is_not_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "state.json.new").symlink_to(victim)
    TransferState(tmp_path / "state.json", "a", "b").save()
    assert victim.read_text() == "mine"
