"""Sandboxes: blocks whose writes are all undone at their end, even if an exception interrupts it.

    with store.sandbox(remember):
        ...                          writes are savepoints of one transaction, never committed

Invariants:
- A sandbox is in the list `WriteTransaction.sandboxes` before its transaction begins, and until its
  writes are undone and its `restore` has run. An interrupted end is repeated as a whole.
- Before a call reads or writes, it ends the sandboxes in the list that are over
  (`WriteQueue.recover`), with the sandboxes inside them. To leave a sandbox is to mark it as over
  and to do the same. So it does not matter at which instruction a signal handler raises.
- A sandbox is also over if its context manager no longer exists: an exception at the first
  instruction of `__exit__` leaves no mark, but ends the `with` statement that holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, TypeAlias
from weakref import ref

if TYPE_CHECKING:
    from tablewright.storage.transaction import Snapshot

#: Called under the lock of the queue after the writes are undone, perhaps again.
Restore: TypeAlias = "Callable[[Snapshot], None]"

_numbers = count()


class OpenSandbox:
    """A sandbox whose writes are not undone yet."""

    __slots__ = ("_block", "is_left", "restore", "savepoint")

    def __init__(self, block: Sandbox, restore: Restore) -> None:
        self._block = ref(block)
        self.is_left = False
        self.restore = restore
        self.savepoint = f"sandbox{next(_numbers)}"

    @property
    def is_over(self) -> bool:
        return self.is_left or self._block() is None


class Sandbox:
    """The context manager of a sandbox."""

    __slots__ = ("__weakref__", "_begin", "_end", "_opened", "_remember")

    def __init__(
        self,
        begin: Callable[[OpenSandbox], None],
        end: Callable[[], None],
        remember: Callable[[], Restore],
    ) -> None:
        self._begin = begin
        self._end = end
        self._remember = remember
        self._opened: OpenSandbox | None = None

    def __enter__(self) -> None:
        if self._opened is not None and not self._opened.is_left:
            raise RuntimeError("this sandbox is open; make another one to nest it")
        self._opened = OpenSandbox(self, self._remember())
        try:
            self._begin(self._opened)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *raised: object) -> None:
        if self._opened is not None:
            self._opened.is_left = True
            self._end()
