"""Credentials and region: from the AWS chain, or any at all for an endpoint that does not look.

The chain is that of every AWS SDK: environment, profile, SSO, container, instance. Keys in the
environment are its first link and need nothing else; for the rest there is botocore. It renews
credentials before they expire; so it is asked before every request, which costs it a comparison.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tablewright.errors import EndpointUnavailable
from tablewright.transport.sigv4 import Credentials

#: What signs requests to an endpoint on this machine, where nobody has set anything else.
ANY = Credentials("tablewright", "tablewright")
DEFAULT_REGION = "us-east-1"

#: Any of these says which credentials to use. (Those in ~/.aws are for AWS, not for any endpoint.)
_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)


def aws_credentials() -> Callable[[], Credentials]:
    """Gives the credentials of the AWS chain, renewed when need be."""
    access_key = os.environ.get("AWS_ACCESS_KEY_ID")
    secret_key = os.environ.get("AWS_SECRET_ACCESS_KEY")
    if access_key and secret_key:
        fixed = Credentials(access_key, secret_key, os.environ.get("AWS_SESSION_TOKEN") or None)
        return lambda: fixed
    session, errors = _botocore()
    try:
        found = session.get_credentials()
        if found is not None:
            found.get_frozen_credentials()  # what cannot be had is an error now, not later
    except errors as error:
        raise EndpointUnavailable(f"no AWS credentials: {error}") from error
    if found is None:
        raise EndpointUnavailable(
            "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, "
            "or run `aws configure`"
        )

    def current() -> Credentials:
        try:
            frozen = found.get_frozen_credentials()
        except errors as error:
            raise EndpointUnavailable(f"AWS credentials cannot be renewed: {error}") from error
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)

    return current


def endpoint_credentials() -> Callable[[], Credentials]:
    """For an endpoint that is not AWS: the chain's if something is set, any otherwise."""
    if any(os.environ.get(name) for name in _VARIABLES):
        return aws_credentials()
    return lambda: ANY


def aws_region() -> str:
    """The region that the environment or the profile names."""
    region = _region_set()
    if not region:
        session, errors = _botocore()
        try:
            region = session.get_config_variable("region")
        except errors as error:
            raise EndpointUnavailable(f"no AWS region: {error}") from error
    if not region:
        raise EndpointUnavailable(
            "no AWS region: connect to dynamodb://eu-west-1, say, or set AWS_REGION"
        )
    return region


def default_region() -> str:
    """The region in signatures to an endpoint that is not AWS."""
    return _region_set() or DEFAULT_REGION


def _region_set() -> str | None:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")


def _botocore() -> tuple[Any, tuple[type[Exception], ...]]:
    """A session, and what it raises: a program that it runs may not be there."""
    try:
        import botocore.session
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError:
        raise EndpointUnavailable(
            "AWS credentials are found by botocore, which is not installed: "
            "pip install 'tablewright[aws]'"
        ) from None
    return botocore.session.get_session(), (BotoCoreError, OSError)
