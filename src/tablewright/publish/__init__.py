"""Publish: generate the document of a design, with diagrams and charts."""

from __future__ import annotations

from tablewright.publish.document import document, html_document

__all__ = ["document", "html_document"]
