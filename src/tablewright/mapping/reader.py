"""Readers: one generated function for each entity, which decodes its usual items.

An item is usual if it has every attribute that it needs, each of the declared type, and its keys
match its values. Most items are. What the function for a small entity looks like:

    customer: Attr[int] = attr(pad=7)       primary = key("CUSTOMER" / customer, "AT" / placed)
    placed: Attr[datetime] = attr()         by_day = index(Shop.by_day, "DAY" / day(placed), …)
    note: Attr[str | None] = attr(default=None)

    def read(stored):
        try:
            k0 = stored.a0
            k1 = stored.a1
            k2 = stored.a2
            f0 = stored.a3
            f1 = stored.a4
            f2 = stored.a5
            v0 = int(f0.N)
            t1 = f1.S
            v1 = moment(t1)
            if (
                k0.S == f"CUSTOMER#{f0.N.zfill(7)}" and k1.S == f"AT#{t1}"
                and 0 <= v0 < 10000000 and is_default_text(v1, t1)
                and (k2 is None or k2.S == f"DAY#{t1[:10]}")
            ):
                entity = new(owner)
                values = entity.__dict__
                values['customer'] = v0
                values['placed'] = v1
                values['note'] = absent('note') if f2 is None else decode2(f2)
                return entity
        except Exception:
            pass
        return otherwise(stored)

(`is_default_text` stands for comparisons of single characters.) This one reads answers that msgspec
has decoded as structs (see `stored_form`); another one, with `f0['N']` in place of `f0.N`, reads
items. They are generated because a page of 20 items with ten attributes takes half of the time of a
loop over converters and a comparison of composed keys.

Of the keys in indexes, only those are compared that may be in another spelling: see `stored_key`.

Invariant: a reader returns what `otherwise` would. Anything unusual is left to that, and so are
all errors. This module must not know requests or plans.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import defstruct, field

from tablewright.ids import KSUID, ULID
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.key_writer import key_identity
from tablewright.mapping.language import width_of
from tablewright.mapping.stored_form import NumberValue, TextValue, of_dict, of_struct, stored_form
from tablewright.mapping.stored_key import StoredKey
from tablewright.mapping.template import Composer, Template
from tablewright.mapping.tracking import Tracking, pack

if TYPE_CHECKING:
    from tablewright.mapping.attributes import AttributeMap

#: Returns the entity of an item's fields.
Reader: TypeAlias = Callable[[tuple[Any, ...]], Any]

_KEY_TYPES: dict[str, Any] = {"S": TextValue, "N": NumberValue}
_ANY_VALUE: Any = dict[str, Any]
#: The length of the default text of a moment: 2026-01-15T10:15:30.000000Z.
MOMENT_WIDTH = 27


def make_reader(
    owner: type,
    attributes: Sequence[AttributeMap],
    keys: StoredKey,
    *,
    tracking: Tracking,
    absent: Callable[[str], Any],
    otherwise: Reader,
    is_typed: bool = False,
) -> Reader:
    """Return the function that decodes the fields of an item: its keys, then its attributes.

    With `is_typed`, it takes an item of `item_type`; else a tuple of values. `absent` returns the
    value of a missing attribute. `otherwise` decodes unusual items; it is returned itself if all
    items of an entity are unusual.
    """
    source = _Source(attributes, keys, is_typed=is_typed)
    if not source.is_possible:
        return otherwise
    text = source.text(tracking.positions)
    names = source.names | {"owner": owner, "absent": absent, "otherwise": otherwise}
    exec(text, names)
    read: Reader = names["read"]
    return read


def item_type(attributes: Sequence[AttributeMap], keys: StoredKey, stored: Sequence[str]) -> Any:
    """Return the type of the items in responses, with the fields that a reader needs.

    Other attributes are skipped, not built: a page of 20 orders decodes in two thirds of the time.
    The fields have the order of stored items, in which msgspec expects them.
    `stored` are the names of the attributes that items store.
    """
    types: list[Any] = [_ANY_VALUE] * (len(keys.names) + len(stored))
    source = _Source(attributes, keys, is_typed=True)
    if source.is_possible:
        types = source.types
    fields = [
        (f"a{n}", kind | None, field(default=None, name=name))
        for n, (kind, name) in enumerate(zip(types, (*keys.names, *stored), strict=True))
    ]
    return defstruct("Item", fields, gc=False)  # without cycles


class _Source:
    """The source of a reader, and the names that it uses."""

    def __init__(
        self, attributes: Sequence[AttributeMap], keys: StoredKey, *, is_typed: bool
    ) -> None:
        self._attributes = attributes
        self._keys = keys
        self._primary = keys.primary
        self._position = {each.name: position for position, each in enumerate(attributes)}
        self._forms = [stored_form(each.converter) for each in attributes]
        self._is_typed = is_typed
        self._member = of_struct if is_typed else of_dict
        #: The positions of moments that are never absent; `t0` is the text of such a moment.
        self._moments = [
            n
            for n, each in enumerate(attributes)
            if each.converter.kind is datetime and self._forms[n] and not each.may_be_absent
        ]
        #: Conditions that are true if the primary key matches the values.
        self._known: list[str] = []
        self.names: dict[str, Any] = {
            "new": object.__new__,
            "keep": object.__setattr__,
            "pack": pack,
            "moment": datetime.fromisoformat,
            "UTC": UTC,
        }

    @property
    def is_possible(self) -> bool:
        """Whether items store every attribute, and those of the key are never None."""
        if any(each.is_key_only or each.converter.cipher for each in self._attributes):
            return False
        return not any(
            part.notation.is_optional
            or self._attributes[self._position[part.attribute]].converter.optional
            for template in self._primary.templates.values()
            for part in template.parts
        )

    @property
    def types(self) -> list[Any]:
        """The types that msgspec decodes the fields as."""
        return [
            *(
                _KEY_TYPES.get(self._templates(name)[0].tag, _ANY_VALUE)
                for name in self._keys.names
            ),
            *(_ANY_VALUE if form is None else form.type for form in self._forms),
        ]

    def _templates(self, name: str) -> list[Template]:
        """Return the templates that a key attribute can have."""
        own = self._primary.templates
        return [own[name]] if name in own else self._keys.index_templates[name]

    def text(self, snapshot: Sequence[int]) -> str:
        """Return the source; it packs and keeps the attributes at the positions in `snapshot`."""
        kept = ", ".join(f"f{n}" for n in snapshot)
        fields = [f"k{n}" for n in range(len(self._keys.names))]
        fields += [f"f{n}" for n in range(len(self._attributes))]
        conditions = [
            *self._own_conditions(),
            *self._natural_conditions(),
            *self._zone_conditions(),
            *self._index_conditions(),
        ]
        in_own = {self._position[name] for name in self._primary.depends_on}
        compared = sorted(in_own | self._in_index_keys() | set(self._moments))
        return "\n".join(
            (
                "def read(stored):",
                "    try:",
                *(f"        {line}" for line in self._unpack(fields)),
                *(
                    f"        {line}"
                    for n in compared
                    for line in self._assigned(n, is_own=n in in_own)
                ),
                f"        if {' and '.join(conditions) or 'True'}:",
                "            entity = new(owner)",
                "            values = entity.__dict__",
                *(
                    f"            values[{each.name!r}] = "
                    + (f"v{n}" if n in compared else self._decoded_or_absent(n))
                    for n, each in enumerate(self._attributes)
                ),
                *([f"            keep(entity, '_snapshot', pack([{kept}]))"] if kept else []),
                "            return entity",
                "    except Exception:",
                "        pass",
                "    return otherwise(stored)",
            )
        )

    def _unpack(self, fields: Sequence[str]) -> list[str]:
        """Return the lines that assign the fields to variables."""
        if self._is_typed:  # less time than astuple
            return [f"{name} = stored.a{n}" for n, name in enumerate(fields)]
        return [f"{', '.join(fields)}, = stored"]

    # -- values ------------------------------------------------------------------------------

    def _decoded(self, n: int) -> str:
        """Return the expression for the value of an attribute."""
        form = self._forms[n]
        if form is not None:
            return form.value(f"f{n}", self._member, self.names)
        self.names[f"decode{n}"] = self._attributes[n].converter.decode
        return f"decode{n}(f{n})"

    def _assigned(self, n: int, *, is_own: bool) -> Iterator[str]:
        """Yield the lines that decode an attribute before the conditions."""
        if n in self._moments:  # a call of stored_form's function takes as long as the rest
            yield f"t{n} = f{n}{self._member('S')}"
            yield f"v{n} = moment(t{n})"
        else:
            yield f"v{n} = {self._decoded(n) if is_own else self._decoded_or_absent(n)}"

    def _decoded_or_absent(self, n: int) -> str:
        attribute = self._attributes[n]
        if not attribute.may_be_absent:
            return self._decoded(n)
        return f"absent({attribute.name!r}) if f{n} is None else {self._decoded(n)}"

    def _content(self, n: int, tag: str) -> str:
        """Return the expression for the content of a stored attribute."""
        if n in self._moments:
            return f"t{n}"
        return f"f{n}" + (of_dict if self._forms[n] is None else self._member)(tag)

    # -- conditions --------------------------------------------------------------------------

    def _own_conditions(self) -> Iterator[str]:
        """Yield the conditions that the primary key matches the values."""
        for name in self._primary.composed:
            comparison, *others = self._comparison(name, self._primary.templates[name])
            self._known += others
            yield comparison
        yield from dict.fromkeys(self._known)

    def _zone_conditions(self) -> Iterator[str]:
        """Yield the conditions that moments are in UTC."""
        for n in self._moments:
            if _is_default_text(f"v{n}", f"t{n}") not in self._known:
                yield f"v{n}.tzinfo is UTC"

    def _natural_conditions(self) -> Iterator[str]:
        """Yield the conditions that attributes that are keys have their usual spelling."""
        for each in self._keys.natural:
            n = self._position[each.attribute]
            if each.converter.kind is datetime and not each.converter.codec:
                condition = _is_default_text(f"v{n}", self._content(n, "S"))
                if condition in self._known:
                    continue
            else:
                self.names[f"encode{n}"] = each.converter.encode
                condition = f"encode{n}(v{n})['S'] == {self._content(n, 'S')}"
            optional = self._attributes[n].may_be_absent
            yield f"(f{n} is None or {condition})" if optional else condition

    def _index_conditions(self) -> Iterator[str]:
        """Yield the conditions that keys in indexes match the values."""
        own = {key_identity(self._primary.templates[name]): name for name in self._primary.composed}
        own.pop(None, None)
        for name, templates in self._keys.index_templates.items():
            key = self._key(name, "S")
            places = []
            for template in templates:
                equal = own.get(key_identity(template))
                if equal is not None:
                    places.append(f"{key} == {self._key(equal, 'S')}")
                    continue
                present = [
                    f"v{n} is not None"
                    for n in dict.fromkeys(
                        self._position[part.attribute]
                        for part in template.parts
                        if not part.can_be_absent
                    )
                    if self._attributes[n].may_be_absent
                ]
                conditions = [*present, *self._comparison(name, template)]
                places.append(" and ".join(c for c in conditions if c not in self._known))
            yield f"({self._field(name)} is None or {' or '.join(places)})"

    def _in_index_keys(self) -> set[int]:
        """Return the positions of the attributes that the conditions on indexes use."""
        parts = [
            part
            for templates in self._keys.index_templates.values()
            for template in templates
            for part in template.parts
        ]
        names = {part.attribute for part in parts} | {each.attribute for each in self._keys.natural}
        return {self._position[name] for name in names}

    def _field(self, name: str) -> str:
        return f"k{self._keys.names.index(name)}"

    def _key(self, name: str, tag: str) -> str:
        """Return the expression for the content of a key attribute."""
        return self._field(name) + (self._member if tag in _KEY_TYPES else of_dict)(tag)

    def _comparison(self, name: str, template: Template) -> Iterator[str]:
        """Yield the comparison of a key attribute, then the conditions for its validity."""
        texts, others = [], []
        for part in template.parts:
            text, *conditions = self._part(part, template)
            texts.append(text)
            others += conditions
        yield f"{self._key(name, template.tag)} == {_composed(template, texts)}"
        yield from others

    def _part(self, part: KeyPart, template: Template) -> Iterator[str]:
        """Yield the expression for the text of a part, then the conditions for its validity."""
        n = self._position[part.attribute]
        attribute = self._attributes[n]
        is_usual = attribute.role != "ttl" and not attribute.converter.codec
        kind = attribute.converter.kind if is_usual else None
        if kind is datetime and part.notation.beginning is not None:
            content = self._content(n, "S")
            length, end = part.notation.beginning
            text = content if length == MOMENT_WIDTH else f"{content}[:{length}]"
            yield f"{text} + {end!r}" if end else text
            yield _is_default_text(f"v{n}", content)
        elif part.is_plain and kind is str:
            # A part is not empty.
            plain = [f"v{n}", *(f"{each!r} not in v{n}" for each in template.delimiter.special)]
            yield f"(v{n} if {' and '.join(plain)} else {self._text(part)}(v{n}))"
        elif part.is_plain and kind in (KSUID, ULID):
            yield self._content(n, "S")
        elif part.is_plain and kind is int and (width := width_of(part.language)) is not None:
            yield f"{self._content(n, 'N')}.zfill({width})"
            yield f"0 <= v{n} < {10**width}"
        else:
            yield f"{self._text(part)}(v{n})"

    def _text(self, part: KeyPart) -> str:
        """Return the name of the function that returns the text of a part."""
        name = f"text{len(self.names)}"
        self.names[name] = part.attribute_text
        return name


def _composed(template: Template, texts: list[str]) -> str:
    """Return the expression for a key; `texts` are the expressions for its parts."""
    written = "".join(texts)
    if '"' in written or "\\" in written:  # Python 3.11 has neither inside of an f-string
        return f"{Composer(template).form!r} % ({', '.join(texts)}, )"
    remaining = iter(texts)
    pieces = [
        _in_quotes(piece) if isinstance(piece, str) else f"{{{next(remaining)}}}"
        for piece in template.pieces
    ]
    return f'f"{"".join(pieces)}"'


def _in_quotes(literal: str) -> str:
    """Return a literal as it is written in an f-string."""
    escaped = literal.encode("unicode_escape").decode().replace('"', '\\"')
    return escaped.replace("{", "{{").replace("}", "}}")


def _is_default_text(moment: str, text: str) -> str:
    """Return the condition that a text is the default text of the `moment` read from it.

    It has the right length and separators: no other date of ten characters has a second hyphen
    there, no other time of fifteen characters a point. From Python 3.14 on, the hour can be 24.
    """
    condition = (
        f"len({text}) == {MOMENT_WIDTH} and {text}[7] == '-' and {text}[10] == 'T' "
        f"and {text}[19] == '.' and {text}[26] == 'Z'"
    )
    return (
        condition
        if sys.version_info < (3, 14)
        else f"{condition} and {moment}.hour == int({text}[11:13])"
    )
