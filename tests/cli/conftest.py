from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tablewright.engine import Engine
from tablewright.server import serving
from tests.engine.database import item, table_request


def fill(engine: Engine) -> None:
    """Make a table of orders with text keys and an index, and one of readings with number keys."""
    orders = table_request("shop", "PK:S / SK:S", glob={"by-status": ("status:S / total:N", "ALL")})
    engine.call("CreateTable", orders)
    for number in range(5):
        order = item(PK="C#1", SK=f"O#{number}", status="open" if number % 2 else "paid")
        order |= item(total=number * 10, note="x" * 60)
        engine.call("PutItem", {"TableName": "shop", "Item": order})
    engine.call("CreateTable", table_request("readings", "sensor:N / at:N"))
    for at in (-5, 0, 7):
        engine.call("PutItem", {"TableName": "readings", "Item": item(sensor=1, at=at, celsius=20)})


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with Engine(tmp_path / "shop.db") as engine:
        fill(engine)
    return tmp_path / "shop.db"


@pytest.fixture(params=["file", "http"])
def target(request: pytest.FixtureRequest, file: Path) -> Iterator[str]:
    """The same tables in a file, and behind an endpoint."""
    if request.param == "file":
        yield str(file)
    else:
        with Engine(file) as engine, serving(engine) as url:
            yield url
