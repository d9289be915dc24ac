"""Rules of partitions: each finds what it is for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.publish.advice.designs import find

EVENT = """
class Kind(StrEnum):
    A = "A"
    B = "B"
    C = "C"

class Event(Entity, table=Shop):
    id: Attr[str] = attr()
    by: Attr[str] = attr()
    kind: Attr[Kind] = attr()
    flag: Attr[bool] = attr()
    at: Attr[datetime] = attr()
    on: Attr[date] = attr()

    primary = key({partition}, "E" / id)

@access_pattern
def add(event: Event) -> Create[Event]:
    return create(event)
"""


def hot(folder: Path, partition: str, rates: str = "") -> list[tuple[str, str]]:
    findings = find(folder, EVENT.format(partition=partition), rates=rates)
    return [(each.rule, each.severity) for each in findings]


@pytest.mark.parametrize("partition", ['"EVENTS"', '"KIND" / kind', '"ON" / flag / kind'])
def test_a_partition_with_few_values_is_hot(tmp_path: Path, partition: str) -> None:
    assert hot(tmp_path, partition) == [("hot-partition", "warning")]


@pytest.mark.parametrize(
    "partition", ['"BY" / by', '"KIND" / kind / by', '"KIND" / kind / shard(id, of=8)']
)
def test_a_partition_with_many_values_or_shards_is_not_hot(tmp_path: Path, partition: str) -> None:
    assert hot(tmp_path, partition) == []


def test_the_number_of_partitions_is_in_the_reason(tmp_path: Path) -> None:
    (finding,) = find(tmp_path, EVENT.format(partition='"ON" / flag / kind'))
    assert "in 6 partitions, ON#{flag}#{kind}" in finding.reason
    assert "6,000 write units" in finding.reason
    assert finding.fix.endswith('key("ON" / flag / kind / shard(id, of=8), …)')


def test_one_item_is_not_a_hot_partition(tmp_path: Path) -> None:
    source = """
class Settings(Entity, table=Shop):
    text: Attr[str] = attr()
    primary = key("SETTINGS", "SETTINGS")
"""
    assert find(tmp_path, source) == []


def test_rates_decide(tmp_path: Path) -> None:
    assert hot(tmp_path, '"EVENTS"', "add = 900") == []
    assert hot(tmp_path, '"EVENTS"', "add = 1100") == [("hot-partition", "error")]
    assert hot(tmp_path, '"KIND" / kind', "add = 2900") == []
    assert hot(tmp_path, '"KIND" / kind', "add = 3100") == [("hot-partition", "error")]
    assert hot(tmp_path, '"E" / shard(id, of=4)', "add = 4100") == [("hot-partition", "error")]


READ = """
@access_pattern
def events() -> Query[Event]:
    return Event.primary.within()
"""


def test_rates_of_some_patterns_decide_only_if_they_are_too_high(tmp_path: Path) -> None:
    source = EVENT.format(partition='"EVENTS"') + READ
    severities = [
        [each.severity for each in find(tmp_path, source, rates=rates)]
        for rates in ("add = 900", "add = 1100", "add = 900\nevents = 10")
    ]
    assert severities == [["warning"], ["error"], []]


def test_writes_that_do_not_change_a_row_are_no_load_of_its_index(tmp_path: Path) -> None:
    source = EVENT.format(partition='"EVENT" / by').replace(
        "@access_pattern",
        '    kinds = index(Shop.gsi1, "KIND" / kind, "E" / id)\n\n@access_pattern',
        1,
    )
    source += """
@access_pattern
def flag(by: str, id: str, flag: bool) -> Update[Event]:
    return Event.primary(by, id).update(Event.flag.set(flag))

@access_pattern
def of_kind(kind: Kind) -> Query[tuple[str]]:
    return Event.kinds(kind).select(Event.id)
"""
    rates = "add = 10\nof_kind = 10\nflag = 5000"
    for project, count in (("KEYS_ONLY", 0), ("ALL", 1)):
        indexes = f'gsi1 = GSI("GSI1PK", "GSI1SK", project="{project}")'
        assert len(find(tmp_path, source, "hot-partition", indexes=indexes, rates=rates)) == count


def test_an_update_writes_the_version_in_a_projection(tmp_path: Path) -> None:
    source = EVENT.format(partition='"EVENT" / by').replace(
        "@access_pattern",
        """    number: Attr[int] = version()
    kinds = index(Shop.gsi1, "KIND" / kind, "E" / id)

@access_pattern
def flag(by: str, id: str, flag: bool) -> Update[Event]:
    return Event.primary(by, id).update(Event.flag.set(flag))

