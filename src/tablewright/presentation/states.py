"""The values of an attribute with transitions, and which may follow which, as a diagram.

NEW ──▶ PAID ──▶ SHIPPED        a box for each value, an arrow to each value that may follow it
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from msgspec import Struct

from tablewright.mapping.entity import EntityMap
from tablewright.presentation.element import Markup, visible
from tablewright.presentation.erd import Erd, Node, Relation
from tablewright.presentation.erd_svg import draw_arrow, network_svg


class States(Struct, frozen=True):
    """The values of one attribute, as texts, with those that may follow each."""

    entity: str
    attribute: str
    after: dict[str, tuple[str, ...]]
    #: The default of the attribute; "" if it has none.
    first: str

    @property
    def title(self) -> str:
        """Say whose values these are."""
        return f"Values of {self.entity}.{self.attribute}"

    def sentences(self) -> Iterator[str]:
        """Yield a sentence for each value."""
        for value, after in self.after.items():
            begins = " (the default)" if value == self.first else ""
            yield f"{value}{begins} may become {' or '.join(after) or 'no other value'}."


def states_of(entity: EntityMap) -> Iterator[States]:
    """Yield the diagrams of an entity: one for each attribute with transitions."""
    for attribute in entity.stateful:
        assert attribute.transitions is not None
        after = attribute.transitions.after
        default = None if attribute.default is None else attribute.default()
        yield States(
            entity.name,
            attribute.name,
            {_text(value): tuple(map(_text, followers)) for value, followers in after.items()},
            _text(default) if default in after else "",
        )


def _text(value: Any) -> str:
    return str(value.value if isinstance(value, Enum) else value)


def mermaid_states(states: States) -> str:
    """Return the text of a diagram for Mermaid."""
    names = {value: f"s{number}" for number, value in enumerate(states.after)}
    lines = ["stateDiagram-v2"]
    lines += [f'    state "{_quoted(value)}" as {name}' for value, name in names.items()]
    if states.first:
        lines.append(f"    [*] --> {names[states.first]}")
    for value, after in states.after.items():
        lines += [f"    {names[value]} --> {names[each]}" for each in after]
        if not after:
            lines.append(f"    {names[value]} --> [*]")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Return a text for the quotes around a label of Mermaid, which must not be empty."""
    return visible(text).replace('"', "#quot;") or " "


def states_svg(states: States, ident: str) -> Markup:
    """Return the diagram; `ident` must be unique on the page."""
    nodes = tuple(Node(value, value, ()) for value in states.after)
    arrows = tuple(
        Relation(value, each, False, "") for value, after in states.after.items() for each in after
    )
    described = " ".join(states.sentences())
    return network_svg(Erd(nodes, arrows), states.title, described, ident, draw_arrow)
