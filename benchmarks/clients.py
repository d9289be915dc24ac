"""Compare the remote transport with other clients: CPU time of a GetItem and a Query of 20 items.

All clients read the same orders from the same endpoint in another process, and create typed
objects. Each is used as its documentation shows and keeps its connection. Synchronous and
asynchronous clients are compared separately. The figure is the CPU time of this process with all of
its threads, in the best of many short rounds; in each round every client runs once. The time of the
endpoint, and the time spent waiting for it, do not count.
"""

# The clients are optional (`make bench` installs them), so mypy may not find them.
# mypy: disable-error-code="import-not-found", allow-subclassing-any, allow-untyped-calls

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from benchmarks.http import server
from benchmarks.measure import Context, Figure, cut, judged, undisturbed
from benchmarks.reads import draw
from tablewright import Attr, Entity, Table, attr, connect, connect_async, key, put

ROUNDS = 30
PARTITION = 20  # items
SAMPLE = 27  # the order that checks whether a client reads what was written
OURS = "tablewright"
REGION, ACCESS_KEY, SECRET_KEY = "us-east-1", "benchmark", "benchmark"


# -- the data --------------------------------------------------------------------------------


class Orders(Table, name="orders", type_attribute="kind"):
    pass


@dataclass
class Address:
    street: str
    city: str
    zip: str


class Order(Entity, table=Orders):
    customer: Attr[int] = attr(pad=7)
    number: Attr[int] = attr(pad=8)
    placed: Attr[datetime] = attr()
    product: Attr[str] = attr()
    status: Attr[str] = attr()
    amount: Attr[Decimal] = attr()
    gift: Attr[bool] = attr()
    tags: Attr[set[str]] = attr()
    address: Attr[Address] = attr()
    note: Attr[str] = attr()

    primary = key("CUSTOMER" / customer, "ORDER" / number)


def order(n: int) -> Order:
    return Order(
        customer=n // PARTITION,
        number=n,
        placed=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n * 977),
        product=f"product {n % 500}",
        status=("PLACED", "PAID", "SHIPPED")[n % 3],
        amount=Decimal(f"{n % 9000 + 100}.95"),
        gift=n % 2 == 0,
        tags={"express", "fragile", "insured"},
        address=Address(street=f"{n % 300} Harbour Road", city="Hamburg", zip="20457"),
        note="Please ring twice and leave it with the neighbour on the second floor.",
    )


def partition_key(n: int) -> str:
    return f"CUSTOMER#{n // PARTITION:07}"


def sort_key(n: int) -> str:
    return f"ORDER#{n:08}"


def facts(found: Any) -> tuple[object, ...]:
    """Return the values of an order, from the object of any client."""
    simple = ("customer", "number", "placed", "product", "status", "amount", "gift", "note")
    address = (found.address.street, found.address.city, found.address.zip)
    values = [getattr(found, name) for name in simple]
    return (*map(type, values), *values, set(found.tags), address)


@dataclass
class PlainOrder:
    """An order for the clients that return dictionaries."""

    customer: int
    number: int
    placed: datetime
    product: str
    status: str
    amount: Decimal
    gift: bool
    tags: set[str]
    address: Address
    note: str


def plain(item: Mapping[str, Any]) -> PlainOrder:
    return PlainOrder(
        customer=int(item["customer"]),
        number=int(item["number"]),
        placed=datetime.fromisoformat(item["placed"]),
        product=item["product"],
        status=item["status"],
        amount=item["amount"],
        gift=item["gift"],
        tags=item["tags"],
        address=Address(**item["address"]),
        note=item["note"],
    )


# -- the synchronous clients ---------------------------------------------------------------------


class Client(NamedTuple):
    """A client: functions that read order `n`, and all orders of its customer."""

    name: str
    get: Callable[[int], Any]
    page: Callable[[int], Any]


Opening: TypeAlias = Callable[[str, asyncio.Runner], Iterator[Client]]


