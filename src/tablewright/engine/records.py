"""Records: what the catalog stores beside tables, by kind: backups, exports and imports.

A record has an ARN, and an id that is the last part of it and begins with the time. So records are
stored, and listed, in the order of their times.
"""

from __future__ import annotations

import secrets
from typing import Generic, Protocol, TypeVar

import msgspec

from tablewright.engine.catalog import Catalog, read_records
from tablewright.errors import DynamoDBError, StoreFailed
from tablewright.storage import Snapshot, WriteTransaction

_encode = msgspec.json.Encoder().encode


class Record(Protocol):
    """What every record has."""

    @property
    def id(self) -> str: ...

    @property
    def arn(self) -> str: ...


R = TypeVar("R", bound=Record)


class RecordKind(Generic[R]):
    """Reads and writes the records of one kind."""

    def __init__(self, name: str, structure: type[R], missing: type[DynamoDBError]) -> None:
        self._name = name
        self._missing = missing
        self.prefix = f"{name}/".encode()
        self._decoder = msgspec.json.Decoder(structure)

    def save(self, catalog: Catalog, tx: WriteTransaction, record: R) -> None:
        """Store a new or changed record."""
        catalog.put_record(tx, self.prefix + record.id.encode(), _encode(record))

    def remove(self, catalog: Catalog, tx: WriteTransaction, record: R) -> None:
        catalog.remove_record(tx, self.prefix + record.id.encode())

    def decode(self, body: bytes) -> R:
        """Decode a stored record; raise `StoreFailed` if it is damaged."""
        try:
            return self._decoder.decode(body)
        except ValueError as error:
            raise StoreFailed(
                f"the file is damaged: the record of an {self._name} cannot be read: {error}"
            ) from None

    def read_all(self, snapshot: Snapshot) -> list[R]:
        """Return all records, the oldest first."""
        return [self.decode(body) for body in read_records(snapshot, self.prefix)]

    def find(self, snapshot: Snapshot, arn: str) -> R | None:
        """Return the record with this ARN; None if there is none."""
        record_id = arn.rpartition("/")[2]
        bodies = read_records(snapshot, self.prefix + record_id.encode())
        return next((record for record in map(self.decode, bodies) if record.arn == arn), None)

    def require(self, snapshot: Snapshot, arn: str, note: str = "") -> R:
        """Return the record with this ARN; raise its NotFoundException if there is none."""
        found = self.find(snapshot, arn)
        if found is None:
            raise self._missing(f"{self._name.capitalize()} not found: {arn}{note}")
        return found


def new_id(now: float) -> str:
    """Return an id as DynamoDB has them: milliseconds, then random digits.

    >>> new_id(1489602797.149)[:14]
    '01489602797149'
    """
    return f"{round(now * 1000):014}-{secrets.token_hex(4)}"
