"""delete_all and update_all: a range, or an aggregate with all its rows."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Engine,
    Entity,
    Table,
    access_pattern,
    attr,
    children,
    condition_check,
    connect,
    create,
    delete_all,
    explain,
    history,
    index,
    key,
    root,
    transact,
    unique,
    update_all,
    version,
)
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import (
    ConditionFailed,
    Contention,
    DeclarationError,
    InvalidValue,
    NotFound,
    UniqueViolation,
    UnreadableItem,
)
from tablewright.plans import DeleteAggregate, DeleteRange
from tests.costs import run_within_range
from tests.transports import (
    InterferingTransport,
    Interrupted,
    InterruptedTransport,
    record_requests,
)


class Shop(Table, name="shop"):
    by_state = GSI("GSI1PK", "GSI1SK")
    keys = GSI("GSI2PK", "GSI2SK", project="KEYS_ONLY")


class Session(Entity, table=Shop):
    """Plain: nothing to guard."""

    user: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    state: Attr[str] = attr(default="open")
    tags: Attr[set[str]] = attr(default_factory=set)
    hits: Attr[int] = attr(default=0)
    primary = key("USER" / user, "SESSION" / number)
    of_state = index(Shop.by_state, "SESSIONS" / state, "SESSION" / number)
    of_user = index(Shop.keys, "OF" / user, "SESSION" / number)


class Login(Entity, table=Shop):
    user: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    primary = key("USER" / user, "LOGIN" / number)


class Voucher(Entity, table=Shop):
    """Versioned, with a unique value."""

    user: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    code: Attr[str | None] = attr(default=None)
    version: Attr[int] = version()
    primary = key("USER" / user, "VOUCHER" / number)
    by_code = unique("VOUCHER" / code)


class Closed(Entity, table=Shop):
    order: Attr[str] = attr()
    number: Attr[int] = attr(pad=3)
    new: Attr[str] = attr()
    by: Attr[str | None] = attr(default=None)
    primary = key("CLOSED" / order, "NUMBER" / number)


class Order(Entity, table=Shop):
    """Versioned, with a unique value and a history."""

    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    state: Attr[str] = attr(default="open")
    coupon: Attr[str | None] = attr(default=None)
    version: Attr[int] = version()
    primary = key("CUST" / customer, "ORDER" / order)
    of_state = index(Shop.by_state, "ORDERS" / state, "ORDER" / order)
    by_coupon = unique("CUST" / customer, "COUPON" / coupon)
    states = history(state, Closed, new=Closed.new, version=Closed.number, by=Closed.by)


class Item(Entity, table=Shop):
    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    item: Attr[int] = attr(pad=4)
    primary = key("CUST" / customer, "ORDER" / order / "ITEM" / item)


class Note(Entity, table=Shop):
    customer: Attr[str] = attr()
    order: Attr[str] = attr()
    note: Attr[str] = attr()
    primary = key("CUST" / customer, "ORDER" / order / "NOTE" / note)


class Customer(Entity, table=Shop):
    customer: Attr[str] = attr()
    primary = key("CUST" / customer, "CUSTOMER")


class OrderWithItems(Aggregate):
    order: Order = root()
    items: list[Item] = children()


class WholeOrder(Aggregate):
    order: Order = root()
    items: list[Item] = children()
    notes: list[Note] = children()


class WholeCustomer(Aggregate):
    customer: Customer = root()
    orders: list[Order] = children()
    items: list[Item] = children()


class Folder(Entity, table=Shop):
    """Counts its files."""

    folder: Attr[str] = attr()
    files: Attr[int] = attr(default=0)
    primary = key("FOLDER" / folder, "FOLDER")


class File(Entity, table=Shop):
    folder: Attr[str] = attr()
    file: Attr[str] = attr()
    primary = key("FOLDER" / folder, "FILE" / file)


class FolderWithFiles(Aggregate):
    folder: Folder = root()
    files: list[File] = children()


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Shop,)


@pytest.fixture
def db(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Database:
    monkeypatch.setattr("tablewright.plan.writes.write.CONTENTION", Backoff(6, 0.0, 0.0))
    return connect(engine, Shop)


def keys(engine: Engine) -> list[str]:
    items: list[dict[str, Any]] = []
    request: dict[str, Any] = {"TableName": "shop"}
    while True:
        page = engine.call("Scan", request)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return sorted(f"{item['PK']['S']}|{item['SK']['S']}" for item in items)
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def sessions(db: Database, count: int, user: str = "u") -> None:
    for number in range(count):
        db.run(create(Session(user=user, number=number)))


def an_order(db: Database, items: int, order: str = "1", coupon: str | None = None) -> None:
    db.run(create(Order(customer="c", order=order, coupon=coupon)))
    for item in range(items):
        db.run(create(Item(customer="c", order=order, item=item)))


# -- ranges ------------------------------------------------------------------------------------


def test_a_range_is_deleted_in_batches(db: Database, engine: Engine) -> None:
    sessions(db, 60)
    sessions(db, 1, "other")
    db.run(create(Login(user="u", number=1)))
    requests = record_requests(db)
    seen: list[int] = []
    assert db.run(delete_all(Session.primary.within("u"), progress=seen.append)) == 60
    assert seen == [25, 50, 60]
    assert requests.operations == ["Query", *["BatchWriteItem"] * 3]
    assert keys(engine) == ["USER#other|SESSION#0000", "USER#u|LOGIN#0001"]
    assert db.run(delete_all(Session.primary.within("u"))) == 0


def test_a_part_of_a_range(db: Database, engine: Engine) -> None:
    sessions(db, 5)
    assert db.run(delete_all(Session.primary.within("u").lt(3))) == 3
    assert keys(engine) == ["USER#u|SESSION#0003", "USER#u|SESSION#0004"]
    assert db.run(delete_all(Session.scan(reason="test"))) == 2


def test_a_filter_is_a_condition_of_each_delete(db: Database, engine: Engine) -> None:
    sessions(db, 3)
    db.run(Session.primary("u", 1).update(Session.state.set("done")))
    other = connect(engine, Shop)
    db._transport = race = InterferingTransport(
        db._transport,
        lambda _: other.run(Session.primary("u", 2).update(Session.state.set("done"))),
    )
    assert db.run(delete_all(Session.primary.within("u").filter(Session.state == "open"))) == 1
    assert keys(engine) == ["USER#u|SESSION#0001", "USER#u|SESSION#0002"]
    assert race.operations == ["Query", "TransactWriteItems", "Query", "DeleteItem"]


def test_an_index_is_compared_with_the_items(db: Database, engine: Engine) -> None:
    sessions(db, 30)
    requests = record_requests(db)
    assert db.run(delete_all(Session.of_state("open"))) == 30
    assert requests.operations == ["Query", "BatchGetItem", "TransactWriteItems"]
    assert keys(engine) == []


def test_a_row_that_leaves_the_index_meanwhile_stays(db: Database, engine: Engine) -> None:
    sessions(db, 2)
    other = connect(engine, Shop)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Session.primary("u", 1).update(Session.state.set("done"))),
        before=("BatchGetItem",),
    )
    assert db.run(delete_all(Session.of_state("open"))) == 1
    assert keys(engine) == ["USER#u|SESSION#0001"]


def test_versions_and_unique_values_need_transactions(db: Database, engine: Engine) -> None:
    for number in range(70):
        db.run(create(Voucher(user="u", number=number, code=f"k{number}")))
    sessions(db, 1)
    requests = record_requests(db)
    assert db.run(delete_all(Voucher.primary.within("u"))) == 70
    assert requests.operations.count("TransactWriteItems") == 2
    assert keys(engine) == ["USER#u|SESSION#0000"]


def test_a_row_that_changes_meanwhile_is_read_again(db: Database, engine: Engine) -> None:
    db.run(create(Voucher(user="u", number=1)))
    db.run(create(Voucher(user="u", number=2, code="a")))
    other = connect(engine, Shop)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(Voucher.primary("u", 2).update(Voucher.code.set("b"))),
    )
    assert db.run(delete_all(Voucher.primary.within("u"))) == 2
    assert keys(engine) == []


def test_a_row_that_changes_again_and_again_is_contention(db: Database, engine: Engine) -> None:
    db.run(create(Voucher(user="u", number=1)))
    other = connect(engine, Shop)
    db._transport = InterferingTransport(
        db._transport,
        lambda n: other.run(Voucher.primary("u", 1).update(Voucher.code.set(str(n)))),
        times=100,
    )
    with pytest.raises(Contention, match="0 rows were written: run it again to continue"):
        db.run(delete_all(Voucher.primary.within("u")))


def test_a_unique_value_of_two_rows_is_a_violation(db: Database, engine: Engine) -> None:
    """Rows before the second one stay changed, as after any error."""
    for number in range(3):
        db.run(create(Voucher(user="u", number=number, code=f"k{number}")))
    with pytest.raises(UniqueViolation, match="another Voucher has the code 'same'"):
        db.run(update_all(Voucher.primary.within("u"), Voucher.code.set("same")))
    assert [each.code for each in db.run(Voucher.primary.within("u"))] == ["same", "k1", "k2"]


@pytest.mark.parametrize("parents", [Order.primary.within("c"), Customer.scan(reason="test")])
def test_a_range_of_parents_is_refused_because_rows_below_could_be_orphaned(parents: Any) -> None:
    """A row may be created below one of them at any time, and no condition of a delete sees it."""
    with pytest.raises(DeclarationError, match=r"rows of .*Item, .*as an aggregate: delete_all\("):
        delete_all(parents)


def test_an_unreadable_row_is_not_deleted(db: Database, engine: Engine) -> None:
    sessions(db, 2)
    item = {"PK": {"S": "USER#u"}, "SK": {"S": "SESSION#0007"}, "state": {"N": "5"}}
    engine.call("PutItem", {"TableName": "shop", "Item": item})
    with pytest.raises(UnreadableItem):
        db.run(delete_all(Session.primary.within("u")))
    assert len(keys(engine)) == 3


# -- changes -----------------------------------------------------------------------------------


def test_a_range_is_changed_with_its_index_keys(db: Database) -> None:
    sessions(db, 130)
    seen: list[int] = []
    plan = update_all(Session.of_state("open"), Session.state.set("done"), progress=seen.append)
    assert db.run(plan) == 130
    assert seen == [100, 130]
    assert len(db.run(Session.of_state("done"))) == 130
    assert db.run(plan) == 0


def test_versions_history_and_unique_values_follow(db: Database, engine: Engine) -> None:
    an_order(db, 0, "1", coupon="a")
    an_order(db, 0, "2")
    plan = update_all(
        Order.primary.within("c"), Order.state.set("done"), Order.coupon.remove()
    ).audit(by="me")
    assert db.run(plan) == 2
    orders = list(db.run(Order.primary.within("c")))
    assert [(order.state, order.coupon, order.version) for order in orders] == [
        ("done", None, 2)
    ] * 2
    assert keys(engine) == [
        "CLOSED#1|NUMBER#002",
        "CLOSED#2|NUMBER#002",
        "CUST#c|ORDER#1",
        "CUST#c|ORDER#2",
    ]
    assert db.run(plan) == 0


def test_rows_that_need_no_change_are_not_written(db: Database) -> None:
    sessions(db, 3)
    db.run(Session.primary("u", 1).update(Session.tags.add_to_set({"a"})))
    requests = record_requests(db)
    assert db.run(update_all(Session.primary.within("u"), Session.tags.add_to_set({"a"}))) == 2
    assert requests.operations == ["Query", "TransactWriteItems"]


def test_an_interrupted_change_is_continued(db: Database) -> None:
    sessions(db, 250)
    plan = update_all(Session.primary.within("u"), Session.state.set("done"))
    inner = db._transport
    db._transport = InterruptedTransport(inner, 2, applied=True)
    with pytest.raises(Interrupted):
        db.run(plan)
    db._transport = inner
    assert db.run(plan) == 50
    assert db.run(Session.of_state("done").count()) == 250


# -- aggregates --------------------------------------------------------------------------------


def test_a_small_aggregate_is_deleted_by_one_transaction(db: Database, engine: Engine) -> None:
    an_order(db, 5, coupon="a")
    an_order(db, 1, "1 x")  # sorts between the order 1 and its items
    requests = record_requests(db)
    assert db.run(delete_all(OrderWithItems.of(Order.primary("c", "1")))) == 6
    assert requests.operations == ["Query", "TransactWriteItems", "Query"]
    assert keys(engine) == ["CUST#c|ORDER#1 x", "CUST#c|ORDER#1 x#ITEM#0000"]
    assert db.run(delete_all(OrderWithItems.of(Order.primary("c", "1")))) == 0


@pytest.mark.parametrize("interrupted", [1, 2, 5])
def test_a_large_aggregate_keeps_its_root_until_the_end(
    db: Database, engine: Engine, interrupted: int
) -> None:
    an_order(db, 150, coupon="a")
    inner = db._transport
    count = 0

    def fail(_: int) -> None:
        nonlocal count
        count += 1
        if count == interrupted:
            raise Interrupted

    db._transport = InterferingTransport(
        inner, fail, times=99, before=("BatchWriteItem", "TransactWriteItems")
    )
    plan = delete_all(OrderWithItems.of(Order.primary("c", "1")))
    if interrupted <= 3:
        with pytest.raises(Interrupted):
            db.run(plan)
        assert "CUST#c|ORDER#1" in keys(engine)
        assert "CUST#c|COUPON#a" in keys(engine)
    db._transport = inner
    db.run(plan)
    assert keys(engine) == []


def test_rows_that_are_added_meanwhile_are_deleted_too(db: Database, engine: Engine) -> None:
    an_order(db, 150)
    other = connect(engine, Shop)
    db._transport = InterferingTransport(
        db._transport,
        lambda _: other.run(create(Item(customer="c", order="1", item=999))),
        before=("BatchWriteItem",),
    )
    assert db.run(delete_all(OrderWithItems.of(Order.primary("c", "1")))) == 152
    assert keys(engine) == []


ORDER_1 = delete_all(OrderWithItems.of(Order.primary("c", "1")))
LATE = Item(customer="c", order="1", item=999)


def test_a_row_that_is_created_during_the_last_transaction_is_deleted_too(
    db: Database, engine: Engine
) -> None:
    an_order(db, 2)
    other = connect(engine, Shop)
    db._transport = race = InterferingTransport(db._transport, lambda _: other.run(create(LATE)))
    assert db.run(ORDER_1) == 4
    assert race.operations == ["Query", "TransactWriteItems", "Query", "TransactWriteItems"]
    assert keys(engine) == []


def test_a_run_that_is_interrupted_after_the_delete_of_the_root_is_continued(
    db: Database, engine: Engine
) -> None:
    an_order(db, 2)
    other, inner = connect(engine, Shop), db._transport
    late = InterferingTransport(inner, lambda _: other.run(create(LATE)))
    db._transport = InterruptedTransport(late, 1, applied=True)
    with pytest.raises(Interrupted):
        db.run(ORDER_1)
    assert keys(engine) == ["CUST#c|ORDER#1#ITEM#0999"]
    db._transport = inner
    assert db.run(ORDER_1) == 1
    assert keys(engine) == []


@pytest.mark.parametrize("parent", [Order.primary("c", "1"), Folder.primary("f")])
def test_a_root_that_changes_with_its_children_is_deleted_with_all_of_them(
    db: Database, engine: Engine, parent: Any
) -> None:
    """No row is without its root at any time: a version, or a counter, shows the new child."""
    an_order(db, 2)
    db.run(create(Folder(folder="f")))
    db.run(create(File(folder="f", file="a")))
    other = connect(engine, Shop)
    add: Any
    if parent._entity is Order.__entity__:
        plan, add = ORDER_1, transact(create(LATE), parent.update(Order.state.set("late")))
    else:
        plan = delete_all(FolderWithFiles.of(parent))
        add = transact(
            create(File(folder="f", file="late")), parent.update(Folder.files.increment(1))
        )
    db._transport = race = InterferingTransport(db._transport, lambda _: other.run(add))
    db.run(plan)
    assert race.operations == ["Query", "TransactWriteItems"] * 2 + ["Query"]
    assert not any("late" in key or "0999" in key for key in keys(engine))


@pytest.mark.parametrize("operation", ["Query", "TransactWriteItems"])
def test_the_rows_of_a_root_that_is_created_again_stay(
    db: Database, engine: Engine, operation: str
) -> None:
    """It is created before the last read, or between this read and the delete of what is left."""
    an_order(db, 2)
    other, inner = connect(engine, Shop), db._transport
    late = InterferingTransport(inner, lambda _: other.run(create(LATE)))
    db._transport = InterferingTransport(
        late,
        lambda _: other.run(create(Order(customer="c", order="1"))),
        skip=1,
        before=(operation,),
    )
    assert db.run(ORDER_1) == 3
    assert keys(engine) == ["CUST#c|ORDER#1", "CUST#c|ORDER#1#ITEM#0999"]


def test_a_create_that_checks_its_root_fails_after_the_delete(db: Database, engine: Engine) -> None:
    an_order(db, 2)
    other = connect(engine, Shop)
    add = transact(create(LATE), condition_check(Order.primary("c", "1")))
    errors: list[Exception] = []

    def write(_: int) -> None:
        try:
            other.run(add)
        except NotFound as error:
            errors.append(error)

    db._transport = InterferingTransport(db._transport, write, times=9, before=("Query",), skip=1)
    assert db.run(ORDER_1) == 3
    assert len(errors) == 1
    assert keys(engine) == []


def test_rows_that_the_aggregate_does_not_know_refuse_it(db: Database, engine: Engine) -> None:
    an_order(db, 2)
    db.run(create(Note(customer="c", order="1", note="n")))
    before = keys(engine)
    with pytest.raises(ConditionFailed, match=r"NOTE#n.* is not part of OrderWithItems"):
        db.run(delete_all(OrderWithItems.of(Order.primary("c", "1"))))
    assert keys(engine) == before
    assert db.run(delete_all(WholeOrder.of(Order.primary("c", "1")))) == 4


def test_the_root_of_a_partition_owns_all_rows_there(db: Database, engine: Engine) -> None:
    db.run(create(Customer(customer="c")))
    an_order(db, 2, coupon="a")  # its sentinel is in the partition, too
    whole = WholeCustomer.of(Customer.primary("c"))
    db.run(create(Note(customer="c", order="1", note="n")))
    with pytest.raises(ConditionFailed, match="NOTE#n"):
        db.run(delete_all(whole))
    db.run(Note.primary("c", "1", "n").delete())
    assert db.run(delete_all(whole)) == 4
    assert keys(engine) == []


def test_a_root_that_is_found_first(db: Database, engine: Engine) -> None:
    an_order(db, 2, coupon="a")
    assert db.run(delete_all(OrderWithItems.of(Order.by_coupon("c", "a")))) == 3
    assert db.run(delete_all(OrderWithItems.of(Order.by_coupon("c", "a")))) == 0
    assert keys(engine) == []


# -- explain, patterns and refusals ------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        delete_all(Session.primary.within("u")),
        delete_all(Session.of_state("open")),
        update_all(Session.primary.within("u"), Session.state.set("done")),
        delete_all(OrderWithItems.of(Order.primary("c", "1"))),
        delete_all(OrderWithItems.of(Order.by_coupon("c", "a"))),
    ],
    ids=lambda plan: str(explain(plan)).splitlines()[0],
)
def test_what_it_costs_is_in_the_range_of_explain(db: Database, plan: Any) -> None:
    sessions(db, 30)
    an_order(db, 3, coupon="a")
    run_within_range(db, plan, items=30 if isinstance(plan._entity.type, type(Session)) else 4)


def test_patterns() -> None:
    @access_pattern
    def end_sessions(user: str) -> DeleteRange:
        return delete_all(Session.primary.within(user))

    @access_pattern
    def delete_order(customer: str, order: str) -> DeleteAggregate:
        return delete_all(OrderWithItems.of(Order.primary(customer, order)))

    assert 'PK="USER#{user}"' in str(explain(end_sessions))
    assert "4,000 write for each item" in str(explain(end_sessions))
    assert "Query + TransactWriteItems + Query on shop" in str(explain(delete_order))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: delete_all(Session.primary.within("u").limit(3)), DeclarationError, "limit"),
        (
            lambda: delete_all(Session.primary.within("u").select(Session.state)),
            DeclarationError,
            "select",
        ),
        (
            lambda: delete_all(Session.primary.within("u").union(Login.primary.within("u"))),
            DeclarationError,
            "a union of Session, Login",
        ),
        (lambda: delete_all(Session.of_user("u")), DeclarationError, "does not contain state"),
        (
            lambda: delete_all(Session.primary("u", 1)),  # type: ignore[call-overload]
            DeclarationError,
            "a query or an aggregate",
        ),
        (lambda: update_all(Session.primary.within("u")), InvalidValue, "at least one change"),
        (
            lambda: update_all(Session.primary.within("u"), Session.hits.increment(1)),
            InvalidValue,
            "changes that can be repeated",
        ),
        (
            lambda: update_all(Session.primary.within("u"), Session.user.set("v")),
            InvalidValue,
            "part of the key",
        ),
        (
            lambda: delete_all(OrderWithItems.of(Order.primary("c", "1")).limit(5)),
            DeclarationError,
            "limit",
        ),
    ],
)
def test_refusals(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
