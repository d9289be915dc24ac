"""The command `serve`: its options, the checks of their values, and its exit codes."""

from __future__ import annotations

import ctypes
import enum
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright import __version__
from tablewright.cli.failures import describe_error, fail, failing_on, say
from tablewright.cli.options import flag, option
from tablewright.cli.workers import check_workers, make_server, start_workers
from tablewright.errors import CannotOpen, CredentialsRefused, StoreFailed, TemplateRefused

if TYPE_CHECKING:
    import ssl

    from tablewright.engine import Engine
    from tablewright.engine.realism import Realism
    from tablewright.server import Server
    from tablewright.server.access.authentication import Authenticator
    from tablewright.server.isolation import IsolatedEngines
    from tablewright.templates import DeclaredTable

#: How long a write waits for another process that holds the lock. SDKs time out after a minute.
BUSY_SECONDS = 10.0

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


#: An Origin header as browsers send it: scheme, host and port in lower case, no path.
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#*\sA-Z]+")

M_MMAP_THRESHOLD = -3  # of <malloc.h>


def serve(
    db: Path | None = option(
        "The database file, created if it is missing. Default: a database in memory."
    ),
    host: str = option("The address to listen on.", default="127.0.0.1"),
    port: int = option("The port; 0 chooses a free one.", default=8000, min=0, max=65535),
    durability: Durability = option(
        "What an acknowledged write survives. full: a power loss; normal: a killed process.",
        default=Durability.full,
    ),
    sweep_seconds: float = option(
        "The time between deletions of items past their TTL and of old stream records.",
        default=60.0,
        min=0.01,
        metavar="SECONDS",
    ),
    workers: int = option(
        "The number of processes that serve connections and read. With more than one, another "
        "process writes; needs --db.",
        default=1,
        min=1,
        max=64,
    ),
    stream_shards: int = option("The number of shards of new streams.", default=1, min=1, max=1000),
    from_: list[Path] | None = option(
        "Create the tables of a CloudFormation template, a folder of `cdk synth`, or the output "
        "of `terraform show -json`; repeatable. Existing tables are kept.",
        "--from",
        metavar="FILE",
    ),
    isolate_regions: bool = flag(
        "Keep the tables of each region and account apart, as AWS does. With --db, each has a "
        "file of its own, beside that of --db.",
        panel=REALISM,
    ),
    realistic: bool = flag(
        "Behave as slowly as AWS, to test deployment and retry code: tables take time to "
        "change, eventually consistent reads lag, requests are throttled.",
        panel=REALISM,
    ),
    control_delay: float | None = option(
        "With --realistic: how long tables stay CREATING, UPDATING and DELETING. Default: 1.",
        min=0,
        metavar="SECONDS",
        panel=REALISM,
    ),
    read_lag: float | None = option(
        "With --realistic: how much eventually consistent reads lag. Default: 0.1.",
        min=0,
        metavar="SECONDS",
        panel=REALISM,
    ),
    parameter: list[str] | None = option(
        "With --from: a parameter of the CloudFormation template; repeatable.", metavar="NAME=VALUE"
    ),
    s3: Path | None = option(
        "An existing folder that stands for S3 in exports and imports: each folder in it is a "
        "bucket.",
        metavar="DIR",
    ),
    credentials: Path | None = option(
        "Accept only requests signed by a user in this file. Create it with `tablewright "
        "credentials add`.",
        panel=ACCESS,
    ),
    region: str | None = option(
        "With --credentials: accept only signatures for this region. Default: any region.",
        panel=ACCESS,
    ),
    tls_cert: Path | None = option("Certificate chain (PEM) for HTTPS.", panel=ACCESS),
    tls_key: Path | None = option("Private key (PEM) for HTTPS.", panel=ACCESS),
    allow_host: list[str] | None = option(
        "Also accept this name in the Host header; repeatable. Loopback names and the server's "
        "own address are always accepted. Not needed with --credentials.",
        metavar="NAME",
        panel=ACCESS,
    ),
    cors: list[str] | None = option(
        "Accept requests from web pages of this origin, such as http://localhost:3000; "
        "repeatable. `*` allows all origins.",
        metavar="ORIGIN",
        panel=ACCESS,
    ),
    insecure: bool = flag(
        "Allow a --host other than loopback without credentials or without TLS.", panel=ACCESS
    ),
    max_connections: int = option(
        "The maximum number of open connections.", default=1000, min=1, panel=LIMITS
    ),
    idle_timeout: float = option(
        "Close a connection that sends no request for this time.",
        default=180.0,
        min=0.01,
        metavar="SECONDS",
        panel=LIMITS,
    ),
    max_buffered_mb: int = option(
        "The memory for requests and responses of all clients together.",
        default=256,
        min=16,
        metavar="MB",
        panel=LIMITS,
    ),
    access_log: str | None = option(
        "Append one JSON line for each request to this file; `-` is standard output.",
        metavar="FILE|-",
        panel=OPERATION,
    ),
    log: LogLevel = option(
        "What to log on standard error. info: also one line for each request; debug: also the "
        "texts of errors, which may contain values of items.",
        default=LogLevel.warning,
        panel=OPERATION,
    ),
    metrics_port: int | None = option(
        "Serve /metrics, /ready and /live on this port of 127.0.0.1; 0 chooses a free one.",
        min=0,
        max=65535,
        panel=OPERATION,
    ),
) -> None:
    """Serve a database over HTTP to boto3, the AWS CLI and every AWS SDK.

    Prints the URL on standard output when it accepts requests, and runs until SIGTERM or Ctrl-C.
    Exit code 1: the database file became unreadable, or a worker ended; 2: an option, an address
    or a file cannot be used.
    """
    import asyncio
    import gc
    import logging

    from tablewright.engine import Engine
    from tablewright.server import Hosts, Limits, Settings
    from tablewright.server.running import run_until_stopped

    if db == Path(":memory:"):
        db = None
    check_workers(
        workers,
        db,
        isolate_regions=isolate_regions,
        realistic=realistic,
        max_buffered_mb=max_buffered_mb,
    )
    tls = tls_context(tls_cert, tls_key)
    authenticator = read_credentials(credentials, region)
    check_address(
        host, is_signed=authenticator is not None, is_encrypted=tls is not None, insecure=insecure
    )
    check_hosts(allow_host or (), cors or ())
    declared = read_templates(from_ or (), parameter or ())
    realism = read_realism(control_delay, read_lag, is_on=realistic)
    if s3 is not None and not s3.is_dir():
        fail(f"--s3 {s3}: no such folder; create it first")
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("tablewright").setLevel(log.value.upper())
    settings = Settings(
        sweep_seconds=sweep_seconds,
        limits=Limits(
            connections=max_connections,
            idle_seconds=idle_timeout,
            buffered_bytes=max_buffered_mb * 1024 * 1024,
        ),
        # A signature covers the Host header, so with credentials any name is accepted.
        hosts=Hosts(allow_host or (), origins=cors or (), check_names=authenticator is None),
        authenticator=authenticator,
        tls=tls,
        access_log=access_log,
        metrics_port=metrics_port,
        logs_requests=log in (LogLevel.info, LogLevel.debug),
    )

    def ready(server: Server, url: str) -> None:
        where = str(db) if db else "in memory: the data is lost when the server stops"
        if workers > 1:
            where += f", {workers} workers"
        say(f"tablewright {__version__} ({where}); stop with Ctrl-C")
        if server.monitor_url is not None:
            say(f"metrics: {server.monitor_url}/metrics")
        print(url, flush=True)  # noqa: T201  (programs wait for this line)

    gc.freeze()  # imported objects stay: the collector need not look at them
    return_freed_memory()
    forked = start_workers(workers, db, durability.value, BUSY_SECONDS, settings)
    open_path: type[Engine | IsolatedEngines] = Engine
    if isolate_regions:
        from tablewright.server.isolation import IsolatedEngines

        open_path = IsolatedEngines
    # StoreFailed: the disk is full, or another process holds the lock
    with failing_on(CannotOpen, StoreFailed):
        engine = open_path(
            db or ":memory:",
            durability=durability.value,
            busy_seconds=BUSY_SECONDS,
            sweep_seconds=None,  # the server sweeps, also the records of streams
            stream_shards=stream_shards,
            s3=s3,
        )
    try:
        create_declared(engine if isinstance(engine, Engine) else engine.default, declared)
        if realism is not None:
            engine.make_realistic(realism)
        server = make_server(engine, settings, forked)
        asyncio.run(run_until_stopped(server, host, port, ready))
    except (StoreFailed, ChildProcessError) as error:
        say(f"tablewright: {error}")
        raise SystemExit(1) from None
    except OSError as error:
        if error.filename is not None:  # the access log, or the address of the metrics
            option = "--access-log" if error.filename == access_log else "--metrics-port:"
            fail(f"{option} {error.filename}: {describe_error(error)}")
        fail(f"cannot listen on {host}:{port}: {describe_error(error)}")
    finally:
        engine.close()
        if forked is not None:
            forked.end()


