"""Tenancy: which partitions of a table belong to whom.

    class Market(Table, pk="pk", sk="sk"):
        tenancy = Tenancy(
            "user_id",
            write=("U#{user_id}",),                         # the own profile
            read=("U#{user_id}#O", "U#{user_id}#R"),        # orders and rewards
        )

`db.scoped(user_id=…)` is a database for one tenant. It looks at every request before it leaves:
keys, items, batches, transactions and index queries outside of the tenant's shards are refused. An
index is read by a key of its own, which says nothing of the tenant; so a query of one is refused
unless its partition, or the table's partition key as its sort key, is the tenant's. Indexes named
in `filtered` may be queried for anything: the request then asks for the tenant's rows only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tablewright.errors import InvalidValue, ModelError, OutOfScope
from tablewright.mapping.entity import TableMap
from tablewright.mapping.parts import escape
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
        text = str(value)
        if not text:
            raise InvalidValue(f"scoped({self.tenant}=…): the tenant is empty")
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
        check = getattr(self, f"_{request.operation}", None)
        if check is None:
            raise OutOfScope(f"{request.operation} is not for a database scoped to {self.tenant}")
        body = check(request.body)
        return request if body is None else Request(request.operation, body)

    def _refuse(self, action: str, partition: str) -> OutOfScope:
        allowed = sorted(self.readable if action == "read" else self.writable)
        return OutOfScope(
            f"this database is scoped to {self.tenant} and may {action} {', '.join(allowed)}; "
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

    def _GetItem(self, body: dict[str, Any]) -> None:  # noqa: N802  # named as the operation
        self._may_read(body["TableName"], body["Key"])

    def _BatchGetItem(self, body: dict[str, Any]) -> None:  # noqa: N802
        for table, asked in body["RequestItems"].items():
            for key in asked["Keys"]:
                self._may_read(table, key)

    def _PutItem(self, body: dict[str, Any]) -> None:  # noqa: N802
        self._may_write(body["TableName"], body["Item"])

    def _UpdateItem(self, body: dict[str, Any]) -> None:  # noqa: N802
        self._may_write(body["TableName"], body["Key"])

    _DeleteItem = _UpdateItem

    def _BatchWriteItem(self, body: dict[str, Any]) -> None:  # noqa: N802
        for table, requests in body["RequestItems"].items():
            for request in requests:
                for write in request.values():
                    self._may_write(table, write.get("Item") or write["Key"])

    def _TransactWriteItems(self, body: dict[str, Any]) -> None:  # noqa: N802
        for action in body["TransactItems"]:
            for kind, write in action.items():
                may = self._may_read if kind == "ConditionCheck" else self._may_write
                may(write["TableName"], write.get("Item") or write["Key"])

    def _Query(self, body: dict[str, Any]) -> dict[str, Any] | None:  # noqa: N802
        self._same_table(body["TableName"])
        pinned = _pinned(body)
        partition = self.table.attributes[0]
        index = body.get("IndexName")
        if index is None:
            if pinned.get(partition) not in self.readable:
                raise self._refuse("read", str(pinned.get(partition)))
            return None
        # Only equality counts: a key that begins as a shard does may be another tenant's.
        attributes = self.table.indexes[index].attributes
        if pinned.get(attributes[0]) in self.readable or pinned.get(partition) in self.readable:
            return None
        if index in self.filtered:
            return self._filter(body)
        raise OutOfScope(
            f"this database is scoped to {self.tenant}; a query of the index {index} by "
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
        return {
            **body,
            "FilterExpression": f"({given}) AND {own}" if given else own,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        }


_EQUALITY = re.compile(r"(#\w+) = (:\w+)")
_KEY_CONDITION = re.compile(r"(?P<partition>#\w+ = :\w+)(?: AND (?P<sort>.+))?")


def _pinned(body: Mapping[str, Any]) -> dict[str, str]:
    """The key attributes that a query fixes to one value, as their texts."""
    condition = _KEY_CONDITION.fullmatch(body["KeyConditionExpression"])
    pinned: dict[str, str] = {}
    if condition is not None:
        for term in (condition["partition"], condition["sort"] or ""):
            equality = _EQUALITY.fullmatch(term)
            if equality is not None:
                name = body["ExpressionAttributeNames"][equality[1]]
                value = body["ExpressionAttributeValues"][equality[2]]
                pinned[name] = str(next(iter(value.values())))
    return pinned
