"""Whatever is written to a table, its stream tells it: the records folded give the table."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from tablewright.engine import Engine
from tests.engine.streaming import enabled, fold, read_stream, shards, stream_arn
from tests.examples import examples
from tests.properties.test_table import CREATE, NAME, TableMachine, same_items


class StreamMachine(TableMachine):
    """A table with a stream of two shards, which are divided now and then."""

    creation: ClassVar[dict[str, Any]] = CREATE | {"StreamSpecification": enabled()}

    def new_engine(self) -> Engine:
        return Engine(":memory:", stream_shards=2)

    @precondition(lambda self: len(self.shards()) < 8)
    @rule(children=st.integers(1, 2))
    def rotate(self, children: int) -> None:
        self.engine.rotate_shards(NAME, children=children)

    @rule(limit=st.integers(1, 5))
    def the_records_give_the_table(self, limit: int) -> None:
        records = read_stream(self.engine.call, stream_arn(self.engine.call, NAME), Limit=limit)
        numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
        assert len(set(numbers)) == len(numbers)
        found = list(fold(records).values())
        assert same_items(found, list(self.model.items.values()))

    def teardown(self) -> None:
        if self.engine.call("ListTables")["TableNames"]:
            self.the_records_give_the_table(1000)
        super().teardown()

    def shards(self) -> list[dict[str, Any]]:
        return shards(self.engine.call, stream_arn(self.engine.call, NAME))


def test_the_records_of_a_stream_folded_over_an_empty_table_give_the_table() -> None:
    run_state_machine_as_test(StreamMachine, settings=examples(40, steps=20))
