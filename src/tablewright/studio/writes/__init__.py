"""Writes: what a plan would do, and how to do exactly that."""
