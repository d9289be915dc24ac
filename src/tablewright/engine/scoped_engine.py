"""An engine in a region and an account of its own."""

from __future__ import annotations

from typing import Any

from tablewright.engine.engine import Engine
from tablewright.engine.scope import Scope
from tablewright.engine.step import Step
from tablewright.errors import DynamoDBError
from tablewright.policy import Principal


class ScopedEngine(Engine):
    """An engine whose ARNs have the region and the account of a scope. It refuses other ARNs.

    >>> engine = ScopedEngine(":memory:", scope=Scope("eu-west-1", "123456789012"))
    >>> engine.call("ListTables")
    {'TableNames': []}
    """

    def __init__(self, *arguments: Any, scope: Scope, **settings: Any) -> None:
        """Open a file, or create it. All other arguments are those of `Engine`."""
        super().__init__(*arguments, **settings)
        self._scope = scope
        self.scope = scope

    def prepare(self, operation: str, request: object, policy: Principal | None = None) -> Step:
        scope = self.scope
        internal = scope.read_request(request)
        try:
            step = super().prepare(operation, internal, policy)
        except DynamoDBError as fault:
            scope.show_fault(fault)
            raise
        return scope.apply(step)
