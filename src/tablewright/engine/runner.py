"""The runner of steps: the part of an engine that runs them in snapshots and transactions.

It runs a read step with the cached catalog, which is usually current. If the step fails, it runs
again with the catalog of its snapshot: another process may have changed the tables. A write step
brings the catalog of the writer up to date first. A damaged row is reported with its table and its
key, in any step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tablewright.engine.change_log.streams import StreamSettings
from tablewright.engine.item_counts import ItemCounts
from tablewright.engine.step import (
    LongContext,
    LongStep,
    ReadContext,
    ReadStep,
    Step,
    WriteContext,
    WriteStep,
)
from tablewright.engine.tables.catalog import Catalog
from tablewright.engine.tables.describe import ACCOUNT
from tablewright.errors import DynamoDBError, StoreFailed, TablewrightError
from tablewright.storage import DamagedRow, MissingTree, Snapshot, Store, WriteTransaction
from tablewright.wire.layers import Profile
from tablewright.wire.responses import encode

if TYPE_CHECKING:
    from tablewright.engine.archives.object_folder import ObjectFolder

T = TypeVar("T")


class StepRunner:
    """Runs steps on a store. Several threads can use it."""

    def __init__(
        self,
        store: Store,
        streams: StreamSettings,
        counts: ItemCounts,
        folder: ObjectFolder | None,
        profile: Profile,
    ) -> None:
        self._store = store
        self._streams = streams
        self._counts = counts
        self._folder = folder
        self._profile = profile
        self._account = ACCOUNT
        self._catalog = Catalog()  # of the readers
        self._writer_catalog = Catalog()

    def run(self, step: Step) -> bytes:
        """Run a step and return the response as JSON. Its writes are durable when this returns."""
        if isinstance(step, WriteStep):
            (result,) = self.write_all((step,))
            if isinstance(result, BaseException):
                raise result
            return result
        if isinstance(step, LongStep):
            return encode(self.run_long(step.run))
        try:
            try:
                return self._store.read(partial(self._read, step))
            except (DynamoDBError, MissingTree):  # perhaps the cached catalog is out of date
                return self._store.read(partial(self._read_with_current_catalog, step))
        except DamagedRow as error:
            raise _locate(error, self._catalog) from error

    def run_or_error(self, step: Step) -> bytes | BaseException:
        """Run a step; return the response or the error."""
        try:
            return self.run(step)
        except Exception as error:
            return error

    def run_long(self, work: Callable[[LongContext], T]) -> T:
        """Run work that takes several transactions, such as a bulk write (`engine.bulk`)."""
        try:
            return work(LongContext(self, self._folder))
        except DamagedRow as error:
            raise _locate(error, self._catalog) from error

    def read_all(self, steps: Sequence[ReadStep]) -> list[bytes | BaseException]:
        """Run several read steps in one snapshot; return the response or the error of each."""
        results: list[bytes | BaseException | None] = [None] * len(steps)
        if len(steps) > 1:
            with suppress(TablewrightError):
                results = self._store.read(partial(self._read_in_one_snapshot, steps))
        # Run failed steps again, separately: the cached catalog may have been out of date.
        return [
            self.run_or_error(step) if result is None else result
            for step, result in zip(steps, results, strict=True)
        ]

    def write_all(self, steps: Sequence[WriteStep]) -> list[bytes | BaseException]:
        """Run several write steps in one commit; return the response or the error of each."""
        results = self._store.write_all([partial(self._write, step) for step in steps])
        for position, result in enumerate(results):
            if isinstance(result, DamagedRow):
                results[position] = _locate(result, self._writer_catalog)
        if self._catalog.is_older_than(self._writer_catalog):
            # Reads detect new keys of tables by themselves, but not new settings.
            with suppress(TablewrightError):
                self._store.read(self._catalog.refresh)
            if self._writer_catalog.has_ttl:
                self._start_sweeping()
        if self._writer_catalog.has_jobs:
            self._start_jobs()
        return results

    @property
    def is_writing(self) -> bool:
        """Whether a write of another thread is running."""
        return self._store.is_writing

    def never_wait(self) -> None:
        """Let writes of this thread raise `StoreBusy` at once while another process writes."""
        self._store.never_wait()

    def wait_again(self) -> None:
        """Let writes of this thread wait for other processes again."""
        self._store.wait_again()

    def _read(self, step: ReadStep, snapshot: Snapshot) -> bytes:
        return encode(
            step.run(
                ReadContext(
                    self._catalog,
                    snapshot,
                    self._streams,
                    self._counts,
                    self._profile,
                    self._account,
                )
            )
        )

    def _read_with_current_catalog(self, step: ReadStep, snapshot: Snapshot) -> bytes:
        with snapshot.read_transaction():
            catalog = self._catalog.as_of(snapshot)
            return encode(
                step.run(
                    ReadContext(
                        catalog, snapshot, self._streams, self._counts, self._profile, self._account
                    )
                )
            )

    def _read_in_one_snapshot(
        self, steps: Sequence[ReadStep], snapshot: Snapshot
    ) -> list[bytes | BaseException | None]:
        context = ReadContext(
            self._catalog, snapshot, self._streams, self._counts, self._profile, self._account
        )
        results: list[bytes | BaseException | None] = []
        with snapshot.read_transaction():
            for step in steps:
                try:
                    results.append(encode(step.run(context)))
                except Exception:
                    results.append(None)
        return results

    def read_in_context(self, read: Callable[[ReadContext], T]) -> T:
        """Run a function with the catalog of its snapshot, in one read transaction."""

        def run(snapshot: Snapshot) -> T:
            with snapshot.read_transaction():
                return read(
                    ReadContext(
                        self._catalog.as_of(snapshot),
                        snapshot,
                        self._streams,
                        self._counts,
                        self._profile,
                        self._account,
                    )
                )

        return self._store.read(run)

    def write_in_context(self, write: Callable[[WriteContext], T]) -> T:
        """Run a function in a transaction of its own."""

        def run(tx: WriteTransaction) -> T:
            self._writer_catalog.catch_up(tx)
            return write(
                WriteContext(
                    self._writer_catalog,
                    tx,
                    self._streams,
                    self._counts,
                    self._profile,
                    self._account,
                    tx,
                )
            )

        return self._store.write(run)

    def _write(self, step: WriteStep, tx: WriteTransaction) -> bytes:
        self._writer_catalog.catch_up(tx)
        answer = step.run(
            WriteContext(
                self._writer_catalog,
                tx,
                self._streams,
                self._counts,
                self._profile,
                self._account,
                tx,
            )
        )
        return b"" if answer is None else encode(answer)

    def _start_jobs(self) -> None:
        """Start the background work that a write has left to do."""
        raise NotImplementedError

    def _start_sweeping(self) -> None:
        """Start to delete expired items from time to time."""
        raise NotImplementedError


def _locate(error: DamagedRow, catalog: Catalog) -> StoreFailed:
    from tablewright.engine.integrity import locate_damage

    return locate_damage(error, catalog.tables.values())
