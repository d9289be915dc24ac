"""Help topics: short texts that are part of the package, for messages to point to.

A message says "`tablewright help operations` lists them"; it never cites a file that is not
installed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tablewright.cli.commands import HELP, app
from tablewright.cli.failures import fail

TARGETS = """\
A target is where tables are:

  shop.db               a file; create-table, seed, copy and load create it
  http://host:8000      an endpoint, such as `tablewright serve`
  dynamodb://eu-west-1  AWS, with the usual credentials of the AWS SDKs; needs
                        pip install 'tablewright[aws]'
  dynamodb://           the same, in the region of the environment or profile
  :memory:              in memory, for verify, patterns, studio; nothing is kept
"""

KEYS = """\
Keys are arguments NAME=VALUE. The table declares their types: a string needs no
quotes, a number must be a number, and a binary is in base64.

  tablewright get shop.db orders customer=ann placed=1
  tablewright query shop.db orders customer=ann 'placed>=2'

Conditions on the sort key, for `query`:

  SK=VALUE   'SK<VALUE'   'SK<=VALUE'   'SK>VALUE'   'SK>=VALUE'
  SK between LOW HIGH     SK begins-with PREFIX

Filters, for `query` and `scan`, compare with = <> < <= > >=, between LOW and
HIGH, begins-with, contains, exists, not-exists. A value is a
PartiQL literal, such as 5, '5' or true; any other value is a string:

  --filter 'total >= 100' --filter 'address.city = Rome'
"""

OUTPUT = """\
Results go to standard output; counts, warnings and questions to standard error.

  --json      prints one JSON value on each line; items are in DynamoDB's JSON
  COLUMNS     the width of tables; default: that of the terminal, 80 in a pipe
  NO_COLOR    if set, no colours are used; a pipe has none either

Exit codes:

  0    success
  1    the command ran and found a problem: a check failed, an item is missing
  2    the command could not run: a missing file, a wrong argument, no access
  130  interrupted with Ctrl-C

If the reader of a pipe ends early, such as `head`, the command ends quietly.
"""

DESIGN = """\
A design is a Python module with tables, entities and access patterns. Commands
take the name of a bundled design, the name of a module, or the path of a file.
`tablewright new NAME` writes one to start from.

For `tablewright verify`, a design has two functions:

  def sample() -> list[Entity]:
      return [Room(house="North", number=number) for number in range(1, 4)]

  def checks(stored: Stored) -> Iterator[Check]:
      first = stored(Room)[0]
      yield Check("Get a room", Room.primary("North", 1), first)
      rooms = Room.primary.within("North")
      yield Check("List rooms", rooms, lambda: stored(Room))
      yield Check("Create a room again", create(first), Raises(AlreadyExists))

Check, Raises, Stored and changed are in tablewright.verify. `stored(Room)`
returns all rooms, found by a scan, to compute what a pattern must return.
"""

CHANGES = """\
connect refuses a design whose declared keys differ from the stored keys, with
DesignMismatch: reads would miss stored items. The key of an index can be
changed in two ways:

  Without downtime: declare the new key in another index, run
  `tablewright backfill DESIGN TARGET`, let the patterns read it, and remove the
  old key in a later version.

  In place: stop all programs of the old version, run the backfill with the new
  design, then start the new version. The old version cannot connect any more.

A primary key cannot be changed: declare another table and copy the items.
`tablewright publish cloudformation DESIGN --since REVISION -o DIR` lists the
keys that differ. The guide "Changing a design" has all kinds of changes.
"""


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


#: What each topic is about, and its text.
TOPICS: dict[str, tuple[str, str | Callable[[], str]]] = {
    "targets": ("where tables are: files, endpoints, AWS, memory", TARGETS),
    "keys": ("keys, conditions and filters of get, query, scan and delete", KEYS),
    "output": ("JSON, colours, exit codes, pipes", OUTPUT),
    "design": ("what a design is, its sample data and its checks", DESIGN),
    "changes": ("how the keys of stored items are changed", CHANGES),
    "operations": ("the operations of DynamoDB that are implemented", operations),
    "advice": ("the rules of `tablewright advise`", advice),
}


@app.command("help", rich_help_panel=HELP)
def show_help(
    context: typer.Context,
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="A topic, or the name of a command.")
    ] = None,
) -> None:
    """Show the help of a topic or of a command; list the topics."""
    from tablewright.hints import did_you_mean

    parent: Any = context.parent
    if topic is None:
        width = max(map(len, TOPICS))
        typer.echo("tablewright help TOPIC, or tablewright help COMMAND\n")
        for name, (about, _) in TOPICS.items():
            typer.echo(f"  {name:{width}}  {about}")
        typer.echo("\ntablewright --help lists the commands.")
    elif topic in TOPICS:
        text = TOPICS[topic][1]
        typer.echo(text if isinstance(text, str) else text(), nl=False)
    elif topic in parent.command.commands:
        command = parent.command.commands[topic]
        typer.echo(command.get_help(typer.Context(command, info_name=topic, parent=parent)))
    else:
        known = [*TOPICS, *parent.command.commands]
        hint = did_you_mean(topic, known) or f"; the topics are {', '.join(TOPICS)}"
        fail(f"there is no help on {topic!r}{hint}")
