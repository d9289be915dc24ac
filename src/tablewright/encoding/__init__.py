"""Encoding: order-preserving keys, canonical numbers, normalised items and their sizes."""
