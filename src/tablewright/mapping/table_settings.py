"""Table settings: what a table declares besides its keys and indexes."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.limits import MAX_CAPACITY_UNITS

StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]

#: The longest period of point-in-time recovery, and the default.
MAX_RECOVERY_DAYS = 35


class Provisioned(Struct, frozen=True, kw_only=True):
    """Provisioned capacity: read and write units per second, which are paid for by the hour."""

    read: int
    write: int

    def __post_init__(self) -> None:
        for name, units in (("read", self.read), ("write", self.write)):
            if type(units) is not int or not 1 <= units <= MAX_CAPACITY_UNITS:  # True is no number
                raise DeclarationError(
                    f"Provisioned({name}={units!r}): the units per second must be an integer from "
                    f"1 to {MAX_CAPACITY_UNITS}"
                )


def check_billing(billing: object, owner: str) -> None:
    """Raise DeclarationError if `billing` is neither provisioned capacity nor None."""
    if not isinstance(billing, Provisioned | None):
        raise DeclarationError(
            f"{owner}: billing={billing!r} is not Provisioned(read=…, write=…); without billing=, "
            "the table is billed for each request"
        )


class TableSettings(Struct, frozen=True):
    """Settings of a table; `connect` applies them when it creates the table."""

    #: What the records of its stream contain; None without a stream.
    stream: StreamView | None = None
    #: For how many days the table can be restored to any second; None if it cannot.
    recovery_days: int | None = None
    deletion_protection: bool = False
    tags: tuple[tuple[str, str], ...] = ()
    #: The capacity of the table, and of each global index without its own; None on demand.
    billing: Provisioned | None = None

    def check(self, owner: str) -> None:
        """Raise DeclarationError for a setting that DynamoDB does not know."""
        views = get_args(StreamView)
        if self.stream is not None and self.stream not in views:
            raise DeclarationError(
                f"{owner}: stream={self.stream!r} is not one of {', '.join(map(repr, views))}"
                f"{did_you_mean(str(self.stream), views)}"
            )
        days = self.recovery_days
        if days is not None and not 1 <= days <= MAX_RECOVERY_DAYS:
            raise DeclarationError(
                f"{owner}: point_in_time_recovery={days!r} is not a number of days from 1 to "
                f"{MAX_RECOVERY_DAYS}, or True"
            )
        for tag in self.tags:
            if not all(isinstance(text, str) for text in tag):
                raise DeclarationError(
                    f"{owner}: in tags={dict(self.tags)!r}, {tag!r} is not a pair of texts"
                )
        check_billing(self.billing, owner)
