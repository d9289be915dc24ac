"""Attributes of an entity, and what depends on their values: unique values and histories."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct

from tablewright.mapping.converters import Converter
from tablewright.mapping.keys import KeyMap
from tablewright.mapping.pydantic_bridge import Check
from tablewright.mapping.transitions import Transitions
from tablewright.symbol import Symbol
from tablewright.values import Value

if TYPE_CHECKING:
    from tablewright.mapping.entity import EntityMap

Role: TypeAlias = Literal["", "version", "created_at", "updated_at", "ttl", "counter"]

#: The roles of the attributes that the library sets.
STAMPS: frozenset[str] = frozenset({"version", "created_at", "updated_at", "counter"})


class AttributeMap(Struct, frozen=True):
    """One attribute: its name in Python, its name in the item, and how its values are stored."""

    name: str
    stored: str
    converter: Converter
    role: Role = ""
    #: Returns the value if the item does not have the attribute; None if it must have it.
    default: Callable[[], Any] | None = None
    doc: str = ""
    #: Stored only inside keys.
    is_key_only: bool = False
    #: Does not change after the entity was created.
    is_immutable: bool = False
    #: The values that may follow each of its values; None if any may.
    transitions: Transitions | None = None
    #: Its stored names in earlier versions of the design.
    renamed_from: tuple[str, ...] = ()
    #: What a migration gives to items without a readable value: a value, or a function of the item.
    fill: Any = None
    #: Checks the constraints of its type before a write; None if it has none.
    check: Check | None = None
    #: Validates a single value from a caller, and a member of a list or a set.
    validate: Check | None = None
    validate_member: Check | None = None

    def enter(self, value: Any) -> Any:
        """Return a value from a caller, validated by pydantic; raise InvalidValue."""
        value = self.fit(value)
        if self.validate is None or value is None or isinstance(value, Symbol):
            return value
        self.converter.encode(value)  # only the declared type: nothing is converted
        return self.validate(value)

    def fit(self, value: Any) -> Any:
        """Return a value as its codec keeps it: a moment without the parts of a second, say."""
        cut = self.converter.cut
        return value if cut is None or value is None or isinstance(value, Symbol) else cut(value)

    def store(self, value: Any) -> Value | None:
        """Return the stored value; None if the attribute is left out.

        An absent attribute has its default, so None is stored if the default is another value.
        """
        if self.check is not None and value is not None:
            self.check(value)
        stored = self.converter.stored(value)
        if stored is None and value is None and self.has_value_if_absent:
            return {"NULL": True}
        return stored

    @property
    def writer(self) -> Callable[[Any], Value | None]:
        """Return `store`, or the faster `encode` for an attribute that is never left out."""
        is_plain = self.check is None and self.converter.empty is None
        return self.converter.encode if is_plain and not self.converter.optional else self.store

    @property
    def may_be_absent(self) -> bool:
        """Whether an item may lack it."""
        return (
            self.role in ("created_at", "updated_at")
            or self.default is not None
            or self.converter.optional
            or self.converter.empty is not None
        )

    @property
    def has_value_if_absent(self) -> bool:
        """Whether it is optional, and an absent one has a default other than None."""
        if not self.converter.optional or self.default is None:
            return False
        return self.default() is not None


class UniqueMap(Struct, frozen=True):
    """A unique value: the sentinel item that reserves it."""

    key: KeyMap
    #: The attributes of the entity that the sentinel contains.
    keeps: tuple[AttributeMap, ...]
    type_name: str
    #: The attributes that identify its entity: those of the primary key; all of `keeps`, if the
    #: sentinel lacks one of them.
    owned_by: tuple[AttributeMap, ...]


class HistoryMap(Struct, frozen=True):
    """A history: the event that is written when an attribute changes."""

    attribute: str
    event: EntityMap
    #: The source of each attribute of the event: an attribute of the entity, or one of ":old",
    #: ":new", ":version", ":old_version", ":at", ":by" and ":reason".
    sources: dict[str, str]
    #: Whether a write of the same value also adds an event.
    always: bool = False
