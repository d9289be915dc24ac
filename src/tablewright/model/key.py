"""Keys of an entity: its primary key, its places in indexes, and its unique values.

    primary  = key("CUST" / customer_id, "ORDER" / order_id)
    timeline = index(Commerce.customer_orders, "CUST" / customer_id, "ORDER" / created_at)
    by_name  = primary.local(Shop.by_sku, "NAME" / name)       # a local index: the same partition
    reverse  = primary.swapped(Market.reverse)                 # sort key first
    by_email = unique("EMAIL" / email)                         # no two entities share a value

A key of a finished class is a `BoundKey` (`bound_keys`). It is called with values, and returns a
typed plan:

    Order.primary("C1", "O1")          Get[Order]
    Order.primary.within("C1")         Range[Order, str]: all orders of the partition
    Order.timeline("C1")               Range[Order, datetime]
    Customer.by_email("a@b.c")         GetByUnique[Customer]
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, TypeVar, Unpack, overload

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.model.attribute import Attr, KeyPath, PathOf, Piece, RepeatedPiece
from tablewright.model.bound_keys import BoundIndex, BoundKey, BoundUnique
from tablewright.model.table import GSI, LSI
from tablewright.plan.condition import Condition
from tablewright.plan.reference import Ref

E = TypeVar("E")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
T = TypeVar("T")
P = TypeVar("P")
S = TypeVar("S")
V = TypeVar("V")
#: For places in an index, which may be tuples of subclasses of Piece.
P_co = TypeVar("P_co", covariant=True)
S_co = TypeVar("S_co", covariant=True)


#: A key without arguments: a text, a number, or a repeated value.
LiteralSide: TypeAlias = str | int | RepeatedPiece
#: The attributes of a key with several attributes.
Pn = TypeVar("Pn", bound=tuple[PathOf[Any], ...])
Sn = TypeVar("Sn", bound=tuple[PathOf[Any], ...])


class PlaceOptions(TypedDict, total=False):
    """The options of `index`."""

    when: Condition[Any] | None
    delimiter: str | None


class UniqueOptions(TypedDict, total=False):
    """The options of `unique`."""

    keep: tuple[Attr[Any], ...] | None
    type_name: str | None
    delimiter: str | None
    when: Condition[Any] | None


def _path(path: Any) -> KeyPath[Any]:
    return path if isinstance(path, KeyPath) else KeyPath((path,))


def _paths(given: Any) -> tuple[KeyPath[Any], ...]:
    """Return a path for each attribute of a partition key or a sort key."""
    if given is None:
        return ()
    return tuple(map(_path, given)) if isinstance(given, tuple) else (_path(given),)


class IndexPlace(Struct, Generic[P_co, S_co], eq=False):
    """A place in an index, declared in the body of an entity."""

    index: GSI | LSI
    partition: tuple[KeyPath[Any], ...]
    sort: tuple[KeyPath[Any], ...]
    when: Any = None
    local: bool = False
    swapped: bool = False
    delimiter: str | None = None

    if TYPE_CHECKING:

        @overload
        def __get__(
            self: IndexPlace[P, tuple[Piece[A] | KeyPath[A]]], instance: Any, owner: type[E]
        ) -> BoundIndex[E, P, KeyPath[A]]: ...
        @overload
        def __get__(
            self: IndexPlace[P, tuple[Piece[A] | KeyPath[A], Piece[B] | KeyPath[B]]],
            instance: Any,
            owner: type[E],
        ) -> BoundIndex[E, P, KeyPath[A, B]]: ...
        @overload
        def __get__(
            self: IndexPlace[P, tuple[Piece[A] | KeyPath[A], KeyPath[B, C]]],
            instance: Any,
            owner: type[E],
        ) -> BoundIndex[E, P, KeyPath[A, B, C]]: ...
        @overload
        def __get__(
            self: IndexPlace[P, tuple[KeyPath[A, B], Piece[C] | KeyPath[C]]],
            instance: Any,
            owner: type[E],
        ) -> BoundIndex[E, P, KeyPath[A, B, C]]: ...
        @overload
        def __get__(
            self: IndexPlace[
                P, tuple[Piece[A] | KeyPath[A], Piece[B] | KeyPath[B], Piece[C] | KeyPath[C]]
            ],
            instance: Any,
            owner: type[E],
        ) -> BoundIndex[E, P, KeyPath[A, B, C]]: ...
        @overload
        def __get__(
            self: IndexPlace[
                P,
                tuple[
                    Piece[A] | KeyPath[A],
                    Piece[B] | KeyPath[B],
                    Piece[C] | KeyPath[C],
                    Piece[D] | KeyPath[D],
                ],
            ],
            instance: Any,
            owner: type[E],
        ) -> BoundIndex[E, P, KeyPath[A, B, C, D]]: ...
        @overload
        def __get__(self, instance: Any, owner: type[E]) -> BoundIndex[E, P_co, S_co]: ...
        def __get__(self, instance: Any, owner: Any) -> Any: ...


class PrimaryKey(Generic[P, S]):
    """The primary key, declared in the body of an entity."""

    def __init__(self, partition: Any, sort: Any, delimiter: str | None = None) -> None:
        self.partition = _path(partition)
        self.sort = None if sort is None else _path(sort)
        self.delimiter = delimiter

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type[E]) -> BoundKey[E, P, S]: ...
        @overload
        def __get__(self, instance: object, owner: type[E]) -> BoundKey[E, P, S]: ...
        def __get__(self, instance: Any, owner: type[E]) -> Any: ...

    @overload
    def local(
        self, index: LSI, sort: LiteralSide, /, *, when: Condition[Any] | None = None
    ) -> IndexPlace[P, KeyPath[()]]: ...
    @overload
    def local(
        self, index: LSI, sort: PathOf[T], /, *, when: Condition[Any] | None = None
    ) -> IndexPlace[P, T]: ...
    def local(self, index: LSI, sort: Any, /, *, when: Condition[Any] | None = None) -> Any:
        """Declare a place in a local index: the same partition key, another sort key.

        The entity is in the index while every part has a value and `when` is true.
        """
        _check_when(when, "primary.local")
        return IndexPlace(
            index, (self.partition,), (_path(sort),), when, local=True, delimiter=self.delimiter
        )

    def swapped(self, index: GSI, /) -> IndexPlace[S, P]:
        """Declare a place in an index that swaps partition key and sort key of the table."""
        sort = self.sort or KeyPath(())
        if any(isinstance(piece, RepeatedPiece) for piece in sort.pieces):
            raise DeclarationError(
                "swapped() does not take a sort key with .again; write "
                "index(…, path of the sort key, path of the partition key)"
            )
        return IndexPlace(index, (sort,), (self.partition,), swapped=True, delimiter=self.delimiter)


class Unique(Struct, Generic[P, S], eq=False):
    """A value that no two entities share, declared in the body of an entity."""

    partition: KeyPath[Any]
    sort: KeyPath[Any] | None
    keep: tuple[Attr[Any], ...] | None
    type_name: str | None
    delimiter: str | None
    when: Any = None

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type[E]) -> BoundUnique[E, P, S]: ...


#: What an event can record of a write.
RECORDED = ("old", "new", "version", "old_version", "at", "by", "reason")


class History(Struct, eq=False):
    """Events that record the changes of an attribute, declared in the body of an entity."""

    attribute: Any
    event: Any
    #: The attribute of the event for each recorded value: "old", "new", …
    recorded: dict[str, Ref[Any, Any]]
    always: bool


@overload
def key(
    partition: str, sort: LiteralSide, /, *, delimiter: str | None = None
) -> PrimaryKey[KeyPath[()], KeyPath[()]]: ...
@overload
def key(
    partition: str, sort: PathOf[S], /, *, delimiter: str | None = None
) -> PrimaryKey[KeyPath[()], S]: ...
@overload
def key(
    partition: PathOf[P], sort: LiteralSide | None = None, /, *, delimiter: str | None = None
) -> PrimaryKey[P, KeyPath[()]]: ...
@overload
def key(
    partition: PathOf[P], sort: PathOf[S], /, *, delimiter: str | None = None
) -> PrimaryKey[P, S]: ...
def key(partition: Any, sort: Any = None, /, *, delimiter: str | None = None) -> Any:
    """Declare the primary key: the partition key and the sort key.

    `delimiter` replaces the table's.
    """
    return PrimaryKey(partition, sort, delimiter)


@overload
def index(
    index: GSI, partition: str, sort: str | int | None = None, /, **options: Unpack[PlaceOptions]
) -> IndexPlace[KeyPath[()], KeyPath[()]]: ...
@overload
def index(
    index: GSI, partition: str, sort: PathOf[S], /, **options: Unpack[PlaceOptions]
) -> IndexPlace[KeyPath[()], S]: ...
@overload
def index(
    index: GSI, partition: str, sort: Sn, /, **options: Unpack[PlaceOptions]
) -> IndexPlace[KeyPath[()], Sn]: ...
@overload
def index(
    index: GSI,
    partition: PathOf[P],
    sort: LiteralSide | None = None,
    /,
    **options: Unpack[PlaceOptions],
) -> IndexPlace[P, KeyPath[()]]: ...
@overload
def index(
    index: GSI, partition: PathOf[P], sort: PathOf[S], /, **options: Unpack[PlaceOptions]
) -> IndexPlace[P, S]: ...
@overload
def index(
    index: GSI, partition: PathOf[P], sort: Sn, /, **options: Unpack[PlaceOptions]
) -> IndexPlace[P, Sn]: ...
@overload
def index(
    index: GSI, partition: Pn, sort: LiteralSide | None = None, /, **options: Unpack[PlaceOptions]
) -> IndexPlace[Pn, KeyPath[()]]: ...
@overload
def index(
    index: GSI, partition: Pn, sort: PathOf[S], /, **options: Unpack[PlaceOptions]
) -> IndexPlace[Pn, S]: ...
@overload
def index(
    index: GSI, partition: Pn, sort: Sn, /, **options: Unpack[PlaceOptions]
) -> IndexPlace[Pn, Sn]: ...
def index(
    index: GSI,
    partition: Any,
    sort: Any = None,
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Any:
    """Declare a place in a global index.

    For an index with several attributes in a key, give a tuple of the attributes that are stored
    under those names: `index(Shop.by_region, (tenant_id, region), (status, created_at))`.
    The entity is in the index while every part has a value and `when` is true.
    """
    given: object = index
    if not isinstance(given, (GSI, LSI)):  # an LSI is refused with its own message
        raise DeclarationError(
            f"index() takes a GSI of the table first, such as Shop.orders, not {index!r}"
        )
    _check_when(when, "index")
    return IndexPlace(index, _paths(partition), _paths(sort), when, delimiter=delimiter)


def _check_when(when: object, function: str) -> None:
    if when is not None and not isinstance(when, Condition):
        raise DeclarationError(
            f"{function}(…, when={when!r}): when takes a condition on attributes, such as "
            'when=status == "open"'
        )


@overload
def unique(
    partition: str, sort: PathOf[S], /, **options: Unpack[UniqueOptions]
) -> Unique[KeyPath[()], S]: ...
@overload
def unique(
    partition: PathOf[P], sort: LiteralSide | None = None, /, **options: Unpack[UniqueOptions]
) -> Unique[P, KeyPath[()]]: ...
@overload
def unique(
    partition: PathOf[P], sort: PathOf[S], /, **options: Unpack[UniqueOptions]
) -> Unique[P, S]: ...
def unique(
    partition: Any,
    sort: Any = None,
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
    when: Condition[Any] | None = None,
) -> Any:
    """Declare a unique value: a sentinel item with this key exists while an entity has the value.

    Without a sort key, the sort key of the sentinel is the same text. `keep` lists the attributes
    that the sentinel contains; by default those of the primary key, which find the entity. The
    value is reserved while `when` is true: `when=deleted_at == None`.
    """
    _check_when(when, "unique")
    path = None if sort is None else _path(sort)
    return Unique(_path(partition), path, keep, type_name, delimiter, when)


def history(
    attribute: Attr[T],
    event: type[V],
    *,
    old: Ref[V, T] | Ref[V, T | None] | None = None,
    new: Ref[V, T] | Ref[V, T | None] | None = None,
    version: Ref[V, int] | Ref[V, int | None] | None = None,
    old_version: Ref[V, int] | Ref[V, int | None] | None = None,
    at: Ref[V, datetime] | Ref[V, datetime | None] | None = None,
    by: Ref[V, Any] | None = None,
    reason: Ref[V, Any] | None = None,
    always: bool = False,
) -> History:
    """Declare a history: each change of the attribute writes an event in the same transaction.

    The attributes given here get the old and the new value, the versions, the time, and the values
    of `audit(by=…, reason=…)`. Other attributes of the event are copied from attributes of the
    entity with the same names; the rest record what their names say: `old`, `new`, `at`, …. With
    `always`, each write of the attribute of a stored entity writes an event, even with the same
    value.
    """
    named = zip(RECORDED, (old, new, version, old_version, at, by, reason), strict=True)
    given = {role: ref for role, ref in named if ref is not None}
    return History(attribute, event, given, always)
