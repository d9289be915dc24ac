"""A tenant's database never reads, changes or reveals an item of another tenant, and is never
refused its own: for hostile ids, every kind of key, index and plan, for cursors and raw requests.

The oracle looks at the stored items: an item belongs to the tenant in its attribute `owner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    Aggregate,
    Entity,
    batch_get,
    batch_write,
    condition_check,
    connect,
    create,
    delete,
    delete_all,
    put,
    transact,
    transact_get,
    update_all,
    upsert,
)
from tablewright.database import Database
from tablewright.errors import InvalidCursor, TablewrightError, TenantViolation
from tablewright.mapping.key_condition import Comparison, KeyCondition, SortCondition
from tablewright.plan.plan import AnyRequest, Context, Request, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plans import Plan, backfill
from tablewright.values import Item, Value
from tests.examples import examples
from tests.properties.tenants import WORLDS, World

SHARING = {name: world for name, world in WORLDS.items() if world.offer is not None}

each_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)

Make: TypeAlias = Callable[[World, Any], Plan[Any]]

#: Reads of one tenant's items, and how many each finds of the items that `World.fill` stores.
READS: dict[str, tuple[Make, int]] = {
    "get": (lambda w, o: w.thing.primary(o, 1), 1),
    "consistent get": (lambda w, o: w.thing.primary(o, 1).consistent(), 1),
    "batch get": (lambda w, o: batch_get([w.thing.primary(o, n) for n in range(3)]), 3),
    "transact get": (lambda w, o: transact_get(*[w.thing.primary(o, n) for n in range(3)]), 3),
    "query": (lambda w, o: w.thing.primary.within(o), 3),
    "query with a page size": (lambda w, o: w.thing.primary.within(o).page_size(2), 2),
    "range": (lambda w, o: w.thing.primary.within(o).gte(1), 2),
    "filter": (lambda w, o: w.thing.primary.within(o).filter(w.thing.state == "open"), 3),
    "first": (lambda w, o: w.thing.primary.within(o).desc().first(), 1),
    "count": (lambda w, o: w.thing.primary.within(o).count(), 3),
    "select": (lambda w, o: w.thing.primary.within(o).select(w.thing.owner), 3),
    "aggregate": (lambda w, o: w.aggregate.of(w.thing.primary(o, 1)), 1),
    "aggregate with a page": (lambda w, o: w.paged.of(w.thing.primary(o, 1)).page_size(1), 1),
    "local index": (lambda w, o: w.thing.nearby(o), 3),
    "local index, count": (lambda w, o: w.thing.nearby(o).count(), 3),
    "swapped index": (lambda w, o: w.thing.swapped(1).eq(o), 1),
    "index by a shard": (lambda w, o: w.thing.by_friend(o), 3),
    "index by a shard, count": (lambda w, o: w.thing.by_friend(o).count(), 3),
    "lookup by a unique value": (lambda w, o: w.thing.own_code(o, "c1"), 1),
}

#: Reads of an index of several attributes, of which one is the partition key of the table.
NATURAL_READS: dict[str, tuple[Make, int]] = {
    "index of several attributes by the tenant": (lambda w, o: w.thing.by_owner(o, "open"), 3),
    "the same, a range": (lambda w, o: w.thing.by_owner(o, "open").gte(1), 2),
    "the same, count": (lambda w, o: w.thing.by_owner(o, "open").count(), 3),
    "the same, a page": (lambda w, o: w.thing.by_owner(o, "open").page_size(2), 2),
}

#: Reads that name no tenant: each finds the rows of the tenant whose database it is.
FILTERED: dict[str, tuple[Make, int]] = {
    "filtered index": (lambda w, _: w.thing.by_state("open"), 3),
    "filtered index, page by page": (lambda w, _: w.thing.by_state("open").page_size(1), 1),
    "filtered index, first": (lambda w, _: w.thing.by_state("open").desc().first(), 1),
    "filtered index, count": (lambda w, _: w.thing.by_state("open").count(), 3),
    "filtered index, select": (lambda w, _: w.thing.by_state("open").select(w.thing.owner), 3),
    "filtered index, range": (lambda w, _: w.thing.by_state("open").gte(1), 2),
    "sparse index": (lambda w, _: w.thing.by_flag("red"), 2),
    "sparse index, count": (lambda w, _: w.thing.by_flag("red").count(), 2),
    "index of several attributes": (lambda w, _: w.thing.by_region("eu", "open"), 3),
    "index of several attributes, a page": (
        lambda w, _: w.thing.by_region("eu", "open").desc().page_size(2),
        2,
    ),
    "index of several attributes, range": (
        lambda w, _: w.thing.by_region("eu", "open").between(1, 2),
        2,
    ),
    "index of several attributes, equal": (
        lambda w, _: w.thing.by_region("eu", "open").eq(1).begins_with("c"),
        1,
    ),
    "index of several attributes, count": (
        lambda w, _: w.thing.by_region("eu", "open").count(),
        3,
    ),
}

#: What no tenant may do: it would read items of all tenants.
REFUSED: dict[str, Make] = {
    "scan": lambda w, _: w.thing.scan(reason="test"),
    "scan, count": lambda w, _: w.thing.scan(reason="test").count(),
    "backfill": lambda w, _: backfill(w.thing),
    "swapped index without the tenant": lambda w, _: w.thing.swapped(1),
    "swapped index, range": lambda w, o: (
        w.thing.swapped(1).begins_with(o) if w.by_prefix else w.thing.swapped(1).gte(o)
    ),
    "index that is not filtered": lambda w, _: w.thing.by_code("c1"),
    "index that is not filtered, count": lambda w, _: w.thing.by_code("c1").count(),
    "index of several attributes that is not filtered": lambda w, _: w.thing.by_region_and_code(
        "eu", "c1"
    ),
}

WRITES: dict[str, Make] = {
    "put": lambda w, o: put(w.make(o, 1, state="put")),
    "create": lambda w, o: create(w.make(o, 7, state="created")),
    "update": lambda w, o: w.thing.primary(o, 1).update(w.thing.state.set("updated")),
    "update of a unique value": lambda w, o: w.thing.primary(o, 1).update(w.thing.code.set("x")),
    "upsert": lambda w, o: w.thing.primary(o, 1).upsert(w.thing.state.set("upserted")),
    "upsert of a new one": lambda w, o: upsert(w.make(o, 9), w.thing.state.set("new")),
    "update of a range": lambda w, o: update_all(
        w.thing.primary.within(o), w.thing.state.set("all")
    ),
    "delete": lambda w, o: w.thing.primary(o, 2).delete(),
    "move": lambda w, o: w.thing.primary(o, 0).update(w.thing.number.set(8)),
    "batch of puts": lambda w, o: batch_write([put(w.part(owner=o, number=1, part=7))]),
    "batch of deletes": lambda w, o: batch_write([delete(w.part(owner=o, number=1, part=0))]),
    "transaction": lambda w, o: transact(
        create(w.make(o, 5, code="t")), delete(w.part(owner=o, number=1, part=1))
    ),
    "delete of a range": lambda w, o: delete_all(w.part.primary.within(o).eq(1)),
    "delete of a collection": lambda w, o: delete_all(w.aggregate.of(w.thing.primary(o, 5))),
    "condition_check": lambda w, o: condition_check(w.thing.primary(o, 1)),
    "transaction that requires": lambda w, o: transact(
        put(w.part(owner=o, number=1, part=6)), condition_check(w.thing.primary(o, 1))
    ),
}


def reads_of(world: World) -> dict[str, tuple[Make, int]]:
    return READS | NATURAL_READS if world.is_natural else READS


@contextmanager
def filled(world: World, owners: list[Any]) -> Iterator[Database]:
    with connect(":memory:", world.table, cursor_secret="secret") as db:
        world.fill(db, owners)
        yield db


def owners_in(result: Any) -> set[Any]:
    """The tenants whose items are in a result."""
    if isinstance(result, Aggregate):
        return owners_in([result.thing, *result.parts])  # type: ignore[attr-defined]
    if isinstance(result, Entity):
        return {result.owner}  # type: ignore[attr-defined]
    if result is None or isinstance(result, int):
        return set()
    return set().union(*(each if isinstance(each, tuple) else owners_in(each) for each in result))


def size(result: Any) -> int:
    if isinstance(result, int):
        return result
    return 1 if isinstance(result, (Entity, Aggregate)) else len(result or [])


# -- plans ---------------------------------------------------------------------------------------


@each_world
@examples(15)
@given(data=st.data())
def test_a_tenant_reads_its_own_items_and_no_others(world: World, data: st.DataObject) -> None:
    me, other = data.draw(world.ids)
    with filled(world, [me, other]) as db:
        own = db.for_tenant(owner=me)
        for make, count in (*reads_of(world).values(), *FILTERED.values()):
            result = own.run(make(world, me))
            assert size(result) == count
            assert owners_in(result) <= {me}
        assert [
            thing.number for thing in own.iterate(world.thing.by_state("open").page_size(1))
        ] == [
            0,
            1,
            2,
        ]


@each_world
@examples(15)
@given(data=st.data())
def test_a_tenant_is_refused_what_is_anothers(world: World, data: st.DataObject) -> None:
    me, other = data.draw(world.ids)
    with filled(world, [me, other]) as db:
        own, before = db.for_tenant(owner=me), world.stored(db)
        for make, _ in reads_of(world).values():
            with pytest.raises(TenantViolation):
                own.run(make(world, other))
        for make in WRITES.values():
            with pytest.raises(TenantViolation):
                own.run(make(world, other))
        for make in REFUSED.values():
            for owner in (me, other):
                with pytest.raises(TenantViolation):
                    own.run(make(world, owner))
        with pytest.raises(TenantViolation):
            own.run(transact(put(world.make(me, 1)), put(world.make(other, 1))))
        with pytest.raises(TenantViolation):
            own.run(batch_get([world.thing.primary(me, 1), world.thing.primary(other, 1)]))
        assert world.stored(db) == before


@each_world
@examples(15)
@given(data=st.data())
def test_a_tenant_changes_its_own_items_and_no_others(world: World, data: st.DataObject) -> None:
    me, other = data.draw(world.ids)
    with filled(world, [me, other]) as db:
        own = db.for_tenant(owner=me)
        theirs = world.items_of_others(db, me)
        for name, make in WRITES.items():
            before = world.stored(db)
            own.run(make(world, me))
            assert (world.stored(db) != before) == (name != "condition_check"), name
        with pytest.raises(TenantViolation):  # a move into the other's partition
            own.run(world.part.primary(me, 1, 6).update(world.part.owner.set(other)))
        assert world.items_of_others(db, me) == theirs


# -- shared partitions ---------------------------------------------------------------------------


@pytest.mark.parametrize("world", SHARING.values(), ids=SHARING)
@examples(10)
@given(data=st.data())
def test_shared_partitions_are_read_by_all_tenants_and_written_by_none(
    world: World, data: st.DataObject
) -> None:
    me, other = data.draw(world.ids)
    offer = world.offer
    with filled(world, [me, other]) as db:
        world.fill_shared(db)
        own, before = db.for_tenant(owner=me), world.stored(db)
        for shelf in world.shelves:
            theirs = offer.primary(shelf, 1)
            assert size(own.run(theirs)) == 1
            assert size(own.run(batch_get([theirs]))) == 1
            assert size(own.run(offer.primary.within(shelf))) == 1
            own.run(condition_check(theirs))
            for write in (
                put(offer(shelf=shelf, number=1)),
                create(offer(shelf=shelf, number=2)),
                theirs.delete(),
                batch_write([put(offer(shelf=shelf, number=1))]),
                batch_write([delete(offer(shelf=shelf, number=1))]),
                transact(put(world.make(me, 1)), put(offer(shelf=shelf, number=1))),
            ):
                with pytest.raises(TenantViolation):
                    own.run(write)
        assert {each.shelf for each in own.iterate(offer.by_state())} == set(world.shelves)
        things = list(own.iterate(world.thing.by_state("open").page_size(1)))
        assert [each.owner for each in things] == [me] * 3
        assert world.stored(db) == before


# -- cursors -------------------------------------------------------------------------------------


@each_world
@examples(10)
@given(data=st.data())
def test_the_pages_of_a_member_are_those_of_the_tenant(world: World, data: st.DataObject) -> None:
    me, other = data.draw(world.ids)
    with filled(world, [me, other]) as db:
        own, others = db.for_tenant(owner=me), db.for_tenant(owner=other)
        first = own.run(world.paged.of(world.thing.primary(me, 1)).page_size(1))
        cursor = first.parts.next_cursor
        second = own.run(world.paged.of(world.thing.primary(me, 1)).page_size(1).after(cursor))
        assert [each.part for each in (*first.parts, *second.parts)] == [0, 1]
        assert owners_in(first) | owners_in(second) == {me}
        for database, owner in ((others, other), (others, me), (own, other), (db, me)):
            plan = world.paged.of(world.thing.primary(owner, 1)).page_size(1)
            with pytest.raises((InvalidCursor, TenantViolation)):
                database.run(plan.after(cursor))


@each_world
@examples(10)
@given(data=st.data())
def test_a_cursor_of_one_tenant_is_refused_for_another(world: World, data: st.DataObject) -> None:
    me, other = data.draw(world.ids)
    with filled(world, [me, other]) as db:
        own, others = db.for_tenant(owner=me), db.for_tenant(owner=other)
        for make in (
            FILTERED["filtered index, page by page"][0],
            READS["query with a page size"][0],
        ):
            page = own.run(make(world, me))
            for database, owner in ((others, other), (others, me), (db, me)):
                with pytest.raises((InvalidCursor, TenantViolation)):
                    database.run(make(world, owner).after(page.next_cursor))  # type: ignore[attr-defined]
            assert size(own.run(make(world, me).after(page.next_cursor))) == 1  # type: ignore[attr-defined]


# -- raw requests --------------------------------------------------------------------------------


class Raw(Plan[bytes]):
    """A plan of a caller's own: it yields any request and returns the answer as it is."""

    def __init__(self, request: AnyRequest) -> None:
        self.request = request

    def _steps(self, context: Context) -> Steps[bytes]:
        return (yield self.request)


