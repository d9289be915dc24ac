"""Items by their keys: one, many at once, and by a unique value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import pytest

from tablewright import (
    Attr,
    Engine,
    Entity,
    Get,
    Table,
    access_pattern,
    attr,
    batch_get,
    connect,
    create,
    explain,
    key,
    put,
    unique,
    update,
)
from tablewright.database import Database
from tablewright.errors import (
    Contention,
    DeclarationError,
    InvalidValue,
    NotFound,
    ResourceNotFoundException,
    TablewrightError,
    UnreadableItem,
)
from tablewright.plan.plan import Request
from tablewright.plans import OptionalRead, Plan, RequiredRead
from tests.new_table import new_table
from tests.transports import InterferingTransport

T = TypeVar("T")


class Store(Table, name="get_store"): ...


class Archive(Table, name="get_archive", pk="id", sk=None, type_attribute=None): ...


class Ledger(Table, name="get_ledger", pk="account", sk="line", type_attribute="kind"): ...


class Customer(Entity, table=Store):
    customer_id: Attr[str] = attr(name="customerId")
    email: Attr[str] = attr()
    points: Attr[int] = attr(default=7)
    nickname: Attr[str | None] = attr(default=None)
    primary = key("CUST" / customer_id, "PROFILE" / customer_id.again)
    by_email = unique("EMAIL" / email)
    by_nickname = unique("NICK" / nickname, type_name="Nickname")


class Blob(Entity, table=Store):
    number: Attr[int] = attr(pad=4)
    body: Attr[str] = attr()
    primary = key("BLOB" / number, "BLOB")


class Document(Entity, table=Archive):
    document_id: Attr[str] = attr(name="id")
    text: Attr[str] = attr(default="")
    primary = key(document_id)


class Line(Entity, table=Ledger):
    account: Attr[str] = attr()
    line: Attr[int] = attr()
    amount: Attr[int] = attr(default=0)
    primary = key(account, line)


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Store, Archive, Ledger)


def customer(customer_id: str, **values: Any) -> Customer:
    return Customer(customer_id=customer_id, email=f"{customer_id}@example.com", **values)


def text(value: str) -> dict[str, str]:
    return {"S": value}


# -- one item ------------------------------------------------------------------------------------


def test_a_get_gives_the_entity_as_it_was_written(db: Database) -> None:
    written = db.run(create(customer("C1", points=3, nickname="ann")))
    found = db.run(Customer.primary("C1"))
    assert found == written
    assert type(found) is Customer


def test_a_get_of_what_is_not_there_gives_none(db: Database) -> None:
    assert db.run(Customer.primary("C1")) is None


def test_a_plan_can_be_run_again_and_sees_what_was_written_since(db: Database) -> None:
    plan = Customer.primary("C1")
    assert db.run(plan) is None
    db.run(create(customer("C1")))
    assert db.run(plan) == customer("C1")


def test_a_consistent_get_says_so_in_the_request(db: Database) -> None:
    db.run(create(customer("C1")))
    plan = Customer.primary("C1").consistent()
    request = next(plan._steps(db._context))
    assert isinstance(request, Request)
    assert request.body["ConsistentRead"] is True
    assert db.run(plan) == customer("C1")


def test_consistent_leaves_the_plan_it_was_asked_of_as_it_was(db: Database) -> None:
    plan = Customer.primary("C1")
    plan.consistent()
    request = next(plan._steps(db._context))
    assert isinstance(request, Request)
    assert "ConsistentRead" not in request.body


def test_a_get_by_natural_keys(db: Database) -> None:
    db.run(put(Line(account="A", line=10, amount=5)))
    db.run(put(Line(account="A", line=9, amount=6)))
    assert db.run(Line.primary("A", 9)) == Line(account="A", line=9, amount=6)


def test_a_get_from_a_table_without_a_sort_key(db: Database) -> None:
    db.run(put(Document(document_id="a#b", text="x")))
    assert db.run(Document.primary("a#b")) == Document(document_id="a#b", text="x")


def test_an_empty_part_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidValue, match=r"Customer\.primary: customer_id is empty"):
        Customer.primary("")


def test_a_value_of_another_type_is_refused_by_name() -> None:
    with pytest.raises(InvalidValue, match=r"Customer\.primary: customer_id is 5 of type int"):
        Customer.primary(5)  # type: ignore[arg-type]


def test_a_key_part_that_is_missing_is_named() -> None:
    with pytest.raises(
        DeclarationError, match=r"Line\.primary takes account, line; 1 value was given"
    ):
        Line.primary("A")  # type: ignore[call-arg]


def test_a_value_too_many_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Customer\.primary takes customer_id; 2 values"):
        Customer.primary("C1", "x")  # type: ignore[call-arg]


def test_a_get_on_a_database_of_other_tables_says_which_it_has(engine: Engine) -> None:
    db = connect(engine, Store)
    with pytest.raises(DeclarationError, match="connected to get_store, not to get_archive"):
        db.run(Document.primary("x"))


def test_a_fault_of_the_engine_comes_out_as_it_is(engine: Engine, db: Database) -> None:
    engine.call("DeleteTable", {"TableName": "get_archive"})
    with pytest.raises(ResourceNotFoundException):
        db.run(Document.primary("x"))


# -- what others wrote ---------------------------------------------------------------------------


def raw_customer(**attributes: dict[str, Any]) -> dict[str, Any]:
    item = {"PK": text("CUST#C1"), "SK": text("PROFILE#C1"), "type": text("Customer")}
    item |= {"customerId": text("C1"), "email": text("a@b")}
    return {name: value for name, value in {**item, **attributes}.items() if value}


def test_attributes_that_the_entity_does_not_know_are_passed_over(
    engine: Engine, db: Database
) -> None:
    item = raw_customer(color=text("red"), tags={"L": [text("x")]})
    engine.call("PutItem", {"TableName": "get_store", "Item": item})
    assert db.run(Customer.primary("C1")) == Customer(customer_id="C1", email="a@b")


def test_an_absent_attribute_reads_as_its_default_or_as_none(engine: Engine, db: Database) -> None:
    engine.call("PutItem", {"TableName": "get_store", "Item": raw_customer()})
    found = db.run(Customer.primary("C1"))
    assert found is not None
    assert found.points == 7
    assert found.nickname is None


def test_an_absent_attribute_without_default_is_named(engine: Engine, db: Database) -> None:
    engine.call("PutItem", {"TableName": "get_store", "Item": raw_customer(email={})})
    with pytest.raises(UnreadableItem, match=r"Customer\.email: the stored item has no 'email'"):
        db.run(Customer.primary("C1"))


def test_an_unreadable_item_is_named_by_its_key(engine: Engine, db: Database) -> None:
    engine.call("PutItem", {"TableName": "get_store", "Item": raw_customer(email={})})
    with pytest.raises(UnreadableItem) as refused:
        db.run(Customer.primary("C1"))
    assert "CUST#C1" in str(refused.value)
    assert "PROFILE#C1" in str(refused.value)


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        (text("many"), r"Customer\.points: stored as S .*, expected N"),
        ({"N": "1.5"}, r"Customer\.points: .*1\.5.* cannot be read as an int"),
        ({"NULL": True}, r"Customer\.points: "),
    ],
)
def test_a_value_that_does_not_fit_names_entity_attribute_and_value(
    stored: dict[str, Any], told: str, engine: Engine, db: Database
) -> None:
    engine.call("PutItem", {"TableName": "get_store", "Item": raw_customer(points=stored)})
    with pytest.raises(UnreadableItem, match=told):
        db.run(Customer.primary("C1"))


# -- many at once --------------------------------------------------------------------------------


def test_a_batch_keeps_the_order_asked_for(db: Database) -> None:
    for name in "abc":
        db.run(create(customer(name)))
    found = db.run(batch_get(Customer.primary(name) for name in "cab"))
    assert [one and one.customer_id for one in found] == ["c", "a", "b"]


def test_a_batch_has_none_where_there_is_nothing(db: Database) -> None:
    db.run(create(customer("b")))
    assert db.run(batch_get(Customer.primary(name) for name in "abc")) == [
        None,
        customer("b"),
        None,
    ]


def test_a_key_asked_for_twice_is_given_twice(db: Database) -> None:
    db.run(create(customer("a")))
    found = db.run(batch_get(Customer.primary(name) for name in ("a", "x", "a", "x")))
    assert found == [customer("a"), None, customer("a"), None]


def test_two_results_of_one_key_are_two_objects(db: Database) -> None:
    db.run(create(customer("a")))
    one, two = db.run(batch_get([Customer.primary("a"), Customer.primary("a")]))
    assert one is not two


def test_an_empty_batch_is_an_empty_list(db: Database) -> None:
    nothing: list[Get[Customer]] = []
    assert db.run(batch_get(nothing)) == []


@pytest.mark.parametrize("count", [99, 100, 101, 250])
def test_a_batch_of_more_keys_than_one_request_takes(count: int, db: Database) -> None:
    for number in range(0, count, 2):
        db.run(put(Blob(number=number, body="x")))
    found = db.run(batch_get(Blob.primary(number) for number in range(count)))
    expected = [None if number % 2 else number for number in range(count)]
    assert [blob and blob.number for blob in found] == expected


def test_a_batch_over_several_tables(db: Database) -> None:
    db.run(create(customer("a")))
    db.run(put(Document(document_id="a", text="t")))
    db.run(put(Line(account="a", line=1)))
    fetches: list[Get[Any]] = [
        Document.primary("a"),
        Customer.primary("a"),
        Document.primary("none"),
        Line.primary("a", 1),
    ]
    assert db.run(batch_get(fetches)) == [
        Document(document_id="a", text="t"),
        customer("a"),
        None,
        Line(account="a", line=1),
    ]


def test_a_consistent_batch_says_so_for_every_table(db: Database) -> None:
    fetches: list[Get[Any]] = [Document.primary("a"), Customer.primary("a")]
    request = next(batch_get(fetches).consistent()._steps(db._context))
    assert isinstance(request, Request)
    assert all(asked["ConsistentRead"] for asked in request.body["RequestItems"].values())


def test_what_does_not_fit_into_one_answer_is_asked_for_again(engine: Engine, db: Database) -> None:
    """DynamoDB's answers end at 16 MB; the rest comes back as unprocessed."""
    body = "x" * 390_000
    for number in range(50):
        db.run(put(Blob(number=number, body=body)))
    asked = [
        {"PK": text(f"BLOB#{number:04d}"), "SK": text("BLOB")} for number in reversed(range(50))
    ]
    answer = engine.call("BatchGetItem", {"RequestItems": {"get_store": {"Keys": asked}}})
    assert answer["UnprocessedKeys"]
    found = db.run(batch_get(Blob.primary(number) for number in reversed(range(50))))
    assert [blob and blob.number for blob in found] == list(reversed(range(50)))
    assert all(blob is not None and blob.body == body for blob in found)