def read_realism(
    control_delay: float | None, read_lag: float | None, *, is_on: bool
) -> Realism | None:
    """Return the delays of --realistic; None without it."""
    if not is_on:
        if control_delay is not None or read_lag is not None:
            fail("--control-delay and --read-lag need --realistic")
        return None
    from tablewright.engine.realism import Realism

    default = Realism()
    return Realism(
        control_seconds=default.control_seconds if control_delay is None else control_delay,
        lag_seconds=default.lag_seconds if read_lag is None else read_lag,
    )


def read_templates(files: Sequence[Path], parameters: Sequence[str]) -> list[DeclaredTable]:
    """Read the tables of all templates; end the program if one has a mistake."""
    if not files:
        if parameters:
            fail("--parameter needs --from with a CloudFormation template")
        return []
    from tablewright.templates import read_tables

    given: dict[str, str] = {}
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        if not name or not equals:
            fail(f"--parameter {parameter}: expected NAME=VALUE")
        given[name] = value
    try:
        return [table for file in files for table in read_tables(file, given)]
    except TemplateRefused as error:
        fail(f"--from {error}")


def create_declared(engine: Engine, tables: Sequence[DeclaredTable]) -> None:
    """Create the tables of templates; report what was done, and differences, on standard error."""
    if not tables:
        return
    from tablewright.templates import create_tables

    try:
        outcomes = create_tables(engine, tables)
    except TemplateRefused as error:
        fail(f"--from {error}")
    for outcome in outcomes:
        table = outcome.table
        done = "created" if outcome.is_new else "exists already, and is kept"
        say(f"table {table.name} ({table.file}: {table.resource}): {done}")
        for line in (*table.notes, *outcome.differences):
            say(f"  {line}")


