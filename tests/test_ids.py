"""KSUIDs and ULIDs are strings that sort by time, and are valid or not there at all."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from tablewright.errors import InvalidValue
from tablewright.ids import KSUID, ULID, _Sequence

Id = type[KSUID] | type[ULID]
BOTH = pytest.mark.parametrize("kind", [KSUID, ULID])

NOON = datetime(2026, 1, 15, 12, 0, 0, 250_000, tzinfo=UTC)

#: An id and the moment it is of.
KNOWN: list[tuple[Id, str, datetime]] = [
    (KSUID, "000000000000000000000000000", datetime(2014, 5, 13, 16, 53, 20, tzinfo=UTC)),
    (KSUID, "0ujtsYcgvSTl8PAuAdqWYSMnLOv", datetime(2017, 10, 10, 4, 0, 47, tzinfo=UTC)),
    (KSUID, "aWgEPTl1tmebfsQzFP4bxwgy80V", datetime(2150, 6, 19, 23, 21, 35, tzinfo=UTC)),
    (ULID, "00000000000000000000000000", datetime(1970, 1, 1, tzinfo=UTC)),
    (ULID, "01ARZ3NDEKTSV4RRFFQ69G5FAV", datetime(2016, 7, 30, 23, 54, 10, 259_000, tzinfo=UTC)),
]

REFUSED: list[tuple[Id, str, str]] = [
    (KSUID, "abc", "'abc' is not a KSUID: 27 characters of 0-9A-Za-z"),
    (KSUID, "", "'' is not a KSUID: 27 characters of 0-9A-Za-z"),
    (KSUID, "0ujtsYcgvSTl8PAuAdqWYSMnLO-", "27 characters of 0-9A-Za-z"),
    (KSUID, "0ujtsYcgvSTl8PAuAdqWYSMnLOv\n", "27 characters of 0-9A-Za-z"),
    (KSUID, "aWgEPTl1tmebfsQzFP4bxwgy80W", "the highest is aWgEPTl1tmebfsQzFP4bxwgy80V"),
    (ULID, "abc", "'abc' is not a ULID: 26 characters of 0-9A-Z without I, L, O and U"),
    (ULID, "01arz3ndektsv4rrffq69g5fav", "26 characters"),
    (ULID, "01ARZ3NDEKTSV4RRFFQ69G5FAU", "without I, L, O and U"),
    (ULID, "81ARZ3NDEKTSV4RRFFQ69G5FAV", "the first one at most 7"),
]


@pytest.mark.parametrize(("kind", "text", "moment"), KNOWN)
def test_an_id_is_of_this_moment(kind: Id, text: str, moment: datetime) -> None:
    assert kind(text).time == moment
    assert kind(text).time.tzinfo is UTC


#: KSUIDs and their bytes, as the documentation of the reference implementation shows them, and the
#: lowest and the highest.
VECTORS = [
    ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", "0669F7EFB5A1CD34B5F99D1154FB6853345C9735"),
    ("0ujzPyRiIAffKhBux4PvQdDqMHY", "066A029C73FC1AA3B2446246D6E89FCD909E8FE8"),
    ("0uk1Hbc9dQ9pxyTqJ93IUrfhdGq", "066A06349850EEEC191BF4FF26F99315CE43B0C8"),
    ("0uk1HdCJ6hUZKDgcxhpJwUl5ZEI", "066A0634CC55072555316F45B8CA2D2979D3ED0A"),
    ("0uk1HcdvF0p8C20KtTfdRSB9XIm", "066A0634BA1C205D6177F0992D15EE606AE32238"),
    ("0uk1Ha7hGJ1Q9Xbnkt0yZgNwg3g", "066A063467517BA309EA62AE7991B27BB6F2FCAC"),
    ("000000000000000000000000000", "00" * 20),
    ("aWgEPTl1tmebfsQzFP4bxwgy80V", "FF" * 20),
]


@pytest.mark.parametrize(("text", "raw"), VECTORS)
def test_a_ksuid_is_the_text_of_20_bytes(text: str, raw: str) -> None:
    assert KSUID._text_of(int(raw, 16)) == text
    assert KSUID._number_of(text) == int(raw, 16)


@given(st.integers(0, 2**160 - 1), st.integers(0, 2**160 - 1))
def test_the_text_of_a_ksuid_round_trips_and_sorts_like_its_bytes(a: int, b: int) -> None:
    text, other = KSUID._text_of(a), KSUID._text_of(b)
    assert KSUID._number_of(KSUID(text)) == a
    assert (text < other, text == other) == (a < b, a == b)


@pytest.mark.parametrize(("kind", "text", "message"), REFUSED)
def test_what_is_no_id_is_refused(kind: Id, text: str, message: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        kind(text)
    assert message in str(refused.value)


@BOTH
def test_a_new_id_is_of_now(kind: Id) -> None:
    before = datetime.now(UTC)
    new = kind.new()
    assert kind.floor(before) <= new <= kind.ceiling(datetime.now(UTC))
    assert new != kind.new()


@BOTH
def test_a_new_id_may_be_of_another_time(kind: Id) -> None:
    there = NOON.astimezone(timezone(timedelta(hours=5)))
    assert kind.floor(NOON) < kind.new(at=there) < kind.ceiling(NOON)


@pytest.mark.parametrize(("kind", "unit"), [(KSUID, "seconds"), (ULID, "milliseconds")])
@given(
    moment=st.datetimes(datetime(2015, 1, 1), datetime(2149, 1, 1), timezones=st.just(UTC)),
)
def test_floor_and_ceiling_enclose_the_ids_of_one_moment(
    kind: Id, unit: str, moment: datetime
) -> None:
    next_moment = moment + timedelta(**{unit: 1})
    low, high = kind.floor(moment), kind.ceiling(moment)
    assert low.time == high.time <= moment < low.time + timedelta(**{unit: 1})
    assert low < kind.new(moment) < high < kind.floor(next_moment)
    assert kind(low) == low  # what is made is valid
    assert kind(high) == high


@BOTH
def test_a_time_without_a_zone_is_refused(kind: Id) -> None:
    for make in (kind.new, kind.floor, kind.ceiling):
        with pytest.raises(InvalidValue, match=r"give it one, e\.g\. datetime\.now\(UTC\)"):
            make(datetime(2026, 1, 15))


@pytest.mark.parametrize(
    ("kind", "year", "message"),
    [(KSUID, 2010, "begin at 2014"), (KSUID, 2200, "end before"), (ULID, 1969, "begin at 1970")],
)
def test_a_time_out_of_range_is_refused(kind: Id, year: int, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        kind.floor(datetime(year, 1, 1, tzinfo=UTC))


def test_a_ulid_of_a_time_that_python_lacks_says_so() -> None:
    with pytest.raises(InvalidValue, match="9999"):
        _ = ULID("7ZZZZZZZZZZZZZZZZZZZZZZZZZ").time


@BOTH
def test_the_ids_of_one_process_sort_by_creation(kind: Id) -> None:
    made = [kind.new() for _ in range(5000)]
    assert all(a < b for a, b in itertools.pairwise(made))


@pytest.fixture(params=[KSUID, ULID])
def clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let ids be created at a time that the test sets, in a sequence of their own."""
    clock = Clock(request.param)
    monkeypatch.setattr(clock.kind, "_sequence", _Sequence())
    monkeypatch.setattr("tablewright.ids.datetime", clock)
    return clock


