"""Cost: the capacity units and the monthly price of a design's access patterns.

units       what one read or write consumes, from its items: table, indexes, reasons
trace       what the calls of the patterns consume, from the checks of the design
"""

from __future__ import annotations

from tablewright.publish.cost.trace import Call, Recorder, trace
from tablewright.publish.cost.units import Consumption, condition_check, item_write, page_read

__all__ = [
    "Call",
    "Consumption",
    "Recorder",
    "condition_check",
    "item_write",
    "page_read",
    "trace",
]
