"""Compile: make an `EntityMap` from a declaration, and check its keys against each other.

Every error of a declaration is found here and in `declaration`, when the class is defined. It
names the entity, the attribute and the fix.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.mapping.attributes import AttributeMap, HistoryMap, UniqueMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.paths import without_none
from tablewright.model.attribute import KeyPath, OptionalPiece, Piece, RepeatedPiece
from tablewright.model.attribute_map import former_names
from tablewright.model.declaration import EntityDeclaration
from tablewright.model.exclusion import refuse_shared_attributes
from tablewright.model.key import RECORDED, History, IndexPlace, PrimaryKey, Unique
from tablewright.model.table import LSI

_VERSIONS = ("version", "old_version")


def compile_entity(
    declared: EntityDeclaration,
    type_name: str,
    kind: type[EntityMap],
    *,
    is_write_once: bool,
    is_deletable: bool,
    renamed_from: str | tuple[str, ...],
    renamed_when: Callable[[dict[str, Any]], bool] | None,
) -> EntityMap:
    """Return the compiled entity; raise DeclarationError if its keys do not fit together."""
    primary = _primary(declared)
    indexes = tuple(
        _index(declared, name, value, primary) for name, value in declared.members_of(IndexPlace)
    )
    refuse_shared_attributes(declared, primary, indexes)
    uniques = tuple(
        _unique(declared, name, value, primary) for name, value in declared.members_of(Unique)
    )
    histories = tuple(
        _history(declared, name, value, primary) for name, value in declared.members_of(History)
    )
    entity = kind(
        owner=declared.owner,
        type_name=type_name,
        table=declared.table,
        attributes=declared.maps,
        primary=primary,
        indexes=indexes,
        uniques=uniques,
        histories=histories,
        is_write_once=is_write_once,
        is_deletable=is_deletable,
        renamed_from=_former_types(declared.name, type_name, renamed_from),
        renamed_when=renamed_when,
        inherits=_inherited(declared, (primary, *indexes, *(each.key for each in uniques))),
    )
    if is_write_once and histories:
        raise DeclarationError(
            f"{entity.name} is write-once, so its history has nothing to record; leave one of them "
            "out"
        )
    _check_ttl(entity)
    _check_key_only(entity)
    _check_split(entity)
    return entity


def _former_types(name: str, type_name: str, given: Any) -> tuple[str, ...]:
    """Return the names in `renamed_from=`; raise DeclarationError if they are no former types."""
    names = former_names(name, given)
    if type_name in names:
        raise DeclarationError(
            f"{name}: renamed_from= contains {type_name!r}, which is also the new type of its "
            "items; declare another type_name=…, because the type shows which items were rewritten"
        )
    return names


def _check_split(entity: EntityMap) -> None:
    """Raise DeclarationError if it is not declared which items of a split entity are whose."""
    rule = entity.renamed_when
    if rule is not None and not callable(rule):
        raise DeclarationError(
            f"{entity.name}: renamed_when={rule!r} is not a function; write a function of the "
            'stored item: renamed_when=lambda item: item["channel"] == "online"'
        )
    if rule is not None and not entity.renamed_from:
        raise DeclarationError(
            f"{entity.name}: renamed_when= is given without renamed_from=; name the former type of "
            "the items: renamed_from=…"
        )
    for other in entity.table.entities:
        shared = sorted({*entity.renamed_from} & {*other.renamed_from})
        if shared and None in (rule, other.renamed_when):
            raise DeclarationError(
                f"{entity.name} and {other.name} are both renamed from {shared[0]!r}; declare in "
                "both which of its items become theirs: "
                'renamed_when=lambda item: item["channel"] == "online"'
            )


def _inherited(declared: EntityDeclaration, keys: tuple[KeyMap, ...]) -> dict[KeyMap, KeyMap]:
    """Return the keys that a variant inherits, each with the key of the base."""
    if declared.base is None:
        return {}
    base = declared.base.owner.__entity__  # type: ignore[attr-defined]
    theirs = {each.name.partition(".")[2]: each for each in (*base.table_keys, *base.indexes)}
    names = [(each, each.name.partition(".")[2]) for each in keys]
    return {each: theirs[name] for each, name in names if name in theirs}


def _primary(declared: EntityDeclaration) -> KeyMap:
    found = declared.members_of(PrimaryKey)
    if len(found) != 1:
        raise DeclarationError(
            f"{declared.name} has {len(found) or 'no'} primary key{'s' * (len(found) > 1)}; "
            'write one: primary = key("…" / …, "…" / …)'
        )
    ((name, value),) = found
    primary = _table_key(declared, name, value.partition, value.sort, value.delimiter)
    for part in primary.parameters:
        if part.notation.can_be_none:
            raise DeclarationError(
                f"{primary.name}: {part.label} can be None, and a primary key needs every part; "
                "annotate it without None"
            )
    needed = {part.attribute for part in primary.parameters if not part.can_be_absent}
    for attribute in sorted(needed):
        if declared.maps[attribute].converter.optional:
            raise DeclarationError(
                f"{primary.name}: {attribute!r} is optional, but a primary key needs every part; "
                "annotate it without None"
            )
    return primary


def _table_key(
    declared: EntityDeclaration,
    name: str,
    partition: KeyPath[Any],
    sort: KeyPath[Any] | None,
    delimiter: str | None,
    when: Any = None,
) -> KeyMap:
    """Return the key of an entity, or of its sentinels, in the table."""
    first, second = declared.table.attributes
    return declared.key_map(
        name,
        ((first,), () if second is None else (second,)),
        (partition,),
        () if sort is None else (sort,),
        when=when,
        delimiter=delimiter,
    )


def _index(
    declared: EntityDeclaration, name: str, value: IndexPlace[Any, Any], primary: KeyMap
) -> KeyMap:
    table = declared.table
    index = table.indexes.get(str(value.index.name))
    if index is None or index != value.index.compile(table):
        raise DeclarationError(
            f"{declared.name}.{name}: {value.index.name!r} is not an index of {table.name}; it has "
            f"{', '.join(table.indexes) or 'none'}"
        )
    if isinstance(value.index, LSI) is not value.local:
        wanted = "index(…)" if value.local else "primary.local(…)"
        raise DeclarationError(
            f"{declared.name}.{name}: {index.name} is {index.kind}; write {wanted}"
        )
    if value.swapped and table.attributes[1] is None:
        raise DeclarationError(
            f"{declared.name}.{name}: {table.owner} has no sort key to swap; write index(…)"
        )
    sort = value.sort
    if index.sort == (table.type_attribute,):
        type_name = _type_name(declared)
        if sort and [path.pieces for path in sort] != [(type_name,)]:
            raise DeclarationError(
                f"{declared.name}.{name}: the sort key of {index.name} is the type, which is "
                f"{type_name!r} here; leave the second path out"
            )
        sort = (KeyPath((type_name,)),)
    _check_when(declared, f"{declared.name}.{name}", value.when)
    key = declared.key_map(
        name,
        (index.partition, index.sort),
        value.partition,
        sort,
        index=index,
        when=value.when,
        delimiter=value.delimiter,
    )
    if key.when is not None and not key.composed:
        raise DeclarationError(
            f"{key.name}: {index.name} has attributes of the item as its keys, so when= cannot "
            "keep the item out of it; compose a key"
        )
    for attribute, template in key.templates.items():
        if attribute in table.attributes:
            own = primary.partition if attribute == table.attributes[0] else primary.sort
            if own is None or own.show() != template.show():
                raise DeclarationError(
                    f"{key.name}: {attribute!r} is a key of the table, {own and own.show()}; an "
                    f"index cannot compose it as {template.show()}; write the same path"
                )
    return key


def _check_when(declared: EntityDeclaration, where: str, when: Any) -> None:
    """Raise DeclarationError unless the condition uses only attributes of this class."""
    for operand in [] if when is None else when.operands():
        if declared.attributes.get(operand.name) is not getattr(operand, "declared", operand):
            raise DeclarationError(
                f"{where}: when={when!r} uses an attribute that {declared.name} does not declare; "
                "use the attributes in the body of the class"
            )


def _type_name(declared: EntityDeclaration) -> str:
    return str(vars(declared.owner).get("__type_name__", declared.name))


def _unique(
    declared: EntityDeclaration, name: str, value: Unique[Any, Any], primary: KeyMap
) -> UniqueMap:
    sort = value.sort
    if sort is None and declared.table.attributes[1] is not None:
        sort = KeyPath(
            tuple(
                RepeatedPiece(piece) if isinstance(piece, Piece | OptionalPiece) else piece
                for piece in value.partition.pieces
            )
        )
    _check_when(declared, f"{declared.name}.{name}", value.when)
    key = _table_key(declared, name, value.partition, sort, value.delimiter, value.when)
    if not key.part_names:
        raise DeclarationError(f"{key.name}: unique() has no attribute; name the unique one")
    if value.keep is None:
        names = dict.fromkeys(
            name for name in declared.maps if name in primary.depends_on or name in key.part_names
        )
    else:
        names = dict.fromkeys(kept.name for kept in value.keep)
    for kept in names:
        if kept not in declared.maps:
            raise DeclarationError(
                f"{key.name}: keep={kept!r} is not an attribute of {declared.name}"
                f"{did_you_mean(kept, declared.maps)}"
            )
        if declared.maps[kept].converter.cipher is not None:
            raise DeclarationError(
                f"{key.name}: keep={kept!r} is encrypted for its item, and a sentinel is another "
                "one; leave it out"
            )
    # The sentinel expires with its entity, and so releases the value.
    names |= {kept: None for kept, each in declared.maps.items() if each.role == "ttl"}
    holder = declared
    if declared.base is not None and name in declared.base.members:
        holder = declared.base  # variants share the values of their base
    maps = declared.maps | holder.maps  # a variant may store an attribute under another name
    keeps = tuple(maps[kept] for kept in names)
    named = tuple(each for each in keeps if each.name in primary.depends_on)
    owned_by = named if len(named) == len(primary.depends_on) else keeps
    return UniqueMap(key, keeps, value.type_name or f"{holder.name}.{name}", owned_by)


def _history(declared: EntityDeclaration, name: str, value: History, primary: KeyMap) -> HistoryMap:
    where = f"{declared.name}.{name}"
    event = getattr(value.event, "__entity__", None)
    if not isinstance(event, EntityMap) or event.table is not declared.table:
        raise DeclarationError(
            f"{where}: {value.event!r} is not an entity of {declared.table.name}; declare it with "
            f"table={declared.table.owner}"
        )
    name = getattr(value.attribute, "name", "")
    if declared.attributes.get(name) is not value.attribute:
        raise DeclarationError(
            f"{where}: {value.attribute!r} is not an attribute of {declared.name}; pass one of its "
            "own attributes first"
        )
    for role, ref in value.recorded.items():
        if event.attributes.get(ref.name) is not ref.attribute:
            raise DeclarationError(
                f"{where}: {role}={ref!r} is not an attribute of {event.name}; pass one of its own"
            )
    sources = {ref.name: f":{role}" for role, ref in value.recorded.items()}
    has_version = any(attribute.role == "version" for attribute in declared.maps.values())
    for role in _VERSIONS:
        if role in value.recorded and not has_version:
            raise DeclarationError(
                f"{where}: {declared.name} has no version() to record; declare one, or leave "
                f"{role}= out"
            )
    by_name = _recorded_by_name(declared, value, has_version=has_version)
    for attribute in event.attributes.values():
        if attribute.name in sources:
            continue
        if attribute.name in declared.maps:
            sources[attribute.name] = attribute.name
        elif attribute.name in by_name:
            sources[attribute.name] = f":{attribute.name}"
        elif attribute.default is None and not attribute.converter.optional:
            raise DeclarationError(
                f"{where}: {event.name}.{attribute.name} gets no value: it is neither named in "
                f"history(…) nor an attribute of {declared.name}, nor does its name say what it "
                f"records ({', '.join(RECORDED)}, each with the type of the recorded value)"
            )
    for attribute in event.attributes.values():
        source = sources.get(attribute.name, "")
        copied = declared.maps.get(name if source in (":old", ":new") else source)
        if copied is None or copied.converter.cipher is None:
            continue
        if attribute.converter.cipher is None:
            raise DeclarationError(
                f"{where}: {event.name}.{attribute.name} would store the encrypted {copied.name} "
                "as it is; declare it with codec=encrypted(…), too, or leave it out"
            )
    constant = primary.depends_on - {name}
    if all(sources.get(each) in constant for each in event.primary.depends_on):
        raise DeclarationError(
            f"{where}: all events of one {declared.name} would have the same key, "
            f"{event.primary.show()}; add the version or the time to {event.primary.name}"
        )
    return HistoryMap(name, event, sources, value.always)


def _recorded_by_name(
    declared: EntityDeclaration, value: History, *, has_version: bool
) -> set[str]:
    """Return the attributes of an event that have the name and the type of a recorded value."""
    kind = without_none(declared.kinds[value.attribute.name])
    expected = {"old": kind, "new": kind, "at": datetime}
    if has_version:
        expected |= dict.fromkeys(_VERSIONS, int)
    event: EntityDeclaration = value.event.__declaration__
    return {
        name
        for name, found in event.kinds.items()
        if name in RECORDED
        and name not in value.recorded
        and (name in ("by", "reason") or without_none(found) == expected.get(name))
    }


def _check_key_only(entity: EntityMap) -> None:
    """Raise DeclarationError for a key_only attribute whose value no key keeps."""
    templates = [
        template
        for key in (entity.primary, *entity.indexes)
        for template in key.templates.values()
        if template.natural is None
    ]
    parsed = {
        part.attribute
        for template in templates
        for part in template.parts
        if part.notation.derive is None
    }
    for attribute in entity.attributes.values():
        if not attribute.is_key_only:
            continue
        where = f"{entity.name}.{attribute.name}"
        if attribute.role:
            raise DeclarationError(
                f"{where}: a {attribute.role}() cannot be key_only; leave that out"
            )
        if attribute.name not in parsed:
            raise DeclarationError(
                f"{where} is key_only, and no key contains its value; write it into a key, or "
                "leave key_only out"
            )
        if attribute.name not in entity.primary.depends_on and not attribute.converter.optional:
            _check_kept_by_index(entity, attribute, where)


def _check_kept_by_index(entity: EntityMap, attribute: AttributeMap, where: str) -> None:
    """Raise DeclarationError if an item can be in none of the indexes that store an attribute."""
    places = [
        key
        for key in entity.indexes
        if any(
            part.attribute == attribute.name and part.notation.derive is None
            for part in key.parameters
        )
    ]
    for place in places:
        can_be_missing = any(
            part.notation.is_optional or entity.attributes[part.attribute].converter.optional
            for part in place.parameters
            if not part.can_be_absent
        )
        if place.when is None and not can_be_missing:
            return
    raise DeclarationError(
        f"{where} is key_only and is stored only in {', '.join(place.name for place in places)}. "
        "An item leaves it if a part of that key is None or when= is false, and the value would be "
        "lost. Add it to the primary key, remove key_only, or let it be None in these cases"
    )


def _check_ttl(entity: EntityMap) -> None:
    """Raise DeclarationError if the table already has another TTL attribute."""
    if entity.ttl is None:
        return
    for other in entity.table.entities:
        if other.ttl is not None and other.ttl.stored != entity.ttl.stored:
            raise DeclarationError(
                f"{entity.name}.{entity.ttl.name} is stored as {entity.ttl.stored!r}, but the TTL "
                f"of {other.name} is {other.ttl.stored!r}; a table has one TTL attribute: use "
                f"ttl(name={other.ttl.stored!r})"
            )
