"""Keys of an entity: its primary key, its places in indexes, and its unique values.

    primary  = key("CUST" / customer_id, "ORDER" / order_id)
    timeline = index(Commerce.customer_orders, "CUST" / customer_id, "ORDER" / created_at)
    by_name  = primary.local(Shop.by_sku, "NAME" / name)       # a local index: the same partition
    reverse  = primary.swapped(Market.reverse)                 # sort key first
    by_email = unique("EMAIL" / email)                         # no two entities have one

On the finished class they are called with values, which the checker follows:

    Order.primary("C1", "O1")          Get[Order]
    Order.primary.within("C1")         Range[Order, str]: all orders of the partition
    Order.timeline("C1")               Range[Order, datetime]
    Customer.by_email("a@b.c")         GetByUnique[Customer]
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar, TypeVarTuple, overload

from tablewright.errors import DeclarationError
from tablewright.model.attribute import Again, Attr, Path, Piece
from tablewright.model.bound import BoundIndex, BoundKey, BoundUnique
from tablewright.model.table import GSI, LSI
from tablewright.plan.condition import Condition
from tablewright.plan.reference import Ref

E = TypeVar("E")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
T = TypeVar("T")
P = TypeVar("P")
S = TypeVar("S")
V = TypeVar("V")
#: Paths, in the functions that take other things as well.
P_ = TypeVar("P_", bound=Path[*tuple[Any, ...]])
S_ = TypeVar("S_", bound=Path[*tuple[Any, ...]])
Ts = TypeVarTuple("Ts")


def _path(path: Any) -> Path[Any]:
    return path if isinstance(path, Path) else Path((path,))


class Index(Generic[P, S]):
    """A place in an index, declared in the body of an entity."""

    def __init__(
        self,
        index: GSI | LSI,
        partition: Any,
        sort: Any,
        when: Any = None,
        *,
        local: bool = False,
        swapped: bool = False,
        delimiter: str | None = None,
    ) -> None:
        self.index = index
        self.partition = partition
        self.sort = sort
        self.when = when
        self.local = local
        self.swapped = swapped
        self.delimiter = delimiter

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type[E]) -> BoundIndex[E, P, S]: ...


class Key(Generic[P, S]):
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
    def local(self, index: LSI, sort: str | int | Again, /) -> Index[P, Path[()]]: ...
    @overload
    def local(self, index: LSI, sort: Piece[T], /) -> Index[P, Path[T]]: ...
    @overload
    def local(self, index: LSI, sort: S_, /) -> Index[P, S_]: ...
    def local(self, index: LSI, sort: Any, /) -> Any:
        """A place in a local index: this partition key, and another sort key."""
        return Index(index, self.partition, _path(sort), local=True, delimiter=self.delimiter)

    def swapped(self, index: GSI, /) -> Index[S, P]:
        """A place in an index whose keys are the table's own, the sort key first."""
        sort = self.sort or Path(())
        if any(isinstance(piece, Again) for piece in sort.pieces):
            raise DeclarationError(
                "swapped() is for a sort key without .again; write the index out: "
                "index(…, the path of the sort key, the path of the partition key)"
            )
        return Index(index, sort, self.partition, swapped=True, delimiter=self.delimiter)


class Unique(Generic[P, S]):
    """A value that no two entities share, declared in the body of an entity."""

    def __init__(
        self,
        partition: Any,
        sort: Any,
        keep: tuple[Attr[Any], ...] | None,
        type_name: str | None,
        delimiter: str | None,
    ) -> None:
        self.partition = _path(partition)
        self.sort = None if sort is None else _path(sort)
        self.keep = keep
        self.type_name = type_name
        self.delimiter = delimiter

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type[E]) -> BoundUnique[E, P, S]: ...


class History:
    """Events that record the changes of an attribute, declared in the body of an entity."""

    def __init__(self, attribute: Attr[Any], event: Any, told: dict[str, Ref[Any, Any]]) -> None:
        self.attribute = attribute
        self.event = event
        self.told = told


