"""The two ends of a transfer: targets that were there before it, and are there afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tablewright import transport
from tablewright.errors import TransferRefused
from tablewright.transfer.definition import tables
from tablewright.transport import Transport


@contextmanager
def open_source(text: str) -> Iterator[Transport]:
    """Open a target to read from; a file that is not there is not made."""
    refuse_memory(text)
    if is_file(text):
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
    """Open a target to write to, which is not the source.

    A file is made if need be, and removed if the transfer is refused before it made a table.
    """
    refuse_memory(text)
    if source is not None and full_name(source) == full_name(text):
        raise TransferRefused(f"{text} is both source and target")
    is_new = is_file(text) and not Path(text).exists()
    is_used = True
    opened = transport.open_target(text)
    try:
        yield opened
    except Exception:
        is_used = not is_new or bool(tables(opened))
        raise
    finally:
        opened.close()
        if not is_used:
            Path(text).unlink()


def is_file(text: str) -> bool:
    return "://" not in text


def full_name(text: str) -> str:
    """A target's name, wherever the process runs."""
    return str(Path(text).resolve()) if is_file(text) else text.rstrip("/")


def state_file(target: str, doing: str) -> Path:
    """The default place of a transfer's state: next to a file, or in the current directory.

    >>> str(state_file("shop.db", "copy")), str(state_file("http://localhost:8000", "load"))
    ('shop.db.copy.json', 'tablewright-load-localhost-8000.json')
    """
    if is_file(target):
        return Path(f"{target}.{doing}.json")
    name = re.sub(r"[^A-Za-z0-9]+", "-", target.partition("://")[2]).strip("-")
    return Path(f"tablewright-{doing}-{name}.json")


def refuse_memory(text: str) -> None:
    """Refuse a target that is gone when the transfer is done."""
    if text == ":memory:":
        raise TransferRefused(
            "':memory:' begins and ends empty; give a file, http://host:port or dynamodb://region"
        )
