"""Names: identifiers and literals of a module, made of the texts in a table.

    attribute     customerId, Customer-ID   customer_id
    class         warehouseItem, WAREHOUSE_ITEM   WarehouseItem
    id            ORDERS, order   order_id

Invariants: every result is an identifier that is neither a keyword nor a name that a class body
needs; nothing else of an item's text becomes code.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Container

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
#: Key attributes that have no name of their own.
_KEY_ATTRIBUTE = re.compile(
    r"((gsi|lsi|idx|index|g|l)?[\d_-]*)?(pk|sk|hk|rk|(partition|sort|hash|range)_?key)?[\d_-]*"
)


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
