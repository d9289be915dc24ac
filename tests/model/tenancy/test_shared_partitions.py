"""Shared partitions: every tenant reads them, none writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tablewright import (
    Attr,
    Engine,
    Entity,
    Tenancy,
    attr,
    batch_get,
    batch_write,
    condition_check,
    connect,
    create,
    delete,
    key,
    put,
    transact,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue, TenantViolation
from tablewright.plans import Plan
from tests.model.tenancy.orgs import Org, Price, Product, Project, Work
from tests.new_table import new_table
from tests.prepared import prepared


def fill(engine: Engine) -> None:
    db = connect(engine, Work)
    for sku in ("a", "b"):
        db.run(put(Product(sku=sku)))
        db.run(put(Price(sku=sku, amount=1)))
    for org in ("x", "y"):
        db.run(put(Project(org=org, project=f"of {org}")))


@pytest.fixture
def db() -> Iterator[Database]:
    with prepared(fill) as engine:
        yield connect(engine, Work)


@pytest.mark.parametrize("org", ["x", "y", "CATALOG", "*"])
def test_every_tenant_reads_them(db: Database, org: str) -> None:
    own = db.for_tenant(org=org)
    assert own.run(Product.primary("a")) == Product(sku="a")
    assert [product.sku for product in own.run(Product.primary.within())] == ["a", "b"]
    assert own.run(batch_get([Price.primary("a"), Price.primary("b")])) == [
        Price(sku="a", amount=1),
        Price(sku="b", amount=1),
    ]


WRITES: dict[str, Callable[[], Plan[Any]]] = {
    "put": lambda: put(Product(sku="a")),
    "create": lambda: create(Product(sku="c")),
    "update": lambda: Price.primary("a").update(Price.amount.set(0)),
    "delete": lambda: Price.primary("a").delete(),
    "batch of puts": lambda: batch_write([put(Price(sku="c", amount=1))]),
    "batch of deletes": lambda: batch_write([delete(Product(sku="a"))]),
    "transaction": lambda: transact(put(Org(org="x")), delete(Product(sku="a"))),
}


@pytest.mark.parametrize("name", WRITES)
def test_no_tenant_writes_them(db: Database, name: str) -> None:
    own = db.for_tenant(org="x")
    with pytest.raises(
        TenantViolation, match=r"may write ORG#x, ORG#x#\*; PK='(CATALOG|PRICES#.)'"
    ):
        own.run(WRITES[name]())
    assert db.run(Price.primary("a")) == Price(sku="a", amount=1)
    assert len(db.run(Product.primary.within())) == 2


def test_a_transaction_may_require_a_shared_item(db: Database) -> None:
    own = db.for_tenant(org="x")
    own.run(transact(put(Org(org="x")), condition_check(Product.primary("a"))))
    assert own.run(Org.primary("x")) == Org(org="x")


def test_an_index_gives_own_and_shared_items(db: Database) -> None:
    own = db.for_tenant(org="x")
    assert [product.sku for product in own.iterate(Product.by_state().page_size(1))] == ["a", "b"]
    assert [project.org for project in own.iterate(Project.by_state("open"))] == ["x"]


def test_a_prefix_does_not_share_what_only_looks_like_it() -> None:
    shelves = new_table(tenancy=Tenancy("org", write=("ORG#{org}",), shared=("PRICES#*",)))

    class Item(Entity, table=shelves):
        kind: Attr[str] = attr()
        primary = key(kind + "#1", "ITEM")

    with connect(":memory:", shelves) as db:
        own = db.for_tenant(org="x")
        assert own.run(Item.primary("PRICES")) is None
        for other in ("PRICES2", "PRICE", "xPRICES"):
            with pytest.raises(TenantViolation, match=r"may read ORG#x, PRICES#\*"):
                own.run(Item.primary(other))


# -- declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shared", "message"),
    [
        (("ORG#{org}#X",), "without braces"),
        (("",), "without braces"),
        (("CAT*",), r"\* must be the last part"),
        (("*",), r"\* must be the last part"),
        (("ORG#public",), "can be the shard 'ORG#{org}' of a tenant"),
        (("ORG#*",), "can be the shard 'ORG#{org}' of a tenant"),
        ("CATALOG", "shared= takes a tuple"),
    ],
)
def test_a_shared_partition_is_a_text_that_no_tenant_has(shared: Any, message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        new_table(tenancy=Tenancy("org", write=("ORG#{org}",), shared=shared))


def test_an_id_that_is_a_shared_partition_is_refused() -> None:
    files = new_table(
        pk="owner", tenancy=Tenancy("owner", write=("{owner}",), shared=("PUBLIC", "PUBLIC#*"))
    )

    class File(Entity, table=files):
        owner: Attr[str] = attr()
        name: Attr[str] = attr()
        primary = key(owner, "FILE" / name)

    with connect(":memory:", files) as db:
        db.run(put(File(owner="PUBLIC", name="terms")))
        own = db.for_tenant(owner="ann")
        own.run(put(File(owner="ann", name="cv")))
        assert own.run(File.primary("PUBLIC", "terms")) is not None
        with pytest.raises(TenantViolation):
            own.run(put(File(owner="PUBLIC", name="terms")))
        for owner in ("PUBLIC", "PUBLIC#ann"):
            with pytest.raises(InvalidValue, match=r"reads like a partition of PUBLIC"):
                db.for_tenant(owner=owner)


def test_a_key_that_is_a_number_has_no_shared_partitions() -> None:
    meters = new_table(pk="owner", tenancy=Tenancy("owner", write=("{owner}",), shared=("7",)))

    class Meter(Entity, table=meters):
        owner: Attr[int] = attr()
        primary = key(owner, "METER")

    with (
        connect(":memory:", meters) as db,
        pytest.raises(DeclarationError, match="'owner' is a key of type N"),
    ):
        db.for_tenant(owner=8)
