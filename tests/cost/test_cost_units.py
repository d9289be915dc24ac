"""Computed units equal the ConsumedCapacity of the engine, the table and each index for itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    GSI,
    LSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    put,
    transact,
    unique,
    version,
)
from tablewright.cost import Consumption, consumption
from tablewright.designs.catalog import bundled
from tablewright.errors import DeclarationError, WriteRejected
from tablewright.mapping.keys import IndexMap
from tablewright.mapping.table import TableMap
from tablewright.model.table import Project
from tablewright.transport import Response, Transport
from tablewright.transport.targets import Local
from tablewright.values import Item
from tablewright.verify import Design, verify
from tablewright.verify.trace import ItemReader, Recorder

#: The checks of menu, four designs in one, take longer.
DESIGNS = [
    pytest.param(each, id=each.name, marks=[pytest.mark.slow] if each.name == "menu" else [])
    for each in bundled()
]


class Compared:
    """A transport that compares the recorded units of each request with the engine's."""

    def __init__(self, transport: Transport, tables: Mapping[TableMap, str]) -> None:
        self.recorder = Recorder(transport, ItemReader(transport, tables))
        self.names = {name: table.name for table, name in tables.items()}
        self.requests = 0

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        self.recorder.drain()  # DynamoDB reports no units of a request that it refused before
        response = self.recorder.send(operation, {**request, "ReturnConsumedCapacity": "INDEXES"})
        (sent,) = self.recorder.drain()
        answer = msgspec.json.decode(response.body)
        assert recorded(consumption(sent)) == reported(answer["ConsumedCapacity"], self.names)
        self.requests += 1
        return response

    def close(self) -> None: ...


def recorded(consumed: Iterable[Consumption]) -> dict[tuple[str, str | None], float]:
    units = Counter[tuple[str, str | None]]()
    for each in consumed:
        units[each.table, each.index] += each.units  # type: ignore[assignment]
    return {place: found for place, found in units.items() if found}


def reported(capacity: Any, names: dict[str, str]) -> dict[tuple[str, str | None], float]:
    units = {}
    for one in capacity if isinstance(capacity, list) else [capacity]:
        table = names[one["TableName"]]
        units[table, None] = one["Table"]["CapacityUnits"]
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            for name, each in one.get(kind, {}).items():
                units[table, name] = each["CapacityUnits"]
    return {place: found for place, found in units.items() if found}


# -- the checks of the bundled designs -----------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
def test_every_request_of_a_design_consumes_what_is_computed(design: Design) -> None:
    with Engine() as engine, connect(engine, *design.tables) as db:
        compared = Compared(db.transport, db.table_names)
        through = db.through(compared)
        assert all(result.ok for result in verify(design, db, through=through))
        assert compared.requests


# -- random designs and requests -----------------------------------------------------------------

KEYS = ("a", "b", "c")
NAMES = (*KEYS, "text")

#: Around the sizes at which another unit begins.
texts = st.sampled_from([0, 7, 500, 980, 1030, 2100, 4090, 9000]).map("x".__mul__)
values = {name: st.sampled_from(["x", "y", "z" * 900]) for name in KEYS} | {"text": texts}
keys = st.fixed_dictionaries({name: st.sampled_from(["1", "2"]) for name in ("PK", "SK")})
attributes = st.fixed_dictionaries({}, optional=values)
WHOLE: tuple[Project, ...] = ("ALL", "KEYS_ONLY")
projections: st.SearchStrategy[Project] = st.sampled_from(WHOLE) | st.lists(
    st.sampled_from(NAMES), min_size=1, unique=True
).map(tuple)


@st.composite
def tables(draw: st.DrawFn) -> TableMap:
    indexes = {}
    for number in range(draw(st.integers(0, 3))):
        name, projection = f"index{number}", draw(projections)
        if draw(st.booleans()):
            (sort,) = draw(st.permutations(KEYS))[:1]
            indexes[name] = IndexMap(name, "local", ("PK",), (sort,), projection)
        else:
            partition, *sorts = draw(st.permutations(KEYS))[: draw(st.integers(1, 2))]
            indexes[name] = IndexMap(name, "global", (partition,), tuple(sorts), projection)
    return TableMap("Random", "random", ("PK", "SK"), None, indexes)


