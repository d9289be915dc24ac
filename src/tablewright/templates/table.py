"""Declared tables: what a template says about one table, as DynamoDB's requests."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright.errors import TemplateRefused


class DeclaredTable(msgspec.Struct, frozen=True):
    """A table that a template declares."""

    #: The file and the resource in it, for messages.
    file: str
    resource: str
    #: The CreateTable request, with tags and settings.
    request: dict[str, Any]
    #: The TTL attribute.
    ttl: str | None = None
    #: The PointInTimeRecoverySpecification of UpdateContinuousBackups.
    recovery: dict[str, Any] | None = None
    #: UpdateContributorInsights requests without their TableName.
    insights: tuple[dict[str, Any], ...] = ()
    #: An EnableKinesisStreamingDestination request without its TableName.
    kinesis: dict[str, Any] | None = None
    #: What the template declares but this package does not have, such as replicas.
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        name: str = self.request["TableName"]
        return name


class Location:
    """Where a value is in a file: composes the messages of `TemplateRefused`."""

    __slots__ = ("file", "path")

    def __init__(self, file: str, path: str) -> None:
        self.file = file
        self.path = path

    def __truediv__(self, name: str | int) -> Location:
        part = f"[{name}]" if isinstance(name, int) else f".{name}"
        return Location(self.file, self.path + part)

    def __str__(self) -> str:
        return f"{self.file}: {self.path}"

    def refuse(self, problem: str) -> TemplateRefused:
        return TemplateRefused(f"{self}: {problem}")


def drop_missing(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request without the members that are None or empty lists."""
    return {name: value for name, value in request.items() if value is not None and value != []}
