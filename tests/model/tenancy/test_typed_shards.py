"""The shards of a tenant are typed key values, as the table's keys hold the tenant's id."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    Tenancy,
    attr,
    connect,
    index,
    key,
    put,
    unique,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue, TenantViolation
from tablewright.formats import shard
from tablewright.mapping.key_condition import KeyCondition, SortCondition
from tablewright.plan.plan import AnyRequest, Context, Request, Steps
from tablewright.plan.query_requests import QueryRequest, Selection
from tablewright.plans import Plan
from tablewright.values import Value
from tests.model.tenancy.owned_items import NaturalItem, UserItem
from tests.new_table import new_table
from tests.prepared import prepared


class Letters(Table, name="letters", pk="owner", sk="SK"):
    tenancy = Tenancy("owner", write=("{owner}",))


class Letter(Entity, table=Letters):
    owner: Attr[str] = attr()
    number: Attr[int] = attr(pad=2)
    code: Attr[str] = attr(default="c")
    primary = key(owner, "L" / number)
    own_code = unique(owner, "CODE" / code)


class Stamp(Entity, table=Letters):
    """In a partition of no tenant."""

    face: Attr[str] = attr()
    primary = key("FACE" / face, "STAMP")


class Meters(Table, name="meters", pk="owner", sk="SK"):
    by_street = GSI("GSI1PK", "GSI1SK")
    tenancy = Tenancy("owner", write=("{owner}",), filtered=(by_street,))


class Meter(Entity, table=Meters):
    owner: Attr[Decimal] = attr()
    number: Attr[int] = attr(pad=2)
    primary = key(owner, "M" / number)
    by_street = index(Meters.by_street, "STREET", "M" / number)


class Blobs(Table, name="blobs", pk="owner", sk="SK"):
    tenancy = Tenancy("owner", write=("{owner}",))


class Blob(Entity, table=Blobs):
    owner: Attr[bytes] = attr()
    primary = key(owner, "BLOB")


class Rooms(Table, name="rooms"):
    tenancy = Tenancy("house", write=("HOUSE#{house}",))


class Room(Entity, table=Rooms):
    house: Attr[int] = attr(pad=4)
    number: Attr[int] = attr(pad=2)
    primary = key("HOUSE" / house, "ROOM" / number)


class Ledger(Entity, table=Rooms):
    primary = key("HOUSE#ALL", "LEDGER")


def fill_letters(engine: Engine) -> None:
    db = connect(engine, Letters)
    for owner in ("a$", "a$$", "x#y", "x$!y"):
        db.run(put(Letter(owner=owner, number=1)))


@pytest.fixture
def letters() -> Iterator[Database]:
    with prepared(fill_letters) as engine:
        yield connect(engine, Letters)


def fill_meters(engine: Engine) -> None:
    db = connect(engine, Meters)
    for owner in (7, 70):
        for number in range(3):
            db.run(put(Meter(owner=Decimal(owner), number=number)))


@pytest.fixture
def meters() -> Iterator[Database]:
    with prepared(fill_meters) as engine:
        yield connect(engine, Meters, cursor_secret="secret")


class Raw(Plan[bytes]):
    """A plan that yields one request and returns its answer."""

    def __init__(self, request: AnyRequest) -> None:
        self.request = request

    def _steps(self, context: Context) -> Steps[bytes]:
        return (yield self.request)


# -- keys that are the id itself -----------------------------------------------------------------


@pytest.mark.parametrize(("owner", "other"), [("a$", "a$$"), ("x#y", "x$!y"), ("x$!y", "x#y")])
def test_a_natural_key_is_compared_as_it_is_stored(
    letters: Database, owner: str, other: str
) -> None:
    own = letters.for_tenant(owner=owner)
    assert own.run(Letter.primary(owner, 1)) == Letter(owner=owner, number=1)
    for plan in (Letter.primary(other, 1), Letter.primary(other, 1).delete()):
        with pytest.raises(TenantViolation):
            own.run(plan)


def test_a_unique_value_within_a_natural_partition_is_looked_up(letters: Database) -> None:
    own = letters.for_tenant(owner="x#y")
    assert own.run(Letter.own_code("x#y", "c")) == Letter(owner="x#y", number=1)
    with pytest.raises(TenantViolation):
        own.run(Letter.own_code("x$!y", "c"))


@pytest.mark.parametrize("tenant", ["7", "{'N': '7'}", '{"N": "7"}', True, 7.0])
def test_an_id_of_another_type_than_the_key_is_refused(meters: Database, tenant: object) -> None:
    with pytest.raises(InvalidValue, match=r"Meter\.owner"):
        meters.for_tenant(owner=tenant)


@pytest.mark.parametrize("tenant", [7, Decimal(7), Decimal("7.00"), Decimal("0.7E1")])
def test_numbers_that_are_equal_are_one_tenant(meters: Database, tenant: object) -> None:
    own = meters.for_tenant(owner=tenant)
    assert len(own.run(Meter.primary.within(Decimal("7.0")))) == 3
    page = meters.for_tenant(owner=7).run(Meter.primary.within(Decimal(7)).page_size(2))
    assert len(own.run(Meter.primary.within(Decimal(7)).page_size(2).after(page.next_cursor))) == 1


@pytest.mark.parametrize("spelling", ["7", "7.0", "07", "7e0", "0.7E1"])
def test_a_number_in_a_raw_request_may_be_spelled_in_any_way(
    meters: Database, spelling: str
) -> None:
    key = {"owner": {"N": spelling}, "SK": {"S": "M#01"}}
    request = Request("GetItem", {"TableName": "meters", "Key": key})
    assert b'"M#01"' in meters.for_tenant(owner=7).run(Raw(request))
    with pytest.raises(TenantViolation):
        meters.for_tenant(owner=70).run(Raw(request))


@pytest.mark.parametrize(
    "value",
    [{"S": "7"}, {"N": "seven"}, {"N": 7}, {"N": ""}, {"N": "7", "S": "7"}, {}, "7", None, ["7"]],
)
def test_what_is_no_value_of_the_key_is_refused(meters: Database, value: Any) -> None:
    key = {"owner": value, "SK": {"S": "M#01"}}
    with pytest.raises(TenantViolation, match="may read 7; owner="):
        meters.for_tenant(owner=7).run(Raw(Request("GetItem", {"TableName": "meters", "Key": key})))


def test_bytes_are_compared_as_bytes() -> None:
    with connect(":memory:", Blobs) as db:
        for owner in (b"a", b"YQ==", b"\x00"):
            db.run(put(Blob(owner=owner)))
        own = db.for_tenant(owner=b"a")
        assert own.run(Blob.primary(b"a")) == Blob(owner=b"a")
        for other in (b"YQ==", b"\x00"):
            with pytest.raises(TenantViolation):
                own.run(Blob.primary(other))
        with pytest.raises(InvalidValue, match="the id of the tenant is empty"):
            db.for_tenant(owner=b"")


# -- composed keys -------------------------------------------------------------------------------


@pytest.mark.parametrize("tenant", [7, "0007"])
def test_an_id_stands_in_the_shard_as_in_the_key(tenant: object) -> None:
    with connect(":memory:", Rooms) as db:
        own = db.for_tenant(house=tenant)
        own.run(put(Room(house=7, number=1)))
        assert own.run(Room.primary(7, 1)) == Room(house=7, number=1)
        with pytest.raises(TenantViolation, match="may read HOUSE#0007; "):
            own.run(Room.primary(8, 1))


@pytest.mark.parametrize("tenant", [12345, -1, 1.5])
def test_an_id_that_the_key_cannot_hold_is_refused(tenant: object) -> None:
    with connect(":memory:", Rooms) as db, pytest.raises(InvalidValue, match=r"Room\.primary"):
        db.for_tenant(house=tenant)


@pytest.mark.parametrize("tenant", [b"a", {"S": "a"}, ["a"], ("a",), True, 7.0, object()])
def test_an_object_whose_text_could_be_another_id_is_refused(tenant: object) -> None:
    """Whether or not a key of an entity is in the shard."""
    for text in ("U#{user}", "V#{user}"):
        table = new_table(tenancy=Tenancy("user", write=(text,)))

        class Item(UserItem, table=table): ...

        with connect(":memory:", table) as db, pytest.raises(InvalidValue):
            db.for_tenant(user=tenant)


# -- ids and shards that would be shared ---------------------------------------------------------


def test_an_id_that_reads_like_a_partition_of_no_tenant_is_refused(letters: Database) -> None:
    with pytest.raises(InvalidValue, match=r"reads like a partition of Stamp\.primary"):
        letters.for_tenant(owner="FACE#queen")
    with (
        connect(":memory:", Rooms) as db,
        pytest.raises(InvalidValue, match=r"reads like a partition of Ledger\.primary"),
    ):
        db.for_tenant(house="ALL")


def test_an_id_that_reads_like_another_shard_is_refused() -> None:
    mixed = new_table(pk="owner", tenancy=Tenancy("owner", write=("{owner}", "U#{owner}")))

    class Plain(NaturalItem, table=mixed): ...

    with connect(":memory:", mixed) as db:
        db.for_tenant(owner="b").run(put(Plain(owner="b")))
        with pytest.raises(InvalidValue, match=r"reads like a partition of U#\{owner\}"):
            db.for_tenant(owner="U#b")


def test_an_id_that_two_keys_hold_in_different_forms_is_refused() -> None:
    forms = new_table(tenancy=Tenancy("user", write=("U#{user}",)))

    class Short(UserItem, table=forms): ...

    class Long(Entity, table=forms):
        user: Attr[int] = attr(pad=4)
        primary = key("U" / user, "LONG")

    with connect(":memory:", forms) as db:
        assert db.for_tenant(user="0007").run(Short.primary("0007")) is None
        with pytest.raises(InvalidValue, match="contain this id in different forms"):
            db.for_tenant(user=7)


def test_a_partition_that_tenants_share_is_no_shard() -> None:
    spread = new_table(tenancy=Tenancy("user", write=("U#{user}",)))

    class Item(Entity, table=spread):
        user: Attr[str] = attr()
        primary = key("U" / shard(user, of=8), "ITEM" / user)

    with (
        connect(":memory:", spread) as db,
        pytest.raises(DeclarationError, match="belongs to no single tenant"),
    ):
        db.for_tenant(user="3")


def test_a_composed_shard_of_a_key_that_is_a_number_is_an_error() -> None:
    numbers = new_table(pk="user", tenancy=Tenancy("user", write=("U#{user}",)))

    class Item(Entity, table=numbers):
        user: Attr[int] = attr()
        primary = key(user, "ITEM")

    with (
        connect(":memory:", numbers) as db,
        pytest.raises(DeclarationError, match=r"a key of type N; use the shard '\{user\}'"),
    ):
        db.for_tenant(user=7)


@pytest.mark.parametrize("shards", [("A#{id}", "{id}#B"), ("A#{id}#C", "A#B#{id}")])
def test_shards_that_are_the_same_for_two_tenants_are_an_error_at_import(
    shards: tuple[str, ...],
) -> None:
    with pytest.raises(DeclarationError, match="can be the same partition for two tenants"):
        new_table(tenancy=Tenancy("id", write=shards))


@pytest.mark.parametrize("text", ["U{id}", "U#x{id}", "{id}x", "U#{id}x#O"])
def test_an_id_that_is_not_a_whole_part_of_the_shard_is_an_error_at_import(text: str) -> None:
    with pytest.raises(DeclarationError, match="must be a whole part"):
        new_table(tenancy=Tenancy("id", read=(text,)))


# -- queries that carry their condition as values ------------------------------------------------

SEVEN: Value = {"N": "7"}


def query(condition: KeyCondition | None, *, continues: bool = False, **members: Any) -> Raw:
    whole = {"TableName": "meters"} | members
    return Raw(QueryRequest("Query", whole, Selection(condition), continues))


def test_a_query_is_proved_by_the_values_of_its_condition(meters: Database) -> None:
    own = meters.for_tenant(owner=7)
    assert b'"Count":3' in own.run(query(KeyCondition({"owner": SEVEN})))
    for value in ({"N": "70"}, {"S": "7"}, {"S": "{'N': '7'}"}):
        with pytest.raises(TenantViolation):
            own.run(query(KeyCondition({"owner": value})))


@pytest.mark.parametrize(
    "members",
    [
        {"KeyConditionExpression": "#o = :other"},
        {"FilterExpression": "attribute_exists(SK)"},
        {"ExpressionAttributeValues": {":0": {"N": "70"}}},
        {"KeyConditions": {}},
        {"QueryFilter": {}},
        {"TableName": "arn:aws:dynamodb:eu-west-1:000000000000:table/meters"},
        {"TableName": ["meters"]},
    ],
)
def test_a_query_with_members_that_could_widen_it_is_refused(
    meters: Database, members: dict[str, Any]
) -> None:
    with pytest.raises(TenantViolation):
        meters.for_tenant(owner=7).run(query(KeyCondition({"owner": SEVEN}), **members))


@pytest.mark.parametrize("start", [{"owner": {"N": "70"}, "SK": {"S": "M#00"}}, {}, None, "7"])
def test_a_start_key_of_anothers_is_refused(meters: Database, start: Any) -> None:
    own = meters.for_tenant(owner=7)
    street = KeyCondition({"GSI1PK": {"S": "STREET"}})
    for plan in (
        query(KeyCondition({"owner": SEVEN}), ExclusiveStartKey=start),
        query(KeyCondition({"owner": SEVEN}), ExclusiveStartKey=start, continues=True),
        query(street, IndexName="by_street", ExclusiveStartKey=start),
    ):
        with pytest.raises(TenantViolation):
            own.run(plan)


def test_a_sort_key_counts_only_if_it_is_fixed(meters: Database) -> None:
    own = meters.for_tenant(owner=7)
    for comparison in (">=", "begins_with", "between"):
        condition = KeyCondition(
            {"SK": {"S": "M#00"}}, SortCondition("owner", comparison, (SEVEN, SEVEN))
        )
        with pytest.raises(TenantViolation):
            own.run(query(condition))


def test_a_scan_is_refused_whatever_it_carries(meters: Database) -> None:
    for condition in (None, KeyCondition({"owner": SEVEN})):
        request = QueryRequest("Scan", {"TableName": "meters"}, Selection(condition))
        with pytest.raises(TenantViolation, match="a Scan may reach items of other tenants"):
            meters.for_tenant(owner=7).run(Raw(request))


def test_a_query_without_values_is_refused_even_for_own_items(meters: Database) -> None:
    body = {
        "TableName": "meters",
        "KeyConditionExpression": "#o = :o",
        "ExpressionAttributeNames": {"#o": "owner"},
        "ExpressionAttributeValues": {":o": SEVEN},
    }
    with pytest.raises(TenantViolation, match="this Query may reach items of other tenants"):
        meters.for_tenant(owner=7).run(Raw(Request("Query", body)))


def test_a_message_repeats_the_beginning_of_a_long_value(meters: Database) -> None:
    key = {"owner": {"S": "x" * 100_000}, "SK": {"S": "M#00"}}
    with pytest.raises(TenantViolation) as refused:
        meters.for_tenant(owner=7).run(Raw(Request("GetItem", {"TableName": "meters", "Key": key})))
    assert len(str(refused.value)) < 400


OWN = {"owner": SEVEN, "SK": {"S": "M#00"}}
ONE = {"TableName": "meters", "Key": OWN}

#: Bodies in which nothing shows what the request touches.
UNCLEAR: dict[str, tuple[str, Any]] = {
    "no body": ("GetItem", None),
    "a list": ("GetItem", [ONE]),
    "no table": ("GetItem", {"Key": OWN}),
    "no key": ("GetItem", {"TableName": "meters"}),
    "an item in place of a key": ("DeleteItem", {"TableName": "meters", "Item": OWN}),
    "no members": ("BatchGetItem", {}),
    "keys that are no list": ("BatchGetItem", {"RequestItems": {"meters": {"Keys": OWN}}}),
    "a batch without keys": ("BatchGetItem", {"RequestItems": {"meters": {}}}),
    "batches in a list": ("BatchWriteItem", {"RequestItems": [{"PutRequest": {"Item": OWN}}]}),
    "two writes in one": (
        "BatchWriteItem",
        {
            "RequestItems": {
                "meters": [{"PutRequest": {"Item": OWN}, "DeleteRequest": {"Key": OWN}}]
            }
        },
    ),
    "an unknown write": (
        "BatchWriteItem",
        {"RequestItems": {"meters": [{"MergeRequest": {"Key": OWN}}]}},
    ),
    "an unknown action": ("TransactWriteItems", {"TransactItems": [{"Merge": ONE}]}),
    "a write in a read": ("TransactGetItems", {"TransactItems": [{"Delete": ONE}]}),
    "an empty action": ("TransactWriteItems", {"TransactItems": [{}]}),
    "actions in a dict": ("TransactGetItems", {"TransactItems": {"Get": ONE}}),
    "an unknown operation": ("MergeItem", ONE),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_a_body_that_does_not_show_what_it_touches_is_refused(meters: Database, name: str) -> None:
    operation, body = UNCLEAR[name]
    with pytest.raises(TenantViolation, match=f"this {operation} may reach items of other tenants"):
        meters.for_tenant(owner=7).run(Raw(Request(operation, body)))
