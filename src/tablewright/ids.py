"""Identifiers that sort by their creation time: KSUID and ULID.

    id      text                            resolution       order of equal times
    KSUID   27 characters of 0-9A-Za-z      a second         random
    ULID    26 characters of 0-9A-Z,        a millisecond    by creation, within one process
            without I, L, O and U

Both are strings: they sort, print, hash and serialize as their text.

Invariants:
- Text order is time order: `a.time < b.time` implies `a < b`.
- `floor(t) <= x <= ceiling(t)` exactly for the ids `x` of the time `t`, so a range of times is a
  range of keys: `between(KSUID.floor(start), KSUID.ceiling(end))`.
- Every instance is valid: the constructor validates its text.

svix-ksuid and python-ulid convert between bytes and text. They are imported when first used,
because importing python-ulid takes 40 ms.
"""

from __future__ import annotations

import os
import re
import threading
from abc import abstractmethod
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from tablewright.errors import InvalidValue
from tablewright.symbol import Symbol

if TYPE_CHECKING:
    from typing import Self

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _TimeId(str):
    """Text that encodes a number of time units since an epoch, followed by random bytes."""

    __slots__ = ()

    _pattern: ClassVar[re.Pattern[str]]
    _rule: ClassVar[str]
    _highest: ClassVar[str]
    _epoch: ClassVar[datetime]
    _moment: ClassVar[timedelta]
    _time_bytes: ClassVar[int]
    _random_bytes: ClassVar[int]

    def __new__(cls, text: str) -> Self:
        if not cls._pattern.fullmatch(str(text)):
            raise InvalidValue(f"{text!r} is not a {cls.__name__}: {cls._rule}")
        if text > cls._highest:
            raise InvalidValue(f"{text!r} is not a {cls.__name__}: the highest is {cls._highest}")
        return super().__new__(cls, text)

    @classmethod
    def new(cls, at: datetime | None = None) -> Self:
        """Return a new id of the current time, or of `at`."""
        when = datetime.now(UTC) if at is None else at
        return cls._of(cls._count(when), os.urandom(cls._random_bytes))

    @classmethod
    def floor(cls, when: datetime) -> Self:
        """Return the lowest id of a time."""
        return cls._bound("floor", when, b"\x00")

    @classmethod
    def ceiling(cls, when: datetime) -> Self:
        """Return the highest id of a time."""
        return cls._bound("ceiling", when, b"\xff")

    @classmethod
    def _bound(cls, name: str, when: Any, filler: bytes) -> Self:
        if isinstance(when, Symbol):  # in a traced pattern the time is not known
            return Symbol(f"{cls.__name__}.{name}")(when)  # type: ignore[return-value]
        return cls._of(cls._count(when), filler * cls._random_bytes)

    @property
    def time(self) -> datetime:
        """The creation time, in UTC."""
        count = int.from_bytes(self._bytes_of(self)[: self._time_bytes])
        try:
            return self._epoch + count * self._moment
        except OverflowError:  # ULIDs end in the year 10889
            raise InvalidValue(
                f"the time of {self!r} is after {datetime.max}, which datetime cannot hold"
            ) from None

    @classmethod
    def _count(cls, when: datetime) -> int:
        if when.utcoffset() is None:
            raise InvalidValue(f"{when!r} has no time zone; give it one, e.g. datetime.now(UTC)")
        # In integers: with floats, some times would be rounded to the millisecond before.
        count = (when - cls._epoch) // cls._moment
        if not 0 <= count < 256**cls._time_bytes:
            bound = f"begin at {cls._epoch}" if count < 0 else "end before it"
            raise InvalidValue(f"there is no {cls.__name__} of {when}: they {bound}")
        return count

    @classmethod
    def _of(cls, count: int, rest: bytes) -> Self:
        return str.__new__(cls, cls._text_of(count.to_bytes(cls._time_bytes) + rest))

    @staticmethod
    @abstractmethod
    def _text_of(raw: bytes) -> str: ...

    @staticmethod
    @abstractmethod
    def _bytes_of(text: str) -> bytes: ...

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "pattern": f"^{cls._pattern.pattern}$"}


class KSUID(_TimeId):
    """A K-sortable id: 32 bits of seconds since May 2014, 128 random bits.

    >>> id = KSUID("0ujtsYcgvSTl8PAuAdqWYSMnLOv")
    >>> id.time.isoformat()
    '2017-10-10T04:00:47+00:00'
    >>> KSUID.floor(id.time) <= id <= KSUID.ceiling(id.time)
    True
    >>> KSUID("abc")
    Traceback (most recent call last):
    tablewright.errors.InvalidValue: 'abc' is not a KSUID: 27 characters of 0-9A-Za-z
    """

    __slots__ = ()

    _pattern = re.compile("[0-9A-Za-z]{27}")
    _rule = "27 characters of 0-9A-Za-z"
    _highest = "aWgEPTl1tmebfsQzFP4bxwgy80V"
    _epoch = _UNIX_EPOCH + timedelta(seconds=1_400_000_000)
    _moment = timedelta(seconds=1)
    _time_bytes = 4
    _random_bytes = 16

    @staticmethod
    def _text_of(raw: bytes) -> str:
        from ksuid import Ksuid

        return str(Ksuid.from_bytes(raw))

    @staticmethod
    def _bytes_of(text: str) -> bytes:
        from ksuid import Ksuid

        return bytes(Ksuid.from_base62(text))


class ULID(_TimeId):
    """A lexicographically sortable id: 48 bits of milliseconds since 1970, 80 random bits.

    >>> id = ULID("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    >>> id.time.isoformat()
    '2016-07-30T23:54:10.259000+00:00'
    >>> ULID.new() < ULID.new() < ULID.new()
    True
    """

    __slots__ = ()

    _pattern = re.compile("[0-7][0-9A-HJKMNP-TV-Z]{25}")
    _rule = "26 characters of 0-9A-Z without I, L, O and U, the first one at most 7"
    _highest = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
    _epoch = _UNIX_EPOCH
    _moment = timedelta(milliseconds=1)
    _time_bytes = 6
    _random_bytes = 10

    _last: ClassVar[int] = 0
    _lock: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def new(cls, at: datetime | None = None) -> Self:
        """Return a new id of the current time, above all earlier ones; with `at`, a random one.

        If the clock has not advanced since the last id, or was set back, the new id is the last one
        plus a random number. (python-ulid adds one, so the next id would be easy to guess, and a
        forked process would create the same ids.)
        """
        if at is not None:
            return super().new(at)
        drawn = cls._count(datetime.now(UTC)) << 80 | int.from_bytes(os.urandom(10))
        with ULID._lock:
            if drawn >> 80 <= ULID._last >> 80:
                drawn = ULID._last + 1 + int.from_bytes(os.urandom(8))
            ULID._last = drawn
        return cls._of(drawn >> 80, (drawn & (1 << 80) - 1).to_bytes(10))

    @staticmethod
    def _text_of(raw: bytes) -> str:
        import ulid

        return str(ulid.ULID.from_bytes(raw))

    @staticmethod
    def _bytes_of(text: str) -> bytes:
        import ulid

        return ulid.ULID.from_str(text).bytes


def _after_fork() -> None:
    ULID._lock = threading.Lock()  # a thread of the parent process may hold it


if hasattr(os, "register_at_fork"):  # Windows does not have it
    os.register_at_fork(after_in_child=_after_fork)
