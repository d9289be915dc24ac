"""Types of request members, with the constraints of DynamoDB's service model.

Owns the types that several requests use, and `Structure`, the base of all structures. `requests`
defines the structures themselves.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NewType

from msgspec import Struct

from tablewright.limits import (
    MAX_ATTRIBUTE_NAME_SIZE,
    MAX_KEY_ATTRIBUTE_NAME_LENGTH,
    MAX_NAME_LENGTH,
    MAX_TABLE_ARN_LENGTH,
    MIN_NAME_LENGTH,
)
from tablewright.wire.constraints import (
    NAME_PATTERN,
    EnumValues,
    Length,
    NumberRange,
    RegularExpression,
    TableNameOrArn,
)

TableName = Annotated[str, Length(1, MAX_TABLE_ARN_LENGTH), TableNameOrArn()]
Name = Annotated[str, Length(MIN_NAME_LENGTH, MAX_NAME_LENGTH), RegularExpression(NAME_PATTERN)]
IndexName = Name
AttributeName = Annotated[str, Length(0, MAX_ATTRIBUTE_NAME_SIZE)]
KeyAttributeName = Annotated[str, Length(1, MAX_KEY_ATTRIBUTE_NAME_LENGTH)]
ResourceArn = Annotated[str, Length(1, 1283)]
Long = NewType("Long", int)  # a Java type that faults name
Timestamp = NewType("Timestamp", float)  # seconds since 1970
CapacityUnits = Annotated[Long, NumberRange(1)]

BillingMode = Annotated[str, EnumValues(("PROVISIONED", "PAY_PER_REQUEST"))]
KeyType = Annotated[str, EnumValues(("HASH", "RANGE"))]
ScalarType = Annotated[str, EnumValues(("B", "N", "S"))]
ProjectionType = Annotated[str, EnumValues(("ALL", "INCLUDE", "KEYS_ONLY"))]
TableClass = Annotated[str, EnumValues(("STANDARD", "STANDARD_INFREQUENT_ACCESS"))]
SseType = Annotated[str, EnumValues(("AES256", "KMS"))]
MultiRegionConsistency = Annotated[str, EnumValues(("EVENTUAL", "STRONG"))]
StreamView = Annotated[
    str, EnumValues(("NEW_AND_OLD_IMAGES", "OLD_IMAGE", "KEYS_ONLY", "NEW_IMAGE"))
]
ConditionalOperator = Annotated[str, EnumValues(("OR", "AND"))]
ComparisonOperator = Annotated[
    str,
    EnumValues(
        (
            "IN",
            "NULL",
            "BETWEEN",
            "LT",
            "NOT_CONTAINS",
            "EQ",
            "GT",
            "NOT_NULL",
            "NE",
            "LE",
            "BEGINS_WITH",
            "GE",
            "CONTAINS",
        )
    ),
]
AttributeAction = Annotated[str, EnumValues(("ADD", "DELETE", "PUT"))]
ReturnValues = Annotated[
    str, EnumValues(("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"))
]
ReturnOnFailure = Annotated[str, EnumValues(("ALL_OLD", "NONE"))]
ReturnCapacity = Annotated[str, EnumValues(("INDEXES", "TOTAL", "NONE"))]
ReturnMetrics = Annotated[str, EnumValues(("SIZE", "NONE"))]
Select = Annotated[
    str,
    EnumValues(("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")),
]
Names = dict[str, str]
# For lists and maps that have no limit in DynamoDB's service model. Later checks allow far less: 50
# tags, 25 indexes, 300 operators and 100 operands of IN in an expression. Without a limit, it could
# take seconds to refuse a request.
CAPPED = Length(0, 10_000)
AttributeNames = Annotated[list[AttributeName], Length(1, 100_000)]


class Structure(Struct, rename="pascal", gc=False):
    """A structure of the service model. It has no reference cycles, so it needs no collector."""

    #: The name in the service model, where it differs from the class's name.
    model_name: ClassVar[str | None] = None

    def present_members(self) -> dict[str, Any]:
        """Return the members that are not None, by their names on the wire."""
        members = zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True)
        return {
            name: value
            for name, attribute in members
            if (value := getattr(self, attribute)) is not None
        }


class Unsupported(Structure):
    """A structure of a feature that this engine does not have; its members are not read."""
