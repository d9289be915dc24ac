"""What takes a while to derive from a design: its findings and its costs. Derived once."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from tablewright.errors import TablewrightError
from tablewright.publish.advice import Finding, advise
from tablewright.publish.cost import CostReport, Rates, cost, load_prices, load_rates
from tablewright.verify import Design

#: The reports that are kept, for the rates that were asked for last.
MAX_REPORTS = 8


class Analysis:
    """The findings and costs of a design. Several threads may use it."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._lock = threading.Lock()
        self._findings: list[Finding] | None = None
        self._reports: dict[tuple[tuple[str, float], ...], CostReport] = {}

    def findings(self) -> list[Finding]:
        """Return the findings of `advise`. Raises DesignLoadError if the sample is refused."""
        with self._lock:
            if self._findings is None:
                self._findings = advise(self._design)
            return self._findings

    def costs(self, calls: Mapping[str, float] | None = None) -> CostReport | None:
        """Return the cost with these calls in a second, or with the declared ones.

        None if a check of the design fails: then its units are not known.
        """
        declared = load_rates(self._design)
        rates = declared if calls is None else Rates(dict(calls), declared.items)
        key = tuple(sorted(rates.calls.items()))
        with self._lock:
            if key not in self._reports:
                try:
                    found = cost(self._design, rates=rates, prices=load_prices(None))
                except TablewrightError:
                    return None
                if len(self._reports) >= MAX_REPORTS:
                    self._reports.pop(next(iter(self._reports)))
                self._reports[key] = found
            return self._reports[key]
