"""A server of several processes behaves as one of a single process."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import boto3
import pytest

from tablewright.engine import Engine
from tablewright.engine.item_counts import MAX_EXACT_ROWS
from tablewright.server import serving
from tablewright.server.access import credentials_edit
from tablewright.server.workers.worker import WorkerEngine
from tests.commands import run
from tests.engine.streaming import enabled
from tests.server.conftest import TABLE
from tests.server.http import Client, message, sdk_client
from tests.server.test_operating import certificate, wait_until_refused
from tests.server.test_requests import get, put
from tests.server.test_stopping import WriteLoad, served
from tests.server.test_storage import locked_by_another_process, unlock
from tests.server.waiting import wait_until

__all__ = ["certificate"]  # a fixture

WORKERS = 2
KEY = {"k": {"S": "a"}}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with two workers and the table `things`."""
    file = tmp_path_factory.mktemp("workers") / "x.db"
    with served(file, "--workers", str(WORKERS)) as (process, url):
        with Client(url) as client:
            assert client.call("CreateTable", TABLE).status == 200
        yield url
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert errors.count("\n") == 1, errors  # it says what is served
    with Engine(file) as engine:
        assert engine.check()


@contextmanager
def connected(url: str, count: int = WORKERS) -> Iterator[list[Client]]:
    """Connections, spread over the workers."""
    with ExitStack() as stack:
        yield [stack.enter_context(Client(url)) for _ in range(count)]


@pytest.fixture
def two(url: str) -> Iterator[tuple[Client, Client]]:
    """Connections to two different workers."""
    with ExitStack() as stack:
        clients: dict[str, Client] = {}
        while len(clients) < WORKERS:  # workers may not know yet that others were closed
            client = stack.enter_context(Client(url))
            clients[worker_of(client)] = client
        one, other = clients.values()
        yield one, other


def worker_of(client: Client) -> str:
    """What all request ids of a worker begin with."""
    answer = client.call("DescribeEndpoints")
    assert answer.status == 200
    return answer.headers["x-amzn-requestid"][:36]


def named(name: str, **changes: Any) -> dict[str, Any]:
    return {**TABLE, "TableName": name, **changes}


def call(client: Client, operation: str, request: dict[str, Any]) -> Any:
    streams = {"DescribeStream", "GetShardIterator", "GetRecords"}
    service = "DynamoDBStreams" if operation in streams else "DynamoDB"
    answer = client.call(operation, request, x_amz_target=f"{service}_20120810.{operation}")
    assert answer.status == 200, answer.body
    return answer.json


def test_connections_are_spread_evenly(url: str) -> None:
    def is_even() -> bool:
        with connected(url, 8) as clients:
            return set(Counter(map(worker_of, clients)).values()) == {4}

    wait_until(is_even)  # the server may not know yet that earlier connections were closed


def test_a_connection_replaces_one_that_was_closed(two: tuple[Client, Client], url: str) -> None:
    freed = worker_of(two[1])
    two[1].socket.close()

    def is_replaced() -> bool:
        with Client(url) as client:
            return worker_of(client) == freed

    wait_until(is_replaced)


def test_a_write_is_seen_by_the_next_read_of_any_worker(two: tuple[Client, Client]) -> None:
    for number in range(100):
        one, other = two[number % 2], two[1 - number % 2]
        item = {**KEY, "number": {"N": str(number)}}
        call(one, "PutItem", {"TableName": "things", "Item": item})
        assert call(other, "GetItem", get("a"))["Item"] == item


def test_a_table_is_seen_by_all_workers_at_once(two: tuple[Client, Client]) -> None:
    one, other = two
    for turn in range(5):
        key = f"key{turn}"
        attributes = [{"AttributeName": key, "AttributeType": "S"}]
        schema = [{"AttributeName": key, "KeyType": "HASH"}]
        table = named("changing", KeySchema=schema, AttributeDefinitions=attributes)
        call(one, "CreateTable", table)
        item = {key: {"S": "x"}, "colour": {"S": "red"}}
        call(other, "PutItem", {"TableName": "changing", "Item": item})
        assert call(other, "Scan", {"TableName": "changing"})["Items"] == [item]
        call(one, "UpdateTable", adding_index("changing", "colour"))
        query = {
            "TableName": "changing",
            "IndexName": "index",
            "KeyConditionExpression": "colour = :c",
            "ExpressionAttributeValues": {":c": {"S": "red"}},
        }
        assert call(other, "Query", query)["Items"] == [item]
        call(one, "DeleteTable", {"TableName": "changing"})
        answer = other.call("Scan", {"TableName": "changing"})
        assert answer.type == "ResourceNotFoundException"


