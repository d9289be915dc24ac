"""Rates: how often each access pattern is called, from a TOML file.

    [rates]    # calls per second
    orders_by_status = 40
    "shop.patterns.users" = 0.5

A pattern has its name or, where several patterns have the same one, its label with the module.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.verify.design import Design


def read_rates(file: Path, design: Design) -> dict[str, float]:
    """Return the calls per second of the patterns in a file, by label.

    Raises InvalidValue for a file that cannot be read, an unknown pattern or a wrong rate.
    """
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8")).get("rates")
    except OSError as error:
        raise InvalidValue(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise InvalidValue(f"{file} is not a TOML file: {error}") from None
    if not isinstance(given, dict):
        raise InvalidValue(f"{file} has no table [rates]; write pattern = calls per second in it")
    labels: dict[str, list[str]] = {}
    for pattern in design.patterns:
        for name in {pattern.name, pattern.label}:
            labels.setdefault(name, []).append(pattern.label)
    rates: dict[str, float] = {}
    for name, rate in given.items():
        found = labels.get(name, [])
        if len(found) != 1:
            problem = (
                f"several patterns have this name; use one of {', '.join(found)}"
                if found
                else f"{design.name} has no such pattern{did_you_mean(name, labels)}"
            )
            raise InvalidValue(f"{file}: rates.{name}: {problem}")
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not rate >= 0:
            raise InvalidValue(f"{file}: rates.{name} = {rate!r} is not a number of at least 0")
        rates[found[0]] = float(rate)
    return rates
