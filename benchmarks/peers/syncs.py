"""Syncs: which servers sync a write to the disk before they respond, measured with strace.

strace counts the calls that sync while puts are sent on one connection, so that no two writes can
share a sync. A server that calls once for each put or more often is `durable`. Servers in memory
need no measurement. Writes to files opened with O_SYNC and syncs through io_uring are not counted;
none of the servers uses them.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import workload
from benchmarks.peers.servers import OURS, Durability, Implementation, Running

CALLS = ("fsync", "fdatasync", "sync_file_range", "msync")
#: A server that syncs for nine of ten puts syncs for each: the first or the last may be missing.
DURABLE = 0.9
ATTACH_SECONDS = 10.0
_CALL = re.compile(rf"\b(?:{'|'.join(CALLS)})\(")


def syncs_per_put(server: Running, puts: int) -> float | None:
    """Return how often a server with an empty table syncs for each put.

    Returns None if it cannot be measured: strace is not installed, or may not trace.
    """
    if shutil.which("strace") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        strace = _attach(server.process.family(), log)
        if strace is None:
            return None
        try:
            remote = server.remote()
            for request in workload.puts(0, 0)[:puts]:
                remote.send(*request)
            remote.close()
        finally:
            strace.send_signal(signal.SIGINT)  # strace detaches from the server and ends
            strace.wait()
        return count_syncs(log.read_text(errors="replace")) / puts


def count_syncs(log: str) -> int:
    """Count the calls in the output of strace.

    A call that other threads interrupt has two lines; only its first has the parenthesis.
    """
    return sum(1 for line in log.splitlines() if _CALL.search(line))


def durability_of(implementation: Implementation, syncs: float | None) -> Durability:
    """Return what a response to a write promises, as far as it is known.

    If the syncs are unknown, only our own server is believed.
    """
    if implementation.promise == "memory":
        return "memory"
    if syncs is None:
        return implementation.promise if implementation.name == OURS else "unknown"
    return "durable" if syncs >= DURABLE else "file"


def _attach(pids: Sequence[int], log: Path) -> subprocess.Popen[bytes] | None:
    """Start strace and wait until it has attached to all threads; None if it may not."""
    errors = log.with_name("errors")
    with errors.open("wb") as output:
        strace = subprocess.Popen(
            [
                *("strace", "-f", "-e", f"trace={','.join(CALLS)}", "-o", str(log)),
                *(option for pid in pids for option in ("-p", str(pid))),
            ],
            stdin=subprocess.DEVNULL,
            stderr=output,
        )
    deadline = time.monotonic() + ATTACH_SECONDS
    while strace.poll() is None and time.monotonic() < deadline:
        text = errors.read_text()
        if all(f"Process {pid} attached" in text for pid in pids):
            return strace
        time.sleep(0.01)
    strace.kill()
    strace.wait()
    return None
