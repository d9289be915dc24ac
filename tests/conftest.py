"""Settings shared by all tests: the number of examples that hypothesis tries, when to collect
garbage, which compiled modules are kept, and an engine.

`dev` (the default) tries a few new examples on every run, so that `make test` stays quick. `ci`
tries sixteen times as many, the same ones on every run, so that a change never fails because of an
older bug. A property that needs another number than its profile's uses `tests.examples`.
"""

from __future__ import annotations

import compileall
import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import tablewright
from tablewright import Engine
from tablewright.plan.migration import revision
from tests import reports
from tests.prepared import Prepare, prepared, with_tables

# Compiled modules are written until the tests are collected, whatever the environment says (the
# Makefile does it for the modules imported before this one): to compile everything again takes a
# quarter of the CPU time of a run. Not later, because a module that a test writes twice within a
# second would be mistaken for the first one.
sys.dont_write_bytecode = False

revision.PROGRAM_SECONDS = 0.0  # what a migration waits for connected programs

pytest.register_assert_rewrite("tests.engine.database")  # before a test imports it

settings.register_profile("dev", deadline=None, max_examples=6)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=100,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def pytest_configure(config: pytest.Config) -> None:
    """Collect no garbage while the tests are collected; a third of the time went there."""
    gc.disable()
    if reports.is_enough(config):
        config.pluginmanager.register(reports)
    if not hasattr(config, "workerinput"):  # for the commands that tests start
        compileall.compile_dir(Path(tablewright.__file__).parent, quiet=2)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import nothing of the browser tests in a run without them."""
    if collection_path.name == "browser" and "not browser" in config.option.markexpr:
        return True
    return None


def pytest_collection_finish() -> None:
    """Collect garbage again, but never look at the thousands of tests and their parameters.

    And less often than Python does, after 700 objects: that took a tenth of the CPU time, and after
    50,000 still a hundredth.
    """
    gc.freeze()
    gc.set_threshold(200_000, 10, 10)
    gc.enable()
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # for the commands that tests start


@pytest.fixture
def prepare() -> Prepare:
    """What is in `engine`. A folder or a file overrides it."""
    return with_tables()


@pytest.fixture
def engine(prepare: Prepare) -> Iterator[Engine]:
    """An engine in memory. What a test writes is undone."""
    with prepared(prepare) as engine:
        yield engine
