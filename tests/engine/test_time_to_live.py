from __future__ import annotations

import pytest

from tests.engine.database import Database, Json, item

NOW = 2_000_000_000
FIVE_YEARS = 5 * 365 * 24 * 3600
DISABLED = {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}


def switch(table: str, name: str, enabled: bool) -> Json:
    specification = {"AttributeName": name, "Enabled": enabled}
    return {"TableName": table, "TimeToLiveSpecification": specification}


@pytest.fixture
def expiring(db: Database) -> str:
    table = db.table(glob={"glob": ("g:S", "ALL")}, local={"local": ("pk:S / l:S", "ALL")})
    db.engine.call("UpdateTimeToLive", switch(table, "until", True))
    return table


def test_it_is_off_at_first(db: Database, table: str) -> None:
    assert db.call("DescribeTimeToLive", {"TableName": table}) == DISABLED


def test_it_can_be_enabled(db: Database, table: str) -> None:
    answer = db.call("UpdateTimeToLive", switch(table, "until", True))
    assert answer == {"TimeToLiveSpecification": {"AttributeName": "until", "Enabled": True}}
    assert db.call("DescribeTimeToLive", {"TableName": table}) == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}
    }


def test_it_can_be_disabled(db: Database, expiring: str) -> None:
    answer = db.call("UpdateTimeToLive", switch(expiring, "until", False))
    assert answer == {"TimeToLiveSpecification": {"AttributeName": "until", "Enabled": False}}
    assert db.call("DescribeTimeToLive", {"TableName": expiring}) == DISABLED


@pytest.mark.parametrize(
    ("name", "enabled", "message"),
    [
        pytest.param("until", True, "TimeToLive is already enabled", id="enabled again"),
        pytest.param(
            "other",
            True,
            "TimeToLive is active on a different AttributeName: current AttributeName is until",
            id="enabled on another",
        ),
        pytest.param(
            "other",
            False,
            "TimeToLive is active on a different AttributeName: current AttributeName is until",
            id="disabled on another",
        ),
    ],
)
def test_it_is_on_one_attribute(
    db: Database, expiring: str, name: str, enabled: bool, message: str
) -> None:
    db.refuses("UpdateTimeToLive", switch(expiring, name, enabled), message)


def test_it_is_not_disabled_twice(db: Database, table: str) -> None:
    message = "TimeToLive is already disabled"
    db.refuses("UpdateTimeToLive", switch(table, "until", False), message)


# -- the sweep


@pytest.mark.parametrize(
    ("until", "expires"),
    [
        pytest.param(NOW - 1, True, id="past"),
        pytest.param(NOW + 1, False, id="future"),
        pytest.param(NOW - FIVE_YEARS + 1, True, id="almost five years ago"),
        pytest.param(NOW - FIVE_YEARS - 1, False, id="more than five years ago"),
        pytest.param(0, False, id="zero"),
        pytest.param(str(NOW - 1), False, id="a text"),
        pytest.param([NOW - 1], False, id="a list"),
        pytest.param(None, False, id="null"),
    ],
)
def test_an_item_expires_when_its_time_has_come(
    db: Database, expiring: str, until: object, expires: bool
) -> None:
    one = item(pk="a", sk="1", until=until)
    db.put(expiring, one)
    assert db.engine.expire(now=NOW) == expires
    assert db.items(expiring) == ([] if expires else [one])


def test_an_expired_item_is_there_until_the_sweep(db: Database, expiring: str) -> None:
    db.put(expiring, item(pk="a", sk="1", until=1_500_000_000))
    request = {"TableName": expiring, "Key": item(pk="a", sk="1")}
    assert "Item" in db.call("GetItem", request)
    db.call("UpdateItem", request)
    assert len(db.items(expiring)) == 1


def test_an_expired_item_leaves_its_indexes(db: Database, expiring: str) -> None:
    db.put(expiring, item(pk="a", sk="1", g="x", l="y", until=NOW - 1))
    db.put(expiring, item(pk="a", sk="2", g="x", l="y", until=NOW + 1))
    db.engine.expire(now=NOW)
    assert [len(db.items(expiring, index)) for index in (None, "glob", "local")] == [1, 1, 1]


def test_items_of_other_tables_do_not_expire(db: Database, table: str) -> None:
    db.put(table, item(pk="a", sk="1", until=NOW - 1))
    assert db.engine.expire(now=NOW) == 0
    assert len(db.items(table)) == 1


def test_nothing_expires_once_it_is_disabled(db: Database, expiring: str) -> None:
    db.put(expiring, item(pk="a", sk="1", until=NOW - 1))
    db.call("UpdateTimeToLive", switch(expiring, "until", False))
    assert db.engine.expire(now=NOW) == 0


def test_a_sweep_takes_them_all(db: Database, expiring: str) -> None:
    for number in range(600):
        db.put(expiring, item(pk=str(number), sk="1", until=NOW - 1))
    assert db.engine.expire(now=NOW) == 600
    assert db.items(expiring) == []
