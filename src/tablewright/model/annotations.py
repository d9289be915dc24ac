"""Annotations of classes and functions, and options of class statements.

Entities, aggregates and access patterns resolve their annotations here. With `from __future__
import annotations` an annotation is text; it is evaluated when the class or the function is
defined, with the names that are known there: those of its module, and the local variables around
it.

Invariant: an annotation that cannot be evaluated is a DeclarationError, which names the class or
the pattern, the attribute or the parameter, the annotation and the fix.

The options of a class statement, `class Order(Entity, table=Shop)`, are the parameters of
`__init_subclass__` of its base. That also takes unknown ones, typed `Never`, so that type checkers
reject them.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean


def namespace(module: str, local: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names that code in a module can use, with these local variables."""
    found = sys.modules.get(module)
    return {**vars(builtins), **(vars(found) if found else {}), **local}


def hints_of(cls: type, local: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotated types of a class; `local` has the variables of the code around it."""
    names = namespace(cls.__module__, local)
    return {
        name: resolve(annotation, names, f"{cls.__name__}.{name}")
        for name, annotation in vars(cls).get("__annotations__", {}).items()
    }


def resolve(annotation: Any, names: Mapping[str, Any], where: str) -> Any:
    """Return the type that an annotation names; `where`, as `Order.total`, is for messages."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, dict(names))
    except NameError as error:
        types = [name for name, value in names.items() if isinstance(value, type)]
        hint = did_you_mean(error.name, types, cutoff=0.8) or (
            "; define it before, or import it (not only under `if TYPE_CHECKING:`)"
        )
        raise _invalid(where, annotation, f"{error}{hint}") from None
    except Exception as error:
        raise _invalid(where, annotation, f"{error}; write the name of a type") from None


def _invalid(where: str, annotation: str, problem: str) -> DeclarationError:
    return DeclarationError(f"{where}: the annotation {annotation!r} is not valid: {problem}")


def refuse_unknown(cls: type, base: type, unknown: Iterable[str]) -> None:
    """Raise DeclarationError for an option that a subclass of `base` does not take."""
    for name in unknown:
        parameters = inspect.signature(base.__init_subclass__).parameters.values()
        known = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        takes = f"takes {', '.join(known)}" if known else "takes none"
        raise DeclarationError(
            f"class {cls.__name__}({base.__name__}, {name}=…): unknown option {name!r}"
            f"{did_you_mean(name, known) or f'; {base.__name__} {takes}'}"
        )
