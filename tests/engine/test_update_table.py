from __future__ import annotations

import time
from typing import Any

import pytest

from tests.engine.database import Database, Json, Refused, definitions, index_request, item

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
MORE = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 6}
LESS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 1}


@pytest.fixture
def provisioned(db: Database) -> str:
    return db.table(ProvisionedThroughput=UNITS)


def described(db: Database, table: str) -> Json:
    found: Json = db.call("DescribeTable", {"TableName": table})["Table"]
    return found


def create(name: str, keys: str, projection: Any = "ALL", **more: Any) -> Json:
    return {
        "AttributeDefinitions": definitions(keys),
        "GlobalSecondaryIndexUpdates": [
            {"Create": index_request(name, keys, projection) | more},
        ],
    }


def delete(name: str) -> Json:
    return {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}}]}


# -- settings


def test_throughput_can_be_raised(db: Database, provisioned: str) -> None:
    request = {"TableName": provisioned, "ProvisionedThroughput": MORE}
    answer = db.call("UpdateTable", request)["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    found = described(db, provisioned)["ProvisionedThroughput"]
    assert found.pop("LastIncreaseDateTime") > 1_700_000_000
    assert found == {"NumberOfDecreasesToday": 0, **MORE}


def test_throughput_can_be_lowered(db: Database, provisioned: str) -> None:
    db.call("UpdateTable", {"TableName": provisioned, "ProvisionedThroughput": LESS})
    found = described(db, provisioned)["ProvisionedThroughput"]
    assert found.pop("LastDecreaseDateTime") > 1_700_000_000
    assert found == {"NumberOfDecreasesToday": 1, **LESS}


def test_a_table_can_become_on_demand(db: Database, provisioned: str) -> None:
    db.call("UpdateTable", {"TableName": provisioned, "BillingMode": "PAY_PER_REQUEST"})
    found = described(db, provisioned)
    assert found["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert found["ProvisionedThroughput"]["ReadCapacityUnits"] == 0


def test_a_table_can_become_provisioned(db: Database, table: str) -> None:
    request = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}
    db.call("UpdateTable", {"TableName": table} | request)
    units = described(db, table)["ProvisionedThroughput"]
    assert {name: units[name] for name in UNITS} == UNITS


def test_indexes_become_on_demand_with_their_table(db: Database) -> None:
    table = db.table(ProvisionedThroughput=UNITS)
    db.call(
        "UpdateTable",
        {"TableName": table} | create("glob", "g:S", ProvisionedThroughput=UNITS),
    )
    request = {"TableName": table, "BillingMode": "PAY_PER_REQUEST"}
    (index,) = db.call("UpdateTable", request)["TableDescription"]["GlobalSecondaryIndexes"]
    assert index["IndexStatus"] == "UPDATING"
    (index,) = described(db, table)["GlobalSecondaryIndexes"]
    assert index["IndexStatus"] == "ACTIVE"
    assert index["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 0,
        "WriteCapacityUnits": 0,
    }


def test_a_table_becomes_provisioned_with_the_throughput_of_all_its_indexes(db: Database) -> None:
    table = db.table(glob={"one": ("g:S", "ALL"), "two": ("h:S", "ALL")})
    request: Json = {
        "TableName": table,
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": UNITS,
    }
    missing = f"{INVALID}ProvisionedThroughput must be specified for index: "
    db.refuses("UpdateTable", request, missing + "one,two")
    updates = [
        {"Update": {"IndexName": name, "ProvisionedThroughput": UNITS}} for name in ("one", "two")
    ]
    request["GlobalSecondaryIndexUpdates"] = updates[:1]
    db.refuses("UpdateTable", request, missing + "two")
    assert described(db, table)["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    request["GlobalSecondaryIndexUpdates"] = updates
    db.call("UpdateTable", request)
    for index in described(db, table)["GlobalSecondaryIndexes"]:
        assert index["ProvisionedThroughput"].items() >= UNITS.items()


def test_a_table_that_was_on_demand_has_a_billing_mode_summary(db: Database, table: str) -> None:
    before = described(db, table)["BillingModeSummary"]
    request = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}
    db.call("UpdateTable", {"TableName": table} | request)
    assert described(db, table)["BillingModeSummary"] == before | {"BillingMode": "PROVISIONED"}


def test_a_change_of_the_class_has_its_time(db: Database) -> None:
    table = db.table(TableClass="STANDARD_INFREQUENT_ACCESS")
    assert described(db, table)["TableClassSummary"] == {"TableClass": "STANDARD_INFREQUENT_ACCESS"}
    db.call("UpdateTable", {"TableName": table, "TableClass": "STANDARD"})
    found = described(db, table)["TableClassSummary"]
    assert found["LastUpdateDateTime"] > 1_700_000_000
    assert found["TableClass"] == "STANDARD"


def test_the_response_shows_the_index_that_changes(db: Database, provisioned: str) -> None:
    def update(change: Json) -> dict[str, str]:
        found = db.call("UpdateTable", {"TableName": provisioned} | change)["TableDescription"]
        return {one["IndexName"]: one["IndexStatus"] for one in found["GlobalSecondaryIndexes"]}

    assert update(create("one", "g:S", ProvisionedThroughput=UNITS)) == {"one": "CREATING"}
    assert update(create("two", "h:S", ProvisionedThroughput=UNITS)) == {
        "one": "ACTIVE",
        "two": "CREATING",
    }
    more = {"Update": {"IndexName": "two", "ProvisionedThroughput": MORE}}
    assert update({"GlobalSecondaryIndexUpdates": [more]}) == {"one": "ACTIVE", "two": "UPDATING"}
    assert update(delete("one")) == {"two": "ACTIVE", "one": "DELETING"}
    (index,) = described(db, provisioned)["GlobalSecondaryIndexes"]
    assert (index["IndexName"], index["IndexStatus"]) == ("two", "ACTIVE")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"DeletionProtectionEnabled": True}, {"DeletionProtectionEnabled": True}),
        (
            {"OnDemandThroughput": {"MaxWriteRequestUnits": 9}},
            {"OnDemandThroughput": {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 9}},
        ),
        (
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}},
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}},
        ),
    ],
)
def test_settings_can_be_changed(db: Database, table: str, change: Json, found: Json) -> None:
    db.call("UpdateTable", {"TableName": table} | change)
    now = described(db, table)
    assert {name: now[name] for name in found} == found


