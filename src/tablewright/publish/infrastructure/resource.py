"""Table resources: what every infrastructure format says of a table."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from tablewright.model.table_definition import definition, ttl_attribute
from tablewright.verify.design import Design


class TableResource(Struct, frozen=True):
    """A table as `connect` creates it, with a name for templates."""

    #: Letters and digits, unique in the design.
    logical_id: str
    #: The CreateTable request.
    request: dict[str, Any]
    ttl: str | None
    #: For how many days the table can be restored to any time; None if it cannot.
    recovery_days: int | None = None

    @property
    def name(self) -> str:
        return str(self.request["TableName"])

    @property
    def stream_view(self) -> str | None:
        """The view type of the stream, or None without a stream."""
        specification: dict[str, str] = self.request.get("StreamSpecification", {})
        return specification.get("StreamViewType")

    @property
    def is_protected(self) -> bool:
        """Whether the table cannot be deleted until this protection is switched off."""
        return bool(self.request.get("DeletionProtectionEnabled"))

    @property
    def tags(self) -> list[dict[str, str]]:
        return list(self.request.get("Tags", ()))

    @property
    def attributes(self) -> dict[str, str]:
        """The type of each key attribute."""
        definitions = self.request["AttributeDefinitions"]
        return {each["AttributeName"]: each["AttributeType"] for each in definitions}

    def indexes(self, kind: str) -> list[dict[str, Any]]:
        """Return the indexes of a kind, "Global" or "Local", as in the request."""
        return list(self.request.get(f"{kind}SecondaryIndexes", ()))


def table_resources(design: Design) -> list[TableResource]:
    """Return the tables of a design, in the order of their declaration."""
    return [
        TableResource(
            logical_id=_logical_id(table.__table__.name),
            request=definition(table.__table__, table.__table__.name),
            ttl=ttl_attribute(table.__table__),
            recovery_days=table.__table__.settings.recovery_days,
        )
        for table in design.tables
    ]


def create_table_requests(design: Design) -> list[dict[str, Any]]:
    """Return the CreateTable request of each table: `client.create_table(**request)`."""
    return [resource.request for resource in table_resources(design)]


def _logical_id(name: str) -> str:
    """Return the name in PascalCase: "commerce_single_table" is CommerceSingleTable."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "".join(word[0].upper() + word[1:] for word in words)
