"""Help: topics, and completion for shells.

Topics are short texts that are part of the package, for messages to point to. A message says
"`tablewright help operations` lists them"; it never cites a file that is not installed.

The scripts for bash, zsh and fish are made from the tree of commands. They are static, so that Tab
answers at once: commands, options, the values of options that have a fixed set, the bundled
designs, and files. They know the commands of the version that wrote them.
"""

from __future__ import annotations

import enum
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import typer

from tablewright.cli.commands import PROGRAM, add_command, app, text_file
from tablewright.cli.grammar import argument, new_spelling
from tablewright.cli.report import fail
from tablewright.hints import did_you_mean

ZSH = """\
# Completion for zsh. In ~/.zshrc, after compinit:  eval "$(tablewright completion zsh)"
autoload -U +X bashcompinit && bashcompinit
"""

FISH = (
    "# Completion for fish:  "
    "tablewright completion fish > ~/.config/fish/completions/tablewright.fish"
)


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
    "changes": ("what a change of a design needs, and how to deploy it", None),
    "operations": ("the operations of DynamoDB that are implemented", operations),
    "advice": ("the rules of `tablewright advise`", advice),
}


@add_command("help")
def show_help(
    context: typer.Context,
    topic: list[str] | None = argument(
        "TOPIC", "A topic, or the words of a command. Default: list the topics.", default=None
    ),
) -> None:
    """Show the help of a topic or of a command; list the topics."""
    if topic is None:
        width = max(map(len, TOPICS))
        typer.echo("tablewright help TOPIC, or tablewright help COMMAND\n")
        for name, (about, _) in TOPICS.items():
            typer.echo(f"  {name:{width}}  {about}")
        typer.echo("\ntablewright --help lists the commands.")
    elif len(topic) == 1 and topic[0] in TOPICS:
        make = TOPICS[topic[0]][1]
        typer.echo(make() if make else text_file(f"help_{topic[0]}.txt"), nl=False)
    else:
        found: Any = context.parent
        for name in topic:
            below = getattr(found.command, "commands", {})
            if name not in below:
                known = [*below, *(TOPICS if found is context.parent else ())]
                hint = new_spelling(name) or did_you_mean(name, known)
                others = f"; the topics are {', '.join(TOPICS)}"
                fail(f"there is no help on {' '.join(topic)!r}{hint or others}")
            found = typer.Context(below[name], info_name=name, parent=found)
        typer.echo(found.command.get_help(found))


class CompletionShell(enum.StrEnum):
    """The shells that have a script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


class CompletedCommand(NamedTuple):
    """What can follow the words of a command."""

    #: The words after `tablewright`: `publish terraform`; "" for the program itself.
    words: str
    help: str
    subcommands: list[str]
    options: list[str]
    #: The values of each option that takes one, by its name; empty if they are not a fixed set.
    arguments: dict[str, list[str]]
    #: The fixed sets of its positional arguments, and the bundled designs if it takes a design.
    values: list[str]


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


def walk(command: Any, words: str = "") -> Iterator[CompletedCommand]:
    """Yield a command and those below it."""
    below = getattr(command, "commands", {})
    found = CompletedCommand(
        words, (command.help or "").partition("\n")[0], list(below), [], {}, []
    )
    declared = inspect.signature(command.callback).parameters if command.callback else {}
    for parameter in command.get_params(typer.Context(command)):
        kind = declared[parameter.name].annotation if parameter.name in declared else None
        values = _values(kind, parameter.metavar)
        if parameter.param_type_name == "argument":
            found.values.extend(values)
            continue
        names = [*parameter.opts, *parameter.secondary_opts]
        found.options.extend(names)
        if not parameter.is_flag:
            found.arguments.update(dict.fromkeys(names, values))
    if words == "help":
        found.values.extend(TOPICS)
    yield found
    for name, each in below.items():
        yield from walk(each, f"{words} {name}".lstrip())


def _values(kind: Any, metavar: str | None) -> list[str]:
    """Return the values of a parameter that has a fixed set of them, or that is a design."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return [str(member.value) for member in kind]
    return designs() if metavar == "DESIGN" else []


def bash_script(commands: list[CompletedCommand], shell: CompletionShell) -> str:
    """Return the script for bash, which also works in zsh with its `bashcompinit`."""
    words, cases = [], []
    arguments: dict[str, list[str]] = {}
    for command in commands:
        for name in command.subcommands:
            after = f"{command.words} {name}".lstrip()
            words.append(f'            "{command.words}/{name}") command="{after}" ;;')
        what = _bash_values([*command.subcommands, *command.values])
        options = f'options="{" ".join(command.options)}"'
        cases.append(f'        "{command.words}") {what} {options} ;;')
        for option, values in command.arguments.items():
            arguments.setdefault(_bash_values(values), []).append(f'"{command.words} {option}"')
    taken = [f"        {'|'.join(places)}) {what} ;;" for what, places in arguments.items()]
    text = text_file("completion.bash")
    for marker, lines in (("@WORDS@", words), ("@COMMANDS@", cases), ("@ARGUMENTS@", taken)):
        text = text.replace(marker, "\n".join(lines))
    return f"{ZSH if shell is CompletionShell.zsh else ''}{text}".rstrip("\n")


def _bash_values(values: list[str]) -> str:
    """Return the assignments for values; where a design is possible, files are offered, too."""
    has_files = "yes" if set(designs()) <= set(values) else ""
    return f'values="{" ".join(values)}" files="{has_files}"'


def fish_script(commands: list[CompletedCommand]) -> str:
    """Return the script for fish; fish completes files by itself."""
    lines = [FISH]
    texts = {each.words: each.help for each in commands}
    for command in commands:
        inside = _fish_condition(command.words)
        for name in command.subcommands:
            about = texts[f"{command.words} {name}".lstrip()]
            lines.append(_fish_line(inside, f"-a {name}", about))
        if command.values:
            lines.append(_fish_line(inside, f"-a '{' '.join(command.values)}'"))
        for option in command.options:
            wanted = f"{'-l' if option.startswith('--') else '-s'} {option.lstrip('-')}"
            if option in command.arguments:
                values = command.arguments[option]
                wanted += f" -x -a '{' '.join(values)}'" if values else " -r"
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


def designs() -> list[str]:
    """Return the names of the bundled designs."""
    from tablewright.designs.catalog import BUNDLED

    return list(BUNDLED)
