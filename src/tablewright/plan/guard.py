"""Guards: what must hold for a write to be done, and what it means when it does not.

A write that depends on what is stored is sent with a condition on what was read. When the condition
fails, DynamoDB gives the item as it is: from that follows whether to read again, or which error to
raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from tablewright.errors import ConditionFailed, VersionConflict, WriteRejected
from tablewright.expression import Scope
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.table import TableMap
from tablewright.plan.condition import Compare, Condition
from tablewright.plan.expressions import Placeholders
from tablewright.plan.shape import content
from tablewright.values import Item, Value

#: Attributes as they were read, by their stored names; None where there was none.
Read: TypeAlias = "dict[str, Value | None]"


def read_from(item: Item | None, names: Iterable[str]) -> Read:
    return {name: None if item is None else item.get(name) for name in names}


class Conditions:
    """The condition of one action, and the names and values of all its expressions."""

    def __init__(self) -> None:
        self.marks = Placeholders()
        self.texts: list[str] = []

    def exists(self, table: TableMap) -> None:
        self.texts.append(f"attribute_exists({self.marks.name(table.attributes[0])})")

    def not_exists(self, table: TableMap) -> None:
        self.texts.append(f"attribute_not_exists({self.marks.name(table.attributes[0])})")

    def still(self, read: Read) -> None:
        """The attributes are still what was read; None is one that was not there."""
        for name, value in read.items():
            mark = self.marks.name(name)
            if value is None:
                self.texts.append(f"attribute_not_exists({mark})")
            else:
                self.texts.append(f"{mark} = {self.marks.value(value)}")

    def take(self, conditions: Sequence[Condition[Any]]) -> None:
        self.texts += [condition.factor(self.marks) for condition in conditions]

    def into(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body, with the condition and everything the expressions refer to."""
        if self.texts:
            body["ConditionExpression"] = " AND ".join(self.texts)
        body.update(self.marks.members())
        return body


def shown_key(key: Item) -> str:
    return ", ".join(f"{name}={content(value)}" for name, value in key.items())


def refusal(
    kind: type[WriteRejected], entity: EntityMap, key: Item, item: Item | None, why: str
) -> WriteRejected:
    """A refused write: what, where and why."""
    current = None if item is None else entity.decode(item)
    message = f"{entity.name} ({shown_key(key)}): {why}"
    return kind(message, entity=entity.name, key=key, current=current, reason=why)


def expected_version(entity: EntityMap, conditions: Sequence[Condition[Any]]) -> Any:
    """The version that the conditions ask for, if they do."""
    if entity.version is not None:
        for condition in conditions:
            if (
                isinstance(condition, Compare)
                and condition.comparator == "="
                and condition.operand.name == entity.version.name
            ):
                return condition.value
    return None


def version_read(entity: EntityMap, version: Any) -> Read:
    """A version as it was read: what was never counted has none."""
    if entity.version is None:
        return {}
    return {entity.version.stored: {"N": str(version)} if version else None}


def stale(entity: EntityMap, key: Item, item: Item | None, expected: Any) -> WriteRejected | None:
    """The error for a stored version that is not the expected one."""
    if entity.version is None or expected is None:
        return None
    found = 0 if item is None else entity.values(item)[entity.version.name]
    if found == expected:
        return None
    if item is None:
        why = (
            f"version {expected} was expected, and it is not there: it was deleted, or its key was "
            "changed here and not by an update"
        )
    elif not expected:
        why = f"it is there, in version {found}; read it before you replace it"
    else:
        why = f"version {expected} was expected, and version {found} is stored"
    return refusal(VersionConflict, entity, key, item, why)


def failed_condition(
    entity: EntityMap, key: Item, item: Item | None, conditions: Sequence[Condition[Any]]
) -> WriteRejected:
    """The error for conditions of the caller's that do not hold."""
    wrong = [condition for condition in conditions if not holds(condition, item or {})]
    told = " AND ".join(map(repr, wrong or conditions))
    return refusal(ConditionFailed, entity, key, item, f"the condition {told} does not hold")


def holds(condition: Condition[Any], item: Item) -> bool:
    """Whether a condition holds for an item, by DynamoDB's rules."""
    marks = Placeholders()
    text = condition.text(marks)
    parsed = Scope(marks.names or None, marks.values or None).condition(text)
    return parsed is None or parsed.holds(item)
