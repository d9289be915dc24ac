"""Tenancy: which partitions of a table belong to which tenant.

    class Market(Table, pk="pk", sk="sk"):
        tenancy = Tenancy(
            "user_id",
            write=("U#{user_id}",),                         # the own profile
            read=("U#{user_id}#O", "U#{user_id}#R"),        # orders and rewards
            shared=("CATALOG",),                            # readable for every user
        )

A shard that ends in `#*` is every partition that begins with the text before the star:
`write=("ORG#{org_id}", "ORG#{org_id}#*")`. Shared partitions may end in it, too.

`db.for_tenant(user_id=...)` is a database for one tenant. Its `TenantCheck` checks every request
before it is sent. A request passes if it provably stays within the tenant's shards and, if it only
reads, the shared partitions:

    operation                                   what proves it
    GetItem, PutItem, UpdateItem, DeleteItem    the partition key in Key or Item
    BatchGetItem, BatchWriteItem                that of every member
    TransactGetItems, TransactWriteItems        that of every member
    Query (a QueryRequest)                      its key condition fixes the table's partition key
    Query of an index                           a filter on the table's partition key, added here
    any other operation, any other shape        nothing: it is refused

Only the table's partition key decides which tenant owns an item. So a query of an index passes
without a filter only if the partition key is fixed, `Order.by_system_key(order_id).eq(user_id)`, or
bounded by a prefix of the tenant. It gets a filter if the index is named in `filtered`, or if an
attribute of its partition key equals a shard of the tenant. Any other query is refused.

Invariants: keys are compared as typed values (see `shards`). Expressions are never parsed: a
Query is checked by the values of its QueryRequest, from which the expressions are rendered
afterwards; one with expressions of its own is refused. A start key must be in the tenant's shards,
unless it is the end of the previous page: a filtered page may end at an item that was left out, and
its cursor is encrypted and bound to the tenant. The classes of conditions and filters are trusted:
they render themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from msgspec import Struct

from tablewright.errors import DeclarationError, InvalidValue, TenantViolation, ValidationException
from tablewright.mapping.key_condition import KeyCondition
from tablewright.mapping.key_parts import Delimiter
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.mapping.language import intersects
from tablewright.mapping.table import TableMap
from tablewright.model.shards import (
    Partitions,
    SharedPartition,
    TenantShard,
    refuse_collisions,
    shard_value,
)
from tablewright.plan.plan import AnyRequest
from tablewright.plan.query_requests import OneOf, QueryRequest
from tablewright.values import Item, Value
from tablewright.wire.operations import touches
from tablewright.wire.touches import AccessKind, Named, Unclear


@dataclass(eq=False, repr=False)
class Tenancy:
    """The shards of a tenant: those it may write, and those it may only read.

    The partitions in `shared` may be read by every tenant and written by none.
    """

    tenant: str
    _: KW_ONLY
    write: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    filtered: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        where = f"Tenancy({self.tenant!r})"
        for name in ("write", "read", "shared"):
            shards = getattr(self, name)
            if isinstance(shards, str):
                raise DeclarationError(f"{where}: {name}= takes a tuple: ({shards!r},)")
        if not isinstance(self.filtered, tuple):
            raise DeclarationError(f"{where}: filtered= takes a tuple of global indexes: (by_day,)")
        if not self.write and not self.read:
            raise DeclarationError(f"{where} has no shards; name them in write=, read=")
        parsed = [TenantShard.parse(self.tenant, text) for text in (*self.write, *self.read)]
        self.readable_shards = parsed
        self.writable_shards = parsed[: len(self.write)]
        self.shared_partitions: list[SharedPartition] = []

    def compile(self, delimiter: Delimiter) -> None:
        """Apply the delimiter of the table; raise DeclarationError if a shard does not fit it."""
        self.readable_shards = [shard.bind(delimiter) for shard in self.readable_shards]
        self.writable_shards = self.readable_shards[: len(self.write)]
        self.shared_partitions = [
            SharedPartition.parse(self.tenant, text, delimiter) for text in self.shared
        ]
        refuse_collisions(self.readable_shards, self.shared_partitions)

    def filters(self, partition: str, key: KeyMap) -> bool:
        """Return whether a tenant's query of a key can be filtered by the table's partition key.

        That is so if the index is in `filtered`, or if its partition key can be a shard.
        """
        index = key.index
        if index is None or partition in index.attributes:
            return False
        if index.name in {str(each.name) for each in self.filtered}:
            return True
        shards = [shard.language() for shard in self.readable_shards]
        shards += [shared.language() for shared in self.shared_partitions]
        names = key.partition_attributes
        return any(
            intersects(key.templates[name].language(), each) for name in names for each in shards
        )

    def tenant_check(self, table: TableMap, name: str, tenant: object) -> TenantCheck:
        """Return the check of one tenant's requests to the table of this name."""
        if tenant is None or tenant == b"" or str(tenant) == "":
            raise InvalidValue(
                f"for_tenant({self.tenant}={tenant!r}): the id of the tenant is empty"
            )
        others: list[TenantShard | SharedPartition] = [
            *self.readable_shards,
            *self.shared_partitions,
        ]
        values = {
            shard: shard_value(shard, others, table, tenant) for shard in self.readable_shards
        }
        tag, content = next(iter(values[self.readable_shards[0]].items()))
        if self.shared_partitions and tag != "S":
            raise DeclarationError(
                f"Tenancy({self.tenant!r}): shared={self.shared!r} are texts, and "
                f"{table.attributes[0]!r} is a key of type {tag}; leave shared= out"
            )
        own = {shard: (values[shard], shard.is_prefix) for shard in self.readable_shards}
        shared: list[tuple[Value, bool]] = [
            ({"S": each.text}, each.is_prefix) for each in self.shared_partitions
        ]
        return TenantCheck(
            table=table,
            name=name,
            partition=table.attributes[0],
            tenant=f"{self.tenant}={tenant if tag == 'S' else content}",
            writable=Partitions.of(own[shard] for shard in self.writable_shards),
            readable=Partitions.of([*own.values(), *shared]),
            filtered={str(index.name) for index in self.filtered},
        )


