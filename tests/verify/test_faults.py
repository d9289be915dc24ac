"""What `verify` proves: each fault of a table or a plan fails the check after which it is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    put,
    unique,
)
from tablewright.errors import AlreadyExists
from tablewright.plan.plan import Context, Request, Steps
from tablewright.plans import Get
from tablewright.transport import Response, Transport
from tablewright.verify import Check, Design, Raises, Stored, trace, verify


class Club(Table, name="club", pk="PK", sk="SK"):
    by_town = GSI("TOWN", "SK")


class Member(Entity, table=Club):
    number: Attr[str] = attr()
    town: Attr[str] = attr()
    email: Attr[str] = attr()
    primary = key("MEMBER" / number, "MEMBER")
    of_town = index(Club.by_town, "TOWN" / town, "MEMBER")
    by_email = unique("EMAIL" / email, "EMAIL")


ANN = Member(number="1", town="Bern", email="ann@x")
BOB = Member(number="2", town="Rome", email="bob@x")


class Scanning(Get[Member]):
    """A get that scans the table."""

    def _steps(self, context: Context) -> Steps[Member | None]:
        yield Request("Scan", {"TableName": context.name_of(Club.__table__)})
        return (yield from super()._steps(context))


def sample() -> list[Member]:
    return [ANN]


def checks(stored: Stored) -> Iterator[Check]:
    yield Check("get", Member.primary("1"), stored(Member)[0])
    yield Check("create", create(BOB), BOB)
    yield Check("create again", create(BOB), Raises(AlreadyExists))
    yield Check("all", Member.of_town("Rome"), lambda: stored(Member)[1:])


DESIGN = Design("club", "", (Club,), sample, checks)
ALL = ["get", "create", "create again", "all"]


class Changing:
    """A transport that changes the table after the first write, or the first refused one."""

    def __init__(self, engine: Engine, transport: Transport, change: Any, refused: bool) -> None:
        self.engine, self.transport = engine, transport
        self.change, self.refused = change, refused

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        try:
            response = self.transport.send(operation, request)
        except Exception:
            self.after(operation, refused=True)
            raise
        self.after(operation, refused=False)
        return response

    def after(self, operation: str, *, refused: bool) -> None:
        if self.change is not None and "Write" in operation and refused is self.refused:
            self.change(self.engine)
            self.change = None

    def close(self) -> None: ...


def problems(
    change: Callable[[Engine], object] | None = None, *, refused: bool = False, **parts: Any
) -> dict[str, str]:
    """Return the problem of each check that fails."""
    design = msgspec.structs.replace(DESIGN, **parts)
    with Engine() as engine, connect(engine, Club) as db:
        through = db.through(Changing(engine, db.transport, change, refused))
        found = list(verify(design, db, through=through))
    return {each.check: each.problem for each in found if not each.ok}


def write(operation: str, pk: str, sk: str, **members: Any) -> Callable[[Engine], object]:
    request = {"TableName": "club", "Key": {"PK": {"S": pk}, "SK": {"S": sk}}, **members}
    return lambda engine: engine.call(operation, request)


def update(pk: str, sk: str, name: str, value: str) -> Callable[[Engine], object]:
    return write(
        *("UpdateItem", pk, sk),
        UpdateExpression="SET #n = :v",
        ExpressionAttributeNames={"#n": name},
        ExpressionAttributeValues={":v": {"S": value}},
    )


def test_without_a_fault_every_check_passes() -> None:
    assert problems() == {}


def test_a_wrong_expectation_fails_its_check_only() -> None:
    def wrong(stored: Stored) -> Iterator[Check]:
        yield Check("get", Member.primary("1"), BOB)
        yield from checks(stored)

    assert list(problems(checks=wrong)) == ["get"]
    assert trace(msgspec.structs.replace(DESIGN, checks=wrong)).failed == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            update("MEMBER#2", "MEMBER", "TOWN", "TOWN#Bern"),
            "Member: TOWN is 'TOWN#Bern', but its values give 'TOWN#Rome'",
        ),
        (
            write("DeleteItem", "EMAIL#bob@x", "EMAIL"),
            "the sentinel PK='EMAIL#bob@x', SK='EMAIL' is missing",
        ),
        (update("OTHER#1", "OTHER", "a", "b"), "PK='OTHER#1', SK='OTHER': no entity has a key"),
        (
            update("MEMBER#2", "MEMBER", "town", "Oslo"),
            "Member: TOWN is 'TOWN#Rome', but its values give 'TOWN#Oslo'",
        ),
    ],
)
def test_a_damaged_table_fails_every_further_check(
    change: Callable[[Engine], object], problem: str
) -> None:
    found = problems(change)
    assert list(found) == ["create", "create again", "all"]
    assert all(problem in each for each in list(found.values())[:2])


def test_a_written_entity_that_is_not_stored_fails_its_check() -> None:
    def both(engine: Engine) -> None:
        write("DeleteItem", "MEMBER#2", "MEMBER")(engine)
        write("DeleteItem", "EMAIL#bob@x", "EMAIL")(engine)

    assert "a scan does not find Member(" in problems(both)["create"]


def test_a_refused_write_that_changes_the_table_fails_its_check() -> None:
    found = problems(update("MEMBER#1", "MEMBER", "other", "x"), refused=True)
    assert found == {"create again": "the expected error was raised, but the table has changed"}


def test_an_undeclared_scan_fails_its_check() -> None:
    def scanning(_: Stored) -> Iterator[Check]:
        yield Check("get", Scanning(Member.__entity__, ("1",)), ANN)

    assert problems(checks=scanning) == {
        "get": "the pattern scans the table, and does not declare it"
    }


class Scans:
    """A transport that counts the scans of each place, and loses rows of the index on request."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.count = Counter[str]()
        self.loses_rows = False

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        response = self.transport.send(operation, request)
        if operation == "Scan" and "Limit" not in request:
            self.count[request.get("IndexName", "")] += 1
            if self.loses_rows and "IndexName" in request:
                page = msgspec.json.decode(response.body)
                del page["Items"][0]
                return msgspec.structs.replace(response, body=msgspec.json.encode(page))
        return response

    def close(self) -> None: ...


