"""Readers: one generated function for each entity, which decodes its usual items.

An item is usual if it has every attribute that it needs, each of the declared type, and its key is
what its values give. Most items are. What the function for a small entity looks like:

    customer: Attr[int] = attr(pad=7)       primary = key("CUSTOMER" / customer, "AT" / placed)
    placed: Attr[datetime] = attr()
    note: Attr[str | None] = attr(default=None)

    def read(stored):
        try:
            f0, f1, f2, f3, f4 = stored
            v0 = int(f0['N'])
            v1 = decode1(f1)
            if (
                f3['S'] == 'CUSTOMER#%s' % (f0['N'].zfill(7), ) and 0 <= v0 < 10000000
                and f4['S'] == 'AT#%s' % (utc_text(v1), )
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

It is generated because a page of 20 items with ten attributes takes a third less time than with a
loop over converters and a comparison of composed keys.

Invariant: a reader returns what `otherwise` would. Anything unusual is left to that, and so are
all errors. This module must not know requests or plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from tablewright.ids import KSUID, ULID
from tablewright.mapping.converters.times import utc_text
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.language import width_of
from tablewright.mapping.parts import KeyPart
from tablewright.mapping.template import Composer, Template
from tablewright.mapping.tracking import Tracking, pack
from tablewright.values import Value

if TYPE_CHECKING:
    from tablewright.mapping.entity import AttributeMap

#: Returns the entity of an item's fields.
Reader: TypeAlias = Callable[[tuple[Value | None, ...]], Any]

#: How values of the simplest types are decoded, without a call of their converter. Not a dict:
#: some types cannot be hashed, such as `list[Annotated[int, []]]`.
_DECODED: tuple[tuple[Any, str], ...] = (
    (str, "{}['S']"),
    (bool, "{}['BOOL']"),
    (int, "int({}['N'])"),
    (Decimal, "Decimal({}['N'])"),
    (set[str], "set({}['SS'])"),
)


def make_reader(
    owner: type,
    attributes: Sequence[AttributeMap],
    primary: KeyMap,
    fields: Sequence[str],
    *,
    tracking: Tracking,
    absent: Callable[[str], Any],
    otherwise: Reader,
) -> Reader:
    """Return the function that decodes the fields of an item: its attributes, then its key.

    `absent` returns the value of a missing attribute that has one. `otherwise` reads items that are
    not usual; it is returned itself if an entity has none.
    """
    source = _Source(attributes, primary, fields)
    if not source.is_possible:
        return otherwise
    text = source.text(tracking.positions)
    names = source.names | {"owner": owner, "absent": absent, "otherwise": otherwise}
    exec(text, names)
    read: Reader = names["read"]
    return read


class _Source:
    """The source of a reader, and the names that it uses."""

    def __init__(
        self, attributes: Sequence[AttributeMap], primary: KeyMap, fields: Sequence[str]
    ) -> None:
        self._attributes = attributes
        self._primary = primary
        self._fields = fields
        self._position = {each.name: position for position, each in enumerate(attributes)}
        self.names: dict[str, Any] = {
            "new": object.__new__,
            "keep": object.__setattr__,
            "pack": pack,
            "Decimal": Decimal,
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

    def text(self, snapshot: Sequence[int]) -> str:
        """Return the source, which packs and keeps the fields at the positions of `snapshot`."""
        kept = ", ".join(f"f{n}" for n in snapshot)
        in_key = sorted(map(self._position.__getitem__, self._primary.depends_on))
        conditions = [
            condition
            for name in self._primary.composed
            for condition in self._conditions(name, self._primary.templates[name])
        ]
        return "\n".join(
            (
                "def read(stored):",
                "    try:",
                f"        {''.join(f'f{n}, ' for n in range(len(self._fields)))} = stored",
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
        """Return the expression for the value of a field."""
        converter = self._attributes[n].converter
        for kind, form in _DECODED:
            if converter.kind == kind and not converter.optional:
                return form.format(f"f{n}")
        self.names[f"decode{n}"] = converter.decode
        return f"decode{n}(f{n})"

    def _decoded_or_absent(self, n: int) -> str:
        attribute = self._attributes[n]
        if not attribute.may_be_absent:
            return self._decoded(n)
        return f"absent({attribute.name!r}) if f{n} is None else {self._decoded(n)}"

    def _conditions(self, name: str, template: Template) -> Iterator[str]:
        """Yield the conditions under which a key attribute is what the values give."""
        texts, others = [], []
        for part in template.parts:
            text, *conditions = self._part(part, template)
            texts.append(f"{text}, ")
            others += conditions
        stored = f"f{self._fields.index(name)}[{template.tag!r}]"
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
            yield f"f{n}['S']"
        elif kind is datetime:
            yield f"utc_text(v{n})"
        elif kind is int and (width := width_of(part.language)) is not None:
            yield f"f{n}['N'].zfill({width})"
            yield f"0 <= v{n} < {10**width}"
        else:
            function = f"text{len(self.names)}"
            self.names[function] = part.attribute_text
            yield f"{function}(v{n})"
