from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tablewright import (
    GSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    create,
    index,
    key,
    put,
    ttl,
)
from tablewright.database import Database
from tablewright.errors import (
    AlreadyExists,
    ConditionFailed,
    DeclarationError,
    InvalidValue,
    WriteRejected,
)
from tests.plan.writes.bank import Branch, Branches


class Shop(Table, name="shop"):
    by_brand = GSI("GSI1PK", "GSI1SK")


class Product(Entity, table=Shop):
    sku: Attr[str] = attr()
    title: Attr[str] = attr(name="productTitle")
    price: Attr[Decimal] = attr(default=Decimal(1))
    shelf: Attr[int] = attr(pad=2, default=0)
    brand: Attr[str | None] = attr(default=None)
    tags: Attr[set[str]] = attr(default_factory=set)
    sizes: Attr[list[str | None]] = attr(default_factory=list)

    primary = key("PRODUCT" / sku, "PRODUCT" / sku.again)
    of_brand = index(Shop.by_brand, "BRAND" / brand, "SHELF" / shelf / sku)


class Session(Entity, table=Shop):
    session_id: Attr[str] = attr()
    ends: Attr[datetime | None] = ttl(name="expires", default=None)

    primary = key("SESSION" / session_id, "SESSION")


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Shop, Branches)


def stored(engine: Engine) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = engine.call("Scan", {"TableName": "shop"})["Items"]
    return items


# -- put -----------------------------------------------------------------------------------------


def test_a_put_writes_an_entity_that_is_not_there(db: Database, engine: Engine) -> None:
    db.run(put(Product(sku="P1", title="Kettle", brand="acme", shelf=7)))

    assert stored(engine) == [
        {
            "PK": {"S": "PRODUCT#P1"},
            "SK": {"S": "PRODUCT#P1"},
            "type": {"S": "Product"},
            "sku": {"S": "P1"},
            "productTitle": {"S": "Kettle"},
            "price": {"N": "1"},
            "shelf": {"N": "7"},
            "brand": {"S": "acme"},
            "sizes": {"L": []},
            "GSI1PK": {"S": "BRAND#acme"},
            "GSI1SK": {"S": "SHELF#07#P1"},
        }
    ]


def test_a_put_replaces_the_whole_entity(db: Database) -> None:
    db.run(put(Product(sku="P1", title="Kettle", tags={"new"}, brand="acme")))
    db.run(put(Product(sku="P1", title="Pot")))

    assert db.run(Product.primary("P1")) == Product(sku="P1", title="Pot")


def test_a_put_moves_the_index_keys_of_what_it_replaces(db: Database) -> None:
    db.run(put(Product(sku="P1", title="Kettle", brand="acme")))
    db.run(put(Product(sku="P1", title="Kettle", brand="umbrella")))

    assert list(db.run(Product.of_brand("acme"))) == []
    assert [found.sku for found in db.run(Product.of_brand("umbrella"))] == ["P1"]


def test_a_put_without_a_part_takes_the_entity_out_of_the_index(
    db: Database, engine: Engine
) -> None:
    db.run(put(Product(sku="P1", title="Kettle", brand="acme")))
    db.run(put(Product(sku="P1", title="Kettle")))

    assert list(db.run(Product.of_brand("acme"))) == []
    assert not {"GSI1PK", "GSI1SK"} & stored(engine)[0].keys()


def test_a_put_gives_the_instance_back(db: Database) -> None:
    product = Product(sku="P1", title="Kettle")

    assert db.run(put(product)) is product


def test_a_put_under_a_condition_that_holds_is_done(db: Database) -> None:
    db.run(put(Product(sku="P1", title="Kettle", price=Decimal(5))))
    db.run(put(Product(sku="P1", title="Pot")).condition(Product.price < Decimal(6)))

    found = db.run(Product.primary("P1"))
    assert found is not None
    assert found.title == "Pot"


