from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.config import Config
from botocore.session import get_session

from tablewright.engine import Engine
from tablewright.server import serving
from tests.engine.database import Database, InProcess, OverHttp


@pytest.fixture(scope="session")
def botocore_session() -> Any:
    """One session, because it is the session that keeps the service model it has read."""
    return get_session()


@pytest.fixture(scope="module", params=["http", "process"])
def db(request: pytest.FixtureRequest, botocore_session: Any) -> Iterator[Database]:
    """An engine in memory for the tests of one file, reached in two ways.

    When they are done, whatever they did, tables and indexes must agree.
    """
    with Engine(":memory:") as engine:
        if request.param == "process":
            yield InProcess(engine)
        else:
            with serving(engine) as url:
                clients = [
                    botocore_session.create_client(
                        service,
                        endpoint_url=url,
                        region_name="us-east-1",
                        aws_access_key_id="key",
                        aws_secret_access_key="secret",
                        config=Config(
                            parameter_validation=False, retries={"total_max_attempts": 1}
                        ),
                    )
                    for service in ("dynamodb", "dynamodbstreams")
                ]
                database = OverHttp(engine, url, *clients)
                yield database
                database.close()
        assert engine.check().problems == []


@pytest.fixture
def table(db: Database) -> str:
    """A new table with the keys pk and sk, both strings."""
    return db.table()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Function) -> Iterator[None]:
    try:
        return (yield)
    finally:
        db = (item.funcargs or {}).get("db")
        if isinstance(db, Database):
            db.end_test()
