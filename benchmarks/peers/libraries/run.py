"""Run the libraries: start the endpoint and the clients, measure, compare what was written."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles

import msgspec
from msgspec import Struct

from benchmarks.peers.libraries import sample
from benchmarks.peers.libraries.catalog import LIBRARIES, OPERATIONS, WRITES
from benchmarks.peers.libraries.items import differences, seed, stored_items
from benchmarks.peers.libraries.processes import Client, started
from benchmarks.peers.servers import IMPLEMENTATIONS, OURS, running

#: The middle half of the rounds of a figure may differ by this factor; otherwise it is unsure.
SPREAD = 1.33
ENDPOINT = next(each for each in IMPLEMENTATIONS if each.name == OURS and each.promise == "file")


class Rounds(Struct, frozen=True):
    """Microseconds of one call, in each round."""

    median: float
    rounds: list[float]

    @property
    def is_sure(self) -> bool:
        if len(self.rounds) < 4:
            return False
        low, _, high = quantiles(self.rounds, n=4)
        return high <= SPREAD * low


class Measured(Struct, frozen=True):
    """One operation of one library."""

    library: str
    operation: str
    wall: Rounds
    cpu: Rounds


class Compared(Struct, frozen=True):
    """A library that was measured; `lines` is what a user of it writes."""

    name: str
    version: str
    is_async: bool
    lines: int


class Libraries(Struct, frozen=True):
    libraries: list[Compared]
    cells: list[Measured]
    #: What could not be measured, and why.
    missing: list[str]


def libraries(quick: bool, report: Callable[[str], None]) -> Libraries:
    """Measure all libraries that are installed.

    A library that returns something else than the sample, or writes other items than ours, is
    among the missing ones.
    """
    seeded, rounds, calls = (30, 2, 2) if quick else (300, 15, 20)
    compared: dict[str, Compared] = {}
    missing: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="libraries-") as folder,
        running(ENDPOINT) as server,
    ):
        file = str(Path(folder) / "in-process.db")
        targets = {each.name: file if each.in_process else server.process.url for each in LIBRARIES}
        with ExitStack() as stack:
            clients: dict[str, Client] = {}
            for library in LIBRARIES:
                if not library.python.exists():
                    missing.append(f"{library.name}: not installed")
                    continue
                report(f"{library.name}: {seeded} orders")
                seed(targets[library.name], library.table, seeded)
                client = stack.enter_context(started(library, targets[library.name], Path(folder)))
                try:
                    facts = client.facts()
                    _check(client, seeded)
                except RuntimeError as error:
                    missing.append(f"{library.name}: {error}")
                    continue
                clients[library.name] = client
                compared[library.name] = msgspec.convert({"name": library.name, **facts}, Compared)
            cells = list(_cells(clients, seeded, rounds, calls, report))
        report("compare the items")
        ours, *others = (client.library for client in clients.values())
        expected = stored_items(targets[ours.name], ours.table)
        for library in others:
            found = differences(stored_items(targets[library.name], library.table), expected)
            if found:
                del compared[library.name]
                missing.append(f"{library.name}: {len(found)} items differ from ours: {found[0]}")
    cells = [cell for cell in cells if cell.library in compared]
    return Libraries(list(compared.values()), cells, missing)


def _check(client: Client, seeded: int) -> None:
    """Check what each operation returns; this also warms the library up."""
    for operation in OPERATIONS:
        first = seeded if operation in WRITES else 0
        client.check(operation, range(first, first + 3))


def _cells(
    clients: Mapping[str, Client],
    seeded: int,
    rounds: int,
    calls: int,
    report: Callable[[str], None],
) -> Iterator[Measured]:
    """Measure each operation; the libraries take turns."""
    chance = random.Random(7)
    took: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for turn in range(rounds):
        report(f"round {turn + 1} of {rounds}")
        first = seeded + sample.ORDERS_OF_A_CUSTOMER + turn * calls
        new = range(first, first + calls)
        for operation in OPERATIONS:
            drawn = chance.choices(range(seeded), k=2 * calls)
            numbers = new if operation in WRITES else drawn
            for name, client in clients.items():
                found = client.measure(operation, numbers)
                took.setdefault((name, operation), []).append(found)
    for (name, operation), pairs in took.items():
        wall, cpu = ([pair[at] for pair in pairs] for at in (0, 1))
        yield Measured(name, operation, Rounds(median(wall), wall), Rounds(median(cpu), cpu))
