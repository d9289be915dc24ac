"""Print conditions and values as PartiQL.

What is printed parses to the same tree, except for binaries, for which PartiQL has no literal; they
are printed as a parameter with a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from tablewright.expression import tree
from tablewright.partiql.tokens import RESERVED
from tablewright.partiql.tree import Constant, ListOf, Literal, MapOf, Parameter, SetOf
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
    first, *others = path.parts
    return format_name(str(first)) + "".join(
        f"[{part}]" if isinstance(part, int) else f".{format_name(part)}" for part in others
    )


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
        case Parameter():
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

    def operand(found: tree.Operand) -> str:
        match found:
            case tree.Path():
                return format_path(found)
            case tree.Value(name):
                return show(name)
            case tree.Call(function, arguments):
                return f"{function}({', '.join(map(operand, arguments))})"
            case tree.Arithmetic(operator, left, right):
                return f"{operand(left)} {operator} {operand(right)}"

    def term(found: tree.Condition) -> str:
        match found:
            case tree.And(conditions):
                return " AND ".join(map(nested, conditions))
            case tree.Or(conditions):
                return " OR ".join(map(nested, conditions))
            case tree.Not(tree.Call("attribute_not_exists", (path,))):
                return f"{operand(path)} IS NOT MISSING"
            case tree.Not(inner):
                return f"NOT {nested(inner)}"
            case tree.Comparison(operator, left, right):
                return f"{operand(left)} {operator} {operand(right)}"
            case tree.Between(middle, low, high):
                return f"{operand(middle)} BETWEEN {operand(low)} AND {operand(high)}"
            case tree.In(member, options):
                return f"{operand(member)} IN [{', '.join(map(operand, options))}]"
            case tree.Call("attribute_not_exists", (path,)):
                return f"{operand(path)} IS MISSING"
            case tree.Call():
                return operand(found)

    def nested(found: tree.Condition) -> str:
        text = term(found)
        return f"({text})" if isinstance(found, tree.And | tree.Or) else text

    return term(condition)
