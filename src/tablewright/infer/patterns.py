"""Patterns: an access pattern for each key and index of a draft, with checks and sample data.

The sample data is one item of each entity, the first one that is in most indexes. So each check
expects this item, and `tablewright verify` and `tablewright advise` run on the draft as on any
design. A key whose values have no literal gets a pattern, but no check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, get_args

from msgspec import Struct

from tablewright.infer.names import (
    can_write,
    names_in,
    quoted,
    snake_case,
    unused,
    wrap_call,
    write_assignment,
    write_call,
)
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.table import TableMap
from tablewright.values import Item

_TYPES = {each: each.__name__ for each in (str, int, bool, bytes, Decimal, datetime, date)}
#: Names that the functions of a module cannot have.
_TAKEN = frozenset({"access_pattern", "checks", "sample"})


class Functions(Struct):
    """The source of functions, and the names that it imports."""

    source: str
    names: set[str]


def write_patterns(table: TableMap, items: Iterable[Item]) -> Functions:
    """Return patterns for the keys of a table's entities, `sample` and `checks`."""
    writer = _Writer(table)
    best: dict[EntityMap, Item] = {}
    for item in items:
        entity = table.identify(item).stored
        if entity is not None and (
            entity not in best or _places(entity, item) > _places(entity, best[entity])
        ):
            best[entity] = item
    for entity in table.entities:
        if entity in best:
            writer.add(entity, best[entity])
    return Functions(writer.source(), writer.names)


def _places(entity: EntityMap, item: Item) -> int:
    return sum(all(name in item for name in key.templates) for key in entity.indexes)


class _Writer:
    def __init__(self, table: TableMap) -> None:
        self.table = table
        self.names = {"access_pattern", "Get", "Query"}
        self.taken = set(_TAKEN)
        self.functions: list[str] = []
        self.instances: list[str] = []
        self.checks: list[str] = []

    def add(self, entity: EntityMap, item: Item) -> None:
        """Add the patterns of an entity, and the checks that an item allows."""
        instance = vars(entity.decode(item))
        values = {
            name: value for name in entity.attributes if (value := instance[name]) is not None
        }
        has_sample = all(map(can_write, values.values()))
        if has_sample:
            self.names |= {name for value in values.values() for name in names_in(value)}
            self.instances.append(write_call(entity.name, values, "        ", ","))
        noun = snake_case(entity.name)
        primary = entity.primary
        parts = list(primary.parameters)
        wanted = [(f"get_{noun}", "Get", primary, "primary", parts)]
        if len(parts) > primary.partition_arity:
            listed = parts[: primary.partition_arity]
            wanted.append((f"{noun}_in_partition", "Query", primary, "primary.within", listed))
        for key in entity.indexes:
            place = key.name.rpartition(".")[2]
            parts = list(key.parameters[: key.partition_arity])
            wanted.append((f"{noun}_by_{place}", "Query", key, place, parts))
        for name, kind, key, call, arguments in wanted:
            pattern = self._pattern(name, kind, entity, call, arguments)
            if has_sample and all(attribute in item for attribute in key.templates):
                self._check(pattern, kind, entity, instance, arguments)

    def _pattern(
        self, name: str, kind: str, entity: EntityMap, call: str, parts: Sequence[KeyPart]
    ) -> str:
        """Add a pattern, and return its name."""
        name = unused(name, self.taken)
        self.taken.add(name)
        arguments: list[str] = []
        for part in parts:
            arguments.append(unused(part.attribute, arguments))
        typed = [
            f"{argument}: {self._type(part)}"
            for argument, part in zip(arguments, parts, strict=True)
        ]
        head = wrap_call(f"def {name}", typed, end=f" -> {kind}[{entity.name}]:")
        body = wrap_call(f"return {entity.name}.{call}", arguments, "    ")
        self.functions.append(f"@access_pattern\n{head}\n{body}")
        return name

    def _type(self, part: KeyPart) -> str:
        kinds = [each for each in get_args(part.notation.kind) if each is not type(None)]
        found = _TYPES.get(kinds[0] if len(kinds) == 1 else part.notation.kind, "Any")
        self.names |= {found} - {"str", "int", "bool", "bytes"}
        return found

    def _check(
        self,
        pattern: str,
        kind: str,
        entity: EntityMap,
        instance: dict[str, Any],
        parts: Sequence[KeyPart],
    ) -> None:
        values = [part.argument(instance[part.attribute]) for part in parts]
        if not all(map(can_write, values)):
            return
        self.names |= {name for value in values for name in names_in(value)}
        shown = [write_assignment("", value) for value in values]
        plan = wrap_call(pattern, shown, "        ", ",").strip().removesuffix(",")
        first = f"stored({entity.name})[0]"
        expected = first if kind == "Get" else f"[{first}]"
        name = quoted(pattern.replace("_", " ").capitalize())
        self.checks.append(wrap_call("yield Check", [name, plan, expected], "    "))

    def source(self) -> str:
        """Return the functions of the module."""
        return (
            "\n\n\n".join(
                [
                    *self.functions,
                    "\n".join(
                        [
                            "def sample() -> list[Entity]:",
                            '    """Return one item of each entity, from the table."""',
                            *(
                                ["    return [", *self.instances, "    ]"]
                                if self.instances
                                else ["    return []"]
                            ),
                        ]
                    ),
                    "\n".join(
                        [
                            "def checks(stored: Stored) -> Iterator[Check]:",
                            '    """Run each pattern for the item of its entity."""',
                            *(self.checks or ["    yield from ()"]),
                        ]
                    ),
                ]
            )
            + "\n"
        )