class Clock:
    """A replacement of `datetime` in the module of ids."""

    def __init__(self, kind: Id) -> None:
        self.kind = kind
        self.time = NOON

    def now(self, zone: timezone) -> datetime:
        return self.time.astimezone(zone)


def test_ids_of_one_moment_are_of_that_moment_and_differ_by_random_steps(clock: Clock) -> None:
    made = [clock.kind.new() for _ in range(100)]
    assert {each.time for each in made} == {clock.kind.floor(NOON).time}
    numbers = [clock.kind._number_of(each) for each in made]
    steps = [b - a for a, b in itertools.pairwise(numbers)]
    assert min(steps) > 0
    assert len(set(steps)) == len(steps)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.timedeltas(timedelta(seconds=-3), timedelta(seconds=3)), max_size=30))
def test_ids_sort_by_creation_whatever_the_clock_does(clock: Clock, steps: list[timedelta]) -> None:
    made = []
    for step in steps:
        clock.time += step
        made.append(clock.kind.new())
    assert sorted(set(made)) == made


def test_an_id_after_the_highest_of_a_moment_is_of_the_next_moment(clock: Clock) -> None:
    kind = clock.kind
    kind._sequence.last = kind._number_of(kind.ceiling(NOON))
    assert kind.ceiling(NOON) < kind.new() < kind.ceiling(NOON + timedelta(seconds=1))


@BOTH
def test_the_ids_of_other_times_do_not_disturb_that(kind: Id) -> None:
    made = []
    for _ in range(500):
        made.append(kind.new())
        kind.new(NOON)
        kind.new(datetime(2149, 1, 1, tzinfo=UTC))
    assert all(a < b for a, b in itertools.pairwise(made))
    assert made[-1] < kind.ceiling(datetime.now(UTC) + timedelta(minutes=1))


@BOTH
def test_the_ids_of_several_threads_increase_in_each_and_differ(kind: Id) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: [kind.new() for _ in range(1000)], range(4)))
    for made in runs:
        assert all(a < b for a, b in itertools.pairwise(made))
    assert len({each for made in runs for each in made}) == 4000


@BOTH
def test_an_id_is_its_text(kind: Id) -> None:
    new = kind.new()
    text = str(new)
    assert type(text) is str
    assert (new, hash(new), repr(new), f"{new}") == (text, hash(text), repr(text), text)
    assert json.dumps({"id": new}) == f'{{"id": "{text}"}}'


@BOTH
def test_an_id_survives_pickle_and_copy(kind: Id) -> None:
    new = kind.new()
    for twin in (pickle.loads(pickle.dumps(new)), copy.copy(new), copy.deepcopy(new)):
        assert type(twin) is kind
        assert twin == new


class Order(BaseModel):
    id: KSUID
    event: ULID


def test_pydantic_reads_and_writes_ids() -> None:
    order = Order(id=KSUID.new(), event=ULID.new())
    again = Order.model_validate_json(order.model_dump_json())
    assert again == order
    assert (type(again.id), type(again.event)) == (KSUID, ULID)
    assert order.model_dump(mode="json") == {"id": str(order.id), "event": str(order.event)}


@BOTH
def test_pydantic_takes_text_and_describes_it(kind: Id) -> None:
    adapter = TypeAdapter[KSUID | ULID](kind)
    new = kind.new()
    assert type(adapter.validate_python(str(new))) is kind
    schema = adapter.json_schema()
    assert (schema["type"], schema["pattern"]) == ("string", f"^{kind._pattern.pattern}$")
    with pytest.raises(ValidationError, match=f"'abc' is not a {kind.__name__}"):
        adapter.validate_python("abc")
    with pytest.raises(ValidationError, match="valid string"):
        adapter.validate_python(5)
