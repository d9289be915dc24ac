"""Findings: what a rule says about a declaration, and where that is.

A rule has an id and a function that yields the problems of a table. A finding is a problem with the
id of its rule.

Invariant: a problem has the place of one declaration, numbers where the design has them, and a fix
as code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from tablewright.publish.advice.facts import TableFacts
from tablewright.publish.advice.source import Place

Severity: TypeAlias = Literal["error", "warning", "note"]

#: The severities that fail a check of a design.
FAILING: frozenset[Severity] = frozenset({"error", "warning"})


class RuleProblem(Struct, frozen=True):
    """What the function of a rule found."""

    place: Place
    #: The declaration: `Order.by_status`, `orders_by_status()`.
    subject: str
    #: What is wrong, with numbers.
    reason: str
    #: The declaration as it should be, or what to do.
    fix: str
    #: None: the severity of the rule.
    severity: Severity | None = None


class Rule(Struct, frozen=True):
    """One thing that is checked."""

    id: str
    severity: Severity
    #: What it finds, in a few words.
    title: str
    check: Callable[[TableFacts], Iterable[RuleProblem]]


class Finding(Struct, frozen=True):
    """What a rule found."""

    rule: str
    severity: Severity
    place: Place
    subject: str
    reason: str
    fix: str
    #: The reason with which the source allows it; "" if it does not.
    allowed: str = ""

    @property
    def fails(self) -> bool:
        """Whether a check of the design fails because of it."""
        return self.severity in FAILING and not self.allowed
