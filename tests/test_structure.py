"""The structure of the sources: small modules, and one meaning for each class name."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.counts import ROOT, long_modules, shared_names

PACKAGE = ROOT / "src/tablewright"
#: One file for each operation: this folder lists what DynamoDB can do.
LISTS = {"engine/operations"}


def test_no_module_is_longer_than_500_lines() -> None:
    assert list(long_modules(PACKAGE)) == []


def test_a_public_class_name_is_defined_in_one_module() -> None:
    assert dict(shared_names(PACKAGE)) == {}


def test_a_folder_has_fewer_than_25_modules() -> None:
    counts = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
    assert {name for name, count in counts.items() if count >= 25} - LISTS == set()


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "manager", "misc"])
def test_no_module_is_named_after_nothing(name: str) -> None:
    assert list(PACKAGE.rglob(f"{name}.py")) == []
