"""The target: its tables, its changes, statements, and designs inferred from it."""
