"""Measure on a busy machine: a figure and its limit alternate, and the goal is their ratio.

Two ways to summarize the rounds:

    best      the fastest round, in CPU time       for pure CPU work: other processes only add time
    median    the median round, in elapsed time    for work that waits for the disk or another
                                                   process: the fastest round may be luck
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
    """One line of the result. Without a goal it is for information only.

    `unsure` is the verdict if the machine was too busy for a meaningful ratio.
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
    """The parameters of a benchmark."""

    #: Where files may be put; it is removed afterwards.
    folder: Path

    def size(self, full: int, quick: int) -> int:
        """Return a size or a number of repetitions, for a full or a quick run."""

    def track(self, what: str, steps: range) -> Iterable[int]:
        """Iterate over the steps and show a progress bar."""


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
    """Return a figure whose goal is a ratio to its limit: `at_most` or `at_least`."""
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


def below(
    name: str, unit: str, value: float, *, goal: float, sure: bool = True, note: str = ""
) -> Figure:
    """Return a figure whose goal is an absolute maximum."""
    return Figure(
        name=name,
        unit=unit,
        value=value,
        goal=f"under {goal:g} {unit}",
        verdict=("ok" if value < goal else "missed") if sure else "unsure",
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
    """Return the microseconds of one call: of the figure, and of its limit.

    Each is a function with a sequence of arguments, one for each call. The arguments are divided
    into rounds; each round of the figure is followed by one of the limit. `waits` selects the
    median of the elapsed time.
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
    """Return the microseconds of a call in the best of ten rounds, for figures without a limit."""
    rounds = 10
    with undisturbed():
        return 1e6 * min(
            _round(time.process_time, call, part)
            for _, part in zip(context.track(what, range(rounds)), cut(args, rounds), strict=True)
        )


def cut(args: Sequence[T], parts: int) -> Iterator[Sequence[T]]:
    """Divide the arguments into parts of the same length."""
    length = len(args) // parts
    assert length, "there is at least one call in a round"
    return (args[length * at : length * (at + 1)] for at in range(parts))


def _round(clock: Callable[[], float], call: Callable[[A], Any], args: Sequence[A]) -> float:
    start = clock()
    for arg in args:
        call(arg)
    return (clock() - start) / len(args)


class undisturbed:  # noqa: N801  (reads as a statement: `with undisturbed():`)
    """Exclude the benchmark's own data from garbage collection, which stays enabled."""

    def __enter__(self) -> None:
        gc.collect()
        gc.freeze()

    def __exit__(self, *_: object) -> None:
        gc.unfreeze()
