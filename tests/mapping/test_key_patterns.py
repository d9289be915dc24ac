"""What the model asks of keys: which texts they can have, and which comparisons they support."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any, Literal
from uuid import UUID

import pytest

from tablewright.errors import DeclarationError
from tablewright.mapping.converters import converter
from tablewright.mapping.keys import Comparison, KeyMap, Template
from tablewright.mapping.parts import DAY, KeyPart, make_part

WHERE = "Order.primary"
NAME = make_part("name", str, None, WHERE)
NUMBER = make_part("number", int, 3, WHERE)
COUNT = make_part("count", int, None, WHERE)
AT_DAY = DAY.make_part("at", datetime, None, WHERE)
AT = datetime(2026, 1, 15, 12, tzinfo=UTC)
NATURAL = Template((NAME,), (0,), converter(str, "Order.name"))


def template(*pieces: str | KeyPart) -> Template:
    parts = [piece for piece in pieces if isinstance(piece, KeyPart)]
    return Template(pieces, tuple(range(len(parts))))


@pytest.mark.parametrize(
    ("of", "matching", "others"),
    [
        (template("ORDER"), ["ORDER"], ["ORDERS", "order", ""]),
        (template("A.B"), ["A.B"], ["AxB"]),
        (template("ORDER", NUMBER), ["ORDER#007"], ["ORDER#7", "ORDER#", "ORDER", "ORDER#007#"]),
        (template("ORDER", NAME), ["ORDER#a$!b"], ["ORDER#a#b"]),
        (NATURAL, ["a", "a#b"], [""]),
    ],
)
def test_the_pattern_of_a_template_matches_exactly_its_texts(
    of: Template, matching: list[str], others: list[str]
) -> None:
    pattern = re.compile(of.pattern())
    assert [text for text in matching + others if pattern.fullmatch(text)] == matching


@pytest.mark.parametrize(
    ("part", "value", "argument"),
    [(NAME, "C1", "C1"), (NUMBER, 7, 7), (AT_DAY, AT, date(2026, 1, 15))],
)
def test_a_derived_part_takes_what_is_derived_from_the_value(
    part: KeyPart, value: Any, argument: Any
) -> None:
    assert part.argument(value) == argument
    assert part.text(argument) == part.attribute_text(value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (str, "a#b"),
        (int, -7),
        (bool, True),
        (datetime, AT),
        (date, AT.date()),
        (UUID, UUID(int=7)),
        (Literal["open", "closed"], "open"),
    ],
)
def test_the_pattern_of_a_part_matches_the_texts_of_its_values(kind: Any, value: Any) -> None:
    part = make_part("value", kind, None, WHERE)
    assert re.fullmatch(part.pattern, part.text(value))


def test_a_type_without_a_sortable_text_is_rejected_with_those_that_have_one() -> None:
    types = "use str, int, datetime, date, UUID, Enum, KSUID or ULID"
    with pytest.raises(DeclarationError, match=f"'price' is of type float.*{types}"):
        make_part("price", float, None, WHERE)


COMPARISONS: tuple[Comparison, ...] = ("=", "<", ">=", "between", "begins_with")


@pytest.mark.parametrize(
    ("sort", "supported"),
    [
        (template("ORDER", NUMBER), ["=", "<", ">=", "between"]),
        (template("ORDER", NAME), ["=", "<", ">=", "between", "begins_with"]),
        # A character of the name can sort before the `#` behind it.
        (template("ORDER", NAME, NUMBER), ["begins_with"]),
        (template("ORDER", COUNT), []),  # 10 sorts before 9
        (template("ORDER", AT_DAY), []),  # a day does not determine the time
        (NATURAL, ["=", "<", ">=", "between", "begins_with"]),
        (template("ORDER"), []),
    ],
)
def test_a_key_condition_compares_only_what_sorts_as_the_attribute_does(
    sort: Template, supported: list[Comparison]
) -> None:
    key = KeyMap(WHERE, ("PK", "SK"), template("CUSTOMER"), sort)
    assert [each for each in COMPARISONS if key.can_compare(0, each)] == supported


def test_a_key_without_a_sort_key_compares_nothing() -> None:
    key = KeyMap(WHERE, ("PK", None), template("CUSTOMER"), None)
    assert key.next_part(0) is None
    assert not any(key.can_compare(0, comparison) for comparison in COMPARISONS)


def test_the_values_of_the_partition_key_are_enough_for_a_query() -> None:
    key = KeyMap(WHERE, ("PK", "SK"), template("CUSTOMER", NAME), Template(("O", NUMBER), (1,)))
    key.check_arguments(("C1",), complete=False)
    key.check_arguments(("C1", 7), complete=False)
    key.check_arguments(("C1", 7), complete=True)
    assert key.partition_value(("C1",)) == {"S": "CUSTOMER#C1"}
    assert key.show() == "PK=CUSTOMER#{name}, SK=O#{number}"
