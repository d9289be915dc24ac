"""The command that writes a new design: a module with its checks, and a test.

The design is small, but complete: two entities, an index, a unique value, an aggregate, reads and
writes. It passes `tablewright verify`, pytest and the type checkers as it is written, and is meant
to be changed.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from pathlib import Path
from string import Template

import typer

from tablewright.cli.commands import DESIGNS, add_command
from tablewright.cli.failures import describe_error, fail
from tablewright.cli.options import argument
from tablewright.whole_file import create_whole

DESIGN = Template('''\
"""$title: customers and their orders, in one table.

The keys:

    entity    PK                  SK                in the index by_status
    Customer  CUST#{customer_id}  CUST
    Order     CUST#{customer_id}  ORDER#{order_id}  STATUS#{status} | AT#{placed_at}#...
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

from tablewright import (
    GSI,
    Aggregate,
    Attr,
    Create,
    Entity,
    Get,
    Load,
    Query,
    Table,
    Update,
    access_pattern,
    attr,
    children,
    create,
    index,
    key,
    root,
    unique,
)
from tablewright.errors import AlreadyExists
from tablewright.verify import Check, Raises, Stored, changed

# -- the table and its entities


class $table(Table, name="$name"):
    by_status = GSI("GSI1PK", "GSI1SK")


class Customer(Entity, table=$table):
    customer_id: Attr[str] = attr()
    name: Attr[str] = attr()
    email: Attr[str] = attr()

    primary = key("CUST" / customer_id, "CUST")
    emails = unique("EMAIL" / email)


class Order(Entity, table=$table):
    customer_id: Attr[str] = attr()
    order_id: Attr[str] = attr()
    placed_at: Attr[datetime] = attr()
    status: Attr[str] = attr(default="NEW")
    total: Attr[Decimal] = attr()

    primary = key("CUST" / customer_id, "ORDER" / order_id)
    by_status = index($table.by_status, "STATUS" / status, "AT" / placed_at / order_id)


class CustomerWithOrders(Aggregate):
    customer: Customer = root()
    orders: list[Order] = children()


# -- the access patterns


@access_pattern
def customer(customer_id: str) -> Get[Customer]:
    """A customer by id."""
    return Customer.primary(customer_id)


@access_pattern
def customer_with_orders(customer_id: str) -> Load[CustomerWithOrders]:
    """A customer with all orders, in one query."""
    return CustomerWithOrders.of(Customer.primary(customer_id))


@access_pattern
def orders_by_status(status: str) -> Query[Order]:
    """The orders with a status, newest first."""
    return Order.by_status(status).desc()


@access_pattern
def place_order(order: Order) -> Create[Order]:
    """Place an order; its id must be new."""
    return create(order)


@access_pattern
def change_status(customer_id: str, order_id: str, status: str) -> Update[Order]:
    """Change the status of an order; its place in the index follows."""
    return Order.primary(customer_id, order_id).update(Order.status.set(status))


# -- sample data and checks: `tablewright verify $name.py` runs them


def sample() -> list[Entity]:
    return [
        Customer(customer_id="C1", name="Ann", email="ann@example.com"),
        Customer(customer_id="C2", name="Ben", email="ben@example.com"),
        *(_order(number, "PAID" if number % 2 else "NEW") for number in range(1, 5)),
    ]


def _order(number: int, status: str) -> Order:
    return Order(
        customer_id="C1",
        order_id=f"O{number}",
        placed_at=datetime(2026, 1, number, tzinfo=UTC),
        status=status,
        total=Decimal(10 * number),
    )


def checks(stored: Stored) -> Iterator[Check]:
    ann, first = stored(Customer)[0], stored(Order)[0]
    yield Check("A customer by id", customer("C1"), ann)
    yield Check(
        "A customer with all orders",
        customer_with_orders("C1"),
        lambda: CustomerWithOrders(customer=ann, orders=stored(Order)),
    )
    yield Check(
        "The paid orders, newest first",
        orders_by_status("PAID"),
        lambda: [order for order in reversed(stored(Order)) if order.status == "PAID"],
    )
    yield Check("Place an order", place_order(_order(5, "NEW")), _order(5, "NEW"))
    yield Check("Place an order again", place_order(first), Raises(AlreadyExists))
    sent = change_status("C1", "O1", "SENT")
    yield Check("Change the status", sent, changed(first, status="SENT"))
''')

TEST = Template('''\
"""Tests of the design in $name.py."""

from tablewright import connect, create
from tablewright.verify import Design, verify

from $name import $table, change_status, checks, orders_by_status, sample


def test_every_check_passes():
    design = Design("$name", "", ($table,), sample, checks)
    with connect(":memory:", $table) as db:
        assert [result.problem for result in verify(design, db) if not result.ok] == []


def test_an_order_moves_to_its_new_status(tablewright_db):
    db = tablewright_db($table)
    for entity in sample():
        db.run(create(entity))
    db.run(change_status("C1", "O1", "SENT"))
    assert [order.order_id for order in db.run(orders_by_status("SENT"))] == ["O1"]
''')

#: The names that the module has already.
TAKEN = frozenset(re.findall(r"\b[A-Z]\w+", DESIGN.template))


@add_command(DESIGNS)
def new(
    name: str = argument("NAME", "The name of the module and of its table."),
) -> None:
    """Write a small design, NAME.py, with its checks, and a test of it, test_NAME.py.

    Both pass as they are: `tablewright verify NAME.py` and `pytest`. No file is overwritten.
    """
    name = name.removesuffix(".py")
    files = {Path(f"{name}.py"): DESIGN, Path(f"test_{name}.py"): TEST}
    for file in files:
        if file.exists():
            fail(f"{file} exists; choose another name, or remove it")
    check_name(name)
    title = name.replace("_", " ").capitalize()
    table = "".join(part.capitalize() for part in name.split("_"))
    if table in TAKEN:
        table += "Table"
    values = {"name": name, "title": title, "table": table}

    for file, template in files.items():
        try:
            with create_whole(file) as partial:
                partial.write_text(template.substitute(values), encoding="utf-8")
        except OSError as error:
            fail(f"{file}: {describe_error(error)}")
    typer.echo(f"{', '.join(map(str, files))}: written")
    typer.echo(f"Next: tablewright verify {name}.py runs its checks, pytest its test.")


def check_name(name: str) -> None:
    """Fail unless a module and a table can have this name."""
    from tablewright.designs.catalog import BUNDLED

    if not re.fullmatch("[a-z][a-z0-9_]{2,}", name) or keyword.iskeyword(name):
        fail(
            f"{name!r} is not a valid module name; use three or more of a-z, 0-9 and _, but no "
            "keyword of Python"
        )
    if name in BUNDLED:  # `tablewright verify shop` would run the checks of the bundled design
        fail(f"{name!r} is the name of a bundled design; choose another name, such as my_{name}")
    # a file with the name of another module would be imported in place of it, or the reverse
    if name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None:
        fail(f"{name!r} is the name of another module that Python finds; choose another name")
