"""PartiQL: requests and responses of ExecuteStatement, BatchExecuteStatement, ExecuteTransaction.

`requests` and `responses` describe the conventions.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from tablewright.limits import MAX_BATCH_STATEMENTS, MAX_STATEMENT_LENGTH, MAX_TRANSACTION_ACTIONS
from tablewright.values import Item, Value
from tablewright.wire.constraints import (
    Length,
    NumberRange,
    ReturnCapacity,
    ReturnOnFailure,
    Structure,
    optional,
)
from tablewright.wire.responses import ConsumedCapacity, ItemOut, Output

StatementText = Annotated[str, Length(1, MAX_STATEMENT_LENGTH)]
# A statement of 8192 characters has fewer parameters than that.
Parameters = Annotated[list[Value], Length(1, 10_000)]


class ParameterizedStatement(Structure):
    """A statement of a transaction, and the members that all statements share."""

    text: StatementText = field(name="Statement")
    parameters: Parameters | None = None
    return_on_failure: ReturnOnFailure | None = optional("ReturnValuesOnConditionCheckFailure")


class BatchStatementRequest(ParameterizedStatement):
    consistent: bool | None = optional("ConsistentRead")


class ExecuteStatementInput(BatchStatementRequest):
    next_token: Annotated[str, Length(1, 32768)] | None = None
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")
    limit: Annotated[int, NumberRange(1)] | None = None


class BatchExecuteStatementInput(Structure):
    statements: Annotated[list[BatchStatementRequest], Length(1, MAX_BATCH_STATEMENTS)]
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")


class ExecuteTransactionInput(Structure):
    statements: Annotated[list[ParameterizedStatement], Length(1, MAX_TRANSACTION_ACTIONS)] = field(
        name="TransactStatements"
    )
    token: Annotated[str, Length(1, 36)] | None = optional("ClientRequestToken")
    return_capacity: ReturnCapacity | None = optional("ReturnConsumedCapacity")


class ExecuteStatementOutput(Output, kw_only=True):
    items: list[ItemOut]
    next_token: str | None = None
    consumed_capacity: ConsumedCapacity | None = None
    last_evaluated_key: Item | None = None


class BatchStatementError(Output):
    code: str
    message: str
    item: Item | None = None


class BatchStatementResponse(Output):
    error: BatchStatementError | None = None
    table_name: str | None = None
    item: ItemOut | None = None


class BatchExecuteStatementOutput(Output, kw_only=True):
    responses: list[BatchStatementResponse]
    consumed_capacity: list[ConsumedCapacity] | None = None


class ItemResponse(Output):
    item: ItemOut | None = None


class ExecuteTransactionOutput(Output, kw_only=True):
    responses: list[ItemResponse]
    consumed_capacity: list[ConsumedCapacity] | None = None
