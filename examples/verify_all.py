"""Verify the five designs on the embedded engine and print what to try next: `make run`."""

from __future__ import annotations

import subprocess
import sys

done = subprocess.run([sys.executable, "-m", "tablewright", "verify", "--brief"], check=False)
print(
    """
Try next:
  .venv/bin/tablewright designs                 list the designs
  .venv/bin/tablewright studio commerce         see a design and its data in the browser
  .venv/bin/tablewright verify commerce         show each check of one: request, items, units
  .venv/bin/tablewright explain commerce        list the patterns of one: request, index, units
  .venv/bin/tablewright publish docs commerce   print the document of one
  .venv/bin/python examples/hello.py            start an endpoint and call it with boto3
  .venv/bin/tablewright serve shop.db           serve a durable database at http://127.0.0.1:8000
  make test                                     run the tests"""
)
sys.exit(done.returncode)
