"""Commands that show how a design changes, and carry its items from one version to the next.

lock      writes what a design stores to a file, which is reviewed and compared in a repository
diff      lists the changes between two versions of a design, and what each of them needs
migrate   carries a table and its items to another version of a design, and back
versions  what the words OLD and NEW of `diff` name

Importing this package registers the commands.
"""

from __future__ import annotations

from tablewright.cli.evolution import diff, lock, migrate

__all__ = ["diff", "lock", "migrate"]
