"""Rules of entities and settings: each finds what it is for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.publish.advice.designs import find

CART = """
class Cart(Entity, table=Shop):
    id: Attr[str] = attr()
    lines: Attr[list[str]] = attr(default_factory=list)
    tags: Attr[set[str]] = attr(default_factory=set)
    primary = key("CART" / id, "CART" / id.again)

@access_pattern
def first(id: str, line: str) -> Update[Cart]:
    return Cart.primary(id).update(Cart.{change})
"""
SECOND = """
@access_pattern
def second({parameters}):
    return {plan}
"""


@pytest.mark.parametrize("change", ["lines.append(line)", "tags.add_to_set({line})"])
def test_a_list_to_which_patterns_only_add(tmp_path: Path, change: str) -> None:
    (finding,) = find(tmp_path, CART.format(change=change), "growing-item")
    assert "first() only adds to it" in finding.reason
    assert "an item reaches 400 KB after about 17,066" in finding.reason


@pytest.mark.parametrize(
    ("plan", "parameters"),
    [
        ("Cart.primary(id).update(Cart.lines.set([]))", "id: str"),
        ("put(cart)", "cart: Cart"),
        ("save(cart)", "cart: Cart"),
    ],
)
def test_a_list_that_patterns_also_replace(tmp_path: Path, plan: str, parameters: str) -> None:
    source = CART.format(change="lines.append(line)")
    source += SECOND.format(plan=plan, parameters=parameters)
    assert find(tmp_path, source, "growing-item") == []


def test_the_size_of_elements_is_that_of_the_sample_data(tmp_path: Path) -> None:
    source = CART.format(change="lines.append(line)")
    source += 'def sample(): return [Cart(id="C", lines=["x" * 4096] * 10)]\n'
    (finding,) = find(tmp_path, source, "growing-item")
    assert "after about 99, and a write of it then costs 400 units" in finding.reason


SESSION = """
class Session(Entity, table=Shop):
    id: Attr[str] = attr()
    {attribute}
    primary = key("SESSION" / id, "SESSION" / id.again)
"""


@pytest.mark.parametrize(
    "attribute",
    ["expires_at: Attr[datetime] = attr()", 'end: Attr[int] = attr(name="expiresAt")'],
)
def test_a_time_of_expiry_without_ttl(tmp_path: Path, attribute: str) -> None:
    (finding,) = find(tmp_path, SESSION.format(attribute=attribute))
    assert finding.rule == "expiry-without-ttl"


@pytest.mark.parametrize(
    "attribute",
    [
        "expires_at: Attr[datetime] = ttl()",
        "expiry: Attr[str] = attr()",
        "at: Attr[datetime] = attr()",
    ],
)
def test_other_attributes_are_no_time_of_expiry(tmp_path: Path, attribute: str) -> None:
    assert find(tmp_path, SESSION.format(attribute=attribute)) == []


def named(length: int, size: int) -> str:
    """Return an entity with ten attributes with names and values of these lengths."""
    attributes = [f'a{n}: Attr[str] = attr(name="{n}{"n" * length}")' for n in range(10)]
    values = ", ".join(f'a{n}="x" * {size}' for n in range(10))
    source = SESSION.format(attribute="\n    ".join(attributes))
    return source + f'def sample(): return [Session(id="S", {values})]\n'


def test_names_that_are_a_large_part_of_an_item(tmp_path: Path) -> None:
    (finding,) = find(tmp_path, named(100, 50), "long-attribute-names")
    assert finding.subject == "Session"
    assert "names of attributes are 66% of its items: 1020 of 1546 bytes" in finding.reason


def test_names_of_small_items_or_with_large_values(tmp_path: Path) -> None:
    assert find(tmp_path, named(50, 10), "long-attribute-names") == []  # one unit in any case
    assert find(tmp_path, named(50, 200), "long-attribute-names") == []


TENANCY = 'tenancy = Tenancy("user_id", write=("U#{user_id}",), shared=("S",))'
NOTE = """
class Note(Entity, table=Shop):
    id: Attr[str] = attr()
    user_id: Attr[str] = attr()
    primary = key({partition}, "NOTE" / {sort})
"""


@pytest.mark.parametrize(
    ("partition", "sort", "reason", "fix"),
    [
        ('"N" / user_id', "id", "for_tenant() can never reach", 'write=(…, "N#{user_id}")'),
        ('"NOTE" / id', "id.again", "for_tenant() can never reach", '"U" / user_id, "NOTE" / id)'),
        ('"S"', "id", "every tenant can read it", 'key("U" / user_id, "NOTE" / id)'),
    ],
)
def test_data_of_a_tenant_outside_of_its_partitions(
    tmp_path: Path, partition: str, sort: str, reason: str, fix: str
) -> None:
    source = NOTE.format(partition=partition, sort=sort)
    (finding,) = find(tmp_path, source, "outside-tenant", indexes=TENANCY)
    assert reason in finding.reason
    assert fix in finding.fix


def test_data_of_a_tenant_in_its_partitions(tmp_path: Path) -> None:
    source = NOTE.format(partition='"U" / user_id', sort="id")
    assert find(tmp_path, source, "outside-tenant", indexes=TENANCY) == []
    source = NOTE.format(partition='"N" / user_id', sort="id")
    assert find(tmp_path, source, "outside-tenant") == []


STREAM = """
class Events(Table, stream="{view}"):
    pass

class Event(Entity, table=Events):
    id: Attr[str] = attr()
    primary = key("EVENT" / id, "EVENT" / id.again)
"""


def test_a_stream_with_keys_only(tmp_path: Path) -> None:
    (finding,) = find(tmp_path, STREAM.format(view="KEYS_ONLY"))
    assert (finding.rule, finding.severity, finding.subject) == (
        "keys-only-stream",
        "note",
        "Events",
    )
    assert find(tmp_path, STREAM.format(view="NEW_AND_OLD_IMAGES")) == []