def test_a_stream_can_be_disabled(db: Database) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    table = db.table(StreamSpecification=stream)
    off = {"StreamSpecification": {"StreamEnabled": False}}
    db.call("UpdateTable", {"TableName": table} | off)
    assert "StreamSpecification" not in described(db, table)


def test_a_stream_is_enabled_with_a_view(db: Database, table: str) -> None:
    db.refuses(
        "UpdateTable",
        {"TableName": table, "StreamSpecification": {"StreamEnabled": True}},
        "Invalid StreamViewType: Stream ViewType must not be null or empty when enabling streams.",
    )


def test_a_stream_that_is_not_there_is_not_disabled(db: Database, table: str) -> None:
    with pytest.raises(Refused, match="ValidationException"):
        db.call(
            "UpdateTable",
            {"TableName": table, "StreamSpecification": {"StreamEnabled": False}},
        )


def test_a_table_can_be_encrypted(db: Database, table: str) -> None:
    db.call("UpdateTable", {"TableName": table, "SSESpecification": {"Enabled": True}})
    assert described(db, table)["SSEDescription"]["Status"] == "ENABLED"


# -- indexes


def test_a_new_index_holds_the_items_there_are(db: Database) -> None:
    table = db.table(items=[item(pk="a", sk="1", g="x", v=1), item(pk="a", sk="2")])
    answer = db.call("UpdateTable", {"TableName": table} | create("glob", "g:S"))
    (index,) = answer["TableDescription"]["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "glob"
    assert db.items(table, "glob") == [item(pk="a", sk="1", g="x", v=1)]
    db.put(table, item(pk="a", sk="3", g="y"))
    assert len(db.items(table, "glob")) == 2


@pytest.mark.parametrize(
    ("projection", "held"),
    [
        ("ALL", item(pk="a", sk="1", g="x", v=1, w=2)),
        ("KEYS_ONLY", item(pk="a", sk="1", g="x")),
        (["v"], item(pk="a", sk="1", g="x", v=1)),
    ],
    ids=["ALL", "KEYS_ONLY", "INCLUDE"],
)
def test_a_new_index_holds_what_it_projects(
    db: Database, table: str, projection: Any, held: Json
) -> None:
    db.put(table, item(pk="a", sk="1", g="x", v=1, w=2))
    db.call("UpdateTable", {"TableName": table} | create("glob", "g:S", projection))
    assert db.items(table, "glob") == [held]


@pytest.mark.parametrize(
    "unfit",
    [item(g=1), item(g=""), item(g=["x"]), item(g="x" * 2049), item(g="x", h="1"), item(h=1)],
    ids=["type", "empty", "list", "long", "sort key's type", "missing"],
)
def test_items_that_do_not_fit_are_left_out_of_a_new_index(
    db: Database, table: str, unfit: Json
) -> None:
    db.put(table, item(pk="a", sk="1") | unfit)
    db.put(table, item(pk="a", sk="2", g="x", h=1))
    db.call("UpdateTable", {"TableName": table} | create("glob", "g:S / h:N"))
    assert db.items(table, "glob") == [item(pk="a", sk="2", g="x", h=1)]
    assert len(db.items(table)) == 2


def test_a_new_index_defines_its_attributes(db: Database, table: str) -> None:
    db.call("UpdateTable", {"TableName": table} | create("glob", "g:S / h:N"))
    found = described(db, table)["AttributeDefinitions"]
    assert sorted(found, key=str) == sorted(definitions("pk:S sk:S g:S h:N"), key=str)


def test_a_removed_index_is_gone(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")}, items=[item(pk="a", sk="1", g="x")])
    db.call("UpdateTable", {"TableName": table} | delete("glob"))
    assert "GlobalSecondaryIndexes" not in described(db, table)
    assert described(db, table)["AttributeDefinitions"] == definitions("pk:S sk:S")
    message = "The table does not have the specified index: glob"
    db.refuses("Scan", {"TableName": table, "IndexName": "glob"}, message)
    assert db.items(table) == [item(pk="a", sk="1", g="x")]


def test_a_removed_index_no_longer_checks_its_keys(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")})
    db.call("UpdateTable", {"TableName": table} | delete("glob"))
    db.call("PutItem", {"TableName": table, "Item": item(pk="a", sk="1", g=1)})
    assert db.items(table) == [item(pk="a", sk="1", g=1)]


def test_an_index_made_again_has_other_keys(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")}, items=[item(pk="a", sk="1", g="x", n=1)])
    db.call("UpdateTable", {"TableName": table} | delete("glob"))
    db.call("UpdateTable", {"TableName": table} | create("glob", "n:N", "KEYS_ONLY"))
    assert db.items(table, "glob") == [item(pk="a", sk="1", n=1)]


def test_an_index_of_an_on_demand_table_has_limits(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")})
    limits = {"MaxReadRequestUnits": 3, "MaxWriteRequestUnits": 4}
    change = {"Update": {"IndexName": "glob", "OnDemandThroughput": limits}}
    db.call("UpdateTable", {"TableName": table, "GlobalSecondaryIndexUpdates": [change]})
    (index,) = described(db, table)["GlobalSecondaryIndexes"]
    assert index["OnDemandThroughput"] == limits


def test_an_index_of_a_provisioned_table_has_throughput(db: Database, provisioned: str) -> None:
    request = create("glob", "g:S", ProvisionedThroughput=UNITS)
    db.call("UpdateTable", {"TableName": provisioned} | request)
    change = {"Update": {"IndexName": "glob", "ProvisionedThroughput": MORE}}
    request = {"TableName": provisioned, "GlobalSecondaryIndexUpdates": [change]}
    db.call("UpdateTable", request)
    (index,) = described(db, provisioned)["GlobalSecondaryIndexes"]
    assert {name: index["ProvisionedThroughput"][name] for name in MORE} == MORE


# -- mistakes


@pytest.mark.parametrize(
    "request_",
    [{}, {"GlobalSecondaryIndexUpdates": []}, {"AttributeDefinitions": definitions("pk:S")}],
    ids=["nothing", "no index", "definitions only"],
)
def test_there_must_be_something_to_do(db: Database, request_: Json) -> None:
    db.refuses(
        "UpdateTable",
        {"TableName": "missing"} | request_,
        "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
        "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": UNITS},
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
            id="on demand with throughput",
        ),
        pytest.param(
            {"ProvisionedThroughput": UNITS | {"WriteCapacityUnits": 10**13}},
            "Given value 10000000000000 for WriteCapacityUnits is out of bounds",
            id="too much",
        ),
        pytest.param(
            {"GlobalSecondaryIndexUpdates": [{}]},
            INVALID + "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create,"
            " GlobalSecondaryIndexUpdate.Delete must not be null",
            id="no change of an index",
        ),
        pytest.param(
            {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "same"}}] * 2},
            INVALID + "Only one global secondary index update per index is allowed "
            "simultaneously. Index: same",
            id="an index twice",
        ),
    ],
)
def test_wrong_requests_are_refused_before_the_table_is_looked_for(
    db: Database, change: Json, message: str
) -> None:
    db.refuses("UpdateTable", {"TableName": "missing"} | change, message)


