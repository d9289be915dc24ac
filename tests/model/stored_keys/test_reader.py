"""The quick comparison of stored keys never accepts what the exact one does not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright import Attr, Entity, Table, attr, key
from tablewright.errors import UnreadableItem
from tablewright.mapping.delimiter import Delimiter

TEXTS = st.text("a#$!:", min_size=1, max_size=4)
MOMENTS = st.sampled_from(
    ["2026-01-15T10:15:30.000000Z", "2026-01-15T10:15:30Z", "2026-01-15T10:15:30.000000+00:00"]
)


class Log(Table, name="log"): ...


class Line(Entity, table=Log):
    owner: Attr[str] = attr()
    at: Attr[datetime] = attr()
    primary = key("OWNER" / owner, "AT" / at / owner.again)


ENTITY = Line.__entity__


@given(owner=TEXTS, spelled=TEXTS, at=MOMENTS, moment=MOMENTS)
def test_a_key_that_is_accepted_quickly_is_the_canonical_one(
    owner: str, spelled: str, at: str, moment: str
) -> None:
    for text in (owner, spelled, Delimiter.DEFAULT.write(owner)):
        item = {
            "PK": {"S": f"OWNER#{text}"},
            "SK": {"S": f"AT#{moment}#{text}"},
            "owner": {"S": owner},
            "at": {"S": at},
        }
        fields = tuple(map(item.get, ENTITY._fields))
        if ENTITY._raw_check.is_canonical(fields):
            line = Line(owner=owner, at=datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC))
            assert ENTITY.key_of(vars(line)) == {"PK": item["PK"], "SK": item["SK"]}
            assert ENTITY.decode(item) == line


def test_the_usual_item_is_accepted_quickly() -> None:
    line = Line(owner="ann", at=datetime(2026, 1, 15, tzinfo=UTC))
    item = ENTITY.encode(vars(line))
    assert ENTITY._raw_check.is_canonical(tuple(map(item.get, ENTITY._fields)))


def test_an_item_with_another_key_is_not() -> None:
    line = Line(owner="ann", at=datetime(2026, 1, 15, tzinfo=UTC))
    item = ENTITY.encode(vars(line)) | {"PK": {"S": "OWNER#bob"}}
    assert not ENTITY._raw_check.is_canonical(tuple(map(item.get, ENTITY._fields)))
    with pytest.raises(UnreadableItem, match="OWNER#bob"):
        ENTITY.decode(item)


def test_a_padded_number_is_accepted_quickly_in_its_canonical_spelling_only() -> None:
    class Boxes(Table, name="boxes"): ...

    class Box(Entity, table=Boxes):
        shelf: Attr[int] = attr(pad=3)
        number: Attr[int] = attr()
        primary = key("SHELF" / shelf / number, "BOX")

    entity = Box.__entity__
    item = entity.encode({"shelf": 7, "number": 12})
    assert entity._raw_check.is_canonical(tuple(map(item.get, entity._fields)))
    for text in ("SHELF#7#12", "SHELF#0007#12", "SHELF#007#012"):
        other = item | {"PK": {"S": text}}
        assert not entity._raw_check.is_canonical(tuple(map(other.get, entity._fields)))
