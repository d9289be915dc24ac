"""Expressions: DynamoDB's conditions, key conditions, filters, projections and updates.

    text -> tokens -> tree -> resolved tree and checks -> functions of an item
            lexer     parse   resolve                     evaluate, update, document, key

A request's expressions share names and values, so they are read in a `Scope`:

    >>> scope = Scope({"#n": "count"}, {":one": {"N": "1"}, ":old": {"S": "2026"}})
    >>> update = scope.update("SET #n = if_not_exists(#n, :one) + :one REMOVE seen.noon")
    >>> condition = scope.condition("attribute_not_exists(made) OR made > :old")
    >>> scope.close()                                   # every name and value was used

    >>> item = {"count": {"N": "4"}, "seen": {"M": {"noon": {"S": "yes"}}}}
    >>> condition.holds(item)
    True
    >>> update.apply(item)
    {'count': {'N': '5'}, 'seen': {'M': {}}}
    >>> update.touched(item)                            # UPDATED_OLD
    {'count': {'N': '4'}, 'seen': {'M': {'noon': {'S': 'yes'}}}}

    >>> key = Scope(None, {":p": {"S": "A"}, ":s": {"S": "B"}}).key_condition("p = :p AND s > :s")
    >>> key.select(("p",), ("s",), {"p": "S", "s": "S"})
    KeySelection(partition=({'S': 'A'},), equal=(), operator='>', operands=({'S': 'B'},))

`legacy` gives objects with the same methods for the parameters from before expressions. Items and
values are in normal form (`tablewright.encoding.items`) and are never changed. Every mistake is a
`ValidationException` with DynamoDB's message. The package knows nothing of tables, requests or
storage: names of keys come in as arguments.
"""

from __future__ import annotations

from tablewright.expression.key import KeySelection
from tablewright.expression.scope import Condition, Key, Project, Scope, Update

__all__ = ["Condition", "Key", "KeySelection", "Project", "Scope", "Update"]
