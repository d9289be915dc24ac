"""The experiment: one version of a design writes items, and the other one reads them.

Both versions use one table in memory, with the indexes of both. An item is read by its key, by a
query of its partition, by each place in an index in which its values belong, and by its unique
values. The worst result of each entity is what the classification of changes must have promised.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, NamedTuple, get_args, get_origin
from uuid import UUID

from msgspec.structs import replace
from pydantic import BaseModel

from tablewright import Engine, connect, create
from tablewright.design_changes import DesignChange, Reading
from tablewright.design_description import TableDesign
from tablewright.errors import (
    DeclarationError,
    InvalidValue,
    TableMismatch,
    TableNotFound,
    TablewrightError,
    UnreadableItem,
    ValidationException,
    WriteRejected,
)
from tablewright.ids import KSUID, ULID
from tablewright.mapping.attributes import STAMPS, AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.stored_type import stored_default
from tablewright.model.databases.database import Database
from tablewright.plan.description import describe_entity
from tablewright.values import Item, Value
from tests.design_changes.loading import tables_of
from tests.design_changes.pairs import Version

START = datetime(2036, 1, 15, 10, tzinfo=UTC)
#: How many items of each entity a version writes; the last one lacks what it may lack.
ITEMS = 4


# -- sample values ---------------------------------------------------------------------------------


def value_of(kind: Any, text: str, number: int) -> Any:
    """Return a value of a type: the same one for the same text and number."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is typing.Annotated:
        return value_of(arguments[0], text, number)
    if origin is typing.Literal:
        return arguments[number % len(arguments)]
    if origin in (typing.Union, types.UnionType):
        return value_of(arguments[0], text, number)
    if origin is dict:
        return {value_of(arguments[0], text, number): value_of(arguments[1], text, number)}
    if origin is not None:
        made = {value_of(arguments[0], text, number)} if "set" in str(origin) else None
        return made if made is not None else [value_of(arguments[0], text, number)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[number % len(kind)]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = {name: each.annotation for name, each in kind.model_fields.items()}
        return kind(**{name: value_of(each, text, number) for name, each in fields.items()})
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = typing.get_type_hints(kind)
        return kind(**{name: value_of(each, text, number) for name, each in hints.items()})
    return _scalar(kind, text, number)


def _scalar(kind: Any, text: str, number: int) -> Any:
    moment = START + timedelta(hours=number)
    values = {
        str: text, int: number + 1, Decimal: Decimal(number) + Decimal("0.5"),
        float: number + 0.25, bool: bool(number % 2), bytes: text.encode(),
        UUID: UUID(int=number + 1), datetime: moment, date: moment.date(), time: moment.time(),
        timedelta: timedelta(seconds=number), KSUID: KSUID.floor(moment), ULID: ULID.floor(moment),
        Any: text,
    }  # fmt: skip
    return values[kind]


# -- sides -----------------------------------------------------------------------------------------


class Side:
    """A program of one version, connected to the table."""

    def __init__(self, version: Version, engine: Engine) -> None:
        self.tables = tables_of(version.module)
        self.database: Database = connect(engine, *self.tables, create=False)
        #: By their names in Python, which mutations keep.
        self.entities: dict[str, EntityMap] = {
            entity.name: entity for table in self.tables for entity in table.__table__.entities
        }

    def run(self, plan: Any) -> Any:
        return self.database.run(plan)


class Written(NamedTuple):
    """An item, with the values that its writer reads."""

    entity: EntityMap
    number: int
    values: dict[str, Any]


def merged(one: TableDesign, other: TableDesign) -> TableDesign | None:
    """Return a table that both versions can use; None if there is none."""
    common = [name for name in one.indexes if name in other.indexes]
    if one.keys != other.keys or any(one.indexes[n] != other.indexes[n] for n in common):
        return None
    locals_ = [
        {name for name, each in table.indexes.items() if each.kind == "local"}
        for table in (one, other)
    ]
    types = [
        dict(pair for index in table.indexes.values() for pair in _pairs(index.keys))
        for table in (one, other)
    ]
    if locals_[0] != locals_[1] or any(
        types[0][n] != types[1].get(n, types[0][n]) for n in types[0]
    ):
        return None
    return replace(one, indexes={**other.indexes, **one.indexes})


def _pairs(keys: Any) -> Iterator[tuple[str, str]]:
    yield from keys.partition
    yield from keys.sort


def create_tables(engine: Engine, designs: dict[str, TableDesign]) -> None:
    for name, design in designs.items():
        engine.call("CreateTable", design.structure(name).to_create_table())


def set_ttl(engine: Engine, table: str, before: str, after: str) -> None:
    """Change the TTL attribute of a table."""
    for attribute, enabled in ((before, False), (after, True)):
        if attribute and before != after:
            specification = {"AttributeName": attribute, "Enabled": enabled}
            engine.call(
                "UpdateTimeToLive", {"TableName": table, "TimeToLiveSpecification": specification}
            )


def set_stream(engine: Engine, table: str, before: str, after: str) -> None:
    """Change the stream of a table."""
    if before != after:
        off, on = {"StreamEnabled": False}, {"StreamEnabled": True, "StreamViewType": after}
        for present, each in ((before, off), (after, on)):
            if present:
                engine.call("UpdateTable", {"TableName": table, "StreamSpecification": each})


def can_connect(version: Version, other: Version) -> bool:
    """Return whether a version can connect to the tables as the other one creates them."""
    with Engine(":memory:") as engine:
        connect(engine, *tables_of(other.module))
        try:
            connect(engine, *tables_of(version.module), create=False)
        except (TableMismatch, TableNotFound):
            return False
        return True


def open_sides(old: Version, new: Version, engine: Engine) -> tuple[Side, Side] | None:
    """Return both versions, connected to the same tables; None if that is impossible."""
    names = old.description.tables.keys() & new.description.tables.keys()
    pairs = {name: (old.description.tables[name], new.description.tables[name]) for name in names}
    both = {name: merged(*pair) for name, pair in pairs.items()}
    if not both or None in both.values() or names != old.description.tables.keys() | names:
        return None
    if len(old.description.tables) != len(new.description.tables):
        return None
    create_tables(engine, {name: each for name, each in both.items() if each is not None})
    for name, (before, _) in pairs.items():
        set_ttl(engine, name, "", before.ttl)
    first = Side(old, engine)
    for name, (before, after) in pairs.items():
        if after.ttl:
            set_ttl(engine, name, before.ttl, after.ttl)
        if after.stream:
            set_stream(engine, name, before.stream, after.stream)
    return first, Side(new, engine)


# -- writing ---------------------------------------------------------------------------------------


def sample(entity: EntityMap, number: int, *, plain: bool) -> dict[str, Any]:
    """Return the values of an item; every third one has special characters in its texts."""
    values = {}
    fixed = key_attributes(entity) if number < ITEMS - 1 else primary_attributes(entity)
    for name, attribute in entity.attributes.items():
        is_left_out = number % 2 and attribute.may_be_absent and name not in fixed
        if attribute.role not in STAMPS and not is_left_out:
            text = f"{name}{number}" if plain or number != 2 else f"{name} #{number}$"
            values[name] = value_of(attribute.converter.kind, text, number)
    return values


def key_attributes(entity: EntityMap) -> frozenset[str]:
    """Return the attributes that keys, conditions and unique values depend on."""
    keys = (entity.primary, *entity.indexes, *(each.key for each in entity.uniques))
    return frozenset[str]().union(*(key.depends_on for key in keys))


def primary_attributes(entity: EntityMap) -> frozenset[str]:
    """Return the attributes without which an item would not have the keys that it has."""
    keys = (entity.primary, *(each.key for each in entity.uniques))
    indexes = {name for each in entity.table.indexes.values() for name in each.attributes}
    fixed = [
        each.name
        for each in entity.attributes.values()
        if each.stored in indexes or (each.name in key_attributes(entity) and _varies(each))
    ]
    return frozenset(fixed).union(*(key.depends_on for key in keys))


def _varies(attribute: AttributeMap) -> bool:
    """Return whether an item without the attribute is read with a value that it never had."""
    if attribute.role in STAMPS or attribute.default is None:
        return attribute.role in STAMPS
    return stored_default(attribute.default, attribute.converter.stored) == "computed"


def write(side: Side, engine: Engine) -> list[Written]:
    """Write items of all entities; return those that the writer can read itself."""
    found = []
    for entity in side.entities.values():
        for number in range(ITEMS):
            values = _create(side, entity, number)
            if values is None:
                continue
            arguments = arguments_of(entity.primary, values)
            if number == ITEMS - 1:
                _strip(engine, entity, arguments)
            read = side.run(entity.type.primary(*arguments))  # type: ignore[attr-defined]  # a key
            found.append(Written(entity, number, dict(vars(read))))
    return found


def _create(side: Side, entity: EntityMap, number: int) -> dict[str, Any] | None:
    """Create an item; return its values, or None if the version cannot store it."""
    for plain in (False, True):
        try:
            instance = entity.type(**sample(entity, number, plain=plain))
            side.run(create(instance))
            return dict(vars(instance))
        except (InvalidValue, WriteRejected, ValidationException):
            continue  # also a key of an index of the other version, with another type
    return None


def _strip(engine: Engine, entity: EntityMap, arguments: list[Any]) -> None:
    """Remove what an item may lack: an earlier version may have written it so."""
    optional = [
        each.stored
        for each in entity.attributes.values()
        if each.may_be_absent
        and not each.is_key_only
        and (each.role in STAMPS or not _varies(each))
        and each.name not in primary_attributes(entity)
    ]
    if optional:
        request = {
            "TableName": entity.table.name,
            "Key": entity.primary.encode(arguments),
            "UpdateExpression": "REMOVE " + ", ".join(f"#{n}" for n in range(len(optional))),
            "ExpressionAttributeNames": {f"#{n}": name for n, name in enumerate(optional)},
        }
        engine.call("UpdateItem", request)


# -- reading ---------------------------------------------------------------------------------------


class Observed(NamedTuple):
    """What a reader gets of an item."""

    #: The name of the entity in Python.
    entity: str
    reading: Reading
    how: str


def arguments_of(key: KeyMap, values: dict[str, Any]) -> list[Any]:
    return [
        None if values[part.attribute] is None else part.argument(values[part.attribute])
        for part in key.parameters
    ]


def readers(side: Side, written: list[Written], changes: list[DesignChange]) -> Iterator[Reader]:
    """Yield a reader for each item of the other version, except for types that are not paired."""
    renamed = [
        frozenset((each.before, each.after))
        for each in changes
        if each.kind.name == "attribute-renamed"
    ]
    for item in written:
        entity = side.entities.get(item.entity.name)
        types = {entity.type_name, item.entity.type_name} if entity is not None else set()
        if entity is not None and types.isdisjoint(unpaired(changes)):
            yield Reader(side, entity, item, written, renamed)


def unpaired(changes: list[DesignChange]) -> set[str]:
    """Return the types that only one version has."""
    kinds = ("entity-added", "entity-removed")
    return {each.entity for each in changes if each.kind.name in kinds}


class Reader:
    """Reads one item."""

    def __init__(
        self,
        side: Side,
        entity: EntityMap,
        item: Written,
        written: list[Written],
        renamed: Collection[frozenset[str]],
    ) -> None:
        self.side = side
        self.entity = entity
        self.item = item
        self.written = written
        #: The two stored names of each renamed attribute.
        self.renamed = renamed
        self.type: Any = entity.type

    def moves(self) -> tuple[bool, bool]:
        """Return whether the item has other keys in indexes than this version gives it.

        The second value is about the keys without literals: a query of a partition that contains
        one entity does not compare the literals of sort keys.
        """
        try:
            values = self.values()
            places = [(each, each.compose(values)) for each in self.entity.indexes]
        except TablewrightError:
            return False, False
        return (
            any(keys not in self._keys_in(place) for place, keys in places),
            any(
                _sought(place, keys) not in [_sought(place, each) for each in self._keys_in(place)]
                for place, keys in places
            ),
        )

    def _keys_in(self, place: KeyMap) -> list[Item | None]:
        """Return the keys that the writer gives the item in the index of a place."""
        keys = [
            each.compose(self.item.values)
            for each in self.item.entity.indexes
            if each.index is not None
            and place.index is not None
            and each.index.name == place.index.name
        ]
        return keys or [None]

    def observe(self) -> Iterator[Observed]:
        try:
            values = self.values()
            arguments = arguments_of(self.entity.primary, values)
        except TablewrightError as error:
            yield self._observed(Reading.FAILS, f"its values: {error}")
            return
        yield from self._get(arguments)
        partition = arguments[: self.entity.primary.partition_arity]
        within = self.type.primary.within
        yield from self._query(self.entity.primary, within, partition, arguments)
        for place in self.entity.indexes:
            yield from self._place(place, values, arguments)
        for unique in self.entity.uniques:
            yield from self._unique(unique.key, values, arguments)

    def values(self) -> dict[str, Any]:
        """Return the values of the item as this version understands them."""
        found = {}
        for name, attribute in self.entity.attributes.items():
            stored = self.stored(name)
            if stored is not None:
                found[name] = attribute.converter.decode(stored)
            elif self.knows(name) and attribute.converter.optional:
                found[name] = None if attribute.default is None else attribute.default()
            elif attribute.may_be_absent and attribute.role != "version":
                found[name] = self.entity.value_if_absent(name)
            else:  # the writer does not know it
                found[name] = value_of(attribute.converter.kind, f"{name}9", 9)
        return found

    def knows(self, name: str) -> bool:
        """Return whether the writer has the same attribute: with its name, or renamed."""
        ours, theirs = self.entity.attributes[name], self.item.entity.attributes.get(name)
        if theirs is None or ours.is_key_only != theirs.is_key_only:
            return False
        names = frozenset((ours.stored, theirs.stored))
        return ours.is_key_only or len(names) == 1 or names in self.renamed

    def stored(self, name: str) -> Value | None:
        """Return how the writer stores an attribute; None if it is left out."""
        if not self.knows(name):
            return None
        attribute = self.item.entity.attributes[name]
        return _without_null(attribute.store(self.item.values[name]))

    def _observed(self, reading: Reading, how: str) -> Observed:
        return Observed(self.entity.name, reading, f"{how} (item {self.item.number})")

    def _get(self, arguments: list[Any]) -> Iterator[Observed]:
        try:
            found = self.side.run(self.type.primary(*arguments))
        except TablewrightError as error:
            yield self._observed(Reading.FAILS, f"get: {error}")
            return
        if found is None:
            yield self._observed(Reading.MISSES, "get: not found")
            return
        different = [
            f"{name} is {vars(found)[name]!r}, not {self.item.values[name]!r}"
            for name, attribute in self.entity.attributes.items()
            if self.knows(name)
            and _without_null(attribute.store(vars(found)[name])) != self.stored(name)
        ]
        reading = Reading.OTHER_VALUES if different else Reading.COMPLETE
        yield self._observed(reading, f"get: {', '.join(different) or 'equal'}")

    def _place(
        self, place: KeyMap, values: dict[str, Any], arguments: list[Any]
    ) -> Iterator[Observed]:
        name = place.name.rpartition(".")[2]
        others = [each for each in self.entity.indexes if each.index is place.index]
        if place.index is not None and place.index.projection != "ALL" and len(others) > 1:
            return  # an index without all attributes does not show in which place an item is
        try:
            expected = place.compose(values) is not None
        except InvalidValue:  # this version cannot store these values
            return
        given = arguments_of(place, values)
        partition, sort = given[: place.partition_arity], given[place.partition_arity :]
        if None in partition:
            return
        query = getattr(self.type, name)
        yield from self._query(place, query, partition, arguments, expected)
        if sort and expected:
            yield from self._query(place, lambda *p: query(*p).eq(*sort), partition, arguments)

    def _query(
        self,
        key: KeyMap,
        query: Any,
        partition: list[Any],
        arguments: list[Any],
        expected: bool = True,  # whether the item belongs there
    ) -> Iterator[Observed]:
        name = key.name.rpartition(".")[2]
        try:
            found = self._keys(key, query(*partition))
        except UnreadableItem as error:
            yield Observed(self._owner(error.key), Reading.FAILS, f"query of {name}: {error}")
            return
        except TablewrightError as error:
            yield self._observed(Reading.FAILS, f"query of {name}: {error}")
            return
        if expected and arguments not in found:
            yield self._observed(Reading.MISSES, f"query of {name}: not found")
        elif not expected and arguments in found:
            yield self._observed(Reading.OTHER_VALUES, f"query of {name}: not expected")
        else:
            yield self._observed(Reading.COMPLETE, f"query of {name}")

    def _keys(self, key: KeyMap, query: Any) -> list[list[Any]]:
        """Return the arguments of the primary keys of the items in a page."""
        primary = self.entity.primary
        if key.index is None or key.index.projection == "ALL":
            page = self.side.run(query)
            assert page.next_cursor is None
            return [arguments_of(primary, vars(each)) for each in page]
        names = sorted(primary.depends_on)
        rows = self.side.run(query.select(*(getattr(self.type, name) for name in names)))
        return [arguments_of(primary, dict(zip(names, row, strict=True))) for row in rows]

    def _owner(self, key: Item) -> str:
        """Return the entity of an item that the other version has written."""
        for each in self.written:
            for own in each.entity.table_keys:  # also those of its sentinels
                arguments = arguments_of(own, each.values)
                if None not in arguments and own.encode(arguments) == key:
                    return each.entity.name
        return self.entity.name

    def _unique(
        self, key: KeyMap, values: dict[str, Any], arguments: list[Any]
    ) -> Iterator[Observed]:
        name = key.name.rpartition(".")[2]
        given = arguments_of(key, values)
        if None in given:
            return
        try:
            found = self.side.run(getattr(self.type, name)(*given))
        except (DeclarationError, InvalidValue):
            return  # the sentinel does not keep the primary key; this version has no such value
        except TablewrightError as error:
            yield self._observed(Reading.FAILS, f"unique {name}: {error}")
            return
        if found is None:
            yield self._observed(Reading.MISSES, f"unique {name}: not found")
        elif arguments_of(self.entity.primary, vars(found)) != arguments:
            yield self._observed(Reading.OTHER_VALUES, f"unique {name}: another item")
        else:
            yield self._observed(Reading.COMPLETE, f"unique {name}")


def _sought(place: KeyMap, keys: Item | None) -> Item | None:
    """Return the keys of an item that queries of a place compare."""
    if keys is None:
        return None
    fixed = [name for name in place.sort_attributes if not place.templates[name].parts]
    return {name: value for name, value in keys.items() if name not in fixed}


def _without_null(value: Value | None) -> Value | None:
    return None if value == {"NULL": True} else value


# -- writing by turns ------------------------------------------------------------------------------


def write_by_turns(
    one: Side, other: Side, changes: list[DesignChange]
) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Let both versions create items, and update those of each other.

    Yield the name of each entity, the stored values that were written last, and the arguments of
    the primary key for both versions.
    """
    both = [*one.entities.values(), *other.entities.values()]
    events = {history.event.name for each in both for history in each.histories}
    for name in one.entities.keys() & other.entities.keys():
        entities = one.entities[name], other.entities[name]
        types = {each.type_name for each in entities}
        if types & unpaired(changes) or entities[0].is_write_once or name in events:
            continue
        for number, sides in ((0, (one, other)), (1, (other, one))):
            values = _create(sides[0], sides[0].entities[name], number)
            if values is None:
                continue
            arguments = arguments_of(sides[0].entities[name].primary, values)
            written = {}
            for turn, attribute in enumerate(_common(*entities), start=3):
                side = sides[turn % 2]
                own = side.entities[name]
                declared = own.attributes[attribute]
                value = value_of(
                    declared.converter.kind, f"{attribute}{number}", turn + 10 * number
                )
                change = getattr(own.type, attribute).set(value)
                with suppress(InvalidValue):  # of a key or an event, in this version alone
                    side.run(own.type.primary(*arguments).update(change))  # type: ignore[attr-defined]  # a key
                    written[attribute] = declared.store(value)
            yield name, written, arguments


def _common(one: EntityMap, other: EntityMap) -> list[str]:
    """Return the attributes that both versions declare alike, and that updates can change."""
    fixed = one.primary.depends_on | other.primary.depends_on
    described = [describe_entity(each).attributes for each in (one, other)]
    return [
        name
        for name, each in one.attributes.items()
        if name in other.attributes
        and each.stored == other.attributes[name].stored
        and name not in fixed
        and not each.role
        and not each.is_key_only
        and not each.is_immutable
        and described[0].get(each.stored) == described[1].get(each.stored)
    ]
