"""What completion offers on a plan, an entity or a database: what users call, and nothing else."""

from __future__ import annotations

import pytest

import tablewright
from tablewright import connect, database, formats, plans
from tablewright.designs import commerce

READS = {"after", "before", "consistent", "desc", "limit", "page_size", "skip_unreadable"}
LOOKUP = {"or_raise"}
QUERY = READS | {"asc", "count", "filter", "first", "include", "select"}
RANGE = QUERY | {"begins_with", "between", "eq", "gt", "gte", "lt", "lte", "union"}
OFFERED: dict[str, set[str]] = {
    "Backfill": set(),
    "BatchGet": {"consistent"},
    "BatchGetTuple": {"consistent"},
    "BatchWrite": set(),
    "ConditionCheck": set(),
    "Count": set(),
    "Create": {"stamps"},
    "Delete": {"condition", "returning"},
    "First": LOOKUP | {"then"},
    "Get": LOOKUP | {"consistent", "delete", "then", "update", "upsert"},
    "GetByUnique": LOOKUP | {"then"},
    "Included": {"after", "before", "page_size"},
    "Load": READS | LOOKUP,
    "LoadFound": READS | LOOKUP,
    "OptionalRead": LOOKUP,
    "Plan": set(),
    "Put": {"audit", "condition", "returning", "stamps"},
    "Query": QUERY,
    "Range": RANGE,
    "Reconcile": set(),
    "RequiredRead": set(),
    "ReturningOld": set(),
    "Scan": QUERY | {"segments"},
    "SegmentedScan": QUERY | {"segments"},
    "ShardedRange": RANGE,
    "Single": LOOKUP | {"then"},
    "Then": LOOKUP,
    "TransactGet": set(),
    "Transaction": set(),
    "Save": {"audit", "condition"},
    "DeleteAggregate": set(),
    "DeleteRange": set(),
    "UpdateRange": {"audit"},
    "UnionRange": RANGE,
    "Update": {"audit", "condition", "returning"},
    "Upsert": {"audit", "condition", "returning"},
    "Write": set(),
}


def offered(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}


def test_every_type_of_plan_is_listed() -> None:
    kinds = {name: getattr(plans, name) for name in plans.__all__}
    found = {n for n, k in kinds.items() if isinstance(k, type) and issubclass(k, plans.Plan)}
    assert found == set(OFFERED)


@pytest.mark.parametrize("name", OFFERED)
def test_a_type_of_plan_offers_what_users_call(name: str) -> None:
    assert offered(getattr(plans, name)) == OFFERED[name]


def test_a_plan_offers_what_its_type_does() -> None:
    """Its state is private: an instance has no more names than its class."""
    order = commerce.CustomerOrder.primary("C1", "O1")
    made = [
        order,
        order.update(commerce.CustomerOrder.total.increment(1)),
        order.delete(),
        commerce.CustomerOrder.timeline("C1"),
        commerce.CustomerOrder.timeline("C1").first(),
        commerce.CustomerOrder.timeline("C1").count(),
        commerce.OrderWithItems.of(order),
    ]
    for plan in made:
        assert offered(plan) == OFFERED[type(plan).__name__]


def test_a_database_offers_what_users_call() -> None:
    with connect(":memory:", commerce.Commerce) as db:
        assert offered(db) == {
            *("close", "for_tenant", "iterate", "run", "stream_events", "table_names", "through"),
            *("transaction", "transport"),
        }
        assert offered(db.transaction()) == {"add"}


def test_an_entity_offers_its_attributes_and_keys_beside_where_and_scan() -> None:
    declared = {name for name in vars(commerce.CustomerOrder) if not name.startswith("_")}
    assert offered(commerce.CustomerOrder) == declared | {"changes_from", "scan", "where"}


def test_a_key_offers_the_partition_it_is_in() -> None:
    assert offered(commerce.CustomerOrder.primary) == {"all_shards", "within"}
    assert offered(commerce.CustomerOrder.timeline) == {"all_shards", "scan"}


def test_a_public_module_offers_what_it_lists() -> None:
    """What moved out of the top level is in one module, and nowhere else."""
    for module in (database, formats, plans):
        for name in module.__all__:
            assert hasattr(module, name)
    moved = {*formats.__all__, *database.__all__, "access_patterns"}
    assert moved.isdisjoint(dir(tablewright))


def test_an_instance_offers_its_attributes() -> None:
    customer = commerce.CustomerProfile(customer_id="C1", email="ann@example.com", name="Ann")
    assert dir(customer) == sorted(commerce.CustomerProfile.__entity__.attributes)


def test_a_reference_offers_conditions_and_changes() -> None:
    assert offered(commerce.CustomerOrder.total) == {
        "add_to_set",
        "append",
        "append_if_absent",
        "attribute_type",
        "begins_with",
        "between",
        "contains",
        "decrement",
        "exists",
        "in_",
        "increment",
        "not_exists",
        "path",
        "prepend",
        "remove",
        "remove_from_set",
        "set",
        "set_if_absent",
        "size",
    }


def test_a_condition_is_combined_with_operators_only() -> None:
    version = commerce.CustomerOrder.version
    above = version > 1
    for condition in (above, ~above, above & version.exists(), version.between(1, 2)):
        assert offered(condition) == set()
