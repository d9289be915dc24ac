"""Designs: load a design from its module or the path of its file.

A design is a module or a package with tables, entities and patterns. With the functions `sample`
and `checks` it can be verified; `tablewright.verify.checks` describes them.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct

from tablewright.errors import DesignLoadError, TablewrightError
from tablewright.hints import did_you_mean
from tablewright.model.pattern import AccessPattern, access_patterns
from tablewright.model.table import Table
from tablewright.verify.checks import Check, Stored


class Design(Struct, frozen=True):
    """The tables, patterns, sample data and checks of a design."""

    name: str
    doc: str
    tables: tuple[type[Table], ...]
    sample: Callable[[], list[Any]] | None
    checks: Callable[[Stored], Iterator[Check]] | None
    #: The module that compares the results of its variants, if the design has several.
    compare: Any = None

    @property
    def patterns(self) -> list[AccessPattern]:
        return [found for table in self.tables for found in access_patterns(table)]


def load(name: str, bundled: Mapping[str, ModuleType]) -> Design:
    """Return the design with this bundled name, module name or file path.

    Raises DesignLoadError if it does not exist, cannot be imported or has no tables.
    """
    if name in bundled:
        module = bundled[name]
    elif name.endswith(".py") or "/" in name:
        module = _from_file(Path(name))
    else:
        module = _from_module(name, bundled)
    modules = [module, *_import_submodules(module)]
    tables = dict.fromkeys(table for part in modules for table in _tables(part))
    if not tables:
        raise DesignLoadError(f"{name} has no tables: declare at least one subclass of Table")
    return Design(
        name=name if name in bundled else re.split(r"[. ]", module.__name__)[-1],
        doc=(module.__doc__ or "").strip(),
        tables=tuple(tables),
        sample=_function(module, "sample", submodule="samples"),
        checks=_function(module, "checks", submodule="checks"),
        compare=getattr(module, "compare", None),
    )


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        problem = "it is a directory" if path.is_dir() else "no such file"
        raise DesignLoadError(f"{path}: {problem}; use the path of a Python file, or a module name")
    name = f"design {path.stem}"  # the space prevents a conflict with a module name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DesignLoadError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are resolved there
    # The file may import its neighbours, as with `python file.py`.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise DesignLoadError(f"{path} cannot be imported: {_describe(error)}") from error
    finally:
        sys.path.pop(0)
    return module


def _from_module(name: str, bundled: Mapping[str, ModuleType]) -> ModuleType:
    sys.path.insert(0, "")  # as `python -m` does
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] and error.name != name:
            raise DesignLoadError(f"{name} cannot be imported: {error}") from error
        hint = did_you_mean(name, bundled)
        raise DesignLoadError(
            f"unknown design {name!r}{hint or '.'} Use a bundled name "
            f"({', '.join(bundled)}), a module name or the path of a file"
        ) from None
    except Exception as error:
        raise DesignLoadError(f"{name} cannot be imported: {_describe(error)}") from error
    finally:
        sys.path.remove("")


def _describe(error: Exception) -> str:
    """Return the type, the message and the position of an error; a DeclarationError has its own."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, TablewrightError):
        return text
    if isinstance(error, SyntaxError):  # its message ends with the file and the line
        return text
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{text} ({frame.filename}, line {frame.lineno})"


def _function(module: ModuleType, name: str, *, submodule: str) -> Callable[..., Any] | None:
    """Return a function of the module or of its submodule; None if neither has it."""
    for part in (module, vars(module).get(submodule)):
        found: Callable[..., Any] | None = getattr(part, name, None)
        if callable(found):  # the attribute `checks` of a package is its submodule
            return found
    return None


def _import_submodules(module: ModuleType) -> list[ModuleType]:
    paths = getattr(module, "__path__", ())
    return [
        importlib.import_module(f"{module.__name__}.{found.name}")
        for found in pkgutil.iter_modules(paths)
    ]


def _tables(module: ModuleType) -> Iterator[type[Table]]:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Table) and value is not Table:
            yield value
