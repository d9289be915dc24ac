"""From Python classes to items and back: converters, keys, entities."""