def test_a_put_under_a_condition_that_does_not_hold_is_refused(db: Database) -> None:
    kettle = db.run(put(Product(sku="P1", title="Kettle", price=Decimal(5))))

    with pytest.raises(ConditionFailed, match=r"price < Decimal\('5'\) is false") as refused:
        db.run(put(Product(sku="P1", title="Pot")).condition(Product.price < Decimal(5)))

    assert refused.value.entity == "Product"
    assert refused.value.key == {"PK": {"S": "PRODUCT#P1"}, "SK": {"S": "PRODUCT#P1"}}
    assert refused.value.current == kettle
    assert db.run(Product.primary("P1")) == kettle


def test_a_condition_on_what_is_not_there_does_not_hold(db: Database, engine: Engine) -> None:
    with pytest.raises(ConditionFailed) as refused:
        db.run(put(Product(sku="P1", title="Pot")).condition(Product.title == "Kettle"))

    assert refused.value.current is None
    assert stored(engine) == []


def test_conditions_add_up(db: Database) -> None:
    db.run(put(Product(sku="P1", title="Kettle", price=Decimal(5))))
    plan = put(Product(sku="P1", title="Pot")).condition(Product.title == "Kettle")

    with pytest.raises(ConditionFailed, match=r"the condition price = Decimal\('6'\) is false"):
        db.run(plan.condition(Product.price == Decimal(6)))


def test_something_that_is_no_entity_is_refused() -> None:
    with pytest.raises(DeclarationError, match="'kettle' is not an entity"):
        put("kettle")  # type: ignore[type-var]


@pytest.mark.parametrize("shelf", [-1, 100])
def test_a_number_that_does_not_fit_its_key_is_refused(
    db: Database, engine: Engine, shelf: int
) -> None:
    with pytest.raises(
        InvalidValue, match=f"Product.of_brand: shelf is {shelf}, outside the range 0 to 99"
    ):
        db.run(put(Product(sku="P1", title="Kettle", brand="acme", shelf=shelf)))

    assert stored(engine) == []


# -- create --------------------------------------------------------------------------------------


def test_a_create_writes_an_entity(db: Database) -> None:
    product = Product(sku="P1", title="Kettle")

    assert db.run(create(product)) is product
    assert db.run(Product.primary("P1")) == product


def test_a_create_of_what_is_there_is_refused(db: Database, engine: Engine) -> None:
    kettle = db.run(create(Product(sku="P1", title="Kettle")))
    before = stored(engine)

    with pytest.raises(
        AlreadyExists, match=r'Product .*PK="PRODUCT#P1".* already exists'
    ) as refused:
        db.run(create(Product(sku="P1", title="Pot")))

    assert refused.value.entity == "Product"
    assert refused.value.key == {"PK": {"S": "PRODUCT#P1"}, "SK": {"S": "PRODUCT#P1"}}
    assert refused.value.current == kettle
    assert stored(engine) == before


def test_a_create_takes_no_conditions() -> None:
    """Its own is that nothing is there, so none on a value could hold."""
    with pytest.raises(AttributeError, match="condition"):
        create(Product(sku="P1", title="Pot")).condition(  # type: ignore[attr-defined]
            Product.title == "Kettle"
        )


# -- what is written -----------------------------------------------------------------------------


def test_none_is_not_stored(db: Database, engine: Engine) -> None:
    db.run(put(Product(sku="P1", title="Kettle", brand=None)))

    assert "brand" not in stored(engine)[0]
    found = db.run(Product.primary("P1"))
    assert found is not None
    assert found.brand is None


def test_an_empty_set_is_not_stored_and_reads_as_empty(db: Database, engine: Engine) -> None:
    db.run(put(Product(sku="P1", title="Kettle", tags=set())))

    assert "tags" not in stored(engine)[0]
    found = db.run(Product.primary("P1"))
    assert found is not None
    assert found.tags == set()


def test_none_inside_a_list_is_stored_as_null(db: Database, engine: Engine) -> None:
    db.run(put(Product(sku="P1", title="Kettle", sizes=["S", None])))

    assert stored(engine)[0]["sizes"] == {"L": [{"S": "S"}, {"NULL": True}]}
    found = db.run(Product.primary("P1"))
    assert found is not None
    assert found.sizes == ["S", None]


