"""Commands to begin with: list the bundled designs, write a new one, infer one from a table.

`new` writes a design that is small, but complete: two entities, an index, a unique value, an
aggregate, reads and writes. It passes `tablewright verify`, pytest and the type checkers as it is
written, and is meant to be changed. It and its test are in the folder `texts`, with $name, $title
and $table to replace.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import typer

from tablewright.cli.commands import add_command, text_file, write_output
from tablewright.cli.grammar import (
    STANDARD_STREAM,
    WHERE,
    argument,
    flag,
    load_design,
    option,
)
from tablewright.cli.report import describe_error, exit_on_error, fail, say
from tablewright.presentation.printing import print_grid
from tablewright.presentation.values import plural
from tablewright.whole_file import create_whole

if TYPE_CHECKING:
    from tablewright.infer import Proof, Sample
    from tablewright.infer.declaration import InferredDesign
    from tablewright.mapping.table import TableMap
    from tablewright.transport import Transport
    from tablewright.values import Item

#: As `tablewright.infer.SAMPLE_SIZE`, which is not imported for `--help`.
SAMPLE_SIZE = 10_000
#: The reasons that are printed without --evidence.
_MOST_REASONS = 5


@add_command()
def designs() -> None:
    """List the bundled designs: complete single-table designs to read and copy."""
    from tablewright.designs.catalog import SUMMARIES

    rows = [(name, *map(str, summary)) for name, summary in SUMMARIES.items()]
    print_grid(("design", "description", "tables", "entities", "patterns"), rows)
    typer.echo("Next: tablewright verify NAME runs its checks, tablewright studio NAME shows it.")


@add_command()
def new(
    name: str = argument("NAME", "The name of the module and of its table."),
) -> None:
    """Write a small design, NAME.py, with its checks, and a test of it, test_NAME.py.

    Both pass as they are: `tablewright verify NAME.py` and `pytest`. No file is overwritten.
    """
    name = name.removesuffix(".py")
    design, test = text_file("new_design.txt"), text_file("new_test.txt")
    texts = {Path(f"{name}.py"): design, Path(f"test_{name}.py"): test}
    for file in texts:
        if file.exists():
            fail(f"{file} exists; choose another name, or remove it")
    check_name(name)
    title = name.replace("_", " ").capitalize()
    table = "".join(part.capitalize() for part in name.split("_"))
    if table in re.findall(r"\b[A-Z]\w+", design):  # a name that the module has already
        table += "Table"
    for file, text in texts.items():
        made = Template(text).substitute(name=name, title=title, table=table)
        try:
            with create_whole(file) as partial:
                partial.write_text(made, encoding="utf-8")
        except OSError as error:
            fail(f"{file}: {describe_error(error)}")
    typer.echo(f"{', '.join(map(str, texts))}: written")
    typer.echo(f"Next: tablewright verify {name}.py runs its checks, pytest its test.")


def check_name(name: str) -> None:
    """Fail unless a module and a table can have this name."""
    from tablewright.designs.catalog import BUNDLED

    if not re.fullmatch("[a-z][a-z0-9_]{2,}", name) or keyword.iskeyword(name):
        fail(
            f"{name!r} is not a valid module name; use three or more of a-z, 0-9 and _, but no "
            "keyword of Python"
        )
    if name in BUNDLED:  # `tablewright verify shop` would run the checks of the bundled design
        fail(f"{name!r} is the name of a bundled design; choose another name, such as my_{name}")
    # a file with the name of another module would be imported in place of it, or the reverse
    if name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None:
        fail(f"{name!r} is the name of another module that Python finds; choose another name")


@add_command()
def infer(
    target: str = argument(
        "TARGET", f"Where the table is: {WHERE}; or a model file of NoSQL Workbench."
    ),
    table: str | None = option("The table. Default: the only one of the target."),
    output: Path | None = option(
        "The file to write; it must not exist. Default: standard output.", "-o", "--output"
    ),
    limit: int = option("The maximum number of items to read.", default=SAMPLE_SIZE, min=1),
    evidence: bool = flag("Also print how many items support each decision, and its alternatives."),
    patterns: bool = flag(
        "Add a pattern for each key and index, with checks; one item of each entity becomes their "
        "sample data."
    ),
    compare: str | None = option(
        "Write no design; list where the items disagree with this one, a module or a file.",
        metavar="MODULE",
    ),
) -> None:
    """Write a first design of an existing table, from a sample of its items.

    The design has an entity for each type attribute or key prefix, with its attributes, key
    templates, indexes and unique values. Each item of the sample is read with the design and
    compared with what it would write. Nothing is written to the table. Then compare all items with
    the design: `tablewright check-items design.py TARGET`.

    A file with JSON is a model of NoSQL Workbench. Its rows become the sample data of the design:
    `tablewright verify design.py`.
    """
    if str(output) == STANDARD_STREAM:
        output = None
    if output is not None and output.exists():
        fail(f"{output} exists; choose another file, or remove it")
    from tablewright.infer import is_json
    from tablewright.transfer.endpoints import is_file_target

    if is_file_target(target) and is_json(Path(target)):
        if table is not None or limit != SAMPLE_SIZE or evidence or patterns or compare:
            fail(
                "a model of NoSQL Workbench is read as a whole; leave --table, --limit, "
                "--evidence, --patterns and --compare out"
            )
        _import_model(Path(target), output)
        return
    if compare is not None and (output is not None or evidence or patterns):
        fail("--compare writes no design; leave --output, --evidence and --patterns out")
    from tablewright import transfer
    from tablewright.infer import infer_design, write_module, write_patterns
    from tablewright.transfer.endpoints import select_tables

    with exit_on_error(), transfer.open_source(target) as source:
        names = select_tables(source, target, table)
        if len(names) > 1:
            fail(f"{target} has the tables {', '.join(names)}; choose one with --table NAME")
        sample = _read_sample(source, names[0], target, limit)
    made = infer_design(sample)
    text = write_module(made)
    draft, proof = _prove(text, made)
    if patterns:
        functions = write_patterns(draft, _proved(made, proof))
        text = write_module(made, functions.source, functions.names)
    if compare is not None:
        _compare(compare, draft, made)
        return
    write_output(text, output)
    tell = say if output is None else typer.echo  # the module alone is on standard output
    if output is not None:
        entities = ", ".join(name for entity in made.entities for name in entity.class_names)
        typer.echo(f"{output}: {entities}, from {plural(sample.read, 'item')}")
    _print_evidence(tell, made, proof, in_full=evidence)
    if output is not None:
        typer.echo(f"Next: tablewright check-items {output} {target} compares all items with it.")
        if patterns:
            typer.echo(f"Then: tablewright verify {output}; tablewright advise {output}")


def _read_sample(source: Transport, table: str, target: str, limit: int) -> Sample:
    from tablewright.cli.transfer import progress_bars
    from tablewright.infer import Sampling

    sampling = Sampling(source, table, target, limit)
    with progress_bars() as show:
        for count in sampling.read():
            show(f"{table} sample", count, sampling.expected)
    return sampling.sample()


def _prove(text: str, made: InferredDesign) -> tuple[TableMap, Proof]:
    from tablewright.errors import DeclarationError
    from tablewright.infer import declare, prove

    try:
        (draft,) = declare(text, [made.name])
    except DeclarationError as error:
        fail(f"no design can be declared for these items: {error}")
    return draft, prove(draft, made)


def _proved(made: InferredDesign, proof: Proof) -> list[Item]:
    """Return the items that are written back as they are."""
    others = {id(each.item) for each in (*made.unexplained, *proof.different)}
    return [item for item in made.sample.items if id(item) not in others]


def _print_evidence(
    tell: Callable[[str], None], made: InferredDesign, proof: Proof, *, in_full: bool
) -> None:
    """Print what is proved and what is not explained; `in_full` with all decisions."""
    from tablewright.infer import evidence

    found = evidence(made, proof.different)
    if in_full:
        for entity in found.entities:
            tell(f"{entity.entity}: {plural(entity.items, 'item')}, by {entity.boundary}")
            for each in entity.decisions:
                tell(f"  {each.name}: {each.form} gives the keys of {plural(each.items, 'item')}")
                for alternative in each.alternatives:
                    tell(f"    with the same values: {alternative}")
    sample = f"{found.sample} items"
    if found.sample < found.read:
        sample += f" of a sample of {found.read}"
    tell(f"{proof.equal} of {sample} are read and written back byte for byte")
    shown = found.unexplained if in_full else found.unexplained[:_MOST_REASONS]
    for reason in shown:
        tell(f"not explained: {plural(reason.items, 'item')}: {reason.reason} ({reason.example})")
    if len(shown) < len(found.unexplained):
        more = sum(each.items for each in found.unexplained[len(shown) :])
        tell(f"not explained: {plural(more, 'item')} for other reasons, which --evidence shows")


def _compare(name: str, draft: TableMap, made: InferredDesign) -> None:
    """Print where a design disagrees with the items; exit with code 1 if it does."""
    from tablewright.infer import compare

    table = made.sample.table.name
    tables = [each.__table__ for each in load_design(name).tables]
    designs = [each for each in tables if each.name == table] or tables
    if len(designs) != 1:
        fail(f"{name} has the tables {', '.join(each.name for each in designs)}, but not {table}")
    found = compare(designs[0], draft, made.sample.items)
    for each in found:
        entity = f"{each.entity}: " if each.entity else ""
        typer.echo(f"{entity}{each.problem} ({plural(each.items, 'item')})")
    if found:
        raise typer.Exit(1)
    typer.echo(f"{name} and {plural(len(made.sample.items), 'item')} of {table} agree")


def _import_model(file: Path, output: Path | None) -> None:
    from tablewright.infer import import_model, read_model

    with exit_on_error():
        made = import_model(read_model(file))
    for warning in made.warnings:
        say(f"warning: {warning}")
    write_output(made.source, output)
    if output is not None:
        rows = plural(made.rows, "row")
        typer.echo(f"{output}: {', '.join(made.entities)}, from {rows}")
        typer.echo(f"Next: tablewright verify {output} runs its checks.")
