"""Kinds of entities that the checkers tell apart: `kinds_mistakes.py` misuses what is here."""
# pyright: strict

from __future__ import annotations

from typing import assert_type

from tablewright import (
    Attr,
    Create,
    Delete,
    Entity,
    Put,
    Table,
    Update,
    WriteOnce,
    attr,
    create,
    delete,
    key,
    put,
    update,
)


class Journal(Table, name="journal"):
    pass


class Entry(WriteOnce, table=Journal):
    entry_id: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    primary = key("ENTRY" / entry_id, "ENTRY")


class Draft(Entity, table=Journal):
    draft_id: Attr[str] = attr()
    text: Attr[str] = attr(default="")
    primary = key("DRAFT" / draft_id, "DRAFT")


def an_entity_that_is_written_once_is_created_and_deleted() -> None:
    entry = Entry(entry_id="E1")
    assert_type(create(entry), Create[Entry])
    assert_type(delete(entry), Delete[Entry])
    assert_type(Entry.primary("E1").delete(), Delete[Entry])


def other_entities_are_also_changed() -> None:
    draft = Draft(draft_id="D1")
    assert_type(put(draft), Put[Draft])
    assert_type(update(draft, Draft.text.set("x")), Update[Draft])
    assert_type(Draft.primary("D1").update(Draft.text.set("x")), Update[Draft])


def any_entity_is_put(entity: Entity) -> Put[Entity]:
    return put(entity)
