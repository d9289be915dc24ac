"""Any table can be written and read back, and updated into any other with its keys."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tablewright.engine import Engine
from tablewright.schema import KeyAttribute, KeySchema, OnDemand, ProjectedAttributes, Throughput
from tablewright.table_changes import differences, update_steps
from tablewright.table_description import IndexDescription, TableDescription, read_table, read_ttl

KEYS = KeySchema((KeyAttribute("PK", "S"),), (KeyAttribute("SK", "N"),))
LOCAL = IndexDescription("local", "local", KeySchema(KEYS.partition, (KeyAttribute("a", "S"),)))
UNITS = st.builds(Throughput, st.integers(1, 50), st.integers(1, 50))
LIMITS = st.none() | st.builds(OnDemand, st.integers(1, 50), st.sampled_from([-1, 7]))
ATTRIBUTES = [KeyAttribute(name, kind) for name, kind in zip("abcd", "SNBS", strict=True)]
PROJECTIONS = st.sampled_from(
    [
        ProjectedAttributes("ALL"),
        ProjectedAttributes("KEYS_ONLY"),
        ProjectedAttributes("INCLUDE", ("y", "x")),
    ]
)


@st.composite
def index_keys(draw: st.DrawFn) -> KeySchema:
    chosen = draw(st.lists(st.sampled_from(ATTRIBUTES), min_size=1, max_size=3, unique=True))
    size = draw(st.integers(1, len(chosen)))
    return KeySchema(tuple(chosen[:size]), tuple(chosen[size:]))


@st.composite
def tables(draw: st.DrawFn) -> TableDescription:
    """A table with the same keys and local index as all others, for they cannot be changed."""
    throughput = draw(st.none() | UNITS)
    on_demand = LIMITS if throughput is None else st.none()
    names = draw(st.lists(st.sampled_from(["one", "two", "three"]), unique=True))
    indexes = [
        IndexDescription(
            name,
            "global",
            draw(index_keys()),
            draw(PROJECTIONS),
            None if throughput is None else draw(UNITS),
            draw(on_demand),
        )
        for name in names
    ]
    return TableDescription(
        "table",
        KEYS,
        (LOCAL, *indexes),
        throughput,
        draw(on_demand),
        stream=draw(st.sampled_from([None, "KEYS_ONLY", "NEW_AND_OLD_IMAGES"])),
        ttl=draw(st.sampled_from([None, "expires", "ends"])),
        table_class=draw(st.sampled_from([None, "STANDARD_INFREQUENT_ACCESS"])),
        is_protected=draw(st.booleans()),
        tags=draw(st.sampled_from([(), (("team", "shop"),)])),
    )


def find(engine: Engine) -> TableDescription:
    named = {"TableName": "table"}
    ttl = read_ttl(engine.call("DescribeTimeToLive", named))
    return read_table(engine.call("DescribeTable", named)["Table"], ttl)


def create(engine: Engine, table: TableDescription) -> None:
    engine.call("CreateTable", table.to_create_table())
    bare = replace(table, ttl=None)
    for step in update_steps(table, bare):
        engine.call(step.operation, step.request)


@given(tables())
def test_what_is_written_is_read_back(table: TableDescription) -> None:
    assert read_table(table.to_create_table(), table.ttl) == table


@given(tables())
def test_a_table_does_not_differ_from_itself_or_from_what_was_created(
    table: TableDescription,
) -> None:
    assert differences(table, table) == []
    assert update_steps(table, table) == []
    with Engine(":memory:") as engine:
        create(engine, table)
        assert differences(table, find(engine)) == []


@given(tables(), tables())
def test_update_steps_make_a_table_like_another(
    before: TableDescription, after: TableDescription
) -> None:
    with Engine(":memory:") as engine:
        create(engine, before)
        for step in update_steps(after, find(engine)):
            engine.call(step.operation, step.request)
        assert differences(after, find(engine)) == []


def test_the_name_of_a_part_is_unique() -> None:
    same = IndexDescription("x", "local", KEYS), IndexDescription("x", "global", KEYS)
    table = TableDescription("table", KEYS, same)
    assert len({each.name for each in differences(table, TableDescription("table", KEYS))}) == 2
