"""Projections: follow many paths through an item at once, as a tree of branches.

Owns projections (`compile_projection`) and `Branches`, which updates use too: paths with a common
prefix share a branch, so each map and list on the way is visited, and for updates copied, once.
Invariant: an item is never modified; a projected item shares values with it.

    m.x, m.y[0], n   ->   {"m": {"x": leaf, "y": {0: leaf}}, "n": leaf}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar

from tablewright.expression import tree
from tablewright.values import Item, Value

Leaf = TypeVar("Leaf")
#: A level of the tree: all keys are names, or all are positions in ascending order.
Branches: TypeAlias = dict[str | int, "PathBranch[Leaf]"]


class PathBranch(Generic[Leaf]):
    """The end of a path (`leaf`) or its continuation (`below`). One of them is None."""

    __slots__ = ("below", "leaf")

    def __init__(self, leaf: Leaf | None, below: Branches[Leaf] | None) -> None:
        self.leaf = leaf
        self.below = below


def build_branches(leaves: Iterable[tuple[tuple[str | int, ...], Leaf]]) -> Branches[Leaf]:
    """Build the branches of paths, none of which contains another."""
    by_first: dict[str | int, list[tuple[tuple[str | int, ...], Leaf]]] = {}
    for parts, leaf in leaves:
        by_first.setdefault(parts[0], []).append((parts[1:], leaf))
    order: Iterable[Any] = by_first
    if any(isinstance(first, int) for first in by_first):
        order = sorted(by_first, key=lambda first: (isinstance(first, str), first))
    found: Branches[Leaf] = {}
    for first in order:
        rest = by_first[first]
        parts, leaf = rest[0]
        found[first] = PathBranch(None, build_branches(rest)) if parts else PathBranch(leaf, None)
    return found


def compile_projection(paths: tuple[tree.Path, ...]) -> Callable[[Item], Item]:
    """Compile a function that returns the parts of an item at the given paths.

    >>> paths = (tree.Path(("m", "x")), tree.Path(("l", 2)), tree.Path(("l", 0)))
    >>> pick = compile_projection(paths)
    >>> pick({"m": {"M": {"x": {"S": "X"}, "y": {"S": "Y"}}}, "l": {"L": [{"N": "1"}]}})
    {'m': {'M': {'x': {'S': 'X'}}}, 'l': {'L': [{'N': '1'}]}}
    """
    tops = [path.parts[0] for path in paths]
    if all(len(path.parts) == 1 for path in paths):
        return lambda item: {name: item[name] for name in tops if name in item}
    top: Branches[bool] = build_branches((path.parts, True) for path in paths)
    return lambda item: _pick_members(item, top)


def _pick_members(members: Item, wanted: Branches[bool]) -> Item:
    found = {}
    for name, branch in wanted.items():
        value = members.get(name)  # type: ignore[arg-type] # names only at this level
        if value is not None:
            picked = value if branch.below is None else _pick(value, branch.below)
            if picked is not None:
                found[str(name)] = picked
    return found


def _pick(value: Value, wanted: Branches[bool]) -> Value | None:
    """Return the wanted parts of a map or list; None if none of them exists.

    Elements of a list close up: positions 5 and 2 become a list of two elements, in the order of
    the original list.
    """
    if "M" in value:
        members = _pick_members(value["M"], wanted)
        return {"M": members} if members else None
    elements = []
    for position, branch in wanted.items():
        if isinstance(position, int) and position < len(value.get("L", ())):
            element = value["L"][position]
            picked = element if branch.below is None else _pick(element, branch.below)
            if picked is not None:
                elements.append(picked)
    return {"L": elements} if elements else None
