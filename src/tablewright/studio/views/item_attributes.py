"""The attributes of an item: those of its entity, its keys, and what the design does not know."""

from __future__ import annotations

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.item_kind import ItemKind
from tablewright.mapping.members import AttributeMap
from tablewright.mapping.table import TableMap
from tablewright.publish.html.element import Child, Markup, element
from tablewright.studio.markup.item_parts import value_class
from tablewright.studio.markup.parts import content
from tablewright.values import Item, Value, tag_of

TYPES = {
    "S": "string",
    "N": "number",
    "B": "binary",
    "BOOL": "boolean",
    "NULL": "null",
    "L": "list",
    "M": "map",
    "SS": "string set",
    "NS": "number set",
    "BS": "binary set",
}
_ROLES = {
    "version": "counted",
    "created_at": "set once",
    "updated_at": "set with each write",
    "ttl": "expires",
}


def attributes_panel(known: TableMap | None, kind: ItemKind, item: Item) -> Markup:
    """Return all attributes of an item: with their types, and how they are stored."""
    entity = kind.stored
    rows: list[Markup] = []
    shown: set[str] = set()
    if entity is not None:
        for attribute in entity.attributes.values():
            if not attribute.is_key_only:
                rows.append(_declared(entity, attribute, item.get(attribute.stored)))
                shown.add(attribute.stored)
    for name, value in item.items():
        if name not in shown:
            rows.append(_other(known, kind, name, value))
    head = element(
        "tr", [element("th", each, scope="col") for each in ("Attribute", "Type", "Value")]
    )
    table = element(
        "table",
        element("caption", "Attributes", class_="vh"),
        element("thead", head),
        element("tbody", rows),
        class_="attributes",
    )
    return element(
        "section",
        element("header", element("h2", "Attributes"), element("p", f"{len(item)} stored")),
        element("div", table, class_="scroll flat"),
        class_="panel",
    )


def type_name(attribute: AttributeMap) -> str:
    """Return the type of an attribute as a program declares it, and what the library does."""
    kind = attribute.converter.kind
    name = kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")
    optional = " | None" if attribute.converter.optional else ""
    role = _ROLES.get(attribute.role)
    return f"{name}{optional}" + (f", {role}" if role else "")


def _declared(entity: EntityMap, attribute: AttributeMap, value: Value | None) -> Markup:
    stored = attribute.stored if attribute.stored != attribute.name else ""
    if value is None:
        cell: Child = element("span", "absent", class_="faint")
    else:
        hue = value_class(entity, attribute.name)
        cell = _value(value, "" if hue == "enum" else hue)
    return _row(attribute.name, stored, type_name(attribute), value, cell)


def _other(known: TableMap | None, kind: ItemKind, name: str, value: Value) -> Markup:
    """Return an attribute that is not one of the entity: a key, the type, or an unknown one."""
    if known is None:
        what = ""
    elif name == known.type_attribute:
        what = "type of the item"
    elif name in known.attributes or _is_index_key(known, name):
        what = "key"
    elif kind.unique is not None and any(each.stored == name for each in kind.unique.keeps):
        what = f"kept for {kind.unique.key.name}"
    else:
        what = "not in the design"
    cell = _value(value, "")
    warn = "tag warn" if what == "not in the design" else "faint"
    return _row(name, "", element("span", what, class_=warn), value, cell)


def _is_index_key(known: TableMap, name: str) -> bool:
    return any(name in index.attributes for index in known.indexes.values())


def _row(name: str, stored: str, kind: Child, value: Value | None, cell: Child) -> Markup:
    tag = TYPES[tag_of(value)] if value is not None else ""
    return element(
        "tr",
        element("td", element("code", name), element("small", stored, class_="faint")),
        element("td", kind, element("small", tag, class_="faint"), class_="small"),
        element("td", cell, class_="mono"),
    )


def _value(value: Value, hue: str) -> Markup:
    return element("span", content(value), class_=f"v {hue}" if hue else "value")
