"""Names and literals of a module, made of the texts and values in a table.

    attribute     customerId, Customer-ID   customer_id
    class         warehouseItem, WAREHOUSE_ITEM   WarehouseItem
    id            ORDERS, order   order_id
    value         "text", 7, Decimal("1.5"), datetime(2026, 1, 15, tzinfo=UTC), {"a": [1]}

Literals are formatted as ruff does: a container that does not fit on its line has one member on
each.

Invariants: every name is an identifier that is neither a keyword nor a name that a class body
needs. Texts become literals with `quoted`; nothing else of an item becomes code.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

#: Names that the body of a class uses, or that an entity has itself.
RESERVED = frozenset({
    "attr", "bool", "bytes", "datetime", "dict", "index", "int", "key", "l", "list", "model_config",
    "primary", "scan", "set", "str", "ttl", "where",
})  # fmt: skip
#: Names of classes that a module imports.
IMPORTED = frozenset({"Any", "Attr", "Decimal", "Entity", "GSI", "LSI", "Table"})
#: Literals that say nothing of what the item is.
GENERIC = frozenset({"a", "data", "details", "info", "item", "meta", "metadata", "root", "self"})
#: Literals that name the value behind them: `NAME#Ann` has a name, not a name_id.
VALUES = frozenset({
    "at", "category", "city", "code", "country", "created", "date", "day", "email", "hour", "month",
    "name", "number", "phone", "price", "score", "sku", "slug", "state", "status", "time", "title",
    "type", "updated", "url", "username", "version", "week", "year", "zip",
})  # fmt: skip
#: Names of numbers that count the writes of an item.
VERSIONS = frozenset({"lock_version", "revision", "version", "version_number"})
#: Key attributes that have no name of their own.
_KEY_ATTRIBUTE = re.compile(
    r"((gsi|lsi|gs|ls|idx|index|g|l)?[\d_-]*)?(pk|sk|hk|rk|(partition|sort|hash|range)_?key)?[\d_-]*"
)

#: Words in the names of key attributes that repeat others.
_COPIES = frozenset(
    {"data", "gsi", "hash", "idx", "index", "key", "lsi", "pk", "range", "sk", "sort"}
)

WIDTH = 88


def snake_case(text: str) -> str:
    """Return a text as the name of an attribute.

    >>> snake_case("customerID"), snake_case("GSI1-PK"), snake_case("class"), snake_case("1st")
    ('customer_id', 'gsi1_pk', 'class_', 'n1st')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    split = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain)
    split = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", split)
    name = re.sub(r"[^A-Za-z0-9]+", "_", split).strip("_").lower() or "attribute"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in RESERVED else name


def class_name(text: str) -> str:
    """Return a text as the name of a class.

    >>> class_name("warehouseItem"), class_name("game-player-profiles"), class_name("table")
    ('WarehouseItem', 'GamePlayerProfiles', 'TableItem')
    """
    name = "".join(word.capitalize() for word in snake_case(text).split("_"))
    is_unusable = len(name) == 1 or name in IMPORTED or keyword.iskeyword(name)
    return f"{name}Item" if is_unusable else name


def quoted(text: str) -> str:
    """Return a text as a literal of Python, in double quotes where that needs no escape.

    >>> quoted("a'b"), quoted('a"b')
    ('"a\\'b"', '\\'a"b\\'')
    """
    shown = repr(text)
    plain = shown[1:-1]
    if shown[0] == "'":  # where both quotes are in the text, ' is escaped
        plain = re.sub(r"\\(.)", lambda pair: "'" if pair[1] == "'" else pair[0], plain)
    quote = "'" if plain.count('"') > plain.count("'") else '"'
    return quote + plain.replace(quote, f"\\{quote}") + quote


def singular(name: str) -> str:
    """Return the singular of a plural.

    >>> singular("orders"), singular("categories"), singular("status"), singular("address")
    ('order', 'category', 'status', 'address')
    """
    if name.endswith("ies") and len(name) > 4:
        return f"{name[:-3]}y"
    if name.endswith("s") and not name.endswith(("ss", "us", "is")) and len(name) > 3:
        return name[:-1]
    return name


def id_name(word: str) -> str:
    """Return the name of the value that follows a literal.

    >>> id_name("ORDERS"), id_name("EMAIL")
    ('order_id', 'email')
    """
    name = singular(snake_case(word).rstrip("_"))
    return snake_case(name) if name in VALUES else f"{name}_id"


def is_abbreviation(word: str, name: str) -> bool:
    """Whether a literal is short for the name of an entity.

    >>> is_abbreviation("shp", "shipment_item"), is_abbreviation("USER", "profile")
    (True, False)
    """
    letters = iter(name)
    return word[:1].lower() == name[:1] and all(letter in letters for letter in word.lower())