def adding_index(table: str, attribute: str) -> dict[str, Any]:
    index = {
        "IndexName": "index",
        "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    return {
        "TableName": table,
        "AttributeDefinitions": [{"AttributeName": attribute, "AttributeType": "S"}],
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }


def test_a_transaction_token_is_valid_in_all_workers(two: tuple[Client, Client]) -> None:
    update = {
        "TableName": "things",
        "Key": {"k": {"S": "token"}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    request = {"TransactItems": [{"Update": update}], "ClientRequestToken": "once"}
    for client in two * 2:
        call(client, "TransactWriteItems", request)
    assert call(two[1], "GetItem", get("token"))["Item"]["n"] == {"N": "1"}


def test_pages_and_shard_iterators_continue_in_another_worker(two: tuple[Client, Client]) -> None:
    one, other = two
    call(one, "CreateTable", named("streamed", StreamSpecification=enabled()))
    for number in range(5):
        item = {"k": {"S": str(number)}}
        call(two[number % 2], "PutItem", {"TableName": "streamed", "Item": item})
    page = call(one, "Scan", {"TableName": "streamed", "Limit": 2})
    start = page["LastEvaluatedKey"]
    rest = call(other, "Scan", {"TableName": "streamed", "ExclusiveStartKey": start})
    assert len(page["Items"] + rest["Items"]) == 5
    arn = call(other, "DescribeTable", {"TableName": "streamed"})["Table"]["LatestStreamArn"]
    shard = call(other, "DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"][0]
    iterator = call(
        one,
        "GetShardIterator",
        {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"},
    )["ShardIterator"]
    first = call(other, "GetRecords", {"ShardIterator": iterator, "Limit": 3})
    second = call(one, "GetRecords", {"ShardIterator": first["NextShardIterator"]})
    found = [record["dynamodb"]["Keys"] for record in first["Records"] + second["Records"]]
    assert found == [{"k": {"S": str(number)}} for number in range(5)]


def test_a_transaction_is_never_seen_in_part(url: str, two: tuple[Client, Client]) -> None:
    reader, writer = two
    keys = [{"k": {"S": f"pair-{side}"}} for side in "ab"]
    done = threading.Event()

    def write() -> None:
        try:
            for number in range(60):
                items = [{**key, "n": {"N": str(number)}} for key in keys]
                puts = [{"Put": {"TableName": "things", "Item": item}} for item in items]
                call(writer, "TransactWriteItems", {"TransactItems": puts})
        finally:
            done.set()

    with ThreadPoolExecutor() as pool:
        writing = pool.submit(write)
        gets = [{"Get": {"TableName": "things", "Key": key}} for key in keys]
        while not done.is_set():
            found = call(reader, "TransactGetItems", {"TransactItems": gets})["Responses"]
            assert len({response.get("Item", {}).get("n", {}).get("N") for response in found}) == 1
        writing.result()


FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("PutItem", {"TableName": "absent", "Item": KEY}),
    ("PutItem", {"TableName": "things", "Item": {}}),
    ("PutItem", {"TableName": 5}),
    (
        "PutItem",
        {
            "TableName": "things",
            "Item": KEY,
            "ConditionExpression": "attribute_not_exists(k)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": put("b")},
                {"Put": {**put("a"), "ConditionExpression": "attribute_not_exists(k)"}},
            ]
        },
    ),
    ("CreateTable", TABLE),
    ("ExecuteStatement", {"Statement": "INSERT INTO things VALUE {'k': 'a'}"}),
    ("ExecuteStatement", {"Statement": "SELEC"}),
    ("DescribeBackup", {"BackupArn": "x" * 40}),
]


@pytest.mark.parametrize(("operation", "request_body"), FAULTS)
def test_faults_are_those_of_one_process(
    two: tuple[Client, Client], client: Client, operation: str, request_body: dict[str, Any]
) -> None:
    for each in (*two, client):
        call(each, "PutItem", {"TableName": "things", "Item": KEY})
    expected = client.call(operation, request_body)
    assert expected.status == 400
    for each in two:
        found = each.call(operation, request_body)
        assert (found.status, found.json) == (expected.status, expected.json)


