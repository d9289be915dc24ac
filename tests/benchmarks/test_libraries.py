"""The libraries that `make bench-peers` compares do the same as ours."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.peers.libraries import sample
from benchmarks.peers.libraries.catalog import LIBRARIES, OPERATIONS, WRITES
from benchmarks.peers.libraries.client import ARGUMENTS, code_lines, unexpected
from benchmarks.peers.libraries.items import differences, seed, stored_items
from tablewright.testing import EndpointURL

SEEDED = sample.ORDERS_OF_A_CUSTOMER
MODULES = list(dict.fromkeys(library.module for library in LIBRARIES))


@pytest.mark.parametrize("module_name", MODULES)
def test_a_library_returns_the_sample_and_writes_the_items_of_the_design(
    module_name: str, tablewright_endpoint: EndpointURL, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = _library(module_name, monkeypatch)
    seed(tablewright_endpoint, "theirs", SEEDED)
    seed(tablewright_endpoint, "ours", SEEDED)
    ours = importlib.import_module("benchmarks.peers.libraries.tablewright_sync")
    for each, table in ((module, "theirs"), (ours, "ours")):
        with asyncio.Runner() as runner:
            is_async = inspect.iscoroutinefunction(each.open_orders)
            run: Callable[[Any], Any] = runner.run if is_async else lambda result: result
            orders = run(each.open_orders(tablewright_endpoint, table))
            for operation in OPERATIONS:
                n = SEEDED if operation in WRITES else 1
                result = run(getattr(orders, operation)(*ARGUMENTS[operation](n)))
                assert not unexpected(operation, n, result)
            run(orders.close())
    theirs = stored_items(tablewright_endpoint, "theirs")
    assert len(theirs) == (SEEDED + 1) * (1 + sample.LINES) + 1
    assert differences(theirs, stored_items(tablewright_endpoint, "ours")) == []


def _library(module_name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "any"),
        ("AWS_SECRET_ACCESS_KEY", "any"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    try:
        return importlib.import_module(f"benchmarks.peers.libraries.{module_name}")
    except ModuleNotFoundError as error:
        pytest.skip(f"there is no {error.name}; it comes with `make bench-peers`")


def test_different_items_are_described() -> None:
    one: Any = {("CUST#C1", "ORDER#O1"): {"total": {"N": "1"}}}
    other: Any = {("CUST#C1", "ORDER#O1"): {"total": {"N": "1.5"}}}
    assert differences(one, one) == []
    assert differences(one, other) == [
        "('CUST#C1', 'ORDER#O1'): {'total': {'N': '1'}}, not {'total': {'N': '1.5'}}"
    ]
    assert differences(one, {}) != [] != differences({}, one)


def test_the_lines_of_a_user_are_counted_without_imports_comments_and_docstrings() -> None:
    source = '''"""A docstring."""

import os

# A comment.
def name() -> str:
    """Another
    docstring."""
    return f(
        os.name,  # the name
    )
'''
    assert code_lines(source) == 4
