"""Print conditions and values as PartiQL.

What is printed parses to the same tree, except for binaries, for which PartiQL has no literal; they
are printed as a parameter with a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from msgspec.structs import replace

from tablewright.expression import tree
from tablewright.expression.printing import NESTED, Dialect
from tablewright.partiql.tokens import RESERVED
from tablewright.partiql.tree import Constant, ListOf, Literal, MapOf, PositionalParameter, SetOf
from tablewright.values import SET_MEMBER, Value

#: Prints the value of a reference such as `:0`.
Show: TypeAlias = Callable[[str], str]
_IS_BARE = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*").fullmatch


def format_name(name: str) -> str:
    """Return a name, in quotes if it needs them.

    >>> format_name("price"), format_name("my-table"), format_name("order")
    ('price', '"my-table"', '"order"')
    """
    if _IS_BARE(name) and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def format_path(path: tree.Path) -> str:
    return _PARTIQL.path(path.parts)


def format_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def format_value(value: Value) -> str:
    """Return a value as a literal.

    >>> format_value({"M": {"a": {"L": [{"N": "1"}, {"S": "it's"}]}, "b": {"SS": ["x"]}}})
    "{'a': [1, 'it''s'], 'b': <<'x'>>}"
    """
    ((tag, content),) = value.items()
    match tag:
        case "S":
            return format_text(content)
        case "N":
            return str(content)
        case "BOOL":
            return "true" if content else "false"
        case "NULL":
            return "null"
        case "B":
            return f"? /* {content} */"
        case "L":
            return f"[{', '.join(map(format_value, content))}]"
        case "M":
            members = (f"{format_text(name)}: {format_value(v)}" for name, v in content.items())
            return f"{{{', '.join(members)}}}"
    members = (format_value({SET_MEMBER[tag]: member}) for member in content)
    return f"<<{', '.join(members)}>>"


def format_constant(constant: Constant) -> str:
    """Return a constant as it is in the statement, with `?` for parameters."""
    match constant:
        case Literal(value):
            return format_value(value)
        case PositionalParameter():
            return "?"
        case ListOf(parts):
            return f"[{', '.join(map(format_constant, parts))}]"
        case SetOf(members):
            return f"<<{', '.join(map(format_constant, members))}>>"
        case MapOf(entries):
            shown = (f"{format_text(name)}: {format_constant(part)}" for name, part in entries)
            return f"{{{', '.join(shown)}}}"


def format_condition(condition: tree.Condition, show: Show) -> str:
    """Return a condition; `show` prints its values."""
    return replace(_PARTIQL, value=show).condition(condition)


_PARTIQL = Dialect(
    name=format_name,
    grouping=NESTED,
    negation="NOT {}",
    options="[{}]",
    tests={"attribute_not_exists": ("{} IS MISSING", "{} IS NOT MISSING")},
)
