"""Tablewright: design one table, prove every access pattern, run it anywhere.

    from tablewright import Attr, Entity, Table, attr, connect, create, key

    class Shop(Table, name="shop"): ...

    class Customer(Entity, table=Shop):
        customer_id: Attr[str] = attr()
        email: Attr[str] = attr()
        primary = key("CUST" / customer_id, "PROFILE")

    db = connect("shop.db", Shop)                    # or ":memory:"
    db.run(create(Customer(customer_id="C1", email="ann@example.com")))
    db.run(Customer.primary("C1"))                   # Customer | None

`Engine` is DynamoDB in one file, in this process; `tablewright.server.serving` puts one behind
DynamoDB's HTTP protocol. Errors are in `tablewright.errors`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tablewright.engine import Engine
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    Contended,
    CursorRefused,
    EndpointFailed,
    Fault,
    InvalidValue,
    ModelError,
    NotFound,
    NotUnique,
    OutOfScope,
    Stale,
    TableDiffers,
    TableMissing,
    TablewrightError,
    UnreadableItem,
    Unsupported,
    WriteRefused,
)

if TYPE_CHECKING:
    from tablewright.ids import KSUID, ULID
    from tablewright.model.aggregate import Aggregate, many, one
    from tablewright.model.attribute import (
        Attr,
        attr,
        created,
        day,
        descending,
        epoch,
        lower,
        month,
        shard,
        ttl,
        updated,
        version,
    )
    from tablewright.model.database import AsyncDatabase, Database, connect, connect_async
    from tablewright.model.entity import Entity
    from tablewright.model.key import history, index, key, unique
    from tablewright.model.pattern import Pattern, explain, pattern, patterns
    from tablewright.model.table import GSI, LSI, Table
    from tablewright.model.tenancy import Tenancy
    from tablewright.plan.aggregate import Load, LoadFound
    from tablewright.plan.batch import Batch, batch
    from tablewright.plan.condition import Condition
    from tablewright.plan.delete import Delete, delete
    from tablewright.plan.get import BatchGet, get_all
    from tablewright.plan.lookup import Lookup
    from tablewright.plan.page import Page
    from tablewright.plan.plan import Plan
    from tablewright.plan.put import Create, Put, create, put
    from tablewright.plan.query import Count, First, Many
    from tablewright.plan.range import Range
    from tablewright.plan.reference import Ref
    from tablewright.plan.reindex import Reindex, reindex
    from tablewright.plan.require import Require, require
    from tablewright.plan.scan import Scan
    from tablewright.plan.selection import Get, update
    from tablewright.plan.shape import Shape
    from tablewright.plan.single import Single, Then
    from tablewright.plan.update import Update
    from tablewright.plan.write import Atomic, Write, atomic

__version__ = "0.1.0"

#: Where the names of the model live. They are brought in when they are first used: whoever wants
#: the engine alone does not wait for pydantic.
_HOMES = {
    "ids": (
        "KSUID",
        "ULID",
    ),
    "model.aggregate": (
        "Aggregate",
        "many",
        "one",
    ),
    "model.attribute": (
        "Attr",
        "attr",
        "created",
        "day",
        "descending",
        "epoch",
        "lower",
        "month",
        "shard",
        "ttl",
        "updated",
        "version",
    ),
    "model.database": (
        "AsyncDatabase",
        "Database",
        "connect",
        "connect_async",
    ),
    "model.entity": ("Entity",),
    "model.key": (
        "history",
        "index",
        "key",
        "unique",
    ),
    "model.pattern": (
        "Pattern",
        "explain",
        "pattern",
        "patterns",
    ),
    "model.table": (
        "GSI",
        "LSI",
        "Table",
    ),
    "model.tenancy": ("Tenancy",),
    "plan.aggregate": ("Load", "LoadFound"),
    "plan.batch": (
        "Batch",
        "batch",
    ),
    "plan.condition": ("Condition",),
    "plan.delete": (
        "Delete",
        "delete",
    ),
    "plan.get": (
        "BatchGet",
        "get_all",
    ),
    "plan.lookup": ("Lookup",),
    "plan.plan": ("Plan",),
    "plan.put": (
        "Create",
        "Put",
        "create",
        "put",
    ),
    "plan.page": ("Page",),
    "plan.query": ("Count", "First", "Many"),
    "plan.range": ("Range",),
    "plan.reference": ("Ref",),
    "plan.reindex": (
        "Reindex",
        "reindex",
    ),
    "plan.require": (
        "Require",
        "require",
    ),
    "plan.scan": ("Scan",),
    "plan.selection": (
        "Get",
        "update",
    ),
    "plan.shape": ("Shape",),
    "plan.single": ("Single", "Then"),
    "plan.update": ("Update",),
    "plan.write": (
        "Atomic",
        "Write",
        "atomic",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tablewright' has no attribute {name!r}")
    value = getattr(import_module(f"tablewright.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "GSI",
    "KSUID",
    "LSI",
    "ULID",
    "Aggregate",
    "AlreadyExists",
    "AsyncDatabase",
    "Atomic",
    "Attr",
    "Batch",
    "BatchGet",
    "Condition",
    "ConditionFailed",
    "Contended",
    "Count",
    "Create",
    "CursorRefused",
    "Database",
    "Delete",
    "EndpointFailed",
    "Engine",
    "Entity",
    "Fault",
    "First",
    "Get",
    "InvalidValue",
    "Load",
    "LoadFound",
    "Lookup",
    "Many",
    "ModelError",
    "NotFound",
    "NotUnique",
    "OutOfScope",
    "Page",
    "Pattern",
    "Plan",
    "Put",
    "Range",
    "Ref",
    "Reindex",
    "Require",
    "Scan",
    "Shape",
    "Single",
    "Stale",
    "Table",
    "TableDiffers",
    "TableMissing",
    "TablewrightError",
    "Tenancy",
    "Then",
    "UnreadableItem",
    "Unsupported",
    "Update",
    "Write",
    "WriteRefused",
    "__version__",
    "atomic",
    "attr",
    "batch",
    "connect",
    "connect_async",
    "create",
    "created",
    "day",
    "delete",
    "descending",
    "epoch",
    "explain",
    "get_all",
    "history",
    "index",
    "key",
    "lower",
    "many",
    "month",
    "one",
    "pattern",
    "patterns",
    "put",
    "reindex",
    "require",
    "shard",
    "ttl",
    "unique",
    "update",
    "updated",
    "version",
]