def has_own_name(attribute: str) -> bool:
    """Whether the name of a key attribute says what it contains.

    >>> [has_own_name(name) for name in ("PK", "GSI1-SK", "gsi2pk", "customerId", "LSI1")]
    [False, False, False, True, False]
    """
    return _KEY_ATTRIBUTE.fullmatch(attribute.lower()) is None


def is_copy_name(attribute: str) -> bool:
    """Whether the name of a key attribute says that it repeats what another attribute has.

    >>> [is_copy_name(name) for name in ("last_active_sk", "data", "updatedAt")]
    [True, True, False]
    """
    return not _COPIES.isdisjoint(snake_case(attribute).split("_"))


def unused(name: str, taken: Container[str], separator: str = "_") -> str:
    """Return the name, with a number behind it if it is taken.

    >>> unused("order", {"order"}), unused("Order", {"Order", "Order2"}, "")
    ('order_2', 'Order3')
    """
    number = 2
    found = name
    while found in taken:
        found = f"{name}{separator}{number}"
        number += 1
    return found


def write_assignment(target: str, value: Any, indent: str = "", end: str = "") -> str:
    """Return `target` followed by a value: `NAME = value`, `name=value`, `"name": value`."""
    line = f"{indent}{target}{literal(value)}{end}"
    brackets = _brackets(value)
    if len(line) <= WIDTH or brackets is None or not value:
        return line
    inner = indent + "    "
    if isinstance(value, Mapping):
        members = [
            write_assignment(f"{literal(name)}: ", each, inner, ",") for name, each in value.items()
        ]
    else:
        members = [write_assignment("", each, inner, ",") for each in _ordered(value)]
    return "\n".join([f"{indent}{target}{brackets[0]}", *members, f"{indent}{brackets[1]}{end}"])


def write_call(function: str, arguments: Mapping[str, Any], indent: str, end: str = "") -> str:
    """Return a call with keyword arguments."""
    flat = [f"{name}={literal(value)}" for name, value in arguments.items()]
    inner = indent + "    "
    lines = [write_assignment(f"{name}=", value, inner, ",") for name, value in arguments.items()]
    return _wrapped(function, flat, lines, indent, end)


def wrap_call(start: str, arguments: Iterable[str], indent: str = "", end: str = "") -> str:
    """Return a call on one line, or with its arguments on lines of their own."""
    given = list(arguments)
    return _wrapped(start, given, [f"{indent}    {each}," for each in given], indent, end)


def _wrapped(start: str, flat: Sequence[str], lines: list[str], indent: str, end: str) -> str:
    """Return a call on one line, with all arguments on a second one, or with these lines."""
    arguments = ", ".join(flat)
    line = f"{indent}{start}({arguments}){end}"
    if len(line) <= WIDTH:
        return line
    if len(f"{indent}    {arguments}") <= WIDTH:
        lines = [f"{indent}    {arguments}"]
    return "\n".join([f"{indent}{start}(", *lines, f"{indent}){end}"])


def keywords(arguments: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """Return the keyword arguments that are needed, each given with its value and its default."""
    items = arguments.items()
    return [f"{name}={literal(value)}" for name, (value, default) in items if value != default]


def can_write(value: Any) -> bool:
    """Whether a value has a literal."""
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and can_write(each) for name, each in value.items())
    if isinstance(value, (list, set, frozenset)):
        return all(map(can_write, value))
    return isinstance(value, (str, int, float, Decimal, bytes, date, type(None))) and (
        not isinstance(value, datetime) or value.tzinfo is UTC
    )


def names_in(value: Any) -> set[str]:
    """Return the names of the standard library that the literal of a value uses."""
    if isinstance(value, Mapping):
        return {name for each in value.values() for name in names_in(each)}
    if isinstance(value, (list, set, frozenset)):
        return {name for each in value for name in names_in(each)}
    if isinstance(value, datetime):
        return {"UTC", "datetime"}
    return {type(value).__name__} if isinstance(value, (date, Decimal)) else set()


def _brackets(value: Any) -> str | None:
    if isinstance(value, (Mapping, set, frozenset)):
        return "{}"
    return "[]" if isinstance(value, list) else None


def _ordered(value: Any) -> Sequence[Any]:
    return list(value) if isinstance(value, list) else sorted(value)


def literal(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(map(literal, _ordered(value)))}}}" if value else "set()"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, Decimal):
        return f'Decimal("{value}")'
    if isinstance(value, datetime):
        shown = [value.year, value.month, value.day, value.hour, value.minute]
        seconds = [value.second, value.microsecond]
        while seconds and not seconds[-1]:
            seconds.pop()
        return f"datetime({', '.join(map(str, shown + seconds))}, tzinfo=UTC)"
    if isinstance(value, date):
        return f"date({value.year}, {value.month}, {value.day})"
    if isinstance(value, bytes):
        shown_bytes = repr(value)
        is_plain = shown_bytes[1] == "'" and '"' not in shown_bytes and "\\'" not in shown_bytes
        return f'b"{shown_bytes[2:-1]}"' if is_plain else shown_bytes
    return repr(value)
