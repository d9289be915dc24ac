"""Input and Patch: models of what a client may send."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError, field_validator

from tablewright import (
    GSI,
    Attr,
    Create,
    Entity,
    Input,
    Patch,
    Table,
    Update,
    WriteOnce,
    access_pattern,
    attr,
    connect,
    create,
    created_at,
    explain,
    index,
    key,
    version,
)
from tablewright.errors import DeclarationError, InvalidValue
from tests.things import NamedEntity


class Desk(Table, name="desk"):
    gsi1 = GSI("GSI1PK", "GSI1SK")


class Status(StrEnum):
    OPEN = "open"
    DONE = "done"


class Issue(Entity, table=Desk):
    """Something to do."""

    org_id: Attr[str] = attr()
    number: Attr[int] = attr(pad=5)
    title: Attr[Annotated[str, Field(max_length=10)]] = attr(doc="In one line.")
    status: Attr[Status] = attr(default=Status.OPEN)
    labels: Attr[set[str]] = attr(default_factory=set)
    assignee: Attr[str | None] = attr(default=None)
    kind: Attr[str] = attr(default="bug", immutable=True)
    schema: Attr[str] = attr(default="")  # the name of a method of pydantic's
    opened_at: Attr[datetime] = created_at()
    version: Attr[int] = version()
    primary = key("ORG" / org_id, "ISSUE" / number)
    by_status = index(Desk.gsi1, "STATUS" / status, "ISSUE" / number)

    @field_validator("title")
    @classmethod
    def stripped(cls, title: str) -> str:
        return title.strip()


class NewIssue(Input[Issue], exclude=("org_id", "number")):
    """A new issue."""


class IssuePatch(Patch[Issue], exclude=("schema",)):
    """What can change."""

    assignee: str | None = None


class Note(WriteOnce, table=Desk):
    note_id: Attr[str] = attr()
    entity: Attr[str] = attr()
    primary = key("NOTE" / note_id, "NOTE")


class Document(Entity, table=Desk):
    document_id: Attr[str] = attr()
    schema: Attr[str] = attr(doc="A URL.")  # these three have the names of methods of pydantic's
    json: Attr[Annotated[str, Field(max_length=10)]] = attr(default="{}")
    copy: Attr[list[str]] = attr(default_factory=list)
    primary = key("DOCUMENT" / document_id, "DOCUMENT")


class Party(NamedEntity, table=Desk, variants=True): ...


class Person(Party):
    language: Attr[str] = attr(default="en")


def test_an_input_has_every_attribute_that_a_client_may_set() -> None:
    schema = Input[Issue].model_json_schema()
    assert schema["title"] == "IssueInput"
    assert schema["description"] == "Something to do."
    assert schema["required"] == ["org_id", "number", "title"]
    assert set(schema["properties"]) == Issue.__entity__.attributes.keys() - {
        "opened_at",
        "version",
    }
    assert schema["additionalProperties"] is False


def test_a_field_has_the_constraints_the_description_and_the_default_of_its_attribute() -> None:
    schema = NewIssue.model_json_schema()
    assert schema["title"] == "NewIssue"
    assert schema["description"] == "A new issue."
    assert schema["required"] == ["title"]
    title = schema["properties"]["title"]
    assert (title["maxLength"], title["description"]) == (10, "In one line.")
    assert schema["properties"]["status"]["default"] == "open"
    assert {"org_id", "number"}.isdisjoint(schema["properties"])


def test_an_input_becomes_an_entity_with_the_other_values() -> None:
    new = NewIssue.model_validate({"title": " late ", "labels": ["a"]})
    made = new.entity(org_id="acme", number=7)
    assert (made.org_id, made.number, made.title, made.labels) == ("acme", 7, "late", {"a"})
    assert (made.status, made.version) == (Status.OPEN, 0)
    assert new.entity(org_id="acme", number=7, title="other").title == "other"


def test_an_input_that_lacks_a_value_of_the_server_is_a_mistake_in_the_code() -> None:
    new = NewIssue.model_validate({"title": "late"})
    with pytest.raises(TypeError, match=r"needs a value for 'number'.*entity\(number=…\)"):
        new.entity(org_id="acme")
    with pytest.raises(InvalidValue) as caught:
        new.entity(org_id="acme", number="x")
    assert caught.value.attribute == "number"


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, "title"),
        ({"title": "x" * 11}, "title"),
        ({"title": "x", "version": 3}, "version"),
        ({"title": "x", "opened_at": "2026-01-01T00:00:00Z"}, "opened_at"),
        ({"title": "x", "org_id": "other"}, "org_id"),
        ({"title": "x", "status": "lost"}, "status"),
    ],
)
def test_an_input_refuses_what_a_client_may_not_send(body: dict[str, Any], place: str) -> None:
    with pytest.raises(ValidationError) as caught:
        NewIssue.model_validate(body)
    assert [error["loc"] for error in caught.value.errors()] == [(place,)]


def test_a_patch_has_the_attributes_that_an_update_can_change_and_none_is_required() -> None:
    schema = IssuePatch.model_json_schema()
    assert set(schema["properties"]) == {"title", "status", "labels", "assignee"}
    assert "required" not in schema
    assert schema["minProperties"] == 1
    assert schema["properties"]["title"] == {
        "title": "Title",
        "type": "string",
        "maxLength": 10,
        "description": "In one line.",
    }


def test_only_what_was_sent_is_changed_and_null_removes() -> None:
    patch = IssuePatch.model_validate({"title": " new ", "assignee": None})
    assert patch.assignee is None
    with connect(":memory:", Desk) as db:
        issue = Issue(org_id="acme", number=1, title="old", assignee="ann", labels={"x"})
        db.run(create(issue))
        changed = db.run(Issue.primary("acme", 1).update(*Issue.changes_from(patch)))
    assert (changed.title, changed.assignee, changed.labels) == ("new", None, {"x"})


@pytest.mark.parametrize(
    "body", [{}, {"title": None}, {"version": 3}, {"number": 5}, {"kind": "task"}, {"schema": ""}]
)
def test_a_patch_refuses_what_an_update_cannot_do(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        IssuePatch.model_validate(body)


def test_a_field_may_have_the_name_of_a_method_of_pydantic() -> None:
    class NewDocument(Input[Document], exclude=("document_id",)):
        pass

    class DocumentPatch(Patch[Document]):
        pass

    described = NewDocument.model_json_schema()
    assert described["required"] == ["schema"]
    assert described["properties"]["schema"]["description"] == "A URL."
    assert described["properties"]["json"]["maxLength"] == 10
    made = NewDocument.model_validate({"schema": "a"}).entity(document_id="D1")
    assert made == Document(document_id="D1", schema="a", json="{}", copy=[])
    for body in ({}, {"schema": "a", "json": "x" * 11}):
        with pytest.raises(ValidationError):
            NewDocument.model_validate(body)
    assert "required" not in DocumentPatch.model_json_schema()
    changes = Document.changes_from(DocumentPatch.model_validate({"schema": "b"}))
    assert list(map(str, changes)) == list(map(str, [Document.schema.set("b")]))


def test_a_pattern_takes_inputs_and_patches() -> None:
    @access_pattern
    def add(org_id: str, number: int, new: NewIssue) -> Create[Issue]:
        return create(new.entity(org_id=org_id, number=number))

    @access_pattern
    def edit(org_id: str, number: int, patch: IssuePatch) -> Update[Issue]:
        return Issue.primary(org_id, number).update(*Issue.changes_from(patch))

    assert explain(add).operation == "PutItem"
    assert explain(edit).operation == "UpdateItem"
    assert "title = {patch.title}" in explain(edit).sets


def test_an_input_may_have_fields_of_its_own() -> None:
    class Signed(Input[Issue], exclude=("org_id", "number")):
        signature: str

    @access_pattern
    def add_signed(org_id: str, new: Signed) -> Create[Issue]:
        return create(new.entity(org_id=org_id, number=1, assignee=new.signature))

    signed = Signed.model_validate({"title": "late", "signature": "ann"})
    assert signed.signature == "ann"
    with connect(":memory:", Desk) as db:
        assert db.run(add_signed("acme", signed)).assignee == "ann"
    with pytest.raises(ValidationError, match="signature"):
        Signed.model_validate({"title": "late"})


def test_a_patch_has_fields_of_its_entity_only() -> None:
    with pytest.raises(DeclarationError, match=r"field 'titel' is not an attribute.*'title'\?"):

        class Misspelled(Patch[Issue]):
            titel: str


def test_a_model_is_made_once() -> None:
    assert Input[Issue] is Input[Issue]


def test_a_declaration_that_cannot_work_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"'numbr', which is not a field.*did you mean 'n"):

        class Misspelled(Input[Issue], exclude=("numbr",)): ...

    with pytest.raises(DeclarationError, match=r"takes several names: exclude=\('number',\)"):

        class Text(Input[Issue], exclude="number"): ...

    untyped: Any = Input
    for kind in (int, Table, Entity):
        with pytest.raises(DeclarationError, match="takes an entity with a table"):
            untyped[kind]
    with pytest.raises(DeclarationError, match="Note is write-once, so a patch is not allowed"):
        Patch[Note]
    with pytest.raises(DeclarationError, match="'entity' has the name of a method"):
        Input[Note]
    with pytest.raises(DeclarationError, match=r"use its variants: Input\[Person\]"):
        Input[Party]
    assert set(Input[Person].model_fields) == {"name", "language"}
