"""The checks of the options of `serve`, and what they become: settings, tables, delays.

A check prints what is wrong in one line, with the option and the fix, and exits with code 2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.cli.grammar import read_pairs
from tablewright.cli.report import describe_error, fail, failing_on, say
from tablewright.errors import CredentialsRefused, TemplateRefused

if TYPE_CHECKING:
    import ssl

    from tablewright.cli.serve.options import ServeOptions
    from tablewright.engine.realism import Realism
    from tablewright.server import Settings
    from tablewright.server.access.authentication import Authenticator
    from tablewright.templates import DeclaredTable

#: An Origin header as browsers send it: scheme, host and port in lower case, no path.
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#*\sA-Z]+")
#: The largest request body, which the memory of each worker must hold.
MIN_BUFFERED_MB = 16


def make_settings(options: ServeOptions) -> Settings:
    """Return the settings of the server; exit if an option about access cannot be used."""
    from tablewright.server import Hosts, Limits, Settings

    names, origins = options.allow_host or (), options.cors or ()
    tls = tls_context(options.tls_cert, options.tls_key)
    authenticator = read_credentials(options.credentials, options.region)
    is_signed = authenticator is not None
    check_address(
        options.host,
        is_signed=is_signed,
        is_encrypted=tls is not None,
        insecure=options.insecure,
    )
    check_hosts(names, origins)
    return Settings(
        sweep_seconds=options.sweep_seconds,
        limits=Limits(
            connections=options.max_connections,
            idle_seconds=options.idle_timeout,
            buffered_bytes=options.max_buffered_mb * 1024 * 1024,
        ),
        # A signature covers the Host header, so with credentials any name is accepted.
        hosts=Hosts(names, origins=origins, check_names=not is_signed),
        authenticator=authenticator,
        tls=tls,
        access_log=options.access_log,
        metrics_port=options.metrics_port,
        logs_requests=options.log in ("info", "debug"),
    )


def check_workers(options: ServeOptions) -> None:
    """Refuse options that do not work with several processes."""
    workers, max_buffered_mb = options.workers, options.max_buffered_mb
    if workers == 1:
        return
    if options.file is None:
        fail(
            f"--workers {workers}: a database in memory belongs to one process; name a FILE, or "
            "leave --workers out"
        )
    excluded = {"--isolate-regions": options.isolate_regions, "--realistic": options.realistic}
    for option, is_given in excluded.items():
        if is_given:
            fail(f"--workers {workers} cannot be combined with {option}; leave one of them out")
    if max_buffered_mb < MIN_BUFFERED_MB * workers:
        fail(
            f"--max-buffered-mb {max_buffered_mb}: {workers} workers share this memory, and each "
            f"needs {MIN_BUFFERED_MB} MB; give at least {MIN_BUFFERED_MB * workers}"
        )
    if not hasattr(os, "fork"):
        fail(f"--workers {workers}: this system cannot fork processes; leave --workers out")


def read_realism(
    control_delay: float | None, read_lag: float | None, *, is_on: bool
) -> Realism | None:
    """Return the delays of --realistic; None without it."""
    if not is_on:
        if control_delay is not None or read_lag is not None:
            fail("--control-delay and --read-lag need --realistic")
        return None
    from tablewright.engine.realism import Realism

    given: dict[str, Any] = {"control_seconds": control_delay, "lag_seconds": read_lag}
    return Realism(**{name: seconds for name, seconds in given.items() if seconds is not None})


def read_templates(files: Sequence[Path], parameters: Sequence[str]) -> list[DeclaredTable]:
    """Read the tables of all templates; end the program if one has a mistake."""
    if not files:
        if parameters:
            fail("--parameter needs --from with a CloudFormation template")
        return []
    from tablewright.templates import read_tables

    given = read_pairs("--parameter", parameters)
    try:
        return [table for file in files for table in read_tables(file, given)]
    except TemplateRefused as error:
        fail(f"--from {error}")


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
