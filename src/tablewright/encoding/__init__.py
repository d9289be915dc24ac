"""Bytes: order-preserving keys, canonical numbers, normal items and their sizes."""
