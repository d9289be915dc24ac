"""An index that is built step by step, between other requests, ends as one built at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

from tablewright.engine import Engine, maintenance
from tablewright.errors import ResourceInUseException, ValidationException
from tests.examples import examples
from tests.properties.model import Item, TableModel, place
from tests.properties.test_table import INDEXES, ITEMS, TableMachine


class BuildMachine(TableMachine):
    """The requests of `TableMachine`, with steps of maintenance between them."""

    def new_engine(self) -> Engine:
        return Engine(":memory:", background=False)

    def is_building(self) -> bool:
        """Whether `late` is under construction."""
        indexes = self.call("DescribeTable")["Table"]["GlobalSecondaryIndexes"]
        return any(index["IndexStatus"] == "CREATING" for index in indexes)

    def readable_indexes(self) -> list[str]:
        names = super().readable_indexes()
        return [name for name in names if name != "late"] if self.is_building() else names

    @initialize(items=st.lists(ITEMS, min_size=5, max_size=12, unique_by=place))
    def create(self, items: list[Item]) -> None:
        super().create(items)
        self.add_an_index()

    @rule()
    def step(self) -> None:
        self.engine.maintain()
        assert self.engine.check().problems == []

    @precondition(lambda self: self.is_building())
    @rule()
    def an_unfinished_index_is_not_read(self) -> None:
        with pytest.raises(ValidationException, match="backfilling global secondary index: late"):
            self.call("Scan", IndexName="late")

    @rule()
    def replace_the_table(self) -> None:
        if self.is_building():
            with pytest.raises(ResourceInUseException):
                self.call("DeleteTable")
            return
        self.call("DeleteTable")
        self.model = TableModel(dict(INDEXES))
        super().create([])

    def teardown(self) -> None:
        if self.engine.call("ListTables")["TableNames"]:
            self.engine.finish_maintenance()
            assert not self.is_building()
            if "late" in self.model.indexes:
                self.compare_with_an_index_built_at_once()
        super().teardown()

    def compare_with_an_index_built_at_once(self) -> None:
        built: list[Any] = self.call("Scan", IndexName="late")["Items"]
        self.remove_an_index()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(maintenance, "MAX_STEP_ROWS", 1000)
            self.add_an_index()
        assert self.call("Scan", IndexName="late")["Items"] == built


def test_an_index_built_between_other_requests_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "MAX_STEP_ROWS", 2)
    monkeypatch.setattr(maintenance, "MAX_CHUNK_BYTES", 1000)  # about five items
    run_state_machine_as_test(BuildMachine, settings=examples(50, steps=25))
