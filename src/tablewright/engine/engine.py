"""The engine: executes requests and returns responses.

    prepare   JSON -> typed request -> step       runs all checks that need no table
    run       step -> response                    in a snapshot, or in a transaction shared with
                                                  concurrent writers
    call      both, in this process               the response as Python values

`run`, `read_all` and `write_all` are in `StepRunner` (`runner`), of which `Engine` is a subclass.

Several threads can use one engine; several engines, in one or more processes, can use one file. A
forked process must open its own engine.

What few programs use is imported where it is used, and each operation with its first request: see
`operations`. So an engine starts in a third of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from tablewright.engine.archives.records import end_abandoned
from tablewright.engine.change_log.streams import StreamSettings, add_missing_logs, rotate_shards
from tablewright.engine.item_counts import ItemCounts
from tablewright.engine.maintenance import Maintenance
from tablewright.engine.operations import (
    find_members,
    find_operation,
    reject_misspelled_members,
    unknown_operation,
)
from tablewright.engine.runner import StepRunner
from tablewright.engine.step import Step, WriteContext
from tablewright.engine.tables.catalog import Catalog, read_account, read_jobs
from tablewright.engine.tables.describe import ACCOUNT
from tablewright.errors import SerializationException, ValidationException
from tablewright.limits import SWEEP_SECONDS
from tablewright.storage import BUSY_SECONDS, Durability, Sandbox, Snapshot, Store, WriteTransaction
from tablewright.wire.layers import (
    DEFAULT_VALIDATION,
    LAYERED,
    OLD,
    ValidationYear,
    find_profile,
    reword,
    reword_when_run,
)
from tablewright.wire.read import read

if TYPE_CHECKING:
    from tablewright.engine.access.account_scope import AccountScope
    from tablewright.engine.archives.object_folder import ObjectFolder
    from tablewright.engine.contributors import Contributors, KeyCounts
    from tablewright.engine.expiry import Sweeper
    from tablewright.engine.integrity import Report
    from tablewright.engine.realism import Realism
    from tablewright.engine.realism.layer import RealisticLayer
    from tablewright.engine.statements.explain import Explanation
    from tablewright.policy import Principal

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Engine(StepRunner):
    """DynamoDB in one file, or in memory.

    A write waits at most `busy_seconds` for another process that holds the write lock of the file,
    then raises `StoreBusy`. If an asynchronous exception such as KeyboardInterrupt interrupts a
    write, it may or may not have been applied; the engine stays usable.

    >>> engine = Engine(":memory:")
    >>> engine.call("ListTables")
    {'TableNames': []}
    """

    #: The region and the account in ARNs; None: the internal ones.
    _scope: AccountScope | None = None

    def __init__(
        self,
        path: str | Path = ":memory:",
        *,
        durability: Durability = "full",
        busy_seconds: float = BUSY_SECONDS,
        background: bool = True,
        sweep_seconds: float | None = SWEEP_SECONDS,
        s3: str | Path | None = None,
        stream_shards: int = 1,
        validation: ValidationYear = DEFAULT_VALIDATION,
    ) -> None:
        """Open a file, or create it. `stream_shards` is the number of shards of new streams.

        `validation` is the year of the error messages for invalid requests: "2026", or "2025" for
        those that DynamoDB had in every region before. See docs/compatibility.md.

        `s3` is a folder that stands for S3 in exports and imports: each folder in it is a bucket.

        A background thread builds large indexes, deletes the rows of large deleted tables, and
        continues such work of other engines. Without `background` it is done by `maintain` and
        `finish_maintenance`.

        Another background thread deletes expired items of a file about every `sweep_seconds`, if
        TTL is enabled for a table. With None, without `background` and in memory, only `expire`
        deletes them.
        """
        if sweep_seconds is not None and not sweep_seconds > 0:
            raise ValueError(
                f"sweep_seconds must be positive, or None to keep expired items: {sweep_seconds!r}"
            )
        profile = find_profile(validation)
        store = Store(path, durability=durability, busy_seconds=busy_seconds)
        folder: ObjectFolder | None = None
        if s3 is not None:
            from tablewright.engine.archives.object_folder import ObjectFolder

            folder = ObjectFolder(s3)
        counts = ItemCounts(self._start_counting)
        super().__init__(store, StreamSettings(stream_shards), counts, folder, profile)
        self._old_operations = {
            operation for operation in LAYERED if profile.get(operation, OLD) is OLD
        }
        self._realism: RealisticLayer | None = None
        self._store.write(self._open_file)
        self._maintenance = Maintenance(
            self._store, self._writer_catalog, self._counts, background=background
        )
        sweeps = background and not store.in_memory
        self._sweep_seconds = sweep_seconds if sweeps else None
        self._sweeper: Sweeper | None = None
        if self._writer_catalog.has_jobs:
            self._start_jobs()
        if self._writer_catalog.has_ttl:
            self._start_sweeping()

    def call(
        self,
        operation: str,
        request: dict[str, Any] | None = None,
        *,
        policy: Principal | None = None,
    ) -> dict[str, Any]:
        """Execute one operation; request and response are DynamoDB's JSON as Python values.

        Raise a `DynamoDBError` (`tablewright.errors`) where DynamoDB returns an error. Raise a
        TypeError for a misspelled member of the request, which DynamoDB would silently ignore.
        With a `policy`, raise AccessDeniedException unless it allows the request.
        """
        if request is None:
            request = {}
        try:
            step = self.prepare(operation, request, policy)
            if not find_members(operation).issuperset(request):
                reject_misspelled_members(operation, request)
            return _decode(self.run(step) or b"{}")
        except UnicodeEncodeError:  # half of a surrogate pair is not valid text
            raise SerializationException("Invalid UTF-16 surrogate in a string") from None

    def prepare(
        self,
        operation: str,
        request: object,
        policy: Principal | None = None,
        *,
        is_internal: bool = False,
    ) -> Step:
        """Check a request as far as possible without tables, and return the step that executes it.

        With a `policy`, the step raises AccessDeniedException when it runs, before it looks up its
        tables, unless the policy allows the request. `is_internal`: the ARNs in the request are
        internal, see `access.account_scope`.
        """
        if self._scope is not None and not is_internal and self._scope.concerns(operation):
            prepare_internal = partial(
                Engine.prepare, self, operation, policy=policy, is_internal=True
            )
            return self._scope.prepare(prepare_internal, request)
        try:
            shape, prepare = find_operation(operation)
        except KeyError:
            raise unknown_operation(operation) from None
        try:
            typed = admitted = read(shape, request)
            if self._realism is None:
                step = prepare(typed)
            else:
                tables = self._catalog.tables
                admitted, step = self._realism.apply(operation, typed, prepare, tables)
        except ValidationException as fault:
            raise reword(fault, self._profile.get(operation, OLD), request) from None
        if operation in self._old_operations:
            run: Callable[[Any], Any] = step.run
            step.run = partial(reword_when_run, run)  # `wrap` would be another call
        if self._catalog.counts_keys:
            step = self._key_counts.count(step, operation, admitted)
        if policy is None:
            return step
        if self._scope is not None:
            policy = policy.in_account(self._scope.account)
        if operation == "BatchExecuteStatement":
            from tablewright.engine.access.authorization import authorize_batch

            again = partial(Engine.prepare, self, operation, is_internal=True)
            return authorize_batch(step, again, request, typed, policy, self._scope)
        from tablewright.engine.access.authorization import authorize

        return authorize(step, operation, typed, policy, self._scope)

    def explain(
        self, statement: str, parameters: Sequence[dict[str, Any]] | None = None
    ) -> Explanation:
        """Return what a PartiQL statement would do, without doing it.

        It names the operation (GetItem, Query, Scan, ...), the index, the key conditions and the
        filter. Without `parameters`, a `?` stays a `?`. Raise the fault that the statement would
        raise, as far as it does not depend on items.
        """
        from tablewright.engine.statements.explain import explain_statement

        return self.read_in_context(
            lambda context: explain_statement(statement, parameters, context.find_table)
        )

    def expire(self, now: float | None = None) -> int:
        """Delete the items expired at `now` (seconds since 1970) and return their number.

        Delete expired backups, too.
        """
        from tablewright.engine.archives.backups import delete_expired_backups
        from tablewright.engine.expiry import delete_expired

        now = time.time() if now is None else now
        delete_expired_backups(self._store, self._writer_catalog, now)
        return delete_expired(self._store, self._writer_catalog, now)

    def make_realistic(self, realism: Realism | None = None) -> None:
        """Give all later requests AWS's delays and limits, to test deployment and retry code."""
        from tablewright.engine.realism import Realism
        from tablewright.engine.realism.layer import RealisticLayer

        self._realism = RealisticLayer(realism or Realism(), self._key_counts)

    def contributor_insights(
        self, table: str, index: str | None = None, *, limit: int = 10
    ) -> Contributors:
        """Return the keys of a table or an index that requests of this process used most.

        Raise `InvalidValue` unless UpdateContributorInsights has enabled it, and
        ResourceNotFoundException if the table is missing.
        """
        found = self.read_in_context(lambda context: context.find_table_for_control_plane(table))
        return self._key_counts.report(found, index, limit)

    def counted_keys(self) -> Iterator[tuple[str, str | None, Contributors]]:
        """Yield the most used keys of all tables and indexes with Contributor Insights."""
        from tablewright.engine.contributors import enabled_insights

        for table, index in enabled_insights(self._catalog.tables):
            yield table.name, index, self._key_counts.report(table, index, 10)

    def trim(self, now: float | None = None) -> int:
        """Delete the records of streams that are more than 24 hours old; return their number.

        `now` (seconds since 1970) is for tests: it also becomes the time by which shard iterators
        expire, unless the time is later already.
        """
        from tablewright.engine.change_log.trimming import trim_logs

        if now is not None:
            self._streams.move_to(now)
        return trim_logs(self._store, self._writer_catalog, self._streams.now())

    def rotate_shards(self, table: str, *, children: int = 1) -> None:
        """Close the open shards of a table's stream and continue in new ones, `children` of each.

        AWS does this every few hours. Raise ValueError if the table has no enabled stream.
        """

        def rotate(context: WriteContext) -> None:
            schema = context.find_table_for_control_plane(table).schema
            rotate_shards(context.catalog, context.tx, schema, time.time(), children)

        self.write_in_context(rotate)

    def maintain(self) -> bool:
        """Do one short step of index builds, of deletions of tables or of counts of large tables.

        Return False if there was nothing to do. If a step raises, it can be retried.
        """
        return self._maintenance.step()

    def finish_maintenance(self) -> None:
        """Finish all index builds, deletions and counts now; afterwards every index is ACTIVE."""
        while self.maintain():
            pass

    def sandbox(self) -> Sandbox:
        """Undo everything that is written in the `with` block when it ends, also after an error.

            with engine.sandbox():
                ...  # put items, create and delete tables: everything is undone

        All threads of this engine see the writes, and their writes are undone, too. The time to
        undo them does not depend on the size of the tables. Sandboxes can be nested; one that ends
        also ends those inside it. Other engines and processes read the state before the sandbox,
        and wait to write until it ends. Raise `StoreBusy` if another process is writing.

        If an asynchronous exception such as KeyboardInterrupt interrupts the beginning or the end,
        the next call undoes the sandbox before it does anything else.
        """
        return self._store.sandbox(self._remember)

    def _remember(self) -> Callable[[Snapshot], None]:
        """Return what restores the state of this engine that is not in the file."""
        return partial(self._restore, self._streams.latest)

    def _restore(self, latest: float, snapshot: Snapshot) -> None:
        # No read runs now, so none can see the undone tables in the cached catalog.
        self._catalog = Catalog(known=self._catalog)
        self._counts.forget()
        self._streams.latest = latest
        if self._realism is not None:  # its unfinished changes may have been undone
            self.make_realistic(self._realism.settings)
        if read_jobs(snapshot):  # background work that the sandbox has done and undone
            self._start_jobs()

    @cached_property
    def _key_counts(self) -> KeyCounts:
        from tablewright.engine.contributors import KeyCounts

        return KeyCounts()

    def _start_jobs(self) -> None:
        self._maintenance.start()

    def _start_counting(self) -> None:
        """Start to count large tables. A worker of a server does only this in the background."""
        self._maintenance.start()

    def _start_sweeping(self) -> None:
        if self._sweep_seconds is not None:
            from tablewright.engine.expiry import Sweeper

            if self._sweeper is None:
                self._sweeper = Sweeper(self._store, self._writer_catalog, self._sweep_seconds)
            self._sweeper.start()

    def check(self) -> Report:
        """Check every table and index for damage and for differences between them."""
        from tablewright.engine.integrity import check_file

        return self._store.read(check_file)

    def back_up(self, copy: str | Path) -> None:
        """Write the current state of all tables into a new file.

        Other threads and processes can read and write meanwhile. To restore, open the copy, or move
        it to the path of the file.
        """
        self._store.back_up(copy)

    def compact(self) -> None:
        """Free the disk space of deleted items and tables."""
        self._store.compact()

    def close(self) -> None:
        """Stop background work after its current step, and close the file."""
        try:
            if self._sweeper is not None:
                self._sweeper.close()
            self._maintenance.close()
        finally:
            self._store.close()

    def probe(self) -> None:
        """Read the catalog from the file; raise `StoreFailed` if that is not possible."""
        self._store.read(Catalog().refresh)

    def refresh_catalog(self) -> None:
        """Read settings of tables that other processes have changed, such as Contributor Insights.

        Reads detect changed keys and indexes by themselves.
        """
        self._store.read(self._catalog.refresh)

    @property
    def path(self) -> str:
        """The path of the file, or ":memory:"."""
        return self._store.path

    def __repr__(self) -> str:
        return f"Engine({self._store.path!r}, durability={self._store.durability!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _enter(self, scope: AccountScope) -> None:
        """Give the ARNs of this engine the region and the account of a scope."""
        self._scope = scope
        self._account = scope.account

    def _open_file(self, tx: WriteTransaction) -> None:
        now = time.time()
        self._writer_catalog.create_trees(tx)
        account = read_account(tx)
        if account != ACCOUNT:
            from tablewright.engine.access.account_scope import AccountScope

            self._enter(AccountScope(None, account))
        add_missing_logs(self._writer_catalog, tx, now)
        end_abandoned(self._writer_catalog, tx, now)