def read_credentials(credentials: Path | None, region: str | None) -> Authenticator | None:
    """Read the credentials file; None without one. Warn if no user has a key."""
    if credentials is None:
        if region is not None:
            fail(f"--region {region}: add --credentials; without it, signatures are not verified")
        return None
    from tablewright.server.access.authentication import SignatureAuthenticator
    from tablewright.server.access.credentials import Credentials

    with failing_on(CredentialsRefused):
        known = Credentials(credentials)
    if known.is_empty():
        say(
            f"tablewright: WARNING: {credentials} has no keys, so every request is refused; "
            f"add one with `tablewright credentials add {credentials} NAME`"
        )
    return SignatureAuthenticator(known, region=region)


def return_freed_memory() -> None:
    """Make the C library return the memory of large requests to the system at once.

    By default glibc raises the size from which it does so to up to 32 MB. Then 260 MB stayed
    allocated after a hundred unfinished bodies.
    """
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1024 * 1024)


def check_address(host: str, *, is_signed: bool, is_encrypted: bool, insecure: bool) -> None:
    """Refuse an address that other machines can reach, unless requests are signed and encrypted.

    With `insecure`, only print a warning.
    """
    from tablewright.server.access.hosts import is_loopback

    if is_loopback(host.lower()) or (is_signed and is_encrypted):
        return
    if not insecure:
        fail(
            f"--host {host}: other machines may be able to connect. Use --credentials, --tls-cert "
            "and --tls-key together, or --insecure to run without this protection"
        )
    risk = (
        "requests and responses are not encrypted"
        if is_signed
        else f"every machine that can reach {host} can read and change all data"
    )
    say(f"tablewright: WARNING: --insecure: {risk}")


def check_hosts(names: Iterable[str], origins: Iterable[str]) -> None:
    """Refuse host names and origins that cannot match a request."""
    from tablewright.server.access.hosts import host_name

    for name in names:
        header = f"[{name}]" if name.count(":") > 1 else name  # an IPv6 address
        if host_name(header) != name.lower().removesuffix("."):
            fail(f"--allow-host {name}: expected a name without http:// and port, such as db.test")
    for origin in origins:
        if origin not in ("*", "null") and not ORIGIN.fullmatch(origin):
            fail(
                f"--cors {origin}: expected * or an origin in lower case without a path, such as "
                "http://localhost:3000"
            )


def tls_context(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        missing = "--tls-cert" if certificate is None else "--tls-key"
        fail(f"{missing} is missing: HTTPS needs --tls-cert FILE and --tls-key FILE")
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        is_mismatch = error.reason == "KEY_VALUES_MISMATCH"
        problem = (
            "the private key does not belong to the certificate"
            if is_mismatch
            else "expected PEM files: a certificate, and its private key"
        )
        fail(f"cannot use --tls-cert {certificate} with --tls-key {key}: {problem}")
    except OSError as error:  # the error does not name the file
        for option, file in (("--tls-cert", certificate), ("--tls-key", key)):
            try:
                file.open("rb").close()
            except OSError as mistake:
                fail(f"{option} {file}: {describe_error(mistake)}")
        fail(f"cannot use --tls-cert {certificate} with --tls-key {key}: {describe_error(error)}")
    return context
