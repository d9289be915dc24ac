"""The grammar of the command line: what the words of a command are.

    tablewright COMMAND [DESIGN] [TARGET] [TABLE] [ARGUMENT…] [OPTION…]

- A command first names what it applies to: a design, then a target, then a table. Its other
  arguments follow, then its options. A command that moves data names the source first.
- A target is an argument, never an option. So is a design, except that `get`, `query` and `scan`
  take `--design`, which only changes how they show items.
- Where a design, or a pattern after it, can be left out, the spelling of a word decides:
  `is_target`.
- 0.1.0 is the first release, so there are no aliases: an old spelling is refused, and the message
  has the new one, from `OLD_SPELLINGS`.

Parameters are declared as values: `port: int = option("The port.", default=8000, min=0)`. Those of
several commands are types: `target: Target`. `commands` shows the declarations to typer;
`serve.options` reads those of `serve`, which starts without typer, so this module does not import
it. `tests/cli/test_grammar.py` checks every command.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from tablewright.cli.report import fail
from tablewright.errors import TablewrightError
from tablewright.hints import did_you_mean

if TYPE_CHECKING:
    from tablewright import Table
    from tablewright.verify import Design


class Declared(NamedTuple):
    """An option or an argument of a command; the default is `...` if it is required."""

    default: Any
    help: str
    #: Its names on the command line. Default: `--` and the name of the parameter.
    names: tuple[str, ...] = ()
    is_argument: bool = False
    min: float | None = None
    max: float | None = None
    metavar: str | None = None
    panel: str | None = None


def option(help: str, *names: str, default: Any = None, **settings: Any) -> Any:  # noqa: A002
    """Declare an option; the settings are members of `Declared`."""
    return Declared(default, help, names, **settings)


def flag(help: str, *names: str, **settings: Any) -> Any:  # noqa: A002
    """Declare an option without a value, which is False unless it is given."""
    return Declared(False, help, names, **settings)


def argument(metavar: str, help: str, default: Any = ...) -> Any:  # noqa: A002
    """Declare an argument; it is required unless it has a default."""
    return Declared(default, help, is_argument=True, metavar=metavar)


def names_of(parameter: str, declared: Declared) -> tuple[str, ...]:
    """Return the names of an option on the command line."""
    return declared.names or (f"--{parameter.replace('_', '-')}",)


MEMORY = ":memory:"
#: In place of a file: standard input, or standard output.
STANDARD_STREAM = "-"
WHERE = "a file, http://host:port, or dynamodb://region"
#: A word that ends so is a target. Other files are targets if they are written with a slash.
DATABASE_SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3"})

DESIGN_HELP = (
    "A bundled design, a module name or the path of a Python file; also at a git revision: "
    "shop.py@main."
)
DesignName = Annotated[str, argument("DESIGN", DESIGN_HELP)]
Target = Annotated[str, argument("TARGET", f"Where the tables are: {WHERE}.")]
OptionalTarget = Annotated[
    str | None,
    argument(
        "TARGET",
        f"Where the tables are: {WHERE}. Default: the sample data of the design, in memory.",
    ),
]
TableName = Annotated[str, argument("TABLE", "The name of the table.")]

Json = Annotated[bool, flag("Print one JSON value on each line.", "--json")]
Output = Annotated[
    Path | None, option("The file to write. Default: standard output.", "-o", "--output")
]
Yes = Annotated[bool, flag("Do not ask.", "--yes", "-y")]


#: A command, or an option of it, as it was called before the first release -> what replaces it.
OLD_SPELLINGS = {
    "docs": "publish docs DESIGN",
    "verify --target": "verify DESIGN TARGET",
    "verify --stored": "check-items DESIGN TARGET",
    "verify --table": "check-items DESIGN TARGET --table NAME",
    "patterns --target": "patterns DESIGN TARGET PATTERN NAME=VALUE",
    "cost --sample": "cost DESIGN TARGET",
    "infer --sample": "infer TARGET --limit NUMBER",
    "create-table --design": "create-tables DESIGN TARGET",
    "studio --export": "publish docs DESIGN --html -o FILE",
    "studio --data": "publish docs DESIGN --html -o FILE",
    "serve --db": "serve FILE",
}


def new_spelling(words: str) -> str:
    """Return the end of a message that refuses an old spelling; "" if it is none."""
    new = OLD_SPELLINGS.get(words)
    return f"; write `tablewright {new}`" if new else ""


def unknown_option(command: str, option: str, known: Iterable[str]) -> str:
    """Return the message for an option that a command does not have."""
    hint = new_spelling(f"{command} {option}") or did_you_mean(option, known)
    return f"{command} has no option {option}{hint}"


def read_pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """Return the values of an option that is `NAME=VALUE`; exit if one is not."""
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            fail(f"{option} {text}: expected NAME=VALUE")
        pairs[name] = value
    return pairs


def max_items(limit: int, *, is_all: bool) -> int | None:
    """Return how many items `--limit` and `--all` let a command read; None is all of them."""
    if limit < 1:
        fail(f"--limit {limit}: the limit is at least 1; use --all for all items")
    return None if is_all else limit


def is_target(word: str) -> bool:
    """Return whether a word is a target, and not a design or a pattern, by its spelling.

    >>> is_target("http://127.0.0.1:8000"), is_target(":memory:"), is_target("shop.db")
    (True, True, True)
    >>> is_target("./data"), is_target("data"), is_target("designs/shop.py")
    (True, False, False)
    >>> is_target("package.module"), is_target("designs/shop.py@origin/main")
    (False, False)
    """
    if word == MEMORY or "://" in word or Path(word).suffix in DATABASE_SUFFIXES:
        return True
    name = word.partition("@")[0]  # what follows is a git revision
    return "/" in name and Path(name).suffix != ".py"


def split_subject(
    command: str, first: str | None = None, second: str | None = None
) -> tuple[str | None, str | None]:
    """Return the design and the target of `[DESIGN] [TARGET]`; exit if a word is neither."""
    if first is None or second is None:
        if first is None or not is_target(first):
            return first, None
        if Path(f"{first}.py").is_file():
            fail(f"{first} would be a target; the path of a design ends in .py: {first}.py")
        return None, first
    if is_target(first) and is_target(second):
        fail(f"{command} takes one target, not {first} and {second}")
    if is_target(first):
        fail(f"the design comes first: tablewright {command} {second} {first}")
    if not is_target(second):
        fail(
            f"{command} takes one design, not {first} and {second}; if {second} is a database "
            f"file, write ./{second}"
        )
    return first, second


def split_revision(word: str) -> tuple[str, str]:
    """Return what a word names, and its git revision; "" if it has none."""
    if "@" not in word or Path(word).exists():
        return word, ""
    name, _, revision = word.partition("@")
    if not name or not revision:
        fail(f"{word}: write DESIGN@REVISION, such as shop.py@main")
    return name, revision


def load_design(name: str) -> Design:
    """Load a design, also at a git revision; if that fails, print why and exit with code 2."""
    from tablewright.designs.catalog import load

    at, revision = split_revision(name)
    if revision:
        from tablewright.cli.revision import load_at

        return load_at(revision, at)
    try:
        return load(name)
    except TablewrightError as error:
        if is_target(name):
            fail(f"{name} is a target; name the design first, then the target")
        fail(str(error))


def tables_named(design: Design, name: str | None) -> list[type[Table]]:
    """Return the tables of a design, or the one with this name.

    The only table of a design may have any name at a target.
    """
    if name is None or len(design.tables) == 1:
        return list(design.tables)
    found = [table for table in design.tables if table.__table__.name == name]
    if not found:
        fail(f"{design.name} has several tables, and none has the name {name!r}")
    return found
