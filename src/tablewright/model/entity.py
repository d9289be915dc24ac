"""Entities: the kinds of items in a table, each declared as a class.

    class Customer(Entity, table=Commerce):
        customer_id: Attr[str] = attr(name="customerId")
        email: Attr[str] = attr()
        primary = key("CUST" / customer_id, "PROFILE" / customer_id.again)

The class is compiled when it is defined. Pydantic validates values when an entity is created, when
an attribute is set, and in FastAPI and `TypeAdapter`. A converter for its type decodes a value that
is read from the table. While a pattern is traced, symbols enter without validation.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Never, Self, dataclass_transform

import pydantic
from pydantic_core import ErrorDetails, core_schema

from tablewright.errors import DeclarationError, InvalidValue
from tablewright.hints import did_you_mean
from tablewright.mapping.attributes import STAMPS
from tablewright.mapping.converters.scalars import NAIVE
from tablewright.mapping.entity import EntityMap
from tablewright.mapping.pydantic_bridge import core_schema_of
from tablewright.mapping.tracking import NEW, note_assignment
from tablewright.mapping.variants import VariantMap, VariantsMap
from tablewright.model.annotations import refuse_unknown
from tablewright.model.attribute import Attr, Reference, attr, created_at, ttl, updated_at, version
from tablewright.model.body import MEMBERS, attributes_of
from tablewright.model.bound_keys import BoundIndex, BoundKey, BoundUnique
from tablewright.model.compile import compile_entity
from tablewright.model.declaration import EntityDeclaration
from tablewright.model.key import IndexPlace, PrimaryKey, Unique
from tablewright.model.rules.connecting import connect_links
from tablewright.model.rules.counters import connect_counters, count_of, sum_of
from tablewright.model.table import Table
from tablewright.model.validation import entity_model, stated_limits
from tablewright.model.where import find
from tablewright.plan.change import Change
from tablewright.plan.condition import Condition
from tablewright.plan.reads.query import Query
from tablewright.plan.reads.scan import Scan
from tablewright.symbol import AttributeOf, Symbol, contains_symbol, member_of_list

#: What an entity keeps besides its values: the stored key, if its spelling differs from the usual
#: one, and the state of `mapping.tracking`.
_KEPT = ("_stored_key", "_assigned", "_snapshot")


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(attr, version, created_at, updated_at, ttl, count_of, sum_of),
)
class Entity:
    """The base class of entities: a subclass declares its table, attributes and keys.

    A subclass without a table is abstract: other entities inherit its attributes.
    """

    __slots__ = ("__dict__", "__weakref__", *_KEPT)

    __entity__: ClassVar[EntityMap]
    __model__: ClassVar[type[pydantic.BaseModel]]
    __declaration__: ClassVar[EntityDeclaration]
    __write_once__: ClassVar[Literal[False]] = False

    def __init_subclass__(
        cls,
        *,
        table: type[Table] | None = None,
        type_name: str | None = None,
        renamed_from: str | tuple[str, ...] = "",
        renamed_when: Callable[[dict[str, Any]], bool] | None = None,
        write_once: bool = False,
        deletable: bool = False,
        variants: bool = False,
        **unknown: Never,
    ) -> None:
        refuse_unknown(cls, Entity, unknown)
        super().__init_subclass__()
        base = _base_of(cls, table, variants=variants)
        if base is None and table is None:
            _refuse_additions(cls)
            return
        if base is None and not hasattr(table, "__table__"):
            raise DeclarationError(
                f"{cls.__name__}: table={table!r} is not a subclass of Table; pass the class itself"
            )
        attributes = attributes_of(cls, Entity, sys._getframe(1).f_locals)
        cls.__type_name__ = type_name or cls.__name__  # type: ignore[attr-defined]
        compiled = table.__table__ if base is None else base.table  # type: ignore[union-attr]
        declared = EntityDeclaration(cls, compiled, attributes, base)
        write_once = write_once or cls.__write_once__
        if base is not None:
            above: EntityMap = base.owner.__entity__  # type: ignore[attr-defined]
            write_once = write_once or above.is_write_once
            deletable = deletable or (above.is_write_once and above.is_deletable)
        if deletable and not write_once:
            raise DeclarationError(
                f"{cls.__name__}: deletable=True is for write-once entities; others can always be "
                "deleted: leave it out"
            )
        _refuse_reserved(cls, declared)
        entity = compile_entity(
            declared,
            type_name or cls.__name__,
            VariantsMap if variants else EntityMap if base is None else VariantMap,
            is_write_once=write_once,
            is_deletable=deletable or not write_once,
            renamed_from=renamed_from,
            renamed_when=renamed_when,
        )
        cls.__model__ = _ValidationModel(cls, entity, declared)  # type: ignore[assignment]
        if declared.decorators:  # which may have mistakes that pydantic reports
            assert cls.__model__
        if isinstance(entity, VariantsMap):
            _check_base(entity, type_name)
            compiled.add_base(entity)
        elif isinstance(entity, VariantMap) and base is not None:
            entity.base = base.owner.__entity__  # type: ignore[attr-defined]
            compiled.add(entity)
            entity.base.variants += (entity,)
        else:
            compiled.add(entity)
        cls.__entity__ = entity
        cls.__declaration__ = declared
        _finish(cls, entity, declared)
        connect_counters(entity, declared.attributes)
        connect_links(entity, declared.members)

    if not TYPE_CHECKING:  # the checkers make the signature from the attributes

        def __init__(self, /, **values: Any) -> None:
            vars(self).update(_validated(type(self), values))
            object.__setattr__(self, "_assigned", NEW)

        def __setattr__(self, name: str, value: Any) -> None:
            attribute = self.__entity__.attributes.get(name)
            if attribute is None:
                raise AttributeError(_unknown(type(self), name))
            if attribute.role == "version":
                raise AttributeError(
                    f"{type(self).__name__}.{name} is read-only; each write increments it"
                )
            if attribute.role == "counter":
                raise AttributeError(
                    f"{type(self).__name__}.{name} is read-only; the writes of what it counts "
                    "change it"
                )
            entered = _entered(type(self), name, value, vars(self))
            note_assignment(self, name)
            vars(self)[name] = entered

    @classmethod
    def where(cls, *conditions: Condition[Self]) -> Query[Self]:
        """Return the query for the items that match the conditions.

        It uses the key or the index that can apply most of them, and filters by the others. Raises
        DeclarationError, which proposes an index, if the query would be a scan.
        """
        return find(cls.__entity__, conditions)

    @classmethod
    def scan(cls, *, reason: str) -> Scan[Self]:
        """Return a plan that reads the whole table; `reason` says why that is acceptable."""
        return Scan(cls.__entity__, reason)

    @classmethod
    def changes_from(cls, patch: pydantic.BaseModel | Mapping[str, Any]) -> list[Change[Self]]:
        """Return the changes that set the fields of a partial model or dict.

        Only fields that were set become changes (`model_fields_set`). Raises InvalidValue for a
        field that is not an attribute, or whose value is not valid for it.
        """
        if isinstance(patch, pydantic.BaseModel):
            fields = {name: getattr(patch, name) for name in patch.model_fields_set}
        elif isinstance(patch, Mapping):
            fields = dict(patch)
        else:
            raise InvalidValue(f"changes_from() takes a pydantic model or a dict, not {patch!r}")
        changes: list[Change[Self]] = []
        for name in sorted(fields):
            if name not in cls.__entity__.attributes:
                raise InvalidValue(_unknown(cls, name))
            changes.append(getattr(cls, name).set(_entered(cls, name, fields[name], {})))
        return changes

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]  # it is mutable

    def __dir__(self) -> list[str]:
        """List the attributes; keys and `where` belong to the class."""
        return sorted(self.__entity__.attributes)

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any]]:
        kept = {name: getattr(self, name) for name in _KEPT if hasattr(self, name)}
        if kept.get("_assigned"):
            kept["_assigned"] = dict(kept["_assigned"])
        return dict(vars(self)), kept

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
        values, kept = state
        vars(self).update(values)
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: pydantic.GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        entity = cls.__entity__
        if isinstance(entity, VariantsMap) and entity.variants:
            kinds = [handler.generate_schema(variant.type) for variant in entity.variants]
            return core_schema.union_schema(list(kinds))
        return core_schema_of(
            cls,
            cls.__model__,
            handler,
            lambda values: _build(cls, values),
            read_only=frozenset(each.name for each in cls.__entity__.stamps),
        )


def _base_of(cls: type, table: type[Table] | None, *, variants: bool) -> EntityDeclaration | None:
    """Return the declaration of a variant's base; None if the class is not a variant."""
    for parent in cls.__mro__[1:]:
        if "__entity__" not in vars(parent):
            continue
        if not isinstance(vars(parent)["__entity__"], VariantsMap):
            if table is None and not variants:
                return None
            raise DeclarationError(
                f"{cls.__name__} inherits from {parent.__name__}, which has a table; inherit "
                "from an abstract entity, without a table, or from a base of variants"
            )
        if table is not None or variants:
            raise DeclarationError(
                f"{cls.__name__} is a variant of {parent.__name__}, and has its table; leave "
                "table= and variants= out"
            )
        declaration: EntityDeclaration = vars(parent)["__declaration__"]
        return declaration
    if variants and table is None:
        raise DeclarationError(f"{cls.__name__}: the base of variants needs a table: table=…")
    return None


