from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tablewright import Attr, Entity, Table, attr, connect, key
from tablewright.errors import EndpointUnavailable, InvalidValue
from tablewright.sigv4 import SigningCredentials
from tablewright.transport.credentials import (
    PLACEHOLDER,
    aws_credentials,
    aws_region,
    default_region,
    endpoint_credentials,
)
from tablewright.transport.remote import Remote
from tablewright.transport.targets import Local, open_target
from tests.transport.clients import remote
from tests.transport.proxy import Proxy


class Shed(Table, name="shed"):
    pass


class Tool(Entity, table=Shed):
    name: Attr[str] = attr()

    primary = key("TOOL" / name, "TOOL")


def _env(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"AWS_{name}", value)


# -- where credentials come from -----------------------------------------------------------------


def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    _env(monkeypatch, ACCESS_KEY_ID="AKID", SECRET_ACCESS_KEY="secret")
    assert aws_credentials()() == SigningCredentials("AKID", "secret", None)


def test_keys_and_a_token_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    _env(monkeypatch, ACCESS_KEY_ID="AKID", SECRET_ACCESS_KEY="secret", SESSION_TOKEN="token")
    assert aws_credentials()() == SigningCredentials("AKID", "secret", "token")


def test_a_key_without_its_secret_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _env(monkeypatch, ACCESS_KEY_ID="AKID")
    with pytest.raises(EndpointUnavailable, match="no AWS credentials: Partial credentials"):
        aws_credentials()


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shared credentials file with two profiles."""
    path = tmp_path / "credentials"
    path.write_text(
        "[default]\naws_access_key_id = D\naws_secret_access_key = d\n"
        "[work]\naws_access_key_id = W\naws_secret_access_key = w\naws_session_token = t\n"
    )
    _env(monkeypatch, SHARED_CREDENTIALS_FILE=str(path), CONFIG_FILE=str(tmp_path / "none"))
    return path


@pytest.mark.usefixtures("shared")
def test_keys_come_from_the_shared_file() -> None:
    assert aws_credentials()() == SigningCredentials("D", "d", None)


@pytest.mark.usefixtures("shared")
def test_a_profile_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    _env(monkeypatch, PROFILE="work")
    assert aws_credentials()() == SigningCredentials("W", "w", "t")


@pytest.mark.usefixtures("shared")
def test_a_profile_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _env(monkeypatch, PROFILE="wrok")
    with pytest.raises(EndpointUnavailable, match=r"no AWS credentials: .*wrok"):
        aws_credentials()


def test_no_credentials_are_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EndpointUnavailable, match="no AWS credentials: set AWS_ACCESS_KEY_ID and"):
        connect("dynamodb://eu-west-1", Shed)


def _process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, minutes: float) -> Path:
    """A profile whose credentials come from a program: others each time, for so many minutes."""
    calls = tmp_path / "calls"
    program = tmp_path / "program.py"
    expires = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
    program.write_text(
        "import json, pathlib\n"
        f"calls = pathlib.Path({str(calls)!r})\n"
        "number = calls.read_text().count('x') if calls.exists() else 0\n"
        "calls.write_text('x' * (number + 1))\n"
        "print(json.dumps({'Version': 1, 'AccessKeyId': f'AKID{number}', "
        f"'SecretAccessKey': 's', 'SessionToken': 't', 'Expiration': {expires!r}}}))\n"
    )
    config = tmp_path / "config"
    config.write_text(f"[profile program]\ncredential_process = {sys.executable} {program}\n")
    _env(monkeypatch, CONFIG_FILE=str(config), PROFILE="program")
    return calls


def test_credentials_of_a_process_are_used_until_they_expire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: Proxy
) -> None:
    calls = _process(tmp_path, monkeypatch, minutes=600)
    transport = remote(proxy.url, credentials=aws_credentials())
    for _ in range(3):
        transport.send("ListTables", {})
    transport.close()
    assert len(calls.read_text()) == 1
    assert {each.headers["x-amz-security-token"] for each in proxy.seen} == {"t"}


def test_credentials_are_renewed_before_they_expire(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: Proxy
) -> None:
    """A minute before the end, botocore asks each time: what comes is about to expire as well."""
    _process(tmp_path, monkeypatch, minutes=5)
    transport = remote(proxy.url, credentials=aws_credentials())
    for _ in range(2):
        transport.send("ListTables", {})
    transport.close()
    signed_by = [each.headers["authorization"].partition("/")[0] for each in proxy.seen]
    assert len(set(signed_by)) == 2


def test_credentials_that_cannot_be_had_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile broken]\ncredential_process = /nowhere/at/all\n")
    _env(monkeypatch, CONFIG_FILE=str(config), PROFILE="broken")
    with pytest.raises(EndpointUnavailable, match=r"no AWS credentials: .*/nowhere/at/all"):
        aws_credentials()


def test_an_endpoint_gets_any_credentials_where_none_are_set(proxy: Proxy) -> None:
    assert endpoint_credentials()() == PLACEHOLDER
    with connect(proxy.url, Shed, create=True):
        pass
    assert "Credential=tablewright/" in proxy.seen[0].headers["authorization"]


def test_an_endpoint_gets_the_credentials_that_are_set(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    _env(monkeypatch, ACCESS_KEY_ID="AKID", SECRET_ACCESS_KEY="secret", REGION="eu-north-1")
    with connect(proxy.url, Shed, create=True):
        pass
    assert "Credential=AKID/" in proxy.seen[0].headers["authorization"]
    assert "/eu-north-1/dynamodb/" in proxy.seen[0].headers["authorization"]


def test_an_endpoint_does_not_get_what_is_in_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id = D\naws_secret_access_key = d\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    assert endpoint_credentials()() == PLACEHOLDER
    assert aws_credentials()() == SigningCredentials("D", "d", None)


# -- regions -------------------------------------------------------------------------------------


def test_the_region_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_region() == "us-east-1"
    _env(monkeypatch, DEFAULT_REGION="eu-west-1")
    assert (default_region(), aws_region()) == ("eu-west-1", "eu-west-1")
    _env(monkeypatch, REGION="eu-west-2")
    assert (default_region(), aws_region()) == ("eu-west-2", "eu-west-2")


def test_the_region_comes_from_the_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.write_text("[profile work]\nregion = ap-south-1\n")
    _env(monkeypatch, CONFIG_FILE=str(config), PROFILE="work")
    _env(monkeypatch, ACCESS_KEY_ID="AKID", SECRET_ACCESS_KEY="secret")
    transport = open_target("dynamodb://")
    assert isinstance(transport, Remote)
    assert transport.url == "https://dynamodb.ap-south-1.amazonaws.com"


def test_no_region_is_told() -> None:
    with pytest.raises(EndpointUnavailable, match="no AWS region: connect to dynamodb://eu-west-1"):
        open_target("dynamodb://")


@cache
def botocore_session() -> Any:
    """One session, because it keeps the endpoints that it has read."""
    import botocore.session

    return botocore.session.get_session()


def known_endpoint(region: str) -> str:
    """Return the endpoint that botocore uses for a region."""
    client = botocore_session().create_client("dynamodb", region)
    return str(client.meta.endpoint_url)


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-west-1", "dynamodb.eu-west-1.amazonaws.com"),
        ("us-gov-west-1", "dynamodb.us-gov-west-1.amazonaws.com"),
        ("cn-north-1", "dynamodb.cn-north-1.amazonaws.com.cn"),
        ("us-iso-east-1", "dynamodb.us-iso-east-1.c2s.ic.gov"),
        ("us-isob-east-1", "dynamodb.us-isob-east-1.sc2s.sgov.gov"),
        ("eusc-de-east-1", "dynamodb.eusc-de-east-1.amazonaws.eu"),
        ("eu-isoe-west-1", "dynamodb.eu-isoe-west-1.cloud.adc-e.uk"),
        ("us-isof-south-1", "dynamodb.us-isof-south-1.csp.hci.ic.gov"),
    ],
)
def test_the_endpoint_of_a_region_is_the_one_that_botocore_knows(
    region: str, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _env(monkeypatch, ACCESS_KEY_ID="AKID", SECRET_ACCESS_KEY="secret")
    transport = open_target(f"dynamodb://{region}")
    assert isinstance(transport, Remote)
    assert transport.url == f"https://{host}"
    assert known_endpoint(region) == transport.url


# -- targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    ["dynamodb://eu_west_1", "dynamodb://eu-west", "dynamodb://x", "dynamodb://eu-west-1/"],
)
def test_a_region_that_cannot_be_one_is_told(target: str) -> None:
    with pytest.raises(InvalidValue, match="is not a region such as eu-west-1"):
        open_target(target)


@pytest.mark.parametrize(
    "target",
    [
        "http://",
        "http:///",
        "http://host:port",
        "http://host:99999",
        "http://a..b",
        "http://host:8000/path",
        "http://host:8000?query",
        "http://user:password@host",
        "http://[::1",
    ],
)
def test_a_url_that_is_no_endpoints_is_told(target: str) -> None:
    with pytest.raises(InvalidValue, match="is not the URL of an endpoint"):
        open_target(target)


@pytest.mark.parametrize("target", ["ftp://host", "postgres://host/db", "dynamo://eu-west-1"])
def test_another_scheme_is_no_target(target: str) -> None:
    with pytest.raises(InvalidValue, match="is not a target; use ':memory:', a file, dynamodb://"):
        open_target(target)


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("http://host", ("host", 80)),
        ("http://host:8000/", ("host", 8000)),
        ("https://host", ("host", 443)),
        ("http://[::1]:8000", ("::1", 8000)),
        ("http://bücher.example", ("xn--bcher-kva.example", 80)),
    ],
)
def test_a_url_says_where_to_connect(target: str, address: tuple[str, int]) -> None:
    transport = open_target(target)
    assert isinstance(transport, Remote)
    assert transport._address[:2] == address
    assert repr(transport) == f"Remote({target!r})"


def test_a_file_is_a_target(tmp_path: Path) -> None:
    transport = open_target(tmp_path / "shed.db")
    assert isinstance(transport, Local)
    transport.close()
