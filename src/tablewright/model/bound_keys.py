"""Bound keys: the keys of a finished class, which return typed plans when they are called.

Order.primary("C1", "O1")      Get[Order]: `key` shows the others
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, TypeVarTuple, overload

from tablewright.errors import DeclarationError
from tablewright.mapping.attributes import UniqueMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.model.attribute import KeyPath, Piece
from tablewright.plan.reads.get import Get, GetByUnique
from tablewright.plan.reads.query_parts import all_shards
from tablewright.plan.reads.range import Range
from tablewright.plan.reads.scan import Scan
from tablewright.symbol import TRACES

E = TypeVar("E")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
F = TypeVar("F")
G = TypeVar("G")
H = TypeVar("H")
J = TypeVar("J")
K = TypeVar("K")
L = TypeVar("L")
M = TypeVar("M")
N = TypeVar("N")
P = TypeVar("P")
S = TypeVar("S")
P_co = TypeVar("P_co", covariant=True)
R_co = TypeVar("R_co", covariant=True)
S_co = TypeVar("S_co", covariant=True)
Ts = TypeVarTuple("Ts")
Us = TypeVarTuple("Us")


class _WholeKey(Generic[R_co, P, S]):
    """Takes all values of a key, and returns a plan of the type `R_co`.

    A signature can have one variadic type, which the sort key uses here. So there is an overload
    for each length of the partition key, up to twelve parts.
    """

    _key: KeyMap
    _plan: Callable[[tuple[Any, ...]], R_co]

    @overload
    def __call__(self: _WholeKey[R_co, KeyPath[()], KeyPath[*Ts]], *values: *Ts) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A], KeyPath[*Ts]], *values: *tuple[A, *Ts]
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B], KeyPath[*Ts]], *values: *tuple[A, B, *Ts]
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C], KeyPath[*Ts]], *values: *tuple[A, B, C, *Ts]
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D], KeyPath[*Ts]], *values: *tuple[A, B, C, D, *Ts]
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D, F], KeyPath[*Ts]],
        *values: *tuple[A, B, C, D, F, *Ts],
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D, F, G], KeyPath[*Ts]],
        *values: *tuple[A, B, C, D, F, G, *Ts],
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D, F, G, H], KeyPath[*Ts]],
        *values: *tuple[A, B, C, D, F, G, H, *Ts],
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D, F, G, H, J], KeyPath[*Ts]],
        *values: *tuple[A, B, C, D, F, G, H, J, *Ts],
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D, F, G, H, J, K], KeyPath[*Ts]],
        *values: *tuple[A, B, C, D, F, G, H, J, K, *Ts],
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D, F, G, H, J, K, L], KeyPath[*Ts]],
        *values: *tuple[A, B, C, D, F, G, H, J, K, L, *Ts],
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D, F, G, H, J, K, L, M], KeyPath[*Ts]],
        *values: *tuple[A, B, C, D, F, G, H, J, K, L, M, *Ts],
    ) -> R_co: ...
    @overload
    def __call__(
        self: _WholeKey[R_co, KeyPath[A, B, C, D, F, G, H, J, K, L, M, N], KeyPath[*Ts]],
        *values: *tuple[A, B, C, D, F, G, H, J, K, L, M, N, *Ts],
    ) -> R_co: ...
    def __call__(self: Any, *values: Any, **named: Any) -> Any:  # type: ignore[misc]  # checkers cannot match *Ts here
        """Return the plan that gets the item with this key."""
        if named:
            raise _no_names(self._key, self._key.parameters)
        if TRACES:
            self._key.check_names(values)
        return self._plan(values)


class _Partitioned(Generic[E, P_co, S_co]):
    """The common part of primary keys and keys in indexes."""

    def __init__(self, entity: EntityMap, key: KeyMap) -> None:
        self._entity = entity
        self._key = key

    def __repr__(self) -> str:
        return f"{self._key.name}: {self._key.show()}"

    def all_shards(
        self: _Partitioned[E, KeyPath[*Us, int], KeyPath[*Ts]], *values: *Us
    ) -> Range[E, *Ts]:
        """Return the query for all shards of a partition key that ends in `shard(…)`.

        It takes the parts before the shard number, and merges the results in order.
        """
        found: Range[E, *Ts] = all_shards(self._entity, self._key, values)
        return found

    if not TYPE_CHECKING:  # type checkers report a missing method themselves

        def __getattr__(self, name: str) -> Any:
            raise _no_method(self, name)


class BoundKey(_WholeKey[Get[E], P, S], _Partitioned[E, P, S]):
    """The primary key of an entity."""

    def __init__(self, entity: EntityMap, key: KeyMap) -> None:
        super().__init__(entity, key)
        self._plan = partial(Get, entity)

    def within(self: BoundKey[E, KeyPath[*Us], KeyPath[*Ts]], *values: *Us) -> Range[E, *Ts]:
        """Return the query for all items of the entity in one partition."""
        found: Range[E, *Ts] = _range(self._entity, self._key, values)
        return found


class BoundIndex(_Partitioned[E, P_co, S_co]):
    """The key of an entity in an index."""

    @overload
    def __call__(
        self: BoundIndex[E, KeyPath[*Us], KeyPath[*Ts]], *values: *Us
    ) -> Range[E, *Ts]: ...
    @overload
    def __call__(
        self: BoundIndex[E, tuple[Piece[A] | KeyPath[A]], KeyPath[*Ts]], a: A, /
    ) -> Range[E, *Ts]: ...
    @overload
    def __call__(
        self: BoundIndex[E, tuple[Piece[A] | KeyPath[A], Piece[B] | KeyPath[B]], KeyPath[*Ts]],
        *values: *tuple[A, B],
    ) -> Range[E, *Ts]: ...
    @overload
    def __call__(
        self: BoundIndex[E, tuple[Piece[A] | KeyPath[A], KeyPath[B, C]], KeyPath[*Ts]],
        *values: *tuple[A, B, C],
    ) -> Range[E, *Ts]: ...
    @overload
    def __call__(
        self: BoundIndex[E, tuple[KeyPath[A, B], Piece[C] | KeyPath[C]], KeyPath[*Ts]],
        *values: *tuple[A, B, C],
    ) -> Range[E, *Ts]: ...
    @overload
    def __call__(
        self: BoundIndex[
            E,
            tuple[Piece[A] | KeyPath[A], Piece[B] | KeyPath[B], Piece[C] | KeyPath[C]],
            KeyPath[*Ts],
        ],
        *values: *tuple[A, B, C],
    ) -> Range[E, *Ts]: ...
    @overload
    def __call__(
        self: BoundIndex[
            E,
            tuple[
                Piece[A] | KeyPath[A],
                Piece[B] | KeyPath[B],
                Piece[C] | KeyPath[C],
                Piece[D] | KeyPath[D],
            ],
            KeyPath[*Ts],
        ],
        *values: *tuple[A, B, C, D],
    ) -> Range[E, *Ts]: ...
    def __call__(self: Any, *values: Any, **named: Any) -> Any:  # type: ignore[misc]  # checkers cannot match *Us
        """Return the query for all items of the entity in one partition of the index."""
        if named:
            raise _no_names(self._key, self._key.parameters[: self._key.partition_arity])
        return _range(self._entity, self._key, values)

    def scan(self, *, reason: str) -> Scan[E]:
        """Return a plan that reads the whole index; `reason` says why that is acceptable."""
        return Scan(self._entity, reason, self._key)


def _no_names(key: KeyMap, parts: Sequence[KeyPart]) -> DeclarationError:
    """Return the error for keyword arguments, which type checkers could not check."""
    labels = ", ".join(part.label for part in parts)
    return DeclarationError(f"{key.name} takes its values by position: {labels}")


def _no_method(key: _Partitioned[Any, Any, Any], name: str) -> AttributeError:
    """Return the error for a method that only a query or a primary key has."""
    is_within = name == "within"
    if name.startswith("_") or not (is_within or hasattr(Range, name)):
        return AttributeError(f"{type(key).__name__!r} object has no attribute {name!r}")
    known = key._key
    values = ", ".join(part.label for part in known.parameters[: known.partition_arity])
    if is_within:
        return AttributeError(
            f"{known.name} is an index; call it with the parts of its partition key: "
            f"{known.name}({values})"
        )
    call = ".within" if isinstance(key, BoundKey) else ""
    return AttributeError(
        f"{known.name} has no method {name!r}; first select a partition: "
        f"{known.name}{call}({values}).{name}(…)"
    )


def _range(entity: EntityMap, key: KeyMap, values: tuple[Any, ...]) -> Any:
    if len(values) > key.partition_arity:
        labels = (
            ", ".join(part.label for part in key.parameters[: key.partition_arity]) or "nothing"
        )
        raise DeclarationError(
            f"{key.name} takes {labels}, the parts of its partition key; {len(values)} values were "
            "given. Pass the parts of the sort key to eq()"
        )
    if TRACES:
        key.check_names(values)
    return Range(entity, key, values)


class BoundUnique(_WholeKey[GetByUnique[E], P, S]):
    """A unique value of an entity, which finds the entity."""

    def __init__(self, entity: EntityMap, unique: UniqueMap) -> None:
        self._key = unique.key
        self._plan = partial(GetByUnique, entity, unique)
