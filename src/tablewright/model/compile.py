"""Compile: the body of an entity's class becomes an `EntityMap`, or an error that names the fix.

Everything that can be wrong with a declaration is found here, when the class is defined: names
that clash, types that cannot be stored or keyed, parts that are missing or would not sort, keys
that could be another entity's.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Annotated, Any, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from tablewright.errors import InvalidValue, ModelError, UnreadableItem
from tablewright.mapping.converters import Converter, converter
from tablewright.mapping.entity import (
    AttributeMap,
    EntityMap,
    HistoryMap,
    TableMap,
    UniqueMap,
)
from tablewright.mapping.keys import IndexMap, KeyMap, Template
from tablewright.mapping.parts import DELIMITER, Part, part
from tablewright.model.attribute import MISSING, Again, Attr, Path, Piece
from tablewright.model.key import History, Index, Key, Unique
from tablewright.model.table import LSI
from tablewright.values import Value


class Declared:
    """What the body of an entity's class declares."""

    def __init__(self, owner: type, table: TableMap, hints: Mapping[str, Any]) -> None:
        self.owner = owner
        self.name = owner.__name__
        self.table = table
        self.attributes: dict[str, Attr[Any]] = {}
        self.maps: dict[str, AttributeMap] = {}
        self.kinds: dict[str, Any] = {}
        for name, declared in _collected(owner, hints).items():
            self._add_attribute(name, declared, hints.get(name, MISSING))

    def _add_attribute(self, name: str, declared: Attr[Any], hint: Any) -> None:
        where = f"{self.name}.{name}"
        if get_origin(hint) is not Attr:
            told = "not annotated" if hint is MISSING else f"annotated {hint!r}"
            raise ModelError(f"{where} is {told}; write {name}: Attr[…] = attr(…)")
        (kind,) = get_args(hint)
        stored = declared.stored or name
        for other in self.maps.values():
            if other.stored == stored:
                raise ModelError(f"{where}: {self.name}.{other.name} is stored as {stored!r} too")
        if stored == self.table.type_attribute:
            raise ModelError(
                f"{where}: {stored!r} is the table's type attribute, which the library writes; "
                "use attr(name=…)"
            )
        conversion = _ttl(kind, where) if declared.role == "ttl" else _constrained(kind, where)
        _check_role(declared, conversion, where)
        if declared.role and any(other.role == declared.role for other in self.maps.values()):
            raise ModelError(f"{where}: {self.name} has a {declared.role}() already; it has one")
        self._check_default(declared, conversion, where)
        self.attributes[name] = declared
        self.kinds[name] = kind
        self.maps[name] = AttributeMap(
            name, stored, conversion, declared.role, default_of(declared), declared.doc
        )

    def _check_default(self, declared: Attr[Any], conversion: Converter, where: str) -> None:
        if declared.default is not MISSING:
            try:
                conversion.stored(declared.default)
            except InvalidValue as error:
                raise ModelError(f"{where}: its default does not fit it: {error}") from None

    # -- keys --------------------------------------------------------------------------------

    def template(
        self,
        path: Path[Any],
        where: str,
        attribute: str,
        asked: dict[tuple[str, str], int],
        *,
        sorts: bool,
    ) -> Template:
        """A template for one key attribute; `asked` numbers the values that calls give."""
        natural = self._natural(path, attribute)
        known = set(asked)
        pieces: list[str | Part] = []
        slots: list[int] = []
        for piece in path.pieces:
            if isinstance(piece, str):
                pieces.append(self._literal(piece, where))
                continue
            again = isinstance(piece, Again)
            use = piece.piece if isinstance(piece, Again) else piece
            made = self._part(use, where, natural=natural is not None)
            identity = (made.attribute, made.label)
            if again and identity not in asked:
                raise ModelError(
                    f"{where}: {made.label}.again, and {made.label} is not in the key before it"
                )
            if not again and identity in asked:
                raise ModelError(
                    f"{where}: {made.label} is in the key twice; write {made.label}.again the "
                    "second time"
                )
            if sorts and not made.ordered and identity not in known and natural is None:
                raise ModelError(
                    f"{where}: {made.label} is a number without a width, so 10 sorts before 9; "
                    f"write {made.attribute}: Attr[int] = attr(pad=…)"
                )
            slots.append(asked.setdefault(identity, len(asked)))
            pieces.append(made)
        return Template(tuple(pieces), tuple(slots), natural)

    def _natural(self, path: Path[Any], attribute: str) -> Converter | None:
        """How an attribute is stored that is a key attribute itself."""
        if len(path.pieces) == 1 and isinstance(path.pieces[0], Attr):
            found = self.maps.get(path.pieces[0].name)
            if found is not None and found.stored == attribute:
                if found.absent_means_a_value:
                    raise ModelError(
                        f"{self.name}.{found.name} is a key by itself, and cannot hold None; "
                        "its default has to be None, or it is not optional"
                    )
                return found.converter
        return None

    def _literal(self, text: str, where: str) -> str:
        if not text or "$" in text or text.endswith(DELIMITER):
            raise ModelError(
                f"{where}: the literal {text!r} is empty, holds a $, or ends with the # that is "
                "put behind it anyway"
            )
        return text

    def _part(self, piece: Piece[Any], where: str, *, natural: bool) -> Part:
        declared = getattr(piece, "attribute", None)
        if not isinstance(declared, Attr):
            raise ModelError(f"{where}: {piece!r} is neither a literal nor an attribute")
        name = declared.name
        if self.attributes.get(name) is not declared:
            close = get_close_matches(name, self.attributes, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ModelError(
                f"{where}: the key uses {name or '?'!r}, which is not an attribute of "
                f"{self.name}{hint}"
            )
        kind = self.maps[name].converter.kind
        if natural:
            if self.maps[name].converter.tag not in ("S", "N", "B"):
                raise ModelError(
                    f"{where}: {name!r} is {kind}, which DynamoDB takes for no key: they are "
                    "texts, numbers and bytes"
                )
            return Part(name, None, str, ".+", name)
        if piece.transform is not None:
            return piece.transform.part(name, kind, declared.pad, where)
        return part(name, kind, declared.pad, where)

    def key_map(
        self,
        name: str,
        attributes: tuple[str, str | None],
        partition: Path[Any],
        sort: Path[Any] | None,
        *,
        index: IndexMap | None = None,
        when: Any = None,
    ) -> KeyMap:
        where = f"{self.name}.{name}"
        if (attributes[1] is None) != (sort is None):
            wanted = "no sort key" if attributes[1] is None else f"a sort key, {attributes[1]!r}"
            raise ModelError(
                f"{where}: {index.name if index else self.table.name} has {wanted}; "
                f"{'leave the second path out' if sort else 'give a second path'}"
            )
        asked: dict[tuple[str, str], int] = {}
        first = self.template(partition, where, attributes[0], asked, sorts=False)
        second = None
        if sort is not None and attributes[1] is not None:
            second = self.template(sort, where, attributes[1], asked, sorts=True)
        given: frozenset[str] = frozenset()
        if index is not None:
            given = frozenset(name for name in self.table.attributes if name is not None)
            if self.table.type_attribute is not None:
                given |= {self.table.type_attribute}
        for attribute, template in zip(attributes, (first, second), strict=True):
            if template is not None and template.natural is None:
                self._refuse_taken(where, str(attribute))
        return KeyMap(where, attributes, first, second, index=index, when=when, given=given)

    def _refuse_taken(self, where: str, attribute: str) -> None:
        """A composed key must not overwrite an attribute."""
        for other in self.maps.values():
            if other.stored == attribute:
                raise ModelError(
                    f"{where}: {attribute!r} is composed, and {self.name}.{other.name} is stored "
                    "under that name; use attr(name=…), or the attribute alone as the key"
                )


def _collected(owner: type, hints: Mapping[str, Any]) -> dict[str, Attr[Any]]:
    """The attributes of a class and of the abstract ones it builds on, in their order."""
    found: dict[str, Attr[Any]] = {}
    for base in reversed(owner.__mro__):
        found |= {name: value for name, value in vars(base).items() if isinstance(value, Attr)}
        for name in vars(base).get("__annotations__", {}):
            if name not in found and get_origin(hints.get(name)) is Attr:
                found[name] = Attr()
                found[name].name = name
    order = {name: position for position, name in enumerate(hints)}
    return dict(sorted(found.items(), key=lambda entry: order.get(entry[0], len(order))))


def default_of(declared: Attr[Any]) -> Any:
    """What gives an attribute's value where none is given."""
    if declared.role in ("created", "updated"):
        return _now
    if declared.default_factory is not None:
        return declared.default_factory
    if declared.default is not MISSING:
        value = declared.default
        shared = not isinstance(value, (list, dict, set))
        return lambda: value if shared else copy.deepcopy(value)
    return None


def _now() -> datetime:
    return datetime.now(UTC)


def _check_role(declared: Attr[Any], conversion: Converter, where: str) -> None:
    wanted = {"version": int, "created": datetime, "updated": datetime}.get(declared.role)
    if wanted is not None and (conversion.kind is not wanted or conversion.optional):
        raise ModelError(f"{where}: {declared.role}() is for Attr[{wanted.__name__}]")


def _constrained(kind: Any, where: str) -> Converter:
    """A converter that also checks what `Annotated` says of the values."""
    plain = converter(kind, where)
    if not any(get_origin(part) is Annotated for part in (kind, *get_args(kind))):
        return plain
    validate = TypeAdapter(kind).validate_python

    def encode(value: Any) -> Value:
        try:
            validate(value)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise InvalidValue(f"{where}: {value!r}: {problem}") from None
        return plain.encode(value)

    return dataclasses.replace(plain, encode=encode)


def _ttl(kind: Any, where: str) -> Converter:
    """A moment, stored in whole seconds since 1970."""
    moment = converter(kind, where)
    if moment.kind is not datetime:
        raise ModelError(f"{where}: ttl() is for Attr[datetime] and Attr[datetime | None]")

    def encode(value: Any) -> Value:
        moment.encode(value)  # refuses what is no aware datetime
        if value.microsecond:
            raise InvalidValue(
                f"{where}: {value!r} is not a whole second, and DynamoDB's TTL counts seconds; "
                "use .replace(microsecond=0)"
            )
        return {"N": str(int(value.timestamp()))}

    def decode(value: Value) -> datetime:
        try:
            return datetime.fromtimestamp(int(value["N"]), UTC)
        except (KeyError, ValueError, OverflowError):
            raise UnreadableItem(f"{where}: {value} is not a number of seconds") from None

    return Converter(where, datetime, "N", encode, decode, optional=moment.optional)


# -- the whole entity ----------------------------------------------------------------------------


def compile_entity(declared: Declared, type_name: str) -> EntityMap:
    """The compiled entity, with its keys checked against one another."""
    owner, table = declared.owner, declared.table
    primary = _primary(declared)
    indexes = tuple(
        _index(declared, name, value, primary)
        for name, value in vars(owner).items()
        if isinstance(value, Index)
    )
    _refuse_shared_attributes(declared, indexes)
    entity = EntityMap(
        owner=owner,
        type_name=type_name,
        table=table,
        attributes=declared.maps,
        primary=primary,
        indexes=indexes,
    )
    entity.uniques = tuple(
        _unique(declared, name, value, primary)
        for name, value in vars(owner).items()
        if isinstance(value, Unique)
    )
    entity.histories = tuple(
        _history(declared, name, value)
        for name, value in vars(owner).items()
        if isinstance(value, History)
    )
    _check_ttl(entity)
    return entity


def _primary(declared: Declared) -> KeyMap:
    found = {name: value for name, value in vars(declared.owner).items() if isinstance(value, Key)}
    if len(found) != 1:
        raise ModelError(
            f"{declared.name} has {len(found) or 'no'} primary key{'s' * (len(found) > 1)}; "
            'write one: primary = key("…" / …, "…" / …)'
        )
    ((name, value),) = found.items()
    primary = declared.key_map(name, declared.table.attributes, value.partition, value.sort)
    for attribute in primary.names:
        if declared.maps[attribute].converter.optional:
            raise ModelError(
                f"{primary.name}: {attribute!r} is optional, and a primary key needs every part"
            )
    return primary


def _index(declared: Declared, name: str, value: Index[Any, Any], primary: KeyMap) -> KeyMap:
    table = declared.table
    index = table.indexes.get(str(value.index.name))
    if index is None or index != value.index.compile(table):
        raise ModelError(
            f"{declared.name}.{name}: {value.index.name!r} is not an index of {table.name}; it has "
            f"{', '.join(table.indexes) or 'none'}"
        )
    if isinstance(value.index, LSI) is not value.local:
        wanted = "index(…)" if value.local else "primary.local(…)"
        raise ModelError(f"{declared.name}.{name}: {index.name} is {index.kind}; write {wanted}")
    if value.swapped and table.attributes[1] is None:
        raise ModelError(f"{declared.name}.{name}: {table.owner} has no sort key to swap")
    sort = value.sort
    if index.attributes[1] == table.type_attribute is not None:
        type_name = _type_name(declared)
        if sort is not None and sort.pieces != (type_name,):
            raise ModelError(
                f"{declared.name}.{name}: the sort key of {index.name} is the type, which is "
                f"{type_name!r} here; leave the second path out"
            )
        sort = Path((type_name,))
    _check_when(declared, f"{declared.name}.{name}", value.when)
    key = declared.key_map(
        name, index.attributes, value.partition, sort, index=index, when=value.when
    )
    if key.when is not None and not key.composed:
        raise ModelError(
            f"{key.name}: {index.name} has attributes of the item as its keys, so when= cannot "
            "keep the item out of it; compose a key"
        )
    for attribute, template in zip(index.attributes, (key.partition, key.sort), strict=True):
        if attribute in table.attributes and template is not None:
            own = primary.partition if attribute == table.attributes[0] else primary.sort
            if own is None or own.show() != template.show():
                raise ModelError(
                    f"{key.name}: {attribute!r} is the table's own key, {own and own.show()}, and "
                    f"cannot be {template.show()} in an index"
                )
    return key


def _check_when(declared: Declared, where: str, when: Any) -> None:
    """The condition is on attributes of this class."""
    for operand in [] if when is None else when.operands():
        if declared.attributes.get(operand.name) is not operand:
            raise ModelError(
                f"{where}: when={when!r} is not about an attribute of {declared.name}; write it "
                "with the names of the body"
            )


def _type_name(declared: Declared) -> str:
    return str(vars(declared.owner).get("__type_name__", declared.name))


def _refuse_shared_attributes(declared: Declared, indexes: tuple[KeyMap, ...]) -> None:
    taken: dict[str, str] = {}
    for key in indexes:
        for attribute in key.composed:
            if attribute in taken:
                raise ModelError(
                    f"{key.name}: {attribute!r} is the key of {taken[attribute]} already; an item "
                    "has one place in an index"
                )
            taken[attribute] = key.name


def _unique(declared: Declared, name: str, value: Unique[Any, Any], primary: KeyMap) -> UniqueMap:
    attributes = declared.table.attributes
    sort = value.sort
    if sort is None and attributes[1] is not None:
        sort = Path(
            tuple(
                piece if isinstance(piece, (str, Again)) else Again(piece)
                for piece in value.partition.pieces
            )
        )
    key = declared.key_map(name, attributes, value.partition, sort)
    if not key.names:
        raise ModelError(f"{key.name}: unique() needs an attribute; what is to be unique?")
    if value.keep is None:
        names = dict.fromkeys(
            name for name in declared.maps if name in primary.names or name in key.names
        )
    else:
        names = dict.fromkeys(kept.name for kept in value.keep)
    for kept in names:
        if kept not in declared.maps:
            raise ModelError(f"{key.name}: keep={kept!r} is not an attribute of {declared.name}")
    # What expires gives its value free: the sentinel expires with it.
    names |= {kept: None for kept, each in declared.maps.items() if each.role == "ttl"}
    keeps = tuple(declared.maps[kept] for kept in names)
    return UniqueMap(key, keeps, value.type_name or f"{declared.name}.{name}")


def _history(declared: Declared, name: str, value: History) -> HistoryMap:
    where = f"{declared.name}.{name}"
    event = getattr(value.event, "__entity__", None)
    if not isinstance(event, EntityMap) or event.table is not declared.table:
        raise ModelError(f"{where}: {value.event!r} is not an entity of {declared.table.name}")
    if declared.attributes.get(value.attribute.name) is not value.attribute:
        raise ModelError(f"{where}: {value.attribute!r} is not an attribute of {declared.name}")
    for role, ref in value.told.items():
        if event.attributes.get(ref.name) is not ref.attribute:
            raise ModelError(f"{where}: {role}={ref!r} is not an attribute of {event.name}")
    sources = {ref.name: f":{role}" for role, ref in value.told.items()}
    has_version = any(attribute.role == "version" for attribute in declared.maps.values())
    for role in ("version", "old_version"):
        if role in value.told and not has_version:
            raise ModelError(f"{where}: {declared.name} has no version() to record")
    for attribute in event.attributes.values():
        if attribute.name in sources:
            continue
        if attribute.name in declared.maps:
            sources[attribute.name] = attribute.name
        elif attribute.default is None and not attribute.converter.optional:
            raise ModelError(
                f"{where}: {event.name}.{attribute.name} gets no value: it is neither named in "
                f"history(…) nor an attribute of {declared.name}"
            )
    return HistoryMap(value.attribute.name, event, sources)


def _check_ttl(entity: EntityMap) -> None:
    """A table has one TTL attribute."""
    if entity.ttl is None:
        return
    for other in entity.table.entities:
        if other.ttl is not None and other.ttl.stored != entity.ttl.stored:
            raise ModelError(
                f"{entity.name}.{entity.ttl.name} is stored as {entity.ttl.stored!r}, and "
                f"{other.name} expires by {other.ttl.stored!r}; a table has one TTL attribute"
            )
