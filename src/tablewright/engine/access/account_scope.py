"""Account scopes: the region and the account in the ARNs of an engine.

Inside, every engine is in `us-east-1`, account `123456789012`: stored data and ARNs that operations
compose have these. An engine with a scope translates at its border:

    request    in members whose name ends with `Arn`, ARNs of the scope become internal ones; ARNs
               of other scopes are refused, also as TableName
    response   internal ARNs become those of the scope, in members whose name ends with `Arn`, in
               the messages of faults, and in the resources that policies are about

So operations need not know their scope, and an engine without a scope has no extra cost. Items are
never translated: an item may contain any text.

The scopes are those of `serve --isolate-regions`, and that of files whose account was
`000000000000` before accounts were stored. Such a file belongs to all regions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from msgspec import Struct

from tablewright.engine.engine import Engine
from tablewright.engine.step import Step, wrap
from tablewright.engine.tables.describe import (
    ACCOUNT,
    OLD_ACCOUNT,
    REGION,
    reject_other_account,
)
from tablewright.errors import (
    DynamoDBError,
    InvalidValue,
    ValidationException,
)
from tablewright.wire.layers import LAYERED, label
from tablewright.wire.streams import GetRecordsOutput
from tablewright.wire.touches import named_tables, unchecked_parts

INTERNAL = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:"
_OLD_INTERNAL = f"arn:aws:dynamodb:{REGION}:{OLD_ACCOUNT}:"
_KMS = f"arn:aws:kms:{REGION}:{ACCOUNT}:"
_REGION = re.compile(r"[a-z0-9-]{1,32}").fullmatch
_ACCOUNT = re.compile(r"\d{12}").fullmatch


class AccountScope(Struct, frozen=True):
    """A region and an account. Without a region, an ARN may have any."""

    region: str | None = REGION
    account: str = ACCOUNT

    def __post_init__(self) -> None:
        if self.region is not None and not _REGION(self.region):
            raise InvalidValue(f"{self.region!r} is not a region such as eu-west-1")
        if not _ACCOUNT(self.account):
            raise InvalidValue(f"{self.account!r} is not an account: it must have 12 digits")

    @property
    def prefix(self) -> str:
        """The beginning of the ARNs of this scope."""
        return f"arn:aws:dynamodb:{self.region or REGION}:{self.account}:"

    def concerns(self, operation: str) -> bool:
        """Return whether requests of an operation are translated.

        Those about items name no resources but their tables, whose account `find_table` checks.
        """
        return self.region is not None or operation not in LAYERED

    def show(self, text: str) -> str:
        """Return a text with the ARNs of this scope instead of internal ones."""
        kms = f"arn:aws:kms:{self.region or REGION}:{self.account}:"
        # Files from before accounts were stored have ARNs of tables that were restored.
        text = text.replace(_OLD_INTERNAL, self.prefix)
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
        parts = text.split(":", 5)
        if self.region is not None and parts[3] != self.region:
            raise ValidationException(label(f"Invalid AWS region in '{text}'"))
        reject_other_account(text, self.account)
        return ":".join((*parts[:4], ACCOUNT, *parts[5:]))

    def prepare(self, prepare: Callable[[object], Step], request: object) -> Step:
        """Prepare a request with internal ARNs; its response has those of this scope."""
        internal = self.read_request(request)
        try:
            step = prepare(internal)
        except DynamoDBError as fault:
            self.show_fault(fault)
            raise
        return self.apply(step)

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
                record.aws_region = self.region or REGION
        return answer


class ScopedEngine(Engine):
    """An engine whose ARNs have the region and the account of a scope. It refuses other ARNs.

    >>> engine = ScopedEngine(":memory:", scope=AccountScope("eu-west-1", "123456789012"))
    >>> engine.call("ListTables")
    {'TableNames': []}
    """

    def __init__(self, *arguments: Any, scope: AccountScope | None = None, **settings: Any) -> None:
        """Open a file, or create it. All other arguments are those of `Engine`.

        Without a `scope`, the region is us-east-1 and the account that of the file.
        """
        super().__init__(*arguments, **settings)
        self.scope = scope = scope or AccountScope(account=self._account)
        self._enter(scope)


def _tables_in_statements(request: object) -> Iterator[str]:
    """Yield the names and ARNs of tables in the statements of a request that may have an ARN."""
    for part in unchecked_parts(request):
        statement = part.get("Statement")
        if isinstance(statement, str) and "arn:" in statement:
            from tablewright.engine.statements.prepared import prepare_statement  # when needed

            with suppress(ValidationException):  # the operation raises it
                yield prepare_statement(statement).table_name
