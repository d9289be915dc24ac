"""A shard that ends in #* is every partition that begins with the text before the star."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import (
    Attr,
    Engine,
    Entity,
    Tenancy,
    attr,
    batch_get,
    batch_write,
    connect,
    create,
    delete,
    key,
    put,
    transact,
)
from tablewright.database import Database
from tablewright.errors import DeclarationError, InvalidValue, TenantViolation
from tablewright.model.tenancy import TenantCheck
from tests.examples import examples
from tests.model.tenancy.orgs import Audit, Org, Project, Task, Work
from tests.model.tenancy.owned_items import NaturalItem
from tests.new_table import new_table
from tests.prepared import prepared
from tests.transports import record_requests

#: Ids that would have the partitions of the tenant x if they were written as they are.
HOSTILE = ("x#PROJECT", "x#PROJECT#p", "x#", "x$", "x*", "*", "$", "xy", "X", "x#*", "ORG#x")


def fill(engine: Engine) -> None:
    db = connect(engine, Work)
    for org in ("x", *HOSTILE):
        db.run(put(Org(org=org)))
        db.run(put(Audit(org=org, number=1)))
        for project in ("p", "q"):
            db.run(put(Project(org=org, project=project)))
            db.run(put(Task(org=org, project=project, number=1)))


@pytest.fixture
def db() -> Iterator[Database]:
    with prepared(fill) as engine:
        yield connect(engine, Work)


def test_all_partitions_behind_the_prefix_are_the_tenants(db: Database) -> None:
    own = db.for_tenant(org="x")
    own.run(create(Project(org="x", project="new")))
    own.run(
        transact(
            put(Task(org="x", project="new", number=1)),
            put(Task(org="x", project="p", number=2)),
            put(Org(org="x")),
        )
    )
    own.run(batch_write([put(Task(org="x", project="new", number=2))]))
    assert [task.number for task in own.run(Task.primary.within("x", "new"))] == [1, 2]
    found = own.run(batch_get([Project.primary("x", "p"), Project.primary("x", "new")]))
    assert found == [Project(org="x", project="p"), Project(org="x", project="new")]
    own.run(Task.primary("x", "p", 2).delete())
    assert own.run(Task.primary("x", "p", 2)) is None


@pytest.mark.parametrize("other", HOSTILE)
def test_no_id_reaches_the_partitions_of_another(db: Database, other: str) -> None:
    for me, them in (("x", other), (other, "x")):
        own = db.for_tenant(org=me)
        assert own.run(Project.primary(me, "p")) == Project(org=me, project="p")
        for plan in (
            Org.primary(them),
            Project.primary(them, "p"),
            Task.primary.within(them, "p"),
            Audit.primary(them, 1),
            put(Task(org=them, project="p", number=9)),
            Task.primary(them, "p", 1).delete(),
            delete(Project(org=them, project="p")),
        ):
            with pytest.raises(TenantViolation):
                own.run(plan)


@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_id_owns_no_prefix(db: Database, empty: object) -> None:
    with pytest.raises(InvalidValue, match="is empty"):
        db.for_tenant(org=empty)


def test_a_prefix_to_read_is_not_written(db: Database) -> None:
    own = db.for_tenant(org="x")
    assert own.run(Audit.primary("x", 1)) == Audit(org="x", number=1)
    with pytest.raises(TenantViolation, match=r"may write ORG#x, ORG#x#\*; PK='AUDIT#x#LOG'"):
        own.run(put(Audit(org="x", number=2)))


# -- indexes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("org", ["x", *HOSTILE])
def test_an_index_is_filtered_by_prefix(db: Database, org: str) -> None:
    own = db.for_tenant(org=org)
    found = list(own.iterate(Project.by_state("open").page_size(1)))
    assert [(project.org, project.project) for project in found] == [(org, "p"), (org, "q")]


def test_an_index_partition_behind_the_prefix_is_queried_with_a_filter(db: Database) -> None:
    own = db.for_tenant(org="x")
    recording = record_requests(own)
    assert [project.org for project in own.run(Project.in_org("x"))] == ["x", "x"]
    assert "begins_with(" in recording.requests[0][1]["FilterExpression"]
    with pytest.raises(TenantViolation):
        own.run(Project.in_org("xy"))


def test_a_reversed_index_may_be_bounded_by_the_prefix(db: Database) -> None:
    """All projects of an organisation: the table's partition key begins with an own prefix."""
    own = db.for_tenant(org="x")
    recording = record_requests(own)
    assert [project.project for project in own.run(Project.reverse().eq("x"))] == ["p", "q"]
    assert [project.project for project in own.run(Project.reverse().eq("x").gte("q"))] == ["q"]
    assert all("FilterExpression" not in request for _, request in recording.requests)
    with pytest.raises(TenantViolation):
        own.run(Project.reverse())
    for other in HOSTILE:
        with pytest.raises(TenantViolation):
            own.run(Project.reverse().eq(other))


