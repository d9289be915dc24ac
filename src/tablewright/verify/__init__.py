"""Verify: run every pattern of a design and compare each result with a scan of the same data."""

from __future__ import annotations

from tablewright.verify.checks import Check, Raises, Stored, changed
from tablewright.verify.design import Design, load
from tablewright.verify.run import Result, verify

__all__ = [
    "Check",
    "Design",
    "Raises",
    "Result",
    "Stored",
    "changed",
    "load",
    "verify",
]
