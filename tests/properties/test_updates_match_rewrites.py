"""Any sequence of partial updates leaves what one write of the final state would.

Compared are the items themselves, byte by byte, with their index keys and sentinels, and what
queries on every index give. Only what the library counts (versions, stamps) may differ.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tablewright import (
    GSI,
    LSI,
    Attr,
    Engine,
    Entity,
    Table,
    attr,
    connect,
    create,
    index,
    key,
    put,
    unique,
    update,
    updated_at,
    version,
)
from tablewright.database import Database
from tablewright.errors import AlreadyExists, UniqueViolation
from tablewright.formats import day, descending, lower, shard


class State(StrEnum):
    DRAFT = "DRAFT"
    OPEN = "OPEN"
    DONE = "DONE"


class Stats(BaseModel):
    seen: int = 0
    title: str | None = None
    marks: list[str] = []


def declare(name: str, *, is_versioned: bool) -> tuple[type[Table], Any]:
    """Return a table and its entity.

    A version guards what an update has read; without one, every part that was read is guarded.
    """

    class Things(Table, name=name):
        by_rank = LSI("LSI1SK")
        by_place = GSI("GSI1PK", "GSI1SK")
        by_day = GSI("GSI2PK", "GSI2SK")
        open_things = GSI("GSI3PK", "GSI3SK")

    class Thing(Entity, table=Things):
        owner: Attr[str] = attr()
        number: Attr[int] = attr(pad=3)
        city: Attr[str | None] = attr(default=None)
        street: Attr[str | None] = attr(default=None)
        state: Attr[State] = attr(default=State.DRAFT)
        at: Attr[datetime] = attr()
        rank: Attr[int | None] = attr(pad=4, default=None)
        weight: Attr[int] = attr(pad=4, default=0)
        email: Attr[str | None] = attr(default=None)
        handle: Attr[str] = attr()
        tags: Attr[set[str]] = attr(default_factory=set)
        log: Attr[list[str]] = attr(default_factory=list)
        stats: Attr[Stats] = attr(default_factory=Stats)
        changed: Attr[datetime] = updated_at()
        if is_versioned:
            version: Attr[int] = version()

        primary = key("OWNER" / owner, "THING" / number)
        ranked = primary.local(Things.by_rank, "RANK" / descending(rank) / number)
        placed = index(
            Things.by_place,
            "CITY" / lower(city) / "STATE" / state,
            "STREET" / street / weight / number,
        )
        daily = index(Things.by_day, "DAY" / day(at) / shard(owner, of=3), "AT" / at / number)
        open = index(
            Things.open_things,
            "OPEN",
            "WEIGHT" / weight / number,
            when=((state == State.OPEN) & (weight > 3)) | tags.contains("urgent"),
        )
        by_email = unique("EMAIL" / lower(email))
        by_handle = unique("HANDLES" / owner, "HANDLE" / handle, keep=(owner, number, handle, tags))

    return Things, Thing


Things, Thing = declare("things", is_versioned=True)
Plains, Plain = declare("plains", is_versioned=False)


Values = dict[str, Any]
#: A change: the attribute, what makes the change for an entity, and what it does to its values.
Step = tuple[str, Callable[[Any], Any], Callable[[Values], None]]

COUNTED = ("version", "changed")

cities = st.sampled_from(["Bern", "bern", "Chur", "a#b", "$5"])
streets = st.sampled_from(["Aare", "x#y", "Z"])
emails = st.sampled_from(["Ann@x.ch", "ann@x.ch", "bob@x.ch", "taken@x.ch"])
handles = st.sampled_from(["ann", "bob", "taken"])
numbers = st.integers(0, 9)
moments = st.sampled_from(
    [
        datetime(2026, 1, 15, 10, tzinfo=UTC),
        datetime(2026, 1, 15, 11, 0, 0, 5, tzinfo=UTC),
        datetime(2026, 2, 1, tzinfo=UTC),
    ]
)
words = st.sampled_from(["a", "b", "urgent"])
members = st.sets(words, min_size=1)


def setting(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    def step(value: Any) -> Step:
        def apply(state: Values) -> None:
            state[name] = value

        return name, lambda kind: getattr(kind, name).set(value), apply

    return values.map(step)


def setting_if_absent(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    def step(value: Any) -> Step:
        def apply(state: Values) -> None:
            if state[name] is None:
                state[name] = value

        return name, lambda kind: getattr(kind, name).set_if_absent(value), apply

    return values.map(step)


def removing(name: str) -> st.SearchStrategy[Step]:
    def apply(state: Values) -> None:
        state[name] = None

    return st.just((name, lambda kind: getattr(kind, name).remove(), apply))


def adding(name: str) -> st.SearchStrategy[Step]:
    def step(value: int) -> Step:
        def apply(state: Values) -> None:
            state[name] = (state[name] or 0) + value

        return name, lambda kind: getattr(kind, name).increment(value), apply

    return numbers.map(step)


def joining(values: set[str]) -> Step:
    def apply(state: Values) -> None:
        state["tags"] = state["tags"] | values

    return "tags", lambda kind: kind.tags.add_to_set(values), apply


def leaving(values: set[str]) -> Step:
    def apply(state: Values) -> None:
        state["tags"] = state["tags"] - values

    return "tags", lambda kind: kind.tags.remove_from_set(values), apply


def appending(word: str) -> Step:
    def apply(state: Values) -> None:
        state["log"] = [*state["log"], word]

    return "log", lambda kind: kind.log.append(word), apply


def prepending(word: str) -> Step:
    def apply(state: Values) -> None:
        state["log"] = [word, *state["log"]]

    return "log", lambda kind: kind.log.prepend(word), apply


def _inside(state: Values, **changes: Any) -> None:
    state["stats"] = state["stats"].model_copy(update=changes)


def counting(number: int) -> Step:
    return (
        "stats",
        lambda kind: kind.stats.path(lambda stats: stats.seen).increment(number),
        lambda state: _inside(state, seen=state["stats"].seen + number),
    )


def titling(title: str | None) -> Step:
    return (
        "stats",
        lambda kind: kind.stats.path(lambda stats: stats.title).set(title),
        lambda state: _inside(state, title=title),
    )


def marking(word: str) -> Step:
    return (
        "stats",
        lambda kind: kind.stats.path(lambda stats: stats.marks).append(word),
        lambda state: _inside(state, marks=[*state["stats"].marks, word]),
    )


steps = st.one_of(
    setting("city", st.none() | cities),
    setting_if_absent("city", cities),
    removing("city"),
    setting("street", st.none() | streets),
    setting_if_absent("street", streets),
    setting("state", st.sampled_from(State)),
    setting("at", moments),
    setting("rank", st.none() | numbers),
    setting_if_absent("rank", numbers),
    removing("rank"),
    adding("rank"),
    setting("weight", numbers),
    adding("weight"),
    setting("email", st.none() | emails),
    setting_if_absent("email", emails),
    removing("email"),
    setting("handle", handles),
    setting("tags", st.sets(words)),
    members.map(joining),
    members.map(leaving),
    setting("log", st.lists(words, max_size=2)),
    words.map(appending),
    words.map(prepending),
    numbers.map(counting),
    st.none().map(titling) | words.map(titling),
    words.map(marking),
)
#: One update: changes of different attributes, by key or of an instance that is up to date.
updates = st.tuples(
    st.lists(steps, min_size=1, max_size=4, unique_by=lambda step: step[0]), st.booleans()
)

BEGINNING: Values = {
    "owner": "o",
    "number": 7,
    "city": "Bern",
    "street": None,
    "state": State.OPEN,
    "at": datetime(2026, 1, 15, 10, tzinfo=UTC),
    "rank": 3,
    "weight": 5,
    "email": "ann@x.ch",
    "handle": "ann",
    "tags": {"a"},
    "log": ["a"],
    "stats": Stats(title="x"),
}


def bystander(kind: Any) -> Any:
    """Another entity in the same partition, whose unique values are taken."""
    values = BEGINNING | {"number": 8, "email": "taken@x.ch", "handle": "taken"}
    return kind(**values)


def stored(engine: Engine, table: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Every item by its key, without what the library counts."""
    found = {}
    for item in engine.call("Scan", {"TableName": table})["Items"]:
        kept = {name: value for name, value in item.items() if name not in COUNTED}
        found[item["PK"]["S"], item["SK"]["S"]] = kept
    return found


