"""Options: the keywords of a class statement, such as `class Order(Entity, table=Shop)`.

A class takes the keywords of its base's `__init_subclass__`, which also catches the unknown ones:
typed `Never`, so that the type checkers reject them, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean


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
