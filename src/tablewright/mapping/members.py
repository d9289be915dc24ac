"""Members of documents as parts of keys: which member a function reads, and its type.

    member(address, lambda address: address.city)

The function runs once, at declaration, on a recorder that notes what it reads. The type follows
from the annotations of the document's class.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from msgspec.structs import replace

from tablewright.errors import DeclarationError
from tablewright.mapping.formats import Format
from tablewright.mapping.notation import Notation, name_of, no_notation, notation_of


class _Recorder:
    """Notes the attributes and items that are read from it."""

    def __init__(self, path: tuple[tuple[str, str], ...] = ()) -> None:
        self._path = path

    def __getattr__(self, name: str) -> _Recorder:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Recorder((*self._path, ("attribute", name)))

    def __getitem__(self, name: Any) -> _Recorder:
        return _Recorder((*self._path, ("item", name)))


def member_format(read: Callable[[Any], Any]) -> Format:
    """Return the format of a document of which a function reads one member."""
    recorder = _Recorder()
    try:
        found = read(recorder)
    except Exception as error:
        raise DeclarationError(f"member(…): the function failed: {error!r}") from None
    path = found._path if isinstance(found, _Recorder) else ()
    if not path:
        raise DeclarationError(
            "member(…) takes a function that reads a member: member(address, lambda a: a.city)"
        )
    shown = "".join(f".{name}" if how == "attribute" else f"[{name!r}]" for how, name in path)

    def apply(document: Notation) -> Notation:
        kind, is_optional = document.kind, False
        for _, name in path:
            kind, may_be_missing = _member_type(kind, name)
            is_optional = is_optional or may_be_missing
        notation = notation_of(kind, None)
        if notation is None:
            raise no_notation(kind)
        return replace(notation, derive=lambda value: _read(value, path), is_optional=is_optional)

    return Format(f"{{}}{shown}", apply)


def _read(value: Any, path: tuple[tuple[str, str], ...]) -> Any:
    """Return the member; None if it or a document around it is missing."""
    for how, name in path:
        if value is None:
            return None
        value = getattr(value, name, None) if how == "attribute" else value.get(name)
    return value


def _member_type(kind: Any, name: str) -> tuple[Any, bool]:
    """Return the type of a member, and whether it can be missing."""
    if get_origin(kind) is dict:
        found, may_be_missing = get_args(kind)[1], True
    else:
        hints = get_type_hints(kind) if isinstance(kind, type) else {}
        if name not in hints:
            raise DeclarationError(
                f"reads {name!r}, which {name_of(kind)} does not declare; it has "
                f"{', '.join(hints) or 'no annotated members'}"
            )
        found, may_be_missing = hints[name], name in getattr(kind, "__optional_keys__", ())
    kind, is_optional = _without_none(found)
    return kind, is_optional or may_be_missing


def _without_none(kind: Any) -> tuple[Any, bool]:
    """Return a type without None and Annotated, and whether None was among its values."""
    if get_origin(kind) is Annotated:
        return _without_none(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        others = [each for each in get_args(kind) if each is not types.NoneType]
        if len(others) == 1:
            return _without_none(others[0])[0], True
    return kind, False
