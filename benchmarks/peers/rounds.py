"""Rounds: the raw load on a server, and the figures of its rounds."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import lru_cache
from statistics import median
from typing import Literal

import msgspec
from msgspec import Struct

from benchmarks.load import Served, under_load
from benchmarks.peers import workload
from benchmarks.peers.servers import Durability, Running

CONNECTIONS = (1, 8, 64)
#: How the problem begins of a cell that was not measured for want of time.
TOO_SLOW = "too slow"


class Cell(Struct, frozen=True, kw_only=True):
    """One operation of one server with some connections."""

    server: str
    durability: Durability
    client: Literal["raw", "boto3"] = "raw"
    operation: str
    #: The number of connections; of boto3, that of threads.
    connections: int
    #: The median of the rounds, and all of them: responses in a second.
    rate: float
    rounds: list[float]
    #: The CPU time for one request, in microseconds: of the server, or of boto3.
    cpu_micros: float
    #: The number of cores that other processes used, in the worst round.
    others: float = 0.0
    #: The part of the time in which the clients waited, in the median round.
    idle: float = 1.0
    #: Why there is no figure.
    problem: str = ""

    @property
    def failure(self) -> str:
        """The problem in a word or two, for tables."""
        if not self.problem:
            return ""
        return TOO_SLOW if self.problem.startswith(TOO_SLOW) else "fails"


def signed_requests(server: Running, items: int, operation: str, number: int) -> list[bytes]:
    """Return the requests of a round to a server whose table has so many items."""
    return server.sign(_bodies(operation, items, number))


@lru_cache(maxsize=2)  # servers with the same number of items take turns with the same bodies
def _bodies(operation: str, items: int, number: int) -> list[tuple[str, bytes]]:
    requests = workload.OPERATIONS[operation](items, number)
    return [(name, msgspec.json.encode(request)) for name, request in requests]


def load_round(
    server: Running, items: int, operation: str, number: int, connections: int, seconds: float
) -> Served | str:
    """Return a round of load, or why there is none."""
    try:
        return under_load(
            server.process,
            signed_requests(server, items, operation, number),
            connections=connections,
            seconds=seconds,
            repeat=operation not in workload.ONCE,
        )
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return str(error)


def summarize(
    server: str,
    durability: Durability,
    operation: str,
    connections: int,
    rounds: Sequence[Served | str],
) -> Cell:
    """Return the figures of all rounds of one operation."""
    served = [each for each in rounds if isinstance(each, Served)]
    rates = [each.rate for each in served]
    responses = sum(each.load.responses + each.load.late for each in served)
    problems = [each for each in rounds if isinstance(each, str)]
    problems += [each.load.problem for each in served if each.load.refused]
    problems += ["no response" for each in served if not each.load.responses]
    return Cell(
        server=server,
        durability=durability,
        operation=operation,
        connections=connections,
        rate=median(rates) if rates else 0.0,
        rounds=rates,
        cpu_micros=sum(each.cpu for each in served) / responses * 1e6 if responses else 0.0,
        others=max((each.others for each in served), default=0.0),
        idle=median(each.load.idle / each.load.seconds for each in served) if served else 0.0,
        problem=next(iter(problems), ""),
    )
