"""Validation: the pydantic models of an entity, made when its class is defined.

    the model of the entity     validates constructors and assignments, makes JSON and its schema
    a model of one attribute    validates one value that enters alone: a key argument, set()

Pydantic's decorators in the body of an entity are passed on to these models: `field_validator`,
`field_serializer` and `computed_field`. Those about the whole model are refused, because an update
changes single attributes of an item that it does not read.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from types import FunctionType
from typing import Annotated, Any, ClassVar, get_args

import pydantic

# The type of decorated methods in a class body; pydantic has no public name for it.
from pydantic._internal._decorators import (
    FieldSerializerDecoratorInfo,
    FieldValidatorDecoratorInfo,
    PydanticDescriptorProxy,
)
from pydantic.fields import ComputedFieldInfo

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.hints import did_you_mean
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.pydantic_bridge import Check, checked_by, example_of, hidden_attributes

#: The configuration of the models of entities.
CONFIG = pydantic.ConfigDict(
    extra="forbid",
    arbitrary_types_allowed=True,
    protected_namespaces=(),
    ser_json_bytes="base64",  # bytes need not be text
    val_json_bytes="base64",
    json_schema_serialization_defaults_required=True,  # a response has every attribute
)

_ALLOWED = (ComputedFieldInfo, FieldSerializerDecoratorInfo, FieldValidatorDecoratorInfo)


def decorators_of(owner: type) -> dict[str, Any]:
    """Return the pydantic decorators of a class and its bases, by method name."""
    found: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, PydanticDescriptorProxy):
                if not isinstance(value.decorator_info, _ALLOWED):
                    raise DeclarationError(
                        f"{owner.__name__}.{name}: an update changes single attributes, so a "
                        "validator or serializer of the whole entity cannot be guaranteed; use "
                        "field_validator, and condition(…) for several attributes together"
                    )
                found[name] = value
            else:
                found.pop(name, None)
    return found


def check_fields(owner: type, decorators: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
    """Raise DeclarationError for a decorator that names an unknown attribute."""
    for name, value in decorators.items():
        for field in getattr(value.decorator_info, "fields", ()):
            if field != "*" and field not in attributes:
                raise DeclarationError(
                    f"{owner.__name__}.{name} is about {field!r}, which is not an attribute of "
                    f"{owner.__name__}{did_you_mean(field, attributes)}"
                )


def attribute_check(
    name: str, kind: Any, decorators: Mapping[str, Any], where: str
) -> Check | None:
    """Return the check of one attribute by its field validators; None if it has none."""
    validators = field_validators([name], decorators)
    if not validators:
        return None
    model = _make(where, None, None, validators, {name: (strict(kind), ...)})
    validate = model.__pydantic_validator__.validate_python
    return checked_by(lambda value: vars(validate({name: value}))[name], where)


def field_validators(names: Collection[str], decorators: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field validators of these attributes, for a model that has only these."""
    found = {}
    for method, value in decorators.items():
        info = value.decorator_info
        if isinstance(info, FieldValidatorDecoratorInfo):
            fields = [name for name in names if name in info.fields or "*" in info.fields]
            if fields:
                mode: Any = info.mode
                decorate: Callable[[Any], Any] = pydantic.field_validator(
                    *fields, mode=mode, check_fields=False
                )
                found[method] = decorate(value.wrapped)
    return found


def entity_model(
    owner: type, fields: Mapping[str, tuple[Any, Any]], decorators: Mapping[str, Any]
) -> type[pydantic.BaseModel]:
    """Return the pydantic model that validates and serializes the values of an entity."""
    members: dict[str, Any] = {}
    if any(isinstance(value.decorator_info, ComputedFieldInfo) for value in decorators.values()):
        members = _methods(owner)  # a computed field may call them
    model = _make(
        owner.__name__,
        owner.__module__,
        owner.__doc__,
        {**members, **decorators},
        dict(fields),
        _model_of_entity(),
    )
    model.__owner__ = owner  # type: ignore[attr-defined]  # it is a ModelOfEntity
    return model


