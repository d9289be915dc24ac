"""Declared links: what the body of an entity says, before the other entity is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, overload

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.mapping.links import OnDelete
from tablewright.model.attribute import Attr
from tablewright.model.bound_keys import BoundIndex, BoundKey
from tablewright.plan.reads.include import LinkRef
from tablewright.plan.reference import Ref

E = TypeVar("E")
T = TypeVar("T")

#: The class of the children, one of their keys, or the name of either.
Child: TypeAlias = type[Any] | BoundIndex[Any, Any, Any] | BoundKey[Any, Any, Any] | str
#: The attributes of a child that make the key of its parent.
By: TypeAlias = Sequence[Ref[Any, Any] | str] | str
#: The same, in the body of the entity that has them.
Own: TypeAlias = Attr[Any] | Sequence[Attr[Any]] | str

_FUNCTIONS = {"delete": "cascade", "detach": "detach", "restrict": "restrict"}


class Cascade(Struct, eq=False):
    """What belongs to an entity, declared in its body."""

    child: Any
    by: tuple[Any, ...]
    on_delete: OnDelete

    @property
    def child_name(self) -> str:
        return self.written.partition(".")[0]

    @property
    def written(self) -> str:
        """The children as they are written: `Issue`, `Note.by_project`."""
        if isinstance(self.child, str):
            return self.child
        if isinstance(self.child, BoundIndex | BoundKey):
            return self.child._key.name
        return str(self.child.__name__)

    @property
    def label(self) -> str:
        """The declaration, for messages."""
        return f"{_FUNCTIONS[self.on_delete]}({self.written})"


def cascade(child: Child, *, by: By = ()) -> Cascade:
    """Declare that items of another entity are deleted with an item of this one.

    `child` is their class, or their key in an index, `Issue.by_project`; in quotes if they are
    declared later. They have the attributes of which the primary key is made here. If these have
    other names, `by` lists them in the order of the key.
    """
    return _declared(child, by, "delete")


def detach(child: Child, *, by: By = ()) -> Cascade:
    """Declare that items of another entity stay when an item of this one is deleted.

    The attributes that say what they belong to are removed. The parameters are those of `cascade`.
    """
    return _declared(child, by, "detach")


def restrict(child: Child, *, by: By = ()) -> Cascade:
    """Declare that an item of this entity is not deleted while items of another one belong to it.

    The parameters are those of `cascade`.
    """
    return _declared(child, by, "restrict")


def _declared(child: Any, by: Any, on_delete: OnDelete) -> Cascade:
    names = tuple(by) if isinstance(by, tuple | list) else (by,)
    if isinstance(child, str | BoundIndex | BoundKey) or hasattr(child, "__entity__"):
        return Cascade(child, names, on_delete)
    function = _FUNCTIONS[on_delete]
    raise DeclarationError(
        f"{function}({child!r}) takes an entity or its key in an index: Issue, Issue.by_project; "
        f'in quotes if it is declared later: {function}("Issue")'
    )


class ReferenceTo(Generic[T]):
    """What an entity refers to, declared in its body."""

    def __init__(self, target: Any, by: tuple[Any, ...]) -> None:
        self.target = target
        self.by = by

    @property
    def target_name(self) -> str:
        return self.target if isinstance(self.target, str) else str(self.target.__name__)

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type[E]) -> LinkRef[E, T]: ...


@overload
def reference(target: type[T], *, by: Own = ()) -> ReferenceTo[T]: ...
@overload
def reference(target: str, *, by: Own = ()) -> ReferenceTo[Any]: ...
def reference(target: Any, *, by: Any = ()) -> ReferenceTo[Any]:
    """Declare that an entity refers to an item of another one, which exists when it is written.

    `target` is its class; in quotes if it is declared later. The attributes of this entity that
    make the key of the target have the same names as there, or `by` lists them in the order of the
    key.
    """
    names = tuple(by) if isinstance(by, tuple | list) else (by,)
    if isinstance(target, str) or hasattr(target, "__entity__"):
        return ReferenceTo(target, names)
    raise DeclarationError(
        f"reference({target!r}) takes an entity: its class, or its name in quotes if it is "
        "declared later"
    )
