"""Orders, the entities that belong to them, and their aggregates."""

from __future__ import annotations

from typing import Any

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Entity,
    Load,
    Table,
    access_pattern,
    attr,
    child,
    children,
    index,
    key,
    put,
    root,
)
from tablewright.database import Database
from tablewright.plan.query_requests import QueryRequest
from tablewright.plans import LoadFound, Plan


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


@access_pattern
def first_in_state(state: str) -> LoadFound[OrderWithItems]:
    return OrderWithItems.of(Order.by_state(state).first())


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
