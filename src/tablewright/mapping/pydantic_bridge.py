"""The bridge to pydantic: constraints of values, and our classes as pydantic types.

Constraints are what `Annotated` adds to a type. Pydantic checks them when a value enters:

    Attr[Annotated[int, Field(ge=0)]]                a whole value: constructor, key argument, set()
    Attr[list[Annotated[str, Field(max_length=5)]]]  also each member: append()

Invariant: a check returns the value that pydantic returns, or raises InvalidValue. Stored values,
and the operands of conditions and of `increment`, are not checked.

An entity, an aggregate and a page each have a pydantic model with the same fields. That model
validates the input, serializes the output and provides the JSON schema: for FastAPI, `TypeAdapter`
and other models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin
from uuid import UUID

import pydantic
from pydantic_core import (
    InitErrorDetails,
    PydanticCustomError,
    PydanticSerializationUnexpectedValue,
    ValidationError,
    core_schema,
)

from tablewright.errors import InvalidValue
from tablewright.symbol import contains_symbol

Check: TypeAlias = Callable[[Any], Any]

#: The context of a validation whose input was serialized from an entity, and not sent by a client.
OUTPUT: Mapping[str, Any] = MappingProxyType({})


#: The attributes that the output of entities and its schema leave out, by the class of the entity.
_HIDDEN: ContextVar[Mapping[type, frozenset[str]] | None] = ContextVar("hidden", default=None)


@contextmanager
def hiding(attributes: Mapping[type, frozenset[str]]) -> Iterator[None]:
    """Leave attributes out of the output of entities, and of its schema, while the block runs."""
    token = _HIDDEN.set(attributes)
    try:
        yield
    finally:
        _HIDDEN.reset(token)


def hidden_attributes(kind: type) -> frozenset[str]:
    """Return the attributes of an entity that are hidden now."""
    hidden = _HIDDEN.get()
    return frozenset() if hidden is None else hidden.get(kind, frozenset())


#: An example for the schema of each class of entities, as JSON.
_EXAMPLES: ContextVar[Mapping[type, Any] | None] = ContextVar("examples", default=None)


@contextmanager
def showing(examples: Mapping[type, Any]) -> Iterator[None]:
    """Add examples to the schemas of entities while the block runs."""
    token = _EXAMPLES.set(examples)
    try:
        yield
    finally:
        _EXAMPLES.reset(token)


def example_of(kind: type) -> Any:
    """Return the example of a class of entities now; None if it has none."""
    examples = _EXAMPLES.get()
    return None if examples is None else examples.get(kind)


def is_constrained(kind: Any) -> bool:
    """Return whether a type, or one inside of it, is `Annotated`."""
    return get_origin(kind) is Annotated or any(map(is_constrained, get_args(kind)))


def unannotated(kind: Any) -> Any:
    """Return a type without its `Annotated` metadata."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def is_positive(kind: Any) -> bool:
    """Return whether the constraints of a type allow only values above zero."""
    if get_origin(kind) is not Annotated:
        return False
    added = [each for part in get_args(kind)[1:] for each in getattr(part, "metadata", (part,))]
    bounds = [(getattr(each, "gt", None), getattr(each, "ge", None)) for each in added]
    return any(
        (isinstance(gt, int) and gt >= 0) or (isinstance(ge, int) and ge > 0) for gt, ge in bounds
    )


def constraint_check(kind: Any, where: str) -> Check | None:
    """Return the check of the constraints of a type; None if it has none."""
    if not is_constrained(kind):
        return None
    return checked_by(pydantic.TypeAdapter(kind).validate_python, where)


def member_check(kind: Any, where: str) -> Check | None:
    """Return the check for the members of a list or a set; None if they have no constraints."""
    members = [
        get_args(part)
        for part in (unannotated(kind), *map(unannotated, get_args(unannotated(kind))))
        if get_origin(part) in (list, set, frozenset)
    ]
    return constraint_check(members[0][0], where) if members and members[0] else None


def field_check(model: Any, field: str, where: str) -> Check | None:
    """Return the check for a field of a nested model; None if the field has no constraints."""
    if not (isinstance(model, type) and issubclass(model, pydantic.BaseModel)):
        return None
    info, decorators = model.model_fields.get(field), model.__pydantic_decorators__
    validators = [
        each
        for each in decorators.field_validators.values()
        if field in each.info.fields or "*" in each.info.fields
    ]
    if info is None:
        return None
    metadata: list[Any] = info.metadata
    if not (metadata or validators or is_constrained(info.annotation)):
        return None
    if decorators.model_validators or model.model_config.get("frozen"):
        # These check whole models, but only one field is known here.
        kind: Any = info.annotation
        return constraint_check(Annotated[kind, *metadata], where) if metadata else None

    def validate(value: Any) -> Any:
        holder = model.model_construct()
        model.__pydantic_validator__.validate_assignment(holder, field, value)
        return vars(holder)[field]

    return checked_by(validate, where)


def checked_by(validate: Callable[[Any], Any], where: str) -> Check:
    """Return a check whose errors name the attribute; symbols are not checked."""

    def check(value: Any) -> Any:
        if contains_symbol(value):
            return value
        try:
            return validate(value)
        except pydantic.ValidationError as error:
            problem = error.errors()[0]
            message = f"{where}: {problem['input']!r}: {problem['msg']}"
            raise InvalidValue(message, attribute=where.partition(".")[2]) from None

    return check


def plain_type(kind: Any) -> Any:
    """Return a type without metadata and None."""
    kind = unannotated(kind)
    members = [each for each in get_args(kind) if each is not type(None)]
    is_optional = get_origin(kind) in (Union, UnionType) and len(members) == 1
    return unannotated(members[0]) if is_optional else kind


