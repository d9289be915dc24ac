"""Filters: `--filter "total >= 100"` as a part of a filter expression.

    NAME = VALUE   NAME <> VALUE   NAME < VALUE   NAME <= VALUE   NAME > VALUE   NAME >= VALUE
    NAME between LOW and HIGH      NAME begins-with PREFIX      NAME contains VALUE
    NAME exists                    NAME not-exists

A dot in a name leads into a map: `address.city`. A value is a literal of PartiQL (5, 'text', true,
[1, 2]); anything else is a text. `tablewright sql` takes conditions with OR, NOT and functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tablewright.cli.key_arguments import check_symbol, compare
from tablewright.errors import InvalidValue, ValidationException

if TYPE_CHECKING:
    from tablewright.values import Value

_FILTER = re.compile(
    r"\s*(?P<name>[^\s=<>!]+)\s*"
    r"(?P<operator>[=<>!]+|\b(?:between|begins-with|contains|exists|not-exists)\b)"
    r"\s*(?P<value>.*?)\s*",
    re.DOTALL,
).fullmatch
#: A value that is probably the rest of a condition, such as `1 or total < 5`.
_FURTHER_CONDITION = re.compile(
    r"[^'].*\s(and|or)\s+\S+?\s*([=<>]|\s(between|begins-with|contains|exists|not-exists)\b).*",
    re.DOTALL | re.IGNORECASE,
).fullmatch
_SYMBOLS = ("=", "<>", "<", "<=", ">", ">=")
_TESTS = {"exists": "attribute_exists", "not-exists": "attribute_not_exists"}


def filter_expression(filters: Sequence[str]) -> dict[str, Any]:
    """Return the members of a request that let only items pass that match all filters."""
    terms = []
    names: dict[str, str] = {}
    values: dict[str, Value] = {}
    for number, text in enumerate(filters):
        found = _FILTER(text)
        if found is None or bool(found["value"]) == (found["operator"] in _TESTS):
            raise InvalidValue(
                f"--filter {text!r}: write NAME OPERATOR VALUE, such as 'total >= 100', "
                "'status begins-with P' or 'note exists'"
            )
        check_symbol(found["operator"], _SYMBOLS, f"--filter {text!r}", "quote the value")
        parts = {f"#f{number}_{n}": part for n, part in enumerate(found["name"].split("."))}
        names |= parts
        path, operator = ".".join(parts), found["operator"]
        if operator in _TESTS:
            terms.append(f"{_TESTS[operator]}({path})")
            continue
        operands = _split_operands(text, operator, found["value"])
        for operand in operands:
            _check_operand(text, operand)
        placed = {f":f{number}_{n}": read_literal(operand) for n, operand in enumerate(operands)}
        values |= placed
        terms.append(compare(path, operator, list(placed)))
    if not terms:
        return {}
    return {
        "FilterExpression": " AND ".join(terms),
        "ExpressionAttributeNames": names,
        **({"ExpressionAttributeValues": values} if values else {}),
    }


def _split_operands(text: str, operator: str, value: str) -> list[str]:
    if operator != "between":
        return [value]
    operands = re.split(r"\s+and\s+", value, flags=re.IGNORECASE)
    if len(operands) != 2:
        raise InvalidValue(f"--filter {text!r}: write NAME between LOW and HIGH")
    return operands


def _check_operand(text: str, operand: str) -> None:
    """Refuse what would be compared as a string, but is not meant as one."""
    if len(operand) > 1 and operand[0] == operand[-1] == '"':
        raise InvalidValue(f"--filter {text!r}: write a string in single quotes, or without quotes")
    if _FURTHER_CONDITION(operand):
        raise InvalidValue(
            f"--filter {text!r}: a filter has one condition; give --filter again for AND, use "
            "`tablewright sql` for OR, or write a value with these words in single quotes"
        )


def read_literal(text: str) -> Value:
    """Read a literal of PartiQL; a text that is none is a string.

    >>> read_literal("5"), read_literal("'5'"), read_literal("PAID")
    ({'N': '5'}, {'S': '5'}, {'S': 'PAID'})
    """
    from tablewright.partiql.parser import parse_value

    try:
        return parse_value(text)
    except ValidationException:
        return {"S": text}
