"""A program that does what it is told, line by line: `python -m tests.durability.elsewhere FILE`.

["GetItem", {…}]  ->  {"answer": {…}}  or  {"fault": "ResourceNotFoundException"}
"""

from __future__ import annotations

import json
import sys

from tablewright.engine import Engine
from tablewright.errors import DynamoDBError

if __name__ == "__main__":
    with Engine(sys.argv[1]) as engine:
        for line in sys.stdin:
            operation, request = json.loads(line)
            try:
                outcome: dict[str, object] = {"answer": engine.call(operation, request)}
            except DynamoDBError as fault:
                outcome = {"fault": fault.code}
            sys.stdout.write(json.dumps(outcome) + "\n")
            sys.stdout.flush()