def ours(url: str, _: asyncio.Runner) -> Iterator[Client]:
    with connect(url, Orders) as database:
        yield Client(
            OURS,
            lambda n: database.run(Order.primary(n // PARTITION, n)),
            lambda n: database.run(Order.primary.within(n // PARTITION)),
        )


def boto3_client(url: str, _: asyncio.Runner) -> Iterator[Client]:
    import boto3
    from boto3.dynamodb.types import TypeDeserializer

    client = boto3.client("dynamodb", **_boto3_options(url))
    deserialize = TypeDeserializer().deserialize

    def typed(item: dict[str, Any]) -> PlainOrder:
        return plain({name: deserialize(value) for name, value in item.items()})

    def get(n: int) -> PlainOrder:
        wanted = {"PK": {"S": partition_key(n)}, "SK": {"S": sort_key(n)}}
        return typed(client.get_item(TableName="orders", Key=wanted)["Item"])

    def page(n: int) -> list[PlainOrder]:
        answer = client.query(
            TableName="orders",
            KeyConditionExpression="PK = :customer",
            ExpressionAttributeValues={":customer": {"S": partition_key(n)}},
        )
        return [typed(item) for item in answer["Items"]]

    yield Client(f"boto3 client {version('boto3')}", get, page)
    client.close()


def boto3_resource(url: str, _: asyncio.Runner) -> Iterator[Client]:
    import boto3
    from boto3.dynamodb.conditions import Key

    table = boto3.resource("dynamodb", **_boto3_options(url)).Table("orders")

    def get(n: int) -> PlainOrder:
        return plain(table.get_item(Key={"PK": partition_key(n), "SK": sort_key(n)})["Item"])

    def page(n: int) -> list[PlainOrder]:
        answer = table.query(KeyConditionExpression=Key("PK").eq(partition_key(n)))
        return [plain(item) for item in answer["Items"]]

    yield Client(f"boto3 resource {version('boto3')}", get, page)
    table.meta.client.close()


def _boto3_options(url: str) -> dict[str, str]:
    return {
        "endpoint_url": url,
        "region_name": REGION,
        "aws_access_key_id": ACCESS_KEY,
        "aws_secret_access_key": SECRET_KEY,
    }


def pynamodb(url: str, _: asyncio.Runner) -> Iterator[Client]:
    from pynamodb.attributes import (
        Attribute,
        BooleanAttribute,
        MapAttribute,
        NumberAttribute,
        UnicodeAttribute,
        UnicodeSetAttribute,
    )
    from pynamodb.models import Model

    # Its own attributes return floats, and read times in its own format only.
    class DecimalAttribute(Attribute[Decimal]):
        attr_type = "N"

        def deserialize(self, value: str) -> Decimal:
            return Decimal(value)

    class MomentAttribute(Attribute[datetime]):
        attr_type = "S"

        def deserialize(self, value: str) -> datetime:
            return datetime.fromisoformat(value)

    class AddressMap(MapAttribute[str, str]):
        street = UnicodeAttribute()
        city = UnicodeAttribute()
        zip = UnicodeAttribute()

    class OrderModel(Model):
        class Meta:
            table_name = "orders"
            host = url
            region = REGION
            aws_access_key_id = ACCESS_KEY
            aws_secret_access_key = SECRET_KEY

        pk = UnicodeAttribute(hash_key=True, attr_name="PK")
        sk = UnicodeAttribute(range_key=True, attr_name="SK")
        kind = UnicodeAttribute()
        customer = NumberAttribute()
        number = NumberAttribute()
        placed = MomentAttribute()
        product = UnicodeAttribute()
        status = UnicodeAttribute()
        amount = DecimalAttribute()
        gift = BooleanAttribute()
        tags = UnicodeSetAttribute()
        address = AddressMap()
        note = UnicodeAttribute()

    yield Client(
        f"PynamoDB {version('pynamodb')}",
        lambda n: OrderModel.get(partition_key(n), sort_key(n)),
        lambda n: list(OrderModel.query(partition_key(n))),
    )


def pydynox(url: str, _: asyncio.Runner) -> Iterator[Client]:
    model = _pydynox_model(url)
    yield Client(
        f"pydynox {version('pydynox')}",
        lambda n: model.sync_get(pk=partition_key(n), sk=sort_key(n)),
        lambda n: list(model.sync_query(partition_key=partition_key(n))),
    )


def _pydynox_model(url: str) -> Any:
    from pydynox import DynamoDBClient, Model, ModelConfig
    from pydynox.attributes import (
        BooleanAttribute,
        DatetimeAttribute,
        DecimalAttribute,
        MapAttribute,
        NumberAttribute,
        StringAttribute,
        StringSetAttribute,
    )

    client = DynamoDBClient(
        endpoint_url=url, region=REGION, access_key=ACCESS_KEY, secret_key=SECRET_KEY
    )

    class OrderModel(Model):
        model_config = ModelConfig(table="orders", client=client)

        pk = StringAttribute(partition_key=True, alias="PK")
        sk = StringAttribute(sort_key=True, alias="SK")
        kind = StringAttribute()
        customer = NumberAttribute()
        number = NumberAttribute()
        placed = DatetimeAttribute()
        product = StringAttribute()
        status = StringAttribute()
        amount = DecimalAttribute()
        gift = BooleanAttribute()
        tags = StringSetAttribute()
        address = MapAttribute(Address)
        note = StringAttribute()

    return OrderModel


# -- the asynchronous clients ---------------------------------------------------------------


def ours_async(url: str, runner: asyncio.Runner) -> Iterator[Client]:
    database = runner.run(connect_async(url, Orders))

    async def get(n: int) -> Order | None:
        return await database.run(Order.primary(n // PARTITION, n))

    async def page(n: int) -> Sequence[Order]:
        return await database.run(Order.primary.within(n // PARTITION))

    yield Client(OURS, get, page)
    runner.run(database.close())


def pydynox_async(url: str, _: asyncio.Runner) -> Iterator[Client]:
    model = _pydynox_model(url)

    async def get(n: int) -> Any:
        return await model.get(pk=partition_key(n), sk=sort_key(n))

    async def page(n: int) -> list[Any]:
        return [found async for found in model.query(partition_key=partition_key(n))]

    yield Client(f"pydynox {version('pydynox')}", get, page)


def aiodynamo(url: str, runner: asyncio.Runner) -> Iterator[Client]:
    """With aiohttp, which takes less CPU time than httpx."""
    from aiodynamo.client import Client as DynamoClient
    from aiodynamo.credentials import Key, StaticCredentials
    from aiodynamo.expressions import HashKey
    from aiodynamo.http.aiohttp import AIOHTTP
    from aiohttp import ClientSession
    from yarl import URL

    async def new_session() -> ClientSession:
        return ClientSession()

    session = runner.run(new_session())
    table = DynamoClient(
        AIOHTTP(session),
        StaticCredentials(Key(ACCESS_KEY, SECRET_KEY)),
        REGION,
        endpoint=URL(url),
        numeric_type=Decimal,
    ).table("orders")

    async def get(n: int) -> PlainOrder:
        return plain(await table.get_item({"PK": partition_key(n), "SK": sort_key(n)}))

    async def page(n: int) -> list[PlainOrder]:
        return [plain(item) async for item in table.query(HashKey("PK", partition_key(n)))]

    yield Client(f"aiodynamo {version('aiodynamo')}", get, page)
    runner.run(session.close())


#: Ours first; the others beside it.
WAITING: tuple[Opening, ...] = (ours, boto3_client, boto3_resource, pynamodb, pydynox)
IN_A_LOOP: tuple[Opening, ...] = (ours_async, pydynox_async, aiodynamo)


# -- the measurement -----------------------------------------------------------------------------


def clients(context: Context) -> list[Figure]:
    """Measure both reads, with synchronous and asynchronous clients."""
    count = context.size(2000, 100)
    gets = draw(context.size(60, 4) * ROUNDS, count)
    pages = draw(context.size(12, 2) * ROUNDS, count)
    figures: list[Figure] = []
    notes: list[str] = []
    with (
        server("tablewright", "serve", "--port", "0") as endpoint,
        asyncio.Runner() as runner,
        ExitStack() as stack,
    ):
        url = f"http://127.0.0.1:{endpoint.port}"
        with connect(url, Orders, create=True) as database:
            for n in context.track("fill", range(count)):
                database.run(put(order(n)))

        def opened(openings: Sequence[Opening]) -> Iterator[Client]:
            for opening in openings:
                try:
                    yield stack.enter_context(contextmanager(opening)(url, runner))
                except ModuleNotFoundError as error:
                    notes.append(f"left out: {opening.__name__} (no module {error.name})")

        def round_in_a_loop(call: Callable[[int], Awaitable[Any]], ns: Sequence[int]) -> float:
            return runner.run(_round_async(call, ns))

        waiting, in_a_loop = [*opened(WAITING)], [*opened(IN_A_LOOP)]
        for client in waiting:
            notes += _check(client, endpoint.port, lambda answer: answer)
        for client in in_a_loop:
            notes += _check(client, endpoint.port, runner.run)

        for what, some, measure in (("", waiting, _round), (", async", in_a_loop, round_in_a_loop)):
            name = f"a client's GetItem{what}"
            calls = {client.name: client.get for client in some}
            took = _take_turns(context, name, calls, gets, measure)
            figures += _figures(name, took, half_of="pydynox")
            name = f"a client's Query of {PARTITION}{what}"
            calls = {client.name: client.page for client in some}
            took = _take_turns(context, name, calls, pages, measure)
            figures += _figures(name, took)
    figures[0].note = "; ".join(["the client's CPU, into typed objects", *dict.fromkeys(notes)])
    return figures


def _check(client: Client, port: int, answered: Callable[[Any], Any]) -> Iterator[str]:
    """Check that every client returns what was written, and note which do not keep their
    connection."""
    first = SAMPLE - SAMPLE % PARTITION
    expected = [facts(order(n)) for n in range(first, first + PARTITION)]
    page = [facts(found) for found in answered(client.page(SAMPLE))]
    assert page == expected, f"{client.name} gives {page}"
    before = _connections(port)
    found = facts(answered(client.get(SAMPLE)))
    assert found == facts(order(SAMPLE)), f"{client.name} gives {found}"
    if _connections(port) - before:
        yield f"{client.name} connects anew for each request"


def _connections(port: int) -> set[str]:
    """Return the remote ports of all connections to a port, including those just closed."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    pairs = [line.split()[1:3] for line in lines]
    both_ways = pairs + [pair[::-1] for pair in pairs]
    return {other for here, other in both_ways if here.endswith(f":{port:04X}")}


def _take_turns(
    context: Context,
    what: str,
    calls: Mapping[str, Callable[[int], Any]],
    ns: Sequence[int],
    measure: Callable[[Callable[[int], Any], Sequence[int]], float],
) -> dict[str, float]:
    """Return the CPU time of each client's best call, in microseconds."""
    took: dict[str, list[float]] = {name: [] for name in calls}
    with undisturbed():
        for _, part in zip(context.track(what, range(ROUNDS)), cut(ns, ROUNDS), strict=True):
            for name, call in calls.items():
                took[name].append(measure(call, part))
    return {name: min(rounds) * 1e6 for name, rounds in took.items()}


def _round(call: Callable[[int], Any], ns: Sequence[int]) -> float:
    start = time.process_time()
    for n in ns:
        call(n)
    return (time.process_time() - start) / len(ns)


async def _round_async(call: Callable[[int], Awaitable[Any]], ns: Sequence[int]) -> float:
    start = time.process_time()
    for n in ns:
        await call(n)
    return (time.process_time() - start) / len(ns)


def _figures(name: str, took: Mapping[str, float], *, half_of: str = "") -> list[Figure]:
    """Compare ours with the others: at most the CPU time of each, and half of that of one."""
    own = took[OURS]
    others = {client: micros for client, micros in took.items() if client != OURS}
    if not others:
        return [Figure(name=name, unit="µs", value=own)]
    return [
        judged(
            name,
            "µs",
            own,
            limit=micros,
            limit_is=client,
            at_most=0.5 if client.partition(" ")[0] == half_of else 1,
        )
        for client, micros in others.items()
    ]
