"""Programs to copy: a call of a pattern in Python, its requests with boto3 and the AWS CLI.

The programs run unchanged. This module must not know markup.
"""

from __future__ import annotations

import base64
import dataclasses
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import msgspec
from pydantic import BaseModel

from tablewright.engine import Engine
from tablewright.mapping.entity import EntityMap
from tablewright.model.pattern import AccessPattern
from tablewright.model.table import Table
from tablewright.verify import Design

#: Arguments that are longer than this are on lines of their own.
LINE = 60


def python_code(
    design: Design,
    target: str | Engine,
    pattern: AccessPattern,
    values: dict[str, Any],
    *,
    after: str = "",
    tenant: tuple[str, str] | None = None,
    with_times: bool = True,
) -> str:
    """Return a program that runs a pattern with these arguments; its result is `result`.

    `with_times`: the times of entities that the library sets are part of the arguments.
    """
    imports = Imports()
    tables = [imports.name(table) for table in _tables(design, pattern)]
    function = _function(imports, pattern, tables)
    arguments = [
        f"{name}={ExpressionWriter(imports, with_times).of(value)}"
        for name, value in values.items()
    ]
    lines = _connect(imports, design, target, tables)
    if tenant is not None:
        lines.append(f"db = db.for_tenant({tenant[0]}={tenant[1]!r})")
    call = f"{function}({_joined(arguments)})"
    if after:
        call += f".after({after!r})"
    lines += [f"result = db.run({call})", "print(result)"]
    return "\n".join([*imports.lines(), "", *lines])


def _tables(design: Design, pattern: AccessPattern) -> list[type[Table]]:
    """Return the tables of the pattern; they are connected to."""
    needed = {entity.table for entity in pattern.entities}
    return [table for table in design.tables if table.__table__ in needed]


def _connect(
    imports: Imports, design: Design, target: str | Engine, tables: list[str]
) -> list[str]:
    imports.add("tablewright", "connect")
    named = ", ".join(tables)
    if isinstance(target, str):
        return [f"db = connect({target!r}, {named})"]
    imports.add("tablewright", "Engine")
    imports.add("tablewright.designs.catalog", "load")
    imports.add("tablewright.verify", "seed")
    return [
        'engine = Engine(":memory:")',
        f"seed(load({design.name!r}), engine)",
        f"db = connect(engine, {named})",
    ]


def _function(imports: Imports, pattern: AccessPattern, tables: list[str]) -> str:
    """Return the name of the function, or how to find it if it is no name of its module."""
    module, name = pattern.function.__module__, pattern.function.__qualname__
    if getattr(sys.modules.get(module), name, None) is pattern.function:
        imports.add(module, name)
        return name
    imports.add("tablewright", "access_patterns")
    found = f"p.function for p in access_patterns({tables[0]}) if p.label == {pattern.label!r}"
    return f"next({found})"


def entity_code(entity: Any) -> str:
    """Return the expression that makes an entity, one attribute on each line."""
    write = ExpressionWriter(Imports(), with_times=True).of
    members = [f"{name}={write(value)}" for name, value in vars(entity).items()]
    return f"{type(entity).__name__}({_lines(members)})"


def _joined(members: list[str]) -> str:
    """Return members in one line, or on lines of their own if they are long."""
    short = ", ".join(members)
    return short if len(short) <= LINE and "\n" not in short else _lines(members)


def _lines(members: list[str]) -> str:
    lines = "".join(f"    {each.replace(chr(10), chr(10) + '    ')},\n" for each in members)
    return f"\n{lines}"