def _refuse_additions(cls: type) -> None:
    """Raise DeclarationError if a subclass of a finished entity declares attributes or keys."""
    parent = next((each for each in cls.__mro__[1:] if "__entity__" in vars(each)), None)
    added = [name for name, value in vars(cls).items() if isinstance(value, (Attr, *MEMBERS))]
    if parent is not None and added:
        raise DeclarationError(
            f"{cls.__name__}.{added[0]}: {parent.__name__} has a table, so {cls.__name__} is not "
            f"an entity of its own; declare {added[0]} in {parent.__name__}, or inherit both from "
            "an abstract entity or from a base of variants"
        )


def _check_base(entity: VariantsMap, type_name: str | None) -> None:
    """Raise DeclarationError if items would not show which variant of a base they are."""
    if entity.table.type_attribute is None:
        raise DeclarationError(
            f"{entity.name}: {entity.table.owner} has no type attribute, which tells variants "
            "apart; use type_attribute=…, or give each entity a key of its own"
        )
    for option, given in (("type_name", type_name), ("renamed_from", entity.renamed_from)):
        if given:
            raise DeclarationError(
                f"{entity.name}: the base of variants has no items of its own; give its variants "
                f"{option}=…"
            )


_RESERVED = frozenset({"where", "scan", "changes_from", "model_config"})


