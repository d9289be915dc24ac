"""Counters: declare attributes that count or sum other entities; every write keeps them.

    class Repo(Entity, table=Hub):
        owner: Attr[str] = attr()
        name: Attr[str] = attr()
        stars: Attr[int] = count_of("Star")
        open_issues: Attr[int] = count_of("Issue", when=lambda issue: issue.is_open == True)
        primary = key("REPO" / owner / name, "REPO")

    class Star(Entity, table=Hub):
        owner: Attr[str] = attr()
        name: Attr[str] = attr()
        user: Attr[str] = attr()
        primary = key("REPO" / owner / name, "STAR" / user)

What is counted is declared before the parent, and given as a class, or after it, and given by its
name. The two are connected when the second one is declared (`connect_counters`). A mistake raises
DeclarationError then; a name that is never declared, with the first write of the parent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Literal, TypeAlias, TypeVar, cast, overload

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.counters import AwaitedCounter, CounterMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.keys import places_of
from tablewright.mapping.variants import VariantMap
from tablewright.model.attribute import Attr
from tablewright.model.rules.key_attributes import key_attributes, type_name
from tablewright.plan.condition import Condition
from tablewright.plan.reference import Ref
from tablewright.plan.writes.effect import forget_affected

C = TypeVar("C")
N = TypeVar("N", int, Decimal)

#: The attributes of the child that make the key of its parent, as references or names.
By: TypeAlias = Sequence[Any]


class Counted(Struct, frozen=True):
    """What a counter counts, as it is declared."""

    #: The class, or its name.
    child: Any
    #: The name of the summed attribute; "" for a count.
    summed: str
    by: By
    when: Any

    @property
    def child_name(self) -> str:
        return self.child if isinstance(self.child, str) else self.child.__name__

    @property
    def label(self) -> str:
        """The declaration, for messages."""
        name = self.child_name
        return f"sum_of({name}.{self.summed})" if self.summed else f"count_of({name})"


@overload
def count_of(
    child: type[C],
    *,
    by: Sequence[Ref[C, Any] | str] = (),
    when: Condition[C] | Callable[[type[C]], Condition[C]] | None = None,
    name: str | None = None,
    doc: str = "",
    init: Literal[False] = False,
) -> Attr[int]: ...
@overload
def count_of(
    child: str,
    *,
    by: Sequence[str] = (),
    when: Callable[[Any], Condition[Any]] | None = None,
    name: str | None = None,
    doc: str = "",
    init: Literal[False] = False,
) -> Attr[int]: ...
def count_of(
    child: Any,
    *,
    by: By = (),
    when: Any = None,
    name: str | None = None,
    doc: str = "",
    init: Literal[False] = False,
) -> Attr[int]:
    """Declare an attribute that counts the items of another entity; every write keeps it.

    `child` is the entity that is counted: its class, or its name if it is declared later. It needs
    the attributes of which the primary key is made here. If they have other names, `by` lists them
    in the order of the key. `when` is the condition for an item to be counted: a condition, or for
    an entity that is declared later a function of its class.
    """
    return _counter(child, "", by, when, name, doc)


@overload
def sum_of(
    attribute: Ref[C, N] | Ref[C, N | None],
    *,
    by: Sequence[Ref[C, Any] | str] = (),
    when: Condition[C] | Callable[[type[C]], Condition[C]] | None = None,
    name: str | None = None,
    doc: str = "",
    init: Literal[False] = False,
) -> Attr[N]: ...
@overload
def sum_of(
    attribute: str,
    *,
    by: Sequence[str] = (),
    when: Callable[[Any], Condition[Any]] | None = None,
    name: str | None = None,
    doc: str = "",
    init: Literal[False] = False,
) -> Any: ...
def sum_of(
    attribute: Any,
    *,
    by: By = (),
    when: Any = None,
    name: str | None = None,
    doc: str = "",
    init: Literal[False] = False,
) -> Any:
    """Declare an attribute that sums an attribute of another entity; every write keeps it.

    `attribute` is a number: `Item.price`, or its name, `"Item.price"`, if it is declared later. The
    other options are those of `count_of`. None counts as zero.
    """
    written = attribute.where if isinstance(attribute, Ref) else attribute
    child, _, summed = written.partition(".") if isinstance(written, str) else ("", "", "")
    if not child or not summed.isidentifier():
        raise DeclarationError(
            f'sum_of({attribute!r}) takes an attribute: Item.price, or "Item.price" if Item is '
            "declared later"
        )
    return _counter(child, summed, by, when, name, doc)


def _counter(child: Any, summed: str, by: By, when: Any, name: str | None, doc: str) -> Attr[Any]:
    if not isinstance(child, str) and not hasattr(child, "__entity__"):
        raise DeclarationError(
            f'count_of({child!r}) takes an entity: its class, or its name in quotes, "Star", if it '
            "is declared later"
        )
    counted = Counted(child, summed, by if isinstance(by, tuple | list) else (by,), when)
    return Attr(name=name, role="counter", init=False, doc=doc, counts=counted)


# -- parent and child -----------------------------------------------------------------------------


class Awaited(Struct, frozen=True):
    """A counter that waits for the declaration of its child."""

    entity: EntityMap
    attribute: AttributeMap
    counted: Counted

    @property
    def where(self) -> str:
        return f"{self.entity.name}.{self.attribute.name}: {self.counted.label}"

    @property
    def problem(self) -> str:
        table, name = self.entity.table, self.counted.child_name
        names = [each.name for each in table.entities]
        return (
            f"{self.where}: no entity of {table.owner} is named {name}; declare it with "
            f"table={table.owner}, or import the module that does{did_you_mean(name, names)}"
        )


def connect_counters(entity: EntityMap, attributes: dict[str, Attr[Any]]) -> None:
    """Connect the counters of a new entity, and those that wait for it; raise DeclarationError."""
    table = entity.table
    own = [
        Awaited(entity, entity.attributes[name], each.counts)
        for name, each in attributes.items()
        if each.counts is not None
    ]
    for each in own:
        _check_parent(each)
    if isinstance(entity, VariantMap):  # it has the counters of its base
        entity.counted, entity.counters = entity.base.counted, entity.base.counters
        own = []
    waiting: list[AwaitedCounter] = [*table.awaited_counters, *own]
    table.awaited_counters = []
    for position, awaited in enumerate(waiting):
        each = cast("Awaited", awaited)
        try:
            child = _declared_child(each, entity)
            if child is None:
                table.awaited_counters.append(each)
            else:
                _connect(each, child)
        except DeclarationError:
            table.awaited_counters += waiting[position + 1 :]
            raise


def _declared_child(awaited: Awaited, newest: EntityMap) -> EntityMap | None:
    """Return the entity that a counter counts; None if it is not declared yet."""
    child, table = awaited.counted.child, awaited.entity.table
    if not isinstance(child, str):
        entity: EntityMap = child.__entity__
        if entity.table is not table:
            raise DeclarationError(
                f"{awaited.where}: {entity.name} is in the table {entity.table.owner}, and a "
                f"counter counts items of its own table, {table.owner}"
            )
        return entity
    bases = (each.base for each in table.entities if each.base is not None)
    return next((each for each in (newest, *table.entities, *bases) if each.name == child), None)


def _connect(awaited: Awaited, child: EntityMap) -> None:
    """Connect a counter with its child."""
    parent, where = awaited.entity, awaited.where
    if child.ttl is not None:
        raise DeclarationError(
            f"{where}: {child.name} has a ttl(), and DynamoDB deletes expired items without "
            "counting them; count another entity, or remove the ttl()"
        )
    if child is parent and not awaited.counted.by:
        raise DeclarationError(
            f"{where}: an item does not count itself; name the attributes that have the key of the "
            "item which counts it: by=(…)"
        )
    counter = CounterMap(
        parent,
        awaited.attribute,
        child,
        key_attributes(awaited.where, child, awaited.entity, awaited.counted.by),
        _summed(awaited, child),
        _condition(awaited, child),
    )
    maintained = {each.name for each in child.maintained} & counter.sources
    if maintained:
        raise DeclarationError(
            f"{where}: {child.name}.{maintained.pop()} is a counter itself, and its changes are "
            "not counted again; count the entity that it counts"
        )
    for kind in parent.kinds:
        kind.counters += (counter,)
    for kind in child.kinds:
        kind.counted += (counter,)
    forget_affected()


def _check_parent(awaited: Awaited) -> None:
    """Raise DeclarationError for a counter that its entity cannot have."""
    entity, attribute, where = awaited.entity, awaited.attribute, awaited.where
    kind = attribute.converter.kind
    kinds = (int, Decimal) if awaited.counted.summed else (int,)
    if kind not in kinds or attribute.converter.optional or attribute.converter.codec:
        names = " or ".join(f"Attr[{each.__name__}]" for each in kinds)
        raise DeclarationError(f"{where} needs {names}; annotate it so")
    if isinstance(entity, VariantMap) and attribute.name not in entity.base.attributes:
        raise DeclarationError(
            f"{where}: {entity.name} is a variant; declare the counter in {entity.base.name}, for "
            "all variants"
        )
    for place in places_of((entity.primary, *entity.index_keys)):
        parts = {
            part.attribute
            for each in place.templates.values()
            for part in each.parts
            if each.natural is None or place is entity.primary
        }
        if attribute.name in parts.union(() if place.when is None else place.when.attributes):
            raise DeclarationError(
                f"{where} is part of {place.name}, which its changes would have to compose; use it "
                "as a key attribute of an index by itself, or leave it out"
            )
    used = {history.attribute for history in entity.histories}
    used = used.union(*(unique.key.depends_on for unique in entity.uniques))
    if attribute.name in used:
        raise DeclarationError(
            f"{where}: a counter cannot be unique, or have a history; leave one of them out"
        )


def _summed(awaited: Awaited, child: EntityMap) -> AttributeMap | None:
    """Return the attribute that is summed; None for a count."""
    name, where = awaited.counted.summed, awaited.where
    if not name:
        return None
    found = child.attributes.get(name)
    if found is None:
        raise DeclarationError(
            f"{where}: {child.name} has no attribute {name!r}{did_you_mean(name, child.attributes)}"
        )
    if found.converter.kind not in (int, Decimal) or found.converter.codec:
        raise DeclarationError(
            f"{where}: {child.name}.{name} is {type_name(found.converter.kind)}; only an int or a "
            "Decimal has an exact sum"
        )
    kind = awaited.attribute.converter.kind
    if found.converter.kind is not kind:
        wanted = found.converter.kind.__name__
        raise DeclarationError(f"{where} needs Attr[{wanted}]; annotate it so")
    return found


def _condition(awaited: Awaited, child: EntityMap) -> Any:
    """Return the condition for an item to be counted; None if all are."""
    when, where = awaited.counted.when, awaited.where
    if when is not None and not isinstance(when, Condition) and callable(when):
        try:
            when = when(child.type)
        except AttributeError as error:
            raise DeclarationError(f"{where}: when=: {error}") from None
    if when is None:
        return None
    if not isinstance(when, Condition):
        raise DeclarationError(
            f"{where}: when={when!r} is not a condition; write when={child.name}.… == …, or "
            f"lambda {child.name.lower()}: {child.name.lower()}.… == … if it is declared later"
        )
    for operand in when.operands():
        attribute = getattr(operand, "attribute", None)
        if attribute is None or not child.has_attribute(attribute):
            raise DeclarationError(
                f"{where}: when={when!r} uses an attribute that {child.name} does not have"
            )
    return when
