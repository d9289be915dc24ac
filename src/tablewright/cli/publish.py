"""The commands that write what a design yields: its document, templates, requests, policies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from tablewright.cli.commands import add_command, add_group, write_output
from tablewright.cli.grammar import (
    STANDARD_STREAM,
    DesignName,
    Output,
    flag,
    load_design,
    option,
    split_revision,
)
from tablewright.cli.report import fail, failing_on, say
from tablewright.cli.revision import (
    Published,
    WantedPolicies,
    policies_at,
    published,
    published_at,
)
from tablewright.design_description import read_lock
from tablewright.errors import InvalidValue, MigrationRefused, TableReplacement, TablewrightError

if TYPE_CHECKING:
    from tablewright.publish.iam import PolicySet
    from tablewright.table_description import TableDescription
    from tablewright.verify import Design

publish = add_group(
    "publish", "Write the document of a design, or its tables and policies for other tools."
)


MOVES = flag(
    "Add what `migrate apply DESIGN TARGET DESTINATION` needs of both tables: a stream, and "
    "deletion protection."
)
NEW_NAME = option("With --moves: the name that the table gets at the destination.")


def _tables(design: Design, *, moves: bool, new_name: str | None) -> list[TableDescription] | None:
    """Return the tables as a move needs them; None for those of the design."""
    from tablewright.publish.infrastructure import tables_to_move

    if not moves:
        if new_name is not None:
            fail("--new-name is for --moves; add --moves")
        return None
    with failing_on(InvalidValue):
        return tables_to_move(design, new_name)


@add_command(to=publish)
def docs(
    design: DesignName,
    output: Output = None,
    html: bool = flag(
        "Write one HTML page with the diagrams drawn, which needs no other file. Default: "
        "Markdown, with diagrams for Mermaid."
    ),
) -> None:
    """Write the document of a design: diagrams, keys, patterns, sample items."""
    from tablewright.publish import document, html_document

    with failing_on(TablewrightError):
        text = (html_document if html else document)(load_design(design))
    write_output(text, output)


@add_command(to=publish)
def cloudformation(
    design: DesignName,
    output: Output = None,
    global_table: bool = flag(
        "Write AWS::DynamoDB::GlobalTable, with one replica in the region of the stack."
    ),
    since: str | None = option(
        "Write the templates that lead from an older version to the design, and a runbook, into "
        "the folder of --output. OLD is DESIGN@REVISION, a git revision of this design, the file "
        "of a design, or a template.",
        metavar="OLD",
    ),
    moves: bool = MOVES,
    new_name: str | None = NEW_NAME,
) -> None:
    """Write a CloudFormation template, as JSON.

    Tables are kept when the stack is deleted. CloudFormation creates or deletes one global index of
    a table in one update; with --since, each template is one update.
    """
    from tablewright.publish.infrastructure import cloudformation

    loaded = load_design(design)
    tables = _tables(loaded, moves=moves, new_name=new_name)
    template = cloudformation(loaded, global_table=global_table, tables=tables)
    if since is None:
        _write_json(template, output)
    elif global_table:
        fail("--since is for AWS::DynamoDB::Table; leave --global-table out")
    elif output is None or str(output) == STANDARD_STREAM:
        fail("--since writes several files; name a folder with --output")
    else:
        before, old = _published_since(since, design)
        _write_stages(loaded, design, before, old, template, output)


@add_command(to=publish)
def cdk(
    design: DesignName,
    output: Output = None,
    moves: bool = MOVES,
    new_name: str | None = NEW_NAME,
) -> None:
    """Write an application of the AWS Cloud Development Kit, in Python.

    Each table is a TableV2. `cdk synth --app "python3 FILE"` runs it.
    """
    from tablewright.publish.infrastructure import cdk

    loaded = load_design(design)
    write_output(cdk(loaded, _tables(loaded, moves=moves, new_name=new_name)), output)


@add_command(to=publish)
def terraform(
    design: DesignName,
    output: Output = None,
    import_existing: bool = flag(
        "Add a block that imports each table, if it exists already.", "--import"
    ),
    moves: bool = MOVES,
    new_name: str | None = NEW_NAME,
) -> None:
    """Write a Terraform file, for version 6 of the AWS provider."""
    from tablewright.publish.infrastructure import terraform

    loaded = load_design(design)
    tables = _tables(loaded, moves=moves, new_name=new_name)
    write_output(terraform(loaded, import_existing=import_existing, tables=tables), output)


@add_command(to=publish)
def boto3(design: DesignName, output: Output = None) -> None:
    """Write the CreateTable request of each table, as a JSON list.

    A request is what boto3's `client.create_table(**request)` takes.
    """
    from tablewright.publish.infrastructure import create_table_requests

    _write_json(create_table_requests(load_design(design)), output)


@add_command(to=publish)
def nosql_workbench(design: DesignName, output: Output = None) -> None:
    """Write a model file of NoSQL Workbench, as JSON, with the sample data.

    There is a facet for each entity. What the format cannot hold, such as local indexes and TTL, is
    listed on standard error.
    """
    from tablewright.publish.workbench import nosql_workbench

    with failing_on(TablewrightError):
        made = nosql_workbench(load_design(design))
    for each in made.left_out:
        say(f"left out: {each}")
    _write_json(made.model, output)


@add_command(to=publish)
def iam(
    design: DesignName,
    output: Output = None,
    role: str | None = option("Write the policy of one role. Default: an object with all roles."),
    tenant: bool = flag("Write the policy that limits each tenant to its own partitions."),
    variable: str | None = option(
        "With --tenant: the policy variable with the id of the tenant, as it is stored in keys. "
        "Default: aws:PrincipalTag/ with the name of the tenancy. For Cognito: "
        "cognito-identity.amazonaws.com:sub.",
        metavar="NAME",
    ),
    since: str | None = option(
        "Also allow what programs of an older version send, during a migration. OLD is a design, "
        "or DESIGN@REVISION.",
        metavar="OLD",
    ),
    moves: bool = flag(
        "Also allow what is needed while a table is moved: migrate apply DESIGN TARGET DESTINATION."
    ),
    region: str = option("The region in ARNs; * is any.", default="*"),
    account: str = option("The account in ARNs; * is any.", default="*"),
    partition: str = option("The partition in ARNs: aws, aws-cn or aws-us-gov.", default="aws"),
) -> None:
    """Write least-privilege IAM policies, as JSON.

    A policy allows what the access patterns of its role send, and nothing else. The roles are
    `all`, `read`, `write`, those of `@access_pattern(role=…)`, `provision`, which creates the
    tables, and `migrate`, which carries their items to another version of the design.
    """
    if tenant and role is not None:
        fail("--tenant has its own policy; leave --role out")
    if variable is not None and not tenant:
        fail("--variable is for --tenant; add --tenant")
    if variable is not None and set(variable) & set("${}"):
        fail(f"--variable {variable}: write the name alone, without ${{…}}")
    with failing_on(InvalidValue):
        tag = f"${{{variable}}}" if variable else None
        wanted = WantedPolicies(region, account, partition, tenant, tag)
        loaded = load_design(design)
        found = wanted.of_design(loaded)
        if since is not None:
            found = found.together(_policies_since(since, wanted), since)
        if moves:
            found = wanted.while_moved(found, loaded)
        for note in found.notes:
            say(note)
        written: Any = found.by_role
        if tenant:
            role = "tenants"
        if role is not None:
            written = found.of_role(role, loaded.name)
    _warn_of_length(found.by_role if role is None else {role: written})
    _write_json(written, output)


def _policies_since(since: str, wanted: WantedPolicies) -> PolicySet:
    """Return the policies of an older version of a design."""
    from tablewright.cli.evolution.versions import require_design

    name, revision = require_design(
        since, "its policies are derived from access patterns; give its design, or DESIGN@REVISION"
    )
    if revision:
        return policies_at(revision, name, wanted)
    return wanted.of_design(load_design(name))


def _warn_of_length(by_role: dict[str, Any]) -> None:
    """Say which policies are too long for a managed policy."""
    from tablewright.publish.iam import MAX_POLICY_SIZE, policy_size

    for role, policy in by_role.items():
        size = policy_size(policy)
        if size > MAX_POLICY_SIZE:
            say(
                f"warning: the policy of {role} has {size:,} characters without white space, and a "
                f"managed policy takes {MAX_POLICY_SIZE:,}: divide its patterns into roles with "
                "@access_pattern(role=…)",
            )


def _published_since(since: str, name: str) -> tuple[Published, str | None]:
    """Return the template in a file, or what an older version of the design yields, and its name.

    The name is the version as the command line takes it; None for a template.
    """
    file, (at, revision) = Path(since), split_revision(since)
    try:
        if since.endswith(".py"):
            return published(load_design(since)), since
        if not file.is_file():
            if not revision or revision.startswith("{"):  # main@{1} is a revision
                at, revision = split_revision(name)[0], since
            return published_at(revision, at), f"{at}@{revision}"
        found = Published(msgspec.json.decode(file.read_bytes(), type=dict[str, Any]))
    except OSError as error:
        fail(f"{file}: {error.strerror}")
    except (ValueError, msgspec.DecodeError):
        found = Published({})
    if not isinstance(found.template.get("Resources"), dict):
        fail(f"{since} is not a CloudFormation template in JSON that has Resources")
    return found, None


def _write_stages(
    design: Design,
    name: str,
    before: Published,
    old: str | None,
    after: dict[str, Any],
    folder: Path,
) -> None:
    from tablewright.publish.infrastructure import (
        item_lines,
        migration_plans,
        programs_text,
        runbook,
        stages,
    )

    with failing_on(TableReplacement, MigrationRefused):
        template, plans = before.template, None
        if before.lock is not None:
            template = template | {"Description": after["Description"]}  # the name of a design
            plans = migration_plans(design, read_lock(before.lock.encode(), "the old version"))
        found = stages(template, after)
    created = [change for stage in found for change in stage.changes if change.is_created]
    lines = [] if plans is None else item_lines(plans, created)
    if found:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            fail(f"{folder}: {error.strerror}")
        files = [f"{number}.json" for number in range(1, len(found) + 1)]
        for file, stage in zip(files, found, strict=True):
            _write_json(stage.template, folder / file)
        text = runbook(design, found, files, name=name, old=old, plans=plans)
        write_output(text, folder / "RUNBOOK.md")
        for file, stage in zip(files, found, strict=True):
            typer.echo(f"{folder / file}: {'; '.join(map(str, stage.changes)) or 'other changes'}")
        typer.echo(f"{folder / 'RUNBOOK.md'}: how to apply them")
    elif not lines:
        typer.echo("The templates are equal; there is nothing to deploy.")
    if plans is None:
        typer.echo(
            "Stored items were not compared: a CloudFormation template does not describe them. "
            "To compare them, use --since with a git revision."
        )
    if plans is not None and lines:
        typer.echo("Stored items change:")
        for line in lines:
            typer.echo(f"  {line}")
        if text := programs_text(plans):
            typer.echo(text)
        typer.echo(
            f"`tablewright migrate plan {name} TARGET` shows the steps that carry this out. See "
            "`tablewright help changes`."
        )


def _write_json(value: Any, output: Path | None) -> None:
    from tablewright.publish.document import json_document

    write_output(json_document(value), output)
