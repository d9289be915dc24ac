"""Endpoints: open the source and the target of a transfer, and list their tables.

They are files or endpoints, never memory.

Invariant: table names that this module returns are valid in DynamoDB, and so safe as file names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tablewright.errors import TableNotFound, TransferRefused
from tablewright.hints import did_you_mean_or_list
from tablewright.transfer.sending import send_request
from tablewright.transport import Transport, targets
from tablewright.wire.constraints import NAME_PATTERN

#: An endpoint that lists more tables is broken; DynamoDB's limit is 10,000 in a region.
MAX_TABLES = 100_000


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
    with closing(targets.open_target(text)) as opened:
        yield opened


@contextmanager
def open_target(text: str, source: str | None = None) -> Iterator[Transport]:
    """Open a target to write to, which must not be the source; see `open_or_create`."""
    refuse_memory(text)
    if source is not None and absolute_target(source) == absolute_target(text):
        raise TransferRefused(f"{text} is both source and target")
    with open_or_create(text) as opened:
        yield opened


@contextmanager
def open_or_create(text: str) -> Iterator[Transport]:
    """Open a target; a missing file is created, and removed if it has no tables at the end."""
    is_new = is_file_target(text) and not Path(text).exists()
    is_unused = False
    opened = targets.open_target(text)
    try:
        try:
            yield opened
        finally:
            is_unused = is_new and not list_tables(opened)
    finally:
        opened.close()
        if is_unused:
            Path(text).unlink()


def list_tables(transport: Transport) -> list[str]:
    """Return the names of all tables; raise TransferRefused if the response is invalid."""
    names: dict[str, None] = {}
    request: dict[str, Any] = {}
    while True:
        response = send_request(transport, "ListTables", request)
        listed = response.get("TableNames")
        if not isinstance(listed, list):
            raise TransferRefused(f"ListTables returned {shorten(response)}, without TableNames")
        known = len(names)
        names |= dict.fromkeys(map(check_table_name, listed))
        last = response.get("LastEvaluatedTableName")
        if last is None:
            return list(names)
        if len(names) == known or len(names) > MAX_TABLES:
            raise TransferRefused(
                f"ListTables does not end: after {len(names)} names, it returned "
                f"{shorten(last)} again"
            )
        request = {"ExclusiveStartTableName": check_table_name(last)}


def select_tables(transport: Transport, where: str, table: str | None) -> list[str]:
    """Return the given table, or all tables if it is None; raise TableNotFound if there is none."""
    names = list_tables(transport)
    if table is not None:
        if table not in names:
            hint = did_you_mean_or_list(table, names, "tables")
            raise TableNotFound(f"{where} has no table {table!r}{hint}")
        return [table]
    if not names:
        raise TableNotFound(f"{where} has no tables")
    return names


def check_table_name(name: object) -> str:
    """Return the name of a table; raise TransferRefused if it is invalid in DynamoDB.

    >>> check_table_name("orders")
    'orders'
    """
    if isinstance(name, str) and 3 <= len(name) <= 255 and re.fullmatch(NAME_PATTERN, name):
        return name
    raise TransferRefused(
        f"{shorten(name)} is not the name of a table: "
        "use 3 to 255 characters of a-z, A-Z, 0-9, '_', '-' and '.'"
    )


def shorten(value: object) -> str:
    """Format an untrusted value for a message, with a maximum length.

    >>> shorten("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:80]}..."


def is_file_target(text: str) -> bool:
    return "://" not in text and text != ":memory:"


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
