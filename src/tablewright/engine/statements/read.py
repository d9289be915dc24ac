"""Run a SELECT: GetItem, Query for each value of the partition key, or Scan.

A page ends as that of Query and Scan does, at `Limit` or 1 MB, counted over all branches; it also
ends after ten partitions, as documented for IN. (AWS does not document the order of the partitions;
here it is that of the statement, or that of ORDER BY.)

Checks, in this order: the table; the index and ORDER BY; consistent reads; the keys; NextToken; the
attributes that the index does not hold.

A NextToken holds the number of the branch to read, the key of the last row in it, and a digest of
the statement and its parameters; it is refused with any other statement. It holds nothing that the
response does not show, and gives no access: the key is checked like an ExclusiveStartKey.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import itemgetter

import msgspec
from msgspec import Raw, Struct

from tablewright.capacity import read_units
from tablewright.encoding.items import load, normalise_item
from tablewright.encoding.keys import end_of_prefix, segment_range
from tablewright.engine.charge import Charge
from tablewright.engine.operations.query import find_bounds, resume_after
from tablewright.engine.paging import WorkLimit, read_rows, reject_unprojected_filter
from tablewright.engine.statements.prepared import (
    PreparedStatement,
    SelectBranch,
    SelectPlan,
    Values,
    key_type_error,
    key_values,
)
from tablewright.engine.statements.where import condition_of, is_negated
from tablewright.engine.step import ReadContext
from tablewright.errors import DynamoDBError, ValidationException
from tablewright.expression import tree
from tablewright.expression.compiled import ConditionForm
from tablewright.expression.key import KeyTerm, select
from tablewright.limits import MAX_PAGE_PARTITIONS, MAX_PAGE_SIZE
from tablewright.values import Item, Value, sort_key
from tablewright.wire.partiql import ExecuteStatementInput, ExecuteStatementOutput
from tablewright.wire.responses import ItemOut
from tablewright.wire.values import read_values


def run_select(
    context: ReadContext,
    prepared: PreparedStatement,
    values: Values,
    request: ExecuteStatementInput,
) -> ExecuteStatementOutput:
    """Read one page of a SELECT."""
    table = context.find_table(prepared.table_name)
    plan = prepared.plan_select(table)
    if plan.operation == "GetItem":
        if request.next_token is not None:
            read_token(request.next_token, request.text, request.parameters)
        charge = Charge(table, name=prepared.table_name) if request.return_capacity else None
        item = get_one(context, plan, values, request.consistent, charge)
        answer = ExecuteStatementOutput(items=[] if item is None else [item])
        if charge is not None:
            answer.consumed_capacity = charge.to_consumed_capacity(request.return_capacity)
        return answer
    return _read_pages(context, plan, values, request, Charge(table, name=prepared.table_name))


def get_one(
    context: ReadContext,
    plan: SelectPlan,
    values: Values,
    consistent: bool | None,
    charge: Charge | None,
    check_size: Callable[[int], None] | None = None,
) -> ItemOut | None:
    """Read the item of a plan with a whole key; None if it does not exist, or fails the filter.

    `check_size` may refuse an item of some size before it is decoded.
    """
    table = plan.source.table
    (branch,) = plan.branches
    item_filter = branch.filter.bind(values) if branch.filter else None
    if item_filter or plan.project:
        table.reject_paths_into_keys(item_filter, plan.project)
    found = context.snapshot.get(table.tree, find_key_of_item(plan, values))
    if charge is not None:
        charge.add(read_units(found[0] if found else 0, consistent=consistent))
    if found is None:
        return None
    if check_size is not None:
        check_size(found[0])
    if item_filter is None and plan.project is None:
        return Raw(found[1])
    item = load(found[1])
    if item_filter is not None and not item_filter.holds(item):
        return None
    return plan.project(item) if plan.project else Raw(found[1])


def find_key_of_item(plan: SelectPlan, values: Values) -> bytes:
    """Return the key of the row that a plan with a whole key reads; check its types."""
    keys = plan.source.keys
    wanted = key_values(plan.branches[0].key, values)
    for attribute in keys.attributes:
        if attribute.type not in wanted[attribute.name]:
            raise key_type_error(attribute.name)
    return keys.check_key(wanted)


def check_keys(plan: SelectPlan, values: Values) -> None:
    """Check the values of a plan's key conditions, as the read does."""
    if plan.operation == "GetItem":
        find_key_of_item(plan, values)
    else:
        _find_ranges(plan, values)


