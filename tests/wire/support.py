"""What each operation and each member of botocore's model does here: `members.txt`, and its page.

    CreateTable real                              the state of the operation
      real AttributeDefinitions[].AttributeName   the members of that state
      stored BillingMode

`python -m tests.wire.support` writes the table into docs/operations.md (`make docs` runs it). A new
member of the model fails `test_support.py` until it has a line in `members.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.wire.service_model import MODELS

STATES = ("real", "stored", "refused", "ignored")
LIST = Path(__file__).parent / "members.txt"
PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
BEGIN, END = "<!-- generated: every operation -->", "<!-- end -->"


def members_of(operation: str) -> Iterator[str]:
    """Yield the paths of all members of an operation's request in the model."""
    yield from _paths("", MODELS[operation], ())


def _paths(path: str, shape: Any, outer: tuple[str, ...]) -> Iterator[str]:
    if shape is None or shape.name == "AttributeValue" or shape.name in outer:
        return
    outer = (*outer, shape.name)
    if shape.type_name == "structure":
        for name, member in shape.members.items():
            here = f"{path}.{name}" if path else name
            yield here
            yield from _paths(here, member, outer)
    elif shape.type_name == "list":
        yield from _paths(f"{path}[]", shape.member, outer)
    elif shape.type_name == "map":
        yield from _paths(f"{path}{{}}", shape.value, outer)


def read_states() -> dict[str, tuple[str, dict[str, str]]]:
    """Return the state of each operation, and the states of its members by their paths."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    members: dict[str, str] = {}
    for line in LIST.read_text().splitlines():
        first, *rest = line.split()
        if not line.startswith(" "):
            members = {}
            found[first] = rest[0], members
            continue
        for member in rest:
            assert member not in members, f"{member} occurs twice"
            members[member] = first
    return found


def table() -> str:
    """Return the table of all operations, in Markdown."""
    lines = ["| operation | | stored members | refused members | ignored members |"]
    lines.append("|---|---|---|---|---|")
    for operation, (state, members) in sorted(read_states().items()):
        columns = [", ".join(_roots(members, each)) for each in STATES[1:]]
        shown = ["" if set(members.values()) <= {state} else column for column in columns]
        lines.append(f"| {operation} | {state} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _roots(members: dict[str, str], state: str) -> list[str]:
    """Return the members of a state, without those inside another one of it."""
    found = [member for member, each in members.items() if each == state]
    return [
        member
        for member in found
        if not any(member.startswith((f"{other}.", f"{other}[", f"{other}{{")) for other in found)
    ]


def page() -> str:
    """Return docs/operations.md with the current table."""
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{table()}\n\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(page())
