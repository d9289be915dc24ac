"""The arguments of `serve` are read without typer: the same values, and mistakes in one line."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
import typer.main

from tablewright.cli.all_commands import app
from tablewright.cli.commands import PlainCommand
from tablewright.cli.grammar import names_of
from tablewright.cli.serve.options import ServeOptions, read_options


@cache
def serve_command() -> Any:
    """Return the command as typer makes it from all functions, which takes longer than a test."""
    return typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]


def read_with_typer(arguments: list[str]) -> dict[str, Any]:
    """Return all options of `serve`, with their defaults."""
    command = serve_command()
    with command.make_context("serve", [], resilient_parsing=True) as context:
        PlainCommand.parse_args(command, context, list(arguments))
        return {name: None if each == () else each for name, each in context.params.items()}


def example(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return str(list(kind)[-1].value)
    return "17" if kind in (int, float) else "some/where"


def every_option() -> Iterator[list[str]]:
    kinds = get_type_hints(ServeOptions)
    for name, declared in ServeOptions._field_defaults.items():
        (flag, *_), kind = names_of(name, declared), kinds[name]
        if declared.is_argument:
            continue
        if kind is bool:
            yield [flag]
            continue
        one = next((each for each in get_args(kind) if each is not type(None)), kind)
        one = next(iter(get_args(one)), one)
        yield [flag, example(one)]
        yield [f"{flag}={example(one)}"]


GIVEN = [
    [],
    ["some.db"],
    ["--", "some.db"],
    ["--port", "0", "some.db", "--durability", "normal"],
    ["--from", "a.json", "--from=b.json", "--parameter", "Stage=dev"],
    ["--port", "1", "--port", "2"],
    ["--sweep-seconds", "0.5"],
    ["--access-log", "-"],
    ["--cors", "*"],
    *every_option(),
]


@pytest.mark.parametrize("arguments", GIVEN, ids=" ".join)
def test_what_is_read_without_typer_is_what_typer_reads(arguments: list[str]) -> None:
    assert read_options(arguments)._asdict() == read_with_typer(arguments)


def test_the_file_is_an_argument() -> None:
    assert read_options(["--port", "0", "a=b.db"]).file == Path("a=b.db")


PORT = "expected a whole number from 0 to 65535"
MISTAKES = {
    "--prt 1": "serve has no option --prt; did you mean '--port'?",
    "-p 1": "serve has no option -p",
    "--no-realistic": "serve has no option --no-realistic; did you mean '--realistic'?",
    "--port": "--port needs a value",
    "--port=": "--port needs a value",
    "--port --insecure": "--port needs a value",
    "--port x": f"--port x: {PORT}",
    "--port -1": f"--port -1: {PORT}",
    "--port 65536": f"--port 65536: {PORT}",
    "--sweep-seconds 0": "--sweep-seconds 0: expected a number from 0.01",
    "--sweep-seconds nan": "--sweep-seconds nan: expected a number from 0.01",
    "--durability FULL": "--durability FULL: expected full or normal",
    "--realistic=yes": "--realistic takes no value",
    "a.db b.db": "serve takes one FILE, not a.db and b.db",
    "a.db -- b.db": "serve takes one FILE, not a.db and b.db",
    "--db a.db": "serve has no option --db; write `tablewright serve FILE`",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_a_mistake_is_one_line(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read_options(arguments.split())
    assert end.value.code == 2
    assert capsys.readouterr().err == f"tablewright: {MISTAKES[arguments]}\n"
