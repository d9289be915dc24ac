"""Entities, aggregates and pages as pydantic types: for FastAPI, `TypeAdapter` and other models.

Each has a pydantic model of the same fields behind it. What comes in is validated by that model;
what goes out is shown by it; its JSON schema is the model's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pydantic
from pydantic_core import core_schema


def model_of(name: str, fields: Mapping[str, tuple[Any, Any]]) -> type[pydantic.BaseModel]:
    """A pydantic model of these fields."""
    model: type[pydantic.BaseModel] = pydantic.create_model(name, **dict(fields))  # type: ignore[call-overload]
    return model


def core_schema_of(
    kind: type,
    model: type[pydantic.BaseModel],
    handler: pydantic.GetCoreSchemaHandler,
    make: Callable[[dict[str, Any]], Any],
    values: Callable[[Any], dict[str, Any]] = vars,
) -> core_schema.CoreSchema:
    """The schema of a class that is no pydantic model, by a model that has its fields."""

    def validate(value: Any, inner: core_schema.ValidatorFunctionWrapHandler) -> Any:
        return value if isinstance(value, kind) else make(dict(vars(inner(value))))

    def serialise(value: Any, inner: core_schema.SerializerFunctionWrapHandler) -> Any:
        return inner(model.model_construct(**values(value)))

    schema = handler.generate_schema(model)
    return core_schema.no_info_wrap_validator_function(
        validate,
        schema,
        serialization=core_schema.wrap_serializer_function_ser_schema(serialise, schema=schema),
    )
