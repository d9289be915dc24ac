"""Code: how the fix of a finding writes keys and patterns.

This module must not know rules.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable

from tablewright.mapping.keys import KeyMap
from tablewright.mapping.parts import KeyPart
from tablewright.model.pattern import AccessPattern


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
