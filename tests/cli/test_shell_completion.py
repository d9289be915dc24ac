"""The completion of bash, in bash; and what the scripts of the other shells contain."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.commands import run

#: Completes the words that it is given, the last of which may be empty, and prints what is offered.
ASK = """
COMP_WORDS=(tablewright "$@")
COMP_CWORD=$#
_tablewright
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "completion.bash"
    file.write_text(run("completion", "bash").stdout)
    return file


def offered(script: Path, folder: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    command = ["bash", "--norc", "-c", f"source {script}\n{ASK}", "bash", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_registers_the_function(script: Path) -> None:
    command = ["bash", "--norc", "-c", f"source {script}; complete -p tablewright"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "complete -o default -F _tablewright tablewright\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["des"], ["designs", "describe"]),
        (["--v"], ["--version"]),
        (["scan", "--j"], ["--json"]),
        (["publish", "c"], ["cloudformation", "cdk"]),
        (["publish", "docs", "--h"], ["--html", "--help"]),
        (["publish", "cdk", "--out"], ["--output"]),
        (["credentials", "a"], ["add"]),
        (["serve", "--durability", ""], ["full", "normal"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["help", "op"], ["operations"]),
        (["verify", "c"], ["commerce", "mine.py"][:1]),
        (["explain", "m"], ["market", "menu", "mine.py"]),
        (["verify", "shop", "m"], ["market", "menu", "mine.py"]),
        (["scan", "a.db", "t", "--design", "sh"], ["shop"]),
        # nothing of ours: bash offers files, because of `-o default`
        (["scan", "mi"], []),
        (["publish", "docs", "shop", "-o", ""], []),
        (["scan", "publish", ""], []),
    ],
)
def test_bash_completes(
    script: Path, tmp_path: Path, words: list[str], expected: list[str]
) -> None:
    (tmp_path / "mine.py").touch()
    assert sorted(offered(script, tmp_path, *words)) == sorted(expected)


def test_zsh_uses_the_functions_of_bash() -> None:
    bash, zsh = run("completion", "bash").stdout, run("completion", "zsh").stdout
    assert zsh.endswith(bash)
    assert "bashcompinit\n" in zsh


def test_fish_has_commands_with_descriptions_options_and_values() -> None:
    lines = run("completion", "fish").stdout.splitlines()
    start = "complete -c tablewright -n "
    for line in (
        "'__fish_use_subcommand' -a shell -d 'Open a prompt for PartiQL statements.'",
        "'__fish_seen_subcommand_from scan' -l json",
        "'__fish_seen_subcommand_from serve' -l durability -x -a 'full normal'",
        "'__fish_seen_subcommand_from publish; and __fish_seen_subcommand_from cdk' -s o -r",
        "'__fish_seen_subcommand_from verify' -a 'shop market recipes menu commerce'",
    ):
        assert start + line in lines


def test_another_shell_is_refused() -> None:
    assert run("completion", "ksh").returncode == 2
