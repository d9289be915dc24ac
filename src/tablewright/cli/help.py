"""Help topics: short texts that are part of the package, for messages to point to.

A message says "`tablewright help operations` lists them"; it never cites a file that is not
installed.
"""

from __future__ import annotations

import enum
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import typer

from tablewright.cli.commands import add_command, app, text_file
from tablewright.cli.failures import fail
from tablewright.cli.grammar import argument
from tablewright.hints import did_you_mean


def operations() -> str:
    """Return the list of the operations that the engine has."""
    from tablewright.wire.operations import OPERATIONS

    listed = textwrap.fill(
        ", ".join(sorted(OPERATIONS)), 78, initial_indent="  ", subsequent_indent="  "
    )
    return (
        "These operations of DynamoDB are implemented. Some settings are stored and\n"
        "described, but have no effect. Replicas of global tables are refused.\n\n"
        f"{listed}\n"
    )


def advice() -> str:
    """Return the list of the rules of `advise`."""
    from tablewright.publish.advice.rules import RULES

    width = max(len(rule.id) for rule in RULES)
    indent = " " * (width + len("    warning  "))
    rules = [
        textwrap.fill(
            f"  {rule.id:{width}}  {rule.severity:7}  {rule.title}", 78, subsequent_indent=indent
        )
        for rule in RULES
    ]
    return (
        "The rules of `tablewright advise`. A comment at a declaration allows a finding:\n\n"
        '  # tablewright: allow(RULE, "REASON")\n\n' + "\n".join(rules) + "\n"
    )


#: What each topic is about, and what makes its text; None: a file has it.
TOPICS: dict[str, tuple[str, Callable[[], str] | None]] = {
    "targets": ("where tables are: files, endpoints, AWS, memory", None),
    "keys": ("keys, conditions and filters of get, query, scan and delete", None),
    "output": ("JSON, colours, exit codes, pipes", None),
    "design": ("what a design is, its sample data and its checks", None),
    "changes": ("how the keys of stored items are changed", None),
    "operations": ("the operations of DynamoDB that are implemented", operations),
    "advice": ("the rules of `tablewright advise`", advice),
}


@add_command("help")
def show_help(
    context: typer.Context,
    topic: str | None = argument("TOPIC", "A topic, or the name of a command.", default=None),
) -> None:
    """Show the help of a topic or of a command; list the topics."""

    parent: Any = context.parent
    if topic is None:
        width = max(map(len, TOPICS))
        typer.echo("tablewright help TOPIC, or tablewright help COMMAND\n")
        for name, (about, _) in TOPICS.items():
            typer.echo(f"  {name:{width}}  {about}")
        typer.echo("\ntablewright --help lists the commands.")
    elif topic in TOPICS:
        make = TOPICS[topic][1]
        typer.echo(make() if make else text_file(f"help_{topic}.txt"), nl=False)
    elif topic in parent.command.commands:
        command = parent.command.commands[topic]
        typer.echo(command.get_help(typer.Context(command, info_name=topic, parent=parent)))
    else:
        known = [*TOPICS, *parent.command.commands]
        hint = did_you_mean(topic, known) or f"; the topics are {', '.join(TOPICS)}"
        fail(f"there is no help on {topic!r}{hint}")


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


@add_command()
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
    declared = inspect.signature(command.callback).parameters if command.callback else {}
    for parameter in command.get_params(typer.Context(command)):
        kind = declared[parameter.name].annotation if parameter.name in declared else None
        choices = _choices(kind)
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