def driven(plan: Plan[T], db: Database, answer: Callable[[Request], Any]) -> T:
    """Run a plan against answers of our own, without the pauses."""
    steps = plan._steps(db._context)
    try:
        step = next(steps)
        while True:
            told = msgspec.json.encode(answer(step)) if isinstance(step, Request) else b""
            step = steps.send(told)
    except StopIteration as end:
        result: T = end.value
        return result


def test_a_batch_that_goes_forward_is_never_given_up(db: Database) -> None:
    """Each answer has one item: slow, and nobody is throttled for good."""

    def one_at_a_time(request: Request) -> Any:
        asked = request.body["RequestItems"]["get_store"]["Keys"]
        number = int(asked[0]["PK"]["S"].removeprefix("BLOB#"))
        item = {**asked[0], "number": {"N": str(number)}, "body": text("x")}
        left = {"get_store": {"Keys": asked[1:]}} if asked[1:] else {}
        return {"Responses": {"get_store": [item]}, "UnprocessedKeys": left}

    found = driven(batch_get(Blob.primary(number) for number in range(30)), db, one_at_a_time)
    assert [blob and blob.number for blob in found] == list(range(30))


def test_a_batch_that_stands_still_ends_in_an_error(db: Database) -> None:
    def nothing(request: Request) -> Any:
        return {"Responses": {}, "UnprocessedKeys": request.body["RequestItems"]}

    with pytest.raises(Contention, match="BatchGetItem"):
        driven(batch_get([Blob.primary(1)]), db, nothing)


