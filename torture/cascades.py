"""Promise: a delete with cascades leaves no child, loses nothing else, and can be continued.

Method: one program is a seed. It creates, replaces, changes and deletes projects, issues, comments,
notes and bills at random. It is interrupted at some writes, before or after they are applied, and
continues; between its requests a second writer writes. A set of names is the oracle: after each
delete, and at the end, the stored items are those of the set, each with its unique value, and each
child has its parent.

Limits: one process and one thread; the second writer runs between two requests. Threads that create
children while their parent is deleted are in `tests/plan/writes/test_cascades.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    attr,
    connect,
    create,
    history,
    index,
    key,
    put,
    transact,
    unique,
    upsert,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import AlreadyExists, ConditionFailed, NotFound
from tablewright.rules import cascade, detach, restrict
from tablewright.transport import Response
from torture.run import Part, Round

#: The steps of a program, and the programs of a round.
STEPS, PROGRAMS, SHORT = 12, 250, 100


class Tracker(Table, name="tracker"):
    by_project = GSI("GSI1PK", "GSI1SK")


class Project(Entity, table=Tracker):
    name: Attr[str] = attr()
    title: Attr[str] = attr(default="")
    primary = key("PROJECT" / name, "PROJECT")
    by_title = unique("TITLE" / title)
    issues = cascade("Issue")
    notes = detach("Note.by_project", by="project")
    bills = restrict("Bill")


class Renamed(Entity, table=Tracker):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    old: Attr[str] = attr()
    new: Attr[str] = attr()
    at: Attr[str] = attr(default="now")
    primary = key("HISTORY" / name, "RENAMED" / number / new)


class Issue(Entity, table=Tracker):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    code: Attr[str] = attr(default="")
    text: Attr[str] = attr(default="")
    primary = key("PROJECT" / name, "ISSUE" / number)
    by_code = unique("CODE" / code / name / number)
    renames = history(code, Renamed, old=Renamed.old, new=Renamed.new)
    comments = cascade("Comment", by=("name", "issue"))


class Comment(Entity, table=Tracker):
    """Belongs to an issue, and is stored in a partition of its own."""

    name: Attr[str] = attr()
    issue: Attr[int] = attr(pad=4)
    number: Attr[int] = attr(pad=4)
    primary = key("COMMENTS" / name / issue, "COMMENT" / number)


class Note(Entity, table=Tracker):
    note: Attr[str] = attr()
    project: Attr[str | None] = attr(default=None)
    primary = key("NOTE" / note, "NOTE")
    by_project = index(Tracker.by_project, "NOTES" / project, "NOTE" / note)


class Bill(Entity, table=Tracker):
    name: Attr[str] = attr()
    number: Attr[int] = attr(pad=4)
    primary = key("PROJECT" / name, "BILL" / number)


WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"}
NAMES, NUMBERS = "ab", range(3)


class Interrupted(Exception):
    """The program ended, or the network failed."""


class Faults:
    """Ends the program at some writes, before or after they are applied; lets another one write."""

    def __init__(self, inner: Any, choose: random.Random, interfere: Callable[[], None]) -> None:
        self.inner = inner
        self.choose = choose
        self.interfere = interfere
        self.is_on = True

    def send(self, operation: str, request: dict[str, Any]) -> Response:
        drawn = self.choose.random() if self.is_on else 1.0
        if drawn < 0.1:
            self.is_on = False
            self.interfere()
            self.is_on = True
        if operation in WRITES and 0.1 <= drawn < 0.16:
            raise Interrupted
        response: Response = self.inner.send(operation, request)
        if operation in WRITES and 0.16 <= drawn < 0.22:
            raise Interrupted
        return response

    def close(self) -> None:
        self.inner.close()


class Program:
    """A random program, and the names of the items that it leaves."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.choose = random.Random(seed)
        self.plain = connect(engine, Tracker)
        self.faults = Faults(self.plain.transport, self.choose, self.interfere)
        self.db: Database = self.plain.through(self.faults)
        self.model: set[tuple[Any, ...]] = set()

    def interfere(self) -> None:
        self.write(self.plain)

    def step(self) -> None:
        if self.choose.random() < 0.3:
            self.delete(self.choose.choice(NAMES))
        else:
            self.write(self.db)

    def write(self, db: Database) -> None:
        """Make an item, or let a note belong to another project."""
        name, number = self.choose.choice(NAMES), self.choose.choice(NUMBERS)
        other = self.choose.choice(NUMBERS)
        project, issue = ("Project", name), ("Issue", name, number)
        made = self.choose.choice((put, create))
        match self.choose.randrange(7):
            case 0:
                plan: Any = made(Project(name=name, title=name))
                self.run(db, plan, project)
            case 1:
                plan = made(Issue(name=name, number=number, code="c"))
                self.run(db, plan, issue)
            case 2:
                changed = Issue(name=name, number=number, code="c")
                self.run(db, upsert(changed, Issue.text.set("t")), issue)
            case 3:
                plan = made(Comment(name=name, issue=number, number=other))
                self.run(db, plan, ("Comment", name, number, other))
            case 4:
                self.move_note(db, name, number)
            case 5:
                self.run(db, made(Bill(name=name, number=number)), ("Bill", name, number))
            case _:
                both = transact(
                    put(Project(name=name, title=name)),
                    put(Issue(name=name, number=number, code="c")),
                )
                if self.until_done(lambda: db.run(both)):
                    self.model |= {project, issue}

    def move_note(self, db: Database, name: str, number: int) -> None:
        target = self.choose.choice([None, name])
        plan = put(Note(note=str(number), project=target))
        if self.until_done(lambda: db.run(plan)):
            self.model = {each for each in self.model if each[:2] != ("Note", number)}
            self.model.add(("Note", number, target))

    def run(self, db: Database, plan: Any, item: tuple[Any, ...]) -> None:
        if self.until_done(lambda: db.run(plan)):
            self.model.add(item)

    def until_done(self, act: Callable[[], object]) -> bool:
        """Run a write, again after an interruption; return whether the item exists afterwards."""
        while True:
            try:
                act()
            except Interrupted:
                continue
            except NotFound:
                return False
            except AlreadyExists:
                pass
            return True

    def delete(self, name: str) -> None:
        """Delete a project, unless another writer adds a bill before it is marked."""
        bills = {each for each in self.model if each[:2] == ("Bill", name)}
        if bills and self.choose.random() < 0.7:
            for bill in bills:
                self.plain.run(Bill.primary(name, bill[2]).delete())
            self.model -= bills
        while True:
            try:
                self.db.run(Project.primary(name).delete())
            except Interrupted:
                continue
            except ConditionFailed:
                return self.read_again()
            return self.read_again(deleted=name)

    def read_again(self, deleted: str = "") -> None:
        """Compare what is stored with the model, as far as the other writer leaves it known."""
        found = stored(self.plain)
        if not deleted:
            # What was deleted before a bill was found, by an interrupted run, stays deleted.
            assert found <= self.model
        else:
            left = {each for each in found if each[0] != "Note" and each[1] == deleted}
            assert left == set()
            assert not [each for each in found if each[0] == "Note" and each[2] == deleted]
        self.model = found


