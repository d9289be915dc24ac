"""Endpoint: clients of an endpoint for tests, and botocore's requests redirected to it.

`redirected` applies to all clients of the process: those of boto3, aioboto3 and PynamoDB, those
that existed before, and those with an `endpoint_url` of their own, but not those of
`EndpointURL.client`. `Endpoint.make_request` of botocore is the one method that all of them call
before a request is signed; it is wrapped while a redirection is active. New clients, other
processes and other SDKs find the endpoint in the environment.

Invariants: a redirected request is signed with fake credentials, never with those of the client;
requests for other services are not touched. Redirections may be nested and may end in any order:
the newest applies, and when the last one has ended, everything is as it was before the first.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from tablewright.engine import Engine

ACCESS_KEY_ID = "testing"
SECRET_ACCESS_KEY = "testing"
REGION = "us-east-1"
#: Marks the context of a request that `redirected` must leave to its client's endpoint.
KEEPS_ENDPOINT = "tablewright_keeps_endpoint"


class EndpointURL(str):
    """The URL of an endpoint, as a string: `boto3.client("dynamodb", endpoint_url=endpoint, ...)`.

    `engine` holds its tables: `with endpoint.engine.sandbox(): ...` undoes what the block writes.
    """

    __slots__ = ("_at_end", "engine")

    engine: Engine
    _at_end: ExitStack

    def client(self, service: str = "dynamodb", **options: Any) -> Any:
        """Return a boto3 client of this endpoint, with fake credentials; options as for boto3.

        The service is `dynamodb` or `dynamodbstreams`. The client is closed with the endpoint. It
        keeps to this endpoint in `mock_dynamodb`, which redirects all others.
        """
        try:
            import boto3
        except ModuleNotFoundError:
            raise ImportError(
                "client() returns a client of boto3, which is not installed: pip install boto3"
            ) from None
        defaults = {
            "endpoint_url": str(self),
            "region_name": REGION,
            "aws_access_key_id": ACCESS_KEY_ID,
            "aws_secret_access_key": SECRET_ACCESS_KEY,
        }
        client = boto3.client(service, **(defaults | options))
        client.meta.events.register("before-call", _keep_endpoint)
        self._at_end.callback(client.close)
        return client


def _keep_endpoint(context: dict[str, Any], **_: Any) -> None:
    context[KEEPS_ENDPOINT] = True


@contextmanager
def closing_clients(url: str, engine: Engine) -> Iterator[EndpointURL]:
    """Yield the URL of an engine's endpoint; close its clients when the block ends."""
    with ExitStack() as at_end:
        endpoint = EndpointURL(url)
        endpoint.engine = engine
        endpoint._at_end = at_end
        yield endpoint


#: The names of the services in botocore's events.
_SERVICES = {"dynamodb", "dynamodb-streams"}

_lock = threading.Lock()
_active: list[_Redirection] = []
_at_end = ExitStack()  # of the last active redirection

#: Default sessions of boto3 for redirections, by region. A new session reads botocore's service
#: models again, which takes longer than most tests.
_sessions: dict[str | None, Any] = {}


@dataclass(eq=False)
class _Redirection:
    """One active redirection, and the state that its end restores."""

    url: str
    environment: dict[str, str | None] = field(default_factory=dict)
    default_session: Any = None


class _FrozenCredentials(NamedTuple):
    """Credentials as botocore's signers read them; aiobotocore awaits them first."""

    access_key: str = ACCESS_KEY_ID
    secret_key: str = SECRET_ACCESS_KEY
    token: str | None = None

    def __await__(self) -> Generator[Any, Any, Self]:
        yield from ()
        return self


class _Credentials:
    def get_frozen_credentials(self) -> _FrozenCredentials:
        return _FrozenCredentials()


@contextmanager
def redirected(url: str) -> Iterator[None]:
    """Send all requests for DynamoDB and its streams to this URL while the block runs."""
    require_botocore()
    redirection = _Redirection(url)
    with _lock:
        _begin(redirection)
    try:
        yield
    finally:
        with _lock:
            _end(redirection)


def require_botocore() -> None:
    """Raise ImportError if botocore is not installed."""
    try:
        import botocore.endpoint  # noqa: F401
    except ModuleNotFoundError:
        raise ImportError(
            "mock_dynamodb() redirects the requests of botocore, which is not installed: "
            "pip install boto3"
        ) from None


def _begin(redirection: _Redirection) -> None:
    region, default_region = os.environ.get("AWS_REGION"), os.environ.get("AWS_DEFAULT_REGION")
    redirection.environment = _set_environment(
        {
            "AWS_ENDPOINT_URL_DYNAMODB": redirection.url,
            "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": redirection.url,
            "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": None,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
            "AWS_SESSION_TOKEN": None,
            "AWS_PROFILE": None,
            "AWS_REGION": region or default_region or REGION,
            "AWS_DEFAULT_REGION": default_region or region or REGION,
        }
    )
    boto3 = _boto3()
    if boto3 is not None:  # after the environment, whose AWS_PROFILE may not exist
        redirection.default_session = boto3.DEFAULT_SESSION
        boto3.DEFAULT_SESSION = _session_for(boto3)
    _active.append(redirection)
    if len(_active) == 1:
        _wrap_make_request()


def _end(redirection: _Redirection) -> None:
    index = _active.index(redirection)
    del _active[index]
    if index < len(_active):  # a newer one is active, and restores what this one would have
        newer = _active[index]
        newer.environment = redirection.environment
        newer.default_session = redirection.default_session
        return
    _set_environment(redirection.environment)
    boto3 = _boto3()
    if boto3 is not None:
        boto3.DEFAULT_SESSION = redirection.default_session
    if not _active:
        _at_end.close()


def _set_environment(values: dict[str, str | None]) -> dict[str, str | None]:
    """Set variables, remove those with None; return what was there."""
    before = {name: os.environ.get(name) for name in values}
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return before


def _boto3() -> Any:
    """Return boto3; None if only botocore is installed."""
    try:
        import boto3
    except ModuleNotFoundError:
        return None
    return boto3


def _session_for(boto3: Any) -> Any:
    """Return a default session that has the region of the current one, not its credentials.

    The current one is not used because a session keeps the first credentials that it finds: it
    would keep the fake ones.
    """
    current = boto3.DEFAULT_SESSION
    region = None if current is None else current.region_name
    if region == os.environ["AWS_DEFAULT_REGION"]:
        region = None  # a session without a region reads the variable whenever it is asked
    if region not in _sessions:
        _sessions[region] = boto3.Session(region_name=region)
    return _sessions[region]


def _wrap_make_request() -> None:
    """Let botocore's clients ask for the newest redirection before they sign a request."""
    from botocore.endpoint import Endpoint

    original = Endpoint.make_request

    @functools.wraps(original)
    def make_request(self: Any, operation_model: Any, request_dict: dict[str, Any]) -> Any:
        service = operation_model.service_model.service_id.hyphenize()
        context = request_dict["context"]
        if service in _SERVICES and KEEPS_ENDPOINT not in context:
            for newest in _active[-1:]:
                request_dict["url"] = f"{newest.url}/"
                context.setdefault("signing", {})["request_credentials"] = _Credentials()
        return original(self, operation_model, request_dict)

    def unwrap() -> None:
        # A wrapper that other code has added meanwhile stays; this one then does nothing.
        if Endpoint.make_request is make_request:
            Endpoint.make_request = original

    Endpoint.make_request = make_request
    _at_end.callback(unwrap)
