"""A design description: equal for the same stored items, different for others, and canonical."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tablewright.design_description import (
    DesignDescription,
    TableDesign,
    read_lock,
    show_key,
    write_lock,
)
from tablewright.designs.catalog import BUNDLED, load
from tablewright.errors import LockRefused
from tablewright.model.description import describe_design
from tests.design_changes.loading import describe

#: The parts of a design with every option that decides what is stored; all use the first one.
PARTS = {
    "table": """
class Status(Enum):
    OPEN = "open"
    DONE = "done"

class Shop(Table, name="shop", pk="PK", sk="SK", type_attribute="type", stream="NEW_IMAGE"):
    gsi1 = GSI("GSI1PK", "GSI1SK")
    gsi2 = GSI("GSI2PK", "GSI2SK", name="second", project=("total", "note"))
    region = GSI(("country", "town"), ("status", "placed"))
    stars = GSI("GSI3PK", "GSI3SK")
    local = LSI("LSK")
    tenancy = Tenancy("customer", write=("C#{customer}",), filtered=(gsi1,))

class Customer(Entity, table=Shop, type_name="Customer"):
    customer: Attr[str] = attr()
    primary = key("C" / customer, "CUSTOMER")
""",
    "attributes": """
class Mode(StrEnum):
    FAST = "fast"
    SLOW = "slow"

@dataclass
class Place:
    city: str
    zip: str = ""

class Contact(BaseModel):
    mail: str = Field(alias="e-mail")
    place: Place | None = None

class Order(Entity, table=Shop, type_name="Order"):
    order_id: Attr[str] = attr(name="id")
    price: Attr[Decimal] = attr(default=Decimal("1.5"))
    mode: Attr[Mode] = attr(default=Mode.FAST)
    kind: Attr[Literal["a", "b"]] = attr(default="a")
    size: Attr[int] = attr()
    memo: Attr[str | None] = attr(default="none")
    token: Attr[UUID] = attr(default_factory=uuid4)
    tags: Attr[set[str]] = attr(default_factory=set)
    contact: Attr[Contact | None] = attr(default=None)
    expires: Attr[datetime | None] = ttl(default=None)
    version: Attr[int] = version()
    created: Attr[datetime] = created_at()
    updated: Attr[datetime] = updated_at()
    primary = key("O" / order_id, "ORDER")
    by_city = primary.local(Shop.local, "CITY" / contact.path(lambda c: c.mail))
""",
    "keys": """
class Host:
    def encode(self, host: str) -> str:
        return ".".join(reversed(host.split(".")))
    def decode(self, text: str) -> str:
        return self.encode(text)

class Parcel(Entity, table=Shop, type_name="Parcel"):
    customer: Attr[str] = attr()
    parcel_id: Attr[str] = attr(name="id")
    total: Attr[int] = attr(default=0, pad=6)
    status: Attr[Status] = attr(default=Status.OPEN)
    note: Attr[str | None] = attr(default=None)
    host: Attr[str] = attr(default="a.b")
    email: Attr[str] = attr()
    country: Attr[str] = attr()
    town: Attr[str] = attr()
    bin: Attr[str | None] = attr(key_only=True, default=None)
    placed: Attr[datetime] = attr()
    primary = key("C" / customer, "PARCEL" / parcel_id)
    open = index(Shop.gsi1, "OPEN" / day(placed), total, when=status == Status.OPEN)
    done = index(Shop.gsi1, "DONE" / lower(email), parcel_id,
                 when=(status == Status.DONE) & (total > 5) & ~note.exists())
    coded = index(Shop.gsi2, "HOST" / coded(host, Host()) / shard(parcel_id, of=8),
                  descending(epoch_seconds(placed)))
    in_bin = index(Shop.stars, "BIN" / bin, number(total))
    in_region = index(Shop.region, (country, town), (status, placed))
    by_email = unique("EMAIL" / email, type_name="Email", keep=(customer, parcel_id))
""",
    "history": """
class Event(Entity, table=Shop):
    ticket: Attr[str] = attr()
    version: Attr[int] = attr(pad=5, key_only=True)
    old: Attr[str | None] = attr(default=None)
    new: Attr[str | None] = attr(default=None)
    reason: Attr[str | None] = attr(default=None)
    primary = key("TICKET" / ticket, "V" / version)

