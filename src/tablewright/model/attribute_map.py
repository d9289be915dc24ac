"""Attribute maps: an attribute of a finished class, made of its declaration.

Options that exclude each other, types that cannot be stored, and values that are not valid raise
DeclarationError.
"""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo

from tablewright.errors import DeclarationError, InvalidValue, UnreadableItem
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.converters import Converter, converter
from tablewright.mapping.formats.attributes import codec_of, coded_converter
from tablewright.mapping.pydantic_bridge import constraint_check, member_check
from tablewright.mapping.transitions import Transitions, read_transitions
from tablewright.model.attribute import MISSING, Attr
from tablewright.model.validation import attribute_check
from tablewright.values import Value


def attribute_map(
    name: str, stored: str, declared: Attr[Any], kind: Any, where: str, decorators: Any
) -> AttributeMap:
    """Return the compiled attribute; `decorators` are the validators of its class."""
    if declared.key_only and declared.stored is not None:
        raise DeclarationError(
            f"{where}: attr(name=…, key_only=True): an attribute that is only in keys has no "
            "name in the item; leave name= out"
        )
    for each in get_args(kind)[1:] if get_origin(kind) is Annotated else ():
        if isinstance(each, FieldInfo) and (each.alias or each.validation_alias):
            raise DeclarationError(
                f"{where}: Field(alias=…) does not name what is stored; write attr(name=…)"
            )
    if declared.codec is not None:
        declared.codec = codec_of(declared.codec, where)
        conversion = coded_converter(kind, declared.codec, declared.pad, where, stored)
    else:
        conversion = _ttl(kind, where) if declared.role == "ttl" else converter(kind, where)
    _check_role(declared, conversion, where)
    if declared.pad is not None and conversion.tag not in ("N", None):
        raise DeclarationError(
            f"{where}: attr(pad={declared.pad}) is the number of digits of an int; remove it"
        )
    _check_encrypted(declared, conversion, where)
    check = constraint_check(kind, where)
    made = AttributeMap(
        name,
        stored,
        conversion,
        declared.role,
        _fitting(default_of(declared, conversion), conversion),
        declared.doc,
        is_key_only=declared.key_only,
        is_immutable=declared.immutable,
        transitions=_transitions(declared, conversion, where),
        renamed_from=former_names(where, declared.renamed_from),
        fill=declared.fill,
        check=check,
        validate=attribute_check(name, kind, decorators, where) or check,
        validate_member=member_check(kind, where),
    )
    _check_values(declared, made, where)
    return made


def _check_values(declared: Attr[Any], made: AttributeMap, where: str) -> None:
    """Raise DeclarationError if a value in the declaration cannot be stored."""
    given = [] if declared.default is MISSING else [("the default", declared.default)]
    if declared.fill is not None and not callable(declared.fill):
        given.append(("fill=", declared.fill))
    states = () if made.transitions is None else made.transitions.after
    given += [(f"{state!r} in transitions=", state) for state in states if state is not None]
    for what, value in given:
        try:
            made.store(value)
        except InvalidValue as error:
            raise DeclarationError(f"{where}: {what} is not valid: {error}") from None


def default_of(declared: Attr[Any], conversion: Converter) -> Any:
    """Return the function that creates the default of an attribute; None if it has none."""
    if declared.role == "counter":
        return conversion.kind  # of a number: zero
    if declared.role in ("created_at", "updated_at"):
        return partial(datetime.now, UTC)
    if declared.default_factory is not None:
        return declared.default_factory
    if declared.default is not MISSING:
        value = declared.default
        shared = not isinstance(value, (list, dict, set))
        return lambda: value if shared else copy.deepcopy(value)
    return None


def _fitting(make: Any, conversion: Converter) -> Any:
    """Return the function that creates a default as the codec of its attribute keeps it."""
    cut = conversion.cut
    if make is None or cut is None:
        return make

    def fitted() -> Any:
        value = make()
        return None if value is None else cut(value)

    return fitted


