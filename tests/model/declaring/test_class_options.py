"""Unknown keywords in the class statement of a declaration."""

from __future__ import annotations

import types
from typing import Any

import pytest

from tablewright import Aggregate, Entity, Input, Projection, Table, WriteOnce
from tests.model.declaring.declarations import refused
from tests.new_table import new_table
from tests.things import NamedEntity, Thing, Things

CASES: list[tuple[Any, dict[str, Any], str]] = [
    (Entity, {"tabel": 1}, "A(Entity, tabel=…): unknown option 'tabel'; did you mean 'table'?"),
    (WriteOnce, {"writeonce": True}, "unknown option 'writeonce'; did you mean 'write_once'?"),
    (Entity, {"colour": 1}, "'colour'; Entity takes table, type_name, renamed_from, renamed_when"),
    (Table, {"nmae": "desk"}, "A(Table, nmae=…): unknown option 'nmae'; did you mean 'name'?"),
    (Table, {"ttl": "x"}, "unknown option 'ttl'; Table takes name, pk, sk, type_attribute"),
    (Aggregate, {"table": Things}, "unknown option 'table'; Aggregate takes none"),
    (Projection[Thing], {"table": Things}, "unknown option 'table'; Projection takes none"),
    (Input[Thing], {"exlude": ()}, "unknown option 'exlude'; did you mean 'exclude'?"),
]  # fmt: skip


FORMER: list[tuple[dict[str, Any], str]] = [
    ({"renamed_from": ("Memo", "")}, "A: renamed_from=('Memo', '') must be a stored name"),
    ({"renamed_from": ["Memo"]}, "A: renamed_from=['Memo'] must be a stored name, or a tuple"),
    ({"renamed_from": ("Memo", "Memo")}, "or a tuple of different names"),
    ({"renamed_from": ("A", "Memo")}, "A: renamed_from= contains 'A', which is also the new type"),
    ({"renamed_when": lambda item: True}, "A: renamed_when= is given without renamed_from="),
    ({"renamed_from": "Memo", "renamed_when": True}, "A: renamed_when=True is not a function"),
    ({"renamed_from": "Memo", "variants": True}, "give its variants renamed_from=…"),
]


@pytest.mark.parametrize(("options", "told"), FORMER)
def test_former_types_that_cannot_be_meant_are_refused(options: dict[str, Any], told: str) -> None:
    with refused(told):
        types.new_class("A", (NamedEntity,), {"table": new_table(), **options})


@pytest.mark.parametrize("first", [None, lambda item: True])
def test_a_split_without_a_function_in_each_part_is_refused(first: Any) -> None:
    class AnyNote(NamedEntity, table=new_table(), variants=True): ...

    class Short(AnyNote, renamed_from="Note", renamed_when=first): ...

    with refused("Long and Short are both renamed from 'Note'; declare in both"):

        class Long(AnyNote, renamed_from=("Note", "Text")): ...


@pytest.mark.parametrize(("base", "options", "told"), CASES)
def test_an_unknown_option_is_refused_with_a_hint(
    base: Any, options: dict[str, Any], told: str
) -> None:
    with refused(told, __file__):
        types.new_class("A", (base,), options)
