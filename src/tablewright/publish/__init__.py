"""Publish: what a design yields for people: diagrams, charts, and its document."""

from __future__ import annotations

from tablewright.publish.document import document

__all__ = ["document"]
