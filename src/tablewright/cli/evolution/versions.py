"""The words OLD and NEW of `diff`: what each of them names.

shop, package.module, shop.py     a design
shop.py@main, shop@HEAD~3         a design at a git revision
tablewright.lock                  a lock file, by its suffix; also with @REVISION
shop.db, ./data, http://…         the tables of a target, as `grammar.is_target` says
template.json, cdk.out/           a template, or a model file of NoSQL Workbench
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tablewright.cli.grammar import (
    DATABASE_SUFFIXES,
    MEMORY,
    is_target,
    load_design,
    split_revision,
)
from tablewright.cli.report import fail
from tablewright.cli.revision import description_at, file_at
from tablewright.design_description import read_lock

if TYPE_CHECKING:
    from tablewright.evolve import DesignVersion
    from tablewright.verify import Design

LOCK_SUFFIX = ".lock"
#: Files that are templates or models; `.tf` so that the message says what to use instead.
TEMPLATE_SUFFIXES = frozenset({".json", ".yaml", ".yml", ".template", ".tf"})


class Side(NamedTuple):
    """One side of a comparison, and its design if that is loaded in this process."""

    version: DesignVersion
    design: Design | None = None


def read_sides(old: str, new: str, table: str | None = None) -> tuple[Side, Side]:
    """Return both sides; of a target, the tables that the other side names.

    `table` is what a target calls the only table of the other side.
    """
    sides = {word: _read(word) for word in (old, new) if not _is_live(word)}
    live = [word for word in (old, new) if _is_live(word)]
    if table is not None and len(live) != 1:
        fail("--table is the name of a table at a target; compare a target with something else")
    for word in live:
        others = [each.version.description.tables for each in sides.values()]
        names = list(others[0]) if others else None
        if table is not None and names is not None and len(names) != 1:
            fail(f"--table {table}: the other side has the tables {', '.join(names)}")
        sides[word] = Side(_read_target(word, names if len(live) == 1 else None, table))
    return sides[old], sides[new]


def _read_target(target: str, names: list[str] | None, table: str | None) -> DesignVersion:
    from tablewright.evolve import read_tables_at

    return read_tables_at(target, names, called=table)


def _is_live(word: str) -> bool:
    """Return whether a word names a target, and not a file of another kind."""
    path = Path(word)
    if word == MEMORY or "://" in word or path.suffix in DATABASE_SUFFIXES:
        return True
    is_other = path.suffix in (LOCK_SUFFIX, *TEMPLATE_SUFFIXES) or path.is_dir() or "@" in word
    return is_target(word) and not is_other


def require_design(word: str, reason: str) -> tuple[str, str]:
    """Return the name of a design, and its git revision; "" for the design as it is.

    Exit for a word that names something else, with the reason why that is not enough.
    """
    name, revision = split_revision(word)
    kinds = {
        "a lock file": name.endswith(LOCK_SUFFIX),
        "a template": _is_template(name),
        "a target": not revision and _is_live(word),
    }
    for kind, is_it in kinds.items():
        if is_it:
            fail(f"{word} is {kind}, which has no access patterns: {reason}")
    return name, revision


def _is_template(word: str) -> bool:
    path = Path(word)
    return path.suffix in TEMPLATE_SUFFIXES or (path.is_dir() and bool("/" in word or path.suffix))


def _read(word: str) -> Side:
    from tablewright.evolve import DesignVersion, describe_version, read_file, read_lock_file

    path = Path(word)
    name, revision = split_revision(word)
    if revision:
        shown = f"{name} at {revision}"
        if name.endswith(LOCK_SUFFIX):
            description = read_lock(file_at(revision, name), shown)
            return Side(DesignVersion(shown, "lock file", description, name))
        file = name if name.endswith(".py") else ""
        return Side(DesignVersion(shown, "design", description_at(revision, name), file))
    if path.suffix == LOCK_SUFFIX:
        return Side(read_lock_file(path))
    if _is_template(word):
        return Side(read_file(path))
    design = load_design(word)
    return Side(describe_version(design, word, word if word.endswith(".py") else ""), design)
