"""Moments, dates, times of the day and durations."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import strategies as st
from pydantic import AwareDatetime

Value = dict[str, Any]


class Instant(datetime):
    pass


STRICT: list[Any] = [datetime, date, time, timedelta]

CASES: list[tuple[Any, Any, Value]] = [
    (
        datetime,
        datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC),
        {"S": "2026-01-15T10:15:30.000000Z"},
    ),
    (datetime, datetime(1, 1, 1, 0, 0, 0, 5, tzinfo=UTC), {"S": "0001-01-01T00:00:00.000005Z"}),
    (
        datetime,
        datetime(2026, 7, 1, 1, 0, tzinfo=ZoneInfo("Europe/Berlin")),
        {"S": "2026-06-30T23:00:00.000000Z"},
    ),
    (datetime, Instant(2026, 1, 15, tzinfo=UTC), {"S": "2026-01-15T00:00:00.000000Z"}),
    (
        datetime,
        Instant(2026, 1, 15, 0, 0, 0, 5, tzinfo=timezone(timedelta(hours=2))),
        {"S": "2026-01-14T22:00:00.000005Z"},
    ),
    (AwareDatetime, datetime(2026, 1, 15, tzinfo=UTC), {"S": "2026-01-15T00:00:00.000000Z"}),
    (date, date(2026, 1, 15), {"S": "2026-01-15"}),
    (time, time(10, 15), {"S": "10:15:00"}),
    (time, time(10, 15, 0, 5, tzinfo=timezone(timedelta(hours=2))), {"S": "10:15:00.000005+02:00"}),
    (timedelta, timedelta(minutes=1, microseconds=5), {"N": "60.000005"}),
    (timedelta, timedelta(days=-1), {"N": "-86400"}),
    (timedelta, timedelta.max, {"N": "86399999999999.999999"}),
]

OTHER_SPELLINGS: list[tuple[Any, Value, Any]] = [
    (datetime, {"S": "2026-01-15T10:15:30Z"}, datetime(2026, 1, 15, 10, 15, 30, tzinfo=UTC)),
    (datetime, {"S": "2026-01-15T10:15+02:00"}, datetime(2026, 1, 15, 8, 15, tzinfo=UTC)),
    (datetime, {"S": "2026-01-15 10:15:30.5Z"}, datetime(2026, 1, 15, 10, 15, 30, 500_000, UTC)),
]

REFUSED: list[tuple[Any, Any, str]] = [
    (datetime, datetime(2026, 1, 15), "has no time zone; give it one, e.g. datetime.now(UTC)"),
    (datetime, date(2026, 1, 15), "is not a datetime"),
    (datetime, "2026-01-15T00:00:00Z", "is not a datetime"),
    (
        datetime,
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        "is out of range in UTC",
    ),
    (date, datetime(2026, 1, 15, tzinfo=UTC), "is not a date; use its .date()"),
    (time, time(10, tzinfo=ZoneInfo("Europe/Berlin")), "its offset is known only together with"),
    (timedelta, 60, "Order.a: 60 (int) is not a timedelta"),
]

UNREADABLE: list[tuple[Any, Value, str]] = [
    (datetime, {"N": "5"}, "expected S for a datetime"),
    (datetime, {"S": "soon"}, "Order.a: 'soon' cannot be read as a datetime"),
    (datetime, {"S": "2026-01-15T00:00:00"}, "it has no time zone"),
    (datetime, {"S": "2026-01-15"}, "it has no time zone"),
    (datetime, {"S": "0001-01-01T00:00:00+01:00"}, "cannot be read as a datetime"),
    (date, {"S": "2026-13-01"}, "cannot be read as a date: month must be in 1..12"),
    (time, {"S": "25:00"}, "cannot be read as a time"),
    (timedelta, {"N": "0.0000001"}, "cannot be read as a timedelta: it would be rounded"),
    (timedelta, {"N": "1" + "0" * 30}, "cannot be read as a timedelta"),
]


def moments_in(*zones: tzinfo) -> st.SearchStrategy[datetime]:
    return st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.sampled_from(zones))


moments = moments_in(UTC, timezone(timedelta(hours=-7, seconds=5)))

STRATEGIES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (datetime, moments),
    (date, st.dates()),
    (time, st.times()),
    (timedelta, st.timedeltas()),
]
