"""Patterns: their parameters as forms, their runs, and the same as code."""
