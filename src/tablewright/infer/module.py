"""Modules: the source of a design, as a person would write it.

Invariants: texts of the table appear only as literals, names only as `names` makes them; the text
is formatted as ruff does at its default width of 88 columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from tablewright import formats
from tablewright.infer.declaration import (
    InferredAttribute,
    InferredDesign,
    InferredEntity,
    InferredPath,
    InferredPlace,
    InferredUnique,
    InferredVariant,
)
from tablewright.infer.names import VERSIONS, WIDTH, keywords, quoted, snake_case, unused, wrap_call
from tablewright.schema import Throughput
from tablewright.table_description import IndexDescription

#: The names that a module can use, by the module that has them, in the order of imports.
_STANDARD = {
    "collections.abc": ["Iterator"],
    "datetime": ["UTC", "date", "datetime"],
    "decimal": ["Decimal"],
    "typing": ["Any"],
}
_OWN = {
    "tablewright": [
        *("GSI", "LSI", "Attr", "Entity", "Get", "Provisioned", "Query", "Table"),
        *("access_pattern", "attr", "index", "key", "ttl", "unique"),
    ],
    "tablewright.formats": formats.__all__,
    "tablewright.verify": ["Check", "Stored"],
}


def write_module(design: InferredDesign, functions: str = "", names: Collection[str] = ()) -> str:
    """Return the source of a design, with functions that use these names."""
    count = len(design.sample.items)
    read = design.sample.read
    items = f"{count} of {read} items" if read > count else f"{count} item{'s'[: count - 1]}"
    summary = f"{design.sample.table.name}: a first design, inferred from {items}."
    return join_module(summary, write_classes(design), functions, names)


class Classes(Struct, frozen=True):
    """The source of classes, and the names that it imports."""

    source: str
    names: frozenset[str]


def write_classes(*designs: InferredDesign) -> Classes:
    """Return the classes of tables and their entities."""
    writers = [_ClassWriter(design) for design in designs]
    source = "\n\n".join("\n\n\n".join(writer.classes()) + "\n" for writer in writers)
    return Classes(source, frozenset[str]().union(*(writer.names for writer in writers)))


def join_module(
    summary: str, classes: Classes, functions: str = "", names: Collection[str] = ()
) -> str:
    """Return a module: its docstring, imports and classes, and functions for `verify`.

    `names` are the types of the standard library that the functions use.
    """
    used = {*classes.names, *names}
    text = classes.source
    if functions:
        used |= {"Check", "Iterator", "Stored"}
        text = f"{text}\n\n{functions}"
    return "\n".join([f'"""{summary}"""', "", *_imports(used), "", "", text])


def _imports(used: Collection[str]) -> Iterator[str]:
    yield "from __future__ import annotations\n"
    standard, own = (
        [
            _import(module, names)
            for module, known in modules.items()
            if (names := [name for name in known if name in used])
        ]
        for modules in (_STANDARD, _OWN)
    )
    if standard:
        yield "\n".join(standard) + "\n"
    yield from own


def _import(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


class _ClassWriter:
    """Writes the classes of a design, and collects the names that they import."""

    def __init__(self, design: InferredDesign) -> None:
        self.design = design
        #: The name of each index in the class of the table.
        self.indexes: dict[str, str] = {}
        for index in design.sample.table.indexes:
            self.indexes[index.name] = unused(snake_case(index.name), self.indexes.values())
        self.names = {"Attr", "Entity", "Table"}

    def classes(self) -> Iterator[str]:
        yield self._table()
        yield from map(self._entity, self.design.entities)

    def _use(self, name: str) -> str:
        """Return the name of a function or class, which is then imported."""
        self.names.add(name)
        return name

    def _table(self) -> str:
        design = self.design
        table = design.sample.table
        arguments = keywords(
            {
                "name": (table.name, design.name),
                "pk": (table.keys.partition[0].name, "PK"),
                "sk": (table.keys.sort[0].name if table.keys.sort else None, "SK"),
                "type_attribute": (design.type_attribute, "type"),
                "type_form": (design.type_form, "text"),
                "delimiter": (design.separator, "#"),
                "escape": (design.delimiter is not None and design.delimiter.escapes, True),
            }
        )
        if table.throughput is not None:
            arguments.append(self._billing(table.throughput))
        lines = [wrap_call(f"class {design.name}", ["Table", *arguments], end=":")]
        lines += [self._index(index) for index in table.indexes]
        lines += ["    pass"] * (len(lines) == 1)
        return "\n".join(lines)

    def _billing(self, capacity: Throughput) -> str:
        return f"billing={self._use('Provisioned')}(read={capacity.read}, write={capacity.write})"

    def _index(self, index: IndexDescription) -> str:
        name = self.indexes[index.name]
        sides = [index.keys.sort] if index.is_local else [index.keys.partition, index.keys.sort]
        arguments = [_tuple([quoted(key.name) for key in side]) for side in sides if side]
        kept = index.projection
        project = kept.include if kept.type == "INCLUDE" else kept.type
        arguments += keywords({"name": (index.name, name), "project": (project, "ALL")})
        if index.throughput is not None and index.throughput != self.design.sample.table.throughput:
            arguments.append(self._billing(index.throughput))
        kind = self._use("LSI" if index.is_local else "GSI")
        return wrap_call(f"{name} = {kind}", arguments, "    ")

    def _entity(self, entity: InferredEntity) -> str:
        options = {
            "variants": (bool(entity.variants), False),
            "type_name": (entity.type_name or entity.name, entity.name),
        }
        arguments = ["Entity", f"table={self.design.name}", *keywords(options)]
        lines = [wrap_call(f"class {entity.name}", arguments, end=":")]
        if entity.is_guessed:
            lines.append("    # The name is a guess: nothing in the items says what they are.")
        in_key = [part.attribute for path in entity.paths for part in path.parts]
        first = list(dict.fromkeys(in_key))
        others = sorted(
            (a for a in entity.attributes if a not in first), key=lambda each: each.name
        )
        lines += [self._attribute(each) for each in (*first, *others)]
        lines += [
            f"    # {each.name} can be a version(), if each write of an item increments it."
            for each in others
            if each.name in VERSIONS and each.kind.source == "int"
        ]
        lines += [
            f"    # {quoted(each)} is a name that a design cannot declare."
            for each in entity.undeclared
        ]
        lines += [""] * (len(lines) > 1)
        lines.append(self._key(entity))
        taken = {attribute.name for attribute in entity.attributes} | {"primary"}
        for place in entity.places:
            name = unused(self.indexes[place.index.name], taken)
            taken.add(name)
            if any(part.attribute.index for path in place.paths for part in path.parts):
                lines.append("    # Nothing else in an item says whether it is in this index.")
            lines.append(self._place(place, name, entity))
        for unique in entity.uniques:
            name = unused(f"unique_{unique.attribute.name}", taken)
            taken.add(name)
            lines.append(self._unique(unique, name))
        for index, keys in entity.shared.items():
            where, shown = self.indexes[index], ", ".join(map(quoted, keys))
            lines.append(f"    # Items are in {where}, too; it shares the key {shown}.")
        return "\n\n\n".join(
            ["\n".join(lines), *(self._variant(v, entity) for v in entity.variants)]
        )

    def _variant(self, variant: InferredVariant, entity: InferredEntity) -> str:
        options = keywords({"type_name": (variant.type_name, variant.name)})
        lines = [wrap_call(f"class {variant.name}", [entity.name, *options], end=":")]
        for attribute, stored in variant.stored_names:
            arguments, function = keywords({"name": (stored, "")}), self._use("attr")
            start = f"{attribute.name}: Attr[{attribute.kind.source}] = {function}"
            lines.append(wrap_call(start, arguments, "    "))
        lines += map(self._attribute, sorted(variant.attributes, key=lambda each: each.name))
        return "\n".join([*lines, *(["    pass"] if len(lines) == 1 else [])])

    def _attribute(self, attribute: InferredAttribute) -> str:
        kind = attribute.kind.source
        stored = attribute.name if attribute.is_key_only else attribute.stored
        arguments = keywords(
            {
                "key_only": (attribute.is_key_only and not attribute.is_in_variants, False),
                "name": (stored, attribute.name),
            }
        )
        if attribute.is_optional:
            kind = kind if kind == "Any" else f"{kind} | None"
            arguments.append("default=None")
        function = self._use("ttl" if attribute.is_ttl else "attr")
        self.names |= attribute.kind.names
        return wrap_call(f"{attribute.name}: Attr[{kind}] = {function}", arguments, "    ")

    def _key(self, entity: InferredEntity) -> str:
        seen: set[str] = set()
        arguments = [self._path(path, entity.delimiter, seen) for path in entity.paths]
        arguments += keywords({"delimiter": (entity.delimiter, None)})
        return wrap_call(f"primary = {self._use('key')}", arguments, "    ")

    def _place(self, place: InferredPlace, name: str, entity: InferredEntity) -> str:
        seen: set[str] = set()
        where = f"{self.design.name}.{self.indexes[place.index.name]}"
        when = [] if place.when is None else [f"when={place.when.source}"]
        if place.index.is_local:
            self._path(place.partition[0], entity.delimiter, seen)
            sort = self._path(place.sort[0], entity.delimiter, seen)
            return wrap_call(f"{name} = primary.local", [where, sort, *when], "    ")
        if _is_swapped(place, entity):
            return wrap_call(f"{name} = primary.swapped", [where], "    ")
        sides = [place.partition]
        if place.sort and place.sort[0].key.name != self.design.type_attribute:
            sides.append(place.sort)
        paths = [[self._path(each, place.delimiter, seen) for each in side] for side in sides]
        delimiter = keywords({"delimiter": (place.delimiter, None)})
        arguments = [where, *map(_tuple, paths), *when, *delimiter]
        return wrap_call(f"{name} = {self._use('index')}", arguments, "    ")

    def _unique(self, unique: InferredUnique, name: str) -> str:
        paths = [self._path(path, None, set()) for path in unique.paths]
        if len(paths) == 2 and paths[0] == paths[1]:
            del paths[1]
        kept = [each.name for each in unique.keep]
        keep = f"keep=({', '.join(kept)}{',' * (len(kept) == 1)})"
        options = [keep, *keywords({"type_name": (unique.type_name, None)})]
        return wrap_call(f"{name} = {self._use('unique')}", [*paths, *options], "    ")

    def _path(self, path: InferredPath, other: str | None, seen: set[str]) -> str:
        """Return the expression of a key attribute; `seen` are the parts that the key has."""
        if path.key.type == "N" and isinstance(path.elements[0], str):
            return path.elements[0]
        delimiter = self.design.separator
        glue = "/" if other is None else "+"
        expression = ""
        is_sum = False
        pending: str | None = None  # a literal that the next part follows

        def add(operator: str, operand: str) -> None:
            nonlocal expression, is_sum
            if not expression:
                expression = operand
                return
            left = f"({expression})" if operator == "/" and is_sum else expression
            expression = f"{left} {operator} {operand}"
            is_sum = operator == "+"

        for number, element in enumerate(path.elements):
            is_last = number == len(path.elements) - 1
            if isinstance(element, str):
                pending = element
                if is_last:
                    if not expression:
                        expression = quoted(element)
                    elif element and glue == "/":
                        add("/", quoted(element))
                    else:
                        add("+", quoted(delimiter + element))
                continue
            source = element.source
            self.names.update(element.spelling.names)
            source = f"{source}.again" if source in seen else source
            seen.add(element.source)
            if element.prefix or glue == "+":
                before = pending + delimiter if pending is not None else ""
                literal = before + element.prefix
                if literal:
                    add(glue, quoted(literal))
                add("+" if literal else glue, source)
            else:
                if pending is not None:
                    add("/", quoted(pending))
                add("/", source)
            pending = None
        return expression


def _tuple(sources: Sequence[str]) -> str:
    return sources[0] if len(sources) == 1 else f"({', '.join(sources)})"


def _is_swapped(place: InferredPlace, entity: InferredEntity) -> bool:
    """Whether the index has the keys of the table, the sort key first, and no part is repeated."""
    sources = [part.source for path in entity.paths for part in path.parts]
    has_own_keys = len(entity.paths) == 2 and place.paths == entity.paths[::-1]
    return has_own_keys and len(set(sources)) == len(sources)