def create_table(table: TableMap) -> dict[str, Any]:
    def schema(partition: str, sort: tuple[str, ...]) -> list[dict[str, str]]:
        hashed = {"AttributeName": partition, "KeyType": "HASH"}
        return [hashed, *({"AttributeName": name, "KeyType": "RANGE"} for name in sort)]

    def definition(index: IndexMap) -> dict[str, Any]:
        projected: dict[str, Any] = {"ProjectionType": index.projection}
        if isinstance(index.projection, tuple):
            projected = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(index.projection)}
        return {
            "IndexName": index.name,
            "KeySchema": schema(index.partition[0], index.sort),
            "Projection": projected,
        }

    used = {"PK", "SK", *(name for each in table.indexes.values() for name in each.attributes)}
    request: dict[str, Any] = {
        "TableName": table.name,
        "KeySchema": schema("PK", ("SK",)),
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in sorted(used)],
        "BillingMode": "PAY_PER_REQUEST",
    }
    for kind, member in (("local", "LocalSecondaryIndexes"), ("global", "GlobalSecondaryIndexes")):
        found = [definition(each) for each in table.indexes.values() if each.kind == kind]
        if found:
            request[member] = found
    return request


def item(values: dict[str, str]) -> Item:
    return {name: {"S": value} for name, value in values.items()}


def change(values: dict[str, str], removed: set[str]) -> dict[str, Any]:
    """Return an update that sets these values and removes other attributes."""
    names = {f"#{name}": name for name in {*values, *removed}}
    clauses = {
        "SET": [f"#{name} = :{name}" for name in values],
        "REMOVE": [f"#{name}" for name in removed - values.keys()],
    }
    texts = [f"{verb} {', '.join(each)}" for verb, each in clauses.items() if each]
    body: dict[str, Any] = {"UpdateExpression": " ".join(texts)}
    if values:
        body["ExpressionAttributeValues"] = {f":{n}": {"S": v} for n, v in values.items()}
    return body | {"ExpressionAttributeNames": names} if names else {}


puts = st.builds(lambda key, rest: {"Put": {"Item": item(key | rest)}}, keys, attributes)
updates = st.builds(
    lambda key, rest, removed: {"Update": {"Key": item(key)} | change(rest, removed)},
    keys,
    attributes,
    st.sets(st.sampled_from(NAMES), max_size=2),
).filter(lambda action: "UpdateExpression" in action["Update"])
deletes = st.builds(lambda key: {"Delete": {"Key": item(key)}}, keys)
checks = st.builds(
    lambda key: {
        "ConditionCheck": {"Key": item(key), "ConditionExpression": "attribute_not_exists(nope)"}
    },
    keys,
)
single = st.one_of(puts, updates, deletes)


def identity(action: dict[str, Any]) -> tuple[str, str]:
    ((_, body),) = action.items()
    found = body.get("Item") or body["Key"]
    return found["PK"]["S"], found["SK"]["S"]


transactions = st.lists(
    st.one_of(puts, updates, deletes, checks), min_size=1, max_size=4, unique_by=identity
)
batches = st.lists(st.one_of(puts, deletes), min_size=1, max_size=4, unique_by=identity)


@st.composite
def queries(draw: st.DrawFn) -> dict[str, Any]:
    """Return what a Scan and a Query of the table or of an index read."""
    return {
        "index": draw(st.integers(-1, 2)),
        "value": draw(st.sampled_from(["1", "2", "x", "y"])),
        "Limit": draw(st.integers(1, 4)),
        "ConsistentRead": draw(st.booleans()),
        "is_filtered": draw(st.booleans()),
    }


requests = st.one_of(
    st.tuples(st.just("single"), single),
    st.tuples(st.just("transaction"), transactions),
    st.tuples(st.just("batch"), batches),
    st.tuples(st.just("query"), queries()),
    st.tuples(
        st.just("get"),
        st.lists(keys, min_size=1, max_size=3, unique_by=lambda key: (key["PK"], key["SK"])),
    ),
)


def send(compared: Compared, table: TableMap, kind: str, given: Any) -> None:
    name = {"TableName": table.name}
    if kind == "single":
        ((verb, body),) = given.items()
        compared.send(f"{verb}Item", name | body)
    elif kind == "transaction":
        actions = [{verb: name | body} for action in given for verb, body in action.items()]
        compared.send("TransactWriteItems", {"TransactItems": actions})
    elif kind == "batch":
        actions = [{f"{verb}Request": body} for each in given for verb, body in each.items()]
        compared.send("BatchWriteItem", {"RequestItems": {table.name: actions}})
    elif kind == "get":
        found = [item(key) for key in given]
        compared.send("GetItem", name | {"Key": found[0]})
        compared.send("BatchGetItem", {"RequestItems": {table.name: {"Keys": found}}})
        gets = [{"Get": name | {"Key": key}} for key in found]
        compared.send("TransactGetItems", {"TransactItems": gets})
    else:
        query(compared, table, given)


