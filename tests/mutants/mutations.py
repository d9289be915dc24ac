"""Choose mutants of a package: mutmut's operators, and the deletion of statements.

A mutant is one small change inside one function; annotations, decorators and docstrings stay. The
sample depends on the seed and the sources alone. First a place in the code is drawn, then one of
its changes: so a call with many arguments counts as much as a comparison.
"""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

#: Statements that can go without leaving a name undefined.
DELETABLE = (cst.Expr, cst.Assign, cst.AugAssign, cst.Raise, cst.Return, cst.Del)
UNCHANGED = (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom)


class Mutant(NamedTuple):
    """A changed source file; `lines` are those of the statement that was changed."""

    path: str
    lines: range
    source: str
    diff: str


class _Site(NamedTuple):
    """A place that can be changed in at least one way."""

    path: Path
    wrapper: MetadataWrapper
    node: cst.CSTNode
    lines: range
    changes: Sequence[cst.CSTNode]


def sample(root: Path, paths: Sequence[Path], size: int, seed: str) -> list[Mutant]:
    """Draw `size` mutants of the files, in the order of the sources; fewer if there are fewer."""
    draw = random.Random(seed)
    sites = [site for path in paths for site in _sites(path)]
    mutants: list[Mutant] = []
    for site in draw.sample(sites, len(sites)):
        if len(mutants) == size:
            break
        mutant = _apply(root, site, draw.choice(site.changes))
        if mutant is not None:
            mutants.append(mutant)
    return sorted(mutants, key=lambda mutant: (mutant.path, mutant.lines.start))


def _apply(root: Path, site: _Site, change: cst.CSTNode) -> Mutant | None:
    """Return the mutant, or None if it is not valid Python."""
    before = site.wrapper.module.code
    after: str = cst.ensure_type(
        site.wrapper.module.deep_replace(site.node, change), cst.Module
    ).code
    try:
        compile(after, site.path, "exec")
    except SyntaxError:
        return None
    path = site.path.relative_to(root).as_posix()
    diff = difflib.unified_diff(
        before.splitlines(), after.splitlines(), path, path, n=2, lineterm=""
    )
    return Mutant(path, site.lines, after, "\n".join(diff))


def _sites(path: Path) -> Iterator[_Site]:
    wrapper = MetadataWrapper(cst.parse_module(path.read_text()))
    positions = wrapper.resolve(PositionProvider)

    def walk(node: cst.CSTNode, statement: cst.CSTNode | None) -> Iterator[_Site]:
        """Yield the sites of a node in a function; `statement` is the innermost around it."""
        if isinstance(node, UNCHANGED) or _is_docstring(node) or _is_cast(node):
            return
        if statement is not None:
            if isinstance(node, cst.BaseStatement):
                statement = node
            changes = list(_changes(node))
            if changes:
                yield _Site(path, wrapper, node, _lines(positions, statement, node), changes)
        if isinstance(node, cst.FunctionDef):
            yield from walk(node.params, node)
            yield from walk(node.body, node)
            return
        for child in node.children:
            yield from walk(child, statement)

    return walk(wrapper.module, None)


def _changes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in mutation_operators:
        if isinstance(node, kind):
            yield from operator(node)
    if isinstance(node, cst.SimpleStatementLine) and _is_deletable(node.body):
        yield node.with_changes(body=[cst.Pass()])


def _is_deletable(statements: Sequence[cst.BaseSmallStatement]) -> bool:
    if len(statements) != 1:
        return False
    (statement,) = statements
    if not isinstance(statement, DELETABLE) or _is_docstring(statement):
        return False
    return not isinstance(statement, cst.Assign) or not any(
        isinstance(target.target, cst.Name | cst.Tuple) for target in statement.targets
    )


def _is_docstring(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.BaseString)


def _is_cast(node: cst.CSTNode) -> bool:
    """Say whether this is a call of `cast`, whose type has no effect."""
    return isinstance(node, cst.Call) and getattr(node.func, "value", None) == "cast"


def _lines(positions: Any, statement: cst.CSTNode, node: cst.CSTNode) -> range:
    """Return the lines of a statement; of a compound one those up to the node."""
    whole: CodeRange = positions[statement]
    # A default is evaluated when the module is imported; it is the body that uses it.
    is_whole = isinstance(statement, cst.SimpleStatementLine | cst.FunctionDef)
    last = whole if is_whole else positions[node]
    return range(whole.start.line, last.end.line + 1)
