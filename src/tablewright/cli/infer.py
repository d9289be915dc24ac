"""The command that writes a first design of an existing table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tablewright.cli.commands import DESIGNS, app, fail
from tablewright.cli.transfer import WHERE, exit_on_error

#: As `tablewright.infer.SAMPLE_SIZE`, which is not imported for `--help`.
SAMPLE_SIZE = 1000


@app.command(rich_help_panel=DESIGNS)
def infer(
    target: Annotated[str, typer.Argument(metavar="TARGET", help=f"Where the table is: {WHERE}.")],
    table: Annotated[
        str | None, typer.Option(help="The table. Default: the only one of the target.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="The file to write; it must not exist. Default: standard output."
        ),
    ] = None,
    sample: Annotated[int, typer.Option(min=1, help="The number of items to read.")] = SAMPLE_SIZE,
) -> None:
    """Write a first design of an existing table, from a sample of its items.

    The design has an entity for each type attribute or key prefix, with its attributes, key
    templates and indexes. Nothing is written to the table. Then compare all items with the design:
    `tablewright verify design.py --stored TARGET`.
    """
    from tablewright import transfer
    from tablewright.infer import infer_design, read_sample, write_module
    from tablewright.transfer.definition import select_tables

    if output is not None and output.exists():
        fail(f"{output} exists; choose another file, or remove it")
    with exit_on_error(), transfer.open_source(target) as source:
        names = select_tables(source, target, table)
        if len(names) > 1:
            fail(f"{target} has the tables {', '.join(names)}; choose one with --table NAME")
        design = infer_design(read_sample(source, names[0], target, sample))
    text = write_module(design)
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{output}: {error.strerror}")
    entities = ", ".join(entity.name for entity in design.entities)
    typer.echo(f"{output}: {entities}, from {len(design.sample.items)} items")
    typer.echo(f"Next: tablewright verify {output} --stored {target} compares all items with it.")
