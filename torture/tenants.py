"""Promise: a database scoped to a tenant reads and changes items of that tenant only, whatever the
ids of tenants are, and can access all of them.

Method: tables with a composed partition key, with many partitions of a tenant by their prefix, and
with natural keys (text, number, binary), hold items of tenants whose ids are hostile: delimiters,
escapes, prefixes and renderings of each other, numbers that look alike, bytes, and normal forms of
Unicode. Each tenant's scoped database then runs random plans and raw requests, half of them aimed
at another tenant. An item belongs to the tenant in its attribute `owner`; what the engine stores is
compared with a model after every request.

Limits: one process; the text of refusals is not compared.
"""

# No `from __future__ import annotations`: the type of `owner` is an argument.

import json
import random
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    Tenancy,
    attr,
    batch_get,
    batch_write,
    connect,
    delete,
    index,
    key,
    put,
)
from tablewright.database import Database
from tablewright.engine import Engine
from tablewright.errors import TablewrightError, TenantViolation
from tablewright.plan.plan import Context, Request, Steps
from tablewright.plans import Plan
from torture.run import Part, Round

#: Reads that name no tenant: each finds the items of the tenant whose database it is.
UNNAMED = ("filtered index", "index of several attributes")
ACTIONS = 60
TENANTS = 6
ITEMS = 3

TEXTS = (
    *("a", "a$", "a$$", "$", "$$", "$!", "#", "x#y", "x$!y", "a#", "a#P", "T#a", "aa", "A", " a"),
    *("a ", "\0", "{owner}", "{'N': '7'}", '{"S": "a"}', "{'S': 'a'}", "7", "7.0", "07", "None"),
    *("*", "%s", "é", "e\u0301", "\ufb01", "fi", "\u212b", "\u00c5", "\U0001f372", "\uffff"),
)
NUMBERS = tuple(
    Decimal(text) for text in ("7", "70", "0.7", "-7", "0", "1e20", "7e-20", "77", "1e-130", "1")
)
BINARIES = (b"7", b"a", b"a\0", b"\0", b"YQ==", b"a#", b"\xff", b"a$", b"aa", b"$!")


def similar(chance: random.Random, text: str) -> str:
    """Return a similar id, which a bug could confuse with the first."""
    return chance.choice(
        (
            text.replace("$", "$$").replace("#", "$!"),
            text.replace("$!", "#").replace("$$", "$"),
            unicodedata.normalize("NFC", text),
            unicodedata.normalize("NFD", text),
            unicodedata.normalize("NFKC", text),
            str({"S": text}),
            json.dumps({"S": text}),
            f"{text}#P",
            f"{text}$",
            f"T#{text}",
            text.swapcase(),
        )
    )


@dataclass(frozen=True)
class World:
    """A table, its entity, and the ids of its tenants."""

    table: Any
    thing: Any
    ids: tuple[Any, ...]
    #: A tenant has a partition for each thing, by their prefix.
    by_prefix: bool = False

    def tenants(self, chance: random.Random) -> list[Any]:
        """Return different ids, many of them similar to another one."""
        found = chance.sample(self.ids, TENANTS)
        if isinstance(found[0], str):
            found += [similar(chance, text) for text in found]
        if not self.table.__table__.delimiter.escapes:  # ids with the delimiter are refused
            found = [text for text in found if "#" not in text]
        return sorted(set(found), key=repr)


def declare(
    name: str,
    kind: Any,
    ids: tuple[Any, ...],
    *,
    composed: bool,
    by_prefix: bool = False,
    escape: bool = True,
) -> World:
    """Declare a table: the partition of a thing is `T#{owner}`, its id, or `T#{owner}#{number}`."""
    shards = ("T#{owner}", "T#{owner}#*") if by_prefix else ("T#{owner}",)
    partition = "PK" if composed else "owner"

    class Home(Table, name=name, pk=partition, sk="SK", type_attribute="tp", escape=escape):
        by_state = GSI("GSI1PK", "GSI1SK")
        by_region = GSI(("region", "state"), ("number", "text"))
        tenancy = Tenancy(
            "owner", write=shards if composed else ("{owner}",), filtered=(by_state, by_region)
        )

    def home(owner: Any, number: Any) -> Any:
        if not composed:
            return owner
        return "T" / owner / number if by_prefix else "T" / owner

    class Thing(Entity, table=Home):
        owner: Attr[kind] = attr()
        number: Attr[int] = attr(pad=3)
        text: Attr[str] = attr(default="-")
        region: Attr[str] = attr(default="eu")
        state: Attr[str] = attr(default="open")
        primary = key(home(owner, number), "N" / number.again if by_prefix else "N" / number)
        by_state = index(Home.by_state, "STATE", number)
        by_region = index(Home.by_region, (region, state), (number, text))

    return World(Home, Thing, ids, by_prefix)


WORLDS = (
    declare("composed", str, TEXTS, composed=True),
    declare("prefixes", str, TEXTS, composed=True, by_prefix=True),
    declare("unescaped", str, TEXTS, composed=True, by_prefix=True, escape=False),
    declare("text", str, TEXTS, composed=False),
    declare("number", Decimal, NUMBERS, composed=False),
    declare("binary", bytes, BINARIES, composed=False),
)


