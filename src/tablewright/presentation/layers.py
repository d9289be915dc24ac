"""Layered layout of a directed graph: columns from left to right, with few crossings.

The result depends on nothing but the order of the nodes and edges. An edge that spans several
columns gets a waypoint in each column between, so that it passes between the boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

#: The number of times that the columns are sorted by their neighbours.
SWEEPS = 6


class Chain(Struct, frozen=True):
    """An edge from left to right, with its waypoints; `is_reversed` if it ends on the left."""

    edge: int
    nodes: tuple[str, ...]
    is_reversed: bool


class Layers(Struct, frozen=True):
    """The nodes of each column from top to bottom, and the edges between them."""

    columns: list[list[str]]
    chains: list[Chain]


def layers(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> Layers:
    """Return the columns of a graph without loops at a node."""
    after: dict[str, dict[str, None]] = {node: {} for node in nodes}
    reversals = []
    for source, target in edges:
        is_reversed = _reaches(after, target, source)
        reversals.append(is_reversed)
        if is_reversed:
            source, target = target, source
        after[source][target] = None
    ranks = _ranks(after)
    columns: list[list[str]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    for node in nodes:
        columns[ranks[node]].append(node)
    chains = []
    for number, ((source, target), is_reversed) in enumerate(zip(edges, reversals, strict=True)):
        left, right = (target, source) if is_reversed else (source, target)
        waypoints = []
        for column in range(ranks[left] + 1, ranks[right]):
            waypoints.append(f"{number} {column}")  # the name of a node has no space
            columns[column].append(waypoints[-1])
        chains.append(Chain(number, (left, *waypoints, right), is_reversed))
    _sort(columns, chains)
    return Layers(columns, chains)


def _reaches(after: Mapping[str, Mapping[str, None]], start: str, end: str) -> bool:
    waiting, seen = [start], {start}
    for node in waiting:  # grows
        if node == end:
            return True
        new = [each for each in after[node] if each not in seen]
        waiting += new
        seen.update(new)
    return False


def _ranks(after: Mapping[str, Mapping[str, None]]) -> dict[str, int]:
    """Return the column of each node: right of all before it, and close to those after it."""
    ranks = dict.fromkeys(after, 0)
    for _ in after:  # the longest path has fewer steps than there are nodes
        for node, others in after.items():
            for other in others:
                ranks[other] = max(ranks[other], ranks[node] + 1)
    targets = {other for others in after.values() for other in others}
    for node, others in after.items():
        if node not in targets and others:
            ranks[node] = min(ranks[other] for other in others) - 1
    return ranks


def _sort(columns: list[list[str]], chains: list[Chain]) -> None:
    """Sort each column by the mean position of the neighbours, alternately on either side."""
    before: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for chain in chains:
        for left, right in pairwise(chain.nodes):
            before.setdefault(right, []).append(left)
            behind.setdefault(left, []).append(right)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        neighbours = before if forward else behind
        places = {
            node: (place + 0.5) / len(column)
            for column in columns
            for place, node in enumerate(column)
        }
        for column in columns if forward else reversed(columns):
            means = {
                node: sum(places[each] for each in near) / len(near)
                if (near := neighbours.get(node))
                else places[node]
                for node in column
            }
            column.sort(key=means.__getitem__)
            places |= {node: (n + 0.5) / len(column) for n, node in enumerate(column)}
