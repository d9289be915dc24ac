"""Checks of recorded histories: linearizability of items, strict serializability of transactions.

An operation of a history has an interval, from its invocation to its response, and may have taken
effect at any moment within it. One without a known outcome (a timeout, a killed server) may have
taken effect at any moment after its invocation, or never.

`linearizable` searches an order of the operations on one register that respects the intervals and
explains every result (Wing and Gong's algorithm; Lowe's memory of the states already visited).

`serializable` needs no search: every write appends a unique number to a list, so that a read of the
list shows which writes came before it, and in which order. The dependencies between transactions
and their order in time form a graph; a cycle in it is a violation.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

NEVER = math.inf


class Access(Struct, frozen=True):
    """An operation on one register.

    read: it holds `value`. write: it becomes `value`. swap: it held `old` and becomes `value`.
    refused: it did not hold `old`. The value 0 means a missing item.
    """

    start: float
    end: float
    kind: Literal["read", "write", "swap", "refused"]
    value: int = 0
    old: int = 0

    def after(self, state: int) -> int | None:
        """Return the state after the operation; None if its result contradicts the state."""
        if self.kind == "write":
            return self.value
        if self.kind == "read":
            return state if state == self.value else None
        if self.kind == "swap":
            return self.value if state == self.old else None
        return state if state != self.old else None


def linearizable(history: Iterable[Access], initial: int = 0) -> bool:
    """Return whether some order of the operations explains every result."""
    accesses = sorted(history, key=lambda access: access.start)
    required = sum(1 << n for n, access in enumerate(accesses) if access.end != NEVER)
    seen: set[tuple[int, int]] = set()
    stack = [(0, initial)]
    while stack:
        done, state = stack.pop()
        if done & required == required:
            return True
        if (done, state) in seen:
            continue
        seen.add((done, state))
        # Operations that began before any undone operation ended may come next.
        first_end = NEVER
        first = (~done & (done + 1)).bit_length() - 1  # the first that is not done
        for number in range(first, len(accesses)):
            if done >> number & 1:
                continue
            access = accesses[number]
            if access.start > first_end:
                break
            first_end = min(first_end, access.end)
            following = access.after(state)
            if following is not None:
                stack.append((done | 1 << number, following))
    return False


class WriteTransaction(Struct, frozen=True):
    """A transaction: the lists it read, and the numbers it appended, by key."""

    start: float
    end: float
    reads: dict[str, list[int]]
    appends: dict[str, int]
    known: bool = True  # its outcome


def serializable(history: Sequence[WriteTransaction], last: dict[str, list[int]]) -> str:
    """Return what contradicts strict serializability; empty if nothing does.

    `last` is the content of the lists at the end, read when nothing else runs.
    """
    writers: dict[tuple[str, int], int] = {}
    for number, transaction in enumerate(history):
        for key, value in transaction.appends.items():
            writers[key, value] = number
    for key, values in last.items():
        if len(set(values)) != len(values):
            return f"{key} holds a write twice: {values}"
        for value in values:
            if (key, value) not in writers:
                return f"{key} holds {value}, which no acknowledged or open transaction wrote"
    edges: dict[int, set[int]] = defaultdict(set)
    visible = set()
    for number, transaction in enumerate(history):
        there = {key: value in last[key] for key, value in transaction.appends.items()}
        if transaction.known and not all(there.values()):
            return f"a transaction was acknowledged and {there} are there"
        if len(set(there.values())) > 1:
            return f"a transaction is half applied: {there}"
        if transaction.known or any(there.values()):
            visible.add(number)
    for key, values in last.items():
        order = [writers[key, value] for value in values]
        for before, after in pairwise(order):
            edges[before].add(after)
        for number in visible:
            read = history[number].reads.get(key)
            if read is None:
                continue
            if values[: len(read)] != read:
                return f"a read of {key} returned {read}, which it never held"
            if read:
                edges[order[len(read) - 1]].add(number)
            if len(read) < len(order):
                edges[number].add(order[len(read)])
    _add_time(edges, history, visible)
    for number in visible:  # a transaction that reads what it wrote
        edges[number].discard(number)
    cycle = _cycle(edges)
    return f"the transactions {cycle} cannot be put in an order" if cycle else ""


def _add_time(
    edges: dict[int, set[int]], history: Sequence[WriteTransaction], visible: set[int]
) -> None:
    """Add an edge from each transaction to all that began after it ended.

    A chain of points in time (negative numbers) keeps the number of edges small.
    """
    ends = sorted((history[number].end, number) for number in visible if history[number].known)
    times = [end for end, _ in ends]
    for mark, (_, number) in enumerate(ends):
        edges[number].add(-1 - mark)
        if mark:
            edges[-mark].add(-1 - mark)
    for number in visible:
        passed = bisect_left(times, history[number].start)
        if passed:
            edges[-passed].add(number)


def _cycle(edges: dict[int, set[int]]) -> list[int]:
    """Return the transactions of a cycle, or an empty list. Depth first, without recursion."""
    done: set[int] = set()
    for root in list(edges):
        if root in done:
            continue
        path = [root]
        on_path = {root}
        waiting = [iter(edges.get(root, ()))]
        while waiting:
            for follower in waiting[-1]:
                if follower in on_path:
                    return [node for node in path[path.index(follower) :] if node >= 0]
                if follower not in done:
                    path.append(follower)
                    on_path.add(follower)
                    waiting.append(iter(edges.get(follower, ())))
                    break
            else:
                waiting.pop()
                on_path.discard(path[-1])
                done.add(path.pop())
    return []
