"""Conditions: keys and filters on the command line, as parts of requests.

A key, or the key condition of a query: `PK=CUST#C1 SK begins-with ORDER#`

    NAME=VALUE   NAME<VALUE   NAME<=VALUE   NAME>VALUE   NAME>=VALUE      one word, or three
    NAME between LOW HIGH     NAME begins-with PREFIX

The table's key schema decides what a name is and which type a value has: a text is taken as it is,
a number must be one, a binary is in base64, and none is empty. So values need no quotes other than
those of the shell.

A filter is one word, `--filter "total >= 100"`:

    NAME = VALUE   NAME <> VALUE   NAME < VALUE   NAME <= VALUE   NAME > VALUE   NAME >= VALUE
    NAME between LOW and HIGH      NAME begins-with PREFIX      NAME contains VALUE
    NAME exists                    NAME not-exists

A dot in a name leads into a map: `address.city`. A value is a literal of PartiQL (5, 'text', true,
[1, 2]); anything else is a text. `tablewright sql` takes conditions with OR, NOT and functions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tablewright.errors import InvalidValue, ValidationException
from tablewright.hints import did_you_mean

if TYPE_CHECKING:
    from tablewright.mapping.table import TableMap
    from tablewright.schema import KeyAttribute, KeySchema
    from tablewright.table_description import TableDescription
    from tablewright.values import Item, Value

#: The number of values of each operator.
OPERATORS = {"=": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "between": 2, "begins-with": 1}
_SYMBOL = re.compile(r"([=<>!]+)(.*)", re.DOTALL).fullmatch
#: What is often written for another operator.
_MISTAKES = {"==": "=", "=>": ">=", "=<": "<=", "!=": "<>"}
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


class KeyArgument(NamedTuple):
    """A condition on a key attribute."""

    name: str
    operator: str
    values: list[Value]


def require_key(table: TableDescription, declared: TableMap) -> None:
    """Raise InvalidValue if a table has another key than its declaration in a design."""
    names = tuple(name for name in declared.attributes if name is not None)
    if table.keys.names != names:
        raise InvalidValue(
            f"{table.name} has the key {', '.join(table.keys.names)}, and {declared.name} of "
            f"the design has {', '.join(names)}; choose another design or table"
        )


def parse_key(words: Sequence[str], key: KeySchema) -> Item:
    """Return the key of an item; raise InvalidValue unless each attribute has one value."""
    conditions = list(_parse(words, key))
    for condition in conditions:
        if condition.operator != "=":
            raise InvalidValue(
                f"{condition.name} {condition.operator}: the key of one item needs "
                f"{condition.name}=VALUE; `tablewright query` takes other operators"
            )
    _require([each.name for each in conditions], key)
    return {condition.name: condition.values[0] for condition in conditions}


def parse_conditions(words: Sequence[str], key: KeySchema) -> list[KeyArgument]:
    """Return the conditions of a query; raise InvalidValue if the partition is not given."""
    conditions = list(_parse(words, key))
    partition = key.partition
    for condition in conditions:
        if condition.operator != "=" and condition.name in [each.name for each in partition]:
            raise InvalidValue(
                f"{condition.name} {condition.operator}: a query reads one partition, so the "
                f"partition key needs {condition.name}=VALUE"
            )
    _require([each.name for each in conditions if each.operator == "="], partition)
    return conditions


def key_expression(conditions: Sequence[KeyArgument]) -> dict[str, Any]:
    """Return the members of a Query request that select these keys."""
    from tablewright.expression.printing import format_comparison

    terms = []
    names: dict[str, str] = {}
    values: Item = {}
    for number, condition in enumerate(conditions):
        names[f"#k{number}"] = condition.name
        placeholders = [f":k{number}_{place}" for place, _ in enumerate(condition.values)]
        values |= dict(zip(placeholders, condition.values, strict=True))
        operator = condition.operator.replace("-", "_")
        terms.append(format_comparison(f"#k{number}", operator, placeholders))
    return {
        "KeyConditionExpression": " AND ".join(terms),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


def describe_key(item: Item, key: KeySchema) -> str:
    """Return a key as arguments: `PK=CUST#C1 SK=ORDER#1`."""
    return " ".join(f"{each.name}={item[each.name][each.type]}" for each in key)


def _parse(words: Sequence[str], key: KeySchema) -> Iterator[KeyArgument]:
    from tablewright.presentation.keys import key_value

    remaining = list(words)
    while remaining:
        attribute, operator, first = _split(remaining.pop(0), key)
        if operator is None:
            if not remaining:
                raise InvalidValue(f"{attribute.name} has no value; write {attribute.name}=VALUE")
            operator = remaining.pop(0)
        if operator not in OPERATORS:
            hint = did_you_mean(operator, OPERATORS) or f"; use {', '.join(OPERATORS)}"
            raise InvalidValue(f"{attribute.name}: unknown operator {operator!r}{hint}")
        count = OPERATORS[operator] - (first is not None)
        texts = ([] if first is None else [first]) + remaining[:count]
        if len(texts) < OPERATORS[operator]:
            wanted = "LOW HIGH" if operator == "between" else "VALUE"
            raise InvalidValue(f"{attribute.name} {operator} needs {wanted}")
        del remaining[:count]
        values = [key_value(text, attribute) for text in texts]
        yield KeyArgument(attribute.name, operator, values)


def _split(word: str, key: KeySchema) -> tuple[KeyAttribute, str | None, str | None]:
    """Split `NAME=VALUE`; the operator and the value are None if the word is a name only."""
    for attribute in sorted(key, key=lambda each: -len(each.name)):
        rest = word.removeprefix(attribute.name)
        if rest == word:
            continue
        if not rest:
            return attribute, None, None
        if found := _SYMBOL(rest):
            check_symbol(
                found[1], OPERATORS, word, f"write `{attribute.name} = VALUE`, three words"
            )
            return attribute, found[1], found[2]
        if rest[0].isspace():
            raise InvalidValue(
                f"{word!r}: write {attribute.name}=VALUE without spaces, or separate arguments, "
                f"each with its own quotes: {attribute.name} OPERATOR VALUE"
            )
    name = re.split("[=<>]", word)[0]
    names = [each.name for each in key]
    hint = did_you_mean(name, names) or f"; the key is {', '.join(names)}"
    raise InvalidValue(f"{name!r} is not an attribute of the key{hint}")


def check_symbol(operator: str, known: Collection[str], where: str, otherwise: str) -> None:
    """Raise InvalidValue for a sequence of `=<>!` that is no operator.

    `otherwise` says how to write a value that begins with one of these characters.
    """
    if operator in known or operator.isidentifier() or "-" in operator:
        return
    meant = _MISTAKES.get(operator)
    hint = f"did you mean {meant}? " if meant in known else f"use {', '.join(known)}. "
    raise InvalidValue(
        f"{where}: unknown operator {operator!r}; {hint}If the value begins with it, {otherwise}"
    )


def _require(given: Sequence[str], key: Iterable[KeyAttribute]) -> None:
    from tablewright.presentation.keys import KEY_TYPES

    for name in given:
        if given.count(name) > 1:
            raise InvalidValue(f"{name} has two values")
    missing = [each for each in key if each.name not in given]
    if missing:
        wanted = " and ".join(f"{each.name}=VALUE ({KEY_TYPES[each.type]})" for each in missing)
        raise InvalidValue(f"the key is not complete; add {wanted}")


def filter_expression(filters: Sequence[str]) -> dict[str, Any]:
    """Return the members of a request that let only items pass that match all filters."""
    from tablewright.expression.printing import format_comparison

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
        terms.append(format_comparison(path, operator.replace("-", "_"), list(placed)))
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


_CHANGE = re.compile(r"\s*(?P<name>[^\s=]+)\s*=(?P<value>.*)", re.DOTALL).fullmatch


def read_changes(
    sets: Sequence[str], increments: Sequence[str], removes: Sequence[str]
) -> dict[str, Any]:
    """Return the members of an UpdateItem request that change attributes."""
    if not (sets or increments or removes):
        raise InvalidValue("nothing to change; add --set, --increment or --remove")
    names: dict[str, str] = {}
    values: dict[str, Value] = {}
    clauses = []

    def path(name: str) -> str:
        parts = {f"#u{len(names) + n}": part for n, part in enumerate(name.split("."))}
        names.update(parts)
        return ".".join(parts)

    for option, texts in (("--set", sets), ("--increment", increments)):
        terms = []
        for text in texts:
            found = _CHANGE(text)
            if found is None:
                raise InvalidValue(f"{option} {text!r}: write NAME=VALUE, such as 'total=30'")
            place, mark = path(found["name"]), f":u{len(values)}"
            values[mark] = value = read_literal(found["value"].strip())
            if option == "--set":
                terms.append(f"{place} = {mark}")
            elif "N" not in value:
                raise InvalidValue(f"{option} {text!r}: the value must be a number")
            else:
                values[":zero"] = {"N": "0"}
                terms.append(f"{place} = if_not_exists({place}, :zero) + {mark}")
        clauses += terms
    expression = "SET " + ", ".join(clauses) if clauses else ""
    if removes:
        expression += " REMOVE " + ", ".join(path(name.strip()) for name in removes)
    members: dict[str, Any] = {
        "UpdateExpression": expression.strip(),
        "ExpressionAttributeNames": names,
    }
    return members | ({"ExpressionAttributeValues": values} if values else {})


def read_literal(text: str) -> Value:
    """Read a literal of PartiQL; any other text is a string.

    >>> read_literal("5"), read_literal("'5'"), read_literal("PAID")
    ({'N': '5'}, {'S': '5'}, {'S': 'PAID'})
    """
    from tablewright.partiql.parser import parse_value

    try:
        return parse_value(text)
    except ValidationException:
        return {"S": text}