def _refuse_reserved(cls: type, declared: EntityDeclaration) -> None:
    keys = [n for n, v in vars(cls).items() if isinstance(v, MEMBERS)]
    for name in (*declared.attributes, *keys):
        if name in _RESERVED or name.startswith("_"):
            raise DeclarationError(
                f"{cls.__name__}.{name}: the name is reserved; choose another, with "
                f"attr(name={name!r}) to keep the stored name"
            )


class _ValidationModel:
    """In place of the pydantic model of an entity, until it is used: a program uses few of them."""

    #: Of all models, since the model of an entity can contain those of others.
    _lock = RLock()

    def __init__(self, owner: type[Entity], entity: EntityMap, declared: EntityDeclaration) -> None:
        self._owner = owner
        self._entity = entity
        self._declared = declared

    def __get__(self, entity: object, kind: type) -> type[pydantic.BaseModel]:
        with self._lock:
            if vars(self._owner)["__model__"] is self:
                self._owner.__model__ = _validation_model(self._owner, self._entity, self._declared)
        return self._owner.__model__


def _validation_model(
    cls: type, entity: EntityMap, declared: EntityDeclaration
) -> type[pydantic.BaseModel]:
    """Return the pydantic model that validates the values of an entity."""
    fields: dict[str, Any] = {}
    for name, attribute in declared.attributes.items():
        default = declared.maps[name].default
        options: dict[str, Any] = {"description": attribute.doc or None}
        if default is not None:
            options["default_factory"] = default
        if attribute.role in STAMPS:
            options["json_schema_extra"] = {"readOnly": True}
        else:
            options["json_schema_extra"] = stated_limits(entity, name)
        fields[name] = (declared.entering(name), pydantic.Field(**options))
    return entity_model(cls, fields, declared.decorators)


def _finish(cls: type, entity: EntityMap, declared: EntityDeclaration) -> None:
    """Replace the declarations in the class with references and bound keys."""
    cls.__dataclass_fields__ = _dataclass_fields(entity)  # type: ignore[attr-defined]
    uniques = {unique.key.name: unique for unique in entity.uniques}
    indexes = {key.name: key for key in entity.indexes}
    for name, attribute in entity.attributes.items():
        where = f"{cls.__name__}.{name}"
        path = entity.key_sources(name)[:1] if attribute.is_key_only else ()
        setattr(cls, name, Reference(where, attribute, declared.attributes[name], tuple(path)))
    for name, value in declared.members.items():
        where = f"{cls.__name__}.{name}"
        if isinstance(value, PrimaryKey):
            setattr(cls, name, BoundKey(entity, entity.primary))
        elif isinstance(value, IndexPlace):
            setattr(cls, name, BoundIndex(entity, indexes[where]))
        elif isinstance(value, Unique):
            setattr(cls, name, BoundUnique(entity, uniques[where]))


def _dataclass_fields(entity: EntityMap) -> dict[str, Any]:
    """Return the fields that make an entity a dataclass for other libraries.

    FastAPI accepts dataclasses as the body of a request, and `dataclasses.asdict` works.
    """
    fields = [
        (name, Any, dataclasses.field(default=None, init=attribute.role in ("", "ttl")))
        for name, attribute in entity.attributes.items()
    ]
    # Without methods and a text of its signature, which take most of the time.
    holder: Any = dataclasses.make_dataclass(
        entity.name, fields, namespace={"__doc__": entity.name}, init=False, repr=False, eq=False
    )
    made: dict[str, Any] = holder.__dataclass_fields__
    return made


