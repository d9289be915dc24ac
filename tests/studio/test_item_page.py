"""One page of items: what a filter becomes, and how much it reads."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright.engine import Engine
from tablewright.errors import InvalidValue
from tablewright.studio.items.reading import (
    FILTERED_LIMIT,
    MAX_REQUESTS,
    PAGE_SIZE,
    ItemChoice,
    ItemPage,
    prepare,
    read_page,
)
from tablewright.table_description import TableDescription, read_table
from tests.studio.tables import KEYS, create_keys_table, put


class Target:
    """A table of numbered items that counts the requests it receives."""

    def __init__(self, count: int) -> None:
        self.engine = Engine(":memory:")
        create_keys_table(self.engine)
        for number in range(count):
            item = {"id": {"N": "1"}, "at": {"B": _binary(number)}, "n": {"N": str(number)}}
            put(self.engine, KEYS, item)
        self.requests: list[tuple[str, dict[str, Any]]] = []
        description = self.engine.call("DescribeTable", {"TableName": KEYS})["Table"]
        self.description: TableDescription = read_table(description)

    def send(self, operation: str, **request: Any) -> dict[str, Any]:
        self.requests.append((operation, request))
        found: dict[str, Any] = self.engine.call(operation, request)
        return found

    def read(self, choice: ItemChoice, start: Any = None, accepts: Any = None) -> ItemPage:
        base = self.description.base
        reading = prepare(self.description, base, choice)
        return read_page(self.send, self.description, base, reading, start, accepts=accepts)


def _binary(number: int) -> str:
    import base64

    return base64.b64encode(number.to_bytes(3, "big")).decode()


def numbers(page: ItemPage) -> list[int]:
    return [int(item["n"]["N"]) for item in page.items]


@pytest.mark.parametrize("choice", [ItemChoice(), ItemChoice(partition=("1",))])
def test_a_page_is_one_request_that_reads_no_more_than_the_page(choice: ItemChoice) -> None:
    target = Target(PAGE_SIZE + 10)
    page = target.read(choice)
    assert len(target.requests) == page.requests == 1
    assert page.read == len(page.items) == PAGE_SIZE
    rest = target.read(choice, page.next)
    assert (len(rest.items), rest.next) == (10, None)


def test_every_operator_reads_the_range_that_it_says() -> None:
    target = Target(10)
    bound = _binary(4)
    expected = {
        "=": [4],
        "<": [0, 1, 2, 3],
        "<=": [0, 1, 2, 3, 4],
        ">": [5, 6, 7, 8, 9],
        ">=": [4, 5, 6, 7, 8, 9],
        "between": [4, 5, 6],
        "begins_with": [4],
        "any": list(range(10)),
    }
    for operator, wanted in expected.items():
        choice = ItemChoice(partition=("1",), operator=operator, sort=(bound,), upper=_binary(6))
        assert numbers(target.read(choice)) == wanted
        scanned = ItemChoice(operator=operator, sort=(bound,), upper=_binary(6))
        assert numbers(target.read(scanned)) == wanted


def test_the_order_can_be_descending() -> None:
    choice = ItemChoice(partition=("1",), descending=True)
    assert numbers(Target(3).read(choice)) == [2, 1, 0]


def test_a_filter_stops_after_a_few_requests_and_continues_with_its_cursor() -> None:
    count = FILTERED_LIMIT * MAX_REQUESTS + 5
    target = Target(count)
    page = target.read(ItemChoice(), accepts=lambda item: item["n"]["N"] == str(count - 1))
    assert (page.items, page.requests) == ([], MAX_REQUESTS)
    assert page.read == FILTERED_LIMIT * MAX_REQUESTS
    rest = target.read(ItemChoice(), page.next, lambda item: item["n"]["N"] == str(count - 1))
    assert (numbers(rest), rest.next) == ([count - 1], None)


def test_a_filtered_page_loses_and_repeats_nothing() -> None:
    target = Target(PAGE_SIZE * 3)

    def even(item: Any) -> bool:
        return int(item["n"]["N"]) % 2 == 0

    found, start = [], None
    while True:
        page = target.read(ItemChoice(partition=("1",)), start, even)
        assert len(page.items) <= PAGE_SIZE
        found += numbers(page)
        start = page.next
        if start is None:
            break
    assert found == list(range(0, PAGE_SIZE * 3, 2))


def test_a_key_of_several_attributes_binds_them_from_the_left() -> None:
    target = Target(0)
    wide = target.description.find("wide")
    assert wide is not None
    choice = ItemChoice(partition=("x", "2"), operator=">=", sort=("y", "AA=="))
    reading = prepare(target.description, wide, choice)
    assert reading.show() == "a = x AND b = 2 AND c = y AND d >= AA=="
    first = prepare(
        target.description, wide, ItemChoice(partition=("x", "2"), operator="=", sort=("y", ""))
    )
    assert first.show() == "a = x AND b = 2 AND c = y"
    for index, request in (("wide", reading), ("wide", first)):
        target.send(request.request.operation, **request.request.body)
        assert target.requests[-1][1]["IndexName"] == index


@pytest.mark.parametrize(
    ("index", "choice", "message"),
    [
        ("", ItemChoice(partition=("x",)), "id must be a number; 'x' is not"),
        ("", ItemChoice(operator="=", sort=("",)), "= needs a value for at"),
        ("", ItemChoice(operator="like", sort=("x",)), "'like' is not an operator"),
        ("", ItemChoice(operator="between", sort=("AA==",)), "at must be a binary value in base64"),
        ("wide", ItemChoice(partition=("x", "")), "b must be a number"),
        ("wide", ItemChoice(partition=("x",)), "give b, too"),
        ("local", ItemChoice(operator="begins_with", sort=("1",)), "has no beginning"),
    ],
)
def test_a_filter_that_no_key_takes_is_refused(
    index: str, choice: ItemChoice, message: str
) -> None:
    target = Target(0)
    collection = target.description.find(index)
    assert collection is not None
    with pytest.raises(InvalidValue, match=message):
        prepare(target.description, collection, choice)
    assert target.requests == []