# -- declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["ORG#{org}*", "ORG#{org}#P*", "O*#{org}", "ORG#{org}#*#P", "*#{org}"]
)
def test_a_star_that_is_not_the_last_part_is_an_error(text: str) -> None:
    with pytest.raises(DeclarationError, match=r"\* must be the last part|must be a whole part"):
        new_table(tenancy=Tenancy("org", write=(text,)))


def test_a_prefix_without_an_id_is_an_error() -> None:
    with pytest.raises(DeclarationError, match=r"must contain \{org\} once"):
        new_table(tenancy=Tenancy("org", write=("ORG#*",)))


def test_a_prefix_that_contains_a_shard_of_another_tenant_is_an_error() -> None:
    with pytest.raises(DeclarationError, match="the same partition for two tenants"):
        new_table(tenancy=Tenancy("org", write=("ORG#{org}#*", "ORG#TEAM#{org}")))


def test_a_shard_may_be_inside_a_prefix_of_the_same_tenant() -> None:
    shop = new_table(tenancy=Tenancy("org", write=("ORG#{org}#NOTES",), read=("ORG#{org}#*",)))

    class Note(Entity, table=shop):
        org: Attr[str] = attr()
        place: Attr[str] = attr()
        primary = key("ORG" / org / place, "NOTE")

    with connect(":memory:", shop) as db:
        own = db.for_tenant(org="a")
        own.run(put(Note(org="a", place="NOTES")))
        assert own.run(Note.primary("a", "BILLS")) is None
        with pytest.raises(TenantViolation):
            own.run(put(Note(org="a", place="BILLS")))


def test_a_format_that_writes_the_delimiter_has_no_prefix() -> None:
    """`AT:2026-01-15T10:` would be a prefix of `AT:2026-01-15T10:30:00`."""

    times = new_table(delimiter=":", tenancy=Tenancy("at", write=("AT:{at}:*",)))

    class Moment(Entity, table=times):
        at: Attr[datetime] = attr()
        primary = key("AT" / at / "X", "MOMENT")

    with (
        connect(":memory:", times) as db,
        pytest.raises(DeclarationError, match=r"Moment\.primary: at can contain ':'"),
    ):
        db.for_tenant(at="2026-01-15T10")


def test_a_natural_key_of_any_text_has_no_prefix() -> None:
    mixed = new_table(pk="owner", tenancy=Tenancy("owner", write=("{owner}", "{owner}#*")))

    class Plain(NaturalItem, table=mixed): ...

    with (
        connect(":memory:", mixed) as db,
        pytest.raises(DeclarationError, match=r"Plain\.primary: its partition key can be any text"),
    ):
        db.for_tenant(owner="x")


def test_an_id_that_the_table_does_not_escape_is_refused() -> None:
    raw = new_table(escape=False, tenancy=Tenancy("org", write=("ORG#{org}", "ORG#{org}#*")))

    class Item(Entity, table=raw):
        org: Attr[str] = attr()
        primary = key("ORG" / org / "X", "ITEM")

    with connect(":memory:", raw) as db:
        db.for_tenant(org="x$").run(put(Item(org="x$")))
        with pytest.raises(InvalidValue, match="contains the delimiter"):
            db.for_tenant(org="x#X")


# -- no prefix of one tenant matches a partition of another --------------------------------------


def check_of(delimiter: str, escape: bool, declares_key: bool, org: str) -> TenantCheck:
    d = delimiter

    tenancy = Tenancy("org", write=(f"ORG{d}{{org}}", f"ORG{d}{{org}}{d}*", f"T{d}{{org}}{d}A{d}*"))
    table = new_table(delimiter=d, escape=escape, tenancy=tenancy)

    class Item(Entity, table=table):
        org: Attr[str] = attr()
        rest: Attr[str] = attr()
        primary = key("ORG" / org / rest if declares_key else "ITEM" / rest, "ITEM")

    return tenancy.tenant_check(table.__table__, "shop", org)


@examples(200)
@given(
    delimiter=st.sampled_from(
        [("#", True), ("#", False), (":", True), ("::", False), ("-#", False)]
    ),
    declares_key=st.booleans(),
    ids=st.lists(st.text("ab#$:!-*", min_size=1, max_size=5), min_size=2, max_size=2, unique=True),
    rest=st.text("ab#$:!-*", max_size=5),
)
def test_no_prefix_of_one_tenant_matches_a_partition_of_another(
    delimiter: tuple[str, bool], declares_key: bool, ids: list[str], rest: str
) -> None:
    try:
        one, other = (check_of(*delimiter, declares_key, each) for each in ids)
    except InvalidValue:
        return  # not escaped, and with the delimiter: no tenant
    for mine, theirs in ((one, other), (other, one)):
        texts = [value["S"] for value in theirs.readable.keys.values()]
        texts += [prefix + rest for prefix in theirs.readable.prefixes]
        assert len(texts) == 3
        for text in texts:
            assert {"S": text} in theirs.readable
            assert {"S": text} not in mine.readable
            assert {"S": text} not in mine.writable
