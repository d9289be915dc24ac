"""Tenancy: which partitions of a table belong to whom.

    class Market(Table, pk="pk", sk="sk"):
        tenancy = Tenancy(
            "user_id",
            write=("U#{user_id}",),                         # the own profile
            read=("U#{user_id}#O", "U#{user_id}#R"),        # orders and rewards
        )

`db.scoped(user_id=…)` is a database for one tenant. It looks at every request before it leaves:
keys, items, batches, transactions and index queries outside of the tenant's shards are refused. An
index is read by a key of its own, and whose a row is only the table's partition key says. So a
query of an index that reads like a shard of the tenant's, and any query of an index that is named
in `filtered`, asks for rows in the tenant's partitions only; every other one is refused, unless it
names the partition: `Order.by_system_key(order_id).at(user_id)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tablewright.errors import InvalidValue, ModelError, OutOfScope
from tablewright.expression import Scope as Expressions
from tablewright.mapping.parts import escape
from tablewright.mapping.table import TableMap
from tablewright.plan.plan import Request
from tablewright.values import Item


class Tenancy:
    """The shards of a tenant: those it may write, and those it may only read."""

    def __init__(
        self,
        tenant: str,
        *,
        write: tuple[str, ...] = (),
        read: tuple[str, ...] = (),
        filtered: tuple[Any, ...] = (),
    ) -> None:
        given: tuple[tuple[str, Any], ...] = (("write", write), ("read", read))
        for name, shards in given:
            if isinstance(shards, str):
                raise ModelError(f"Tenancy({tenant!r}): {name}= takes a tuple: ({shards!r},)")
        self.tenant = tenant
        self.write = write
        self.read = read
        self.filtered = filtered
        if not write and not read:
            raise ModelError(f"Tenancy({tenant!r}) has no shards; name them in write=, read=")
        for shard in (*write, *read):
            if re.findall(r"\{(.*?)\}", shard) != [tenant]:
                raise ModelError(
                    f"Tenancy({tenant!r}): the shard {shard!r} must hold {{{tenant}}} once, and "
                    "nothing else in braces"
                )

    def scope(self, table: TableMap, name: str, value: object) -> Scope:
        text = "" if value is None else str(value)
        if not text:
            raise InvalidValue(f"scoped({self.tenant}={value!r}): that is nobody")
        tenant = escape(text)
        return Scope(
            table=table,
            name=name,
            tenant=f"{self.tenant}={text}",
            writable={shard.replace(f"{{{self.tenant}}}", tenant) for shard in self.write},
            readable={
                shard.replace(f"{{{self.tenant}}}", tenant) for shard in (*self.write, *self.read)
            },
            filtered={str(index.name) for index in self.filtered},
        )


class Scope:
    """Looks at each request of a scoped database before it leaves."""

    def __init__(
        self,
        *,
        table: TableMap,
        name: str,
        tenant: str,
        writable: set[str],
        readable: set[str],
        filtered: set[str],
    ) -> None:
        self.table = table
        self.name = name
        self.tenant = tenant
        self.writable = writable
        self.readable = readable
        self.filtered = filtered

    def __call__(self, request: Request) -> Request:
        """The request, if it stays within the tenant's shards; perhaps with a filter."""
        check = _CHECKS.get(request.operation)
        if check is None:
            raise OutOfScope(f"{request.operation} is not for a database scoped to {self.tenant}")
        body = check(self, request.body)
        return request if body is None else Request(request.operation, body)

    def _refuse(self, action: str, partition: str) -> OutOfScope:
        allowed = sorted(self.readable if action == "read" else self.writable)
        return OutOfScope(
            f"this database is scoped to {self.tenant} and may {action} "
            f"{', '.join(allowed) or 'nothing'}; "
            f"{self.table.attributes[0]}={partition!r} is outside"
        )

    def _own(self, item: Item) -> str:
        value = item.get(self.table.attributes[0], {})
        return str(value.get("S", value))

    def _may_read(self, table: str, key: Item) -> None:
        self._same_table(table)
        if self._own(key) not in self.readable:
            raise self._refuse("read", self._own(key))

    def _may_write(self, table: str, key: Item) -> None:
        self._same_table(table)
        if self._own(key) not in self.writable:
            raise self._refuse("write", self._own(key))

    def _same_table(self, table: str) -> None:
        if table != self.name:
            raise OutOfScope(
                f"this database is scoped to {self.tenant} in {self.name}, not {table}"
            )

    # -- one method for each operation that plans send ---------------------------------------

    def _get(self, body: dict[str, Any]) -> None:
        self._may_read(body["TableName"], body["Key"])

    def _batch_get(self, body: dict[str, Any]) -> None:
        for table, asked in body["RequestItems"].items():
            for key in asked["Keys"]:
                self._may_read(table, key)

    def _put(self, body: dict[str, Any]) -> None:
        self._may_write(body["TableName"], body["Item"])

    def _update(self, body: dict[str, Any]) -> None:
        self._may_write(body["TableName"], body["Key"])

    def _batch_write(self, body: dict[str, Any]) -> None:
        for table, requests in body["RequestItems"].items():
            for request in requests:
                for kind, write in request.items():
                    self._may_write(table, write["Item" if kind == "PutRequest" else "Key"])

    def _transact(self, body: dict[str, Any]) -> None:
        for action in body["TransactItems"]:
            for kind, write in action.items():
                may = self._may_read if kind == "ConditionCheck" else self._may_write
                may(write["TableName"], write["Item" if kind == "Put" else "Key"])

    def _query(self, body: dict[str, Any]) -> dict[str, Any] | None:
        self._same_table(body["TableName"])
        pinned = _pinned(body)
        partition = self.table.attributes[0]
        # The table's own partition key alone says whose a row is, and only equality counts.
        if pinned.get(partition) in self.readable:
            return None
        index = self.table.indexes.get(body.get("IndexName", ""))
        if index is None:
            raise self._refuse("read", str(pinned.get(partition)))
        if index.name in self.filtered or (
            pinned.get(index.attributes[0]) in self.readable and partition not in index.attributes
        ):
            return self._filter(body)
        raise OutOfScope(
            f"this database is scoped to {self.tenant}; a query of the index {index.name} by "
            f"{pinned} can give rows of others. Query the tenant's own partition, or name the "
            "index in Tenancy(filtered=…)"
        )

    def _filter(self, body: dict[str, Any]) -> dict[str, Any]:
        """The query, for rows in the tenant's partitions only."""
        values = dict(body.get("ExpressionAttributeValues", {}))
        marks = []
        for number, shard in enumerate(sorted(self.readable)):
            values[f":shard{number}"] = {"S": shard}
            marks.append(f":shard{number}")
        names = {**body.get("ExpressionAttributeNames", {}), "#shard": self.table.attributes[0]}
        own = f"#shard IN ({', '.join(marks)})"
        given = body.get("FilterExpression")
        if given:
            # What is no condition by itself must not become one in our brackets.
            Expressions(body.get("ExpressionAttributeNames"), values).filter(given)
            own = f"{own} AND {_bracketed(given)}"
        return {
            **body,
            "FilterExpression": own,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }


