"""Links: what an item belongs to or refers to, and what is deleted with it.

    class Project:  primary = key("PROJECT" / name, "PROJECT")
                    issues = cascade("Issue")
    class Issue:    primary = key("PROJECT" / name, "ISSUE" / number)

A link says of which attributes the key of the target consists. A write that makes a link requires
that the target exists. A cascade says in addition by which key the items of a target are found, and
what happens to them when it is deleted.

This module must not know requests or plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from tablewright.values import Item

if TYPE_CHECKING:
    from tablewright.mapping.entity import EntityMap
    from tablewright.mapping.keys import KeyMap

#: The attribute of an item that is being deleted with what belongs to it.
BEING_DELETED = "tablewright_being_deleted"

#: What happens to the items when what they belong to is deleted.
OnDelete: TypeAlias = Literal["delete", "detach", "restrict"]


class LinkMap(Struct, frozen=True, eq=False):
    """The attributes of an entity that are the key of an item of another one."""

    #: Where it is declared: `Project.issues`.
    name: str
    entity: EntityMap
    target: EntityMap
    #: The attribute of the entity for each attribute of the target's key.
    sources: Mapping[str, str]

    @property
    def names(self) -> frozenset[str]:
        """The attributes of the entity that make the key of the target."""
        return frozenset(self.sources.values())

    def target_arguments(self, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Return the arguments of the key of the target; None if a value is missing."""
        found = tuple(
            values[self.sources[part.attribute]] for part in self.target.primary.parameters
        )
        return None if any(value is None for value in found) else found

    def target_key(self, values: Mapping[str, Any]) -> Item | None:
        """Return the key of the target; None if a value of the entity is missing."""
        found = {theirs: values[ours] for theirs, ours in self.sources.items()}
        if any(value is None for value in found.values()):
            return None
        return self.target.key_of(found)


class CascadeMap(Struct, frozen=True, eq=False):
    """What belongs to an item, how it is found, and what happens to it."""

    link: LinkMap
    #: The primary key of the children, or their key in an index.
    key: KeyMap
    #: The attributes of the parent that are the first parts of this key.
    bound: tuple[str, ...]
    on_delete: OnDelete

    @property
    def name(self) -> str:
        return self.link.name

    @property
    def child(self) -> EntityMap:
        return self.link.entity


class AwaitedLink(Protocol):
    """A link to or from an entity that is not declared yet."""

    @property
    def entity(self) -> EntityMap: ...
    @property
    def problem(self) -> str:
        """Why it has no meaning yet."""
        ...


def new_targets(
    links: tuple[LinkMap, ...], old: Mapping[str, Any] | None, new: Mapping[str, Any]
) -> Iterator[tuple[LinkMap, Item]]:
    """Yield the links of new values that the old ones do not have, with the keys of the targets."""
    for link in links:
        key = link.target_key(new)
        if key is not None and (old is None or link.target_key(old) != key):
            yield link, key
