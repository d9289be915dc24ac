"""Findings: what a rule says about a declaration, where that is, and comments that allow it.

A rule has an id and a function that yields the problems of a table. A finding is a problem with the
id of its rule. A comment in the source allows the findings of one rule about one declaration. It is
on a line of the declaration or directly above it:

    # tablewright: allow(hot-partition, "at most 50 brands")

A comment that allows nothing, or that cannot be read, is itself a finding: `unused-allow`.

Invariant: a problem has the place of one declaration, numbers where the design has them, and a fix
as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tablewright.hints import did_you_mean
from tablewright.publish.advice.design_facts import TableFacts
from tablewright.publish.advice.source import SourceLine, source_of

Severity: TypeAlias = Literal["error", "warning", "note"]

#: The severities that fail a check of a design.
FAILING: frozenset[Severity] = frozenset({"error", "warning"})

UNUSED_ALLOW = "unused-allow"

_MARK = re.compile(r"#\s*tablewright\s*:")
_ALLOW = re.compile(
    r"""#\s*tablewright\s*:\s*allow\(\s*(?P<rule>[\w-]+)\s*,\s*(?P<quote>["'])"""
    r"""(?P<reason>(?:(?!(?P=quote)).)+)(?P=quote)\s*\)\s*"""
)


class RuleProblem(Struct, frozen=True):
    """What the function of a rule found."""

    place: SourceLine
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


def rule(
    name: str, severity: Severity, title: str
) -> Callable[[Callable[[TableFacts], Iterable[RuleProblem]]], Rule]:
    """Make a rule of the function that finds its problems."""
    return lambda check: Rule(name, severity, title, check)


class Finding(Struct, frozen=True):
    """What a rule found."""

    rule: str
    severity: Severity
    place: SourceLine
    subject: str
    reason: str
    fix: str
    #: The reason with which the source allows it; "" if it does not.
    allowed: str = ""

    @property
    def fails(self) -> bool:
        """Whether a check of the design fails because of it."""
        return self.severity in FAILING and not self.allowed


def silence(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, each with the reason for which a comment allows it."""
    return [replace(each, allowed=_reason(each)) for each in findings]


def _reason(finding: Finding) -> str:
    source = source_of(finding.place.file)
    if source is None:
        return ""
    for _, text in source.comments_at(finding.place.line):
        found = _ALLOW.fullmatch(text)
        if found is not None and found["rule"] == finding.rule:
            return found["reason"]
    return ""


def unused_comments(
    files: Iterable[str], findings: Collection[Finding], rules: Collection[str]
) -> Iterator[Finding]:
    """Yield a finding for each comment in these files that allows none of the findings."""
    used = {
        (finding.place.file, line, finding.rule)
        for finding in findings
        if (source := source_of(finding.place.file)) is not None
        for line, _ in source.comments_at(finding.place.line)
    }
    for file in files:
        source = source_of(file)
        for line, comment in {} if source is None else source.comments.items():
            if not _MARK.match(comment.text):
                continue
            found = _ALLOW.fullmatch(comment.text)
            if found is None:
                reason = f"{comment.text!r} is not a comment that allows a finding"
                yield _unused(file, line, reason, 'write # tablewright: allow(RULE, "REASON")')
            elif found["rule"] not in rules:
                reason = f"there is no rule {found['rule']!r}{did_you_mean(found['rule'], rules)}"
                yield _unused(
                    file, line, reason, "name a rule; `tablewright help advice` lists them"
                )
            elif (file, line, found["rule"]) not in used:
                reason = f"{found['rule']} finds nothing in the declaration of this comment"
                yield _unused(file, line, reason, "delete the comment")


def _unused(file: str, line: int, reason: str, fix: str) -> Finding:
    return Finding(UNUSED_ALLOW, "warning", SourceLine(file, line), "comment", reason, fix)
