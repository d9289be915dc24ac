"""PartiQL: DynamoDB's SQL, from the text of a statement to a tree.

    text -> tokens -> tree
            tokens    parser, conditions

    >>> parsed = parse("SELECT price FROM Orders WHERE pk = ? AND price > 5")
    >>> parsed.statement.source.table, parsed.parameter_count
    ('Orders', 1)
    >>> parsed.bind([{"S": "C#1"}])
    {':1': {'N': '5'}, ':0': {'S': 'C#1'}}

Conditions and changes are trees of `tablewright.expression`, so that they have the same checks and
the same meaning as expressions. A literal or a parameter is a reference there (`:0`); `bind`
returns the values of the references. The package knows nothing about tables, keys or requests.
"""

from __future__ import annotations

from tablewright.partiql.parser import parse
from tablewright.partiql.tree import (
    DeleteStatement,
    ExistsStatement,
    InsertStatement,
    OrderTerm,
    ParsedStatement,
    SelectStatement,
    Source,
    Statement,
    UpdateStatement,
)

__all__ = [
    "DeleteStatement",
    "ExistsStatement",
    "InsertStatement",
    "OrderTerm",
    "ParsedStatement",
    "SelectStatement",
    "Source",
    "Statement",
    "UpdateStatement",
    "parse",
]
