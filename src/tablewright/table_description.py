"""Table description: what a table is, as one value, whatever source states it.

    read_table        DescribeTable's answer or a CreateTable request -> TableDescription
    to_create_table   the request that creates such a table

A description has the parts of `schema` that storage does not need for itself, and the states and
counts that DescribeTable reports at one moment. It has no encryption and no policies. Warm
throughput is only what a request asks for: DescribeTable also reports defaults.

Invariants: members of AWS that are missing have a default here, and those that are unknown are
ignored, because endpoints differ in both. A member of a wrong type raises msgspec.ValidationError.
This module knows no design, sends nothing, and does not check what CreateTable checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean_or_list
from tablewright.schema import (
    KeyAttribute,
    KeySchema,
    OnDemand,
    ProjectedAttributes,
    Throughput,
    WarmUnits,
)
from tablewright.values import Item, Value

ALL = ProjectedAttributes("ALL")
_LOCAL, _GLOBAL = "LocalSecondaryIndexes", "GlobalSecondaryIndexes"


class State(Struct, frozen=True):
    """What DescribeTable reports of a table or an index at one moment."""

    status: str = "ACTIVE"
    #: About how many items it has, and their bytes; DynamoDB counts every six hours.
    items: int | None = None
    size: int = 0


class TableState(State, frozen=True):
    """What DescribeTable reports of a table at one moment."""

    #: What distinguishes the table from an earlier one with its name.
    id: str = ""
    #: In seconds since 1970.
    created: float | None = None
    arn: str = ""
    stream_arn: str | None = None


class IndexDescription(Struct, frozen=True):
    """An index; or the table itself, with the name ""."""

    name: str
    kind: Literal["table", "local", "global"]
    keys: KeySchema
    projection: ProjectedAttributes = ALL
    #: The provisioned capacity of a global index; None on demand.
    throughput: Throughput | None = None
    on_demand: OnDemand | None = None
    warm: WarmUnits | None = None
    state: State = State()

    @property
    def is_local(self) -> bool:
        return self.kind == "local"

    @property
    def is_ready(self) -> bool:
        """Whether it can be read; an index that is being built cannot."""
        return self.state.status != "CREATING"

    @property
    def title(self) -> str:
        return self.name or "table"

    def partition_of(self, item: Mapping[str, Value]) -> tuple[Value, ...]:
        """Return the partition key of an item that it contains."""
        return tuple(item[each.name] for each in self.keys.partition)

    def contains(self, item: Mapping[str, Value]) -> bool:
        """Return whether it contains an item: one with all key attributes, of the right types."""
        return all(each.name in item and each.type in item[each.name] for each in self.keys)


class TableDescription(Struct, frozen=True):
    """A table with its indexes and settings."""

    name: str
    keys: KeySchema
    indexes: tuple[IndexDescription, ...] = ()
    #: The provisioned capacity; None on demand.
    throughput: Throughput | None = None
    on_demand: OnDemand | None = None
    warm: WarmUnits | None = None
    #: The view type of the stream; None without a stream.
    stream: str | None = None
    ttl: str | None = None
    #: For how many days the table can be restored to any time; None if it cannot.
    recovery_days: int | None = None
    #: None: STANDARD.
    table_class: str | None = None
    is_protected: bool = False
    tags: tuple[tuple[str, str], ...] = ()
    state: TableState = TableState()

    @property
    def billing(self) -> str:
        return "PAY_PER_REQUEST" if self.throughput is None else "PROVISIONED"

    @property
    def capacity_text(self) -> str:
        """How it is billed, as text."""
        if self.throughput is None:
            return "on demand"
        return f"{self.throughput.read} read and {self.throughput.write} write units"

    @property
    def local_indexes(self) -> tuple[IndexDescription, ...]:
        return tuple(index for index in self.indexes if index.kind == "local")

    @property
    def global_indexes(self) -> tuple[IndexDescription, ...]:
        return tuple(index for index in self.indexes if index.kind == "global")

    @property
    def base(self) -> IndexDescription:
        """The table without its indexes."""
        return IndexDescription("", "table", self.keys, state=self.state)

    @property
    def collections(self) -> tuple[IndexDescription, ...]:
        """The table and its indexes; an item collection is something else: rows of a partition."""
        return (self.base, *self.indexes)

    @property
    def index_names(self) -> list[str]:
        return [index.name for index in self.indexes]

    @property
    def key_types(self) -> dict[str, str]:
        """The types of all key attributes of the table and its indexes, by attribute name."""
        return {key.name: key.type for each in self.collections for key in each.keys}

    def find(self, name: str | None) -> IndexDescription | None:
        """Return the index of a name, or the table for "" and None."""
        return next((each for each in self.collections if each.name == (name or "")), None)

    def require_index(self, name: str | None) -> IndexDescription:
        """Return the index of a name, or the table for "" and None; raise InvalidValue."""
        found = self.find(name)
        if found is None:
            hint = did_you_mean_or_list(name, self.index_names, "indexes")
            raise InvalidValue(f"{self.name} has no index {name!r}{hint}")
        return found

    def can_read(self, name: str) -> bool:
        """Return whether an index exists and can be read; "" is the table."""
        found = self.find(name)
        return found is not None and found.is_ready

    def key(self, item: Mapping[str, Value]) -> Item:
        """Return the key of an item in the table."""
        return {name: item[name] for name in self.keys.names}

    def start_key(self, index: IndexDescription, item: Mapping[str, Value]) -> Item:
        """Return the key after which a page of an index starts: ExclusiveStartKey."""
        names = dict.fromkeys((*self.keys.names, *index.keys.names))
        return {name: item[name] for name in names}

    def index_row(self, index: IndexDescription, item: Item | None) -> Item | None:
        """Return the row of an item in an index: its projected attributes; None if it has none."""
        if item is None or not index.contains(item):
            return None
        if index.projection.type == "ALL":
            return item
        held = {*self.keys.names, *index.keys.names, *index.projection.include}
        return {name: value for name, value in item.items() if name in held}

    def on_demand_only(self) -> TableDescription:
        """Return the same table, billed on demand and without limits."""
        indexes = (replace(index, throughput=None, on_demand=None) for index in self.indexes)
        return replace(self, throughput=None, on_demand=None, indexes=tuple(indexes))

    def without_global_indexes(self) -> TableDescription:
        return replace(self, indexes=self.local_indexes)

    def to_create_table(self) -> dict[str, Any]:
        """Return the CreateTable request; TTL and recovery have operations of their own."""
        request: dict[str, Any] = {
            "TableName": self.name,
            "KeySchema": write_keys(self.keys),
            "AttributeDefinitions": write_types(self.key_types),
            "BillingMode": self.billing,
            **_write_capacity(self),
        }
        for member, indexes in ((_LOCAL, self.local_indexes), (_GLOBAL, self.global_indexes)):
            if indexes:
                request[member] = [write_index(index) for index in indexes]
        if self.stream is not None:
            request["StreamSpecification"] = write_stream(self.stream)
        if self.table_class is not None:
            request["TableClass"] = self.table_class
        if self.is_protected:
            request["DeletionProtectionEnabled"] = True
        if self.tags:
            request["Tags"] = [{"Key": name, "Value": value} for name, value in self.tags]
        return request


# -- reading --------------------------------------------------------------------------------------


class _Key(Struct, frozen=True, rename="pascal"):
    attribute_name: str
    key_type: Literal["HASH", "RANGE"]


class _Attribute(Struct, frozen=True, rename="pascal"):
    attribute_name: str
    attribute_type: str


class _Projection(Struct, frozen=True, rename="pascal"):
    projection_type: str = "ALL"
    non_key_attributes: list[str] | None = None


class _Rates(Struct, frozen=True, rename="pascal"):
    """The members of ProvisionedThroughput, OnDemandThroughput and WarmThroughput."""

    read_capacity_units: int = 0
    write_capacity_units: int = 0
    max_read_request_units: int = -1
    max_write_request_units: int = -1
    read_units_per_second: int = 0
    write_units_per_second: int = 0
    #: Only in descriptions.
    status: str = ""


_BillingMode: TypeAlias = Literal["PROVISIONED", "PAY_PER_REQUEST"]


class _Settings(Struct, frozen=True, rename="pascal"):
    """The members of StreamSpecification, BillingModeSummary and TableClassSummary."""

    stream_enabled: bool = False
    stream_view_type: str | None = None
    billing_mode: _BillingMode | None = None
    table_class: str | None = None


class _Keyed(Struct, rename="pascal"):
    """The common members of tables and indexes."""

    provisioned_throughput: _Rates = _Rates()
    on_demand_throughput: _Rates = _Rates()
    warm_throughput: _Rates = _Rates()
    item_count: int | None = None


class _Index(_Keyed, rename="pascal", kw_only=True):
    index_name: str
    key_schema: list[_Key]
    projection: _Projection = _Projection()
    index_status: str = "ACTIVE"
    index_size_bytes: int = 0


class _Table(_Keyed, rename="pascal", kw_only=True):
    """The members of a description and of a CreateTable request."""

    table_name: str
    key_schema: list[_Key] = []
    attribute_definitions: list[_Attribute] = []
    local_secondary_indexes: list[_Index] = []
    global_secondary_indexes: list[_Index] = []
    billing_mode: _BillingMode | None = None
    billing_mode_summary: _Settings = _Settings()
    stream_specification: _Settings = _Settings()
    table_class: str | None = None
    table_class_summary: _Settings = _Settings()
    deletion_protection_enabled: bool = False
    tags: list[dict[str, str]] = []
    table_status: str = "ACTIVE"
    table_size_bytes: int = 0
    table_id: str | None = None
    creation_date_time: Any = None
    table_arn: str = ""
    latest_stream_arn: str | None = None


class _TimeToLive(Struct):
    status: str = field(name="TimeToLiveStatus")
    attribute: str | None = field(name="AttributeName", default=None)


def _without_nulls(value: object) -> object:
    """Return JSON without the members that are null: null means missing."""
    if isinstance(value, Mapping):
        return {k: _without_nulls(each) for k, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def read_table(members: object, ttl: str | None = None) -> TableDescription:
    """Return the table of a CreateTable request, or of the `Table` that DescribeTable returns.

    Attributes that are not defined have the type "". Raises msgspec.ValidationError if a member has
    a wrong type, or if the name of the table or of an index is missing.
    """
    table = msgspec.convert(_without_nulls(members), _Table)
    types = {each.attribute_name: each.attribute_type for each in table.attribute_definitions}
    billing = table.billing_mode or table.billing_mode_summary.billing_mode
    is_provisioned = billing != "PAY_PER_REQUEST"
    stream, created = table.stream_specification, table.creation_date_time
    table_class = table.table_class or table.table_class_summary.table_class
    return TableDescription(
        table.table_name,
        _read_keys(table.key_schema, types),
        (
            *(_read_index(each, "local", types, False) for each in table.local_secondary_indexes),
            *(
                _read_index(each, "global", types, is_provisioned)
                for each in table.global_secondary_indexes
            ),
        ),
        *_read_capacity(table, is_provisioned),
        stream=stream.stream_view_type if stream.stream_enabled else None,
        ttl=ttl,
        table_class=None if table_class == "STANDARD" else table_class,
        is_protected=table.deletion_protection_enabled,
        tags=tuple((tag["Key"], tag["Value"]) for tag in table.tags),
        state=TableState(
            table.table_status,
            table.item_count,
            table.table_size_bytes,
            str(table.table_id or created or ""),
            created if isinstance(created, int | float) else None,
            table.table_arn,
            table.latest_stream_arn,
        ),
    )


def read_ttl(answer: Mapping[str, Any]) -> str | None:
    """Return the TTL attribute in the answer of DescribeTimeToLive; None if TTL is disabled.

    Raises msgspec.ValidationError for any other response.
    """
    found = msgspec.convert(answer.get("TimeToLiveDescription"), _TimeToLive)
    return found.attribute if found.status.startswith("ENABL") else None


def _read_keys(elements: list[_Key], types: Mapping[str, str]) -> KeySchema:
    def side(kind: str) -> tuple[KeyAttribute, ...]:
        names = (each.attribute_name for each in elements if each.key_type == kind)
        return tuple(KeyAttribute(name, types.get(name, "")) for name in names)

    return KeySchema(side("HASH"), side("RANGE"))


def _read_index(
    index: _Index, kind: Literal["local", "global"], types: Mapping[str, str], is_provisioned: bool
) -> IndexDescription:
    projection = index.projection
    included = projection.non_key_attributes if projection.projection_type == "INCLUDE" else None
    return IndexDescription(
        index.index_name,
        kind,
        _read_keys(index.key_schema, types),
        ProjectedAttributes(projection.projection_type, tuple(included or ())),
        *_read_capacity(index, is_provisioned),
        state=State(index.index_status, index.item_count, index.index_size_bytes),
    )


def _read_capacity(
    keyed: _Keyed, is_provisioned: bool
) -> tuple[Throughput | None, OnDemand | None, WarmUnits | None]:
    """Return the capacity. DescribeTable reports 0 units of what is billed on demand."""
    units, warm = keyed.provisioned_throughput, keyed.warm_throughput
    throughput = Throughput(units.read_capacity_units, units.write_capacity_units)
    most = keyed.on_demand_throughput
    limits = OnDemand(most.max_read_request_units, most.max_write_request_units)
    rates = WarmUnits(warm.read_units_per_second, warm.write_units_per_second)
    return (
        throughput if is_provisioned and throughput.read else None,
        None if limits == OnDemand() else limits,
        None if warm.status or rates == WarmUnits() else rates,
    )


# -- writing --------------------------------------------------------------------------------------


def write_keys(keys: KeySchema) -> list[dict[str, str]]:
    """Return a key as the KeySchema of requests and descriptions."""
    sides = (("HASH", keys.partition), ("RANGE", keys.sort))
    return [{"AttributeName": key.name, "KeyType": kind} for kind, side in sides for key in side]


def write_types(types: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items() if kind]


def write_index(index: IndexDescription) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection.type}
    if index.projection.type == "INCLUDE":
        projection["NonKeyAttributes"] = list(index.projection.include)
    return {
        "IndexName": index.name,
        "KeySchema": write_keys(index.keys),
        "Projection": projection,
        **_write_capacity(index),
    }


def _write_capacity(described: TableDescription | IndexDescription) -> dict[str, Any]:
    members: dict[str, Any] = {}
    units, limits, warm = described.throughput, described.on_demand, described.warm
    if units is not None:
        members["ProvisionedThroughput"] = write_units(units)
    elif limits is not None:
        given = {name: most for name, most in write_limits(limits).items() if most != -1}
        members["OnDemandThroughput"] = given
    if warm is not None:
        units_per_second = {"ReadUnitsPerSecond": warm.read, "WriteUnitsPerSecond": warm.write}
        members["WarmThroughput"] = {
            each: units for each, units in units_per_second.items() if units
        }
    return members


def write_units(units: Throughput) -> dict[str, int]:
    return {"ReadCapacityUnits": units.read, "WriteCapacityUnits": units.write}


def write_limits(limits: OnDemand | None) -> dict[str, int]:
    limits = limits or OnDemand()
    return {"MaxReadRequestUnits": limits.read, "MaxWriteRequestUnits": limits.write}


def write_stream(view: str | None) -> dict[str, Any]:
    if view is None:
        return {"StreamEnabled": False}
    return {"StreamEnabled": True, "StreamViewType": view}
