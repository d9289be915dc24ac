"""The command `serve`: options, what they must not be together, and how the server ends."""

from __future__ import annotations

import ctypes
import ssl
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright import __version__
from tablewright.cli.commands import Durability, app, fail, open_engine, reason

if TYPE_CHECKING:
    from tablewright.server import Server
    from tablewright.server.authorization import Access

#: How long a write waits for another process that holds the lock. SDKs give up after a minute.
BUSY_SECONDS = 10.0

ENTRY = "Who may connect"
LIMITS = "Limits"
OPERATION = "Operation"

M_MMAP_THRESHOLD = -3  # of <malloc.h>


@app.command()
def serve(
    db: Annotated[
        Path | None,
        typer.Option(help="The database file; created if it is missing. Without it: in memory."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = 8000,
    durability: Annotated[
        Durability,
        typer.Option(help="A write survives: full, power loss; normal, a killed process."),
    ] = Durability.full,
    sweep_seconds: Annotated[
        float, typer.Option(min=0.01, help="How often items past their TTL are deleted.")
    ] = 60.0,
    credentials: Annotated[
        Path | None,
        typer.Option(
            help="Accept only requests that are signed by a user of this file; `tablewright "
            "credentials add` makes one.",
            rich_help_panel=ENTRY,
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(help="Certificate chain (PEM) for HTTPS.", rich_help_panel=ENTRY),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="Private key (PEM) for HTTPS.", rich_help_panel=ENTRY)
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Answer to this name in the Host header too; repeatable. Without it: loopback "
            "names and the server's own address.",
            rich_help_panel=ENTRY,
        ),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Let web pages of this origin use the server, e.g. http://localhost:3000; "
            "repeatable; * allows all.",
            rich_help_panel=ENTRY,
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Listen on another address than loopback without credentials and TLS.",
            rich_help_panel=ENTRY,
        ),
    ] = False,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Open connections.", rich_help_panel=LIMITS)
    ] = 1000,
    idle_timeout: Annotated[
        float,
        typer.Option(
            min=0.01,
            metavar="SECONDS",
            help="Close a connection without requests after this time.",
            rich_help_panel=LIMITS,
        ),
    ] = 180.0,
    max_buffered_mb: Annotated[
        int,
        typer.Option(
            min=16,
            metavar="MB",
            help="Memory for requests and responses of all clients together.",
            rich_help_panel=LIMITS,
        ),
    ] = 256,
    access_log: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-",
            help="Write one JSON line for each request; - is standard output.",
            rich_help_panel=OPERATION,
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Serve /metrics, /ready and /live on this port of 127.0.0.1.",
            rich_help_panel=OPERATION,
        ),
    ] = None,
) -> None:
    """Serve a database to boto3, the AWS CLI and every AWS SDK, until SIGTERM or Ctrl-C.

    Prints its URL on standard output once it accepts requests. Exit code 1: the database file
    could not be read any more; 2: an option, an address or a file cannot be used.
    """
    import asyncio
    import gc
    import logging

    from tablewright.errors import StoreFailed
    from tablewright.server import Hosts, Limits, Settings
    from tablewright.server import serve as serve_engine

    if db == Path(":memory:"):
        db = None
    tls = tls_context(tls_cert, tls_key)
    access = signed_access(credentials)
    is_protected = access is not None and tls is not None
    check_address(host, is_protected=is_protected, insecure=insecure)
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    settings = Settings(
        sweep_seconds=sweep_seconds,
        limits=Limits(
            connections=max_connections,
            idle_seconds=idle_timeout,
            buffered_bytes=max_buffered_mb * 1024 * 1024,
        ),
        # A signature covers the Host header, so with credentials any name will do.
        hosts=Hosts(allow_host or (), origins=cors or (), check_names=access is None),
        access=access,
        tls=tls,
        access_log=access_log,
        metrics_port=metrics_port,
    )

    def ready(server: Server, url: str) -> None:
        where = str(db) if db else "in memory: the data is lost when the server stops"
        typer.echo(f"tablewright {__version__} ({where}); stop with Ctrl-C", err=True)
        if server.monitor_url is not None:
            typer.echo(f"metrics: {server.monitor_url}/metrics", err=True)
        print(url, flush=True)  # noqa: T201  (what a program waits for)

    gc.freeze()  # what was imported stays: let the collector look at requests only
    return_large_blocks()
    try:
        engine = open_engine(db or ":memory:", durability, busy_seconds=BUSY_SECONDS)
    except StoreFailed as error:  # a full disk, or another process that keeps it locked
        fail(str(error))
    try:
        asyncio.run(serve_engine(engine, host, port, settings=settings, ready=ready))
    except StoreFailed as error:
        typer.echo(f"tablewright: {error}", err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        if error.filename is not None:  # the access log, or the address of the monitor
            fail(f"cannot use {error.filename}: {reason(error)}")
        fail(f"cannot listen on {host}:{port}: {reason(error)}")
    finally:
        engine.close()


def signed_access(credentials: Path | None) -> Access | None:
    from tablewright.errors import CredentialsRefused
    from tablewright.server.authorization import SignedAccess
    from tablewright.server.credentials import Credentials

    if credentials is None:
        return None
    try:
        return SignedAccess(Credentials(credentials))
    except CredentialsRefused as error:
        fail(str(error))


def return_large_blocks() -> None:
    """Let the C library give the memory of large requests back to the system at once.

    glibc keeps blocks of up to 32 MB for itself once one of that size was freed: after a hundred
    unfinished bodies, 260 MB stayed.
    """
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1024 * 1024)


def check_address(host: str, *, is_protected: bool, insecure: bool) -> None:
    """Refuse to listen where other machines can connect, unless that is protected.

    Protected means: signatures are verified (credentials), and the traffic is encrypted (TLS).
    """
    from tablewright.server.hosts import is_loopback

    if is_loopback(host.lower()) or is_protected:
        return
    if not insecure:
        fail(
            f"--host {host} can be reached from other machines. This needs --credentials, "
            "--tls-cert and --tls-key, or --insecure to accept every request"
        )
    typer.echo(
        f"tablewright: WARNING: --insecure: every machine that can reach {host} can read and "
        "change all data",
        err=True,
    )


def tls_context(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        fail("--tls-cert and --tls-key must be given together")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:  # ssl.SSLError is one
        fail(f"cannot use --tls-cert {certificate} with --tls-key {key}: {error}")
    return context
