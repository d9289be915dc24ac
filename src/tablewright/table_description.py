"""Table description: what a table is, as one value, wherever that is stated.

    read_table        DescribeTable's answer or a CreateTable request -> TableDescription
    differences       the parts in which a table differs from what it should be, as values
    to_create_table   the request that creates such a table
    update_steps      the requests that make one table like another

A description has the parts of `schema` without what only storage needs, and what DescribeTable
reports at one moment: states and counts. Encryption, policies and warm throughput are not in it.

Invariants: members of AWS that are missing have a default here, and those that are unknown are
ignored, because endpoints differ in both. A member of a wrong type raises msgspec.ValidationError.
This module knows no design, sends nothing, and does not check what CreateTable checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from tablewright.errors import TableReplacement
from tablewright.schema import IndexProjection, KeyAttribute, KeySchema, OnDemand, Throughput

ALL = IndexProjection("ALL")
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
    """An index; or the table itself, with the name "": both group items by their keys."""

    name: str
    kind: Literal["table", "local", "global"]
    keys: KeySchema
    projection: IndexProjection = ALL
    #: The provisioned capacity of a global index; None on demand.
    throughput: Throughput | None = None
    on_demand: OnDemand | None = None
    state: State = State()

    @property
    def is_local(self) -> bool:
        return self.kind == "local"

    @property
    def is_ready(self) -> bool:
        """Whether it can be read; an index that is being built cannot."""
        return self.state.status != "CREATING"

    def contains(self, item: Mapping[str, Mapping[str, Any]]) -> bool:
        """Return whether DynamoDB has an item here: it has all key attributes, with their types."""
        return all(each.name in item and each.type in item[each.name] for each in self.keys)


class TableDescription(Struct, frozen=True):
    """A table with its indexes and settings."""

    name: str
    keys: KeySchema
    indexes: tuple[IndexDescription, ...] = ()
    #: The provisioned capacity; None on demand.
    throughput: Throughput | None = None
    on_demand: OnDemand | None = None
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

    def can_read(self, name: str) -> bool:
        """Return whether an index exists and can be read; "" is the table."""
        found = self.find(name)
        return found is not None and found.is_ready

    def key(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the key of an item in the table."""
        return {name: item[name] for name in self.keys.names}

    def start_key(self, index: IndexDescription, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the key after which a page of an index starts: ExclusiveStartKey."""
        names = dict.fromkeys((*self.keys.names, *index.keys.names))
        return {name: item[name] for name in names}

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
            "KeySchema": _write_keys(self.keys),
            "AttributeDefinitions": _write_types(self.key_types),
            "BillingMode": self.billing,
            **_write_capacity(self),
        }
        for member, indexes in ((_LOCAL, self.local_indexes), (_GLOBAL, self.global_indexes)):
            if indexes:
                request[member] = [_write_index(index) for index in indexes]
        if self.stream is not None:
            request["StreamSpecification"] = _write_stream(self.stream)
        if self.table_class is not None:
            request["TableClass"] = self.table_class
        if self.is_protected:
            request["DeletionProtectionEnabled"] = True
        if self.tags:
            request["Tags"] = [{"Key": name, "Value": value} for name, value in self.tags]
        return request


# -- reading --------------------------------------------------------------------------------------


class _Key(Struct, rename="pascal"):
    attribute_name: str
    key_type: Literal["HASH", "RANGE"]


class _Attribute(Struct, rename="pascal"):
    attribute_name: str
    attribute_type: str


class _Projection(Struct, rename="pascal"):
    projection_type: str = "ALL"
    non_key_attributes: list[str] | None = None


class _Units(Struct):
    read: int | None = field(default=None, name="ReadCapacityUnits")
    write: int | None = field(default=None, name="WriteCapacityUnits")


class _Limits(Struct):
    read: int | None = field(default=None, name="MaxReadRequestUnits")
    write: int | None = field(default=None, name="MaxWriteRequestUnits")


class _Index(Struct, rename="pascal"):
    index_name: str
    key_schema: list[_Key]
    projection: _Projection | None = None
    provisioned_throughput: _Units | None = None
    on_demand_throughput: _Limits | None = None
    index_status: str = "ACTIVE"
    item_count: int | None = None
    index_size_bytes: int = 0


class _Stream(Struct, rename="pascal"):
    stream_enabled: bool = False
    stream_view_type: str | None = None


class _Billing(Struct, rename="pascal"):
    billing_mode: str | None = None


class _Class(Struct, rename="pascal"):
    table_class: str | None = None


class _Tag(Struct, rename="pascal"):
    key: str
    value: str


class _Table(Struct, rename="pascal"):
    """The members of a description and of a CreateTable request."""

    table_name: str
    key_schema: list[_Key] = []
    attribute_definitions: list[_Attribute] = []
    local_secondary_indexes: list[_Index] | None = None
    global_secondary_indexes: list[_Index] | None = None
    billing_mode: str | None = None
    billing_mode_summary: _Billing | None = None
    provisioned_throughput: _Units | None = None
    on_demand_throughput: _Limits | None = None
    stream_specification: _Stream | None = None
    table_class: str | None = None
    table_class_summary: _Class | None = None
    deletion_protection_enabled: bool | None = None
    tags: list[_Tag] | None = None
    table_status: str = "ACTIVE"
    item_count: int | None = None
    table_size_bytes: int = 0
    table_id: str | None = None
    creation_date_time: Any = None
    table_arn: str = ""
    latest_stream_arn: str | None = None


def read_table(members: Mapping[str, Any], ttl: str | None = None) -> TableDescription:
    """Return the table of a CreateTable request, or of the `Table` that DescribeTable returns.

    Attributes that are not defined have the type "". Raises msgspec.ValidationError if a member has
    a wrong type, or if the name of the table or a key is missing.
    """
    table = msgspec.convert(members, _Table)
    types = {each.attribute_name: each.attribute_type for each in table.attribute_definitions}
    summary = table.billing_mode_summary or _Billing()
    on_demand = (table.billing_mode or summary.billing_mode) == "PAY_PER_REQUEST"
    stream, created = table.stream_specification or _Stream(), table.creation_date_time
    kind = table.table_class or (table.table_class_summary or _Class()).table_class
    return TableDescription(
        table.table_name,
        _read_keys(table.key_schema, types),
        (
            *(_read_index(e, "local", types, True) for e in table.local_secondary_indexes or ()),
            *(
                _read_index(each, "global", types, on_demand)
                for each in table.global_secondary_indexes or ()
            ),
        ),
        throughput=None if on_demand else _read_units(table.provisioned_throughput),
        on_demand=_read_limits(table.on_demand_throughput),
        stream=stream.stream_view_type if stream.stream_enabled else None,
        ttl=ttl,
        table_class=None if kind == "STANDARD" else kind,
        is_protected=bool(table.deletion_protection_enabled),
        tags=tuple((tag.key, tag.value) for tag in table.tags or ()),
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


class _TimeToLive(Struct):
    status: str = field(name="TimeToLiveStatus")
    attribute: str | None = field(name="AttributeName", default=None)


class _TimeToLiveAnswer(Struct):
    ttl: _TimeToLive = field(name="TimeToLiveDescription")


def read_ttl(answer: Mapping[str, Any]) -> str | None:
    """Return the TTL attribute in the answer of DescribeTimeToLive; None if TTL is disabled.

    Raises msgspec.ValidationError if it is no such answer.
    """
    found = msgspec.convert(answer, _TimeToLiveAnswer).ttl
    return found.attribute if found.status.startswith("ENABL") else None


def _read_keys(elements: list[_Key], types: Mapping[str, str]) -> KeySchema:
    def side(kind: str) -> tuple[KeyAttribute, ...]:
        names = (each.attribute_name for each in elements if each.key_type == kind)
        return tuple(KeyAttribute(name, types.get(name, "")) for name in names)

    return KeySchema(side("HASH"), side("RANGE"))


def _read_index(
    index: _Index, kind: Literal["local", "global"], types: Mapping[str, str], on_demand: bool
) -> IndexDescription:
    projection = index.projection or _Projection()
    included = projection.non_key_attributes if projection.projection_type == "INCLUDE" else None
    return IndexDescription(
        index.index_name,
        kind,
        _read_keys(index.key_schema, types),
        IndexProjection(projection.projection_type, tuple(included or ())),
        None if on_demand else _read_units(index.provisioned_throughput),
        _read_limits(index.on_demand_throughput),
        State(index.index_status, index.item_count, index.index_size_bytes),
    )


def _read_units(units: _Units | None) -> Throughput | None:
    """Return provisioned capacity. DescribeTable reports 0 units of what is billed on demand."""
    if units is None or not units.read:
        return None
    return Throughput(units.read, units.write or 0)


def _read_limits(limits: _Limits | None) -> OnDemand | None:
    read, write = (limits.read, limits.write) if limits else (None, None)
    found = OnDemand(-1 if read is None else read, -1 if write is None else write)
    return None if found == OnDemand() else found


# -- comparing ------------------------------------------------------------------------------------


class Part(StrEnum):
    """A part of a table in which two tables can differ, as messages name it."""

    KEYS = "keys"
    LOCAL_INDEX = "local index"
    GLOBAL_INDEX = "global index"
    STREAM = "StreamSpecification"
    TTL = "TTL"
    BILLING = "BillingMode"
    TABLE_CLASS = "TableClass"
    PROTECTION = "DeletionProtectionEnabled"
    THROUGHPUT = "throughput"
    INDEX_THROUGHPUT = "throughput of"


#: What programs depend on; the other parts are settings of the operator.
STRUCTURE = frozenset({Part.KEYS, Part.LOCAL_INDEX, Part.GLOBAL_INDEX, Part.STREAM, Part.TTL})

PartValue: TypeAlias = KeySchema | IndexDescription | Throughput | OnDemand | str


class Difference(Struct, frozen=True):
    """A part in which a table differs; None is a part that a table does not have."""

    part: Part
    wanted: PartValue | None
    found: PartValue | None
    #: The name of an index.
    index: str = ""

    @property
    def name(self) -> str:
        return f"{self.part} {self.index}".rstrip()


def differences(wanted: TableDescription, found: TableDescription) -> list[Difference]:
    """Return the parts in which a table differs from the wanted one, in the order of their names.

    Tags are not compared: DescribeTable does not have them.
    """
    parts, others = _parts(wanted), _parts(found)
    unequal = (
        Difference(*key[:1], parts.get(key), others.get(key), *key[1:])
        for key in parts.keys() | others.keys()
        if parts.get(key) != others.get(key)
    )
    return sorted(unequal, key=lambda each: each.name)


def _parts(table: TableDescription) -> dict[tuple[Part, str], PartValue | None]:
    kinds = {"local": Part.LOCAL_INDEX, "global": Part.GLOBAL_INDEX}
    return {
        (Part.KEYS, ""): table.keys,
        **{(kinds[index.kind], index.name): _structure(index) for index in table.indexes},
        (Part.STREAM, ""): table.stream,
        (Part.TTL, ""): table.ttl,
        (Part.BILLING, ""): table.billing,
        (Part.TABLE_CLASS, ""): table.table_class,
        (Part.PROTECTION, ""): "true" if table.is_protected else None,
        (Part.THROUGHPUT, ""): table.throughput or table.on_demand,
        **{
            (Part.INDEX_THROUGHPUT, index.name): index.throughput or index.on_demand
            for index in table.global_indexes
        },
    }


def _structure(index: IndexDescription) -> IndexDescription:
    """Return an index without its capacity; the order of projected attributes has no meaning."""
    included = tuple(sorted(index.projection.include))
    projection = IndexProjection(index.projection.type, included)
    return IndexDescription(index.name, index.kind, index.keys, projection)


def describe(value: PartValue | None) -> str:
    """Return a part of a table as text.

    >>> describe(KeySchema((KeyAttribute("PK", "S"),), (KeyAttribute("SK", "N"),)))
    'PK:S HASH, SK:N RANGE'
    """
    match value:
        case KeySchema(partition, sort):
            sides = (("HASH", partition), ("RANGE", sort))
            keys = (f"{key.name}:{key.type or '?'} {kind}" for kind, side in sides for key in side)
            return ", ".join(keys)
        case IndexDescription(projection=projection):
            included = f" ({', '.join(projection.include)})" if projection.include else ""
            return f"{describe(value.keys)}, projection {projection.type}{included}"
        case Throughput():
            return f"{value.read} reads, {value.write} writes"
        case OnDemand():
            return f"at most {value.read} reads, {value.write} writes"
        case _:
            return value or "none"


# -- writing --------------------------------------------------------------------------------------


def _write_keys(keys: KeySchema) -> list[dict[str, str]]:
    sides = (("HASH", keys.partition), ("RANGE", keys.sort))
    return [{"AttributeName": key.name, "KeyType": kind} for kind, side in sides for key in side]


def _write_types(types: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items() if kind]


def _write_index(index: IndexDescription) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection.type}
    if index.projection.type == "INCLUDE":
        projection["NonKeyAttributes"] = list(index.projection.include)
    return {
        "IndexName": index.name,
        "KeySchema": _write_keys(index.keys),
        "Projection": projection,
        **_write_capacity(index),
    }


def _write_capacity(described: TableDescription | IndexDescription) -> dict[str, Any]:
    if described.throughput is not None:
        return {"ProvisionedThroughput": _write_units(described.throughput)}
    if described.on_demand is not None:
        return {"OnDemandThroughput": _write_limits(described.on_demand)}
    return {}


def _write_units(units: Throughput) -> dict[str, int]:
    return {"ReadCapacityUnits": units.read, "WriteCapacityUnits": units.write}


def _write_limits(limits: OnDemand | None) -> dict[str, int]:
    limits = limits or OnDemand()
    return {"MaxReadRequestUnits": limits.read, "MaxWriteRequestUnits": limits.write}


def _write_stream(view: str | None) -> dict[str, Any]:
    if view is None:
        return {"StreamEnabled": False}
    return {"StreamEnabled": True, "StreamViewType": view}


class Step(Struct, frozen=True):
    """A request that changes a table. The next one can be sent when the table is ACTIVE again."""

    operation: Literal["UpdateTable", "UpdateTimeToLive"]
    request: dict[str, Any]


def update_steps(wanted: TableDescription, found: TableDescription) -> list[Step]:
    """Return the requests that make a table like the wanted one, in their order.

    Raises TableReplacement if DynamoDB cannot change a part that differs: keys and local indexes.
    """
    changed = differences(wanted, found)
    fixed = [each.name for each in changed if each.part in (Part.KEYS, Part.LOCAL_INDEX)]
    if fixed:
        raise TableReplacement(
            f"{found.name}: DynamoDB cannot change {', '.join(fixed)}; create a table with another "
            "name and copy the items: tablewright copy"
        )
    return [
        Step("UpdateTimeToLive" if "TimeToLiveSpecification" in members else "UpdateTable", request)
        for members in _changes(wanted, found, changed)
        for request in [{"TableName": found.name} | members]
    ]


def _changes(
    wanted: TableDescription, found: TableDescription, changed: list[Difference]
) -> Iterator[dict[str, Any]]:
    """Yield the members of each request. DynamoDB takes one index, or one setting, at a time."""
    indexes = {each.index: each for each in changed if each.part is Part.GLOBAL_INDEX}
    for name, each in indexes.items():
        if each.found is not None:
            yield {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}}]}
    kept = tuple(index for index in found.indexes if index.name not in indexes)
    current = replace(found, indexes=kept)
    yield from _capacity_changes(wanted, current, changed)
    current = replace(current, throughput=wanted.throughput)
    for index in wanted.global_indexes:
        if index.name in indexes:
            yield create_index(current, index)
            current = replace(current, indexes=(*current.indexes, index))
    for each in changed:
        match each.part:
            case Part.STREAM:
                for view in (
                    (None, wanted.stream) if each.wanted and each.found else (wanted.stream,)
                ):
                    yield {"StreamSpecification": _write_stream(view)}
            case Part.TABLE_CLASS:
                yield {"TableClass": wanted.table_class or "STANDARD"}
            case Part.PROTECTION:
                yield {"DeletionProtectionEnabled": wanted.is_protected}
            case Part.TTL:
                for attribute, is_enabled in ((found.ttl, False), (wanted.ttl, True)):
                    if attribute is not None:
                        setting = {"AttributeName": attribute, "Enabled": is_enabled}
                        yield {"TimeToLiveSpecification": setting}
            case _:
                pass


def _capacity_changes(
    wanted: TableDescription, current: TableDescription, changed: list[Difference]
) -> Iterator[dict[str, Any]]:
    """Yield the members that change billing and capacity, all in one request."""
    members: dict[str, Any] = {}
    parts = {each.part for each in changed}
    if Part.BILLING in parts:
        members["BillingMode"] = wanted.billing
    if Part.THROUGHPUT in parts:
        if wanted.throughput is None:
            members["OnDemandThroughput"] = _write_limits(wanted.on_demand)
        elif wanted.throughput != current.throughput:
            members |= _write_capacity(wanted)
    there = {index.name for index in current.indexes}
    names = {each.index for each in changed if each.part is Part.INDEX_THROUGHPUT} & there
    updates = []
    for index in wanted.global_indexes:
        if index.name in names:
            limits = {"OnDemandThroughput": _write_limits(index.on_demand)}
            capacity = limits if index.throughput is None else _write_capacity(index)
            updates.append({"Update": {"IndexName": index.name, **capacity}})
    if updates:
        members["GlobalSecondaryIndexUpdates"] = updates
    if members:
        yield members


def create_index(table: TableDescription, index: IndexDescription) -> dict[str, Any]:
    """Return the members of the UpdateTable request that adds a global index to a table.

    In a table with provisioned throughput, it gets its own throughput, or that of the table; in an
    on-demand table none.
    """
    # DynamoDB refuses definitions of attributes that no key has, so only those of this index.
    types = table.key_types
    for key in index.keys:
        types.setdefault(key.name, key.type)
    if table.throughput is None:
        index = replace(index, throughput=None)
    elif index.throughput is None:
        index = replace(index, throughput=table.throughput)
    return {
        "AttributeDefinitions": _write_types(types),
        "GlobalSecondaryIndexUpdates": [{"Create": _write_index(index)}],
    }
