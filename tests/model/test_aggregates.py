"""A root and what belongs to it, as one typed value from one query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Database,
    Engine,
    Entity,
    Load,
    Table,
    access_pattern,
    attr,
    child,
    children,
    connect,
    explain,
    index,
    key,
    put,
    root,
)
from tablewright.errors import DeclarationError, InvalidValue, TablewrightError
from tablewright.plan.reads.query_request import QueryRequest
from tablewright.plans import LoadFound, Plan

# -- orders and what belongs to them -------------------------------------------------------------


class Sales(Table, name="aggregate_sales", type_attribute="entityType"):
    by_state = GSI("GSI1PK", "GSI1SK")


class Order(Entity, table=Sales):
    customer_id: Attr[str] = attr()
    order_id: Attr[str] = attr()
    state: Attr[str | None] = attr(default=None)
    primary = key("CUST" / customer_id, "ORDER" / order_id)
    by_state = index(Sales.by_state, "STATE" / state, "ORDER" / order_id)


class OrderItem(Entity, table=Sales):
    customer_id: Attr[str] = attr()
    order_id: Attr[str] = attr()
    item_id: Attr[str] = attr()
    note: Attr[str] = attr(default="")
    state: Attr[str | None] = attr(default=None)
    primary = key("CUST" / customer_id, "ORDER" / order_id / "ITEM" / item_id)
    by_state = index(Sales.by_state, "STATE" / state, "ORDER" / order_id / "ITEM" / item_id)


class Payment(Entity, table=Sales):
    customer_id: Attr[str] = attr()
    order_id: Attr[str] = attr()
    amount: Attr[int] = attr(default=0)
    primary = key("CUST" / customer_id, "ORDER" / order_id / "PAYMENT")


class Delivery(Entity, table=Sales):
    customer_id: Attr[str] = attr()
    order_id: Attr[str] = attr()
    parcel: Attr[int] = attr(pad=2)
    primary = key("CUST" / customer_id, "ORDER" / order_id / "PARCEL" / parcel)


class Profile(Entity, table=Sales):
    customer_id: Attr[str] = attr()
    primary = key("CUST" / customer_id, "PROFILE")


class Complaint(Entity, table=Sales):
    """In the customer's partition, and not below an order."""

    customer_id: Attr[str] = attr()
    order_id: Attr[str] = attr()
    primary = key("CUST" / customer_id, "COMPLAINT" / order_id)


class Warehouse(Entity, table=Sales):
    name: Attr[str] = attr()
    primary = key("WAREHOUSE" / name, "WAREHOUSE")


class OrderWithItems(Aggregate):
    order: Order = root()
    items: list[OrderItem] = children()


class WholeOrder(Aggregate):
    order: Order = root()
    items: list[OrderItem] = children()
    payment: Payment | None = child()
    parcels: list[Delivery] = children()


class PaidOrder(Aggregate):
    order: Order = root()
    payment: Payment = child()


class Account(Aggregate):
    """Everything of a customer; its children do not go on from the root's key."""

    profile: Profile = root()
    orders: list[Order] = children()
    complaints: list[Complaint] = children()


class OrderTree(Aggregate):
    order: Order = root()
    items: list[OrderItem] = children()


class AccountTree(Aggregate):
    """Several levels below a root that is not above them in the sort key."""

    profile: Profile = root()
    orders: list[OrderTree] = children()


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(":memory:") as opened:
        yield opened


@pytest.fixture
def db(engine: Engine) -> Database:
    return connect(engine, Sales, Carte, Kitchen, Joined, Ranked)


def order(order_id: str, customer_id: str = "C1", **values: Any) -> Order:
    return Order(customer_id=customer_id, order_id=order_id, **values)


def item(order_id: str, item_id: str, customer_id: str = "C1", **values: Any) -> OrderItem:
    return OrderItem(customer_id=customer_id, order_id=order_id, item_id=item_id, **values)


def store(db: Database, *entities: Any) -> None:
    for entity in entities:
        db.run(put(entity))


def body_of(plan: Plan[Any], db: Database) -> dict[str, Any]:
    request = next(plan._steps(db._context))
    assert isinstance(request, QueryRequest)
    return request.body


def test_a_root_and_its_children(db: Database) -> None:
    store(db, order("1"), item("1", "a"), item("1", "b"))
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.order == order("1")
    assert found.items == [item("1", "a"), item("1", "b")]


