"""The command that writes a first design of an existing table."""

from __future__ import annotations

from pathlib import Path

import typer

from tablewright.cli.commands import DESIGNS, add_command
from tablewright.cli.designs import write
from tablewright.cli.failures import fail, say
from tablewright.cli.options import argument, option
from tablewright.cli.transfer import WHERE, exit_on_error
from tablewright.presentation.values import count_items

#: As `tablewright.infer.SAMPLE_SIZE`, which is not imported for `--help`.
SAMPLE_SIZE = 1000


@add_command(DESIGNS)
def infer(
    target: str = argument(
        "TARGET", f"Where the table is: {WHERE}; or a model file of NoSQL Workbench."
    ),
    table: str | None = option("The table. Default: the only one of the target."),
    output: Path | None = option(
        "The file to write; it must not exist. Default: standard output.", "-o", "--output"
    ),
    sample: int = option("The number of items to read.", default=SAMPLE_SIZE, min=1),
) -> None:
    """Write a first design of an existing table, from a sample of its items.

    The design has an entity for each type attribute or key prefix, with its attributes, key
    templates and indexes. Nothing is written to the table. Then compare all items with the design:
    `tablewright verify design.py --stored TARGET`.

    A file with JSON is a model of NoSQL Workbench. Its rows become the sample data of the design:
    `tablewright verify design.py`.
    """
    if output is not None and output.exists():
        fail(f"{output} exists; choose another file, or remove it")
    from tablewright.infer import infer_design, is_json, read_sample, write_module
    from tablewright.transfer.endpoints import is_file_target

    if is_file_target(target) and is_json(Path(target)):
        if table is not None or sample != SAMPLE_SIZE:
            fail("a model of NoSQL Workbench is read as a whole; leave --table and --sample out")
        _import_model(Path(target), output)
        return
    from tablewright import transfer
    from tablewright.transfer.definition import select_tables

    with exit_on_error(), transfer.open_source(target) as source:
        names = select_tables(source, target, table)
        if len(names) > 1:
            fail(f"{target} has the tables {', '.join(names)}; choose one with --table NAME")
        design = infer_design(read_sample(source, names[0], target, sample))
    write(write_module(design), output)
    if output is None:
        return
    entities = ", ".join(name for entity in design.entities for name in entity.class_names)
    typer.echo(f"{output}: {entities}, from {count_items(len(design.sample.items))}")
    typer.echo(f"Next: tablewright verify {output} --stored {target} compares all items with it.")


def _import_model(file: Path, output: Path | None) -> None:
    from tablewright.infer import import_model, read_model

    with exit_on_error():
        made = import_model(read_model(file))
    for warning in made.warnings:
        say(f"warning: {warning}")
    write(made.source, output)
    if output is not None:
        rows = "1 row" if made.rows == 1 else f"{made.rows} rows"
        typer.echo(f"{output}: {', '.join(made.entities)}, from {rows}")
        typer.echo(f"Next: tablewright verify {output} runs its checks.")