def test_a_time_to_live_is_stored_in_seconds(db: Database, engine: Engine) -> None:
    ends = datetime(2030, 1, 15, 10, 15, 30, tzinfo=UTC)
    db.run(put(Session(session_id="S1", ends=ends)))

    assert stored(engine)[0]["expires"] == {"N": "1894702530"}
    assert db.run(Session.primary("S1")) == Session(session_id="S1", ends=ends)


def test_a_time_to_live_is_rounded_up_to_a_whole_second(db: Database, engine: Engine) -> None:
    ends = datetime(2030, 1, 15, 10, 15, 30, 5, tzinfo=UTC)
    db.run(put(Session(session_id="S1", ends=ends)))

    assert stored(engine)[0]["expires"] == {"N": "1894702531"}
    found = db.run(Session.primary("S1"))
    assert found is not None
    assert found.ends == datetime(2030, 1, 15, 10, 15, 31, tzinfo=UTC)


def test_what_has_expired_is_deleted_by_the_engine(db: Database, engine: Engine) -> None:
    ends = datetime(2030, 1, 15, 10, 15, 30, tzinfo=UTC)
    db.run(put(Session(session_id="S1", ends=ends)))
    db.run(put(Session(session_id="S2", ends=None)))

    engine.expire(ends.timestamp() + 1)

    assert [item["session_id"]["S"] for item in stored(engine)] == ["S2"]


# -- stamps --------------------------------------------------------------------------------------


def test_a_put_stamps_the_instance_as_it_stamps_the_item(db: Database) -> None:
    branch = Branch(branch_id="N1")
    made, changed = branch.made, branch.changed

    db.run(put(branch))

    assert branch.made == made
    assert branch.changed > changed
    assert db.run(Branch.primary("N1")) == branch


def test_every_put_moves_the_stamp_of_the_last_write(db: Database) -> None:
    branch = db.run(create(Branch(branch_id="N1")))
    made, changed = branch.made, branch.changed

    db.run(put(branch))

    assert branch.made == made
    assert branch.changed > changed


@pytest.mark.parametrize("write", [create, put])
def test_a_write_that_fails_leaves_the_instance_as_it_was(db: Database, write: Any) -> None:
    db.run(create(Branch(branch_id="N1", text="first")))
    second = Branch(branch_id="N1", text="second")
    before = dict(vars(second))
    plan = write(second)

    with pytest.raises(WriteRejected):
        db.run(plan if write is create else plan.condition(Branch.text == "third"))

    assert vars(second) == before


@pytest.mark.parametrize("name", ["made", "changed"])
def test_a_stamp_cannot_be_given(name: str) -> None:
    values: dict[str, Any] = {"branch_id": "N1", name: datetime.now(UTC)}

    with pytest.raises(InvalidValue, match=f"Branch.{name} is set by the library"):
        Branch(**values)


def test_a_stamp_that_an_item_lacks_is_the_beginning_of_time_however_often_it_is_read(
    db: Database, engine: Engine
) -> None:
    """The item was written before the stamp was declared: no time of reading is its own."""
    db.run(create(Branch(branch_id="1")))
    engine.call(
        "UpdateItem",
        {
            "TableName": "branches",
            "Key": {"PK": {"S": "BRANCH#1"}, "SK": {"S": "BRANCH"}},
            "UpdateExpression": "REMOVE made, changed",
        },
    )
    beginning = datetime(1970, 1, 1, tzinfo=UTC)

    for _ in range(2):
        branch = db.run(Branch.primary("1"))
        assert branch is not None
        assert (branch.made, branch.changed) == (beginning, beginning)


OTHERS: Any = Branch.text == "x"


@pytest.mark.parametrize("condition", [OTHERS, (Product.shelf > 1) & OTHERS])
def test_a_put_under_a_condition_of_another_entity_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"Branch\.text is not an attribute of Product"):
        put(Product(sku="1", title="x")).condition(condition)


@pytest.mark.parametrize("condition", [None, True, "price > 1", Product.price])
def test_a_put_under_what_is_no_condition_is_refused(condition: Any) -> None:
    with pytest.raises(DeclarationError, match=r"is not a condition; write one .*Product\."):
        put(Product(sku="1", title="x")).condition(condition)
