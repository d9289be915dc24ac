"""Items as JSON: read what a user passes to `put`, write what `--json` prints.

An item is written in DynamoDB's JSON, `{"total": {"N": "5"}}`, which keeps every type. It is read
in DynamoDB's JSON or in plain JSON, `{"total": 5}`: a key attribute is never an object in plain
JSON, so the key tells them apart. Plain JSON has no sets and no binaries, except binary keys in
base64. Numbers keep all their digits.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.cli.grammar import STANDARD_STREAM
from tablewright.errors import InvalidValue

if TYPE_CHECKING:
    from tablewright.schema import KeyAttribute, KeySchema
    from tablewright.values import Item, Value


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


def read_items(source: str, key: KeySchema) -> list[Item]:
    """Read items from JSON text, from a file, or from standard input if the source is `-`.

    The text is one object, or a list of objects, or several of them one after the other, as in JSON
    lines. Raise InvalidValue if it is none, or if an item has no valid key.
    """
    where = "ITEM"
    if source == STANDARD_STREAM:
        source, where = sys.stdin.read(), "standard input"
    elif not source.lstrip().startswith(("{", "[")):
        where = source
        try:
            source = Path(source).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InvalidValue(f"{where} is not a text in UTF-8") from None
        except FileNotFoundError:
            raise InvalidValue(
                f"{where}: no such file; pass an item as JSON, the path of a file with JSON, or - "
                "for standard input"
            ) from None
    try:
        items = [read_item(value, key, where) for value in _decode_all(source)]
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidValue(f"{where} is not JSON: {error}") from None
    if not items:
        raise InvalidValue(f"{where} has no items")
    return items


def read_item(value: Any, key: KeySchema, where: str) -> Item:
    """Return an item from DynamoDB's JSON or plain JSON."""
    if not isinstance(value, dict):
        raise InvalidValue(f"{where}: an item is a JSON object, not {_show(value)}")
    missing = [each.name for each in key if each.name not in value]
    if missing:
        raise InvalidValue(f"{where}: an item lacks {' and '.join(missing)}, part of its key")
    is_typed = isinstance(value[key.names[0]], dict)
    if is_typed and (number := next(_numbers(value), None)):
        raise InvalidValue(f'{where}: in DynamoDB\'s JSON a number is a text: {{"N": "{number}"}}')
    item = value if is_typed else {name: encode_plain(each) for name, each in value.items()}
    return item | {each.name: _read_key_value(value[each.name], each, where) for each in key}


def _read_key_value(value: Any, attribute: KeyAttribute, where: str) -> Value:
    """Return the value of a key attribute from either form."""
    content = value
    if isinstance(value, dict) and list(value) == [attribute.type]:
        content = value[attribute.type]
    if isinstance(content, str) and (not isinstance(content, _Number) or attribute.type == "N"):
        from tablewright.presentation.keys import key_value

        return key_value(str(content), attribute)
    raise InvalidValue(
        f"{where}: the key attribute {attribute.name} has the type {attribute.type}, but "
        f"the value is {_show(value)}"
    )


def encode_plain(value: Any) -> Value:
    """Return a value of plain JSON as a value of DynamoDB."""
    match value:
        case _Number():
            return {"N": str(value)}
        case str():
            return {"S": value}
        case bool():
            return {"BOOL": value}
        case None:
            return {"NULL": True}
        case list():
            return {"L": [encode_plain(member) for member in value]}
        case _:
            return {"M": {name: encode_plain(member) for name, member in value.items()}}


def _decode_all(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text; the members of a list that is at the top."""
    decoder = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_refuse)
    text = text.strip()
    position = 0
    while position < len(text):
        value, position = decoder.raw_decode(text, position)
        yield from value if isinstance(value, list) else [value]
        while text[position : position + 1].isspace():
            position += 1


def _numbers(value: Any) -> Iterator[str]:
    """Yield the numbers in a JSON value."""
    if isinstance(value, _Number):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _numbers(member)


def _show(value: Any) -> str:
    return str(value) if isinstance(value, _Number) else json.dumps(value)[:80]


def _refuse(name: str) -> Any:
    raise InvalidValue(f"{name} is not a number of JSON")
