"""A killed writer leaves the stream and the table in step."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tablewright.engine import Engine
from tests.durability.orders import NAME, TABLE, contents
from tests.durability.test_kill import child, read_until_killed
from tests.engine.streaming import enabled, fold, read_stream, stream_arn

pytestmark = pytest.mark.slow

ROUNDS = 6


@pytest.mark.parametrize("shards", [1, 3])
def test_the_records_give_the_table_after_each_kill(tmp_path: Path, shards: int) -> None:
    file = tmp_path / "orders.db"
    with Engine(file, durability="normal", stream_shards=shards) as engine:
        engine.call("CreateTable", TABLE | {"StreamSpecification": enabled()})
    chance = random.Random(shards)
    numbers: list[str] = []
    for turn in range(ROUNDS):
        with child("tests.durability.writer", file, "normal", str(turn)) as process:
            read_until_killed(process, chance.randint(1, 100))
        with Engine(file, durability="normal") as engine:
            report = engine.check()
            assert report, report.problems[:5]
            records = read_stream(engine.call, stream_arn(engine.call, NAME))
            expected = {
                json.dumps({"pk": item["pk"], "sk": item["sk"]}, sort_keys=True): item
                for item in contents(engine).values()
            }
            assert fold(records) == expected
            found = sorted(record["dynamodb"]["SequenceNumber"] for record in records)
            assert len(set(found)) == len(found)
            assert found[: len(numbers)] == numbers  # no number was used twice
            numbers = found
            engine.rotate_shards(NAME)
