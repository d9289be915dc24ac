"""Tablewright: design one table, prove every access pattern, run it anywhere."""

from __future__ import annotations

__version__ = "0.1.0"
