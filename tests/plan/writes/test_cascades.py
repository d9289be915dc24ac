"""Deletes with what belongs to an item: cascade, detach, restrict."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import msgspec
import pytest

from tablewright import (
    batch_write,
    condition_check,
    connect,
    create,
    delete,
    delete_all,
    explain,
    put,
    transact,
    update_all,
    upsert,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import (
    ConditionFailed,
    DeclarationError,
    NotFound,
)
from tests.costs import run_within_range
from tests.prepared import Prepare, with_tables
from tests.transports import (
    InterferingTransport,
    Interrupted,
    InterruptedTransport,
    record_requests,
)
from torture.cascades import Bill, Comment, Issue, Note, Project, Tracker

P = Project.primary("p")


@pytest.fixture
def prepare() -> Prepare:
    return with_tables(Tracker)


@pytest.fixture
def db(engine: Engine) -> Database:
    db = connect(engine, Tracker)
    db.run(create(Project(name="p", title="P")))
    return db


def fill(db: Database, issues: int = 2, comments: int = 1) -> None:
    for number in range(issues):
        db.run(create(Issue(name="p", number=number, code=f"c{number}")))
        for comment in range(comments):
            db.run(create(Comment(name="p", issue=number, number=comment)))


def types(db: Database) -> list[str]:
    """Return the types of the stored items."""
    scan = db.transport.send("Scan", {"TableName": "tracker"})
    items = msgspec.json.decode(scan.body)["Items"]
    return sorted(item["type"]["S"] for item in items)


# -- the delete -----------------------------------------------------------------------------------


def test_what_belongs_to_it_is_deleted_on_all_levels_with_its_unique_values(db: Database) -> None:
    fill(db)
    assert db.run(P.delete()) == Project(name="p", title="P")
    assert types(db) == []


def test_other_parents_keep_their_children(db: Database) -> None:
    fill(db)
    db.run(create(Project(name="p2", title="P2")))
    db.run(create(Issue(name="p2", number=1, code="c1")))
    db.run(P.delete())
    assert types(db) == ["Issue", "Issue.by_code", "Project", "Project.by_title"]


def test_an_instance_is_deleted_with_its_children_too(db: Database) -> None:
    fill(db)
    project = db.run(P)
    assert project is not None
    db.run(delete(project))
    assert types(db) == []


@pytest.mark.parametrize("count", [120, 230])
def test_more_than_a_transaction_takes_is_deleted_in_steps(db: Database, count: int) -> None:
    for number in range(0, count, 50):
        db.run(
            transact(
                *(
                    create(Bill(name="p", number=each))
                    for each in range(number, min(number + 50, count))
                )
            )
        )
    db.run(delete_all(Bill.primary.within("p")))
    for number in range(count):
        db.run(create(Issue(name="p", number=number, code=f"c{number}")))
    db.run(P.delete())
    assert types(db) == []


def test_what_is_detached_stays_without_its_parent(db: Database) -> None:
    for name in "abc":
        db.run(create(Note(note=name, project="p")))
    db.run(P.delete())
    assert types(db) == ["Note"] * 3
    assert [db.run(Note.primary(name)) for name in "abc"] == [Note(note=name) for name in "abc"]
    assert list(db.run(Note.by_project("p"))) == []


def test_a_restricting_child_keeps_everything(db: Database) -> None:
    fill(db)
    before = types(db)
    db.run(create(Bill(name="p", number=1)))
    with pytest.raises(ConditionFailed, match=r"items of Bill belong to it \(Project.bills\)"):
        db.run(P.delete())
    db.run(Bill.primary("p", 1).delete())
    assert types(db) == before


def test_a_condition_is_checked_before_anything_is_deleted(db: Database) -> None:
    fill(db)
    before = types(db)
    with pytest.raises(ConditionFailed):
        db.run(P.delete().condition(Project.title == "Q"))
    assert types(db) == before
    db.run(P.delete().condition(Project.title == "P"))
    assert types(db) == []


def test_a_missing_item_is_no_error(db: Database) -> None:
    assert db.run(Project.primary("none").delete()) is None


# -- what is created meanwhile --------------------------------------------------------------------


def test_a_child_needs_its_parent(db: Database) -> None:
    for write in (
        create(Issue(name="none", number=1, code="c")),
        put(Issue(name="none", number=1, code="c")),
        upsert(Issue(name="none", number=1, code="c"), Issue.text.set("t")),
        transact(create(Issue(name="none", number=1, code="c")), create(Note(note="n"))),
        create(Note(note="n", project="none")),
        create(Bill(name="none", number=1)),
    ):
        with pytest.raises(NotFound, match=r"Project.* needs it; create the Project first"):
            db.run(write)
    assert types(db) == ["Project", "Project.by_title"]


def test_an_update_that_changes_the_parent_needs_the_new_one(db: Database) -> None:
    db.run(create(Note(note="n")))
    note = Note.primary("n")
    with pytest.raises(NotFound, match=r"Project \(PK=\"PROJECT#none\""):
        db.run(note.update(Note.project.set("none")))
    db.run(note.update(Note.project.set("p")))
    recorded = record_requests(db)
    db.run(note.update(Note.project.set(None)))
    assert "'ConditionCheck'" not in str(recorded.requests)
    db.run(create(Note(note="m", project="p")))
    with pytest.raises(NotFound):
        db.run(update_all(Note.by_project("p"), Note.project.set("none")))


def test_parents_and_children_are_created_together(db: Database) -> None:
    recorded = record_requests(db)
    db.run(
        transact(
            create(Project(name="q", title="Q")),
            create(Issue(name="q", number=1, code="a")),
            create(Issue(name="q", number=2, code="b")),
        )
    )
    assert "'ConditionCheck'" not in str(recorded.requests)
    recorded.requests.clear()
    db.run(
        transact(
            create(Issue(name="q", number=3, code="c")),
            create(Issue(name="q", number=4, code="d")),
            condition_check(Project.primary("q")),
        )
    )
    assert str(recorded.requests).count("'ConditionCheck'") == 1


def test_a_child_cannot_be_created_while_its_parent_is_deleted(db: Database) -> None:
    fill(db, comments=0)
    writer = connect(db.transport.engine, Tracker)  # type: ignore[attr-defined]
    refused: list[str] = []

    def interfere(_: int) -> None:
        late = create(Issue(name="p", number=100, code="late"))
        for write in (
            late,
            transact(late, condition_check(P)),
            transact(late, P.update(Project.title.set("other"))),
        ):
            with pytest.raises(
                NotFound, match="it is being deleted, with what belongs to it"
            ) as error:
                writer.run(write)
            refused.append(str(error.value))

    other = db.through(InterferingTransport(db.transport, interfere, before={"Query"}))
    other.run(P.delete())
    assert len(refused) == 3
    assert types(db) == []


def test_a_put_of_the_parent_lets_children_in_and_the_delete_begins_again(db: Database) -> None:
    fill(db, issues=1, comments=0)
    writer = connect(db.transport.engine, Tracker)  # type: ignore[attr-defined]

    def interfere(_: int) -> None:
        writer.run(put(Project(name="p", title="P")))
        writer.run(create(Issue(name="p", number=9, code="new")))

    other = db.through(InterferingTransport(db.transport, interfere, before={"TransactWriteItems"}))
    other.run(P.delete())
    assert types(db) == []


@pytest.mark.parametrize("issues", [3, 60])
def test_no_child_is_left_while_threads_create_them(issues: int) -> None:
    ready = Barrier(3, timeout=60)
    with Engine(":memory:") as engine:
        db = connect(engine, Tracker)
        db.run(create(Project(name="p", title="P")))
        fill(db, issues, comments=0)

        def add(thread: int) -> None:
            ready.wait()
            for number in range(40):
                try:
                    each = thread * 1000 + number
                    db.run(create(Issue(name="p", number=each, code=str(each))))
                    db.run(create(Note(note=str(each), project="p")))
                except NotFound:
                    return

        with ThreadPoolExecutor(2) as threads:
            adding = [threads.submit(add, thread) for thread in (1, 2)]
            ready.wait()
            db.run(P.delete())
            for each in adding:
                each.result()
        db.run(P.delete())  # of notes, which a global index shows later on AWS, not here
        assert set(types(db)) <= {"Note"}
        assert list(db.run(Note.by_project("p"))) == []


@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize("at", range(1, 5))
def test_an_interrupted_delete_is_continued(db: Database, at: int, *, applied: bool) -> None:
    fill(db, issues=60, comments=0)
    failing = db.through(InterruptedTransport(db.transport, at, applied=applied))
    try:
        failing.run(P.delete())
    except Interrupted:
        db.run(P.delete())
    assert types(db) == []


def test_an_interrupted_delete_leaves_the_parent_that_takes_no_children(db: Database) -> None:
    fill(db, issues=2, comments=1)
    failing = db.through(InterruptedTransport(db.transport, 1, applied=True))
    with pytest.raises(Interrupted):
        failing.run(P.delete())
    assert db.run(P) == Project(name="p", title="P")
    with pytest.raises(NotFound, match="it is being deleted"):
        db.run(create(Issue(name="p", number=7, code="c")))
    db.run(P.delete())
    assert types(db) == []


def test_a_refused_delete_leaves_no_mark(db: Database) -> None:
    db.run(create(Bill(name="p", number=1)))
    with pytest.raises(ConditionFailed):
        db.run(P.delete())
    assert "being_deleted" not in db.transport.send("Scan", {"TableName": "tracker"}).body.decode()
    fill(db)


# -- refused --------------------------------------------------------------------------------------


def test_writes_that_cannot_do_it_are_refused(db: Database) -> None:
    with pytest.raises(DeclarationError, match=r"transact\(\) cannot delete a Project"):
        transact(P.delete(), create(Note(note="n")))
    with pytest.raises(DeclarationError, match="links to other items"):
        batch_write([put(Comment(name="p", issue=1, number=1))])
    with pytest.raises(DeclarationError, match="cascades"):
        batch_write([P.delete()])
    with pytest.raises(DeclarationError, match=r"delete_all\(\)"):
        db.run(delete_all(Project.primary.within("p")))
    with pytest.raises(DeclarationError, match=r"Note \(Project\.notes\) would stay"):
        P.update(Project.name.set("q"))


# -- the cost -------------------------------------------------------------------------------------


def test_the_units_are_in_the_range_that_explain_states(db: Database) -> None:
    fill(db, issues=3, comments=2)
    for number in range(3):
        db.run(create(Note(note=str(number), project="p")))
    run_within_range(db, create(Issue(name="p", number=90, code="x")))
    run_within_range(db, put(Issue(name="p", number=90, code="y")))
    run_within_range(db, upsert(Issue(name="p", number=90, code="z"), Issue.text.set("t")))
    run_within_range(db, Note.primary("1").update(Note.project.set("p")))
    run_within_range(db, P.delete(), items=40)
    assert set(types(db)) == {"Note", "Renamed"}


def test_explain_names_the_check_and_the_steps() -> None:
    text = str(explain(create(Issue(name="p", number=1, code="c"))))
    assert 'ConditionCheck on tracker: PK="PROJECT#{name}" AND SK="PROJECT"' in text
    assert "requires: the item exists" in text
    operations = [step.operation for step in explain(P.delete()).steps]
    assert (operations[0], operations[-1]) == ("UpdateItem", "TransactWriteItems")
    assert "sets: tablewright_being_deleted = true" in str(explain(P.delete()))


def test_a_small_delete_is_a_mark_and_one_transaction(db: Database) -> None:
    db.run(create(Note(note="n", project="p")))
    recorded = record_requests(db)
    db.run(P.delete())
    writes = [
        name for name, _ in recorded.requests if name not in ("Query", "GetItem", "BatchGetItem")
    ]
    assert writes == ["UpdateItem", "TransactWriteItems"]
