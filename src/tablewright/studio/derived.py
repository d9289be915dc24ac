"""What is derived from a design: its findings and costs, and documents to copy or download.

Findings and costs take a while to compute, so they are computed once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from tablewright.cost import CostReport, Rates, load_prices, load_rates, price_trace
from tablewright.errors import TablewrightError
from tablewright.publish import document, html_document
from tablewright.publish.advice import Finding, advise
from tablewright.publish.iam import AwsAccount, policies
from tablewright.publish.infrastructure import cdk, cloudformation, create_table_requests, terraform
from tablewright.publish.json_document import json_document
from tablewright.publish.workbench import nosql_workbench
from tablewright.verify import Design, Trace, trace


class Analysis:
    """The findings and costs of a design. Several threads may use it."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._lock = threading.Lock()
        self._findings: list[Finding] | None = None
        self._trace: Trace | None = None

    def findings(self) -> list[Finding]:
        """Return the findings of `advise`. Raises DesignLoadError if the sample data cannot
        be stored.
        """
        with self._lock:
            if self._findings is None:
                self._findings = advise(self._design, traced=self._traced())
            return self._findings

    def costs(self, calls: Mapping[str, float] | None = None) -> CostReport | None:
        """Return the cost for these calls per second; by default, for the declared rates.

        Return None if the units are not known: the sample data cannot be stored, or a check does
        not run as expected.
        """
        declared = load_rates(self._design)
        rates = declared if calls is None else Rates(dict(calls), declared.items)
        try:
            with self._lock:
                traced = self._traced()
            return price_trace(self._design, traced, rates=rates, prices=load_prices(None))
        except TablewrightError:
            return None

    def _traced(self) -> Trace:
        """Return the trace of the checks; the lock is held."""
        if self._trace is None:
            self._trace = trace(self._design)
        return self._trace


# --- documents ----------------------------------------------------------------------------------


class GeneratedDocument(Struct, frozen=True):
    """A file that is generated from a design."""

    name: str
    title: str
    #: What follows the name of the design in the name of the file.
    suffix: str
    #: Returns its text, or what it has as JSON.
    content: Callable[[Design], Any]

    def file_name(self, design: Design) -> str:
        return f"{design.name}{self.suffix}"

    def write(self, design: Design) -> str:
        """Return the text of the file."""
        found = self.content(design)
        return found if isinstance(found, str) else json_document(found)


def _policies(design: Design) -> Any:
    return policies(design, AwsAccount("*", "*", "aws"))


def _workbench(design: Design) -> Any:
    return nosql_workbench(design).model


DOCUMENTS = (
    GeneratedDocument("markdown", "Document (Markdown)", ".md", document),
    GeneratedDocument("html", "Document (one page)", ".html", html_document),
    GeneratedDocument("cloudformation", "CloudFormation", ".template.json", cloudformation),
    GeneratedDocument("cdk", "CDK (Python)", "_cdk.py", cdk),
    GeneratedDocument("terraform", "Terraform", ".tf", terraform),
    GeneratedDocument("boto3", "CreateTable (JSON)", ".create-table.json", create_table_requests),
    GeneratedDocument("iam", "IAM policies", ".policies.json", _policies),
    GeneratedDocument("nosql-workbench", "NoSQL Workbench", ".nosql-workbench.json", _workbench),
)
BY_NAME = {each.name: each for each in DOCUMENTS}
