"""Verify the five designs on the embedded engine, and tell what to try next: `make run`."""

from __future__ import annotations

import subprocess
import sys

done = subprocess.run([sys.executable, "-m", "tablewright", "verify", "--brief"], check=False)
print(
    """
Now try:
  .venv/bin/tablewright designs                 the designs
  .venv/bin/tablewright verify commerce         each row of one: request, index, key, units
  .venv/bin/tablewright docs commerce           one of them, as a document
  .venv/bin/python examples/hello.py            an endpoint, and boto3 talking to it
  .venv/bin/tablewright serve --db shop.db      a durable database at http://127.0.0.1:8000
  make test                                     run the tests"""
)
sys.exit(done.returncode)
