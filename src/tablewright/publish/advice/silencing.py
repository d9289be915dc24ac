"""Silencing: comments in the source that allow a finding, with the reason.

    # tablewright: allow(hot-partition, "at most 50 brands")

A comment is valid for the findings of one rule about one declaration. It is on a line of the
declaration or directly above it. A comment that allows nothing, or that cannot be read, is itself a
finding: `unused-allow`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from tablewright.hints import did_you_mean
from tablewright.publish.advice.finding import Finding
from tablewright.publish.advice.source import Place, source_of

UNUSED_ALLOW = "unused-allow"

_MARK = re.compile(r"#\s*tablewright\s*:")
_ALLOW = re.compile(
    r"""#\s*tablewright\s*:\s*allow\(\s*(?P<rule>[\w-]+)\s*,\s*(?P<quote>["'])"""
    r"""(?P<reason>(?:(?!(?P=quote)).)+)(?P=quote)\s*\)\s*"""
)


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
    return Finding(UNUSED_ALLOW, "warning", Place(file, line), "comment", reason, fix)