junk: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=3,
)


def partition_of(world: World, owner: Any) -> Value:
    """The partition key of a tenant's things, as it is stored."""
    value: Value = world.thing.primary(owner, 1)._key[world.table.__table__.attributes[0]]
    return value


def spellings(mine: Value, theirs: Value) -> st.SearchStrategy[Any]:
    """Partition keys: both tenants', and what could be taken for them."""
    own, other = next(iter(mine.values())), next(iter(theirs.values()))
    return st.sampled_from(
        [
            mine,
            mine,
            theirs,
            theirs,
            {**mine, "BOOL": True},
            {"S": other},
            {"S": f"{own}#new"},
            {"S": f"{other}#new"},
            {"S": str(other)[:-1]},
            {"S": str(theirs)},
            {"B": "YQ=="},
            {"L": [theirs]},
            {"M": {"S": theirs}},
            other,
            [theirs],
            {"S": [own]},
            {},
        ]
    )


@st.composite
def raw_requests(draw: st.DrawFn, world: World, mine: Value, theirs: Value) -> Request:
    """Requests of any operation, most of them nearly right, about both tenants."""
    table = world.table.__table__
    names = st.sampled_from(
        [
            *([table.name] * 12),
            f"arn:aws:dynamodb:eu-west-1:123456789012:table/{table.name}",
            table.name.upper(),
            "another",
            "",
            None,
            [table.name],
        ]
    )
    partitions = spellings(mine, theirs)
    items: st.SearchStrategy[Any] = st.builds(
        lambda value, sort: {table.attributes[0]: value, "SK": {"S": sort}},
        partitions,
        st.sampled_from(["I#000", "I#001", "new"]),
    ) | st.sampled_from([{}, None, [], {"SK": {"S": "I#001"}}])
    update = {"UpdateExpression": "SET n = :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
    more: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
        [
            {},
            {},
            {"ReturnValues": "ALL_OLD"},
            {"Expected": {"SK": {"Exists": True, "Value": {"S": "I#001"}}}},
            {"AttributeUpdates": {"n": {"Action": "PUT", "Value": {"N": "1"}}}},
            {"Item": {table.attributes[0]: mine, "SK": {"S": "I#001"}}},
            {"Key": {table.attributes[0]: mine, "SK": {"S": "I#001"}}},
        ]
    )

    def one(member: str, **members: Any) -> dict[str, Any]:
        body = {"TableName": draw(names), **draw(more), **members, member: draw(items)}
        if draw(st.integers(0, 9)) == 0:
            del body[draw(st.sampled_from(sorted(body)))]
        return body

    def several(*kinds: tuple[str, str, dict[str, Any]]) -> list[Any]:
        return [
            {kind: one(member, **members)}
            for kind, member, members in draw(
                st.lists(st.sampled_from(kinds), min_size=1, max_size=3)
            )
        ]

    def batch_writes() -> list[Any]:
        writes = several(("PutRequest", "Item", {}), ("DeleteRequest", "Key", {}))
        if draw(st.integers(0, 5)) == 0 and len(writes) > 1:
            writes = [writes[0] | writes[1]]
        return writes

    bodies: dict[str, Callable[[], Any]] = {
        "GetItem": lambda: one("Key"),
        "PutItem": lambda: one("Item"),
        "UpdateItem": lambda: one("Key", **update),
        "DeleteItem": lambda: one("Key", ReturnValues="ALL_OLD"),
        "BatchGetItem": lambda: {
            "RequestItems": {str(draw(names)): {"Keys": draw(st.lists(items, max_size=3))}}
        },
        "BatchWriteItem": lambda: {"RequestItems": {str(draw(names)): batch_writes()}},
        "TransactGetItems": lambda: {"TransactItems": several(("Get", "Key", {}))},
        "TransactWriteItems": lambda: {
            "TransactItems": several(
                ("Put", "Item", {}),
                ("Update", "Key", update),
                ("Delete", "Key", {}),
                ("ConditionCheck", "Key", {"ConditionExpression": "attribute_exists(SK)"}),
                ("Get", "Key", {}),
            )
        },
        "Scan": lambda: {"TableName": draw(names)},
        "Query": lambda: {
            "TableName": draw(names),
            "KeyConditionExpression": f"{table.attributes[0]} = :p",
            "ExpressionAttributeValues": {":p": draw(partitions)},
        },
        "ExecuteStatement": lambda: {"Statement": f'SELECT * FROM "{table.name}"'},
        "DeleteTable": lambda: {"TableName": draw(names)},
        "": dict,
    }
    operation = draw(st.sampled_from(sorted(bodies)))
    body = bodies[operation]()
    return Request(operation, draw(junk) if draw(st.integers(0, 19)) == 0 else body)


