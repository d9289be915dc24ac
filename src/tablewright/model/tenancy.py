"""Tenancy: which partitions of a table belong to which tenant.

    class Market(Table, pk="pk", sk="sk"):
        tenancy = Tenancy(
            "user_id",
            write=("U#{user_id}",),                         # the own profile
            read=("U#{user_id}#O", "U#{user_id}#R"),        # orders and rewards
        )

`db.for_tenant(user_id=...)` is a database for one tenant. Its `TenantGuard` checks every request
before it is sent. A request passes if it provably stays within the tenant's shards:

    operation                                   what proves it
    GetItem, PutItem, UpdateItem, DeleteItem    the partition key in Key or Item
    BatchGetItem, BatchWriteItem                that of every member
    TransactGetItems, TransactWriteItems        that of every member
    Query (a QueryRequest)                      its key condition fixes the table's partition key
    Query of an index                           a filter on the table's partition key, added here
    any other operation, any other shape        nothing: it is refused

Only the table's partition key decides whose an item is. So a query of an index passes without a
filter only if the partition key is fixed: `Order.by_system_key(order_id).eq(user_id)`. It gets a
filter if the index is named in `filtered`, or if the partition of the index equals a shard of the
tenant; every other one is refused.

Invariants: keys are compared as typed values (see `shards`), never as text. Expressions are never
parsed: a Query is checked by the values of its QueryRequest, from which the expressions are
rendered afterwards; one that carries expressions of its own is refused. A start key must be in the
tenant's shards, unless it is the end of the page before: a filtered page may end at an item that
was left out. The classes of conditions and filters are trusted: they render themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tablewright.errors import DeclarationError, InvalidValue, TenantViolation
from tablewright.mapping.keys import IndexMap
from tablewright.mapping.table import TableMap
from tablewright.model.shards import KeyValue, Shard, key_value, refuse_collisions, shard_value
from tablewright.model.touched import AccessKind, Unclear, touched_items
from tablewright.plan.plan import AnyRequest
from tablewright.plan.reads.query_request import OneOf, QueryRequest
from tablewright.values import Value


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
                raise DeclarationError(f"Tenancy({tenant!r}): {name}= takes a tuple: ({shards!r},)")
        self.tenant = tenant
        self.write = write
        self.read = read
        self.filtered = filtered
        if not write and not read:
            raise DeclarationError(f"Tenancy({tenant!r}) has no shards; name them in write=, read=")
        self._writable = [Shard.parse(tenant, text) for text in write]
        self._readable = [*self._writable, *(Shard.parse(tenant, text) for text in read)]
        refuse_collisions(self._readable)

    def guard(self, table: TableMap, name: str, tenant: object) -> TenantGuard:
        """Return the guard for one tenant's requests to the table of this name."""
        if tenant is None or tenant == b"" or str(tenant) == "":
            raise InvalidValue(
                f"for_tenant({self.tenant}={tenant!r}): the id of the tenant is empty"
            )
        values = {
            shard: shard_value(shard, self._readable, table, tenant) for shard in self._readable
        }
        tag, content = next(iter(values[self._readable[0]].items()))
        return TenantGuard(
            table=table,
            name=name,
            tenant=f"{self.tenant}={tenant if tag == 'S' else content}",
            writable=[values[shard] for shard in self._writable],
            readable=list(values.values()),
            filtered={str(index.name) for index in self.filtered},
        )


#: The most characters of a refused value that a message repeats.
MAX_SHOWN = 200

#: The members of a QueryRequest: any other one could widen what it selects.
_QUERY_MEMBERS = frozenset(
    {
        "TableName",
        "IndexName",
        "ConsistentRead",
        "ExclusiveStartKey",
        "Limit",
        "ReturnConsumedCapacity",
        "ScanIndexForward",
        "Select",
    }
)


