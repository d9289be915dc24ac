"""Modules: the source of a design, as a person would write it.

Invariants: texts of the table appear only as literals, names only as `names` makes them; the text
is formatted as ruff does at its default width of 88 columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from tablewright import formats
from tablewright.infer.declaration import (
    Attribute,
    InferredEntity,
    InferredPath,
    InferredVariant,
    Place,
)
from tablewright.infer.design import InferredDesign
from tablewright.infer.literals import WIDTH, wrap_call
from tablewright.infer.names import quoted, snake_case, unused
from tablewright.schema import Throughput
from tablewright.table_description import IndexDescription

_NAMES = ("GSI", "LSI", "Attr", "Entity", "Provisioned", "Table", "attr", "index", "key", "ttl")


def write_module(design: InferredDesign) -> str:
    """Return the source of a design."""
    count = len(design.sample.items)
    summary = (
        f"{design.sample.table.name}: a first design, inferred from {count} item{'s'[: count - 1]}."
    )
    return join_module(summary, declarations(design))


def declarations(design: InferredDesign) -> str:
    """Return the classes of a table and its entities."""
    indexes = _index_names(design)
    body = [_table(design, indexes), *(_entity(each, design, indexes) for each in design.entities)]
    return "\n\n\n".join(body) + "\n"


def join_module(
    summary: str, classes: str, functions: str = "", names: Collection[str] = ()
) -> str:
    """Return a module: its docstring, imports and classes, and functions for `verify`.

    `names` are the types of the standard library that the functions use.
    """
    text = f"{classes}\n\n{functions}" if functions else classes
    head = [f'"""{summary}"""', "", *_imports(classes, names, is_verified=bool(functions))]
    return "\n".join([*head, "", "", text])


def _imports(text: str, names: Collection[str], *, is_verified: bool) -> Iterator[str]:
    yield "from __future__ import annotations\n"
    kinds = set(re.findall(r"\w+", " ".join(re.findall(r"Attr\[(.*)\] =", text)))) | set(names)
    standard = []
    if is_verified:
        standard.append(_import("collections.abc", ["Iterator"]))
    moments = [name for name in ("UTC", "date", "datetime") if name in kinds]
    if moments:
        standard.append(_import("datetime", moments))
    if "Decimal" in kinds:
        standard.append(_import("decimal", ["Decimal"]))
    if "Any" in kinds:
        standard.append(_import("typing", ["Any"]))
    if standard:
        yield "\n".join(standard) + "\n"
    calls = set(re.findall(r"(?<![\w.])(\w+)\(", text))
    ours = [name for name in _NAMES if name in calls or name in ("Attr", "Entity", "Table")]
    yield _import("tablewright", ours)
    used = [name for name in formats.__all__ if name in calls]
    if used:
        yield _import("tablewright.formats", used)
    if is_verified:
        yield _import("tablewright.verify", ["Check", "Stored"])


def _import(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


# -- the table -----------------------------------------------------------------------------------


def _index_names(design: InferredDesign) -> dict[str, str]:
    """Return the name of each index in the class of the table."""
    names: dict[str, str] = {}
    for index in design.sample.table.indexes:
        names[index.name] = unused(snake_case(index.name), names.values())
    return names


def _table(design: InferredDesign, names: dict[str, str]) -> str:
    table = design.sample.table
    arguments = ["Table"]
    if design.name != table.name:
        arguments.append(f"name={quoted(table.name)}")
    partition, sort = (
        table.keys.names[0],
        table.keys.sort[0].name if table.keys.sort else None,
    )
    if partition != "PK":
        arguments.append(f"pk={quoted(partition)}")
    if sort != "SK":
        arguments.append(f"sk={None if sort is None else quoted(sort)}")
    if design.type_attribute != "type":
        shown = None if design.type_attribute is None else quoted(design.type_attribute)
        arguments.append(f"type_attribute={shown}")
    if design.type_form != "text":
        arguments.append(f"type_form={quoted(design.type_form)}")
    if design.delimiter is not None and design.delimiter.text != "#":
        arguments.append(f"delimiter={quoted(design.delimiter.text)}")
    if design.delimiter is None or not design.delimiter.escapes:
        arguments.append("escape=False")
    if table.throughput is not None:
        arguments.append(_billing(table.throughput))
    lines = [wrap_call(f"class {design.name}", arguments, end=":")]
    lines += [_index(index, names[index.name], table.throughput) for index in table.indexes]
    lines += ["    pass"] * (len(lines) == 1)
    return "\n".join(lines)


def _billing(capacity: Throughput) -> str:
    return f"billing=Provisioned(read={capacity.read}, write={capacity.write})"


def _index(index: IndexDescription, name: str, of_table: Throughput | None) -> str:
    sides = [index.keys.sort] if index.is_local else [index.keys.partition, index.keys.sort]
    arguments = [_tuple([quoted(key.name) for key in side]) for side in sides if side]
    if name != index.name:
        arguments.append(f"name={quoted(index.name)}")
    projected = index.projection.include
    if index.projection.type == "INCLUDE":
        included = ", ".join(map(quoted, projected))
        arguments.append(f"project=({included}{',' * (len(projected) == 1)})")
    elif index.projection.type != "ALL":
        arguments.append(f"project={quoted(index.projection.type)}")
    if index.throughput is not None and index.throughput != of_table:
        arguments.append(_billing(index.throughput))
    return wrap_call(f"{name} = {'LSI' if index.is_local else 'GSI'}", arguments, "    ")


def _tuple(sources: Sequence[str]) -> str:
    return sources[0] if len(sources) == 1 else f"({', '.join(sources)})"


# -- entities ------------------------------------------------------------------------------------


def _entity(entity: InferredEntity, design: InferredDesign, names: dict[str, str]) -> str:
    arguments = ["Entity", f"table={design.name}"]
    if entity.variants:
        arguments.append("variants=True")
    if entity.type_name is not None and entity.type_name != entity.name:
        arguments.append(f"type_name={quoted(entity.type_name)}")
    lines = [wrap_call(f"class {entity.name}", arguments, end=":")]
    in_key = [use.attribute for path in entity.paths for use in path.uses]
    first = list(dict.fromkeys(in_key))
    others = sorted((a for a in entity.attributes if a not in first), key=lambda each: each.name)
    lines += [_attribute(each) for each in (*first, *others)]
    lines += [
        f"    # {quoted(each)} is a name that a design cannot declare."
        for each in entity.undeclared
    ]
    lines += [""] * (len(lines) > 1)
    lines.append(_key(entity, design))
    taken = {attribute.name for attribute in entity.attributes} | {"primary"}
    for place in entity.places:
        name = unused(names[place.index.name], taken)
        taken.add(name)
        if any(use.attribute.index for path in place.paths for use in path.uses):
            lines.append("    # Nothing else in an item says whether it is in this index.")
        lines.append(_place(place, name, names[place.index.name], entity, design))
    lines += [
        f"    # Items are in {names[index]}, too; it shares the key {', '.join(map(quoted, keys))}."
        for index, keys in entity.shared.items()
    ]
    return "\n\n\n".join(["\n".join(lines), *(_variant(v, entity) for v in entity.variants)])


def _variant(variant: InferredVariant, entity: InferredEntity) -> str:
    arguments = [entity.name]
    if variant.type_name != variant.name:
        arguments.append(f"type_name={quoted(variant.type_name)}")
    lines = [wrap_call(f"class {variant.name}", arguments, end=":")]
    lines += map(_attribute, sorted(variant.attributes, key=lambda each: each.name))
    return "\n".join([*lines, *(["    pass"] if len(lines) == 1 else [])])


def _attribute(attribute: Attribute) -> str:
    kind = attribute.kind.source
    arguments = []
    if attribute.is_key_only:
        arguments.append("key_only=True")
    elif attribute.name != attribute.stored:
        arguments.append(f"name={quoted(attribute.stored)}")
    if attribute.is_optional:
        kind = kind if kind == "Any" else f"{kind} | None"
        arguments.append("default=None")
    function = "ttl" if attribute.is_ttl else "attr"
    return wrap_call(f"{attribute.name}: Attr[{kind}] = {function}", arguments, "    ")


def _key(entity: InferredEntity, design: InferredDesign) -> str:
    seen: set[str] = set()
    arguments = [_path(path, design, entity.delimiter, seen) for path in entity.paths]
    return wrap_call("primary = key", [*arguments, *_delimiter(entity.delimiter)], "    ")


def _place(
    place: Place, name: str, index: str, entity: InferredEntity, design: InferredDesign
) -> str:
    seen: set[str] = set()
    where = f"{design.name}.{index}"
    when = [] if place.when is None else [f"when={place.when.source}"]
    if place.index.is_local:
        _path(place.partition[0], design, entity.delimiter, seen)
        sort = _path(place.sort[0], design, entity.delimiter, seen)
        return wrap_call(f"{name} = primary.local", [where, sort, *when], "    ")
    if _is_swapped(place, entity):
        return wrap_call(f"{name} = primary.swapped", [where], "    ")
    sides = [place.partition]
    if place.sort and place.sort[0].key.name != design.type_attribute:
        sides.append(place.sort)
    paths = [[_path(each, design, place.delimiter, seen) for each in side] for side in sides]
    arguments = [where, *map(_tuple, paths), *when, *_delimiter(place.delimiter)]
    return wrap_call(f"{name} = index", arguments, "    ")


def _is_swapped(place: Place, entity: InferredEntity) -> bool:
    """Whether the index has the keys of the table, the sort key first, and no part is repeated."""
    sources = [use.source for path in entity.paths for use in path.uses]
    has_own_keys = place.paths == [entity.sort, entity.partition]
    return has_own_keys and len(set(sources)) == len(sources)


def _delimiter(delimiter: str | None) -> list[str]:
    return [] if delimiter is None else [f"delimiter={quoted(delimiter)}"]


def _path(path: InferredPath, design: InferredDesign, other: str | None, seen: set[str]) -> str:
    """Return the expression of a key attribute; `seen` are the parts that the key has already."""
    if path.key.type == "N" and isinstance(path.elements[0], str):
        return path.elements[0]
    delimiter = "#" if design.delimiter is None else design.delimiter.text
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