@access_pattern""",
    )
    indexes = 'gsi1 = GSI("GSI1PK", "GSI1SK", project=("number",))'
    rates = "add = 10\nflag = 5000"
    assert len(find(tmp_path, source, "hot-partition", indexes=indexes, rates=rates)) == 1


def test_the_fix_has_as_many_shards_as_the_rates_need(tmp_path: Path) -> None:
    (finding,) = find(tmp_path, EVENT.format(partition='"EVENTS"'), rates="add = 4100")
    assert "about 4,100 write units and 0 read units per second" in finding.reason
    assert finding.fix.endswith('key("EVENTS" / shard(id, of=5), …)')


@pytest.mark.parametrize("partition", ['"DAY" / day(at)', '"HOUR" / hour(at)', '"ON" / on'])
def test_a_period_as_partition(tmp_path: Path, partition: str) -> None:
    (finding,) = find(tmp_path, EVENT.format(partition=partition))
    assert finding.fix.endswith(f"= key({partition} / shard(id, of=8), …)")
    assert hot(tmp_path, partition) == [("time-partition", "warning")]
    assert hot(tmp_path, partition, "add = 900") == []
    assert hot(tmp_path, partition, "add = 1100") == [("time-partition", "error")]


@pytest.mark.parametrize(
    "partition", ['"DAY" / day(at) / by', '"AT" / at', '"DAY" / day(at) / shard(id, of=8)']
)
def test_a_time_beside_others_or_a_whole_one_is_no_period(tmp_path: Path, partition: str) -> None:
    assert hot(tmp_path, partition) == []


PRODUCT = """
class Product(Entity, table=Shop):
    id: Attr[str] = attr()
    sku: Attr[str] = attr()
    shop: Attr[str] = attr()
    primary = key({partition}, "PRO" / id)
    by_sku = primary.local(Shop.lsi, "SKU" / sku)
"""


def test_a_constant_partition_with_a_local_index(tmp_path: Path) -> None:
    source = PRODUCT.format(partition='"PROD"')
    lsi = 'lsi = LSI("SK2")'
    (finding,) = find(tmp_path, source, "collection-limit", indexes=lsi)
    assert "all items of Product are in one item collection, PROD" in finding.reason
    few, many = "[items]\nProduct = 1_000_000", "[items]\nProduct = 1_000_000_000"
    assert find(tmp_path, source, "collection-limit", indexes=lsi, rates=few) == []
    assert len(find(tmp_path, source, "collection-limit", indexes=lsi, rates=many)) == 1


def test_a_partition_for_each_item_or_no_local_index(tmp_path: Path) -> None:
    source = PRODUCT.format(partition='"SHOP" / shop')
    assert find(tmp_path, source, "collection-limit", indexes='lsi = LSI("SK2")') == []
    source = EVENT.format(partition='"EVENTS"')
    assert find(tmp_path, source, "collection-limit") == []


NATURAL = """
class State(StrEnum):
    NEW = "new"
    PAID = "paid"

class Sale(Entity, table={table}):
    state: Attr[State] = attr()
    id: Attr[str] = attr()
    {keys}
"""


def test_a_shard_of_a_natural_index_key_has_an_attribute_of_its_own(tmp_path: Path) -> None:
    keys = 'primary = key("SALE" / id, "SALE"); by_state = index(Shop.states, state, id)'
    source = NATURAL.format(table="Shop", keys=keys.replace("; ", "\n    "))
    (finding,) = find(tmp_path, source, "hot-partition", indexes='states = GSI("state", "id")')
    assert finding.fix.endswith(
        'states = GSI("state_shard", …) and '
        "by_state = index(Shop.states, state / shard(id, of=8), …)"
    )


def test_a_shard_of_a_natural_table_key_has_an_attribute_of_its_own(tmp_path: Path) -> None:
    table = "class Sales(Table, pk='state', sk='id'): ...\n"
    source = table + NATURAL.format(table="Sales", keys="primary = key(state, id)")
    (finding,) = find(tmp_path, source, "hot-partition")
    assert 'class Sales(Table, pk="state_shard", …) and primary = key(' in finding.fix


COUNTED = """
class Page(Entity, table=Shop):
    id: Attr[str] = attr()
    likes: Attr[int] = count_of("Like"{by})
    primary = key({key}, "PAGE")

class Like(Entity, table=Shop):
    id: Attr[str] = attr()
    user: Attr[str] = attr()
    primary = key("LIKE" / id, user)

@access_pattern
def like(like: Like) -> Create[Like]:
    return create(like)
"""


def counted(folder: Path, key: str, rates: str = "") -> list[str]:
    source = COUNTED.format(key=key, by="" if "id" in key else ", by=()")
    if "id" not in key:
        source = source.replace("    id: Attr[str] = attr()\n    likes", "    likes")
    return [each.rule for each in find(folder, source, rates=rates)]


def test_a_counter_that_rates_change_too_often_is_hot(tmp_path: Path) -> None:
    assert counted(tmp_path, '"PAGE" / id') == []
    assert counted(tmp_path, '"PAGE" / id', "like = 400") == []
    assert counted(tmp_path, '"PAGE" / id', "like = 600") == ["hot-counter"]


def test_the_counter_of_the_only_item_of_its_kind_is_hot(tmp_path: Path) -> None:
    assert counted(tmp_path, '"ALL"') == ["hot-counter"]
    assert counted(tmp_path, '"ALL"', "like = 400") == []
    assert counted(tmp_path, '"ALL"', "like = 600") == ["hot-counter"]
