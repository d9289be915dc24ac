"""Query requests: a Query or a Scan whose key condition, filters and paths are kept as values.

    KeyCondition({"PK": {"S": "C1"}}, SortCondition("SK", "begins_with", ({"S": "ORDER#"},)))

A `Selection` holds the key condition, the filters and the paths to return. Its expressions are
rendered once, when the `body` of a request is first read. Code that has to know which keys a
request reaches, such as the check of a tenant's database, looks at these values and never at the
rendered text.

Invariants: a Selection does not change; all requests for the pages of one query share it. The
members of a `QueryRequest` hold no expressions.

This module must not know conditions, changes, entities, plans or tenants.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from tablewright.expression.printing import format_comparison
from tablewright.mapping.key_condition import KeyCondition
from tablewright.plan.expressions import Path, Placeholders
from tablewright.values import Item, Value


class Filter(Protocol):
    """A condition on the items that a request reads."""

    @property
    def names(self) -> Collection[str]:
        """The names of the stored attributes, and of those inside of them, that it reads."""
        ...

    def factor(self, marks: Placeholders) -> str:
        """Render the condition so that it can be joined to others by AND."""
        ...


class _OfAttribute(Struct, frozen=True):
    """A filter of one attribute."""

    attribute: str

    @property
    def names(self) -> Collection[str]:
        return (self.attribute,)


class OneOf(_OfAttribute, frozen=True):
    """A filter: the attribute equals one of the values or begins with one of the prefixes."""

    values: tuple[Value, ...]
    prefixes: tuple[str, ...] = ()

    def factor(self, marks: Placeholders) -> str:
        name = marks.name(self.attribute)
        values = [marks.value(value) for value in self.values]
        clauses = []
        if values:
            equal = f"= {values[0]}" if len(values) == 1 else f"IN ({', '.join(values)})"
            clauses.append(f"{name} {equal}")
        clauses += [
            f"begins_with({name}, {marks.value({'S': prefix})})" for prefix in self.prefixes
        ]
        return clauses[0] if len(clauses) == 1 else f"({' OR '.join(clauses)})"


class NotOfTypes(_OfAttribute, frozen=True):
    """A filter: the type attribute is absent, or is none of the types of other entities.

    Items with a type of no entity pass: only their keys say what they are.
    """

    others: tuple[str, ...]

    def factor(self, marks: Placeholders) -> str:
        name = marks.name(self.attribute)
        others = [marks.value({"S": other}) for other in self.others]
        if len(others) == 1:
            return f"{name} <> {others[0]}"  # true if the attribute is absent
        return f"(NOT {name} IN ({', '.join(others)}))"


class NotOnlyOfTypes(_OfAttribute, frozen=True):
    """The same for a type attribute that is a set or a list: it may also contain an own type."""

    others: tuple[str, ...]
    own: tuple[str, ...]

    def factor(self, marks: Placeholders) -> str:
        name = marks.name(self.attribute)
        own = [f"contains({name}, {marks.value({'S': each})})" for each in self.own]
        others = [f"contains({name}, {marks.value({'S': each})})" for each in self.others]
        return f"({' OR '.join(own)} OR NOT ({' OR '.join(others)}))"


class Selection(Struct, eq=False):
    """What a request selects: by key, by filters, and which paths of each item."""

    #: None for a Scan, which reads the whole table.
    condition: KeyCondition | None
    filters: tuple[Filter, ...] = ()
    #: Empty for whole items.
    paths: Sequence[Path] = ()
    _rendered: dict[str, Any] | None = None

    def filtered(self, condition: Filter) -> Selection:
        """Return this selection with one more filter."""
        return Selection(self.condition, (*self.filters, condition), self.paths)

    def named_attributes(self) -> tuple[str, ...]:
        """Return the attributes that the request names; none if it reads whole items."""
        if not self.paths:
            return ()
        names = {str(path[0]) for path in self.paths}.union(*(each.names for each in self.filters))
        if self.condition is not None:
            names.update(self.condition.attributes)
        return tuple(sorted(names))

    def expressions(self) -> dict[str, Any]:
        """Render the members of a request that hold expressions, their names and values."""
        if self._rendered is None:
            marks = Placeholders()
            members: dict[str, Any] = {}
            if self.condition is not None:
                members["KeyConditionExpression"] = key_expression(
                    self.condition, marks.name, marks.value
                )
            if self.filters:
                members["FilterExpression"] = " AND ".join(
                    [condition.factor(marks) for condition in self.filters]
                )
            if self.paths:
                members["ProjectionExpression"] = ", ".join(map(marks.path, self.paths))
            self._rendered = members | marks.members()
        return self._rendered


def key_expression(
    condition: KeyCondition, name: Callable[[str], str], value: Callable[[Value], str]
) -> str:
    """Render a KeyConditionExpression; `name` and `value` print those in it.

    >>> from tablewright.mapping.key_condition import SortCondition
    >>> sort = SortCondition("SK", "begins_with", ({"S": "ORDER#"},))
    >>> key_expression(KeyCondition({"PK": {"S": "C1"}}, sort), str, lambda value: value["S"])
    'PK = C1 AND begins_with(SK, ORDER#)'
    """
    terms = [f"{name(each)} = {value(equal)}" for each, equal in condition.equal.items()]
    sort = condition.sort
    if sort is not None:
        terms.append(
            format_comparison(name(sort.attribute), sort.comparison, [*map(value, sort.values)])
        )
    return " AND ".join(terms)


class QueryRequest(Struct, frozen=True):
    """One Query or Scan."""

    operation: Literal["Query", "Scan"]
    #: All members without expressions: TableName, IndexName, Limit, ...
    members: dict[str, Any]
    selection: Selection
    #: ExclusiveStartKey is the end of the page before: the LastEvaluatedKey of an answer, or the
    #: key in an authenticated cursor; not a key from a caller.
    continues: bool = False

    @property
    def body(self) -> dict[str, Any]:
        """The body of the request, with its expressions."""
        return self.members | self.selection.expressions()

    def with_members(self, **members: Any) -> QueryRequest:
        """Return this request with some members changed."""
        return QueryRequest(self.operation, self.members | members, self.selection, self.continues)

    def next_page(self, last_evaluated_key: Item) -> QueryRequest:
        """Return the request for the page after the one that ended at this key."""
        members = self.members | {"ExclusiveStartKey": last_evaluated_key}
        return QueryRequest(self.operation, members, self.selection, continues=True)

    def for_condition(self, condition: KeyCondition) -> QueryRequest:
        """Return this request for another range of keys, from its beginning."""
        members = {k: each for k, each in self.members.items() if k != "ExclusiveStartKey"}
        selection = Selection(condition, self.selection.filters, self.selection.paths)
        return QueryRequest(self.operation, members, selection)
