"""Model: tables, entities, keys, indexes, aggregates and patterns, declared in typed Python."""
