"""Inputs: pydantic models of what a client may send, derived from an entity.

    class NewOrder(Input[Order], exclude=("customer_id",)):
        '''Everything but what the server sets.'''

    class OrderPatch(Patch[Order]):
        '''Every field is optional.'''

    new.entity(customer_id="C1")        Order(customer_id="C1", …)
    Order.changes_from(patch)           [Order.status.set(…), …]

`Input[Order]` has a field for each attribute, `Patch[Order]` for each attribute that an update can
change. Neither has the version, the timestamps and the computed fields, which a client cannot set.
The class body may redeclare a field, to use it by name in typed code. An `Input` may have further
fields, which do not go into the entity.

Invariants: a field has the type, the constraints, the validators and the description of its
attribute. A declaration that cannot work raises DeclarationError when the class is defined.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import pydantic

from tablewright.errors import DeclarationError
from tablewright.hints import did_you_mean
from tablewright.mapping.attributes import STAMPS, AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.pydantic_bridge import refuse_other_types
from tablewright.mapping.variants import VariantsMap
from tablewright.model.annotations import refuse_unknown
from tablewright.model.attribute import MISSING
from tablewright.model.declaration import EntityDeclaration
from tablewright.model.entity import Entity
from tablewright.model.validation import CONFIG, field_validators, stated_limits
from tablewright.plan.writes.write import refuse_write_once
from tablewright.symbol import AttributeOf, Expression, Symbol

E = TypeVar("E", bound=Entity)

#: Whether pydantic uses its own method, such as `schema`, as the default of a field of that name in
#: a subclass, unless the model has an attribute of that name.
METHODS_ARE_DEFAULTS = tuple(map(int, pydantic.VERSION.split(".")[:2])) < (2, 12)


class EntityModel(pydantic.BaseModel, Generic[E]):
    """The common part of `Input` and `Patch`."""

    model_config = CONFIG
    __entity_type__: ClassVar[type[Entity]]

    if not TYPE_CHECKING:  # the checkers take it for a plain generic class

        def __class_getitem__(cls, entity: Any) -> Any:
            if isinstance(entity, TypeVar):
                return super().__class_getitem__(entity)
            if not isinstance(getattr(entity, "__entity__", None), EntityMap):
                raise DeclarationError(
                    f"{cls.__name__}[…] takes an entity with a table, not {entity!r}"
                )
            return _model_of(cls, entity)

    def __init_subclass__(cls, *, exclude: Iterable[str] = (), **unknown: Any) -> None:
        refuse_unknown(cls, cls.__bases__[0], unknown)  # pydantic has taken its own options
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(cls, *, exclude: Iterable[str] = (), **config: Any) -> None:
        super().__pydantic_init_subclass__(**config)
        if isinstance(exclude, str):
            raise DeclarationError(
                f"{cls.__name__}: exclude={exclude!r} takes several names: exclude=({exclude!r},)"
            )
        excluded = set(exclude)
        for name in excluded:
            if name not in cls.model_fields:
                raise DeclarationError(
                    f"{cls.__name__}: exclude names {name!r}, which is not a field of it"
                    f"{did_you_mean(name, cls.model_fields)}"
                )
            del cls.model_fields[name]
        if excluded:
            cls.model_rebuild(force=True)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _refuse_other_types(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            refuse_other_types(cls, value)
        return value

    @classmethod
    def _accepts(cls, entity: EntityMap, attribute: AttributeMap) -> bool:
        """Return whether a client may send the attribute."""
        return attribute.role not in STAMPS

    @classmethod
    def _symbolic(cls, owner: Expression) -> Self:
        """Return a model of symbols, for tracing a pattern; `owner` is the parameter."""
        symbols = vars(cls.__entity_type__.__entity__.symbolic(owner))
        fields = {
            field: symbols.get(field, Symbol(AttributeOf(owner, field)))
            for field in cls.model_fields
        }
        return cls.model_construct(set(fields), **fields)


class Input(EntityModel[E], Generic[E]):
    """What a client sends to create an entity: `class NewOrder(Input[Order], exclude=(…)): ...`."""

    def entity(self, **others: Any) -> E:
        """Return the entity with the values of this model and of `others`, which take precedence.

        Raise TypeError if an attribute that this model excludes has no value, and InvalidValue for
        a value that is not valid.
        """
        kind = self.__entity_type__
        attributes = kind.__entity__.attributes
        sent = self.model_fields_set & attributes.keys()
        values = {name: getattr(self, name) for name in sent} | others
        for name, attribute in attributes.items():
            if attribute.default is None and name not in values:
                raise TypeError(
                    f"{type(self).__name__}.entity() needs a value for {name!r}, which is not a "
                    f"field of {type(self).__name__}: entity({name}=…)"
                )
        return kind(**values)  # type: ignore[return-value]  # the E of this class


class Patch(EntityModel[E], Generic[E]):
    """What a client sends to change an entity: all fields are optional, at least one is needed.

    `Order.changes_from(patch)` returns the changes. An attribute of the primary key, an immutable
    one, and one that is only in keys is not a field. A null removes an optional attribute.
    """

    model_config = pydantic.ConfigDict(json_schema_extra={"minProperties": 1})

    @classmethod
    def __pydantic_init_subclass__(cls, *, exclude: Iterable[str] = (), **config: Any) -> None:
        super().__pydantic_init_subclass__(exclude=exclude, **config)
        if "__entity_type__" in dir(cls):  # it is not Patch[Order] itself, which is being made
            entity = cls.__entity_type__.__entity__
            for name in cls.model_fields.keys() - entity.attributes.keys():
                raise DeclarationError(
                    f"{cls.__name__}: the field {name!r} is not an attribute of {entity.name}, so "
                    f"it changes nothing{did_you_mean(name, entity.attributes)}"
                )

    @pydantic.model_validator(mode="after")
    def _require_a_field(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("at least one field is needed")
        return self

    @classmethod
    def _accepts(cls, entity: EntityMap, attribute: AttributeMap) -> bool:
        return not (
            attribute.role in STAMPS
            or attribute.is_immutable
            or attribute.is_key_only
            or attribute.name in entity.primary.depends_on
        )


@functools.cache
def _model_of(base: type[EntityModel[Any]], kind: type[Entity]) -> type[EntityModel[Any]]:
    """Return `Input[Order]` or `Patch[Order]`."""
    entity, declared = kind.__entity__, kind.__declaration__
    is_patch = issubclass(base, Patch)
    if is_patch:
        refuse_write_once(entity, "a patch")
    elif "entity" in entity.attributes:
        raise DeclarationError(
            f"{base.__name__}[{entity.name}]: the attribute 'entity' has the name of a method of "
            "the model; write a pydantic model by hand"
        )
    elif isinstance(entity, VariantsMap):
        variants = ", ".join(f"{base.__name__}[{each.name}]" for each in entity.variants)
        raise DeclarationError(
            f"{base.__name__}[{entity.name}]: {entity.name} is the base of variants and has no "
            f"entities of its own; use its variants: {variants}"
        )
    names = [name for name, each in entity.attributes.items() if base._accepts(entity, each)]
    fields: dict[str, Any] = {
        name: (declared.entering(name), _field(entity, declared, name, is_patch=is_patch))
        for name in names
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an attribute may have the name of a pydantic method
        model: type[EntityModel[Any]] = pydantic.create_model(
            f"{kind.__name__}{base.__name__}",
            __base__=base,
            __module__=kind.__module__,
            __doc__=kind.__doc__,
            __validators__=field_validators(names, declared.decorators),
            **fields,
        )
    if METHODS_ARE_DEFAULTS:
        for name in names:
            if hasattr(pydantic.BaseModel, name):
                setattr(model, name, fields[name][1])
    model.__entity_type__ = kind
    return model


def _field(entity: EntityMap, declared: EntityDeclaration, name: str, *, is_patch: bool) -> Any:
    attribute = declared.attributes[name]
    options: dict[str, Any] = {
        "description": attribute.doc or None,
        "json_schema_extra": stated_limits(entity, name),
    }
    factory = declared.maps[name].default
    if is_patch:
        # Fields that were not sent are not read; a factory leaves the default out of the schema.
        options["default_factory"] = lambda: None
    elif attribute.default is not MISSING:
        options["default"] = attribute.default
    elif factory is not None:
        options["default_factory"] = factory
    return pydantic.Field(**options)
