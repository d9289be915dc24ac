"""UpdateContributorInsights, DescribeContributorInsights and ListContributorInsights.

While it is enabled, the engine counts the keys that requests use (`engine.contributors`). In
the mode THROTTLED_KEYS, only keys of throttled requests are counted.

As in DynamoDB: enabling without a mode selects ACCESSED_AND_THROTTLED_KEYS; the mode of a request
to disable is ignored; a disabled table or index is not listed. The response says ENABLING or
DISABLING if there is a change; the next description has the final status.
"""

from __future__ import annotations

import time
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from tablewright.engine.step import ReadContext, WriteContext, reads, writes
from tablewright.engine.tables.describe import present, round_timestamp, take_page
from tablewright.engine.tables.table import StoredTable
from tablewright.errors import ValidationException, not_found
from tablewright.schema import InsightsSetting
from tablewright.wire.table_settings import (
    DescribeContributorInsightsInput,
    ListContributorInsightsInput,
    UpdateContributorInsightsInput,
)

DEFAULT_MODE = "ACCESSED_AND_THROTTLED_KEYS"
MAX_LISTED = 100
#: Names of the rules in CloudWatch: accessed and throttled partition keys, then whole keys.
_RULES = (("PKC", "PKT"), ("SKC", "SKT"))


@writes
def update_contributor_insights(
    request: UpdateContributorInsightsInput, context: WriteContext
) -> dict[str, Any]:
    enable = request.action == "ENABLE"
    table = _find_table(context, request.table_name, request.index_name)
    old = find_setting(table, request.index_name)
    mode = request.mode or DEFAULT_MODE
    if not enable and old is not None:
        mode = old.mode
    was_enabled = old is not None and old.is_enabled
    changed = enable != was_enabled or (old is not None and enable and old.mode != mode)
    if changed:
        now = time.time()
        since = old.since if old is not None and was_enabled else now
        new = InsightsSetting(request.index_name, enable, mode, since, now)
        others = tuple(one for one in table.schema.insights if one is not old)
        context.catalog.save_schema(context.tx, replace(table.schema, insights=(*others, new)))
    final = "ENABL" if enable else "DISABL"
    return {
        **_names(table, request.index_name),
        "ContributorInsightsStatus": final + ("ING" if changed else "ED"),
        "ContributorInsightsMode": mode,
    }


@reads
def describe_contributor_insights(
    request: DescribeContributorInsightsInput, context: ReadContext
) -> dict[str, Any]:
    table = _find_table(context, request.table_name, request.index_name)
    setting = find_setting(table, request.index_name)
    names = _names(table, request.index_name)
    if setting is None:
        return {**names, "ContributorInsightsStatus": "DISABLED"}
    return present(
        **names,
        ContributorInsightsRuleList=_rule_names(table, setting) if setting.is_enabled else None,
        ContributorInsightsStatus="ENABLED" if setting.is_enabled else "DISABLED",
        LastUpdateDateTime=round_timestamp(setting.changed),
        ContributorInsightsMode=setting.mode,
    )


@reads
def list_contributor_insights(
    request: ListContributorInsightsInput, context: ReadContext
) -> dict[str, Any]:
    tables = sorted(context.catalog.tables.values(), key=lambda table: table.name)
    if request.table_name is not None:
        tables = [context.find_table_for_control_plane(request.table_name)]
    # A table comes before its indexes.
    found = [
        (f"{table.name}/{setting.index or ''}", table, setting)
        for table in tables
        for setting in sorted(table.schema.insights, key=lambda one: one.index or "")
        if setting.is_enabled
    ]
    if request.next_token is not None:
        if "/" not in request.next_token:  # DynamoDB's text is not known for certain
            raise ValidationException("Invalid NextToken")
        found = [one for one in found if one[0] > request.next_token]
    page, following = take_page(found, request.max_results or MAX_LISTED, NextToken=itemgetter(0))
    summaries = [
        {
            **_names(table, setting.index),
            "ContributorInsightsStatus": "ENABLED",
            "ContributorInsightsMode": setting.mode,
        }
        for _, table, setting in page
    ]
    return {"ContributorInsightsSummaries": summaries, **following}


def find_setting(table: StoredTable, index: str | None) -> InsightsSetting | None:
    return next((one for one in table.schema.insights if one.index == index), None)


def _find_table(context: ReadContext, name: str, index: str | None) -> StoredTable:
    table = context.find_table_for_control_plane(name)
    found = table.indexes_by_name.get(index) if index is not None else None
    if index is not None and (found is None or not found.is_global):
        raise not_found(f"Index: {index}", f"Table: {table.name}")
    return table


def _names(table: StoredTable, index: str | None) -> dict[str, Any]:
    return present(TableName=table.name, IndexName=index)


def _rule_names(table: StoredTable, setting: InsightsSetting) -> list[str]:
    """Return the names of the rules that DynamoDB creates in CloudWatch."""
    keys = table.keys if setting.index is None else table.indexes_by_name[setting.index].keys
    resource = table.name if setting.index is None else f"{table.name}-{setting.index}"
    return [
        f"DynamoDBContributorInsights-{throttled if is_throttled else accessed}"
        f"-{resource}-{int(setting.since * 1000)}"
        for accessed, throttled in _RULES[: 2 if keys.schema.sort else 1]
        for is_throttled in ((True,) if setting.mode == "THROTTLED_KEYS" else (False, True))
    ]
