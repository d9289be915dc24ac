"""Declarations of entities: the attributes of a class, and the templates of its keys.

Duplicate names, types that cannot be stored or be part of a key, and missing or unsorted parts
raise DeclarationError when the class is defined.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import AfterValidator
from pydantic.fields import FieldInfo

from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tablewright.hints import did_you_mean
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.converters import Converter, converter
from tablewright.mapping.formats.attributes import codec_of, coded_converter
from tablewright.mapping.key_parts import Delimiter, KeyPart, make_part, natural_part
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.mapping.pydantic_bridge import constraint_check, is_positive, member_check
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Tag, Template
from tablewright.mapping.transitions import Transitions, read_transitions
from tablewright.model.attribute import (
    MISSING,
    Attr,
    KeyPath,
    PathDelimiter,
    Reference,
    RepeatedPiece,
)
from tablewright.model.body import MEMBERS, BodyAttribute
from tablewright.model.validation import attribute_check, check_fields, decorators_of, strict
from tablewright.values import Value

M = TypeVar("M")


class EntityDeclaration:
    """The declarations in the body of an entity."""

    def __init__(
        self,
        owner: type,
        table: TableMap,
        attributes: Mapping[str, BodyAttribute],
        base: EntityDeclaration | None = None,
    ) -> None:
        self.owner = owner
        #: The declaration of the base of a variant.
        self.base = base
        self.name = owner.__name__
        self.table = table
        self.attributes: dict[str, Attr[Any]] = {}
        self.maps: dict[str, AttributeMap] = {}
        self.kinds: dict[str, Any] = {}
        #: Pydantic's decorators in the body, by method.
        self.decorators = decorators_of(owner)
        body = {
            name: value for each in reversed(owner.__mro__) for name, value in vars(each).items()
        }
        #: The keys, unique values and histories, with those of abstract bases.
        self.members: dict[str, Any] = {
            name: value for name, value in body.items() if isinstance(value, MEMBERS)
        }
        if base is not None:
            self._refuse_overriding(base)
            self.members = {**base.members, **self.members}
        for name, (declared, kind) in attributes.items():
            self._add_attribute(name, declared, kind)
        check_fields(owner, self.decorators, self.attributes)

    def members_of(self, kind: type[M]) -> list[tuple[str, M]]:
        """Return the members of one kind, with their names."""
        return [(name, each) for name, each in self.members.items() if isinstance(each, kind)]

    def _refuse_overriding(self, base: EntityDeclaration) -> None:
        """Raise DeclarationError if a variant redeclares a name of its base."""
        for name in {**vars(self.owner), **self.owner.__annotations__}:
            if name in base.attributes or name in base.members:
                raise DeclarationError(
                    f"{self.name}.{name}: {base.name} declares it already, for all of its "
                    "variants; choose another name"
                )

    def _add_attribute(self, name: str, declared: Attr[Any], kind: Any) -> None:
        where = f"{self.name}.{name}"
        stored = declared.stored or name
        if declared.key_only and declared.stored is not None:
            raise DeclarationError(
                f"{where}: attr(name=…, key_only=True): an attribute that is only in keys has no "
                "name in the item; leave name= out"
            )
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
        for each in get_args(kind)[1:] if get_origin(kind) is Annotated else ():
            if isinstance(each, FieldInfo) and (each.alias or each.validation_alias):
                raise DeclarationError(
                    f"{where}: Field(alias=…) does not name what is stored; write attr(name=…)"
                )
        if declared.codec is not None:
            declared.codec = codec_of(declared.codec, where)
            conversion = coded_converter(kind, declared.codec, declared.pad, where)
        else:
            conversion = _ttl(kind, where) if declared.role == "ttl" else converter(kind, where)
        _check_role(declared, conversion, where)
        if declared.pad is not None and conversion.tag not in ("N", None):
            raise DeclarationError(
                f"{where}: attr(pad={declared.pad}) is the number of digits of an int; remove it"
            )
        is_single = declared.role not in ("", "counter")
        if is_single and any(other.role == declared.role for other in self.maps.values()):
            raise DeclarationError(
                f"{where}: {self.name} already has a {declared.role}(); remove one of them"
            )
        transitions = _transitions(declared, conversion, where)
        self.attributes[name] = declared
        self.kinds[name] = kind
        check = constraint_check(kind, where)
        self.maps[name] = AttributeMap(
            name,
            stored,
            conversion,
            declared.role,
            _fitting(default_of(declared, conversion), conversion),
            declared.doc,
            is_key_only=declared.key_only,
            is_immutable=declared.immutable,
            transitions=transitions,
            renamed_from=former_names(where, declared.renamed_from),
            fill=declared.fill,
            check=check,
            validate=attribute_check(name, kind, self.decorators, where) or check,
            validate_member=member_check(kind, where),
        )
        given = [] if declared.default is MISSING else [("the default", declared.default)]
        if declared.fill is not None and not callable(declared.fill):
            given.append(("fill=", declared.fill))
        states = () if transitions is None else transitions.after
        given += [(f"{state!r} in transitions=", state) for state in states if state is not None]
        for what, value in given:
            try:
                self.maps[name].store(value)
            except InvalidValue as error:
                raise DeclarationError(f"{where}: {what} is not valid: {error}") from None

    def entering(self, name: str) -> Any:
        """Return the type that pydantic validates when a value enters, as its codec keeps it."""
        kind, attribute = strict(self.kinds[name]), self.maps[name]
        if attribute.converter.cut is None:
            return kind
        return Annotated[kind, AfterValidator(attribute.fit)]

    # -- keys --------------------------------------------------------------------------------

    def template(
        self,
        path: KeyPath[Any],
        where: str,
        attribute: str,
        parameters: dict[tuple[str, str], int],
        delimiter: Delimiter,
    ) -> Template:
        """Return the template of one key attribute; `parameters` numbers the arguments of calls."""
        natural = self._natural(path, attribute)
        pieces: list[str | KeyPart] = []
        slots: list[int] = []
        for piece in path.pieces:
            text = _literal(piece, delimiter, is_whole=len(path.pieces) == 1)
            if text is not None:
                self._refuse_braces(text, where)
                if pieces and isinstance(pieces[-1], str):
                    pieces[-1] += text
                elif text:
                    pieces.append(text)
                continue
            is_again = isinstance(piece, RepeatedPiece)
            use = piece.piece if isinstance(piece, RepeatedPiece) else piece
            made = self._part(use, where, delimiter, natural=natural)
            identity = (made.attribute, made.label)
            if is_again and identity not in parameters:
                raise DeclarationError(
                    f"{where}: {made.label}.again repeats a part that is not in the key before it; "
                    f"write {made.label}"
                )
            if not is_again and identity in parameters:
                raise DeclarationError(
                    f"{where}: {made.label} is in the key twice; write {made.label}.again the "
                    "second time"
                )
            slots.append(parameters.setdefault(identity, len(parameters)))
            pieces.append(made)
        template = Template(
            tuple(pieces), tuple(slots), delimiter, natural, self._tag(path, pieces, where)
        )
        template.check(where)
        return template

    def _refuse_braces(self, literal: str, where: str) -> None:
        """Raise DeclarationError for an attribute in braces in a literal: keys are paths."""
        for name in self.attributes:
            if f"{{{name}}}" in literal:
                raise DeclarationError(
                    f"{where}: {literal!r} is a literal, in which {{{name}}} is not replaced; "
                    f'write a path: "…" / {name}'
                )

    def _tag(self, path: KeyPath[Any], pieces: list[str | KeyPart], where: str) -> Tag:
        """Return the type of a key attribute; N and B need a single part, or a number."""
        if len(path.pieces) == 1 and isinstance(path.pieces[0], int):
            return "N"
        for piece in pieces:
            if isinstance(piece, KeyPart) and piece.notation.tag != "S":
                if len(pieces) > 1:
                    raise DeclarationError(
                        f"{where}: {piece.label} is not a text, and a key with other pieces is; "
                        "use it alone"
                    )
                return piece.notation.tag
        if not pieces:
            raise DeclarationError(f"{where}: the key is empty; write at least one character")
        return "S"

    def _natural(self, path: KeyPath[Any], attribute: str) -> Converter | None:
        """Return the converter of an attribute that is a key itself; None for a composed key."""
        if len(path.pieces) == 1 and isinstance(path.pieces[0], Attr):
            found = self.maps.get(path.pieces[0].name)
            if found is not None and found.stored == attribute:
                if found.is_key_only:
                    raise DeclarationError(
                        f"{self.name}.{found.name} is key_only, so no item has the key attribute "
                        f"{attribute!r}; leave key_only out"
                    )
                if found.has_value_if_absent:
                    raise DeclarationError(
                        f"{self.name}.{found.name} is a natural key, which cannot be None; make "
                        "its default None, or annotate it without None"
                    )
                return found.converter
        return None

    def _part(
        self, piece: Any, where: str, delimiter: Delimiter, *, natural: Converter | None
    ) -> KeyPart:
        declared = getattr(piece, "declared", None)
        if not isinstance(declared, Attr):
            raise DeclarationError(
                f"{where}: {piece!r} is neither a literal nor an attribute; write a path such as "
                '"ORDER" / order_id'
            )
        name = declared.name
        if self.attributes.get(name) is not declared:
            shown = repr(piece) if isinstance(piece, Reference) else repr(name or "?")
            raise DeclarationError(
                f"{where}: the key uses {shown}, which is not an attribute of "
                f"{self.name}{did_you_mean(name, self.attributes)}"
            )
        kind = self.maps[name].converter.kind
        if natural is not None:
            if natural.tag not in ("S", "N", "B"):
                raise DeclarationError(
                    f"{where}: {name!r} is {kind}, which cannot be a key of DynamoDB; use a text, "
                    "a number or bytes"
                )
            if natural.state:
                raise DeclarationError(
                    f"{where}: {name} is stored {natural.state}, so no query finds it by a value; "
                    "use another attribute as the key"
                )
            return natural_part(name, natural, is_positive=is_positive(self.kinds[name]))
        formats, is_codec = piece.formats, False
        if not formats and declared.codec is not None:
            formats, is_codec = declared.codec.chain, True
        return make_part(
            name,
            kind,
            formats,
            keeps_value=is_codec,
            pad=declared.pad,
            delimiter=delimiter,
            where=where,
            is_positive=is_positive(self.kinds[name]),
        )

    def key_map(
        self,
        name: str,
        attributes: tuple[tuple[str, ...], tuple[str, ...]],
        partition: tuple[KeyPath[Any], ...],
        sort: tuple[KeyPath[Any], ...],
        *,
        index: IndexMap | None = None,
        when: Any = None,
        delimiter: str | None = None,
    ) -> KeyMap:
        """Return the compiled key; each attribute of the partition key and the sort key has a path.

        `delimiter` replaces the table's.
        """
        where = f"{self.name}.{name}"
        separator = self.table.delimiter
        if delimiter is not None:
            separator = Delimiter(delimiter, escapes=separator.escapes)
            separator.check(where)
        if bool(attributes[1]) != bool(sort):
            named = ", ".join(map(repr, attributes[1]))
            wanted = f"a sort key, {named}" if named else "no sort key"
            raise DeclarationError(
                f"{where}: {index.name if index else self.table.name} has {wanted}; "
                f"{'leave the second path out' if sort else 'pass a second path'}"
            )
        parameters: dict[tuple[str, str], int] = {}
        sides = []
        for names, paths in zip(attributes, (partition, sort), strict=True):
            if len(names) > 1 or len(paths) > 1:
                self._check_natural(where, names, paths)
            sides.append(
                {
                    attribute: self.template(path, where, attribute, parameters, separator)
                    for attribute, path in zip(names, paths, strict=True)
                }
            )
        first, second = sides
        provided: frozenset[str] = frozenset()
        if index is not None:
            provided = frozenset(name for name in self.table.attributes if name is not None)
            if self.table.type_attribute is not None:
                provided |= {self.table.type_attribute}
        for attribute, template in (first | second).items():
            if template.natural is None:
                self._refuse_taken(where, attribute)
        return KeyMap(where, first, second, index=index, when=when, provided=provided)

    def _check_natural(
        self, where: str, names: tuple[str, ...], paths: tuple[KeyPath[Any], ...]
    ) -> None:
        """Raise DeclarationError unless each path is the attribute with that stored name."""
        stored = {each.stored: each.name for each in self.maps.values()}
        shown = ", ".join(stored.get(name, "…") for name in names)
        fix = f"write {shown}" if len(names) == 1 else f"write ({shown})"
        if len(names) != len(paths):
            raise DeclarationError(
                f"{where}: the key consists of {', '.join(names)}, and {len(paths)} "
                f"path{'s are' if len(paths) != 1 else ' is'} given; {fix}"
            )
        for name, path in zip(names, paths, strict=True):
            piece = path.pieces[0]
            if len(path.pieces) != 1 or not isinstance(piece, Attr):
                raise DeclarationError(
                    f"{where}: {name!r} belongs to a key of several attributes, which are "
                    "stored unchanged; pass the attribute alone, without literals or formats: "
                    f"{fix}"
                )
            found = self.maps.get(piece.name)
            if found is not None and found.stored != name:
                raise DeclarationError(
                    f"{where}: {piece.name} is stored as {found.stored!r}, not as {name!r}; {fix}, "
                    f"or give it attr(name={name!r})"
                )

    def _refuse_taken(self, where: str, attribute: str) -> None:
        """Raise DeclarationError if a composed key would overwrite an attribute."""
        for other in self.maps.values():
            if other.stored == attribute:
                raise DeclarationError(
                    f"{where}: the key {attribute!r} is composed, but {self.name}.{other.name} is "
                    "stored under the same name; use attr(name=…), or the attribute itself as key"
                )


def _literal(piece: Any, delimiter: Delimiter, *, is_whole: bool) -> str | None:
    """Return the text of a literal or a delimiter; None for a part. Numbers are whole keys."""
    if isinstance(piece, PathDelimiter):
        return delimiter.text
    if is_whole and type(piece) is int:
        return str(piece)
    return piece if isinstance(piece, str) else None


def default_of(declared: Attr[Any], conversion: Converter) -> Any:
    """Return the function that creates the default of an attribute; None if it has none."""
    if declared.role == "counter":
        return conversion.kind  # of a number: zero
    if declared.role in ("created_at", "updated_at"):
        return partial(datetime.now, UTC)
    if declared.default_factory is not None:
        return declared.default_factory
    if declared.default is not MISSING:
        value = declared.default
        shared = not isinstance(value, (list, dict, set))
        return lambda: value if shared else copy.deepcopy(value)
    return None


def _fitting(make: Any, conversion: Converter) -> Any:
    """Return the function that creates a default as the codec of its attribute keeps it."""
    cut = conversion.cut
    if make is None or cut is None:
        return make

    def fitted() -> Any:
        value = make()
        return None if value is None else cut(value)

    return fitted


def _check_role(declared: Attr[Any], conversion: Converter, where: str) -> None:
    wanted = {"version": int, "created_at": datetime, "updated_at": datetime}.get(declared.role)
    if wanted is not None and (conversion.kind is not wanted or conversion.optional):
        raise DeclarationError(
            f"{where}: {declared.role}() needs Attr[{wanted.__name__}]; annotate it so"
        )


def _transitions(declared: Attr[Any], conversion: Converter, where: str) -> Transitions | None:
    """Return the transitions of an attribute, if it has any."""
    if declared.transitions is None:
        return None
    where = f"{where}: attr(transitions=…)"
    others = {
        f"{declared.role}()": bool(declared.role),
        "immutable=True": declared.immutable,
        "key_only=True": declared.key_only,
    }
    for other, is_given in others.items():
        if is_given:
            raise DeclarationError(f"{where} and {other} exclude each other; leave one of them out")
    try:
        transitions = read_transitions(declared.transitions)
    except (TypeError, AttributeError):
        raise DeclarationError(
            f"{where} lists the values that may follow each value: {{NEW: [PAID], PAID: []}}"
        ) from None
    default = declared.default
    if default not in (MISSING, None, *transitions.after):
        raise DeclarationError(f"{where} does not have the default, {default!r}; add it")
    if None in transitions.after and not conversion.optional:
        raise DeclarationError(f"{where} has None; annotate the attribute with … | None")
    return transitions


def _ttl(kind: Any, where: str) -> Converter:
    """Return the converter of a TTL: a moment, stored in whole seconds since 1970.

    A fraction of a second is rounded up, so that an item never expires early.
    """
    moment = converter(kind, where)
    if moment.kind is not datetime:
        raise DeclarationError(f"{where}: ttl() needs Attr[datetime] or Attr[datetime | None]")

    def encode(value: Any) -> Value:
        moment.encode(value)  # raises unless it is a datetime with a time zone
        whole = int(value.replace(microsecond=0).timestamp())
        return {"N": str(whole + (value.microsecond > 0))}

    def exact(value: Any) -> Value:
        upper = encode(value)
        if not value.microsecond:
            return upper
        missing = Decimal(1_000_000 - value.microsecond).scaleb(-6)
        return {"N": str(Decimal(upper["N"]) - missing).rstrip("0")}

    def decode(value: Value) -> datetime:
        try:
            return datetime.fromtimestamp(int(value["N"]), UTC)
        except (KeyError, ValueError, OverflowError):
            raise UnreadableItem(f"{where}: {value} is not a number of seconds") from None

    return Converter(where, datetime, "N", encode, decode, optional=moment.optional, exact=exact)


def former_names(where: str, given: Any) -> tuple[str, ...]:
    """Return the names in `renamed_from=`; raise DeclarationError for anything else."""
    names = given if isinstance(given, tuple) else (given,) if given != "" else ()
    if not all(isinstance(each, str) and each for each in names) or len({*names}) < len(names):
        raise DeclarationError(
            f"{where}: renamed_from={given!r} must be a stored name, or a tuple of different "
            'names: write renamed_from="Order" or renamed_from=("OnlineOrder", "StoreOrder")'
        )
    return names
