"""SARIF 2.1.0: findings in the format that code scanning of GitHub, GitLab and Azure reads.

A finding that a comment allows has a suppression of the kind `inSource`, with its reason. Files
below the working directory have relative URIs, so that the tools find them in the repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from tablewright import __version__
from tablewright.publish.advice.finding import Finding, Severity

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class ReportedRule(Protocol):
    """What a log says about a rule."""

    @property
    def id(self) -> str: ...

    @property
    def severity(self) -> Severity: ...

    @property
    def title(self) -> str: ...


def sarif(findings: Iterable[Finding], rules: Sequence[ReportedRule]) -> dict[str, Any]:
    """Return a log with one run: the rules, and a result for each finding."""
    ids = [rule.id for rule in rules]
    driver = {
        "name": "tablewright",
        "version": __version__,
        "rules": [
            {
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "defaultConfiguration": {"level": rule.severity},
            }
            for rule in rules
        ],
    }
    results = [_result(finding, ids) for finding in findings]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _result(finding: Finding, ids: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": finding.severity,
        "message": {"text": f"{finding.subject}: {finding.reason}\nFix: {finding.fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(finding.place.file)},
                    "region": {"startLine": finding.place.line},
                }
            }
        ],
    }
    if finding.rule in ids:
        result["ruleIndex"] = ids.index(finding.rule)
    if finding.allowed:
        result["suppressions"] = [{"kind": "inSource", "justification": finding.allowed}]
    return result


def _uri(file: str) -> str:
    path = Path(file).absolute()
    if path.is_relative_to(Path.cwd()):
        return quote(path.relative_to(Path.cwd()).as_posix())
    return path.as_uri()
