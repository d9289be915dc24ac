"""What takes a while to derive from a design: its findings and its costs. Derived once."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from tablewright.cost import (
    CostReport,
    PatternCall,
    Rates,
    load_prices,
    load_rates,
    price_calls,
    trace_checks,
)
from tablewright.errors import TablewrightError
from tablewright.publish.advice import Finding, advise
from tablewright.verify import Design


class Analysis:
    """The findings and costs of a design. Several threads may use it."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._lock = threading.Lock()
        self._findings: list[Finding] | None = None
        self._calls: list[PatternCall] | None = None

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
        with self._lock:
            if self._calls is None:
                try:
                    self._calls = trace_checks(self._design)
                except TablewrightError:
                    return None
        return price_calls(self._design, self._calls, rates=rates, prices=load_prices(None))
