"""Markup that several views share."""
