"""The options of `serve`, as data.

Annotations are not postponed: `all_commands` shows the types to typer.
"""

import enum
from pathlib import Path
from typing import NamedTuple

from tablewright.cli.grammar import argument, flag, option

ACCESS = "Who may connect"
LIMITS = "Limits"
OPERATION = "Operation"
REALISM = "Realism"


class Durability(enum.StrEnum):
    """What an acknowledged write survives."""

    full = "full"
    normal = "normal"


class LogLevel(enum.StrEnum):
    """The least severe messages that the server logs."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


class ServeOptions(NamedTuple):
    """What `serve` is asked to do; the defaults are declarations, which `reader` replaces."""

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