@pytest.fixture
def client() -> Iterator[Client]:
    """A connection to a server of one process."""
    with Engine(":memory:") as engine, serving(engine) as url, Client(url) as client:
        engine.call("CreateTable", TABLE)
        yield client


def test_the_only_client_writes_with_current_tables_and_indexes(tmp_path: Path) -> None:
    """Its worker writes itself, while the main process changes tables."""
    file = tmp_path / "x.db"
    with served(file, "--workers", "2") as (process, url):
        with Client(url) as client:
            call(client, "CreateTable", TABLE)
            for number in range(30):
                if number == 10:
                    call(client, "UpdateTable", adding_index("things", "colour"))
                item = {"k": {"S": f"x{number}"}, "colour": {"S": "red"}}
                call(client, "PutItem", {"TableName": "things", "Item": item})
            scan = {"TableName": "things", "IndexName": "index", "Select": "COUNT"}
            assert call(client, "Scan", scan)["Count"] == 30
            call(client, "DeleteTable", {"TableName": "things"})
            assert client.call("PutItem", put("a")).type == "ResourceNotFoundException"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    with Engine(file) as engine:
        assert engine.check()


def test_statements_read_and_write(two: tuple[Client, Client]) -> None:
    one, other = two
    call(one, "ExecuteStatement", {"Statement": "INSERT INTO things VALUE {'k': 'sql', 'n': 1}"})
    select = {"Statement": "SELECT n FROM things WHERE k = 'sql'"}
    assert call(other, "ExecuteStatement", select)["Items"] == [{"n": {"N": "1"}}]
    both = {"Statements": [{"Statement": "DELETE FROM things WHERE k = 'sql'"}]}
    call(other, "BatchExecuteStatement", both)
    assert call(one, "ExecuteStatement", select)["Items"] == []


def test_large_requests_are_written(two: tuple[Client, Client]) -> None:
    item = {"k": {"S": "large"}, "text": {"S": "x" * 300_000}}
    call(two[0], "PutItem", {"TableName": "things", "Item": item})
    assert call(two[1], "GetItem", get("large"))["Item"] == item
    changed = {"TableName": "things", "Key": {"k": {"S": "large"}}, "ReturnValues": "ALL_OLD"}
    assert call(two[1], "DeleteItem", changed)["Attributes"] == item


def test_boto3_works(url: str) -> None:
    client = sdk_client(url)
    client.put_item(TableName="things", Item={"k": {"S": "boto"}})
    assert client.get_item(TableName="things", Key={"k": {"S": "boto"}})["Item"]
    assert "things" in client.list_tables()["TableNames"]
    client.close()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "--workers 2: a database in memory belongs to one process; name a FILE"),
        ([":memory:"], "--workers 2: a database in memory belongs to one process"),
        (["x.db", "--realistic"], "--workers 2 cannot be combined with --realistic"),
        (["x.db", "--isolate-regions"], "cannot be combined with --isolate-regions"),
        (["x.db", "--max-buffered-mb", "31"], "give at least 32"),
    ],
)
def test_options_that_need_one_process_are_refused(options: list[str], problem: str) -> None:
    result = run("serve", "--port", "0", "--workers", "2", *options)
    assert result.returncode == 2
    assert problem in " ".join(result.stderr.split())


def test_a_file_that_cannot_be_opened_is_one_line(tmp_path: Path) -> None:
    with served(tmp_path / "absent" / "x.db", "--workers", "2") as (process, _):
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert errors.count("\n") == 1, errors


def test_a_port_in_use_is_one_line(url: str, tmp_path: Path) -> None:
    port = url.rpartition(":")[2]
    options = (tmp_path / "x.db", "--workers", "2", "--port", port)
    with served(*options) as (process, _):
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 2
    assert errors.startswith(f"tablewright: cannot listen on 127.0.0.1:{port}"), errors
    assert errors.count("\n") == 1


