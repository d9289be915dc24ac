"""Writes: preview what a plan would do, then apply exactly that."""
