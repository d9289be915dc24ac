"""What takes a while to derive from a design: its findings and its costs. Derived once."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from tablewright.cost import CostReport, Rates, load_prices, load_rates, price_trace
from tablewright.errors import TablewrightError
from tablewright.publish.advice import Finding, advise
from tablewright.verify import Design, Trace, trace


class Analysis:
    """The findings and costs of a design. Several threads may use it."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._lock = threading.Lock()
        self._findings: list[Finding] | None = None
        self._trace: Trace | None = None

    def findings(self) -> list[Finding]:
        """Return the findings of `advise`. Raises DesignLoadError if the sample is refused."""
        with self._lock:
            if self._findings is None:
                self._findings = advise(self._design, traced=self._traced())
            return self._findings

    def costs(self, calls: Mapping[str, float] | None = None) -> CostReport | None:
        """Return the cost with these calls in a second, or with the declared ones.

        None if a check of the design fails: then its units are not known.
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
