"""Apply the fix of a finding to the source of its design.

    by_status = index(Shop.gsi1, "S" / status / shard(id, of=8), …)    replaces the declaration
    lines: Page[Line] = children()                                     the same
    class Shop(Table, pk="status_shard", …)                            replaces the options
    ….limit(n)                                                         continues what is returned

An ellipsis stands for the arguments that stay. A fix in words alone is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_STATEMENT = re.compile(r"(?:^|: |, | and )(\w+(?:: [\w\[\]]+)? = \w+\(.*?\))(?= and |, or |; |$)")
_CLASS = re.compile(r"class (\w+)\(Table, (.*?), …\)")
_ORDER = re.compile(r"read with …(\.\w+\(\))")
_CHAIN = re.compile(r"^…((?:\.\w+\(\w*\))+)(?=$|, or )")


def fixed(source: str, fix: str) -> Iterator[str]:
    """Yield the source with the declarations of a fix, and with what it adds to the pattern."""
    tree, is_changed = ast.parse(source), False
    for found in _CLASS.finditer(fix):
        _set_options(tree, found[1], found[2])
        is_changed = True
    for found in _STATEMENT.finditer(fix):
        is_changed |= _replace(tree, found[1].replace("…", "..."))
    if is_changed:
        if "children()" not in fix:  # patterns pass other arguments to another key
            tree.body = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
        order = _ORDER.search(fix)
        yield _continued(ast.unparse(tree), order[1] if order else "")
    if chain := _CHAIN.match(fix):
        yield _continued(source, chain[1].replace("(n)", "(5)"))


def _continued(source: str, calls: str) -> str:
    """Return the source with more calls on what the first pattern returns."""
    return re.sub(r"^(    return .*)$", rf"\1{calls}", source, count=1, flags=re.MULTILINE)


def _set_options(tree: ast.Module, name: str, options: str) -> None:
    new = ast.parse(f"class A({options}): ...").body[0]
    assert isinstance(new, ast.ClassDef)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            node.keywords = _merged(new.keywords, node.keywords)


def _replace(tree: ast.Module, code: str) -> bool:
    """Replace the declarations of the same name; return whether there is one."""
    (new,) = ast.parse(code).body
    name = _name(new)
    is_found = False
    for owner in [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]:
        for position, old in enumerate(owner.body):
            if _name(old) == name and _called(old) == _called(new):
                owner.body[position] = _filled(code, old)
                is_found = True
    return is_found


def _filled(code: str, old: ast.stmt) -> ast.stmt:
    """Return a declaration with the arguments of the old one for an ellipsis."""
    (new,) = ast.parse(code).body
    call, before = _call(new), _call(old)
    assert call is not None
    assert before is not None
    kept: list[ast.expr] = []
    for position, argument in enumerate(call.args):
        behind = len(call.args) - position - 1
        if _is_ellipsis(argument):
            kept += before.args[position : len(before.args) - behind]
            call.keywords = _merged(call.keywords, before.keywords)
            continue
        if isinstance(argument, ast.BinOp) and _is_ellipsis(argument.right):
            argument.right = before.args[len(before.args) - behind - 1]
        kept.append(argument)
    call.args = kept
    return new


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _merged(new: list[ast.keyword], old: list[ast.keyword]) -> list[ast.keyword]:
    given = {each.arg for each in new}
    return [*new, *(each for each in old if each.arg not in given)]


def _name(node: ast.stmt) -> str:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case _:
            return ""


def _call(node: ast.stmt) -> ast.Call | None:
    match node:
        case ast.Assign(value=ast.Call() as call) | ast.AnnAssign(value=ast.Call() as call):
            return call
        case _:
            return None


def _called(node: ast.stmt) -> str:
    call = _call(node)
    return "" if call is None else ast.unparse(call.func)
