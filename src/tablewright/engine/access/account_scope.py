"""Account scopes: the region and the account in the ARNs of an engine.

Inside, every engine is in `us-east-1`, account `000000000000`: stored data and ARNs that operations
compose have these. An engine with a scope translates at its border:

    request    ARNs of the scope become internal ones; ARNs of other scopes are refused
    response   internal ARNs become those of the scope, in members whose name ends with `Arn`, in
               the messages of faults, and in the resources that policies are about

So operations need not know their scope, and an engine without a scope has no extra cost. Items are
never translated: an item may contain any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from msgspec import Struct

from tablewright.engine.engine import Engine
from tablewright.engine.step import Step, wrap
from tablewright.engine.tables.describe import ACCOUNT, REGION
from tablewright.errors import (
    AccessDeniedException,
    DynamoDBError,
    InvalidValue,
    ValidationException,
)
from tablewright.policy import Principal
from tablewright.wire.streams import GetRecordsOutput
from tablewright.wire.touches import named_tables, unchecked_parts

INTERNAL = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:"
_KMS = f"arn:aws:kms:{REGION}:{ACCOUNT}:"
_REGION = re.compile(r"[a-z0-9-]{1,32}").fullmatch
_ACCOUNT = re.compile(r"\d{12}").fullmatch


class AccountScope(Struct, frozen=True):
    """A region and an account."""

    region: str = REGION
    account: str = ACCOUNT

    def __post_init__(self) -> None:
        if not _REGION(self.region):
            raise InvalidValue(f"{self.region!r} is not a region such as eu-west-1")
        if not _ACCOUNT(self.account):
            raise InvalidValue(f"{self.account!r} is not an account: it must have 12 digits")

    @property
    def prefix(self) -> str:
        """The beginning of the ARNs of this scope."""
        return f"arn:aws:dynamodb:{self.region}:{self.account}:"

    def show(self, text: str) -> str:
        """Return a text with the ARNs of this scope instead of internal ones."""
        kms = f"arn:aws:kms:{self.region}:{self.account}:"
        return text.replace(INTERNAL, self.prefix).replace(_KMS, kms)

    def read_request(self, request: object) -> object:
        """Return a JSON request with internal ARNs; refuse ARNs of other scopes."""
        if not isinstance(request, dict):
            return request
        for table in (*named_tables(request), *_tables_in_statements(request)):
            self._internal(table)
        return {
            name: self._internal(value)
            if isinstance(value, str) and name.endswith("Arn")
            else value
            for name, value in request.items()
        }

    def _internal(self, text: str) -> str:
        if not text.startswith("arn:aws:dynamodb:"):
            return text
        if text.startswith(self.prefix):
            return INTERNAL + text.removeprefix(self.prefix)
        if text.split(":")[3] != self.region:
            raise ValidationException(
                f"1 validation error detected: Invalid AWS region in '{text}'"
            )
        # On AWS a resource policy of the other account could allow it.
        raise AccessDeniedException(
            f"Account {self.account} is not authorized to access the resource {text} of another "
            "account, because no resource-based policy allows it"
        )

    def apply(self, step: Step) -> Step:
        """Return a step whose response and faults have the ARNs of this scope."""

        def scoped_run(run: Any, context: Any) -> Any:
            try:
                return self._show_members(run(context))
            except DynamoDBError as fault:
                self.show_fault(fault)
                raise

        return wrap(step, scoped_run)

    def show_fault(self, fault: DynamoDBError) -> None:
        """Give the message of a fault the ARNs of this scope."""
        fault.message = self.show(fault.message)
        fault.args = (fault.message,)

    def _show_members(self, answer: Any) -> Any:
        if isinstance(answer, dict):
            return {
                name: self.show(value)
                if isinstance(value, str) and name.endswith("Arn")
                else self._show_members(value)
                for name, value in answer.items()
            }
        if isinstance(answer, list):
            return [self._show_members(entry) for entry in answer]
        if isinstance(answer, GetRecordsOutput):
            for record in answer.records:
                record.aws_region = self.region
        return answer


class ScopedEngine(Engine):
    """An engine whose ARNs have the region and the account of a scope. It refuses other ARNs.

    >>> engine = ScopedEngine(":memory:", scope=AccountScope("eu-west-1", "123456789012"))
    >>> engine.call("ListTables")
    {'TableNames': []}
    """

    def __init__(self, *arguments: Any, scope: AccountScope, **settings: Any) -> None:
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


def _tables_in_statements(request: object) -> Iterator[str]:
    """Yield the names and ARNs of tables in the statements of a request that may have an ARN."""
    for part in unchecked_parts(request):
        statement = part.get("Statement")
        if isinstance(statement, str) and "arn:" in statement:
            from tablewright.engine.statements.prepared import prepare_statement  # when needed

            with suppress(ValidationException):  # the operation raises it
                yield prepare_statement(statement).table_name
