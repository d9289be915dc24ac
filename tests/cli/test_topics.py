"""`tablewright help`, and that messages cite only what is installed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tablewright
from tablewright.cli.help import TOPICS
from tests.commands import mistake, run

SOURCES = sorted(Path(tablewright.__file__).parent.rglob("*.py"))


def test_the_topics_are_listed() -> None:
    done = run("help")
    assert done.returncode == 0
    assert re.findall(r"^  (\w+) ", done.stdout, re.MULTILINE) == list(TOPICS)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_has_a_text_of_80_columns(topic: str) -> None:
    done = run("help", topic)
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 3
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_help_of_a_command_is_that_of_its_option() -> None:
    assert run("help", "scan").stdout.split() == run("scan", "--help").stdout.split()


def test_the_help_of_a_command_in_a_group() -> None:
    shown = run("help", "publish", "docs").stdout
    assert shown.split() == run("publish", "docs", "--help").stdout.split()
    assert "'publish doc'; did you mean 'docs'?" in run("help", "publish", "doc").stderr
    assert "write `tablewright publish docs DESIGN`" in run("help", "docs").stderr


def test_an_unknown_topic_has_a_hint() -> None:
    line = mistake("help", "operation")
    assert line == ("tablewright: there is no help on 'operation'; did you mean 'operations'?\n")


def test_help_shows_flags_without_a_type() -> None:
    for command in (["--help"], ["scan", "--help"], ["publish", "--help"]):
        shown = run(*command).stdout
        assert "<bool>" not in shown
        assert "<list" not in shown


def cited(pattern: str) -> set[str]:
    """What messages of the package contain that matches a pattern."""
    sources = [text for source in SOURCES if re.search(pattern, text := source.read_text())]
    return {
        found for text in sources for each in messages(text) for found in re.findall(pattern, each)
    }


def messages(source: str) -> Iterator[str]:
    """The texts of a module, without its docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            yield node.value


def test_no_message_cites_a_file_that_is_not_installed() -> None:
    assert cited(r"\bdocs/\S+") == set()


def test_every_topic_that_a_message_cites_exists() -> None:
    topics = cited(r"tablewright help (\w+)")
    assert topics >= {"operations", "advice", "design"}
    assert topics - {"TOPIC", "COMMAND"} <= TOPICS.keys()
