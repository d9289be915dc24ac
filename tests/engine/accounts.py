"""Files from before accounts were stored: the account in their ARNs is 000000000000."""

from __future__ import annotations

from pathlib import Path

from tablewright import Engine
from tablewright.engine.step import WriteContext

OLD_ACCOUNT = "000000000000"


def make_old(path: Path) -> None:
    """Create such a file."""

    def forget_account(context: WriteContext) -> None:
        context.catalog.remove_record(context.tx, b"\x00account")

    with Engine(path) as engine:
        engine.write_in_context(forget_account)
