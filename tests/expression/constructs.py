"""Every construct of DynamoDB's expressions, with how the model writes it.

The constructs are those of the grammar: the tables in `expression.rules`, and the nodes of
`expression.tree`. So a new one that the model lacks fails a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from tablewright import GSI, Attr, Entity, Query, Table, attr, connect, create, index, key
from tablewright.expression import rules, tree
from tablewright.expression.parse import parse_condition, parse_projection, parse_update
from tests.tables_in_docs import rows
from tests.transports import record_requests

DOCUMENT = "docs/plans.md"


class Orders(Table, name="orders"):
    by_state = GSI("GSI1PK", "GSI1SK")
    by_note = GSI("GSI2PK", "GSI2SK")


class Order(Entity, table=Orders):
    order_id: Attr[str] = attr()
    state: Attr[str] = attr(default="new")
    total: Attr[int] = attr(pad=6, default=0)
    least: Attr[int] = attr(default=0)
    note: Attr[str | None] = attr(default=None)
    lines: Attr[list[str]] = attr(default_factory=list)
    tags: Attr[set[str]] = attr(default_factory=set)
    more: Attr[dict[str, int]] = attr(default_factory=dict)
    primary = key("ORDER" / order_id, "ORDER")
    by_state = index(Orders.by_state, "STATE" / state, "T" / total)
    by_note = index(Orders.by_note, "NOTES", "N" / note)


#: The constructs that a condition or a filter can have, each with the code that writes it.
CONDITIONS = {
    **{one: f"Order.total {two} 5" for one, two in (("=", "=="), ("<>", "!="))},
    **{each: f"Order.total {each} Order.least" for each in ("<", "<=", ">", ">=")},
    "BETWEEN": "Order.total.between(Order.least, 9)",
    "IN": 'Order.state.in_(["new", "paid"])',
    "AND": '(Order.total > 5) & (Order.state == "new")',
    "OR": '(Order.total > 5) | (Order.state == "new")',
    "NOT": "~(Order.total > 5)",
    "attribute_exists": "Order.note.exists()",
    "attribute_not_exists": "Order.note.not_exists()",
    "attribute_type": 'Order.note.attribute_type("S")',
    "begins_with": 'Order.note.begins_with("a")',
    "contains": "Order.lines.contains(Order.state)",
    "size": "Order.lines.size() > Order.tags.size()",
}
KEY_CONDITIONS = {
    "=": 'Order.by_state("new").eq(5)',
    "<": 'Order.by_state("new").lt(5)',
    "<=": 'Order.by_state("new").lte(5)',
    ">": 'Order.by_state("new").gt(5)',
    ">=": 'Order.by_state("new").gte(5)',
    "BETWEEN": 'Order.by_state("new").between(5, 9)',
    "begins_with": 'Order.by_note().begins_with("a")',
    "AND": 'Order.by_state("new").eq(5)',
}
UPDATES = {
    "SET": "Order.state.set('paid')",
    "REMOVE": "Order.note.remove()",
    "ADD": 'Order.tags.add_to_set({"a"})',
    "DELETE": 'Order.tags.remove_from_set({"a"})',
    "+": "Order.least.increment(2)",
    "-": "Order.least.decrement(2)",
    "if_not_exists": 'Order.note.set_if_absent("a")',
    "list_append": 'Order.lines.append("a")',
    "path.name": 'Order.more.path(lambda more: more["a"]).set(1)',
    "path[0]": 'Order.lines.path(lambda lines: lines[0]).set("a")',
}
PROJECTIONS = {
    "path": "Order.by_state('new').select(Order.state, Order.total)",
}

_WHERE = {
    "condition": (CONDITIONS, "condition, filter"),
    "key": (KEY_CONDITIONS, "key condition"),
    "update": (UPDATES, "update"),
    "projection": (PROJECTIONS, "projection"),
}


def grammar() -> dict[str, set[str]]:
    """Return the constructs that the grammar of each kind of expression has."""
    logic = {each.__name__.upper() for each in get_args(tree.Condition)} - {"COMPARISON", "CALL"}
    arithmetic = {*rules.OPERAND_TYPES} - {*rules.FUNCTIONS, *rules.COMPARATORS, *logic}
    update = {*tree.KEYWORDS.values(), *rules.UPDATE_OPERANDS, *arithmetic}
    return {
        "condition": {*rules.COMPARATORS, *logic, *rules.TESTS, *rules.CONDITION_OPERANDS},
        "key": {*rules.COMPARATORS - {"<>"}, "BETWEEN", "AND", "begins_with"},
        "update": {*update, "path.name", "path[0]"},
        "projection": {"path"},
    }


def table() -> str:
    """Return the table of the documentation."""
    lines: list[tuple[str, ...]] = [
        (f"`{construct}`", kind, f"`{code}`")
        for examples, kind in _WHERE.values()
        for construct, code in examples.items()
    ]
    return rows(("in DynamoDB", "expression", "in the model"), lines)


def evaluate(code: str) -> Any:
    return eval(code, {"Order": Order})


def requests(plan: Any) -> list[dict[str, Any]]:
    """Return the requests of a plan."""
    db = connect(":memory:", Orders)
    db.run(create(Order(order_id="1", lines=["x"], more={"a": 0}, tags={"b"})))
    recorded = record_requests(db)
    db.run(plan)
    return [body for _, body in recorded.requests]


def constructs_of(node: Any) -> Iterator[str]:
    """Yield the constructs in a tree."""
    match node:
        case tree.Comparison(operator, _, _) | tree.Arithmetic(operator, _, _):
            yield operator
        case tree.Call(function, _):
            yield function
        case tree.Between() | tree.In() | tree.And() | tree.Or() | tree.Not():
            yield type(node).__name__.upper()
        case tree.UpdateSection(keyword, _):
            yield keyword
        case tree.Path(parts):
            yield "path"
            yield from ("path[0]" if isinstance(part, int) else "path.name" for part in parts[1:])
    for child in node if isinstance(node, tuple) else _children(node):
        yield from constructs_of(child)


def _children(node: Any) -> Iterator[Any]:
    if isinstance(node, msgspec.Struct):
        yield from (getattr(node, name) for name in node.__struct_fields__)


def of_condition(code: str) -> set[str]:
    query: Query[Order] = Order.by_state("new").filter(evaluate(code))
    return _written(query, "FilterExpression")


def of_key(code: str) -> set[str]:
    return _written(evaluate(code), "KeyConditionExpression")


def of_update(code: str) -> set[str]:
    return _written(Order.primary("1").update(evaluate(code)), "UpdateExpression")


def of_projection(code: str) -> set[str]:
    return _written(evaluate(code), "ProjectionExpression")


def _written(plan: Any, member: str) -> set[str]:
    found: set[str] = set()
    for body in requests(plan):
        text = body.get(member)
        if text is None:
            continue
        if member == "UpdateExpression":
            parsed: Any = parse_update(text)
        elif member == "ProjectionExpression":
            parsed = parse_projection(text)
        else:
            parsed = parse_condition(member, text)
        found |= set(constructs_of(parsed))
    return found
