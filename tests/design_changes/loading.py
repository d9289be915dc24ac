"""Designs from source text: each is loaded as a module with a name of its own."""

from __future__ import annotations

import sys
from itertools import count
from textwrap import dedent
from types import ModuleType

from tablewright import Table
from tablewright.design_description import DesignDescription
from tablewright.model.description import describe_design

#: What every source may use.
IMPORTS = """
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal
from uuid import UUID, uuid4

from pydantic import BaseModel, Field

from tablewright import (
    GSI, LSI, Attr, Entity, Table, Tenancy, WriteOnce, attr, created_at, history, index, key, ttl,
    unique, updated_at, version,
)
from tablewright.formats import *
from tablewright.ids import KSUID, ULID
from tablewright.rules import count_of, sum_of
"""

_numbers = count(1)


def load(source: str) -> ModuleType:
    """Return the module of a source."""
    module = ModuleType(f"loaded_design_{next(_numbers)}")
    sys.modules[module.__name__] = module  # annotations are resolved there
    exec(IMPORTS + dedent(source), vars(module))
    return module


def tables_of(module: ModuleType) -> list[type[Table]]:
    return [
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Table) and each is not Table
    ]


def describe(source: str) -> DesignDescription:
    """Return the description of the design in a source."""
    return describe_design(*tables_of(load(source)))