def test_one_index_at_a_time(db: Database, table: str) -> None:
    changes = [{"Delete": {"IndexName": name}} for name in ("one", "two")]
    db.fails(
        "UpdateTable",
        {"TableName": table, "GlobalSecondaryIndexUpdates": changes},
        "LimitExceededException",
        "Subscriber limit exceeded: "
        "Only 1 online index can be created or deleted simultaneously per table",
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"ProvisionedThroughput": UNITS},
            "The provisioned throughput for the table will not change. The requested value equals "
            "the current value. Current ReadCapacityUnits provisioned for the table: 5. Requested "
            "ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 6. "
            "Requested WriteCapacityUnits: 6. Refer to the Amazon DynamoDB Developer Guide for "
            "current limits and how to request higher limits.",
            id="the same throughput",
        ),
        pytest.param(
            create("glob", "g:S"),
            INVALID + "ProvisionedThroughput is not specified for index: glob",
            id="an index without throughput",
        ),
        pytest.param(
            create("glob", "g:S") | {"AttributeDefinitions": definitions("x:S")},
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [g], AttributeDefinitions: [x]",
            id="an index whose key is not defined",
        ),
        pytest.param(
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Update": {"IndexName": "nope", "ProvisionedThroughput": MORE}}
                ]
            },
            "This operation cannot be performed with given input values. Please contact DynamoDB "
            "service team for more info: Action Blocked: IndexUpdate",
            id="throughput of a missing index",
        ),
    ],
)
def test_wrong_changes_of_a_provisioned_table(
    db: Database, provisioned: str, change: Json, message: str
) -> None:
    before = described(db, provisioned)
    db.refuses("UpdateTable", {"TableName": provisioned} | change, message)
    assert described(db, provisioned) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"ProvisionedThroughput": UNITS},
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
            id="throughput",
        ),
        pytest.param(
            {"BillingMode": "PROVISIONED"},
            INVALID + "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
            id="provisioned without throughput",
        ),
        pytest.param(
            {
                "GlobalSecondaryIndexUpdates": [
                    {"Update": {"IndexName": "glob", "ProvisionedThroughput": UNITS}}
                ]
            },
            INVALID + "The only Updates for index: glob when TableThroughputMode is "
            "PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput",
            id="throughput of an index",
        ),
        pytest.param(
            create("glob", "g:S"), "Attempting to create an index which already exists", id="again"
        ),
        pytest.param(
            create("local", "g:S"),
            "Attempting to create an index which already exists",
            id="the name of a local index",
        ),
        pytest.param(
            create("more", "h:S", ProvisionedThroughput=UNITS),
            INVALID + "ProvisionedThroughput should not be specified for index: more when "
            "BillingMode is PAY_PER_REQUEST",
            id="a new index with throughput",
        ),
        pytest.param(
            create("more", "h:S") | {"AttributeDefinitions": []},
            INVALID + "Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [h], AttributeDefinitions: []",
            id="a new index without definitions",
        ),
        pytest.param(
            {"OnDemandThroughput": {"MaxReadRequestUnits": 0}},
            INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside "
            "of valid range",
            id="on-demand limit of nothing",
        ),
    ],
)
def test_wrong_changes_of_an_on_demand_table(db: Database, change: Json, message: str) -> None:
    table = db.table(
        local={"local": ("pk:S / l:S", "ALL")},
        glob={"glob": ("g:S", "ALL")},
        items=[item(pk="a", sk="1", g="x", l="y")],
    )
    before = described(db, table)
    db.refuses("UpdateTable", {"TableName": table} | change, message)
    assert described(db, table) == before


