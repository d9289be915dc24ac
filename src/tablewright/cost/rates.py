"""Rates: how many times a second each pattern is called, and how many items are stored.

    update_order_status = 2.5        # calls in a second, on average
    "shop.patterns.get" = 40         # with its module, where several patterns share a name

    [items]                          # for the price of storage
    Order = 2_000_000

A file replaces the rates of `@access_pattern(rate=…)`. This module must not know prices.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from tablewright.cost.prices import read_toml
from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.verify.design import Design


class Rates(Struct, frozen=True):
    """The calls in a second by the label of the pattern, and the number of items by entity."""

    calls: dict[str, float]
    items: dict[str, float]


def load_rates(design: Design, file: Path | None = None) -> Rates:
    """Return the declared rates of a design, replaced by those in a file.

    Raise InvalidValue if the file cannot be read, or names an unknown pattern or entity.
    """
    calls = {found.label: found.rate for found in design.patterns if found.rate is not None}
    if file is None:
        return Rates(calls, {})
    content = read_toml(file, dict[str, Any])
    items = content.pop("items", {})
    if not isinstance(items, dict):
        raise InvalidValue(
            f"{file}: [items] is for the number of items; write the name of the pattern with its "
            "module"
        )
    for name, value in content.items():
        labels = _named(name, [found.label for found in design.patterns])
        if not labels:
            hint = did_you_mean(name, [found.name for found in design.patterns])
            raise InvalidValue(f"{file}: {design.name} has no pattern {name!r}{hint}")
        if len(labels) > 1:
            raise InvalidValue(f"{file}: {name!r} is one of {', '.join(labels)}; write which")
        calls[labels[0]] = _number(file, name, value)
    entities = [entity.name for table in design.tables for entity in table.__table__.entities]
    for name in items:
        if name not in entities:
            hint = did_you_mean(name, entities)
            raise InvalidValue(f"{file}: [items]: {design.name} has no entity {name!r}{hint}")
    return Rates(calls, {name: _number(file, name, value) for name, value in items.items()})


def _named(name: str, labels: Iterable[str]) -> list[str]:
    return [label for label in labels if f".{label}".endswith(f".{name}")]


def _number(file: Path, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise InvalidValue(f"{file}: {name} = {value!r} must be a number, 0 or more")
    return value
