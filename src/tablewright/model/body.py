"""Bodies: the attributes that the body of an entity and its bases declare, with their types.

    customer_id: Attr[str] = attr(name="customerId")
    note: Attr[str | None]                              an attribute without options

Invariant: each annotation declares an attribute or a class variable, and each attribute has an
annotation. Anything else raises DeclarationError, which shows the fix. Only bases that are not
entities may have other annotated variables, with values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, get_args, get_origin

from pydantic.fields import FieldInfo

from tablewright.errors import DeclarationError
from tablewright.model.annotations import namespace, resolve
from tablewright.model.attribute import Attr, Reference
from tablewright.model.key import History, IndexPlace, PrimaryKey, Unique
from tablewright.model.links.declared import Cascade, ReferenceTo

#: What a class declares besides attributes.
MEMBERS = (PrimaryKey, IndexPlace, Unique, History, Cascade, ReferenceTo)

_CLASS_VARIABLES = ("ClassVar", "typing.ClassVar", "t.ClassVar")


class BodyAttribute(NamedTuple):
    """An attribute and the type of its values."""

    declared: Attr[Any]
    kind: Any


def attributes_of(cls: type, entity: type, local: Mapping[str, Any]) -> dict[str, BodyAttribute]:
    """Return the attributes of a class and its bases, in the order of declaration.

    `entity` is the base class of all entities; `local` has the variables of the code around the
    class.
    """
    found: dict[str, BodyAttribute] = {}
    for base in reversed(cls.__mro__):
        if base.__module__ == entity.__module__:
            continue
        is_entity = issubclass(base, entity)
        for name, kind in _annotated(cls, base, local, is_entity=is_entity).items():
            declared = _declared(f"{cls.__name__}.{name}", base, name)
            found[name] = BodyAttribute(declared, kind)
        for name, value in vars(base).items():
            if isinstance(value, Attr):
                if name not in found:
                    raise DeclarationError(
                        f"{cls.__name__}.{name} is not annotated; write {name}: Attr[…] = attr(…)"
                    )
                found[name] = BodyAttribute(value, found[name].kind)
    return found


def _annotated(
    cls: type, base: type, local: Mapping[str, Any], *, is_entity: bool
) -> dict[str, Any]:
    """Return the types of the attributes that the body of `base` annotates."""
    # An attribute may have the name of a type: `date: Attr[date]`.
    body = {name: value for name, value in vars(base).items() if not isinstance(value, Attr)}
    names = {**namespace(base.__module__, local), **body, "Attr": Attr}
    kinds: dict[str, Any] = {}
    for name, annotation in vars(base).get("__annotations__", {}).items():
        shown = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        if isinstance(body.get(name), MEMBERS) or shown.lstrip().startswith(_CLASS_VARIABLES):
            continue
        where = f"{cls.__name__}.{name}"
        is_resolved = is_entity or "Attr" in shown
        hint = resolve(annotation, names, where) if is_resolved else annotation
        if get_origin(hint) is Attr:
            (kinds[name],) = get_args(hint)
        elif get_origin(hint) is ClassVar or hint is ClassVar:
            continue
        elif is_entity or not (name in body or name.startswith("_")):
            raise DeclarationError(f"{where}: {_fix(name, hint, shown)}")
    return kinds


def _fix(name: str, hint: Any, shown: str) -> str:
    if hint is Attr:
        return f"Attr has no type; write {name}: Attr[str] = attr(), or another type"
    if get_origin(hint) is Annotated and get_origin(get_args(hint)[0]) is Attr:
        return f"{shown} is not an attribute; write {name}: Attr[Annotated[…]] = attr()"
    return (
        f"{shown} is the annotation of a plain variable; write {name}: Attr[{shown}] = attr() for "
        f"an attribute, or {name}: ClassVar[{shown}] for a variable of the class"
    )


def _declared(where: str, base: type, name: str) -> Attr[Any]:
    """Return the options of an annotated attribute."""
    if name not in vars(base):
        plain: Attr[Any] = Attr()
        plain.name = name
        return plain
    value = vars(base)[name]
    if isinstance(value, Reference):  # of a base of variants, which is finished
        value = value.declared
    if not isinstance(value, Attr):
        fix = f"{name}: Attr[…] = attr(default={value!r})"
        if isinstance(value, FieldInfo):
            fix = f"{name}: Attr[Annotated[…, Field(…)]] = attr()"
        raise DeclarationError(
            f"{where} = {value!r} is not a declaration of an attribute; write {fix}"
        )
    return value