class _Range(Struct):
    """The rows of one branch: of a partition, or of a whole table or index."""

    branch: SelectBranch
    partition: bytes | None  # None: a Scan
    bounds: tuple[bytes, bytes | None]


def _read_pages(
    context: ReadContext,
    plan: SelectPlan,
    values: Values,
    request: ExecuteStatementInput,
    charge: Charge,
) -> ExecuteStatementOutput:
    source = plan.source
    if source.index is not None and source.index.is_global and request.consistent:
        raise ValidationException(
            "Strongly consistent read is not supported on Global Secondary Indexes"
        )
    ranges = _find_ranges(plan, values)
    work = WorkLimit()
    position = Position(b"", 0, None)
    if request.next_token is not None:
        position = read_token(request.next_token, request.text, request.parameters)
    items: list[ItemOut] = []
    remaining, max_size = request.limit, MAX_PAGE_SIZE
    next_branch, last = len(ranges), None
    for number in range(position.branch, len(ranges)):
        if number == position.branch + MAX_PAGE_PARTITIONS:
            next_branch = number
            break
        found = ranges[number]
        bounds = found.bounds
        if number == position.branch and position.start_key is not None:
            bounds = _resume(plan, found, position.start_key)
        item_filter = found.branch.filter.bind(values) if found.branch.filter else None
        source.table.reject_paths_into_keys(item_filter, plan.project)
        if source.index is not None and found.branch.is_filter_checked:
            reject_unprojected_filter(source.index, item_filter)
        rows = read_rows(
            context,
            source,
            bounds,
            charge,
            backwards=plan.backwards,
            limit=remaining,
            max_size=max_size,
            work=work,
            consistent=request.consistent,
            item_filter=item_filter,
            project=plan.project,
            fetch=plan.fetch,
        )
        items += rows.items
        if rows.last is not None:
            next_branch, last = number, rows.last
            break
        max_size -= rows.size
        if remaining is not None:
            remaining -= rows.scanned
    token = None
    if next_branch < len(ranges):
        token = encode_token(request.text, request.parameters, next_branch, last)
    return ExecuteStatementOutput(
        items=items,
        next_token=token,
        consumed_capacity=charge.to_consumed_capacity(request.return_capacity),
        last_evaluated_key=last,
    )


def _find_ranges(plan: SelectPlan, values: Values) -> list[_Range]:
    """Return the ranges of rows to read; refuse ranges that overlap."""
    if plan.operation == "Scan":
        return [_Range(plan.branches[0], None, segment_range(0, 1))]
    keys = plan.source.keys
    ranges: list[tuple[list[object], _Range]] = []
    for branch in plan.branches:
        terms = {
            test.name: KeyTerm(test.operator, tuple([values[name] for name in test.operands]))
            for test in branch.key
        }
        for name, term in terms.items():
            if any(keys.types[name] not in operand for operand in term.operands):
                raise key_type_error(name)
        selection = select(terms, keys.partition_names, keys.sort_names, keys.types)
        order = [sort_key(tag, value[tag]) for value in selection.partition for tag in value]
        ranges.append((order, _Range(branch, *find_bounds(plan.source, selection))))
    if len(ranges) == 1:
        return [ranges[0][1]]
    if plan.partition_order != "none":
        ranges.sort(key=itemgetter(0), reverse=plan.partition_order == "descending")
    return _reject_overlaps(_unite_negated([one for _, one in ranges], plan))


