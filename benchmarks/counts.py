"""`make counts`: count what makes the code hard to read, or slow, and print a table.

Each count has one rule, which is its docstring. It depends on the version of Python, not on the
machine. With `--src`,
the same rules count another checkout, such as that of an earlier commit:

    git worktree add --detach ../before COMMIT
    make counts ARGS="--src ../before/src"
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sized
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parent.parent
#: The packages that use the model, plans and tables from outside.
UPPER = (
    *("cli", "cost", "fastapi", "infer", "presentation", "publish", "studio", "templates"),
    *("testing", "transfer", "verify"),
)
#: By module or package: the texts that its regular expressions read, which others have written. Any
#: other regular expression is counted.
TEXTS_OF_OTHERS = {
    "cli": "what people type",
    "encoding/numbers": "numbers in requests",
    "engine/archives/object_folder": "names of files",
    "engine/operations": "names in requests",
    "engine/access/account_scope": "regions and accounts in requests",
    "engine/change_log/streams": "names in requests",
    "expression": "expressions in requests",
    "fastapi/application": "prefixes of paths, as an application passes them",
    "fastapi/etags": "headers of requests",
    "fastapi/idempotency": "headers of requests",
    "ids": "identifiers in items",
    "infer/attributes": "names and values in items",
    "infer/design": "names and values in items",
    "infer/kinds": "values in items",
    "infer/names": "names in items",
    "infer/sample": "keys of items",
    "infer/sentinels": "names of items",
    "infer/structure": "keys of items",
    "mapping/template": "keys of items",
    "mapping/table": "keys of items",
    "model/entity": "names of errors of pydantic",
    "model/pattern": "messages of Python",
    "model/route": "routes as a design declares them",
    "model/shards": "shards as a design declares them",
    "model/table": "names in a design",
    "fastapi/requests": "headers of requests",
    "partiql": "statements in requests",
    "plan/migration/moves": "keys of items",
    "policy": "policies",
    "presentation/printing": "numbers in JSON, to align them",
    "presentation/element": "characters of any text",
    "presentation/erd": "names in a design",
    "presentation/html_document": "docstrings of a design",
    "publish/advice/rules/entities": "names in a design",
    "publish/advice/rules/requests": "arguments of checks",
    "publish/advice/finding": "comments in a design",
    "publish/iam/policies": "options, and the spaces in a policy",
    "publish/infrastructure": "names in a design",
    "server": "what clients send, and configuration files",
    "studio/markup/result_parts": "source code, to colour it",
    "studio/markup/item_parts": "values in items",
    "studio/items/scanning": "values in items",
    "studio/patterns/programs": "names of members of requests",
    "studio/target/naming": "targets that people type",
    "sigv4": "headers of requests",
    "studio/web": "what browsers send",
    "templates": "templates",
    "transfer": "names of tables and files",
    "transport/targets": "targets that people type",
    "verify/design": "names of modules",
    "wire/constraints": "members of requests",
}
#: Public names of every named tuple, which begin with an underscore.
_OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
_CLASS = re.compile(r"^class ([A-Za-z]\w*)", re.MULTILINE)
_TABLE_MEMBER = re.compile('"(KeySchema|AttributeDefinitions|BillingMode)"')


def own_text(package: Path) -> int:
    """Regular expressions in modules that are not listed as readers of other texts."""
    return sum(
        1
        for path, module in _modules(package)
        if not _is_listed(path)
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr != "escape"
    )


def private_names(package: Path) -> int:
    """Uses of private names of other modules in packages that use the model from outside."""
    return sum(len(list(_foreign(module))) for _, module in _modules(package, UPPER))


def table_members(package: Path) -> int:
    """Modules of these packages that read or write members of a table's description by name."""
    paths = [path for path, _ in _modules(package, UPPER)]
    return sum(
        _TABLE_MEMBER.search((package / f"{path}.py").read_text()) is not None for path in paths
    )


def lines(package: Path) -> int:
    """Lines of the package without the five designs."""
    paths = [path for path in package.rglob("*.py") if path.parts[len(package.parts)] != "designs"]
    return sum(len(path.read_text().splitlines()) for path in paths)


def modules(package: Path) -> int:
    """Modules of the package."""
    return sum(1 for _ in package.rglob("*.py"))


def long_modules(package: Path) -> list[str]:
    """Modules above 500 lines."""
    return [
        path.relative_to(package).as_posix()
        for path in sorted(package.rglob("*.py"))
        if len(path.read_text().splitlines()) > 500
    ]


def shared_names(package: Path) -> dict[str, list[str]]:
    """Public class names that two modules or more define, without the five designs."""
    homes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        for found in _CLASS.findall(path.read_text()) if not name.startswith("designs/") else ():
            homes[found].append(name)
    return {name: paths for name, paths in homes.items() if len(paths) > 1}


def page_calls(package: Path) -> int:
    """Python calls in the package for a page of items in the studio."""
    return _measured("benchmarks.page_calls", package)


def verify_calls(package: Path) -> int:
    """Python calls of the second `verify commerce` in a process."""
    return _measured("benchmarks.calls", package)


def put_calls(package: Path) -> int:
    """Python calls in the package for a PutItem over HTTP, with two indexes and a stream."""
    return _measured("benchmarks.put_calls", package)


#: Each count, and its goal.
COUNTS: tuple[tuple[Callable[[Path], int | Sized], int], ...] = (
    (own_text, 0),
    (private_names, 20),
    (table_members, 4),
    (verify_calls, 37_218),  # 40 % of what it took before it recorded one trace
    (put_calls, 140),
    (page_calls, 3_000),
    (shared_names, 10),
    (modules, 540),
    (long_modules, 0),
    (lines, 84_000),
)


def _modules(package: Path, parts: Iterable[str] = ("",)) -> Iterator[tuple[str, ast.Module]]:
    """Yield the modules in parts of the package: their paths without suffix, and their trees."""
    for part in parts:
        for path in sorted((package / part).rglob("*.py")):
            yield path.relative_to(package).with_suffix("").as_posix(), ast.parse(path.read_text())


def _is_listed(path: str) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in TEXTS_OF_OTHERS)


def _foreign(module: ast.Module) -> Iterator[str]:
    """Yield the private names that a module uses and does not define."""
    own = set(_defined(module))
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            yield from (each.name for each in node.names if _is_private(each.name))
        elif isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in own:
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            yield from () if is_own else (node.attr,)


def _defined(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _OF_NAMED_TUPLES


def _measured(module: str, package: Path) -> int:
    """Run a module that prints a number, with the package."""
    environment = {**os.environ, "PYTHONPATH": f"{package.parent}{os.pathsep}{ROOT}"}
    command = (sys.executable, "-m", module)
    return int(subprocess.check_output(command, env=environment, cwd=ROOT))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--src", type=Path, default=ROOT / "src", help="the sources to count")
    package = parser.parse_args().src.resolve() / "tablewright"
    table = Table("count", "number", "goal", title=str(package))
    for count, goal in COUNTS:
        summary = (count.__doc__ or "").strip().rstrip(".")
        found = count(package)
        number = found if isinstance(found, int) else len(found)
        table.add_row(summary, f"{number:,}", f"{goal:,}")
    Console().print(table)


if __name__ == "__main__":
    main()
