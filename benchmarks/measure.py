"""Measuring on a noisy machine: a figure and its limit take turns, and only their ratio is judged.

Two ways to sum up the rounds:

    best      the quickest round, in CPU time    work of the processor alone: what disturbs it
                                                 only ever adds
    median    the middle round, in elapsed time  work that waits for the disk or for another
                                                 process: a lucky round is no measure
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


class Figure(Struct, kw_only=True, omit_defaults=True):
    """One line of the result. Without a goal it only informs.

    `unsure` is the verdict where the machine was too busy for the ratio to mean anything.
    """

    name: str
    unit: str
    value: float
    limit: float | None = None
    limit_is: str = ""
    ratio: float | None = None
    goal: str = ""
    verdict: Literal["ok", "missed", "unsure", ""] = ""
    note: str = ""


class Context(Protocol):
    """What a benchmark is given."""

    #: Where files may be put; it is removed afterwards.
    folder: Path

    def size(self, full: int, quick: int) -> int:
        """How large something is, or how often it is done, in a full and in a quick run."""

    def track(self, what: str, steps: range) -> Iterable[int]:
        """Go through the steps and show a progress bar."""


def judged(
    name: str,
    unit: str,
    value: float,
    *,
    limit: float,
    limit_is: str,
    at_most: float | None = None,
    at_least: float | None = None,
    sure: bool = True,
    note: str = "",
) -> Figure:
    """A figure whose ratio to its limit is to be `at_most` or `at_least` something."""
    ratio = value / limit
    if at_most is not None:
        goal, reached = f"at most {at_most:g}x", ratio <= at_most
    else:
        assert at_least is not None
        goal, reached = f"at least {at_least:g}x", ratio >= at_least
    return Figure(
        name=name,
        unit=unit,
        value=value,
        limit=limit,
        limit_is=limit_is,
        ratio=ratio,
        goal=goal,
        verdict=("ok" if reached else "missed") if sure else "unsure",
        note=note,
    )


def below(name: str, unit: str, value: float, *, goal: float, note: str = "") -> Figure:
    """A figure that is to be below a number of its own unit."""
    return Figure(
        name=name,
        unit=unit,
        value=value,
        goal=f"under {goal:g} {unit}",
        verdict="ok" if value < goal else "missed",
        note=note,
    )


def take_turns(
    context: Context,
    what: str,
    figure: tuple[Callable[[A], Any], Sequence[A]],
    limit: tuple[Callable[[B], Any], Sequence[B]],
    *,
    rounds: int,
    waits: bool = False,
) -> tuple[float, float]:
    """Microseconds a call takes: of the figure, and of its limit.

    Both are a function and its arguments, one for each call; the arguments are cut into rounds,
    and each round of the figure is followed by one of the limit. `waits` says that a call waits
    for something other than the processor (see above).
    """
    clock, middle = (time.perf_counter, median) if waits else (time.process_time, min)
    took: tuple[list[float], list[float]] = ([], [])
    with undisturbed():
        pairs = zip(cut(figure[1], rounds), cut(limit[1], rounds), strict=True)
        for _, (ours, theirs) in zip(context.track(what, range(rounds)), pairs, strict=True):
            took[0].append(_round(clock, figure[0], ours))
            took[1].append(_round(clock, limit[0], theirs))
    return middle(took[0]) * 1e6, middle(took[1]) * 1e6


def best(context: Context, what: str, call: Callable[[A], Any], args: Sequence[A]) -> float:
    """Microseconds a call takes at best, over ten rounds; for figures without a limit."""
    rounds = 10
    with undisturbed():
        return 1e6 * min(
            _round(time.process_time, call, part)
            for _, part in zip(context.track(what, range(rounds)), cut(args, rounds), strict=True)
        )


def cut(args: Sequence[T], parts: int) -> Iterator[Sequence[T]]:
    """The arguments, in that many parts of the same length."""
    length = len(args) // parts
    assert length, "there is at least one call in a round"
    return (args[length * at : length * (at + 1)] for at in range(parts))


def _round(clock: Callable[[], float], call: Callable[[A], Any], args: Sequence[A]) -> float:
    start = clock()
    for arg in args:
        call(arg)
    return (clock() - start) / len(args)


class undisturbed:  # noqa: N801  (reads as a statement: `with undisturbed():`)
    """Keeps the garbage collector, which stays on, from walking the benchmark's own data."""

    def __enter__(self) -> None:
        gc.collect()
        gc.freeze()

    def __exit__(self, *_: object) -> None:
        gc.unfreeze()
