"""Plans: what a database runs. A plan yields requests and makes results; it does no I/O."""