# -- by a unique value ---------------------------------------------------------------------------


def test_a_lookup_gives_the_entity_that_has_the_value(db: Database) -> None:
    db.run(create(customer("C1", nickname="ann")))
    db.run(create(customer("C2")))
    assert db.run(Customer.by_email("C1@example.com")) == customer("C1", nickname="ann")
    assert db.run(Customer.by_nickname("ann")) == customer("C1", nickname="ann")


def test_a_lookup_of_a_value_that_nobody_has_gives_none(db: Database) -> None:
    db.run(create(customer("C1")))
    assert db.run(Customer.by_email("nobody@example.com")) is None


def test_a_lookup_follows_a_change_of_the_value(db: Database) -> None:
    db.run(create(customer("C1")))
    changed = db.run(Customer.primary("C1").update(Customer.email.set("new@example.com")))
    assert db.run(Customer.by_email("C1@example.com")) is None
    assert db.run(Customer.by_email("new@example.com")) == changed


def test_a_lookup_of_a_value_that_was_taken_away_gives_none(db: Database) -> None:
    ann = db.run(create(customer("C1", nickname="ann")))
    db.run(update(ann, Customer.nickname.set(None)))
    assert db.run(Customer.by_nickname("ann")) is None


def test_a_lookup_after_the_entity_was_deleted_gives_none(db: Database, engine: Engine) -> None:
    db.run(create(customer("C1", nickname="ann")))
    db.run(Customer.primary("C1").delete())
    assert db.run(Customer.by_email("C1@example.com")) is None
    assert engine.call("Scan", {"TableName": "get_store"})["Items"] == []


