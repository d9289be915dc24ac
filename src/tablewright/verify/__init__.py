"""Verify: run every pattern of a design and compare each result with a scan of the same data.

`compare_stored` compares a design with the items of an existing table instead.
"""

from __future__ import annotations

from tablewright.verify.checks import Check, Raises, Stored, changed
from tablewright.verify.design import Design, load
from tablewright.verify.run import Result, uncovered, verify
from tablewright.verify.seeding import seed
from tablewright.verify.stored_items import StoredDifference, StoredReport, compare_stored
from tablewright.verify.trace import Trace, trace

__all__ = [
    "Check",
    "Design",
    "Raises",
    "Result",
    "Stored",
    "StoredDifference",
    "StoredReport",
    "Trace",
    "changed",
    "compare_stored",
    "load",
    "seed",
    "trace",
    "uncovered",
    "verify",
]
