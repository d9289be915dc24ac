"""The style of a page: tokens with a light and a dark value, and the rules that use them.

Each entity has a hue, and so has each attribute that identifies an entity: `customer_id` has that
of Customer in the keys of every entity, so a key can be read without a legend. A hue is a class of
the style sheet: `e1` to `e12`, and `e0` for what the design does not know.
"""

from __future__ import annotations

from datetime import date
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Literal, get_origin

from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.presentation.element import Markup, element
from tablewright.presentation.erd import owners

#: Name -> the light value and the dark value.
TOKENS = {
    "bg": ("#f6f7f9", "#0e1014"),
    "panel": ("#ffffff", "#15181e"),
    "sunken": ("#f1f2f5", "#1b1f27"),
    "line": ("#e2e5ea", "#282d37"),
    "edge": ("#858d9b", "#6d7686"),
    "ink": ("#171a21", "#e9ebf0"),
    "ink-2": ("#4a515e", "#b3bac7"),
    "ink-3": ("#5f6774", "#929baa"),
    "accent": ("#4b41d1", "#aaa4ff"),
}
#: The hues of entities: for each, the ink and the tint. The first is for what is of no entity.
HUES = (
    (("#565d69", "#a7afbd"), ("#eceef1", "#23272f")),
    (("#9a4a00", "#ffb169"), ("#fdf0e2", "#33220f")),
    (("#0a5bb0", "#7fbcff"), ("#e6f1fd", "#12253b")),
    (("#007361", "#7cebd4"), ("#e0f5f1", "#0d2b27")),
    (("#8a0f5e", "#f47fbf"), ("#fdeaf4", "#381629")),
    (("#4d5d00", "#cfdc62"), ("#f3f6dc", "#272b0e")),
    (("#6a35b0", "#cdb0ff"), ("#f3ecfd", "#291c40")),
    (("#8a2a16", "#ffa892"), ("#fdece7", "#371b14")),
    (("#2e5566", "#a5d3e6"), ("#e8f2f6", "#17282f")),
    (("#1d6b22", "#86df8b"), ("#e5f5e5", "#122b15")),
    (("#3a45b5", "#a3aeff"), ("#ebedfc", "#1c2145")),
    (("#a5173f", "#ff92ac"), ("#fde9ee", "#3a1520")),
    (("#63503c", "#d9c3a8"), ("#f3eee7", "#2b241b")),
)


@cache
def rules(name: str) -> str:
    """Return the rules of a document or of diagrams, which the studio uses, too."""
    return (files("tablewright.presentation") / f"{name}.css").read_text(encoding="utf-8")


def stylesheet() -> str:
    """Return the style sheet; print is always light."""
    fonts = (
        "--sans: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;"
        "\n  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono',"
        " monospace;"
    )
    light, dark = tokens(0), tokens(1)
    return (
        f":root {{\n  color-scheme: light dark;\n  {fonts}\n}}\n{light}"
        f"@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"
        f"{rules('diagram')}{rules('document')}"
    )


def tokens(mode: int, scope: str = "") -> str:
    """Return the light values (mode 0) or the dark ones (mode 1), for elements in a scope."""
    values = " ".join(f"--{name}: {each[mode]};" for name, each in TOKENS.items())
    hues = "".join(
        f"{scope} .e{number} {{ --e: {ink[mode]}; --et: {tint[mode]}; }}\n".lstrip()
        for number, (ink, tint) in enumerate(HUES)
    )
    return f"{scope or ':root'} {{ {values} }}\n{hues}"


def hue(position: int) -> str:
    """Return the class of the hue of the entity at this position."""
    return f"e{position % (len(HUES) - 1) + 1}"


# -- the hues of entities and attributes -----------------------------------------------------------

UNKNOWN = "e0"


@cache
def entity_hues(table: TableMap) -> dict[str, str]:
    """Return the hue of each entity of a table by its name."""
    return {entity.name: hue(position) for position, entity in enumerate(table.entities)}


def entity_hue(entity: EntityMap | None) -> str:
    """Return the hue of an entity, or that of unknown items."""
    return UNKNOWN if entity is None else entity_hues(entity.table).get(entity.name, UNKNOWN)


def chip(entity: EntityMap | None, *, href: str | None = None) -> Markup:
    """Return the name of an entity with its colour and shape."""
    name = "unknown" if entity is None else entity.name
    return element("a" if href else "span", name, class_=f"chip {entity_hue(entity)}", href=href)


def attribute_hue(entity: EntityMap, attribute: str) -> str:
    """Return the hue of the entity that an attribute identifies.

    Another attribute has the quiet tone of times or enumerations, or "".
    """
    found = _attribute_hues(entity.table).get((entity.name, attribute), "")
    if found or attribute not in entity.attributes:
        return found
    kind = entity.attributes[attribute].converter.kind
    if isinstance(kind, type):
        return "time" if issubclass(kind, date) else "enum" if issubclass(kind, Enum) else ""
    return "enum" if get_origin(kind) is Literal else ""


@cache
def _attribute_hues(table: TableMap) -> dict[tuple[str, str], str]:
    hues = entity_hues(table)
    return {place: hues[owner] for place, owner in owners(table.entities).items() if owner in hues}
