"""Parts, rounds and results: shared by all parts of a run.

A part is a promise and a function that attacks it once: a round. A round gets a seed, a folder of
its own and a time limit; it counts its actions and raises `Broken` if the promise is broken.
Any other exception breaks the promise as well.
"""

from __future__ import annotations

import random
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from msgspec import Struct

#: The number of different failures that a result keeps; a repeated failure is only counted.
KEPT = 24


class Broken(Exception):
    """A promise is broken. Errors with the same message count as the same failure."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class Round:
    """One attack: its seed, random numbers, folder, time limit and counters."""

    def __init__(self, seed: int, folder: Path, seconds: float, *, short: bool = False) -> None:
        self.seed = seed
        self._short = short
        self.chance = random.Random(seed)
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.maxima: dict[str, int] = {}
        #: Promises broken so far, each with the details of the first time.
        self.broken: dict[str, str] = {}
        self._end = time.monotonic() + seconds

    @property
    def seconds(self) -> float:
        """The remaining time of the part."""
        return self._end - time.monotonic()

    def size(self, full: int, short: int) -> int:
        """Return a number of repetitions: of a full round, or of a short one in the tests."""
        return short if self._short else full

    def count(self, what: str, by: int = 1) -> None:
        self.counts[what] += by

    def highest(self, what: str, value: float) -> None:
        """Report the highest value of a part."""
        self.maxima[what] = max(self.maxima.get(what, 0), round(value))

    def require(self, condition: object, message: str, detail: str = "") -> None:
        """End the round as broken unless the condition is true."""
        if not condition:
            raise Broken(message, detail)

    def expect(self, condition: object, message: str, detail: str = "") -> None:
        """Record a broken promise unless the condition is true, and continue."""
        if not condition:
            self.broken.setdefault(message, detail)


@dataclass(frozen=True)
class Part:
    """A promise, the function that attacks it, and its seconds in a complete run."""

    name: str
    promise: str
    method: str
    seconds: float
    play: Callable[[Round], None]


class Failure(Struct):
    """A broken promise: the seed of its first round, and the number of rounds with it."""

    seed: int
    what: str
    rounds: int = 1


class Result(Struct, kw_only=True):
    """The result of a part."""

    part: str
    promise: str
    method: str
    seed: int
    rounds: int
    seconds: float
    counts: dict[str, int]
    outcome: Literal["kept", "broken"]
    failures: list[Failure]


def run(
    part: Part,
    *,
    seed: int,
    folder: Path,
    seconds: float | None = None,
    rounds: int | None = None,
    first: tuple[int, ...] = (),
    short: bool = False,
) -> Result:
    """Play rounds until the time is up, at least one and at most `rounds`.

    The seeds in `first` are played before `seed`, `seed + 1` and so on.
    """
    limit = part.seconds if seconds is None else seconds
    started = time.monotonic()
    counts: Counter[str] = Counter()
    maxima: dict[str, int] = {}
    failures: dict[str, Failure] = {}
    played = 0
    while played == 0 or time.monotonic() - started < limit:
        if rounds is not None and played == rounds:
            break
        number = first[played] if played < len(first) else seed + played - len(first)
        place = folder / f"{part.name}-{number}"
        place.mkdir(parents=True)
        left = limit - (time.monotonic() - started)
        attack = Round(number, place, left, short=short)
        try:
            part.play(attack)
        except Broken as broken:
            attack.expect(False, str(broken), broken.detail)
        except Exception as error:
            attack.expect(False, *_described(error))
        for what, detail in attack.broken.items():
            if what in failures:
                failures[what].rounds += 1
            elif len(failures) < KEPT:
                failures[what] = Failure(number, f"{what} ({detail})" if detail else what)
        counts += attack.counts
        for what, value in attack.maxima.items():
            maxima[what] = max(maxima.get(what, 0), value)
        shutil.rmtree(place)
        played += 1
    return Result(
        part=part.name,
        promise=part.promise,
        method=part.method,
        seed=seed,
        rounds=played,
        seconds=round(time.monotonic() - started, 1),
        counts=dict(counts) | maxima,
        outcome="broken" if failures else "kept",
        failures=list(failures.values()),
    )


def _described(error: Exception) -> tuple[str, str]:
    """Return the text of an unexpected exception, and its position."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno} {where.name}"
    return f"{type(error).__name__}: {str(error)[:300]}", place
