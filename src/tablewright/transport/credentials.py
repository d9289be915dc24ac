"""Credentials and region: from the AWS chain, or placeholders for an endpoint that ignores them.

The chain is that of every AWS SDK: environment, profile, SSO, container, instance. Keys in the
environment are its first link and need no library; botocore does the rest. botocore renews
credentials before they expire, so they are requested from it before every request; that costs one
comparison.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tablewright.errors import EndpointUnavailable
from tablewright.sigv4 import SigningCredentials

#: Signs requests to an endpoint that is not AWS, if the environment sets no credentials.
PLACEHOLDER = SigningCredentials("tablewright", "tablewright")
DEFAULT_REGION = "us-east-1"

#: If one of these is set, the AWS chain is used for any endpoint. (Credentials in ~/.aws alone are
#: meant for AWS.)
_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
)


def aws_credentials() -> Callable[[], SigningCredentials]:
    """Return a function that returns the current credentials of the AWS chain.

    Raises EndpointUnavailable if there are none.
    """
    access_key = os.environ.get("AWS_ACCESS_KEY_ID")
    secret_key = os.environ.get("AWS_SECRET_ACCESS_KEY")
    if access_key and secret_key:
        token = os.environ.get("AWS_SESSION_TOKEN") or None
        fixed = SigningCredentials(access_key, secret_key, token)
        return lambda: fixed
    session, errors = _botocore()
    try:
        found = session.get_credentials()
        if found is not None:
            found.get_frozen_credentials()  # fails now, not at the first request
    except errors as error:
        raise EndpointUnavailable(f"no AWS credentials: {error}") from error
    if found is None:
        raise EndpointUnavailable(
            "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, "
            "or run `aws configure`"
        )

    def current() -> SigningCredentials:
        try:
            frozen = found.get_frozen_credentials()
        except errors as error:
            raise EndpointUnavailable(f"cannot renew the AWS credentials: {error}") from error
        return SigningCredentials(frozen.access_key, frozen.secret_key, frozen.token)

    return current


def endpoint_credentials() -> Callable[[], SigningCredentials]:
    """Return the credentials for an endpoint that is not AWS.

    Uses the AWS chain if the environment selects one, else placeholders.
    """
    if any(os.environ.get(name) for name in _VARIABLES):
        return aws_credentials()
    return lambda: PLACEHOLDER


def aws_region() -> str:
    """Return the region of the environment or of the profile."""
    region = _region_from_environment()
    if not region:
        session, errors = _botocore()
        try:
            region = session.get_config_variable("region")
        except errors as error:
            raise EndpointUnavailable(f"no AWS region: {error}") from error
    if not region:
        raise EndpointUnavailable(
            "no AWS region: connect to dynamodb://eu-west-1, for example, or set AWS_REGION"
        )
    return region


def default_region() -> str:
    """Return the region for signatures to an endpoint that is not AWS."""
    return _region_from_environment() or DEFAULT_REGION


def _region_from_environment() -> str | None:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")


def _botocore() -> tuple[Any, tuple[type[Exception], ...]]:
    """Return a session and what it raises; OSError if a credential process does not exist."""
    try:
        import botocore.session
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError:
        raise EndpointUnavailable(
            "botocore is needed to find AWS credentials and is not installed: "
            "pip install 'tablewright[aws]'"
        ) from None
    return botocore.session.get_session(), (BotoCoreError, OSError)
