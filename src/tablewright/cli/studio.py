"""The command that shows a design and its data in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tablewright.cli.commands import DESIGNS, add_command
from tablewright.cli.designs import load_or_fail
from tablewright.cli.failures import describe_error, describe_failure, fail, failing_on, say
from tablewright.cli.options import argument, flag, option
from tablewright.errors import EndpointUnavailable, TablewrightError

if TYPE_CHECKING:
    from tablewright.studio.workspace import Workspace

#: An argument that ends so is a file, not a module.
DATABASE_SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3"})


@add_command(DESIGNS)
def studio(
    what: list[str] | None = argument(
        "[DESIGN] [TARGET]",
        "A design: a bundled one, a module name or the path of a Python file. A target: "
        "':memory:', a database file, http://host:port or dynamodb://region. Default target: "
        "the sample data of the design, in memory. Without a design, entities are inferred.",
        default=None,
    ),
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
    workspace = open_workspace(what or [], write=True if write else False if read_only else None)
    try:
        asyncio.run(_serve(workspace, port, host, browser))
    except KeyboardInterrupt:
        say("stopped")
    finally:
        workspace.close()


def open_workspace(arguments: list[str], *, write: bool | None = None) -> Workspace:
    """Return the workspace of a design, a target, or both; if there is none, exit with code 2."""
    from tablewright.engine import Engine
    from tablewright.studio.workspace import Workspace
    from tablewright.verify import seed

    designs = [argument for argument in arguments if not is_target(argument)]
    targets = [argument for argument in arguments if is_target(argument)]
    if not arguments:
        fail("name a design, such as commerce, or a target, such as shop.db or http://host:port")
    for kind, named in (("design", designs), ("target", targets)):
        if len(named) > 1:
            fail(f"name one {kind}, not {len(named)}: {', '.join(named)}")
    design = load_or_fail(designs[0]) if designs else None
    if targets and (design is None or targets[0] != ":memory:"):
        _check_file(targets[0], designs)
        return _opened(Workspace(design, targets[0], write=write))
    assert design is not None
    engine = Engine(":memory:")
    if design.sample is None:
        say(f"{design.name} has no sample data: define the function sample()")
    else:
        seed(design, engine)
    return Workspace(design, engine, write=write)


def is_target(argument: str) -> bool:
    """Return whether an argument is a target rather than a design.

    >>> is_target("http://127.0.0.1:8000"), is_target(":memory:"), is_target("commerce")
    (True, True, False)
    >>> is_target("missing.db"), is_target("package.module")
    (True, False)
    """
    if argument == ":memory:" or "://" in argument:
        return True
    path = Path(argument)
    return path.suffix in DATABASE_SUFFIXES or (path.is_file() and path.suffix != ".py")


def _check_file(target: str, designs: list[str]) -> None:
    """Exit if a target is a file that does not exist."""
    if target == ":memory:" or "://" in target or Path(target).is_file():
        return
    if Path(target).is_dir():
        fail(f"{target}: it is a directory, not a database file")
    name = designs[0] if designs else "DESIGN"
    fail(f"{target}: no such file; `tablewright seed {name} {target}` creates it with sample data")


def _opened(workspace: Workspace) -> Workspace:
    """Open the target, so that a mistake in its name is reported here; an endpoint may be away."""

    with failing_on(TablewrightError):
        _ = workspace.transport
    return workspace


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

    def announce(link: str) -> None:
        say(f"for another browser: {link}")

    server = StudioServer(workspace)
    try:
        link = await server.start(port, host, announce)
    except OSError as error:
        fail(f"port {port}: {describe_error(error)}")
    typer.echo(link)
    say(f"showing {workspace.target_name}; Ctrl-C stops the studio")
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
