"""The tables of the corpus: read from the files `*.txt`, and filled with items.

A file describes tables, each by lines with a word and the rest:

    table   name, then its key attributes
    source  where the design was published
    index   name and key attributes (`local` before them for a local index)
    type    the type attribute; `undeclared` if it does not distinguish the forms of keys
    ttl     the attribute with the time of expiry
    entity  name and weight; `type=` its type, `unique=Owner` for sentinels of an owner's value,
            `of=Base` for variants of one entity
    has     its attributes, `name=kind`; `-name` is not stored, `name?` is missing in some items
    NAME    the template of a key attribute; `NAME[a=x]` only for items whose attribute has the
            value, `NAME[a]` only for those that have it

All values follow from the name of the table, so that a failure repeats. One item in a hundred is
irregular: see `_spoil`.
"""

from __future__ import annotations

import random
import re
import string
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import Struct

from tablewright.schema import KeyAttribute, KeySchema
from tablewright.table_description import IndexDescription, TableDescription
from tablewright.values import Item, Value

FILES = sorted(Path(__file__).parent.glob("*.txt"))
#: One item in so many is irregular.
IRREGULAR = 100
_FIRST = ["ann", "bob", "cleo", "dan", "eva", "finn", "gus", "hana", "ivo", "jana", "karl", "lea"]
_NOUNS = [
    "lamp",
    "table",
    "chair",
    "river",
    "stone",
    "cloud",
    "engine",
    "paper",
    "garden",
    "market",
]
_LETTERS = string.ascii_uppercase + string.digits
_PART = re.compile(r"\{([^}]*)\}")


class EntityTemplate(Struct):
    """An entity of the corpus."""

    name: str
    weight: int
    options: dict[str, str]
    kinds: dict[str, str] = {}
    #: The attribute, the condition on another attribute, and the template.
    keys: list[tuple[str, str, str]] = []

    @property
    def boundary(self) -> str:
        """The name of the entity that a draft must have; variants have one."""
        return self.options.get("of", self.name)


class CorpusTable(Struct):
    """A table of the corpus."""

    name: str
    keys: list[str]
    source: str = ""
    indexes: list[list[str]] = []
    type: str | None = None
    #: Whether a draft must declare the type attribute.
    is_typed: bool = True
    ttl: str | None = None
    entities: list[EntityTemplate] = []

    def description(self) -> TableDescription:
        return TableDescription(
            self.name,
            self._schema(self.keys),
            tuple(self._index(each) for each in self.indexes),
            ttl=self.ttl,
        )

    def _index(self, words: list[str]) -> IndexDescription:
        name, *keys = words
        if keys[0] == "local":
            return IndexDescription(name, "local", self._schema([self.keys[0], *keys[1:]]))
        return IndexDescription(name, "global", self._schema(keys))

    def _schema(self, names: list[str]) -> KeySchema:
        first, *rest = (KeyAttribute(*f"{each}:S".split(":")[:2]) for each in names)
        return KeySchema((first,), tuple(rest))


def read_tables(file: Path) -> list[CorpusTable]:
    """Return the tables that a file describes."""
    tables: list[CorpusTable] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words or words[0] == "//":
            continue
        word, *rest = words
        if word == "table":
            tables.append(CorpusTable(rest[0], rest[1:]))
            continue
        table = tables[-1]
        match word:
            case "source":
                table.source = " ".join(rest)
            case "index":
                table.indexes.append(rest)
            case "type":
                table.type, table.is_typed = rest[0], "undeclared" not in rest
            case "ttl":
                table.ttl = rest[0]
            case "entity":
                options = dict(each.split("=") for each in rest[2:])
                table.entities.append(EntityTemplate(rest[0], int(rest[1]), options))
            case "has":
                table.entities[-1].kinds |= dict(each.split("=", 1) for each in rest)
            case _:
                name, _, condition = word.partition("[")
                found = (name, condition.removesuffix("]"), " ".join(rest))
                table.entities[-1].keys.append(found)
    return tables


class Row(Struct):
    """An item, and the entity that it is of; None for an irregular item."""

    item: Item
    entity: EntityTemplate | None


