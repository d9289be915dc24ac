"""Unknown keywords in the class statement of a declaration."""

from __future__ import annotations

import types
from typing import Any

import pytest

from tablewright import Aggregate, Attr, Entity, Input, Projection, Table, WriteOnce, attr, key
from tests.model.declaring.declarations import refused


class Desk(Table, name="desk"): ...


class Note(Entity, table=Desk):
    note_id: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")


CASES: list[tuple[Any, dict[str, Any], str]] = [
    (Entity, {"tabel": Desk}, "A(Entity, tabel=…): unknown option 'tabel'; did you mean 'table'?"),
    (WriteOnce, {"writeonce": True}, "unknown option 'writeonce'; did you mean 'write_once'?"),
    (Entity, {"colour": 1}, "'colour'; Entity takes table, type_name, renamed_from, write_once"),
    (Table, {"nmae": "desk"}, "A(Table, nmae=…): unknown option 'nmae'; did you mean 'name'?"),
    (Table, {"ttl": "x"}, "unknown option 'ttl'; Table takes name, pk, sk, type_attribute"),
    (Aggregate, {"table": Desk}, "unknown option 'table'; Aggregate takes none"),
    (Projection[Note], {"table": Desk}, "unknown option 'table'; Projection takes none"),
    (Input[Note], {"exlude": ()}, "unknown option 'exlude'; did you mean 'exclude'?"),
]  # fmt: skip


@pytest.mark.parametrize(("base", "options", "told"), CASES)
def test_an_unknown_option_is_refused_with_a_hint(
    base: Any, options: dict[str, Any], told: str
) -> None:
    with refused(told, __file__):
        types.new_class("A", (base,), options)
