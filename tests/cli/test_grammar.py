"""The grammar of the command line, which docs/command-line.md states, over all commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tablewright.cli.all_commands import app
from tablewright.cli.commands import GROUPS, PANELS, argument_forms
from tablewright.cli.grammar import SPELLINGS, Spelling, is_target
from tests.commands import run

#: What a command applies to, in this order.
SUBJECTS = ("DESIGN", "TARGET", "TABLE")
#: The commands that write what they read elsewhere: the source first.
MOVES = {
    "copy": ["SOURCE", "TARGET"],
    "dump": ["SOURCE", "FILE"],
    "load": ["FILE", "TARGET"],
    "backup": ["FILE", "COPY"],
    "restore": ["BACKUP", "FILE"],
    "repair": ["FILE", "NEW"],
}
#: The commands whose option --design says how items are shown.
SHOWN_AS_ENTITIES = {"get", "query", "scan"}


def walk(command: Any, words: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the words and the command of each command that can be run."""
    below = getattr(command, "commands", None)
    if below is None:
        yield words, command
    for name, each in (below or {}).items():
        yield from walk(each, f"{words} {name}".strip())


COMMANDS = dict(walk(typer.main.get_command(app)))


def arguments_of(command: Any) -> list[str]:
    return [form.strip("[].") for form in argument_forms(command.params)]


@pytest.mark.parametrize("words", COMMANDS)
def test_what_a_command_applies_to_comes_first(words: str) -> None:
    arguments = arguments_of(COMMANDS[words])
    if words in MOVES:
        assert arguments == MOVES[words]
        return
    subjects = [each for each in arguments if each in SUBJECTS]
    assert subjects == sorted(subjects, key=SUBJECTS.index)
    assert arguments[: len(subjects)] == subjects


@pytest.mark.parametrize("words", COMMANDS)
def test_designs_and_targets_are_arguments(words: str) -> None:
    for parameter in COMMANDS[words].params:
        if parameter.param_type_name != "option":
            continue
        names = {*parameter.opts, *parameter.secondary_opts}
        assert not names & {"--target", "--stored", "--db", "--file", "--source"}
        assert parameter.metavar not in ("TARGET", "SOURCE")
        assert ("--design" in names) == (parameter.metavar == "DESIGN")
        assert "--design" not in names or words in SHOWN_AS_ENTITIES


@pytest.mark.parametrize("words", COMMANDS)
def test_optional_arguments_follow_required_ones(words: str) -> None:
    required = [
        each.required for each in COMMANDS[words].params if each.param_type_name == "argument"
    ]
    assert required == sorted(required, reverse=True)


@pytest.mark.parametrize("words", COMMANDS)
def test_the_help_shows_the_arguments_before_the_options(words: str) -> None:
    forms = argument_forms(COMMANDS[words].params)
    shown = " ".join(run(*words.split(), "--help").stdout.split())
    assert " ".join([words, *forms, "[OPTIONS]"]) in shown


def test_every_command_is_in_one_group() -> None:
    names = {words.split()[0] for words in COMMANDS}
    assert names == PANELS.keys()
    assert len(names) == sum(map(len, GROUPS.values()))


@pytest.mark.parametrize("old", SPELLINGS, ids=lambda old: f"{old.command} {old.option}")
def test_an_old_spelling_is_refused_with_the_new_one(old: Spelling) -> None:
    done = run(*old.command.split(), *([old.option, "x"] if old.option else ["commerce"]))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"; write `{old.new}`\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("old", SPELLINGS, ids=lambda old: f"{old.command} {old.option}")
def test_the_new_spelling_exists_and_the_old_one_does_not(old: Spelling) -> None:
    command = COMMANDS.get(old.command)
    known = [] if command is None else [name for each in command.params for name in each.opts]
    assert old.option not in known
    program, *words = old.new.split()
    assert program == "tablewright"
    found = next(name for name in COMMANDS if words[: len(name.split())] == name.split())
    given = [word for word in words if word.startswith("-")]
    assert {*given} <= {name for each in COMMANDS[found].params for name in each.opts}
    positional = words[len(found.split()) :]
    positional = positional[: positional.index(given[0])] if given else positional
    assert arguments_of(COMMANDS[found])[: len(positional)] == positional


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("serv", "there is no command 'serv'; did you mean 'serve'?"),
        ("qqqq", "there is no command 'qqqq'; `tablewright --help` lists them"),
        ("publish doc commerce", "there is no command 'publish doc'; did you mean 'docs'?"),
        ("--versio", "tablewright has no option --versio; did you mean '--version'?"),
        ("scan a.db t --limt 5", "scan has no option --limt; did you mean '--limit'?"),
        ("scan a.db t --limit", "scan: option '--limit' requires an argument"),
        ("get a.db", "get: missing argument 'TABLE'; write `tablewright get TARGET TABLE NAME="),
        ("seed shop a.db b.db", "seed: unexpected: b.db; write `tablewright seed DESIGN TARGET`"),
        ("seed a.db shop", "a.db is a target; name the design first, then the target"),
        ("verify a.db shop", "the design comes first: tablewright verify shop a.db"),
        ("verify a.db b.db", "verify takes one target, not a.db and b.db"),
        ("verify shop market", "verify takes one design, not shop and market; if market is a "),
        ("verify shop market.py", "verify takes one design, not shop and market.py"),
    ],
)
def test_a_mistake_is_one_line(words: str, message: str) -> None:
    done = run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"tablewright: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *((word, True) for word in (":memory:", "http://h:1", "dynamodb://", "a.db", "./a", "a/b")),
        *((word, True) for word in ("a.sqlite", "x/y.sqlite3", "../x.json")),
        *((word, False) for word in ("commerce", "a.b.c", "design.py", "./design.py", "a/b.py")),
        *((word, False) for word in ("whole_menu", "composite.whole_menu", "data")),
    ],
)
def test_the_spelling_of_a_word_decides_whether_it_is_a_target(word: str, expected: bool) -> None:
    assert is_target(word) is expected


def test_a_target_alone_runs_the_checks_of_all_designs_there(tmp_path: Path) -> None:
    done = run("verify", tmp_path / "checks.db", "--brief")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == [
        *("shop", "market", "recipes", "menu", "commerce")
    ]
