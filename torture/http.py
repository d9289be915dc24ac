"""Promise: whatever clients send, the server answers or closes the connection; it never answers
500, logs no traceback, continues to serve others, and releases the memory.

Method: a real `tablewright serve` is attacked over sockets, in random order, by several clients at
a time: headers and bodies byte by byte, garbage, pipelined requests, huge headers, odd chunks,
trailers, upgrades, half-closed sockets, answers that are not read, and clients that leave in the
middle of large bodies. Unfinished requests stay open meanwhile. During each attack a
well-behaved client gets its answer; afterwards the memory is near its level before, the log
contains no traceback, and a graceful stop ends with exit code 0.

Limits: one machine, loopback only, without TLS. Timeouts of the server that are longer than a round
are not waited for.
"""

from __future__ import annotations

import json
import random
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from tests.durability.opener import table
from tests.server.http import Client, message
from torture.processes import Served, served
from torture.run import Part, Round

NAME = "http"
#: A table that only a request in trailers would delete.
KEPT = "kept"
#: The number of concurrent clients; their bodies together exceed the memory limit of the server.
CROWD = 40
#: On an idle machine, a response takes a tenth of this.
ANSWER_SECONDS = 10.0
MEBIBYTE = 1 << 20
#: The maximum growth of the server's memory at the end of the attacks, and at any time.
KEPT_MB = 96
PEAK_MB = 512

PUT = message("PutItem", {"TableName": NAME, "Item": {"pk": {"S": "x"}}})


def slow_head(client: Client, chance: random.Random) -> None:
    """Send a part of the headers, then nothing more."""
    client.send(PUT[: chance.randrange(1, PUT.index(b"\r\n\r\n"))])


def slow_body(client: Client, chance: random.Random) -> None:
    """Declare a body and never finish it."""
    client.send(message("PutItem", raw=b'{"TableName"', length=chance.randrange(100, 16_000_000)))


def byte_by_byte(client: Client, chance: random.Random) -> None:
    for position in range(len(PUT)):
        client.send(PUT[position : position + 1])
    expect_status(client, 200)


def garbage(client: Client, chance: random.Random) -> None:
    client.send(chance.randbytes(chance.choice((1, 10, 1000, 100_000))))


