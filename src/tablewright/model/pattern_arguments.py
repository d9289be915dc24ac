"""Pattern arguments: texts, such as those of a command line or a form, as arguments of a pattern.

Each text is validated by pydantic with the type of its parameter: a text as it is, numbers, times,
enums and so on from their usual spelling, and entities, lists and anything else from JSON. A
parameter whose type allows None may be left out, also if it has no default.

An InvalidValue says which pattern, which parameter and, if one is missing or unknown, the signature
of the pattern.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import NoneType
from typing import Any, get_args

import pydantic

from tablewright.errors import InvalidValue
from tablewright.hints import did_you_mean
from tablewright.model.pattern import AccessPattern
from tablewright.plan.plan import Plan

#: The number of problems of one value that a message lists.
MAX_PROBLEMS = 3


def signature_of(pattern: AccessPattern) -> str:
    """Return the name and the parameters as the source has them: `orders(status: str)`."""
    parameters = []
    for parameter in _parameters(pattern):
        annotation = parameter.annotation
        kind = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        parameters.append(f"{parameter.name}: {kind}{default}")
    return f"{pattern.name}({', '.join(parameters)})"


def plan_of(pattern: AccessPattern, texts: Mapping[str, str]) -> Plan[Any]:
    """Return the plan of a pattern for these arguments; raise InvalidValue if they do not fit."""
    parameters = {parameter.name: parameter for parameter in _parameters(pattern)}
    for name in texts:
        if name not in parameters:
            hint = did_you_mean(name, parameters) or f": {signature_of(pattern)}"
            raise InvalidValue(f"{pattern.name} has no argument {name!r}{hint}")
    values: dict[str, Any] = {}
    missing = []
    for name, parameter in parameters.items():
        if name in texts:
            values[name] = parse_argument(pattern, name, texts[name])
        elif parameter.default is parameter.empty:
            if NoneType in get_args(pattern.types[name]):
                values[name] = None
            else:
                missing.append(name)
    if missing:
        raise InvalidValue(
            f"{pattern.name} needs {' and '.join(f'{name}=…' for name in missing)}: "
            f"{signature_of(pattern)}"
        )
    plan: Plan[Any] = pattern.function(**values)
    return plan


def parse_argument(pattern: AccessPattern, name: str, text: str) -> Any:
    """Return the value of an argument; raise InvalidValue if the text is none of its type."""
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(pattern.types[name])
    try:
        return adapter.validate_python(text)
    except pydantic.ValidationError as error:
        failure = error
    try:
        return adapter.validate_json(text)
    except pydantic.ValidationError as error:
        is_json = error.errors(include_url=False)[0]["type"] != "json_invalid"
        if is_json or text.lstrip().startswith(("{", "[")):
            failure = error
    found = failure.errors(include_url=False)
    problems = []
    for problem in found[:MAX_PROBLEMS]:
        where = ".".join(map(str, problem["loc"]))
        problems.append(f"{where}: {problem['msg']}" if where else problem["msg"])
    if len(found) > MAX_PROBLEMS:
        problems.append(f"and {len(found) - MAX_PROBLEMS} more")
    raise InvalidValue(f"{pattern.name}: {name}={text}: {'; '.join(problems)}")


def _parameters(pattern: AccessPattern) -> list[inspect.Parameter]:
    signature = inspect.signature(pattern.function)
    return [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
