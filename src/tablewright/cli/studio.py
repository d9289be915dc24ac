"""The command that shows a design and its data in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.cli.commands import add_command
from tablewright.cli.grammar import (
    DESIGN_HELP,
    MEMORY,
    OptionalTarget,
    argument,
    flag,
    load_design,
    option,
    split_subject,
)
from tablewright.cli.report import describe_error, describe_failure, fail, failing_on, say
from tablewright.errors import EndpointUnavailable, TablewrightError

if TYPE_CHECKING:
    from tablewright.studio.workspace import Workspace


@add_command()
def studio(
    design: Annotated[
        str | None,
        argument("DESIGN", f"{DESIGN_HELP} Default: the entities are inferred from the items."),
    ] = None,
    target: OptionalTarget = None,
    port: int = option("The port; 0 chooses a free one.", default=0),
    host: str | None = option(
        "The name in the link: 127.0.0.1, localhost or a name below localhost. Default: a "
        "random name below localhost, so that no other server gets the session's cookie.",
        metavar="NAME",
    ),
    write: bool = flag("Allow changes at an endpoint; files always allow them."),
    read_only: bool = flag("Refuse every change of the data."),
    browser: bool = option("Open the page in the browser.", "--browser/--no-browser", default=True),
) -> None:
    """Show a design, its patterns and its data in the browser.

    `tablewright studio commerce` shows a bundled design with its sample data, `tablewright studio
    shop.db` the data in a file, `tablewright studio design.py shop.db` both.

    Prints a link, opens it in the browser, and runs until Ctrl-C. Only programs on this machine can
    connect. An endpoint is read-only unless --write is given.
    """
    import asyncio

    from tablewright.studio.web.access import is_loopback_name

    if write and read_only:
        fail("--write and --read-only exclude each other")
    if host is not None and not is_loopback_name(host):
        fail(
            f"--host {host}: the studio is for this machine; use 127.0.0.1, localhost "
            "or NAME.localhost"
        )
    words = [word for word in (design, target) if word is not None]
    workspace = open_workspace(words, write=not read_only if write or read_only else None)
    try:
        asyncio.run(_serve(workspace, port, host, browser))
    except KeyboardInterrupt:
        say("stopped")
    finally:
        workspace.close()


def open_workspace(arguments: Sequence[str], *, write: bool | None = None) -> Workspace:
    """Return the workspace of a design, a target, or both; if there is none, exit with code 2."""
    from tablewright.engine import Engine
    from tablewright.studio.workspace import Workspace
    from tablewright.verify import seed

    name, target = split_subject("studio", *arguments)
    design = None if name is None else load_design(name)
    if target is not None and (design is None or target != MEMORY):
        _check_file(target, name)
        workspace = Workspace(design, target, write=write, design_word=name)
        with failing_on(TablewrightError):  # such as a mistake in its name
            _ = workspace.transport
        return workspace
    if design is None:
        fail("name a design, such as commerce, or a target, such as shop.db or http://host:port")
    engine = Engine(MEMORY)
    if design.sample is None:
        say(f"{design.name} has no sample data: define the function sample()")
    else:
        seed(design, engine)
    return Workspace(design, engine, write=write)


def _check_file(target: str, design: str | None) -> None:
    """Exit if a target is a file that does not exist."""
    if target == MEMORY or "://" in target or Path(target).is_file():
        return
    if Path(target).is_dir():
        fail(f"{target}: it is a directory, not a database file")
    seed = f"tablewright seed {design or 'DESIGN'} {target}"
    fail(f"{target}: no such file; `{seed}` creates it with sample data")


def warn_if_unreachable(workspace: Workspace) -> None:
    """Print a warning if the target does not respond; the pages show it, too, and try again."""
    from tablewright.transfer.sending import send_request

    try:
        send_request(workspace.transport, "ListTables", {"Limit": 1})
    except EndpointUnavailable as error:
        say(
            f"tablewright: warning: {describe_failure(error)}; start the endpoint, and the pages "
            "show it, or start the studio with another URL"
        )
    except TablewrightError:  # it responds, but refuses the request; or the studio was stopped
        pass


async def _serve(workspace: Workspace, port: int, host: str | None, browser: bool) -> None:
    import asyncio
    import webbrowser
    from threading import Thread

    from tablewright.studio.web.server import StudioServer

    server = StudioServer(workspace)
    try:
        link = await server.start(port, host, lambda link: say(f"for another browser: {link}"))
    except OSError as error:
        fail(f"port {port}: {describe_error(error)}")
    typer.echo(link)
    say(f"showing {workspace.named.whole}; Ctrl-C stops the studio")
    if host is None:
        say("if the browser cannot open this link, use --host 127.0.0.1")
    if workspace.is_remote:  # a daemon: Ctrl-C does not wait for an attempt to connect
        Thread(target=warn_if_unreachable, args=(workspace,), daemon=True).start()
    if browser:
        await asyncio.to_thread(webbrowser.open, link)
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()
