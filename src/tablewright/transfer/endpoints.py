"""The source and the target of a transfer: files or endpoints, never memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tablewright import transport
from tablewright.errors import TransferRefused
from tablewright.transfer.definition import list_tables
from tablewright.transport import Transport


@contextmanager
def open_source(text: str) -> Iterator[Transport]:
    """Open a target to read from; a missing file is not created."""
    refuse_memory(text)
    if is_file_target(text):
        file = Path(text)
        if not file.is_file():
            raise TransferRefused(
                f"{text}: {'is a directory' if file.is_dir() else 'no such file'}"
            )
        if not file.stat().st_size:
            raise TransferRefused(f"{text}: the file is empty")
    with closing(transport.open_target(text)) as opened:
        yield opened


@contextmanager
def open_target(text: str, source: str | None = None) -> Iterator[Transport]:
    """Open a target to write to, which must not be the source.

    A missing file is created, and removed if the transfer fails before it creates a table.
    """
    refuse_memory(text)
    if source is not None and absolute_target(source) == absolute_target(text):
        raise TransferRefused(f"{text} is both source and target")
    is_new = is_file_target(text) and not Path(text).exists()
    is_used = True
    opened = transport.open_target(text)
    try:
        yield opened
    except Exception:
        is_used = not is_new or bool(list_tables(opened))
        raise
    finally:
        opened.close()
        if not is_used:
            Path(text).unlink()


def is_file_target(text: str) -> bool:
    return "://" not in text


def absolute_target(text: str) -> str:
    """Return a target as text that does not depend on the current directory."""
    return str(Path(text).resolve()) if is_file_target(text) else text.rstrip("/")


def default_state_file(target: str, command: str) -> Path:
    """Return the default path of the state: next to a file, or in the current directory.

    >>> str(default_state_file("shop.db", "copy"))
    'shop.db.copy.json'
    >>> str(default_state_file("http://localhost:8000", "load"))
    'tablewright-load-localhost-8000.json'
    """
    if is_file_target(target):
        return Path(f"{target}.{command}.json")
    name = re.sub(r"[^A-Za-z0-9]+", "-", target.partition("://")[2]).strip("-")
    return Path(f"tablewright-{command}-{name}.json")


def refuse_memory(text: str) -> None:
    """Raise TransferRefused for `:memory:`, which does not outlive the command."""
    if text == ":memory:":
        raise TransferRefused(
            "':memory:' does not keep its tables; use a file, http://host:port or dynamodb://region"
        )
