"""The HTTP API beside routes that are written by hand: `python -m benchmarks.http_api`."""
