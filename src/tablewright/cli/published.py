"""What `publish --since` compares: the template of a design, and what its keys are made of.

`python -m tablewright.cli.published DESIGN` prints it as JSON; `revision.py` runs it at a revision.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec
from msgspec import Struct


class Published(Struct, frozen=True):
    """A version of a design, as it was published."""

    template: dict[str, Any]
    #: By table; None if only the template is known.
    keys: dict[str, dict[str, str]] | None = None


def main(name: str) -> None:
    from tablewright.cli.designs import load_or_fail
    from tablewright.publish.infrastructure import cloudformation, key_texts

    design = load_or_fail(name)
    sys.stdout.buffer.write(
        msgspec.json.encode(Published(cloudformation(design), key_texts(design)))
    )


if __name__ == "__main__":
    main(sys.argv[1])
