"""Prices and rates: data of TOML files, and what units cost in a month.

`prices.toml` beside this module has the list prices of one region, each with its date and source. A
file of the same form replaces it. A month has 730 hours.

Rates say how many times a second each pattern is called, and how many items are stored. A file
replaces those of `@access_pattern(rate=…)`:

    update_order_status = 2.5        # calls in a second, on average
    "shop.patterns.get" = 40         # with its module, where several patterns share a name

    [items]                          # for the price of storage
    Order = 2_000_000
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.mapping.table_settings import Provisioned
from tablewright.verify.design import Design

HOURS = 730
SECONDS = HOURS * 3600
#: The share of provisioned capacity that is used on average; the default target of auto scaling.
UTILIZATION = 0.7
#: Billed with each item and each index row, in addition to its size.
STORAGE_OVERHEAD = 100
#: A GB of storage. That AWS bills 2^30 bytes as one GB is assumed.
GIGABYTE = 1024**3
DEFAULT_PRICES = Path(__file__).with_name("prices.toml")

T = TypeVar("T")


class DatedPrice(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The date and the source of a price."""

    #: Such as 2026-01.
    date: str
    source: str
    #: False if the source is not the seller, or does not say when the price was valid.
    confirmed: bool = True

    def __str__(self) -> str:
        """Return the date, and whether the price is not confirmed."""
        return self.date if self.confirmed else f"{self.date}, not confirmed"


class UnitPrices(DatedPrice, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The price of read and write units."""

    read: float
    write: float


class StoragePrice(DatedPrice, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The price of one GB for one month."""

    gigabyte: float


class Prices(Struct, frozen=True, forbid_unknown_fields=True):
    """The prices of one region and table class."""

    title: str
    currency: str
    #: Of one million units.
    on_demand: UnitPrices
    #: Of one unit of capacity for one hour.
    provisioned: UnitPrices
    storage: StoragePrice

    def on_demand_month(self, reads: float, writes: float) -> float:
        """Return the monthly price of this many units in a second, on demand."""
        each_second = reads * self.on_demand.read + writes * self.on_demand.write
        return each_second * SECONDS / 1e6

    def provisioned_month(self, capacity: Provisioned) -> float:
        """Return the monthly price of provisioned capacity."""
        hour = capacity.read * self.provisioned.read + capacity.write * self.provisioned.write
        return HOURS * hour

    def storage_month(self, size: float) -> float:
        """Return the monthly price of this many bytes."""
        return size / GIGABYTE * self.storage.gigabyte


def needed_capacity(reads: float, writes: float) -> Provisioned:
    """Return the capacity for this many units in a second, if 70 % of it is used.

    A table or an index has at least one unit of each.
    """
    read, write = (max(1, math.ceil(units / UTILIZATION)) for units in (reads, writes))
    return Provisioned(read=read, write=write)


def load_prices(file: Path | None = None) -> Prices:
    """Return the prices in a file, or (None) those of the package.

    Raise InvalidValue if the file is missing or wrong.
    """
    return read_toml(file or DEFAULT_PRICES, Prices)


def read_toml(file: Path, kind: type[T]) -> T:
    """Return the content of a TOML file; raise InvalidValue if it is missing or wrong."""
    try:
        content: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        return msgspec.convert(content, kind)
    except OSError as error:
        raise InvalidValue(f"{file}: {error.strerror}") from None
    except (ValueError, msgspec.ValidationError) as error:  # TOML, encoding or members
        raise InvalidValue(f"{file}: {error}") from None


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
