"""Expressions: DynamoDB's conditions, key conditions, filters, projections and updates.

    text -> tokens -> tree -> resolved tree and checks -> functions of an item
            lexer     parse   resolve                     evaluate, update, projection, key

The expressions of a request share names and values, so a `Scope` compiles them:

    >>> scope = Scope({"#n": "count"}, {":one": {"N": "1"}, ":old": {"S": "2026"}})
    >>> update = scope.update("SET #n = if_not_exists(#n, :one) + :one REMOVE seen.noon")
    >>> condition = scope.condition("attribute_not_exists(made) OR made > :old")
    >>> scope.require_all_used()                        # every name and value is used

    >>> item = {"count": {"N": "4"}, "seen": {"M": {"noon": {"S": "yes"}}}}
    >>> condition.holds(item)
    True
    >>> update.apply(item)
    {'count': {'N': '5'}, 'seen': {'M': {}}}
    >>> update.project_written(item)                    # UPDATED_OLD
    {'count': {'N': '4'}, 'seen': {'M': {'noon': {'S': 'yes'}}}}

    >>> key = Scope(None, {":p": {"S": "A"}, ":s": {"S": "B"}}).key_condition("p = :p AND s > :s")
    >>> key.select(("p",), ("s",), {"p": "S", "s": "S"})
    KeySelection(partition=({'S': 'A'},), equal=(), operator='>', operands=({'S': 'B'},))

`legacy` returns objects with the same methods for the parameters that preceded expressions. Items
and values are in normal form (`tablewright.encoding.items`) and are never modified. Every invalid
expression raises a `ValidationException` with DynamoDB's message. The package knows nothing about
tables, requests or storage: key names are arguments.
"""

from __future__ import annotations

from tablewright.expression.compiled import (
    CompiledCondition,
    CompiledKeyCondition,
    CompiledProjection,
    CompiledUpdate,
)
from tablewright.expression.key import KeySelection
from tablewright.expression.scope import Scope

__all__ = [
    "CompiledCondition",
    "CompiledKeyCondition",
    "CompiledProjection",
    "CompiledUpdate",
    "KeySelection",
    "Scope",
]
