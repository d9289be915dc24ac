"""Every type that the documentation lists is stored, or refused, as it says."""

from __future__ import annotations

from typing import Any

import pytest

from tablewright import Attr, Entity, attr, key
from tablewright.errors import DeclarationError
from tests.mapping.converters.types import DOCUMENT, REFUSED, STORED, table
from tests.new_table import new_table
from tests.tables_in_docs import written


def entity_with(kind: Any) -> Any:
    class Thing(Entity, table=new_table()):
        name: Attr[str] = attr(default="n")
        x: Attr[kind] = attr()
        primary = key("THING" / name, "THING")

    return Thing


@pytest.mark.parametrize(("kind", "value", "stored"), [each[1:] for each in STORED])
def test_a_value_is_written_and_read(kind: Any, value: Any, stored: Any) -> None:
    thing = entity_with(kind)(x=value)
    item = thing.__entity__.encode(vars(thing))
    assert item["x"] == stored
    read = thing.__entity__.decode(item)
    assert read == thing
    assert type(read.x) is type(thing.x)


@pytest.mark.parametrize(("kind", "told"), [each[1:] for each in REFUSED])
def test_a_type_that_does_not_come_back_is_refused_at_import(kind: Any, told: str) -> None:
    with pytest.raises(DeclarationError, match=told):
        entity_with(kind)


def test_the_documentation_lists_these_types() -> None:
    assert written(DOCUMENT, "types") == table(), "run: python -m tests.tables_in_docs"