def children_of(process: int) -> list[int]:
    return [
        int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def is_running(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def is_served(client: Client) -> bool:
    """Whether the worker of a connection is running."""
    try:
        return client.call("ListTables").status == 200
    except (OSError, EOFError):
        return False


def is_written(url: str, *, not_by: Collection[str] = ()) -> bool:
    """Whether a new connection can write, and is not served by the workers `not_by`."""
    try:
        with Client(url) as client:
            if worker_of(client) in not_by:
                return False
            return client.call("PutItem", put("after")).status == 200
    except (OSError, EOFError):
        return False


needs_proc = pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc lists the processes")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "number", "exit_code"),
    [
        ("main", signal.SIGTERM, 0),
        ("main", signal.SIGINT, 0),
        ("main", signal.SIGKILL, -signal.SIGKILL),
        pytest.param("worker", signal.SIGKILL, 0, marks=needs_proc),
    ],
)
def test_a_signal_during_load_loses_no_acknowledged_write(
    tmp_path: Path, victim: str, number: int, exit_code: int
) -> None:
    file = tmp_path / "load.db"
    load = WriteLoad()
    with served(file, "--workers", "2") as (process, url):
        with Client(url) as client:
            client.call("CreateTable", TABLE)
        with ThreadPoolExecutor() as pool:
            for name in "abcdef":
                pool.submit(load.write, url, name)
            assert load.is_enough.wait(30)
            os.kill(process.pid if victim == "main" else children_of(process.pid)[0], number)
            if victim == "worker":
                wait_until(lambda: is_written(url))  # a connection may go to the dying worker
                process.terminate()
            output, errors = process.communicate(timeout=30)
    assert (process.returncode, output) == (exit_code, ""), errors
    assert "Traceback" not in errors
    load.check(file)


@needs_proc
def test_a_worker_that_is_killed_is_replaced(tmp_path: Path) -> None:
    with served(tmp_path / "x.db", "--workers", "2") as (process, url):
        with connected(url) as clients:
            assert clients[0].call("CreateTable", TABLE).status == 200
            names = {worker_of(client) for client in clients}
            victim, other, fork_server = children_of(process.pid)
            os.kill(victim, signal.SIGKILL)
            lost, kept = sorted(clients, key=is_served)
            assert not is_served(lost)
            assert kept.call("PutItem", put("a")).status == 200
            wait_until(lambda: is_written(url, not_by=names))  # connections may go to the dying one
            assert kept.call("GetItem", get("after")).json["Item"] == {"k": {"S": "after"}}
            (replacement,) = children_of(fork_server)
            os.kill(replacement, signal.SIGKILL)  # it is replaced, too
            wait_until(lambda: children_of(fork_server) not in ([], [replacement]))
            wait_until(lambda: is_written(url, not_by=names))
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert f"a worker process ({victim}) ended with signal 9, and another one" in errors
    assert f"a worker process ({replacement}) ended, and another one replaces it" in errors
    assert "Traceback" not in errors
    assert not any(map(is_running, (other, fork_server)))


@needs_proc
def test_a_worker_that_cannot_be_replaced_stops_the_server(tmp_path: Path) -> None:
    with served(tmp_path / "x.db", "--workers", "2") as (process, url):
        with connected(url) as clients:
            for client in clients:
                assert client.call("ListTables").status == 200
            victim, other, fork_server = children_of(process.pid)
            os.kill(fork_server, signal.SIGKILL)
            wait_until(lambda: not is_running(fork_server))
            os.kill(victim, signal.SIGKILL)
            assert all(client.is_closed() for client in clients)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    expected = f"the server stopped because a worker process ({victim}) ended with signal 9"
    assert expected in errors
    assert "Traceback" not in errors
    assert not is_running(other)


@needs_proc
def test_workers_end_with_the_main_process(tmp_path: Path) -> None:
    with served(tmp_path / "x.db", "--workers", "2") as (process, url):
        with Client(url) as client:
            assert client.call("ListTables").status == 200
        workers = children_of(process.pid)
        process.kill()
        wait_until(lambda: not any(map(is_running, workers)))


def test_a_stop_finishes_writes_that_wait_and_a_second_signal_does_not(tmp_path: Path) -> None:
    file = tmp_path / "stopped.db"
    with Engine(file) as engine:
        engine.call("CreateTable", TABLE)
    with served(file, "--workers", "2") as (process, url), Client(url) as client:
        with locked_by_another_process(file) as other:
            client.send(message("PutItem", put("a")))
            with connected(url) as clients:  # reads do not wait
                assert all(call(each, "DescribeTable", {"TableName": "things"}) for each in clients)
            process.send_signal(signal.SIGTERM)
            wait_until_refused(url)
            unlock(other)
            assert client.answer().status == 200
            assert client.is_closed()
        assert process.wait(30) == 0
    with served(file, "--workers", "2") as (process, url), Client(url) as client:
        assert client.call("DescribeEndpoints").status == 200
        client.send(message("PutItem", put("a"))[:-1])  # a stop waits for the rest
        with connected(url) as clients:
            assert all(each.call("DescribeEndpoints").status == 200 for each in clients)
        process.send_signal(signal.SIGINT)
        wait_until_refused(url)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 128 + signal.SIGINT


def test_boto3_talks_to_workers_over_tls(certificate: Path, tmp_path: Path) -> None:
    cert, key = certificate / "cert.pem", certificate / "key.pem"
    options = ("--tls-cert", cert, "--tls-key", key, "--workers", "2", tmp_path / "x.db")
    with served(*options) as (_, url):
        client = sdk_client(url, verify=str(cert))
        client.create_table(**TABLE)
        client.put_item(TableName="things", Item=KEY)
        assert client.get_item(TableName="things", Key=KEY)["Item"] == KEY
        client.close()
        with Client(url) as plain:
            plain.send(message())
            assert plain.socket.recv(1000).startswith(b"HTTP/1.1 400 ")


READ_ONLY = {"Statement": {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}}


def test_signatures_and_policies_hold_in_all_workers(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    policy = tmp_path / "read.json"
    policy.write_text(json.dumps(READ_ONLY))
    credentials_edit.add_key(users, "writer", "TWAKWRITER", "writers-secret")
    credentials_edit.add_key(users, "reader", "TWAKREADER", "readers-secret", policies=[policy])
    options = (tmp_path / "x.db", "--workers", "2", "--credentials", users)
    with served(*options) as (_, url):
        clients = {
            name: boto3.client(
                "dynamodb",
                endpoint_url=url,
                region_name="eu-west-1",
                aws_access_key_id=f"TWAK{name.upper()}",
                aws_secret_access_key=f"{name}s-secret",
            )
            for name in ("writer", "reader")
        }
        clients["writer"].create_table(**TABLE)
        clients["writer"].put_item(TableName="things", Item=KEY)
        reader = clients["reader"]
        assert reader.get_item(TableName="things", Key=KEY)["Item"] == KEY
        with pytest.raises(reader.exceptions.ClientError, match=r"AccessDenied.*PutItem"):
            reader.put_item(TableName="things", Item=KEY)
        denial = {
            "Effect": "Deny",
            "Principal": {"AWS": "arn:aws:iam::123456789012:user/reader"},
            "Action": "dynamodb:GetItem",
            "Resource": "*",
        }
        clients["writer"].put_resource_policy(
            ResourceArn=clients["writer"].describe_table(TableName="things")["Table"]["TableArn"],
            Policy=json.dumps({"Version": "2012-10-17", "Statement": [denial]}),
        )
        for _ in range(WORKERS):
            reader.close()  # the next connection is one to another worker
            with pytest.raises(reader.exceptions.ClientError, match=r"AccessDenied.*GetItem"):
                reader.get_item(TableName="things", Key=KEY)
        with Client(url) as unsigned:
            assert unsigned.call("PutItem", put("b")).type == "InvalidSignatureException"
        for client in clients.values():
            client.close()


def test_metrics_and_the_access_log_are_those_of_all_workers(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    options = ("--metrics-port", "0", "--access-log", log)
    with served(tmp_path / "x.db", "--workers", "2", *options) as (process, url):
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
        metrics = lines[1].split()[1]
        with connected(url, 4) as clients:
            clients[0].call("CreateTable", TABLE)
            for client in clients:
                client.call("PutItem", put("a"))
                client.call("GetItem", get("a"))

            def has_all() -> bool:
                with urlopen(metrics, timeout=20) as response:
                    text = response.read().decode()
                return (
                    'tablewright_requests_total{operation="GetItem",status="200"} 4\n' in text
                    and 'tablewright_request_seconds_count{operation="PutItem"} 4\n' in text
                    and "tablewright_connections 4\n" in text
                    and "tablewright_committed_writes_total 5\n" in text
                )

            wait_until(has_all)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    found = Counter(json.loads(line)["operation"] for line in log.read_text().splitlines())
    assert found == {"CreateTable": 1, "PutItem": 4, "GetItem": 4}


@needs_proc
@pytest.mark.slow
def test_the_metrics_of_a_replaced_worker_are_kept(tmp_path: Path) -> None:
    options = ("--metrics-port", "0", "--workers", "2")
    with served(tmp_path / "x.db", *options) as (process, url):
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(2)]
        metrics = lines[1].split()[1]

        def has(*wanted: str) -> bool:
            with urlopen(metrics, timeout=20) as response:
                text = response.read().decode()
            return all(f"tablewright_{line}\n" in text for line in wanted)

        with connected(url, 4) as clients:
            for client in clients:
                assert client.call("ListTables").status == 200
            requests = 'requests_total{operation="ListTables",status="200"} 4'
            wait_until(lambda: has(requests, "connections 4"))
            os.kill(children_of(process.pid)[0], signal.SIGKILL)
            wait_until(lambda: has(requests, "connections 2"))
        process.terminate()
        assert process.wait(30) == 0


@pytest.mark.slow
def test_contributor_insights_counts_the_keys_of_all_workers(tmp_path: Path) -> None:
    options = ("--metrics-port", "0", "--workers", "2")
    with served(tmp_path / "x.db", *options) as (process, url):
        assert process.stderr is not None
        metrics = [process.stderr.readline() for _ in range(2)][1].split()[1]
        with connected(url) as clients:
            call(clients[0], "CreateTable", TABLE)
            request = {"TableName": "things", "ContributorInsightsAction": "ENABLE"}
            call(clients[0], "UpdateContributorInsights", request)
            sent = 0

            def is_counted() -> bool:
                nonlocal sent
                for client in clients:
                    call(client, "GetItem", get("a"))
                    sent += 1
                with urlopen(metrics, timeout=20) as response:
                    lines = response.read().decode().splitlines()
                counts = [int(n.split()[1]) for n in lines if "key_accesses_total{" in n]
                assert sum(counts) <= sent
                return len(counts) == 1 and counts[0] > 0

            wait_until(is_counted)


def test_the_limit_of_connections_is_for_all_workers(tmp_path: Path) -> None:
    options = (tmp_path / "x.db", "--workers", "2", "--max-connections", "2")
    with served(*options) as (_, url), connected(url, 2) as (first, second):
        for client in (first, second):
            assert client.call("DescribeEndpoints").status == 200
        with Client(url) as third:
            assert third.call("DescribeEndpoints").status == 200
            assert first.is_closed()
            assert second.call("DescribeEndpoints").status == 200


def test_expired_items_are_deleted(tmp_path: Path) -> None:
    options = (tmp_path / "x.db", "--workers", "2", "--sweep-seconds", "0.05")
    with served(*options) as (_, url), connected(url) as (one, other):
        call(one, "CreateTable", TABLE)
        specification = {"AttributeName": "until", "Enabled": True}
        request = {"TableName": "things", "TimeToLiveSpecification": specification}
        call(one, "UpdateTimeToLive", request)
        item = {**KEY, "until": {"N": "1700000000"}}
        call(other, "PutItem", {"TableName": "things", "Item": item})
        wait_until(lambda: call(one, "GetItem", get("a")) == {})


def test_a_worker_counts_large_tables(tmp_path: Path) -> None:
    """Its engine has no other background work: that is the main process's."""
    file = tmp_path / "x.db"
    keys = [f"{number:04}" for number in range(MAX_EXACT_ROWS + 100)]
    with Engine(file, durability="normal") as engine:
        engine.call("CreateTable", TABLE)
        for start in range(0, len(keys), 25):
            puts = [{"PutRequest": {"Item": {"k": {"S": key}}}} for key in keys[start : start + 25]]
            engine.call("BatchWriteItem", {"RequestItems": {"things": puts}})
    with WorkerEngine(file, background=False) as worker:

        def shown() -> int:
            table = worker.call("DescribeTable", {"TableName": "things"})["Table"]
            return int(table["ItemCount"])

        assert shown() != len(keys)  # an estimate
        wait_until(lambda: shown() == len(keys))
