"""Key writers: one generated function for each entity, which composes the keys of its items.

What the function for a small entity looks like:

    primary = key("CUSTOMER" / customer, "AT" / placed)
    by_product = index(Shop.by_product, "PRODUCT" / product, "AT" / placed)

    def compose(values):
        v0 = values['customer']
        v1 = values['placed']
        v2 = values['product']
        if not (v0 is not None and v1 is not None):
            raise incomplete(values)
        t0 = text0(v0)
        t1 = text1(v1)
        k0 = {'S': 'CUSTOMER#%s' % (t0,)}
        k1 = {'S': 'AT#%s' % (t1,)}
        keys = {'PK': k0, 'SK': k1}
        if v2 is not None:
            keys['GSI1PK'] = {'S': 'PRODUCT#%s' % (text2(v2),)}
            keys['GSI1SK'] = k1
        return keys

Parts and keys that are also in the primary key are composed once. It is generated because three
index keys take half of the time of a loop over `KeyMap.compose`.

Invariant: it returns the keys that `KeyMap.compose` returns, those of the primary key first. This
module must not know items or requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import IndexKeys, KeyMap
from tablewright.mapping.template import Composer, Template
from tablewright.values import Item

#: Returns the composed key attributes of an entity with these values.
KeyWriter: TypeAlias = Callable[[Mapping[str, Any]], Item]
Identity: TypeAlias = tuple[Any, ...]


def make_key_writer(
    primary: KeyMap,
    indexes: Sequence[IndexKeys],
    incomplete: Callable[[Mapping[str, Any]], Exception],
) -> KeyWriter:
    """Return the function that composes the keys of an entity.

    `incomplete` returns the error for values that lack a part of the primary key.
    """
    source = _Source()
    text = "\n    ".join(["def compose(values):", *source.lines(primary, indexes)])
    names: dict[str, Any] = source.names | {"incomplete": incomplete}
    exec(text, names)
    compose: KeyWriter = names["compose"]
    return compose


class _Source:
    """The source of a key writer, and the names that it uses."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        #: The variables with the values of attributes.
        self._values: dict[str, str] = {}
        #: The variables with texts of parts, and with key values, of the primary key.
        self._texts: dict[Identity | None, str] = {}
        self._keys: dict[Identity | None, str] = {}
        #: The attributes of the primary key, which are not None.
        self._known: set[str] = set()

    def lines(self, primary: KeyMap, indexes: Sequence[IndexKeys]) -> list[str]:
        own = list(self._primary(primary))
        others = [line for key in indexes for line in self._index(key)]
        values = [f"{variable} = values[{name!r}]" for name, variable in self._values.items()]
        return [*values, *own, *others, "return keys"]

    def _primary(self, key: KeyMap) -> Iterator[str]:
        conditions = list(self._conditions(key))
        if conditions:
            yield f"if not ({' and '.join(conditions)}):"
            yield "    raise incomplete(values)"
        self._known.update(key.depends_on)
        for template in _composed(key).values():
            for part in template.parts:
                identity = _part_identity(part, template)
                if identity is not None and identity not in self._texts:
                    text = f"t{len(self._texts)}"
                    yield f"{text} = {self._text(part, template)}"
                    self._texts[identity] = text
        for n, template in enumerate(_composed(key).values()):
            yield f"k{n} = {self._value(template)}"
            self._keys[key_identity(template)] = f"k{n}"
        self._keys.pop(None, None)
        entries = [f"{name!r}: k{n}" for n, name in enumerate(_composed(key))]
        yield f"keys = {{{', '.join(entries)}}}"

    def _index(self, key: IndexKeys) -> Iterator[str]:
        if not key.composed:
            return
        if not isinstance(key, KeyMap):
            yield f"keys.update({self._named('alternatives', key.compose)}(values) or {{}})"
            return
        conditions = list(self._conditions(key))
        if conditions:
            yield f"if {' and '.join(conditions)}:"
        for name, template in _composed(key).items():
            value = self._keys.get(key_identity(template)) or self._value(template)
            yield f"{'    ' if conditions else ''}keys[{name!r}] = {value}"

    def _conditions(self, key: KeyMap) -> Iterator[str]:
        """Yield the conditions under which an entity has a key, in the order of their checks."""
        if key.when is not None:
            yield f"{self._named('when', key.when.holds)}(values)"
        parts = [part for template in key.templates.values() for part in template.parts]
        for name in dict.fromkeys(part.attribute for part in parts if not part.can_be_absent):
            if name not in self._known:
                yield f"{self._variable(name)} is not None"
        for part in parts:
            if part.notation.is_optional:
                argument = self._named("argument", part.argument)
                yield f"{argument}({self._variable(part.attribute)}) is not None"

    def _value(self, template: Template) -> str:
        texts = "".join(f"{self._text(part, template)}, " for part in template.parts)
        return f"{{{template.tag!r}: {Composer(template).form!r} % ({texts})}}"

    def _text(self, part: KeyPart, template: Template) -> str:
        """Return the expression for the text of a part."""
        identity = _part_identity(part, template)
        if identity in self._texts:
            return self._texts[identity]
        return f"{self._named('text', part.attribute_text)}({self._variable(part.attribute)})"

    def _variable(self, name: str) -> str:
        return self._values.setdefault(name, f"v{len(self._values)}")

    def _named(self, kind: str, function: Any) -> str:
        name = f"{kind}{len(self.names)}"
        self.names[name] = function
        return name


def _composed(key: KeyMap) -> dict[str, Template]:
    return {name: key.templates[name] for name in key.composed}


def _part_identity(part: KeyPart, template: Template) -> Identity | None:
    """Return a value that is equal for parts with equal texts; None if a format hides that."""
    return (part.attribute, template.delimiter) if part.is_plain else None


def key_identity(template: Template) -> Identity | None:
    """Return a value that is equal for templates that compose equal keys; None if unknown."""
    parts = [_part_identity(part, template) for part in template.parts]
    return None if None in parts else (template.tag, Composer(template).form, *parts)
