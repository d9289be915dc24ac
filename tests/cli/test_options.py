"""Options that are read without typer: the same values, or none."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import typer.main

from tablewright.cli.all_commands import app
from tablewright.cli.options import declared_options, read_options
from tablewright.cli.serve import serve


def read_with_typer(arguments: list[str]) -> dict[str, Any]:
    """Return all options of `serve`, with their defaults."""
    command = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    with command.make_context("serve", list(arguments)) as context:
        return {name: None if each == () else each for name, each in context.params.items()}


def example(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return str(list(kind)[-1].value)
    return "17" if kind in (int, float) else "some/where"


def every_option() -> Iterator[list[str]]:
    for flag, (_, kind, _) in declared_options(serve).items():
        if kind is bool:
            yield [flag]
            continue
        one = next((each for each in get_args(kind) if each is not type(None)), kind)
        one = next(iter(get_args(one)), one)
        yield [flag, example(one)]
        yield [f"{flag}={example(one)}"]


GIVEN = [
    [],
    ["--port", "0", "--db", "some.db", "--durability", "normal"],
    ["--from", "a.json", "--from=b.json", "--parameter", "Stage=dev"],
    ["--port", "1", "--port", "2"],
    ["--sweep-seconds", "0.5"],
    ["--cors", "*"],
    *every_option(),
]


@pytest.mark.parametrize("arguments", GIVEN, ids=" ".join)
def test_what_is_read_without_typer_is_what_typer_reads(arguments: list[str]) -> None:
    given = read_options(serve, arguments)
    assert given is not None
    assert given == read_with_typer(arguments)


LEFT = [
    ["--help"],
    ["-h"],
    ["--prt", "1"],
    ["--port"],
    ["--port", ""],
    ["--port", "x"],
    ["--port", " 1"],
    ["--port", "-1"],
    ["--port", "65536"],
    ["--sweep-seconds", "0"],
    ["--sweep-seconds", "nan"],
    ["--durability", "FULL"],
    ["--access-log", "-"],
    ["--db", "--port"],
    ["--realistic=yes"],
    ["--no-realistic"],
    ["some.db"],
    ["--", "some.db"],
]


@pytest.mark.parametrize("arguments", LEFT, ids=" ".join)
def test_help_and_mistakes_are_left_to_typer(arguments: list[str]) -> None:
    assert read_options(serve, arguments) is None
