"""Another codec: which values are written again, and which changes are refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tablewright import Attr, Entity, attr, key
from tablewright.errors import MigrationRefused
from tablewright.formats import (
    binary,
    compressed,
    enum_name,
    epoch_millis,
    epoch_seconds,
    fixed_point,
    iso,
    json_text,
    number,
    padded,
    text,
)
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.formats.reading import format_of
from tablewright.plan.description import describe_entity
from tablewright.plan.migration.recoding import recode, refuse_ambiguous_codec
from tests.new_table import new_table

MOMENT = datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)
PLAIN = {"S": "2026-01-15T10:15:30.250000Z"}
ISO = {"S": "2026-01-15T10:15:30Z"}
SECONDS = {"N": "1768472130"}


def attribute(kind: Any, codec: Any) -> tuple[AttributeMap, str]:
    """Return an attribute with a codec, and the type that its description has."""

    class Thing(Entity, table=new_table()):
        name: Attr[str] = attr()
        x: Attr[kind] = attr(codec=codec)
        primary = key("THING" / name, "THING")

    compiled = Thing.__entity__
    return compiled.attributes["x"], describe_entity(compiled).attributes["x"].type


@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        (None, iso("seconds"), PLAIN, ISO),
        (iso("seconds"), None, ISO, {"S": "2026-01-15T10:15:30.000000Z"}),
        (iso("seconds"), epoch_seconds(), ISO, SECONDS),
        (epoch_seconds(), iso("seconds"), SECONDS, ISO),
        (text(epoch_seconds()), epoch_seconds(), {"S": "1768472130"}, SECONDS),
        (epoch_seconds(), None, SECONDS, {"S": "2026-01-15T10:15:30.000000Z"}),
    ],
)
def test_a_value_is_stored_by_the_other_codec(before: Any, after: Any, old: Any, new: Any) -> None:
    _, described = attribute(datetime, before)
    target, _ = attribute(datetime, after)
    refuse_ambiguous_codec(target, described, "change")
    assert recode(target, old, described, is_moved=False) == new
    assert recode(target, new, described, is_moved=False) == new  # a second pass


def test_a_value_of_another_meaning_is_refused_under_the_same_name() -> None:
    _, seconds = attribute(datetime, epoch_seconds())
    millis, _ = attribute(datetime, epoch_millis())
    with pytest.raises(MigrationRefused, match=r"which of the two forms.*renamed_from="):
        refuse_ambiguous_codec(millis, seconds, "change")
    assert recode(millis, SECONDS, seconds, is_moved=True) == {"N": "1768472130000"}
    _, plain = attribute(str, None)
    as_json, _ = attribute(str, json_text())
    with pytest.raises(MigrationRefused):
        refuse_ambiguous_codec(as_json, plain, "change")


def test_a_value_that_no_codec_reads_is_left_to_fill() -> None:
    target, _ = attribute(datetime, iso("seconds"))
    assert recode(target, {"S": "soon"}, "datetime", is_moved=False) is None
    assert recode(target, SECONDS, "Reversed(datetime)", is_moved=False) is None


@pytest.mark.parametrize(
    "codec",
    [
        iso("seconds"),
        iso("milliseconds", zone="+00:00"),
        epoch_seconds(),
        text(epoch_millis()),
        padded(6),
        fixed_point(4, 2),
        text(places=2),
        number(),
        binary(),
        enum_name(),
        json_text(),
        compressed(),
    ],
)
def test_a_described_format_is_found_again(codec: Any) -> None:
    used = codec.of_attribute or codec
    form = "{}"
    for each in used.chain:
        form = each.label.format(form)
    found, is_known = format_of(f"{form.format('list[int]')} | None")
    assert is_known
    assert found is not None
    again = "{}"
    for each in (found.of_attribute or found).chain:
        again = each.label.format(again)
    assert again == form


@pytest.mark.parametrize("described", ["Reversed(str)", "iso(datetime)", "iso({a: str}, 'x')"])
def test_other_code_is_not_known(described: str) -> None:
    assert format_of(described) == (None, False)
