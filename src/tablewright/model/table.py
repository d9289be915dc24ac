"""Tables: the names of keys and indexes, declared once.

class Commerce(Table, name="commerce_single_table", type_attribute="entityType"):
    customer_orders = GSI("GSI1PK", "GSI1SK", name="gsi_customer_orders")
    by_sku = LSI("SKU")
    id_lookup = GSI("id", "tp", project="KEYS_ONLY")
    by_region = GSI(("tenantId", "region"), ("status", "createdAt"))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Literal, Never, TypeAlias, get_args

from tablewright.errors import DeclarationError
from tablewright.limits import MAX_INDEX_KEY_ATTRIBUTES
from tablewright.mapping.key_parts import Delimiter
from tablewright.mapping.keys import IndexMap
from tablewright.mapping.table import TableMap, TypeForm
from tablewright.mapping.table_settings import (
    MAX_RECOVERY_DAYS,
    Provisioned,
    StreamView,
    TableSettings,
    check_billing,
)
from tablewright.model.annotations import refuse_unknown
from tablewright.model.tenancy import Tenancy

_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}").fullmatch

Project: TypeAlias = Literal["ALL", "KEYS_ONLY"] | tuple[str, ...]


class GSI:
    """A global secondary index: a partition key of its own, and a sort key if needed.

    Each is an attribute, or a tuple of up to four attributes. In a table with provisioned capacity,
    `billing` is that of the index; by default it is the same as the table's.
    """

    def __init__(
        self,
        pk: str | tuple[str, ...],
        sk: str | tuple[str, ...] | None = None,
        *,
        name: str | None = None,
        project: Project = "ALL",
        billing: Provisioned | None = None,
    ) -> None:
        self.pk = (pk,) if isinstance(pk, str) else pk
        self.sk = (sk,) if isinstance(sk, str) else sk or ()
        self.name = name
        self.project: Project = project
        self.billing = billing

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def compile(self, table: TableMap) -> IndexMap:
        where = f"{table.owner}.{self.name}"
        for kind, names in (("partition", self.pk), ("sort", self.sk)):
            if len(names) > MAX_INDEX_KEY_ATTRIBUTES:
                raise DeclarationError(
                    f"{where}: the {kind} key has {len(names)} attributes, and DynamoDB takes at "
                    f"most {MAX_INDEX_KEY_ATTRIBUTES}; remove some, or compose a key of them"
                )
        if not self.pk:
            raise DeclarationError(f"{where} has no partition key; name its attributes")
        names = (*self.pk, *self.sk)
        for name in names:
            if names.count(name) > 1:
                raise DeclarationError(f"{where}: {name!r} is in the key twice; name it once")
        _check_project(self.project, where)
        check_billing(self.billing, where)
        if self.billing is not None and table.settings.billing is None:
            raise DeclarationError(
                f"{where}: the index has provisioned capacity and its table has none; declare "
                f"class {table.owner}(Table, billing=Provisioned(…)), or leave billing= out"
            )
        billing = self.billing or table.settings.billing
        return IndexMap(str(self.name), "global", self.pk, self.sk, self.project, billing)


class LSI:
    """A local secondary index: the table's partition key, and another sort key."""

    def __init__(self, sk: str, *, name: str | None = None, project: Project = "ALL") -> None:
        self.sk = sk
        self.name = name
        self.project: Project = project

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def compile(self, table: TableMap) -> IndexMap:
        if table.attributes[1] is None:
            raise DeclarationError(
                f"{table.owner}.{self.name}: a table without a sort key has no local indexes; "
                "declare sk=…, or use a GSI"
            )
        _check_project(self.project, f"{table.owner}.{self.name}")
        return IndexMap(str(self.name), "local", table.attributes[:1], (self.sk,), self.project)


