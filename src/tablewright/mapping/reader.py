"""Readers: one generated function for each entity, which decodes its usual items.

An item is usual if it has every attribute that it needs, each of the declared type, and its key is
what its values give. Most items are. What the function for a small entity looks like:

    customer: Attr[int] = attr(pad=7)       primary = key("CUSTOMER" / customer, "AT" / placed)
    placed: Attr[datetime] = attr()
    note: Attr[str | None] = attr(default=None)

    def read(stored):
        try:
            k0, k1, f0, f1, f2, = stored
            v0 = int(f0.N)
            v1 = moment(f1.S)
            if (
                k0.S == 'CUSTOMER#%s' % (f0.N.zfill(7), ) and 0 <= v0 < 10000000
                and k1.S == 'AT#%s' % (utc_text(v1), )
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

This one reads answers that msgspec has decoded as structs (see `stored_form`); another one, with
`f0['N']` in place of `f0.N`, reads items. They are generated because a page of 20 items with ten
attributes takes half of the time of a loop over converters and a comparison of composed keys.

Invariant: a reader returns what `otherwise` would. Anything unusual is left to that, and so are
all errors. This module must not know requests or plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import defstruct, field

from tablewright.ids import KSUID, ULID
from tablewright.mapping.converters.times import utc_text
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.language import width_of
from tablewright.mapping.parts import KeyPart
from tablewright.mapping.stored_form import (
    NumberValue,
    TextValue,
    of_dict,
    of_struct,
    stored_form,
)
from tablewright.mapping.template import Composer, Template
from tablewright.mapping.tracking import Tracking, pack

if TYPE_CHECKING:
    from tablewright.mapping.entity import AttributeMap

#: Returns the entity of an item's fields.
Reader: TypeAlias = Callable[[tuple[Any, ...]], Any]

_KEY_TYPES: dict[str, Any] = {"S": TextValue, "N": NumberValue}
_ANY_VALUE: Any = dict[str, Any]


def make_reader(
    owner: type,
    attributes: Sequence[AttributeMap],
    primary: KeyMap,
    keys: Sequence[str],
    *,
    tracking: Tracking,
    absent: Callable[[str], Any],
    otherwise: Reader,
    is_typed: bool = False,
) -> Reader:
    """Return the function that decodes the fields of an item: its key, then its attributes.

    With `is_typed`, the fields are those of `item_type`; else they are values. `absent` returns the
    value of a missing attribute that has one. `otherwise` reads items that are not usual; it is
    returned itself if an entity has none.
    """
    source = _Source(attributes, primary, keys, is_typed=is_typed)
    if not source.is_possible:
        return otherwise
    text = source.text(tracking.positions)
    names = source.names | {"owner": owner, "absent": absent, "otherwise": otherwise}
    exec(text, names)
    read: Reader = names["read"]
    return read


def item_type(
    attributes: Sequence[AttributeMap], primary: KeyMap, keys: Sequence[str], stored: Sequence[str]
) -> Any:
    """Return the type of the items in answers, of which only the fields of a reader are decoded.

    Index keys and other attributes are skipped, not built: a page of 20 orders decodes in two
    thirds of the time. The fields have the order of stored items, in which msgspec expects them.
    `stored` are the names of the attributes that items store.
    """
    types: list[Any] = [_ANY_VALUE] * (len(keys) + len(stored))
    source = _Source(attributes, primary, keys, is_typed=True)
    if source.is_possible:
        types = source.types
    fields = [
        (f"a{n}", kind | None, field(default=None, name=name))
        for n, (kind, name) in enumerate(zip(types, (*keys, *stored), strict=True))
    ]
    return defstruct("Item", fields, gc=False)  # without cycles


class _Source:
    """The source of a reader, and the names that it uses."""

    def __init__(
        self,
        attributes: Sequence[AttributeMap],
        primary: KeyMap,
        keys: Sequence[str],
        *,
        is_typed: bool,
    ) -> None:
        self._attributes = attributes
        self._primary = primary
        self._keys = keys
        self._position = {each.name: position for position, each in enumerate(attributes)}
        self._forms = [stored_form(each.converter) for each in attributes]
        self._member = of_struct if is_typed else of_dict
        self.names: dict[str, Any] = {
            "new": object.__new__,
            "keep": object.__setattr__,
            "pack": pack,
            "utc_text": utc_text,
        }

    @property
    def is_possible(self) -> bool:
        """Whether the items store every attribute, and those of their key are never None."""
        if any(each.is_key_only for each in self._attributes):
            return False
        return not any(
            part.notation.is_optional
            or self._attributes[self._position[part.attribute]].converter.optional
            for template in self._primary.templates.values()
            for part in template.parts
        )

    @property
    def types(self) -> list[Any]:
        """What the fields are decoded as, for a reader of typed fields."""
        return [
            *(_KEY_TYPES.get(self._primary.templates[name].tag, _ANY_VALUE) for name in self._keys),
            *(_ANY_VALUE if form is None else form.type for form in self._forms),
        ]

    def text(self, snapshot: Sequence[int]) -> str:
        """Return the source, which packs and keeps the attributes at positions in `snapshot`."""
        kept = ", ".join(f"f{n}" for n in snapshot)
        in_key = sorted(map(self._position.__getitem__, self._primary.depends_on))
        fields = [f"k{n}" for n in range(len(self._keys))]
        fields += [f"f{n}" for n in range(len(self._attributes))]
        conditions = [
            condition
            for name in self._primary.composed
            for condition in self._conditions(name, self._primary.templates[name])
        ]
        return "\n".join(
            (
                "def read(stored):",
                "    try:",
                f"        {', '.join(fields)}, = stored",
                *(f"        v{n} = {self._decoded(n)}" for n in in_key),
                f"        if {' and '.join(conditions) or 'True'}:",
                "            entity = new(owner)",
                "            values = entity.__dict__",
                *(
                    f"            values[{each.name!r}] = "
                    + (f"v{n}" if n in in_key else self._decoded_or_absent(n))
                    for n, each in enumerate(self._attributes)
                ),
                *([f"            keep(entity, '_snapshot', pack([{kept}]))"] if kept else []),
                "            return entity",
                "    except Exception:",
                "        pass",
                "    return otherwise(stored)",
            )
        )

    def _decoded(self, n: int) -> str:
        """Return the expression for the value of an attribute."""
        form = self._forms[n]
        if form is not None:
            return form.value(f"f{n}", self._member, self.names)
        self.names[f"decode{n}"] = self._attributes[n].converter.decode
        return f"decode{n}(f{n})"

    def _decoded_or_absent(self, n: int) -> str:
        attribute = self._attributes[n]
        if not attribute.may_be_absent:
            return self._decoded(n)
        return f"absent({attribute.name!r}) if f{n} is None else {self._decoded(n)}"

    def _content(self, n: int, tag: str) -> str:
        """Return the expression for the content of a stored attribute."""
        return f"f{n}" + (of_dict if self._forms[n] is None else self._member)(tag)

    def _conditions(self, name: str, template: Template) -> Iterator[str]:
        """Yield the conditions under which a key attribute is what the values give."""
        texts, others = [], []
        for part in template.parts:
            text, *conditions = self._part(part, template)
            texts.append(f"{text}, ")
            others += conditions
        member = self._member if template.tag in _KEY_TYPES else of_dict
        stored = f"k{self._keys.index(name)}{member(template.tag)}"
        yield f"{stored} == {Composer(template).form!r} % ({''.join(texts)})"
        yield from others

    def _part(self, part: KeyPart, template: Template) -> Iterator[str]:
        """Yield the expression for the text of a part, then the conditions under which it holds."""
        n = self._position[part.attribute]
        attribute = self._attributes[n]
        kind = attribute.converter.kind
        if not part.is_plain or attribute.role == "ttl":
            kind = None
        if kind is str:
            yield f"v{n}"
            yield f"v{n}"  # a part is not empty
            yield from (f"{each!r} not in v{n}" for each in template.delimiter.special)
        elif kind in (KSUID, ULID):
            yield self._content(n, "S")
        elif kind is datetime:
            yield f"utc_text(v{n})"
        elif kind is int and (width := width_of(part.language)) is not None:
            yield f"{self._content(n, 'N')}.zfill({width})"
            yield f"0 <= v{n} < {10**width}"
        else:
            function = f"text{len(self.names)}"
            self.names[function] = part.attribute_text
            yield f"{function}(v{n})"
