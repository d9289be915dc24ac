"""Sources: the lines of declarations, the comments that belong to them, and code for fixes.

A declaration is an assignment in a class, a class, or a function with its decorators. Its comments
are those in the declaration itself, without the body of a class or function, and those on the lines
directly above it.

    # tablewright: allow(hot-partition, "at most 50 brands")
    primary = key("BRAND", "BRAND" / id)

A declaration whose source cannot be read has the name of its module as its file, and no comments.
This module must not know rules.
"""

from __future__ import annotations

import ast
import inspect
import io
import sys
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from tablewright.mapping.key_parts import KeyPart
from tablewright.mapping.keys import KeyMap
from tablewright.model.pattern import AccessPattern

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class SourceLine(Struct, frozen=True, order=True):
    """Where a declaration is."""

    file: str
    line: int


class Comment(Struct, frozen=True):
    """A comment, and whether nothing else is on its line."""

    text: str
    is_alone: bool


class SourceFile:
    """The declarations and comments of one file."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.comments = _comments(text)
        #: The last line of each declaration, by its first line.
        self._ends: dict[int, int] = {}
        #: The first line of each class, and of the assignments in it, by qualified name.
        self._lines: dict[str, int] = {}
        self._collect(ast.parse(text), "")

    def _collect(self, scope: ast.AST, path: str) -> None:
        for node in ast.iter_child_nodes(scope):
            if isinstance(node, _Definition):
                name = f"{path}{node.name}"
                self._add(name, node, self._end_of_header(node))
                is_class = isinstance(node, ast.ClassDef)
                self._collect(node, f"{name}." if is_class else f"{name}.<locals>.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        self._add(f"{path}{target.id}", node, node.end_lineno or node.lineno)
            else:
                self._collect(node, path)

    def _end_of_header(self, node: _Definition) -> int:
        """Return the last line before a body; comments directly above the body belong to it."""
        last = node.body[0].lineno - 1
        while last in self.comments and self.comments[last].is_alone:
            last -= 1
        return last

    def _add(self, name: str, node: ast.stmt, last: int) -> None:
        decorators = node.decorator_list if isinstance(node, _Definition) else []
        first = min([node.lineno, *(each.lineno for each in decorators)])
        self._lines[name] = first
        self._ends[first] = max(first, last)

    def line_of(self, name: str) -> int | None:
        """Return the first line of a declaration by its qualified name."""
        return self._lines.get(name)

    def comments_at(self, line: int) -> Iterator[tuple[int, str]]:
        """Yield the comments of the declaration that begins at a line, each with its line."""
        first = line
        while first - 1 in self.comments and self.comments[first - 1].is_alone:
            first -= 1
        for number in range(first, self._ends.get(line, line) + 1):
            if number in self.comments:
                yield number, self.comments[number].text


def _comments(text: str) -> dict[int, Comment]:
    """Return the comments of a file, by line."""
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            is_alone = not token.line[: token.start[1]].strip()
            found[token.start[0]] = Comment(token.string, is_alone)
    return found


@lru_cache(maxsize=256)
def source_of(file: str) -> SourceFile | None:
    """Return the source of a file; None if it is not a Python file that can be read."""
    if not file.endswith(".py"):
        return None
    try:
        return SourceFile(file, Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None


def place_of_class(kind: type, member: str = "") -> SourceLine:
    """Return the place of a class, or of a declaration in it or in one of its bases."""
    for each in kind.__mro__ if member else ():
        line = _line_of(each, f"{each.__qualname__}.{member}")
        if line is not None:
            return SourceLine(_file_of(each), line)
    return SourceLine(_file_of(kind), _line_of(kind, kind.__qualname__) or 1)


def _file_of(kind: type) -> str:
    return getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__module__


def _line_of(kind: type, name: str) -> int | None:
    source = source_of(_file_of(kind))
    return None if source is None else source.line_of(name)


def place_of_pattern(pattern: AccessPattern) -> SourceLine:
    """Return the place of an access pattern."""
    file, _, line = pattern.location.rpartition(":")
    return SourceLine(file, int(line))


def name_of_key(key: KeyMap) -> str:
    """Return the name that a key has in the class of its entity: `by_status`."""
    return key.name.partition(".")[2]


def partition_code(key: KeyMap, *more: str) -> str:
    """Return the partition key of a key, without shards and with more pieces: `"BY" / author`."""
    return " / ".join([*_pieces(key, key.partition_attributes), *more])


def sort_code(key: KeyMap) -> str:
    """Return the sort key of a key: `"ORDER" / id`."""
    return " / ".join(_pieces(key, key.sort_attributes))


def _pieces(key: KeyMap, names: Iterable[str]) -> list[str]:
    pieces = []
    for name in names:
        template = key.templates[name]
        for piece in template.pieces:
            if isinstance(piece, KeyPart):
                pieces += [] if piece.notation.shards else [piece.label]
            elif text := piece.strip(template.delimiter.text):
                pieces.append(f'"{text}"')
    return pieces


def tree_of(pattern: AccessPattern) -> ast.Module | None:
    """Return the syntax tree of the function of a pattern; None if its source cannot be read."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(pattern.function))))
    except (OSError, SyntaxError):
        return None


def filter_code(pattern: AccessPattern, entity: str) -> str:
    """Return the condition that a pattern filters by, as the body of its entity would write it."""
    tree = tree_of(pattern)
    for node in () if tree is None else ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="filter"), args=[condition]):
                return ast.unparse(condition).replace(f"{entity}.", "")
            case _:
                pass
    return "…"
