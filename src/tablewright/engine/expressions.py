"""The expressions of a request, or the equivalent legacy parameters.

Each function parses and checks the expressions of one kind of request, as far as possible without
tables. The order of evaluation is DynamoDB's for each operation. Legacy parameters are processed
only if a request has some, so other requests do not pay for them.
"""

from __future__ import annotations

from tablewright.errors import ValidationException
from tablewright.expression import Condition, Key, Project, Scope, Update
from tablewright.expression.legacy import (
    LegacyKey,
    attribute_updates,
    attributes_to_get,
    expected,
    filter_conditions,
    key_conditions,
    refuse_mixture,
)
from tablewright.wire import requests
from tablewright.wire.requests import Shape

ProjectionRequest = requests.GetItem | requests.KeysAndAttributes | requests.Get


def read_condition(request: requests.PutItem | requests.DeleteItem) -> Condition | None:
    """Read the condition of PutItem and DeleteItem."""
    legacy = _read_legacy_condition(request)
    scope = Scope(request.names, request.values)
    condition = scope.condition(request.condition)
    scope.close()
    return condition or legacy


def read_update(request: requests.UpdateItem) -> tuple[Update | None, Condition | None]:
    """Read the update and the condition of UpdateItem."""
    legacy_condition = _read_legacy_condition(request)
    legacy_update = None
    if request.attribute_updates:
        refuse_mixture(_present_members(request))
        legacy_update = attribute_updates(request.attribute_updates)
    scope = Scope(request.names, request.values)
    update = scope.update(request.update)
    condition = scope.condition(request.condition)
    scope.close()
    return update or legacy_update, condition or legacy_condition


def read_action(action: requests.AnyAction) -> tuple[Update | None, Condition | None]:
    """Read the update and the condition of one action of a transaction."""
    scope = Scope(action.names, action.values)
    update = None
    if isinstance(action, requests.Update):
        update = scope.update(action.update)
    condition = scope.condition(action.condition)
    scope.close()
    return update, condition


def read_projection(request: ProjectionRequest) -> Project | None:
    """Read the projection of GetItem, BatchGetItem (per table) or TransactGetItems (per item)."""
    legacy = None
    if request.attributes_to_get:
        refuse_mixture(_present_members(request))
        legacy = attributes_to_get(request.attributes_to_get)
    if request.projection is None and request.names is None:
        return legacy
    scope = Scope(request.names)
    project = scope.projection(request.projection)
    scope.close()
    return project


def read_query(
    request: requests.Query,
) -> tuple[Key | LegacyKey, Condition | None, Project | None]:
    """Read the key condition, the filter and the projection of Query."""
    legacy_filter, legacy_project = _read_legacy_filter(request, request.query_filter)
    legacy_key = None
    if request.key_conditions is not None:
        legacy_key = key_conditions(request.key_conditions)
    scope = Scope(request.names, request.values)
    item_filter = scope.filter(request.filter)
    project = scope.projection(request.projection)
    key = scope.key_condition(request.key_condition) or legacy_key
    scope.close()
    if key is None:
        raise ValidationException(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in "
            "the request."
        )
    return key, item_filter or legacy_filter, project or legacy_project


def read_scan(request: requests.Scan) -> tuple[Condition | None, Project | None]:
    """Read the filter and the projection of Scan."""
    legacy_filter, legacy_project = _read_legacy_filter(request, request.scan_filter)
    scope = Scope(request.names, request.values)
    item_filter = scope.filter(request.filter)
    project = scope.projection(request.projection)
    scope.close()
    return item_filter or legacy_filter, project or legacy_project


def _read_legacy_filter(
    request: requests.Query | requests.Scan, conditions: requests.Legacy | None
) -> tuple[Condition | None, Project | None]:
    """Read the legacy filter and projection of Query or Scan."""
    if not (conditions or request.attributes_to_get or request.conditional_operator) and not (
        isinstance(request, requests.Query) and request.key_conditions
    ):
        return None, None
    present = _present_members(request)
    if "KeyConditionExpression" not in present:
        present.discard(
            "KeyConditions"
        )  # without the expression it may be combined with a FilterExpression
    refuse_mixture(present)
    return (
        filter_conditions(conditions, request.conditional_operator),
        attributes_to_get(request.attributes_to_get),
    )


def _read_legacy_condition(request: requests.Conditional) -> Condition | None:
    if not request.expected and request.conditional_operator is None:
        return None
    refuse_mixture(_present_members(request))
    return expected(request.expected, request.conditional_operator)


def _present_members(request: Shape) -> set[str]:
    """Return the names of the present members of a request; an empty map counts as absent."""
    return {name for name, value in request.given().items() if value != {}}
