"""Verify: run every pattern of a design, and compare each answer with what a plain scan gives."""

from __future__ import annotations

from tablewright.verify.design import Design, load
from tablewright.verify.rows import Refused, Row, Stored, changed
from tablewright.verify.run import Result, verify

__all__ = [
    "Design",
    "Refused",
    "Result",
    "Row",
    "Stored",
    "changed",
    "load",
    "verify",
]
