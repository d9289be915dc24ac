"""A pytest plugin that records which lines each test runs, and how long it takes.

`RECORD` in the environment names the folder of the two results: coverage's data, with the id of the
test as context, and `durations.json`. Of the tests that `UNTRACED` names only the durations are
recorded: they raise at any instruction, those of a tracer too, or run the code in other processes.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

FOLDER = Path(os.environ["RECORD"])
UNTRACED = tuple(os.environ["UNTRACED"].split())


class Recorder:
    def __init__(self) -> None:
        self.durations: dict[str, float] = {}
        self.coverage = coverage.Coverage(
            data_file=FOLDER / "coverage", config_file=False, source=["src/tablewright"]
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began = time.perf_counter()
        is_traced = not item.nodeid.startswith(UNTRACED)
        if is_traced:
            self.coverage.start()
            self.coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            if is_traced:
                self.coverage.stop()
            self.durations[item.nodeid] = time.perf_counter() - began

    def pytest_sessionfinish(self) -> None:
        self.coverage.save()
        (FOLDER / "durations.json").write_text(json.dumps(self.durations))


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder())
