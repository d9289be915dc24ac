"""Changes and conditions mean the same here as in the engine.

A write applies its changes to the stored item to know its index keys, and evaluates its conditions
to explain why it was rejected. Both are compared with an UpdateItem of the rendered expressions.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from tablewright import Attr, Engine, Entity, Table, attr, connect, key
from tablewright.errors import ConditionalCheckFailedException, ValidationException
from tablewright.plan.change import Change, apply_changes, encode_changes, render_changes
from tablewright.plan.condition import Condition
from tablewright.plan.writes.guard import WriteExpressions
from tablewright.values import Item


class Inner(BaseModel):
    count: int | None = None
    words: list[str] | None = None


class Notes(Table, name="notes"):
    pass


class Note(Entity, table=Notes):
    note_id: Attr[str] = attr()
    count: Attr[int | None] = attr(default=None)
    title: Attr[str | None] = attr(default=None)
    tags: Attr[set[str]] = attr(default_factory=set)
    numbers: Attr[set[int]] = attr(default_factory=set)
    words: Attr[list[str] | None] = attr(default=None)
    inner: Attr[Inner | None] = attr(default=None)
    more: Attr[list[Inner] | None] = attr(default=None)

    primary = key("NOTE", note_id)


texts = st.sampled_from(["a", "b", "ab", ""])
counts = st.integers(-3, 3)
words = st.lists(texts, max_size=3)
tags = st.sets(st.sampled_from(["a", "b", "c"]), max_size=3)
numbers = st.sets(st.integers(-2, 12), max_size=3)
inners = st.builds(Inner, count=st.none() | counts, words=st.none() | words)
notes = st.builds(
    Note,
    note_id=st.just("1"),
    count=st.none() | counts,
    title=st.none() | texts,
    tags=tags,
    numbers=numbers,
    words=st.none() | words,
    inner=st.none() | inners,
    more=st.none() | st.lists(inners, max_size=2),
)

inner_count = Note.inner.path(lambda inner: inner.count)
inner_words = Note.inner.path(lambda inner: inner.words)
second_count = Note.more.path(lambda more: more[1].count)
whole = [
    st.one_of(counts.map(Note.count.set), st.just(Note.count.remove()))
    | counts.map(Note.count.increment)
    | counts.map(Note.count.set_if_absent),
    (st.none() | texts).map(Note.title.set) | texts.map(Note.title.set_if_absent),
    tags.map(Note.tags.set)
    | tags.filter(bool).map(Note.tags.add_to_set)
    | tags.filter(bool).map(Note.tags.remove_from_set),
    numbers.filter(bool).map(Note.numbers.add_to_set)
    | numbers.filter(bool).map(Note.numbers.remove_from_set),
    texts.map(lambda word: Note.words.append(word))
    | texts.map(lambda word: Note.words.prepend(word, "z"))
    | st.integers(0, 3).map(lambda n: Note.words.path(lambda words: words[n]).set("new"))
    | st.integers(0, 3).map(lambda n: Note.words.path(lambda words: words[n]).remove()),
    counts.map(inner_count.set)
    | counts.map(inner_count.increment)
    | texts.map(lambda word: inner_words.append(word)),
    counts.map(second_count.set) | counts.map(second_count.set_if_absent),
]
#: At most one change of each attribute, and one of them at least.
changes = (
    st.tuples(*(st.none() | each for each in whole))
    .map(lambda some: [change for change in some if change is not None])
    .filter(bool)
)

simple = st.one_of(
    counts.map(lambda n: Note.count > n),
    counts.map(lambda n: Note.count == n),
    counts.map(lambda n: Note.count != n),
    counts.map(lambda n: Note.count.between(n, n + 2)),
    texts.map(lambda text: Note.title.begins_with(text)),
    texts.map(lambda text: Note.title.in_([text, "b"])),
    texts.map(lambda text: Note.words.contains(text)),
    st.sampled_from(["a", "b"]).map(lambda tag: Note.tags.contains(tag)),
    counts.map(lambda n: Note.numbers.contains(n)),
    counts.map(lambda n: inner_count <= n),
    counts.map(lambda n: second_count < n),
    st.just(Note.inner.exists()),
    st.just(Note.words.not_exists()),
)
conditions = st.recursive(
    simple,
    lambda inner: (
        inner.map(lambda one: ~one)
        | st.tuples(inner, inner).map(lambda both: both[0] & both[1])
        | st.tuples(inner, inner).map(lambda both: both[0] | both[1])
    ),
    max_leaves=4,
)


def stored_note(engine: Engine, note: Note) -> Item:
    """Put a note, and return its item."""
    item = Note.__entity__.encode(vars(note))
    engine.call("PutItem", {"TableName": "notes", "Item": item})
    return item


def update(engine: Engine, expressions: WriteExpressions) -> Item:
    """Update the note, and return its item."""
    body = {"TableName": "notes", "Key": Note.primary("1")._key, "ReturnValues": "ALL_NEW"}
    attributes: Item = engine.call("UpdateItem", expressions.add_to(body))["Attributes"]
    return attributes


@given(notes, changes)
def test_changes_applied_here_give_the_item_of_an_update(
    note: Note, changes: list[Change[Any]]
) -> None:
    with Engine(":memory:") as engine:
        connect(engine, Notes)
        item = stored_note(engine, note)
        encoded = encode_changes(changes)
        expressions = WriteExpressions()
        render_changes(encoded, expressions.update)
        expected: Item | str
        try:
            expected = update(engine, expressions)
        except ValidationException as error:
            expected = str(error)
        applied: Item | str
        try:
            applied = apply_changes(encoded, item)
        except ValidationException as error:
            applied = str(error)
        assert applied == expected


@given(notes, conditions)
def test_a_condition_matches_an_item_if_it_holds_in_the_engine(
    note: Note, condition: Condition[Any]
) -> None:
    with Engine(":memory:") as engine:
        connect(engine, Notes)
        item = stored_note(engine, note)
        expressions = WriteExpressions()
        expressions.require([condition])
        try:
            update(engine, expressions)
        except ConditionalCheckFailedException:
            holds = False
        else:
            holds = True
        assert condition.matches(item) is holds