def test_an_aggregate_is_one_query(db: Database) -> None:
    store(db, order("1"), item("1", "a"))
    steps = OrderWithItems.of(Order.primary("C1", "1"))._steps(db._context)
    request = next(steps)
    assert isinstance(request, QueryRequest)
    assert request.operation == "Query"
    with pytest.raises(StopIteration):
        steps.send(db._transport.send(request.operation, request.body).body)


def test_a_root_without_children_has_empty_lists(db: Database) -> None:
    store(db, order("1"))
    found = db.run(WholeOrder.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.items == []
    assert found.parcels == []
    assert found.payment is None


def test_without_its_root_there_is_no_aggregate(db: Database) -> None:
    assert db.run(OrderWithItems.of(Order.primary("C1", "1"))) is None
    store(db, item("1", "a"))
    assert db.run(OrderWithItems.of(Order.primary("C1", "1"))) is None


def test_children_of_several_types_come_from_one_query(db: Database) -> None:
    payment = Payment(customer_id="C1", order_id="1", amount=5)
    parcels = [Delivery(customer_id="C1", order_id="1", parcel=n) for n in (1, 2, 10)]
    store(db, order("1"), item("1", "a"), payment, *parcels)
    found = db.run(WholeOrder.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.items == [item("1", "a")]
    assert found.payment == payment
    assert found.parcels == parcels


def test_a_single_member_that_is_not_optional_is_needed(db: Database) -> None:
    store(db, order("1"))
    assert db.run(PaidOrder.of(Order.primary("C1", "1"))) is None
    payment = Payment(customer_id="C1", order_id="1")
    store(db, payment)
    found = db.run(PaidOrder.of(Order.primary("C1", "1")))
    assert found is not None
    assert found.payment == payment


def test_rows_of_other_entities_are_passed_over(db: Database, engine: Engine) -> None:
    store(
        db,
        order("1"),
        item("1", "a"),
        Payment(customer_id="C1", order_id="1"),
        Delivery(customer_id="C1", order_id="1", parcel=1),
    )
    strange = {"PK": {"S": "CUST#C1"}, "SK": {"S": "ORDER#1#X#1"}, "entityType": {"S": "Strange"}}
    engine.call("PutItem", {"TableName": "aggregate_sales", "Item": strange})
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")))
    assert found is not None
    assert vars(found) == {"order": order("1"), "items": [item("1", "a")]}


AWKWARD = ["1", "10", "1 x", "1!", '1"', "1#", "1#ITEM", "1$", "1$!", "1\x00", "11", "1é", "!", "#"]


@pytest.mark.parametrize("asked", AWKWARD, ids=ascii)
def test_an_order_never_holds_items_of_another(asked: str, db: Database) -> None:
    for order_id in AWKWARD:
        store(db, order(order_id), *(item(order_id, item_id) for item_id in ("a", "b c", "#")))
        store(db, Payment(customer_id="C1", order_id=order_id))
    found = db.run(WholeOrder.of(Order.primary("C1", asked)))
    assert found is not None
    assert found.order.order_id == asked
    assert [one.order_id for one in found.items] == [asked] * 3
    assert sorted(one.item_id for one in found.items) == ["#", "a", "b c"]
    assert found.payment is not None
    assert found.payment.order_id == asked


@pytest.mark.parametrize("asked", AWKWARD, ids=ascii)
def test_a_limit_reads_past_what_sorts_between_root_and_children(asked: str, db: Database) -> None:
    for order_id in AWKWARD:
        store(db, order(order_id), *(item(order_id, f"{n:02d}") for n in range(4)))
    found = db.run(OrderWithItems.of(Order.primary("C1", asked)).limit(3))
    assert found is not None
    assert found.order.order_id == asked
    assert [(one.order_id, one.item_id) for one in found.items] == [
        (asked, "00"),
        (asked, "01"),
        (asked, "02"),
    ]


def test_more_than_a_megabyte_is_one_aggregate(db: Database) -> None:
    store(db, order("1"), *(item("1", f"{n:03d}", note="x" * 100_000) for n in range(25)))
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")))
    assert found is not None
    assert [one.item_id for one in found.items] == [f"{n:03d}" for n in range(25)]


def test_a_limit_above_a_megabyte_is_filled(db: Database) -> None:
    store(db, order("1"), *(item("1", f"{n:03d}", note="x" * 100_000) for n in range(25)))
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")).limit(20))
    assert found is not None
    assert len(found.items) == 20


def test_a_limit_is_the_root_and_the_first_children(db: Database) -> None:
    store(db, order("1"), *(item("1", f"{n:03d}") for n in range(9)))
    for size in (1, 3, 9, 20):
        found = db.run(OrderWithItems.of(Order.primary("C1", "1")).limit(size))
        assert found is not None
        assert [one.item_id for one in found.items] == [f"{n:03d}" for n in range(9)][:size]


def test_a_limit_counts_only_rows_of_members(db: Database) -> None:
    class OrderWithParcels(Aggregate):
        order: Order = root()
        parcels: list[Delivery] = children()

    parcels = [Delivery(customer_id="C1", order_id="1", parcel=n) for n in range(5)]
    store(db, order("1"), *(item("1", f"{n:03d}") for n in range(20)), *parcels)
    found = db.run(OrderWithParcels.of(Order.primary("C1", "1")).limit(3))
    assert found is not None
    assert found.parcels == parcels[:3]


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_limit_that_is_no_count_is_refused(size: Any) -> None:
    with pytest.raises(InvalidValue, match="give a whole number, at least 1"):
        OrderWithItems.of(Order.primary("C1", "1")).limit(size)


def test_desc_reverses_the_children(db: Database) -> None:
    store(db, order("1"), *(item("1", name) for name in "abc"))
    found = db.run(OrderWithItems.of(Order.primary("C1", "1")).desc())
    assert found is not None
    assert found.order == order("1")
    assert [one.item_id for one in found.items] == ["c", "b", "a"]


def test_a_limit_is_refused_when_the_root_comes_last(db: Database) -> None:
    plan = OrderWithItems.of(Order.primary("C1", "1")).desc().limit(2)
    with pytest.raises(DeclarationError, match=r"limit\(\) needs the root first.*without desc"):
        db.run(plan)


def test_a_consistent_aggregate_says_so(db: Database) -> None:
    plan = OrderWithItems.of(Order.primary("C1", "1"))
    assert "ConsistentRead" not in body_of(plan, db)
    assert body_of(plan.consistent(), db)["ConsistentRead"] is True


def test_a_consistent_root_makes_a_consistent_aggregate(db: Database) -> None:
    plan = OrderWithItems.of(Order.primary("C1", "1").consistent())
    assert body_of(plan, db).get("ConsistentRead") is True


# -- children beside their root ------------------------------------------------------------------


def test_children_that_are_beside_their_root_come_from_the_whole_partition(db: Database) -> None:
    complaint = Complaint(customer_id="C1", order_id="2")
    store(db, Profile(customer_id="C1"), order("1"), order("2"), item("1", "a"), complaint)
    store(db, Profile(customer_id="C10"), order("9", customer_id="C10"))
    found = db.run(Account.of(Profile.primary("C1")))
    assert found is not None
    assert found.profile == Profile(customer_id="C1")
    assert found.orders == [order("1"), order("2")]
    assert found.complaints == [complaint]


def test_levels_below_a_root_that_is_beside_them(db: Database) -> None:
    store(db, Profile(customer_id="C1"))
    for order_id in ("1", "10", "1 x"):
        store(db, order(order_id), item(order_id, "a"))
    found = db.run(AccountTree.of(Profile.primary("C1")))
    assert found is not None
    held = {tree.order.order_id: [one.order_id for one in tree.items] for tree in found.orders}
    assert held == {"1": ["1"], "10": ["10"], "1 x": ["1 x"]}


class Dispute(Aggregate):
    order: Order = root()
    complaints: list[Complaint] = children()


def test_children_beside_a_root_that_is_one_of_many_are_refused() -> None:
    """Nothing says whose they are; so the aggregate of one would hold those of the others."""
    with pytest.raises(
        DeclarationError,
        match=r"Dispute: Complaint\.primary lies beside Order\.primary, not below it",
    ):
        Dispute.of(Order.primary("C1", "2"))


def test_children_beside_a_root_that_is_found_first_are_refused_as_well() -> None:
    with pytest.raises(DeclarationError, match=r"Complaint\.primary lies beside Order\.primary"):
        Dispute.of(Order.by_state("open").first())


class Disputes(Aggregate):
    profile: Profile = root()
    disputes: list[Dispute] = children()


def test_children_beside_the_root_of_a_member_are_refused_as_well() -> None:
    """The profile is one; the orders below it are many, and the complaints lie beside them."""
    with pytest.raises(DeclarationError, match=r"Complaint\.primary lies beside Order\.primary"):
        Disputes.of(Profile.primary("C1"))


def test_the_root_is_the_one_that_was_asked_for(db: Database) -> None:
    """A partition may hold several roots."""
    store(db, order("1"), item("1", "a"), order("2"), item("2", "a"), item("3", "a"))
    found = db.run(OrderWithItems.of(Order.primary("C1", "2")))
    assert found is not None
    assert found.order == order("2")
    assert found.items == [item("2", "a")]


def test_without_the_root_that_was_asked_for_there_is_no_aggregate(db: Database) -> None:
    store(db, order("1"), item("1", "a"), item("2", "a"))
    assert db.run(OrderWithItems.of(Order.primary("C1", "2"))) is None


# -- a root that is found by another plan -------------------------------------------------------


@access_pattern
def first_in_state(state: str) -> LoadFound[OrderWithItems]:
    return OrderWithItems.of(Order.by_state(state).first())


def test_the_aggregate_of_a_root_that_is_found_first(db: Database) -> None:
    store(db, order("1"), item("1", "a"), order("2", state="open"), item("2", "a"), item("2", "b"))
    found = db.run(first_in_state("open"))
    assert found == OrderWithItems(
        order=order("2", state="open"), items=[item("2", "a"), item("2", "b")]
    )


def test_without_a_root_that_is_found_there_is_no_aggregate(db: Database) -> None:
    store(db, order("1"), item("1", "a"))
    assert db.run(first_in_state("open")) is None


def test_the_shape_of_a_root_that_is_found_first_has_both_requests() -> None:
    shape = explain(first_in_state)
    assert shape.operation == "Query + Query"
    assert [step.index for step in shape.steps] == [Sales.by_state.name, None]
    assert shape.read_units == sum(step.read_units for step in shape.steps)


# -- several levels by composite sort keys: the third way of the menu ----------------------------


class Carte(Table, name="aggregate_carte", pk="pk", sk="sk", type_attribute=None): ...


class Menu(Entity, table=Carte):
    menu: Attr[str] = attr()
    primary = key("MENU" / menu, "MENU")


class Section(Entity, table=Carte):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    primary = key("MENU" / menu, "MENU#SECTION" / section)


class SectionNote(Entity, table=Carte):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    primary = key("MENU" / menu, "MENU#SECTION" / section / "NOTE")


class Product(Entity, table=Carte):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    product: Attr[str] = attr()
    primary = key("MENU" / menu, "MENU#SECTION" / section / "PRODUCT" / product)


class Allergen(Entity, table=Carte):
    menu: Attr[str] = attr()
    section: Attr[str] = attr()
    product: Attr[str] = attr()
    allergen: Attr[str] = attr()
    primary = key(
        "MENU" / menu, "MENU#SECTION" / section / "PRODUCT" / product / "ALLERGEN" / allergen
    )


class ProductTree(Aggregate):
    product: Product = root()
    allergens: list[Allergen] = children()


class SectionTree(Aggregate):
    section: Section = root()
    products: list[ProductTree] = children()


class MenuTree(Aggregate):
    menu: Menu = root()
    sections: list[SectionTree] = children()


class NotedSection(Aggregate):
    section: Section = root()
    note: SectionNote = child()


class NotedMenu(Aggregate):
    menu: Menu = root()
    sections: list[NotedSection] = children()


def fill_menu(db: Database, menu: str, sections: dict[str, dict[str, list[str]]]) -> None:
    store(db, Menu(menu=menu))
    for section, products in sections.items():
        store(db, Section(menu=menu, section=section))
        for product, allergens in products.items():
            store(db, Product(menu=menu, section=section, product=product))
            for allergen in allergens:
                store(
                    db,
                    Allergen(menu=menu, section=section, product=product, allergen=allergen),
                )


def told(tree: MenuTree) -> dict[str, dict[str, list[str]]]:
    return {
        section.section.section: {
            product.product.product: [allergen.allergen for allergen in product.allergens]
            for product in section.products
        }
        for section in tree.sections
    }


CARTE: dict[str, dict[str, list[str]]] = {
    "1": {"10": ["egg"], "1": ["fish", "nuts"], "1 x": []},
    "1!": {"1": ["milk"]},
    "10": {"1": []},
    "soups": {},
}


def test_several_levels_come_from_one_query(db: Database) -> None:
    fill_menu(db, "lunch", CARTE)
    fill_menu(db, "dinner", {"1": {"x": []}})
    found = db.run(MenuTree.of(Menu.primary("lunch")))
    assert found is not None
    assert found.menu == Menu(menu="lunch")
    assert told(found) == CARTE


def test_a_level_can_be_asked_for_alone(db: Database) -> None:
    fill_menu(db, "lunch", CARTE)
    found = db.run(SectionTree.of(Section.primary("lunch", "1")))
    assert found is not None
    assert {tree.product.product for tree in found.products} == {"1", "1 x", "10"}


def test_rows_whose_own_level_is_missing_belong_to_nobody(db: Database) -> None:
    store(db, Menu(menu="m"), Product(menu="m", section="lost", product="p"))
    found = db.run(MenuTree.of(Menu.primary("m")))
    assert found is not None
    assert found.sections == []


def test_levels_are_read_in_descending_order(db: Database) -> None:
    fill_menu(db, "lunch", {"a": {"x": [], "y": []}, "b": {"z": []}})
    found = db.run(MenuTree.of(Menu.primary("lunch")).desc())
    assert found is not None
    assert list(told(found)) == ["b", "a"]
    assert list(told(found)["a"]) == ["y", "x"]


def test_a_limit_cuts_the_rows_of_all_levels(db: Database) -> None:
    fill_menu(db, "lunch", {"a": {"x": [], "y": []}, "b": {"z": []}})
    found = db.run(MenuTree.of(Menu.primary("lunch")).limit(2))
    assert found is not None
    assert told(found) == {"a": {"x": []}}


def test_a_list_of_aggregates_holds_no_gaps(db: Database) -> None:
    """One that lacks a member it needs is not there, just as a whole aggregate would not be."""
    store(
        db,
        Menu(menu="m"),
        Section(menu="m", section="a"),
        Section(menu="m", section="b"),
        SectionNote(menu="m", section="b"),
    )
    found = db.run(NotedMenu.of(Menu.primary("m")))
    assert found is not None
    assert [noted.section.section for noted in found.sections] == ["b"]


# -- the root last: the second option of the recipes ---------------------------------------------


class Kitchen(Table, name="aggregate_kitchen"): ...


class Category(Entity, table=Kitchen):
    category_id: Attr[str] = attr(name="id")
    name: Attr[str] = attr(default="")
    primary = key("CATEGORY" / category_id, "CATEGORY" / category_id.again)


class Ingredient(Entity, table=Kitchen):
    category_id: Attr[str] = attr(name="categoryId")
    ingredient_id: Attr[str] = attr(name="id")
    primary = key("CATEGORY" / category_id, "#INGREDIENT" / ingredient_id)


class CategoryWithIngredients(Aggregate):
    category: Category = root()
    ingredients: list[Ingredient] = children()


@access_pattern
def category_and_some(category_id: str, some: int) -> Load[CategoryWithIngredients]:
    """A category and the first batch of its ingredients."""
    plan = CategoryWithIngredients.of(Category.primary(category_id))
    return plan.desc().limit(some)


def fill_category(db: Database, category_id: str, count: int) -> None:
    store(db, Category(category_id=category_id))
    for number in range(count):
        store(db, Ingredient(category_id=category_id, ingredient_id=f"{number:02d}"))


def test_children_before_their_root_are_read_backwards_to_the_limit(
    db: Database, engine: Engine
) -> None:
    fill_category(db, "1", 20)
    fill_category(db, "10", 3)
    keys = {
        row["SK"]["S"] for row in engine.call("Scan", {"TableName": "aggregate_kitchen"})["Items"]
    }
    assert {"CATEGORY#1", "#INGREDIENT#00"} <= keys
    found = db.run(category_and_some("1", 11))
    assert found is not None
    assert found.category.category_id == "1"
    assert [one.ingredient_id for one in found.ingredients] == [
        f"{number:02d}" for number in range(19, 8, -1)
    ]


def test_the_backwards_read_asks_for_the_root_and_the_limit(db: Database) -> None:
    body = body_of(category_and_some("1", 10), db)
    assert body["ScanIndexForward"] is False
    assert body["Limit"] == 11


def test_children_before_their_root_are_all_read_without_a_limit(db: Database) -> None:
    fill_category(db, "1", 5)
    found = db.run(CategoryWithIngredients.of(Category.primary("1")))
    assert found is not None
    assert [one.ingredient_id for one in found.ingredients] == ["00", "01", "02", "03", "04"]


def test_a_limit_that_would_cut_the_root_off_says_how_to_read(db: Database) -> None:
    plan = CategoryWithIngredients.of(Category.primary("1")).limit(10)
    with pytest.raises(
        DeclarationError,
        match=r"CategoryWithIngredients: limit\(\) needs the root first, and #INGREDIENT#"
        r"\{ingredient_id\} comes before CATEGORY#\{category_id\}; read it with desc\(\)",
    ):
        db.run(plan)


def test_a_limit_that_would_cut_the_root_off_is_found_when_a_pattern_is_defined() -> None:
    with pytest.raises(DeclarationError, match=r"pattern cut_off: .*needs the root first"):

        @access_pattern
        def cut_off(category_id: str) -> Load[CategoryWithIngredients]:
            return CategoryWithIngredients.of(Category.primary(category_id)).limit(10)


# -- joins by an index: the second way of the menu -----------------------------------------------


class Joined(Table, name="aggregate_joined", pk="pk", sk="sk", type_attribute="kind"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK")


class JoinedMenu(Entity, table=Joined):
    uid: Attr[str] = attr()
    name: Attr[str] = attr()
    primary = key("MENU" / uid, "MENU" / name)
    join = index(Joined.gsi1, "MENU" / uid / "MENU" / name, "MENU" / name.again)


class JoinedSection(Entity, table=Joined):
    uid: Attr[str] = attr()
    name: Attr[str] = attr()
    menu_uid: Attr[str] = attr()
    menu_name: Attr[str] = attr()
    primary = key("SECTION" / uid, "SECTION" / name)
    of_menu = index(Joined.gsi1, "MENU" / menu_uid / "MENU" / menu_name, "SECTION" / name)
    join = index(Joined.gsi2, "SECTION" / uid / "SECTION" / name, "SECTION" / name.again)


class JoinedProduct(Entity, table=Joined):
    uid: Attr[str] = attr()
    name: Attr[str] = attr()
    section_uid: Attr[str] = attr()
    section_name: Attr[str] = attr()
    primary = key("PRODUCT" / uid, "PRODUCT" / name)
    of_section = index(
        Joined.gsi2, "SECTION" / section_uid / "SECTION" / section_name, "PRODUCT" / uid
    )


class MenuWithSections(Aggregate):
    menu: JoinedMenu = root()
    sections: list[JoinedSection] = children()


class SectionWithProducts(Aggregate):
    section: JoinedSection = root()
    products: list[JoinedProduct] = children()


@pytest.fixture
def joined(db: Database) -> Database:
    store(db, JoinedMenu(uid="m1", name="Lunch"), JoinedMenu(uid="m10", name="Lunch"))
    for uid, name in (("s1", "Soups"), ("s2", "Fish")):
        store(db, JoinedSection(uid=uid, name=name, menu_uid="m1", menu_name="Lunch"))
    store(db, JoinedSection(uid="s3", name="Other", menu_uid="m10", menu_name="Lunch"))
    for uid in ("p1", "p2", "p3"):
        store(db, JoinedProduct(uid=uid, name=uid, section_uid="s1", section_name="Soups"))
    return db


def test_an_aggregate_by_an_index(joined: Database) -> None:
    found = joined.run(MenuWithSections.of(JoinedMenu.join("m1", "Lunch")))
    assert found is not None
    assert found.menu.uid == "m1"
    assert [section.name for section in found.sections] == ["Fish", "Soups"]


def test_each_join_has_its_own_index(joined: Database) -> None:
    found = joined.run(SectionWithProducts.of(JoinedSection.join("s1", "Soups")))
    assert found is not None
    assert [product.uid for product in found.products] == ["p1", "p2", "p3"]


def test_a_limit_by_an_index(joined: Database) -> None:
    plan = MenuWithSections.of(JoinedMenu.join("m1", "Lunch")).limit(1)
    found = joined.run(plan)
    assert found is not None
    assert [section.name for section in found.sections] == ["Fish"]


def test_a_limit_is_refused_where_the_root_of_an_index_is_not_first(joined: Database) -> None:
    plan = SectionWithProducts.of(JoinedSection.join("s1", "Soups"))
    with pytest.raises(DeclarationError, match=r"read it with desc\(\)"):
        joined.run(plan.limit(1))
    found = joined.run(plan.desc().limit(1))
    assert found is not None
    assert [product.uid for product in found.products] == ["p3"]


def test_an_aggregate_by_a_global_index_cannot_be_read_consistently() -> None:
    with pytest.raises(DeclarationError, match="cannot be read consistently"):
        MenuWithSections.of(JoinedMenu.join("m1", "Lunch")).consistent()


def test_children_below_their_root_in_an_index_are_read_by_its_key(db: Database) -> None:
    store(db, order("1", state="open"), item("1", "a", state="open"))
    store(db, order("10", state="open"), item("10", "a", state="open"))
    plan = OrderWithItems.of(Order.by_state("open").eq("1"))
    found = db.run(plan)
    assert found is not None
    assert found.order.order_id == "1"
    assert [one.order_id for one in found.items] == ["1"]
    assert body_of(plan, db)["IndexName"] == "by_state"


@pytest.mark.parametrize(
    "change",
    [
        lambda root: root.desc(),
        lambda root: root.page_size(1),
        lambda root: root.filter(JoinedMenu.uid == "other"),
        lambda root: root.after("cursor"),
        lambda root: root.select(JoinedMenu.uid),
    ],
    ids=["desc", "limit", "filter", "resume", "select"],
)
def test_what_was_asked_of_the_root_is_not_dropped_silently(change: Any, joined: Database) -> None:
    """It means what it means on the aggregate, or it is refused."""
    root = JoinedMenu.join("m1", "Lunch")
    plain = joined.run(MenuWithSections.of(root))
    try:
        changed = joined.run(MenuWithSections.of(change(root)))
    except TablewrightError:
        return
    assert changed != plain


def test_a_range_of_roots_is_refused_or_read_as_a_range(joined: Database) -> None:
    root: Any = Order.by_state("open").gte("5")
    store(joined, order("1", state="open"), order("7", state="open"))
    try:
        found: Any = joined.run(OrderWithItems.of(root))
    except TablewrightError:
        return
    assert found.order.order_id == "7"


# -- natural keys --------------------------------------------------------------------------------


class Ranked(Table, name="aggregate_ranked", type_attribute="kind"):
    by_place = GSI("team", "place")


class Captain(Entity, table=Ranked):
    name: Attr[str] = attr()
    team: Attr[str] = attr()
    place: Attr[int] = attr(default=0)
    primary = key("CAPTAIN" / name, "CAPTAIN")
    by_place = index(Ranked.by_place, team, place)


class Player(Entity, table=Ranked):
    name: Attr[str] = attr()
    team: Attr[str] = attr()
    place: Attr[int] = attr()
    primary = key("PLAYER" / name, "PLAYER")
    by_place = index(Ranked.by_place, team, place)


class Team(Aggregate):
    captain: Captain = root()
    players: list[Player] = children()


def test_an_aggregate_by_natural_keys(db: Database) -> None:
    players = [Player(name=f"p{place}", team="reds", place=place) for place in (2, 9, 10)]
    store(db, Captain(name="ann", team="reds"), *players, Captain(name="bob", team="blues"))
    found = db.run(Team.of(Captain.by_place("reds")))
    assert found is not None
    assert found.captain.name == "ann"
    assert found.players == players


# -- what is refused when it is defined ----------------------------------------------------------


def test_a_member_outside_of_the_partition_is_refused() -> None:
    class Stocked(Aggregate):
        order: Order = root()
        warehouses: list[Warehouse] = children()

    with pytest.raises(
        DeclarationError,
        match=r"Stocked: Warehouse is not in the partitions of Order\.primary, "
        r"CUST#\{customer_id\}; one query cannot read both",
    ):
        Stocked.of(Order.primary("C1", "1"))

    with pytest.raises(DeclarationError, match="pattern stocked: Stocked: Warehouse is not in"):

        @access_pattern
        def stocked(customer_id: str, order_id: str) -> Load[Stocked]:
            return Stocked.of(Order.primary(customer_id, order_id))


def test_a_member_that_is_not_in_the_index_is_refused() -> None:
    with pytest.raises(
        DeclarationError, match=r"Payment is not in the partitions of Order\.by_state"
    ):
        WholeOrder.of(Order.by_state("open").eq("1"))


def test_a_member_of_a_member_outside_of_the_partition_is_refused() -> None:
    class Depot(Aggregate):
        warehouse: Warehouse = root()

    class Shipped(Aggregate):
        order: Order = root()
        depots: list[Depot] = children()

    with pytest.raises(DeclarationError, match="Shipped: Warehouse is not in the partitions"):
        Shipped.of(Order.primary("C1", "1"))


def test_the_root_of_another_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"OrderWithItems\.of\(\) takes Order, not Profile"):
        OrderWithItems.of(Profile.primary("C1"))


def test_an_aggregate_begins_with_its_root() -> None:
    with pytest.raises(
        DeclarationError, match=r"Rootless must begin with its root, an entity: order: Order = root"
    ):

        class Rootless(Aggregate):
            items: list[OrderItem] = children()
            order: Order = root()


def test_an_aggregate_without_members_is_refused() -> None:
    with pytest.raises(DeclarationError, match="Nothing must begin with its root"):

        class Nothing(Aggregate): ...


def test_children_are_annotated_as_a_list() -> None:
    with pytest.raises(
        DeclarationError, match=r"Single\.items = children\(\) must be annotated list"
    ):

        class Single(Aggregate):
            order: Order = root()
            items: OrderItem = children()  # type: ignore[assignment]


def test_a_member_is_an_entity_or_an_aggregate() -> None:
    with pytest.raises(
        DeclarationError, match=r"Texts\.notes: <class 'str'> is neither an entity nor"
    ):

        class Texts(Aggregate):
            order: Order = root()
            notes: list[str] = children()


def test_one_that_is_annotated_as_a_list_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Doubled\.items"):

        class Doubled(Aggregate):
            order: Order = root()
            items: list[OrderItem] = child()


def test_members_of_several_tables_are_refused() -> None:
    with pytest.raises(DeclarationError, match="its members are in several tables"):

        class Spread(Aggregate):
            order: Order = root()
            menus: list[Menu] = children()


def test_aggregates_of_equal_members_are_equal(db: Database) -> None:
    store(db, order("1"), item("1", "a"))
    plan = OrderWithItems.of(Order.primary("C1", "1"))
    found, again = db.run(plan), db.run(plan)
    assert found == again
    assert repr(found).startswith("OrderWithItems(order=Order(customer_id='C1', order_id='1'")
    store(db, item("1", "b"))
    assert db.run(plan) != found


# -- roots that are not named, and indexes that hold too little ----------------------------------


@pytest.mark.parametrize(
    "roots", [Order.primary.within("C1"), Order.by_state("open")], ids=["a partition", "an index"]
)
def test_all_roots_of_a_partition_with_children_below_them_are_refused(roots: Any) -> None:
    with pytest.raises(
        DeclarationError, match="lies below one Order; say which, with every part of"
    ):
        OrderWithItems.of(roots)


class Thin(Table, name="aggregate_thin"):
    keys = GSI("GSI1PK", "GSI1SK", project="KEYS_ONLY")
    notes = GSI("GSI2PK", "GSI2SK", project=("crate", "note", "tag"))


class Crate(Entity, table=Thin):
    crate: Attr[str] = attr()
    note: Attr[str] = attr(default="")
    tag: Attr[str] = attr(default="t")
    primary = key("CRATE" / crate, "CRATE")
    by_keys = index(Thin.keys, "TAG" / tag, "CRATE" / crate)
    by_notes = index(Thin.notes, "TAG" / tag, "CRATE" / crate)


class Bottle(Entity, table=Thin):
    crate: Attr[str] = attr()
    bottle: Attr[str] = attr()
    tag: Attr[str] = attr(default="t")
    primary = key("CRATE" / crate, "BOTTLE" / bottle)
    by_keys = index(Thin.keys, "TAG" / tag, "CRATE" / crate / "BOTTLE" / bottle)
    by_notes = index(Thin.notes, "TAG" / tag, "CRATE" / crate / "BOTTLE" / bottle)


class FullCrate(Aggregate):
    crate: Crate = root()
    bottles: list[Bottle] = children()


def test_an_index_that_does_not_hold_the_whole_root_is_refused_when_the_plan_is_made() -> None:
    with pytest.raises(DeclarationError, match=r"the index keys does not hold .*note"):
        FullCrate.of(Crate.by_keys("t").eq("1"))


def test_an_index_that_does_not_hold_a_whole_member_is_refused_when_the_plan_is_made() -> None:
    with pytest.raises(DeclarationError, match="the index notes does not hold bottle"):
        FullCrate.of(Crate.by_notes("t").eq("1"))


def test_a_second_root_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"Twins has one root, order; .* child\(\)"):

        class Twins(Aggregate):
            order: Order = root()
            payment: Payment = root()