def _check_role(declared: Attr[Any], conversion: Converter, where: str) -> None:
    wanted = {"version": int, "created_at": datetime, "updated_at": datetime}.get(declared.role)
    if wanted is not None and (conversion.kind is not wanted or conversion.optional):
        raise DeclarationError(
            f"{where}: {declared.role}() needs Attr[{wanted.__name__}]; annotate it so"
        )


def _check_encrypted(declared: Attr[Any], conversion: Converter, where: str) -> None:
    """Raise DeclarationError if an encrypted attribute is declared with what compares values."""
    if conversion.cipher is None:
        return
    refused = {
        f"{declared.role}()": bool(declared.role),
        "immutable=True": declared.immutable,
        "transitions=": declared.transitions is not None,
        "key_only=True": declared.key_only,
    }
    for option, is_given in refused.items():
        if is_given:
            raise DeclarationError(
                f"{where}: {option} needs to compare stored values, and equal values are encrypted "
                "to different ones; leave it out, or do not encrypt the attribute"
            )


def _transitions(declared: Attr[Any], conversion: Converter, where: str) -> Transitions | None:
    """Return the transitions of an attribute, if it has any."""
    if declared.transitions is None:
        return None
    where = f"{where}: attr(transitions=…)"
    others = {
        f"{declared.role}()": bool(declared.role),
        "immutable=True": declared.immutable,
        "key_only=True": declared.key_only,
    }
    for other, is_given in others.items():
        if is_given:
            raise DeclarationError(f"{where} and {other} exclude each other; leave one of them out")
    try:
        transitions = read_transitions(declared.transitions)
    except (TypeError, AttributeError):
        raise DeclarationError(
            f"{where} lists the values that may follow each value: {{NEW: [PAID], PAID: []}}"
        ) from None
    default = declared.default
    if default not in (MISSING, None, *transitions.after):
        raise DeclarationError(f"{where} does not have the default, {default!r}; add it")
    if None in transitions.after and not conversion.optional:
        raise DeclarationError(f"{where} has None; annotate the attribute with … | None")
    return transitions


def _ttl(kind: Any, where: str) -> Converter:
    """Return the converter of a TTL: a moment, stored in whole seconds since 1970.

    A fraction of a second is rounded up, so that an item never expires early.
    """
    moment = converter(kind, where)
    if moment.kind is not datetime:
        raise DeclarationError(f"{where}: ttl() needs Attr[datetime] or Attr[datetime | None]")

    def encode(value: Any) -> Value:
        moment.encode(value)  # raises unless it is a datetime with a time zone
        whole = int(value.replace(microsecond=0).timestamp())
        return {"N": str(whole + (value.microsecond > 0))}

    def exact(value: Any) -> Value:
        upper = encode(value)
        if not value.microsecond:
            return upper
        missing = Decimal(1_000_000 - value.microsecond).scaleb(-6)
        return {"N": str(Decimal(upper["N"]) - missing).rstrip("0")}

    def decode(value: Value) -> datetime:
        try:
            return datetime.fromtimestamp(int(value["N"]), UTC)
        except (KeyError, ValueError, OverflowError):
            raise UnreadableItem(f"{where}: {value} is not a number of seconds") from None

    return Converter(where, datetime, "N", encode, decode, optional=moment.optional, exact=exact)


def former_names(where: str, given: Any) -> tuple[str, ...]:
    """Return the names in `renamed_from=`; raise DeclarationError for anything else."""
    names = given if isinstance(given, tuple) else (given,) if given != "" else ()
    if not all(isinstance(each, str) and each for each in names) or len({*names}) < len(names):
        raise DeclarationError(
            f"{where}: renamed_from={given!r} must be a stored name, or a tuple of different "
            'names: write renamed_from="Order" or renamed_from=("OnlineOrder", "StoreOrder")'
        )
    return names
