"""Layers: how DynamoDB words the faults of each operation.

In 2026 AWS moves its operations, region by region, to a new layer of request validation. A profile
is a table from an operation to its layer; an operation that is not in it has the old one.

    layer     messages                                  before faults that need no table
    OLD       those before 2026                         nothing
    NEW       those of 2026                             nothing
    LABELLED  those of 2026                             `1 validation error detected: `

A fault has both messages (`ValidationException.message` and `old_message`), made where the fault
is raised, so code that raises faults knows no layers. `reword` chooses between them when a request
is refused before it runs, `reword_when_run` when its step raises; requests that are accepted cost
nothing. A request that is nested more deeply than the new layer accepts is validated by the old
one: that is how DynamoDB answers it.

To move an operation to another layer, change its entry in `PROFILES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any, Final, Literal, TypeAlias, TypeVar

from tablewright.errors import InvalidValue, ValidationException

Context = TypeVar("Context")


class Layer(Enum):
    """How an operation words its faults."""

    OLD = auto()
    NEW = auto()
    LABELLED = auto()


OLD, NEW, LABELLED = Layer.OLD, Layer.NEW, Layer.LABELLED
Profile: TypeAlias = Mapping[str, Layer]
#: The name of a profile: the year whose answers it has.
ValidationYear: TypeAlias = Literal["2025", "2026"]

PROFILES: Final[dict[str, Profile]] = {
    #: Every region before 2026.
    "2025": {},
    #: Most regions in October 2026. BatchWriteItem, Scan and the operations on transactions have
    #: moved in a few regions only.
    "2026": {
        "BatchGetItem": NEW,
        "DeleteItem": LABELLED,
        "GetItem": NEW,
        "PutItem": LABELLED,
        "Query": NEW,
        "UpdateItem": LABELLED,
    },
}
DEFAULT_VALIDATION: Final[ValidationYear] = "2026"
#: The operations whose faults have layers.
LAYERED: Final = frozenset(
    (
        *PROFILES["2026"],
        "BatchExecuteStatement",
        "BatchWriteItem",
        "ExecuteStatement",
        "ExecuteTransaction",
        "Scan",
        "TransactGetItems",
        "TransactWriteItems",
    )
)
#: The levels of JSON that the new layer reads: 62 lists or maps in an item of PutItem, 60 in that
#: of a transaction.
_MAX_LEVELS: Final = 127
#: The lists and maps that are looked at to find one that is nested too deeply.
_MAX_VISITED: Final = 500_000


def find_profile(year: str) -> Profile:
    """Return the profile of a year; raise InvalidValue if there is none."""
    try:
        return PROFILES[year]
    except KeyError:
        years = " or ".join(map(repr, PROFILES))
        raise InvalidValue(
            f"validation must be {years}, the year whose error messages invalid requests get, "
            f"not {year!r}"
        ) from None


def label(*problems: str) -> str:
    """Return the message for problems that are found before a request runs.

    >>> label("Member must not be null")
    '1 validation error detected: Member must not be null'
    """
    plural = "s" if len(problems) > 1 else ""
    return f"{len(problems)} validation error{plural} detected: {'; '.join(problems)}"


def reword(fault: ValidationException, layer: Layer, request: object) -> ValidationException:
    """Return the fault of a request that has not run, as its layer words it."""
    is_labelled = layer is LABELLED and not fault.is_bare
    if not is_labelled and fault.old_message == fault.message:
        return fault
    if layer is OLD or _is_deep(request):
        return _reword_old(fault)
    return ValidationException(label(fault.message)) if is_labelled else fault


def reword_when_run(run: Callable[[Context], Any], context: Context) -> Any:
    """Run a step of an operation with the old layer; its faults have their old messages."""
    try:
        return run(context)
    except ValidationException as fault:
        raise _reword_old(fault) from None


def _reword_old(fault: ValidationException) -> ValidationException:
    if fault.old_message == fault.message:
        return fault
    return ValidationException(fault.old_message, cancels=fault.cancels)


def _is_deep(request: object) -> bool:
    """Return whether a request has more levels than the new layer reads."""
    waiting: list[tuple[Any, int]] = [(request, 1)]
    for _ in range(_MAX_VISITED):
        if not waiting:
            return False
        part, level = waiting.pop()
        if level > _MAX_LEVELS:
            return True
        parts: Sequence[Any] = list(part.values()) if isinstance(part, dict) else part
        waiting += [(each, level + 1) for each in parts if isinstance(each, dict | list)]
    return False
