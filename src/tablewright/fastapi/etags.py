"""ETags: conditional requests, based on the versions of entities, or on what is sent.

    async def get_issue(number: int, db: DatabaseDep, etag: ETag) -> Issue:
        return etag.set(found(await db.run(issue(number))))          304 for If-None-Match

    async def edit_issue(number: int, patch: IssuePatch, db: DatabaseDep, match: IfMatch) -> Issue:
        return match.set(await db.run(match.apply(edit(number, patch))))      412 for If-Match

    match.apply(transact(create(comment), …), of=issue(number))               a check of its version

The entity tag of version 7 is `"7"`. A write with `If-Match` is applied only if this version is
stored, by a condition of the write itself, so no other write can come between. Where it is
required, a write without it is 428. A put with `If-None-Match: *` is applied only if there is no
item. What has no version has a hash of its content as its entity tag, for reads.

A counter changes without the version. So the tag of an entity with counters has their hash behind
the version, `"7x1f9b0c22"`: a read notices that they have changed, and a write checks the version
alone.
"""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any, Protocol, Self, TypeAlias, TypeVar, overload

from fastapi import Depends, Header, HTTPException, Request, Response
from pydantic import WithJsonSchema

from tablewright.errors import DeclarationError
from tablewright.mapping.attributes import AttributeMap
from tablewright.mapping.entity import EntityMap
from tablewright.model.entity import Entity
from tablewright.plan.condition import Condition
from tablewright.plan.inspection import entity_of, writes_of
from tablewright.plan.reads.get import Get
from tablewright.plan.reference import Ref
from tablewright.plan.writes.put import Create
from tablewright.plan.writes.several import Transaction, require

#: The entity tag of a version; DynamoDB's numbers have at most 38 digits.
_TAG = re.compile('"([0-9]{1,38})(?:x[0-9a-f]{8})?"')
#: The headers in OpenAPI: FastAPI would say that they may be null, which a header cannot.
_ONE_TAG = WithJsonSchema({"type": "string", "pattern": r'^(\*|"[0-9]{1,38}(x[0-9a-f]{8})?")$'})
_TAGS = WithJsonSchema({"type": "string"})
_ANY = WithJsonSchema({"type": "string", "enum": ["*"]})
#: The header in OpenAPI where it is required; FastAPI would respond to a missing one with 422.
REQUIRED_IF_MATCH: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "required": True,
    "description": "The ETag of the version to change, or *. Other versions: 412.",
    "schema": {"type": "string", "pattern": r'^(\*|"[0-9]{1,38}(x[0-9a-f]{8})?")$'},
    "example": "*",
}
IF_NONE_MATCH: dict[str, Any] = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of the response that the client has.",
    "schema": {"type": "string"},
}

E = TypeVar("E", bound=Entity)
T = TypeVar("T")


class _Conditional(Protocol):
    """An update, a save, a put or a delete."""

    _entity: EntityMap

    def condition(self, condition: Condition[Any], /) -> Self: ...


Write = TypeVar("Write", bound=_Conditional)


class ResponseTag:
    """A response that gets the entity tag of an entity."""

    def __init__(self, response: Response) -> None:
        self._response = response

    def set(self, entity: E) -> E:
        """Set the ETag header of the response, and return the entity."""
        self._response.headers["ETag"] = _tag(entity)
        return entity


class ReadPrecondition(ResponseTag):
    """The header If-None-Match of a request, and the ETag of its response."""

    def __init__(self, response: Response, known: list[str]) -> None:
        super().__init__(response)
        self._known = known

    def set(self, entity: E) -> E:
        """Set the ETag header of the response, and return the entity.

        Respond with 304 Not Modified, without a body, if the client already has this version.
        """
        self._check(_tag(entity))
        return super().set(entity)

    def set_content(self, content: bytes) -> None:
        """Set the ETag header to a hash of the content; respond with 304 as `set` does."""
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        self._check(tag)
        self._response.headers["ETag"] = tag

    def _check(self, tag: str) -> None:
        if "*" in self._known or tag in self._known:
            raise HTTPException(304, headers={"ETag": tag})


class WritePrecondition(ResponseTag):
    """The header If-Match of a request, and the ETag of its response."""

    def __init__(
        self, response: Response, if_match: str | None, *, is_required: bool = False
    ) -> None:
        super().__init__(response)
        self._expected = if_match
        self._is_required = is_required

    @overload
    def apply(self, write: Write) -> Write: ...
    @overload
    def apply(self, write: Transaction[T], of: Get[Any] | None = None) -> Transaction[T]: ...
    def apply(self, write: Any, of: Get[Any] | None = None) -> Any:
        """Return the write with the condition that the expected version is stored.

        In a transaction, it is the version of the item `of`, such as `Order.primary(…)`, whether
        the transaction writes this item or not; by default that of the only write of a versioned
        entity. Without If-Match, and with `If-Match: *`, it is the write itself. Respond with 412
        to a tag that no version has, with 400 to several tags, and with 428 to a request without
        the header, if it is required.
        """
        if self._is_required and self._expected is None:
            detail = "It needs the header If-Match: the ETag of the version to change."
            raise HTTPException(428, {"code": "precondition_required", "detail": detail})
        if of is not None:
            _check_item(write, of)
        target = write if of is None else of
        if isinstance(target, Transaction):
            target = _only_versioned(target)
        entity = entity_of(target)
        version = _version_of(entity)
        tags = _tags(self._expected, strong=True)
        if self._expected is None or "*" in tags:
            return write
        if len(tags) > 1:
            raise HTTPException(400, "If-Match has several entity tags; send one of them.")
        found = _TAG.fullmatch(tags[0]) if tags else None
        if found is None:
            detail = (
                'No version has this entity tag; send that of a response, with its quotes: "1".'
            )
            raise HTTPException(412, detail)
        expected: Ref[Any, int] = Ref(f"{entity.name}.{version.name}", version)
        condition = expected == int(found[1])
        if isinstance(write, Transaction):
            return require(write, target, condition)
        return write._with_condition(condition)