class Imports:
    """The imports of a program; a name that two modules have gets another one."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = {}

    def add(self, module: str, name: str) -> str:
        """Import a name of a module, and return what it is called."""
        module = module.rpartition(" ")[2]  # a design from a file: its folder is the working one
        names = self._names.setdefault(module, {})
        if name not in names:
            taken = {each for other in self._names.values() for each in other.values()}
            names[name] = f"{module.rpartition('.')[2]}_{name}" if name in taken else name
        return names[name]

    def name(self, kind: type) -> str:
        """Import a class, and return what it is called."""
        outer, _, inner = kind.__qualname__.partition(".")
        name = self.add(kind.__module__, outer)
        return f"{name}.{inner}" if inner else name

    def lines(self) -> Iterator[str]:
        for module in sorted(self._names):
            names = [
                name if name == alias else f"{name} as {alias}"
                for name, alias in sorted(self._names[module].items())
            ]
            yield f"from {module} import {', '.join(names)}"


class ExpressionWriter:
    """Writes values as Python expressions, and imports what they need."""

    def __init__(self, imports: Imports, with_times: bool) -> None:
        self._imports = imports
        self._with_times = with_times

    def of(self, value: Any) -> str:
        """Return a value as an expression."""
        entity = getattr(type(value), "__entity__", None)
        match value:
            case _ if isinstance(entity, EntityMap):
                return self._entity(value, entity)
            case Enum():
                return f"{self._imports.name(type(value))}.{value.name}"
            case datetime() | date() | time() | timedelta():
                self._imports.add("datetime", type(value).__name__)
                if getattr(value, "tzinfo", None) is not None:
                    self._imports.add("datetime", "UTC")
                return repr(value).replace("datetime.timezone.utc", "UTC").replace("datetime.", "")
            case Decimal():
                self._imports.add("decimal", "Decimal")
                return repr(value)
            case dict():
                pairs = [f"{self.of(name)}: {self.of(each)}" for name, each in value.items()]
                return f"{{{_joined(pairs)}}}"
            case list():
                return f"[{_joined([self.of(each) for each in value])}]"
            case tuple():
                inner = ", ".join(map(self.of, value))
                return f"({inner},)" if len(value) == 1 else f"({inner})"
            case set() | frozenset():
                inner = ", ".join(sorted(map(self.of, value)))
                return f"{type(value).__name__}({f'[{inner}]' if value else ''})"
            case BaseModel():
                return self._made(type(value), dict(value))
            case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
                members = {
                    each.name: getattr(value, each.name) for each in dataclasses.fields(value)
                }
                return self._made(type(value), members)
            case _ if type(value).__module__ == "builtins":
                return repr(value)
            case str():
                return f"{self._imports.name(type(value))}({str(value)!r})"
            case _:
                self._imports.name(type(value))
                return repr(value)

    def _made(self, kind: type, members: dict[str, Any]) -> str:
        inner = [f"{name}={self.of(each)}" for name, each in members.items()]
        return f"{self._imports.name(kind)}({_joined(inner)})"

    def _entity(self, value: Any, entity: EntityMap) -> str:
        """Return the constructor; what the library sets is added if it has another value."""
        stamps = {stamp.name: stamp for stamp in entity.stamps}
        members = {name: each for name, each in vars(value).items() if name not in stamps}
        made = self._made(type(value), members)
        given = {
            name: vars(value)[name]
            for name, stamp in stamps.items()
            if (vars(value)[name] != 0 if stamp.role == "version" else self._with_times)
        }
        if not given:
            return made
        self._imports.add("tablewright.verify", "changed")
        inner = ", ".join(f"{name}={self.of(each)}" for name, each in given.items())
        return f"changed({made}, {inner})"


#: A request: its operation and its body.
AnyRequest = tuple[str, dict[str, Any]]
#: Where `tablewright serve` listens.
SERVED = "http://127.0.0.1:8000"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")
_WIDTH = 88


def endpoint(target: str | Engine) -> tuple[str, str]:
    """Return the URL of a target for other programs, and the command that serves it, if any."""
    if isinstance(target, Engine):
        return SERVED, "tablewright serve :memory:, and load the sample data: tablewright seed"
    if target.startswith("dynamodb://"):
        return "", ""
    return (target, "") if "://" in target else (SERVED, f"tablewright serve {shlex.quote(target)}")


def region(target: str | Engine) -> str:
    """Return the region of a target; any one for an endpoint on this machine."""
    if isinstance(target, str) and target.startswith("dynamodb://"):
        return target.removeprefix("dynamodb://").partition("/")[0]
    return "us-east-1"


def boto3_code(requests: Sequence[AnyRequest], target: str | Engine) -> str:
    """Return the requests as calls of boto3's client; the responses are in `responses`."""
    url, serve = endpoint(target)
    lines = ["import boto3", ""]
    if serve:
        lines.append(f"# the endpoint: {serve}")
    where = f'"dynamodb", region_name={region(target)!r}'
    if url:
        where += f", endpoint_url={url!r},\n    "
        where += 'aws_access_key_id="local", aws_secret_access_key="local"'
    lines += [f"client = boto3.client({where})", "responses = ["]
    for operation, body in requests:
        arguments = "".join(
            f"        {name}={_literal(_binary(value), 8)},\n" for name, value in body.items()
        )
        lines.append(f"    client.{_words(operation, '_')}(\n{arguments}    ),")
    return "\n".join([*lines, "]"])


def cli_code(requests: Sequence[AnyRequest], target: str | Engine) -> str:
    """Return the requests as commands of the AWS CLI, version 2."""
    url, serve = endpoint(target)
    shared = [f"--region {region(target)}"]
    if url:
        shared.append(f"--endpoint-url {shlex.quote(url)}")
    commands = []
    for operation, body in requests:
        arguments = [_argument(name, value) for name, value in body.items()]
        if operation in ("Query", "Scan"):
            arguments.append("--no-paginate")
        lines = [f"aws dynamodb {_words(operation, '-')}", *shared, *arguments]
        commands.append(" \\\n  ".join(lines))
    return "\n\n".join([f"# the endpoint: {serve}"] * bool(serve) + commands)


def _argument(name: str, value: Any) -> str:
    option = _words(name, "-")
    if isinstance(value, bool):
        return f"--{option}" if value else f"--no-{option}"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"--{option} {shlex.quote(text)}"


def _words(name: str, separator: str) -> str:
    """Return a name of DynamoDB in words.

    >>> _words("TransactWriteItems", "-")
    'transact-write-items'
    """
    return _WORD.sub(separator, name).lower()


def _binary(value: Any) -> Any:
    """Return a value as boto3 takes it: binaries as bytes."""
    if isinstance(value, list):
        return [_binary(each) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((tag, inner),) = value.items()
        if tag == "B" and isinstance(inner, str):
            return {tag: base64.b64decode(inner)}
        if tag == "BS" and isinstance(inner, list):
            return {tag: [base64.b64decode(each) for each in inner]}
    return {name: _binary(each) for name, each in value.items()}


def _literal(value: Any, indent: int) -> str:
    """Return a value as a Python literal, in several lines if it is long."""
    short = repr(value)
    if len(short) + indent <= _WIDTH or not isinstance(value, (dict, list)) or not value:
        return short
    pad = " " * (indent + 4)
    if isinstance(value, dict):
        inner = [f"{name!r}: {_literal(each, indent + 4)}" for name, each in value.items()]
        opening, closing = "{", "}"
    else:
        inner = [_literal(each, indent + 4) for each in value]
        opening, closing = "[", "]"
    lines = "".join(f"{pad}{each},\n" for each in inner)
    return f"{opening}\n{lines}{' ' * indent}{closing}"
