"""Goals: each figure of ours beside its limit, with a verdict.

Like is compared with like: a server that syncs before it responds with servers that do, one that
does not with those that do not. A verdict is `unsure` if the rounds differ by more than a third, if
other processes used the machine, or if the clients were too slow to show that a goal is reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.measure import Figure, below, judged
from benchmarks.peers.endpoints import BARE, BARE_NAME, Endpoints, Server
from benchmarks.peers.rounds import Cell
from benchmarks.peers.servers import OURS, Durability

#: The rounds of one figure may differ by this factor.
SPREAD = 1.33
#: Other processes may use this many cores.
QUIET = 0.2
#: Clients that waited less than this part of the time were the bottleneck.
WAITED = 0.05

RATE = 1.5
#: A durable write on one connection waits for the disk: no server can be much faster.
RATE_OF_ONE_WRITER = 1.0
ONE_WRITER = ("put 1 KB", "update")
CPU = {"get": 1.5, "query of 20": 2.0, "put 1 KB": 2.5}
AT_REST_MB = 35.0
WITH_ITEMS = 1.5
START_SECONDS = 0.2

DURABILITIES: dict[Durability, str] = {
    "memory": "in memory",
    "durable": "in a file, synced",
    "file": "in a file, not synced",
    "unknown": "in a file, syncs unknown",
}


def is_steady(rounds: Sequence[float]) -> bool:
    """Return whether the rounds of a figure differ little."""
    return bool(rounds) and max(rounds) <= SPREAD * min(rounds)


def compare(cells: Sequence[Cell]) -> dict[tuple[Durability, str, int], Figure]:
    """Compare our rates under the raw load with those of the best peer of the same durability.

    Peers with unknown syncs are compared with our durable server.
    """
    raw = [cell for cell in cells if cell.client == "raw" and cell.server != BARE_NAME]
    found: dict[tuple[Durability, str, int], Figure] = {}
    for ours in raw:
        if ours.server != OURS or ours.problem:
            continue
        for durability in DURABILITIES:
            if durability != ours.durability and (durability, ours.durability) != (
                "unknown",
                "durable",
            ):
                continue
            peers = [
                cell
                for cell in raw
                if cell.server != OURS
                and not cell.problem
                and (cell.durability, cell.operation, cell.connections)
                == (durability, ours.operation, ours.connections)
            ]
            if peers:
                best = max(peers, key=lambda cell: cell.rate)
                found[durability, ours.operation, ours.connections] = _rate(ours, best)
    return found


def _rate(ours: Cell, best: Cell) -> Figure:
    is_one_writer = (
        ours.durability == "durable" and ours.connections == 1 and ours.operation in ONE_WRITER
    )
    goal = RATE_OF_ONE_WRITER if is_one_writer else RATE
    is_reached = ours.rate >= goal * best.rate
    return judged(
        f"{ours.operation}, {ours.connections} connections, {DURABILITIES[best.durability]}",
        "req/s",
        ours.rate,
        limit=best.rate,
        limit_is=best.server,
        at_least=goal,
        sure=is_sure(ours) and is_sure(best) and (is_reached or ours.idle >= WAITED),
    )


def is_sure(cell: Cell) -> bool:
    """Return whether the rounds of a cell differ little, and no one else used the machine."""
    return is_steady(cell.rounds) and cell.others <= QUIET


def figures(measured: Endpoints) -> list[Figure]:
    """Return the figures with goals other than rates: CPU time, memory and cold start."""
    return [*_cpu(measured.cells), *_footprints(measured)]


def _cpu(cells: Sequence[Cell]) -> Iterator[Figure]:
    found = {
        (cell.server, cell.durability, cell.operation): cell
        for cell in cells
        if cell.client == "raw" and cell.connections == BARE
    }
    for durability in ("memory", "durable"):
        for operation, goal in CPU.items():
            ours = found.get((OURS, durability, operation))
            bare = found.get((BARE_NAME, durability, operation))
            if ours is None or bare is None or not bare.cpu_micros:
                continue
            yield judged(
                f"CPU time of the server, {operation}, {DURABILITIES[durability]}",
                "µs",
                ours.cpu_micros,
                limit=bare.cpu_micros,
                limit_is="bare server",
                at_most=goal,
                sure=max(ours.others, bare.others) <= QUIET,
            )


def _footprints(measured: Endpoints) -> Iterator[Figure]:
    ours = [server for server in measured.servers if server.name == OURS]
    for server in ours:
        where = DURABILITIES[server.durability]
        yield below(f"memory at rest, {where}", "MB", server.at_rest, goal=AT_REST_MB)
    for server in ours:
        peers = [other for other in measured.servers if _is_comparable(server, other)]
        if peers:
            best = min(peers, key=lambda peer: peer.with_items)
            yield judged(
                f"memory with {server.items:,} items, {DURABILITIES[server.durability]}",
                "MB",
                server.with_items,
                limit=best.with_items,
                limit_is=best.name,
                at_most=WITH_ITEMS,
            )
    for server in ours:
        yield below(
            f"cold start, {DURABILITIES[server.durability]}",
            "s",
            server.start_seconds,
            goal=START_SECONDS,
            sure=server.start_seconds < START_SECONDS or is_steady(server.starts),
        )


def _is_comparable(ours: Server, other: Server) -> bool:
    """Return whether a server is a peer in memory with as many items as ours."""
    return (
        other.name != OURS
        and ours.durability == other.durability == "memory"
        and ours.items == other.items
    )