def refuse_other_types(model: type[pydantic.BaseModel], values: Mapping[str, Any]) -> None:
    """Raise a validation error for values of JSON types that pydantic would convert.

    It takes true as 1, and a number as a moment; the JSON schema of the model allows neither.
    """
    problems = [
        InitErrorDetails(
            type=PydanticCustomError("json_type", "{problem}", {"problem": problem}),
            loc=place,
            input=value,
        )
        for name, field in model.model_fields.items()
        if name in values
        for place, value, problem in _other_types(field.annotation, values[name], (name,))
    ]
    if problems:
        raise ValidationError.from_exception_data(model.__name__, problems)


def refuse_other_type(kind: Any) -> Check | None:
    """Return a check that raises ValueError for a value of a JSON type that is not that of a type.

    It is for one value, such as an argument in a body. None if pydantic converts no other type.
    """
    plain = plain_type(kind)
    converted = tuple(each for kinds, _, _ in _JSON_TYPES for each in kinds)
    if isinstance(plain, type) and not get_args(plain) and not issubclass(plain, converted):
        return None

    def check(value: Any) -> Any:
        for _, _, problem in _other_types(kind, value, ()):
            raise ValueError(problem)
        return value

    return check


#: The JSON types of values that pydantic converts.
_JSON_TYPES: tuple[tuple[tuple[type, ...], tuple[type, ...], str], ...] = (
    ((bool,), (bool,), "Input should be true or false"),
    ((int, float, Decimal), (int, float, str), "Input should be a number"),
    ((datetime, date, time, timedelta, UUID), (str,), "Input should be a text"),
)


def _other_types(
    kind: Any, value: Any, place: tuple[int | str, ...]
) -> Iterator[tuple[tuple[int | str, ...], Any, str]]:
    """Yield each value of another JSON type: where it is, the value, and the problem."""
    kind = plain_type(kind)
    members = get_args(kind)
    if isinstance(value, Mapping) and get_origin(kind) is dict:
        for name, each in value.items():
            yield from _other_types(members[1], each, (*place, name))
    elif isinstance(value, list) and get_origin(kind) in (list, set, frozenset):
        for at, each in enumerate(value):
            yield from _other_types(members[0], each, (*place, at))
    elif isinstance(value, bool | int | float | str) and isinstance(kind, type):
        kind = datetime if kind is pydantic.AwareDatetime else kind
        for kinds, allowed, problem in _JSON_TYPES:
            if issubclass(kind, kinds) and not issubclass(kind, Enum):
                is_flag = isinstance(value, bool) and bool not in allowed
                if is_flag or not isinstance(value, allowed) or _is_bare_number(kind, value):
                    yield place, value, problem
                return


def _is_bare_number(kind: type, value: object) -> bool:
    """Return whether a text is a number, which pydantic takes as the seconds of a moment."""
    is_moment = issubclass(kind, date | time | timedelta)
    return is_moment and isinstance(value, str) and value.strip("+-").replace(".", "").isdigit()


def model_of(name: str, fields: Mapping[str, tuple[Any, Any]]) -> type[pydantic.BaseModel]:
    """Return a pydantic model whose output always has all of these fields."""
    config = pydantic.ConfigDict(json_schema_serialization_defaults_required=True)
    model: type[pydantic.BaseModel] = pydantic.create_model(name, __config__=config, **dict(fields))  # type: ignore[call-overload]
    return model


def _instance(model: type[pydantic.BaseModel], values: dict[str, Any]) -> pydantic.BaseModel:
    """Return an instance of a model without validation: `model_construct` takes ten times longer.

    It sets the slots that pydantic documents in `BaseModel`. The serializer only reads them.
    """
    if len(values) != len(model.__pydantic_fields__):
        return model.model_construct(**values)  # it adds defaults
    made = model.__new__(model)
    write = object.__setattr__
    write(made, "__dict__", values)
    write(made, "__pydantic_fields_set__", set(values))
    write(made, "__pydantic_extra__", None)
    write(made, "__pydantic_private__", None)
    return made


def core_schema_of(
    kind: type,
    model: type[pydantic.BaseModel],
    handler: pydantic.GetCoreSchemaHandler,
    make: Callable[[dict[str, Any]], Any],
    values: Callable[[Any], dict[str, Any]] = vars,
    *,
    read_only: frozenset[str] = frozenset(),
) -> core_schema.CoreSchema:
    """Return the core schema of a class, based on a pydantic model with the same fields.

    `read_only` fields of the input are ignored, and get their defaults, unless it is an `OUTPUT`.
    """

    def validate(
        value: Any,
        inner: core_schema.ValidatorFunctionWrapHandler,
        info: core_schema.ValidationInfo[Any],
    ) -> Any:
        if isinstance(value, kind):
            return value
        if isinstance(value, Mapping) and info.context is not OUTPUT:
            value = {name: each for name, each in value.items() if name not in read_only}
            refuse_other_types(model, value)
        return make(dict(vars(inner(value))))

    def serialize(value: Any, inner: core_schema.SerializerFunctionWrapHandler) -> Any:
        if not isinstance(value, kind):  # another member of a union
            raise PydanticSerializationUnexpectedValue(f"it is not a {kind.__name__}")
        output = inner(_instance(model, values(value)))
        hidden = hidden_attributes(kind)
        if not hidden:
            return output
        return {name: each for name, each in output.items() if name not in hidden}

    schema = handler.generate_schema(model)
    return core_schema.with_info_wrap_validator_function(
        validate,
        schema,
        serialization=core_schema.wrap_serializer_function_ser_schema(serialize, schema=schema),
    )
