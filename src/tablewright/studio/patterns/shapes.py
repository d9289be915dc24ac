"""Shapes of patterns, computed once: a design does not change while a studio shows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tablewright.model.pattern import AccessPattern, explain
from tablewright.plan.shape import Shape


def shape_of(pattern: AccessPattern) -> Shape:
    """Return the shape of a pattern."""
    return _shape(pattern.function)


@cache
def _shape(function: Callable[..., Any]) -> Shape:
    return explain(function)
