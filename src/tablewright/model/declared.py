"""Declarations of entities: the attributes in the body of a class, and the templates of its keys.

Duplicate names, types that cannot be stored or be part of a key, and missing or unsorted parts
raise DeclarationError when the class is defined.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tablewright.hints import did_you_mean
from tablewright.mapping.converters import Converter, converter
from tablewright.mapping.entity import AttributeMap
from tablewright.mapping.keys import IndexMap, KeyMap, Template
from tablewright.mapping.parts import DELIMITER, KeyPart, make_part
from tablewright.mapping.table import TableMap
from tablewright.model.attribute import MISSING, Attr, KeyPath, Piece, RepeatedPiece
from tablewright.values import Value


class EntityDeclaration:
    """The declarations in the body of an entity."""

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
            raise _no_attribute(where, name, _annotation(self.owner, name))
        (kind,) = get_args(hint)
        stored = declared.stored or name
        for other in self.maps.values():
            if other.stored == stored:
                raise DeclarationError(
                    f"{where}: {self.name}.{other.name} is stored as {stored!r}, too; give one of "
                    "them another attr(name=…)"
                )
        if stored == self.table.type_attribute:
            raise DeclarationError(
                f"{where}: {stored!r} is the table's type attribute, which the library writes; "
                "use attr(name=…)"
            )
        conversion = _ttl(kind, where) if declared.role == "ttl" else _constrained(kind, where)
        _check_role(declared, conversion, where)
        if declared.role and any(other.role == declared.role for other in self.maps.values()):
            raise DeclarationError(
                f"{where}: {self.name} already has a {declared.role}(); remove one of them"
            )
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
                raise DeclarationError(f"{where}: the default is not valid: {error}") from None

    # -- keys --------------------------------------------------------------------------------

    def template(
        self,
        path: KeyPath[Any],
        where: str,
        attribute: str,
        numbers: dict[tuple[str, str], int],
        *,
        sorts: bool,
    ) -> Template:
        """Return the template of one key attribute.

        `numbers` maps each part to the position of its argument in a call, and is extended.
        """
        natural = self._natural(path, attribute)
        known = set(numbers)
        pieces: list[str | KeyPart] = []
        slots: list[int] = []
        for piece in path.pieces:
            if isinstance(piece, str):
                pieces.append(self._literal(piece, where))
                continue
            again = isinstance(piece, RepeatedPiece)
            use = piece.piece if isinstance(piece, RepeatedPiece) else piece
            made = self._part(use, where, natural=natural is not None)
            identity = (made.attribute, made.label)
            if again and identity not in numbers:
                raise DeclarationError(
                    f"{where}: {made.label}.again repeats a part that is not in the key before it; "
                    f"write {made.label}"
                )
            if not again and identity in numbers:
                raise DeclarationError(
                    f"{where}: {made.label} is in the key twice; write {made.label}.again the "
                    "second time"
                )
            if sorts and not made.is_ordered and identity not in known and natural is None:
                raise DeclarationError(
                    f"{where}: {made.label} is an int without pad=…, so 10 sorts before 9; "
                    f"write {made.attribute}: Attr[int] = attr(pad=…)"
                )
            slots.append(numbers.setdefault(identity, len(numbers)))
            pieces.append(made)
        return Template(tuple(pieces), tuple(slots), natural)

    def _natural(self, path: KeyPath[Any], attribute: str) -> Converter | None:
        """Return the converter of a natural key; None if the key is composed."""
        if len(path.pieces) == 1 and isinstance(path.pieces[0], Attr):
            found = self.maps.get(path.pieces[0].name)
            if found is not None and found.stored == attribute:
                if found.has_value_if_absent:
                    raise DeclarationError(
                        f"{self.name}.{found.name} is a natural key, which cannot be None; make "
                        "its default None, or annotate it without None"
                    )
                return found.converter
        return None

    def _literal(self, text: str, where: str) -> str:
        if not text or "$" in text or text.endswith(DELIMITER):
            raise DeclarationError(
                f"{where}: the literal {text!r} must not be empty, contain '$' or end with '#', "
                "which is added between parts"
            )
        return text

    def _part(self, piece: Piece[Any], where: str, *, natural: bool) -> KeyPart:
        declared = getattr(piece, "attribute", None)
        if not isinstance(declared, Attr):
            raise DeclarationError(f"{where}: {piece!r} is neither a literal nor an attribute")
        name = declared.name
        if self.attributes.get(name) is not declared:
            raise DeclarationError(
                f"{where}: the key uses {name or '?'!r}, which is not an attribute of "
                f"{self.name}{did_you_mean(name, self.attributes)}"
            )
        kind = self.maps[name].converter.kind
        if natural:
            if self.maps[name].converter.tag not in ("S", "N", "B"):
                raise DeclarationError(
                    f"{where}: {name!r} is {kind}, which cannot be a key of DynamoDB; use a text, "
                    "a number or bytes"
                )
            return KeyPart(name, None, str, ".+", name)
        if piece.part_format is not None:
            return piece.part_format.make_part(name, kind, declared.pad, where)
        return make_part(name, kind, declared.pad, where)

    def key_map(
        self,
        name: str,
        attributes: tuple[str, str | None],
        partition: KeyPath[Any],
        sort: KeyPath[Any] | None,
        *,
        index: IndexMap | None = None,
        when: Any = None,
    ) -> KeyMap:
        where = f"{self.name}.{name}"
        if (attributes[1] is None) != (sort is None):
            wanted = "no sort key" if attributes[1] is None else f"a sort key, {attributes[1]!r}"
            raise DeclarationError(
                f"{where}: {index.name if index else self.table.name} has {wanted}; "
                f"{'leave the second path out' if sort else 'pass a second path'}"
            )
        numbers: dict[tuple[str, str], int] = {}
        first = self.template(partition, where, attributes[0], numbers, sorts=False)
        second = None
        if sort is not None and attributes[1] is not None:
            second = self.template(sort, where, attributes[1], numbers, sorts=True)
        provided: frozenset[str] = frozenset()
        if index is not None:
            provided = frozenset(name for name in self.table.attributes if name is not None)
            if self.table.type_attribute is not None:
                provided |= {self.table.type_attribute}
        for attribute, template in zip(attributes, (first, second), strict=True):
            if template is not None and template.natural is None:
                self._refuse_taken(where, str(attribute))
        return KeyMap(where, attributes, first, second, index=index, when=when, provided=provided)

    def _refuse_taken(self, where: str, attribute: str) -> None:
        """Raise DeclarationError if a composed key would overwrite an attribute."""
        for other in self.maps.values():
            if other.stored == attribute:
                raise DeclarationError(
                    f"{where}: the key {attribute!r} is composed, but {self.name}.{other.name} is "
                    "stored under the same name; use attr(name=…), or the attribute itself as key"
                )


def _no_attribute(where: str, name: str, annotation: str) -> DeclarationError:
    """Return the error for an annotation that is missing, or is not Attr."""
    problem = f"annotated {annotation}" if annotation else "not annotated"
    return DeclarationError(
        f"{where} is {problem}; write {name}: Attr[{annotation or '…'}] = attr(…)"
    )


def _annotation(owner: type, name: str) -> str:
    """Return the annotation of a name as text; "" if it has none."""
    for base in owner.__mro__:
        found = vars(base).get("__annotations__", {}).get(name)
        if found is not None:
            return found.__name__ if isinstance(found, type) else str(found)
    return ""


def _collected(owner: type, hints: Mapping[str, Any]) -> dict[str, Attr[Any]]:
    """Return the attributes of a class and its abstract bases, in the order of declaration."""
    found: dict[str, Attr[Any]] = {}
    for base in reversed(owner.__mro__):
        found |= {name: value for name, value in vars(base).items() if isinstance(value, Attr)}
        for name in vars(base).get("__annotations__", {}):
            if name in found or name in vars(base) or name.startswith("_"):
                continue
            if get_origin(hints.get(name)) is Attr:
                found[name] = Attr()
                found[name].name = name
            elif "ClassVar" not in (annotation := _annotation(base, name)):
                raise _no_attribute(f"{owner.__name__}.{name}", name, annotation)
    order = {name: position for position, name in enumerate(hints)}
    return dict(sorted(found.items(), key=lambda entry: order.get(entry[0], len(order))))


def default_of(declared: Attr[Any]) -> Any:
    """Return the function that makes the default of an attribute; None if it has none."""
    if declared.role in ("created_at", "updated_at"):
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
    wanted = {"version": int, "created_at": datetime, "updated_at": datetime}.get(declared.role)
    if wanted is not None and (conversion.kind is not wanted or conversion.optional):
        raise DeclarationError(f"{where}: {declared.role}() is for Attr[{wanted.__name__}]")


def _constrained(kind: Any, where: str) -> Converter:
    """Return a converter that also checks the constraints in `Annotated`."""
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
    """Return the converter of a TTL: a moment, stored in whole seconds since 1970."""
    moment = converter(kind, where)
    if moment.kind is not datetime:
        raise DeclarationError(f"{where}: ttl() is for Attr[datetime] and Attr[datetime | None]")

    def encode(value: Any) -> Value:
        moment.encode(value)  # raises unless it is a datetime with a time zone
        if value.microsecond:
            raise InvalidValue(
                f"{where}: {value!r} has a fraction of a second, but DynamoDB's TTL is in whole "
                "seconds; use .replace(microsecond=0)"
            )
        return {"N": str(int(value.timestamp()))}

    def decode(value: Value) -> datetime:
        try:
            return datetime.fromtimestamp(int(value["N"]), UTC)
        except (KeyError, ValueError, OverflowError):
            raise UnreadableItem(f"{where}: {value} is not a number of seconds") from None

    return Converter(where, datetime, "N", encode, decode, optional=moment.optional)
