"""Random pairs of designs: a design, or a mutation of it, and a further mutation."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random
from types import ModuleType
from typing import NamedTuple

from tablewright.design_changes import DesignChange, differences
from tablewright.design_description import DesignDescription
from tablewright.errors import TablewrightError
from tablewright.model.description import describe_design
from tests.design_changes.loading import load, tables_of
from tests.design_changes.mutations import Design, mutate
from tests.design_changes.small_designs import SMALL_DESIGNS

#: The modules with the tables and entities of the five designs.
BUNDLED = {
    "shop": ("shop.entities",),
    "market": ("market.entities",),
    "recipes": ("recipes.entities", "recipes.option2"),
    "menu": ("menu.collection", "menu.joins", "menu.composite", "menu.document"),
    "commerce": ("commerce",),
}
#: What a mutation may make of a source.
_INVALID = (TablewrightError, NameError, TypeError, ValueError, AttributeError, SyntaxError)


class Version(NamedTuple):
    """One version of a design."""

    source: str
    module: ModuleType
    description: DesignDescription


class Pair(NamedTuple):
    """Two versions of a design."""

    name: str
    old: Version
    new: Version

    @property
    def changes(self) -> list[DesignChange]:
        return differences(self.old.description, self.new.description)

    def close(self) -> None:
        for each in (self.old, self.new):
            del sys.modules[each.module.__name__]


def make_pair(seed: int, *, small: bool = False) -> Pair:
    """Return the pair of a seed; `small` leaves out the five designs."""
    random = Random(seed)
    names = [*SMALL_DESIGNS] if small else [*SMALL_DESIGNS, *BUNDLED]
    name = random.choice(names)
    base = SMALL_DESIGNS.get(name) or _bundled_source(random.choice(BUNDLED[name]))
    while True:
        old = load_version(mutate(base, random, random.choice((0, 0, 1))))
        new = old and load_version(mutate(old.source, random, random.choice((1, 1, 1, 2, 3))))
        if old and new and old.description != new.description:
            return Pair(name, *random.choice(((old, new), (new, old))))


def _bundled_source(module: str) -> str:
    spec = find_spec(f"tablewright.designs.{module}")
    assert spec is not None
    assert spec.origin is not None
    return Design(Path(spec.origin).read_text()).source


def load_version(source: str) -> Version | None:
    """Return the version with a source; None if it is no valid design."""
    try:
        module = load(source)
        tables = tables_of(module)
        if not all(table.__table__.entities for table in tables):
            return None
        return Version(source, module, describe_design(*tables))
    except _INVALID:
        return None
