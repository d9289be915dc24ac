"""Completion for shells: scripts for bash, zsh and fish, made from the tree of commands.

The scripts are static, so that Tab answers at once: commands, options, the values of options that
have a fixed set, the bundled designs, and files. They know the commands of the version that wrote
them.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterator
from typing import Any, NamedTuple, get_type_hints

import typer

from tablewright.cli.commands import HELP, add_command, app, text_file
from tablewright.cli.options import argument
from tablewright.cli.topics import TOPICS

PROGRAM = "tablewright"

ZSH = """\
# Completion for zsh. In ~/.zshrc, after compinit:  eval "$(tablewright completion zsh)"
autoload -U +X bashcompinit && bashcompinit
"""

FISH = """\
# Completion for fish:  tablewright completion fish > ~/.config/fish/completions/tablewright.fish
"""


class CompletionShell(enum.StrEnum):
    """The shells that have a script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


class Command(NamedTuple):
    """What can follow the words of a command."""

    #: The words after `tablewright`: `publish terraform`; "" for the program itself.
    words: str
    help: str
    subcommands: list[str]
    options: list[str]
    #: The values of each option that takes one, by its name; empty if they are not a fixed set.
    arguments: dict[str, list[str]]
    #: The fixed sets of its positional arguments.
    values: list[str]
    takes_design: bool


@add_command(HELP)
def completion(
    shell: CompletionShell = argument("bash|zsh|fish", "The shell."),
) -> None:
    """Print the script that completes commands, options, designs and files in a shell.

    For bash, add this line to ~/.bashrc: `eval "$(tablewright completion bash)"`
    """
    commands = list(walk(typer.main.get_command(app)))
    typer.echo(
        fish_script(commands) if shell is CompletionShell.fish else bash_script(commands, shell)
    )


def walk(command: Any, words: str = "") -> Iterator[Command]:
    """Yield a command and those below it."""
    below = getattr(command, "commands", {})
    options: list[str] = []
    arguments: dict[str, list[str]] = {}
    values: list[str] = []
    takes_design = False
    hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
    for parameter in command.get_params(typer.Context(command)):
        choices = _choices(hints.get(parameter.name))
        if parameter.param_type_name == "argument":
            values += choices
            takes_design |= "DESIGN" in (parameter.metavar or "")
            continue
        names = [*parameter.opts, *parameter.secondary_opts]
        options += names
        if not parameter.is_flag:
            arguments |= dict.fromkeys(names, choices)
    if words == "help":
        values += TOPICS
    yield Command(
        words=words,
        help=(command.help or "").partition("\n")[0],
        subcommands=list(below),
        options=options,
        arguments=arguments,
        values=values,
        takes_design=takes_design,
    )
    for name, each in below.items():
        yield from walk(each, f"{words} {name}".lstrip())


def _choices(kind: Any) -> list[str]:
    """Return the values of a type that has a fixed set of them."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return [str(member.value) for member in kind]
    return []


def bash_script(commands: list[Command], shell: CompletionShell) -> str:
    """Return the script for bash, which also works in zsh with its `bashcompinit`."""
    designs = " ".join(_designs())
    words, cases = [], []
    arguments: dict[str, list[str]] = {}
    for command in commands:
        for name in command.subcommands:
            after = f"{command.words} {name}".lstrip()
            words.append(f'            "{command.words}/{name}") command="{after}" ;;')
        values = " ".join([*command.subcommands, *command.values])
        shown = designs if command.takes_design else ""
        cases.append(
            f'        "{command.words}") values="{values}" options="{" ".join(command.options)}" '
            f'designs="{shown}" ;;'
        )
        for option, choices in command.arguments.items():
            shown = designs if option == "--design" else ""
            what = f'values="{" ".join(choices)}" designs="{shown}"'
            arguments.setdefault(what, []).append(f'"{command.words} {option}"')
    taken = [f"        {'|'.join(places)}) {what} ;;" for what, places in arguments.items()]
    text = text_file("completion.bash")
    for marker, lines in (("@WORDS@", words), ("@COMMANDS@", cases), ("@ARGUMENTS@", taken)):
        text = text.replace(marker, "\n".join(lines))
    return f"{ZSH if shell is CompletionShell.zsh else ''}{text}".rstrip("\n")


def fish_script(commands: list[Command]) -> str:
    """Return the script for fish; fish completes files by itself."""
    lines = [FISH.rstrip("\n")]
    for command in commands:
        inside = _fish_condition(command.words)
        texts = {each.words: each.help for each in commands}
        for name in command.subcommands:
            about = texts[f"{command.words} {name}".lstrip()]
            lines.append(_fish_line(inside, f"-a {name}", about))
        values = [*command.values, *(_designs() if command.takes_design else ())]
        if values:
            lines.append(_fish_line(inside, f"-a '{' '.join(values)}'"))
        for option in command.options:
            dashes = "-l" if option.startswith("--") else "-s"
            wanted = f"{dashes} {option.lstrip('-')}"
            if option in command.arguments:
                choices = command.arguments[option] or (_designs() if option == "--design" else [])
                wanted += f" -x -a '{' '.join(choices)}'" if choices else " -r"
            lines.append(_fish_line(inside, wanted))
    return "\n".join(lines)


def _fish_condition(words: str) -> str:
    if not words:
        return "__fish_use_subcommand"
    return "; and ".join(f"__fish_seen_subcommand_from {word}" for word in words.split())


def _fish_line(condition: str, wanted: str, about: str = "") -> str:
    quoted = about.replace("\\", "\\\\").replace("'", "\\'")
    described = f" -d '{quoted}'" if about else ""
    return f"complete -c {PROGRAM} -n '{condition}' {wanted}{described}"


def _designs() -> list[str]:
    from tablewright.designs.catalog import BUNDLED

    return list(BUNDLED)
