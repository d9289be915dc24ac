"""Billing, streams, encryption, tags, and the order of the checks."""

from __future__ import annotations

import pytest

from tests.engine.create_table.parameters import INVALID, UNITS
from tests.engine.database import Database, Json, definitions, table_request


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"ProvisionedThroughput": UNITS},
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
            id="on demand with throughput",
        ),
        pytest.param(
            {"BillingMode": "PROVISIONED"},
            INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED",
            id="provisioned without throughput",
        ),
        pytest.param(
            {"BillingMode": None},
            INVALID + "ReadCapacityUnits and WriteCapacityUnits must both be specified when "
            "BillingMode is PROVISIONED",
            id="by default without throughput",
        ),
        pytest.param(
            {"BillingMode": "FREE"},
            "1 validation error detected: Value 'FREE' at 'billingMode' failed to satisfy "
            "constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]",
            id="unknown billing",
        ),
        pytest.param(
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": UNITS | {"ReadCapacityUnits": 10**13},
            },
            "Given value 10000000000000 for ReadCapacityUnits is out of bounds",
            id="too much to read",
        ),
        pytest.param(
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": UNITS | {"WriteCapacityUnits": 10**13},
            },
            "Given value 10000000000000 for WriteCapacityUnits is out of bounds",
            id="too much to write",
        ),
        pytest.param(
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": UNITS | {"ReadCapacityUnits": 0},
            },
            "1 validation error detected: Value '0' at 'provisionedThroughput.readCapacityUnits' "
            "failed to satisfy constraint: Member must have value greater than or equal to 1",
            id="nothing to read",
        ),
        pytest.param(
            {
                "BillingMode": "PROVISIONED",
                "ProvisionedThroughput": UNITS,
                "OnDemandThroughput": {"MaxReadRequestUnits": 1},
            },
            INVALID + "MaxReadRequestUnits for OnDemandThroughput cannot be specified when table "
            "BillingMode is PROVISIONED.",
            id="on-demand limits on a provisioned table",
        ),
        pytest.param(
            {"OnDemandThroughput": {"MaxReadRequestUnits": 0}},
            INVALID + "Requested MaxReadRequestUnits for OnDemandThroughput for table is outside "
            "of valid range",
            id="on-demand limit of nothing",
        ),
        pytest.param(
            {"LocalSecondaryIndexes": []},
            INVALID + "List of LocalSecondaryIndexes is empty",
            id="no local indexes",
        ),
        pytest.param(
            {"GlobalSecondaryIndexes": []},
            INVALID + "List of GlobalSecondaryIndexes is empty",
            id="no global indexes",
        ),
        pytest.param(
            {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"}},
            INVALID + "Table is being created with a stream disabled, UpdateViewType should not be "
            "specified",
            id="a view of no stream",
        ),
        pytest.param(
            {"StreamSpecification": {"StreamEnabled": True}},
            "Invalid StreamViewType: Stream ViewType must not be null or empty when enabling "
            "streams.",
            id="a stream without a view",
        ),
        pytest.param(
            {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "ALL"}},
            "1 validation error detected: Value 'ALL' at 'streamSpecification.streamViewType' "
            "failed to satisfy constraint: Member must satisfy enum value set: "
            "[NEW_AND_OLD_IMAGES, OLD_IMAGE, KEYS_ONLY, NEW_IMAGE]",
            id="an unknown view",
        ),
        pytest.param(
            {"TableClass": "BEST"},
            "1 validation error detected: Value 'BEST' at 'tableClass' failed to satisfy "
            "constraint: Member must satisfy enum value set: "
            "[STANDARD, STANDARD_INFREQUENT_ACCESS]",
            id="an unknown class",
        ),
    ],
)
def test_wrong_settings(db: Database, change: Json, message: str) -> None:
    request = table_request(db.new_name()) | change
    if request["BillingMode"] is None:
        del request["BillingMode"]
    db.refuses("CreateTable", request, message)


# -- the order of checks ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"BillingMode": "FREE", "ProvisionedThroughput": UNITS, "KeySchema": []},
            "2 validation errors detected: Value '[]' at 'keySchema' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1; Value 'FREE' at 'billingMode' "
            "failed to satisfy constraint: Member must satisfy enum value set: "
            "[PROVISIONED, PAY_PER_REQUEST]",
            id="what the model demands, all of it",
        ),
        pytest.param(
            {"ProvisionedThroughput": UNITS, "AttributeDefinitions": definitions("x:S")},
            INVALID + "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when "
            "BillingMode is PAY_PER_REQUEST",
            id="billing before keys",
        ),
        pytest.param(
            {"AttributeDefinitions": definitions("pk:S"), "LocalSecondaryIndexes": []},
            "Invalid KeySchema: Some index key attribute have no definition",
            id="keys before indexes",
        ),
        pytest.param(
            {"LocalSecondaryIndexes": [], "GlobalSecondaryIndexes": []},
            INVALID + "List of LocalSecondaryIndexes is empty",
            id="local before global indexes",
        ),
    ],
)
def test_of_two_mistakes_the_first_is_told(db: Database, change: Json, message: str) -> None:
    db.refuses("CreateTable", table_request(db.new_name()) | change, message)


@pytest.mark.parametrize("count", [50, 51])
def test_a_table_has_at_most_fifty_tags(db: Database, count: int) -> None:
    tags = [{"Key": f"k{number}", "Value": "v"} for number in range(count)]
    request = table_request(db.new_name(), Tags=tags)
    if count == 50:
        db.call("CreateTable", request)
    else:
        message = "Too many Tags: 51, a resource has at most 50"
        db.refuses("CreateTable", request, INVALID + message)
    assert (request["TableName"] in db.call("ListTables")["TableNames"]) == (count == 50)
