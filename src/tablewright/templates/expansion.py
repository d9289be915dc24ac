"""Expansion: bounds on what a template becomes, so that a small file cannot take all memory.

YAML aliases and merge keys, `Ref` of another resource, `Fn::Sub` and `Fn::Join` repeat a value
wherever they are used: ten of them, each with ten of the one before, are billions of values. The
bounds are far above what the templates that CloudFormation takes (1 MB) become.
"""

from __future__ import annotations

from typing import Any

from tablewright.errors import TemplateRefused

#: The size of a file, in bytes; PyYAML takes seconds for a megabyte.
MAX_JSON_BYTES = 64 * 1024 * 1024
MAX_YAML_BYTES = 2 * 1024 * 1024
#: The values and functions that are computed, and the characters of the texts that they give.
MAX_VALUES = 250_000
MAX_CHARACTERS = 16 * 1024 * 1024
#: How deep the values of a document may be nested.
MAX_DEPTH = 100


class Expansion:
    """Counts what a file becomes. Raises `TemplateRefused` at a limit."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._values = 0
        self._characters = 0

    def add_values(self, count: int = 1) -> None:
        self._values += count
        if self._values > MAX_VALUES:
            raise TemplateRefused(
                f"{self._file}: expands to more than {MAX_VALUES:,} values; use fewer aliases and "
                "references"
            )

    def add_text(self, size: int) -> None:
        """Count the characters of a text, before it is made."""
        self._characters += size
        if self._characters > MAX_CHARACTERS:
            raise TemplateRefused(
                f"{self._file}: its functions make texts of more than {MAX_CHARACTERS:,} "
                "characters; use fewer references"
            )

    def add_document(self, document: Any) -> None:
        """Count the values of a document; one that an alias names counts wherever it is used."""
        pending = [(document, 0)]
        while pending:
            value, depth = pending.pop()
            if depth > MAX_DEPTH:
                raise TemplateRefused(f"{self._file}: nested more than {MAX_DEPTH} levels deep")
            if isinstance(value, dict | list):
                self.add_values(len(value))
                entries = value.values() if isinstance(value, dict) else value
                pending += [(entry, depth + 1) for entry in entries]