async def _get_etag(
    request: Request,
    response: Response,
    if_none_match: Annotated[
        str | None, _TAGS, Header(description="The ETag of the response that the client has.")
    ] = None,
) -> ReadPrecondition:
    is_read = request.method in ("GET", "HEAD")
    return ReadPrecondition(response, _tags(if_none_match) if is_read else [])


async def _get_if_match(
    response: Response,
    if_match: Annotated[
        str | None,
        _ONE_TAG,
        Header(description="The ETag of the version to change. Other versions: 412."),
    ] = None,
) -> WritePrecondition:
    return WritePrecondition(response, if_match)


async def _require_if_match(request: Request, response: Response) -> WritePrecondition:
    return WritePrecondition(response, request.headers.get("If-Match"), is_required=True)


async def _get_create_only(
    if_none_match: Annotated[
        str | None, _ANY, Header(description="*: create it; 412 if it exists.")
    ] = None,
) -> bool:
    if if_none_match not in (None, "*"):
        raise HTTPException(400, "In a request that writes, If-None-Match is * or left out.")
    return if_none_match is not None


def read_precondition(request: Request, response: Response) -> ReadPrecondition:
    """Return what the dependency `ETag` does, for an endpoint that has the request."""
    known = request.headers.get("if-none-match")
    return ReadPrecondition(response, [] if known is None else _tags(known))


#: The dependency of an endpoint that reads an entity.
ETag: TypeAlias = Annotated[ReadPrecondition, Depends(_get_etag)]
#: The dependency of an endpoint that changes or deletes an entity.
IfMatch: TypeAlias = Annotated[WritePrecondition, Depends(_get_if_match)]
#: The same, of one that refuses requests without the header.
RequiredIfMatch: TypeAlias = Annotated[WritePrecondition, Depends(_require_if_match)]


async def _get_created_etag(response: Response) -> ResponseTag:
    return ResponseTag(response)


#: The dependency of an endpoint that creates an entity.
CreatedETag: TypeAlias = Annotated[ResponseTag, Depends(_get_created_etag)]
#: The dependency of an endpoint that puts an entity: whether it must not exist.
CreateOnly: TypeAlias = Annotated[bool, Depends(_get_create_only)]


def _check_item(write: Any, of: Any) -> None:
    """Raise DeclarationError unless `of` is the item of a transaction that If-Match refers to."""
    if not isinstance(write, Transaction):
        raise DeclarationError(
            "match.apply(…, of=…): only a transaction can depend on another item; leave of=… out, "
            "or pass transact(…)"
        )
    if not isinstance(of, Get):
        raise DeclarationError(
            f"match.apply(transact(…), of=…): expected an item by its primary key, such as "
            f"Order.primary(…); got {type(of).__name__}"
        )


def _only_versioned(transaction: Transaction[Any]) -> Any:
    """Return the write of the entity whose version If-Match names."""
    versioned = [
        write
        for write in writes_of(transaction)
        if entity_of(write).version is not None and not isinstance(write, Create)
    ]
    if len(versioned) != 1:
        raise DeclarationError(
            "match.apply(transact(…)): expected one write, other than create, of an entity with a "
            f"version; found {len(versioned)}. Pass the item that If-Match refers to: "
            "match.apply(transact(…), of=Order.primary(…))"
        )
    return versioned[0]


def _tag(entity: Entity) -> str:
    """Return the entity tag of an entity."""
    version = getattr(entity, _version_of(entity.__entity__).name)
    counters = [str(getattr(entity, each.name)) for each in entity.__entity__.maintained]
    if not counters:
        return f'"{version}"'
    return f'"{version}x{hashlib.sha256(" ".join(counters).encode()).hexdigest()[:8]}"'


def _version_of(entity: EntityMap) -> AttributeMap:
    if entity.version is None:
        raise DeclarationError(
            f"{entity.name} has no version, of which its ETag is made; add one: "
            "version: Attr[int] = version()"
        )
    return entity.version


def _tags(header: str | None, *, strong: bool = False) -> list[str]:
    """Return the entity tags of a header; weak ones without their mark, or left out."""
    tags = [tag.strip() for tag in (header or "").split(",") if tag.strip()]
    if strong:
        return [tag for tag in tags if not tag.startswith("W/")]
    return [tag.removeprefix("W/") for tag in tags]
