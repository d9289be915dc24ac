"""Declarations of rules that are about several items: counters, cascades and references."""
