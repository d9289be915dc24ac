"""Identifiers that sort by their creation time: KSUID and ULID.

    id      text                            resolution       bits of time, of randomness
    KSUID   27 characters of 0-9A-Za-z      a second         32, 128
    ULID    26 characters of 0-9A-Z,        a millisecond    48, 80
            without I, L, O and U

Both are strings: they sort, print, hash and serialize as their text.

The order of ids:
- One process: `new()` returns a higher id on each call, in all threads, even if several calls fall
  into one second, or the clock is set back. Sorting by id is sorting by creation.
- Several processes: ids sort by their times. The order of ids of one second (KSUID) or one
  millisecond (ULID) is random, and a clock that differs shifts the ids of its process.
- `new(at=...)` returns a random id of that time. Ids of equal times sort at random.

Invariants:
- Text order is time order: `a.time < b.time` implies `a < b`.
- `floor(t) <= x <= ceiling(t)` exactly for the ids `x` of the time `t`, so a range of times is a
  range of keys: `between(KSUID.floor(start), KSUID.ceiling(end))`.
- Every instance is valid: the constructor validates its text.

python-ulid converts between the numbers and texts of ULIDs. It is imported when first used, because
the import takes 40 ms.
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

__all__ = ["KSUID", "ULID"]

if TYPE_CHECKING:
    from typing import Self

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: The digits of KSUIDs, in ASCII order, so that texts sort like their numbers.
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class _Sequence:
    """The last id that this process created, as a number, and the lock that guards it."""

    def __init__(self) -> None:
        self.last = 0
        self.lock = threading.Lock()


class _TimeId(str):
    """The text of a number: time units since an epoch in the upper bits, random lower bits."""

    __slots__ = ()

    _pattern: ClassVar[re.Pattern[str]]
    _rule: ClassVar[str]
    _highest: ClassVar[str]
    _epoch: ClassVar[datetime]
    _moment: ClassVar[timedelta]
    _time_bits: ClassVar[int]
    _random_bits: ClassVar[int]
    _sequence: ClassVar[_Sequence]

    def __new__(cls, text: str) -> Self:
        if not cls._pattern.fullmatch(str(text)):
            raise InvalidValue(f"{text!r} is not a {cls.__name__}: {cls._rule}")
        if text > cls._highest:
            raise InvalidValue(f"{text!r} is not a {cls.__name__}: the highest is {cls._highest}")
        return super().__new__(cls, text)

    @classmethod
    def new(cls, at: datetime | None = None) -> Self:
        """Return a new id, higher than all earlier ones; with `at`, a random id of that time.

        If the clock has not advanced since the last id, or was set back, the new id is the last one
        plus a random number. (If it were the last one plus one, the next id would be easy to guess,
        and a forked process would create the same ids.)
        """
        bits = cls._random_bits
        count = cls._count(datetime.now(UTC) if at is None else at)
        drawn = count << bits | int.from_bytes(os.urandom(bits // 8))
        if at is None:
            sequence = cls._sequence
            with sequence.lock:
                if count <= sequence.last >> bits:
                    drawn = sequence.last + 1 + int.from_bytes(os.urandom(8))
                sequence.last = drawn
        return cls._of(drawn)

    @classmethod
    def floor(cls, when: datetime) -> Self:
        """Return the lowest id of a time."""
        return cls._bound("floor", when, 0)

    @classmethod
    def ceiling(cls, when: datetime) -> Self:
        """Return the highest id of a time."""
        return cls._bound("ceiling", when, (1 << cls._random_bits) - 1)

    @classmethod
    def _bound(cls, name: str, when: Any, rest: int) -> Self:
        if isinstance(when, Symbol):  # in a traced pattern the time is not known
            return getattr(Symbol(cls.__name__), name)(when)  # type: ignore[no-any-return]
        return cls._of(cls._count(when) << cls._random_bits | rest)

    @property
    def time(self) -> datetime:
        """The creation time, in UTC."""
        try:
            return self._epoch + (self._number_of(self) >> self._random_bits) * self._moment
        except OverflowError:  # ULIDs end in the year 10889
            raise InvalidValue(
                f"the time of {self!r} is after {datetime.max}, which datetime cannot hold"
            ) from None

    @classmethod
    def _count(cls, when: datetime) -> int:
        if when.utcoffset() is None:
            raise InvalidValue(f"{when!r} has no time zone; give it one, e.g. datetime.now(UTC)")
        # In integers: floats would round some times down to the previous millisecond.
        count = (when - cls._epoch) // cls._moment
        if not 0 <= count < 1 << cls._time_bits:
            bound = f"begin at {cls._epoch}" if count < 0 else "end before it"
            raise InvalidValue(f"there is no {cls.__name__} of {when}: they {bound}")
        return count

    @classmethod
    def _of(cls, number: int) -> Self:
        return str.__new__(cls, cls._text_of(number))

    @staticmethod
    @abstractmethod
    def _text_of(number: int) -> str: ...

    @staticmethod
    @abstractmethod
    def _number_of(text: str) -> int: ...

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
    """A K-sortable id: 32 bits of seconds since May 2014, 128 random bits, in base 62.

    >>> id = KSUID("0ujtsYcgvSTl8PAuAdqWYSMnLOv")
    >>> id.time.isoformat()
    '2017-10-10T04:00:47+00:00'
    >>> KSUID.floor(id.time) <= id <= KSUID.ceiling(id.time)
    True
    >>> KSUID("abc")
    Traceback (most recent call last):
    tablewright.errors.InvalidValue: 'abc' is not a KSUID: 27 characters of 0-9A-Za-z
    >>> KSUID.new() < KSUID.new() < KSUID.new()
    True
    """

    __slots__ = ()

    _pattern = re.compile("[0-9A-Za-z]{27}")
    _rule = "27 characters of 0-9A-Za-z"
    _highest = "aWgEPTl1tmebfsQzFP4bxwgy80V"
    _epoch = _UNIX_EPOCH + timedelta(seconds=1_400_000_000)
    _moment = timedelta(seconds=1)
    _time_bits = 32
    _random_bits = 128
    _sequence = _Sequence()

    @staticmethod
    def _text_of(number: int) -> str:
        digits = []
        for _ in range(27):
            number, digit = divmod(number, 62)
            digits.append(_BASE62[digit])
        return "".join(reversed(digits))

    @staticmethod
    def _number_of(text: str) -> int:
        number = 0
        for digit in text:
            number = number * 62 + _BASE62.index(digit)
        return number


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
    _time_bits = 48
    _random_bits = 80
    _sequence = _Sequence()

    @staticmethod
    def _text_of(number: int) -> str:
        import ulid

        return str(ulid.ULID.from_int(number))

    @staticmethod
    def _number_of(text: str) -> int:
        import ulid

        return int(ulid.ULID.from_str(text))


def _after_fork() -> None:
    for kind in (KSUID, ULID):
        kind._sequence.lock = threading.Lock()  # a thread of the parent process may hold the lock


if hasattr(os, "register_at_fork"):  # Windows does not have it
    os.register_at_fork(after_in_child=_after_fork)
