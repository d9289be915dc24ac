"""Steps: requests that have passed all checks that need no table. `runner` runs them.

The path of a request: JSON -> typed request (wire) -> step (checks of the operation) -> run in a
snapshot or a transaction -> response -> JSON. All checks that need no table run before a lock is
taken. `ReadContext` and `WriteContext` give a running step access to the tables and their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tablewright.engine.change_log.streams import StreamSettings
from tablewright.engine.item_counts import ItemCounts
from tablewright.engine.tables.catalog import Catalog
from tablewright.engine.tables.describe import reject_other_account
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import (
    ResourceNotFoundException,
    TableNotFoundException,
    ValidationException,
    not_found,
)
from tablewright.storage import Snapshot, Tree, WriteTransaction
from tablewright.wire.layers import Profile

if TYPE_CHECKING:
    from tablewright.engine.archives.object_folder import ObjectFolder
    from tablewright.engine.runner import StepRunner

T = TypeVar("T")
Request = TypeVar("Request")
AnyStep = TypeVar("AnyStep", bound="Step")


class ReadContext(Struct):  # a Struct, because one is created per request: half the time
    """What a read step can use: the catalog, a snapshot of the file, settings, and counts."""

    catalog: Catalog
    snapshot: Snapshot
    streams: StreamSettings
    counts: ItemCounts
    profile: Profile
    #: The account in ARNs.
    account: str

    def count(self, tree: Tree) -> tuple[int, int]:
        """Return the rows and bytes of a tree, which are approximate if it is large."""
        return self.counts.count(self.snapshot, tree)

    def find_table(self, name: str) -> StoredTable:
        """Return the table with this name or ARN; raise ResourceNotFoundException if missing."""
        tables = self.catalog.tables
        table = tables.get(name)
        if table is None:
            self.check_account(name)
            table = tables.get(table_name(name))
            if table is None:
                raise not_found()
        return table

    def check_account(self, name_or_arn: str) -> None:
        """Refuse the ARN of a table in another account."""
        if name_or_arn.startswith("arn:"):
            reject_other_account(name_or_arn, self.account)

    def find_table_for_control_plane(self, name: str) -> StoredTable:
        """Return the table as `find_table` does, but name it in the fault.

        DynamoDB does so in operations on tables, such as DescribeTable.
        """
        try:
            return self.find_table(name)
        except ResourceNotFoundException:
            raise not_found(f"Table: {table_name(name)}") from None

    def find_table_for_backup(self, name: str) -> StoredTable:
        """Return the table as `find_table` does, with the fault of backups and exports."""
        try:
            return self.find_table(name)
        except ResourceNotFoundException:
            raise TableNotFoundException(f"Table not found: {table_name(name)}") from None


class WriteContext(ReadContext):
    """What a write step can use: `tx` is its snapshot, and accepts changes."""

    tx: WriteTransaction


class ReadStep(Struct):
    """A step that only reads: `run` does the work and returns the response.

    `is_costly`: it may take seconds, so it must not run in a thread that serves other requests.
    """

    only_reads: ClassVar[bool] = True

    run: Callable[[ReadContext], Any]
    is_costly: bool = False


class WriteStep(Struct):
    """A step that writes: `run` raises before its first change, or makes all its changes."""

    only_reads: ClassVar[bool] = False

    run: Callable[[WriteContext], Any]


class LongContext(Struct):
    """What a long step can use: snapshots and transactions of its own, and the folder for S3."""

    runner: StepRunner
    folder: ObjectFolder | None

    def read(self, step: Callable[[ReadContext], T]) -> T:
        return self.runner.read_in_context(step)

    def write(self, step: Callable[[WriteContext], T]) -> T:
        return self.runner.write_in_context(step)

    def require_folder(self) -> ObjectFolder:
        if self.folder is None:
            raise ValidationException(
                "There is no S3 here: start the server with --s3 DIR, or open Engine(…, s3=DIR); "
                "the folders in DIR are the buckets"
            )
        return self.folder


class LongStep(Struct):
    """A step that reads and writes files, in several transactions.

    It must not run in a thread that serves other requests. If `run` raises, it has changed nothing.
    """

    only_reads: ClassVar[bool] = False

    run: Callable[[LongContext], Any]


Step: TypeAlias = ReadStep | WriteStep | LongStep


def wrap(step: AnyStep, around: Callable[[Any, Any], Any]) -> AnyStep:
    """Return a step that calls `around` with the run function of `step` and its context."""
    return replace(step, run=partial(around, step.run))


def reads(run: Callable[[Request, ReadContext], Any]) -> Callable[[Request], ReadStep]:
    """Make an operation of a function that describes or lists, with the current catalog."""

    def run_with_current_catalog(request: Request, context: ReadContext) -> Any:
        context.catalog.refresh(context.snapshot)
        return run(request, context)

    @wraps(run)
    def prepare(request: Request) -> ReadStep:
        return ReadStep(partial(run_with_current_catalog, request))

    return prepare


def writes(run: Callable[[Request, WriteContext], Any]) -> Callable[[Request], WriteStep]:
    """Make an operation of a function that changes tables, without checks before it runs."""

    @wraps(run)
    def prepare(request: Request) -> WriteStep:
        return WriteStep(partial(run, request))

    return prepare


def name_in_arn(arn: str) -> str:
    """Return the table of a member such as SourceTableArn; refuse that of another account.

    Such a member has an internal ARN, unlike a TableName: see `access.account_scope`.
    """
    if arn.startswith("arn:"):
        reject_other_account(arn)
    return table_name(arn)


def table_name(name_or_arn: str) -> str:
    """Return the name in `arn:aws:dynamodb:region:account:table/NAME`; a name unchanged."""
    if name_or_arn.startswith("arn:"):
        _, found, name = name_or_arn.partition(":table/")
        if not found:
            raise not_found()
        return name.partition("/")[0]
    return name_or_arn