@overload
def key(
    partition: str, sort: str | int, /, *, delimiter: str | None = None
) -> Key[Path[()], Path[()]]: ...
@overload
def key(
    partition: str, sort: Again, /, *, delimiter: str | None = None
) -> Key[Path[()], Path[()]]: ...
@overload
def key(
    partition: str, sort: Piece[T], /, *, delimiter: str | None = None
) -> Key[Path[()], Path[T]]: ...
@overload
def key(partition: str, sort: S_, /, *, delimiter: str | None = None) -> Key[Path[()], S_]: ...
@overload
def key(
    partition: Piece[A], sort: None = None, /, *, delimiter: str | None = None
) -> Key[Path[A], Path[()]]: ...
@overload
def key(
    partition: Piece[A], sort: str | int, /, *, delimiter: str | None = None
) -> Key[Path[A], Path[()]]: ...
@overload
def key(
    partition: Piece[A], sort: Again, /, *, delimiter: str | None = None
) -> Key[Path[A], Path[()]]: ...
@overload
def key(
    partition: Piece[A], sort: Piece[T], /, *, delimiter: str | None = None
) -> Key[Path[A], Path[T]]: ...
@overload
def key(partition: Piece[A], sort: S_, /, *, delimiter: str | None = None) -> Key[Path[A], S_]: ...
@overload
def key(
    partition: P_, sort: None = None, /, *, delimiter: str | None = None
) -> Key[P_, Path[()]]: ...
@overload
def key(
    partition: P_, sort: str | int, /, *, delimiter: str | None = None
) -> Key[P_, Path[()]]: ...
@overload
def key(partition: P_, sort: Again, /, *, delimiter: str | None = None) -> Key[P_, Path[()]]: ...
@overload
def key(partition: P_, sort: Piece[T], /, *, delimiter: str | None = None) -> Key[P_, Path[T]]: ...
@overload
def key(partition: P_, sort: S_, /, *, delimiter: str | None = None) -> Key[P_, S_]: ...
def key(partition: Any, sort: Any = None, /, *, delimiter: str | None = None) -> Any:
    """The primary key: its partition key, and its sort key."""
    return Key(partition, sort, delimiter)


@overload
def index(
    index: GSI,
    partition: str,
    sort: str | int | None = None,
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[Path[()], Path[()]]: ...
@overload
def index(
    index: GSI,
    partition: str,
    sort: Piece[T],
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[Path[()], Path[T]]: ...
@overload
def index(
    index: GSI,
    partition: str,
    sort: S_,
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[Path[()], S_]: ...
@overload
def index(
    index: GSI,
    partition: Piece[A],
    sort: str | int | Again | None = None,
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[Path[A], Path[()]]: ...
@overload
def index(
    index: GSI,
    partition: Piece[A],
    sort: Piece[T],
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[Path[A], Path[T]]: ...
@overload
def index(
    index: GSI,
    partition: Piece[A],
    sort: S_,
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[Path[A], S_]: ...
@overload
def index(
    index: GSI,
    partition: P_,
    sort: str | int | Again | None = None,
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[P_, Path[()]]: ...
@overload
def index(
    index: GSI,
    partition: P_,
    sort: Piece[T],
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[P_, Path[T]]: ...
@overload
def index(
    index: GSI,
    partition: P_,
    sort: S_,
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Index[P_, S_]: ...
def index(
    index: GSI,
    partition: Any,
    sort: Any = None,
    /,
    *,
    when: Condition[Any] | None = None,
    delimiter: str | None = None,
) -> Any:
    """A place in a global index, while every part has a value and `when` holds."""
    return Index(
        index, _path(partition), None if sort is None else _path(sort), when, delimiter=delimiter
    )


@overload
def unique(
    partition: str,
    sort: Piece[T],
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Unique[Path[()], Path[T]]: ...
@overload
def unique(
    partition: str,
    sort: S_,
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Unique[Path[()], S_]: ...
@overload
def unique(
    partition: Piece[A],
    sort: str | int | Again | None = None,
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Unique[Path[A], Path[()]]: ...
@overload
def unique(
    partition: Piece[A],
    sort: Piece[T],
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Unique[Path[A], Path[T]]: ...
@overload
def unique(
    partition: Piece[A],
    sort: S_,
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Unique[Path[A], S_]: ...
@overload
def unique(
    partition: P_,
    sort: str | int | Again | None = None,
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Unique[P_, Path[()]]: ...
@overload
def unique(
    partition: P_,
    sort: Piece[T],
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Unique[P_, Path[T]]: ...
@overload
def unique(
    partition: P_,
    sort: S_,
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Unique[P_, S_]: ...
def unique(
    partition: Any,
    sort: Any = None,
    /,
    *,
    keep: tuple[Attr[Any], ...] | None = None,
    type_name: str | None = None,
    delimiter: str | None = None,
) -> Any:
    """A value that no two entities share: an item with this key exists while one has it.

    The sort key is the same text, unless one is given. `keep` are the attributes that the item
    holds; those of the primary key, without it, so that the value can be looked up.
    """
    return Unique(partition, sort, keep, type_name, delimiter)


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
) -> History:
    """Write an event whenever the attribute changes, in the same transaction.

    The named attributes of the event get the old and new value, the versions, the time, and what
    `audit(by=…, reason=…)` says; its others are taken from the entity, by their name.
    """
    told = {
        "old": old,
        "new": new,
        "version": version,
        "old_version": old_version,
        "at": at,
        "by": by,
        "reason": reason,
    }
    return History(attribute, event, {role: ref for role, ref in told.items() if ref is not None})
