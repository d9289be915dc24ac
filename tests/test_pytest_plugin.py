"""The fixture that comes with the package, used as a user's tests would."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import boto3
import pytest

from tablewright import Attr, attr, create, migrations, put
from tablewright.designs.commerce import Commerce, CustomerProfile
from tablewright.errors import DesignMismatch, TableNotFound
from tablewright.testing import EndpointURL, MakeAsyncDatabase, MakeDatabase
from tests.engine.database import table_request
from tests.new_table import new_table
from tests.things import NamedEntity

ANN = CustomerProfile(customer_id="C1", name="Ann", email="ann@example.com")

TESTS = """
import pytest
from tablewright import create
from tablewright.designs.commerce import Commerce, CustomerProfile

@pytest.mark.parametrize("round", range(20))
def test_the_database_is_empty(tablewright_db, round):
    db = tablewright_db(Commerce)
    db.run(create(CustomerProfile(customer_id="C1", name="Ann", email="ann@example.com")))
"""


def test_a_test_has_a_database_of_its_own(tablewright_db: MakeDatabase) -> None:
    db = tablewright_db(Commerce)
    assert db.run(CustomerProfile.primary("C1")) is None
    db.run(create(ANN))
    assert db.run(CustomerProfile.primary("C1")) == ANN


def test_two_databases_of_one_test_are_two(tablewright_db: MakeDatabase) -> None:
    one, other = tablewright_db(Commerce), tablewright_db(Commerce, table_name="commerce_test")
    one.run(put(ANN))
    assert other.run(CustomerProfile.primary("C1")) is None


OldDesk = new_table("desk")
Desk = new_table("desk")


class OldTicket(NamedEntity, table=OldDesk, type_name="Ticket"):
    state: Attr[str] = attr()


class Ticket(NamedEntity, table=Desk):
    status: Attr[str] = attr(renamed_from="state")


def test_one_table_can_be_opened_with_two_versions_of_a_design(
    tablewright_db: MakeDatabase,
) -> None:
    old = tablewright_db(OldDesk)
    old.run(create(OldTicket(name="1", state="open")))
    migrations.baseline(old, OldDesk)
    with pytest.raises(DesignMismatch, match="the attribute is renamed: state -> status"):
        tablewright_db(Desk, beside=old)
    migrations.apply(old, Desk)
    new = tablewright_db(Desk, beside=old)
    assert new.run(Ticket.primary("1")) == Ticket(name="1", status="open")


@pytest.mark.slow
def test_tests_may_run_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "."]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout
    assert "20 passed" in told.stdout


def test_two_databases_with_the_same_tables_are_two(tablewright_db: MakeDatabase) -> None:
    one, other = tablewright_db(Commerce), tablewright_db(Commerce)
    one.run(put(ANN))
    assert other.run(CustomerProfile.primary("C1")) is None


@pytest.mark.parametrize("attempt", [1, 2])
def test_the_endpoint_has_no_tables_of_other_tests(
    tablewright_endpoint: EndpointURL, attempt: int
) -> None:
    client = tablewright_endpoint.client()
    assert client.list_tables()["TableNames"] == []
    client.create_table(**table_request("things"))


def test_the_endpoint_is_a_url_for_clients_with_other_options(
    tablewright_endpoint: EndpointURL,
) -> None:
    tablewright_endpoint.client().create_table(**table_request("things"))
    with closing(
        boto3.client(
            "dynamodb",
            endpoint_url=tablewright_endpoint,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
        )
    ) as client:
        assert client.list_tables()["TableNames"] == ["things"]
    streams = tablewright_endpoint.client("dynamodbstreams", region_name="eu-west-1")
    assert streams.list_streams()["Streams"] == []


@pytest.mark.parametrize("attempt", [1, 2])
def test_an_asynchronous_test_has_a_database_of_its_own(
    tablewright_async_db: MakeAsyncDatabase, attempt: int
) -> None:
    async def test() -> None:
        db, other = await tablewright_async_db(Commerce), await tablewright_async_db(Commerce)
        await db.run(create(ANN))
        assert await db.run(CustomerProfile.primary("C1")) == ANN
        assert await other.run(CustomerProfile.primary("C1")) is None

    asyncio.run(test())


def test_a_database_with_a_wrong_option_is_refused(tablewright_db: MakeDatabase) -> None:
    with pytest.raises(TableNotFound):
        tablewright_db(Commerce, create=False)
