"""Reconcile: counters of items that other programs wrote, corrected while programs write."""

from __future__ import annotations

import threading
from decimal import Decimal
from typing import Any

import pytest

from tablewright import Engine, Table, create, delete_all, explain, put, transact
from tablewright.backoff import Backoff
from tablewright.database import Database
from tablewright.errors import Contention, DeclarationError
from tablewright.plans import CounterDifference, ReconcileProgress, reconcile
from tests.plan.writes.bank import Bank
from tests.plan.writes.counted import Hub, Owner, Repo, RepoWithStars, Star
from tests.transports import InterferingTransport


@pytest.fixture
def tables() -> tuple[type[Table], ...]:
    return (Hub,)


def spoil(engine: Engine, item: dict[str, Any], **changes: Any) -> None:
    """Write an item as another program does, without counting."""
    engine.call("PutItem", {"TableName": "hub", "Item": item | changes})


def raw(engine: Engine, *key: str) -> dict[str, Any]:
    names = {"PK": {"S": key[0]}, "SK": {"S": key[1]}}
    item: dict[str, Any] = engine.call("GetItem", {"TableName": "hub", "Key": names})["Item"]
    return item


@pytest.fixture
def repo(db: Database, engine: Engine) -> Repo:
    """A repository with two stars, whose counters are wrong; its owner has no counter at all."""
    db.run(transact(create(Owner(name="o")), create(Repo(repo="r", forker="o"))))
    db.run(create(Star(repo="r", user="u")))
    db.run(create(Star(repo="r", user="v", is_loud=True, weight=Decimal(3))))
    spoil(engine, raw(engine, "REPO#r", "REPO"), stars={"N": "9"}, weight={"N": "-1"})
    owner = raw(engine, "OWNER#o", "OWNER")
    del owner["f"]
    spoil(engine, owner)
    return db.run(Repo.primary("r").or_raise())


def shown(db: Database) -> list[str]:
    differences: list[CounterDifference] = []
    db.run(reconcile(Hub, dry_run=True, found=differences.append))
    return [str(each) for each in differences]


def test_a_dry_run_lists_the_counters_that_differ(db: Database, repo: Repo) -> None:
    assert shown(db) == [
        'Repo.stars (PK="REPO#r", SK="REPO"): 9 is stored, and 2 counted',
        'Repo.weight (PK="REPO#r", SK="REPO"): -1 is stored, and 4 counted',
        'Owner.forks (PK="OWNER#o", SK="OWNER"): 0 is stored, and 1 counted',
    ]


def test_counters_are_corrected(db: Database, engine: Engine, repo: Repo) -> None:
    differences: list[CounterDifference] = []
    assert db.run(reconcile(Hub, found=differences.append)) == 2
    assert len(differences) == 3
    found = db.run(Repo.primary("r").or_raise())
    assert (found.stars, found.loud, found.weight) == (2, 1, Decimal(4))
    assert db.run(Owner.primary("o").or_raise()).forks == 1
    assert "$recount" not in raw(engine, "REPO#r", "REPO")
    assert shown(db) == []
    assert db.run(reconcile(Hub)) == 0


def test_a_version_stays(db: Database, repo: Repo) -> None:
    db.run(reconcile(Hub))
    assert db.run(Owner.primary("o").or_raise()).version == 1


def test_it_reports_how_far_it_is(db: Database, repo: Repo) -> None:
    reports: list[ReconcileProgress] = []
    db.run(reconcile(Hub, progress=reports.append))
    assert reports == [ReconcileProgress("hub", 4, 1)]


def test_nothing_is_corrected_where_nothing_differs(db: Database) -> None:
    db.run(transact(create(Repo(repo="r")), create(Star(repo="r", user="u"))))
    assert db.run(reconcile(Hub)) == 0


def test_a_mark_of_an_interrupted_run_is_replaced(db: Database, engine: Engine, repo: Repo) -> None:
    spoil(engine, raw(engine, "REPO#r", "REPO"), **{"$recount": {"S": "old"}})
    db.run(reconcile(Hub))
    assert "$recount" not in raw(engine, "REPO#r", "REPO")


@pytest.mark.parametrize(
    "write",
    [
        create(Star(repo="r", user="w")),
        put(Star(repo="r", user="u", weight=Decimal(7))),
        Star.primary("r", "u").update(Star.is_loud.set(True)),
        Star.primary("r", "u").delete(),
        transact(Star.primary("r", "u").delete(), create(Star(repo="r", user="w"))),
        put(Repo(repo="r")),
    ],
    ids=["create", "put", "update", "delete", "swap", "put of the parent"],
)
def test_every_write_of_a_child_removes_the_mark(
    db: Database, engine: Engine, repo: Repo, write: Any
) -> None:
    spoil(engine, raw(engine, "REPO#r", "REPO"), **{"$recount": {"S": "x"}})
    db.run(write)
    assert "$recount" not in raw(engine, "REPO#r", "REPO")


def test_programs_write_meanwhile(db: Database, engine: Engine, repo: Repo) -> None:
    stop = threading.Event()

    def write(name: str) -> None:
        number = 0
        while not stop.is_set() or number < 20:
            number += 1
            db.run(put(Star(repo="r", user=f"{name}{number % 3}", is_loud=number % 2 == 0)))
            db.run(Star.primary("r", f"{name}{number % 2}").delete())
            if number > 200:
                break

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    db.run(reconcile(Hub))
    stop.set()
    for thread in threads:
        thread.join()
    assert shown(db) == []
    db.run(delete_all(RepoWithStars.of(Repo.primary("r"))))


def test_a_parent_that_never_rests_is_reported_after_the_others(
    db: Database, engine: Engine, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tablewright.plan.writes.write.CONTENTION", Backoff(attempts=3, first=0.0, longest=0.0)
    )
    numbers = iter(range(1000))
    transport = InterferingTransport(
        db.transport,
        lambda _: db.run(create(Star(repo="r", user=f"x{next(numbers)}"))),
        times=1000,
        before=("Query",),
    )
    with pytest.raises(Contention, match="other writers changed what it counts"):
        db.through(transport).run(reconcile(Hub))
    assert db.run(Owner.primary("o").or_raise()).forks == 1
    db.run(reconcile(Hub))
    assert shown(db) == []


def test_it_takes_a_table_with_counters() -> None:
    with pytest.raises(DeclarationError, match="Bank has no counters"):
        reconcile(Bank)
    with pytest.raises(DeclarationError, match=r"reconcile\(\) takes a table, not"):
        reconcile(Repo)


def test_explain_shows_what_is_read_and_written() -> None:
    steps = [(each.operation, each.entity) for each in explain(reconcile(Hub)).steps]
    assert steps == [("Scan", "Repo, Owner"), ("Query", "Star"), ("UpdateItem", "Repo, Owner")]