#: How many characters of a refused value a message shows.
MAX_SHOWN = 200

#: The allowed members of a QueryRequest; others could select more items.
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


class TenantCheck(Struct, eq=False):
    """Checks each request of a tenant's database before it is sent."""

    table: TableMap
    #: The name of the table, and of its partition key.
    name: str
    partition: str
    tenant: str
    writable: Partitions
    readable: Partitions
    #: The names of the indexes in `Tenancy(filtered=…)`.
    filtered: set[str]

    def __call__(self, request: AnyRequest) -> AnyRequest:
        """Return the request, with a filter by tenant if it needs one.

        Raise TenantViolation if it may reach items of others.
        """
        if isinstance(request, QueryRequest):
            return self._checked_query(request)
        try:
            for touch in touches(request.operation, request.body):
                if not isinstance(touch.what, Named):
                    raise Unclear
                self._check_table(touch.table)
                # The result of a condition check reveals what the item contains.
                access = "read" if touch.access == "check" else touch.access
                self._check_item(access, touch.what.item)
        except (Unclear, ValidationException):  # a statement that is not valid
            raise self._unproved(f"this {request.operation}") from None
        return request

    def _check_table(self, table: object) -> None:
        if table != self.name:
            raise TenantViolation(
                f"this database is scoped to {self.tenant} in {self.name}, not {_plain(table)}"
            )

    def _check_item(self, access: AccessKind, item: object) -> None:
        """Raise TenantViolation unless the item, or the key, is in a partition of the tenant."""
        value = item.get(self.partition) if type(item) is dict else None
        if value not in self._partitions(access):
            raise self._outside(access, value)

    def _partitions(self, access: AccessKind) -> Partitions:
        return self.readable if access == "read" else self.writable

    def _outside(self, access: AccessKind, value: object) -> TenantViolation:
        return TenantViolation(
            f"this database is scoped to {self.tenant} and may {access} "
            f"{str(self._partitions(access)) or 'nothing'}; "
            f"{self.partition}={_shown(_content(value))} is outside"
        )

    def _unproved(self, what: str) -> TenantViolation:
        return TenantViolation(
            f"this database is scoped to {self.tenant}; {what} may reach items of other tenants. "
            "If that is intended, use the database without for_tenant(…)"
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
        if self._is_inside(condition):
            self._check_start(members)
            return request
        fixed = condition.fixed()
        name = members.get("IndexName")
        if name is None:
            raise self._outside("read", fixed.get(self.partition))
        index = self.table.indexes.get(name) if isinstance(name, str) else None
        if index is None or not self._is_filterable(index, fixed):
            raise TenantViolation(
                f"this database is scoped to {self.tenant}; a query of the index {_plain(name)} by "
                f"{_shown({key: _content(value) for key, value in fixed.items()})} can return "
                "items of other tenants. Query the tenant's own partition, or add the index to "
                "Tenancy(filtered=…)"
            )
        if not request.continues:
            self._check_start(members)
        own = OneOf(self.partition, tuple(self.readable.keys.values()), self.readable.prefixes)
        selection = request.selection.filtered(own)
        return QueryRequest("Query", members, selection, request.continues)

    def _is_inside(self, condition: KeyCondition) -> bool:
        """Return whether a condition allows only partition keys of the tenant."""
        if self.partition in condition.equal:
            return condition.equal[self.partition] in self.readable
        sort = condition.sort
        return sort is not None and sort.attribute == self.partition and self.readable.covers(sort)

    def _check_start(self, members: Mapping[str, Any]) -> None:
        if "ExclusiveStartKey" in members:
            self._check_item("read", members["ExclusiveStartKey"])

    def _is_filterable(self, index: IndexMap, fixed: Item) -> bool:
        """Return whether a query of an index may be sent with a filter by tenant."""
        # DynamoDB does not filter by key attributes of the index.
        return self.partition not in index.attributes and (
            index.name in self.filtered
            or any(fixed.get(name) in self.readable for name in index.partition)
        )


def _content(value: object) -> object:
    """Return the content of a typed value; any other object unchanged."""
    return next(iter(value.values())) if type(value) is dict and len(value) == 1 else value


def _shown(value: object) -> str:
    """Return a value for a message; requests may contain anything, of any size."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _plain(name: object) -> str:
    return name if isinstance(name, str) and len(name) <= MAX_SHOWN else _shown(name)
