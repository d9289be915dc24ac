"""The text of a generated JSON file: a template, a policy, a model of NoSQL Workbench."""

from __future__ import annotations

import json
from typing import Any


def json_document(value: Any) -> str:
    """Return a value as the text of a file: indented, with characters rather than escapes.

    >>> print(json_document({"name": "Café"}), end="")
    {
      "name": "Café"
    }
    """
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