class Raw(Plan[bytes]):
    """A plan that sends a given request."""

    def __init__(self, operation: str, body: dict[str, Any]) -> None:
        self.operation = operation
        self.body = body

    def _steps(self, context: Context) -> "Steps[bytes]":
        return (yield Request(self.operation, self.body))


def play(attack: Round) -> None:
    """Let the tenants of a table access their own items and those of others."""
    world = WORLDS[attack.seed % len(WORLDS)]
    with Engine(":memory:") as engine, connect(engine, world.table) as db:
        tenants = world.tenants(attack.chance)
        for owner in tenants:
            for number in range(ITEMS):
                db.run(put(world.thing(owner=owner, number=number)))
        for _ in range(ACTIONS):
            actor, target = attack.chance.choice(tenants), attack.chance.choice(tenants)
            if attack.chance.random() < 0.5:
                target = actor
            act(attack, world, engine, db, actor, target)
        attack.expect(engine.check(), "check() finds problems")


def stored(world: World, engine: Engine) -> dict[str, dict[str, Any]]:
    """Return all items by their keys."""
    found = engine.call("Scan", {"TableName": world.table.__table__.name})["Items"]
    partition = world.table.__table__.attributes[0]
    return {f"{item[partition]}/{item['SK']}": item for item in found}


def act(attack: Round, world: World, engine: Engine, db: Database, actor: Any, target: Any) -> None:
    """Run one plan of a tenant; it may access its own items, and must not access others."""
    chance, thing = attack.chance, world.thing
    own = actor == target
    number = chance.randrange(ITEMS)
    text = str(chance.random())
    before = stored(world, engine)
    victim = theirs(before, world, target, number)
    partition = (target, number) if world.by_prefix else (target,)
    at = {name: victim[name] for name in world.table.__table__.attributes}
    table = world.table.__table__.name
    change = {"TableName": table, "Item": {**victim, "text": {"S": text}}}
    plans: dict[str, tuple[Any, bool]] = {  # by name: the plan, and whether it changes the item
        "get": (thing.primary(target, number), False),
        "query": (thing.primary.within(*partition), False),
        "batch_get": (batch_get([thing.primary(target, number)]), False),
        "put": (put(thing(owner=target, number=number, text=text)), True),
        "update": (thing.primary(target, number).update(thing.text.set(text)), True),
        "batch": (batch_write([put(thing(owner=target, number=number, text=text))]), True),
        "delete": (delete(thing(owner=target, number=number)), True),
        "raw GetItem": (Raw("GetItem", {"TableName": table, "Key": at}), False),
        "raw PutItem": (Raw("PutItem", change), True),
        "raw TransactWriteItems": (
            Raw("TransactWriteItems", {"TransactItems": [{"Put": change}]}),
            True,
        ),
        "filtered index": (thing.by_state(), False),
        "index of several attributes": (thing.by_region("eu", "open"), False),
        "scan": (thing.scan(reason="torture"), False),
    }
    name = chance.choice(sorted(plans))
    plan, changes = plans[name]
    what = f"{table}: a request for {'own' if own else 'foreign'} items"
    who = f"{name}, tenant {actor!r}, target {target!r}"
    attack.count("own" if own else "foreign")
    try:
        found = db.for_tenant(owner=actor).run(plan)
    except TenantViolation:
        attack.expect(name == "scan" or not (own or name in UNNAMED), f"{what} is refused", who)
        found = None
    except TablewrightError as error:
        attack.expect(not own, f"{what} raises {type(error).__name__}", f"{who}: {error}")
        found = None
    after = stored(world, engine)
    for place in before.keys() | after.keys():
        old, new = before.get(place), after.get(place)
        if old != new:
            changed = (old or new or {})["owner"]
            attack.expect(
                changed == theirs(before, world, actor, 0)["owner"],
                f"{what} changes an item of another tenant",
                f"{who}, owner {changed}",
            )
    if own and changes:
        attack.expect(before != after, f"{what} changes nothing", who)
    for entity in read(found):
        attack.expect(
            entity == actor, f"{what} reads an item of another tenant", f"{who}, owner {entity!r}"
        )
    if name == "raw GetItem" and found is not None:
        attack.expect(own, f"{what} is answered", f"{who}: {found[:80]!r}")
    if name == "delete":  # put it back, for the next plans
        db.run(put(thing(owner=target, number=number)))


def theirs(
    items: dict[str, dict[str, Any]], world: World, owner: Any, number: int
) -> dict[str, Any]:
    """Return the stored item of a tenant."""
    wanted = world.thing.__entity__.attributes["owner"].converter.encode(owner)
    sort = f"N#{number:03d}"
    return next(
        item for item in items.values() if item["owner"] == wanted and item["SK"]["S"] == sort
    )


def read(found: Any) -> list[Any]:
    """Return the tenants whose items a result contains."""
    if found is None or isinstance(found, bytes):
        return []
    entities = found if isinstance(found, Sequence) else [found]
    return [entity.owner for entity in entities if hasattr(entity, "owner")]


PART = Part(
    "tenants",
    "A scoped database reaches all items of its tenant and no other",
    "plans and raw requests of tenants with hostile ids",
    15,
    play,
)
