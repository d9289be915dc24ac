"""How bytes become requests and answers bytes: splitting, pipelining, limits, closing."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import pytest

from tablewright.engine import Engine
from tablewright.server import Limits, Settings, serving
from tests.server.conftest import TABLE
from tests.server.http import Client, message
from tests.server.test_requests import get, put
from tests.storage.wal import commits

LIMIT = 16 * 1024 * 1024


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (*pieces, b""))


def send_for_ever(client: Client) -> None:
    while True:
        client.send(b" " * 65536)


@pytest.mark.parametrize("operation", ["GetItem", "PutItem"])
def test_a_request_may_be_split_anywhere(client: Client, operation: str) -> None:
    client.call("PutItem", put("a"))
    request = message(operation, get("a") if operation == "GetItem" else put("a"))
    expected = client.call(operation, get("a") if operation == "GetItem" else put("a")).body
    for at in range(1, len(request)):
        client.send(request[:at])
        client.send(request[at:])
        assert client.answer().body == expected


def test_a_request_may_come_byte_by_byte(client: Client) -> None:
    for byte in message("PutItem", put("a")):
        client.send(bytes([byte]))
    assert client.answer().status == 200


def test_pipelined_requests_are_answered_in_order(client: Client) -> None:
    """Reads between writes see exactly the writes before them."""
    requests = []
    for number in range(25):
        requests.append(message("PutItem", put("a", n=str(number))))
        requests.append(message("GetItem", get("a")))
    client.send(b"".join(requests))
    for number in range(25):
        assert client.answer().json == {}
        assert client.answer().json["Item"]["n"] == {"S": str(number)}


def test_thousands_of_requests_wait_for_a_client_that_does_not_read(url: str) -> None:
    """They are answered when it reads again, and do not take a level of recursion each."""
    count = 3000
    with Client(url, receive_buffer=4096) as client:
        assert client.call("PutItem", put("a", text="x" * 10_000)).json == {}
        requests = message("GetItem", get("a")) * count
        sender = threading.Thread(target=client.send, args=(requests,))
        sender.start()
        for _ in range(count):
            assert client.answer().status == 200
        sender.join()


def test_faults_keep_their_place_among_pipelined_requests(client: Client) -> None:
    client.send(
        message("PutItem", put("a"))
        + message("Nothing")
        + message("GetItem", get("a"))
        + message("PutItem", raw=b"{")
    )
    assert client.answer().json == {}
    assert client.answer().type == "UnknownOperationException"
    assert client.answer().json == {"Item": {"k": {"S": "a"}}}
    assert client.answer().type == "SerializationException"


def test_a_connection_serves_many_requests(client: Client) -> None:
    assert all(client.call().status == 200 for _ in range(200))


def test_connection_close_is_obeyed(client: Client) -> None:
    answer = client.call("PutItem", put("a"), connection="close")
    assert (answer.status, answer.headers["connection"]) == (200, "close")
    assert client.is_closed()


def test_http_1_0_closes_unless_asked_to_keep_alive(url: str) -> None:
    with Client(url) as client:
        answer = client.call(version="1.0", connection="keep-alive")
        assert answer.headers["connection"] == "keep-alive"
        assert client.call(version="1.0").headers["connection"] == "close"
        assert client.is_closed()


def test_a_client_that_waits_for_100_continue_gets_it(client: Client) -> None:
    request = message("PutItem", put("a"), expect="100-continue")
    head, body = request.split(b"\r\n\r\n", 1)
    client.send(head + b"\r\n\r\n")
    assert client.answer().status == 100
    client.send(body)
    assert client.answer().status == 200


def test_100_continue_waits_for_the_answer_before_it(client: Client) -> None:
    head, body = message("GetItem", get("a"), expect="100-continue").split(b"\r\n\r\n", 1)
    client.send(message("PutItem", put("a")) + head + b"\r\n\r\n")
    assert client.answer().json == {}
    assert client.answer().status == 100
    client.send(body)
    assert client.answer().json == {"Item": {"k": {"S": "a"}}}


def test_a_body_may_be_chunked(client: Client) -> None:
    body = json.dumps(put("a")).encode()
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    request = message(
        "PutItem", raw=chunked(*pieces), content_length=None, transfer_encoding="chunked"
    )
    client.send(request + message("GetItem", get("a")))
    assert client.answer().json == {}
    assert client.answer().json == {"Item": {"k": {"S": "a"}}}


def test_an_offer_of_another_protocol_is_passed_over(client: Client) -> None:
    """Java's client offers HTTP/2 with its first request."""
    offer = message("PutItem", put("a"), connection="Upgrade, HTTP2-Settings", upgrade="h2c")
    client.send(offer + message("GetItem", get("a")))
    assert client.answer().json == {}
    assert client.answer().json == {"Item": {"k": {"S": "a"}}}


def test_a_body_of_16_mb_is_read(client: Client) -> None:
    body = b'{"TableName": "things"' + b" " * LIMIT
    body = body[: LIMIT - 1] + b"}"
    assert client.call("DescribeTable", raw=body).status == 200


def test_a_body_over_16_mb_is_refused_before_it_is_sent(client: Client) -> None:
    client.send(message("PutItem", raw=b"{", length=LIMIT + 1))
    answer = client.answer()
    assert (answer.status, answer.type) == (413, "RequestEntityTooLargeException")
    assert answer.headers["connection"] == "close"
    assert client.is_closed()


