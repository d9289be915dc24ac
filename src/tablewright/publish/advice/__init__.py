"""Advice: what could be better in a design, found by rules.

    design ──▶ TableFacts ──▶ rules ──▶ findings ──▶ silence ──▶ text, JSON, SARIF

source        the lines and comments of declarations, and code for fixes
design_facts  what rules know: patterns, reads, updates, sample data, rates
finding       findings, problems, rules; comments that allow a finding
rules         the rules, by subject
sarif         findings for the tools of CI
"""

from __future__ import annotations

from tablewright.cost import Rates, load_rates
from tablewright.publish.advice.design_facts import table_facts
from tablewright.publish.advice.finding import Finding, silence, unused_comments
from tablewright.publish.advice.rules import RULES
from tablewright.publish.advice.sarif import sarif
from tablewright.publish.advice.source import (
    SourceLine,
    place_of_class,
    place_of_pattern,
    source_of,
)
from tablewright.verify.design import Design
from tablewright.verify.trace import Trace, trace

__all__ = ["RULES", "Finding", "advise", "sarif"]


def advise(
    design: Design, rates: Rates | None = None, *, traced: Trace | None = None
) -> list[Finding]:
    """Return the findings about a design, in the order of its source.

    Without `rates`, they are those of `@access_pattern(rate=…)`; without the trace of its checks,
    they are run. Raises DesignLoadError if the sample data cannot be stored.
    """
    source_of.cache_clear()  # a file may have changed since the last call
    found: dict[tuple[str, SourceLine], Finding] = {}
    for table in table_facts(design, rates or load_rates(design), traced or trace(design)):
        for rule in RULES:
            for problem in rule.check(table):
                finding = Finding(
                    rule.id,
                    problem.severity or rule.severity,
                    problem.place,
                    problem.subject,
                    problem.reason,
                    problem.fix,
                )
                # Variants of an entity share the declarations of their base.
                found.setdefault((finding.rule, finding.place), finding)
    findings = list(found.values())
    findings += unused_comments(_files(design), findings, [rule.id for rule in RULES])
    return sorted(silence(findings), key=lambda each: (each.place, each.rule))


def _files(design: Design) -> list[str]:
    """Return the files with the tables, entities and patterns of a design."""
    places = [place_of_class(table) for table in design.tables]
    for table in design.tables:
        places += [place_of_class(entity.type) for entity in table.__table__.entities]
    places += [place_of_pattern(pattern) for pattern in design.patterns]
    return list(dict.fromkeys(place.file for place in places))
