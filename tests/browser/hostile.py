"""A design and data in which every name and every value is hostile to a page that shows it."""

from __future__ import annotations

from types import new_class
from typing import Any

from tablewright import GSI, Attr, Entity, Table, access_pattern, attr, index, key
from tablewright.engine import Engine
from tablewright.studio.workspace import Workspace
from tablewright.verify import Design, seed

#: Markup that runs a script, for each way in which a text could become markup.
MARKUP = (
    "<img src=x: onerror=window.hit=1>",
    "<script>window.hit=1</script>",
    "\"' onfocus=window.hit=1 autofocus x='",
    "</pre></textarea></title></svg><svg onload=window.hit=1>",
    "javascript:window.hit=1",
    "{{7*7}} ${window.hit=1}",
)
#: Direction marks, controls, zero-width characters, separators.
INVISIBLE = "\u202e\u2066\u200b\u2028\x00\x07\x1b[31m\r\n\x7f\ufeff"
HOSTILE = " ".join(MARKUP) + INVISIBLE


class Odd(Table, name="odd.table", pk="<b>pk</b>", sk="s\u202ek"):
    by_name = GSI("<i>PK</i>", "'\"onfocus=window.hit=1 autofocus")


def _thing() -> type[Any]:
    """Return an entity with hostile names."""
    thing_id: Any = attr(name=MARKUP[0])
    name: Any = attr(name=f"</td>\u202e{MARKUP[1]}")

    def body(space: dict[str, Any]) -> None:
        space["__module__"] = __name__
        space["__doc__"] = f"A thing. {HOSTILE}"
        space["__annotations__"] = {"thing_id": Attr[str], "name": Attr[str]}
        space["thing_id"], space["name"] = thing_id, name
        space["primary"] = key("<T>" / thing_id, "]]>" / name)
        space["named"] = index(Odd.by_name, "<!--" / name, "-->" / thing_id)

    return new_class(MARKUP[1], (Entity,), {"table": Odd, "type_name": MARKUP[2]}, body)


Thing = _thing()


@access_pattern
def things(thing_id: str) -> Any:
    """Find things. <img src=x: onerror=window.hit=1>"""
    return Thing.primary.within(thing_id)


def sample() -> list[Any]:
    """Return an entity for each hostile text."""
    return [Thing(thing_id=text, name=f"{number} {HOSTILE}") for number, text in enumerate(MARKUP)]


def workspace() -> Workspace:
    """Return the design with its sample data, and items that it does not know."""
    engine = Engine(":memory:")
    design = Design(f"odd {HOSTILE}", f"Odd. {HOSTILE}\n\n- {HOSTILE}", (Odd,), sample, None)
    seed(design, engine)
    for number, text in enumerate(MARKUP):
        engine.call(
            "PutItem",
            {
                "TableName": "odd.table",
                "Item": {
                    "<b>pk</b>": {"S": text},
                    "s\u202ek": {"S": f"{number}{INVISIBLE}"},
                    HOSTILE: {"M": {text: {"L": [{"S": HOSTILE}, {"SS": [text, INVISIBLE]}]}}},
                },
            },
        )
    return Workspace(design, engine)
