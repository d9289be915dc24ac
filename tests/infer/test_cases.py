"""What is inferred from small tables, and that each key is composed again as it is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.infer import infer_design, write_module
from tablewright.schema import KeyAttribute, KeySchema
from tablewright.table_description import IndexDescription
from tablewright.values import Item
from tablewright.verify import compare_stored
from tests.infer.inferred import gsi, import_source, infer_source, item, keys, lines_of, sample_of

MOMENT = "2026-01-15T10:15:30.000000Z"
LATER = "2026-01-16T10:15:30.500000Z"
BY_KEY: dict[str, Any] = {"indexes": (gsi("GSI1", "GSI1PK", "GSI1SK"),)}


def moments(first: str, second: str) -> list[Item]:
    return [
        item(PK="USER#1", SK=f"AT#{first}", createdAt=MOMENT),
        item(PK="USER#1", SK=f"AT#{second}", createdAt=LATER),
    ]


def orders(attribute: str, *values: Any, is_in: Any) -> list[Item]:
    """Return orders of which some are in an index."""
    return [
        item(PK=f"ORDER#{n}", SK="ORDER", **{attribute: value})
        | (item(GSI1PK="OPEN", GSI1SK=f"ORDER#{n}") if value == is_in else {})
        for n, value in enumerate(values)
    ]


CASES: dict[str, tuple[list[Item], dict[str, Any], list[str]]] = {
    "one item": (
        [item(PK="USER#alice", SK="PROFILE")],
        {},
        ["user_id: Attr[str] = attr(key_only=True)", 'primary = key("USER" / user_id, "PROFILE")'],
    ),
    "no sort key": (
        [item(id="1", name="a"), item(id="2", name="b")],
        {"names": keys("id")},
        ["class Thing(Entity, table=Things):", "id: Attr[str] = attr()", "primary = key(id)"],
    ),
    "no structure": (
        [item(PK="f8a", SK="x 1"), item(PK="b99!", SK="y,2")],
        {},
        [
            'pk: Attr[str] = attr(name="PK")',
            'sk: Attr[str] = attr(name="SK")',
            "primary = key(pk, sk)",
        ],
    ),
    "keys with names": (
        [item(userId="u1", noteId="n1"), item(userId="u1", noteId="n2")],
        {"names": keys("userId", "noteId")},
        ["class Note(Entity, table=Things):", "primary = key(user_id, note_id)"],
    ),
    "number keys": (
        [item(sensor=5, at=1), item(sensor=6, at=2)],
        {"names": keys("sensor", "at", sensor="N", at="N")},
        ["sensor: Attr[int] = attr()", "primary = key(sensor, at)"],
    ),
    "a number literal": (
        [item(PK="USER#1", SK=0), item(PK="USER#2", SK=0)],
        {"names": keys("PK", "SK", SK="N")},
        ['primary = key("USER" / user_id, 0)'],
    ),
    "a number of an attribute": (
        [
            item(PK="USER#1", SK=1768472130, at=MOMENT),
            item(PK="USER#1", SK=1768558530, at="2026-01-16T10:15:30.000000Z"),
        ],
        {"names": keys("PK", "SK", SK="N")},
        ['primary = key("USER" / user_id, number(epoch_seconds(at)))'],
    ),
    "binary keys": (
        [item(PK={"B": "AAE="}, SK="A"), item(PK={"B": "AAI="}, SK="A")],
        {"names": keys("PK", "SK", PK="B")},
        ['pk: Attr[bytes] = attr(name="PK")', 'primary = key(pk, "A")'],
    ),
    "seconds": (
        moments("2026-01-15T10:15:30Z", "2026-01-16T10:15:30Z"),
        {},
        ['primary = key("USER" / user_id, "AT" / iso(created_at, "seconds"))'],
    ),
    "milliseconds and an offset": (
        moments("2026-01-15T10:15:30.000+00:00", "2026-01-16T10:15:30.500+00:00"),
        {},
        ['primary = key("USER" / user_id, "AT" / iso(created_at, "milliseconds", zone="+00:00"))'],
    ),
    "the default form": (
        moments(MOMENT, LATER),
        {},
        ['primary = key("USER" / user_id, "AT" / created_at)'],
    ),
    "epoch": (
        moments("1768472130", "1768558530"),
        {},
        ['primary = key("USER" / user_id, "AT" / epoch_seconds(created_at))'],
    ),
    "milliseconds since 1970": (
        moments("1768472130000", "1768558530500"),
        {},
        ['primary = key("USER" / user_id, "AT" / epoch_millis(created_at))'],
    ),
    "day": (
        moments("2026-01-15", "2026-01-16"),
        {},
        ['primary = key("USER" / user_id, "AT" / day(created_at))'],
    ),
    "descending": (
        moments("8231527869", "8231441469"),
        {},
        ['primary = key("USER" / user_id, "AT" / descending(epoch_seconds(created_at)))'],
    ),
    "padded": (
        [item(PK="GAME#1", SK="S#000007", score=7), item(PK="GAME#1", SK="S#000120", score=120)],
        {},
        ["score: Attr[int] = attr()", 'primary = key("GAME" / game_id, "S" / padded(score, 6))'],
    ),
    "fixed point": (
        [
            item(PK="GAME#1", SK="S#007.50", score={"N": "7.5"}),
            item(PK="GAME#1", SK="S#120.25", score={"N": "120.25"}),
        ],
        {},
        [
            "score: Attr[Decimal] = attr()",
            'primary = key("GAME" / game_id, "S" / fixed_point(score, 3, 2))',
        ],
    ),
    "lower": (
        [
            item(PK="EMAIL#ann@x.com", SK="USER", email="Ann@x.com"),
            item(PK="EMAIL#bob@x.com", SK="USER", email="Bob@x.com"),
        ],
        {},
        ['primary = key("EMAIL" / lower(email), "USER")'],
    ),
    "only in keys": (
        [
            item(PK="USER#1", SK="POST#2026-01-15T10:15:30.123Z"),
            item(PK="USER#1", SK="POST#2026-01-16T10:15:30.456Z"),
        ],
        {},
        [
            "time: Attr[datetime] = attr(key_only=True)",
            'primary = key("USER" / user_id, "POST" / iso(time, "milliseconds"))',
        ],
    ),
    "another delimiter": (
        [
            item(PK="User:A", SK="User:A"),
            item(PK="User:B", SK="User:B"),
            item(PK="User:B", SK="Post:2026-01-15T10:15:30Z"),
        ],
        {},
        [
            'class Things(Table, name="things", type_attribute=None, delimiter=":", escape=False):',
            'primary = key("User" / user_id, "User" / user_id.again)',
            'primary = key("User" / user_id, "Post" / iso(time, "seconds"))',
        ],
    ),
    "a prefix with another delimiter": (
        [item(PK=f"ORDER#{n}", SK=f"User:x{n}#END") for n in range(3)],
        {},
        ['primary = key("ORDER" / order_id, ("User:" + user_id) / "END")'],
    ),
    "literals with delimiters": (
        [
            item(PK="REPO#ann", SK="#META#"),
            item(PK="REPO#bob", SK="#META#"),
            item(PK="REPOS#", SK="#2026-01-15"),
        ],
        {},
        ['primary = key("REPO" / repo_id, "#META#")', 'primary = key("REPOS#", "" / day)'],
    ),
    "escaped values": (
        [item(PK="USER#a$!b", SK="USER", name="a#b"), item(PK="USER#c", SK="USER", name="c")],
        {},
        [
            'class Things(Table, name="things", type_attribute=None):',
            'primary = key("USER" / name, "USER")',
        ],
    ),
    "values with the delimiter": (
        [item(PK=key, SK="FILE", type="File") for key in ("FILE#a", "FILE#a#b")],
        {},
        ['primary = key("FILE#" + file_id, "FILE", delimiter="|")'],
    ),
    "a status in the key": (
        [
            item(PK=f"USER#{n}", SK=f"ORDER#{status}", status=status)
            for n, status in enumerate(("OPEN", "PAID", "OPEN"))
        ],
        {},
        ['primary = key("USER" / user_id, "ORDER" / status)'],
    ),
    "words as ids": (
        [
            item(PK=user, SK=sort)
            for user in ("alice", "bob")
            for sort in ("profile", "post#1", "post#2")
        ],
        {},
        ['primary = key(pk, "post" / post_id)', 'primary = key(pk, "profile")'],
    ),
    "an id with the name of its key": (
        [item(pk=user, sk=f"post#{n}") for user in ("alice", "bob") for n in (1, 2)]
        + [item(pk=user, sk="profile") for user in ("alice", "bob")],
        {"names": keys("pk", "sk")},
        ["key_pk: Attr[str] = attr(key_only=True)", 'primary = key(key_pk, "profile")'],
    ),
    "many words as ids": (
        [item(PK="STOCK", SK=f"A{chr(65 + n)}") for n in range(26)]
        + [item(PK=f"A{chr(65 + n)}", SK=f"PRICE#B{chr(65 + n)}") for n in range(26)],
        {},
        ['primary = key("STOCK", sk)', 'primary = key(pk, "PRICE" / price)'],
    ),
    "types with the same key": (
        [
            item(PK="ACCOUNT#1", SK="ACCOUNT#1", type="User"),
            item(PK="ACCOUNT#2", SK="ACCOUNT#2", type="Organization"),
        ],
        {},
        ["class Account(Entity, table=Things):", "type: Attr[str] = attr()"],
    ),
    "types in sets": (
        [item(PK=f"USER#{n}", SK="USER", types={"SS": ["Person"]}) for n in range(2)]
        + [item(PK="SHOP#1", SK="SHOP", types={"SS": ["Store"]})],
        {},
        [
            'Table, name="things", type_attribute="types", type_form="set", escape=False',
            "class Person(Entity, table=Things):",
        ],
    ),
    "types in lists": (
        [item(PK=f"USER#{n}", SK="USER", type={"L": [{"S": "Person"}]}) for n in range(2)],
        {},
        ['class Things(Table, name="things", type_form="list", escape=False):'],
    ),
    "sets that are no types": (
        [item(PK=f"USER#{n}", SK="USER", types={"SS": ["a", "b"]}) for n in range(2)],
        {},
        ["types: Attr[set[str]] = attr()"],
    ),
    "variants": (
        [
            item(PK=f"ACCOUNT#{name}", SK="ACCOUNT", type=kind, plan="free", **{kind: 1})
            for name, kind in (("ann", "User"), ("bob", "User"), ("acme", "Company"))
        ]
        + [item(PK="ACCOUNT#acme", SK="REPO#tw", type="Repo")],
        {},
        [
            'class Things(Table, name="things", escape=False):',
            "class Account(Entity, table=Things, variants=True):",
            "plan: Attr[str] = attr()",
            'primary = key("ACCOUNT" / account_id, "ACCOUNT")',
            "class User(Account):",
            'user: Attr[int] = attr(name="User")',
            "class Company(Account):",
        ],
    ),
    "variants that store the name in their key under different names": (
        [
            item(PK=f"ACCOUNT#{name}", SK="ACCOUNT", type=kind, **{stored: name})
            for name, kind, stored in (
                ("ann", "User", "username"),
                ("bob", "User", "username"),
                ("acme", "Company", "companyName"),
            )
        ]
        + [item(PK="ACCOUNT#acme", SK="REPO#tw", type="Repo")],
        {},
        [
            "class Account(Entity, table=Things, variants=True):",
            "account_id: Attr[str] = attr()",
            'account_id: Attr[str] = attr(name="username")',
            'account_id: Attr[str] = attr(name="companyName")',
        ],
    ),
    "variants without attributes of their own": (
        [
            item(PK=f"ACCOUNT#{n}", SK="ACCOUNT", type=kind)
            for n, kind in enumerate(("user", "user", "companies"))
        ]
        + [item(PK="ACCOUNT#0", SK="REPO#tw", type="repo")],
        {},
        [
            'class User(Account, type_name="user"):',
            'class Company(Account, type_name="companies"):',
        ],
    ),
    "keys of ElectroDB": (
        [
            item(
                PK=f"$app#org_{org}",
                SK=f"$members_1#id_{n}",
                GSI1PK=f"$app#name_{name.lower()}",
                GSI1SK=f"$people#members_1#status_open#id_{n}",
                org=org,
                id=n,
                name=name,
                status="Open",
                __edb_e__="members",
                __edb_v__="1",
            )
            for org, n, name in (("abc", "u17", "Ann"), ("abc", "u18", "Bob"), ("xyz", "u19", "C"))
        ],
        BY_KEY,
        [
            'class Member(Entity, table=Things, type_name="members"):',
            'primary = key("$app#org_" + org, "$members_1#id_" + id)',
            'gsi1 = index(Things.gsi1, "$app#name_" + lower(name), '
            '("$people#members_1#status_" + lower(status)) / "id_" + id)',
        ],
    ),
    "another case of one value": (
        [item(PK="LIKE#APPLE#ann", SK="LIKE", brand="Apple", user="ann")],
        {},
        ['primary = key("LIKE" / upper(brand) / user, "LIKE")'],
    ),
    "a literal that an attribute has in another case": (
        [item(PK=f"USER#{n}", SK="PROFILE", part="Profile") for n in range(3)],
        {},
        ['primary = key("USER" / user_id, "PROFILE")'],
    ),
    "a value of another entity in an only item": (
        [
            item(PK="REPO#aws#sdk", SK="REPO", owner="aws", name="sdk"),
            item(PK="REPO#gnu#gcc", SK="REPO", owner="gnu", name="gcc"),
            item(PK="STAR#aws#7#sdk", SK="STAR"),
        ],
        {},
        ['primary = key("STAR" / star_id / pk / key_pk, "STAR")'],
    ),
    "entities with the same word": (
        [item(PK=f"USER#u{n}", SK=f"#METADATA#u{n}") for n in range(2)]
        + [item(PK=f"GAME#g{n}", SK=f"USER#u{n}") for n in range(2)]
        + [item(PK=f"ORDER#o{n}", SK="ORDER") for n in range(2)]
        + [item(PK=f"ORDER#o{n}#ITEM#i{n}", SK="ORDER") for n in range(2)],
        {},
        [
            "class User(Entity, table=Things):",
            "class GameUser(Entity, table=Things):",
            "class Order(Entity, table=Things):",
            "class OrderItem(Entity, table=Things):",
        ],
    ),
    "the model of a thing": (
        [item(PK=f"CAR#{n}", SK="CAR", model="T") for n in range(3)] + [item(PK="SHOP", SK="SHOP")],
        {},
        ['class Things(Table, name="things", type_attribute=None, escape=False):'],
    ),
    "in an index under a condition": (
        orders("status", "open", "paid", "open", "paid", is_in="open"),
        BY_KEY,
        ['gsi1 = index(Things.gsi1, "OPEN", "ORDER" / order_id, when=status == "open")'],
    ),
    "in an index while a flag is set": (
        orders("active", True, False, True, False, is_in=True),
        BY_KEY,
        ['gsi1 = index(Things.gsi1, "OPEN", "ORDER" / order_id, when=active.in_([True]))'],
    ),
    "in an index for no visible reason": (
        orders("n", "1", "2", "3", "4", is_in="3"),
        BY_KEY,
        [
            "gsi1_order_id: Attr[str | None] = attr(key_only=True, default=None)",
            'gsi1 = index(Things.gsi1, "OPEN", "ORDER" / gsi1_order_id)',
        ],
    ),
    "a place inside of a document": (
        [
            item(PK=f"ORDER#{n}", SK="ORDER", address={"M": {"City": {"S": city}}})
            | item(GSI1PK=f"CITY#{city}", GSI1SK=f"ORDER#{n}")
            for n, city in enumerate(("Bern", "Rome", "Oslo"))
        ],
        BY_KEY,
        [
            'gsi1 = index(Things.gsi1, "CITY" / address.path(lambda inside: inside["City"]), '
            '"ORDER" / order_id)'
        ],
    ),
    "an attribute as index key": (
        [
            item(PK="USER#1", SK="USER", email="a@x.com"),
            item(PK="USER#2", SK="USER"),
        ],
        {"indexes": (gsi("by_email", "email"),)},
        [
            "email: Attr[str | None] = attr(default=None)",
            "by_email = index(Things.by_email, email)",
        ],
    ),
    "swapped": (
        [item(PK="USER#1", SK="POST#7"), item(PK="USER#2", SK="POST#8")],
        {"indexes": (gsi("reverse", "SK", "PK"),)},
        ["reverse = primary.swapped(Things.reverse)"],
    ),
    "a local index": (
        [
            item(PK="USER#1", SK="POST#7", LSI1="TITLE#x", title="x"),
            item(PK="USER#2", SK="POST#8", LSI1="TITLE#y", title="y"),
        ],
        {"indexes": (IndexDescription("LSI", "local", keys("PK", "LSI1")),)},
        ['lsi = LSI("LSI1", name="LSI")', 'lsi = primary.local(Things.lsi, "TITLE" / title)'],
    ),
    "a key that two indexes share": (
        [
            item(PK=f"USER#{n}", SK="USER", GSI1PK=f"A#{n}", GSI1SK=f"B#{n}", GSI2SK=f"C#{n}")
            for n in range(3)
        ],
        {"indexes": (gsi("GSI1", "GSI1PK", "GSI1SK"), gsi("GSI2", "GSI1PK", "GSI2SK"))},
        [
            'gsi1 = index(Things.gsi1, "A" / a_id, "B" / b_id)',
            'gsi2 = index(Things.gsi2, "A" / a_id, "C" / c_id)',
        ],
    ),
    "a key that two indexes share in some items": (
        [
            item(PK=f"USER#{n}", SK="USER", GSI1PK=f"A#{n}", GSI1SK=f"B#{n}")
            | (item(GSI2SK=f"C#{n}") if n else {})
            for n in range(3)
        ],
        {"indexes": (gsi("GSI1", "GSI1PK", "GSI1SK"), gsi("GSI2", "GSI1PK", "GSI2SK"))},
        [
            'gsi2_sk: Attr[str | None] = attr(name="GSI2SK", default=None)',
            '# Items are in gsi2, too; it shares the key "GSI1PK".',
        ],
    ),
    "half of an index key": (
        [item(PK="USER#1", SK="USER", GSI1PK="A#1"), item(PK="USER#2", SK="USER")],
        BY_KEY,
        ['gsi1_pk: Attr[str | None] = attr(name="GSI1PK", default=None)'],
    ),
    "several attributes in a key": (
        [
            item(PK=f"SALE#{n}", SK="SALE", site=site, kind="eu", level=n, at=MOMENT)
            for n, site in enumerate(("bern", "rome", "oslo"))
        ]
        + [item(PK="USER#1", SK="USER", site="bern")],
        {
            "indexes": (
                IndexDescription(
                    "wide",
                    "global",
                    KeySchema(
                        (KeyAttribute("site", "S"), KeyAttribute("kind", "S")),
                        (KeyAttribute("level", "N"), KeyAttribute("at", "S")),
                    ),
                ),
            )
        },
        [
            'wide = GSI(("site", "kind"), ("level", "at"))',
            "level: Attr[int] = attr()",
            "wide = index(Things.wide, (site, kind), (level, at))",
        ],
    ),
    "several attributes beside a composed key": (
        [
            item(PK=f"SALE#{n}", SK="SALE", GSI1PK=f"TENANT#{n}", tenant=f"{n}", level=n, at="x")
            for n in range(3)
        ],
        {
            "indexes": (
                IndexDescription(
                    "wide",
                    "global",
                    KeySchema(
                        (KeyAttribute("GSI1PK", "S"),),
                        (KeyAttribute("level", "N"), KeyAttribute("at", "S")),
                    ),
                ),
            )
        },
        ['wide = index(Things.wide, "TENANT" / tenant, (level, at))'],
    ),
    "a composed key among several": (
        [item(PK=f"SALE#{n}", SK="SALE", kind="x", level=n) for n in range(3)],
        {
            "indexes": (
                IndexDescription(
                    "wide",
                    "global",
                    KeySchema(
                        (KeyAttribute("PK", "S"), KeyAttribute("kind", "S")),
                        (KeyAttribute("level", "N"),),
                    ),
                ),
            )
        },
        ['# Items are in wide, too; it shares the key "PK".'],
    ),
    "two places in an index": (
        [
            item(PK="REPO#tw", SK=f"ISSUE#{n}", number=f"{n}", status=status)
            | item(GSI1PK="REPO#tw", GSI1SK=place)
            for n, status, place in (
                (1, "open", "ISSUE#OPEN#1"),
                (2, "closed", "#ISSUE#2"),
                (3, "open", "ISSUE#OPEN#3"),
            )
        ],
        BY_KEY,
        [
            "number: Attr[str] = attr()",
            'gsi1 = index(Things.gsi1, "REPO" / repo_id, "ISSUE#OPEN" / number, '
            'when=status == "open")',
            'gsi1_2 = index(Things.gsi1, "REPO" / repo_id, "#ISSUE" / number, '
            'when=status == "closed")',
        ],
    ),
    "a place of its own for some": (
        [
            item(PK="REPO#a", SK="REPO", name="a", GSI1PK="REPO#a", GSI1SK="#REPO"),
            item(PK="REPO#b", SK="REPO", name="b", GSI1PK="REPO#b", GSI1SK="#REPO"),
            item(PK="REPO#c", SK="REPO", name="c", parent="a", GSI1PK="REPO#a", GSI1SK="FORK#c"),
        ],
        BY_KEY,
        [
            'gsi1 = index(Things.gsi1, "REPO" / name, "#REPO", when=parent.not_exists())',
            'gsi1_2 = index(Things.gsi1, "REPO" / parent, "FORK" / name, when=parent.exists())',
        ],
    ),
    "two places in a local index": (
        [
            item(PK="USER#1", SK=f"TASK#{n}", number=f"{n}", done=done, LSI1=place)
            for n, done, place in ((1, True, "DONE#1"), (2, False, "OPEN#x#2"))
        ],
        {"indexes": (IndexDescription("LSI", "local", keys("PK", "LSI1")),)},
        [
            'lsi = primary.local(Things.lsi, "DONE" / number, when=done.in_([True]))',
        ],
    ),
    "expiry": (
        [item(PK="USER#1", SK="USER", expires=1700000000), item(PK="USER#2", SK="USER")],
        {"ttl": "expires"},
        ["expires: Attr[datetime | None] = ttl(default=None)"],
    ),
    "types of attributes": (
        [
            item(
                PK="USER#1",
                SK="USER",
                flag=True,
                names={"SS": ["x"]},
                counts={"NS": ["1"]},
                days={"L": [{"S": "2026-01-15"}]},
                mixed={"L": [{"S": "x"}, {"N": "1"}]},
                prices={"M": {"x": {"N": "1.5"}}},
                raw={"B": "AAE="},
                born="2000-01-15",
                seen="2026-01-15T10:15:30Z",
                local="2026-01-15T10:15:30",
            )
        ],
        {},
        [
            "flag: Attr[bool] = attr()",
            "names: Attr[set[str]] = attr()",
            "counts: Attr[set[int]] = attr()",
            "days: Attr[list[str]] = attr()",
            "mixed: Attr[list[Any]] = attr()",
            "prices: Attr[dict[str, Decimal]] = attr()",
            "raw: Attr[bytes] = attr()",
            "born: Attr[date] = attr()",
            "seen: Attr[str] = attr()",
            "local: Attr[str] = attr()",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_table_is_inferred(name: str, tmp_path: Path) -> None:
    items, settings, expected = CASES[name]
    source = infer_source(*items, **settings)
    lines = lines_of(source)
    assert [line for line in expected if line not in lines] == [], source
    report = compare_stored(import_source(source, tmp_path), items)
    assert report.differences == [], source


def test_texts_of_items_are_literals_and_never_code(tmp_path: Path) -> None:
    """A module is imported here: code in it would raise SystemExit."""
    attack = '"""\nraise SystemExit\n"""'
    items = [
        item(PK=f"{attack}#{n}'\"", SK="'\n", type=attack) | {attack: {"S": "x"}} for n in range(3)
    ]
    hostile = {"class": "x", "__init__": "y", "import os; os.abort()": "z", "ﬁ": "w", "1": "v"}
    items[0] |= {name: {"S": value} for name, value in hostile.items()}
    source = infer_source(*items)
    table = import_source(source, tmp_path)
    assert compare_stored(table, items).differences == []
    assert {"class_", "init", "import_os_os_abort", "fi", "n1"} <= set(table.entities[0].attributes)


WORDS = [
    *("USER", "user", "OPEN", "open", "a", "#", "", "x1", "2026-01-15", MOMENT, "007", "9", "$5"),
    *("$app", "id_7", "tasks_1", ":", "\n", '"'),
]
TEXTS = st.builds(
    lambda words, delimiter: delimiter.join(words) or "z",
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    st.sampled_from("#:-"),
)
ITEMS = st.fixed_dictionaries(
    {"PK": TEXTS, "SK": TEXTS},
    optional=dict.fromkeys(("GSI1PK", "GSI1SK", "LSI1", "status", "type", "email", "wide"), TEXTS)
    | {"flag": st.booleans()},
)
INDEXES = (
    gsi("GSI1", "GSI1PK", "GSI1SK"),
    IndexDescription("LSI", "local", keys("PK", "LSI1")),
    IndexDescription(
        "wide",
        "global",
        KeySchema(
            (KeyAttribute("wide", "S"), KeyAttribute("email", "S")), (KeyAttribute("GSI1PK", "S"),)
        ),
    ),
)


@settings(max_examples=20)
@given(st.lists(ITEMS, min_size=1, max_size=6, unique_by=lambda each: (each["PK"], each["SK"])))
def test_any_items_are_recognized_and_keep_their_keys(
    tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]]
) -> None:
    sample = sample_of(*(item(**each) for each in items), indexes=INDEXES)
    table = import_source(write_module(infer_design(sample)), tmp_path_factory.mktemp("any"))
    assert compare_stored(table, sample.items).differences == []


def test_only_what_the_source_uses_is_imported() -> None:
    source = infer_source(item(PK="A#1", SK="x", **{"hour(s) of Attr[Decimal] =": "2 or 3"}))
    assert 'hour_s_of_attr_decimal: Attr[str] = attr(name="hour(s) of Attr[Decimal] =")' in source
    lines = [line for line in source.splitlines() if line.startswith("from ")]
    assert lines == [
        "from __future__ import annotations",
        "from tablewright import Attr, Entity, Table, attr, key",
    ]
