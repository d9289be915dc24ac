"""Rules of ranges: texts that do not sort as what they mean; and what the model refuses itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.errors import DesignLoadError
from tests.publish.advice.designs import ORDER, find

SEAT = """
class Seat(Entity, table=Shop):
    hall: Attr[str] = attr()
    number: Attr[{kind}] = attr()

    primary = key("HALL" / hall, "SEAT" / number)

@access_pattern
def seats(hall: str, number: {kind}) -> Query[Seat]:
    return Seat.primary.within(hall){chain}

def sample() -> list[Seat]:
    return [Seat(hall="A", number=number) for number in {numbers!r}]
"""


def seats(numbers: list[str], chain: str = ".gte(number)", kind: str = "str") -> str:
    return SEAT.format(numbers=numbers, chain=chain, kind=kind)


@pytest.mark.parametrize("chain", [".gte(number)", ".desc()", ".limit(3)"])
def test_numbers_as_texts_of_different_lengths(tmp_path: Path, chain: str) -> None:
    (finding,) = find(tmp_path, seats(["8", "9", "10"], chain), "unordered-range")
    assert finding.subject == "Seat.number"
    assert "seats() reads by its order" in finding.reason
    assert "as the numbers that they are: '10' comes before '8'" in finding.reason
    assert finding.fix == "number: Attr[int] = attr(pad=2)"


def test_times_as_texts_of_different_forms(tmp_path: Path) -> None:
    times = ["2026-01-01T10:00:00Z", "2026-01-01T10:00:00.5Z"]
    (finding,) = find(tmp_path, seats(times), "unordered-range")
    assert "as the times that they are: '2026-01-01T10:00:00.5Z' comes before" in finding.reason
    assert finding.fix == "number: Attr[datetime] = attr()"


@pytest.mark.parametrize(
    ("numbers", "chain"),
    [
        (["08", "09", "10"], ".gte(number)"),
        (["8", "9", "10"], ".eq(number)"),
        (["8", "9", "10"], ""),
        (["8", "9", "10a"], ".gte(number)"),
        (["2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z"], ".gte(number)"),
        (["2026-01-01T10:00:00Z", "2026-01-01T09:00:00"], ".gte(number)"),
    ],
)
def test_texts_that_sort_or_are_not_read_by_their_order(
    tmp_path: Path, numbers: list[str], chain: str
) -> None:
    assert find(tmp_path, seats(numbers, chain), "unordered-range") == []


OF_INDEX = (
    ORDER
    + """
    by_status = index(Shop.by_status, status)

@access_pattern
def orders(status: str) -> Query[Order]:
    return Order.by_status(status).consistent()
"""
)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (seats([], kind="int"), "number.*pad="),
        (OF_INDEX, "consistent"),
    ],
    ids=["a number without padding", "a consistent read of a global index"],
)
def test_the_model_refuses_what_needs_no_rule(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(DesignLoadError, match=message):
        find(tmp_path, source, indexes='by_status = GSI("status")')