def query(compared: Compared, table: TableMap, given: dict[str, Any]) -> None:
    indexes = [*table.indexes.values()][given["index"] :][:1] if given["index"] >= 0 else []
    body: dict[str, Any] = {"TableName": table.name, "Limit": given["Limit"]}
    partition = "PK"
    if indexes:
        body["IndexName"], partition = indexes[0].name, indexes[0].partition[0]
    if not indexes or indexes[0].kind == "local":
        body["ConsistentRead"] = given["ConsistentRead"]
    names: dict[str, str] = {}
    if given["is_filtered"] and indexes:
        names["#f"] = "SK"
        body["FilterExpression"] = "#f = :f"
    values = {":f": {"S": "1"}} if names else {}
    filtered = {"ExpressionAttributeNames": names, "ExpressionAttributeValues": values}
    compared.send("Scan", body | filtered if names else body)
    body |= {
        "KeyConditionExpression": "#p = :p",
        "ExpressionAttributeNames": names | {"#p": partition},
        "ExpressionAttributeValues": values | {":p": {"S": given["value"]}},
    }
    compared.send("Query", body)


@given(tables(), st.lists(requests, max_size=12))
def test_every_request_consumes_what_is_computed(
    table: TableMap, sequence: list[tuple[str, Any]]
) -> None:
    with Engine() as engine:
        local = Local(engine)
        local.send("CreateTable", create_table(table))
        compared = Compared(local, {table: table.name})
        for kind, given in sequence:
            send(compared, table, kind, given)


# -- random declarations -------------------------------------------------------------------------


@st.composite
def declarations(draw: st.DrawFn) -> tuple[type[Table], Any]:
    """Declare an entity: with a version, a unique value and conditions on its indexes, or not."""
    first, second, third = draw(projections), draw(projections), draw(projections)
    is_versioned, is_unique, is_sparse = (draw(st.booleans()) for _ in range(3))

    class Notes(Table, name="notes"):
        by_state = GSI("GSI1PK", "GSI1SK", project=first)
        by_topic = GSI("topic", "GSI2SK", project=second)
        by_rank = LSI("LSI1SK", project=third)

    class Note(Entity, table=Notes):
        number: Attr[str] = attr()
        state: Attr[str | None] = attr(default=None)
        topic: Attr[str | None] = attr(default=None)
        rank: Attr[int] = attr(pad=3, default=0)
        text: Attr[str] = attr(default="")
        if is_versioned:
            version: Attr[int] = version()

        primary = key("NOTES", "NOTE" / number)
        of_state = index(
            Notes.by_state, "STATE" / state, "NOTE" / number, when=rank > 3 if is_sparse else None
        )
        of_topic = index(Notes.by_topic, topic, "RANK" / rank)
        ranked = primary.local(Notes.by_rank, "RANK" / rank / number)
        if is_unique:
            one_of_topic = unique("TOPIC" / topic)

    return Notes, Note


CHANGES = {
    "state": st.sampled_from(["x", "y"]),
    "topic": st.sampled_from(["x", "y"]),
    "rank": st.integers(0, 9),
    "text": texts,
}
numbers = st.sampled_from(["1", "2"])
given_values = st.fixed_dictionaries({}, optional=CHANGES)
calls = st.tuples(
    st.sampled_from(["create", "put", "update", "delete", "query", "transact"]),
    numbers,
    given_values,
)


def plans(note: Any, kind: str, number: str, values: dict[str, Any]) -> list[Any]:
    new = note(number=number, **values)
    changes = [getattr(note, name).set(value) for name, value in values.items()]
    found = note.primary(number)
    if kind == "update" and changes:
        return [found.update(*changes)]
    if kind == "transact" and changes:
        other = note(number=f"{number}0", **(values | {"topic": f"other {number}"}))
        return [transact(found.update(*changes), put(other))]
    if kind == "query":
        return [note.of_state(values.get("state", "x")), note.of_topic("x").limit(2), found]
    return [{"create": create(new), "put": put(new)}.get(kind, found.delete())]


@given(declarations(), st.lists(calls, max_size=10))
def test_every_plan_consumes_what_is_computed(
    declared: tuple[type[Table], Any], sequence: list[tuple[str, str, dict[str, Any]]]
) -> None:
    table, note = declared
    with Engine() as engine, connect(engine, table) as db:
        compared = Compared(db.transport, db.table_names)
        through = db.through(compared)
        for call in sequence:
            for plan in plans(note, *call):
                with suppress(WriteRejected, DeclarationError):  # an index may lack attributes
                    through.run(plan)
