"""Condition keys: the names of the request properties that policies can test.

IAM ignores the case of names; here they are in lower case.
"""

from __future__ import annotations

LEADING_KEYS = "dynamodb:leadingkeys"
ATTRIBUTES = "dynamodb:attributes"
SELECT = "dynamodb:select"
RETURN_VALUES = "dynamodb:returnvalues"
RETURN_CAPACITY = "dynamodb:returnconsumedcapacity"
FULL_TABLE_SCAN = "dynamodb:fulltablescan"
ENCLOSING_OPERATION = "dynamodb:enclosingoperation"
#: The parts of a partition key of several attributes, in order.
PARTITION_KEYS = (
    "dynamodb:firstpartitionkeyvalues",
    "dynamodb:secondpartitionkeyvalues",
    "dynamodb:thirdpartitionkeyvalues",
    "dynamodb:fourthpartitionkeyvalues",
)
RESOURCE_TAG = "aws:resourcetag/"
REQUEST_TAG = "aws:requesttag/"
TAG_KEYS = "aws:tagkeys"
PRINCIPAL_TAG = "aws:principaltag/"
CURRENT_TIME = "aws:currenttime"
EPOCH_TIME = "aws:epochtime"

#: DynamoDB's own condition keys, as its documentation spells them.
DYNAMODB_KEYS = {
    name.lower(): name
    for name in (
        "dynamodb:LeadingKeys",
        "dynamodb:FirstPartitionKeyValues",
        "dynamodb:SecondPartitionKeyValues",
        "dynamodb:ThirdPartitionKeyValues",
        "dynamodb:FourthPartitionKeyValues",
        "dynamodb:Attributes",
        "dynamodb:Select",
        "dynamodb:ReturnValues",
        "dynamodb:ReturnConsumedCapacity",
        "dynamodb:EnclosingOperation",
        "dynamodb:FullTableScan",
    )
}
