"""The part of SARIF 2.1.0 that `advise --sarif` writes, as types: unknown members are errors.

Written by hand from the specification of OASIS (sections 3.13 to 3.53), because no package of a
registry has its JSON schema under a licence that allows to copy it.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

Level: TypeAlias = Literal["none", "note", "warning", "error"]
Text: TypeAlias = Annotated[str, Meta(min_length=1)]


class Part(Struct, rename="camel", forbid_unknown_fields=True):
    """An object of a log."""


class Message(Part):
    text: Text


class Configuration(Part):
    level: Level = "warning"


class ReportingDescriptor(Part):
    id: Text
    short_description: Message
    default_configuration: Configuration


class ToolComponent(Part):
    name: Text
    version: Text
    rules: list[ReportingDescriptor]


class Tool(Part):
    driver: ToolComponent


class ArtifactLocation(Part):
    #: A relative or absolute URI reference.
    uri: Annotated[str, Meta(pattern=r"^([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-F]{2})+$")]


class Region(Part):
    start_line: Annotated[int, Meta(ge=1)]


class PhysicalLocation(Part):
    artifact_location: ArtifactLocation
    region: Region


class Location(Part):
    physical_location: PhysicalLocation


class Suppression(Part):
    kind: Literal["inSource", "external"]
    justification: Text


class Result(Part):
    rule_id: Text
    message: Message
    level: Level = "warning"
    locations: list[Location] = []
    rule_index: Annotated[int, Meta(ge=0)] | None = None
    suppressions: list[Suppression] = []


class Run(Part):
    tool: Tool
    results: list[Result]


class Log(Part):
    version: Literal["2.1.0"]
    runs: list[Run]
    schema: Text = msgspec.field(name="$schema")


def read_log(text: str) -> Log:
    """Return a log; raise ValidationError if it is not one, or if its parts do not fit together."""
    log = msgspec.json.decode(text, type=Log)
    for run in log.runs:
        ids = [rule.id for rule in run.tool.driver.rules]
        assert len(set(ids)) == len(ids)
        for result in run.results:
            assert result.rule_index is not None
            assert ids[result.rule_index] == result.rule_id
            for each in result.locations:
                uri = urlsplit(each.physical_location.artifact_location.uri)
                assert uri.scheme in ("", "file")
    return log