def queried(db: Database, kind: Any) -> dict[str, list[Values]]:
    """What queries on every index give."""
    plans = {"ranked": kind.ranked("o"), "open": kind.open()}
    for city in ("bern", "chur", "a#b", "$5"):
        for state in State:
            plans[f"placed {city} {state}"] = kind.placed(city, state)
    for at in (datetime(2026, 1, 15, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)):
        for number in range(3):
            plans[f"daily {at} {number}"] = kind.daily(at.date(), number)
    return {
        name: [
            {key: value for key, value in vars(found).items() if key not in COUNTED}
            for found in db.iterate(plan)
        ]
        for name, plan in plans.items()
    }


def run_updates(kind: Any, table: type[Table], name: str, sequence: list[Any]) -> None:
    with Engine(":memory:") as engine, Engine(":memory:") as fresh:
        db, other = connect(engine, table), connect(fresh, table)
        db.run(create(bystander(kind)))
        thing = db.run(create(kind(**BEGINNING)))
        state = dict(BEGINNING)
        written = 1
        for changes, by_key in sequence:
            new = dict(state)
            for _, _, apply in changes:
                apply(new)
            made = [make(kind) for _, make, _ in changes]
            plan = kind.primary("o", 7).update(*made) if by_key else update(thing, *made)
            taken = new["handle"] == "taken" or new["email"] == "taken@x.ch"
            try:
                thing = db.run(plan)
            except UniqueViolation:
                assert taken
                continue
            assert not taken
            state, written = new, written + 1
            returned = {key: value for key, value in vars(thing).items() if key not in COUNTED}
            assert returned == state
        if kind is Thing:
            assert thing.version == written

        other.run(put(bystander(kind)))
        other.run(put(kind(**state)))
        assert stored(engine, name) == stored(fresh, name)
        assert queried(db, kind) == queried(other, kind)
        if state["email"] is not None:
            assert db.run(kind.by_email(state["email"])) == thing
        assert engine.check()