def stored(db: Database) -> set[tuple[Any, ...]]:
    """Return the names of all stored items; check that unique values are those of the items."""
    scan = db.transport.send("Scan", {"TableName": "tracker"})
    items = msgspec.json.decode(scan.body)["Items"]
    table = Tracker.__table__
    names: set[tuple[Any, ...]] = set()
    counts = {"Issue.by_code": 0, "Project.by_title": 0}
    for item in items:
        kind = item["type"]["S"]
        if kind in counts:
            counts[kind] += 1
            continue
        if kind == "Renamed":
            continue
        entity = table.entity_of(item)
        assert entity is not None
        values = vars(entity.decode(item))
        match kind:
            case "Note":
                names.add((kind, int(values["note"]), values["project"]))
            case "Comment":
                names.add((kind, values["name"], values["issue"], values["number"]))
            case "Project":
                names.add((kind, values["name"]))
            case _:
                names.add((kind, values["name"], values["number"]))
    assert counts["Issue.by_code"] == sum(each[0] == "Issue" for each in names)
    assert counts["Project.by_title"] == sum(each[0] == "Project" for each in names)
    return names


def run_program(engine: Engine, seed: int, steps: int) -> None:
    """Run a program, and compare what it leaves with its model."""
    program = Program(engine, seed)
    for _ in range(steps):
        program.step()
    found = stored(program.plain)
    assert found == program.model, f"seed {seed}"
    for kind, *rest in found:
        if kind in ("Issue", "Bill"):
            assert ("Project", rest[0]) in found, f"seed {seed}"
        elif kind == "Comment":
            assert ("Issue", rest[0], rest[1]) in found, f"seed {seed}"
        elif kind == "Note" and rest[1] is not None:
            assert ("Project", rest[1]) in found, f"seed {seed}"


def play(attack: Round) -> None:
    with Engine(":memory:") as engine:
        connect(engine, Tracker)
        for _ in range(attack.size(PROGRAMS, SHORT)):
            with engine.sandbox():
                run_program(engine, attack.chance.randrange(10**9), STEPS)
            attack.count("programs")


PART = Part(
    "cascades",
    "A delete leaves no child behind, and can be continued after an interruption",
    "random programs with interruptions and a second writer, compared with a model",
    75,
    play,
)