def test_a_missing_index_cannot_be_removed(db: Database, table: str) -> None:
    request = {"TableName": table} | delete("nope")
    db.fails("UpdateTable", request, "ResourceNotFoundException", "Requested resource not found")


def test_a_local_index_cannot_be_removed(db: Database) -> None:
    table = db.table(local={"local": ("pk:S / l:S", "ALL")})
    request = {"TableName": table} | delete("local")
    db.fails("UpdateTable", request, "ResourceNotFoundException", "Requested resource not found")


def test_a_twenty_first_index_is_refused(db: Database) -> None:
    table = db.table(glob={f"glob{number}": ("g:S", "ALL") for number in range(20)})
    with_one_more = {"TableName": table} | create("more", "h:S")
    message = INVALID + "GlobalSecondaryIndex count exceeds the per-table limit of 20"
    db.refuses("UpdateTable", with_one_more, message)


def test_a_stream_is_not_enabled_twice(db: Database) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    table = db.table(StreamSpecification=stream)
    message = f"Table already has an enabled stream: TableName: {table}"
    db.refuses("UpdateTable", {"TableName": table, "StreamSpecification": stream}, message)


def test_on_demand_limits_of_a_provisioned_table(db: Database) -> None:
    table = db.table(ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 6})
    db.refuses(
        "UpdateTable",
        {"TableName": table, "OnDemandThroughput": {"MaxReadRequestUnits": 1}},
        INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when the "
        "table BillingMode is PROVISIONED",
    )