@given(st.lists(updates, max_size=6))
def test_updates_of_a_versioned_entity_leave_what_a_rewrite_would(sequence: list[Any]) -> None:
    run_updates(Thing, Things, "things", sequence)


@given(st.lists(updates, max_size=6))
def test_updates_of_an_entity_leave_what_a_rewrite_would(sequence: list[Any]) -> None:
    run_updates(Plain, Plains, "plains", sequence)


# -- moves ---------------------------------------------------------------------------------------


class Trees(Table, name="trees"):
    by_size = GSI("GSI1PK", "GSI1SK")


class Root(Entity, table=Trees):
    tree: Attr[str] = attr()
    title: Attr[str] = attr(default="title")

    primary = key("TREE" / tree, "ROOT")
    by_size = index(Trees.by_size, "ROOTS", "TREE" / tree)


class Branch(Entity, table=Trees):
    tree: Attr[str] = attr()
    branch: Attr[str] = attr()
    size: Attr[int] = attr(pad=3, default=0)
    version: Attr[int] = version()

    primary = key("TREE" / tree, "BRANCH" / branch)
    by_size = index(Trees.by_size, "BRANCHES" / tree, "SIZE" / size / branch)


class Twig(Entity, table=Trees):
    tree: Attr[str] = attr()
    branch: Attr[str] = attr()
    twig: Attr[int] = attr(pad=3)
    name: Attr[str | None] = attr(default=None)
    note: Attr[str | None] = attr(default=None)

    primary = key("TREE" / tree, "BRANCH" / branch / "TWIG" / twig)
    by_name = unique("TWIGNAME" / name)