@st.composite
def query_requests(draw: st.DrawFn, world: World, mine: Value, theirs: Value) -> QueryRequest:
    """Queries with any key condition and any members, of the table and of its indexes."""
    table = world.table.__table__
    literals = [{"S": text} for text in ("STATE#open", "red", "eu", "open", "c1")]
    values = spellings(mine, theirs) | st.sampled_from([*literals, {"N": "1"}])
    index = draw(st.sampled_from([None, *table.indexes.values()]))
    keys = table.attributes if index is None else index.attributes
    names = [*filter(None, keys), table.attributes[0], "SK"]
    equal = {name: draw(values) for name in draw(st.lists(st.sampled_from(names), max_size=3))}
    comparison: Comparison | None = draw(
        st.sampled_from([None, "=", "begins_with", ">=", "between"])
    )
    bounds = [draw(values | st.just({"S": "I"})) for _ in range(1 + (comparison == "between"))]
    compared = draw(st.sampled_from(names))
    sort = None if comparison is None else SortCondition(compared, comparison, tuple(bounds))
    members: dict[str, Any] = {"TableName": table.name}
    if index is not None:
        members["IndexName"] = index.name
    members |= draw(
        st.sampled_from(
            [
                {},
                {},
                {"Select": "COUNT"},
                {"IndexName": "none"},
                {"IndexName": [table.name]},
                {"TableName": "another"},
                {"KeyConditionExpression": "SK = :0"},
                {"FilterExpression": "attribute_exists(SK)"},
                {"KeyConditions": {}},
                {"QueryFilter": {}},
                {"ExclusiveStartKey": {table.attributes[0]: theirs, "SK": {"S": "I#000"}}},
                {"ExclusiveStartKey": None},
            ]
        )
    )
    condition = KeyCondition(equal, sort)
    operation: Any = draw(st.sampled_from(["Query"] * 9 + ["Scan"]))
    return QueryRequest(operation, members, Selection(condition), draw(st.booleans()))