def _demand(branch: SelectBranch, partition_names: Sequence[str]) -> tree.Condition | None:
    rest = branch.filter.tree if branch.filter else None
    return condition_of(branch.key, rest, partition_names)


def _unite_negated(ranges: list[_Range], plan: SelectPlan) -> list[_Range]:
    """Unite the alternatives of a partition if one of them negates a condition on the sort key.

    DynamoDB accepts such a condition beside others on the sort key, or beside the whole partition,
    and returns each item once. An alternative with a condition on another attribute stays as it
    is.
    """
    names = plan.source.keys.sort_names
    by_partition: dict[bytes | None, list[_Range]] = {}
    for one in ranges:
        by_partition.setdefault(one.partition, []).append(one)
    united: list[_Range] = []
    for partition, some in by_partition.items():
        rests = [one.branch.filter for one in some]
        negated = [rest is not None and is_negated(rest.tree, names) for rest in rests]
        usable = all(rest is None or is_ for rest, is_ in zip(rests, negated, strict=True))
        if partition is None or len(some) == 1 or not any(negated) or not usable:
            united += some
            continue
        alternatives = [
            condition
            for one in some
            if (condition := _demand(one.branch, plan.source.keys.partition_names))
        ]
        rest = None
        if len(alternatives) == len(some):  # otherwise one of them is the whole partition
            rest = ConditionForm(tree.Or(tuple(alternatives)), plan.names)
        branch = SelectBranch((), rest, False)
        united.append(_Range(branch, partition, (partition, end_of_prefix(partition))))
    return united


def _reject_overlaps(ranges: list[_Range]) -> list[_Range]:
    """Return the ranges without repetitions; raise a fault if two others overlap."""
    distinct: dict[tuple[bytes, bytes | None], _Range] = {}
    for one in ranges:
        known = distinct.setdefault(one.bounds, one)
        if known.branch.filter is not one.branch.filter:
            raise _overlap()
    ordered = sorted(distinct, key=lambda bounds: bounds[0])
    for (_, end), (first, _) in pairwise(ordered):
        if end is None or first < end:
            raise _overlap()
    return list(distinct.values())


def _overlap() -> ValidationException:
    return ValidationException(
        "Overlapping conditions with range keys are not supported in where clause"
    )


def _resume(plan: SelectPlan, found: _Range, start_key: Item) -> tuple[bytes, bytes | None]:
    if found.partition is None:
        start = plan.source.encode_start_key(start_key, scanning=True)
        return start + b"\x00", found.bounds[1]
    return resume_after(
        plan.source, start_key, found.partition, found.bounds, backwards=plan.backwards
    )


# -- NextToken


class Position(Struct, array_like=True):
    """A place between two rows of a statement's result."""

    digest: bytes
    branch: int
    start_key: Item | None


_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(Position).decode


def encode_token(
    text: str, parameters: Sequence[Value] | None, branch: int, key: Item | None
) -> str:
    """Return the token of the page that begins after a key of a branch."""
    position = Position(_digest(text, parameters), branch, key)
    return base64.urlsafe_b64encode(_encode(position)).decode()


def read_token(token: str, text: str, parameters: Sequence[Value] | None) -> Position:
    """Decode a token; raise a fault if it is invalid, or belongs to another statement."""
    try:
        position = _decode(base64.urlsafe_b64decode(token))
        if position.start_key is not None:
            position.start_key = normalise_item(read_values(position.start_key))
    except (ValueError, DynamoDBError):
        raise ValidationException("Invalid NextToken") from None
    if position.digest != _digest(text, parameters) or position.branch < 0:
        raise ValidationException("NextToken does not match request")
    return position


def _digest(text: str, parameters: Sequence[Value] | None) -> bytes:
    return hashlib.sha256(_encode((text, parameters or ()))).digest()[:12]
