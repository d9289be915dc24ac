"""Constraints of DynamoDB's service model on the members of requests, besides their types.

Requests have them in their annotations. `tablewright.wire.read` checks all of them and reports all
violations in one fault, as DynamoDB does.

`violation` returns DynamoDB's message for an invalid value, else None. A constraint on the length
of a list or map also has `within_limit`, which returns the entries within the limit. Only those
are read, so entries beyond a limit cost nothing.

Also owns the types that several requests use, and `Structure`, the base of all structures.
`requests` defines the structures themselves.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Annotated, Any, ClassVar, NamedTuple, NewType, TypeVar

from msgspec import Struct, field

from tablewright.limits import (
    MAX_ATTRIBUTE_NAME_SIZE,
    MAX_KEY_ATTRIBUTE_NAME_LENGTH,
    MAX_NAME_LENGTH,
    MAX_TABLE_ARN_LENGTH,
    MIN_NAME_LENGTH,
)

T = TypeVar("T")

#: The characters of table and index names.
NAME_PATTERN = "[a-zA-Z0-9_.-]+"


class Length(NamedTuple):
    """The length of a string, a list or a map.

    `old_maximum`: the new layer reports a value that is too long as the old one does.
    """

    minimum: int = 0
    maximum: int | None = None
    old_maximum: bool = False

    def violation(self, value: Any) -> str | None:
        if len(value) < self.minimum:
            return self.too_short
        if self.maximum is not None and len(value) > self.maximum:
            return self.too_long
        return None

    @property
    def too_short(self) -> str:
        return f"Member must have length greater than or equal to {self.minimum}"

    @property
    def too_long(self) -> str:
        return f"Member must have length less than or equal to {self.maximum}"

    def within_limit(self, value: Any) -> Any:
        """Return the entries of a list or map within the limit."""
        if self.maximum is None or len(value) <= self.maximum:
            return value
        if type(value) is dict:
            return dict(islice(value.items(), self.maximum))
        return value[: self.maximum]


class LengthOfEach(NamedTuple):
    """The length of each list in a map; a violation is reported for the map."""

    minimum: int
    maximum: int

    def violation(self, value: dict[str, Any]) -> str | None:
        if all(self.minimum <= len(each) <= self.maximum for each in value.values()):
            return None
        length = Length(self.minimum, self.maximum)
        return f"Map value must satisfy constraint: [{length.too_long}, {length.too_short}]"

    def within_limit(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return the map with each list truncated to the limit."""
        return {
            name: each[: self.maximum] if type(each) is list else each
            for name, each in value.items()
        }


class NumberRange(NamedTuple):
    """The range of a number."""

    minimum: int
    maximum: int | None = None

    def violation(self, value: int) -> str | None:
        if value < self.minimum:
            return f"Member must have value greater than or equal to {self.minimum}"
        if self.maximum is not None and value > self.maximum:
            return f"Member must have value less than or equal to {self.maximum}"
        return None


class RegularExpression(NamedTuple):
    """A regular expression that a string must match as a whole; "" always matches."""

    pattern: str

    def violation(self, value: str) -> str | None:
        if not value or re.fullmatch(self.pattern, value):
            return None
        return self.problem

    @property
    def problem(self) -> str:
        return f"Member must satisfy regular expression pattern: {self.pattern}"


class TableNameOrArn(NamedTuple):
    """The name of a table, 3 to 255 characters, or its ARN.

    The service model only has the length of an ARN. DynamoDB reports the other violations in the
    form of a constraint, too, each alone. The texts about ARNs are not known for certain.
    """

    def violation(self, value: str) -> str | None:
        if not value:
            return None  # the length of the service model is reported
        if len(value) > MAX_TABLE_ARN_LENGTH:
            return Length(1, MAX_TABLE_ARN_LENGTH).violation(value)
        if value.startswith("arn:"):
            return _arn_violation(value)
        return _NAME_LENGTH.violation(value) or _NAME.violation(value)


def _arn_violation(arn: str) -> str | None:
    parts = arn.split(":", 5)
    kind, slash, name = parts[-1].partition("/")
    if len(parts) < 6 or not slash or not all(parts[1:3]):
        return _ARN_FORMAT
    if kind != "table":
        return "Invalid resource type"
    if len(name) < MIN_NAME_LENGTH:
        return f"Table name of ARN must have length greater than or equal to {MIN_NAME_LENGTH}"
    if len(name) > MAX_NAME_LENGTH or _NAME.violation(name):
        return _ARN_FORMAT
    return None


