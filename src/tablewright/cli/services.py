"""The commands `api` and `mcp`: access patterns for other programs, over HTTP, and for agents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.cli.commands import add_command, write_output
from tablewright.cli.grammar import (
    MEMORY,
    STANDARD_STREAM,
    DesignName,
    OptionalTarget,
    flag,
    load_design,
    option,
)
from tablewright.cli.patterns import open_database, select_patterns
from tablewright.cli.report import exit_on_error, fail, say
from tablewright.errors import DeclarationError

if TYPE_CHECKING:
    from tablewright.engine import Engine
    from tablewright.plans import AccessPattern
    from tablewright.verify import Design

HOST = "127.0.0.1"
INSTALL = "pip install 'tablewright[api]'"


@add_command()
def api(
    design: DesignName,
    target: OptionalTarget = None,
    expose: list[str] | None = option(
        "A pattern to expose, with or without its module; may be repeated. Default: those that "
        "declare a route.",
        default=None,
        metavar="PATTERN",
    ),
    all_patterns: bool = flag("Expose every pattern.", "--all"),
    port: int = option("The port; 0 chooses a free one.", default=8080),
    openapi: Path | None = option(
        "Write the OpenAPI document to this file, and serve nothing.", metavar="FILE"
    ),
) -> None:
    """Serve access patterns of a design as an HTTP API, on this machine.

    Each pattern is one operation: reads are GET, writes are POST, PUT, PATCH or DELETE. Prints the
    URL when it accepts requests, and runs until Ctrl-C; `/docs` shows the operations. There is no
    authentication, so only programs on this machine can connect: write an application with
    `tablewright.fastapi.create_app` for others.
    """
    try:
        import fastapi  # noqa: F401  # what is missing is named before anything else is done
        import uvicorn
    except ModuleNotFoundError as error:
        fail(f"the command api needs {error.name}: {INSTALL}")
    from tablewright.engine import Engine
    from tablewright.fastapi import create_app
    from tablewright.verify import seed

    loaded = load_design(design)
    chosen = choose(loaded, design, expose or (), is_all=all_patterns)
    where: str | Engine = target or MEMORY
    if target is not None and "://" not in target and not Path(target).exists():
        say(f"{target}: a new file")
    with exit_on_error():
        if target is not None and "://" in target and openapi is None:
            with open_database(design, loaded, target, None):
                pass  # a mistake is reported before anything is served
        if openapi is None and target is None:
            where = Engine(MEMORY)
            if loaded.sample is not None:
                seed(loaded, where)
        title = f"{loaded.name} ({target or 'sample data'})"
        try:
            examples = () if loaded.sample is None else loaded.sample()
            patterns = below(chosen)
            app = create_app(
                where, *loaded.tables, patterns=patterns, examples=examples, title=title
            )
        except DeclarationError as error:
            fail(error.message)
    if openapi is not None:
        write_openapi(app, openapi)
        return
    configuration = uvicorn.Config(app, host=HOST, port=port, log_level="warning")
    try:
        listening = configuration.bind_socket()
        listening.listen()  # those that connect before uvicorn accepts them wait
    except (OSError, OverflowError, SystemExit):
        fail(f"cannot listen on {HOST}:{port}; choose another port with --port")
    url = f"http://{HOST}:{listening.getsockname()[1]}"
    say(f"{len(chosen)} patterns of {title}; {url}/docs shows them; Ctrl-C stops")
    print(url, flush=True)  # noqa: T201 - for programs that wait for this line
    uvicorn.Server(configuration).run(sockets=[listening])


def choose(design: Design, word: str, names: Sequence[str], *, is_all: bool) -> list[AccessPattern]:
    """Return the patterns to expose; exit if there are none."""
    if is_all:
        return design.patterns
    if names:
        chosen = [each for name in names for each in select_patterns(design, word, name)]
        return list({each.label: each for each in chosen}.values())
    found = [each for each in design.patterns if each.route is not None]
    if not found:
        fail(
            f"no pattern of {word} declares a route; choose patterns with --expose PATTERN, or all "
            "with --all"
        )
    return found


def below(patterns: Sequence[AccessPattern]) -> dict[str, list[AccessPattern]]:
    """Return the patterns by the prefix of their paths.

    The prefix is empty, unless patterns of several modules have the same name. Then it is the last
    word of the name of the module.
    """
    modules: dict[str, list[AccessPattern]] = defaultdict(list)
    for each in patterns:
        modules[each.function.__module__].append(each)
    if len({each.name for each in patterns}) == len(patterns):
        return {"": list(patterns)}
    return {f"/{name.rpartition('.')[2]}": found for name, found in modules.items()}


def write_openapi(app: Any, file: Path) -> None:
    """Write the OpenAPI document of an application, in the same order each time."""
    import json

    text = json.dumps(app.openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    write_output(text, file)
    if str(file) != STANDARD_STREAM:
        say(f"{file}: written ({len(app.openapi()['paths'])} paths)")


@add_command()
def mcp(
    design: DesignName,
    target: OptionalTarget = None,
    write: bool = flag("Allow writes; a person confirms each one in the agent's program."),
    table: str | None = option("The name of the table, if it differs from the design."),
) -> None:
    """Offer a design and its data to an agent, by MCP over standard input and output.

    The agent lists and explains access patterns, reads pages of them, and checks the design. It
    cannot scan a table. Without a target, it reads the sample data of the design, in memory.
    """
    try:
        from tablewright.mcp import RequestLog, make_server
    except ModuleNotFoundError as error:
        fail(str(error))
    loaded = load_design(design)
    where = target or MEMORY
    log = RequestLog()
    with exit_on_error(), open_database(design, loaded, where, table, log) as (database, _):
        shown = target or "the sample data of the design, in memory"
        make_server(loaded, design, database, log, target=shown, writes=write).run("stdio")
