"""Entities, aggregates and pages as pydantic types: for FastAPI, `TypeAdapter` and other models.

Each class has a pydantic model with the same fields. That model validates the input, serializes the
output and provides the JSON schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pydantic
from pydantic_core import PydanticSerializationUnexpectedValue, core_schema


def model_of(name: str, fields: Mapping[str, tuple[Any, Any]]) -> type[pydantic.BaseModel]:
    """Return a pydantic model with these fields, all of which are in its output."""
    config = pydantic.ConfigDict(json_schema_serialization_defaults_required=True)
    model: type[pydantic.BaseModel] = pydantic.create_model(name, __config__=config, **dict(fields))  # type: ignore[call-overload]
    return model


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

    `read_only` fields of the input are ignored: they get their defaults.
    """

    def validate(value: Any, inner: core_schema.ValidatorFunctionWrapHandler) -> Any:
        if isinstance(value, kind):
            return value
        if read_only and isinstance(value, Mapping):
            value = {name: each for name, each in value.items() if name not in read_only}
        return make(dict(vars(inner(value))))

    def serialize(value: Any, inner: core_schema.SerializerFunctionWrapHandler) -> Any:
        if not isinstance(value, kind):  # another member of a union
            raise PydanticSerializationUnexpectedValue(f"it is not a {kind.__name__}")
        return inner(model.model_construct(**values(value)))

    schema = handler.generate_schema(model)
    return core_schema.no_info_wrap_validator_function(
        validate,
        schema,
        serialization=core_schema.wrap_serializer_function_ser_schema(serialize, schema=schema),
    )
