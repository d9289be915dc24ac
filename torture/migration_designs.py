"""Pairs of small designs: an old and a new version of one table, for each kind of change.

Programs of both versions work with the same records: dicts of plain values, by names that no
version changes. A `Side` translates records into entities of its version, and back.
"""

from __future__ import annotations

import types
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, TypeAlias

from tablewright import (
    GSI,
    Attr,
    Entity,
    Table,
    WriteOnce,
    attr,
    created_at,
    history,
    index,
    key,
    ttl,
    unique,
    updated_at,
    version,
)
from tablewright.formats import compressed, lower, shard, text, upper

#: Plain values by the names of the harness: "tid", "state", "n", "email", "note".
Record: TypeAlias = dict[str, Any]

#: What a lookup of all things finds them by.
ALL = ""
#: Long after every run, so that nothing expires.
EXPIRY = datetime(2099, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Lookup:
    """A place in an index: which records a query by an attribute must return."""

    place: str
    by: str
    holds: Callable[[Record], bool] = lambda record: True


@dataclass(frozen=True)
class Side:
    """One version of the design."""

    table: Any
    entity: Any
    #: The attributes of the entity, by their names in records.
    names: Mapping[str, str]
    lookups: tuple[Lookup, ...] = ()
    #: The unique values, by the name of the attribute in records.
    uniques: Mapping[str, str] = field(default_factory=dict)
    #: What a record has if its value was never written: as `fill=` computes it.
    filled: Mapping[str, Callable[[Record], Any]] = field(default_factory=dict)
    #: How a value of a record is written and read, where it is not the same.
    codecs: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = field(
        default_factory=dict
    )
    #: Attributes that this version may read as filled by the other one.
    lenient: frozenset[str] = frozenset()
    #: Stored attributes that depend on the number and the time of writes.
    volatile: frozenset[str] = frozenset()
    event: Any = None
    other: Any = None
    #: The variants of the entity: of things with even and with odd ids.
    variants: tuple[Any, ...] = ()
    #: Whether things have the attribute `group`, and whether their primary keys begin with it.
    has_groups: bool = False
    is_keyed_by_group: bool = False
    #: The places whose partitions are divided into shards: lookups read all of them.
    sharded: frozenset[str] = frozenset()
    #: The number of shards of the primary keys; 0: they are in none.
    shards: int = 0

    def primary(self, tid: str) -> Any:
        """Return the plan that gets a thing."""
        if self.shards:
            return self.entity.primary(zlib.crc32(tid.encode()) % self.shards, tid)
        arguments = (group(tid), tid) if self.is_keyed_by_group else (tid,)
        return self.entity.primary(*arguments)

    def find(self, place: str, value: Any) -> Any:
        """Return the query of a place in an index, or of the things of a group, or of all."""
        if place in self.sharded:
            arguments = () if place == "primary" else (value,)
            return getattr(self.entity, place).all_shards(*arguments)
        if place == "primary":
            return self.entity.primary.within(value)
        return getattr(self.entity, place)(value)

    def looked_up(self, record: Record, by: str) -> Any:
        """Return the value by which a lookup finds a record."""
        if by == "all":
            return ALL
        return group(record["tid"]) if by == "group" else self.expected(record)[by]

    def knows(self, tid: str) -> bool:
        """Return whether the version has the entity of an id."""
        return tid.startswith("t") or self.other is not None

    def expected(self, record: Record) -> Record:
        """Return what this version reads of a record."""
        return {
            name: record[name] if name in record else self._fill(name, record)
            for name in ("tid", *self.names)
        }

    def _fill(self, name: str, record: Record) -> Any:
        return self.filled[name](record) if name in self.filled else None

    def accepts(self, seen: Record, record: Record) -> bool:
        """Return whether a record can be read as `seen`."""
        wanted = self.expected(record)
        return all(
            seen[name] == wanted[name] or (name in self.lenient and name not in record)
            for name in wanted
        )

    def make(self, record: Record) -> Any:
        """Return the entity of a record."""
        values = {
            self.names[name]: self.codecs[name][0](value) if name in self.codecs else value
            for name, value in record.items()
            if name in self.names
        }
        if self.has_groups:
            values["group"] = group(record["tid"])
        is_odd = not is_even(record)
        entity = self.variants[is_odd] if self.variants else self.entity
        return entity(tid=record["tid"], **values)

    def change(self, name: str, value: Any) -> Any:
        """Return the change that sets an attribute."""
        stored = self.codecs[name][0](value) if name in self.codecs else value
        return getattr(self.entity, self.names[name]).set(stored)

    def seen(self, entity: Any) -> Record:
        """Return an entity that was read as a record."""
        read = {name: getattr(entity, attribute) for name, attribute in self.names.items()}
        return {"tid": entity.tid} | {
            name: self.codecs[name][1](value) if name in self.codecs else value
            for name, value in read.items()
        }


@dataclass(frozen=True)
class Pair:
    """The old and the new version."""

    name: str
    old: Side
    new: Side
    #: The places that the new version cannot read before all items are rewritten.
    unready: frozenset[str] = frozenset()
    #: Whether an item is carried over that an old program writes after it should have ended.
    allows_stragglers: bool = True
    #: Whether programs of the new version run before, during and after `apply`.
    never_pauses: bool = False

    @cached_property
    def differing(self) -> frozenset[str]:
        """The attributes that the versions store in another way, by their names in records."""
        sides = self.old, self.new
        names = {name for side in sides for name in side.names}
        return frozenset(
            name
            for name in names
            if self.old.names.get(name) != self.new.names.get(name)
            or any(name in side.filled or name in side.codecs for side in sides)
        )


Attributes: TypeAlias = dict[str, tuple[Any, Any]]
Parts: TypeAlias = Callable[[Any, Any], dict[str, Any]]


def side(
    attributes: Attributes,
    parts: Parts = lambda table, a: {},
    *,
    indexes: int | Mapping[int, Any] = 1,
    names: Mapping[str, str] | None = None,
    type_name: str = "Thing",
    renamed_from: str | tuple[str, ...] = "",
    has_variants: bool = False,
    has_events: bool = False,
    has_other: bool = False,
    stream: Any = None,
    primary: Callable[[Any], Any] | None = None,
    **rest: Any,
) -> Side:
    """Declare a version: a table with an entity of these attributes, or with its two variants.

    `indexes` are the first ones with all attributes, or the projections of some by their numbers.
    """
    projections: Mapping[int, Any] = (
        dict.fromkeys(range(1, indexes + 1), "ALL") if isinstance(indexes, int) else indexes
    )
    globals_ = {
        f"gsi{n}": GSI(f"G{n}PK", f"G{n}SK", project=project) for n, project in projections.items()
    }
    options = {"name": "things"} | ({} if stream is None else {"stream": stream})
    table = types.new_class("Things", (Table,), options, lambda body: body.update(globals_))
    event = _event(table) if has_events else None
    declared = {"tid": (str, attr())} | attributes
    handles = SimpleNamespace(**{name: value for name, (_, value) in declared.items()}, event=event)

    def fill(body: dict[str, Any]) -> None:
        generic: Any = Attr
        body["__annotations__"] = {name: generic[kind] for name, (kind, _) in declared.items()}
        body.update({name: value for name, (_, value) in declared.items()})
        body["primary"] = (primary or _usual_key)(handles)
        body.update(parts(table, handles))

    arguments = {"table": table} | (
        {"variants": True} if has_variants else {"renamed_from": renamed_from}
    )
    entity = types.new_class(type_name, (Entity,), arguments, fill)
    if has_variants:
        rest["variants"] = tuple(
            types.new_class(name, (entity,), {"renamed_from": renamed_from, "renamed_when": rule})
            for name, rule in (("Even", is_even), ("Odd", lambda item: not is_even(item)))
        )
    plain = {
        name: name for name, (_, value) in attributes.items() if not value.role and name != "group"
    }
    other = _other(table) if has_other else None
    return Side(table, entity, names or plain, event=event, other=other, **rest)


def _usual_key(a: Any) -> Any:
    return key("THING" / a.tid, "THING")


def group(tid: str) -> str:
    """Return the group of a thing: half of them are in each."""
    return "gh"[ord(tid[-1]) % 2]


def is_even(record: Record) -> bool:
    """Return which variant a thing is of, by its id: that of a record, or of a stored item."""
    return record["tid"][-1] in "02468"


def _event(table: type[Table]) -> Any:
    tid, number, state = attr(), attr(pad=6), attr()

    def fill(body: dict[str, Any]) -> None:
        body["__annotations__"] = {"tid": Attr[str], "number": Attr[int], "state": Attr[str]}
        body.update(tid=tid, number=number, state=state)
        body["primary"] = key("THING" / tid, "EVENT" / number)

    return types.new_class("Event", (WriteOnce,), {"table": table}, fill)


def _other(table: type[Table]) -> Any:
    oid = attr()

    def fill(body: dict[str, Any]) -> None:
        body["__annotations__"] = {"oid": Attr[str]}
        body.update(oid=oid, primary=key("OTHER" / oid, "OTHER"), u=unique("OTHERU" / oid))

    return types.new_class("Other", (Entity,), {"table": table}, fill)


# -- the versions ----------------------------------------------------------------------------------


def base(**more: Any) -> Attributes:
    """Return new attributes: those that nearly every version has."""
    return {"state": (str, attr()), "n": (int, attr(pad=3)), "email": (str, attr())} | more


def by_state(table: Any, a: Any) -> dict[str, Any]:
    return {"by_state": index(table.gsi1, "S" / a.state, a.n)}


def by_state_and_email(table: Any, a: Any) -> dict[str, Any]:
    return {"by_state": index(table.gsi1, "S" / a.state, a.email)}


STATE = (Lookup("by_state", "state"),)


def with_unique(table: Any, a: Any) -> dict[str, Any]:
    return by_state(table, a) | {"mail": unique("MAIL" / a.email)}


def optional() -> tuple[Any, Any]:
    return str | None, attr(default=None)


def plain(**rest: Any) -> Side:
    return side(base(), by_state, lookups=STATE, **rest)


def reserved(**rest: Any) -> Side:
    return side(base(), with_unique, lookups=STATE, uniques={"email": "mail"}, **rest)


def versioned(parts: Parts = by_state, **rest: Any) -> Side:
    attributes = base(v=(int, version()))
    return side(attributes, parts, lookups=STATE, volatile=frozenset({"v"}), **rest)


def with_roles(
    version_name: str, created: str, updated: str, *, former: tuple[str, ...] = ("", "", "")
) -> Side:
    """Return a version with the attributes that the library writes, under these names."""
    names = version_name, created, updated
    declared = {
        version_name: (int, version(renamed_from=former[0])),
        created: (datetime, created_at(renamed_from=former[1])),
        updated: (datetime, updated_at(renamed_from=former[2])),
    }
    return side(base(**declared), by_state, lookups=STATE, volatile=frozenset({*names, *former}))


def with_history() -> Side:
    return versioned(_history, has_events=True)


def _history(table: Any, a: Any, literal: str = "S") -> dict[str, Any]:
    events = history(a.state, a.event, new=a.event.state, version=a.event.number)
    return {"by_state": index(table.gsi1, literal / a.state, a.n), "states": events}


def pairs() -> list[Pair]:
    """Return a pair for each kind of change that a migration carries out."""
    two_places = (*STATE, Lookup("by_email", "email"))
    by_email_only, by_state_only = frozenset({"by_email"}), frozenset({"by_state"})

    def by_email(table: Any, a: Any) -> dict[str, Any]:
        return by_state(table, a) | {"by_email": index(table.gsi2, "E" / a.email, a.n)}

    def longer_literal(table: Any, a: Any) -> dict[str, Any]:
        return {"by_state": index(table.gsi1, "STATE" / a.state, a.n)}

    def when_open(table: Any, a: Any) -> dict[str, Any]:
        return {"by_state": index(table.gsi1, "S" / a.state, a.n, when=a.state != "c")}

    def lower_state(table: Any, a: Any) -> dict[str, Any]:
        return {"by_state": index(table.gsi1, "S" / lower(a.state), a.n)}

    def other_delimiter(table: Any, a: Any) -> dict[str, Any]:
        return {"by_state": index(table.gsi1, "S" / a.state, a.n, delimiter="|")}

    def renamed(table: Any, a: Any) -> dict[str, Any]:
        return {
            "by_state": index(table.gsi1, "S" / a.status, a.n),
            "mail": unique("MAIL" / a.address),
        }

    def renamed_state(table: Any, a: Any) -> dict[str, Any]:
        return {
            "by_state": index(table.gsi1, "S" / a.status, a.n),
            "mail": unique("MAIL" / a.email),
        }

    def other_mail(table: Any, a: Any) -> dict[str, Any]:
        return by_state(table, a) | {"mail": unique("EMAIL" / a.email)}

    def lower_mail(table: Any, a: Any) -> dict[str, Any]:
        return by_state(table, a) | {"mail": unique("MAIL" / lower(a.email))}

    def keeping_mail(table: Any, a: Any) -> dict[str, Any]:
        return by_state(table, a) | {"mail": unique("MAIL" / a.email, keep=(a.tid, a.state))}

    def by_email_twice(table: Any, a: Any) -> dict[str, Any]:
        return by_email(table, a) | {"by_mail": index(table.gsi3, "M" / a.email, a.state)}

    def in_second(table: Any, a: Any) -> dict[str, Any]:
        return {"by_state": index(table.gsi2, "S" / a.state, a.email)}

    three_places = (*two_places, Lookup("by_mail", "email"))
    not_c = (Lookup("by_state", "state", lambda record: record["state"] != "c"),)
    new_names = {"state": "status", "n": "n", "email": "address"}
    return [
        Pair(
            "index added",
            plain(),
            side(base(), by_email, indexes=2, lookups=two_places),
            unready=by_email_only,
        ),
        Pair("index removed", side(base(), by_email, indexes=2, lookups=two_places), plain()),
        Pair(
            "place added",
            plain(indexes=2),
            side(base(), by_email, indexes=2, lookups=two_places),
            unready=by_email_only,
        ),
        Pair(
            "place removed",
            side(base(), by_email, indexes=2, lookups=two_places),
            plain(indexes=2),
        ),
        Pair(
            "indexes added",
            plain(),
            side(base(), by_email_twice, indexes=3, lookups=three_places),
            unready=frozenset({"by_email", "by_mail"}),
        ),
        Pair(
            "indexes removed",
            side(base(), by_email_twice, indexes=3, lookups=three_places),
            plain(),
        ),
        Pair(
            "index replaced",
            plain(),
            side(base(), in_second, indexes={2: "ALL"}, lookups=STATE),
            unready=by_state_only,
        ),
        Pair(
            "projection changed",
            plain(),
            side(
                base(),
                in_second,
                indexes={2: ("type", "tid", "state", "n", "email")},
                lookups=STATE,
            ),
            unready=by_state_only,
        ),
        Pair("index key changed", plain(), side(base(), by_state_and_email, lookups=STATE)),
        Pair("index literal changed", plain(), side(base(), longer_literal, lookups=STATE)),
        Pair(
            "index format changed",
            plain(),
            side(base(), lower_state, lookups=STATE),
            unready=by_state_only,
        ),
        Pair(
            "index shards added",
            in_shards_of_state(2),
            in_shards_of_state(3),
            unready=by_state_only,
        ),
        Pair(
            "index shards removed",
            in_shards_of_state(3),
            in_shards_of_state(2),
            unready=by_state_only,
        ),
        Pair("pad changed", plain(), side(base(n=(int, attr(pad=5))), by_state, lookups=STATE)),
        Pair("when added", plain(), side(base(), when_open, lookups=not_c)),
        Pair(
            "when removed",
            side(base(), when_open, lookups=not_c),
            plain(),
            unready=by_state_only,
        ),
        Pair("delimiter changed", plain(), side(base(), other_delimiter, lookups=STATE)),
        Pair(
            "attributes renamed",
            reserved(),
            side(
                {
                    "status": (str, attr(renamed_from="state")),
                    "n": (int, attr(pad=3)),
                    "address": (str, attr(renamed_from="email")),
                },
                renamed,
                names=new_names,
                lookups=STATE,
                uniques={"email": "mail"},
            ),
        ),
        Pair(
            "optional attribute renamed",
            side(base(note=optional()), by_state, lookups=STATE),
            side(
                base(remark=(str | None, attr(default=None, renamed_from="note"))),
                by_state,
                names={"state": "state", "n": "n", "email": "email", "note": "remark"},
                lookups=STATE,
            ),
        ),
        Pair(
            "attribute retyped",
            plain_numbers(int, lambda item: int(item["n"])),
            plain_numbers(str, lambda item: str(item["n"])),
        ),
        Pair(
            "codec changed",
            side(
                base(n=(int, attr()), note=(str, attr(codec=compressed()))),
                by_state_and_email,
                lookups=STATE,
            ),
            side(
                base(n=(int, attr(codec=text())), note=(str, attr())),
                by_state_and_email,
                lookups=STATE,
            ),
        ),
        Pair(
            "attribute made required",
            side(base(note=optional()), by_state, lookups=STATE, lenient=frozenset({"note"})),
            side(
                base(note=(str, attr(fill=lambda item: f"of {item['tid']}"))),
                by_state,
                lookups=STATE,
                filled={"note": lambda record: f"of {record['tid']}"},
            ),
        ),
        Pair(
            "required attribute added",
            plain(),
            side(
                base(note=(str, attr(fill="none"))),
                by_state,
                lookups=STATE,
                filled={"note": lambda record: "none"},
            ),
        ),
        Pair("attribute added", plain(), side(base(note=optional()), by_state, lookups=STATE)),
        Pair("attribute removed", side(base(note=optional()), by_state, lookups=STATE), plain()),
        Pair(
            "required attribute removed",
            side(
                base(note=(str, attr(fill="none"))),
                by_state,
                lookups=STATE,
                filled={"note": lambda record: "none"},
            ),
            plain(),
        ),
        Pair("entity renamed", reserved(), reserved(type_name="Item", renamed_from="Thing")),
        Pair(
            "entity split",
            reserved(),
            side(
                {
                    "status": (str, attr(renamed_from="state")),
                    "n": (int, attr(pad=5)),
                    "address": (str, attr(renamed_from="email")),
                },
                renamed,
                names=new_names,
                lookups=STATE,
                uniques={"email": "mail"},
                type_name="Anything",
                has_variants=True,
                renamed_from="Thing",
            ),
        ),
        Pair(
            "entities merged",
            # The old version says which of the things that the new one creates are whose.
            reserved(type_name="Anything", has_variants=True, renamed_from="Thing"),
            side(
                {
                    "status": (str, attr(renamed_from="state")),
                    "n": (int, attr(pad=5)),
                    "email": (str, attr()),
                },
                renamed_state,
                names={"state": "status", "n": "n", "email": "email"},
                lookups=STATE,
                uniques={"email": "mail"},
                renamed_from=("Even", "Odd"),
            ),
            # What an old program writes to an item of the new version has no former type.
            allows_stragglers=False,
        ),
        Pair("unique added", plain(), reserved()),
        Pair("unique removed", reserved(), plain()),
        Pair(
            "unique key changed",
            reserved(),
            side(base(), other_mail, lookups=STATE, uniques={"email": "mail"}),
        ),
        Pair(
            "unique format changed",
            reserved(),
            side(base(), lower_mail, lookups=STATE, uniques={"email": "mail"}),
        ),
        Pair(
            "unique contents changed",
            reserved(),
            side(base(), keeping_mail, lookups=STATE, uniques={"email": "mail"}),
        ),
        Pair("version added", plain(), versioned()),
        Pair(
            "stamps added",
            plain(),
            side(
                base(made=(datetime, created_at()), changed=(datetime, updated_at())),
                by_state,
                lookups=STATE,
                volatile=frozenset({"made", "changed"}),
            ),
        ),
        Pair("history added", versioned(), with_history()),
        Pair("history removed", with_history(), versioned()),
        Pair(
            "history kept",
            with_history(),
            side(
                {
                    "state": (str, attr()),
                    "n": (int, attr(pad=3)),
                    "address": (str, attr(renamed_from="email")),
                    "v": (int, version()),
                },
                partial(_history, literal="STATE"),
                names={"state": "state", "n": "n", "email": "address"},
                lookups=STATE,
                has_events=True,
                volatile=frozenset({"v"}),
            ),
        ),
        Pair(
            "ttl added",
            plain(),
            side(
                base(expires=(datetime | None, ttl(default=None))),
                by_state,
                lookups=STATE,
                names={"state": "state", "n": "n", "email": "email"},
            ),
        ),
        Pair(
            "roles renamed",
            with_roles("v", "made", "changed"),
            with_roles("w", "created", "updated", former=("v", "made", "changed")),
        ),
        Pair("entity removed", plain(has_other=True), plain()),
        Pair("entity added", plain(), plain(has_other=True)),
        Pair("stream added", plain(), side(base(), by_state, lookups=STATE, stream="KEYS_ONLY")),
        Pair(
            "several changes",
            side(
                base(note=optional()),
                with_unique,
                lookups=STATE,
                uniques={"email": "mail"},
                lenient=frozenset({"note"}),
            ),
            side(
                {
                    "status": (str, attr(renamed_from="state")),
                    "n": (int, attr(pad=5)),
                    "email": (str, attr()),
                    "note": (str, attr(fill=lambda item: f"of {item['tid']}")),
                },
                _several,
                indexes=2,
                type_name="Item",
                renamed_from="Thing",
                names={"state": "status", "n": "n", "email": "email", "note": "note"},
                lookups=two_places,
                uniques={"email": "mail"},
                filled={"note": lambda record: f"of {record['tid']}"},
            ),
            unready=by_email_only,
        ),
        *moved_pairs(),
    ]


def _key_of(literal: str, **options: Any) -> Callable[[Any], Any]:
    return lambda a: key(literal / a.tid, literal, **options)


def _key_in_group(partition: str, sort: str) -> Callable[[Any], Any]:
    return lambda a: key(partition / a.group, sort / a.tid)


def in_groups(
    partition: str,
    sort: str,
    attributes: Attributes | None = None,
    parts: Parts = by_state,
    *,
    fill: bool = False,
    **rest: Any,
) -> Side:
    """Return a version whose primary keys begin with the group of a thing."""
    value = attr(fill=lambda item: group(item["tid"])) if fill else attr()
    return side(
        (attributes or base()) | {"group": (str, value)},
        parts,
        primary=_key_in_group(partition, sort),
        has_groups=True,
        is_keyed_by_group=True,
        lookups=(*STATE, Lookup("primary", "group")),
        **rest,
    )


def in_shards(count: int) -> Side:
    """Return a version whose things are in this many shards."""
    return side(
        base(),
        by_state,
        primary=lambda a: key("SHARD" / shard(a.tid, of=count), "THING" / a.tid),
        sharded=frozenset({"primary"}),
        shards=count,
        lookups=(*STATE, Lookup("primary", "all")),
    )


def in_shards_of_state(count: int) -> Side:
    """Return a version whose things of a state are in this many shards of an index."""

    def parts(table: Any, a: Any) -> dict[str, Any]:
        return {"by_state": index(table.gsi1, "S" / a.state / shard(a.tid, of=count), a.n)}

    return side(base(), parts, sharded=frozenset({"by_state"}), lookups=STATE)


def moved_pairs() -> list[Pair]:
    """Return a pair for each way in which a primary key changes."""

    def moved(name: str, old: Side, new: Side, *unready: str, never_pauses: bool = True) -> Pair:
        places = frozenset(unready)
        return Pair(name, old, new, places, allows_stragglers=False, never_pauses=never_pauses)

    def with_events(table: Any, a: Any) -> dict[str, Any]:
        return _history(table, a) | {"mail": unique("MAIL" / a.email)}

    def busy(**rest: Any) -> Side:
        return side(
            base(v=(int, version())),
            with_events,
            lookups=STATE,
            has_events=True,
            uniques={"email": "mail"},
            volatile=frozenset({"v"}),
            **rest,
        )

    def renamed(table: Any, a: Any) -> dict[str, Any]:
        return {
            "by_state": index(table.gsi1, "STATE" / a.status, a.n),
            "mail": unique("MAIL" / a.email),
        }

    return [
        moved("primary literal changed", plain(), plain(primary=_key_of("ITEM"))),
        moved("primary delimiter changed", plain(), plain(primary=_key_of("THING", delimiter="|"))),
        moved(
            "primary format changed",
            plain(),
            plain(primary=lambda a: key("THING" / upper(a.tid), "THING")),
            never_pauses=False,
        ),
        moved("things with events moved", busy(), busy(primary=_key_of("ITEM"))),
        moved("group added to the key", plain(), in_groups("GROUP", "THING", fill=True), "primary"),
        moved(
            "group removed from the key",
            in_groups("GROUP", "THING"),
            side(base(group=(str, attr())), by_state, lookups=STATE, has_groups=True),
            never_pauses=False,
        ),
        moved("groups moved", in_groups("GROUP", "THING"), in_groups("TEAM", "ITEM")),
        moved("shards added", in_shards(2), in_shards(3), "primary"),
        moved("shards removed", in_shards(3), in_shards(2), "primary"),
        moved("shards introduced", plain(), in_shards(2), "primary"),
        moved("sort key changed", in_groups("GROUP", "THING"), in_groups("GROUP", "ITEM")),
        moved(
            "everything about the key",
            reserved(),
            in_groups(
                "TEAM",
                "ITEM",
                {
                    "status": (str, attr(renamed_from="state")),
                    "n": (int, attr(pad=5)),
                    "email": (str, attr()),
                },
                renamed,
                fill=True,
                names={"state": "status", "n": "n", "email": "email"},
                type_name="Item",
                renamed_from="Thing",
                uniques={"email": "mail"},
            ),
            "primary",
            never_pauses=False,
        ),
    ]


def plain_numbers(kind: Any, fill: Callable[[Any], Any]) -> Side:
    """Return a version whose numbers are of this type, which reads those of the other one."""
    return side(
        base(n=(kind, attr(fill=fill))),
        by_state_and_email,
        lookups=STATE,
        codecs={"n": (kind, int)},
    )


def _several(table: Any, a: Any) -> dict[str, Any]:
    return {
        "by_state": index(table.gsi1, "STATE" / a.status, a.n),
        "by_email": index(table.gsi2, "E" / a.email, a.n),
        "mail": unique("MAILBOX" / a.email),
    }