def rows(table: CorpusTable, count: int) -> list[Row]:
    """Return the items of a table, each with another key; some are irregular."""
    maker = _Maker(table, count)
    plain = [each for each in table.entities if "unique" not in each.options]
    sentinels = [each for each in table.entities if "unique" in each.options]
    found: dict[str, Row] = {}
    weights = [each.weight for each in plain]
    total = sum(each.weight for each in table.entities)
    for entity in maker.random.choices(plain, weights, k=count * sum(weights) // total):
        values = maker.values(entity)
        row = maker.row(entity, values)
        own = [maker.row(e, values) for e in sentinels if e.options["unique"] == entity.name]
        places = {maker.place(each.item): each for each in (row, *own)}
        if found.keys().isdisjoint(places):
            found |= places
    made_rows = list(found.values())
    for number in range(IRREGULAR // 2, len(made_rows), IRREGULAR):
        spoiled = maker.spoil(made_rows[number].item, number // IRREGULAR)
        made_rows[number] = Row(spoiled, None)
    maker.random.shuffle(made_rows)
    return list({maker.place(row.item): row for row in made_rows}.values())


class _Maker:
    def __init__(self, table: CorpusTable, count: int) -> None:
        self.table = table
        self.count = count
        self.random = random.Random(table.name)
        self.pools: dict[str, list[Any]] = {}
        described = table.description()
        self.key_names = list(described.keys.names)
        #: The types of all key attributes, by name.
        schemas = (described.keys, *(index.keys for index in described.indexes))
        self.types = {key.name: key.type for keys in schemas for key in keys}

    def place(self, item: Item) -> str:
        return str([item[name] for name in self.key_names])

    def values(self, entity: EntityTemplate) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, kind in entity.kinds.items():
            optional = name.endswith("?")
            if not (optional and self.random.random() < 0.5):
                found[name.removesuffix("?")] = self._value(kind)
        return found

    def row(self, entity: EntityTemplate, values: dict[str, Any]) -> Row:
        own = {name.removesuffix("?") for name in entity.kinds}
        stored = {n: v for n, v in values.items() if n in own and not n.startswith("-")}
        item = {name: _encode(value) for name, value in stored.items()}
        for name, condition, template in entity.keys:
            wanted, _, content = condition.partition("=")
            if wanted and (wanted not in values or (content and str(values[wanted]) != content)):
                continue
            text = _PART.sub(lambda part: _text(values, part[1]), template)
            if "\0" not in text:
                item[name] = {self.types.get(name, "S"): text}
        if self.table.type and entity.options.get("type") != "none":
            item[self.table.type] = {"S": entity.options.get("type", entity.name)}
        return Row(item, entity)

    def spoil(self, item: Item, number: int) -> Item:
        """Return an irregular item, as programs with errors and people at consoles leave them."""
        keys = [name for name in self.types if name in item and name not in self.key_names]
        others = [n for n in sorted(item) if n not in {*self.key_names, *keys, self.table.type}]
        spoiled = dict(item)
        match number % 7:
            case 0 if keys:  # not in one of its indexes
                del spoiled[self.random.choice(keys)]
            case 1 if keys and "S" in item[keys[0]]:  # an index key that was not updated
                spoiled[keys[-1]] = {"S": item[keys[-1]].get("S", "") + "9"}
            case 2 if self.table.type in item:
                del spoiled[self.table.type]
            case 3 if others:  # an attribute of another type
                name = self.random.choice(others)
                spoiled[name] = {"S": "n/a"} if "N" in item[name] else {"N": "0"}
            case 4 if others:
                del spoiled[self.random.choice(others)]
            case 5 if len(self.key_names) > 1 and "S" in item[self.key_names[1]]:
                spoiled[self.key_names[1]] = {"S": item[self.key_names[1]]["S"] + "#copy#1"}
            case _:
                spoiled = {
                    name: {"S": f"tmp-{number}"}
                    if self.types[name] == "S"
                    else {self.types[name]: "1"}
                    for name in self.key_names
                } | {"note": {"S": "delete me"}}
        return spoiled

    def _value(self, kind: str) -> Any:
        kind, _, size = kind.partition("*")
        if size:
            if kind not in self.pools:
                limit = max(3, self.count // int(size))
                self.pools[kind] = [self._value(kind) for _ in range(limit)]
            return self.random.choice(self.pools[kind])
        name, _, argument = kind.partition(":")
        make = self.random
        moment = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=make.randrange(40_000_000))
        match name:
            case "user":
                return make.choice(_FIRST) + str(make.randrange(100_000))
            case "slug":
                return f"{make.choice(_NOUNS)}-{make.choice(_NOUNS)}-{make.randrange(10_000)}"
            case "title":
                noun = make.choice(_NOUNS).capitalize()
                return f"{noun} {make.choice(_NOUNS)} {make.randrange(999)}"
            case "email":
                return f"{self._value('user')}@example.com"
            case "Email":
                return f"{self._value('user').capitalize()}@Example.com"
            case "uuid":
                return str(uuid.UUID(int=make.getrandbits(128), version=4))
            case "ulid" | "ksuid":
                length = 26 if name == "ulid" else 27
                return "01" + "".join(make.choices(_LETTERS, k=length - 2))
            case "id":
                return f"{argument}{make.randrange(10**6)}"
            case "digits":
                return str(make.randrange(10 ** (int(argument) - 1), 10 ** int(argument)))
            case "int":
                low, high = argument.split("-")
                return make.randint(int(low), int(high))
            case "decimal":
                return Decimal(make.randrange(100, 100_000)) / 100
            case "bool":
                return make.random() < 0.5
            case "yes":
                return True
            case "one":
                return make.choice(argument.split("|"))
            case "iso":
                micros = make.randrange(1_000_000)
                return moment.replace(microsecond=micros).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            case "millis":
                return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{make.randrange(1000):03}Z"
            case "seconds":
                return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
            case "naive":
                return moment.strftime("%Y-%m-%dT%H:%M:%S")
            case "date":
                return moment.strftime("%Y-%m-%d")
            case "epoch":
                return int(moment.timestamp())
            case "map":
                inner = dict(each.split("/") for each in argument.split(","))
                return {key: self._value(each) for key, each in inner.items()}
            case "list":
                return [self._value(argument) for _ in range(make.randrange(3))]
            case "set":
                return {self._value(argument) for _ in range(2)}
        raise ValueError(f"{self.table.name}: {kind!r} is not a kind of value")


def _text(values: dict[str, Any], part: str) -> str:
    """Return the text of a part, `name|format` or `name.member`; a zero byte without its value."""
    name, _, how = part.partition("|")
    value: Any = values
    for step in name.split("."):
        if step not in value:
            return "\0"
        value = value[step]
    text = str(value)
    if how.startswith("pad"):
        return text.zfill(int(how.removeprefix("pad")))
    if how == "epoch":
        return str(int(datetime.fromisoformat(text).timestamp()))
    return {"lower": text.lower(), "upper": text.upper(), "": text}[how]


def _encode(value: Any) -> Value:
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, (int, Decimal)):
        return {"N": str(value)}
    if isinstance(value, dict):
        return {"M": {key: _encode(each) for key, each in value.items()}}
    if isinstance(value, list):
        return {"L": [_encode(each) for each in value]}
    if isinstance(value, set):
        return {"SS": sorted(value)}
    return {"S": value}
