"""The grammar of the command line, which docs/command-line.md states, over all commands."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tablewright.cli import MODULES
from tablewright.cli.all_commands import app
from tablewright.cli.commands import GROUPS, PANELS, argument_forms
from tablewright.cli.grammar import OLD_SPELLINGS, is_target
from tests.commands import mistake, run

ROOT = Path(__file__).parents[2]
#: What ends a command in a line of a shell.
SHELL = {"|", "&&", ";", ">", ">>"}
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


#: A command in a document, a help topic or a message, up to the end of its line or of its span.
CITED = re.compile(r"(?<![\w./])tablewright (?P<words>[a-z][a-z-]+(?: [^`\n]*)?)")


def cited(place: Path) -> Iterator[str]:
    """Yield the commands that a file, or the files of a folder, contain."""
    files = [place] if place.is_file() else sorted(place.rglob("*.*"))
    for file in files:
        if file.suffix in ("", ".md", ".py", ".txt"):
            for found in CITED.finditer(file.read_text(encoding="utf-8")):
                yield found["words"].partition("#")[0]


@pytest.mark.parametrize("place", ["README.md", "CONTRIBUTING.md", "Makefile", "docs", "examples"])
def test_a_document_cites_commands_that_exist(place: str) -> None:
    for words in cited(ROOT / place):
        assert unknown_words(words) == [], words


def test_the_package_cites_commands_that_exist() -> None:
    assert [words for words in cited(ROOT / "src") if unknown_words(words)] == []


def test_what_is_not_known_is_found() -> None:
    assert unknown_words("verify mine.py --stored shop.db | head --x") == ["--stored"]
    assert unknown_words("docs mine.py") == ["docs"]
    assert unknown_words("publish docs mine.py --html") == []


def unknown_words(line: str) -> list[str]:
    """Return the old commands and the unknown options in a line."""
    first, *rest = line.split()
    if first in OLD_SPELLINGS:
        return [first]
    command = COMMANDS.get(first) or COMMANDS.get(" ".join([first, *rest[:1]]))
    if command is None:  # a group, or a sentence about Tablewright
        return []
    known = {"--help", *(name for each in command.params for name in each.opts)}
    known |= {name for each in command.params for name in each.secondary_opts}
    words = itertools.takewhile(lambda word: word not in SHELL, rest)
    options = [found[0] for word in words if (found := re.match(r"--[a-z][a-z0-9-]+", word))]
    return [option for option in options if option not in known]


@pytest.mark.parametrize("words", COMMANDS)
def test_the_help_shows_the_arguments_before_the_options(words: str) -> None:
    forms = argument_forms(COMMANDS[words].params)
    shown = " ".join(run(*words.split(), "--help").stdout.split())
    assert " ".join([words, *forms, "[OPTIONS]"]) in shown


def test_every_command_is_in_one_group() -> None:
    names = {words.split()[0] for words in COMMANDS}
    assert names == PANELS.keys()
    assert len(names) == sum(map(len, GROUPS.values()))


def test_the_document_has_the_groups() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for group, names in GROUPS.items():
        assert f"| {group} | {', '.join(f'`{name}`' for name in names)} |\n" in text


@pytest.mark.parametrize("old", OLD_SPELLINGS)
def test_an_old_spelling_is_refused_with_the_new_one(old: str) -> None:
    line = mistake(*old.split(), "x")
    assert line.endswith(f"; write `tablewright {OLD_SPELLINGS[old]}`\n")


@pytest.mark.parametrize("old", OLD_SPELLINGS)
def test_the_new_spelling_exists_and_the_old_one_does_not(old: str) -> None:
    command, _, option = old.partition(" ")
    assert (command in COMMANDS) == bool(option)
    words = OLD_SPELLINGS[old].split()
    name = next(name for name in COMMANDS if words[: len(name.split())] == name.split())
    parameters = COMMANDS[name].params
    options = {each for parameter in parameters for each in parameter.opts}
    assert (option in options) <= (name != command)
    assert {word for word in words if word.startswith("-")} <= options
    forms = words[len(name.split()) :]
    first = next((n for n, word in enumerate(forms) if word.startswith("-")), len(forms))
    assert arguments_of(COMMANDS[name])[:first] == forms[:first]


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
    line = mistake(*words.split())
    assert line.startswith(f"tablewright: {message}")


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


def test_a_path_without_its_ending_is_not_taken_for_a_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").touch()
    done = run("verify", "./mine")
    assert done.stderr.startswith("tablewright: ./mine would be a target; the path of a design ")
    Path("shop").touch()
    done = run("patterns", "commerce", "shop", "customer_profile", "customer_id=C1")
    assert done.stderr.endswith("shop is not a pattern; if it is a database file, write ./shop\n")


def test_a_target_alone_runs_the_checks_of_all_designs_there(tmp_path: Path) -> None:
    done = run("verify", tmp_path / "checks.db", "--brief")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == [
        *("shop", "market", "recipes", "menu", "commerce")
    ]
    assert list(tmp_path.iterdir()) == []  # the file is removed with its tables


def test_each_module_has_the_commands_that_are_looked_for_in_it() -> None:
    """`MODULES` lets a command import its own module alone."""
    found: dict[str, set[str]] = {}
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        leaf = next(iter(getattr(command, "commands", {"": command}).values()))
        module = leaf.callback.__module__.removeprefix("tablewright.cli.")
        listed = (each for each in MODULES if f"{module}.".startswith(f"{each}."))
        found.setdefault(next(listed, module), set()).add(name)
    assert found == {**MODULES, "help": {"help", "completion"}, "all_commands": {"serve"}}