# -- decreases are counted by day


def test_decreases_of_one_day_add_up(db: Database, provisioned: str) -> None:
    for units in (4, 3, 2):
        throughput = {"ReadCapacityUnits": units, "WriteCapacityUnits": 6}
        db.call("UpdateTable", {"TableName": provisioned, "ProvisionedThroughput": throughput})
    assert described(db, provisioned)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 3


def test_decreases_of_another_day_are_not_counted(
    db: Database, provisioned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    yesterday = time.time() - 24 * 60 * 60
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: yesterday)
        request = {"TableName": provisioned, "ProvisionedThroughput": LESS}
        db.engine.call("UpdateTable", request)
        then = db.engine.call("DescribeTable", {"TableName": provisioned})["Table"]
    assert then["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1
    assert described(db, provisioned)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
    less = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    db.call("UpdateTable", {"TableName": provisioned, "ProvisionedThroughput": less})
    assert described(db, provisioned)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1


# -- attributes that are keys already


REDEFINED = (
    INVALID + "Attributes cannot be redefined. Please check that your attribute has the same type "
    "as previously defined. Existing schema: Schema:[{}] New schema: Schema:[{}]"
)
ELEMENT = "SchemaElement: key{{{}}}".format


def test_a_new_index_cannot_redefine_a_key_of_the_table(db: Database, table: str) -> None:
    request = {"TableName": table} | create("glob", "sk:N")
    db.refuses(
        "UpdateTable",
        request,
        REDEFINED.format(f"{ELEMENT('pk:S:HASH')}, {ELEMENT('sk:S:RANGE')}", ELEMENT("sk:N:HASH")),
    )
    assert "GlobalSecondaryIndexes" not in described(db, table)


def test_a_new_index_cannot_redefine_a_key_of_another_index(db: Database) -> None:
    table = db.table(glob={"first": ("g:S", "ALL")}, items=[item(pk="a", sk="1", g="x")])
    request = {"TableName": table} | create("second", "g:N")
    db.refuses("UpdateTable", request, REDEFINED.format(ELEMENT("g:S:HASH"), ELEMENT("g:N:HASH")))


def test_other_definitions_do_not_change_types(db: Database, table: str) -> None:
    request: Json = {"TableName": table} | create("glob", "g:S")
    request["AttributeDefinitions"] = definitions("g:S pk:N")
    db.call("UpdateTable", request)
    found = described(db, table)["AttributeDefinitions"]
    assert sorted(found, key=str) == sorted(definitions("pk:S sk:S g:S"), key=str)


def test_an_entry_has_one_action(db: Database) -> None:
    table = db.table(glob={"glob": ("g:S", "ALL")})
    change = {"Delete": {"IndexName": "glob"}, "Update": {"IndexName": "glob"}}
    request = {"TableName": table, "GlobalSecondaryIndexUpdates": [change]}
    with pytest.raises(Refused, match="Only one of GlobalSecondaryIndexUpdate"):
        db.call("UpdateTable", request)
    assert "GlobalSecondaryIndexes" in described(db, table)


def test_projected_attributes_are_listed_once(db: Database, table: str) -> None:
    request = {"TableName": table} | create("glob", "g:S", ["v", "w", "v"])
    message = INVALID + "NonKeyAttributes contains duplicates: [v, w, v]"
    db.refuses("UpdateTable", request, message)
    assert "GlobalSecondaryIndexes" not in described(db, table)


def test_items_with_a_sort_key_that_is_too_long_are_left_out_of_a_new_index(
    db: Database, table: str
) -> None:
    db.put(table, item(pk="a", sk="1", g="x", h="y" * 1025))
    db.put(table, item(pk="a", sk="2", g="x", h="y" * 1024))
    db.call("UpdateTable", {"TableName": table} | create("glob", "g:S / h:S", "KEYS_ONLY"))
    assert db.items(table, "glob") == [item(pk="a", sk="2", g="x", h="y" * 1024)]
