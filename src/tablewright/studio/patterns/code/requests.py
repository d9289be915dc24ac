"""Requests as calls of boto3, and as commands of the AWS CLI."""

from __future__ import annotations

import base64
import re
import shlex
from collections.abc import Sequence
from typing import Any

import msgspec

from tablewright.engine import Engine

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
