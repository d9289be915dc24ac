"""KSUIDs and ULIDs are strings that sort by time, and are valid or not there at all."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from tablewright.errors import InvalidValue
from tablewright.ids import KSUID, ULID

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


def test_the_ulids_of_one_process_increase() -> None:
    made = [ULID.new() for _ in range(5000)]
    assert all(a < b for a, b in itertools.pairwise(made))


def test_the_ulids_of_other_times_do_not_disturb_that() -> None:
    made = []
    for _ in range(500):
        made.append(ULID.new())
        ULID.new(NOON)
        ULID.new(datetime(9000, 1, 1, tzinfo=UTC))
    assert all(a < b for a, b in itertools.pairwise(made))
    assert made[-1] < ULID.ceiling(datetime.now(UTC) + timedelta(minutes=1))


def test_the_ulids_of_several_threads_increase_in_each_and_differ() -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: [ULID.new() for _ in range(1000)], range(4)))
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
