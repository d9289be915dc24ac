"""Parts that pages share. Each function returns markup; its classes are those of `style.css`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.template import Parser, Template
from tablewright.publish.html.element import Child, Markup, element, join
from tablewright.studio.markup.hues import attribute_hue, entity_hue
from tablewright.values import Value, tag_of

NOTHING = Markup("")


def heading(title: str, about: Child = "", aside: Child = "") -> Markup:
    """Return the heading of a page, with a line about it below and what stands beside it."""
    below = element("p", about) if about else NOTHING
    return element("div", element("div", element("h1", title), below), aside, class_="head")


def panel(label: str, *content: Child) -> Markup:
    """Return a section with a border; the label names it for screen readers."""
    return element("section", *content, class_="panel", aria_label=label)


def note(text: Child, kind: str = "") -> Markup:
    """Return a remark; its kind is "", "warn", "bad" or "good"."""
    return element("p", text, class_=f"note {kind}".strip())


def chip(entity: EntityMap | None, *, href: str | None = None) -> Markup:
    """Return the name of an entity with its colour and shape."""
    name = "unknown" if entity is None else entity.name
    return element("a" if href else "span", name, class_=f"chip {entity_hue(entity)}", href=href)


def scroll(label: str, content: Child, class_: str = "") -> Markup:
    """Return a region that scrolls sideways, reachable by keyboard."""
    return element(
        "div",
        content,
        class_=f"scroll {class_}".strip(),
        tabindex="0",
        role="group",
        aria_label=label,
    )


def data_table(
    caption: str,
    columns: Iterable[str],
    rows: Child,
    *,
    numbers: Collection[str] = (),
    class_: str | None = None,
    body: str | None = None,
) -> Markup:
    """Return a table with a caption for screen readers.

    `numbers` are its columns of numbers, `body` is the id of its body.
    """
    names = [
        element("th", name, scope="col", class_="num" if name in numbers else None)
        for name in columns
    ]
    return element(
        "table",
        element("caption", caption, class_="vh"),
        element("thead", element("tr", names)),
        element("tbody", rows, id=body),
        class_=class_,
    )


def facts(values: Iterable[tuple[str, str]]) -> Markup:
    """Return numbers with their names below them."""
    return element(
        "dl",
        [element("div", element("dt", name), element("dd", value)) for name, value in values],
        class_="facts",
    )


# --- keys ---------------------------------------------------------------------------------------


def template_key(template: Template, entity: EntityMap) -> Markup:
    """Return a template: literals plain, attributes with the hue of what they identify.

    An attribute has its stored name; a part with a format is written as in the declaration.
    """
    pieces = []
    for piece in template.pieces:
        if isinstance(piece, str):
            pieces.append(element("span", piece, class_="l"))
            continue
        stored = entity.attributes[piece.attribute].stored
        label = stored if piece.is_plain else piece.label
        hue = attribute_hue(entity, piece.attribute)
        pieces.append(element("span", label, class_=f"v {hue}".strip()))
    return element("span", join(pieces, element("wbr")), class_="key tpl wrap")


def stored_key(
    value: Value, key: KeyMap | None, attribute: str, entity: EntityMap | None
) -> Markup:
    """Return a stored key attribute, taken apart by the template of its entity if it has one."""
    text = content(value)
    if key is None or entity is None or attribute not in key.templates:
        return element("span", text, class_="key")
    return element("span", key_pieces(text, key.templates[attribute], entity), class_="key")


def key_pieces(text: str, template: Template, entity: EntityMap) -> list[Markup]:
    """Return the pieces of a key: its literals, and its values with their hues."""
    texts = _parser(template).texts(text) if template.is_text else None
    if texts is None:
        part = template.parts[0].attribute if len(template.parts) == 1 else ""
        return [element("span", text, class_=f"v {attribute_hue(entity, part)}".strip())]
    values = iter(texts)
    return [
        element("span", piece, class_="l")
        if isinstance(piece, str)
        else element(
            "span", next(values), class_=f"v {attribute_hue(entity, piece.attribute)}".strip()
        )
        for piece in template.pieces
    ]


@cache
def _parser(template: Template) -> Parser:
    return Parser(template, any_spelling=True)


# --- values -------------------------------------------------------------------------------------


def content(value: Value) -> str:
    """Return a value as text: strings and numbers as they are, documents as compact JSON.

    >>> content({"L": [{"S": "a"}, {"N": "1"}]}), content({"NULL": True})
    ('["a", 1]', 'null')
    """
    tag = tag_of(value)
    return str(value[tag]) if tag in ("S", "N", "B") else _nested(value)


def _nested(value: Value) -> str:
    tag, inner = tag_of(value), value[tag_of(value)]
    match tag:
        case "S" | "B":
            return msgspec.json.encode(inner).decode()
        case "N":
            return str(inner)
        case "BOOL":
            return "true" if inner else "false"
        case "NULL":
            return "null"
        case "L":
            return f"[{', '.join(map(_nested, inner))}]"
        case "M":
            pairs = (f"{_nested({'S': name})}: {_nested(each)}" for name, each in inner.items())
            return f"{{{', '.join(pairs)}}}"
        case _:
            return f"{{{', '.join(_nested({tag[0]: each}) for each in inner)}}}"


# --- code ---------------------------------------------------------------------------------------


def json_code(value: Any, label: str = "DynamoDB JSON") -> Markup:
    """Return a JSON value in lines, with its names and texts coloured."""
    return element("pre", _json(value, ""), tabindex="0", aria_label=f"{label} code")


def _json(value: Any, indent: str) -> Markup:
    match value:
        case str():
            return element("span", msgspec.json.encode(value).decode(), class_="s")
        case Mapping() if len(value) == 1 and not isinstance(next(iter(value.values())), Mapping):
            ((name, inner),) = value.items()
            return join(["{", _name(name), ": ", _json(inner, indent), "}"])
        case Mapping() if value:
            return _lines(
                "{", "}", indent, [join([_name(name), ": ", _json(inner, indent + "  ")])
                                   for name, inner in value.items()]
            )  # fmt: skip
        case list() if value:
            return _lines("[", "]", indent, [_json(inner, indent + "  ") for inner in value])
        case _:
            return Markup(msgspec.json.encode(value).decode())


def _name(name: str) -> Markup:
    return element("span", msgspec.json.encode(name).decode(), class_="a")


def _lines(opening: str, closing: str, indent: str, lines: list[Markup]) -> Markup:
    inner = join(lines, f",\n{indent}  ")
    return join([opening, f"\n{indent}  ", inner, f"\n{indent}", closing])
