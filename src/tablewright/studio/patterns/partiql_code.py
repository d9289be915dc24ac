"""Requests as PartiQL, or the reason why PartiQL cannot express them.

    Query       SELECT … FROM "table"."index" WHERE … ORDER BY …
    PutItem     INSERT, only if it requires that there is no item: INSERT never replaces one
    UpdateItem  UPDATE, only if it requires that there is an item: UPDATE never creates one
    DeleteItem  DELETE

A transaction becomes the statements of one ExecuteTransaction, a batch those of one
BatchExecuteStatement. Values are literals; a binary value has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tablewright.expression import tree
from tablewright.expression.parse import parse_condition, parse_projection, parse_update
from tablewright.mapping.table import TableMap
from tablewright.partiql.printing import format_condition, format_name, format_path, format_value
from tablewright.studio.markup.clauses import clauses, split
from tablewright.values import Item, Value, tag_of
from tablewright.wire.operations import OPERATIONS, touches
from tablewright.wire.touches import Named, Touch

#: How many statements one BatchExecuteStatement takes.
MAX_BATCH = 25
_RETURNING = {
    "ALL_NEW": " RETURNING ALL NEW *",
    "ALL_OLD": " RETURNING ALL OLD *",
    "UPDATED_NEW": " RETURNING MODIFIED NEW *",
    "UPDATED_OLD": " RETURNING MODIFIED OLD *",
}

#: Returns the partition and sort key attributes of a table, or of an index.
Keys = Callable[[str, str], tuple[Sequence[str], Sequence[str]]]


class CannotExpress(Exception):
    """PartiQL has nothing that does the same as a request."""


class Translated(Struct, frozen=True):
    """The statements that do the same as one request, and the operation that runs them."""

    operation: str
    statements: tuple[str, ...]
    #: Further members of the request: Limit, ConsistentRead.
    members: dict[str, Any] = {}


def keys_in(tables: Mapping[str, TableMap]) -> Keys:
    """Return a function that finds the keys of the tables of a design, by their names."""

    def keys(table: str, index: str) -> tuple[Sequence[str], Sequence[str]]:
        found = tables[table]
        if index:
            return found.indexes[index].partition, found.indexes[index].sort
        partition, sort = found.attributes
        return (partition,), (() if sort is None else (sort,))

    return keys


def partiql_code(requests: Sequence[tuple[str, dict[str, Any]]], keys: Keys) -> str:
    """Return requests as statements, each with the reason if it cannot be one."""
    shown = []
    for operation, body in requests:
        try:
            shown.append(_text(translate(operation, body, keys)))
        except CannotExpress as error:
            shown.append(f"-- {operation}: {error}")
    return "\n\n".join(shown)


def _text(found: Translated) -> str:
    notes = []
    if found.operation == "ExecuteTransaction":
        notes.append("-- the statements of one ExecuteTransaction: all or none")
    elif found.operation == "BatchExecuteStatement":
        notes.append("-- the statements of one BatchExecuteStatement")
    if found.members:
        members = ", ".join(f"{name}={value}" for name, value in found.members.items())
        notes.append(f"-- with these parameters of {found.operation}: {members}")
    return "\n".join([*notes, *found.statements])


def translate(operation: str, body: dict[str, Any], keys: Keys) -> Translated:
    """Return the statements that do the same as a request. Raises CannotExpress."""
    row, touched = OPERATIONS[operation], list(touches(operation, body))
    if not all(isinstance(touch.what, Named) for touch in touched):
        return _select(body, keys)
    statements = [_statement(touch, keys) for touch in touched]
    if row.is_transaction:
        return Translated("ExecuteTransaction", tuple(statements))
    if row.is_batch:
        return _batch(statements)
    members = {"ConsistentRead": True} if body.get("ConsistentRead") else {}
    returning = _RETURNING.get(body.get("ReturnValues", ""), "")
    return Translated("ExecuteStatement", (statements[0] + returning,), members)


def _statement(touch: Touch, keys: Keys) -> str:
    return _get(touch) if touch.access == "read" else _write(touch.kind, touch.body, keys)


def _batch(statements: list[str]) -> Translated:
    if len(statements) > MAX_BATCH:
        raise CannotExpress(
            f"a batch takes {MAX_BATCH} statements, and this one has {len(statements)}"
        )
    return Translated("BatchExecuteStatement", tuple(statements))


# --- reads --------------------------------------------------------------------------------------


def _get(touch: Touch) -> str:
    assert isinstance(touch.what, Named)
    source, key = format_name(touch.table), _key(touch.what.item)
    return f"SELECT {_paths(touch.part)} FROM {source} WHERE {key}"


def _select(body: dict[str, Any], keys: Keys) -> Translated:
    for member, reason in {
        "ExclusiveStartKey": "a statement continues with the NextToken of its own last page, not "
        "with a key",
        "TotalSegments": "a statement reads all segments",
    }.items():
        if member in body:
            raise CannotExpress(reason)
    if body.get("Select") == "COUNT":
        raise CannotExpress("PartiQL has no COUNT: a SELECT returns the items")
    table, index = body["TableName"], body.get("IndexName", "")
    partition, sort = keys(table, index)
    if len(partition) > 1 or len(sort) > 1:
        raise CannotExpress("PartiQL reads no index with a key of several attributes")
    source = f"{format_name(table)}.{format_name(index)}" if index else format_name(table)
    texts = [
        _condition(body[member], body)
        for member in ("KeyConditionExpression", "FilterExpression")
        if member in body
    ]
    where = f"\nWHERE {' AND '.join(texts)}" if texts else ""
    order = ""
    if body.get("ScanIndexForward") is False:
        order = "\nORDER BY " + ", ".join(f"{format_name(name)} DESC" for name in sort)
    members = {name: body[name] for name in ("Limit", "ConsistentRead") if body.get(name)}
    text = f"SELECT {_paths(body)} FROM {source}{where}{order}"
    return Translated("ExecuteStatement", (text,), members)


def _paths(body: Mapping[str, Any]) -> str:
    text = body.get("ProjectionExpression")
    if text is None:
        return "*"
    names = body.get("ExpressionAttributeNames", {})
    paths = [_resolved(path, names) for path in parse_projection(text).paths]
    if any(len(path.parts) > 1 for path in paths):
        raise CannotExpress(
            "a SELECT returns a part of a document by its last name, not inside of the document"
        )
    return ", ".join(map(format_path, paths))


# --- writes -------------------------------------------------------------------------------------


def _write(kind: str, body: dict[str, Any], keys: Keys) -> str:
    table = body["TableName"]
    partition, sort = keys(table, "")
    names = {*partition, *sort}
    match kind:
        case "Put":
            return _insert(body, names)
        case "Update":
            if not _requires_item(body):
                raise CannotExpress("UPDATE never creates an item, and this request may create it")
            return f"UPDATE {format_name(table)}\n{_changes(body)}\nWHERE {_where(body, names)}"
        case "Delete":
            return f"DELETE FROM {format_name(table)} WHERE {_where(body, names)}"
        case _:
            if not _requires_item(body):
                raise CannotExpress("EXISTS cannot require that there is no item")
            return f"EXISTS(SELECT * FROM {format_name(table)} WHERE {_where(body, names)})"


def _insert(body: dict[str, Any], keys: set[str]) -> str:
    required = _trees(body)
    if not required or not all(_is_absence(condition, keys) for condition in required):
        raise CannotExpress("INSERT never replaces an item, and this request may replace one")
    item = {"M": body["Item"]}
    _refuse_binary(item)
    return f"INSERT INTO {format_name(body['TableName'])} VALUE {format_value(item)}"


def _is_absence(condition: tree.Condition, keys: set[str]) -> bool:
    """Whether a condition is that there is no item."""
    match condition:
        case tree.Call("attribute_not_exists", (tree.Path((name,)),)):
            return name in keys
        case _:
            return False


def _trees(body: Mapping[str, Any]) -> list[tree.Condition]:
    """Return the clauses of the condition of a write, with the names of attributes."""
    text = body.get("ConditionExpression")
    if text is None:
        return []
    names = body.get("ExpressionAttributeNames", {})
    return [_resolved(each, names) for each in split(parse_condition("ConditionExpression", text))]


def _requires_item(body: dict[str, Any]) -> bool:
    """Whether the condition of a write is false without an item."""
    return any(not clause.holds for clause in clauses(body, None))


def _where(body: dict[str, Any], keys: set[str]) -> str:
    """Return the key and the condition; the key alone says that the item exists."""
    others = [
        condition
        for condition in _trees(body)
        if not (
            isinstance(condition, tree.Call)
            and condition.function == "attribute_exists"
            and isinstance(condition.arguments[0], tree.Path)
            and condition.arguments[0].parts[0] in keys
        )
    ]
    texts = [_formatted(each, body) for each in others]
    return " AND ".join([_key(body["Key"]), *texts])


def _changes(body: dict[str, Any]) -> str:
    names, lines = body.get("ExpressionAttributeNames", {}), []
    for section in parse_update(body["UpdateExpression"]).sections:
        for action in section.actions:
            path = format_path(_resolved(action.path, names))
            match action:
                case tree.SetAction(_, operand):
                    lines.append(f"SET {path} = {_operand(_resolved(operand, names), body)}")
                case tree.RemoveAction():
                    lines.append(f"REMOVE {path}")
                case tree.AddAction(_, value):
                    if tag_of(body["ExpressionAttributeValues"][value.name]) == "N":
                        raise CannotExpress(
                            "ADD begins with 0 if the attribute is missing; SET does not"
                        )
                    lines.append(f"SET {path} = set_add({path}, {_value(value.name, body)})")
                case tree.DeleteAction(_, value):
                    lines.append(f"SET {path} = set_delete({path}, {_value(value.name, body)})")
    return "\n".join(lines)


def _operand(operand: tree.Operand, body: dict[str, Any]) -> str:
    match operand:
        case tree.Call("if_not_exists", _):
            raise CannotExpress("PartiQL has no if_not_exists")
        case tree.Call(function, arguments):
            return f"{function}({', '.join(_operand(each, body) for each in arguments)})"
        case tree.Arithmetic(operator, left, right):
            return f"{_operand(left, body)} {operator} {_operand(right, body)}"
        case tree.Path():
            return format_path(operand)
        case tree.Value(name):
            return _value(name, body)


# --- conditions and values ----------------------------------------------------------------------


def _condition(text: str, body: dict[str, Any]) -> str:
    parsed = parse_condition("ConditionExpression", text)
    resolved = _resolved(parsed, body.get("ExpressionAttributeNames", {}))
    return _formatted(resolved, body)


def _formatted(condition: tree.Condition, body: dict[str, Any]) -> str:
    """Return a condition, in parentheses if it is joined by OR."""
    text = format_condition(_missing(condition), lambda name: _value(name, body))
    return f"({text})" if isinstance(condition, tree.Or) else text


def _missing(node: Any) -> Any:
    """Return a condition with `attribute_exists` as PartiQL has it: IS NOT MISSING."""
    match node:
        case tree.Call("attribute_exists", arguments):
            return tree.Not(tree.Call("attribute_not_exists", arguments))
        case tree.And(conditions) | tree.Or(conditions):
            return type(node)(tuple(map(_missing, conditions)))
        case tree.Not(condition):
            return tree.Not(_missing(condition))
        case _:
            return node


def _resolved(node: Any, names: Mapping[str, str]) -> Any:
    """Return a tree with the names of attributes instead of placeholders."""
    if isinstance(node, tree.Path):
        return tree.Path(
            tuple(names.get(part, part) if isinstance(part, str) else part for part in node.parts)
        )
    if isinstance(node, tuple):
        return tuple(_resolved(each, names) for each in node)
    if isinstance(node, Struct):
        members = {name: _resolved(getattr(node, name), names) for name in node.__struct_fields__}
        return replace(node, **members)
    return node


def _value(name: str, body: Mapping[str, Any]) -> str:
    value: Value = body["ExpressionAttributeValues"][name]
    _refuse_binary(value)
    return format_value(value)


def _refuse_binary(value: Any) -> None:
    if isinstance(value, dict):
        for tag, inner in value.items():
            if tag in ("B", "BS") and isinstance(inner, (str, list)):
                raise CannotExpress("PartiQL has no literal for a binary value: use a parameter")
            _refuse_binary(inner)
    elif isinstance(value, list):
        for each in value:
            _refuse_binary(each)


def _key(key: Item) -> str:
    _refuse_binary(key)
    return " AND ".join(
        f"{format_name(name)} = {format_value(value)}" for name, value in key.items()
    )
