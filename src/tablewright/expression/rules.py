"""Rules: functions and operators, as tables.

Owns what is a matter of fact about each function and operator: where it may stand, how many
operands it takes, of which types. `parse` and `resolve` apply the tables and own the order of the
checks and the words of the faults. Adding a function starts here.
"""

from __future__ import annotations

COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))

#: Functions that are conditions, those that give a value in a condition, and those of updates.
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
#: The types an operand may have, where not all of them.
OPERAND_TYPES = {
    **dict.fromkeys(("<", "<=", ">", ">=", "BETWEEN"), frozenset("SNB")),
    **dict.fromkeys(("+", "-"), frozenset("N")),
    "size": frozenset(("S", "B", "SS", "NS", "BS", "L", "M")),
    "begins_with": frozenset("SB"),
    "list_append": frozenset("L"),
}
ADD_TYPES = frozenset(("N", "SS", "NS", "BS"))
DELETE_TYPES = frozenset(("SS", "NS", "BS"))

#: Functions whose first operand is a path, and those whose first operand may not come again.
PATH_FIRST = frozenset(("attribute_exists", "attribute_not_exists", "if_not_exists"))
DISTINCT = frozenset(("attribute_type", "begins_with", "contains", "if_not_exists"))

#: As messages about ADD, DELETE and AttributeUpdates call the types.
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
#: In the order, and with the extra types, that DynamoDB prints.
TYPE_NAMES = "{N,BS,L,B,NULL,M,S,SS,NS,BOOL}"
ANY_TYPE = (
    "{HD,DOUBLE,BOOL,N,DICT,B,NULL,HDS,L,FLOAT,DOUBLESET,INT,INTSET,DECIMALSET,FS,S,NS,M,BS,"
    "DECIMAL,SS}"
)
