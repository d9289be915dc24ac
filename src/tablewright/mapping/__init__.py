"""Mapping between Python classes and items: converters, keys, entities, tables."""
