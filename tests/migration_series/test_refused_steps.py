"""Steps that are refused: the message names the change and the way, and nothing is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright import Table, migrations
from tablewright.errors import DuplicateValues, MigrationRefused
from tests.evolve.designs import load_text
from tests.migration_series import club
from tests.migration_series.walking import SeriesVersion, Walk

LAST_BUT_ONE = "version, history and TTL"


def changed(name: str, folder: Path, **texts: str) -> type[Table]:
    """Return the table of a version whose source has other texts: `before` and `after`."""
    text = club.source(name)
    assert texts["before"] in text
    text = text.replace(texts["before"], texts["after"])
    (table,) = load_text(text, folder, "changed_club").tables
    return table


@pytest.mark.parametrize(
    ("name", "before", "after", "messages"),
    [
        (
            "first",
            'GSI("GSI1PK", "GSI1SK")',
            'GSI("GSI1PK", "GSI1SK", project="KEYS_ONLY")',
            [
                "gsi1: the index has other keys or another projection",
                "Give the new one another name",
            ],
        ),
        (
            LAST_BUT_ONE,
            "leaves: Attr[datetime | None] = ttl(default=None)",
            'leaves: Attr[datetime | None] = ttl(name="until", default=None)',
            ["club: items expire by another attribute: leaves -> until", "disable TTL first"],
        ),
        (
            "first",
            'joined: Attr[str] = attr(fill=lambda item: item["joined_at"][:10])',
            "joined: Attr[datetime] = attr(fill=datetime(2024, 1, 1, tzinfo=UTC))",
            [
                "a rollback could not restore texts that fill= replaces under the same name",
                "Member.joined: the attribute accepts fewer values: str -> datetime",
                "attr(renamed_from=…, fill=…)",
            ],
        ),
    ],
)
def test_a_change_is_refused(
    name: str, before: str, after: str, messages: list[str], tmp_path: Path
) -> None:
    walk = Walk(club.version(name, tmp_path))
    stored = walk.stored()
    table = changed(name, tmp_path, before=before, after=after)
    for command in (migrations.plan, migrations.apply):
        with pytest.raises(MigrationRefused) as refused:
            command(walk.engine, table)
        for message in messages:
            assert message in str(refused.value)
    assert walk.stored() == stored


def test_values_that_another_template_makes_equal_are_listed(tmp_path: Path) -> None:
    first = club.version("first", tmp_path)
    walk = Walk(first)
    stored = walk.stored()
    table = changed(
        "first", tmp_path, before='unique("EMAIL" / email)', after='unique("EMAIL" / city)'
    )
    with pytest.raises(DuplicateValues) as refused:
        migrations.apply(walk.engine, table)
    (duplicate,) = refused.value.duplicates
    assert duplicate.value == "city 'Halle|Saale'"
    assert {duplicate.key, duplicate.other} == {
        f'PK="MEMBER#{each}", SK="MEMBER"' for each in ("M3", "M7")
    }
    assert walk.stored() == stored
    walk.go_to(SeriesVersion("again", club.version("pad and template", tmp_path).table))


def test_a_rollback_needs_a_function_for_texts_of_another_type(tmp_path: Path) -> None:
    """The old version reads every text as str: the new ones must not be taken for its values."""
    without = changed(
        "unique changed",
        tmp_path,
        before='attr(fill=lambda item: item["joined_at"][:10])',
        after="attr()",
    )
    walk = Walk(club.version("unique changed", tmp_path))
    before = walk.stored()
    new = club.version("types and codecs", tmp_path).table
    migrations.apply(walk.engine, new)
    prepared = walk.stored()
    with pytest.raises(MigrationRefused) as refused:
        migrations.rollback(walk.engine, without)
    assert (
        "Member.joined: the item has '2024-05-01', but also '2024-05-01T00:00:00.000000Z' in "
        "'joined_at', whose values have another type. Decide it by a function of the item, "
        "attr(fill=…)"
    ) in str(refused.value)
    assert walk.stored() == prepared
    migrations.rollback(walk.engine, club.version("unique changed", tmp_path).table)
    assert walk.stored() == before
