"""Table settings: what a table declares besides its keys and indexes."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean

StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]

#: The longest time for which DynamoDB keeps the history of a table, and its default.
MAX_RECOVERY_DAYS = 35


class TableSettings(Struct, frozen=True):
    """Settings of a table; `connect` applies them when it creates the table."""

    #: What the records of its stream contain; None without a stream.
    stream: StreamView | None = None
    #: For how many days the table can be restored to any second; None if it cannot.
    recovery_days: int | None = None
    deletion_protection: bool = False
    tags: tuple[tuple[str, str], ...] = ()

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
                raise DeclarationError(f"{owner}: tags={dict(self.tags)!r} must hold texts")
