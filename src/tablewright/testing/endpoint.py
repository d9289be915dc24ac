"""Endpoint: the URL of an endpoint for tests, with clients for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tablewright.engine import Engine

ACCESS_KEY_ID = "testing"
SECRET_ACCESS_KEY = "testing"
REGION = "us-east-1"
#: Marks the context of a request that `redirect` must leave to its client's endpoint.
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