def garbled_request(client: Client, chance: random.Random) -> None:
    data = bytearray(PUT)
    for _ in range(chance.randrange(1, 8)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    client.send(bytes(data))


def pipelined(client: Client, chance: random.Random) -> None:
    count = chance.choice((2, 50, 500))
    client.send(PUT * count)
    for _ in range(count):
        expect_status(client, 200)


def pipelined_unread(client: Client, chance: random.Random) -> None:
    """Send requests and never read the responses."""
    client.socket.settimeout(0.2)
    with suppress(TimeoutError):
        client.send(message("ListTables") * 5000)


def huge_header(client: Client, chance: random.Random) -> None:
    client.send(message(x_long="a" * chance.choice((8_000, 70_000, 1_000_000))))


def many_headers(client: Client, chance: random.Random) -> None:
    extra = {f"x_{number}": "1" for number in range(chance.choice((100, 10_000)))}
    client.send(message(**extra))  # type: ignore[arg-type]


def long_url(client: Client, chance: random.Random) -> None:
    client.send(message(path="/" + "a" * chance.choice((10_000, 300_000))))


def chunked(client: Client, chance: random.Random) -> None:
    """Send chunks with odd sizes, extensions and ends."""
    body = b'{"TableName": "http", "Item": {"pk": {"S": "chunked"}}}'
    head = message("PutItem", raw=b"", content_length=None, transfer_encoding="chunked")
    size = b"%x" % len(body)
    client.send(
        head
        + chance.choice(
            (
                size + b"\r\n" + body + b"\r\n0\r\n\r\n",
                b"00000" + size + b";name=value\r\n" + body + b"\r\n0\r\n\r\n",
                b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n",
                b"fffffffffffffffff\r\n",
                b"-1\r\n" + body,
                b"zz\r\n" + body,
                size + b"\n" + body + b"\n0\n\n",
                size + b";" + b"e" * 200_000 + b"\r\n",
            )
        )
    )


def trailers(client: Client, chance: random.Random) -> None:
    """Send headers after the last chunk: some repeat those of the request, some are many."""
    head = message("ListTables", raw=b"", content_length=None, transfer_encoding="chunked")
    count = chance.choice((1, 100, 20_000))
    extra = b"".join(b"x-trailer-%d: %s\r\n" % (n, b"v" * 50) for n in range(count))
    target = b"X-Amz-Target: DynamoDB_20120810.DeleteTable\r\n"
    body = b'{"TableName": "kept"}'
    client.send(head + b"%x\r\n%s\r\n0\r\n" % (len(body), body) + target + extra + b"\r\n")
    client.answer()


def both_lengths(client: Client, chance: random.Random) -> None:
    client.send(message("ListTables", transfer_encoding="chunked"))


def two_lengths(client: Client, chance: random.Random) -> None:
    client.send(PUT.replace(b"content-length", b"content-length: 5\r\nContent-Length", 1))


def upgrade(client: Client, chance: random.Random) -> None:
    wanted = chance.choice(("websocket", "h2c", "a" * 1000))
    request = message("ListTables", upgrade=wanted, connection="Upgrade")
    client.socket.settimeout(1)
    with suppress(TimeoutError):
        client.send(request * chance.choice((1, 2, 3000)))
        client.answer()


def connect(client: Client, chance: random.Random) -> None:
    client.send(message("ListTables", method="CONNECT", path="localhost:80"))


def expect_continue(client: Client, chance: random.Random) -> None:
    client.send(message("ListTables", expect="100-continue"))


def half_closed(client: Client, chance: random.Random) -> None:
    """Finish sending; the response must still arrive."""
    client.send(PUT)
    client.socket.shutdown(socket.SHUT_WR)
    expect_status(client, 200)


def half_closed_early(client: Client, chance: random.Random) -> None:
    client.send(PUT[: chance.randrange(len(PUT))])
    client.socket.shutdown(socket.SHUT_WR)


def leaves_in_body(client: Client, chance: random.Random) -> None:
    """Disconnect in the middle of a large body."""
    size = 16 * MEBIBYTE - 100
    client.send(message("PutItem", raw=b'{"TableName": "', length=size))
    with suppress(OSError):
        for _ in range(chance.randrange(1, 15)):
            client.send(b"a" * MEBIBYTE)
    client.socket.close()


def stays_in_body(client: Client, chance: random.Random) -> None:
    """Send a part of a large body and stay connected."""
    size = 16 * MEBIBYTE - 100
    client.socket.settimeout(0.1)
    with suppress(OSError):
        client.send(message("PutItem", raw=b'{"TableName": "', length=size) + b"a" * (size - 99))


def too_large(client: Client, chance: random.Random) -> None:
    with suppress(OSError):
        client.send(message("PutItem", raw=b"{" + b" " * 20 * MEBIBYTE + b"}"))


def large(client: Client, chance: random.Random) -> None:
    """Send a large request that is refused: an item may have 400 KB."""
    item = {"pk": {"S": "x"}, "text": {"S": "a" * (15 * MEBIBYTE)}}
    client.send(message("PutItem", {"TableName": NAME, "Item": item}))
    expect_status(client, 400, 503)  # 503: unfinished bodies of other clients use the memory


def deep(client: Client, chance: random.Random) -> None:
    depth = chance.choice((100, 10_000, 1_000_000))
    client.send(message("PutItem", raw=b"[" * depth))
    expect_status(client, 400)


def resets(client: Client, chance: random.Random) -> None:
    """Close with a reset instead of an end."""
    client.send(PUT)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.socket.close()


def connects_only(client: Client, chance: random.Random) -> None:
    """Send nothing."""


def expect_status(client: Client, *statuses: int) -> None:
    answer = client.answer()
    if answer.status not in statuses:
        raise AssertionError(
            f"expected status {statuses}, got {answer.status} {answer.body[:200]!r}"
        )


Assault = Callable[[Client, random.Random], None]
ALL: tuple[Assault, ...] = (
    *(slow_head, slow_body, byte_by_byte, garbage, garbled_request, pipelined, pipelined_unread),
    *(huge_header, many_headers, long_url, chunked, trailers, both_lengths, two_lengths, upgrade),
    *(connect, expect_continue, half_closed, half_closed_early, leaves_in_body, stays_in_body),
    *(too_large, large, deep, resets, connects_only),
)


def play(attack: Round) -> None:
    """Attack a new server, then check its memory, its log and its exit code."""
    with served(attack.folder / "http.db", "--durability", "normal") as server:
        with Client(server.url) as client:
            for name in (NAME, KEPT):
                attack.require(client.call("CreateTable", table(name)).status == 200, "no table")
            large(client, attack.chance)  # memory that is allocated once is not a leak
        before = server.memory()
        with ExitStack() as left_open:
            attack_once(attack, server, left_open, stays_in_body, attack.size(CROWD, 2))
            for _ in range(attack.size(40, 6)):
                assault, clients = attack.chance.choice(ALL), attack.chance.choice((1, 1, 1, 8))
                attack_once(attack, server, left_open, assault, clients)
            peak = server.memory("VmHWM")
        judge(attack, server, before, peak)


def attack_once(
    attack: Round, server: Served, left_open: ExitStack, assault: Assault, clients: int
) -> None:
    """Run one attack by several clients; meanwhile another client must be served."""
    name = assault.__name__
    for _ in range(clients):
        attack.count("attacks")
        client = Client(server.url)
        left_open.callback(client.socket.close)
        try:
            assault(client, attack.chance)
        except AssertionError as error:
            attack.expect(False, f"{name}: {error}")
        except (OSError, EOFError):
            attack.count("closed by the server")
        if (
            attack.chance.random() < 0.6
            and assault is not stays_in_body
            and client.socket.fileno() >= 0
        ):
            no_server_error(attack, client, name)
            client.socket.close()
    started = time.monotonic()
    request = {"TableName": NAME, "Item": {"pk": {"S": "well"}}}
    try:
        with Client(server.url) as client:
            client.socket.settimeout(ANSWER_SECONDS)
            status = client.call("PutItem", request).status
    except (OSError, EOFError) as error:
        attack.require(server.process.poll() is None, f"{name}: the server has ended")
        attack.require(False, f"{name}: a well-behaved client gets {error!r}")
    attack.expect(status == 200, f"{name}: a well-behaved client gets {status}")
    attack.highest("ms for the slowest answer", (time.monotonic() - started) * 1000)


def no_server_error(attack: Round, client: Client, name: str) -> None:
    """Require a response that is not a 5xx."""
    client.socket.settimeout(0.05)
    try:
        answer = client.answer()
    except (OSError, EOFError, ValueError):
        return
    attack.count("answers")
    attack.expect(answer.status < 500, f"{name}: answered {answer.status} {answer.body[:100]!r}")


def judge(attack: Round, server: Served, before: int, peak: int) -> None:
    with Client(server.url) as client:
        found = client.call("ListTables")
        tables = json.loads(found.body)["TableNames"]
        attack.expect(tables == [NAME, KEPT], "a trailer has overridden a header")
    deadline = time.monotonic() + 5
    while server.memory() > before + KEPT_MB and time.monotonic() < deadline:
        time.sleep(0.05)
    after = server.memory()
    attack.highest("MB at most", peak)
    levels = f"{before} MB before, {peak} MB at most, {after} MB after"
    attack.expect(after <= before + KEPT_MB, f"memory stays {KEPT_MB} MB above its level", levels)
    attack.expect(peak <= before + PEAK_MB, f"memory rises by more than {PEAK_MB} MB", levels)
    server.process.send_signal(signal.SIGTERM)
    code = server.process.wait(30)
    attack.expect(code == 0, f"after the attacks, a stop ends with {code}")
    log = server.log
    attack.expect("Traceback" not in log, "the log contains a traceback", log[-300:].strip())


PART = Part(
    "http",
    "Hostile HTTP cannot stop the server or keep its memory",
    "hostile clients against `tablewright serve`",
    45,
    play,
)
