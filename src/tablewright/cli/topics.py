"""Help topics: short texts that are part of the package, for messages to point to.

A message says "`tablewright help operations` lists them"; it never cites a file that is not
installed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import typer

from tablewright.cli.commands import HELP, add_command, text_file
from tablewright.cli.failures import fail
from tablewright.cli.options import argument
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


@add_command(HELP, name="help")
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
