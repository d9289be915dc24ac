"""The expressions of a request, or the equivalent legacy parameters.

Each function parses and checks the expressions of one kind of request, as far as possible without
tables. The order of evaluation is DynamoDB's for each operation. Legacy parameters are processed
only if a request has some, so other requests do not have their cost.
"""

from __future__ import annotations

from tablewright.errors import ValidationException
from tablewright.expression import (
    CompiledCondition,
    CompiledKeyCondition,
    CompiledProjection,
    CompiledUpdate,
    Scope,
)
from tablewright.expression.legacy import (
    LegacyKeyCondition,
    compile_attribute_updates,
    compile_attributes_to_get,
    compile_expected,
    compile_filter,
    read_key_conditions,
    refuse_mixture,
)
from tablewright.wire import requests
from tablewright.wire.constraints import Structure

ProjectionRequest = requests.GetItemInput | requests.KeysAndAttributes | requests.TransactGetEntry


def read_condition(
    request: requests.PutItemInput | requests.DeleteItemInput,
) -> CompiledCondition | None:
    """Read the condition of PutItem and DeleteItem."""
    legacy = _read_legacy_condition(request)
    if request.condition is None and not request.names and not request.values:
        return legacy
    scope = Scope(request.names, request.values)
    condition = scope.condition(request.condition)
    scope.require_all_used()
    return condition or legacy


def read_update(
    request: requests.UpdateItemInput,
) -> tuple[CompiledUpdate | None, CompiledCondition | None]:
    """Read the update and the condition of UpdateItem."""
    legacy_condition = _read_legacy_condition(request)
    legacy_update = None
    if request.attribute_updates:
        refuse_mixture(_present_members(request))
        legacy_update = compile_attribute_updates(request.attribute_updates)
    scope = Scope(request.names, request.values)
    update = scope.update(request.update)
    condition = scope.condition(request.condition)
    scope.require_all_used()
    return update or legacy_update, condition or legacy_condition


def read_action(
    action: requests.AnyTransactAction,
) -> tuple[CompiledUpdate | None, CompiledCondition | None]:
    """Read the update and the condition of one action of a transaction.

    DynamoDB accepts values there that have one level more than an item can have.
    """
    scope = Scope(action.names, action.values, depth=-1)
    update = None
    if isinstance(action, requests.TransactUpdate):
        update = scope.update(action.update)
    condition = scope.condition(action.condition)
    scope.require_all_used()
    return update, condition


def read_projection(request: ProjectionRequest) -> CompiledProjection | None:
    """Read the projection of GetItem, BatchGetItem (per table) or TransactGetItems (per item)."""
    legacy = None
    if request.attributes_to_get:
        refuse_mixture(_present_members(request))
        legacy = compile_attributes_to_get(request.attributes_to_get)
    if request.projection is None and request.names is None:
        return legacy
    scope = Scope(request.names)
    project = scope.projection(request.projection)
    scope.require_all_used()
    return project


def read_query(
    request: requests.QueryInput,
) -> tuple[
    CompiledKeyCondition | LegacyKeyCondition, CompiledCondition | None, CompiledProjection | None
]:
    """Read the key condition, the filter and the projection of Query."""
    legacy_filter, legacy_project = _read_legacy_filter(request, request.query_filter)
    legacy_key = None
    if request.key_conditions is not None:
        legacy_key = read_key_conditions(request.key_conditions)
    scope = Scope(request.names, request.values)
    item_filter = scope.filter(request.filter)
    project = scope.projection(request.projection)
    key = scope.key_condition(request.key_condition) or legacy_key
    scope.require_all_used()
    if key is None:
        raise ValidationException(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in "
            "the request."
        )
    return key, item_filter or legacy_filter, project or legacy_project


def read_scan(
    request: requests.ScanInput,
) -> tuple[CompiledCondition | None, CompiledProjection | None]:
    """Read the filter and the projection of Scan."""
    legacy_filter, legacy_project = _read_legacy_filter(request, request.scan_filter)
    scope = Scope(request.names, request.values)
    item_filter = scope.filter(request.filter)
    project = scope.projection(request.projection)
    scope.require_all_used()
    return item_filter or legacy_filter, project or legacy_project


def _read_legacy_filter(
    request: requests.QueryInput | requests.ScanInput, conditions: requests.LegacyEntries | None
) -> tuple[CompiledCondition | None, CompiledProjection | None]:
    """Read the legacy filter and projection of Query or Scan."""
    if not (conditions or request.attributes_to_get or request.conditional_operator) and not (
        isinstance(request, requests.QueryInput) and request.key_conditions
    ):
        return None, None
    present = _present_members(request)
    if "KeyConditionExpression" not in present:
        # Without the expression, it may be combined with a FilterExpression.
        present.discard("KeyConditions")
    refuse_mixture(present)
    return (
        compile_filter(conditions, request.conditional_operator),
        compile_attributes_to_get(request.attributes_to_get),
    )


def _read_legacy_condition(request: requests.WriteItemInput) -> CompiledCondition | None:
    if not request.expected and request.conditional_operator is None:
        return None
    refuse_mixture(_present_members(request))
    return compile_expected(request.expected, request.conditional_operator)


def _present_members(request: Structure) -> set[str]:
    """Return the names of the present members of a request; an empty map counts as absent."""
    return {name for name, value in request.present_members().items() if value != {}}
