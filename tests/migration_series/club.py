"""A sports club in nine versions, each of which changes keys, unique values or types.

`CHANGES` has what each version changes in the source of the one before. `fill=` is there for both
ways: the first version says what it makes of the values of later ones. Values contain delimiters,
quotes and letters of other scripts; two members are inactive, and one has no card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from tablewright import create
from tablewright.database import Database
from tablewright.designs.catalog import load
from tablewright.verify.contents import Scanner
from tests.migration_series.walking import SeriesVersion

Row: TypeAlias = dict[str, Any]

FIRST = """\
from datetime import UTC, datetime
from decimal import Decimal

from tablewright import (
    GSI, Attr, Entity, Table, attr, history, index, key, ttl, unique, updated_at, version
)
from tablewright.formats import Codec, coded, day, lower

HEX = Codec[int](
    encode=lambda value: f"{value:04x}",
    decode=lambda text: int(text, 16),
    ordered=True,
    width=4,
    alphabet="0123456789abcdef",
)


class Club(Table, name="club"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Member(Entity, table=Club):
    member_id: Attr[str] = attr()
    email: Attr[str] = attr()
    city: Attr[str] = attr()
    level: Attr[int] = attr(pad=2)
    joined: Attr[str] = attr(fill=lambda item: item["joined_at"][:10])
    fee: Attr[int] = attr(fill=lambda item: int(Decimal(item.get("fee", 0)) * 100))
    is_active: Attr[bool] = attr(default=True)
    card: Attr[str | None] = attr(default=None)
    primary = key("MEMBER" / member_id, "MEMBER")
    by_city = index(Club.gsi1, "CITY" / city, "LEVEL" / level / member_id)
    by_email = unique("EMAIL" / email)


class Court(Entity, table=Club):
    court_id: Attr[str] = attr()
    primary = key("COURT" / court_id, "COURT")
"""

#: By version: the texts that it replaces in the source of the version before.
CHANGES: dict[str, dict[str, str]] = {
    "pad and template": {
        "attr(pad=2)": "attr(pad=4)",
        '"LEVEL" / level / member_id': "level / joined / member_id",
    },
    "delimiter": {"level / joined / member_id)": 'level / joined / member_id, delimiter="|")'},
    "condition and unique": {
        'delimiter="|")': 'delimiter="|", when=is_active == True)',
        "    by_email": '    by_card = unique("CARD" / card)\n    by_email',
    },
    "unique changed": {
        'unique("EMAIL" / email)': 'unique("MAIL" / lower(email), keep=(member_id, city))',
    },
    "types and codecs": {
        "fee: Attr[int]": "fee: Attr[str]",
        'int(Decimal(item.get("fee", 0)) * 100)': 'str(Decimal(item.get("fee", 0)) / 100)',
        "joined: Attr[str]": "joined_at: Attr[datetime]",
        'attr(fill=lambda item: item["joined_at"][:10])': """attr(
        renamed_from="joined",
        fill=lambda item: datetime.fromisoformat(item["joined"]).replace(tzinfo=UTC),
    )""",
        "level / joined / member_id": "coded(level, HEX) / joined_at / member_id",
    },
    "renames": {
        "class Member(Entity, table=Club)": (
            "class Player(Entity, table=Club, renamed_from='Member')"
        ),
        "city: Attr[str] = attr()": "town: Attr[str] = attr(renamed_from='city')",
        '"CITY" / city': '"CITY" / town',
        "keep=(member_id, city)": "keep=(member_id, town)",
        "email: Attr[str] = attr()": "mail: Attr[str] = attr(renamed_from='email')",
        "lower(email)": "lower(mail)",
    },
    "version, history and TTL": {
        "class Player": """class LevelEvent(Entity, table=Club):
    member_id: Attr[str] = attr()
    version: Attr[int] = attr(pad=6)
    old: Attr[int] = attr()
    new: Attr[int] = attr()
    primary = key("MEMBER" / member_id, "LEVEL" / version)


class Player""",
        '    primary = key("MEMBER" / member_id, "MEMBER")': """\
    leaves: Attr[datetime | None] = ttl(default=None)
    changed: Attr[datetime] = updated_at()
    version: Attr[int] = version()
    levels = history(level, LevelEvent)
    primary = key("MEMBER" / member_id, "MEMBER")""",
    },
    "removals": {
        '    by_card = unique("CARD" / card)\n': "",
        '    gsi1 = GSI("GSI1PK", "GSI1SK")': '    gsi2 = GSI("GSI2PK", "GSI2SK")',
        "index(Club.gsi1, ": "index(Club.gsi2, ",
        '    fee: Attr[str] = attr(fill=lambda item: str(Decimal(item.get("fee", 0)) / 100))\n': "",
        """class Court(Entity, table=Club):
    court_id: Attr[str] = attr()
    primary = key("COURT" / court_id, "COURT")
""": "",
    },
}

NAMES = ["first", *CHANGES]


def source(name: str) -> str:
    """Return the source of a version."""
    text = FIRST
    for each in NAMES[1 : NAMES.index(name) + 1]:
        for before, after in CHANGES[each].items():
            assert before in text, before
            text = text.replace(before, after)
    return text


# -- rows ------------------------------------------------------------------------------------------


def _row(number: int, city: str, **values: Any) -> Row:
    return {
        "member_id": f"M{number}",
        "email": f"Ann.{number}@Example.com",
        "city": city,
        "level": number,
        "joined": f"2024-05-{number:02}",
        "fee": number * 1250,
        "is_active": True,
        "card": f"C#{number}",
    } | values


#: The members that the first version writes, as it has them.
ROWS = [
    _row(1, "Köln"),
    _row(2, "Frankfurt#Main", is_active=False),
    _row(3, "Halle|Saale", card=None),
    _row(7, "Halle|Saale", joined="2019-12-31"),
    _row(12, "a%23b\\|#|", is_active=False, member_id="M|12#x"),
]
#: The member that each later version adds; without a fee, because the last one has none.
ADDED = {name: _row(20 + n, f"New|{n}#", fee=0) for n, name in enumerate(NAMES[1:])}


def _with_types(row: Row) -> Row:
    joined = datetime.fromisoformat(row.pop("joined")).replace(tzinfo=UTC)
    return row | {"fee": str(Decimal(row["fee"]) / 100), "joined_at": joined}


def _renamed(row: Row) -> Row:
    return row | {"mail": row.pop("email"), "town": row.pop("city")}


def _without_fee(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "fee"}


_CONVERTED: dict[str, Callable[[Row], Row]] = {
    "types and codecs": _with_types,
    "renames": _renamed,
    "removals": _without_fee,
}


def row_of(name: str, row: Row) -> Row:
    """Return a row of the first version as another version has it."""
    row = dict(row)
    for each in NAMES[: NAMES.index(name) + 1]:
        row = _CONVERTED.get(each, dict)(row)
    return row


def all_rows(name: str) -> list[Row]:
    """Return the rows after this version has written its own, as this version has them."""
    added = [ADDED[each] for each in NAMES[1 : NAMES.index(name) + 1]]
    return [row_of(name, row) for row in (*ROWS, *added)]


# -- versions --------------------------------------------------------------------------------------


def version(name: str, folder: Path) -> SeriesVersion:
    """Return a version of the club."""
    file = folder / f"club_{NAMES.index(name)}.py"
    file.write_text(source(name), encoding="utf-8")
    (table,) = load(str(file)).tables
    types: dict[str, Any] = {each.name: each.type for each in table.__table__.entities}
    member = types.get("Player") or types["Member"]
    is_conditional = "when=" in source(name)

    def write(database: Database) -> None:
        found = {each.member_id for each in Scanner(database)(member)}
        write_members(database, member, (r for r in all_rows(name) if r["member_id"] not in found))
        if "LevelEvent" in types:
            for level in (99, 7):
                database.run(member.primary("M7").update(member.level.set(level)))

    def check(database: Database) -> None:
        found = list(Scanner(database)(member))
        # After a rollback, the members that the later version has added are there, too.
        every = (row_of(name, row) for row in (*ROWS, *ADDED.values()))
        expected = {row["member_id"]: row for row in every}
        values = {each.member_id: _values(each, expected) for each in found}
        assert {row["member_id"] for row in ROWS} <= values.keys()
        assert values == {each: expected[each] for each in values}
        for each in found:
            _check_reads(database, member, each, is_conditional=is_conditional)

    return SeriesVersion(name, table, write, check)


def write_members(database: Database, member: Any, rows: Iterable[Row]) -> None:
    for row in rows:
        database.run(create(member(**row)))


def _values(member: Any, expected: dict[str, Row]) -> Row:
    return {name: getattr(member, name) for name in expected[member.member_id]}


def _check_reads(database: Database, member: Any, each: Any, *, is_conditional: bool) -> None:
    """Require that a member is found by all its keys."""
    values = vars(each)
    mail, town = (
        values.get(name, values.get(former))
        for name, former in (("mail", "email"), ("town", "city"))
    )
    in_town = [one.member_id for one in database.run(member.by_city(town))]
    assert in_town.count(each.member_id) == int(each.is_active or not is_conditional)
    assert database.run(member.primary(each.member_id)) == each
    assert database.run(member.by_email(mail)).member_id == each.member_id
    if hasattr(member, "by_card") and each.card is not None:
        assert database.run(member.by_card(each.card)).member_id == each.member_id