_CHECKS: dict[str, Callable[[Scope, dict[str, Any]], dict[str, Any] | None]] = {
    "GetItem": Scope._get,
    "BatchGetItem": Scope._batch_get,
    "PutItem": Scope._put,
    "UpdateItem": Scope._update,
    "DeleteItem": Scope._update,
    "BatchWriteItem": Scope._batch_write,
    "TransactWriteItems": Scope._transact,
    "Query": Scope._query,
}


def _bracketed(text: str) -> str:
    """An expression in brackets, unless it is in some already: DynamoDB refuses two."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position < len(text) - 1:
            return f"({text})"
    return text if text.startswith("(") else f"({text})"


_EQUALITY = re.compile(r"(#\w+) = (:\w+)")
_KEY_CONDITION = re.compile(r"(?P<partition>#\w+ = :\w+)(?: AND (?P<sort>.+))?")


def _pinned(body: Mapping[str, Any]) -> dict[str, str]:
    """The key attributes that a query fixes to one value, as their texts."""
    condition = _KEY_CONDITION.fullmatch(body.get("KeyConditionExpression", ""))
    pinned: dict[str, str] = {}
    if condition is not None:
        for term in (condition["partition"], condition["sort"] or ""):
            equality = _EQUALITY.fullmatch(term)
            if equality is not None:
                name = body["ExpressionAttributeNames"][equality[1]]
                value = body["ExpressionAttributeValues"][equality[2]]
                pinned[name] = str(next(iter(value.values())))
    return pinned
