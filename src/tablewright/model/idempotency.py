"""Idempotency: the record that makes a repeated request of an HTTP API write once.

    class Answer(Entity, table=Shop):
        idempotency_key: Attr[str] = attr()       the key that the client has chosen
        request: Attr[str] = attr()               what identifies the request
        response: Attr[str] = attr()              the first response
        expires_at: Attr[datetime] = ttl(default_factory=in_a_day)
        primary = key("ANSWER" / idempotency_key, "ANSWER")

    @access_pattern(idempotency=Answer)
    def add_order(order: Order) -> Create[Order]: ...

Other attributes of the record are parameters of the pattern, such as the tenant, or have defaults.
This module must not know how a request or a response is represented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tablewright.errors import DeclarationError, TablewrightError
from tablewright.mapping.entity import EntityMap
from tablewright.model.entity import Entity
from tablewright.plan.plan import Plan
from tablewright.plan.writes.delete import Delete
from tablewright.plan.writes.once import Once
from tablewright.plan.writes.put import Create, Put
from tablewright.plan.writes.several import ConditionCheck, Transaction
from tablewright.plan.writes.update import Update

#: The attributes that the HTTP API sets.
KEY, REQUEST, RESPONSE = "idempotency_key", "request", "response"
_WRITES = (Create, Put, Update, Delete, ConditionCheck)


def read_idempotency(
    record: object, name: str, types: Mapping[str, Any], plan: Plan[Any]
) -> EntityMap:
    """Return the record that a pattern declares; raise DeclarationError if it cannot be one.

    `types` are the types of the parameters of the pattern with this name.
    """
    if not (isinstance(record, type) and issubclass(record, Entity)):
        raise DeclarationError(
            f"pattern {name}: idempotency={record!r} must be an entity with the attributes "
            f"{KEY}, {REQUEST}, {RESPONSE} and a ttl()"
        )
    entity, where = record.__entity__, f"pattern {name}: idempotency={record.__name__}"
    writes = plan._writes if isinstance(plan, Transaction) else (plan,)
    if not all(isinstance(each, _WRITES) for each in writes):
        raise DeclarationError(
            f"{where}: the record must be in the same transaction as the write; return create(…), "
            "put(…), update(…), upsert(…), delete(…), or transact(…) of them"
        )
    if all(each.table is not entity.table for each in plan._entities()):
        raise DeclarationError(
            f"{where}: it is in the table {entity.table.name}, to which the pattern writes nothing"
        )
    _check_expiry(entity, where)
    for text in (KEY, REQUEST, RESPONSE):
        if not _is_text(entity, text):
            raise DeclarationError(f"{where}: it needs the attribute {text}: Attr[str] = attr()")
    if KEY not in entity.primary.depends_on:
        raise DeclarationError(f"{where}: {KEY} must be a part of its primary key")
    for each in _parameters(entity):
        if each not in types:
            raise DeclarationError(
                f"{where}: its attribute {each} is no parameter of the pattern, and has no default"
            )
    if entity.version is not None or entity.uniques or entity.histories or entity.is_write_once:
        raise DeclarationError(
            f"{where}: a record is replaced when it has expired; declare it without version(), "
            "unique(…), history(…) and write_once=True"
        )
    return entity


def record_values(entity: EntityMap, given: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the values of a record that are known from the arguments of its pattern."""
    return {KEY: key} | {name: given[name] for name in _parameters(entity) if name in given}


def once_shape(plan: Plan[Any], entity: EntityMap) -> Any:
    """Return the shape of a write with its record."""

    def remember(_: Sequence[Any]) -> Any:
        raise AssertionError("a shape sends nothing")

    return Once(plan, entity, {}, remember)._shape()


def _parameters(entity: EntityMap) -> list[str]:
    """Return the attributes of a record that are parameters of its pattern."""
    own = (KEY, REQUEST, RESPONSE)
    return [
        name
        for name, each in entity.attributes.items()
        if name not in own and each.role == "" and each.default is None
    ]


def _check_expiry(entity: EntityMap, where: str) -> None:
    ttl = entity.ttl
    if ttl is None or ttl.default is None or ttl.default() is None:
        raise DeclarationError(
            f"{where}: the table would keep every record; declare when DynamoDB deletes one: "
            "expires_at: Attr[datetime] = ttl(default_factory=in_a_day)"
        )


def _is_text(entity: EntityMap, name: str) -> bool:
    attribute = entity.attributes.get(name)
    try:
        return attribute is not None and attribute.converter.encode("x") == {"S": "x"}
    except TablewrightError:
        return False
