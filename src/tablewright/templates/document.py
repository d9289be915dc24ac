"""Documents: read a template file as JSON values, with bounds on what it becomes.

YAML needs the package PyYAML (`pip install 'tablewright[yaml]'`): the language is too large for a
parser of our own, and templates in JSON do not need it. CloudFormation's short tags become the long
form: `!Ref Name` is {"Ref": "Name"}, `!GetAtt A.Arn` is {"Fn::GetAtt": ["A", "Arn"]}.

A small file must not take all memory. YAML aliases and merge keys, `Ref` of another resource,
`Fn::Sub` and `Fn::Join` repeat a value wherever they are used: ten of them, each with ten of the
one before, are billions of values. CloudFormation accepts templates of up to 1 MB; what these
become is far below the bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
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

#: Tags whose long form has no `Fn::`.
_PLAIN_TAGS = ("Ref", "Condition")
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
#: Files that are given by mistake, and what to use instead.
_NOT_TEMPLATES = {
    ".py": "the output of `tablewright publish cloudformation`, or of `cdk synth`",
    ".tf": "the output of `terraform show -json`",
}


def find_templates(path: Path) -> Iterator[Path]:
    """Yield the templates of a path: the file itself, or those of a folder of `cdk synth`."""
    if not path.is_dir():
        yield path
        return
    templates = sorted(path.glob("**/*.template.json"))
    if not templates:
        raise TemplateRefused(
            f"{path}: the folder has no *.template.json; use the output folder of `cdk synth`, "
            "or a file"
        )
    yield from templates


def load_document(file: Path) -> dict[str, Any]:
    """Return the contents of a file; raise `TemplateRefused` if it is not a template."""
    try:
        _require_size(file, file.stat().st_size, MAX_JSON_BYTES)
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise TemplateRefused(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TemplateRefused(f"{file}: the file is not UTF-8 text") from None
    document = _parse(file, text)
    if not isinstance(document, dict):
        raise TemplateRefused(f"{file}: must be an object, not {type(document).__name__}")
    if "terraform_version" in document and "resources" in document:
        raise TemplateRefused(
            f"{file}: this is a state file of Terraform; use the output of `terraform show -json`"
        )
    return document


def _require_size(file: Path, size: int, maximum: int) -> None:
    if size > maximum:
        raise TemplateRefused(f"{file}: {size:,} bytes; the maximum is {maximum:,}")


def _parse(file: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise TemplateRefused(f"{file}: nested too deeply") from None
    except ValueError as error:
        if text.lstrip().startswith("{"):
            raise TemplateRefused(f"{file}: not valid JSON: {error}") from None
    if file.suffix in _NOT_TEMPLATES:
        raise TemplateRefused(f"{file}: not a template; use {_NOT_TEMPLATES[file.suffix]}")
    _require_size(file, len(text), MAX_YAML_BYTES)
    return _parse_yaml(file, text)


def _parse_yaml(file: Path, text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise TemplateRefused(
            f"{file}: reading YAML needs the package PyYAML: pip install 'tablewright[yaml]'"
        ) from None

    expansion = Expansion(str(file))

    class Loader(yaml.SafeLoader):  # type: ignore[misc] # yaml has no types
        """YAML with the tags of CloudFormation."""

        def flatten_mapping(self, node: Any) -> None:
            """Replace merge keys; what they merge is counted before it is copied."""
            super().flatten_mapping(node)
            expansion.add_values(len(node.value))

    # A date such as 2012-10-17 stays text.
    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_tag(loader: Any, suffix: str, node: Any) -> dict[str, Any]:
        if isinstance(node, yaml.ScalarNode):
            value: Any = loader.construct_scalar(node)
            if suffix == "GetAtt":
                value = value.split(".", 1)
        elif isinstance(node, yaml.SequenceNode):
            value = loader.construct_sequence(node, deep=True)
        else:
            value = loader.construct_mapping(node, deep=True)
        return {suffix if suffix in _PLAIN_TAGS else f"Fn::{suffix}": value}

    Loader.add_multi_constructor("!", construct_tag)
    try:
        document = yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        raise TemplateRefused(f"{file}: not valid YAML: {error}") from None
    except RecursionError:
        raise TemplateRefused(f"{file}: nested too deeply") from None
    expansion.add_document(document)
    return document


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
