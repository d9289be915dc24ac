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

`Engine` is DynamoDB in one file, in this process; `tablewright.server.serving` serves one over
DynamoDB's HTTP protocol. The other public modules:

    tablewright.errors      every exception
    tablewright.formats     formats of key parts: lower, day, shard, …
    tablewright.plans       the other types of plans, and the access patterns of a table
    tablewright.database    Database and AsyncDatabase, for annotations
    tablewright.ids         sortable ids
    tablewright.observe     events of requests
    tablewright.fastapi     databases, errors, ETags and pages for FastAPI
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tablewright.engine import Engine
    from tablewright.mapping.table_settings import Provisioned
    from tablewright.model.aggregate import Aggregate, child, children, root
    from tablewright.model.attribute import Attr, attr, created_at, ttl, updated_at, version
    from tablewright.model.databases.connecting import connect, connect_async
    from tablewright.model.entity import Entity, WriteOnce
    from tablewright.model.inputs import Input, Patch
    from tablewright.model.key import history, index, key, unique
    from tablewright.model.pattern import access_pattern, explain
    from tablewright.model.projection import Projection
    from tablewright.model.table import GSI, LSI, Table
    from tablewright.model.tenancy import Tenancy
    from tablewright.plan.reads.aggregate import Load
    from tablewright.plan.reads.get import Get, GetByUnique
    from tablewright.plan.reads.page import Page
    from tablewright.plan.reads.query import First, Query
    from tablewright.plan.reads.several import batch_get, transact_get
    from tablewright.plan.writes.collection import delete_all, update_all
    from tablewright.plan.writes.delete import Delete, delete
    from tablewright.plan.writes.move import update
    from tablewright.plan.writes.put import Create, Put, create, put
    from tablewright.plan.writes.save import Save, save
    from tablewright.plan.writes.several import Transaction, batch_write, condition_check, transact
    from tablewright.plan.writes.update import Update
    from tablewright.plan.writes.upsert import Upsert, upsert

__version__ = "0.1.0"

#: The modules that define the names. They are imported on first use: a program that uses only the
#: engine does not import pydantic, and the command line imports only what its command needs.
_HOMES = {
    "tablewright.engine": ("Engine",),
    "tablewright.mapping.table_settings": ("Provisioned",),
    "tablewright.model.aggregate": ("Aggregate", "child", "children", "root"),
    "tablewright.model.attribute": ("Attr", "attr", "created_at", "ttl", "updated_at", "version"),
    "tablewright.model.databases.connecting": ("connect", "connect_async"),
    "tablewright.model.entity": ("Entity", "WriteOnce"),
    "tablewright.model.inputs": ("Input", "Patch"),
    "tablewright.model.key": ("history", "index", "key", "unique"),
    "tablewright.model.pattern": ("access_pattern", "explain"),
    "tablewright.model.projection": ("Projection",),
    "tablewright.model.table": ("GSI", "LSI", "Table"),
    "tablewright.model.tenancy": ("Tenancy",),
    "tablewright.plan.reads.aggregate": ("Load",),
    "tablewright.plan.reads.get": ("Get", "GetByUnique"),
    "tablewright.plan.reads.page": ("Page",),
    "tablewright.plan.reads.query": ("First", "Query"),
    "tablewright.plan.reads.several": ("batch_get", "transact_get"),
    "tablewright.plan.writes.collection": ("delete_all", "update_all"),
    "tablewright.plan.writes.delete": ("Delete", "delete"),
    "tablewright.plan.writes.move": ("update",),
    "tablewright.plan.writes.put": ("Create", "Put", "create", "put"),
    "tablewright.plan.writes.save": ("Save", "save"),
    "tablewright.plan.writes.several": (
        "Transaction",
        "batch_write",
        "condition_check",
        "transact",
    ),
    "tablewright.plan.writes.update": ("Update",),
    "tablewright.plan.writes.upsert": ("Upsert", "upsert"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # otherwise type checkers accept every name

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'tablewright' has no attribute {name!r}")
        value = getattr(import_module(_HOME[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "GSI",
    "LSI",
    "Aggregate",
    "Attr",
    "Create",
    "Delete",
    "Engine",
    "Entity",
    "First",
    "Get",
    "GetByUnique",
    "Input",
    "Load",
    "Page",
    "Patch",
    "Projection",
    "Provisioned",
    "Put",
    "Query",
    "Save",
    "Table",
    "Tenancy",
    "Transaction",
    "Update",
    "Upsert",
    "WriteOnce",
    "__version__",
    "access_pattern",
    "attr",
    "batch_get",
    "batch_write",
    "child",
    "children",
    "condition_check",
    "connect",
    "connect_async",
    "create",
    "created_at",
    "delete",
    "delete_all",
    "explain",
    "history",
    "index",
    "key",
    "put",
    "root",
    "save",
    "transact",
    "transact_get",
    "ttl",
    "unique",
    "update",
    "update_all",
    "updated_at",
    "upsert",
    "version",
]