def partitions_in(answer: Any, partition: str) -> Iterator[Any]:
    """Every value of the partition key in an answer, wherever it stands."""
    if isinstance(answer, dict):
        if partition in answer:
            yield answer[partition]
        for member, inside in answer.items():
            if member not in ("LastEvaluatedKey", "UnprocessedKeys", "UnprocessedItems"):
                yield from partitions_in(inside, partition)
    elif isinstance(answer, list):
        for inside in answer:
            yield from partitions_in(inside, partition)


@each_world
@examples(10)
@given(data=st.data())
def test_a_raw_request_reaches_own_items_only(world: World, data: st.DataObject) -> None:
    me, other = data.draw(world.ids)
    mine, theirs = partition_of(world, me), partition_of(world, other)
    partition = world.table.__table__.attributes[0]
    either = raw_requests(world, mine, theirs) | query_requests(world, mine, theirs)
    with filled(world, [me, other]) as db:
        own = db.for_tenant(owner=me)

        def foreign() -> list[Item]:
            return [item for item in world.stored(db) if not world.is_own(mine, item[partition])]

        before = foreign()
        for request in data.draw(st.lists(either, min_size=10, max_size=20)):
            try:
                answer = msgspec.json.decode(own.run(Raw(request)))
            except TablewrightError:
                continue
            assert all(world.is_own(mine, each) for each in partitions_in(answer, partition))
            if isinstance(request, QueryRequest):
                assert answer["Count"] <= 3 + 2 + 3  # things, parts, sentinels
        assert foreign() == before


