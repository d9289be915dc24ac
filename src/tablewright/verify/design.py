"""Designs: load a design from its module or the path of its file.

A design is a module or a package with tables, entities and patterns. With the functions `sample`
and `checks` it can be verified; `tablewright.verify.checks` describes them. `INEFFICIENT` lists
functions like patterns, for queries that no key serves; the document shows them. `WORKBENCH` is the
rest of an imported model file; `publish.workbench` reads it.
"""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct

from tablewright.errors import DeclarationError, DesignLoadError, location_of
from tablewright.hints import did_you_mean
from tablewright.mapping.table import TableMap
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
    #: The queries that its keys do not serve, as functions: see `why_scan`.
    inefficient: tuple[Callable[..., Any], ...] = ()
    #: The model file of NoSQL Workbench that it was imported from, without rows.
    workbench: dict[str, Any] | None = None

    @property
    def patterns(self) -> list[AccessPattern]:
        return [found for table in self.tables for found in access_patterns(table)]


def load(name: str, bundled: Mapping[str, str]) -> Design:
    """Return the design with this bundled name, module name or file path.

    `bundled` has the module of each bundled name.

    The working directory, and the folder of a file, stay on the path of modules, as with `python
    -m` and `python file.py`. Raises DesignLoadError if the design does not exist, cannot be
    imported or has no tables, and for a bundled name that a file here has, too.
    """
    if name in bundled:
        _refuse_ambiguous(name, bundled[name])
    try:
        module = _import(bundled.get(name, name), bundled)
        modules = [module, *_import_submodules(module)]
    except DesignLoadError:
        raise
    except (Exception, SystemExit) as error:
        raise DesignLoadError(f"{name} cannot be imported: {describe_failure(error)}") from error
    tables = dict.fromkeys(_tables(modules))
    if not tables:
        raise DesignLoadError(
            f"{name} has no tables: declare or import a subclass of Table, an entity or a pattern"
        )
    return Design(
        name=name if name in bundled else re.split(r"[. ]", module.__name__)[-1],
        doc=(module.__doc__ or "").strip(),
        tables=tuple(tables),
        sample=_function(module, "sample"),
        checks=_function(module, "checks"),
        compare=getattr(module, "compare", None),
        inefficient=next(
            (vars(part)["INEFFICIENT"] for part in modules if "INEFFICIENT" in vars(part)), ()
        ),
        workbench=getattr(module, "WORKBENCH", None),
    )


def _refuse_ambiguous(name: str, module: str) -> None:
    """Raise DesignLoadError if a bundled design and one in the working directory have a name."""
    for path in (Path(f"{name}.py"), Path(name, "__init__.py")):
        if path.is_file():
            raise DesignLoadError(
                f"{name} is a bundled design, and {path} is in this folder: write {path} for that "
                f"file, or {module} for the bundled design"
            )


def _add_to_path(folder: str) -> None:
    """Make a folder the first one on the path of modules."""
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)


def _import(name: str, bundled: Iterable[str]) -> ModuleType:
    _add_to_path("")
    if not name.endswith(".py") and "/" not in name:
        return _from_module(name, bundled)
    path = Path(name)
    if not path.is_file():
        problem = "it is a directory" if path.is_dir() else "no such file"
        hint = did_you_mean(path.name, _names_in(path.parent, ".py"))
        raise DesignLoadError(
            f"{path}: {problem}{hint or '.'} Use the path of a Python file, or a module name"
        )
    return _from_file(path)


def _from_file(path: Path) -> ModuleType:
    """Import a file: as a module of its package if it is in one, or else on its own."""
    folder, names = path.resolve().parent, [path.stem]
    while (folder / "__init__.py").is_file():
        folder, names = folder.parent, [folder.name, *names]
    _add_to_path(str(folder))
    if len(names) > 1:
        return importlib.import_module(".".join(names))
    name = f"design {path.stem}"  # the space prevents a conflict with a module name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DesignLoadError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations are resolved there
    spec.loader.exec_module(module)
    return module


def _from_module(name: str, bundled: Iterable[str]) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module exists, and imports one that does not
        hint = did_you_mean(name, [*bundled, *_names_in(Path(), "")])
        raise DesignLoadError(
            f"unknown design {name!r}{hint or '.'} Use a bundled name "
            f"({', '.join(bundled)}), a module name or the path of a file"
        ) from None


def _names_in(folder: Path, suffix: str) -> list[str]:
    """Return the names of the Python files in a folder, with this suffix."""
    try:
        return [found.stem + suffix for found in folder.glob("*.py")]
    except OSError:
        return []


def _function(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """Return a function of the module, or of its submodules for them; None if it has none."""
    for part in (module, vars(module).get("samples"), vars(module).get("checks")):
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


def _tables(modules: list[ModuleType]) -> Iterator[type[Table]]:
    """Yield the tables of modules, and those of their entities and patterns."""
    known: dict[TableMap, type[Table]] = {}

    def class_of(table: TableMap) -> type[Table]:
        if table not in known:  # a class whose declaration failed has no table
            known.update(
                (vars(each)["__table__"], each)
                for each in Table.__subclasses__()
                if "__table__" in vars(each)
            )
        return known[table]

    for value in (value for module in modules for value in vars(module).values()):
        pattern = getattr(value, "__pattern__", None)
        if isinstance(value, type) and issubclass(value, Table) and "__table__" in vars(value):
            known[vars(value)["__table__"]] = value
            yield value
        elif isinstance(value, type) and "__entity__" in vars(value):
            yield class_of(vars(value)["__entity__"].table)
        elif isinstance(pattern, AccessPattern):
            yield from (class_of(entity.table) for entity in pattern.entities)


def describe_failure(error: BaseException) -> str:
    """Return the type and message of an exception, its file and line, and the code of that line.

    NameError: name 'Ordr' is not defined
      File "/home/ann/shop.py", line 12
        @access_pattern
    """
    message = error.message if isinstance(error, DeclarationError) else str(error)
    if isinstance(error, SyntaxError):
        message = error.msg
    text = f"{type(error).__name__}: {message}".removesuffix(": ")
    location = location_of(error)
    if not location:
        return text
    file, _, line = location.rpartition(":")
    code = linecache.getline(file, int(line)).strip()
    place = f'  File "{file}", line {line}'
    return "\n".join([text, place, *([f"    {code}"] if code else [])])
