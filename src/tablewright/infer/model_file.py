"""Model files of NoSQL Workbench: their tables, indexes and rows, checked.

Files of version 1.0 to 3.0 have the same members; `docs/publishing.md` says which. Rows are in the
table or in its facets; a row may be in several facets.

Invariant: each row that is returned has its key and only declared attributes of their declared
types, no two rows have the same key, and every index key is declared. Any other file raises
`ModelFileRefused`, which names the file, the table and the row.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn, cast

from msgspec import Struct

from tablewright.encoding.items import normalise_item
from tablewright.errors import DeclarationError, DynamoDBError, ModelFileRefused
from tablewright.mapping.table_settings import Provisioned
from tablewright.schema import KeyAttribute, KeySchema, ProjectedAttributes, Throughput
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import SET_MEMBER, Item

VERSIONS = ("1.0", "2.0", "3.0")
_TAGS = frozenset({"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"})
_KEY_TAGS = frozenset({"S", "N", "B"})
_CONTENTS: dict[str, type] = {"S": str, "N": str, "B": str, "BOOL": bool, "NULL": bool, "M": dict}
_PROJECTIONS = ("ALL", "KEYS_ONLY", "INCLUDE")


class ModelTable(Struct, frozen=True):
    """A table of a model file, and its rows."""

    table: TableDescription
    #: The type of each attribute, those of the key first.
    types: dict[str, str]
    #: Each row once, and its place in the file.
    rows: tuple[tuple[str, Item], ...]


class ModelFile(Struct, frozen=True):
    """The contents of a model file."""

    file: str
    name: str
    tables: tuple[ModelTable, ...]
    #: The file without its rows: in their place are the keys of those in facets.
    frame: dict[str, Any]
    warnings: tuple[str, ...]


def row_key(row: Item, names: Iterable[str]) -> tuple[str, ...]:
    """Return the contents of the key attributes of a row, which identify it in a facet."""
    return tuple(str(next(iter(row[name].values()))) for name in names)


def is_json(file: Path) -> bool:
    """Return whether a file begins like JSON, and is not a database."""
    try:
        with file.open("rb") as opened:
            start = opened.read(64)
    except OSError:
        return False
    return start.removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"[")


def read_model(file: Path) -> ModelFile:
    """Return the contents of a model file; raise ModelFileRefused if it has a defect."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        document = json.loads(text, parse_constant=_refuse_constant)
    except OSError as error:
        raise ModelFileRefused(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ModelFileRefused(f"{file}: the file is not UTF-8 text") from None
    except RecursionError:
        raise ModelFileRefused(f"{file}: nested too deeply") from None
    except ValueError as error:
        raise ModelFileRefused(f"{file}: not valid JSON: {error}") from None
    where = _Where(str(file))
    if not isinstance(document, dict) or "DataModel" not in document:
        where.refuse(f"not a model of NoSQL Workbench, which has a DataModel{_likely(document)}")
    described = where.members(document, "DataModel")
    if not described:
        where.refuse("DataModel has no tables")
    read = [_TableReader(each, where, number) for number, each in enumerate(described, 1)]
    names = [each.found.table.name for each in read]
    for name in names:
        if names.count(name) > 1:
            where.refuse(f"two tables have the name {name!r}")
    metadata = where.member(document, "ModelMetadata", dict, {})
    version = metadata.get("Version")
    warnings = [warning for each in read for warning in each.warnings]
    if version not in (*VERSIONS, None):
        warnings.append(f"{file}: version {version} of the format is newer than {VERSIONS[-1]}")
    return ModelFile(
        str(file),
        where.member(document, "ModelName", str, file.stem),
        tuple(each.found for each in read),
        document | {"DataModel": [each.frame for each in read]},
        tuple(warnings),
    )


def _likely(document: Any) -> str:
    """Return what a file that is no model seems to be, and what to do with it."""
    members = document if isinstance(document, dict) else {}
    if "Resources" in members:
        return (
            "; it seems to be a CloudFormation template: `tablewright serve --from FILE` creates "
            "its tables"
        )
    if {"TableName", "KeySchema"} <= members.keys():
        return "; it seems to be a CreateTable request"
    return ""


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


class _Where(Struct, frozen=True):
    """A place in a file, for messages."""

    text: str

    def __call__(self, inner: str) -> _Where:
        return _Where(f"{self.text}: {inner}")

    def refuse(self, problem: str) -> NoReturn:
        raise ModelFileRefused(f"{self.text}: {problem}")

    def member(self, owner: Any, name: str, kind: type, default: Any = None) -> Any:
        """Return a member of an object, which must be of a type; without a default, required."""
        if not isinstance(owner, dict):
            self.refuse(f"{owner!r} is not an object")
        found = owner.get(name)
        if found is None:
            found = default
        if found is None:
            self.refuse(f"{name} is missing")
        if not isinstance(found, kind):
            self.refuse(f"{name} is {found!r}; it must be {_WORDS[kind]}")
        return found

    def members(self, owner: Any, name: str, default: Any = None) -> list[Any]:
        return cast("list[Any]", self.member(owner, name, list, default))

    def names(self, owner: Any, name: str) -> list[str]:
        """Return a member that is a list of names, or that is missing."""
        found = self.members(owner, name, [])
        for each in found:
            if not isinstance(each, str):
                self.refuse(f"{name} has {each!r}, which is not the name of an attribute")
        return found


_WORDS: dict[type, str] = {str: "a text", list: "a list", dict: "an object", int: "an integer"}


class _TableReader:
    """The table of a file, and what remains of it without its rows."""

    def __init__(self, described: Any, where: _Where, number: int) -> None:
        name = where(f"table {number}").member(described, "TableName", str)
        self.where = where(f"table {name}")
        self.described: dict[str, Any] = described
        self.warnings: list[str] = []
        keys = self._keys(described, self.where)
        self.types = {key.name: key.type for key in keys}
        for attribute in self.where.members(described, "NonKeyAttributes", []):
            self._declare(attribute)
        indexes = tuple(self._indexes())
        self.names = keys.names
        self.frame = dict(described)
        table = TableDescription(name, keys, indexes, self._throughput())
        self.found = ModelTable(table, self.types, tuple(self._rows()))

    def _attribute(self, attribute: Any, where: _Where, allowed: frozenset[str]) -> KeyAttribute:
        name = where.member(attribute, "AttributeName", str)
        tag = where.member(attribute, "AttributeType", str)
        if tag not in allowed:
            where.refuse(f"{name} has the type {tag!r}; use one of {', '.join(sorted(allowed))}")
        return KeyAttribute(name, tag)

    def _declare(self, attribute: Any) -> None:
        found = self._attribute(attribute, self.where, _TAGS)
        known = self.types.setdefault(found.name, found.type)
        if known != found.type:
            self.where.refuse(f"{found.name} is declared with the types {known} and {found.type}")

    def _keys(self, owner: Any, where: _Where) -> KeySchema:
        described = where.member(owner, "KeyAttributes", dict)
        partition = where.member(described, "PartitionKey", dict)
        sort = where.member(described, "SortKey", dict, {})
        return KeySchema(
            (self._attribute(partition, where, _KEY_TAGS),),
            (self._attribute(sort, where, _KEY_TAGS),) if sort else (),
        )

    def _indexes(self) -> Iterator[IndexDescription]:
        for index in self.where.members(self.described, "GlobalSecondaryIndexes", []):
            name = self.where.member(index, "IndexName", str)
            where = self.where(f"index {name}")
            keys = self._keys(index, where)
            for key in keys:
                if key.name not in self.types:
                    where.refuse(f"the key {key.name} is not one of the table's attributes")
                if self.types[key.name] != key.type:
                    where.refuse(
                        f"the key {key.name} has type {key.type}, and type {self.types[key.name]} "
                        "in the table"
                    )
            projection = where.member(index, "Projection", dict, {"ProjectionType": "ALL"})
            kind = where.member(projection, "ProjectionType", str)
            if kind not in _PROJECTIONS:
                where.refuse(f"{kind!r} is not a projection; use {', '.join(_PROJECTIONS)}")
            included = where.names(projection, "NonKeyAttributes")
            included = included if kind == "INCLUDE" else []
            yield IndexDescription(name, "global", keys, ProjectedAttributes(kind, tuple(included)))

    def _throughput(self) -> Throughput | None:
        """Return the provisioned capacity; None if the table is billed on demand."""
        if self.where.member(self.described, "BillingMode", str, "") != "PROVISIONED":
            return None
        settings = self.where.member(self.described, "ProvisionedCapacitySettings", dict, {})
        units = self.where.member(settings, "ProvisionedThroughput", dict, {})
        if not units:
            self.warnings.append(
                f"{self.where.text}: BillingMode is PROVISIONED, but there is no "
                "ProvisionedThroughput; in the design, the table is billed on demand"
            )
            return None
        found = {
            kind: self.where.member(units, f"{kind}CapacityUnits", int)
            for kind in ("Read", "Write")
        }
        try:
            Provisioned(read=found["Read"], write=found["Write"])
        except DeclarationError as error:
            self.where.refuse(str(error))
        return Throughput(found["Read"], found["Write"])

    # -- rows --------------------------------------------------------------------------------

    def _rows(self) -> Iterator[tuple[str, Item]]:
        """Yield each row once, and put keys in the places of rows."""
        facets = self.where.members(self.described, "TableFacets", [])
        known: dict[tuple[str, ...], Item] = {}
        if "TableData" in self.frame:
            rows = self.where.members(self.described, "TableData", [])
            self.frame["TableData"] = yield from self._list(rows, self.where, known)
            if not facets:  # all rows are here
                self.frame["TableData"] = []
        if facets:
            self.frame["TableFacets"] = []
        for facet in facets:
            where = self.where(f"facet {self.where.member(facet, 'FacetName', str)}")
            where.names(facet, "NonKeyAttributes")
            rows = where.members(facet, "TableData", [])
            keys = yield from self._list(rows, where, known)
            self.frame["TableFacets"].append(facet | {"TableData": keys})

    def _list(
        self, rows: list[Any], where: _Where, known: dict[tuple[str, ...], Item]
    ) -> Generator[tuple[str, Item], None, list[list[str]]]:
        """Yield the rows that are not known yet, and return the keys of all."""
        here: dict[tuple[str, ...], int] = {}
        keys = []
        for number, each in enumerate(rows, 1):
            place = where(f"row {number}")
            row = self._row(each, place)
            key = row_key(row, self.names)
            if key in here:
                place.refuse(f"has the same key as row {here[key]}: {self._shown(row)}")
            here[key] = number
            if known.setdefault(key, row) != row:
                place.refuse(f"another facet has a different row with this key: {self._shown(row)}")
            if known[key] is row:
                yield place.text, row
            keys.append(list(key))
        return keys

    def _row(self, row: Any, where: _Where) -> Item:
        if not isinstance(row, dict):
            where.refuse(f"{row!r} is not an object")
        found = {name: _value(value, where(name)) for name, value in row.items()}
        for name in self.names:
            if name not in found:
                where.refuse(f"the key attribute {name} is missing")
        where = where(self._shown(found))
        for name, value in found.items():
            (tag,) = value
            if name not in self.types:
                where.refuse(f"the attribute {name} is not declared in NonKeyAttributes")
            if tag != self.types[name]:
                where.refuse(f"{name} has type {tag}; it is declared as {self.types[name]}")
        try:
            return normalise_item(found)
        except DynamoDBError as fault:
            where.refuse(fault.message)

    def _shown(self, row: Item) -> str:
        return ", ".join(f"{name}={next(iter(row[name].values()))!r}" for name in self.names)


def _value(value: Any, where: _Where) -> Any:
    """Return a value; some files have the tag of a map twice: {"M": {"M": {…}}}."""
    if not isinstance(value, dict) or len(value) != 1 or not _TAGS.issuperset(value):
        where.refuse(f'{value!r} is not a value such as {{"S": "text"}}')
    tag: str
    content: Any
    ((tag, content),) = value.items()
    if not _is_content(tag, content):
        where.refuse(f"{content!r} is not the content of a value of type {tag}")
    if tag == "M":
        inner = content.get("M")
        if list(content) == ["M"] and isinstance(inner, dict) and not _TAGS.issuperset(inner):
            content = inner
        return {"M": {name: _value(each, where(name)) for name, each in content.items()}}
    if tag == "L":
        return {"L": [_value(each, where(f"[{n}]")) for n, each in enumerate(content)]}
    return value


def _is_content(tag: str, content: Any) -> bool:
    """Whether a content has the JSON type of its tag."""
    is_kind = isinstance(content, _CONTENTS.get(tag, list))
    return is_kind and (tag not in SET_MEMBER or all(isinstance(each, str) for each in content))
