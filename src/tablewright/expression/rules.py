"""Rules: tables of the functions and operators.

Owns the facts about each function and operator: where it is allowed, the number of its operands and
their types. `parse` and `resolve` apply the tables; they own the order of the checks and the
messages. To add a function, start here.
"""

from __future__ import annotations

COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))

#: Functions that are conditions; functions that return a value in a condition; in an update.
TESTS = frozenset(
    ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains")
)
CONDITION_OPERANDS = frozenset(("size",))
UPDATE_OPERANDS = frozenset(("if_not_exists", "list_append"))
FUNCTIONS = TESTS | CONDITION_OPERANDS | UPDATE_OPERANDS

OPERAND_COUNTS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
    "if_not_exists": 2,
    "list_append": 2,
}
#: The allowed types of operands. Functions and operators that are not listed allow all types.
OPERAND_TYPES = {
    **dict.fromkeys(("<", "<=", ">", ">=", "BETWEEN"), frozenset("SNB")),
    **dict.fromkeys(("+", "-"), frozenset("N")),
    "size": frozenset(("S", "B", "SS", "NS", "BS", "L", "M")),
    "begins_with": frozenset("SB"),
    "list_append": frozenset("L"),
}


def not_in_update(function: str) -> str:
    """Return the message for a function that an update cannot have."""
    return f"The function is not allowed in an update expression; function: {function}"


def not_in_condition(function: str) -> str:
    """Return the message for a function that a condition cannot have."""
    return f"The function is not allowed in a condition expression; function: {function}"


def out_of_range(index: str) -> str:
    """Return the message for a position in a list that is too large."""
    return f"List index is not within the allowable range; index: [{index}]"


ADD_TYPES = frozenset(("N", "SS", "NS", "BS"))
DELETE_TYPES = frozenset(("SS", "NS", "BS"))

#: Functions whose first operand must be a path; functions whose operands must differ from it.
PATH_FIRST = frozenset(("attribute_exists", "attribute_not_exists", "if_not_exists"))
DISTINCT = frozenset(("attribute_type", "begins_with", "contains", "if_not_exists"))

#: The names of types in messages about ADD, DELETE and AttributeUpdates.
LONG_TYPE_NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "L": "LIST",
    "M": "MAP",
    "SS": "STRING_SET",
    "NS": "NUMBER_SET",
    "BS": "BINARY_SET",
}
#: As in DynamoDB's messages, which have further types and this order.
TYPE_NAMES = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"
ANY_TYPE = (
    "{HD,DOUBLE,BOOL,N,DICT,B,NULL,HDS,L,FLOAT,DOUBLESET,INT,INTSET,DECIMALSET,FS,S,NS,M,BS,"
    "DECIMAL,SS}"
)
