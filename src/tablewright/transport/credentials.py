"""Credentials and region: from botocore's chain, or any at all for an endpoint that does not look.

The chain is that of every AWS SDK: environment, profile, SSO, container, instance. botocore renews
credentials before they expire; so it is asked before every request, which costs it a comparison.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tablewright.errors import EndpointFailed
from tablewright.transport.sigv4 import Credentials

#: What signs requests to an endpoint on this machine, where nobody has set anything else.
ANY = Credentials("tablewright", "tablewright")
DEFAULT_REGION = "us-east-1"

_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")


def aws_credentials() -> Callable[[], Credentials]:
    """Gives the credentials of the AWS chain, renewed when need be."""
    session = _session()
    found = session.get_credentials()
    if found is None:
        raise EndpointFailed(
            "no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, "
            "or run `aws configure`"
        )

    def current() -> Credentials:
        frozen = found.get_frozen_credentials()
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)

    return current


def endpoint_credentials() -> Callable[[], Credentials]:
    """For an endpoint that is not AWS: the chain's if something is set, any otherwise."""
    if any(os.environ.get(name) for name in _VARIABLES):
        return aws_credentials()
    return lambda: ANY


def default_region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or DEFAULT_REGION


def _session() -> Any:
    try:
        import botocore.session
    except ModuleNotFoundError:
        raise EndpointFailed(
            "AWS credentials are found by botocore, which is not installed: "
            "pip install 'tablewright[aws]'"
        ) from None
    return botocore.session.get_session()
