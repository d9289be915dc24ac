"""Hooks of schemathesis, which loads this file in an environment of its own."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import schemathesis
from hypothesis import strategies


@schemathesis.hook  # type: ignore[untyped-decorator]
def before_load_schema(context: Any, raw_schema: dict[str, Any]) -> None:
    """Describe the tuples of a document as lists, since schemathesis rejects `prefixItems`."""
    _describe_tuples(raw_schema)


def _describe_tuples(part: Any) -> None:
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _describe_tuples(each)
    if isinstance(part, dict) and "prefixItems" in part:
        part["items"] = {"anyOf": part.pop("prefixItems")}


# Moments that keys can hold: not after the year 2286, whose seconds have eleven digits.
schemathesis.openapi.format(
    "date-time",
    strategies.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1)).map(
        lambda moment: f"{moment.isoformat()}Z"
    ),
)


@schemathesis.hook  # type: ignore[untyped-decorator]
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Ignore unknown headers, which every server takes, and refusals that no schema can state.

    These are cursors that are not of the list, values that do not fit together, such as a line of
    another order, and what a validator of the design itself refuses.
    """
    if "in header - object with unexpected properties" in failure.message:
        return False
    try:
        problem = json.loads(response.content)
    except ValueError:
        return True
    if not isinstance(problem, dict) or "code" not in problem:
        return True
    errors = problem.get("errors", [])
    is_together = problem["code"] == "invalid_value" and not errors
    is_of_design = bool(errors) and all(each["type"] == "value_error" for each in errors)
    return not (problem["code"] == "invalid_cursor" or is_together or is_of_design)