class Leaf(Entity, table=Trees):
    tree: Attr[str] = attr()
    branch: Attr[str] = attr()
    twig: Attr[int] = attr(pad=3)
    leaf: Attr[int] = attr(pad=3)
    colours: Attr[set[str]] = attr(default_factory=set)

    primary = key("TREE" / tree, "BRANCH" / branch / "TWIG" / twig / "LEAF" / leaf)


names = st.sampled_from(["a", "b", "a#b", "1", "10"])
#: A forest: trees, branches, twigs, and how many leaves each twig has.
forests = st.dictionaries(
    names,
    st.dictionaries(names, st.dictionaries(numbers, st.integers(0, 3), max_size=3), max_size=3),
    min_size=1,
    max_size=3,
)
Forest = dict[str, dict[str, dict[int, int]]]


def plant(db: Database, forest: Forest, origins: dict[tuple[Any, ...], str]) -> None:
    """Write a forest; `origins` names each twig, so that a name moves with its twig."""
    for tree, branches in forest.items():
        db.run(create(Root(tree=tree)))
        for branch, twigs in branches.items():
            db.run(create(Branch(tree=tree, branch=branch, size=len(twigs))))
            for twig, leaves in twigs.items():
                name = origins[tree, branch, twig]
                db.run(create(Twig(tree=tree, branch=branch, twig=twig, name=name)))
                for leaf in range(leaves):
                    colours = {"red"} if leaf % 2 else set()
                    db.run(
                        create(
                            Leaf(tree=tree, branch=branch, twig=twig, leaf=leaf, colours=colours)
                        )
                    )


def move_tree(forest: Forest, old: str, new: str) -> tuple[Any, Forest | None]:
    plan = Root.primary(old).update(Root.tree.set(new))
    if new in forest:
        return plan, None
    return plan, {new if tree == old else tree: rows for tree, rows in forest.items()}


def move_branch(
    forest: Forest, tree: str, old: str, to: str, new: str
) -> tuple[Any, Forest | None]:
    changes = [Branch.branch.set(new), Branch.tree.set(to)]
    plan = Branch.primary(tree, old).update(*changes)
    if to not in forest or new in forest[to]:
        return plan, None
    moved = {name: dict(branches) for name, branches in forest.items()}
    moved[to][new] = moved[tree].pop(old)
    return plan, moved


@given(forests, st.data())
def test_moves_leave_what_building_the_tree_at_its_new_place_would(
    forest: Forest, data: st.DataObject
) -> None:
    origins: dict[tuple[Any, ...], str] = {
        (tree, branch, twig): f"{tree}/{branch}/{twig}"
        for tree, branches in forest.items()
        for branch, twigs in branches.items()
        for twig in twigs
    }
    with Engine(":memory:") as engine, Engine(":memory:") as fresh:
        db, other = connect(engine, Trees), connect(fresh, Trees)
        plant(db, forest, origins)
        for _ in range(data.draw(st.integers(1, 4))):
            tree = data.draw(st.sampled_from(sorted(forest)))
            branches = sorted(forest[tree])
            source: tuple[str, ...]
            target: tuple[str, ...]
            deeper = data.draw(st.booleans())
            if branches and deeper:
                old = data.draw(st.sampled_from(branches))
                to, new = data.draw(st.sampled_from(sorted(forest))), data.draw(names)
                if (tree, old) == (to, new):
                    continue
                plan, after = move_branch(forest, tree, old, to, new)
                source, target = (tree, old), (to, new)
            else:
                renamed = data.draw(names)
                if renamed == tree:
                    continue
                plan, after = move_tree(forest, tree, renamed)
                source, target = (tree,), (renamed,)
            before = stored(engine, "trees")
            try:
                db.run(plan)
            except AlreadyExists:
                assert after is None
                assert stored(engine, "trees") == before
                continue
            assert after is not None
            forest = after
            origins = {
                (
                    (*target, *place[len(source) :]) if place[: len(source)] == source else place
                ): name
                for place, name in origins.items()
            }
        plant(other, forest, origins)
        assert stored(engine, "trees") == stored(fresh, "trees")
        assert engine.check()
