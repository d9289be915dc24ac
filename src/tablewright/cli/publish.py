"""The commands that write what a design yields for the tools that deploy it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tablewright.cli.commands import DESIGNS, app
from tablewright.cli.designs import Name, Output, load_or_fail, write

publish = typer.Typer(
    help="Write the tables of a design for the tools that deploy them.", no_args_is_help=True
)
app.add_typer(publish, name="publish", rich_help_panel=DESIGNS)


@publish.command()
def cloudformation(
    name: Name,
    output: Output = None,
    global_table: Annotated[
        bool,
        typer.Option(
            "--global-table",
            help="Write AWS::DynamoDB::GlobalTable, with one replica in the region of the stack.",
        ),
    ] = False,
) -> None:
    """Write a CloudFormation template, as JSON.

    Tables are kept when the stack is deleted.
    """
    from tablewright.publish.infrastructure import cloudformation

    _write_json(cloudformation(load_or_fail(name), global_table=global_table), output)


@publish.command()
def cdk(name: Name, output: Output = None) -> None:
    """Write an application of the AWS Cloud Development Kit, in Python.

    Each table is a TableV2. `cdk synth --app "python3 FILE"` runs it.
    """
    from tablewright.publish.infrastructure import cdk

    write(cdk(load_or_fail(name)), output)


@publish.command()
def terraform(
    name: Name,
    output: Output = None,
    import_existing: Annotated[
        bool,
        typer.Option("--import", help="Add a block that imports each table, if it exists already."),
    ] = False,
) -> None:
    """Write a Terraform file, for version 6 of the AWS provider."""
    from tablewright.publish.infrastructure import terraform

    write(terraform(load_or_fail(name), import_existing=import_existing), output)


@publish.command()
def boto3(name: Name, output: Output = None) -> None:
    """Write the CreateTable request of each table, as a JSON list.

    A request is what boto3's `client.create_table(**request)` takes.
    """
    from tablewright.publish.infrastructure import create_table_requests

    _write_json(create_table_requests(load_or_fail(name)), output)


def _write_json(value: Any, output: Path | None) -> None:
    import json

    write(json.dumps(value, indent=2, ensure_ascii=False) + "\n", output)