def _check_project(project: object, where: str) -> None:
    if project in ("ALL", "KEYS_ONLY"):
        return
    names = project if isinstance(project, tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise DeclarationError(
            f"{where}: project={project!r} is not 'ALL', 'KEYS_ONLY' or a tuple of stored names, "
            "such as ('name', 'price')"
        )


class Table:
    """The base class of tables: a subclass declares keys, type attribute, indexes and settings.

    `connect` applies the settings when it creates the table: `stream` is the view type of its
    stream, `point_in_time_recovery` the days for which it can be restored (True: 35),
    `deletion_protection` prevents its deletion, `tags` are names and values. Without `billing`,
    DynamoDB bills each request; `Provisioned(read=…, write=…)` is capacity by the hour.
    """

    __table__: ClassVar[TableMap]
    __tenancy__: ClassVar[Tenancy | None] = None

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        pk: str = "PK",
        sk: str | None = "SK",
        type_attribute: str | None = "type",
        type_form: TypeForm = "text",
        delimiter: str = "#",
        escape: bool = True,
        stream: StreamView | None = None,
        point_in_time_recovery: bool | int = False,
        deletion_protection: bool = False,
        tags: Mapping[str, str] | None = None,
        billing: Provisioned | None = None,
        **unknown: Never,
    ) -> None:
        refuse_unknown(cls, Table, unknown)
        super().__init_subclass__()
        days = MAX_RECOVERY_DAYS if point_in_time_recovery is True else point_in_time_recovery
        table = TableMap(
            cls.__name__,
            name or cls.__name__,
            (pk, sk),
            type_attribute,
            {},
            Delimiter(delimiter, escapes=escape),
            type_form,
            TableSettings(
                stream=stream,
                recovery_days=None if days is False else days,
                deletion_protection=deletion_protection,
                tags=tuple((tags or {}).items()),
                billing=billing,
            ),
        )
        table.delimiter.check(cls.__name__)
        table.settings.check(cls.__name__)
        _add_members(cls, table)
        _check_attributes(table)
        _check_names(table)
        cls.__table__ = table

    def __new__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"{cls.__name__} cannot be instantiated; open it with connect(target, {cls.__name__})"
        )


def _add_members(cls: type[Table], table: TableMap) -> None:
    """Add the indexes and the tenancy in the body of a table."""
    indexes: set[GSI] = set()
    for name, value in list(vars(cls).items()):
        if isinstance(value, (GSI, LSI)):
            index = value.compile(table)
            if index.name in table.indexes:
                raise DeclarationError(
                    f"{table.owner}.{name}: two indexes have the name {index.name!r}; give "
                    "one of them another name=…"
                )
            table.indexes[index.name] = index
            indexes |= {value} if isinstance(value, GSI) else set()
        elif isinstance(value, Tenancy):
            value.compile(table.delimiter)
            cls.__tenancy__ = value
        elif not name.startswith("_") and not callable(value):
            raise DeclarationError(
                f"{table.owner}.{name} is {value!r}; a table holds GSI(…), LSI(…) and Tenancy(…)"
            )
    if cls.__tenancy__ is not None:
        _check_tenancy(cls.__tenancy__, table, indexes)
        table.filters_for_tenants = partial(cls.__tenancy__.filters, table.attributes[0])


def _check_tenancy(tenancy: Tenancy, table: TableMap, indexes: set[GSI]) -> None:
    """Raise DeclarationError for an index that a tenant's queries cannot filter."""
    for index in tenancy.filtered:
        if index not in indexes:
            raise DeclarationError(
                f"{table.owner}: Tenancy(filtered=…) takes global indexes of the table, not "
                f"{index!r}"
            )
        if table.attributes[0] in (*index.pk, *index.sk):
            raise DeclarationError(
                f"{table.owner}: Tenancy(filtered=…) cannot include {index.name}: the table's "
                f"partition key is a key of {index.name}, and DynamoDB cannot filter by the key of "
                "the index it queries; query it with the partition: ….eq(…)"
            )


def _check_attributes(table: TableMap) -> None:
    """Raise DeclarationError if the key attributes and the type attribute do not fit together."""
    (partition, sort), name, form = table.attributes, table.type_attribute, table.type_form
    if partition == sort:
        raise DeclarationError(
            f"{table.owner}: the partition key and the sort key are both {partition!r}; rename one"
        )
    if name == "":
        raise DeclarationError(
            f"{table.owner}: type_attribute='' is not the name of an attribute; write None for a "
            "table without one"
        )
    if name is not None and name in table.attributes:
        raise DeclarationError(
            f"{table.owner}: type_attribute={name!r} is a key; choose another name"
        )
    if form not in get_args(TypeForm):
        raise DeclarationError(
            f"{table.owner}: type_form={form!r} is not one of "
            f"{', '.join(map(repr, get_args(TypeForm)))}"
        )
    for index in table.indexes.values():
        if form != "text" and name in index.attributes:
            raise DeclarationError(
                f"{table.owner}: {name!r} is a key of {index.name}, which cannot be a {form}; "
                "leave type_form out"
            )


def _check_names(table: TableMap) -> None:
    """Raise DeclarationError for names of tables and indexes that DynamoDB does not take."""
    for kind, given in (("a table", table.name), *(("an index", name) for name in table.indexes)):
        if not _NAME(given):
            raise DeclarationError(
                f"{table.owner}: {given!r} is not a valid name for {kind}; write name=… with 3 to "
                "255 letters, digits, '_', '-' and '.'"
            )
