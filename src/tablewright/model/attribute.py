"""Attributes: declared in the body of an entity, where keys are composed of them.

    class Order(Entity, table=Commerce):
        customer_id: Attr[str] = attr(name="customerId")     # stored as customerId
        number: Attr[int] = attr(pad=6)                       # 6 digits wide inside keys
        status: Attr[Status] = attr(default=Status.CREATED)
        created_at: Attr[datetime] = created_at()
        version: Attr[int] = version()

        primary = key("CUST" / customer_id, "ORDER" / number)

In the body an `Attr` is a piece of a key. On the finished class, `Order.status` is a reference with
which conditions and changes are written. On an instance it is the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NoReturn,
    Protocol,
    TypedDict,
    TypeVar,
    TypeVarTuple,
    Unpack,
    overload,
)

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.mapping.attributes import AttributeMap, Role
from tablewright.mapping.formats.codecs import Decodes
from tablewright.mapping.notation import Format
from tablewright.mapping.paths import path_format
from tablewright.plan.comparable import Comparable
from tablewright.plan.reference import Ref
from tablewright.values import Value

E = TypeVar("E")
T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
W = TypeVar("W")
X = TypeVar("X")
P_co = TypeVar("P_co", covariant=True)
Ts = TypeVarTuple("Ts")

MISSING: Any = object()


class PathDelimiter:
    """Marks a delimiter between two pieces of a path."""

    def __repr__(self) -> str:
        return "/"


#: The only instance. The key, or else the table, declares the character.
DELIMITER = PathDelimiter()


class PathOf(Protocol[P_co]):
    """For type checkers: a partition key or a sort key, given as a path or as one piece."""

    def _as_path(self) -> P_co: ...


class _Joined:
    """The operators of paths: `/` joins with a delimiter, `+` joins without one."""

    if not TYPE_CHECKING:  # the checkers follow the types of the values, in the subclasses

        def __rtruediv__(self, before: str) -> Any:
            return KeyPath((before, DELIMITER, self))

        def __truediv__(self, behind: Any) -> Any:
            return KeyPath((self, DELIMITER, behind))

        def __radd__(self, before: str) -> Any:
            return KeyPath((before, self))

        def __add__(self, behind: Any) -> Any:
            return KeyPath((self, behind))


class Piece(_Joined, Generic[T]):
    """A piece of a key: an attribute, or an attribute in a format."""

    #: The attribute, and its formats in the key, the innermost first.
    declared: Attr[Any]
    formats: tuple[Format, ...] = ()

    if TYPE_CHECKING:

        def _as_path(self) -> KeyPath[T]: ...

        # An item is in an index only while all parts have values, so an argument is never None.
        @overload
        def __rtruediv__(self: Piece[V | None], before: str) -> KeyPath[V]: ...
        @overload
        def __rtruediv__(self, before: str) -> KeyPath[T]: ...
        def __rtruediv__(self, before: str) -> Any: ...
        @overload
        def __truediv__(self, behind: str | RepeatedPiece) -> KeyPath[T]: ...
        @overload
        def __truediv__(self, behind: OptionalPiece[U]) -> KeyPath[T, U | None]: ...
        @overload
        def __truediv__(self, behind: Piece[U | None]) -> KeyPath[T, U]: ...
        @overload
        def __truediv__(self, behind: Piece[U]) -> KeyPath[T, U]: ...
        @overload
        def __truediv__(self, behind: KeyPath[*Ts]) -> KeyPath[T, *Ts]: ...
        def __truediv__(self, behind: Any) -> Any: ...

        __radd__ = __rtruediv__
        __add__ = __truediv__

    def __str__(self) -> NoReturn:
        raise DeclarationError(
            f"{self!r} has no value in the body of a class and cannot be part of a text; write "
            'keys as paths: "USER" / user_id'
        )

    def __format__(self, specification: str) -> NoReturn:
        self.__str__()

    @property
    def again(self) -> RepeatedPiece:
        """The same value again in one key; calls still take it once."""
        return RepeatedPiece(self)


class OptionalPiece(_Joined, Generic[T]):
    """The last part of a key, which is left out with the text before it if there is no value."""

    def __init__(self, path: Any) -> None:
        *before, piece = path.pieces if isinstance(path, KeyPath) else (path,)
        if not isinstance(piece, Piece) or any(
            not isinstance(each, str | PathDelimiter) for each in before
        ):
            raise DeclarationError(
                f"optional({path!r}) takes an attribute, or literals and an attribute: "
                'optional("ITEM" / item_id)'
            )
        self.before = tuple(before)
        self.piece = piece

    def __repr__(self) -> str:
        return f"optional({self.piece!r})"

    @property
    def again(self) -> RepeatedPiece:
        """The same part again in one key; calls still take it once."""
        return RepeatedPiece(self)

    if TYPE_CHECKING:

        def __rtruediv__(self, before: str) -> KeyPath[T | None]: ...

        __radd__ = __rtruediv__


class RepeatedPiece(_Joined):
    """A piece that the key contains already: it repeats its value."""

    def __init__(self, piece: Piece[Any] | OptionalPiece[Any]) -> None:
        self.piece = piece

    if TYPE_CHECKING:

        def __rtruediv__(self, before: str) -> KeyPath[*tuple[()]]: ...
        def __truediv__(self, behind: Any) -> Any: ...

        __radd__ = __rtruediv__
        __add__ = __truediv__


class KeyPath(_Joined, Generic[*Ts]):
    """Literals and pieces in order: `"ORDER" / order_id / "ITEM" / item_id`."""

    def __init__(self, pieces: tuple[Any, ...]) -> None:
        # `/` binds closer than `+`: "v" + number / name is "v" + (number / name).
        self.pieces: tuple[Any, ...] = tuple(
            piece
            for each in pieces
            for piece in (each.pieces if isinstance(each, KeyPath) else (each,))
        )

    if TYPE_CHECKING:

        def _as_path(self) -> KeyPath[*Ts]: ...
        def __rtruediv__(self, before: str) -> KeyPath[*Ts]: ...
        @overload
        def __truediv__(self, behind: str | RepeatedPiece) -> KeyPath[*Ts]: ...
        @overload
        def __truediv__(self, behind: OptionalPiece[U]) -> KeyPath[*Ts, U | None]: ...
        @overload
        def __truediv__(self, behind: Piece[U | None]) -> KeyPath[*Ts, U]: ...
        @overload
        def __truediv__(self, behind: Piece[U]) -> KeyPath[*Ts, U]: ...
        @overload
        def __truediv__(self, behind: KeyPath[*tuple[()]]) -> KeyPath[*Ts]: ...
        @overload
        def __truediv__(self, behind: KeyPath[U]) -> KeyPath[*Ts, U]: ...
        @overload
        def __truediv__(self, behind: KeyPath[U, V]) -> KeyPath[*Ts, U, V]: ...
        @overload
        def __truediv__(self, behind: KeyPath[U, V, W]) -> KeyPath[*Ts, U, V, W]: ...
        @overload
        def __truediv__(self, behind: KeyPath[U, V, W, X]) -> KeyPath[*Ts, U, V, W, X]: ...
        def __truediv__(self, behind: Any) -> Any: ...

        __radd__ = __rtruediv__
        __add__ = __truediv__


class Attr(Piece[T], Comparable[Any, T]):
    """An attribute: a piece of keys in the class body, a reference on the class, then a value."""

    def __init__(
        self,
        *,
        name: str | None = None,
        default: Any = MISSING,
        default_factory: Callable[[], Any] | None = None,
        pad: int | None = None,
        role: Role = "",
        init: bool = True,
        key_only: bool = False,
        immutable: bool = False,
        transitions: Mapping[Any, Iterable[Any]] | None = None,
        renamed_from: str | tuple[str, ...] = "",
        fill: Any = None,
        codec: Any = None,
        doc: str = "",
        counts: Any = None,
    ) -> None:
        if default is not MISSING and default_factory is not None:
            raise DeclarationError("attr() takes default or default_factory, not both")
        if pad is not None and pad < 1:
            raise DeclarationError(f"attr(pad={pad}): the number of digits is at least 1")
        self.stored = name
        self.default = default
        self.default_factory = default_factory
        self.pad = pad
        self.role: Role = role
        self.init = init
        self.key_only = key_only
        self.immutable = immutable
        self.transitions = transitions
        self.renamed_from = renamed_from
        self.fill = fill
        self.codec = codec
        self.doc = doc
        #: What it counts: a `Counted`, if it is a counter.
        self.counts = counts
        #: Its name in the body of the class.
        self.name = ""
        self.declared = self

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def is_only_a_name(self) -> bool:
        """Whether it declares nothing but a stored name, and a description."""
        plain = vars(Attr(name=self.stored, doc=self.doc)) | {"name": self.name, "declared": self}
        return vars(self) == plain

    if TYPE_CHECKING:
        # At run time, the class has references and an instance its values in __dict__, so that
        # reading a value needs no descriptor call.
        @overload
        def __get__(self, instance: None, owner: type[E]) -> Reference[E, T]: ...
        @overload
        def __get__(self, instance: object, owner: Any = None) -> T: ...
        def __get__(self, instance: Any, owner: Any = None) -> Any: ...
        def __set__(self, instance: object, value: T) -> None: ...

    @overload
    def path(self: Attr[V | None], place: Callable[[V], U]) -> Formatted[U]: ...
    @overload
    def path(self, place: Callable[[T], U]) -> Formatted[U]: ...
    def path(self, place: Callable[[Any], Any]) -> Formatted[Any]:
        """Return a member of a document for a key: `"CITY" / address.path(lambda a: a.city)`."""
        return Formatted(self, path_format(place, self.name))

    # Conditions in the body (`when=`) are evaluated in Python and never sent.
    @property
    def steps(self) -> tuple[str | int, ...]:
        return (self.stored or self.name,)

    def encode(self, value: Any) -> Value:
        raise DeclarationError(
            f"{self.name}: a condition in the body of a class can only be a when="
        )

    encode_member = encode_or_leave = encode

    @property
    def label(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name or "attr()"


class Reference(Ref[E, T], Piece[T]):
    """An attribute of a finished class. Subclasses can use it as a piece of their keys."""

    __slots__ = ("declared",)

    def __init__(
        self, where: str, attribute: AttributeMap, declared: Attr[Any], path: tuple[str, ...] = ()
    ) -> None:
        super().__init__(where, attribute, path)
        self.declared = declared

    def _enter(self, value: Any) -> Any:
        if isinstance(value, Piece | KeyPath):  # P.n + 1 is a piece of a key, as `/` makes them
            add = f"; to add to it, write {self.where}.increment(1)"
            raise InvalidValue(
                f"{self.where}.set(…) takes a value, not attributes"
                f"{add if self.converter.tag == 'N' else ''}",
                attribute=self.name,
            )
        return super()._enter(value)

    def __str__(self) -> str:  # type: ignore[override]  # it is no longer in the body
        return repr(self)

    def __format__(self, specification: str) -> str:  # type: ignore[override]
        return format(repr(self), specification)


class Formatted(Piece[T]):
    """An attribute in another format."""

    def __init__(self, piece: Piece[Any], how: Format) -> None:
        if isinstance(piece, Format):
            raise DeclarationError(
                f"{how.label.format('…')} cannot contain a codec: the text that it writes loses "
                "the value or its order; store the attribute as it is, and use the format in a key"
            )
        if isinstance(piece, RepeatedPiece):
            named = getattr(getattr(piece.piece, "declared", None), "name", "")
            name = repr(piece.piece) if named else "name"  # in the body, it has no name yet
            raise DeclarationError(
                f"{how.label.format(f'{name}.again')}: a part is repeated as it is written; write "
                f"{how.label.format(name)}.again"
            )
        if not isinstance(piece, Piece):
            raise DeclarationError(f"{how.label.format('…')} takes an attribute, not {piece!r}")
        self.declared = piece.declared
        self.formats = (*piece.formats, how)

    def __repr__(self) -> str:
        label = repr(self.declared)
        for each in self.formats:
            label = each.label.format(label)
        return label


class AttributeOptions(TypedDict, total=False):
    """The options of `attr`, except the default."""

    name: str | None
    pad: int | None
    key_only: bool
    immutable: bool
    transitions: Mapping[Any, Iterable[Any]]
    renamed_from: str | tuple[str, ...]
    fill: Any
    doc: str


@overload
def attr(
    *, default: T, codec: Format[T] | Decodes[T], **options: Unpack[AttributeOptions]
) -> Attr[T]: ...
@overload
def attr(
    *,
    default_factory: Callable[[], T],
    codec: Format[T] | Decodes[T],
    **options: Unpack[AttributeOptions],
) -> Attr[T]: ...
@overload
def attr(*, codec: Format[T] | Decodes[T], **options: Unpack[AttributeOptions]) -> Attr[T]: ...
@overload
def attr(*, default: T, **options: Unpack[AttributeOptions]) -> Attr[T]: ...
@overload
def attr(*, default_factory: Callable[[], T], **options: Unpack[AttributeOptions]) -> Attr[T]: ...
@overload
def attr(**options: Unpack[AttributeOptions]) -> Any: ...
def attr(
    *,
    name: str | None = None,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | None = None,
    pad: int | None = None,
    key_only: bool = False,
    immutable: bool = False,
    transitions: Mapping[Any, Iterable[Any]] | None = None,
    renamed_from: str | tuple[str, ...] = "",
    fill: Any = None,
    codec: Any = None,
    doc: str = "",
) -> Any:
    """Declare an attribute.

    `name` is its name in the item, if it differs. `pad` is the number of digits of an int inside
    keys: with leading zeros, texts sort as numbers do. A `key_only` attribute is stored only inside
    keys, and parsed from them. An `immutable` one cannot change after the entity was created.
    `transitions` lists the values that may follow each value: `{NEW: [PAID], PAID: [SHIPPED]}`. A
    write that changes the stored value to another one raises InvalidTransition.
    `renamed_from` is the name under which earlier versions of the design stored it: without it,
    `tablewright diff` sees one attribute removed and another one added. If the entity is merged
    from several, it is a tuple with the name in each of them.
    `fill` is what a migration gives to stored items that lack a required attribute, in the item or
    for a `key_only` one in its keys, or that have a value that cannot be read: a value, or a
    function of the stored item as a dict.
    `codec` is how values are stored, in the item and in keys, instead of the form of their type:
    `attr(codec=iso("seconds"))`. It is a format of `tablewright.formats`, or a codec of your own.
    """
    return Attr(
        name=name,
        default=default,
        default_factory=default_factory,
        pad=pad,
        key_only=key_only,
        immutable=immutable,
        transitions=transitions,
        renamed_from=renamed_from,
        fill=fill,
        codec=codec,
        doc=doc,
    )


def version(
    *,
    name: str | None = None,
    renamed_from: str | tuple[str, ...] = "",
    init: Literal[False] = False,
) -> Attr[int]:
    """Declare the version: it counts the writes from 1 and rejects writes of older versions."""
    return Attr(name=name, default=0, role="version", init=False, renamed_from=renamed_from)


def created_at(
    *,
    name: str | None = None,
    codec: Format[datetime] | None = None,
    renamed_from: str | tuple[str, ...] = "",
    init: Literal[False] = False,
) -> Attr[datetime]:
    """Declare the time of creation; the first write sets it."""
    return Attr(name=name, role="created_at", codec=codec, init=False, renamed_from=renamed_from)


def updated_at(
    *,
    name: str | None = None,
    codec: Format[datetime] | None = None,
    renamed_from: str | tuple[str, ...] = "",
    init: Literal[False] = False,
) -> Attr[datetime]:
    """Declare the time of the last write; every write sets it."""
    return Attr(name=name, role="updated_at", codec=codec, init=False, renamed_from=renamed_from)


def ttl(
    *,
    name: str | None = None,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | None = None,
    fill: Any = None,
) -> Any:
    """Declare when DynamoDB may delete the item; stored in seconds since 1970, rounded up.

    `fill` is what a migration gives to stored items that lack it, as in `attr`.
    """
    return Attr(name=name, default=default, default_factory=default_factory, role="ttl", fill=fill)