def test_a_client_that_sends_it_all_still_sees_the_refusal(client: Client) -> None:
    client.send(message("PutItem", raw=b" " * (LIMIT + 1)))
    assert client.answer().status == 413


def test_a_client_that_waits_for_100_continue_is_refused_at_once(client: Client) -> None:
    client.send(message("PutItem", raw=b"", length=LIMIT + 1, expect="100-continue"))
    assert client.answer().status == 413


def test_a_chunked_body_over_16_mb_is_refused(client: Client) -> None:
    client.send(
        message("PutItem", raw=b"", content_length=None, transfer_encoding="chunked")
        + b"1100000\r\n"
        + b" " * (LIMIT + 1)
    )
    assert client.answer().status == 413
    assert client.is_closed()


def test_a_refused_client_that_continues_sending_is_cut_off(engine: Engine) -> None:
    settings = Settings(limits=Limits(linger_seconds=0.05))
    with serving(engine, settings=settings) as url, Client(url) as client:
        client.send(message("PutItem", raw=b"{", length=LIMIT * 1000))
        assert client.answer().status == 413
        with pytest.raises(ConnectionError):
            send_for_ever(client)


def test_an_endless_header_is_refused(client: Client) -> None:
    client.send(b"POST / HTTP/1.1\r\nx-endless: ")
    client.send(b"x" * 400_000)
    assert client.answer().status == 400
    assert client.is_closed()


@pytest.mark.parametrize(
    "garbage",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",  # the beginning of TLS
        b"POST / HTTP/1.1\r\nbad header\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"CONNECT example.com:80 HTTP/1.1\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused(client: Client, garbage: bytes) -> None:
    client.send(garbage)
    assert client.answer().status == 400
    assert client.is_closed()


def test_what_is_not_http_is_refused_after_the_answers_before_it(client: Client) -> None:
    client.send(message("PutItem", put("a")) + message("GetItem", get("a")) + b"nonsense\r\n\r\n")
    assert client.answer().json == {}
    assert client.answer().json == {"Item": {"k": {"S": "a"}}}
    assert client.answer().status == 400
    assert client.is_closed()


def test_a_client_that_has_finished_sending_gets_its_answers(client: Client) -> None:
    client.send(message("PutItem", put("a")) + message("GetItem", get("a")))
    client.socket.shutdown(socket.SHUT_WR)
    assert client.answer().json == {}
    assert client.answer().json == {"Item": {"k": {"S": "a"}}}
    assert client.is_closed()


def test_a_client_may_vanish_at_any_moment(url: str) -> None:
    request = message("PutItem", put("a"))
    for at in range(0, len(request) + 1, 7):
        with Client(url) as client:
            client.send(request[:at])
    with Client(url) as client:
        assert client.call().status == 200


def test_a_slow_reader_stops_the_reading_of_its_requests(url: str) -> None:
    """What a client does not take piles up neither as answers nor as requests."""
    text = "x" * 100_000
    with Client(url, receive_buffer=4096) as slow, Client(url) as other:
        other.call("PutItem", put("a", text=text))
        count, request = 400, message("GetItem", get("a"))
        slow.socket.settimeout(0.2)
        sent = 0
        try:  # 40 MB of answers wait to be taken; long before that the requests stop going out
            while sent < 500_000:
                slow.send(request * 100)
                sent += 100
        except TimeoutError:
            pass
        assert sent < 500_000
        assert other.call().status == 200
        slow.socket.settimeout(20)
        for _ in range(min(sent, count)):
            assert len(slow.answer().body) > 100_000


def test_writers_at_once_share_commits(tmp_path: Path) -> None:
    """Writes that arrive in one turn of the event loop are one commit."""
    file = tmp_path / "shared.db"
    with Engine(file) as engine, serving(engine) as url:
        engine.call("CreateTable", TABLE)
        before = commits(file)
        clients = [Client(url) for _ in range(16)]
        for turn in range(50):
            for number, client in enumerate(clients):
                client.send(message("PutItem", put(f"{number}-{turn}")))
            for client in clients:
                assert client.answer().json == {}
        for client in clients:
            client.socket.close()
        assert 50 <= commits(file) - before < 800
        assert engine.call("Scan", {"TableName": "things", "Select": "COUNT"})["Count"] == 800


def test_servers_run_side_by_side(engine: Engine) -> None:
    with serving(engine) as first, serving(engine) as second:
        assert first != second
        with Client(first) as a, Client(second) as b:
            a.call("PutItem", put("x"))
            assert b.call("GetItem", get("x")).json == {"Item": {"k": {"S": "x"}}}


def test_a_port_in_use_is_an_error(url: str, engine: Engine) -> None:
    port = int(url.rsplit(":", 1)[1])
    with pytest.raises(OSError, match="in use"), serving(engine, port=port):
        pass


def test_many_clients_at_once_each_get_their_own_answers(url: str) -> None:
    failures: list[object] = []

    def work(name: str) -> None:
        with Client(url) as client:
            for number in range(50):
                client.call("PutItem", put(name, n=str(number)))
                item = client.call("GetItem", get(name)).json["Item"]
                if item != {"k": {"S": name}, "n": {"S": str(number)}}:
                    failures.append(item)

    threads = [threading.Thread(target=work, args=(f"client-{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
