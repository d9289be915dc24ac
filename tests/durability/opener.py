"""A program that opens files as it is told: `python -m tests.durability.opener NAME`.

For each path on a line of its input it opens an engine, makes a table of its own (NAME) in it, and
looks at what is there. It answers with the tables it sees, or with the error:

/tmp/1.db  ->  {"tables": ["a", "b"]}  or  {"error": "StoreFailed: …"}
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tablewright.engine import Engine


def table(name: str) -> dict[str, Any]:
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    }


def tables(engine: Engine) -> list[str]:
    names: list[str] = engine.call("ListTables")["TableNames"]
    return names


def open_and_create(path: str | Path, name: str) -> list[str]:
    with Engine(path) as engine:
        engine.call("CreateTable", table(name))
        return tables(engine)


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            answer: dict[str, object] = {"tables": open_and_create(line.strip(), sys.argv[1])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
