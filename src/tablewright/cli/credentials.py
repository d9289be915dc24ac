"""Commands for the users of `serve`: add a key, list users, remove a user or a key.

A secret is never an argument, because other users of the machine can see the arguments of a
process. A new secret is printed once.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from tablewright.cli.commands import add_command, add_group
from tablewright.cli.grammar import argument, option, read_pairs
from tablewright.cli.report import fail, failing_on, say
from tablewright.errors import CredentialsRefused
from tablewright.presentation.printing import print_grid

credentials = add_group("credentials", "Manage the users of `tablewright serve`.")

File = Annotated[Path, argument("FILE", "The credentials file.")]


@add_command(to=credentials)
def add(
    file: File,
    name: str = argument("NAME", "The name of the user. An existing user gets another key."),
    policy: list[Path] | None = option(
        "A JSON file with an IAM policy; repeatable. Without it, a new user may do everything.",
        metavar="FILE",
    ),
    tag: list[str] | None = option(
        "A tag of the user, which policies read as aws:PrincipalTag/NAME; repeatable.",
        metavar="NAME=VALUE",
    ),
    access_key_id: str | None = option(
        "Add this key instead of a random one. Its secret is read from standard input.",
        metavar="ID",
    ),
) -> None:
    """Add a user with a random key, and print the secret once. Create the file if it is missing.

    The output is shell commands that set the environment variables of the AWS SDKs and the AWS CLI:
    `eval "$(tablewright credentials add FILE NAME)"`.
    """
    from tablewright.server.access import credentials_edit

    tags = read_pairs("--tag", tag or ())
    secret = credentials_edit.new_secret() if access_key_id is None else read_secret()
    key_id = access_key_id or credentials_edit.new_access_key_id()
    with failing_on(CredentialsRefused):
        credentials_edit.add_key(file, name, key_id, secret, policies=policy or (), tags=tags)
    typer.echo(f"export AWS_ACCESS_KEY_ID={shlex.quote(key_id)}")
    if access_key_id is None:
        typer.echo(f"export AWS_SECRET_ACCESS_KEY={shlex.quote(secret)}")
        say(f"tablewright: added {name} to {file}; the secret is not shown again")
    else:
        say(f"tablewright: added {name} to {file}")


@add_command("list", to=credentials)
def list_users(file: File) -> None:
    """List users and their keys, without secrets."""
    from datetime import UTC, datetime

    from tablewright.server.access.credentials import read_file

    with failing_on(CredentialsRefused):
        entries = read_file(file, lambda _: None)
    rows: list[Sequence[str]] = []
    for entry in entries:
        tags = ", ".join(f"{name}={value}" for name, value in entry.tags.items())
        allowed = "everything" if entry.policies is None else count_policies(len(entry.policies))
        for number, key in enumerate(entry.keys):
            expires = datetime.fromtimestamp(key.expires, UTC).isoformat() if key.expires else ""
            shown = f"from the command {key.command[0]}" if key.command else key.access_key_id
            name, *others = ("", "", "") if number else (entry.name, allowed, tags)
            rows.append((name, shown, "yes" if key.session_token else "", expires, *others))
        if not entry.keys:
            rows.append((entry.name, "none", "", "", allowed, tags))
    header = ("user", "access key id", "session token", "expires", "permissions", "tags")
    print_grid(header, rows, width=120)  # an access key id must not be cut


@add_command(to=credentials)
def remove(
    file: File,
    name: str = argument("NAME", "A user, or the access key id of one key."),
) -> None:
    """Remove a user with all its keys, or one key. A running server notices within a second."""
    from tablewright.server.access import credentials_edit

    with failing_on(CredentialsRefused):
        removed = credentials_edit.remove_user_or_key(file, name)
    typer.echo(f"removed {', '.join(removed) or name}")


def count_policies(count: int) -> str:
    return {0: "nothing", 1: "1 policy"}.get(count, f"{count} policies")


def read_secret() -> str:
    """Read a secret from a hidden prompt, or from the first line of standard input."""
    if sys.stdin.isatty():
        return str(typer.prompt("Secret access key", hide_input=True, err=True))
    secret = sys.stdin.readline().strip()
    if not secret:
        fail(
            "--access-key-id: standard input has no secret; write it to the first line of standard "
            "input"
        )
    return secret
