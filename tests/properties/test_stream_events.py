"""The events of a stream, applied to nothing, give the entities of the table."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from tablewright import Attr, Engine, Entity, Table, attr, connect, create, key, put, version
from tablewright.database import Database
from tablewright.errors import AlreadyExists, NotFound
from tablewright.streams import Deleted, Expired, Moved
from tests.examples import examples


class Depot(Table, name="depot", stream="NEW_AND_OLD_IMAGES"):
    pass


class Parcel(Entity, table=Depot):
    hall: Attr[str] = attr()
    number: Attr[str] = attr()
    weight: Attr[int] = attr(default=0)
    version: Attr[int] = version()
    primary = key("HALL" / hall, "PARCEL" / number)


class Sign(Entity, table=Depot):
    """Without a version: a move is recognised by equal attributes."""

    hall: Attr[str] = attr()
    text: Attr[str] = attr()
    primary = key("HALL" / hall, "SIGN")


Known: TypeAlias = dict[tuple[str, str], Entity]
HALLS, NUMBERS, TEXTS = st.sampled_from("ab"), st.sampled_from("12"), st.sampled_from("xy")
SIGNS = st.one_of(
    st.builds(lambda hall, text: put(Sign(hall=hall, text=text)), HALLS, TEXTS),
    st.builds(lambda hall: Sign.primary(hall).delete(), HALLS),
)
WRITES = st.one_of(
    SIGNS,
    SIGNS,
    st.builds(lambda hall, number: create(Parcel(hall=hall, number=number)), HALLS, NUMBERS),
    st.builds(
        lambda hall, number: Parcel.primary(hall, number).update(Parcel.weight.increment(1)),
        HALLS,
        NUMBERS,
    ),
    st.builds(
        lambda hall, number, to: Parcel.primary(hall, number).update(Parcel.hall.set(to)),
        HALLS,
        NUMBERS,
        HALLS,
    ),
    st.builds(lambda hall, number: Parcel.primary(hall, number).delete(), HALLS, NUMBERS),
)


def key_of(entity: Any) -> tuple[str, str]:
    return entity.hall, getattr(entity, "number", "sign")


def apply_events(db: Database, known: Known, after: str | None, limit: int) -> str | None:
    """Apply at most `limit` events to what is known; return the checkpoint after them."""
    events = db.stream_events(Parcel, Sign, after=after)
    for count, event in enumerate(events, 1):
        if isinstance(event, Moved | Deleted | Expired):
            known.pop(key_of(event.old), None)
        if not isinstance(event, Deleted | Expired):
            known[key_of(event.new)] = event.new
        after = events.checkpoint
        if count == limit:
            break
    return after


@given(
    st.integers(1, 3),
    st.lists(
        st.one_of(WRITES, WRITES, WRITES, st.just("rotate"), st.integers(1, 4)),
        min_size=10,
        max_size=40,
    ),
)
@examples(60)
def test_the_events_give_the_entities(shards: int, steps: list[Any]) -> None:
    """A number reads so many events, as a program does that stops and continues later."""
    known: Known = {}
    after: str | None = None
    with Engine(stream_shards=shards) as engine, connect(engine, Depot) as db:
        for step in steps:
            if step == "rotate":
                engine.rotate_shards("depot")
            elif isinstance(step, int):
                after = apply_events(db, known, after, step)
            else:
                with suppress(AlreadyExists, NotFound):
                    db.run(step)
        apply_events(db, known, after, limit=1000)
        reason = "compares with the events"
        stored = [
            *db.iterate(Parcel.scan(reason=reason)),
            *db.iterate(Sign.scan(reason=reason)),
        ]
        assert known == {key_of(entity): entity for entity in stored}
