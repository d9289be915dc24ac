"""Mock: unmodified code for boto3, aioboto3 or PynamoDB works on an engine in memory.

    with mock_dynamodb():
        boto3.client("dynamodb").list_tables()

Each mock has an engine and an endpoint of its own, without tables. `redirected` sends the requests
of this process to it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, TypeVar, overload
from unittest import TestCase

from tablewright.engine import Engine
from tablewright.server import serving
from tablewright.testing.endpoint import EndpointURL, closing_clients, redirected, require_botocore
from tablewright.wire.layers import DEFAULT_VALIDATION, ValidationYear

F = TypeVar("F", bound=Callable[..., Any])


class DynamoDBMock:
    """What `mock_dynamodb()` returns: a context manager, and a decorator."""

    def __init__(self, validation: ValidationYear = DEFAULT_VALIDATION) -> None:
        self._validation: ValidationYear = validation
        self._entered: list[ExitStack] = []

    def __enter__(self) -> EndpointURL:
        require_botocore()
        with ExitStack() as stack:
            engine = stack.enter_context(Engine(":memory:", validation=self._validation))
            url = stack.enter_context(serving(engine))
            endpoint = stack.enter_context(closing_clients(url, engine))
            stack.enter_context(redirected(url))
            self._entered.append(stack.pop_all())
        return endpoint

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._entered.pop().close()

    def __call__(self, decorated: F) -> F:
        wrapped: F = _decorate(decorated, self._validation)
        return wrapped


@overload
def mock_dynamodb(*, validation: ValidationYear = ...) -> DynamoDBMock: ...
@overload
def mock_dynamodb(decorated: F) -> F: ...
def mock_dynamodb(decorated: Any = None, *, validation: ValidationYear = DEFAULT_VALIDATION) -> Any:
    """Send all requests of this process for DynamoDB to an empty engine in memory.

        with mock_dynamodb() as endpoint:
            boto3.client("dynamodb").list_tables()

        @mock_dynamodb
        def test_an_order_is_stored() -> None: ...

    For all clients of boto3, aioboto3, PynamoDB and botocore, also those that were created before.
    The environment has the URL of the endpoint, fake credentials, and the region us-east-1 unless
    it has another; at the end everything is as before, also after an exception. Mocks can be
    nested: the inner one applies. As a decorator it takes functions, asynchronous functions and
    classes: a `unittest.TestCase`, with `setUp` and `tearDown`, or the methods `test…` of another
    class; each call has a mock of its own. `validation` is that of `Engine`, also in
    `@mock_dynamodb(validation="2025")`. Raise ImportError if botocore is not installed.
    """
    if decorated is None:
        return DynamoDBMock(validation)
    return _decorate(decorated, validation)


def _decorate(decorated: Any, validation: ValidationYear) -> Any:
    """Give each call of a function, or each test of a class, a mock of its own."""
    if isinstance(decorated, type):
        return _decorate_class(decorated, validation)
    if inspect.isgeneratorfunction(decorated) or inspect.isasyncgenfunction(decorated):
        raise TypeError(
            f"mock_dynamodb cannot decorate the generator {decorated.__qualname__}; write "
            "`with mock_dynamodb():` in it"
        )
    if not callable(decorated):
        raise TypeError(
            f"mock_dynamodb decorates functions and classes, got {decorated!r}; write "
            "`@mock_dynamodb` or `with mock_dynamodb():`"
        )
    if inspect.iscoroutinefunction(decorated):

        @functools.wraps(decorated)
        async def call_async(*arguments: Any, **options: Any) -> Any:
            with DynamoDBMock(validation):
                return await decorated(*arguments, **options)

        return call_async

    @functools.wraps(decorated)
    def call(*arguments: Any, **options: Any) -> Any:
        with DynamoDBMock(validation):
            return decorated(*arguments, **options)

    return call


def _decorate_class(decorated: type, validation: ValidationYear) -> type:
    """Give each test of a class a mock of its own."""
    if issubclass(decorated, TestCase):
        # `run` is one test with its setUp and tearDown.
        decorated.run = _decorate(decorated.run, validation)  # type: ignore[method-assign]
        return decorated
    for name, value in list(vars(decorated).items()):
        if name.startswith("test") and inspect.isfunction(value):
            setattr(decorated, name, _decorate(value, validation))
    return decorated