@cache
def _model_of_entity() -> type[pydantic.BaseModel]:
    """Return the base of the models of entities, made with the first one: it imports much."""

    class ModelOfEntity(pydantic.BaseModel):
        model_config = CONFIG
        __owner__: ClassVar[type]

        @classmethod
        def __get_pydantic_json_schema__(cls, source: Any, handler: Any) -> dict[str, Any]:
            made: dict[str, Any] = handler(source)
            schema = handler.resolve_ref_schema(made)
            example = example_of(cls.__owner__)
            if example is not None:
                schema["examples"] = [example]
            for name in hidden_attributes(cls.__owner__):
                if handler.mode == "validation":
                    schema["properties"][name]["writeOnly"] = True
                else:
                    schema["properties"].pop(name, None)
                    schema["required"] = [each for each in schema["required"] if each != name]
            return made

    return ModelOfEntity


def _make(
    name: str,
    module: str | None,
    doc: str | None,
    members: Mapping[str, Any],
    fields: Mapping[str, Any],
    base: type[pydantic.BaseModel] | None = None,
) -> type[pydantic.BaseModel]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an attribute may have the name of a pydantic method
        model: type[pydantic.BaseModel] = pydantic.create_model(
            name,
            __config__=CONFIG if base is None else None,
            __base__=base,
            __module__=module or __name__,
            __doc__=doc,
            __validators__=dict(members),
            **fields,
        )
    return model


def _methods(owner: type) -> dict[str, Any]:
    """Return the methods and properties of an entity and its abstract bases."""
    return {
        name: value
        for base in reversed(owner.__mro__)
        if base.__module__ != "tablewright.model.entity" and base is not object
        for name, value in vars(base).items()
        if isinstance(value, (FunctionType, classmethod, property, staticmethod))
        and not hasattr(pydantic.BaseModel, name)
    }


def strict(kind: Any) -> Any:
    """Return a stricter type: moments need a time zone, and floats must be exact."""
    if kind is datetime:
        return pydantic.AwareDatetime
    if kind is float:
        return Annotated[float, pydantic.BeforeValidator(_exact)]
    arguments = get_args(kind)
    if type(None) in arguments and len(arguments) == 2:
        return strict(next(part for part in arguments if part is not type(None))) | None
    return kind


#: DynamoDB's numbers have at most 38 digits.
_DIGITS = 38


def limits_of(kind: Any, refuses: Callable[[Any], bool]) -> dict[str, int]:
    """Return what a JSON schema says about the values of a type that are refused."""
    if str in (get_args(kind) or (kind,)):  # also `KSUID | str`
        return {"minLength": 1} if refuses("") else {}
    found: dict[str, int] = {}
    if kind is int:
        if refuses(-1):
            found["minimum"] = int(refuses(0))
        if refuses(10**_DIGITS - 1):
            allowed = (10**count - 1 for count in range(_DIGITS - 1, 0, -1))
            most = next((each for each in allowed if not refuses(each)), None)
            found |= {} if most is None else {"maximum": most}
    return found


def limits_in_keys(entity: EntityMap, name: str) -> dict[str, int]:
    """Return what a JSON schema says about an attribute that is in keys: `{"minLength": 1}`."""
    keys = [entity.primary, *entity.indexes, *(each.key for each in entity.uniques)]
    parts = [part for key in keys for part in key.parameters if part.attribute == name]

    def refuses(value: Any) -> bool:
        for part in parts:
            try:
                part.text(value)
            except InvalidValue:
                return True
        return False

    return limits_of(entity.attributes[name].converter.kind, refuses) if parts else {}


def stated_limits(entity: EntityMap, name: str) -> Callable[[dict[str, Any]], None] | None:
    """Return what adds the limits of an attribute in keys to its JSON schema."""
    keys = [entity.primary, *entity.indexes, *(each.key for each in entity.uniques)]
    if not any(name in key.part_names for key in keys):
        return None

    def add(schema: dict[str, Any]) -> None:
        for limit, value in limits_in_keys(entity, name).items():
            schema.setdefault(limit, value)

    return add


def _exact(value: Any) -> Any:
    """Return the number; raise ValueError if no float is exactly equal to it."""
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        near = float(value)
        # A decimal with the digits that Python prints for the float counts as that float.
        meant = isinstance(value, Decimal) and Decimal(repr(near)) == value
        if not math.isfinite(near) or (Decimal(near) != value and not meant):
            raise ValueError("no float is exactly that number")
    return value
