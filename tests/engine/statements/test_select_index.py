from __future__ import annotations

import pytest

from tests.engine.database import Database, item
from tests.engine.statements.running import execute, keys, refuses, select

PROJECTED = "One or more parameter values were invalid: "


@pytest.fixture
def shop(db: Database) -> str:
    return db.table(
        local={"local": ("pk:S / date:S", ["kept"])},
        glob={"global": ("status:S / date:S", ["kept"]), "keys": ("status:S", "KEYS_ONLY")},
        items=[
            item(pk="a", sk=str(n), date=f"2026-0{n}", status="open", kept=n, other=n, x="y" * 5000)
            for n in range(1, 4)
        ],
    )


def test_an_index_is_read_in_its_order_with_what_it_holds(db: Database, shop: str) -> None:
    text = f"SELECT * FROM \"{shop}\".\"global\" WHERE status = 'open' AND date > '2026-01'"
    found = select(db, text)
    assert keys(found) == [("a", "2"), ("a", "3")]
    assert found[0].keys() == {"pk", "sk", "date", "status", "kept"}
    assert keys(select(db, f"{text} ORDER BY date DESC")) == [("a", "3"), ("a", "2")]


def test_a_local_index_reads_other_attributes_from_the_table(db: Database, shop: str) -> None:
    text = f'SELECT sk, other FROM "{shop}"."local" WHERE pk = \'a\' AND kept > 1'
    page = execute(db, text, ReturnConsumedCapacity="INDEXES")
    assert page["Items"] == [item(sk="2", other=2), item(sk="3", other=3)]
    consumed = page["ConsumedCapacity"]
    assert consumed["LocalSecondaryIndexes"] == {"local": {"CapacityUnits": 0.5}}
    assert consumed["Table"] == {"CapacityUnits": 3.0}  # three rows of 5 KB, also the filtered one


def test_a_global_index_does_not(db: Database, shop: str) -> None:
    message = f"{PROJECTED}Global secondary index global does not project [other]"
    refuses(db, message, f'SELECT other FROM "{shop}"."global" WHERE status = \'open\'')
    refuses(db, message, f'SELECT other FROM "{shop}"."global"')


@pytest.mark.parametrize("index", ["global", "local"])
@pytest.mark.parametrize("condition", ["= ?", "IN [?]"])
def test_a_filter_beside_a_key_condition_needs_projected_attributes(
    db: Database, shop: str, index: str, condition: str
) -> None:
    key, value = ("status", "open") if index == "global" else ("pk", "a")
    text = f'SELECT * FROM "{shop}"."{index}" WHERE {key} {condition} AND other = 1'
    refuses(
        db,
        f"{PROJECTED}Secondary index {index} does not project one or more filter attributes: "
        "[other]",
        text,
        value,
    )
    refuses(
        db,
        f"{PROJECTED}Secondary index {index} does not project one or more filter attributes: "
        "[other]",
        f"{text} AND date BETWEEN '2026' AND '2027'",
        value,
    )


def test_elsewhere_an_unprojected_attribute_is_missing(db: Database, shop: str) -> None:
    source = f'SELECT * FROM "{shop}"."global" WHERE'
    assert select(db, f"{source} other = 1") == []
    assert len(select(db, f"{source} other IS MISSING")) == 3
    alternatives = (
        "(status = 'open' AND date = '2026-01' AND other = 1) OR (status = 'done' AND kept = 1)"
    )
    assert select(db, f"{source} {alternatives}") == []


def test_reads_of_a_global_index_cannot_be_consistent(db: Database, shop: str) -> None:
    message = "Strongly consistent read is not supported on Global Secondary Indexes"
    text = f'SELECT * FROM "{shop}"."global"'
    refuses(db, message, text, ConsistentRead=True)
    refuses(db, message, f"{text} WHERE status = 'open'", ConsistentRead=True)
    assert len(select(db, f'SELECT * FROM "{shop}"."local"', ConsistentRead=True)) == 3


def test_an_unknown_index(db: Database, shop: str) -> None:
    refuses(db, "The table does not have the specified index", f'SELECT * FROM "{shop}"."missing"')


def test_an_index_read_charges_the_index_alone(db: Database, shop: str) -> None:
    text = f'SELECT * FROM "{shop}"."keys" WHERE status = \'open\''
    consumed = execute(db, text, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert consumed["Table"] == {"CapacityUnits": 0.0}
    assert consumed["GlobalSecondaryIndexes"] == {"keys": {"CapacityUnits": 0.5}}


@pytest.mark.parametrize(
    ("where", "units"),
    [
        ("pk = 'a' AND sk = '1'", 1.0),  # 5 KB
        ("pk = 'a' AND sk = 'missing'", 0.5),
        ("pk = 'a'", 2.0),
        ("pk IN ['a', 'missing']", 2.5),
        ("other = 1", 2.0),
    ],
)
def test_a_read_costs_what_its_operation_costs(
    db: Database, shop: str, where: str, units: float
) -> None:
    text = f'SELECT * FROM "{shop}" WHERE {where}'
    page = execute(db, text, ReturnConsumedCapacity="TOTAL")
    assert page["ConsumedCapacity"] == {"TableName": shop, "CapacityUnits": units}
    page = execute(db, text, ReturnConsumedCapacity="TOTAL", ConsistentRead=True)
    assert page["ConsumedCapacity"] == {"TableName": shop, "CapacityUnits": 2 * units}


@pytest.mark.parametrize(
    ("keys_", "is_read"),
    [("tenant:S region:N", False), ("tenant:S / day:S hour:N", False), ("tenant:S / day:S", True)],
)
def test_an_index_with_a_key_of_several_attributes_is_not_read(
    db: Database, keys_: str, is_read: bool
) -> None:
    table = db.table(glob={"parts": (keys_, "ALL")}, items=[])
    source = f'"{table}"."parts" WHERE tenant = 1'
    if is_read:
        wrong_type = "Key attribute's data type should match its data type in table's schema: Key "
        refuses(db, f"{wrong_type}tenant", f"SELECT * FROM {source}")
        refuses(db, "Unexpected path component at 1:8:5", f"SELECT COUNT(*) FROM {source}")
    else:
        message = (
            "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
            "multi-attribute RANGE keys."
        )
        refuses(db, message, f"SELECT * FROM {source}")
        refuses(db, message, f"SELECT COUNT(*) FROM {source}")
    assert select(db, f"SELECT * FROM \"{table}\" WHERE pk = 'a'") == []