@each_world
@examples(10)
@given(data=st.data())
def test_a_raw_request_for_own_items_is_sent(world: World, data: st.DataObject) -> None:
    me, other = data.draw(world.ids)
    partition = world.table.__table__.attributes[0]
    name = world.table.__table__.name
    with filled(world, [me, other]) as db:
        own = db.for_tenant(owner=me)
        key = {partition: partition_of(world, me), "SK": {"S": "I#001"}}
        one = {"TableName": name, "Key": key}
        check = {**one, "ConditionExpression": "attribute_exists(SK)"}
        for request, reads in (
            (Request("GetItem", one), True),
            (Request("BatchGetItem", {"RequestItems": {name: {"Keys": [key]}}}), True),
            (Request("TransactGetItems", {"TransactItems": [{"Get": one}]}), True),
            (Request("TransactWriteItems", {"TransactItems": [{"ConditionCheck": check}]}), False),
            (Request("UpdateItem", {**one, "ReturnValues": "ALL_NEW"}), True),
            (Request("DeleteItem", {**one, "ReturnValues": "ALL_OLD"}), True),
            (Request("PutItem", {"TableName": name, "Item": key}), False),
        ):
            answer = msgspec.json.decode(own.run(Raw(request)))
            assert list(partitions_in(answer, partition)) == [key[partition]] * reads
