"""Declarations of entities: the attributes of a class, and the templates of its keys.

Duplicate names, types that cannot be stored or be part of a key, and missing or unsorted parts
raise DeclarationError when the class is defined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.converters import Converter
from tablewright.mapping.key_parts import Delimiter, KeyPart, make_part, natural_part, optional_part
from tablewright.mapping.keys import IndexMap, KeyMap
from tablewright.mapping.pydantic_bridge import is_positive
from tablewright.mapping.table import TableMap
from tablewright.mapping.template import Tag, Template
from tablewright.model.attribute import (
    Attr,
    KeyPath,
    OptionalPiece,
    PathDelimiter,
    Reference,
    RepeatedPiece,
)
from tablewright.model.attribute_map import attribute_map
from tablewright.model.body import MEMBERS, BodyAttribute
from tablewright.model.key import PrimaryKey
from tablewright.model.validation import check_fields, decorators_of, strict

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
            if name in base.members or (name in base.attributes and not self._renames(base, name)):
                raise DeclarationError(
                    f"{self.name}.{name}: {base.name} declares it already, for all of its "
                    "variants; choose another name. Only the stored name of an attribute of the "
                    f"primary key can be another one: {name}: Attr[…] = attr(name=…)"
                )

    def _renames(self, base: EntityDeclaration, name: str) -> bool:
        """Return whether a variant stores a part of the shared key under another name."""
        again, shared = vars(self.owner).get(name), base.maps[name]
        if not isinstance(again, Attr) or again.stored is None or shared.is_key_only:
            return False
        (primary,) = (each for _, each in base.members_of(PrimaryKey))
        parts = [*primary.partition.pieces, *(primary.sort.pieces if primary.sort else ())]
        in_key = any(getattr(part, "declared", None) is base.attributes[name] for part in parts)
        return in_key and shared.stored not in self.table.attributes and again.is_only_a_name

    def _add_attribute(self, name: str, declared: Attr[Any], kind: Any) -> None:
        where = f"{self.name}.{name}"
        base, stored = self.base, declared.stored or name
        if base is not None and name in base.attributes:
            if kind != base.kinds[name]:
                raise DeclarationError(
                    f"{where}: it has another type than {base.name}.{name}; annotate it in the "
                    "same way, or leave it out"
                )
            declared.declared = declared = base.attributes[name]  # the piece of the shared key
        made = attribute_map(name, stored, declared, kind, where, self.decorators)
        for other in self.maps.values():
            if other.stored == made.stored:
                raise DeclarationError(
                    f"{where}: {self.name}.{other.name} is stored as {made.stored!r}, too; give "
                    "one of them another attr(name=…)"
                )
            if declared.role not in ("", "counter") and other.role == declared.role:
                raise DeclarationError(
                    f"{where}: {self.name} already has a {declared.role}(); remove one of them"
                )
        if made.stored == self.table.type_attribute:
            raise DeclarationError(
                f"{where}: {made.stored!r} is the table's type attribute, which the library "
                "writes; use attr(name=…)"
            )
        self.attributes[name] = declared
        self.kinds[name] = kind
        self.maps[name] = made

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
        for position, piece in enumerate(path.pieces):
            behind = path.pieces[position + 1 :]
            if _optional_in(piece) is not None and (behind or not position):
                raise DeclarationError(
                    f"{where}: {piece!r} is not the last part behind others; only the end of a "
                    "key can be left out. Declare an entity for each other form of the key"
                )
            if isinstance(piece, PathDelimiter) and _optional_in(behind[0]) is not None:
                continue  # it is left out with the part
            text = _literal(piece, delimiter, is_whole=len(path.pieces) == 1)
            if text is not None:
                self._refuse_braces(text, where)
                if pieces and isinstance(pieces[-1], str):
                    pieces[-1] += text
                elif text:
                    pieces.append(text)
                continue
            is_again = isinstance(piece, RepeatedPiece)
            optional = _optional_in(piece)
            use = optional or piece
            use = use.piece if isinstance(use, RepeatedPiece | OptionalPiece) else use
            made = self._part(use, where, delimiter, natural=natural)
            if optional is not None:
                made = self._optional(made, path.pieces[position - 1], optional, where, delimiter)
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

    def _optional(
        self,
        part: KeyPart,
        before: Any,
        piece: OptionalPiece[Any],
        where: str,
        delimiter: Delimiter,
    ) -> KeyPart:
        """Return the optional part of a key; `before` is the piece before it."""
        texts = [before] if isinstance(before, PathDelimiter) else []
        prefix = "".join(
            str(_literal(each, delimiter, is_whole=False)) for each in (*texts, *piece.before)
        )
        if not self.maps[part.attribute].converter.optional and not part.notation.is_optional:
            raise DeclarationError(
                f"{where}: {part.attribute} always has a value; annotate it with … | None, or "
                "leave optional() out"
            )
        if not prefix:
            raise DeclarationError(
                f"{where}: nothing separates {piece!r} from what is before it; join them with /, "
                'or write optional("-" + …)'
            )
        if part.notation.tag != "S":
            raise DeclarationError(f"{where}: {piece!r} is not a text; only texts can be left out")
        self._refuse_braces(prefix, where)
        return optional_part(part, prefix)

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
            if name in self.table.attributes:
                continue  # its path is that of the primary key, which is checked with the index
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


def _optional_in(piece: Any) -> OptionalPiece[Any] | None:
    """Return an optional part, also one that is repeated."""
    found = piece.piece if isinstance(piece, RepeatedPiece) else piece
    return found if isinstance(found, OptionalPiece) else None


def _literal(piece: Any, delimiter: Delimiter, *, is_whole: bool) -> str | None:
    """Return the text of a literal or a delimiter; None for a part. Numbers are whole keys."""
    if isinstance(piece, PathDelimiter):
        return delimiter.text
    if is_whole and type(piece) is int:
        return str(piece)
    return piece if isinstance(piece, str) else None