class Ticket(Entity, table=Shop, type_name="Ticket"):
    ticket: Attr[str] = attr()
    title: Attr[str] = attr()
    room: Attr[str] = attr()
    count: Attr[int] = version(name="version")
    primary = key("TICKET" / ticket, "TICKET")
    changes = history(title, Event, old=Event.old, new=Event.new)
    rooms = history(title, Event, old=Event.old, new=Event.reason)
""",
    "variants": """
class Account(Entity, table=Shop, variants=True):
    name: Attr[str] = attr()
    primary = key("ACCOUNT" / name, "ACCOUNT")

class Person(Account, type_name="person"):
    team: Attr[str | None] = attr(default=None)

class Company(Account, type_name="company", renamed_from=("R", "A")):
    owner: Attr[str | None] = attr(default=None, renamed_from=("old_title", "name"))
""",
}
DESIGN = "".join(PARTS.values())

#: Changes of the source after which the same items are stored and read.
SAME = {
    "names of classes": [
        ("Shop", "Store"),
        ("class Order(", "class Purchase("),
        ("Status", "State"),
        ("Place", "Spot"),
        ("Contact", "Card"),
        ("class Event(Entity, table=Store", "class Occurrence(Entity, table=Store, type_name='E'"),
        ("Event", "Occurrence"),
        ("type_name='E'", "type_name='Event'"),
        ("OPEN =", "NEW ="),
        ("State.OPEN", "State.NEW"),
        ("class Account", "class Holder"),
        ("(Account", "(Holder"),
    ],
    "names of attributes and keys": [
        (
            "customer: Attr[str] = attr()\n    parcel_id",
            "buyer: Attr[str] = attr(name='customer')\n    parcel_id",
        ),
        ('"C" / customer, "P', '"C" / buyer, "P'),
        ("keep=(customer, parcel_id)", "keep=(buyer, parcel_id)"),
        ("open = index", "a = index"),
        ("done = index", "b = index"),
        ("by_email", "c"),
        ('primary = key("C"', 'it = key("C"'),
        ("placed: Attr[datetime] = attr()", "x: Attr[datetime] = attr(name='placed')"),
        ("day(placed)", "day(x)"),
        ("epoch_seconds(placed)", "epoch_seconds(x)"),
        ("(status, placed))", "(status, x))"),
        ("bin: Attr[str | None]", "box: Attr[str | None]"),
        ('"BIN" / bin', '"BIN" / box'),
    ],
    "names in histories": [
        ("version: Attr[int] = attr(pad=5", "number: Attr[int] = attr(pad=5"),
        ('"V" / version', '"V" / number'),
        ("old=Event.old", "version=Event.number, old=Event.old"),
        ("changes =", "moves ="),
        ("title: Attr[str] = attr()", "name: Attr[str] = attr(name='title')"),
        ("history(title", "history(name"),
        ("count:", "counter:"),
    ],
    "names of indexes in Python": [
        ("gsi2 = GSI", "other = GSI"),
        ("Shop.gsi2", "Shop.other"),
    ],
    "the order of members": [
        ('    OPEN = "open"\n    DONE = "done"\n', '    DONE = "done"\n    OPEN = "open"\n'),
        ('project=("total", "note")', 'project=("note", "total")'),
        ('Literal["a", "b"]', 'Literal["b", "a"]'),
        ("    email: Attr[str] = attr()\n", ""),
        ("    total:", "    email: Attr[str] = attr()\n    total:"),
        (
            "(status == Status.DONE) & (total > 5) & ~note.exists()",
            "(total > 5) & ~note.exists() & (status == Status.DONE)",
        ),
        ("keep=(customer, parcel_id)", "keep=(parcel_id, customer)"),
    ],
    "the order of histories": [
        ("changes = history(title, Event, old=Event.old, new=Event.new)\n", "x = 1\n"),
        ("    rooms =", "    y ="),
        ("    x = 1\n", ""),
        (
            "new=Event.reason)",
            "new=Event.reason)\n    z = history(title, Event, old=Event.old, new=Event.new)",
        ),
    ],
    "what is not stored": [
        ("price: Attr[Decimal] = attr(", "price: Attr[Decimal] = attr(doc='cents', "),
        ("order_id: Attr[str] = attr(", "order_id: Attr[str] = attr(immutable=True, "),
        ('name="shop"', "name=\"shop\", deletion_protection=True, tags={'a': 'b'}"),
        ("set[str]", "frozenset[str]"),
        ("default_factory=set", "default_factory=frozenset"),
        ('renamed_from=("R", "A")', 'renamed_from=("A", "R"), renamed_when=lambda item: True'),
        ('renamed_from=("old_title", "name")', 'renamed_from=("name", "old_title")'),
        ("Attr[Decimal] =", "Attr[__import__('typing').Annotated[Decimal, Field(ge=0)]] ="),
    ],
}

#: Changes of the source after which other items are stored, or stored items are read differently.
OTHER = {
    "name of the table": [('name="shop"', 'name="store"')],
    "partition key": [('pk="PK"', 'pk="pk"')],
    "sort key": [('sk="SK"', 'sk="sk"')],
    "type attribute": [('type_attribute="type"', 'type_attribute="kind_of"')],
    "type form": [("stream=", 'type_form="list", stream=')],
    "stream": [("NEW_IMAGE", "NEW_AND_OLD_IMAGES")],
    "delimiter": [("stream=", 'delimiter=":", stream='), ("C#{", "C:{")],
    "escape": [("stream=", "escape=False, stream=")],
    "index name": [('name="second"', 'name="third"')],
    "projection": [('("total", "note")', '"KEYS_ONLY"')],
    "projected attributes": [('("total", "note")', '("total", "id")')],
    "index key": [('"GSI3SK"', '"GSI3S"')],
    "local index": [('LSI("LSK")', 'LSI("LSK2")')],
    "unused index": [("    local =", '    more = GSI("X")\n    local =')],
    "composite key": [
        ('("country", "town"), ', '("town", "country"), '),
        ("(country, town)", "(town, country)"),
    ],
    "tenant": [("filtered=(gsi1,)", "filtered=()")],
    "tenant's partitions": [("write=", 'shared=("S",), write=')],
    "type name": [('type_name="Order"', 'type_name="order"')],
    "stored name": [('attr(name="id")', 'attr(name="orderId")')],
    "type": [("price: Attr[Decimal]", "price: Attr[float]"), ('Decimal("1.5")', "1.5")],
    "required": [("size: Attr[int] = attr()", "size: Attr[int] = attr(default=0)")],
    "optional": [("size: Attr[int]", "size: Attr[int | None]")],
    "default": [('Decimal("1.5")', 'Decimal("2")')],
    "default that is computed": [("default_factory=uuid4", "default=UUID(int=0)")],
    "None beside a default": [("memo: Attr[str | None]", "memo: Attr[str]")],
    "choice added": [('Literal["a", "b"]', 'Literal["a", "b", "c"]')],
    "member added": [('"slow"', '"slow"\n    LATE = "late"')],
    "value of a member": [('"slow"', '"delayed"')],
    "set": [("set[str]", "set[int]")],
    "field of a model": [("place: Place | None = None", "spot: Place | None = None")],
    "alias of a field": [("e-mail", "mail")],
    "field of a dataclass": [('    zip: str = ""', '    zip: str = ""\n    street: str = ""')],
    "default of a field": [('zip: str = ""', 'zip: str = "0"')],
    "required field": [('    zip: str = ""', "    zip: str")],
    "type of a field": [("    city: str", "    city: int")],
    "literal": [('"PARCEL" / parcel_id', '"PARCELS" / parcel_id')],
    "parts of the key": [('"PARCEL" / parcel_id', '"PARCEL" / parcel_id / email')],
    "joined without a delimiter": [('"C" / customer, "P', '"C#" + customer / "X", "P')],
    "pad": [("pad=6", "pad=7")],
    "type in a key only": [("bin: Attr[str | None]", "bin: Attr[date | None]")],
    "key only": [("attr(key_only=True, default=None)", "attr(default=None)")],
    "delimiter of one key": [('"PARCEL" / parcel_id)', '"PARCEL" / parcel_id, delimiter="~")')],
    "format": [("day(placed)", "hour(placed)")],
    "case": [("lower(email)", "casefold(email)")],
    "shards": [("of=8", "of=9")],
    "descending": [("descending(epoch_seconds(placed))", "epoch_seconds(placed)")],
    "precision": [("epoch_seconds", "epoch_millis")],
    "codec": [("class Host", "class Host2"), ("Host()", "Host2()")],
    "number": [("number(total)", "total")],
    "path": [("lambda c: c.mail", "lambda c: c.place.city")],
    "when": [("when=status == Status.OPEN", "when=status != Status.DONE")],
    "value of when": [("total > 5", "total > 6")],
    "no when": [(", when=status == Status.OPEN", ", when=(status == Status.OPEN) & (total > 0)")],
    "place removed": [
        ("    in_region = index(Shop.region, (country, town), (status, placed))\n", "")
    ],
    "unique removed": [
        (
            '    by_email = unique("EMAIL" / email, type_name="Email", '
            "keep=(customer, parcel_id))\n",
            "",
        )
    ],
    "unique key": [('unique("EMAIL"', 'unique("MAIL"')],
    "sort key of the unique": [('unique("EMAIL" / email', 'unique("EMAIL" / email, "X"')],
    "type of the unique": [('type_name="Email"', 'type_name="email"')],
    "contents of the unique": [("keep=(customer, parcel_id)", "keep=(customer, parcel_id, town)")],
    "version": [("= version()", "= attr(default=0)")],
    "no version": [("    version: Attr[int] = version()\n", "")],
    "time of creation": [("= created_at()", "= attr(default=datetime(1970, 1, 1, tzinfo=UTC))")],
    "time of the last write": [
        ("= updated_at()", "= created_at()"),
        ("created: Attr[datetime] = created_at()", "created: Attr[datetime] = updated_at()"),
    ],
    "ttl": [("= ttl(default=None)", "= attr(default=None)")],
    "name of ttl": [("= ttl(default=None)", '= ttl(default=None, name="ttl")')],
    "history": [("    changes = history(title, Event, old=Event.old, new=Event.new)\n", "")],
    "pad of the event's key": [("pad=5", "pad=6")],
    "attribute of the history": [
        (
            "history(title, Event, old=Event.old, new=Event.new",
            "history(room, Event, old=Event.old, new=Event.new",
        )
    ],
    "sources of the history": [("old=Event.old, new=Event.new", "old=Event.new, new=Event.old")],
    "always": [("new=Event.new)", "new=Event.new, always=True)")],
    "type of a variant": [('type_name="person"', 'type_name="human"')],
    "variant added": [("class Company(", "class Robot(Account):\n    pass\n\nclass Company(")],
    "attribute of a variant": [("    team: Attr[str | None]", "    club: Attr[str | None]")],
    "attribute of the base": [
        (
            "    name: Attr[str] = attr()\n    primary",
            "    name: Attr[str] = attr(name='n')\n    primary",
        )
    ],
    "renamed from": [('attr(name="id")', 'attr(name="id", renamed_from="order")')],
    "type renamed from": [('type_name="person"', 'type_name="person", renamed_from="P"')],
    "types merged": [('renamed_from=("R", "A")', 'renamed_from=("R", "B")')],
    "attributes merged": [('("old_title", "name")', '("old_title", "label")')],
}


def changed(source: str, changes: list[tuple[str, str]]) -> str:
    for before, after in changes:
        assert before in source, before
        source = source.replace(before, after)
    return source


@cache
def described(*parts: str) -> DesignDescription:
    return describe("".join(PARTS[part] for part in parts))


def parts_with(changes: list[tuple[str, str]]) -> list[str]:
    """Return the first part of the design, and those that changes concern: loading takes time."""
    texts = [before for before, _ in changes]
    found = [part for part, text in PARTS.items() if any(each in text for each in texts)]
    return list(dict.fromkeys(["table", *found]))


@pytest.mark.parametrize("what", SAME)
def test_a_description_does_not_depend_on(what: str) -> None:
    same = describe(changed(DESIGN, SAME[what]))
    assert write_lock(same) == write_lock(described(*PARTS))


@pytest.mark.parametrize("what", OTHER)
def test_a_description_contains(what: str) -> None:
    parts = parts_with(OTHER[what])
    other = describe(changed("".join(PARTS[part] for part in parts), OTHER[what]))
    assert other != described(*parts)
    assert write_lock(other) != write_lock(described(*parts))


def test_a_natural_key_is_described_with_its_type() -> None:
    source = """
        class Scores(Table, name="scores", pk="id", sk=None, type_attribute=None):
            pass
        class Player(Entity, table=Scores):
            id: Attr[TYPE] = attr()
            primary = key(id)
    """
    texts = {kind: describe(source.replace("TYPE", kind)) for kind in ("str", "int", "bytes")}
    types = [each.tables["scores"].keys.partition[0] for each in texts.values()]
    assert types == [("id", "S"), ("id", "N"), ("id", "B")]


def test_attributes_that_are_only_in_indexes_have_one_number_in_all_keys() -> None:
    source = """
        class Parts(Table, name="parts"):
            gsi1 = GSI("A", "B")
            gsi2 = GSI("C", "D")
        class Part(Entity, table=Parts):
            id: Attr[str] = attr()
            x: Attr[str | None] = attr(key_only=True, default=None)
            y: Attr[str | None] = attr(key_only=True, default=None)
            primary = key("PART" / id, "PART")
            one = index(Parts.gsi1, "X" / x, "Y" / y)
            two = index(Parts.gsi2, "SECOND" / FIRST, "PART")
    """
    both = [describe(source.replace("FIRST", name)) for name in ("x", "y")]
    places = [each.tables["parts"].entities["Part"].places["gsi2"][0] for each in both]  # type: ignore[index]
    assert [show_key(each) for each in places] == ["C=SECOND#{1}, D=PART", "C=SECOND#{2}, D=PART"]


@pytest.mark.parametrize("name", BUNDLED)
def test_a_lock_is_read_and_written_unchanged(name: str) -> None:
    description = describe_design(*load(name).tables)
    text = write_lock(description)
    assert read_lock(text.encode(), "lock") == description
    assert write_lock(read_lock(text.encode(), "lock")) == text


def test_a_lock_of_every_option_is_read_and_written_unchanged() -> None:
    text = write_lock(described(*PARTS))
    assert read_lock(text.encode(), "lock") == described(*PARTS)
    assert write_lock(read_lock(text.encode(), "lock")) == text


@pytest.mark.slow
def test_a_lock_is_the_same_in_every_process() -> None:
    program = (
        "from tests.test_design_description import DESIGN, describe, write_lock;"
        "print(write_lock(describe(DESIGN)))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
    assert "Email" in texts.pop()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"[]", "is not a lock file"),
        (b"{", "is not a lock file"),
        (b'{"tables": {}}', "missing required field `format`"),
        (b'{"format": 99, "tables": {}, "more": 1}', "its format is 99"),
        (b'{"format": 1, "tables": {}, "more": 1}', "unknown field `more`"),
        (b'{"format": 1, "tables": {"a": {"keys": {"partition": []}, "x": 1}}}', "field `x`"),
    ],
)
def test_another_file_is_refused(text: bytes, problem: str) -> None:
    with pytest.raises(LockRefused, match=problem):
        read_lock(text, "tablewright.lock")


def test_the_structure_of_a_table_is_the_same_after_a_description() -> None:
    table = described(*PARTS).tables["shop"]
    again = TableDesign.of(table.structure("shop"))
    assert (again.keys, again.indexes, again.ttl, again.stream) == (
        table.keys, table.indexes, table.ttl, table.stream,
    )  # fmt: skip
    assert again.entities is None


def test_a_condition_is_described_with_stored_names_and_values() -> None:
    entities = described("table", "keys").tables["shop"].entities
    assert entities is not None
    done, opened = entities["Parcel"].places["gsi1"]
    assert show_key(done) == (
        "GSI1PK=DONE#{lower(email)}, GSI1SK={id} when NOT (attribute_exists(note)) "
        "AND status = 'done' AND total > 5"
    )
    assert show_key(opened).endswith("{padded(total, 6)} when status = 'open'")
