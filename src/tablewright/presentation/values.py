"""Texts of values, counts and sizes: how a stored value reads in a cell, in every format."""

from __future__ import annotations

import msgspec

from tablewright.values import Value, tag_of


def content(value: Value) -> str:
    """Return a value as text: strings and numbers as they are, documents as compact JSON.

    >>> content({"L": [{"S": "a"}, {"N": "1"}]}), content({"NULL": True})
    ('["a", 1]', 'null')
    """
    tag = tag_of(value)
    return str(value[tag]) if tag in ("S", "N", "B") else _nested(value)


def _nested(value: Value) -> str:
    tag, inner = tag_of(value), value[tag_of(value)]
    match tag:
        case "S" | "B":
            return msgspec.json.encode(inner).decode()
        case "N":
            return str(inner)
        case "BOOL":
            return "true" if inner else "false"
        case "NULL":
            return "null"
        case "L":
            return f"[{', '.join(map(_nested, inner))}]"
        case "M":
            pairs = (f"{_nested({'S': name})}: {_nested(each)}" for name, each in inner.items())
            return f"{{{', '.join(pairs)}}}"
        case _:
            return f"{{{', '.join(_nested({tag[0]: each}) for each in inner)}}}"


def plural(count: float, noun: str) -> str:
    """Return a number and what it counts.

    >>> plural(1, "item"), plural(2500, "item"), plural(0.5, "read unit")
    ('1 item', '2,500 items', '0.5 read units')
    """
    return f"{count:,.15g} {noun}{'s' * (count != 1)}"


def shortened(text: str, limit: int) -> str:
    """Truncate a text to `limit` characters; the last one is then an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def middle(text: str, limit: int) -> str:
    """Cut out the middle of a text that is longer than `limit`, so that both ends are shown.

    >>> middle("ORDER#0001", 10), middle("ORDER#000000000000000001", 10)
    ('ORDER#0001', 'ORDER#…001')
    """
    if len(text) <= limit:
        return text
    end = limit // 3
    return f"{text[: limit - end - 1]}…{text[-end:]}"


def size_text(size: float) -> str:
    """Return a number of bytes for people.

    >>> size_text(370), size_text(3789), size_text(3 * 1024**3)
    ('370 bytes', '3.7 KB', '3.0 GB')
    """
    if size < 1000:
        return f"{size:g} bytes"
    for unit in ("KB", "MB", "GB"):
        size /= 1024
        if size < 1024:
            return f"{size:.1f} {unit}"
    return f"{size / 1024:.1f} TB"