def test_an_index_that_lacks_a_row_fails_the_check() -> None:
    with Engine() as engine, connect(engine, Club) as db:
        scans = Scans(db.transport)
        scans.loses_rows = True
        (first, *_) = verify(DESIGN, db.through(scans), through=db)
    assert "by_town does not match the table: expected 1 items" in first.problem


def test_each_table_and_index_is_scanned_once_per_check() -> None:
    with Engine() as engine, connect(engine, Club) as db:
        scans = Scans(db.transport)
        assert [each.check for each in verify(DESIGN, db.through(scans), through=db)] == ALL
    assert scans.count == {"": len(ALL) + 1, "by_town": len(ALL)}  # and before the first one


def test_a_trace_has_the_items_of_each_request() -> None:
    found = trace(DESIGN)
    assert [each.check.name for each in found.checks] == ALL
    assert [len(items) for items in found.sample.values()] == [2]
    get, created, again, rome = found.checks
    assert [len(each.items) for each in get.requests[0].reads] == [1]
    (written,) = created.requests
    assert [each.key["PK"]["S"] for each in written.writes] == ["MEMBER#2", "EMAIL#bob@x"]
    assert all(each.before is None and each.after for each in written.writes)
    assert again.is_refused
    assert again.requests[0].error is not None
    assert (rome.read, rome.returned, rome.units(reads=True)) == (1, 1, 0.5)


def test_a_check_that_does_not_run_is_not_part_of_the_trace() -> None:
    def failing(stored: Stored) -> Iterator[Check]:
        yield Check("again", create(ANN), ANN)
        yield Check("no error", put(ANN), Raises(AlreadyExists))
        yield Check("get", Member.primary("1"), ANN)
        raise ValueError("no more")

    found = trace(msgspec.structs.replace(DESIGN, checks=failing))
    assert found.failed == ("again", "no error", "checks()")
    assert [each.check.name for each in found.checks] == ["get"]
