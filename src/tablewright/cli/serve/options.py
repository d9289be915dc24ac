"""The options of `serve`, as data, and their reader, which does not need typer.

typer and pydantic, which it uses, take longer to import than the server, and 14 MB of memory.
typer shows the help: annotations are not postponed, so that `all_commands` can show it the types.
"""

import enum
import re
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, get_args, get_origin, get_type_hints

from tablewright.cli.grammar import Declared, argument, flag, names_of, option, unknown_option
from tablewright.cli.report import fail

ACCESS = "Who may connect"
LIMITS = "Limits"
OPERATION = "Operation"
REALISM = "Realism"
_NUMBERS = {int: re.compile(r"[0-9]{1,9}"), float: re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")}


class Durability(enum.StrEnum):
    """What an acknowledged write survives."""

    full = "full"
    normal = "normal"


class Validation(enum.StrEnum):
    """The year of the error messages for invalid requests."""

    year_2025 = "2025"
    year_2026 = "2026"


class LogLevel(enum.StrEnum):
    """The least severe messages that the server logs."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


class ServeOptions(NamedTuple):
    """What `serve` is asked to do; the defaults are declarations, which `read_options` replaces."""

    file: Path | None = argument(
        "FILE", "The database file, created if it is missing. Default: a database in memory.", None
    )
    host: str = option("The address to listen on.", default="127.0.0.1")
    port: int = option("The port; 0 chooses a free one.", default=8000, min=0, max=65535)
    durability: Durability = option(
        "What an acknowledged write survives. full: a power loss; normal: a killed process.",
        default=Durability.full,
    )
    sweep_seconds: float = option(
        "The time between deletions of items past their TTL and of old stream records.",
        default=60.0,
        min=0.01,
        metavar="SECONDS",
    )
    workers: int = option(
        "The number of processes that serve connections and read. With more than one, another "
        "process writes; needs a FILE.",
        default=1,
        min=1,
        max=64,
    )
    stream_shards: int = option("The number of shards of new streams.", default=1, min=1, max=1000)
    validation: Validation = option(
        "The year whose error messages invalid requests get: 2026 for those that most regions of "
        "AWS have now, 2025 for those from before.",
        default=Validation.year_2026,
    )
    from_: list[Path] | None = option(
        "Create the tables of a CloudFormation template, a folder of `cdk synth`, or the output "
        "of `terraform show -json`; repeatable. Existing tables are kept.",
        "--from",
        metavar="FILE",
    )
    isolate_regions: bool = flag(
        "Keep the tables of each region and account apart, as AWS does. With a FILE, each has a "
        "file of its own, beside it.",
        panel=REALISM,
    )
    realistic: bool = flag(
        "Behave as slowly as AWS, to test deployment and retry code: tables take time to "
        "change, eventually consistent reads lag, requests are throttled.",
        panel=REALISM,
    )
    control_delay: float | None = option(
        "With --realistic: how long tables stay CREATING, UPDATING and DELETING. Default: 1.",
        min=0,
        metavar="SECONDS",
        panel=REALISM,
    )
    read_lag: float | None = option(
        "With --realistic: how much eventually consistent reads lag. Default: 0.1.",
        min=0,
        metavar="SECONDS",
        panel=REALISM,
    )
    parameter: list[str] | None = option(
        "With --from: a parameter of the CloudFormation template; repeatable.", metavar="NAME=VALUE"
    )
    s3: Path | None = option(
        "An existing folder that stands for S3 in exports and imports: each folder in it is a "
        "bucket.",
        metavar="DIR",
    )
    credentials: Path | None = option(
        "Accept only requests signed by a user in this file. Create it with `tablewright "
        "credentials add`.",
        panel=ACCESS,
    )
    region: str | None = option(
        "With --credentials: accept only signatures for this region. Default: any region.",
        panel=ACCESS,
    )
    tls_cert: Path | None = option("Certificate chain (PEM) for HTTPS.", panel=ACCESS)
    tls_key: Path | None = option("Private key (PEM) for HTTPS.", panel=ACCESS)
    allow_host: list[str] | None = option(
        "Also accept this name in the Host header; repeatable. Loopback names and the server's "
        "own address are always accepted. Not needed with --credentials.",
        metavar="NAME",
        panel=ACCESS,
    )
    cors: list[str] | None = option(
        "Accept requests from web pages of this origin, such as http://localhost:3000; "
        "repeatable. `*` allows all origins.",
        metavar="ORIGIN",
        panel=ACCESS,
    )
    insecure: bool = flag(
        "Allow a --host other than loopback without credentials or without TLS.", panel=ACCESS
    )
    max_connections: int = option(
        "The maximum number of open connections.", default=1000, min=1, panel=LIMITS
    )
    idle_timeout: float = option(
        "Close a connection that sends no request for this time.",
        default=180.0,
        min=0.01,
        metavar="SECONDS",
        panel=LIMITS,
    )
    max_buffered_mb: int = option(
        "The memory for requests and responses of all clients together.",
        default=256,
        min=16,
        metavar="MB",
        panel=LIMITS,
    )
    access_log: str | None = option(
        "Append one JSON line for each request to this file; `-` is standard output.",
        metavar="FILE|-",
        panel=OPERATION,
    )
    log: LogLevel = option(
        "What to log on standard error. info: also one line for each request; debug: also the "
        "texts of errors, which may contain values of items.",
        default=LogLevel.warning,
        panel=OPERATION,
    )
    metrics_port: int | None = option(
        "Serve /metrics, /ready and /live on this port of 127.0.0.1; 0 chooses a free one.",
        min=0,
        max=65535,
        panel=OPERATION,
    )


def read_options(arguments: Sequence[str]) -> ServeOptions:
    """Return the options in the arguments of `serve`; exit with code 2 if there is a mistake."""
    types_of = get_type_hints(ServeOptions)
    declared: dict[str, Declared] = ServeOptions._field_defaults
    given = {name: each.default for name, each in declared.items()}
    parameters = {
        option: name
        for name, each in declared.items()
        if not each.is_argument
        for option in names_of(name, each)
    }
    rest, files = list(arguments), list[str]()
    while rest:
        option, equals, text = rest.pop(0).partition("=")
        if option == "--":
            files += rest
            break
        if not option.startswith("-"):
            files.append(f"{option}{equals}{text}")
            continue
        if option not in parameters:
            fail(unknown_option("serve", option, parameters))
        name = parameters[option]
        kind = types_of[name]
        if kind is bool:
            if equals:
                fail(f"{option} takes no value")
            given[name] = True
            continue
        if not equals:
            text = rest.pop(0) if rest else ""
        if isinstance(kind, types.UnionType):  # X | None
            kind, _ = get_args(kind)
        is_list = get_origin(kind) is list
        value = _read_value(option, text, get_args(kind)[0] if is_list else kind, declared[name])
        given[name] = [*(given[name] or ()), value] if is_list else value
    if len(files) > 1:
        fail(f"serve takes one FILE, not {' and '.join(files)}")
    given["file"] = Path(files[0]) if files else None
    return ServeOptions(**given)


def _read_value(option: str, text: str, kind: Any, declared: Declared) -> Any:
    """Return the value of an option; exit if it is not of its kind or not in its range."""

    def refuse(expected: str) -> NoReturn:
        fail(f"{option} {text}: expected {expected}")

    if not text or (text.startswith("--") and len(text) > 2):  # the next option
        fail(f"{option} needs a value")
    if kind is str or kind is Path:
        return kind(text)
    if issubclass(kind, enum.Enum):
        try:
            return kind(text)
        except ValueError:
            refuse(" or ".join(str(member.value) for member in kind))
    low, high = declared.min, declared.max
    value = kind(text) if _NUMBERS[kind].fullmatch(text) else None
    if value is None or (low is not None and value < low) or (high is not None and value > high):
        bounds = "" if low is None else f" from {low:g}" + ("" if high is None else f" to {high:g}")
        refuse(f"a {'whole ' if kind is int else ''}number{bounds}")
    return value