_NAME = RegularExpression(NAME_PATTERN)
_NAME_LENGTH = Length(MIN_NAME_LENGTH, MAX_NAME_LENGTH)
_ARN_FORMAT = (
    "Valid ARN format is "
    "'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', where "
    f"Resource name must have length less than or equal to {MAX_NAME_LENGTH}, "
    f"Resource name must have length greater than or equal to {MIN_NAME_LENGTH}, "
    f"Resource name must satisfy regular expression pattern: {NAME_PATTERN}"
)


class EnumValues(NamedTuple):
    """The allowed strings, in the order in which DynamoDB lists them.

    `new_words` are those that the new layer lists, where it checks the member by itself: it has
    another list then, and does not say where the value is.
    """

    words: tuple[str, ...]
    new_words: tuple[str, ...] = ()

    def violation(self, value: str) -> str | None:
        if value in self.words:
            return None
        return _enum_problem(self.words)

    @property
    def new_problem(self) -> str:
        """The message of the new layer for an invalid value; "" if it is that of the old one."""
        return (
            f"Failed to satisfy constraint: {_enum_problem(self.new_words)}"
            if self.new_words
            else ""
        )


def _enum_problem(words: tuple[str, ...]) -> str:
    return f"Member must satisfy enum value set: [{', '.join(words)}]"


#: Names and ARNs of tables in maps that were accepted: most requests repeat them.
_accepted: set[str] = set()
_MAX_ACCEPTED = 1000


class TableNames(NamedTuple):
    """The names of the tables in a map, by which it is invalid as a whole.

    The message shows the map as JSON, or as Java does; it may give way to an invalid enum.
    """

    as_json: bool
    gives_way: bool

    def violation(self, value: dict[str, Any]) -> str | None:
        if value.keys() <= _accepted:
            return None
        if all(name and TableNameOrArn().violation(name) is None for name in value):
            if len(_accepted) < _MAX_ACCEPTED:
                _accepted.update(value)
            return None
        length, name = _NAME_LENGTH, _NAME
        return (
            "Map keys must satisfy constraint: "
            f"[{length.too_long}, {length.too_short}, {name.problem}]"
        )

    def within_limit(self, value: dict[str, Any]) -> dict[str, Any]:
        return value


Constraint = (
    Length
    | LengthOfEach
    | NumberRange
    | RegularExpression
    | TableNameOrArn
    | TableNames
    | EnumValues
)


class Unechoed(NamedTuple):
    """Report a violation without the value, and the member's name as it is on the wire.

    DynamoDB does so for a few members: `Value at 'Limit' failed to satisfy constraint: …`.
    """


class EchoedWhole(NamedTuple):
    """Report a violation with the whole value. (DynamoDB does not truncate it; here it ends.)"""

    max_length: int = 1024 * 1024


class ReadAs(NamedTuple):
    """Read a map as another type to check it, and return it as JSON."""

    type: Any


TableName = Annotated[str, Length(1, MAX_TABLE_ARN_LENGTH, old_maximum=True), TableNameOrArn()]
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
# The new layer names what its code compares with, which is neither OR nor AND in one case.
ConditionalOperator = Annotated[str, EnumValues(("OR", "AND"), new_words=("ALL", "OR"))]
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
_RETURN_VALUES = ("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW")
ReturnValues = Annotated[str, EnumValues(_RETURN_VALUES)]
#: That of UpdateItem and DeleteItem. UPDATE_NEW is DynamoDB's misspelling.
RewordedReturnValues = Annotated[
    str,
    EnumValues(
        _RETURN_VALUES, new_words=("ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATE_NEW", "NONE")
    ),
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
Capped = Annotated[list[T], CAPPED]
AttributeNames = Annotated[list[AttributeName], Length(1, 100_000)]


def optional(name: str) -> Any:
    """Return a member that may be absent, with its name on the wire."""
    return field(name=name, default=None)


class Structure(Struct, rename="pascal", gc=False):
    """A structure of the service model. It has no reference cycles, so it needs no collector."""

    #: The name in the service model, where it differs from the class's name.
    model_name: ClassVar[str | None] = None
    #: Members whose errors are reported in this order; those of others keep their places.
    reported_order: ClassVar[tuple[str, ...]] = ()

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
