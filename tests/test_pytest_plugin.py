"""The fixture that comes with the package, used as a user's tests would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tablewright import create, put
from tablewright.designs.commerce import Commerce, Customer
from tablewright.pytest_plugin import MakeDatabase

ANN = Customer(customer_id="C1", name="Ann", email="ann@example.com")

TESTS = """
import pytest
from tablewright import create
from tablewright.designs.commerce import Commerce, Customer

@pytest.mark.parametrize("round", range(20))
def test_the_database_is_empty(tablewright_db, round):
    db = tablewright_db(Commerce)
    db.run(create(Customer(customer_id="C1", name="Ann", email="ann@example.com")))
"""


def test_a_test_has_a_database_of_its_own(tablewright_db: MakeDatabase) -> None:
    db = tablewright_db(Commerce)
    assert db.run(Customer.primary("C1")) is None
    db.run(create(ANN))
    assert db.run(Customer.primary("C1")) == ANN


def test_two_databases_of_one_test_are_two(tablewright_db: MakeDatabase) -> None:
    one, other = tablewright_db(Commerce), tablewright_db(Commerce, table_name="commerce_test")
    one.run(put(ANN))
    assert other.run(Customer.primary("C1")) is None


@pytest.mark.slow
def test_tests_may_run_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "."]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout
    assert "20 passed" in told.stdout