def _validated(cls: type[Entity], values: dict[str, Any]) -> dict[str, Any]:
    entity = getattr(cls, "__entity__", None)
    if entity is None:
        raise TypeError(f"{cls.__name__} is abstract; give it a table: table=…")
    if isinstance(entity, VariantsMap):
        names = ", ".join(variant.name for variant in entity.variants) or "none is declared yet"
        raise TypeError(f"{cls.__name__} is the base of variants; create one of them: {names}")
    for stamp in entity.stamps:
        if stamp.name in values:
            is_counter = stamp.role == "counter"
            other = "" if is_counter else f", or write it with create(…).stamps({stamp.role}=…)"
            raise InvalidValue(
                f"{cls.__name__}.{stamp.name} is set by the library; leave it out{other}"
            )
    try:
        model = cls.__model__.__pydantic_validator__.validate_python(values)
    except Exception as error:
        if any(map(contains_symbol, values.values())):
            return _traced(cls, values)
        if isinstance(error, pydantic.ValidationError):
            raise _invalid(cls, error.errors()) from None
        raise
    return dict(vars(model))


def _traced(cls: type[Entity], values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an entity that a traced pattern creates; validate the known ones.

    Raise InvalidValue for unknown names, and for values that are invalid with any arguments.
    """
    attributes = cls.__entity__.attributes
    problems = [_unknown(cls, name) for name in values if name not in attributes]
    made: dict[str, Any] = {}
    for name, attribute in attributes.items():
        if name in values:
            made[name] = _entered(cls, name, values[name], made)
        elif attribute.default is not None:
            made[name] = attribute.default()
            # A default that differs on each call, as an id does, is not known yet.
            if name in cls.__entity__.primary.depends_on and made[name] != attribute.default():
                member = member_of_list(values.values())
                made[name] = Symbol(name if member is None else AttributeOf(member, name))
        else:
            problems.append(f"{cls.__name__}.{name} has no value")
    if problems:
        raise InvalidValue("; ".join(problems))
    return made


def _entered(cls: type[Entity], name: str, value: Any, others: dict[str, Any]) -> Any:
    """Return a value as pydantic validates it, given `others`; unchanged if it contains a symbol.

    Raise InvalidValue for a value that is invalid with any arguments of a traced pattern.
    """
    model = cls.__model__
    holder = model.model_construct(**others)
    try:
        model.__pydantic_validator__.validate_assignment(holder, name, value)
    except pydantic.ValidationError as error:
        known = [each for each in error.errors() if not isinstance(each["input"], Symbol)]
        if known:
            raise _invalid(cls, known) from None
        return value
    except Exception:  # a validator of the user's needs the value
        if not contains_symbol(value):
            raise
        return value
    return vars(holder)[name]


def _build(cls: type[Entity], values: dict[str, Any]) -> Any:
    made = object.__new__(cls)
    vars(made).update(values)
    object.__setattr__(made, "_assigned", NEW)
    return made


_VALIDATED = re.compile(r"function-\w+\[(\w+)\(\), .*\]")


def _invalid(cls: type[Entity], found: Sequence[ErrorDetails]) -> InvalidValue:
    problems = []
    for problem in found:
        # pydantic names a type with a validator `function-after[KSUID(), str]`.
        place = ".".join(_VALIDATED.sub(r"\1", str(step)) for step in problem["loc"])
        if problem["type"] == "extra_forbidden":
            problems.append(_unknown(cls, str(problem["loc"][0])))
        elif problem["type"] == "missing":
            problems.append(f"{cls.__name__}.{place} has no value")
        elif problem["type"] == "timezone_aware":
            problems.append(f"{cls.__name__}.{place}: {problem['input']!r} {NAIVE}")
        else:
            problems.append(f"{cls.__name__}.{place}: {problem['input']!r}: {problem['msg']}")
    names = {str(problem["loc"][0]) for problem in found if problem["loc"]}
    return InvalidValue("; ".join(problems), attribute=names.pop() if len(names) == 1 else "")


def _unknown(cls: type[Entity], name: str) -> str:
    hint = did_you_mean(name, cls.__entity__.attributes)
    return f"{cls.__name__} has no attribute {name!r}{hint}"


class WriteOnce(Entity):
    """The base class of entities that are created, but never changed.

    The same as `write_once=True`; the type checkers know the base class, and reject `put` and
    `update` of its entities. Deletes need `deletable=True`.
    """

    __write_once__: ClassVar[Literal[True]] = True  # type: ignore[assignment]  # no Rewritable
