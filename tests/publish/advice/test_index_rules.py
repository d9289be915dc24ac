"""Rules of indexes: each finds what it is for, and nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.publish.advice.designs import ORDER, find

GSI1 = 'gsi1 = GSI("GSI1PK", "GSI1SK")'
GSI2 = 'gsi2 = GSI("GSI2PK", "GSI2SK")'
TWO = f"{GSI1}\n    {GSI2}"
BY_STATUS = ORDER + '    by_status = index(Shop.gsi1, "STATUS" / status, "AT" / at / id)\n'
READ = """
@access_pattern
def by_status(status: str) -> Query[Order]:
    return Order.by_status(status)
"""
GET = """
@access_pattern
def order(id: str) -> Get[Order]:
    return Order.primary(id)
"""


def test_an_index_that_no_pattern_reads(tmp_path: Path) -> None:
    (finding,) = find(tmp_path, BY_STATUS + GET, "unused-index", indexes=GSI1)
    assert finding.subject == "Shop.gsi1"
    assert "its write units for each item: Order 1" in finding.reason
    line = (tmp_path / "design.py").read_text().splitlines()[finding.place.line - 1]
    assert line.strip() == GSI1


def test_an_index_that_a_pattern_reads(tmp_path: Path) -> None:
    assert find(tmp_path, BY_STATUS + GET + READ, "unused-index", indexes=GSI1) == []


def test_without_patterns_no_index_is_unused(tmp_path: Path) -> None:
    assert find(tmp_path, BY_STATUS, "unused-index", indexes=GSI1) == []


def test_two_indexes_with_one_key(tmp_path: Path) -> None:
    indexes = 'one = GSI("status", "at", project=("id",))\n    two = GSI("status", "at")'
    (finding,) = find(tmp_path, ORDER, "duplicate-index", indexes=indexes)
    assert finding.subject == "Shop.two"
    assert finding.fix == 'keep one: one = GSI(…, project="ALL")'


def test_two_indexes_with_different_keys(tmp_path: Path) -> None:
    indexes = 'one = GSI("status", "at")\n    two = GSI("at", "status")'
    assert find(tmp_path, ORDER, "duplicate-index", indexes=indexes) == []


USER = """
class User(Entity, table=Shop):
    id: Attr[str] = attr()
    email: Attr[str] = attr()

    primary = key("USER" / id, "USER" / id.again)
    by_email = index(Shop.{index}, "EMAIL" / email, "USER" / id)
"""


def test_two_indexes_that_could_be_one(tmp_path: Path) -> None:
    source = BY_STATUS + USER.format(index="gsi2")
    (finding,) = find(tmp_path, source, "mergeable-indexes", indexes=TWO)
    assert finding.severity == "note"
    assert finding.fix == "in User: index(Shop.gsi1, …) instead of index(Shop.gsi2, …)"


def test_indexes_whose_partitions_could_be_the_same_are_better_apart(tmp_path: Path) -> None:
    source = BY_STATUS + USER.format(index="gsi2").replace('"EMAIL"', '"STATUS"')
    assert find(tmp_path, source, "mergeable-indexes", indexes=TWO) == []


def test_indexes_that_share_an_entity_cannot_be_one(tmp_path: Path) -> None:
    more = '    by_id = index(Shop.gsi1, "ID" / id, "USER" / id.again)\n'
    source = BY_STATUS + USER.format(index="gsi2") + more
    assert find(tmp_path, source, "mergeable-indexes", indexes=TWO) == []


SAMPLE = """
def sample() -> list[Order]:
    return [
        Order(id=f"O{n}", status="new", at=datetime(2026, 1, 1, tzinfo=UTC), note="x" * 500)
        for n in range(3)
    ]
"""
NOTED = BY_STATUS.replace("    at:", '    note: Attr[str] = attr(default="")\n    at:')
SELECT = READ.replace("Query[Order]", "Query[tuple[str]]").replace(
    "(status)", "(status).select(Order.id)"
)
COUNT = """
@access_pattern
def count(status: str) -> Count:
    return Order.by_status(status).count()
"""


def test_an_index_with_whole_items_of_which_little_is_read(tmp_path: Path) -> None:
    source = "from tablewright.plans import Count\n" + NOTED + SELECT + COUNT + SAMPLE
    (finding,) = find(tmp_path, source, "wide-projection", indexes=GSI1)
    assert finding.fix == 'gsi1 = GSI(…, project=("id", "type"))'
    assert "its readers select id, type; with these alone, a row has 88 bytes" in finding.reason


def test_an_index_of_which_whole_items_are_read(tmp_path: Path) -> None:
    assert find(tmp_path, NOTED + SELECT + READ, "wide-projection", indexes=GSI1) == []


def test_an_index_with_the_selected_attributes(tmp_path: Path) -> None:
    indexes = 'gsi1 = GSI("GSI1PK", "GSI1SK", project=("id", "type"))'
    assert find(tmp_path, NOTED + SELECT, "wide-projection", indexes=indexes) == []
