"""Designs: a bundled name, a module, or a path to a file.

A design is a module with tables, entities and patterns; what it says of itself in `sample` and
`rows` can be verified. A package is one design of several modules.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct

from tablewright.errors import NoDesign
from tablewright.model.pattern import AccessPattern, access_patterns
from tablewright.model.table import Table
from tablewright.verify.rows import Row, Stored

BUNDLED = ("shop", "market", "recipes", "menu", "commerce")


class Design(Struct, frozen=True):
    """A design that was found."""

    name: str
    doc: str
    tables: tuple[type[Table], ...]
    sample: Callable[[], list[Any]] | None
    rows: Callable[[Stored], Iterator[Row]] | None
    #: Sets the results of its rows side by side, where a design has several ways.
    compare: Any = None

    @property
    def patterns(self) -> list[AccessPattern]:
        return [found for table in self.tables for found in access_patterns(table)]


def bundled() -> list[Design]:
    """The designs that come with the package."""
    return [load(name) for name in BUNDLED]


def load(name: str) -> Design:
    """The design of this name: a bundled one, a module, or a path to a file."""
    if name in BUNDLED:
        module = importlib.import_module(f"tablewright.designs.{name}")
    elif name.endswith(".py") or "/" in name:
        module = _from_file(Path(name))
    else:
        module = _from_module(name)
    modules = [module, *_submodules(module)]
    tables = dict.fromkeys(table for part in modules for table in _tables(part))
    if not tables:
        raise NoDesign(f"{name} has no tables: there is no subclass of Table in it")
    return Design(
        name=name if name in BUNDLED else re.split(r"[. ]", module.__name__)[-1],
        doc=(module.__doc__ or "").strip(),
        tables=tuple(tables),
        sample=getattr(module, "sample", None),
        rows=getattr(module, "rows", None),
        compare=getattr(module, "compare", None),
    )


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise NoDesign(f"there is no file {path}")
    name = f"design {path.stem}"  # which hides no module of that name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise NoDesign(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are looked up there
    sys.path.insert(0, str(path.resolve().parent))  # its neighbours, as `python file.py` has them
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise NoDesign(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    return module


def _from_module(name: str) -> ModuleType:
    sys.path.insert(0, "")  # as `python -m` does
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] and error.name != name:
            raise NoDesign(f"{name} cannot be imported: {error}") from error
        close = get_close_matches(name, BUNDLED, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise NoDesign(
            f"there is no design {name!r}{hint or '.'} Give a bundled name "
            f"({', '.join(BUNDLED)}), a module, or a path to a file"
        ) from None
    except Exception as error:
        raise NoDesign(f"{name} cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove("")


def _submodules(module: ModuleType) -> list[ModuleType]:
    paths = getattr(module, "__path__", ())
    return [
        importlib.import_module(f"{module.__name__}.{found.name}")
        for found in pkgutil.iter_modules(paths)
    ]


def _tables(module: ModuleType) -> Iterator[type[Table]]:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Table) and value is not Table:
            yield value
