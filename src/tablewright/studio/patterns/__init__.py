"""Patterns: their parameters as forms, their runs, and programs that make the same call."""