class TenantGuard:
    """Checks each request of a scoped database before it is sent."""

    def __init__(
        self,
        *,
        table: TableMap,
        name: str,
        tenant: str,
        writable: Sequence[Value],
        readable: Sequence[Value],
        filtered: set[str],
    ) -> None:
        self.table = table
        self.name = name
        self.tenant = tenant
        self.partition = table.attributes[0]
        #: The comparable forms of the shards, each with its value.
        self.writable = {key_value(shard): shard for shard in writable}
        self.readable = {key_value(shard): shard for shard in readable}
        self.filtered = filtered

    def __call__(self, request: AnyRequest) -> AnyRequest:
        """Return the request, perhaps with a filter.

        Raises TenantViolation if it may reach items of others.
        """
        if isinstance(request, QueryRequest):
            return self._checked_query(request)
        try:
            for access, table, item in touched_items(request.operation, request.body):
                self._check_table(table)
                self._check_item(access, item)
        except Unclear:
            raise self._unproved(f"this {request.operation}") from None
        return request

    def _check_table(self, table: object) -> None:
        if table != self.name:
            raise TenantViolation(
                f"this database is scoped to {self.tenant} in {self.name}, not {_plain(table)}"
            )

    def _check_item(self, access: AccessKind, item: object) -> None:
        """Raise TenantViolation unless the item, or the key, is in a shard that the tenant has."""
        value = item.get(self.partition) if type(item) is dict else None
        if key_value(value) not in self._shards(access):
            raise self._outside(access, value)

    def _shards(self, access: AccessKind) -> Mapping[KeyValue | None, Value]:
        return self.readable if access == "read" else self.writable

    def _outside(self, access: AccessKind, value: object) -> TenantViolation:
        allowed = sorted(str(_content(shard)) for shard in self._shards(access).values())
        return TenantViolation(
            f"this database is scoped to {self.tenant} and may {access} "
            f"{', '.join(allowed) or 'nothing'}; "
            f"{self.partition}={_shown(_content(value))} is outside"
        )

    def _unproved(self, what: str) -> TenantViolation:
        return TenantViolation(
            f"this database is scoped to {self.tenant}; {what} may reach items of other tenants"
        )

    # -- queries -----------------------------------------------------------------------------

    def _checked_query(self, request: QueryRequest) -> QueryRequest:
        members, condition = request.members, request.selection.condition
        if request.operation != "Query" or condition is None:
            raise self._unproved(f"a {request.operation}")
        unknown = members.keys() - _QUERY_MEMBERS
        if unknown:
            raise self._unproved(f"a Query with {', '.join(sorted(map(str, unknown)))}")
        self._check_table(members.get("TableName"))
        fixed = dict(condition.fixed())
        if key_value(fixed.get(self.partition)) in self.readable:
            self._check_start(members)
            return request
        name = members.get("IndexName")
        if name is None:
            raise self._outside("read", fixed.get(self.partition))
        index = self.table.indexes.get(name) if isinstance(name, str) else None
        if index is None or not self._is_filterable(index, condition.partition):
            raise TenantViolation(
                f"this database is scoped to {self.tenant}; a query of the index {_plain(name)} by "
                f"{_shown({key: _content(value) for key, value in fixed.items()})} can return "
                "items of other tenants. Query the tenant's own partition, or add the index to "
                "Tenancy(filtered=…)"
            )
        if not request.continues:
            self._check_start(members)
        own = OneOf(self.partition, tuple(self.readable.values()))
        selection = request.selection.filtered(own)
        return QueryRequest("Query", members, selection, request.continues)

    def _check_start(self, members: Mapping[str, Any]) -> None:
        if "ExclusiveStartKey" in members:
            self._check_item("read", members["ExclusiveStartKey"])

    def _is_filterable(self, index: IndexMap, partition: Value) -> bool:
        """Whether the query may be sent with a filter by tenant."""
        # DynamoDB filters by no key attribute of the index.
        return self.partition not in index.attributes and (
            index.name in self.filtered or key_value(partition) in self.readable
        )


def _content(value: object) -> object:
    """The content of a typed value; anything else as it is."""
    return next(iter(value.values())) if type(value) is dict and len(value) == 1 else value


def _shown(value: object) -> str:
    """The value as messages show it: requests may hold anything, of any size."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _plain(name: object) -> str:
    return name if isinstance(name, str) and len(name) <= MAX_SHOWN else _shown(name)
