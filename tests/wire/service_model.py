"""Where our request shapes and botocore's service models of DynamoDB differ, as lines of text.

Paths are the wire's: `Query.Limit`, `CreateTable.KeySchema[].KeyType`, `Query.KeyConditions{}`.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Union, get_args, get_origin

import botocore.session
import msgspec

from tablewright.engine.operations import find_operation
from tablewright.values import Item, Value
from tablewright.wire.constraints import (
    EnumValues,
    Length,
    Long,
    NumberRange,
    ReadAs,
    RegularExpression,
    Structure,
    Timestamp,
    Unsupported,
)
from tablewright.wire.operations import OPERATIONS

_MODELS: list[Any] = [
    botocore.session.get_session().get_service_model(service)
    for service in ("dynamodb", "dynamodbstreams")
]
MODELS: dict[str, Any] = {
    operation: model.operation_model(operation).input_shape
    for model in _MODELS
    for operation in model.operation_names
}

#: All shapes by name; those of one name in both services are alike.
SHAPES: dict[str, Any] = {
    name: model.shape_for(name) for model in _MODELS for name in model.shape_names
}

_TYPES: dict[Any, str] = {
    str: "string",
    int: "integer",
    Long: "long",
    bool: "boolean",
    Timestamp: "timestamp",
}


def differences() -> Iterator[str]:
    """Everything the model says otherwise of a member that we have."""
    for operation in OPERATIONS:
        shape, _ = find_operation(operation)
        yield from _structure(operation, shape, MODELS[operation])


def unknown_members() -> Iterator[str]:
    """The members of the model that we do not have, except those of features we do not have."""
    for operation in OPERATIONS:
        shape, _ = find_operation(operation)
        yield from _unknown(operation, shape, MODELS[operation])


def _structure(path: str, shape: type[Structure], model: Any) -> Iterator[str]:
    if model.type_name != "structure":
        yield f"{path}: structure, model {model.type_name}"
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    for name, field in fields.items():
        here = f"{path}.{name}"
        if name not in model.members:
            yield f"{here}: not in the model"
            continue
        if field.required != (name in model.required_members):
            yield f"{here}: {'required' if field.required else 'optional'}"
        yield from _member(here, field.type, model.members[name])


def _member(path: str, annotation: Any, model: Any) -> Iterator[str]:
    inner, marks = unwrapped(annotation)
    yield from _constraints(path, marks, model)
    if inner == Value:
        if model.name != "AttributeValue":
            yield f"{path}: a value, model {model.name}"
    elif inner == Item:
        if model.type_name != "map" or model.value.name != "AttributeValue":
            yield f"{path}: an item, model {model.name}"
    elif inner in _TYPES:
        if model.type_name != _TYPES[inner]:
            yield f"{path}: {_TYPES[inner]}, model {model.type_name}"
    elif get_origin(inner) is list:
        if model.type_name != "list":
            yield f"{path}: list, model {model.type_name}"
        else:
            (element,) = get_args(inner)
            yield from _member(f"{path}[]", element, model.member)
    elif get_origin(inner) is dict:
        if model.type_name != "map":
            yield f"{path}: map, model {model.type_name}"
        else:
            key, value = get_args(inner)
            yield from _member(f"{path}{{key}}", key, model.key)
            yield from _member(f"{path}{{}}", value, model.value)
    else:
        yield from _structure(path, inner, model)


def _constraints(path: str, marks: tuple[Any, ...], model: Any) -> Iterator[str]:
    ours: dict[str, Any] = {}
    for mark in marks:
        match mark:
            case Length(least, most) | NumberRange(least, most):
                ours |= {"min": least, "max": most}
            case RegularExpression(pattern):
                ours["pattern"] = pattern
            case EnumValues(words):
                ours["enum"] = sorted(words)
    theirs: dict[str, Any] = {
        key: model.metadata[key] for key in ("min", "max", "pattern") if key in model.metadata
    }
    if model.type_name == "string" and model.enum:
        theirs["enum"] = sorted(model.enum)
    for key in ("min", "max", "pattern", "enum"):
        mine, other = ours.get(key), theirs.get(key)
        if mine != other and not (key == "min" and {mine, other} == {0, None}):
            yield f"{path}: {key} {mine}, model {other}"


def _unknown(path: str, shape: type[Structure], model: Any) -> Iterator[str]:
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    for name, member in model.members.items():
        if name not in fields:
            yield f"{path}.{name}"
            continue
        inner, _ = unwrapped(fields[name].type)
        here = f"{path}.{name}"
        while get_origin(inner) in (list, dict) and inner not in (Item, Value):
            here += "[]" if get_origin(inner) is list else "{}"
            member = member.member if get_origin(inner) is list else member.value
            inner, _ = unwrapped(get_args(inner)[-1])
        if isinstance(inner, type) and issubclass(inner, Structure) and inner is not Unsupported:
            yield from _unknown(here, inner, member)


def unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without `| None` and `Annotated`, and what was annotated."""
    marks: tuple[Any, ...] = ()
    while annotation not in (Item, Value):
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *found = get_args(annotation)
            for mark in found:
                if isinstance(mark, ReadAs):
                    annotation = mark.type
                else:
                    marks += (mark,)
        elif origin in (Union, types.UnionType):
            annotation = next(arg for arg in get_args(annotation) if arg is not type(None))
        else:
            break
    return annotation, marks