def test_a_sentinel_whose_entity_is_gone_gives_none(db: Database, engine: Engine) -> None:
    db.run(create(customer("C1")))
    lost = {"PK": text("CUST#C1"), "SK": text("PROFILE#C1")}
    engine.call("DeleteItem", {"TableName": "get_store", "Key": lost})
    assert db.run(Customer.by_email("C1@example.com")) is None


def test_a_sentinel_is_no_item_of_the_entity(db: Database) -> None:
    db.run(create(customer("C1", nickname="ann")))
    assert list(db.iterate(Customer.scan(reason="a test"))) == [customer("C1", nickname="ann")]


def test_a_lookup_whose_sentinel_does_not_keep_the_key_says_so(engine: Engine) -> None:
    """`keep` may be as a document has it; then there is no way from the value to the entity."""

    kept = new_table("get_kept")

    def look_up() -> object:
        class Category(Entity, table=kept):
            category_id: Attr[str] = attr(name="id")
            name: Attr[str] = attr()
            primary = key("CATEGORY" / category_id, "CATEGORY" / category_id.again)
            by_name = unique("CATEGORYNAME" / name, keep=(name,))

        db = connect(engine, kept)
        db.run(create(Category(category_id="1", name="pasta")))
        return db.run(Category.by_name("pasta"))

    with pytest.raises(TablewrightError, match=r"by_name.*category_id"):
        look_up()


def test_a_lookup_of_a_value_that_is_given_up_between_its_reads_gives_none(
    db: Database, engine: Engine
) -> None:
    db.run(create(customer("C1")))
    other = connect(engine, Store)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Customer.primary("C1").update(Customer.email.set("new@b.c"))),
        before=("GetItem",),
        skip=1,
    )

    assert db.run(Customer.by_email("C1@example.com")) is None


# -- how a key is called, and shown --------------------------------------------------------------


def test_a_key_takes_its_values_by_position() -> None:
    primary: Any = Line.primary
    with pytest.raises(
        DeclarationError, match=r"Line\.primary takes its values by position: account"
    ):
        primary(account="a", line=1)


def test_a_unique_value_is_given_by_position() -> None:
    by_email: Any = Customer.by_email
    with pytest.raises(DeclarationError, match=r"Customer\.by_email takes its values by position"):
        by_email(email="c1@example.com")


def test_a_batch_of_no_keys_can_be_shown() -> None:
    assert repr(batch_get([])) == "BatchGet(BatchGetItem )"


# -- what must exist


def test_what_exists_is_returned(db: Database) -> None:
    customer = db.run(put(Customer(customer_id="C1", email="a@x.y")))
    assert db.run(Customer.primary("C1").or_raise()) == customer
    assert db.run(Customer.by_email("a@x.y").or_raise()) == customer


def test_a_missing_item_is_not_found(db: Database) -> None:
    plan = Customer.primary("C1").or_raise()
    with pytest.raises(NotFound) as raised:
        db.run(plan)
    assert str(raised.value) == 'Customer (PK="CUST#C1", SK="PROFILE#C1"): it does not exist'
    assert raised.value.key == {"PK": {"S": "CUST#C1"}, "SK": {"S": "PROFILE#C1"}}
    assert (raised.value.entity, raised.value.current) == ("Customer", None)


@pytest.mark.parametrize(
    "plan",
    [
        Customer.by_email("a@x.y"),
        Customer.primary("C1").then(lambda found: Document.primary(found.email)),
        Line.primary.within("a").gte(1).first(),
    ],
    ids=lambda plan: type(plan).__name__,
)
def test_the_error_names_what_was_asked(db: Database, plan: OptionalRead[Any]) -> None:
    with pytest.raises(
        NotFound, match=rf"^{plan._entities()[0].name} \(.*=.*\): it does not exist$"
    ):
        db.run(plan.or_raise())


def test_a_pattern_may_require_what_it_reads(db: Database) -> None:
    @access_pattern
    def profile(customer_id: str) -> RequiredRead[Customer]:
        return Customer.primary(customer_id).or_raise()

    assert explain(profile).operation == "GetItem"
    assert "PROFILE#{customer_id}" in explain(profile).condition
    with pytest.raises(NotFound):
        db.run(profile("C1"))
